import functools
import time


def retry(times: int):
    """Call again when it raises, so many times."""
    def wrap(function):
        @functools.wraps(function)
        def called(*args, **kwargs):
            for left in range(times - 1, -1, -1):
                try:
                    return function(*args, **kwargs)
                except Exception:
                    if not left:
                        raise
                    time.sleep(0)
        return called
    return wrap


calls = []


@retry(3)
def flaky():
    calls.append(1)
    if len(calls) < 3:
        raise OSError
    return "ok"


assert flaky() == "ok" and len(calls) == 3 and flaky.__name__ == "flaky"
