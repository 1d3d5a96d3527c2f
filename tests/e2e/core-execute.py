#!/usr/bin/python3
"""The tool core.execute through 'glovebox tool' and the message 'tool'. TAP. Needs GB_GLOVEBOX."""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
TABLE = Path(__file__).parent.parent / "data/core-execute.txt"
WAIT = 120  # seconds; only a test that fails takes that long


class Machine:
    """A folder with settings and state of its own."""

    def __init__(self, settings):
        self.folder = tempfile.TemporaryDirectory()
        home = Path(self.folder.name)
        (home / "glovebox.yaml").write_text(settings)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GLOVEBOX_")}
        self.env = kept | {"HOME": str(home), "GLOVEBOX_CONFIG": str(home / "glovebox.yaml"),
                           "GLOVEBOX_STATE_DIR": str(home / "state")}

    def run(self, *arguments, stdin=""):
        return subprocess.run([GLOVEBOX, *arguments], input=stdin, capture_output=True, text=True, env=self.env,
                              timeout=WAIT, check=False)

    def call(self, **arguments):
        """The output of one call."""
        done = self.run("tool", "core.execute", "-", stdin=json.dumps({"purpose": "a test", **arguments}))
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert list(answer) == ["output"], answer
        return answer["output"]

    def records(self):
        return [json.loads(line) for line in self.run("audit", "list", "--json").stdout.splitlines()]

    def server(self):
        return Server(self.env)


class Server:
    def __init__(self, env):
        self.process = subprocess.Popen([GLOVEBOX, "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=env)
        assert self.read()["type"] == "hello"

    def read(self):
        return json.loads(self.process.stdout.readline())

    def send(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def call(self, number, **arguments):
        self.send(type="tool", run=number, name="core.execute", arguments={"purpose": "a test", **arguments})

    def close(self):
        self.process.stdin.close()
        self.process.wait(WAIT)


FREE = "agent: {enabled: true, autoApprove: true}\nenergy: {enabled: false}\n"
free = Machine(FREE)


def rows():
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            code, arguments, output = line.split("\t")
            yield code, json.loads(arguments or "{}"), output


def fits(output, expected):
    return output.startswith(expected[:-1]) if expected.endswith("…") else output == expected


@tap.test("every row of the table has its output, by the message 'tool'")
def table():
    server = free.server()
    for number, (code, arguments, expected) in enumerate(rows(), 1):
        server.call(number, code=code, **arguments)
        answer = server.read()
        assert answer["type"] == "tool_result" and answer["run"] == number, answer
        assert fits(answer["output"], expected), f"{code}: {answer['output']!r}, expected {expected!r}"
    server.close()


@tap.test("the command gives the same")
def command():
    for code, arguments, expected in list(rows())[:3]:
        assert fits(free.call(code=code, **arguments), expected)
    assert free.run("tool", "core.execute", "{").stdout.startswith('{"output":"EXECUTION_ERROR: arguments: ')
    assert free.run("tool", "core.execute", "[]").stdout == '{"output":"EXECUTION_ERROR: arguments: must be an object"}\n'
    assert free.run("tool", "core.execut", "{}").returncode == 2
    assert free.run("tool").stdout.split() == ["core.execute", "code.execute", "code.sandbox"]


@tap.test("a result has at most core.maxResultSize bytes")
def size():
    assert len(free.call(code='return "ö".repeat(1e6)').encode()) <= 32768
    small = Machine(FREE + "core: {maxResultSize: 1K}\n")
    output = small.call(code='return "ö".repeat(1e6)')
    assert 1000 < len(output.encode()) <= 1024 and output.endswith("…[truncated]"), output[-30:]


@tap.test("the definition follows the settings")
def definition():
    tool = json.loads(free.run("tool", "core.execute").stdout)
    assert tool["name"] == "core.execute" and tool["maxCallsPerTurn"] == 1
    assert set(tool["parameters"]["properties"]) == {"purpose", "code", "timeout", "expectedOutput"}
    assert tool["parameters"]["required"] == ["purpose", "code"]
    assert "5000" in tool["parameters"]["properties"]["timeout"]["description"]
    changed = Machine(FREE + "core: {callsPerTurn: 2, maxTimeout: 1s}\n")
    tool = json.loads(changed.run("tool", "core.execute").stdout)
    assert tool["maxCallsPerTurn"] == 2 and "1000" in tool["parameters"]["properties"]["timeout"]["description"]


@tap.test("agents that are disabled are denied")
def disabled():
    assert Machine("").call(code="return 1").startswith("EXECUTION_DENIED: agents may not run code here")


@tap.test("calls in a turn are limited")
def turns():
    asked = {"code": "return 1", "conversation": "c", "turn": "t"}
    machine = Machine(FREE)
    assert machine.call(**asked) == "1"
    assert machine.call(**asked).startswith("EXECUTION_DENIED: code was run 1 times in this turn")
    assert machine.call(**asked | {"turn": "u"}) == "1"
    two = Machine(FREE + "core: {callsPerTurn: 2}\n")
    assert [two.call(**asked)[:16] for _ in range(3)] == ["1", "1", "EXECUTION_DENIED"]


@tap.test("a run costs 0.05, and is denied below 0.15")
def energy():
    machine = Machine("agent: {enabled: true, autoApprove: true}\nenergy: {rechargePerHour: 0}\n")
    # 1, 0.95 … 0.15: eighteen runs.
    outputs = [machine.call(code="return 1") for _ in range(19)]
    assert outputs == ["1"] * 18 + ["EXECUTION_DENIED: Insufficient energy for code execution."], outputs
    # A refusal by the guard costs nothing: it comes first.
    assert machine.call(code="eval('1')").startswith("EXECUTION_BLOCKED")


@tap.test("a crash in the sandbox affects only its run")
def crash():
    server = free.server()
    server.call(1, code="let f = () => f(); return [f].map(f);")
    server.call(2, code='const m = []; for (;;) m.push("x".repeat(1e7) + m.length);')
    server.call(3, code="return 3")
    outputs = {}
    for _ in range(3):
        answer = server.read()
        outputs[answer["run"]] = answer["output"]
    server.close()
    assert outputs[3] == "3", outputs
    assert all(outputs[i].startswith("EXECUTION_ERROR: ") for i in (1, 2)), outputs


@tap.test("the record is a RUN_CODE intent with all that was stated")
def record():
    machine = Machine(FREE)
    machine.call(code="return 6*7", purpose="a sum", expectedOutput="a number", trace={"from": "x"}, timeout=700)
    last = machine.records()[0]
    expected = {"intent": "RUN_CODE", "face": "core_execute", "purpose": "a sum", "inputCode": "return 6*7",
                "runtime": "javascript", "tier": "isolated", "expectedOutput": "a number", "status": "success"}
    assert {name: last[name] for name in expected} == expected, last
    assert last["limits"]["timeoutMs"] == 700 and last["trace"] == {"from": "x"}, last


@tap.test("secrets in the output are masked")
def masked():
    machine = Machine(FREE)
    machine.env["GLOVEBOX_SECRET_DB"] = "hunter2hunter2"
    assert machine.call(code='return ["hunter2" + "hunter2"]') == '["***"]'


@tap.test("approval: the code waits without losing time, runs or is denied")
def approval():
    machine = Machine("agent: {enabled: true}\nenergy: {enabled: false}\n")
    server = machine.server()
    for number, action, expected in ((1, "approve", "1"), (2, "deny", "EXECUTION_DENIED: ")):
        server.call(number, code="return 1", timeout=100)
        pending = server.read()
        assert pending["type"] == "pending", pending
        time.sleep(0.3)  # longer than the time limit of the code, which this must not reduce
        machine.run("approvals", action, pending["approval"])
        answer = server.read()
        assert answer["output"].startswith(expected), answer
    server.close()


@tap.test("approval that is not decided in time is a denial")
def expired():
    machine = Machine("agent: {enabled: true}\nenergy: {enabled: false}\napprovals: {timeout: 1s}\n")
    assert machine.call(code="return 1").startswith("EXECUTION_DENIED: ")


@tap.test("messages that are wrong are refused by field")
def wrong():
    server = free.server()
    server.send(type="tool", run=1, name="core.unknown", arguments={})
    answer = server.read()
    assert answer["type"] == "error" and answer["field"] == "name", answer
    server.send(type="tool", run=2, name="core.execute")
    answer = server.read()
    assert answer["type"] == "error" and answer["field"] == "arguments", answer
    server.call(3, code="return 3")
    assert server.read() == {"type": "tool_result", "run": 3, "output": "3"}
    server.call(4, code="for (;;);")
    server.send(type="terminate", run=4)
    answer = server.read()
    assert answer["output"].startswith(("EXECUTION_ERROR: ", "EXECUTION_DENIED: ")), answer
    server.close()


tap.plan()
