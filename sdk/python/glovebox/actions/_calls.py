"""The callables of the actions. They never raise: an error is a result."""

from __future__ import annotations

import _thread
import atexit
import math
import os
import threading
import weakref
from typing import Any, Callable, Dict, List, Mapping, MutableMapping, Optional, Tuple

from glovebox.actions import _settings as settings
from glovebox.actions._backends import (BackendError, CodeBackend, CodeRequest, CodeSandbox, Result, create_backend, failure,
                                        register_backend)
from glovebox.actions._e2b import E2BBackend
from glovebox.actions._local import LocalBackend
from glovebox.actions._owner import check_owner

Action = Callable[..., Result]

LANGUAGES = ("python", "javascript", "bash")
ALIASES = {"py": "python", "python3": "python", "js": "javascript", "node": "javascript", "sh": "bash", "shell": "bash"}
DISABLED = "Code execution is disabled. Enable it with enable_code_execution=True of the engine"
UNKNOWN_ACTION = "Unknown action {}; use create, execute, destroy or list"
NO_ACTION = "action is required: create, execute, destroy or list"
NO_SANDBOX = "sandbox_id is required"
NO_CODE = "code is required"
NOT_FOUND = "Sandbox not found: {}"
LOST = NOT_FOUND + "; it does not exist in this process, or has ended: create another one"

register_backend("restricted", LocalBackend)
register_backend("permissive", LocalBackend)
register_backend("e2b", E2BBackend)

MODE = "restricted"
# Modes that share one backend.
_SHARED = {"permissive": MODE}

# What code.sandbox create is given holds for each execute that does not say otherwise.
KEPT = ("timeout", "timeout_seconds", "max_memory_mb", "max_output_bytes", "sandbox_mode", "allowed_modules")
STATE_MAX = 1_000_000  # values; a list that is in it many times counts as often


class Actions:
    """The actions of one engine: its backends and sandboxes. Does not keep the engine alive."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.backends: Dict[str, CodeBackend] = {}
        self.sandboxes: MutableMapping[str, Any] = {}
        self.given: Dict[str, Dict[str, Any]] = {}  # to create, by ids of sandboxes
        _all.add(self)

    def backend(self, mode: Optional[str], configuration: Mapping[str, Any]) -> CodeBackend:
        mode = _SHARED.get(mode or MODE, mode or MODE)
        with self.lock:
            found = self.backends.get(mode)
            if found is None:
                if mode != MODE:
                    check_owner()
                found = self.backends[mode] = create_backend(mode, configuration)
            return found

    def sandbox(self, sandbox_id: str) -> Optional[CodeSandbox]:
        with self.lock:
            found = self.sandboxes.get(sandbox_id)
        return found if _is_ours(found) else None

    def add(self, sandbox: CodeSandbox, given: Mapping[str, Any]) -> None:
        with self.lock:
            self.sandboxes[sandbox.id] = sandbox
            self.given[sandbox.id] = {name: given[name] for name in KEPT if not settings.is_absent(given.get(name))}

    def remove(self, sandbox_id: str) -> Tuple[Optional[CodeSandbox], Dict[str, Any]]:
        """The sandbox, for one caller only, and what it was given."""
        with self.lock:
            given = self.given.pop(sandbox_id, {})
            return (self.sandboxes.pop(sandbox_id) if _is_ours(self.sandboxes.get(sandbox_id)) else None), given

    def given_to(self, sandbox_id: str, given: Mapping[str, Any]) -> Dict[str, Any]:
        """The arguments of an execute, and below them those of its create."""
        now = {name: value for name, value in given.items() if not settings.is_absent(value)}
        first = dict(self.given.get(sandbox_id, {}))
        if "timeout" in now or "timeout_seconds" in now:
            first.pop("timeout", None)
            first.pop("timeout_seconds", None)
        return {**first, **now}

    def live(self) -> List[Dict[str, Any]]:
        """The properties of the sandboxes that have not ended; the others are forgotten."""
        with self.lock:
            known = [sandbox for sandbox in self.sandboxes.values() if _is_ours(sandbox)]
        found = []
        for sandbox in known:
            try:
                described = sandbox.describe()
            except Exception:  # the backend cannot say: it may live
                described = {"sandbox_id": sandbox.id, "language": sandbox.language}
            if described is None:
                self.remove(sandbox.id)
            else:
                found.append(described)
        return found

    def leave_to_parent(self) -> None:
        """In a forked child. A lock can be held by a thread that exists in the parent only."""
        self.lock = threading.Lock()
        self.backends, self.given = {}, {}
        for sandbox_id in [key for key, sandbox in self.sandboxes.items() if _is_ours(sandbox)]:
            del self.sandboxes[sandbox_id]

    def close(self) -> None:
        with self.lock:
            backends = list(self.backends.values())
            self.backends.clear()
            self.sandboxes.clear()
            self.given.clear()
        for backend in backends:
            try:
                backend.close()
            except Exception:  # the other backends must end, too
                pass


def _is_ours(sandbox: Any) -> bool:
    """An engine can keep sandboxes of its own actions in the same dict."""
    return hasattr(sandbox, "describe")


def _has_ended(sandbox: CodeSandbox) -> bool:
    try:
        return sandbox.describe() is None
    except Exception:  # the backend cannot say
        return False


_all: "weakref.WeakSet[Actions]" = weakref.WeakSet()


def _leave_all_to_parent() -> None:
    for actions in list(_all):
        actions.leave_to_parent()


def _close_all() -> None:
    for actions in list(_all):
        actions.close()


def _close_later(actions: Actions) -> None:
    """The garbage collector calls this in any thread, which may hold any lock, also those that closing needs."""
    _thread.start_new_thread(actions.close, ())


os.register_at_fork(after_in_child=_leave_all_to_parent)
atexit.register(_close_all)


# --- arguments

def _data(value: Any, left: List[int], depth: int = 0) -> Tuple[bool, Any]:
    """(whether it is data, and the data without its parts that are none). @left: how many values it may have."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"state has more than {STATE_MAX} values, too many to expose (settings.code.expose_state)")
    if value is None or isinstance(value, (bool, str)):
        return True, value
    if isinstance(value, int):
        return True, int(value)
    if isinstance(value, float):
        return True, float(value) if math.isfinite(value) else None
    if depth > 100:
        return False, None
    if isinstance(value, Mapping):
        pairs = ((key, _data(item, left, depth + 1)) for key, item in value.items() if isinstance(key, str))
        return True, {key: item for key, (is_data, item) in pairs if is_data}
    if isinstance(value, (list, tuple)):
        return True, [item for is_data, item in (_data(item, left, depth + 1) for item in value) if is_data]
    return False, None


def _state_for(state: Any, exposed: Optional[bool]) -> Optional[Dict[str, Any]]:
    if not exposed or not isinstance(state, Mapping):
        return None
    data: Dict[str, Any] = _data(state, [STATE_MAX])[1]
    return data


def _read_code(code: Any) -> str:
    if code is None:  # an empty text is code that does nothing, as templates can make it
        raise ValueError(NO_CODE)
    if not isinstance(code, str):
        raise ValueError(f"code must be text, not {type(code).__name__}")
    try:
        code.encode()
    except UnicodeEncodeError:
        raise ValueError("code must be text of Unicode: it has half of a pair of surrogates") from None
    return code


def _read_id(sandbox_id: Any) -> str:
    if settings.is_absent(sandbox_id):
        raise ValueError(NO_SANDBOX)
    if not isinstance(sandbox_id, str):
        raise ValueError(f"sandbox_id must be text, not {type(sandbox_id).__name__}")
    return sandbox_id.encode("utf-8", "backslashreplace").decode()  # messages repeat it


def _read_language(language: Any) -> str:
    if not isinstance(language, str) or ALIASES.get(language.lower(), language.lower()) not in LANGUAGES:
        raise ValueError(f"language: {settings.shown(language)} is not supported; supported are {', '.join(LANGUAGES[:-1])} and "
                         f"{LANGUAGES[-1]}")
    return ALIASES.get(language.lower(), language.lower())


def make_request(engine: Any, code: str, language: Optional[str], state: Any, given: Mapping[str, Any]) -> CodeRequest:
    """The arguments of a call, then the settings of the workflow, then the defaults of the backend."""
    code_settings = settings.code_settings(engine)

    def wanted(*names: str) -> Any:
        for source in (given, code_settings):
            for name in names:
                if not settings.is_absent(source.get(name)):
                    return source[name]
        return None

    timeout = settings.number(given.get("timeout"), "timeout") or settings.number(given.get("timeout_seconds"), "timeout_seconds")
    if not timeout:
        timeout = settings.number(code_settings.get("default_timeout", code_settings.get("timeout_seconds")),
                                  "settings.code.default_timeout")
    output = settings.number(wanted("max_output_bytes"), "max_output_bytes")
    mode = wanted("sandbox_mode")
    return CodeRequest(
        language=_read_language("python" if settings.is_absent(language) else language), code=code,
        mode=None if mode is None else str(mode), timeout=timeout or None,
        max_memory_mb=settings.number(wanted("max_memory_mb"), "max_memory_mb") or None,
        max_output_bytes=int(output) if output else None,
        allow_network=settings.flag(wanted("allow_network"), "allow_network"),
        allow_filesystem=settings.flag(wanted("allow_filesystem"), "allow_filesystem"),
        allowed_modules=settings.texts(wanted("allowed_modules"), "allowed_modules"),
        approval=_approval(given, code_settings),
        purpose=settings.text(given.get("purpose"), "purpose"),
        conversation=settings.text(given.get("conversation"), "conversation"), turn=settings.text(given.get("turn"), "turn"),
        state=_state_for(state, settings.flag(code_settings.get("expose_state"), "settings.code.expose_state")),
        secrets=settings.declared_secrets(engine))


def _approval(given: Mapping[str, Any], code_settings: Mapping[str, Any]) -> Optional[str]:
    """A call can ask for a person, and cannot do without the one of the settings."""
    for source, name in ((code_settings, "settings.code.approval"), (given, "approval")):
        asked = settings.text(source.get("approval"), name)
        if asked is not None:
            return asked
    return None


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
    actions.add(sandbox, given)
    return {"success": True, "created": True, "sandbox_id": sandbox.id, "language": sandbox.language}


def _execute_in(actions: Actions, engine: Any, state: Any, sandbox_id: Any, code: Any, language: Any,
                given: Mapping[str, Any]) -> Result:
    sandbox_id, code = _read_id(sandbox_id), _read_code(code)
    sandbox = actions.sandbox(sandbox_id)
    if sandbox is None:
        return failure(LOST.format(sandbox_id))
    language = sandbox.language if settings.is_absent(language) else language
    request = make_request(engine, code, language, state, actions.given_to(sandbox_id, given))
    result = sandbox.execute(request)
    if not result.get("success") and _has_ended(sandbox):
        actions.remove(sandbox_id)
    return result


def _destroy(actions: Actions, sandbox_id: Any) -> Result:
    try:
        sandbox_id = _read_id(sandbox_id)
    except ValueError as error:
        return {"success": False, "destroyed": False, "error": str(error)}
    sandbox, given = actions.remove(sandbox_id)
    if sandbox is None or _has_ended(sandbox):
        return {"success": True, "destroyed": False, "sandbox_id": sandbox_id, "error": NOT_FOUND.format(sandbox_id)}
    try:
        sandbox.destroy()
    except Exception as error:  # it stays known, so that this can be tried again
        actions.add(sandbox, given)
        return {"success": False, "destroyed": False, "sandbox_id": sandbox_id, "error": _message(error)}
    return {"success": True, "destroyed": True, "sandbox_id": sandbox_id}


def _list(actions: Actions) -> Result:
    details = actions.live()
    return {"success": True, "sandboxes": [one["sandbox_id"] for one in details], "details": details,
            "count": len(details)}


def _sandbox(actions: Actions, engine: Any, state: Any, action: Any, sandbox_id: Any, code: Any, language: Any,
             given: Mapping[str, Any]) -> Result:
    if engine is None or not settings.is_enabled(engine):
        return {"success": False, "error": DISABLED}
    if not isinstance(action, str):
        return {"success": False, "error": NO_ACTION if action is None else UNKNOWN_ACTION.format(settings.shown(action))}
    if action == "create":
        return _create(actions, engine, language, given)
    if action == "execute":
        return _execute_in(actions, engine, state, sandbox_id, code, language, given)
    if action == "destroy":
        return _destroy(actions, sandbox_id)
    if action == "list":
        return _list(actions)
    return {"success": False, "error": UNKNOWN_ACTION.format(settings.shown(action)) if action else NO_ACTION}


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
        _attach(engine, "_sandbox_sessions", actions.sandboxes)
    _attach(engine, "_glovebox_actions", actions)
    try:
        weakref.finalize(engine, _close_later, actions).atexit = False  # _close_all does it then
    except TypeError:
        pass  # it cannot be referenced weakly: its sandboxes end with the process
    return actions


def _attach(engine: Any, name: str, value: Any) -> None:
    try:
        setattr(engine, name, value)
    except AttributeError:
        pass  # an engine with fixed attributes: another registration makes actions of its own


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
            if isinstance(action, str) and action == "execute":
                return failure(_message(error))
            return {"success": False, "error": _message(error)}

    for prefix in ("code.", "actions.code_"):
        registry[prefix + "execute"] = code_execute
        registry[prefix + "sandbox"] = code_sandbox
