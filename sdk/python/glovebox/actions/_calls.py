"""The callables of the actions. They never raise: an error is a result."""

from __future__ import annotations

import math
import threading
import weakref
from typing import Any, Callable, Dict, Mapping, MutableMapping, Optional, Tuple

from glovebox.actions import _settings as settings
from glovebox.actions._backends import (BackendError, CodeBackend, CodeRequest, CodeSandbox, Result, create_backend, failure,
                                        register_backend)
from glovebox.actions._e2b import E2BBackend
from glovebox.actions._local import LocalBackend

Action = Callable[..., Result]

LANGUAGES = ("python", "javascript", "bash")
ALIASES = {"py": "python", "python3": "python", "js": "javascript", "node": "javascript", "sh": "bash", "shell": "bash"}
DISABLED = "Code execution is disabled. Enable it with enable_code_execution=True of the engine"
UNKNOWN_ACTION = "Unknown action {!r}; use create, execute, destroy or list"
NO_ACTION = "action is required: create, execute, destroy or list"
NO_SANDBOX = "sandbox_id is required"
NO_CODE = "code is required"
NOT_FOUND = "Sandbox not found: {}"
LOST = NOT_FOUND + "; it does not exist in this process, or has ended: create another one"

register_backend("restricted", LocalBackend)
register_backend("permissive", LocalBackend)
register_backend("e2b", E2BBackend)

# Modes that share one backend.
_SHARED = {"permissive": "restricted"}


class Actions:
    """The actions of one engine: its backends and sandboxes. Does not keep the engine alive."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.backends: Dict[str, CodeBackend] = {}
        self.sandboxes: MutableMapping[str, Any] = {}

    def backend(self, mode: str, configuration: Mapping[str, Any]) -> CodeBackend:
        mode = _SHARED.get(mode, mode)
        with self.lock:
            found = self.backends.get(mode)
            if found is None:
                found = self.backends[mode] = create_backend(mode, configuration)
            return found

    def sandbox(self, sandbox_id: str) -> Optional[CodeSandbox]:
        with self.lock:
            found = self.sandboxes.get(sandbox_id)
        return found if hasattr(found, "describe") else None

    def close(self) -> None:
        with self.lock:
            backends = list(self.backends.values())
            self.backends.clear()
            self.sandboxes.clear()
        for backend in backends:
            try:
                backend.close()
            except Exception:  # the other backends must end, too
                pass


def _data(value: Any, depth: int = 0) -> Tuple[bool, Any]:
    """(whether it is data, and the data without its parts that are none)."""
    if value is None or isinstance(value, (bool, str)):
        return True, value
    if isinstance(value, int):
        return True, int(value)
    if isinstance(value, float):
        return True, float(value) if math.isfinite(value) else None
    if depth > 100:
        return False, None
    if isinstance(value, Mapping):
        pairs = ((key, _data(item, depth + 1)) for key, item in value.items() if isinstance(key, str))
        return True, {key: item for key, (is_data, item) in pairs if is_data}
    if isinstance(value, (list, tuple)):
        return True, [item for is_data, item in (_data(item, depth + 1) for item in value) if is_data]
    return False, None


def _state_for(state: Any, exposed: Optional[bool]) -> Optional[Dict[str, Any]]:
    if not exposed or not isinstance(state, Mapping):
        return None
    data: Dict[str, Any] = _data(state)[1]
    return data


def _read_code(code: Any) -> str:
    if code is None or code == "":
        raise ValueError(NO_CODE)
    if not isinstance(code, str):
        raise ValueError(f"code must be text, not {type(code).__name__}")
    return code


def _read_language(language: Any) -> str:
    if not isinstance(language, str) or ALIASES.get(language.lower(), language.lower()) not in LANGUAGES:
        raise ValueError(f"language: {language!r} is not supported; supported are {', '.join(LANGUAGES[:-1])} and "
                         f"{LANGUAGES[-1]}")
    return ALIASES.get(language.lower(), language.lower())


def make_request(engine: Any, code: str, language: Optional[str], state: Any, given: Mapping[str, Any]) -> CodeRequest:
    """The arguments of a call, then the settings of the workflow, then the defaults of the backend."""
    code_settings = settings.code_settings(engine)

    def wanted(*names: str) -> Any:
        for source in (given, code_settings):
            for name in names:
                if source.get(name) not in (None, ""):
                    return source[name]
        return None

    timeout = settings.number(given.get("timeout"), "timeout") or settings.number(given.get("timeout_seconds"), "timeout_seconds")
    if not timeout:
        timeout = settings.number(code_settings.get("default_timeout", code_settings.get("timeout_seconds")),
                                  "settings.code.default_timeout")
    output = settings.number(wanted("max_output_bytes"), "max_output_bytes")
    mode = wanted("sandbox_mode") or "restricted"
    approval = code_settings.get("approval")
    return CodeRequest(
        language=_read_language(language or "python"), code=code, mode=str(mode), timeout=timeout or None,
        max_memory_mb=settings.number(wanted("max_memory_mb"), "max_memory_mb") or None,
        max_output_bytes=int(output) if output else None,
        allow_network=settings.flag(wanted("allow_network"), "allow_network"),
        allow_filesystem=settings.flag(wanted("allow_filesystem"), "allow_filesystem"),
        allowed_modules=settings.texts(given.get("allowed_modules", code_settings.get("allowed_modules")), "allowed_modules"),
        approval=str(approval) if approval else None,
        state=_state_for(state, settings.flag(code_settings.get("expose_state"), "settings.code.expose_state")),
        secrets=settings.declared_secrets(engine))


def configuration_of(engine: Any) -> Dict[str, Any]:
    """What a backend is made of."""
    return {**settings.code_settings(engine), "secret": lambda name: settings.secret(engine, name)}


def _execute(actions: Actions, engine: Any, state: Any, code: Any, language: Any, given: Mapping[str, Any]) -> Result:
    if engine is None or not settings.is_enabled(engine):
        return failure(DISABLED)
    request = make_request(engine, _read_code(code), language, state, given)
    return actions.backend(request.mode, configuration_of(engine)).execute(request)


# --- code.sandbox

def _create(actions: Actions, engine: Any, language: Any, given: Mapping[str, Any]) -> Result:
    request = make_request(engine, "", language, None, given)
    sandbox = actions.backend(request.mode, configuration_of(engine)).create(request)
    with actions.lock:
        actions.sandboxes[sandbox.id] = sandbox
    return {"success": True, "created": True, "sandbox_id": sandbox.id, "language": sandbox.language}


def _execute_in(actions: Actions, engine: Any, state: Any, sandbox_id: Any, code: Any, language: Any,
                given: Mapping[str, Any]) -> Result:
    if not sandbox_id:
        return failure(NO_SANDBOX)
    code = _read_code(code)
    sandbox = actions.sandbox(str(sandbox_id))
    if sandbox is None:
        return failure(LOST.format(sandbox_id))
    request = make_request(engine, code, language or sandbox.language, state, given)
    result = sandbox.execute(request)
    if not result.get("success") and sandbox.describe() is None:
        with actions.lock:
            actions.sandboxes.pop(str(sandbox_id), None)
    return result


def _destroy(actions: Actions, sandbox_id: Any) -> Result:
    if not sandbox_id:
        return {"success": False, "destroyed": False, "error": NO_SANDBOX}
    sandbox = actions.sandbox(str(sandbox_id))
    if sandbox is None:
        return {"success": True, "destroyed": False, "sandbox_id": sandbox_id, "error": NOT_FOUND.format(sandbox_id)}
    with actions.lock:
        actions.sandboxes.pop(str(sandbox_id), None)
    sandbox.destroy()
    return {"success": True, "destroyed": True, "sandbox_id": sandbox_id}


def _list(actions: Actions) -> Result:
    with actions.lock:
        known = [(sandbox_id, sandbox) for sandbox_id, sandbox in actions.sandboxes.items() if hasattr(sandbox, "describe")]
    details = []
    for sandbox_id, sandbox in known:
        described = sandbox.describe()
        if described is None:
            with actions.lock:
                actions.sandboxes.pop(sandbox_id, None)
        else:
            details.append(described)
    return {"success": True, "sandboxes": [one["sandbox_id"] for one in details], "details": details,
            "count": len(details)}


def _sandbox(actions: Actions, engine: Any, state: Any, action: Any, sandbox_id: Any, code: Any, language: Any,
             given: Mapping[str, Any]) -> Result:
    if engine is None or not settings.is_enabled(engine):
        return {"success": False, "error": DISABLED}
    if action == "create":
        return _create(actions, engine, language, given)
    if action == "execute":
        return _execute_in(actions, engine, state, sandbox_id, code, language, given)
    if action == "destroy":
        return _destroy(actions, sandbox_id)
    if action == "list":
        return _list(actions)
    return {"success": False, "error": UNKNOWN_ACTION.format(action) if action else NO_ACTION}


def _message(error: Exception) -> str:
    if isinstance(error, (BackendError, ValueError)):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _actions_of(engine: Any) -> Actions:
    """Those that an earlier registration has made, so that sandboxes survive."""
    found = getattr(engine, "_glovebox_actions", None)
    if isinstance(found, Actions):
        return found
    actions = Actions()
    if engine is None:
        return actions
    sessions = getattr(engine, "_sandbox_sessions", None)
    if isinstance(sessions, dict):
        actions.sandboxes = sessions
    else:
        engine._sandbox_sessions = actions.sandboxes
    engine._glovebox_actions = actions
    weakref.finalize(engine, actions.close)
    return actions


def _reference(engine: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(engine)
    except TypeError:
        return lambda: engine


def register_actions(registry: MutableMapping[str, Any], engine: Any) -> None:
    """Add the actions to ``registry``. Starts nothing, and may be called again. Settings, secrets and the flag
    ``engine._enable_code_execution`` are read at each call."""
    actions, find = _actions_of(engine), _reference(engine)

    def code_execute(state: Any = None, code: Any = None, language: Any = "python", **given: Any) -> Result:
        """Run code in a fresh sandbox: ``{success, stdout, stderr, return_value, error, execution_time_ms}``."""
        try:
            return _execute(actions, find(), state, code, language, given)
        except Exception as error:  # the contract: an action never raises
            return failure(_message(error))

    def code_sandbox(state: Any = None, action: Any = None, sandbox_id: Any = None, code: Any = None, language: Any = None,
                     **given: Any) -> Result:
        """Sandboxes that keep their state: ``action`` is create, execute, destroy or list."""
        try:
            return _sandbox(actions, find(), state, action, sandbox_id, code, language, given)
        except Exception as error:  # as above
            if action == "execute":
                return failure(_message(error))
            return {"success": False, "error": _message(error)}

    for prefix in ("code.", "actions.code_"):
        registry[prefix + "execute"] = code_execute
        registry[prefix + "sandbox"] = code_sandbox
