from collections import Counter


def word_counts(text: str, n: int) -> list[tuple[str, int]]:
    """The n most common words, ties in alphabetical order."""
    counts = Counter(text.lower().split())
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:n]


assert word_counts("the cat the dog a cat the", 2) == [("the", 3), ("cat", 2)]
assert word_counts("", 3) == []
