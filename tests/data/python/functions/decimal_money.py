from decimal import ROUND_HALF_UP, Decimal


def split_bill(total: str, people: int) -> list[Decimal]:
    """Equal parts to the cent, the first ones a cent more where it does not come out even."""
    cents = int((Decimal(total) * 100).to_integral_value(ROUND_HALF_UP))
    share, rest = divmod(cents, people)
    return [Decimal(share + (i < rest)) / 100 for i in range(people)]


assert split_bill("10.00", 3) == [Decimal("3.34"), Decimal("3.33"), Decimal("3.33")]
assert sum(split_bill("99.99", 7)) == Decimal("99.99")
