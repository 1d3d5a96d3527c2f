"""The settings of a workflow, read from its engine at each call."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, List, Mapping, Optional

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def expand(value: Any) -> Any:
    """``${NAME}`` and ``${NAME:-default}`` in texts, from the environment."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: os.environ.get(match[1], match[2] or ""), value)
    if isinstance(value, dict):
        return {key: expand(item) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item) for item in value]
    return value


def _section(config: Any, name: str) -> Mapping[str, Any]:
    section = config.get(name) if isinstance(config, Mapping) else None
    return section if isinstance(section, Mapping) else {}


def _config(engine: Any) -> Any:
    for name in ("_config", "config"):
        config = getattr(engine, name, None)
        if isinstance(config, Mapping):
            return config
    return {}


def is_enabled(engine: Any) -> bool:
    return any(getattr(engine, name, False) is True for name in ("_enable_code_execution", "enable_code_execution"))


def code_settings(engine: Any) -> Dict[str, Any]:
    """``settings.code``, expanded."""
    return dict(expand(dict(_section(_section(_config(engine), "settings"), "code"))))


def declared_secrets(engine: Any) -> Dict[str, str]:
    """The secrets that the workflow declares by name. Not all that the engine's store of secrets has: of a store that is
    the environment, that would be the whole environment."""
    section = _section(_config(engine), "secrets")
    if "backend" in section:
        return {}  # it configures a store
    values = {str(name): expand(value) for name, value in section.items() if isinstance(value, str)}
    return {name: value for name, value in values.items() if value}


def secret(engine: Any, name: str) -> Optional[str]:
    """One secret: as the workflow declares it, then from the engine's store, then from the environment."""
    value = declared_secrets(engine).get(name)
    if value:
        return value
    store = getattr(engine, "secrets", None) or getattr(engine, "_secrets", None)
    get = getattr(store, "get", None)
    if callable(get):
        try:
            found = get(name)
        except Exception:  # a store that cannot be reached is one without the secret
            found = None
        if isinstance(found, str) and found:
            return found
    return os.environ.get(name) or None


def is_absent(value: Any) -> bool:
    """Nothing, or the empty text that a template makes of nothing."""
    return value is None or isinstance(value, str) and value == ""


def shown(value: Any) -> str:
    """For messages."""
    try:
        text = ascii(value)
    except Exception:  # of the value's own __repr__
        text = type(value).__name__
    return text if len(text) <= 100 else text[:100] + "…"


def number(value: Any, name: str) -> Optional[float]:
    """A number, or a text with one, as templates make; None: not given."""
    if is_absent(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{name} must be a number, not {type(value).__name__}")
    try:
        read = float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, not {shown(value)}") from None
    if not 0 <= read < float("inf"):
        raise ValueError(f"{name} must not be negative or infinite")
    return read


def flag(value: Any, name: str) -> Optional[bool]:
    if is_absent(value):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError(f"{name} must be true or false, not {shown(value)}")


def text(value: Any, name: str) -> Optional[str]:
    """A text, or a number, which is what YAML makes of a text of digits."""
    if is_absent(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{name} must be text, not {type(value).__name__}")
    return str(value)


def texts(value: Any, name: str) -> Optional[List[str]]:
    """A list of texts, or one text with commas."""
    if value is None:
        return None
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(item, str) for item in value):
        return sorted(value) if isinstance(value, (set, frozenset)) else list(value)
    raise ValueError(f"{name} must be a list of names")
