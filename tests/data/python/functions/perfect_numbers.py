def is_perfect(n: int) -> bool:
    """True if n is the sum of what divides it."""
    return n > 1 and sum(d for d in range(1, n // 2 + 1) if n % d == 0) == n


assert [n for n in range(1, 500) if is_perfect(n)] == [6, 28, 496]
