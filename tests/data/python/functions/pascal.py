def pascal(n: int) -> list[list[int]]:
    """The first n rows of Pascal's triangle."""
    rows = []
    for _ in range(n):
        last = rows[-1] if rows else []
        rows.append([1, *(a + b for a, b in zip(last, last[1:])), 1][:len(rows) + 1])
    return rows


assert pascal(5) == [[1], [1, 1], [1, 2, 1], [1, 3, 3, 1], [1, 4, 6, 4, 1]]
