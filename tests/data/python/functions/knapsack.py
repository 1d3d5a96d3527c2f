def most_worth(items: list[tuple[int, int]], room: int) -> int:
    """The most that (weight, worth) items can be worth within a weight."""
    best = [0] * (room + 1)
    for weight, worth in items:
        for r in range(room, weight - 1, -1):
            best[r] = max(best[r], best[r - weight] + worth)
    return best[room]


assert most_worth([(1, 1), (3, 4), (4, 5), (5, 7)], 7) == 9
assert most_worth([], 10) == 0
