from collections import Counter


def step(alive: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """One generation on."""
    near = Counter((x + dx, y + dy) for x, y in alive for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
    return {cell for cell, n in near.items() if n == 3 or (n == 2 and cell in alive)}


blinker = {(0, 0), (1, 0), (2, 0)}
assert step(blinker) == {(1, -1), (1, 0), (1, 1)}
assert step(step(blinker)) == blinker
