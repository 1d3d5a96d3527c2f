"""The part of the codec that is written in Python: conversions of objects to data and back."""
import array as _array
import datetime
import re
import sys

import glovebox_traces as traces

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
Pattern = re.Pattern
array = _array.array


class SerializationError(TypeError):
    """A value, or a part of one, is not data and cannot leave the sandbox."""


class HostError(Exception):
    """An error of the host whose name is no Python exception."""

    def __init__(self, name, message):
        super().__init__(message)
        self.name = name


# --- outgoing

def refuse(path, value, why):
    if why is None:
        kind = type(value)
        name = kind.__qualname__
        if kind.__module__ not in ("builtins", "__main__"):
            name = f"{kind.__module__}.{name}"
        why = f"an instance of {name} cannot cross"
    raise SerializationError(f"{path}: {why}")


def _is_of(value, module, *names):
    """True for instances of a class whose module may not even be loaded."""
    module = sys.modules.get(module)
    return module is not None and any(
        isinstance(value, kind) for name in names if isinstance(kind := getattr(module, name, None), type))


def _convert_numpy(value):
    numpy = sys.modules["numpy"]
    if isinstance(value, (numpy.datetime64, numpy.ndarray)) and value.dtype.kind == "M":
        value = value.astype("datetime64[us]")
    elif isinstance(value, (numpy.timedelta64, numpy.ndarray)) and value.dtype.kind == "m":
        value = value / numpy.timedelta64(1, "s")
    return value.tolist()


def _convert_pandas(value):
    pandas = sys.modules["pandas"]
    if value is pandas.NA:
        return None
    if isinstance(value, pandas.DataFrame):
        return value.to_dict("records")
    if isinstance(value, (pandas.Series, pandas.Index)):
        return value.tolist()
    if isinstance(value, (pandas.Period, pandas.Interval)):
        return str(value)
    return NotImplemented


def convert(value):
    """Converts an object to data where that loses nothing essential; else returns NotImplemented."""
    kind = type(value)
    if kind in (range, type({}.keys()), type({}.values()), type({}.items())):
        return list(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if _is_of(value, "numpy", "generic", "ndarray"):
        return _convert_numpy(value)
    if "pandas" in sys.modules and kind.__module__.startswith("pandas."):
        return _convert_pandas(value)
    if _is_of(value, "enum", "Enum"):
        return value.value
    if not isinstance(value, type) and hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name) for name, field in kind.__dataclass_fields__.items()
                if field._field_type is sys.modules["dataclasses"]._FIELD}
    if (_is_of(value, "decimal", "Decimal") or _is_of(value, "uuid", "UUID") or _is_of(value, "pathlib", "PurePath")
            or _is_of(value, "fractions", "Fraction") or kind.__module__ == "ipaddress"):
        return str(value)
    if _is_of(value, "collections", "deque", "UserList"):
        return list(value)
    if _is_of(value, "collections", "UserDict", "ChainMap"):
        return dict(value)
    if _is_of(value, "types", "SimpleNamespace"):
        return vars(value)
    if _is_of(value, "types", "MappingProxyType"):
        return dict(value)
    return NotImplemented


# Of BaseException itself: a subclass may have replaced them.
_cause, _context, _suppressed = (vars(BaseException)[name].__get__ for name in ("__cause__", "__context__", "__suppress_context__"))
_exceptions = vars(BaseExceptionGroup)["exceptions"].__get__


def describe_error(error):
    """Name, message, stack, cause and errors; None for what it has not."""
    stack = traces.stack_of(error) if error.__traceback__ else None
    return name_of(error), message_of(error), stack, cause_of(error), errors_of(error)


def cause_of(error):
    """What a traceback would show above the error."""
    cause = _cause(error)
    return cause if cause is not None or _suppressed(error) else _context(error)


def errors_of(error):
    """The errors of a group, or those with which an error of the host came in."""
    if isinstance(error, BaseExceptionGroup):
        return list(_exceptions(error))
    errors = getattr(error, "__dict__", {}).get("errors")
    return [_part(part) for part in errors] if type(errors) is list else None


def _part(value):
    """An error, or a scalar; everything else might be refused, and the error with it."""
    if isinstance(value, BaseException) or value is None or type(value) in (bool, int, float, str):
        return value
    return f"a value of type '{type(value).__name__}'"


def name_of(error):
    if isinstance(error, HostError):
        return error.name
    return type(error).__name__


def message_of(error):
    """The message of an error. Code may have replaced __str__."""
    try:
        if isinstance(error, SyntaxError) and isinstance(error.msg, str):
            return error.msg
        return str(error)
    except Exception:
        return "the error cannot be described"


_FLAGS = (("i", re.IGNORECASE), ("m", re.MULTILINE), ("s", re.DOTALL))


def describe_pattern(pattern):
    return pattern.pattern, "".join(letter for letter, flag in _FLAGS if pattern.flags & flag)


# --- incoming

def make_error(name, message, stack):
    import builtins
    kind = getattr(builtins, name, None)
    error = None
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            error = kind(message)
        except TypeError:
            pass  # cannot be constructed from a message alone
    if error is None:
        error = SerializationError(message) if name == "SerializationError" else HostError(name, message)
    if stack:
        error.host_stack = stack
    return error


def make_pattern(source, flags):
    compile_flags = 0
    for letter, flag in _FLAGS:
        if letter in flags:
            compile_flags |= flag
    try:
        return re.compile(re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", source), compile_flags)
    except re.error as error:
        raise ValueError(f"the regular expression /{source}/ is not valid in Python: {error}") from None


def make_array(code, elements):
    if code == "e":
        import struct
        return array("f", struct.unpack(f"<{len(elements) // 2}e", elements))
    return array(code, elements)


def hashable(key):
    """Lists to tuples, recursively: keys of a Map may be lists, keys of a dict must be hashable."""
    if isinstance(key, list):
        return tuple(item if not isinstance(item, list) else hashable(item) for item in key)
    if isinstance(key, set):
        return frozenset(key)
    raise TypeError(f"a Map with keys, or a Set with members, of type {type(key).__name__} cannot be one in Python")
