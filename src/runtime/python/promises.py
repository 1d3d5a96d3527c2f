"""Promises of the host, and the event loop that waits for them."""
import asyncio
import selectors
import sys
import threading

import _glovebox


class DeadlockError(RuntimeError):
    """The awaited value can never arrive."""


class Promise:
    """The future result of a host function. Can be awaited any number of times."""

    __slots__ = ("_state", "_value", "_waiting", "__weakref__")

    def __init__(self):
        self._state = None  # later False for a value, True for an error
        self._value = None
        self._waiting = []

    def __repr__(self):
        return f"<host promise, {'pending' if self._state is None else 'failed' if self._state else 'done'}>"

    def done(self):
        return self._state is not None

    def settle(self, thrown, value):
        """Called by the bridge."""
        self._value = value if not thrown or isinstance(value, BaseException) else Exception(value)
        self._state = thrown
        waiting, self._waiting = self._waiting, ()
        for future in waiting:
            loop = future.get_loop()
            if loop is asyncio._get_running_loop():
                _wake(future)
            else:
                loop.call_soon_threadsafe(_wake, future)

    def __await__(self):
        if self._state is None:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            yield from future
        if self._state:
            raise self._value
        return self._value

    def result(self):
        """Wait for it outside of async code."""
        if self._state is None:
            if asyncio._get_running_loop() is not None:
                raise RuntimeError("an event loop is running: await it instead")
            if threading.current_thread() is threading.main_thread():
                drive(_await(self))
            else:
                asyncio.run(_await(self))
        if self._state:
            raise self._value
        return self._value


def _wake(future):
    if not future.done():
        future.set_result(None)


async def _await(awaitable):
    return await awaitable


# Maximum sleep of the loop while other threads may schedule work on it.
_SLICE = 0.002


class _Selector(selectors.PollSelector):
    """Waits for the host and for descriptors opened by the code."""

    def select(self, timeout=None):
        if timeout is not None and timeout <= 0:
            timeout = 0
        if threading.active_count() > 1 and (timeout is None or timeout > _SLICE):
            timeout = _SLICE
        if self._fd_to_key:
            if timeout is None or timeout > _SLICE:
                timeout = _SLICE
            _glovebox.turn(0)
            return super().select(timeout)
        if not _glovebox.turn(timeout):
            raise DeadlockError("a promise that the run waits for can never settle: nothing is left that could resolve it")
        return []


class _Loop(asyncio.SelectorEventLoop):
    """Has no self-pipe: with other threads, the selector wakes up every _SLICE."""

    def __init__(self):
        super().__init__(_Selector())

    def _make_self_pipe(self):
        self._ssock = self._csock = None

    def _close_self_pipe(self):
        pass

    def _write_to_self(self):
        pass

    def _process_self_data(self, data):
        pass


class _Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = _Loop


asyncio.set_event_loop_policy(_Policy())

_main = None


def drive(coroutine):
    """Run a coroutine on the loop of the main code, which lives as long as its namespace."""
    global _main
    if _main is None or _main.is_closed():
        _main = _Loop()
        asyncio.set_event_loop(_main)
    task = _main.create_task(coroutine)
    try:
        return _main.run_until_complete(task)
    except BaseException:
        if not task.done():
            _cancel([task])
        raise


def _cancel(tasks):
    for task in tasks:
        task.cancel()
    try:
        _main.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    except BaseException:
        pass  # ignore how a cancelled task ends


def end():
    """After the main code has ended: cancel its remaining tasks."""
    global _main
    if _main is not None:
        left = asyncio.all_tasks(_main)
        if left:
            _cancel(left)
        _main = None


def is_awaitable(value):
    return hasattr(type(value), "__await__")


def serve(call, callee, arguments):
    """Called when the host calls a lent function or promise."""
    try:
        value = callee if is_awaitable(callee) else callee(*arguments)
        if is_awaitable(value):
            if asyncio._get_running_loop() is None:
                value = drive(_await(value))
            else:
                _answer_later(call, value)
                return
    except Exception as error:
        _glovebox.answer(call, True, error)
    except BaseException as error:
        _glovebox.answer(call, True, RuntimeError(f"the function ended with {type(error).__name__}"))
        raise
    else:
        _glovebox.answer(call, False, value)


_serving = set()


def _answer_later(call, awaitable):
    task = asyncio.ensure_future(_await(awaitable))
    _serving.add(task)

    def done(task):
        _serving.discard(task)
        if task.cancelled():
            _glovebox.answer(call, True, RuntimeError("the function was cancelled"))
        elif task.exception() is not None:
            _glovebox.answer(call, True, task.exception())
        else:
            _glovebox.answer(call, False, task.result())

    task.add_done_callback(done)
