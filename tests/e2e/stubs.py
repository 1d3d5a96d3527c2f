#!/usr/bin/python3
"""'glovebox stubs': functions for the tools of tests/data/tools.json. TAP. Needs GB_GLOVEBOX, and node for TypeScript."""
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
DATA = Path(__file__).parent.parent / "data"
TOOLS = DATA / "tools.json"
TSC = Path(os.environ["GB_DEPS"]) / "node/node_modules/typescript/bin/tsc"
scratch = tempfile.TemporaryDirectory()


def stubs(*options, file=TOOLS, status=0):
    done = subprocess.run([GLOVEBOX, "stubs", str(file), *options], capture_output=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout.decode() if status == 0 else done.stderr.decode()


def tsc(name, text):
    """What the compiler says of it in strict mode."""
    path = Path(scratch.name) / name
    path.write_text(text + "export {};\n")  # a module: its names are not those of the DOM
    done = subprocess.run(["node", str(TSC), "--strict", "--noEmit", "--target", "es2022", str(path)],
                          capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def tools():
    return json.loads(TOOLS.read_text())


@tap.test("there are sixty tools and more")
def enough():
    assert len(tools()) >= 60


if TSC.exists() and shutil.which("node"):

    @tap.test("all functions compile in strict mode, and the types say what the schemas say")
    def compiles():
        said = tsc("used.ts", stubs() + (DATA / "tools-use.ts").read_text())
        assert said == "", said

    @tap.test("each tool compiles alone")
    def alone():
        # Together, one mistake could hide another.
        parts = []
        for i, tool in enumerate(tools()):
            path = Path(scratch.name) / "one.json"
            path.write_text(json.dumps([tool]))
            body = stubs(file=path)
            parts.append(f"namespace t{i} {{\n{body}\n}}\n")
        said = tsc("alone.ts", "".join(parts))
        assert said == "", said


@tap.test("two runs give the same bytes")
def same():
    assert stubs() == stubs() and stubs("--python") == stubs("--python")


@tap.test("a call has the tool's own name")
def names():
    text = stubs()
    for tool in tools():
        name = tool.get("name") or tool["function"]["name"]
        assert f"__callTool__({json.dumps(name, ensure_ascii=False)}, params)" in text, name


@tap.test("no description leaves its comment")
def comments():
    text = stubs()
    outside = ""
    while "/**" in text:
        before, _, rest = text.partition("/**")
        comment, _, text = rest.partition("*/")
        assert "\u2028" not in comment and "\r" not in comment
        outside += before
    outside += text
    for word in ("evil()", "import fs", "alert(1)"):
        assert word not in outside, word


@tap.test("Python: the functions compile and call the tools")
def python():
    text = stubs("--python")
    ast.parse(text)
    path = Path(scratch.name) / "stubs.py"
    path.write_text(text)
    subprocess.run([sys.executable, "-m", "py_compile", str(path)], check=True)
    calls = []
    scope = {"__call_tool__": lambda name, params: calls.append((name, params)) or len(calls)}
    exec(compile(text, "stubs.py", "exec"), scope)  # our own output
    assert scope["echo_tool"](text="x") == 1
    scope["optional"](b=True)
    scope["python_words"](ok=True, **{"from": "f", "class": "c", "größe": 1})
    scope["list_things_2"](b="x")
    assert calls == [("echo_tool", {"text": "x"}), ("optional", {"b": True}),
                     ("python_words", {"ok": True, "from": "f", "class": "c", "größe": 1}),
                     ("list.things", {"b": "x"})], calls
    assert "Returns its input." in scope["echo_tool"].__doc__ and "text: the text" in scope["echo_tool"].__doc__
    try:
        scope["echo_tool"]()
    except TypeError as error:
        assert "text" in str(error)
    else:
        raise AssertionError("a required argument may be left out")


@tap.test("lists that are wrong are refused")
def wrong():
    for text, expected in (("{", "line 1"), ("5", "must be an array"), ('[{"name": ""}]', "tool 0"),
                           ('[{"name": "a"}, {"name": "a"}]', "tool 1")):
        path = Path(scratch.name) / "wrong.json"
        path.write_text(text)
        assert expected in stubs(file=path, status=2), text


@tap.test("a hostile schema costs little")
def hostile():
    deep = {"type": "string"}
    for _ in range(500):
        deep = {"type": "array", "items": deep}
    wide = {"$defs": {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{(i + k) % 300}"} for k in range(1, 20)]}
                      for i in range(300)}, "$ref": "#/$defs/d0"}
    path = Path(scratch.name) / "hostile.json"
    path.write_text(json.dumps([{"name": "deep", "inputSchema": deep}, {"name": "wide", "inputSchema": wide}]))
    text = stubs(file=path)
    assert len(text) < 8 << 20 and "unknown" in text
    stubs("--python", file=path)


tap.plan()
