"""Results of runs, as objects with the fields of the table of results."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ._errors import RunFailed
from ._tables import RESULT_FIELDS
from ._values import Decoder, Importer, Json

__all__ = ["Display", "Log", "Pending", "RunError", "RunResult", "SessionInfo", "snake", "camel"]


@functools.lru_cache(maxsize=None)  # called with names of the tables only
def snake(name: str) -> str:
    """durationMs -> duration_ms"""
    return re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name)


@functools.lru_cache(maxsize=1024)
def camel(name: str) -> str:
    """duration_ms -> durationMs"""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


@dataclasses.dataclass(frozen=True)
class RunError:
    """Why a run was not successful."""

    name: str = "Error"
    message: str = ""
    code: Optional[str] = None
    stack: Optional[str] = None
    specifier: Optional[str] = None
    filename: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Log:
    """A call of ``console``."""

    level: str
    args: List[Any]
    time: datetime.datetime


class Display(Dict[str, Any]):
    """A display of the program, such as a figure: media type to text or bytes. Notebooks show it."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        return dict(self)

    def _repr_png_(self) -> Optional[bytes]:
        return self.get("image/png")

    def _repr_jpeg_(self) -> Optional[bytes]:
        return self.get("image/jpeg")

    def _repr_svg_(self) -> Optional[str]:
        return _text(self.get("image/svg+xml"))

    def _repr_html_(self) -> Optional[str]:
        return _text(self.get("text/html"))

    def _repr_markdown_(self) -> Optional[str]:
        return _text(self.get("text/markdown"))


def _text(value: Any) -> Optional[str]:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


@dataclasses.dataclass
class RunResult:
    """How a run ended. An error of the code is a result, not an exception."""

    status: str
    result: Any = None
    error: Optional[RunError] = None
    run_id: str = ""
    reports: List[Any] = dataclasses.field(default_factory=list)
    logs: List[Log] = dataclasses.field(default_factory=list)
    displays: List[Display] = dataclasses.field(default_factory=list)
    files: Dict[str, bytes] = dataclasses.field(default_factory=dict)
    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    timed_out: bool = False
    truncated: bool = False
    denials: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    """What was refused to the code: kind, host, port, rule, reason, remedy."""
    connections: Optional[Dict[str, Any]] = None
    """The attempts of the code to reach hosts: list, dropped."""
    duration_ms: float = 0
    memory_used_bytes: Optional[int] = None
    session: Optional[str] = None
    """The id of the session of an agent's run."""

    @property
    def ok(self) -> bool:
        return self.status == "success"

    def check(self) -> "RunResult":
        """This result, or RunFailed if it is not a success."""
        if not self.ok:
            raise RunFailed(self)
        return self


@dataclasses.dataclass(frozen=True)
class Pending:
    """A request of an agent that waits for approval."""

    approval: str
    expires_at: datetime.datetime


@dataclasses.dataclass(frozen=True)
class SessionInfo:
    """The state of a session at the time of the reply."""

    id: str
    name: str
    runtime: str
    state: str
    conversation_id: str = ""
    created_at: int = 0
    last_used_at: int = 0
    execution_count: int = 0
    total_tokens: int = 0
    queued: int = 0
    trusted: bool = False
    profile: Optional[str] = None
    net: Optional[str] = None
    workdir: Optional[str] = None
    reason: Optional[str] = None
    prompt: Optional[str] = None
    attached: bool = False
    exposed: Sequence[Mapping[str, Json]] = ()
    """What leads to ports inside it (``port``): ports on 127.0.0.1 of the host (``on``), unix sockets (``path``)."""


def read_pending(message: Mapping[str, Json]) -> Pending:
    expires = datetime.datetime.fromtimestamp(message["expiresAt"] / 1000, datetime.timezone.utc)
    return Pending(message["approval"], expires)


def read_session(form: Mapping[str, Json]) -> SessionInfo:
    known = {field.name for field in dataclasses.fields(SessionInfo)}
    return SessionInfo(**{snake(key): value for key, value in form.items() if snake(key) in known})


def _read_error(form: Mapping[str, Json]) -> RunError:
    known = {field.name for field in dataclasses.fields(RunError)}
    return RunError(**{key: value for key, value in form.items() if key in known})


def read_log(form: Mapping[str, Json], decoder: Decoder) -> Log:
    time = datetime.datetime.fromtimestamp(form["timestamp"] / 1000, datetime.timezone.utc)
    return Log(form["level"], [decoder.decode(arg) for arg in form["args"]], time)


def read_display(form: Json, decoder: Decoder) -> Display:
    return Display(decoder.decode(form))


def read_result(message: Mapping[str, Json], importer: Importer) -> RunResult:
    form, decoder = message["result"], Decoder(message, importer)
    readers: Dict[str, Callable[[Any], Any]] = {
        "value": decoder.decode,
        "values": lambda values: [decoder.decode(value) for value in values],
        "logs": lambda logs: [read_log(log, decoder) for log in logs],
        "displays": lambda displays: [read_display(display, decoder) for display in displays],
        "files": decoder.decode,
        "error": _read_error,
    }
    fields: Dict[str, Any] = {}
    for name, kind, _optional in RESULT_FIELDS:
        if name in form:
            read = readers.get(kind)
            fields[snake(name)] = read(form[name]) if read else form[name]
    return RunResult(session=message.get("session"), **fields)
