"""Code that calls tools of the host (docs/EXECUTOR.md): its functions, and the form of its code and of its value."""
import ast
import asyncio
import json
import sys

import _glovebox
import glovebox_display as display

_LOG, _DEBUG = 0, 4  # enum gb_log_level
_HOST = "__glovebox_call__"

_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_parse = json.loads


def _show(value):
    """A text as it is, another value as JSON; what JSON cannot say is described."""
    if isinstance(value, str):
        return value
    try:
        return _dumps(value)
    except (TypeError, ValueError, RecursionError):
        return display.text_of(value)


def _write(level, text):
    sys.stdout.flush()
    sys.stderr.flush()
    _glovebox.log(level, text)


def output(data):
    """Adds a line to the output: a text as it is, another value as JSON."""
    _write(_LOG, _show(data))


def debug(message):
    """Tells the host something that is not part of the output."""
    _write(_DEBUG, _show(message))


def _decode(answer):
    return None if answer is None else _parse(answer)


async def _later(promise):
    return _decode(await promise)


def _caller(host):
    def __call_tool__(name, params=None):
        """Calls a tool, and returns its value; in async code, something to await."""
        answer = host(str(name), _dumps({} if params is None else params))
        pending = hasattr(type(answer), "__await__")
        if asyncio._get_running_loop() is None:
            return _decode(answer.result() if pending else answer)
        return _later(answer) if pending else _now(_decode(answer))
    return __call_tool__


async def _now(value):
    return value


def install(head, namespace):
    """Defines the functions, and runs the stubs of the tools."""
    call = _caller(namespace.pop(_HOST))
    namespace.update(output=output, debug=debug, __call_tool__=call, __callTool__=call)
    exec(compile(head, "<glovebox>/tools", "exec", 0, True), namespace)


_SCOPES = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda
_AWAITS = ast.Await, ast.AsyncFor, ast.AsyncWith


def _has(nodes, kinds):
    """Whether one of these nodes is in the code itself, not in a function or class."""
    for node in nodes:
        if isinstance(node, kinds) or isinstance(node, ast.comprehension) and node.is_async and ast.Await in kinds:
            return True
        if not isinstance(node, _SCOPES) and _has(ast.iter_child_nodes(node), kinds):
            return True
    return False


def as_function(tree, filename):
    """The tree of code with 'return', as the body of a function that is called; other trees as they are."""
    if not _has(tree.body, (ast.Return,)):
        return tree
    is_async = _has(tree.body, _AWAITS)
    around = ast.parse(f"{'async ' if is_async else ''}def __code__(): pass\n{'await ' if is_async else ''}__code__()", filename)
    around.body[0].body = tree.body
    # Positions of an error that the compiler finds.
    for node in (around.body[1], *ast.walk(around.body[1])):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1
    return around


def finish(value):
    """The value is the last line of the output. Whether there is one."""
    if value is None:
        return False
    _write(_LOG, _show(value))
    return True
