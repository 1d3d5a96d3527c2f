"""The backend ``local``: sandboxes of this machine, by one ``glovebox stdio``."""

from __future__ import annotations

import array
import datetime
import json
import os
import threading
from typing import Any, Dict, Mapping, Optional, Set, Tuple

from glovebox import Glovebox, GloveboxError
from glovebox._connection import Connection
from glovebox._errors import SerializationError
from glovebox._run import ToolCall
from glovebox._values import Decoder, Encoder, Json
from glovebox.actions._backends import BackendError, CodeRequest, Result, failure

SECRET_MIN = 6  # bytes; shorter values would mask ordinary text
COPIES_MAX = 250_000  # values
INTEGER_MAX = 13000  # bits: less than the 4300 digits that Python writes


class _Plain:
    """Makes values of plain, picklable types that can be written as text; anything else becomes text. A container that occurs
    several times is copied, as engines that write results as JSON would: a value that becomes much larger by it is refused."""

    def __init__(self) -> None:
        self._copies_left = COPIES_MAX
        self._met: Set[int] = set()
        self._within: Set[int] = set()

    def of(self, value: Any) -> Any:
        if isinstance(value, int) and value.bit_length() > INTEGER_MAX:
            return hex(value)  # Python refuses to write it in digits
        if value is None or isinstance(value, (bool, int, float, str, bytes, datetime.datetime)):
            return value
        if not isinstance(value, (list, array.array, set, dict)):
            return str(value)
        if id(value) in self._within:
            return "[circular]"
        if id(value) in self._met:
            self._copies_left -= 1 + len(value)
            if self._copies_left < 0:
                raise SerializationError("return_value", f"containers in it that occur several times have more than {COPIES_MAX} "
                                                         "values together")
        self._met.add(id(value))
        self._within.add(id(value))
        made = self._container(value)
        self._within.remove(id(value))
        return made

    def _container(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.of(key): self.of(item) for key, item in value.items()}
        if isinstance(value, set):
            return {self.of(item) for item in value}
        return [self.of(item) for item in value]


class _Names:
    """Functions and promises of code are text here: the sandbox that they belong to has ended."""

    def import_function(self, number: int, from_sandbox: bool) -> Any:
        return "[function]"

    def import_promise(self, number: int, from_sandbox: bool) -> Any:
        return "[promise]"


def read_result(output: str) -> Dict[str, Any]:
    result: Dict[str, Any] = json.loads(output)
    if "return_value" in result:
        try:
            result["return_value"] = _Plain().of(Decoder(result["return_value"], _Names()).decode(result["return_value"]))
        except (SerializationError, RecursionError) as error:  # the output is still worth reading
            result.update(success=False, return_value=None, error=f"SerializationError: {error}")
    if "execution_time_ms" in result:
        result["execution_time_ms"] = float(result["execution_time_ms"])
    return result


def arguments_of(request: CodeRequest) -> Dict[str, Json]:
    given: Dict[str, Json] = {
        "language": request.language, "sandbox_mode": request.mode, "timeout": request.timeout,
        "max_memory_mb": request.max_memory_mb, "max_output_bytes": request.max_output_bytes,
        "allow_network": request.allow_network, "allow_filesystem": request.allow_filesystem,
        "allowed_modules": request.allowed_modules, "approval": request.approval,
        "purpose": request.purpose, "conversation": request.conversation, "turn": request.turn,
    }
    if request.state is not None:
        given["state"] = Encoder().form(dict(request.state), "state")
    return {name: value for name, value in given.items() if value is not None}


class LocalSandbox:
    def __init__(self, backend: "LocalBackend", box: Glovebox, sandbox_id: str, request: CodeRequest) -> None:
        self._backend, self._box = backend, box
        self._lock = threading.Lock()  # one code at a time: the server limits how many wait
        self.id = sandbox_id
        self.language = request.language

    def execute(self, request: CodeRequest) -> Result:
        arguments = arguments_of(request)
        for fixed in ("allow_network", "allow_filesystem"):
            arguments.pop(fixed, None)
        if request.language == self.language:
            arguments.pop("language")
        with self._lock:
            return self._backend.call(self._box, "code.sandbox", {
                "action": "execute", "sandbox_id": self.id, "code": request.code, **arguments}, request.secrets)

    def describe(self) -> Optional[Dict[str, Any]]:
        return self._backend.described(self._box).get(self.id)

    def destroy(self) -> None:
        self._backend.call(self._box, "code.sandbox", {"action": "destroy", "sandbox_id": self.id}, {})


class LocalBackend:
    """Thread-safe. In a forked child, a server of its own is started, and sandboxes of the parent are not known."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._lock = threading.Lock()
        self._box: Optional[Glovebox] = None
        self._pid = 0
        self._closed = False
        self._masking = threading.Lock()
        self._masked_by: Optional[Connection] = None
        self._masked: Set[Tuple[str, str]] = set()

    def box(self) -> Glovebox:
        with self._lock:
            if self._closed:
                raise BackendError("the engine has ended")
            if self._box is None or self._pid != os.getpid():
                self._box, self._pid = Glovebox(decides=["actions"]), os.getpid()
            return self._box

    def _mask(self, connection: Connection, secrets: Mapping[str, str]) -> None:
        """A server that has been started anew knows no secrets. No code starts on it before it does."""
        if not secrets:
            return
        with self._masking:
            if self._masked_by is not connection:
                self._masked_by, self._masked = connection, set()
            for name, value in secrets.items():
                if (name, value) in self._masked or len(value.encode()) < SECRET_MIN:
                    continue
                try:
                    connection.ask("secret_add", {"name": name, "value": value}).result()
                except GloveboxError as error:
                    raise GloveboxError(error.code, f"secrets.{name}: {error}") from None
                self._masked.add((name, value))

    def call(self, box: Glovebox, name: str, arguments: Mapping[str, Json], secrets: Mapping[str, str]) -> Result:
        """The result of one action. Errors of the connection are results."""
        try:
            connection = box._connect()
            self._mask(connection, secrets)
            call = ToolCall(box, None)
            connection.start(call, "tool", {"name": name, "arguments": dict(arguments)})
            return read_result(call.future.result())
        except GloveboxError as error:
            return failure(f"{error.code}: {error}")

    def execute(self, request: CodeRequest) -> Result:
        return self.call(self.box(), "code.execute", {"code": request.code, **arguments_of(request)}, request.secrets)

    def create(self, request: CodeRequest) -> LocalSandbox:
        given = arguments_of(request)
        arguments = {name: given[name] for name in ("language", "allow_network", "allow_filesystem") if name in given}
        box = self.box()
        result = self.call(box, "code.sandbox", {"action": "create", **arguments}, request.secrets)
        if not result.get("success"):
            raise BackendError(str(result.get("error")))
        return LocalSandbox(self, box, result["sandbox_id"], request)

    def described(self, box: Glovebox) -> Dict[str, Dict[str, Any]]:
        """The live sandboxes, by their ids."""
        result = self.call(box, "code.sandbox", {"action": "list"}, {})
        return {details["sandbox_id"]: details for details in result.get("details", ())}

    def close(self) -> None:
        with self._lock:
            self._closed = True
            box, self._box = self._box, None
        if box is not None and self._pid == os.getpid():
            box.close()
