def transpose(rows):
    """Rows as columns."""
    return [list(column) for column in zip(*rows, strict=True)]


assert transpose([[1, 2, 3], [4, 5, 6]]) == [[1, 4], [2, 5], [3, 6]]
try:
    transpose([[1], [2, 3]])
except ValueError:
    pass
else:
    raise AssertionError("ragged rows were taken")
