"""Adapts libraries to the sandbox: unavailable operations raise an error; figures are displayed."""
import _posixsubprocess
import _thread
import contextlib
import os
import sys
import threading

import _glovebox
import glovebox_display as display
import glovebox_traces as traces

_WHY = ("this sandbox runs one process and starts no others, so {} is not possible; "
        "do the work in Python, or in threads")


def _raiser(name, why=_WHY):
    def fail(*args, **kwargs):
        raise PermissionError(1, why.format(name))
    fail.__name__ = fail.__qualname__ = name.rpartition(".")[2]
    return fail


for _name in ("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "execv", "execve", "execl", "execle",
              "execlp", "execlpe", "execvp", "execvpe", "spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve",
              "spawnvp", "spawnvpe"):
    if hasattr(os, _name):
        setattr(os, _name, _raiser(f"os.{_name}"))


def _exit(code):
    """Ends the program, not the worker, which would lose pending output."""
    raise SystemExit(code)


os._exit = _exit


def memfd_create(name, flags=0):
    """Memory files would not be counted by the run's limit."""
    raise MemoryError("this sandbox has no memory files: they would be memory beyond the run's limit")


os.memfd_create = memfd_create
_posixsubprocess.fork_exec = _raiser("subprocess")


# --- patches applied on import: each context manager is entered before a module runs, and left afterwards

@contextlib.contextmanager
def _subprocess(module):
    """Popen would open pipes before it fails."""
    yield

    def __init__(self, *args, **kwargs):
        raise PermissionError(1, _WHY.format("subprocess"))
    module.Popen.__init__ = __init__
    module.Popen.__del__ = lambda self: None


@contextlib.contextmanager
def _multiprocessing(module):
    class SemLock:
        SEM_VALUE_MAX = 2147483647

        def __new__(cls, *args, **kwargs):
            raise PermissionError(1, _WHY.format("multiprocessing"))
    yield
    module.SemLock = SemLock


@contextlib.contextmanager
def _mmap(module):
    """Makes anonymous mappings private: seccomp rejects shared ones, which are Python's default but counted
    by no limit. A program without child processes cannot observe the difference."""
    yield
    kinds = module.MAP_SHARED | module.MAP_PRIVATE
    protection = {module.ACCESS_READ: module.PROT_READ, module.ACCESS_WRITE: module.PROT_READ | module.PROT_WRITE}

    class mmap(module.mmap):
        def __new__(cls, fileno, length, flags=module.MAP_SHARED, prot=module.PROT_READ | module.PROT_WRITE,
                    access=module.ACCESS_DEFAULT, offset=0):
            if fileno == -1 and flags & kinds == module.MAP_SHARED:
                flags = flags & ~kinds | module.MAP_PRIVATE
                # Only one of access and flags may be passed.
                prot, access = protection.get(access, prot), module.ACCESS_DEFAULT
            return super().__new__(cls, fileno, length, flags, prot, access, offset)

    mmap.__module__ = mmap.__qualname__ = "mmap"
    module.mmap = mmap


_NO_NETWORK = "this sandbox has no network, so {} is not possible; pass data in from the host, or call a host function"


@contextlib.contextmanager
def _socket(module):
    """Socket pairs are allowed: asyncio uses one to wake itself up. In the network tier everything is."""
    yield
    if _glovebox.has_network():
        return
    init = module.socket.__init__

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        if fileno is None:
            raise PermissionError(1, _NO_NETWORK.format("a socket"))
        init(self, family, type, proto, fileno)
    module.socket.__init__ = __init__
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
        setattr(module, name, _raiser(f"socket.{name}", _NO_NETWORK))


@contextlib.contextmanager
def _pyplot(module):
    yield
    module.show = lambda *args, **kwargs: display.show_figures()


@contextlib.contextmanager
def _figure(module):
    yield
    module.Figure.show = lambda self, warn=True: display.display(self)


@contextlib.contextmanager
def _inspect(module):
    """Frames of the worker are not in the stack."""
    yield
    all_frames = module.getouterframes

    def getouterframes(frame, context=1):
        kept = set(traces.outer_frames(frame))
        return [record for record in all_frames(frame, context) if record.frame in kept]
    module.getouterframes = getouterframes


class _NoTimer:
    """Replaces the thread that warns about a slow operation: it would not survive the zygote's fork."""

    def __init__(self, *args, **kwargs):
        pass

    start = cancel = __init__


@contextlib.contextmanager
def _font_cache(module):
    """matplotlib needs a folder for its font cache. MPLCONFIGDIR is "/", which appears writable while the
    module is imported; files written there are discarded."""
    import io
    access, timer = os.access, threading.Timer
    os.access = lambda path, mode, **options: path == "/" or access(path, mode, **options)
    threading.Timer = _NoTimer

    def open_discarding(path, mode="r", **options):
        written = os.path.dirname(path) == "/" and "w" in mode
        return io.StringIO() if written else open(path, mode, **options)
    module.open = open_discarding
    cbook = sys.modules.get("matplotlib.cbook")
    if cbook is not None:
        lock, cbook._lock_path = cbook._lock_path, lambda path: contextlib.nullcontext()
    try:
        yield
    finally:
        os.access, threading.Timer = access, timer
        if cbook is not None:
            cbook._lock_path = lock


_PATCHES = {
    "subprocess": _subprocess,
    "_multiprocessing": _multiprocessing,
    "socket": _socket,
    "mmap": _mmap,
    "inspect": _inspect,
    "matplotlib": _font_cache,
    "matplotlib.font_manager": _font_cache,
    "matplotlib.pyplot": _pyplot,
    "matplotlib.figure": _figure,
}


class _Finder:
    """Finds modules through the other finders and patches them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        patch = _PATCHES.get(name)
        if patch is None:
            return None
        for finder in sys.meta_path:
            if finder is not _Finder and (spec := finder.find_spec(name, path, target)) is not None:
                break
        else:
            return None
        original = spec.loader.exec_module

        def exec_module(module):
            with patch(module):
                original(module)
        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            return None
        return spec


for _name, _patch in _PATCHES.items():
    if _name in sys.modules:
        with _patch(sys.modules[_name]):
            pass
sys.meta_path.insert(0, _Finder)

# --- threads and descriptors


def _explaining(start):
    def start_thread(*args, **kwargs):
        try:
            return start(*args, **kwargs)
        except RuntimeError:
            raise RuntimeError("this sandbox cannot start a thread: threads are not allowed, or the limit is reached") from None
    return start_thread


_thread.start_new_thread = _thread.start_new = threading._start_new_thread = _explaining(_thread.start_new_thread)
if hasattr(_thread, "start_joinable_thread"):  # Python 3.13 and newer
    _thread.start_joinable_thread = threading._start_joinable_thread = _explaining(_thread.start_joinable_thread)
threading.stack_size(4 << 20)

_write = os.write


def write(fd, data):
    return _glovebox.write(fd, data) if fd in (1, 2) else _write(fd, data)


os.write = write


class Binary:
    """sys.stdout.buffer."""

    def __init__(self, text, number):
        self._text, self._number = text, number
        self.name, self.mode, self.closed, self.raw = text.name, "wb", False, self

    def write(self, data):
        return self._text.write_bytes(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        self._text.flush()

    close = flush

    def writable(self):
        return True

    def readable(self):
        return False

    seekable = isatty = readable


sys.stdout.buffer = Binary(sys.stdout, 1)
sys.stderr.buffer = Binary(sys.stderr, 2)
