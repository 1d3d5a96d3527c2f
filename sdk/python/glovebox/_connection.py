"""The connection to one ``glovebox stdio``, with its active runs. Used from any thread."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from typing import Dict, Mapping, Optional, Union

from ._errors import GloveboxError
from ._run import Run, ToolCall
from ._transport import Transport
from ._values import Json

PROTOCOL = 1
LINE_MAX = 128 * 1024 * 1024

Receiver = Union[Run, ToolCall]


class Connection:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lock = threading.Lock()  # numbers, tables, and the order of lines
        self._runs: Dict[int, Receiver] = {}
        self._requests: Dict[int, "Future[Dict[str, Json]]"] = {}
        self._last_run = 0
        self._last_request = 0
        self._error: Optional[GloveboxError] = None
        self.hello: "Future[Dict[str, Json]]" = Future()
        self._reader = threading.Thread(target=self._read, name="glovebox-reader", daemon=True)
        self._reader.start()

    @property
    def usable(self) -> bool:
        return self._error is None

    # --- sending

    def start(self, run: Receiver, kind: str, fields: Mapping[str, Json]) -> None:
        with self._lock:
            if self._error is not None:
                run.fail(self._error)
                return
            self._last_run += 1
            number = self._last_run
            try:
                line = _to_line({"type": kind, "run": number, **fields})
            except GloveboxError as error:
                run.fail(error)
                return
            self._runs[number] = run
            run.attach(lambda message: self._send(number, message))
            self._write(line)

    def ask(self, kind: str, fields: Mapping[str, Json]) -> "Future[Dict[str, Json]]":
        future: "Future[Dict[str, Json]]" = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._error is not None:
                future.set_exception(self._error)
                return future
            self._last_request += 1
            self._requests[self._last_request] = future
            self._write(_to_line({"type": kind, "request": self._last_request, **fields}))
        return future

    def _send(self, number: int, message: Mapping[str, Json]) -> None:
        fields = dict(message)
        line = _to_line({"type": fields.pop("type"), "run": number, **fields})
        with self._lock:
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
        except (GloveboxError, ValueError, KeyError, TypeError) as problem:
            error = GloveboxError("protocol", f"the server does not keep to the protocol: {problem}")
        except OSError:
            pass
        self._transport.end(True)
        why = self._transport.why_gone()
        self.fail(error or GloveboxError("connection_lost", why))

    def _receive(self, message: Dict[str, Json]) -> None:
        kind = message["type"]
        if kind == "hello":
            if message["protocol"] != PROTOCOL:
                raise GloveboxError("protocol", f"this SDK speaks protocol {PROTOCOL}, not {message['protocol']}")
            if not self.hello.done():
                self.hello.set_result(message)
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
            if kind in ("result", "tool_result"):
                self._runs.pop(message["run"], None)
            run.deliver(message)

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
        self._transport.end(False)
        self._reader.join(timeout)
        if self._reader.is_alive():
            self._transport.end(True)
            self._reader.join()

    def fail(self, error: GloveboxError) -> None:
        with self._lock:
            if self._error is not None:
                return
            self._error = error
            runs, requests = list(self._runs.values()), list(self._requests.values())
            self._runs.clear()
            self._requests.clear()
        if not self.hello.done():
            self.hello.set_exception(error)
        for run in runs:
            run.fail(error)
        for future in requests:
            future.set_exception(error)


def _to_line(message: Mapping[str, Json]) -> bytes:
    line = json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    if len(line) > LINE_MAX:
        raise GloveboxError("too_long", f"the message takes more than {LINE_MAX} bytes")
    return line


