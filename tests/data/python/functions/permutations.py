from itertools import permutations


def arrangements(text: str) -> list[str]:
    """Every arrangement of its letters, each once, in order."""
    return sorted({"".join(p) for p in permutations(text)})


assert arrangements("aab") == ["aab", "aba", "baa"]
assert len(arrangements("abcd")) == 24
