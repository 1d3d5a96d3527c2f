def flatten(nested):
    """The items of a list of lists of any depth."""
    for item in nested:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item


assert list(flatten([1, [2, [3, [4]], []], 5])) == [1, 2, 3, 4, 5]
assert list(flatten([])) == []
