"""The connection to one ``glovebox stdio``, with its active runs. Used from any thread."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import Future
from typing import Dict, Mapping, Optional, Sequence, Union

from ._errors import GloveboxError
from ._executor import ExecutorCall
from ._run import Run, ToolCall
from ._transport import Transport
from ._values import Json

PROTOCOL = 1
LINE_MAX = 128 * 1024 * 1024

Receiver = Union[Run, ToolCall, ExecutorCall]
LAST = ("result", "tool_result", "executor_result")


class Connection:
    def __init__(self, transport: Transport, decides: Sequence[str] = ()) -> None:
        self._transport = transport
        self.pid = os.getpid()
        # A server that is slow to read blocks the writer, and never the reader: without that, both could wait for ever.
        self._writing = threading.Lock()  # numbers, and the order of lines; taken before _lock
        self._lock = threading.Lock()  # tables
        self._runs: Dict[int, Receiver] = {}
        self._requests: Dict[int, "Future[Dict[str, Json]]"] = {}
        self._last_run = 0
        self._last_request = 0
        self._error: Optional[GloveboxError] = None
        self._has_hello = False
        self.hello: "Future[Dict[str, Json]]" = Future()
        self._reader = threading.Thread(target=self._read, name="glovebox-reader", daemon=True)
        self._reader.start()
        if decides:
            self.ask("hello", {"decides": list(decides)}).add_done_callback(self._on_decides)

    def _on_decides(self, reply: "Future[Dict[str, Json]]") -> None:
        """Without it, a person would be asked: no request may go out as if the statement held."""
        error = reply.exception()
        if isinstance(error, GloveboxError):
            self.fail(error)

    @property
    def usable(self) -> bool:
        return self._error is None

    # --- sending

    def start(self, run: Receiver, kind: str, fields: Mapping[str, Json]) -> None:
        with self._writing:
            self._last_run += 1
            number = self._last_run
            try:
                line = _to_line({"type": kind, "run": number, **fields})
            except GloveboxError as error:
                run.fail(error)
                return
            with self._lock:
                error_before = self._error
                if error_before is None:
                    self._runs[number] = run
            if error_before is not None:
                run.fail(error_before)
                return
            run.attach(lambda message: self._send(number, message))
            self._write(line)

    def ask(self, kind: str, fields: Mapping[str, Json]) -> "Future[Dict[str, Json]]":
        future: "Future[Dict[str, Json]]" = Future()
        future.set_running_or_notify_cancel()
        with self._writing:
            self._last_request += 1
            number = self._last_request
            try:
                line = _to_line({"type": kind, "request": number, **fields})
            except GloveboxError as error:
                future.set_exception(error)
                return future
            with self._lock:
                error_before = self._error
                if error_before is None:
                    self._requests[number] = future
            if error_before is not None:
                future.set_exception(error_before)
            else:
                self._write(line)
        return future

    def _send(self, number: int, message: Mapping[str, Json]) -> None:
        fields = dict(message)
        line = _to_line({"type": fields.pop("type"), "run": number, **fields})
        if os.getpid() != self.pid:
            return
        with self._writing:
            if self._error is None:
                self._write(line)

    def _write(self, line: bytes) -> None:
        try:
            self._transport.write(line)
        except (OSError, ValueError):
            pass  # the reader reports the end

    # --- receiving

    def _read(self) -> None:
        error: Optional[GloveboxError] = None
        try:
            while True:
                line = self._transport.read_line(LINE_MAX + 2)
                if not line.endswith(b"\n"):
                    break
                self._receive(json.loads(line))
        except OSError:
            pass
        except Exception as problem:  # the thread must not end before the runs have an answer
            error = GloveboxError("protocol", f"the server does not keep to the protocol: {problem!r}")
        self._transport.end(True)
        why = self._transport.why_gone()
        self.fail(error or GloveboxError("connection_lost", why))

    def _receive(self, message: Dict[str, Json]) -> None:
        kind = message["type"]
        if kind == "hello":
            if message["protocol"] != PROTOCOL:
                raise GloveboxError("protocol", f"this SDK speaks protocol {PROTOCOL}, not {message['protocol']}")
            self._on_hello(message, None)
        elif kind == "error":
            self._on_error(message)
        elif "request" in message and kind != "event":
            future = self._take_request(message["request"])
            if future is not None:
                future.set_result(message)
        else:
            run = self._runs.get(message["run"])
            if run is None:
                return
            self._deliver(message["run"], run, message)
            if kind in LAST:
                self._runs.pop(message["run"], None)

    def _deliver(self, number: int, run: Receiver, message: Mapping[str, Json]) -> None:
        """Values come from the code. What Python has no value for concerns this run, and no other one."""
        try:
            run.deliver(message)
        except Exception as problem:
            run.terminate("a message of this run cannot be read")
            run.fail(GloveboxError("protocol", f"a message of this run cannot be read: {problem!r}"))

    def _on_hello(self, message: Dict[str, Json], error: Optional[GloveboxError]) -> None:
        with self._lock:
            if self._has_hello:
                return
            self._has_hello = True
        if error is None:
            self.hello.set_result(message)
        else:
            self.hello.set_exception(error)

    def _on_error(self, message: Mapping[str, Json]) -> None:
        error = GloveboxError(message["code"], message["message"], message.get("field"))
        if "request" in message:
            future = self._take_request(message["request"])
            if future is not None:
                future.set_exception(error)
        elif "run" not in message:
            self.fail(error)  # a message was lost, and it is unknown which
        else:
            run = self._runs.get(message["run"])
            if run is not None and run.refused(message.get("about", ""), message.get("call"), error):
                self._runs.pop(message["run"], None)

    def _take_request(self, number: int) -> "Optional[Future[Dict[str, Json]]]":
        with self._lock:
            return self._requests.pop(number, None)

    # --- the end

    def close(self, error: GloveboxError, timeout: float) -> None:
        """End all runs and the process; kill it if it does not end in time."""
        self.fail(error)
        if self._writing.acquire(timeout=timeout):
            self._transport.end(False)
            self._writing.release()
            self._reader.join(timeout)
        if self._reader.is_alive():  # it does not read, or does not end
            self._transport.end(True)
            self._reader.join()

    def abandon(self) -> None:
        """Let the server end, without waiting for it. Takes no lock: the garbage collector may call this anywhere."""
        if os.getpid() == self.pid:
            self._transport.end(False)

    def fail(self, error: GloveboxError) -> None:
        with self._lock:
            if self._error is not None:
                return
            self._error = error
            runs, requests = list(self._runs.values()), list(self._requests.values())
            self._runs.clear()
            self._requests.clear()
        self._on_hello({}, error)
        for run in runs:
            run.fail(error)
        for future in requests:
            future.set_exception(error)


def _to_line(message: Mapping[str, Json]) -> bytes:
    line = json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    if len(line) > LINE_MAX:
        raise GloveboxError("too_long", f"the message takes more than {LINE_MAX} bytes")
    return line


