"""Functions and promises of one run that one side owns and the other uses."""

from __future__ import annotations

import functools
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional

from ._errors import GloveboxError, SerializationError
from ._values import Decoder, Encoder, Json, is_promise, text_of

if TYPE_CHECKING:
    from ._run import Run

REASON_MAX = 1000


def run_ended() -> GloveboxError:
    return GloveboxError("run_ended", "the run that this function or promise belongs to has ended")


class SandboxFunction:
    """A function of the code in the sandbox. Calling it waits for the answer; ``submit`` returns a Future, which can be
    awaited in an AsyncGlovebox."""

    def __init__(self, bridge: "Bridge", number: int) -> None:
        self._bridge = bridge
        self._number = number

    def submit(self, *args: Any) -> "Future[Any]":
        return self._bridge.call(self._number, args)

    def __call__(self, *args: Any) -> Any:
        return self._bridge.run.client.present(self.submit(*args))


class Bridge:
    def __init__(self, run: "Run") -> None:
        self.run = run
        self._exported: Dict[int, Any] = {}
        self._exported_ids: Dict[int, int] = {}
        self._imported: Dict[int, Any] = {}
        self._imported_ids: Dict[int, int] = {}
        self._calls: Dict[int, "Future[Any]"] = {}
        self._last_call = 0
        self._ended = False

    # --- numbers

    def export_function(self, function: Callable[..., Any]) -> Json:
        tag = self._export("function", function)
        name = getattr(function, "__name__", None)
        return tag if "owner" in tag or not isinstance(name, str) or name == "<lambda>" else {**tag, "name": name}

    def export_promise(self, promise: Any) -> Json:
        return self._export("promise", promise)

    def _export(self, kind: str, value: Any) -> Dict[str, Json]:
        theirs = self._imported_ids.get(id(value))
        if theirs is not None:
            return {"$type": kind, "id": theirs, "owner": "sandbox"}
        number = self._exported_ids.get(id(value))
        if number is None:
            number = len(self._exported) + 1
            self._exported[number] = value  # kept, so that its id() stays its own
            self._exported_ids[id(value)] = number
        return {"$type": kind, "id": number}

    def import_function(self, number: int, from_sandbox: bool) -> Any:
        return self._import(number, from_sandbox, lambda: SandboxFunction(self, number))

    def import_promise(self, number: int, from_sandbox: bool) -> Any:
        return self._import(number, from_sandbox, lambda: self.call(number, ()))

    def _import(self, number: int, from_sandbox: bool, make: Callable[[], Any]) -> Any:
        known = self._imported if from_sandbox else self._exported
        if number not in known:
            if not from_sandbox:
                raise SerializationError("value", "there is no such function or promise")
            value = make()
            known[number] = value
            self._imported_ids[id(value)] = number
        return known[number]

    # --- calls of the host

    def on_call(self, message: Mapping[str, Json]) -> None:
        """The code calls a host function, or awaits a host promise."""
        call, target = message["call"], self._exported.get(message["function"])
        if target is None:
            self._answer(call, "throw", GloveboxError("protocol", "there is no such function"))
        elif callable(target) and not is_promise(target):
            args = Decoder(message, self).decode(message["args"])
            self.produce(call, functools.partial(target, *args))
        else:
            self._answer_later(call, target)

    def produce(self, call: int, function: Callable[[], Any]) -> None:
        """Answer with what the function returns or throws; it runs where functions of this client run."""
        self.run.client.run_callback(function, functools.partial(self._produced, call))

    def _produced(self, call: int, value: Any, error: Optional[BaseException]) -> None:
        if error is not None:
            self._answer(call, "throw", error)
        elif is_promise(value):
            self._send({"type": "answer", "call": call, "promise": True})
            self._answer_later(call, value)
        else:
            self._answer(call, "return", value)

    def _answer_later(self, call: int, promise: Any) -> None:
        def settled(value: Any, error: Optional[BaseException]) -> None:
            if error is None:
                self._answer(call, "return", value)
            else:
                self._answer(call, "throw", error)

        self.run.client.settle(promise, settled)

    def _answer(self, call: int, how: str, value: Any) -> None:
        try:
            form = Encoder(self).form(value, "return value" if how == "return" else "thrown value")
        except SerializationError as error:
            text = str(error)
            how = "throw"
            form = {"$type": "Error", "name": "SerializationError",
                    "message": text if len(text) <= REASON_MAX else "the answer cannot be sent"}
        except Exception as problem:  # of a class of the program: the code gets an answer all the same
            how = "throw"
            form = {"$type": "Error", "name": type(problem).__name__,
                    "message": f"the answer cannot be sent: {text_of(problem)}"[:REASON_MAX]}
        try:
            self._send({"type": "answer", "call": call, how: form})
        except GloveboxError as error:  # it is too long for a message; the code gets an answer all the same
            self.answer_refused(call, error)

    def answer_refused(self, call: int, error: GloveboxError) -> None:
        form = {"$type": "Error", "name": "GloveboxError", "message": str(error)[:REASON_MAX]}
        self._send({"type": "answer", "call": call, "throw": form})

    # --- calls of the sandbox

    def call(self, number: int, args: Any) -> "Future[Any]":
        future: "Future[Any]" = Future()
        future.set_running_or_notify_cancel()
        try:
            form = Encoder(self).form(list(args), "args")
        except SerializationError as error:
            future.set_exception(error)
            return future
        with self.run.lock:
            self._last_call += 1
            call = self._last_call
            ended = self._ended
            if not ended:
                self._calls[call] = future
        if ended:
            future.set_exception(run_ended())
            return future
        try:
            self._send({"type": "call", "call": call, "function": number, "args": form})
        except GloveboxError as error:
            self.call_refused(call, error)
        return future

    def on_answer(self, message: Mapping[str, Json]) -> None:
        future = self._take_call(message["call"])
        if future is None:
            return
        if message.get("ended"):
            future.set_exception(run_ended())
            return
        try:
            threw = "throw" in message
            value = Decoder(message, self).decode(message["throw" if threw else "return"])
        except SerializationError as error:
            future.set_exception(error)
            return
        if not threw:
            future.set_result(value)
        elif isinstance(value, BaseException):
            future.set_exception(value)
        else:
            future.set_exception(GloveboxError("thrown", f"the code has thrown {value!r}"))

    def call_refused(self, call: int, error: GloveboxError) -> None:
        future = self._take_call(call)
        if future is not None:
            future.set_exception(error)

    def _take_call(self, call: int) -> "Optional[Future[Any]]":
        with self.run.lock:
            return self._calls.pop(call, None)

    def _send(self, message: Dict[str, Json]) -> None:
        if not self._ended:
            self.run.send(message)

    def end(self) -> None:
        with self.run.lock:
            self._ended = True
            waiting = list(self._calls.values())
            self._calls.clear()
        for future in waiting:
            future.set_exception(run_ended())
        self._exported.clear()
        self._exported_ids.clear()


