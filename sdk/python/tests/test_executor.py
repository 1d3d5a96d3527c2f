"""Code that calls tools of this program, the registry, and the schemas that it makes of functions."""

import asyncio
import enum
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, TypedDict, Union

if sys.version_info >= (3, 9):
    from typing import Annotated, Literal

from glovebox import AsyncGlovebox, ExecutionResult, Glovebox, ToolRegistry, create_executor
from glovebox import _executor
from glovebox._registry import read_docstring
from glovebox._results import snake
from glovebox._transport import find_program

from .helpers import WAIT, Case

ROOT = Path(__file__).resolve().parents[3]


class Point(TypedDict):
    x: float
    label: Optional[str]


def registry():
    tools = ToolRegistry()

    @tools.tool
    def add(a: float, b: float) -> float:
        """Adds two numbers.

        Args:
            a: the first one
            b (float): the second one,
                on two lines

        Returns:
            the sum: not a parameter
        """
        return a + b

    @tools.tool(name="echo")
    def anything(**params):
        return params

    @tools.tool
    async def later(n: int, times: int = 2) -> int:
        await asyncio.sleep(0)
        return n * times

    @tools.tool
    def fails() -> None:
        raise ValueError("the tool says no")

    @tools.tool
    def large(n: int) -> str:
        return "x" * n

    @tools.tool
    def odd() -> Any:
        return {1, 2}

    return tools


class Registry(unittest.TestCase):
    def definition(self, function, **options):
        return ToolRegistry().define(function, **options).list()[0]

    def schema(self, hint):
        def tool(x):
            pass

        tool.__annotations__ = {"x": hint}
        return self.definition(tool)["inputSchema"]["properties"]["x"]

    def test_a_schema_of_type_hints_and_docstring(self):
        self.assertEqual(registry().list()[0], {
            "name": "add", "description": "Adds two numbers.",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "number", "description": "the first one"},
                               "b": {"type": "number", "description": "the second one, on two lines"}},
                "required": ["a", "b"], "additionalProperties": False},
            "outputSchema": {"type": "number"}})

    def test_defaults_and_open_parameters(self):
        tools = {tool["name"]: tool for tool in registry().list()}
        self.assertEqual(tools["later"]["inputSchema"]["properties"]["times"], {"type": "integer", "default": 2})
        self.assertEqual(tools["later"]["inputSchema"]["required"], ["n"])
        self.assertEqual(tools["echo"]["inputSchema"], {"type": "object", "properties": {}})

    def test_types(self):
        text, number = {"type": "string"}, {"type": "number"}
        for hint, expected in (
            (str, text), (int, {"type": "integer"}), (bool, {"type": "boolean"}), (None, {"type": "null"}), (Any, {}),
            (List[str], {"type": "array", "items": text}), (list, {"type": "array"}),
            (Dict[str, float], {"type": "object", "additionalProperties": number}),
            (Optional[str], {"anyOf": [text, {"type": "null"}]}), (Union[str, float], {"anyOf": [text, number]}),
            (Tuple[str, ...], {"type": "array", "items": text}),
            (Tuple[str, float], {"type": "array", "prefixItems": [text, number], "items": False, "minItems": 2}),
            (Literal["a", 1, None], {"enum": ["a", 1, None]}),
            (Annotated[str, "a city"], {"type": "string", "description": "a city"}),
            (Point, {"type": "object", "additionalProperties": False, "required": ["label", "x"],
                     "properties": {"x": number, "label": {"anyOf": [text, {"type": "null"}]}}}),
        ):
            with self.subTest(hint=hint):
                self.assertEqual(self.schema(hint), expected)

    @unittest.skipIf(sys.version_info < (3, 10), "'str | None' needs Python 3.10")
    def test_unions_with_a_bar(self):
        self.assertEqual(self.schema(eval("str | None")), self.schema(Optional[str]))
        self.assertEqual(self.schema("list[int] | None"), self.schema(Optional[List[int]]))

    def test_types_that_json_has_no_form_for(self):
        import dataclasses

        @dataclasses.dataclass
        class Data:
            x: int

        class Color(enum.Enum):
            RED = 1

        for hint, text in ((bytes, "bytes"), (Data, "TypedDict"), (Color, "Color"), (Dict[int, str], "keys"),
                           (List[complex], "complex"), ("Missing", "Missing"), (Literal[b"x"], "Literal")):
            with self.subTest(hint=hint), self.assertRaisesRegex(TypeError, text):
                self.schema(hint)
        deep = str
        for _ in range(50):
            deep = List[deep]
        with self.assertRaisesRegex(TypeError, "deep"):
            self.schema(deep)

    def test_what_is_no_tool(self):
        tools = ToolRegistry().define(len, name="a", input_schema={})
        for function, options, text in ((len, {"name": "a", "input_schema": {}}, "another"), (5, {}, "function"),
                                        (lambda: 1, {}, "name"), (lambda *a: 1, {"name": "b"}, "by the names")):
            with self.subTest(text=text), self.assertRaisesRegex(TypeError, text):
                tools.define(function, **options)

    def test_docstrings(self):
        sphinx = "Text.\n\nMore.\n\n:param str a: the first\n:param b: the second\n:returns: x: y\n:raises E: never\n"
        self.assertEqual(read_docstring(sphinx), ("Text.\n\nMore.", {"a": "the first", "b": "the second"}))
        google = "Args:\n    a: has: colons\n    *rest: others\nNot indented: no parameter\n"
        self.assertEqual(read_docstring(google)[1]["a"], "has: colons")
        self.assertEqual(read_docstring(""), ("", {}))

    def test_a_callable_object_and_a_method_are_tools(self):
        class Counter:
            def add(self, n: int) -> int:
                return n

            def __call__(self, text: str) -> str:
                return text

        self.assertEqual(self.definition(Counter().add)["inputSchema"]["required"], ["n"])
        self.assertEqual(self.definition(Counter(), name="c")["inputSchema"]["properties"]["text"], {"type": "string"})

    def test_stubs_of_generated_schemas_are_accepted(self):
        """What the registry makes is read by 'glovebox stubs'."""
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(registry().list(), file)
            file.flush()
            done = subprocess.run([find_program(None), "stubs", file.name], capture_output=True, text=True, check=True)
        self.assertIn("async function add(params: ", done.stdout)

    def test_the_options_are_the_fields_of_the_message(self):
        source = (ROOT / "src/server/messages.c").read_text()
        table = re.search(r"executor_fields\[\] = \{(.*?)\};", source, re.S)[1]
        names = re.findall(r'(?:FIELD|OPTION|LIMIT_64)\("(\w+)"', table) + re.findall(r"STATEMENT\((\w+)\)", table)
        self.assertEqual({snake(name) for name in names} - {"source", "stubs", "tools"}, set(_executor.EXECUTOR_FIELDS))


class Executor(Case):
    settings = {"agent.enabled": True, "energy.enabled": False, "executor.maxToolCalls": 20000}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box.close()
        cls.box = cls.make(decides=["executor"])

    def execute(self, code, config=(), **options):
        return create_executor({"code_timeout": 30000, **dict(config)}, registry(), self.box, **options).execute(code)

    def output(self, code, *more, **options):
        result = self.execute(code, *more, **options)
        self.assertTrue(result.success, result)
        self.assertIsNone(result.error)
        return result.output

    def error(self, code, *more):
        result = self.execute(code, *more)
        self.assertFalse(result.success, result)
        return result.error

    def test_the_result_has_the_fields_of_the_contract(self):
        result = self.execute("output(String(1 + 2)); debug('no'); return [await add({a: 1, b: 2})]")
        self.assertEqual((result.success, result.output, result.tool_calls_made), (True, "3\n[3]", 1))
        self.assertGreater(result.duration_ms, 0)

    def test_tools_are_functions(self):
        self.assertEqual(self.output("const n: number = await later({n: 21}); return n"), "42")
        self.assertEqual(self.output("return await echo({'$type': 'x', list: [1.5, null, 'ü\u2028']})"),
                         '{"$type":"x","list":[1.5,null,"ü\u2028"]}')
        self.assertEqual(self.output("return (await large({n: 10 << 20})).length"), str(10 << 20))

    def test_parameters_are_checked_before_the_tool_is_called(self):
        code = "try { await add({a: 1, b: '2'} as any) } catch (e) { return e.message }"
        self.assertRegex(self.output(code), r"^params\.b: ")
        self.assertIn("there is no tool 'x'", self.error("await __callTool__('x', {})"))

    def test_errors_of_tools(self):
        self.assertEqual(self.output("try { await fails() } catch (e) { return e.message }"), "the tool says no")
        self.assertEqual(self.error("await fails()"), "Error: the tool says no")
        self.assertIn("set is not JSON serializable", self.error("await odd()"))

    def test_many_calls_at_once(self):
        code = "return (await Promise.all(Array.from({length: 64}, (_, i) => add({a: i, b: 0})))).join()"
        self.assertEqual(self.output(code), ",".join(str(i) for i in range(64)))

    def test_limits(self):
        self.assertEqual(self.error("while (true) {}", {"code_timeout": 200}), "Execution timed out after 200ms")
        self.assertEqual(self.error("return 1" + " " * 100, {"max_code_size": 64}), "Code exceeds max size of 64 bytes")
        self.assertEqual(self.error("output('x'.repeat(2000))", {"max_output_size": 1024}),
                         "Output exceeds max size of 1024 bytes")
        many = "for (;;) await add({a: 1, b: 2}).catch(() => {})"
        self.assertEqual(self.error(many, {"max_tool_calls_per_exec": 3}), "Tool calls exceed max of 3 per execution")
        self.assertEqual(self.error(many, {"max_tool_calls_per_exec": 0}), "Tool calls exceed max of 0 per execution")

    def test_unknown_options(self):
        create_executor({"allowed_hosts": [], "working_dir": None}, registry(), self.box)
        for make in (lambda: create_executor({"timeout": 5}, registry(), self.box),
                     lambda: create_executor({}, registry(), self.box, languag="js"),
                     lambda: self.box.execute_with_tools("1", registry(), timeout=5)):
            with self.assertRaises(TypeError):
                make()

    def test_one_directory_to_read_and_write(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            config = {"working_dir": folder}
            code = "await Deno.writeTextFile('a.txt', 'seen'); return await Deno.readTextFile('/box/a.txt')"
            self.assertEqual(self.output(code, config), "seen")
            self.assertEqual(Path(folder, "a.txt").read_text(), "seen")
            runtime = create_executor(config, registry(), self.box, language="python")
            self.assertEqual(runtime.execute("return open('a.txt').read()").output, "seen")
            self.assertIn("No such file", runtime.execute("open('/root/none')").error)
        self.assertIn("No such file", self.error("return 1", {"working_dir": folder}))

    def test_python_calls_the_same_tools(self):
        runtime = create_executor({}, registry(), self.box, language="python")
        for code, expected in (
            ("add(a=1, b=2)", "3"), ("return later(n=2, times=4)", "8"), ("print(add.__doc__.split()[0])", "Adds\n"),
            ("import asyncio\nreturn sum(await asyncio.gather(*[later(n=i) for i in range(64)]))", "4032"),
            ("try:\n    fails()\nexcept Exception as error:\n    output(str(error))", "the tool says no"),
        ):
            with self.subTest(code=code):
                result = runtime.execute(code)
                self.assertEqual((result.error, result.output), (None, expected))
        self.assertRegex(runtime.execute("add(a='1', b=2)").error, r"^Error: params\.a.*\(line 1, column 1\)$")

    def test_hosts_that_the_settings_do_not_admit(self):
        self.assertEqual(self.output("return 1", {"allowed_hosts": []}), "1")
        self.assertRegex(self.error("return 1", {"allowed_hosts": ("a.example",)}), "network")

    def test_listeners_and_given_stubs(self):
        heard = []
        runtime = create_executor({}, registry(), self.box, on_output=heard.append, on_debug=heard.append)
        stubs = "async function sum(...n: number[]) { return __callTool__('add', {a: n[0], b: n[1]}) }"
        self.assertEqual(runtime.execute("debug('d'); return await sum(1, 2)", stubs).output, "3")
        self.assertEqual(sorted(heard), ["3", "d"])
        self.assertIn("add is not defined", runtime.execute("return await add({a: 1, b: 2})", stubs).error)

    def test_any_object_with_dispatch_is_a_registry(self):
        class Twice:
            def generate_stubs(self):
                return "async function twice(n: number) { return __callTool__('twice', {n}) }"

            def dispatch(self, name, params):
                return params["n"] * 2

        self.assertEqual(create_executor({}, Twice(), self.box).execute("return await twice(21)").output, "42")

    def test_never_raises(self):
        gone = self.make()
        gone.close()
        result = create_executor({}, registry(), gone).execute("return 1")
        self.assertEqual((result.success, result.error), (False, "this Glovebox has been closed"))
        self.assertIsInstance(create_executor({}, registry(), self.box).execute(5), ExecutionResult)

    def test_the_host_ends_in_the_middle_of_a_call(self):
        own = self.make(decides=["executor"])

        class Closing:
            def dispatch(self, name, params):
                own.close()

        result = create_executor({}, Closing(), own).execute("await __callTool__('x', {})")
        self.assertIn("closed", result.error)

    def test_a_person_decides_unless_the_program_does(self):
        with self.make() as asking:
            def decide(pending):
                options = self.options()
                subprocess.run([find_program(None), "approvals", "deny", pending.approval, "--config",
                                options["config_file"]], env=options["env"], capture_output=True, check=True)

            result = create_executor({}, registry(), asking, on_pending=decide).execute("return 1")
            self.assertRegex(result.error, "^denied by ")

    def test_a_wrong_statement_is_refused(self):
        with self.make(decides=["run_code"]) as box:
            result = create_executor({}, registry(), box).execute("return 1")
            self.assertFalse(result.success)
            self.assertIn("decide", result.error)
        with self.assertRaises(TypeError):
            Glovebox(decides="executor")

    def test_asyncio_and_mcp(self):
        class Session:
            async def list_tools(self, cursor=None):
                if cursor is None:
                    return {"tools": [{"name": "text", "inputSchema": {"type": "object"}}], "nextCursor": "b"}
                return {"tools": [{"name": "error"}, {"name": "structured"}]}

            async def call_tool(self, name, arguments=None):
                assert arguments == {"k": 1}, arguments
                return {"text": {"content": [{"type": "text", "text": '{"a":1}'}]},
                        "error": {"isError": True, "content": [{"type": "text", "text": "failed there"}]},
                        "structured": {"structuredContent": [2], "content": []}}[name]

        async def main():
            async with AsyncGlovebox(**self.options(decides=["executor"])) as box:
                tools = registry()
                self.assertEqual(await tools.import_mcp(Session(), "m_"), 3)
                code = """const p = {k: 1}; const failed = await m_error(p).catch((e: Error) => e.message);
                    return [await m_text(p), failed, await m_structured(p), await later({n: 1})]"""
                runtime = create_executor({}, tools, box)
                results = await asyncio.gather(*(runtime.execute(code) for _ in range(10)))
                return {result.output or result.error for result in results}

        self.assertEqual(asyncio.run(asyncio.wait_for(main(), WAIT)), {'[{"a":1},"failed there",[2],2]'})
