def collatz(n: int) -> list[int]:
    """The way of n down to 1."""
    way = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        way.append(n)
    return way


assert collatz(6) == [6, 3, 10, 5, 16, 8, 4, 2, 1]
assert len(collatz(27)) == 112
