def caesar(text: str, shift: int) -> str:
    """Each letter moved along the alphabet."""
    def move(c):
        if not c.isascii() or not c.isalpha():
            return c
        base = ord("a") if c.islower() else ord("A")
        return chr((ord(c) - base + shift) % 26 + base)
    return "".join(map(move, text))


assert caesar("Hello, World!", 3) == "Khoor, Zruog!"
assert caesar(caesar("round trip", 11), -11) == "round trip"
