def bits(n: int) -> list[int]:
    """The places of its ones."""
    return [i for i in range(n.bit_length()) if n >> i & 1]


assert bits(0b101001) == [0, 3, 5]
assert bits(0) == []
assert bits(2**100) == [100]
