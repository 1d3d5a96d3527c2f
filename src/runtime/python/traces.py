"""Tracebacks of the code that was given, and of nothing else."""
import linecache

import traceback

# Names of sources that were given to us.
own = set()


def remember(filename, source):
    own.add(filename)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)


def forget(filename):
    own.discard(filename)
    linecache.cache.pop(filename, None)


def _keep_own(told, seen):
    """Leave out frames of libraries and of the runner, here and in what it was caused by."""
    if told is None or id(told) in seen:
        return
    seen.add(id(told))
    told.stack[:] = [frame for frame in told.stack if frame.filename in own]
    _keep_own(told.__cause__, seen)
    _keep_own(told.__context__, seen)
    for inner in getattr(told, "exceptions", None) or ():
        _keep_own(inner, seen)


def stack_of(error):
    try:
        told = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
        _keep_own(told, set())
        return "".join(told.format())
    except Exception:
        return None


def position_of(error):
    """(filename, line, column) of the innermost frame that is the code's own, counted from 1."""
    if isinstance(error, SyntaxError) and error.filename in own:
        return error.filename, error.lineno or 0, error.offset or 0
    found = None, 0, 0
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in own:
            found = code.co_filename, trace.tb_lineno or 0, _column(code, trace.tb_lasti)
        trace = trace.tb_next
    return found


def _column(code, instruction):
    for index, (_, _, column, _) in enumerate(code.co_positions()):
        if index == instruction // 2:
            return 0 if column is None else column + 1
    return 0
