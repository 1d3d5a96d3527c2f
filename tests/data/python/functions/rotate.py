from collections import deque


def rotate(items: list, n: int) -> list:
    """Moved to the right by n, around the end."""
    turned = deque(items)
    turned.rotate(n)
    return list(turned)


assert rotate([1, 2, 3, 4, 5], 2) == [4, 5, 1, 2, 3]
assert rotate([1, 2], -1) == [2, 1]
assert rotate([], 3) == []
