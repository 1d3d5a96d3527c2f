def to_roman(number: int) -> str:
    """A number as Roman numerals."""
    out = []
    for value, letters in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
                           (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        times, number = divmod(number, value)
        out.append(letters * times)
    return "".join(out)


assert to_roman(1994) == "MCMXCIV"
assert to_roman(2024) == "MMXXIV"
assert to_roman(4) == "IV"
