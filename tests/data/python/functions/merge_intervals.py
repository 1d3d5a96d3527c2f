def merge(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Intervals that touch or overlap, as one."""
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((begin, end))
    return merged


assert merge([(1, 3), (2, 6), (8, 10), (10, 12)]) == [(1, 6), (8, 12)]
assert merge([]) == []
