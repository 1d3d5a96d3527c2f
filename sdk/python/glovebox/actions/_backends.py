"""What a backend of the actions is, and the table of them."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol

from glovebox.actions._settings import shown

__all__ = ["CodeBackend", "CodeRequest", "CodeSandbox", "BackendError", "Result", "create_backend", "failure", "names",
           "register_backend"]

Result = Dict[str, Any]


@dataclasses.dataclass(frozen=True)
class CodeRequest:
    """What one call asks for, after the settings of the workflow have been applied. None: the default of the backend."""

    language: str = "python"
    code: str = ""
    mode: Optional[str] = None
    timeout: Optional[float] = None
    max_memory_mb: Optional[float] = None
    max_output_bytes: Optional[int] = None
    allow_network: Optional[bool] = None
    allow_filesystem: Optional[bool] = None
    allowed_modules: Optional[List[str]] = None
    approval: Optional[str] = None
    """"ask": a person decides. A backend that cannot ask one must refuse the code."""
    purpose: Optional[str] = None
    conversation: Optional[str] = None
    turn: Optional[str] = None
    state: Optional[Mapping[str, Any]] = None
    secrets: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Secrets that the workflow declares, to be masked in output."""


class CodeSandbox(Protocol):
    """A sandbox that keeps its state between calls. Used from any thread."""

    @property
    def id(self) -> str:
        """Unique among all sandboxes of the process."""
        ...

    @property
    def language(self) -> str: ...

    def execute(self, request: CodeRequest) -> Result:
        """Run ``request.code``, and return the six keys of code.execute. An error of the code is a result."""
        ...

    def describe(self) -> Optional[Dict[str, Any]]:
        """Its properties, with ``sandbox_id`` and ``language``; None if it has ended."""

    def destroy(self) -> None:
        """End it. No effect on one that has ended."""


class CodeBackend(Protocol):
    """A place where code runs. One for each engine and mode, made at the first call; used from any thread."""

    def execute(self, request: CodeRequest) -> Result:
        """Run the code in a fresh sandbox, as CodeSandbox.execute."""
        ...

    def create(self, request: CodeRequest) -> CodeSandbox:
        """Make a sandbox; raises BackendError if it cannot."""
        ...

    def close(self) -> None:
        """End everything that this backend has made."""


class BackendError(Exception):
    """The backend could not do what was asked; the code is not the reason. The text is for the user."""


Factory = Callable[[Mapping[str, Any]], CodeBackend]

_factories: Dict[str, Factory] = {}


def register_backend(mode: str, factory: Factory) -> None:
    """Add a value of ``sandbox_mode``. ``factory`` gets the settings (``settings.code``, and ``secrets``) of the workflow."""
    _factories[mode] = factory


def names() -> List[str]:
    return sorted(list(_factories))


def create_backend(mode: str, settings: Mapping[str, Any]) -> CodeBackend:
    factory = _factories.get(mode)
    if factory is None:
        raise BackendError(f"sandbox_mode: {shown(mode)} is not known; known are {', '.join(names())}")
    return factory(settings)


def failure(error: str) -> Result:
    """The result of code that has not run."""
    return {"success": False, "stdout": "", "stderr": "", "return_value": None, "error": error,
            "execution_time_ms": 0.0}
