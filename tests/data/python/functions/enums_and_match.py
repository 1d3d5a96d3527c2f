from enum import Enum, auto


class Shape(Enum):
    CIRCLE = auto()
    SQUARE = auto()


def area(shape, *sizes):
    match shape, sizes:
        case Shape.CIRCLE, (r,):
            return round(3.14159 * r * r, 2)
        case Shape.SQUARE, (a,):
            return a * a
        case _:
            raise ValueError(shape)


assert area(Shape.SQUARE, 3) == 9
assert area(Shape.CIRCLE, 1) == 3.14
