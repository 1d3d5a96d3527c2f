"""Runs a job: prepares the namespace, compiles the source, evaluates it, returns the value."""
import ast
import atexit
import builtins
import datetime
import io
import keyword
import os
import random
import sys
import threading
from types import ModuleType

import _glovebox
import glovebox_actions as actions
import glovebox_display as display
import glovebox_modules as modules
import glovebox_policy as policies
import glovebox_promises as promises
import glovebox_tools as tools
import glovebox_traces as traces
import glovebox_values as values

NOTHING = object()

_ONLY_SESSION = {"session": True}  # the usual settings of a session's job

SUCCESS, ERROR, MEMORY, LINK_ERROR = range(4)

_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_TREE = _AWAIT | ast.PyCF_ONLY_AST
_COROUTINE = 0x80
_FUTURES = 0x1FF0000  # the code flags that `from __future__ import` sets

_PLAIN = frozenset((int, float, str, bool, type(None), list, dict, tuple, set, frozenset, bytes, bytearray,
                    datetime.datetime, datetime.date))


class NoExport(NameError):
    """The code does not define the requested name."""


class NotCallable(TypeError):
    """The requested value is not callable, but arguments were given."""


_REPORTS = {
    NoExport: (LINK_ERROR, "NameError", "no_export"),
    NotCallable: (ERROR, "TypeError", "not_a_function"),
    policies.RestrictedError: (ERROR, "RestrictedError", "restricted"),
    promises.DeadlockError: (ERROR, "DeadlockError", "never_settles"),
    KeyboardInterrupt: (ERROR, "KeyboardInterrupt", "interrupted"),
    SystemExit: (ERROR, "SystemExit", "exit"),
}


# Names that are not variables.
_WORDS = frozenset((*keyword.kwlist, "__debug__"))


class _State:
    """State kept between jobs. An instance, since assigning to class attributes is slow."""
    __slots__ = "namespace", "policy", "count", "is_action", "head"

    def __init__(self):
        self.namespace = self.policy = None
        self.is_action = False
        self.head = None  # the functions of the tools, of code that has some
        self.count = 0


state = _State()


def wake():
    """Reseeds everything random that was initialised in the zygote."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile._name_sequence = None
    threading.main_thread()._set_native_id()


# --- preparation

def _fresh():
    """A fresh namespace."""
    main = ModuleType("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    modules.forget_all()
    promises.end()
    traces.forget_all()
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    return main.__dict__


def _apply(settings, filename):
    """Applies the runtime-specific settings."""
    state.policy = None
    state.is_action = settings is not None and settings.get("action", False)
    state.head = None if settings is None else settings.get("head")
    if settings is None:
        if display.shown.count:
            display.shown.reset()
        return False
    if settings == _ONLY_SESSION and sys.stdin is sys.__stdin__:
        display.shown.reset()
        return True
    display.shown.reset(settings.get("maxDisplays", display.MAX_COUNT),
                        settings.get("displayBytes", display.MAX_BYTES))
    if settings.get("restricted"):
        state.policy = policies.policy_for(
            settings.get("allowedModules"), bool(settings.get("action")), bool(settings.get("readOnly")))
    if settings.get("readOnly"):
        actions.make_read_only()
    if settings.get("reset"):
        state.namespace = None
    stdin = settings.get("stdin", "")
    if stdin or sys.stdin is not sys.__stdin__:
        sys.stdin = io.StringIO(stdin)
    os.environ.update(settings.get("secrets") or ())
    for folder in settings.get("path") or ():
        if folder not in sys.path:
            sys.path.insert(0, folder)
    argv = settings.get("argv")
    if argv is not None:
        sys.argv = [filename, *argv]
    return bool(settings.get("session"))


def _name(filename, source, session):
    """Sources of a session may share a filename; tracebacks need a unique name for each."""
    if session and filename in traces.own:
        state.count += 1
        filename = f"{filename}[{state.count + 1}]"
    traces.remember(filename, source)
    return filename


def _compile_apart(source, filename):
    """Fast path without a syntax tree: compile the last unindented line as an expression, and the text before
    it as code. If both compile, together they are the source. Raises SyntaxError otherwise."""
    end = len(source.rstrip())
    start = source.rfind("\n", 0, end) + 1
    while start and source[start] in " \t#)]}\n":
        start = source.rfind("\n", 0, start - 1) + 1
    lines = source.count("\n", 0, start)
    expression = compile("\n" * lines + source[start:end], filename, "eval", _AWAIT, True)
    if not start:
        return None, expression
    code = compile(source[:start], filename, "exec", _AWAIT, True)
    if code.co_flags & _FUTURES:
        raise SyntaxError  # they would have to apply to the expression too
    return code, expression


def _compile(source, filename, policy):
    """(code of all but the last expression, code of that expression); either may be None."""
    if policy is None and state.head is None:
        try:
            return _compile_apart(source, filename)
        except SyntaxError:
            pass
    tree = compile(source, filename, "exec", _TREE, True)
    if policy is not None:
        tree = policy.check(tree, filename)
    if state.head is not None:
        tree = tools.as_function(tree, filename)
    body = tree.body
    if not body:
        return None, None
    last = body.pop() if type(body[-1]) is ast.Expr else None
    code = expression = None
    flags = _AWAIT
    if body:
        code = compile(tree, filename, "exec", flags, True)
        flags |= code.co_flags & _FUTURES
    if last is not None:
        expression = compile(ast.Expression(last.value), filename, "eval", flags, True)
    return code, expression


def _compile_module(source, filename):
    policy = state.policy
    if policy is None:
        return compile(source, filename, "exec", 0, True), builtins
    tree = policy.check(compile(source, filename, "exec", ast.PyCF_ONLY_AST, True), filename)
    return compile(tree, filename, "exec", 0, True), policy.builtins


modules.finder.compile = _compile_module


# --- the run

async def _execute_async(parts, namespace):
    value = None
    for code in parts:
        value = eval(code, namespace)
        if code.co_flags & _COROUTINE:
            value = await value
    return value


def _execute(code, expression, namespace):
    """The value of the expression, or None. If one part uses await, both run on the event loop."""
    parts = [part for part in (code, expression) if part is not None]
    value = None
    if any(part.co_flags & _COROUTINE for part in parts):
        value = promises.drive(_execute_async(parts, namespace))
    else:
        for part in parts:
            value = eval(part, namespace)
    return None if expression is None else value


def _settle(value):
    """Await promises and coroutines until the value is none of them."""
    while type(value) not in _PLAIN and promises.is_awaitable(value):
        value = promises.drive(promises._await(value))
    return value


def _present(value):
    """A value with rich forms that is not plain data is displayed, and returned as text."""
    value = _settle(value)
    if type(value) not in _PLAIN and display.show(value):
        value = display.text_of(value)
    return value


def _call_export(name, required, arguments, namespace):
    selected = namespace.get(name, NOTHING)
    if selected is NOTHING:
        if required:
            raise NoExport(f"the code defines nothing named '{name}'")
        return NOTHING
    if callable(selected):
        return _settle(selected(*arguments or ()))
    if arguments:
        raise NotCallable(f"'{name}' is not a function, so it takes no arguments")
    return _settle(selected)


def _is_variable(source, namespace):
    """True if the source is just a variable name, which needs no compilation."""
    return source in namespace and source.isascii() and source.isidentifier() and source not in _WORDS


def _conclude(value, before, namespace):
    """(value, whether it was requested by name) for code whose last expression has @value."""
    if value is not None:
        value = _present(value)
    if value is not None:
        return value, False
    result = namespace.get("result", NOTHING)
    if result is before:
        return NOTHING, False
    return _present(result), type(result) in _PLAIN


def _evaluate(code, expression, namespace):
    """The same for code without a requested export."""
    before = namespace.get("result", NOTHING)
    if state.is_action:
        value = _execute(code, expression, namespace)
        value = actions.select(value, before, namespace, code, expression)
        return NOTHING if value is None else _present(value), False
    return _conclude(_execute(code, expression, namespace), before, namespace)


def _exit(stop):
    """Handles sys.exit(): true for exit code 0."""
    code = stop.code
    if code is None:
        code = 0
    elif not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    code &= 0xFF
    _glovebox.exit(code)
    return code == 0


def _end(session):
    """End of a program: displays figures; unless in a session also waits for threads, cancels tasks and runs
    atexit."""
    if "matplotlib.pyplot" in sys.modules:
        try:
            display.show_figures()
        except Exception as error:
            print(f"a figure cannot be shown: {type(error).__name__}: {values.message_of(error)}", file=sys.stderr)
    if session:
        return
    if threading.active_count() > 1:
        threading._shutdown()
    promises.end()
    if atexit._ncallbacks():
        atexit._run_exitfuncs()


def run(source, filename, export, required, report, sources, imports, names, arguments, settings):
    """Called by C for each job."""
    session = _apply(settings, filename)
    if not session or state.namespace is None:
        state.namespace = _fresh()
    namespace = state.namespace
    policy = state.policy
    namespace["__builtins__"] = builtins if policy is None else policy.builtins
    if imports is not None:
        modules.add_imports(imports)
    if sources is not None:
        modules.add_sources(sources)
    if names is not None:
        namespace.update(actions.freeze_state(names) if state.is_action else names)
    if report is not None:
        namespace["report"] = report
    if state.head is not None:
        tools.install(state.head, namespace)
    code = name = None
    try:
        if policy is None and export is None and not state.is_action and _is_variable(source, namespace):
            outcome = _conclude(namespace[source], namespace.get("result", NOTHING), namespace)
        else:
            name = _name(filename, source, session)
            code, expression = _compile(source, name, policy)
            if export is None:
                outcome = _evaluate(code, expression, namespace)
            else:
                _execute(code, expression, namespace)
                outcome = _call_export(export, required, arguments, namespace), True
    except SystemExit as stop:
        succeeded = _exit(stop)
        _end(session)
        if not succeeded:
            raise
        return NOTHING, False
    except BaseException:
        _end(session)
        raise
    if state.head is not None:
        outcome = tools.finish(None if outcome[0] is NOTHING else outcome[0]), False
    _end(session)
    if code is None and name is not None and "lambda" not in source:
        traces.forget(name)  # no code object refers to it any more
    return outcome


# --- results

def fall_back(value, error):
    """Text for a value that cannot cross and was not requested by name."""
    if isinstance(error, (MemoryError, KeyboardInterrupt)):
        raise error
    return display.text_of(value)


def describe(error):
    """The report of an error: status, name, message, stack, code, specifier, filename, line, column."""
    status, name, code = ERROR, values.name_of(error), None
    for kind, report_fields in _REPORTS.items():
        if isinstance(error, kind):
            status, name, code = report_fields
    message = values.message_of(error)
    if isinstance(error, MemoryError):
        status, code = MEMORY, "memory"
        message = message or "the run needed more memory than its limit"
        error.__context__ = None
    if code == "exit":
        # The program has ended itself on purpose: there is no error to trace.
        return status, name, message, None, code, None, None, 0, 0
    specifier = error.name if isinstance(error, ImportError) and isinstance(error.name, str) else None
    stack = traces.stack_of(error)
    filename, line, column = traces.position_of(error)
    if isinstance(error, policies.RestrictedError) and hasattr(error, "position"):
        filename, line, column = error.position
    return status, name, message, stack, code, specifier, filename, line, column


def _set_up():
    """Defines the builtins of the sandbox."""
    def exit_program(code=None):
        raise SystemExit(code)
    builtins.display = display.display
    builtins.exit = builtins.quit = exit_program
    sys.stdin = sys.__stdin__ = io.StringIO("")
    sys.argv = [""]
    shown = ModuleType("IPython.display")
    shown.__dict__.update(display.wrappers(), display=display.display, clear_output=lambda *args, **kwargs: None)
    package = ModuleType("IPython")
    package.display, package.__path__ = shown, []
    package.get_ipython = lambda: None
    package.version_info = (9, 0, 0, "")  # libraries read it to support versions before 8.24
    sys.modules.setdefault("IPython", package)
    sys.modules.setdefault("IPython.display", shown)


_set_up()
