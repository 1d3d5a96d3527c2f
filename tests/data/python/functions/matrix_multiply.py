def multiply(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    """The product of two matrices."""
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


assert multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]) == [[19, 22], [43, 50]]
assert multiply([[2]], [[3]]) == [[6]]
