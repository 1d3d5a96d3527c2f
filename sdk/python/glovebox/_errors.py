"""Errors of the client, and errors that came from a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

if TYPE_CHECKING:
    from ._results import RunResult

__all__ = ["GloveboxError", "RunFailed", "SandboxError", "SerializationError"]


class GloveboxError(Exception):
    """The request was refused, or the server could not be reached; whether the code has run is unknown.

    ``code`` names the kind of error (``connection_lost``, ``not_found``, ``closed``, ``invalid``, ...), ``field`` the
    rejected field, if the error concerns one.
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
    """A value cannot be passed between host and sandbox; ``path`` is its place, such as ``globals.user.socket``."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path


class SandboxError(Exception):
    """An exception of the code in the sandbox, as a value or raised by a call of one of its functions."""

    def __init__(self, name: str, message: str, stack: Optional[str] = None, errors: Optional[List[Any]] = None) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.stack = stack
        self.errors = errors

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name
