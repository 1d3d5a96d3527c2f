from typing import NamedTuple, TypedDict


class Point(NamedTuple):
    x: float
    y: float = 0

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


class Movie(TypedDict):
    name: str
    year: int


assert sum([Point(1, 2), Point(3)], Point(0)) == (4, 2)
assert Movie(name="x", year=1) == {"name": "x", "year": 1}
