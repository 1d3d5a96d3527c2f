"""Libraries made to fit: what a process in here cannot do says so, and why; what is drawn is shown."""
import _posixsubprocess
import _thread
import contextlib
import os
import sys
import threading

import _glovebox
import glovebox_display as display

_WHY = ("this sandbox runs one process and starts no others, so {} is not possible; "
        "do the work in Python, or in threads")


def _refuse(name, why=_WHY):
    def refuse(*args, **kwargs):
        raise PermissionError(1, why.format(name))
    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse


for _name in ("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "execv", "execve", "execl", "execle",
              "execlp", "execlpe", "execvp", "execvpe", "spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve",
              "spawnvp", "spawnvpe"):
    if hasattr(os, _name):
        setattr(os, _name, _refuse(f"os.{_name}"))


def _exit(code):
    """Ends the program, not the worker: what it has said would be lost."""
    raise SystemExit(code)


os._exit = _exit


def memfd_create(name, flags=0):
    """Memory that nobody counts is memory that is not there."""
    raise MemoryError("this sandbox has no memory files: they would be memory beyond the run's limit")


os.memfd_create = memfd_create
_posixsubprocess.fork_exec = _refuse("subprocess")


# --- modules that are changed as they are imported: each of these is entered before a module runs, and left after it

@contextlib.contextmanager
def _subprocess(module):
    """Opens pipes before it finds out."""
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
    """Anonymous memory is private: the filter refuses the shared kind, which no limit counts, and which is Python's
    default. A program that starts no process cannot tell one from the other."""
    yield
    kinds = module.MAP_SHARED | module.MAP_PRIVATE
    protection = {module.ACCESS_READ: module.PROT_READ, module.ACCESS_WRITE: module.PROT_READ | module.PROT_WRITE}

    class mmap(module.mmap):
        def __new__(cls, fileno, length, flags=module.MAP_SHARED, prot=module.PROT_READ | module.PROT_WRITE,
                    access=module.ACCESS_DEFAULT, offset=0):
            if fileno == -1 and flags & kinds == module.MAP_SHARED:
                flags = flags & ~kinds | module.MAP_PRIVATE
                # Who gives an access leaves the flags as they are.
                prot, access = protection.get(access, prot), module.ACCESS_DEFAULT
            return super().__new__(cls, fileno, length, flags, prot, access, offset)

    mmap.__module__ = mmap.__qualname__ = "mmap"
    module.mmap = mmap


_NO_NETWORK = "this sandbox has no network, so {} is not possible; ask the host for what is out there"


@contextlib.contextmanager
def _socket(module):
    """A pair of sockets that leads nowhere can be had; asyncio wakes itself up through one."""
    yield
    init = module.socket.__init__

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        if fileno is None:
            raise PermissionError(1, _NO_NETWORK.format("a socket"))
        init(self, family, type, proto, fileno)
    module.socket.__init__ = __init__
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
        setattr(module, name, _refuse(f"socket.{name}", _NO_NETWORK))


@contextlib.contextmanager
def _pyplot(module):
    yield
    module.show = lambda *args, **kwargs: display.show_figures()


@contextlib.contextmanager
def _figure(module):
    yield
    module.Figure.show = lambda self, warn=True: display.display(self)


class _NoTimer:
    """In place of a thread that says that something takes long: it would not survive the zygote's fork."""

    def __init__(self, *args, **kwargs):
        pass

    start = cancel = __init__


@contextlib.contextmanager
def _without_folder(module):
    """matplotlib wants a folder for what it knows of fonts, and makes one if it must. The environment says that it is
    "/", which is believed to be writable for this moment; what is written there is not kept."""
    import io
    access, timer = os.access, threading.Timer
    os.access = lambda path, mode, **options: path == "/" or access(path, mode, **options)
    threading.Timer = _NoTimer

    def open_nothing(path, mode="r", **options):
        written = os.path.dirname(path) == "/" and "w" in mode
        return io.StringIO() if written else open(path, mode, **options)
    module.open = open_nothing
    cbook = sys.modules.get("matplotlib.cbook")
    if cbook is not None:
        lock, cbook._lock_path = cbook._lock_path, lambda path: contextlib.nullcontext()
    try:
        yield
    finally:
        os.access, threading.Timer = access, timer
        if cbook is not None:
            cbook._lock_path = lock


_CHANGES = {
    "subprocess": _subprocess,
    "_multiprocessing": _multiprocessing,
    "socket": _socket,
    "mmap": _mmap,
    "matplotlib": _without_folder,
    "matplotlib.font_manager": _without_folder,
    "matplotlib.pyplot": _pyplot,
    "matplotlib.figure": _figure,
}


class _Finder:
    """Finds what others find, and changes it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        change = _CHANGES.get(name)
        if change is None:
            return None
        for finder in sys.meta_path:
            if finder is not _Finder and (spec := finder.find_spec(name, path, target)) is not None:
                break
        else:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            with change(module):
                execute(module)
        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            return None
        return spec


for _name, _change in _CHANGES.items():
    if _name in sys.modules:
        with _change(sys.modules[_name]):
            pass
sys.meta_path.insert(0, _Finder)

# --- threads and descriptors

_start = _thread.start_new_thread


def _start_new_thread(*args, **kwargs):
    try:
        return _start(*args, **kwargs)
    except RuntimeError:
        raise RuntimeError("this sandbox cannot start a thread: it may have none, or has as many as it may") from None


_thread.start_new_thread = _thread.start_new = threading._start_new_thread = _start_new_thread
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
