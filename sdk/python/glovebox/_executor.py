"""Code that calls tools of this program: docs/EXECUTOR.md."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, TypedDict, Union, overload

from ._errors import GloveboxError
from ._ordered import Ordered
from ._registry import ToolRegistry, ToolSource
from ._results import Pending, camel, read_pending
from ._run import ignore
from ._values import Json, is_promise, text_of

if TYPE_CHECKING:
    from ._async import AsyncGlovebox
    from ._client import ClientBase, Glovebox

    class ExecutorOptions(TypedDict, total=False):
        """The options of execute_with_tools."""

        language: str
        timeout_ms: int
        max_code_bytes: int
        max_output_bytes: int
        max_tool_calls: int
        net: Sequence[str]
        workdir: str
        purpose: str
        conversation: str
        turn: str
        on_output: Callable[[str], Any]
        on_debug: Callable[[str], Any]
        on_pending: Callable[[Pending], Any]

__all__ = ["AsyncExecutor", "ExecutionResult", "Executor", "create_executor"]

ERROR_MAX = 64 * 1024
# The fields of the message "executor" that are options.
EXECUTOR_FIELDS = ("language", "timeout_ms", "max_code_bytes", "max_output_bytes", "max_tool_calls", "net", "workdir",
                   "purpose", "conversation", "turn")
LISTENERS = ("on_output", "on_debug", "on_pending")
CONFIG = {
    "code_timeout": "timeout_ms", "max_code_size": "max_code_bytes", "max_output_size": "max_output_bytes",
    "max_tool_calls_per_exec": "max_tool_calls", "allowed_hosts": "net",
    "working_dir": "workdir",
}


@dataclasses.dataclass(frozen=True)
class ExecutionResult:
    """The result of code with tools."""

    success: bool
    output: str
    """What the code has written with ``output`` and ``print`` or ``console``, and the value that it has returned."""
    error: Optional[str] = None
    tool_calls_made: int = 0
    duration_ms: float = 0


class ExecutorCall:
    """The client's side of one execution of code with tools."""

    def __init__(self, client: "ClientBase", dispatch: Callable[[str, Dict[str, Any]], Any],
                 listeners: Mapping[str, Optional[Callable[..., Any]]]) -> None:
        self.client = client
        self.future: "Future[ExecutionResult]" = Future()
        self.future.set_running_or_notify_cancel()
        self._dispatch = dispatch
        self._listeners = listeners
        self._ordered = Ordered(client)
        self._lock = threading.Lock()
        self._send: Callable[[Dict[str, Json]], None] = lambda message: None

    def attach(self, send: Callable[[Dict[str, Json]], None]) -> None:
        self._send = send

    def deliver(self, message: Mapping[str, Json]) -> None:
        kind = message["type"]
        if kind == "executor_result":
            form = message["result"]
            result = ExecutionResult(form["success"], form["output"], form.get("error"), form["tool_calls_made"],
                                     form["duration_ms"])
            self._ordered.then(functools.partial(self._settle, result))
        elif kind == "tool_call":
            call = functools.partial(self._run, message["name"], message["params"])
            self.client.run_callback(call, functools.partial(self._returned, message["call"]))
        elif kind == "pending":
            listener = self._listeners.get("on_pending")
            if listener is not None:
                self.client.run_callback(functools.partial(listener, read_pending(message)), ignore)
        elif kind in ("executor_output", "executor_debug"):
            self._tell("on_output" if kind == "executor_output" else "on_debug", message["text"])
        else:
            raise GloveboxError("protocol", f"an executor gets no message of the type {kind!r}")

    def fail(self, error: BaseException) -> None:
        with self._lock:
            if not self.future.done():
                self.future.set_exception(error)

    def refused(self, about: str, call: Optional[int], error: GloveboxError) -> bool:
        if about in ("tool_answer", "terminate"):
            return False  # the code has ended meanwhile
        self.fail(error)
        return True

    def terminate(self, reason: str) -> None:
        self._send({"type": "terminate", "reason": reason})

    def _settle(self, result: ExecutionResult) -> None:
        with self._lock:
            if not self.future.done():
                self.future.set_result(result)

    def _tell(self, name: str, value: Any) -> None:
        listener = self._listeners.get(name)
        if listener is not None:
            self._ordered.tell(listener, value)

    # --- calls of tools: whatever happens, the code gets an answer

    def _run(self, name: str, params: str) -> Any:
        return self._dispatch(name, json.loads(params))

    def _returned(self, call: int, value: Any, error: Optional[BaseException]) -> None:
        if error is None and is_promise(value):
            self.client.settle(value, functools.partial(self._answer, call))
        else:
            self._answer(call, value, error)

    def _answer(self, call: int, value: Any, error: Optional[BaseException]) -> None:
        try:
            fields = {"error": _text_of(error)} if error is not None else {"result": _to_json(value)}
            self._send({"type": "tool_answer", "call": call, **fields})
        except Exception as problem:
            self._send({"type": "tool_answer", "call": call, "error": f"the answer of the tool: {_text_of(problem)}"})


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _text_of(error: BaseException) -> str:
    """What the code sees of an exception: its message, or its name if it has none."""
    text = text_of(error.args[0] if isinstance(error, KeyError) and len(error.args) == 1 else error)
    return (text or type(error).__name__)[:ERROR_MAX]


def executor_message(source: str, tools: Optional[ToolSource], stubs: Optional[str],
                     options: Mapping[str, Any]) -> Dict[str, Json]:
    """The message ``executor``. Raises a TypeError for an option that there is not."""
    known = {name: camel(name) for name in (*EXECUTOR_FIELDS, *LISTENERS)}
    for name in options:
        if name not in known:
            raise TypeError(f"execute_with_tools() got an unexpected option {name!r}; options: {', '.join(sorted(known))}")
    if not isinstance(source, str):
        raise TypeError(f"source must be str, not {type(source).__name__}")
    message: Dict[str, Json] = {"source": source}
    generate = getattr(tools, "generate_stubs", None)
    text = stubs or (generate() if callable(generate) else None)
    if text:
        message["stubs"] = text
    if isinstance(tools, ToolRegistry):
        message["tools"] = json.dumps(tools.list())
    for name, value in options.items():
        if name not in LISTENERS and value is not None:
            message[known[name]] = list(value) if name == "net" and not isinstance(value, str) else value
    return message


def start_executor(client: "ClientBase", source: str, tools: Optional[ToolSource], stubs: Optional[str],
                   options: Mapping[str, Any]) -> ExecutorCall:
    message = executor_message(source, tools, stubs, options)

    def dispatch(name: str, params: Dict[str, Any]) -> Any:
        if tools is None:
            raise KeyError(f"there is no tool {name!r}")
        return tools.dispatch(name, params)

    call = ExecutorCall(client, dispatch, {name: options.get(name) for name in LISTENERS})
    client._connect().start(call, "executor", message)
    return call


# --- the port


class Executor:
    """Executes code that calls tools. Made by ``create_executor``."""

    def __init__(self, client: "Glovebox", tools: ToolSource, options: Mapping[str, Any]) -> None:
        self._client, self._tools, self._options = client, tools, options

    def execute(self, code: str, tool_stubs: str = "") -> ExecutionResult:
        """Execute ``code``: TypeScript, the body of a function, or Python. Never raises: the result has the error.
        ``tool_stubs`` that are not empty, in the language of the code, replace the stubs of the registry."""
        try:
            return self._client.execute_with_tools(code, self._tools, stubs=tool_stubs, **self._options)
        except Exception as error:
            return ExecutionResult(False, "", _text_of(error))


class AsyncExecutor:
    """Like Executor, for an AsyncGlovebox."""

    def __init__(self, client: "AsyncGlovebox", tools: ToolSource, options: Mapping[str, Any]) -> None:
        self._client, self._tools, self._options = client, tools, options

    async def execute(self, code: str, tool_stubs: str = "") -> ExecutionResult:
        """Like ``Executor.execute``."""
        try:
            return await self._client.execute_with_tools(code, self._tools, stubs=tool_stubs, **self._options)
        except Exception as error:
            return ExecutionResult(False, "", _text_of(error))


@overload
def create_executor(config: Mapping[str, Any], registry: ToolSource, glovebox: "Glovebox", **options: Any) -> Executor: ...
@overload
def create_executor(config: Mapping[str, Any], registry: ToolSource, glovebox: "AsyncGlovebox",
                    **options: Any) -> AsyncExecutor: ...


def create_executor(config: Mapping[str, Any], registry: ToolSource, glovebox: Any,
                    **options: Any) -> Union[Executor, AsyncExecutor]:
    """An executor with fixed limits (``code_timeout``, ``max_code_size``, ``max_output_size``,
    ``max_tool_calls_per_exec``, ``allowed_hosts``, ``working_dir``) and tools. Raises a TypeError for others."""
    from ._async import AsyncGlovebox

    fixed: Dict[str, Any] = dict(options)
    for name, value in config.items():
        if name not in CONFIG:
            raise TypeError(f"config has no {name!r}; it has {', '.join(CONFIG)}")
        if name == "working_dir" and value:
            value = f"{os.path.abspath(value)}:rw"
        if value is not None and not (name in ("allowed_hosts", "working_dir") and not value):
            fixed[CONFIG[name]] = value
    executor_message("", None, None, fixed)
    kind: Any = AsyncExecutor if isinstance(glovebox, AsyncGlovebox) else Executor
    made: Union[Executor, AsyncExecutor] = kind(glovebox, registry, fixed)
    return made


