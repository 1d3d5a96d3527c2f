"""Tracebacks restricted to the job's own code."""
import linecache

import traceback

# Limits for sessions with many sources: the oldest ones lose their text, later also their name.
MAX_SOURCES, MAX_CHARS, MAX_NAMES = 256, 2 << 20, 10000

# Names of the job's sources, oldest first.
own = {}
# Length of each kept text.
_texts = {}
_chars = 0


def _drop_text(filename):
    global _chars
    _chars -= _texts.pop(filename, 0)
    linecache.cache.pop(filename, None)


def remember(filename, source):
    """Keeps a source for tracebacks. The newest is kept however long it is."""
    global _chars
    _drop_text(filename)
    own[filename] = None
    _texts[filename] = len(source)
    _chars += len(source)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    while len(_texts) > 1 and (len(_texts) > MAX_SOURCES or _chars > MAX_CHARS):
        _drop_text(next(iter(_texts)))
    if len(own) > MAX_NAMES:
        # A name without a number comes from the caller, and must not be reused for another source.
        for name in own:
            if name.endswith("]") and name not in _texts:
                del own[name]
                break


def forget(filename):
    own.pop(filename, None)
    _drop_text(filename)


def forget_all():
    for filename in tuple(own):
        forget(filename)


def _keep_own(summary, seen):
    """Removes frames of libraries and of the runner, also in causes."""
    if summary is None or id(summary) in seen:
        return
    seen.add(id(summary))
    summary.stack[:] = [frame for frame in summary.stack if frame.filename in own]
    _keep_own(summary.__cause__, seen)
    _keep_own(summary.__context__, seen)
    for inner in getattr(summary, "exceptions", None) or ():
        _keep_own(inner, seen)


def stack_of(error):
    try:
        summary = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
        _keep_own(summary, set())
        return "".join(summary.format())
    except Exception:
        return None


def position_of(error):
    """(filename, line, column) of the innermost frame in the job's own code, counted from 1."""
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
