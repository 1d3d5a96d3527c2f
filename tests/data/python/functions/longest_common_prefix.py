import os.path


def longest_prefix(words: list[str]) -> str:
    """What all words begin with."""
    return os.path.commonprefix(words)


assert longest_prefix(["flower", "flow", "flight"]) == "fl"
assert longest_prefix(["a", "b"]) == ""
