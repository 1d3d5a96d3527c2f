def is_card_number(text: str) -> bool:
    """The check digit of card numbers."""
    digits = [int(c) for c in text if c.isdigit()][::-1]
    return sum(d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits)) % 10 == 0


assert is_card_number("4539 1488 0343 6467")
assert not is_card_number("8273 1232 7352 0569")
