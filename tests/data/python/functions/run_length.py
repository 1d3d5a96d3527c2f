from itertools import groupby


def encode(text: str) -> str:
    """aaab as 3a1b."""
    return "".join(f"{len(list(run))}{letter}" for letter, run in groupby(text))


def decode(text: str) -> str:
    out, number = [], ""
    for c in text:
        if c.isdigit():
            number += c
        else:
            out.append(c * int(number))
            number = ""
    return "".join(out)


assert encode("aaabccd") == "3a1b2c1d"
assert decode(encode("wwwwaaadexxxxxx")) == "wwwwaaadexxxxxx"
