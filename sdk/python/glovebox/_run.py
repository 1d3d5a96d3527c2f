"""The client's side of one run: its messages, its events and its result."""

from __future__ import annotations

import dataclasses
import functools
import os
import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from ._bridge import Bridge
from ._errors import GloveboxError
from ._ordered import Ordered
from ._results import Display, Log, Pending, RunResult, read_display, read_log, read_pending, read_result
from ._values import Decoder, Json

if TYPE_CHECKING:
    from ._client import ClientBase

REASON_MAX = 4096
EVENTS_MAX = 100_000


@dataclasses.dataclass(frozen=True)
class Output:
    """Text that the program has written."""

    stream: str
    text: str


@dataclasses.dataclass(frozen=True)
class Prompt:
    """The program awaits input, after this text."""

    prompt: str
    session: str


@dataclasses.dataclass(frozen=True)
class Report:
    """A value that the code has given to ``report``."""

    value: Any


@dataclasses.dataclass(frozen=True)
class Lost:
    """So many events were dropped, since they were not taken."""

    count: int


Event = Union[Output, Log, Display, Prompt, Pending, Report, Lost]


class Events:
    """The events of a run that were not taken yet; beyond a maximum they are counted and dropped."""

    def __init__(self) -> None:
        self._queue: "queue.SimpleQueue[Optional[Event]]" = queue.SimpleQueue()
        self._lost = 0
        self._wake: List[Callable[[], object]] = []

    def put(self, event: Optional[Event]) -> None:
        if event is not None and self._queue.qsize() >= EVENTS_MAX:
            self._lost += 1
            return
        if self._lost and event is None:
            self._queue.put(Lost(self._lost))
        self._queue.put(event)
        for wake in self._wake:
            wake()

    def get(self) -> Optional[Event]:
        event = self._queue.get()
        if event is None:
            self._queue.put(None)  # for the next reader
        return event

    def get_now(self) -> Tuple[bool, Optional[Event]]:
        """Whether there was one, and it."""
        try:
            event = self._queue.get_nowait()
        except queue.Empty:
            return False, None
        if event is None:
            self._queue.put(None)
        return True, event

    def watch(self, wake: Callable[[], object]) -> None:
        self._wake.append(wake)


def ignore(_value: Any, _error: Optional[BaseException]) -> None:
    """What a listener returns or raises does not affect the run."""


class Run:
    def __init__(self, client: "ClientBase", listeners: Mapping[str, Optional[Callable[..., Any]]]) -> None:
        self.client = client
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.future: "Future[RunResult]" = Future()
        self.future.set_running_or_notify_cancel()
        self.events = Events()
        self.reports: List[Any] = []
        self.bridge = Bridge(self)
        self._listeners = {name: listener for name, listener in listeners.items() if listener is not None}
        self._ordered = Ordered(client)
        self._send: Optional[Callable[[Dict[str, Json]], None]] = None
        self._terminated = False
        self._settled = False

    @property
    def running(self) -> bool:
        return not self.future.done()

    def attach(self, send: Callable[[Dict[str, Json]], None]) -> None:
        self._send = send

    def send(self, message: Dict[str, Json]) -> None:
        if self._send is not None and self.running:
            self._send(message)

    def terminate(self, reason: object = None) -> None:
        if os.getpid() == self.pid and self.running and not self._terminated:
            self._terminated = True
            self.send({"type": "terminate", **reason_field(reason)})

    def interrupt(self) -> None:
        self.send({"type": "interrupt"})

    # --- messages

    def deliver(self, message: Mapping[str, Json]) -> None:
        kind = message["type"]
        if kind == "result":
            self._finish(message)
        elif kind == "call":
            self.bridge.on_call(message)
        elif kind == "answer":
            self.bridge.on_answer(message)
        elif kind == "report":
            self._on_report(message)
        else:
            self._on_event(kind, message)

    def _on_event(self, kind: str, message: Mapping[str, Json]) -> None:
        decoder = Decoder(message, self.bridge)
        event: Event
        if kind == "output":
            event = Output(message["stream"], message["text"])
            if "on_output" in self._listeners:
                self._ordered.tell(self._listeners["on_output"], event.text, event.stream)
        elif kind == "log":
            event = read_log(message, decoder)
        elif kind == "display":
            event = read_display(message["display"], decoder)
        elif kind == "prompt":
            event = Prompt(message["prompt"], message["session"])
            self._tell("on_prompt", event.prompt, event.session)
        elif kind == "pending":
            event = read_pending(message)
            self._tell("on_pending", event)
        else:
            raise GloveboxError("protocol", f"there is no message of the type {kind!r}")
        self.events.put(event)

    def _tell(self, name: str, *args: Any) -> None:
        listener = self._listeners.get(name)
        if listener is not None:
            self.client.run_callback(functools.partial(listener, *args), ignore)

    def _on_report(self, message: Mapping[str, Json]) -> None:
        value = Decoder(message, self.bridge).decode(message["value"])
        self.reports.append(value)
        self.events.put(Report(value))
        sink = self._listeners.get("report")

        def give() -> Any:
            return sink(value) if sink else None

        self.bridge.produce(message["call"], give)

    def _finish(self, message: Mapping[str, Json]) -> None:
        result = read_result(message, self.bridge)
        result.reports = list(self.reports)
        if self._may_settle():
            self._ordered.then(functools.partial(self.future.set_result, result))

    def fail(self, error: GloveboxError) -> None:
        if self._may_settle():
            self.future.set_exception(error)

    def _may_settle(self) -> bool:
        """True once: the result and the end of the connection can come at the same time."""
        with self.lock:
            if self._settled:
                return False
            self._settled = True
        self._end()
        return True

    def refused(self, about: str, call: Optional[int], error: GloveboxError) -> bool:
        """The server has refused a message about this run. Whether that ends the run."""
        if about in ("terminate", "interrupt"):
            return False
        if about == "answer" and call is not None:
            self.bridge.answer_refused(call, error)
            return False
        if about == "call" and call is not None:
            self.bridge.call_refused(call, error)
            return False
        self.fail(error)
        return True

    def _end(self) -> None:
        self.bridge.end()
        self.events.put(None)


class ToolCall:
    """The call of a tool by an agent."""

    def __init__(self, client: "ClientBase", on_pending: Optional[Callable[[Pending], Any]]) -> None:
        self.client = client
        self.future: "Future[str]" = Future()
        self.future.set_running_or_notify_cancel()
        self._on_pending = on_pending
        self._lock = threading.Lock()
        self._send: Callable[[Dict[str, Json]], None] = lambda message: None

    def attach(self, send: Callable[[Dict[str, Json]], None]) -> None:
        self._send = send

    def terminate(self, reason: str) -> None:
        self._send({"type": "terminate", "reason": reason})

    def deliver(self, message: Mapping[str, Json]) -> None:
        on_pending = self._on_pending
        if message["type"] == "tool_result":
            with self._lock:
                if not self.future.done():
                    self.future.set_result(message["output"])
        elif message["type"] == "pending" and on_pending is not None:
            self.client.run_callback(functools.partial(on_pending, read_pending(message)), ignore)

    def fail(self, error: GloveboxError) -> None:
        with self._lock:
            if not self.future.done():
                self.future.set_exception(error)

    def refused(self, about: str, call: Optional[int], error: GloveboxError) -> bool:
        if about == "terminate":
            return False
        self.fail(error)
        return True


def reason_field(reason: object) -> Dict[str, str]:
    if reason is None:
        return {}
    try:
        text = str(reason)
    except Exception:  # a reason must never keep a run from ending
        text = "a reason that cannot be shown"
    return {"reason": text[:REASON_MAX]}
