import textwrap


def block(text: str, width: int) -> str:
    return "\n".join(line.ljust(width) + "|" for line in textwrap.wrap(text, width))


assert block("one two three four", 9) == "one two  |\nthree    |\nfour     |"
