def best_sum(numbers: list[int]) -> int:
    """The largest sum of neighbours."""
    best = here = numbers[0]
    for n in numbers[1:]:
        here = max(n, here + n)
        best = max(best, here)
    return best


assert best_sum([-2, 1, -3, 4, -1, 2, 1, -5, 4]) == 6
assert best_sum([-3, -1, -2]) == -1
