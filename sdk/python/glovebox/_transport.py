"""The stream to a ``glovebox stdio``: a child process, or a socket."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import IO, List, Mapping, Optional, Protocol, Sequence, Set, cast

from ._errors import GloveboxError

STDERR_TAIL = 2000

# Ends of pipes and sockets of all clients. A forked child gives up its copies: it would keep the server of its parent.
_descriptors: Set[int] = set()


def _give_up() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in tuple(_descriptors):
        os.dup2(nothing, descriptor, inheritable=False)
    os.close(nothing)
    _descriptors.clear()


os.register_at_fork(after_in_child=_give_up)


class Transport(Protocol):
    def write(self, line: bytes) -> None: ...
    def read_line(self, limit: int) -> bytes: ...
    def end(self, at_once: bool) -> None: ...
    def why_gone(self) -> str: ...


def find_program(path: Optional[str]) -> str:
    """The program ``glovebox``: the argument, GLOVEBOX_PATH, this package's own, then the PATH."""
    if path is not None:
        return _must_be_program(path, "the argument path")
    named = os.environ.get("GLOVEBOX_PATH")
    if named:
        return _must_be_program(named, "the environment variable GLOVEBOX_PATH")
    own = Path(__file__).parent / "_bundled" / "bin" / "glovebox"
    # A relative entry of the PATH is the working folder, which can be a cloned repository.
    folders = os.pathsep.join(folder for folder in os.get_exec_path() if os.path.isabs(folder))
    found = str(own) if os.access(own, os.X_OK) else shutil.which("glovebox", path=folders)
    if found:
        return found
    raise GloveboxError(
        "not_found",
        "the program glovebox was not found: GLOVEBOX_PATH is not set, this package does not contain it, and it is not "
        "on the PATH. Install Glovebox, or name it: Glovebox(path=...)",
    )


def _must_be_program(path: str, source: str) -> str:
    if os.path.isfile(path) and os.access(path, os.X_OK):
        return path
    raise GloveboxError("not_found", f"there is no program at {path}, which {source} names")


class ProcessTransport:
    """A child process, which ends with this one: its standard input is closed."""

    def __init__(self, command: Sequence[str], env: Optional[Mapping[str, str]]) -> None:
        self._command = " ".join(command)
        self._tail = b""
        try:
            self._process = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=dict(env) if env is not None else None, start_new_session=True)
        except OSError as error:
            raise GloveboxError("spawn_failed", f"cannot start {self._command}: {error}") from None
        self._input = cast(IO[bytes], self._process.stdin).fileno()
        _descriptors.add(self._input)
        self._stderr = threading.Thread(target=self._read_stderr, name="glovebox-stderr", daemon=True)
        self._stderr.start()

    def _read_stderr(self) -> None:
        stream = cast(IO[bytes], self._process.stderr)
        with stream:
            while chunk := os.read(stream.fileno(), 65536):
                self._tail = (self._tail + chunk)[-STDERR_TAIL:]

    def write(self, line: bytes) -> None:
        stream = cast(IO[bytes], self._process.stdin)
        stream.write(line)
        stream.flush()

    def read_line(self, limit: int) -> bytes:
        return cast(IO[bytes], self._process.stdout).readline(limit)

    def end(self, at_once: bool) -> None:
        if at_once:
            self._process.kill()
        _descriptors.discard(self._input)
        try:
            cast(IO[bytes], self._process.stdin).close()
        except OSError:
            pass  # what was not written is of no use any more

    def why_gone(self) -> str:
        status = self._process.wait()
        self._stderr.join()
        cast(IO[bytes], self._process.stdout).close()
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        tail = self._tail.decode(errors="replace").strip()
        return f"{self._command} {how}" + (f": {tail}" if tail else "")


class SocketTransport:
    """A connection to the socket of ``glovebox stdio --socket``."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise GloveboxError("connection_lost", f"cannot connect to {path}: {error}") from None
        self._file = self._socket.makefile("rb")
        _descriptors.add(self._socket.fileno())

    def write(self, line: bytes) -> None:
        self._socket.sendall(line)

    def read_line(self, limit: int) -> bytes:
        return self._file.readline(limit)

    def end(self, at_once: bool) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR if at_once else socket.SHUT_WR)
        except OSError:
            pass  # it is closed

    def why_gone(self) -> str:
        _descriptors.discard(self._socket.fileno())
        self._file.close()
        self._socket.close()
        return f"the connection to {self._path} is lost"


def open_transport(path: Optional[str], command: Optional[Sequence[str]], socket_path: Optional[str],
                   env: Optional[Mapping[str, str]], config_file: Optional[str],
                   settings: Optional[Mapping[str, object]]) -> Transport:
    if socket_path is not None:
        return SocketTransport(socket_path)
    if command is not None:
        return ProcessTransport(command, env)
    arguments: List[str] = [find_program(path), "stdio"]
    if config_file is not None:
        arguments += ["--config", config_file]
    for name, value in (settings or {}).items():
        arguments += ["--set", f"{name}={_setting_text(value)}"]
    return ProcessTransport(arguments, env)


def _setting_text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


__all__: List[str] = ["Transport", "open_transport", "find_program"]
