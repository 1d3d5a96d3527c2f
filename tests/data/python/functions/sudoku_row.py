def is_valid_group(cells: list[int]) -> bool:
    """True if no digit stands twice; 0 is an empty cell."""
    filled = [c for c in cells if c]
    return len(filled) == len(set(filled)) and all(1 <= c <= 9 for c in filled)


assert is_valid_group([5, 3, 0, 0, 7, 0, 0, 0, 0])
assert not is_valid_group([5, 5, 0, 0, 7, 0, 0, 0, 0])
