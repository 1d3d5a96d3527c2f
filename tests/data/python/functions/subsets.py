from itertools import chain, combinations


def subsets(items):
    """All subsets, the smaller first."""
    return list(chain.from_iterable(combinations(items, n) for n in range(len(items) + 1)))


assert subsets([1, 2, 3]) == [(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3)]
