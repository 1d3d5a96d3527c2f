"""Tracebacks restricted to the job's own code, and stacks without the frames of this worker."""
import linecache
import sys
import threading

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
    # Like linecache, which ends every line: the columns of carets depend on it.
    linecache.cache[filename] = (len(source), None, (source + "\n").splitlines(True), filename)
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


# --- stacks that the code itself prints

_WORKER = "<glovebox>/"
_RUNNER = _WORKER + "glovebox_runner.py"


def is_of_worker(frame):
    return frame.f_code.co_filename.startswith(_WORKER)


def outer_frames(frame):
    """@frame and the frames that called it, without those of the worker: the runner called the outermost."""
    while frame is not None and frame.f_code.co_filename != _RUNNER:
        if not is_of_worker(frame):
            yield frame
        frame = frame.f_back


def _walk_stack(f):
    """Replaces traceback.walk_stack()."""
    return ((frame, frame.f_lineno) for frame in outer_frames(sys._getframe(1) if f is None else f))


def _without_worker(walk):
    def walk_filtered(tb):
        return (entry for entry in walk(tb) if not is_of_worker(entry[0]))
    return walk_filtered


def _print_thread_error(args, /):
    """Replaces threading.excepthook, which is written in C, and prints the frames of the worker."""
    if args.exc_type is SystemExit:
        return
    name = threading.get_ident() if args.thread is None else args.thread.name
    print(f"Exception in thread {name}:", file=sys.stderr)
    traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback, file=sys.stderr)


traceback.walk_stack = _walk_stack
for _name in ("walk_tb", "_walk_tb_with_full_positions"):
    if hasattr(traceback, _name):
        setattr(traceback, _name, _without_worker(getattr(traceback, _name)))
threading.excepthook = threading.__excepthook__ = _print_thread_error
