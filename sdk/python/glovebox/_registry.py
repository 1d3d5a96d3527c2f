"""Tools of the program that code can call, with schemas made of type hints and docstrings."""

from __future__ import annotations

import collections.abc
import inspect
import json
import re
import sys
import types
import typing
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Tuple, TypeVar, Union, overload

__all__ = ["McpSession", "ToolRegistry", "ToolSource"]

F = TypeVar("F", bound=Callable[..., Any])

DEPTH_MAX = 32
PLAIN: Dict[Any, Dict[str, Any]] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
    None: {"type": "null"}, type(None): {"type": "null"}, Any: {}, object: {}, inspect.Parameter.empty: {},
    list: {"type": "array"}, tuple: {"type": "array"}, dict: {"type": "object"},
}
ARRAYS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
UNIONS: Tuple[Any, ...] = (Union, getattr(types, "UnionType", Union))


class ToolSource(Protocol):
    """What an executor needs. A ToolRegistry is one; stubs are optional: ``generate_stubs()``."""

    def dispatch(self, name: str, params: Dict[str, Any]) -> Any: ...


class McpSession(Protocol):
    """The client of an MCP server, such as the ``ClientSession`` of its SDK."""

    async def list_tools(self, cursor: Optional[str] = None) -> Any: ...
    async def call_tool(self, name: str, arguments: Optional[Dict[str, Any]] = None) -> Any: ...


class ToolRegistry:
    """The tools of a program. An executor makes functions of them for its code, and checks parameters by their schemas.

        tools = ToolRegistry()

        @tools.tool
        def get_weather(city: str, days: int = 1) -> list[str]:
            \"\"\"The weather in a city.

            Args:
                city: its name
            \"\"\"
            return ["rain"] * days
    """

    def __init__(self) -> None:
        self._definitions: Dict[str, Dict[str, Any]] = {}
        self._functions: Dict[str, Callable[..., Any]] = {}

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        /,
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        input_schema: Any = None,
        output_schema: Any = None,
        requires_approval: bool = False,
    ) -> Callable[[F], F]: ...

    def tool(self, function: Optional[F] = None, /, **options: Any) -> Any:
        """Decorator: the function becomes a tool. Options are those of ``define``; the function stays as it is."""
        if function is None:
            return lambda decorated: self.tool(decorated, **options)
        self.define(function, **options)
        return function

    def define(
        self,
        run: Callable[..., Any],
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        input_schema: Any = None,
        output_schema: Any = None,
        requires_approval: bool = False,
    ) -> "ToolRegistry":
        """Add a tool. Its schema is made of the type hints and the docstring of ``run``, unless ``input_schema`` is given.
        With ``requires_approval``, each call waits until a person has approved exactly its parameters."""
        if not callable(run):
            raise TypeError(f"a tool is a function, not {type(run).__name__}")
        name = name or getattr(run, "__name__", "")
        if not name or name == "<lambda>":
            raise TypeError("the function has no name: pass name=...")
        if name in self._functions:
            raise TypeError(f"there is another tool with the name {name!r}")
        text, params_text = read_docstring(inspect.getdoc(run) or "")
        definition: Dict[str, Any] = {"name": name}
        if description or text:
            definition["description"] = description or text
        definition["inputSchema"] = input_schema if input_schema is not None else input_schema_of(run, name, params_text)
        output = output_schema if output_schema is not None else _output_schema_of(run)
        if output:
            definition["outputSchema"] = output
        if requires_approval:
            definition["requiresApproval"] = True
        self._definitions[name] = definition
        self._functions[name] = run
        return self

    def list(self) -> List[Dict[str, Any]]:
        """The definitions, in the order in which they were added."""
        return [dict(definition) for definition in self._definitions.values()]

    def dispatch(self, name: str, params: Dict[str, Any]) -> Any:
        """Call a tool. ``params`` are not checked here: the executor has checked them by the schema."""
        function = self._functions.get(name)
        if function is None:
            raise KeyError(f"there is no tool {name!r}")
        return function(**params)

    async def import_mcp(self, session: McpSession, prefix: str = "") -> int:
        """Add the tools of an MCP server, ``prefix`` before their names, and return their number. Their calls are made
        in the event loop of the session: use them with an AsyncGlovebox."""
        count, cursor = 0, None
        while True:
            page = await (session.list_tools() if cursor is None else session.list_tools(cursor))
            for tool in _member(page, "tools"):
                own = _member(tool, "name")
                self.define(_mcp_call(session, own), name=prefix + own, description=_member(tool, "description"),
                            input_schema=_member(tool, "inputSchema") or {"type": "object"},
                            output_schema=_member(tool, "outputSchema"))
                count += 1
            cursor = _member(page, "nextCursor")
            if cursor is None:
                return count


# --- schemas of functions


def input_schema_of(function: Callable[..., Any], name: str, texts: Mapping[str, str]) -> Dict[str, Any]:
    """The JSON Schema of the parameters of a function."""
    properties: Dict[str, Any] = {}
    required: List[str] = []
    schema: Dict[str, Any] = {"type": "object", "properties": properties}
    open_ended = False
    hints = _hints(function)
    for parameter in inspect.signature(function).parameters.values():
        where = f"tool {name!r}: {parameter.name}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{where}: tools are called by the names of their parameters; it has none for the caller")
        if parameter.kind == parameter.VAR_KEYWORD:
            open_ended = True
            continue
        form = schema_of(hints.get(parameter.name, parameter.annotation), where)
        if parameter.name in texts:
            form = {**form, "description": texts[parameter.name]}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif _is_json(parameter.default):
            form = {**form, "default": parameter.default}
        properties[parameter.name] = form
    if required:
        schema["required"] = required
    if not open_ended:
        schema["additionalProperties"] = False
    return schema


def _output_schema_of(function: Callable[..., Any]) -> Any:
    """Of the type that the function returns, if it says one that JSON has."""
    hint = _hints(function).get("return", Any)
    try:
        return schema_of(hint, "return")
    except TypeError:
        return None


def _hints(function: Callable[..., Any]) -> Dict[str, Any]:
    target: Any = function
    if not inspect.isroutine(function) and not isinstance(function, type):
        target = type(function).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except NameError as error:
        raise TypeError(f"a type hint of {getattr(function, '__name__', 'the function')} is not defined: {error}") from None
    except TypeError:
        if sys.version_info < (3, 10):  # "int | None" as a text
            raise TypeError("a type hint cannot be read by this version of Python: write Optional[...]") from None
        return {}


def schema_of(hint: Any, where: str, depth: int = 0) -> Dict[str, Any]:
    """The JSON Schema of a type hint, or a TypeError that says what to use instead."""
    if depth > DEPTH_MAX:
        raise TypeError(f"{where}: the type is nested more than {DEPTH_MAX} deep; pass input_schema")
    try:
        plain = PLAIN.get(hint)
    except TypeError:  # not hashable
        plain = None
    if plain is not None:
        return dict(plain)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hasattr(hint, "__metadata__"):  # Annotated
        text = next((note for note in hint.__metadata__ if isinstance(note, str)), None)
        form = schema_of(args[0], where, depth + 1)
        return {**form, "description": text} if text else form
    if origin is typing.Literal:
        return _literal(args, where)
    if origin in UNIONS:
        return _union(args, where, depth)
    if origin is tuple:
        return _tuple(args, where, depth)
    if origin in ARRAYS or hint in ARRAYS:
        return {"type": "array", "items": schema_of(args[0], where, depth + 1)} if args else {"type": "array"}
    if origin in OBJECTS or hint in OBJECTS:
        return _object(args, where, depth)
    if isinstance(hint, type) and hasattr(hint, "__total__"):
        return _typed_dict(hint, where, depth)
    return _refuse(hint, where)


def _literal(args: Tuple[Any, ...], where: str) -> Dict[str, Any]:
    for value in args:
        if not isinstance(value, (str, int, bool, type(None))) or not _is_json(value):
            raise TypeError(f"{where}: Literal may have texts, numbers, booleans and None, not {value!r}")
    return {"enum": list(args)}


def _union(args: Tuple[Any, ...], where: str, depth: int) -> Dict[str, Any]:
    forms = [schema_of(arg, where, depth + 1) for arg in args]
    return {} if {} in forms else {"anyOf": forms}


def _tuple(args: Tuple[Any, ...], where: str, depth: int) -> Dict[str, Any]:
    if len(args) == 2 and args[1] is Ellipsis:
        return {"type": "array", "items": schema_of(args[0], where, depth + 1)}
    items = [schema_of(arg, where, depth + 1) for arg in args if arg != ()]
    return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}


def _object(args: Tuple[Any, ...], where: str, depth: int) -> Dict[str, Any]:
    if not args:
        return {"type": "object"}
    if args[0] not in (str, Any):
        raise TypeError(f"{where}: the keys of an object are texts: use dict[str, ...]")
    return {"type": "object", "additionalProperties": schema_of(args[1], where, depth + 1) or True}


def _typed_dict(hint: Any, where: str, depth: int) -> Dict[str, Any]:
    members = {key: _bare(member) for key, member in typing.get_type_hints(hint, include_extras=True).items()}
    properties = {key: schema_of(member, f"{where}.{key}", depth + 1) for key, member in members.items()}
    required = sorted(getattr(hint, "__required_keys__", members))
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _bare(hint: Any) -> Any:
    """Required[T] and NotRequired[T] without their word."""
    word = getattr(typing.get_origin(hint), "_name", None)
    return typing.get_args(hint)[0] if word in ("Required", "NotRequired", "ReadOnly") else hint


def _refuse(hint: Any, where: str) -> Dict[str, Any]:
    name = getattr(hint, "__name__", str(hint))
    if hasattr(hint, "__dataclass_fields__"):
        raise TypeError(f"{where}: {name} is a dataclass; parameters are JSON: use a TypedDict, or pass input_schema")
    raise TypeError(f"{where}: JSON has no form for {name}; use str, int, float, bool, None, list, dict, Literal, a "
                    "TypedDict, or pass input_schema")


def _is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


# --- docstrings

SECTION = re.compile(r"(Args|Arguments|Parameters|Params):\s*$")
END = re.compile(r"(Returns?|Raises|Yields?|Examples?|Notes?|Attributes):\s*$")
GOOGLE = re.compile(r"(\s*)\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
SPHINX = re.compile(r":param\s+(?:\S+\s+)?(\w+)\s*:\s*(.*)$")
SPHINX_OTHER = re.compile(r":(\w+)[^:]*:")


def read_docstring(text: str) -> Tuple[str, Dict[str, str]]:
    """The description, and the texts of the parameters: in the form of Google (``Args:``) or Sphinx (``:param x:``)."""
    about: List[str] = []
    texts: Dict[str, str] = {}
    state, last, margin = "about", "", -1
    for line in text.splitlines():
        bare = line.strip()
        sphinx = SPHINX.match(bare)
        if sphinx:
            state, last, margin = "param", sphinx[1], 0
            texts[last] = sphinx[2]
        elif SPHINX_OTHER.match(bare) or END.match(bare):
            state = "other"
        elif SECTION.match(bare):
            state, last, margin = "param", "", -1
        elif state == "about":
            about.append(line)
        elif state == "param" and bare:
            last, margin = _param_line(line, texts, last, margin)
            if not last:
                state = "other"
    return "\n".join(about).strip(), {name: " ".join(words.split()) for name, words in texts.items()}


def _param_line(line: str, texts: Dict[str, str], last: str, margin: int) -> Tuple[str, int]:
    """A line below "Args:": another parameter, or more about the last one. The last parameter, and its margin."""
    match = GOOGLE.match(line)
    if match and (margin < 0 or len(match[1]) <= margin):
        texts[match[2]] = match[3]
        return match[2], len(match[1])
    if last:
        texts[last] += " " + line.strip()
    return last, margin


# --- MCP


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _mcp_call(session: McpSession, name: str) -> Callable[..., Any]:
    async def call(**params: Any) -> Any:
        return unwrap(await session.call_tool(name, params))

    return call


def unwrap(result: Any) -> Any:
    """The value in a result of MCP: structured content, else the text, parsed if it is JSON."""
    parts = _member(result, "content") or []
    is_text = bool(parts) and all(_member(part, "type") == "text" for part in parts)
    text = "\n".join(str(_member(part, "text")) for part in parts) if is_text else None
    if _member(result, "isError"):
        raise RuntimeError(text or "the tool has failed")
    structured = _member(result, "structuredContent")
    if structured is not None:
        return structured
    if text is None:
        return result.model_dump(mode="json") if hasattr(result, "model_dump") else result
    try:
        return json.loads(text)
    except ValueError:
        return text
