"""Values as JSON, in the form of docs/VALUES.md: every value of Python that can cross keeps its type."""

from __future__ import annotations

import array
import base64
import dataclasses
import datetime
import enum
import inspect
import math
import re
import struct
from concurrent.futures import Future
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Set, Tuple

from ._errors import SandboxError, SerializationError

Json = Any

SAFE_INTEGER = 2**53
DEPTH_MAX = 200
VALUES_MAX = 4_000_000
CAUSES_MAX = 32
DIGITS_MAX = 4000
COPIED_MAX = 1 << 30  # bytes
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

VIEWS = {
    "Int8Array": "b", "Uint8ClampedArray": "B", "Int16Array": "h", "Uint16Array": "H", "Int32Array": "i",
    "Uint32Array": "I", "Float32Array": "f", "Float64Array": "d", "BigInt64Array": "q", "BigUint64Array": "Q",
}
VIEW_OF_CODE = {"b": "Int8Array", "h": "Int16Array", "H": "Uint16Array", "i": "Int32Array", "I": "Uint32Array",
                "f": "Float32Array", "d": "Float64Array", "q": "BigInt64Array", "Q": "BigUint64Array"}


class RegExp:
    """A regular expression of JavaScript that Python's ``re`` may not understand."""

    def __init__(self, source: str, flags: str = "") -> None:
        self.source = source
        self.flags = flags

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegExp) and (self.source, self.flags) == (other.source, other.flags)

    def __hash__(self) -> int:
        return hash((self.source, self.flags))

    def __repr__(self) -> str:
        return f"RegExp({self.source!r}, {self.flags!r})"


class Exporter(Protocol):
    """Functions and promises are not serialized: the other side gets a number for them."""

    def export_function(self, function: Callable[..., Any]) -> Json: ...
    def export_promise(self, promise: Any) -> Json: ...


class Importer(Protocol):
    def import_function(self, number: int, from_sandbox: bool) -> Any: ...
    def import_promise(self, number: int, from_sandbox: bool) -> Any: ...


def is_promise(value: Any) -> bool:
    return isinstance(value, Future) or inspect.isawaitable(value)


class Encoder:
    """Encodes the values of one message. A container that occurs twice is one object on the other side."""

    def __init__(self, exporter: Optional[Exporter] = None) -> None:
        self._exporter = exporter
        self._met: Dict[int, Tuple[List[Json], Any]] = {}  # id: the slot of its form, and the value, kept alive
        self._shared = 0
        self._values = 0
        self._causes = 0

    def encode(self, value: Any, path: str) -> Json:
        """The form of @value, to be put into the message that finish() completes."""
        slot: List[Json] = [None]
        try:
            self._put(slot, value, path, 0)
        except RecursionError:
            raise SerializationError(path, "it is nested too deeply") from None
        return _Cell(slot)

    def finish(self, message: Json) -> Json:
        """The message as JSON. A value that occurs in several of its fields is one object."""
        return _unwrap(message)

    def form(self, value: Any, path: str) -> Json:
        """The JSON of one value."""
        return self.finish(self.encode(value, path))

    def _put(self, slot: List[Json], value: Any, path: str, depth: int) -> None:
        self._values += 1
        if self._values > VALUES_MAX:
            raise SerializationError(path, f"there are more than {VALUES_MAX} values")
        if depth > DEPTH_MAX:
            raise SerializationError(path, f"it is nested more than {DEPTH_MAX} deep")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            slot[0] = value
        elif kind is int:
            slot[0] = _encode_int(value)
        elif kind is float:
            slot[0] = _encode_float(value)
        elif callable(value) and not is_promise(value) and not isinstance(value, type):
            slot[0] = self._function(value, path)
        elif is_promise(value):
            slot[0] = self._promise(value, path)
        else:
            self._put_object(slot, value, path, depth)

    def _function(self, value: Callable[..., Any], path: str) -> Json:
        if self._exporter is None or self._causes:
            raise SerializationError(path, "a function cannot cross here")
        return self._exporter.export_function(value)

    def _promise(self, value: Any, path: str) -> Json:
        if self._exporter is None or self._causes:
            raise SerializationError(path, "an awaitable cannot cross here")
        return self._exporter.export_promise(value)

    def _put_object(self, slot: List[Json], value: Any, path: str, depth: int) -> None:
        met = self._met.get(id(value))
        if met is not None:
            slot[0] = self._reference(met[0])
            return
        self._met[id(value)] = (slot, value)
        kind = type(value)
        if kind in (list, tuple, range):
            self._put_list(slot, value, path, depth)
        elif kind is dict:
            self._put_dict(slot, value, path, depth)
        elif kind in (set, frozenset):
            self._put_set(slot, value, path, depth)
        elif kind in (bytes, bytearray, memoryview):
            slot[0] = {"$type": "ArrayBuffer", "data": base64.b64encode(bytes(value)).decode()}
        elif kind is array.array:
            slot[0] = self._view(value, path)
        elif kind is datetime.datetime:
            slot[0] = _encode_datetime(value, path)
        elif isinstance(value, re.Pattern):
            slot[0] = _encode_pattern(value, path)
        elif kind is RegExp:
            slot[0] = {"$type": "RegExp", "source": value.source, "flags": value.flags}
        elif isinstance(value, BaseException):
            self._put_error(slot, value, path, depth)
        else:
            raise SerializationError(path, _why_not(value))

    def _reference(self, slot: List[Json]) -> Json:
        """The value occurs again: its first place becomes the shared one."""
        form = slot[0]
        if not (isinstance(form, _Shared)):
            form = _Shared(self._shared, form)
            self._shared += 1
            slot[0] = form
        return {"$type": "ref", "id": form.number}

    def _put_list(self, slot: List[Json], value: Any, path: str, depth: int) -> None:
        form: List[Json] = []
        slot[0] = form
        for i, item in enumerate(value):
            cell: List[Json] = [None]
            form.append(cell)
            self._put(cell, item, f"{path}[{i}]", depth + 1)
        slot_form = slot[0]
        target = slot_form.form if isinstance(slot_form, _Shared) else slot_form
        target[:] = [_Cell(cell) for cell in target]

    def _put_dict(self, slot: List[Json], value: Dict[Any, Any], path: str, depth: int) -> None:
        plain = all(type(key) is str for key in value) and "$type" not in value
        if plain:
            form: Dict[str, Json] = {}
            slot[0] = form
            for key, item in value.items():
                cell: List[Json] = [None]
                form[key] = _Cell(cell)
                self._put(cell, item, f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]", depth + 1)
            return
        is_object = all(type(key) is str for key in value)
        entries: List[Json] = []
        slot[0] = {"$type": "Object" if is_object else "Map", "entries": entries}
        for i, (key, item) in enumerate(value.items()):
            key_cell: List[Json] = [None]
            item_cell: List[Json] = [None]
            entries.append([_Cell(key_cell), _Cell(item_cell)])
            self._put(key_cell, key, f"{path}.keys()[{i}]", depth + 3)
            self._put(item_cell, item, f"{path}.values()[{i}]", depth + 3)

    def _put_set(self, slot: List[Json], value: Any, path: str, depth: int) -> None:
        values: List[Json] = []
        slot[0] = {"$type": "Set", "values": values}
        for i, item in enumerate(value):
            cell: List[Json] = [None]
            values.append(_Cell(cell))
            self._put(cell, item, f"{path}.values()[{i}]", depth + 2)

    def _view(self, value: "array.array[Any]", path: str) -> Json:
        name = "Uint8Array" if value.typecode == "B" else VIEW_OF_CODE.get(value.typecode)
        if name is None or struct.calcsize(value.typecode) != value.itemsize:
            raise SerializationError(path, f"an array of the type {value.typecode!r} cannot cross")
        return {"$type": name, "data": base64.b64encode(value.tobytes()).decode()}

    def _put_error(self, slot: List[Json], value: BaseException, path: str, depth: int) -> None:
        name = value.name if isinstance(value, SandboxError) else type(value).__name__
        message = value.message if isinstance(value, SandboxError) else text_of(value)
        form: Dict[str, Json] = {"$type": "Error", "name": name, "message": message}
        slot[0] = form
        cause = value.__cause__ or (None if value.__suppress_context__ else value.__context__)
        if cause is None or self._causes >= CAUSES_MAX:
            return
        self._causes += 1
        cell: List[Json] = [None]
        form["cause"] = _Cell(cell)
        self._put(cell, cause, f"{path}.cause", depth + 1)
        self._causes -= 1


class _Shared:
    """The first place of a value that occurs several times."""

    def __init__(self, number: int, form: Json) -> None:
        self.number = number
        self.form = form


class _Cell:
    """A place in a container whose form may still become a shared one."""

    __slots__ = ("slot",)

    def __init__(self, slot: List[Json]) -> None:
        self.slot = slot


def _unwrap(form: Json) -> Json:
    """The finished JSON: cells and shared places become plain."""
    if isinstance(form, _Cell):
        return _unwrap(form.slot[0])
    if isinstance(form, _Shared):
        return {"$type": "shared", "id": form.number, "value": _unwrap(form.form)}
    if isinstance(form, list):
        return [_unwrap(item) for item in form]
    if isinstance(form, dict):
        return {key: _unwrap(item) for key, item in form.items()}
    return form


def text_of(error: object) -> str:
    """The message of an exception, whatever its class does."""
    try:
        return str(error)
    except Exception:
        return "(the message of this exception cannot be read)"


def _encode_int(value: int) -> Json:
    if -SAFE_INTEGER < value < SAFE_INTEGER:
        return value
    magnitude = abs(value)
    text = str(magnitude) if magnitude < 10**DIGITS_MAX else hex(magnitude)
    return {"$type": "bigint", "value": "-" + text if value < 0 else text}


def _decode_int(text: str) -> int:
    if "0x" in text:
        return int(text, 0)
    return -_from_digits(text[1:]) if text.startswith("-") else _from_digits(text)


def _from_digits(text: str) -> int:
    """Python refuses to read many digits at once, since that takes quadratic time. Halves take less."""
    if len(text) <= DIGITS_MAX:
        return int(text)
    middle = len(text) // 2
    power: int = 10**middle
    return _from_digits(text[:-middle]) * power + _from_digits(text[-middle:])


def _encode_float(value: float) -> Json:
    if math.isnan(value):
        return {"$type": "number", "value": "NaN"}
    if math.isinf(value):
        return {"$type": "number", "value": "Infinity" if value > 0 else "-Infinity"}
    if value == 0 and math.copysign(1, value) < 0:
        return {"$type": "number", "value": "-0"}
    return value


def _encode_datetime(value: datetime.datetime, path: str) -> Json:
    if value.tzinfo is None:
        raise SerializationError(path, "a datetime without a time zone cannot cross: add one, such as timezone.utc")
    ms = (value - EPOCH) // datetime.timedelta(milliseconds=1)
    moment = EPOCH + datetime.timedelta(milliseconds=ms)
    return {"$type": "Date", "value": moment.strftime("%Y-%m-%dT%H:%M:%S.").zfill(20) + f"{ms % 1000:03d}Z"}


def _encode_pattern(value: "re.Pattern[Any]", path: str) -> Json:
    if not isinstance(value.pattern, str):
        raise SerializationError(path, "a regular expression over bytes cannot cross")
    flags = "".join(letter for letter, flag in (("i", re.I), ("m", re.M), ("s", re.S)) if value.flags & flag)
    return {"$type": "RegExp", "source": value.pattern or "(?:)", "flags": flags}


def _why_not(value: Any) -> str:
    kind = type(value)
    if dataclasses.is_dataclass(value):
        return f"an instance of the dataclass {kind.__name__} cannot cross: pass dataclasses.asdict(...)"
    if isinstance(value, enum.Enum):
        return f"an instance of the enum {kind.__name__} cannot cross: pass its value"
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return f"a {kind.__name__} cannot cross: pass a datetime with a time zone, or text"
    if hasattr(value, "tolist"):
        return f"an instance of {kind.__name__} cannot cross: pass its tolist()"
    if isinstance(value, type):
        return f"the class {value.__name__} cannot cross"
    return f"an instance of {kind.__name__} cannot cross"


class Decoder:
    """Decodes the values of one message."""

    def __init__(self, message: Json, importer: Optional[Importer] = None) -> None:
        self._message = message
        self._importer = importer
        self._shared: Dict[int, Any] = {}
        self._forms: Optional[Dict[int, Json]] = None
        self._copies_left = VALUES_MAX
        self._bytes_left = COPIED_MAX

    def decode(self, form: Json, number: Optional[int] = None) -> Any:
        if isinstance(form, list):
            items: List[Any] = self._keep(number, [])
            items.extend(None if _is_hole(item) else self.decode(item) for item in form)
            return items
        if not isinstance(form, dict):
            return form
        if "$type" in form:
            return self._tagged(form, number)
        return self._dict(form.items(), number)

    def _dict(self, pairs: Any, number: Optional[int]) -> Dict[str, Any]:
        into: Dict[str, Any] = self._keep(number, {})
        for key, item in pairs:
            into[key] = self.decode(item)
        return into

    def _keep(self, number: Optional[int], value: Any) -> Any:
        if number is not None:
            self._shared[number] = value
        return value

    def _tagged(self, form: Dict[str, Json], number: Optional[int]) -> Any:
        kind = form["$type"]
        if kind == "undefined":
            return None
        if kind == "number":
            return float(form["value"].replace("Infinity", "inf"))
        if kind == "bigint":
            return _decode_int(form["value"])
        if kind == "Object":
            return self._dict(form["entries"], number)
        if kind == "Map":
            return self._map(form["entries"], number)
        if kind == "Set":
            return self._set(form["values"], number)
        if kind == "Error":
            return self._error(form, number)
        if kind == "shared":
            return self._shared_value(form["id"], form["value"])
        if kind == "ref":
            return self._reference(form["id"])
        if kind in ("function", "promise"):
            return self._callable(form, kind)
        return self._keep(number, self._leaf(form, kind))

    def _callable(self, form: Dict[str, Json], kind: str) -> Any:
        if self._importer is None:
            raise SerializationError("value", f"a {kind} cannot cross here")
        find = self._importer.import_function if kind == "function" else self._importer.import_promise
        return find(form["id"], form.get("owner") == "sandbox")

    def _leaf(self, form: Dict[str, Json], kind: str) -> Any:
        if kind == "Date":
            return None if form["value"] is None else _decode_date(form["value"])
        if kind == "RegExp":
            return RegExp(form["source"], form["flags"])
        if kind == "ArrayBuffer":
            return base64.b64decode(form["data"])
        return self._decode_view(form, kind)

    def _decode_view(self, form: Dict[str, Json], kind: str) -> Any:
        if "data" in form:
            data = base64.b64decode(form["data"])
        else:
            at, length = form["byteOffset"], form["length"]
            size = 1 if kind in ("DataView", "Uint8Array") else 2 if kind == "Float16Array" else struct.calcsize(VIEWS[kind])
            data = self._part(self.decode(form["buffer"]), at, length * size)
        if kind in ("Uint8Array", "DataView"):
            return data
        if kind == "Float16Array":
            return list(struct.unpack(f"<{len(data) // 2}e", data))
        return array.array(VIEWS[kind], data)

    def _part(self, buffer: bytes, at: int, size: int) -> bytes:
        """A copy. Few bytes of a message can ask for many of them: thousands of views of one large buffer."""
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise SerializationError("value", f"its views have more than {COPIED_MAX} bytes")
        return buffer[at : at + size]

    def _hashable(self, value: Any, depth: int = 0) -> Any:
        """A key of a dict or an item of a set: lists and so on become tuples of their content. What occurs several times is
        copied each time, so that few bytes of a message can ask for many copies."""
        self._copies_left -= 1
        if self._copies_left < 0:
            raise SerializationError("value", f"its keys have more than {VALUES_MAX} values")
        if depth > DEPTH_MAX:
            raise SerializationError("value", f"a key is nested more than {DEPTH_MAX} deep, or contains itself")
        if isinstance(value, list):
            return tuple(self._hashable(item, depth + 1) for item in value)
        if isinstance(value, set):
            return frozenset(value)
        if isinstance(value, dict):
            return tuple((key, self._hashable(item, depth + 1)) for key, item in value.items())
        return value

    def _map(self, entries: Json, number: Optional[int]) -> Any:
        into: Dict[Any, Any] = self._keep(number, {})
        for key, item in entries:
            into[self._hashable(self.decode(key))] = self.decode(item)
        return into

    def _set(self, values: Json, number: Optional[int]) -> Set[Any]:
        into: Set[Any] = self._keep(number, set())
        for item in values:
            into.add(self._hashable(self.decode(item)))
        return into

    def _error(self, form: Dict[str, Json], number: Optional[int]) -> SandboxError:
        error: SandboxError = self._keep(number, SandboxError(form["name"], form["message"], form.get("stack")))
        cause = self.decode(form["cause"]) if "cause" in form else None
        if isinstance(cause, BaseException):
            error.__cause__ = cause
        if "errors" in form:
            error.errors = self.decode(form["errors"])
        return error

    def _shared_value(self, number: int, form: Json) -> Any:
        if number not in self._shared:
            self._shared[number] = self.decode(form, number)
        return self._shared[number]

    def _reference(self, number: int) -> Any:
        if number in self._shared:
            return self._shared[number]
        if self._forms is None:
            self._forms = _find_shared(self._message)
        return self._shared_value(number, self._forms[number])


def _is_hole(form: Json) -> bool:
    return isinstance(form, dict) and form.get("$type") == "hole"


def _decode_date(text: str) -> Any:
    """A datetime in UTC; the text of a year that Python has none for."""
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return text


def _find_shared(message: Json) -> Dict[int, Json]:
    found: Dict[int, Json] = {}
    todo = [message]
    while todo:
        form = todo.pop()
        if isinstance(form, dict):
            if form.get("$type") == "shared":
                found[form["id"]] = form["value"]
            todo.extend(form.values())
        elif isinstance(form, list):
            todo.extend(form)
    return found


def encode_members(values: Mapping[str, Any], path: str, encoder: Encoder) -> Dict[str, Json]:
    return {key: encoder.encode(value, f"{path}.{key}") for key, value in values.items()}
