"""Options of requests as messages, by the tables of fields."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

from ._results import camel, snake
from ._tables import AGENT_FIELDS, AGENT_LIMITS, CODE_FIELDS, INPUT_FIELDS, LIMITS, RUN_FIELDS, SESSION_EXECUTE_FIELDS, SESSION_OPEN_FIELDS
from ._values import Encoder, Exporter, Json, encode_members

Field = Tuple[str, str]  # name and kind

# Fields that have a place of their own in a message.
EXECUTE = ("fn", "args")
NO_DEADLINE = {"timeout", "deadline", "signal"}


def _refuse_unknown(options: Mapping[str, Any], known: Set[str], where: str) -> None:
    for name in options:
        if name not in known:
            hint = "; there is no deadline here: terminate() the run" if name in NO_DEADLINE and "timeout_ms" not in known else ""
            raise TypeError(f"{where}() got an unexpected option {name!r}{hint}; options: {', '.join(sorted(known))}")


def _check(value: Any, name: str, kind: str) -> None:
    expected: Dict[str, Tuple[type, ...]] = {
        "language": (str,), "text": (str,), "input": (str,), "id": (str,), "flag": (bool,), "args": (list, tuple),
        "names": (list, tuple, set, frozenset), "variables": (dict,), "imports": (dict,), "sources": (dict,),
        "files": (dict,), "session": (str, bool), "choice": (str,)}
    types = expected.get(kind)
    if types and not isinstance(value, types):
        raise TypeError(f"{name} must be {' or '.join(t.__name__ for t in types)}, not {type(value).__name__}")
    if isinstance(value, str) and kind in ("id", "session", "language") and "\0" in value:
        raise TypeError(f"{name} must not hold the character U+0000")


def _field(value: Any, name: str, kind: str, encoder: Encoder) -> Json:
    _check(value, name, kind)
    if kind in ("variables", "files"):
        return encode_members(value, name, encoder)
    if kind == "imports":
        return {specifier: encode_members(_exports(names), f"imports[{specifier!r}]", encoder)
                for specifier, names in value.items()}
    if kind in ("names", "args"):
        return [encoder.encode(item, f"{name}[{i}]") for i, item in enumerate(value)]
    if kind == "json":
        return encoder.encode(value, name)
    return dict(value) if kind == "sources" else value


def _exports(names: Any) -> Mapping[str, Any]:
    """A dict, or a module: its public names."""
    if isinstance(names, Mapping):
        return names
    return {name: getattr(names, name) for name in dir(names) if not name.startswith("_")}


def _limits(options: Mapping[str, Any], given: Mapping[str, Any], names: Sequence[str]) -> Dict[str, int]:
    limits: Dict[str, int] = {}
    for name in names:
        value = options.get(snake(name), given.get(snake(name)))
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise TypeError(f"{snake(name)} must be a positive int, not {value!r}")
        limits[name] = value
    return limits


def check_limits(limits: Mapping[str, Any]) -> Mapping[str, Any]:
    """Those of a client, which hold for runs of all kinds."""
    _refuse_unknown(limits, _known((), LIMITS, AGENT_LIMITS), "Glovebox: limits")
    _limits(limits, {}, LIMITS)
    return limits


def _fields(options: Mapping[str, Any], fields: Sequence[Field], encoder: Encoder) -> Dict[str, Json]:
    message: Dict[str, Json] = {}
    for name, kind in fields:
        value = options.get(snake(name))
        if value is not None:
            message[name] = _field(value, snake(name), kind, encoder)
    return message


def _known(fields: Sequence[Field], *more: Sequence[str]) -> Set[str]:
    return {snake(name) for name, _kind in fields} | {snake(name) for names in more for name in names}


def _run_message(source: str, options: Mapping[str, Any], limits: Mapping[str, Any], exporter: Exporter,
                 fields: Sequence[Field], always_fn: bool) -> Dict[str, Json]:
    if not isinstance(source, str):
        raise TypeError(f"source must be str, not {type(source).__name__}")
    encoder = Encoder(exporter)
    encoded = _fields(options, fields, encoder)
    execute = {name: encoded.pop(name) for name in EXECUTE if name in encoded}
    if always_fn:
        execute.setdefault("fn", "default")
    if execute:
        encoded["execute"] = execute
    if options.get("memory_limit_bytes") is not None:
        encoded["memoryLimitBytes"] = options["memory_limit_bytes"]
    report = encoded.pop("report", None) or options.get("report")
    if report:
        encoded["report"] = True
    return {"source": source, "options": encoder.finish(encoded), "limits": _limits(options, limits, LIMITS)}


def _without_report(fields: Sequence[Field]) -> List[Field]:
    return [field for field in fields if field[0] != "report"]


def encode_code(source: str, options: Mapping[str, Any], limits: Mapping[str, Any], exporter: Exporter) -> Dict[str, Json]:
    fields = _without_report(CODE_FIELDS)
    _refuse_unknown(options, _known(fields, ["memoryLimitBytes", "report"]), "run_code")
    return _run_message(source, options, limits, exporter, fields, True)


def encode_run(source: str, options: Mapping[str, Any], limits: Mapping[str, Any], exporter: Exporter) -> Dict[str, Json]:
    fields = _without_report(RUN_FIELDS)
    _refuse_unknown(options, _known(fields, LIMITS, ["memoryLimitBytes", "report", "onOutput"]), "run")
    return _run_message(source, options, limits, exporter, fields, False)


def encode_execution(source: str, session: str, options: Mapping[str, Any], limits: Mapping[str, Any],
                     exporter: Exporter) -> Dict[str, Json]:
    fields = _without_report(SESSION_EXECUTE_FIELDS)
    _refuse_unknown(options, _known(fields, LIMITS, ["memoryLimitBytes", "report", "onOutput", "onPrompt"]), "execute")
    return {"session": session, **_run_message(source, options, limits, exporter, fields, False)}


def encode_session(options: Mapping[str, Any]) -> Dict[str, Json]:
    known = _known(SESSION_OPEN_FIELDS, ["name", "conversation", "net", "reuse"])
    _refuse_unknown(options, known, "open_session")
    return {camel(name): value for name, value in options.items() if value is not None}


def encode_agent_run(source: str, options: Mapping[str, Any], limits: Mapping[str, Any]) -> Dict[str, Json]:
    _refuse_unknown(options, _known(AGENT_FIELDS, AGENT_LIMITS, ["onOutput", "onPrompt", "onPending"]),
                    "execute_for_agent")
    encoder = Encoder()
    message: Dict[str, Json] = {"source": source, **encoder.finish(_fields(options, AGENT_FIELDS, encoder))}
    chosen = _limits(options, limits, AGENT_LIMITS)
    return {**message, "limits": chosen} if chosen else message


def encode_agent_input(text: str, options: Mapping[str, Any]) -> Dict[str, Json]:
    _refuse_unknown(options, _known(INPUT_FIELDS, ["onPending"]), "input_for_agent")
    encoder = Encoder()
    return {"text": text, **encoder.finish(_fields(options, INPUT_FIELDS, encoder))}


