"""Functions of the program that are told of output: in its order, and before the result."""

import collections
import functools
import threading
from typing import TYPE_CHECKING, Any, Callable, Deque, Optional

if TYPE_CHECKING:
    from ._client import ClientBase


class Ordered:
    """Calls one function after another; a client calls several at the same time."""

    def __init__(self, client: "ClientBase") -> None:
        self._client = client
        self._lock = threading.Lock()
        self._waiting: Deque[Callable[[], object]] = collections.deque()
        self._busy = False

    def tell(self, listener: Callable[..., Any], *args: Any) -> None:
        """What the listener returns or raises does not affect the run."""
        with self._lock:
            self._waiting.append(functools.partial(listener, *args))
            if self._busy:
                return
            self._busy = True
        self._client.run_callback(self._call_all, self._called)

    def then(self, function: Callable[[], object]) -> None:
        """Call @function, which raises nothing, after the listeners; at once if none is left."""
        with self._lock:
            if self._busy:
                self._waiting.append(function)
                return
        function()

    def _next(self) -> Optional[Callable[[], object]]:
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._busy = False
            return None

    def _call_all(self) -> None:
        call = self._next()
        while call is not None:
            try:
                call()
            except BaseException:  # SystemExit, too, which would otherwise end nothing but these calls
                pass
            call = self._next()

    def _called(self, _value: Any, error: Optional[BaseException]) -> None:
        # The client calls nothing any more, or the program ends: what follows must happen all the same.
        if error is not None:
            self._call_all()
