from collections import defaultdict


def group_anagrams(words: list[str]) -> list[list[str]]:
    """Words of the same letters together, in order of appearance."""
    groups = defaultdict(list)
    for word in words:
        groups["".join(sorted(word))].append(word)
    return list(groups.values())


assert group_anagrams(["eat", "tea", "tan", "ate", "nat", "bat"]) == [["eat", "tea", "ate"], ["tan", "nat"], ["bat"]]
