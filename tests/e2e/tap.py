"""Helpers for tests in Python: reports in the Test Anything Protocol."""

_count = 0
failed = 0  # tests so far


def ok(name, good, *notes):
    """Report a test. @notes are printed if it failed."""
    global _count, failed
    _count += 1
    failed += not good
    if not good:
        for note in notes:
            print("#", repr(note)[:1500])
    print(f"{'ok' if good else 'not ok'} {_count} - {name}", flush=True)


def plan():
    """Report the number of tests; must be the last call."""
    print(f"1..{_count}")


def test(name):
    """Decorator: run the function, and report the test; it fails by an exception."""

    def run(function):
        try:
            function()
            ok(name, True)
        except Exception as error:  # any: the other tests must run
            ok(name, False, f"{type(error).__name__}: {error}")
        return function

    return run
