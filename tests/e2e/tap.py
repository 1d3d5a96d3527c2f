"""What tests in Python share: they report by the Test Anything Protocol."""

_count = 0


def ok(name, good, *notes):
    """Report a test. @notes are printed if it failed."""
    global _count
    _count += 1
    if not good:
        for note in notes:
            print("#", repr(note)[:1500])
    print(f"{'ok' if good else 'not ok'} {_count} - {name}", flush=True)


def plan():
    """Report how many tests there were: the last call."""
    print(f"1..{_count}")
