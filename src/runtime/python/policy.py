"""Restricted mode: checks code before it runs.

Not a security boundary, but guidance on top of the sandbox: it keeps well-meant code within a subset of the
language and explains violations. Python cannot be confined from within; code that circumvents this has the
rights of unrestricted code, inside the sandbox."""
import _string
import ast
import builtins as _builtins
import string
import sys
from types import ModuleType

import glovebox_modules as modules


class RestrictedError(Exception):
    """The code uses something that restricted mode rejects."""


BLOCKED_BUILTINS = frozenset((
    "exec", "eval", "compile", "open", "input", "__import__", "globals", "locals", "vars", "getattr", "setattr",
    "delattr", "hasattr", "breakpoint", "help", "memoryview", "exit", "quit", "copyright", "credits", "license",
))

# What restricted mode of actions rejects as well.
ACTION_BUILTINS = frozenset(("dir", "object", "super", "type"))

# Never importable, even if allowed by name: each of these would defeat all other rules.
BLOCKED_MODULES = frozenset((
    "os", "sys", "subprocess", "socket", "shutil", "importlib", "builtins", "ctypes", "pickle",
    "_ctypes", "_glovebox", "_io", "_imp", "_posixsubprocess", "_socket", "_thread", "ast", "asyncio", "atexit", "bdb",
    "cProfile", "cffi", "code", "codeop", "concurrent", "copyreg", "dbm", "dill", "dis", "doctest", "faulthandler", "gc",
    "http", "imp", "inspect", "io", "joblib", "linecache", "marshal", "mmap", "multiprocessing", "nt", "pathlib", "pdb",
    "pkgutil", "posix", "posixpath", "pty", "pydoc", "resource", "runpy", "shelve", "signal", "site", "ssl",
    "sysconfig", "tempfile", "threading", "timeit", "trace", "traceback", "types", "unittest", "urllib", "weakref",
    "webbrowser", "zipimport", "IPython",
))

# Names of otherwise allowed modules that read attributes by name, or run text.
BLOCKED_NAMES = {
    "operator": {"attrgetter", "methodcaller"},
    "_operator": {"attrgetter", "methodcaller"},
    "string": {"Formatter"},
    "typing": {"get_type_hints", "ForwardRef", "evaluate_forward_ref"},
    "functools": {"singledispatch", "singledispatchmethod", "update_wrapper"},
    "dataclasses": {"make_dataclass"},
    "contextlib": {"redirect_stdout", "redirect_stderr", "chdir"},
    "random": {"SystemRandom"},
    "logging": {"Formatter", "config", "FileHandler", "basicConfig"},
    "numpy": {"load", "save", "savez", "fromfile", "memmap", "loadtxt", "savetxt", "genfromtxt", "DataSource"},
    "pandas": {"eval", "read_pickle", "to_pickle"},
}

# Attributes that lead from an object to its frame or code.
BLOCKED_ATTRIBUTES = frozenset((
    "mro", "with_traceback", "tb_frame", "tb_next", "tb_lasti", "tb_lineno",
    "f_back", "f_builtins", "f_code", "f_globals", "f_locals", "f_trace", "f_lasti", "f_lineno",
    "gi_frame", "gi_code", "gi_yieldfrom", "gi_running", "gi_suspended",
    "cr_frame", "cr_code", "cr_await", "cr_origin", "cr_running", "cr_suspended",
    "ag_frame", "ag_code", "ag_await", "ag_running",
    "func_globals", "func_code", "func_defaults", "im_func", "im_self",
))
_BLOCKED_PREFIXES = ("co_",)

# Double-underscore names that a program may use.
_ATTRIBUTES = frozenset(("__init__", "__name__", "__doc__", "__version__", "__len__", "__str__", "__repr__", "__eq__",
                         "__post_init__", "__enter__", "__exit__", "__iter__", "__next__", "__hash__", "__add__"))
_NAMES = frozenset(("__name__", "__debug__", "__doc__"))
_CLASS_NAMES = frozenset(("__slots__", "__doc__"))
_METHODS = frozenset((
    "__init__", "__repr__", "__str__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__",
    "__bool__", "__len__", "__length_hint__", "__getitem__", "__setitem__", "__delitem__", "__missing__", "__iter__",
    "__next__", "__reversed__", "__contains__", "__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__",
    "__mul__", "__rmul__", "__imul__", "__matmul__", "__rmatmul__", "__truediv__", "__rtruediv__", "__floordiv__",
    "__rfloordiv__", "__mod__", "__rmod__", "__divmod__", "__pow__", "__rpow__", "__lshift__", "__rshift__", "__and__",
    "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__neg__", "__pos__", "__abs__", "__invert__", "__int__",
    "__float__", "__complex__", "__index__", "__round__", "__floor__", "__ceil__", "__trunc__", "__enter__", "__exit__",
    "__aenter__", "__aexit__", "__aiter__", "__anext__", "__await__", "__call__", "__post_init__", "__format__",
    "__bytes__", "__copy__", "__deepcopy__", "__class_getitem__", "__set_name__",
))

_GUARD = "__glovebox_format__"


def _is_dunder(name):
    return name.startswith("__") and name.endswith("__")


def _is_blocked_attribute(name):
    return (name in BLOCKED_ATTRIBUTES or name.startswith(_BLOCKED_PREFIXES)
            or (_is_dunder(name) and name not in _ATTRIBUTES))


class _Checker(ast.NodeTransformer):
    """Raises at the first violation; formatting, which reads attributes by text, is routed through a guard."""

    def __init__(self, policy, filename):
        self.policy, self.filename = policy, filename
        self.in_class = False

    def reject(self, node, what):
        error = RestrictedError(f"{what} (line {getattr(node, 'lineno', 0)})")
        error.position = self.filename, getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
        raise error

    def name(self, node, name):
        """Checks a name that is read or bound in any way."""
        if name is None or name in _NAMES or (self.in_class and name in _CLASS_NAMES):
            return
        if _is_dunder(name):
            self.reject(node, f"the name '{name}' is not allowed in restricted code")
        if name in self.policy.blocked:
            self.reject(node, f"'{name}' is not allowed in restricted code{self.policy.how_to_allow(name)}")

    def attribute(self, node, name):
        if _is_blocked_attribute(name):
            self.reject(node, f"the attribute '{name}' is not allowed in restricted code")

    def visit_Name(self, node):
        self.name(node, node.id)
        return node

    def visit_Attribute(self, node):
        self.attribute(node, node.attr)
        self.generic_visit(node)
        if node.attr in ("format", "format_map") and isinstance(node.ctx, ast.Load):
            guard = ast.Name(_GUARD, ast.Load())
            call = ast.Call(guard, [node.value, ast.Constant(node.attr)], [])
            return ast.fix_missing_locations(ast.copy_location(call, node))
        return node

    def function(self, node):
        name = getattr(node, "name", None)
        if name is not None and not (self.in_class and name in _METHODS):
            self.name(node, name)
        outer, self.in_class = self.in_class, False
        self.generic_visit(node)
        self.in_class = outer
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = function

    def visit_ClassDef(self, node):
        self.name(node, node.name)
        outer, self.in_class = self.in_class, True
        self.generic_visit(node)
        self.in_class = outer
        return node

    def visit_arg(self, node):
        self.name(node, node.arg)
        return self.generic_visit(node)

    def visit_keyword(self, node):
        if node.arg is not None and _is_dunder(node.arg):
            self.reject(node, f"the name '{node.arg}' is not allowed in restricted code")
        return self.generic_visit(node)

    def names(self, node):
        for name in node.names:
            self.name(node, name)
        return node

    visit_Global = visit_Nonlocal = names

    def named(self, node):
        self.name(node, node.name)
        return self.generic_visit(node)

    visit_ExceptHandler = visit_MatchAs = visit_MatchStar = named

    def visit_MatchMapping(self, node):
        self.name(node, node.rest)
        return self.generic_visit(node)

    def visit_MatchClass(self, node):
        for attribute in node.kwd_attrs:
            self.attribute(node, attribute)
        return self.generic_visit(node)

    def visit_Import(self, node):
        for alias in node.names:
            self.module(node, alias.name)
            self.name(node, alias.asname)
            for part in alias.name.split("."):
                self.name(node, part)
        return node

    def visit_ImportFrom(self, node):
        if node.module != "__future__" and not node.level:
            self.module(node, node.module)
        for alias in node.names:
            self.name(node, alias.name)
            self.name(node, alias.asname)
            self.attribute(node, alias.name)
            if alias.name in BLOCKED_NAMES.get(node.module or "", ()):
                self.reject(node, f"'{node.module}.{alias.name}' is not allowed in restricted code")
        return node

    def module(self, node, name):
        why = self.policy.why_not(name)
        if why is not None:
            self.reject(node, why)


class _Formatter(string.Formatter):
    """str.format without access to private attributes."""

    def get_field(self, field_name, args, kwargs):
        _, rest = _string.formatter_field_name_split(field_name)
        for is_attribute, name in rest:
            if is_attribute and (name.startswith("_") or _is_blocked_attribute(name)):
                raise RestrictedError(f"a format string may not read the attribute '{name}' in restricted code")
        return super().get_field(field_name, args, kwargs)


_formatter = _Formatter()


def _guard_format(value, name):
    """Replaces value.format and value.format_map."""
    if isinstance(value, str):
        if name == "format":
            return lambda *args, **named: _formatter.vformat(str(value), args, named)
        return lambda mapping: _formatter.vformat(str(value), (), mapping)
    if isinstance(value, type) and issubclass(value, str):
        if name == "format":
            return lambda text, *args, **named: _formatter.vformat(str(text), args, named)
        return lambda text, mapping: _formatter.vformat(str(text), (), mapping)
    if value is string or getattr(value, "__name__", None) == "string":
        raise RestrictedError("the module's format() is not allowed in restricted code")
    return getattr(value, name)


def _guard_type(*args):
    """type(x) with one argument only."""
    if len(args) != 1:
        raise RestrictedError("type() takes one argument in restricted code: it makes no classes")
    kind = type(args[0])
    return _guard_type if issubclass(kind, type) else kind


class Policy:
    def __init__(self, allowed, is_action=False, read_only=True):
        self.allowed = frozenset(name for name in allowed if isinstance(name, str))
        self.is_action = is_action
        self.blocked = BLOCKED_BUILTINS | ACTION_BUILTINS if is_action else BLOCKED_BUILTINS
        if is_action and not read_only:
            self.blocked -= {"open"}
        self.proxies = {}
        self.builtins = {name: value for name, value in vars(_builtins).items()
                         if name not in self.blocked and not (_is_dunder(name) and name != "__build_class__")}
        self.builtins.update({"__import__": self.import_module, _GUARD: _guard_format, "__name__": "builtins"})
        if not is_action:
            self.builtins["type"] = _guard_type

    def check(self, tree, filename):
        return _Checker(self, filename).visit(tree)

    def how_to_allow(self, what=None):
        """The end of a message of an action: the setting that would allow it."""
        if not self.is_action:
            return ""
        if what == "open":
            return " (settings.code.allow_filesystem allows it, in the sandbox's own /box)"
        if what == "import":
            return " (add it to settings.code.allowed_modules to allow it)"
        return " (sandbox_mode: permissive allows it, inside the same sandbox)"

    def allows(self, name):
        return name in self.allowed or any(name.startswith(other + ".") for other in self.allowed)

    def why_not(self, name):
        """The reason why a module may not be imported; None if it may."""
        if name == "__future__":
            return None
        if modules.is_from_job(name) or any(modules.is_from_job(name.rsplit(".", n)[0]) for n in range(1, name.count(".") + 1)):
            return None
        if name.partition(".")[0] in BLOCKED_MODULES or name.startswith("glovebox_"):
            return f"the module '{name}' is never allowed in restricted code{self.how_to_allow()}"
        if self.allows(name) or any(other.startswith(name + ".") for other in self.allowed):
            return None
        allowed = ", ".join(sorted(self.allowed)) or "none"
        return f"the module '{name}' is not allowed in restricted code (allowed: {allowed}){self.how_to_allow('import')}"

    def import_module(self, name, globals=None, locals=None, fromlist=(), level=0):
        if level:
            return _builtins.__import__(name, globals, locals, fromlist, level)
        why = self.why_not(name)
        if why is not None:
            raise RestrictedError(why)
        module = _builtins.__import__(name, globals, locals, fromlist, level)
        if modules.is_from_job(name.partition(".")[0]):
            return module
        return self.proxy(module)

    def proxy(self, module):
        """A copy of a module with its public names only, without access to other modules."""
        name = module.__name__
        known = self.proxies.get(name)
        if known is None:
            known = self.proxies[name] = ModuleType(name, module.__doc__)
        blocked = BLOCKED_NAMES.get(name, ())
        for key in [*getattr(module, "__all__", ()), *dir(module)]:
            if key.startswith("_") or key in blocked or key in known.__dict__:
                continue
            value = getattr(module, key, None)
            if isinstance(value, type) and issubclass(value, type):
                continue  # a metaclass could create classes from text
            if isinstance(value, ModuleType):
                inner = value.__name__
                if inner.partition(".")[0] in BLOCKED_MODULES or not self.allows(inner):
                    continue
                value = self.proxy(value)
            known.__dict__[key] = value
        return known


_policies = {}


def policy_for(allowed, is_action=False, read_only=True):
    key = tuple(allowed or ()), is_action, read_only
    found = _policies.get(key)
    if found is None:
        found = _policies[key] = Policy(*key)
    return found
