"""The asynchronous client."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Generator, List, Mapping, Optional

from ._client import ClientBase, Done, T, Terminable, core_arguments
from ._encode import encode_session
from ._errors import GloveboxError
from ._executor import ExecutionResult, start_executor
from ._registry import ToolSource
from ._results import Pending, RunResult, SessionInfo, read_session
from ._run import Event, Run, reason_field
from ._values import Json

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._executor import ExecutorOptions
    from ._tables import AgentOptions, CodeOptions, InputOptions, RunOptions, SessionExecuteOptions, SessionOptions


async def wait_in_loop(run: Terminable, future: "Future[T]") -> T:
    """Wait for a result. When the task is cancelled, the code ends, too."""
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        run.terminate("the task was cancelled")
        raise


class AsyncExecution:
    """A run that was started: await it for its result, or iterate over its events."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __await__(self) -> Generator[Any, None, RunResult]:
        return asyncio.wrap_future(self._run.future).__await__()

    async def result(self, *, check: bool = False) -> RunResult:
        """Wait for the result. With ``check``, raises RunFailed unless it is a success."""
        result = await self
        return result.check() if check else result

    async def _wait(self, check: bool) -> RunResult:
        result = await wait_in_loop(self._run, self._run.future)
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

    async def __aiter__(self) -> AsyncIterator[Event]:
        loop, more = asyncio.get_running_loop(), asyncio.Event()
        self._run.events.watch(lambda: loop.call_soon_threadsafe(more.set))
        while True:
            more.clear()
            found, event = self._run.events.get_now()
            if not found:
                await more.wait()
            elif event is None:
                return
            else:
                yield event


class AsyncSession:
    """A sandbox that outlives a run: definitions of a run are visible to later runs."""

    def __init__(self, client: "AsyncGlovebox", info: SessionInfo) -> None:
        self._client = client
        self.id = info.id
        self.name = info.name

    def start(self, source: str, **options: "Unpack[SessionExecuteOptions]") -> AsyncExecution:
        """Run ``source`` after all earlier runs, without waiting for its result."""
        return AsyncExecution(self._client._start_in_session(self.id, source, options))

    async def execute(self, source: str, *, check: bool = False,
                      **options: "Unpack[SessionExecuteOptions]") -> RunResult:
        """Run ``source`` after all earlier runs. The value of its last expression is the result."""
        return await self.start(source, **options)._wait(check)

    async def info(self) -> SessionInfo:
        """The current state; available for a while after the session has ended."""
        return await self._ask("session_get")

    async def interrupt(self) -> SessionInfo:
        """Ask the running code to stop."""
        return await self._ask("session_interrupt")

    async def send(self, text: str) -> SessionInfo:
        """Send input to the run that executes, newline included."""
        return await self._ask("session_send", text=text)

    async def expose(self, port: int, *, on: Optional[int] = None, path: Optional[str] = None) -> SessionInfo:
        """Listen on 127.0.0.1 of the host, on the port ``on`` or a free one, or at a unix socket with the absolute
        ``path``; connections reach a server on ``port`` inside the session, which needs ``net``. See ``exposed``."""
        return await self._ask("session_expose", port=port, on=on, path=path)

    async def update(self, *, trusted: Optional[bool] = None, add_tokens: Optional[int] = None) -> SessionInfo:
        """Set whether the session is trusted, or add tokens that its code has cost."""
        return await self._ask("session_update", trusted=trusted, addTokens=add_tokens)

    async def kill(self, reason: Optional[str] = None) -> SessionInfo:
        """End the session, with its runs."""
        return await self._ask("session_kill", **reason_field(reason))

    async def _ask(self, kind: str, **fields: Json) -> SessionInfo:
        return await asyncio.wrap_future(
            self._client._ask(kind, lambda reply: read_session(reply["session"]), session=self.id, **fields))

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.kill()
        except GloveboxError:
            pass  # it has ended already, or the server has


class AsyncGlovebox(ClientBase):
    """Like Glovebox, for asyncio: methods are awaited, and functions of the program run in its event loop."""

    _loop: Optional[asyncio.AbstractEventLoop] = None

    def _new_run(self, listeners: Mapping[str, Optional[Callable[..., Any]]]) -> Run:
        self._loop = asyncio.get_running_loop()
        return super()._new_run(listeners)

    async def run(self, source: str, *, check: bool = False, **options: "Unpack[RunOptions]") -> RunResult:
        """Run ``source``, in any language, in a fresh sandbox, and wait for its result."""
        return await self.start(source, **options)._wait(check)

    def start(self, source: str, **options: "Unpack[RunOptions]") -> AsyncExecution:
        """Like ``run``, without waiting: events can be followed, and the run can be terminated."""
        return AsyncExecution(self._start_run(source, options))

    async def run_code(self, source: str, *, check: bool = False, **options: "Unpack[CodeOptions]") -> RunResult:
        """Run ``source`` as an ES module, with imports and globals, which may have functions of this program."""
        return await self.start_code(source, **options)._wait(check)

    def start_code(self, source: str, **options: "Unpack[CodeOptions]") -> AsyncExecution:
        """Like ``run_code``, without waiting."""
        return AsyncExecution(self._start_code(source, options))

    async def open_session(self, **options: "Unpack[SessionOptions]") -> AsyncSession:
        """Open a session, which lives until it is killed, is idle for too long, or this Glovebox is closed."""
        reply = self._ask("session_open", lambda reply: read_session(reply["session"]), **encode_session(options))
        return AsyncSession(self, await asyncio.wrap_future(reply))

    async def sessions(self, conversation: Optional[str] = None) -> List[SessionInfo]:
        """Live and recently ended sessions, of one conversation or of all."""
        return await asyncio.wrap_future(self._session_list(conversation, None))

    async def cleanup(self, conversation: str, reason: Optional[str] = None) -> int:
        """End all sessions of a conversation, and return their number."""
        return await self._cleanup(conversation, reason, None)

    async def add_secret(self, name: str, value: str) -> None:
        """Mask ``value`` from now on in all output and results."""
        await asyncio.wrap_future(self._ask("secret_add", lambda reply: None, name=name, value=value))

    async def execute_for_agent(self, source: str, *, check: bool = False,
                                **options: "Unpack[AgentOptions]") -> RunResult:
        """Run ``source`` for an agent: only if the settings allow it, after approval, masked and recorded. A refusal is
        a result with the status ``denied``."""
        return await self.start_for_agent(source, **options)._wait(check)

    def start_for_agent(self, source: str, **options: "Unpack[AgentOptions]") -> AsyncExecution:
        """Like ``execute_for_agent``, without waiting."""
        return AsyncExecution(self._start_agent(source, options))

    async def input_for_agent(self, text: str, *, check: bool = False, **options: "Unpack[InputOptions]") -> RunResult:
        """Send ``text``, newline included, to an agent's run that waits for input, after approval."""
        return await AsyncExecution(self._start_input(text, options))._wait(check)

    async def agents_enabled(self) -> bool:
        """Whether the settings let agents run code, at the time of the connection."""
        hello = await asyncio.wrap_future(self._connect().hello)
        return hello.get("agent") is True

    async def agent_sessions(self, conversation: Optional[str] = None) -> List[SessionInfo]:
        """Like ``sessions``, for the sessions of agents."""
        return await asyncio.wrap_future(self._session_list(conversation, True))

    async def kill_agent_session(self, session: str, reason: Optional[str] = None) -> SessionInfo:
        """End a session of an agent, with its runs."""
        return await asyncio.wrap_future(self._ask("session_kill", lambda reply: read_session(reply["session"]),
                                                   agent=True, session=session, **reason_field(reason)))

    async def cleanup_agent_sessions(self, conversation: str, reason: Optional[str] = None) -> int:
        """End all sessions of agents in a conversation, and return their number."""
        return await self._cleanup(conversation, reason, True)

    async def core_execute(self, purpose: str, code: str, *, timeout: Optional[float] = None,
                           tier: Optional[str] = None, expected_output: Optional[str] = None, trace: Any = None,
                           conversation: Optional[str] = None, turn: Optional[str] = None,
                           on_pending: Optional[Callable[[Pending], Any]] = None) -> Dict[str, str]:
        """Call the tool core.execute for an agent. Never raises: ``output`` says what happened."""
        arguments = core_arguments({"purpose": purpose, "code": code, "timeout": timeout, "tier": tier,
                                    "expected_output": expected_output, "trace": trace, "conversation": conversation,
                                    "turn": turn})
        self._loop = asyncio.get_running_loop()
        try:
            call = self._call_tool("core.execute", arguments, on_pending)
            return {"output": await wait_in_loop(call, call.future)}
        except Exception as error:  # the contract of the tool
            return {"output": f"EXECUTION_ERROR: {error}"}

    async def execute_with_tools(self, source: str, tools: Optional[ToolSource] = None, *, stubs: Optional[str] = None,
                                 **options: "Unpack[ExecutorOptions]") -> ExecutionResult:
        """Execute code of an agent that calls ``tools`` of this program: docs/EXECUTOR.md. A refusal is a result."""
        self._loop = asyncio.get_running_loop()
        call = start_executor(self, source, tools, stubs, options)
        return await wait_in_loop(call, call.future)

    async def close(self) -> None:
        """End all runs and the process."""
        await asyncio.get_running_loop().run_in_executor(None, self._shut)

    async def __aenter__(self) -> "AsyncGlovebox":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _cleanup(self, conversation: str, reason: Optional[str], agent: Optional[bool]) -> int:
        def count(reply: Mapping[str, Json]) -> int:
            return int(reply["count"])

        return await asyncio.wrap_future(self._ask("session_cleanup", count, conversation=conversation, agent=agent,
                                                   **reason_field(reason)))

    # --- functions of the program

    def present(self, future: "Future[Any]") -> Any:
        return asyncio.wrap_future(future)

    def run_callback(self, function: Callable[[], Any], done: Done) -> None:
        def work() -> None:
            try:
                value = function()
            except BaseException as error:
                done(None, error)
            else:
                done(value, None)

        self._soon(work, done)

    def settle(self, promise: Any, done: Done) -> None:
        async def wait() -> None:
            try:
                value = await (asyncio.wrap_future(promise) if isinstance(promise, Future) else promise)
            except BaseException as error:
                done(None, error)
            else:
                done(value, None)

        self._soon(lambda: asyncio.ensure_future(wait()), done)

    def _soon(self, work: Callable[[], Any], done: Done) -> None:
        """In the event loop of the program; @done is called with an error if that has ended."""
        try:
            if self._loop is None:
                raise RuntimeError("there is no event loop")
            self._loop.call_soon_threadsafe(work)
        except RuntimeError as error:
            done(None, error)


__all__ = ["AsyncExecution", "AsyncGlovebox", "AsyncSession"]
