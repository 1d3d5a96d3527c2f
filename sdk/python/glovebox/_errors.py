"""Errors of the client, and errors that came from a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

if TYPE_CHECKING:
    from ._results import RunResult

__all__ = ["GloveboxError", "RunFailed", "SandboxError", "SerializationError"]


class GloveboxError(Exception):
    """The request was refused, or the connection to the server failed. In the second case the code may have run.

    ``code`` is the kind of error (``connection_lost``, ``not_found``, ``closed``, ``invalid``, ...). ``field`` is the
    name of the rejected field, or None if the error is not about a field.
    """

    def __init__(self, code: str, message: str, field: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.field = field


class RunFailed(GloveboxError):
    """A run with ``check=True`` was not successful; ``result`` is its result."""

    def __init__(self, result: "RunResult") -> None:
        error = result.error
        what = f"{error.name}: {error.message}" if error else result.status
        super().__init__(error.code if error and error.code else result.status, what)
        self.result = result


class SerializationError(TypeError):
    """A value cannot be passed between host and sandbox. ``path`` says where it is, such as ``globals.user.socket``."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path


class SandboxError(Exception):
    """An exception from the code in the sandbox: passed as a value, or raised by calling a function of that code."""

    def __init__(self, name: str, message: str, stack: Optional[str] = None, errors: Optional[List[Any]] = None) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.stack = stack
        self.errors = errors

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name
