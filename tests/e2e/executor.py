#!/usr/bin/python3
"""Code with tools through 'glovebox executor': the table, on both runtimes, and its lines. TAP. Needs GB_GLOVEBOX."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
TABLE = Path(__file__).parent.parent / "data/executor.txt"
WAIT = 120  # seconds; only a test that fails takes that long
SETTINGS = """
agent: {enabled: true, autoApprove: true, allowedRuntimes: [javascript, deno, python]}
energy: {enabled: false}
executor: {maxToolCalls: 1000}
"""


class Machine:
    """A folder with settings and state of its own."""

    def __init__(self, settings=SETTINGS):
        self.folder = tempfile.TemporaryDirectory()
        self.home = Path(self.folder.name)
        (self.home / "glovebox.yaml").write_text(settings)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GLOVEBOX_")}
        self.env = kept | {"HOME": str(self.home), "GLOVEBOX_CONFIG": str(self.home / "glovebox.yaml"),
                           "GLOVEBOX_STATE_DIR": str(self.home / "state")}

    def file(self, name, text):
        (self.home / name).write_text(text)
        return str(self.home / name)

    def start(self, code, *options):
        """The process, and the descriptor of its result."""
        reader, writer = os.pipe()
        command = [GLOVEBOX, "executor", self.file("code.ts", code), "--result-fd", str(writer), *options]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=self.env, pass_fds=(writer,))
        os.close(writer)
        return process, reader

    def execute(self, code, *options, tools=None):
        """The lines that are no calls, the result, and the exit status."""
        process, reader = self.start(code, *options)
        lines = []
        for text in process.stdout:
            line = json.loads(text)
            if line["type"] != "__tool_call__":
                lines.append(line)
                continue
            answer = (tools or default_tools)(line)
            if answer:
                process.stdin.write(json.dumps({"call_id": line["call_id"], **answer}) + "\n")
                process.stdin.flush()
        result = read_result(reader)
        process.stdin.close()
        return lines, result, process.wait(WAIT)

    def run(self, *arguments):
        return subprocess.run([GLOVEBOX, *arguments], capture_output=True, text=True, env=self.env, timeout=WAIT,
                              check=False)


def read_result(reader):
    with os.fdopen(reader) as results:
        return json.loads(results.read())


def default_tools(call):
    if call["name"] == "hang":
        return None
    if call["name"] == "large":
        return {"type": "__tool_result__", "result": "x" * call["params"]["n"]}
    if call["name"] == "fail":
        return {"type": "__tool_error__", "error": "no"}
    return {"type": "__tool_result__", "result": call["params"]}


def fits(text, expected):
    return text.startswith(expected[:-1]) if expected.endswith("…") else text == expected


def judge(lines, result, status, expected):
    kind, text = expected.split(" ", 1)
    assert list(result) == ["success", "output", *([] if result["success"] else ["error"]), "tool_calls_made",
                            "duration_ms"], result
    shown = result["output"] if kind == "ok" else result.get("error", "")
    assert result["success"] == (kind == "ok") and fits(shown, text), result
    timed_out, refused = "timed out" in text, "Code exceeds" in text
    assert status == (0 if kind == "ok" else 124 if timed_out else 3 if refused else 1), status
    assert lines[-1]["type"] == "__output__", lines
    if kind == "error":
        assert lines[-1]["data"] == result["error"], lines


machine = Machine()
# In CI, a missing Deno is a failure and no reason to skip.
HAS_DENO = shutil.which("deno") is not None or "CI" in os.environ
RUNTIMES = {"js": [], **({"deno": ["-l", "deno"]} if HAS_DENO else {})}


def on_each(name):
    """As tap.test, for a function that takes the options of a runtime."""
    def decorate(function):
        for runtime, options in RUNTIMES.items():
            tap.test(f"{name}, on {runtime}")(lambda: function(options))
    return decorate


def check_row(code, options, expected):
    judge(*machine.execute(code, *options), expected)


for row in TABLE.read_text().splitlines():
    if not row or row.startswith("#"):
        continue
    name, code, options, expected = row.split("\t")
    code, expected = code.replace("\\n", "\n"), expected.replace("\\n", "\n")
    on_each(name)(lambda language: check_row(code, [*options.split(), *language], expected))


if HAS_DENO:

    @tap.test("AC3.3 code reads and writes files in its folder, which ends with it, on deno")
    def own_folder():
        code = """await Deno.mkdir("/box/a"); await Deno.writeTextFile("a/b.txt", "text");
            return [await Deno.readTextFile("/box/a/b.txt"), [...Deno.readDirSync("/box/a")].map((entry) => entry.name)]"""
        for _ in range(2):  # mkdir() fails if the folder is there
            judge(*machine.execute(code, "-l", "deno"), 'ok ["text",["b.txt"]]')


def work_folder():
    folder = tempfile.mkdtemp(dir=machine.home)
    machine.home.chmod(0o755)
    os.chmod(folder, 0o777)
    return Path(folder)


@on_each("AC3.3 code reads and writes files in the working directory, and the host finds them")
def working_directory(language):
    work = work_folder()
    (work / "given.txt").write_text("given")
    code = """await Deno.mkdir("a"); await Deno.writeTextFile("a/b.txt", "text"); await Deno.writeFile("c", new Uint8Array([7]));
        const names = []; for await (const entry of Deno.readDir("/box")) names.push(entry.name);
        const {size, isFile} = await Deno.stat("given.txt"); await Deno.remove("c");
        return [await Deno.readTextFile("given.txt"), (await Deno.readFile("/box/a/b.txt")).length, names.sort(), size, isFile]"""
    judge(*machine.execute(code, "--workdir", str(work), *language),
          'ok ["given",4,["a","c","given.txt"],5,true]')
    assert (work / "a/b.txt").read_text() == "text" and sorted(os.listdir(work)) == ["a", "given.txt"]


@on_each("AC3.3 with a working directory, code reads and writes nothing else")
def nothing_else(language):
    work = work_folder()
    secret = machine.home / "secret"
    secret.write_text("LEAKED")
    (work / "link").symlink_to("../secret")
    (work / "up").symlink_to("..")
    for path in ("/etc/passwd", "../secret", "/box/../etc/passwd", "link", "up/secret", "/proc/self/root/etc/passwd"):
        for call in (f"Deno.readTextFile({json.dumps(path)})", f"Deno.writeTextFile({json.dumps(path)}, 'x')"):
            lines, result, status = machine.execute(f"await {call}", "--workdir", str(work), *language)
            assert not result["success"] and "LEAKED" not in json.dumps([lines, result]), (call, result)
            # Deno decides by the path itself; about links, the kernel.
            if not path.startswith(("link", "up")):
                assert result["error"].startswith("NotCapable: Requires "), (call, result)
    assert secret.read_text() == "LEAKED" and (work / "link").read_text() == "LEAKED"  # without the wall, a path leads there


@on_each("AC3.5, AC3.6 and FFI are refused with a working directory, too")
def refused_with_workdir(language):
    for call in ('new Deno.Command("ls").outputSync()', 'Deno.env.get("PATH")', 'Deno.dlopen("libc.so.6", {})'):
        code = f"try {{ {call} }} catch (e) {{ return e instanceof Deno.errors.NotCapable }}"
        judge(*machine.execute(code, "--workdir", str(work_folder()), *language), "ok true")


@tap.test("the setting executor.workingDir names the directory, the request another, and the record has it")
def workdir_of_settings():
    first, second = work_folder(), work_folder()
    own = Machine(SETTINGS.replace("maxToolCalls: 1000", f"workingDir: {first}"))
    for more, folder in (([], first), (["--workdir", str(second)], second)):
        judge(*own.execute("await Deno.writeTextFile('here', 'x')", *more), "ok ")
        assert os.listdir(folder) == ["here"], folder
        (folder / "here").unlink()
    records = [json.loads(line) for line in own.run("audit", "list", "--json").stdout.splitlines()]
    found = {record["permissions"]["workdir"] for record in records if record.get("face") == "executor"}
    assert found == {f"{first}:rw", f"{second}:rw"}, records


@tap.test("a directory that cannot be one is refused before anything runs")
def refused_workdir():
    for path, words in (("/", "cannot be one"), (str(machine.home), "Glovebox")):
        os.chmod(machine.home, 0o777)
        _, result, status = machine.execute("return 1", "--workdir", path)
        assert status == 3 and words in result["error"], result
        os.chmod(machine.home, 0o755)


@on_each("an answer of ten megabytes")
def large_answer(language):
    own = Machine()
    own.env["GB_LOOP_WATCHDOG"] = "0"  # a line of ten megabytes takes longer than a turn of the event loop may
    judge(*own.execute("return (await __callTool__('large', {n: 10 << 20})).length", *language), "ok 10485760")


@on_each("the functions that 'glovebox stubs' prints")
def printed_stubs(language):
    path = machine.file("tools.json", '[{"name": "echo"}]')
    printed = machine.file("stubs.ts", machine.run("stubs", path).stdout)
    for options in (["--tools", path], ["--stubs", printed]):
        judge(*machine.execute("return await echo({a: 1})", *options, *language), 'ok {"a":1}')


@on_each("64 calls that the host has received before it answers the first")
def many_at_once(language):
    code = "return (await Promise.all(Array.from({length: 64}, (_, i) => __callTool__('t', {i})))).join()"
    process, reader = machine.start(code, *language)
    calls = [json.loads(process.stdout.readline()) for _ in range(64)]
    assert [call["params"]["i"] for call in calls] == list(range(64)), calls
    for call in reversed(calls):
        process.stdin.write(json.dumps({"type": "__tool_result__", "call_id": call["call_id"],
                                        "result": call["params"]["i"]}) + "\n")
    process.stdin.close()
    assert json.loads(process.stdout.readline())["data"] == ",".join(map(str, range(64)))
    result = read_result(reader)
    assert result["success"] and result["tool_calls_made"] == 64 and process.wait(WAIT) == 0, result


@tap.test("calls, output and debug are lines, in the order of the code")
def lines_in_order():
    code = 'output("a"); await __callTool__("t", {"k": "x\\ny", "$type": "Map"}); debug("b"); return 1'
    process, reader = machine.start(code)
    first, call = (json.loads(process.stdout.readline()) for _ in range(2))
    assert first == {"type": "__output__", "data": "a"}, first
    assert call == {"type": "__tool_call__", "name": "t", "params": {"k": "x\ny", "$type": "Map"},
                    "call_id": call["call_id"]}, call
    process.stdin.write(json.dumps({"type": "__tool_result__", "call_id": call["call_id"], "result": None}) + "\n")
    process.stdin.flush()
    assert [json.loads(line) for line in process.stdout] == [{"type": "__debug__", "message": "b"},
                                                             {"type": "__output__", "data": "1"}]
    assert read_result(reader)["success"] and process.wait(WAIT) == 0


@tap.test("a result has any keys and values of JSON")
def plain_values():
    value = {"$type": "bigint", "value": "1", "deep": [{"$type": "ref", "id": 0}, 1e300, "\u2028"]}
    lines, _, _ = machine.execute("return await __callTool__('t')", tools=lambda call: {
        "type": "__tool_result__", "result": value})
    assert json.loads(lines[-1]["data"]) == value, lines


@tap.test("the last line is an __output__, also without a value")
def last_line():
    lines, result, status = machine.execute("")
    assert (lines, result["output"], status) == ([{"type": "__output__", "data": ""}], "", 0)


@tap.test("the result goes to standard error unless another descriptor is named")
def result_on_stderr():
    done = machine.run("executor", machine.file("one.ts", "return 1"))
    assert json.loads(done.stderr)["output"] == "1" and done.returncode == 0, done
    assert machine.run("executor", machine.file("one.ts", "return 1"), "--result-fd", "77").returncode == 2


@tap.test("--tools makes functions, and checks parameters")
def tools():
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    path = machine.file("tools.json", json.dumps([{"name": "get-weather", "inputSchema": schema}]))
    lines, _, _ = machine.execute("return await get_weather({city: 'Oslo'})", "--tools", path)
    assert json.loads(lines[-1]["data"]) == {"city": "Oslo"}, lines
    code = "try { await get_weather({city: 1} as any) } catch (e) { return e.message }"
    lines, _, _ = machine.execute(code, "--tools", path)
    assert lines[-1]["data"].startswith("params.city: "), lines
    _, result, _ = machine.execute("await __callTool__('other', {})", "--tools", path)
    assert result["error"].startswith("Error: there is no tool 'other'"), result
    stubs = machine.file("stubs.ts", "const w = (city: string) => __callTool__('get-weather', {city});")
    lines, _, _ = machine.execute("return (await w('Bergen')).city", "--tools", path, "--stubs", stubs)
    assert lines[-1]["data"] == "Bergen", lines


@tap.test("tools that cannot be read are refused before anything runs")
def wrong_tools():
    for text, words in (("{", "tools: "), ("[{}]", "tools: "), ("[{\"name\": \"a\"}, {\"name\": \"a\"}]", "tools: ")):
        _, result, status = machine.execute("return 1", "--tools", machine.file("wrong.json", text))
        assert status == 3 and result["error"].startswith(words), result


@tap.test("the end of standard input ends calls, and not the code")
def end_of_input():
    process, reader = machine.start("try { await __callTool__('t') } catch (e) { return e.message }")
    assert json.loads(process.stdout.readline())["type"] == "__tool_call__"
    process.stdin.close()
    assert "standard input has ended" in json.loads(process.stdout.readline())["data"]
    assert read_result(reader)["success"] and process.wait(WAIT) == 0


@tap.test("lines that are wrong are reported and skipped")
def wrong_lines():
    process, reader = machine.start("return await __callTool__('t')")
    call = json.loads(process.stdout.readline())["call_id"]
    right = json.dumps({"type": "__tool_result__", "call_id": call, "result": 7})
    process.stdin.write(f'{{\n[]\n{{"type":"x"}}\n{{"type":"__tool_result__","call_id":"99"}}\n{right}\n')
    process.stdin.close()
    assert json.loads(process.stdout.readline())["data"] == "7"
    assert read_result(reader)["success"]
    assert process.stderr.read().count("a line of standard input: ") == 4
    assert process.wait(WAIT) == 0


@tap.test("agents that are disabled execute nothing")
def disabled():
    _, result, status = Machine("energy: {enabled: false}\n").execute("return 1")
    assert status == 3 and "agent.enabled" in result["error"], result


@tap.test("--decides states that the program decides; else a person is asked")
def decides():
    asking = Machine("agent: {enabled: true}\nenergy: {enabled: false}\napprovals: {timeout: 1s}\n")
    _, result, status = asking.execute("return 1", "--decides")
    assert (result["output"], status) == ("1", 0), result
    _, result, status = asking.execute("return 1")
    assert status == 3 and "no decision was made in time" in result["error"], result


@tap.test("the record has the face, the code without the text around it, and a hash of that text")
def record():
    own = Machine()
    own.execute("return 6 * 7", "--purpose", "a product")
    stubs = own.file("stubs.ts", "const one = 1;")
    own.execute("return 6 * 7", "--stubs", stubs)
    records = [json.loads(line) for line in own.run("audit", "list", "--json").stdout.splitlines()]
    other, last = [record for record in records if record.get("face") == "executor"][:2]
    assert last["inputCode"] == "return 6 * 7" and last["purpose"] == "a product", last
    assert len(last["permissions"]["tools"]) == 64, last
    assert last["permissions"]["tools"] != other["permissions"]["tools"]


@tap.test("calls of tools come after a record that the code has begun")
def recorded_first():
    own = Machine()
    seen = []

    def look(call):
        seen.append(own.run("audit", "list", "--status", "unfinished", "--json").stdout.count("\n"))
        return default_tools(call)

    own.execute("await __callTool__('echo')", tools=look)
    assert seen == [1], seen


@on_each("a host that is killed in the middle of a call leaves a record that the code has begun")
def killed(language):
    own = Machine()
    process, reader = own.start("await __callTool__('t')", *language)
    assert json.loads(process.stdout.readline())["type"] == "__tool_call__"
    process.kill()
    assert process.wait(WAIT) == -9
    os.close(reader)
    left = own.run("audit", "list", "--status", "unfinished", "--json").stdout.splitlines()
    assert [json.loads(line)["inputCode"] for line in left] == ["await __callTool__('t')"], left
    _, result, _ = own.execute("return 1")
    assert result["output"] == "1", result


TRANSFER = json.dumps([{"name": "transfer", "requiresApproval": True, "inputSchema": {"type": "object", "properties": {
    "amount": {"type": "number"}}}}, {"name": "echo"}])


def pending_of(own):
    """The approval that waits, as JSON, when there is one."""
    deadline = time.monotonic() + WAIT
    while True:
        done = own.run("approvals", "list", "--json")
        waiting = [entry for entry in map(json.loads, done.stdout.splitlines()) if entry["state"] == "pending"]
        if waiting:
            return waiting[0]
        assert time.monotonic() < deadline, "no approval is pending"
        time.sleep(0.02)


def decide_while(own, code, decide, *options):
    """Execute the code, call decide(approval), and return the calls of tools, the result and the exit status."""
    process, reader = own.start(code, "--tools", own.file("tools.json", TRANSFER), *options)
    calls = []
    decide(pending_of(own))
    for text in process.stdout:
        line = json.loads(text)
        if line["type"] == "__tool_call__":
            calls.append((line["name"], line["params"]))
            process.stdin.write(json.dumps({"type": "__tool_result__", "call_id": line["call_id"], "result": "done"}) + "\n")
            process.stdin.flush()
    return calls, read_result(reader), process.wait(WAIT)


@on_each("a tool that requires approval is called when a person has approved its parameters")
def approved_call(language):
    own = Machine()

    def approve(approval):
        assert approval["code"] == 'transfer({"amount":7})' and approval["runtime"] == "tool transfer", approval
        time.sleep(1)  # longer than the time limit of the code, which this must not reduce
        assert own.run("approvals", "approve", approval["id"]).returncode == 0

    calls, result, _ = decide_while(own, "return await transfer({amount: 7})", approve, "--timeout", "900ms",
                                    *language)
    assert (calls, result["output"]) == ([("transfer", {"amount": 7})], "done"), result


@on_each("the time of the code goes on after the decision")
def clock_goes_on(language):
    own = Machine()
    code = "await transfer({amount: 7}); for (;;);"
    _, result, status = decide_while(own, code, lambda approval: own.run("approvals", "approve", approval["id"]),
                                     "--timeout", "500ms", *language)
    assert (result["error"], status) == ("Execution timed out after 500ms", 124), result


@on_each("a call that is denied throws, and the tool is not called")
def denied_call(language):
    own = Machine()
    code = "try { await transfer({amount: 7}) } catch (e) { return e.message + (await echo({})) }"
    calls, result, _ = decide_while(own, code, lambda approval: own.run("approvals", "deny", approval["id"], "--reason",
                                                                       "too much"), *language)
    assert result["output"].startswith("denied by ") and result["output"].endswith(": too muchdone"), result
    assert calls == [("echo", {})], calls


@on_each("a call that is not decided in time throws")
def expired_call(language):
    own = Machine(SETTINGS + "approvals: {timeout: 1s}\n")
    calls, result, _ = decide_while(own, "await transfer({amount: 7})", lambda approval: None, *language)
    assert calls == [] and "no decision was made in time" in result["error"], result


@on_each("calls that require approval are asked about one after the other")
def approvals_in_turn(language):
    own = Machine()
    seen = []

    def approve_both(approval):
        for _ in range(2):
            seen.append(approval["code"])
            assert own.run("approvals", "approve", approval["id"]).returncode == 0
            if len(seen) < 2:
                approval = pending_of(own)

    code = "return (await Promise.all([transfer({amount: 1}), transfer({amount: 2})])).join()"
    _, result, _ = decide_while(own, code, approve_both, *language)
    assert result["output"] == "done,done", result
    assert seen == ['transfer({"amount":1})', 'transfer({"amount":2})'], seen


# --- Python

PYTHON = ["-l", "python"]
ADD = json.dumps([{"name": "add-up", "description": "Adds.", "inputSchema": {"type": "object", "required": ["a"], "properties": {
    "a": {"type": "integer", "description": "The first."}, "b": {"type": "integer"}}}, "outputSchema": {"type": "object"}},
    {"name": "fail", "inputSchema": {"type": "object"}}, {"name": "large", "inputSchema": {"type": "object"}},
    {"name": "hang", "inputSchema": {"type": "object"}}])
ROWS = [
    ("the value of the last expression", "1\n6 * 7", [], "ok 42"),
    ("a value that is returned", "def f(): return 1\nif True:\n    return {'a': f()}", [], 'ok {"a":1}'),
    ("no value", "x = 1", [], "ok "),
    ("a returned None", "return None", [], "ok "),
    ("output, print and debug", "output('a')\nprint('b', end='')\nprint('c')\ndebug('d')\noutput([1, None])\n'e'", [],
     "ok a\nbc\n[1,null]\ne"),
    ("values that JSON has no form for are described", "output({1, 2})\noutput(float('nan'))", [], "ok {1, 2}\nnan"),
    ("a tool is a function", "add_up(a=1, b=2)", [], 'ok {"a":1,"b":2}'),
    ("a parameter that is left out", "add_up(a=1)['a']", [], "ok 1"),
    ("hints and docstring", "return [add_up.__annotations__, 'Adds.' in add_up.__doc__, 'The first.' in add_up.__doc__]", [],
     'ok [{"a":"int","b":"int","more":"object","return":"dict"},true,true]'),
    ("__call_tool__", "__call_tool__('add-up', {'a': 3})['a']", [], "ok 3"),
    ("parameters are checked", "add_up(a='x')", [], 'error Error: params.a: must be of the type "integer"…'),
    ("a parameter that is missing", "add_up()", [], "error TypeError: …"),
    ("another tool", "__call_tool__('other')", [], "error Error: there is no tool 'other'…"),
    ("an error of a tool", "fail()", [], "error Error: no (line 1, column 1)"),
    ("an error of a tool is caught", "try:\n    fail()\nexcept Exception as error:\n    return str(error)", [], "ok no"),
    ("a large answer", "return len(large(n=1 << 20))", [], "ok 1048576"),
    ("64 calls at once", "import asyncio\nreturn sum(r['a'] for r in await asyncio.gather(*[add_up(a=i) for i in range(64)]))",
     [], "ok 2016"),
    ("64 threads that call", "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(64) as pool:\n"
     "    return sum(pool.map(lambda i: add_up(a=i)['a'], range(64)))", [], "ok 2016"),
    ("calls in async functions", "async def f(n):\n    return (await add_up(a=n))['a']\nawait f(1) + await f(2)", [], "ok 3"),
    ("too many calls", "while True:\n    add_up(a=1)", ["--max-tool-calls", "3"],
     "error Tool calls exceed max of 3 per execution"),
    ("a tool that does not answer", "hang()", ["--timeout", "500ms"], "error Execution timed out after 500ms"),
    ("code that does not end", "while True: pass", ["--timeout", "500ms"], "error Execution timed out after 500ms"),
    ("too much output", "while True: output('0123456789')", ["--max-output-size", "1K"],
     "error Output exceeds max size of 1024 bytes"),
    ("too much of print", "print('x' * 2000)", ["--max-output-size", "1K"], "error Output exceeds max size of 1024 bytes"),
    ("code that is too long", "1" + " " * 30, ["--max-code-size", "20"], "error Code exceeds max size of 20 bytes"),
    ("the position of an error", "x = 1\nreturn 1 / 0", [], "error ZeroDivisionError: division by zero (line 2, column 8)"),
    ("code that is wrong", "def f(:", [], "error SyntaxError: …"),
    ("a return in a class", "class A:\n    return 1", [], "error SyntaxError: …"),
    ("no other file", "open('/root/secret').read()", [], "error …"),
]
for name, code, options, expected in ROWS:
    tap.test(f"Python: {name}")(lambda: judge(*machine.execute(code, "--tools", machine.file("add.json", ADD), *options, *PYTHON),
                                              expected))


@tap.test("Python: the stubs of the caller")
def python_stubs():
    path = machine.file("add.json", ADD)
    printed = machine.file("stubs.py", machine.run("stubs", "--python", path).stdout)
    judge(*machine.execute("add_up(a=1)['a']", "--stubs", printed, *PYTHON), "ok 1")
    _, result, _ = machine.execute("1", "--stubs", machine.file("wrong.py", "def f(:"), *PYTHON)
    assert result["error"].startswith("SyntaxError"), result


@tap.test("Python: a tool that requires approval is called when a person has approved its parameters")
def python_approved():
    own = Machine()

    def approve(approval):
        assert approval["code"] == 'transfer({"amount":7})' and approval["runtime"] == "tool transfer", approval
        assert own.run("approvals", "approve", approval["id"]).returncode == 0

    calls, result, _ = decide_while(own, "return transfer(amount=7)", approve, *PYTHON)
    assert (calls, result["output"]) == ([("transfer", {"amount": 7})], "done"), result


@tap.test("Python: a call that is denied is an exception, and the tool is not called")
def python_denied():
    own = Machine()
    code = "try:\n    transfer(amount=7)\nexcept Exception as error:\n    return str(error)"
    calls, result, _ = decide_while(own, code, lambda approval: own.run("approvals", "deny", approval["id"]), *PYTHON)
    assert calls == [] and result["output"].startswith("denied by "), (calls, result)


@tap.test("Python: the working directory")
def python_workdir():
    work = work_folder()
    (work / "link").symlink_to("../secret")
    (machine.home / "secret").write_text("LEAKED")
    code = "open('a', 'w').write('x')\ntry:\n    return open('link').read()\nexcept OSError as error:\n    return type(error).__name__"
    judge(*machine.execute(code, "--workdir", str(work), *PYTHON), "ok FileNotFoundError")
    assert (work / "a").read_text() == "x" and (work / "link").read_text() == "LEAKED"


@tap.test("the end of the program withdraws what waits")
def withdrawn_call():
    own = Machine()
    process, reader = own.start("await transfer({amount: 7})", "--tools", own.file("tools.json", TRANSFER))
    approval = pending_of(own)
    process.terminate()
    assert read_result(reader)["success"] is False and process.wait(WAIT) == 1
    states = [json.loads(line) for line in own.run("approvals", "list", "--all", "--json").stdout.splitlines()]
    assert [entry["state"] for entry in states if entry["id"] == approval["id"]] == ["withdrawn"], states


@tap.test("secrets in the output are masked")
def masked():
    own = Machine()
    own.env["GLOVEBOX_SECRET_DB"] = "hunter2hunter2"
    lines, result, _ = own.execute('output("hunter2" + "hunter2"); return ["hunter2" + "hunter2"]')
    assert result["output"] == '***\n["***"]' and lines[0]["data"] == "***", result


tap.plan()
