def distance(a: str, b: str) -> int:
    """How many letters must be changed, added or removed."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


assert distance("kitten", "sitting") == 3
assert distance("", "abc") == 3
assert distance("same", "same") == 0
