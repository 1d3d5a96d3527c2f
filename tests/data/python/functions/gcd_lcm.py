import math
from functools import reduce


def lcm_of(numbers: list[int]) -> int:
    """The least common multiple of all."""
    return reduce(lambda a, b: a * b // math.gcd(a, b), numbers, 1)


assert lcm_of([4, 6, 10]) == 60
assert lcm_of([]) == 1
assert lcm_of(list(range(1, 11))) == 2520
