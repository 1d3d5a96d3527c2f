from contextlib import contextmanager, suppress


@contextmanager
def recorded(log: list, name: str):
    log.append(f"+{name}")
    try:
        yield log
    finally:
        log.append(f"-{name}")


log = []
with suppress(ValueError), recorded(log, "outer"), recorded(log, "inner"):
    raise ValueError
assert log == ["+outer", "+inner", "-inner", "-outer"]
