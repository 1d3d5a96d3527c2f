def queens(n: int) -> int:
    """In how many ways n queens can stand without threatening one another."""
    def place(row, columns, falling, rising):
        if row == n:
            return 1
        return sum(place(row + 1, columns | {c}, falling | {row - c}, rising | {row + c})
                   for c in range(n)
                   if c not in columns and row - c not in falling and row + c not in rising)
    return place(0, frozenset(), frozenset(), frozenset())


assert [queens(n) for n in range(1, 8)] == [1, 0, 0, 2, 10, 4, 40]
