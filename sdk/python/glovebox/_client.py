"""The synchronous client, and what it shares with the asynchronous one."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Protocol, Sequence, TypeVar

from ._connection import Connection
from ._executor import ExecutionResult, start_executor
from ._encode import (check_limits, encode_agent_input, encode_agent_run, encode_code, encode_execution, encode_run, encode_session)
from ._errors import GloveboxError
from ._registry import ToolSource
from ._results import Pending, RunResult, SessionInfo, read_session
from ._run import Event, Run, ToolCall, reason_field
from ._transport import Transport, open_transport
from ._values import Json

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._executor import ExecutorOptions
    from ._tables import AgentOptions, CodeOptions, InputOptions, Limits, RunOptions, SessionExecuteOptions, SessionOptions

T = TypeVar("T")
Done = Callable[[Any, Optional[BaseException]], None]

THREADS_MAX = 512
EXIT_TIMEOUT = 5.0


def check_process(pid: int) -> None:
    if os.getpid() != pid:
        raise GloveboxError("forked", "this Glovebox belongs to the parent process: make another one after fork()")


def closed() -> GloveboxError:
    return GloveboxError("closed", "this Glovebox has been closed")


class ClientBase:
    """Starts the server, and makes requests. Thread-safe; cannot be used in a forked child."""

    def __init__(
        self,
        path: Optional[str] = None,
        *,
        command: Optional[Sequence[str]] = None,
        socket: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        config_file: Optional[str] = None,
        settings: Optional[Mapping[str, object]] = None,
        limits: Optional["Limits"] = None,
        decides: Sequence[str] = (),
    ) -> None:
        self._open: Callable[[], Transport] = functools.partial(
            open_transport, path, command, socket, env, config_file, settings)
        self._limits: Mapping[str, Any] = check_limits(limits or {})
        if isinstance(decides, str):
            raise TypeError("decides must be a list of faces, such as ['executor']")
        self._decides = tuple(decides)
        self._lock = threading.Lock()
        self._connection: Optional[Connection] = None
        self._closed = False
        self._pid = os.getpid()

    def _connect(self) -> Connection:
        check_process(self._pid)
        with self._lock:
            if self._closed:
                raise closed()
            if self._connection is None or not self._connection.usable:
                self._connection = Connection(self._open(), self._decides)
                # A client that is dropped without close() ends its server, as does the end of the program.
                weakref.finalize(self, self._connection.abandon)
            return self._connection

    def _start(self, run: Run, kind: str, message: Mapping[str, Json]) -> None:
        self._connect().start(run, kind, message)

    def _ask(self, kind: str, read: Callable[[Mapping[str, Json]], T], **fields: Json) -> "Future[T]":
        return then(self._connect().ask(kind, {key: value for key, value in fields.items() if value is not None}), read)

    def _new_run(self, listeners: Mapping[str, Optional[Callable[..., Any]]]) -> Run:
        return Run(self, listeners)

    # --- requests, for both clients

    def _start_code(self, source: str, options: Mapping[str, Any]) -> Run:
        run = self._new_run({"report": options.get("report")})
        self._start(run, "run", encode_code(source, options, self._limits, run.bridge))
        return run

    def _start_run(self, source: str, options: Mapping[str, Any]) -> Run:
        run = self._new_run({"report": options.get("report"), "on_output": options.get("on_output")})
        self._start(run, "run", encode_run(source, options, self._limits, run.bridge))
        return run

    def _start_agent(self, source: str, options: Mapping[str, Any]) -> Run:
        run = self._new_run({name: options.get(name) for name in ("on_output", "on_prompt", "on_pending")})
        self._start(run, "execute", encode_agent_run(source, options, self._limits))
        return run

    def _start_input(self, text: str, options: Mapping[str, Any]) -> Run:
        run = self._new_run({"on_pending": options.get("on_pending")})
        self._start(run, "input", encode_agent_input(text, options))
        return run

    def _start_in_session(self, session: str, source: str, options: Mapping[str, Any]) -> Run:
        run = self._new_run({name: options.get(name) for name in ("report", "on_output", "on_prompt")})
        self._start(run, "run", encode_execution(source, session, options, self._limits, run.bridge))
        return run

    def _call_tool(self, name: str, arguments: Mapping[str, Any],
                   on_pending: Optional[Callable[[Pending], Any]]) -> ToolCall:
        call = ToolCall(self, on_pending)
        self._connect().start(call, "tool", {"name": name, "arguments": dict(arguments)})
        return call

    def _session_list(self, conversation: Optional[str], agent: Optional[bool]) -> "Future[List[SessionInfo]]":
        return self._ask("session_list", lambda reply: [read_session(form) for form in reply["sessions"]],
                         conversation=conversation, agent=agent)

    # --- what the two clients do differently

    def present(self, future: "Future[Any]") -> Any:
        raise NotImplementedError

    def run_callback(self, function: Callable[[], Any], done: Done) -> None:
        raise NotImplementedError

    def settle(self, promise: Any, done: Done) -> None:
        raise NotImplementedError

    # --- the end

    def _shut(self) -> bool:
        """False in a forked child: locks may be held by threads that exist in the parent only."""
        if os.getpid() != self._pid:
            return False
        with self._lock:
            self._closed = True
            connection = self._connection
        if connection is not None:
            connection.close(closed(), EXIT_TIMEOUT)
        return True


def then(future: "Future[Dict[str, Json]]", read: Callable[[Mapping[str, Json]], T]) -> "Future[T]":
    """What @read makes of the result."""
    into: "Future[T]" = Future()
    into.set_running_or_notify_cancel()

    def settle(done: "Future[Dict[str, Json]]") -> None:
        error = done.exception()
        if error is not None:
            into.set_exception(error)
            return
        try:
            into.set_result(read(done.result()))
        except Exception as problem:
            into.set_exception(problem)

    future.add_done_callback(settle)
    return into


class Terminable(Protocol):
    def terminate(self, reason: str) -> None: ...


def wait_for(run: Terminable, future: "Future[T]", timeout: Optional[float]) -> T:
    """Wait for a result. When Ctrl-C ends the wait, the code ends, too; a timeout only ends the wait."""
    try:
        return future.result(timeout)
    except (KeyboardInterrupt, SystemExit):
        run.terminate("the program was interrupted")
        raise


def future_done(future: "Future[Any]", done: Done) -> None:
    error = future.exception()
    done(None if error else future.result(), error)


def core_arguments(options: Mapping[str, Any]) -> Dict[str, Json]:
    names = {"expected_output": "expectedOutput"}
    return {names.get(key, key): value for key, value in options.items() if value is not None}


class Execution:
    """A run that was started. Iterating gives its events until it has ended."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def result(self, timeout: Optional[float] = None, *, check: bool = False) -> RunResult:
        """Wait for the result. With ``check``, raises RunFailed unless it is a success."""
        check_process(self._run.pid)
        result = self._run.future.result(timeout)
        return result.check() if check else result

    def _wait(self, check: bool) -> RunResult:
        result = wait_for(self._run, self._run.future, None)
        return result.check() if check else result

    @property
    def running(self) -> bool:
        """True until there is a result."""
        return self._run.running

    @property
    def reports(self) -> List[Any]:
        """The values given to ``report`` so far."""
        return list(self._run.reports)

    def terminate(self, reason: object = None) -> None:
        """End the run at once; the status of its result is ``terminated``. Further calls have no effect."""
        self._run.terminate(reason)

    def interrupt(self) -> None:
        """In a session: ask the code to stop, as Ctrl-C does; the session continues."""
        self._run.interrupt()

    def __iter__(self) -> Iterator[Event]:
        check_process(self._run.pid)
        while True:
            event = self._run.events.get()
            if event is None:
                return
            yield event


class Session:
    """A sandbox that outlives a run: definitions of a run are visible to later runs. Killed at the end of ``with``."""

    def __init__(self, client: "Glovebox", info: SessionInfo) -> None:
        self._client = client
        self.id = info.id
        self.name = info.name

    def start(self, source: str, **options: "Unpack[SessionExecuteOptions]") -> Execution:
        """Run ``source`` after all earlier runs, without waiting for its result."""
        return Execution(self._client._start_in_session(self.id, source, options))

    def execute(self, source: str, *, check: bool = False, **options: "Unpack[SessionExecuteOptions]") -> RunResult:
        """Run ``source`` after all earlier runs. The value of its last expression is the result."""
        return self.start(source, **options)._wait(check)

    def info(self) -> SessionInfo:
        """The current state; available for a while after the session has ended."""
        return self._ask("session_get")

    def interrupt(self) -> SessionInfo:
        """Ask the running code to stop."""
        return self._ask("session_interrupt")

    def send(self, text: str) -> SessionInfo:
        """Send input to the run that executes, newline included."""
        return self._ask("session_send", text=text)

    def expose(self, port: int, *, on: Optional[int] = None, path: Optional[str] = None) -> SessionInfo:
        """Listen on 127.0.0.1 of the host, on the port ``on`` or a free one, or at a unix socket with the absolute
        ``path``; connections reach a server on ``port`` inside the session, which needs ``net``. See ``exposed``."""
        return self._ask("session_expose", port=port, on=on, path=path)

    def update(self, *, trusted: Optional[bool] = None, add_tokens: Optional[int] = None) -> SessionInfo:
        """Set whether the session is trusted, or add tokens that its code has cost."""
        return self._ask("session_update", trusted=trusted, addTokens=add_tokens)

    def kill(self, reason: Optional[str] = None) -> SessionInfo:
        """End the session, with its runs."""
        return self._ask("session_kill", **reason_field(reason))

    def _ask(self, kind: str, **fields: Json) -> SessionInfo:
        return self._client._ask(kind, lambda reply: read_session(reply["session"]), session=self.id, **fields).result()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.kill()
        except GloveboxError:
            pass  # it has ended already, or the server has


class Glovebox(ClientBase):
    """Sandboxes for a Python program. The first request starts ``glovebox stdio``; all requests share it.

    ``path`` names the program; default: GLOVEBOX_PATH, this package's own, then the absolute folders of the PATH. Instead,
    ``command`` is a command that speaks the protocol, or ``socket`` the socket of a running server. ``settings`` override
    file and environment: ``{"agent.enabled": True}``. ``limits`` hold for all runs that do not name their own. ``decides``
    names the faces on whose requests this program decides itself (``"executor"``, ``"actions"``): no person is asked.
    """

    _pool: Optional[ThreadPoolExecutor] = None
    _loop: Optional[asyncio.AbstractEventLoop] = None

    def run(self, source: str, *, check: bool = False, **options: "Unpack[RunOptions]") -> RunResult:
        """Run ``source``, in any language, in a fresh sandbox, and wait for its result."""
        return self.start(source, **options)._wait(check)

    def start(self, source: str, **options: "Unpack[RunOptions]") -> Execution:
        """Like ``run``, without waiting: events can be followed, and the run can be terminated."""
        return Execution(self._start_run(source, options))

    def run_code(self, source: str, *, check: bool = False, **options: "Unpack[CodeOptions]") -> RunResult:
        """Run ``source`` as an ES module, with imports and globals, which may have functions of this program."""
        return self.start_code(source, **options)._wait(check)

    def start_code(self, source: str, **options: "Unpack[CodeOptions]") -> Execution:
        """Like ``run_code``, without waiting."""
        return Execution(self._start_code(source, options))

    def open_session(self, **options: "Unpack[SessionOptions]") -> Session:
        """Open a session, which lives until it is killed, is idle for too long, or this Glovebox is closed."""
        reply = self._ask("session_open", lambda reply: read_session(reply["session"]), **encode_session(options))
        return Session(self, reply.result())

    def sessions(self, conversation: Optional[str] = None) -> List[SessionInfo]:
        """Live and recently ended sessions, of one conversation or of all."""
        return self._session_list(conversation, None).result()

    def cleanup(self, conversation: str, reason: Optional[str] = None) -> int:
        """End all sessions of a conversation, and return their number."""
        return self._cleanup(conversation, reason, None)

    def add_secret(self, name: str, value: str) -> None:
        """Mask ``value`` from now on in all output and results."""
        self._ask("secret_add", lambda reply: None, name=name, value=value).result()

    def execute_for_agent(self, source: str, *, check: bool = False, **options: "Unpack[AgentOptions]") -> RunResult:
        """Run ``source`` for an agent: only if the settings allow it, after approval, masked and recorded. A refusal is
        a result with the status ``denied``."""
        return self.start_for_agent(source, **options)._wait(check)

    def start_for_agent(self, source: str, **options: "Unpack[AgentOptions]") -> Execution:
        """Like ``execute_for_agent``, without waiting."""
        return Execution(self._start_agent(source, options))

    def input_for_agent(self, text: str, *, check: bool = False, **options: "Unpack[InputOptions]") -> RunResult:
        """Send ``text``, newline included, to an agent's run that waits for input, after approval."""
        return Execution(self._start_input(text, options))._wait(check)

    def agents_enabled(self) -> bool:
        """Whether the settings let agents run code, at the time of the connection."""
        return self._connect().hello.result().get("agent") is True

    def agent_sessions(self, conversation: Optional[str] = None) -> List[SessionInfo]:
        """Like ``sessions``, for the sessions of agents."""
        return self._session_list(conversation, True).result()

    def kill_agent_session(self, session: str, reason: Optional[str] = None) -> SessionInfo:
        """End a session of an agent, with its runs."""
        return self._ask("session_kill", lambda reply: read_session(reply["session"]), agent=True, session=session,
                         **reason_field(reason)).result()

    def cleanup_agent_sessions(self, conversation: str, reason: Optional[str] = None) -> int:
        """End all sessions of agents in a conversation, and return their number."""
        return self._cleanup(conversation, reason, True)

    def core_execute(self, purpose: str, code: str, *, timeout: Optional[float] = None, tier: Optional[str] = None,
                     expected_output: Optional[str] = None, trace: Any = None, conversation: Optional[str] = None,
                     turn: Optional[str] = None, on_pending: Optional[Callable[[Pending], Any]] = None) -> Dict[str, str]:
        """Call the tool core.execute for an agent. Never raises: ``output`` says what happened."""
        arguments = core_arguments({"purpose": purpose, "code": code, "timeout": timeout, "tier": tier,
                                    "expected_output": expected_output, "trace": trace, "conversation": conversation,
                                    "turn": turn})
        try:
            call = self._call_tool("core.execute", arguments, on_pending)
            return {"output": wait_for(call, call.future, None)}
        except Exception as error:  # the contract of the tool
            return {"output": f"EXECUTION_ERROR: {error}"}

    def execute_with_tools(self, source: str, tools: Optional[ToolSource] = None, *, stubs: Optional[str] = None,
                           **options: "Unpack[ExecutorOptions]") -> ExecutionResult:
        """Execute code of an agent that calls ``tools`` of this program: docs/EXECUTOR.md. A refusal is a result.
        ``create_executor`` has the same as a port that never raises."""
        call = start_executor(self, source, tools, stubs, options)
        return wait_for(call, call.future, None)

    def close(self) -> None:
        """End all runs and the process."""
        if not self._shut():
            return
        if self._pool is not None:
            self._pool.shutdown(wait=False)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def __enter__(self) -> "Glovebox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _cleanup(self, conversation: str, reason: Optional[str], agent: Optional[bool]) -> int:
        def count(reply: Mapping[str, Json]) -> int:
            return int(reply["count"])

        return self._ask("session_cleanup", count, conversation=conversation, agent=agent,
                         **reason_field(reason)).result()

    # --- functions of the program

    def present(self, future: "Future[Any]") -> Any:
        return future.result()

    def run_callback(self, function: Callable[[], Any], done: Done) -> None:
        def work() -> None:
            try:
                value = function()
            except BaseException as error:
                done(None, error)
            else:
                done(value, None)

        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(THREADS_MAX, "glovebox-callback")
            pool = self._pool
        try:
            pool.submit(work)
        except RuntimeError as error:  # it was shut down
            done(None, error)

    def settle(self, promise: Any, done: Done) -> None:
        if isinstance(promise, Future):
            promise.add_done_callback(lambda future: future_done(future, done))
            return

        async def wait() -> Any:
            return await promise

        future = asyncio.run_coroutine_threadsafe(wait(), self._event_loop())
        future.add_done_callback(lambda finished: future_done(finished, done))

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        """For asynchronous functions of the program; runs in a thread of its own."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="glovebox-asyncio", daemon=True).start()
            return self._loop
