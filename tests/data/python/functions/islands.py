def islands(rows: list[str]) -> int:
    """How many groups of # touch at their sides."""
    land = {(y, x) for y, row in enumerate(rows) for x, c in enumerate(row) if c == "#"}
    count = 0
    while land:
        count += 1
        stack = [land.pop()]
        while stack:
            y, x = stack.pop()
            for near in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
                if near in land:
                    land.remove(near)
                    stack.append(near)
    return count


assert islands(["##..", "#..#", "..##"]) == 2
assert islands(["...."]) == 0
