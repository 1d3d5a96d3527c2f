from datetime import date, timedelta


def workdays(begin: date, end: date) -> int:
    """Days from Monday to Friday, begin and end among them."""
    days = (begin + timedelta(n) for n in range((end - begin).days + 1))
    return sum(day.weekday() < 5 for day in days)


assert workdays(date(2024, 1, 1), date(2024, 1, 31)) == 23
assert workdays(date(2024, 2, 3), date(2024, 2, 4)) == 0
