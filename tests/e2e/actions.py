#!/usr/bin/python3
"""code.execute and code.sandbox by the message 'tool'. TAP. Needs GB_GLOVEBOX."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
TABLE = Path(__file__).parent.parent / "data/actions.txt"
KEYS = ["success", "stdout", "stderr", "return_value", "error", "execution_time_ms"]


class Server:
    """A 'glovebox stdio' with settings and state of its own."""

    def __init__(self, settings="", hello=True):
        self.folder = tempfile.TemporaryDirectory()
        home = Path(self.folder.name)
        (home / "glovebox.yaml").write_text(settings)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GLOVEBOX_")}
        self.env = kept | {"HOME": str(home), "GLOVEBOX_CONFIG": str(home / "glovebox.yaml"),
                           "GLOVEBOX_STATE_DIR": str(home / "state")}
        self.process = subprocess.Popen([GLOVEBOX, "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=self.env)
        self.n = 0
        assert self.read()["type"] == "hello"
        if hello:
            self.send(type="hello", request=1, decides=["actions"])
            assert self.read() == {"type": "embedder", "request": 1, "decides": ["actions"]}

    def read(self):
        return json.loads(self.process.stdout.readline())

    def send(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def start(self, name, arguments):
        self.n += 1
        self.send(type="tool", run=self.n, name=name, arguments=arguments)

    def tool(self, name, **arguments):
        self.start(name, arguments)
        reply = self.read()
        assert reply["type"] == "tool_result" and reply["run"] == self.n, reply
        return json.loads(reply["output"])

    def execute(self, code, language="python", **arguments):
        result = self.tool("code.execute", code=code, language=language, **arguments)
        assert list(result) == KEYS, result
        return result

    def sandbox(self, action, **arguments):
        return self.tool("code.sandbox", action=action, **arguments)

    def run(self, *arguments):
        return subprocess.run([GLOVEBOX, *arguments], capture_output=True, text=True, env=self.env, check=False)

    def records(self):
        return [json.loads(line) for line in self.run("audit", "list", "--json").stdout.splitlines()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


server = Server()
SANITIZED = os.environ.get("GB_SANITIZE", "none") != "none"


def check_row(language, arguments, code, expected):
    result = server.execute(code, language, **arguments)
    kind, text = expected.split(" ", 1)
    if kind == "ok":
        assert result["success"] and result["error"] is None and result["return_value"] == json.loads(text), result
    else:
        assert not result["success"] and result["error"].startswith(text) and result["return_value"] is None, result


for row in TABLE.read_text().splitlines():
    if row and not row.startswith("#"):
        title, language, arguments, code, expected = row.split("\t")
        if language == "python" and "max_memory_mb" in arguments and SANITIZED:
            tap.ok(f"{language}: {title} # SKIP the malloc of a sanitizer is not counted", True)
            continue
        tap.test(f"{language}: {title}")(
            lambda: check_row(language, json.loads(arguments), code.replace("\\n", "\n"), expected))


@tap.test("agents stay disabled for other faces")
def _():
    server.n += 1
    server.send(type="execute", run=server.n, source="1", language="python")
    assert server.read()["result"]["error"]["code"] == "disabled"


@tap.test("without hello, and without agents, nothing runs")
def _():
    other = Server(hello=False)
    assert "agent.enabled" in other.execute("1")["error"]
    assert other.sandbox("create")["success"] is False
    other.close()


@tap.test("calls that are sent with the hello, before its answer, run")
def _():
    other = Server(hello=False)
    other.send(type="hello", request=1, decides=["actions"])
    for _ in range(3):
        other.start("code.execute", {"code": "6*7"})
    assert other.read()["type"] == "embedder"
    for _ in range(3):
        assert json.loads(other.read()["output"])["return_value"] == 42
    other.close()
    # The same, as the last lines of the input.
    lines = [{"type": "hello", "request": 1, "decides": ["actions"]},
             {"type": "tool", "run": 1, "name": "code.sandbox", "arguments": {"action": "list"}}]
    done = subprocess.run([GLOVEBOX, "stdio"], input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True,
                          text=True, env=server.env, check=True)
    assert json.loads(json.loads(done.stdout.splitlines()[-1])["output"])["success"], done


@tap.test("with agents enabled, but without hello, a person is asked")
def _():
    other = Server("agent: {enabled: true}", hello=False)
    other.start("code.execute", {"code": "6*7"})
    pending = other.read()
    assert pending["type"] == "pending", pending
    assert other.run("approvals", "approve", pending["approval"]).returncode == 0
    assert json.loads(other.read()["output"])["return_value"] == 42
    other.close()


@tap.test("approval: a person is asked although the embedding program decides, and sees the state")
def _():
    server.start("code.execute", {"code": "state['a']", "approval": "ask", "state": {"a": "seen"}})
    pending = server.read()
    assert pending["type"] == "pending", pending
    assert "seen" in server.run("approvals", "show", pending["approval"], "--json").stdout
    server.run("approvals", "deny", pending["approval"])
    result = json.loads(server.read()["output"])
    assert not result["success"] and "denied" in result["error"], result


@tap.test("actions.enabled: false refuses everything")
def _():
    other = Server("actions: {enabled: false}")
    assert "actions.enabled" in other.execute("1")["error"]
    assert "actions.enabled" in other.sandbox("create")["error"]
    other.close()


@tap.test("the record says that the embedding program has decided; output is masked")
def _():
    result = server.execute("print('ghp_' + '0123456789abcdefghijABCDEFGHIJ012345')")
    assert result["stdout"] == "***\n", result
    record = server.records()[-1]
    assert record["face"] == "actions" and record["decision"] == "embedder", record


@tap.test("output: streams, console, a mark where it was cut")
def _():
    result = server.execute("import sys; print(1); print(2, file=sys.stderr)", sandbox_mode="permissive")
    assert (result["stdout"], result["stderr"]) == ("1\n", "2\n"), result
    result = server.execute("console.log('a', {b: 1}); console.error('c')", "javascript")
    assert result["stdout"] == "a { b: 1 }\nc\n", result
    result = server.execute("for i in range(1000): print('x' * 99)", max_output_bytes=1000)
    assert result["success"] and result["stdout"].rstrip().endswith("[output truncated at 1000 bytes]"), result
    assert len(result["stdout"]) < 1100, len(result["stdout"])


@tap.test("code must be text, and be there")
def _():
    assert server.execute(3)["error"] == "code: must be text"
    assert server.tool("code.execute")["error"] == "code is required"


@tap.test("settings are the defaults of calls")
def _():
    other = Server("settings: {code: {default_timeout: 0.3, sandbox_mode: permissive, allow_filesystem: true}}")
    assert other.execute("while True: pass")["error"] == "Execution timed out after 0.3 seconds"
    assert other.execute("import os\nopen('/box/a', 'w').close()\nos.path.exists('/box/a')")["return_value"] is True
    assert other.execute("import os", sandbox_mode="restricted")["success"] is False
    other.close()
    other = Server("actions: {allowedModules: [math]}")
    assert other.execute("import math\nmath.floor(1.5)")["return_value"] == 1
    assert other.execute("import math", allowed_modules=[])["success"] is False
    other.close()


@tap.test("sandboxes keep variables and share nothing")
def _():
    ids = [server.sandbox("create")["sandbox_id"] for _ in range(2)]
    assert server.sandbox("execute", sandbox_id=ids[0], code="x = 41")["success"]
    assert server.sandbox("execute", sandbox_id=ids[0], code="x + 1")["return_value"] == 42
    assert server.sandbox("execute", sandbox_id=ids[1], code="x")["error"].startswith("NameError")
    listed = server.sandbox("list")
    assert listed["sandboxes"] == ids and [d["sandbox_id"] for d in listed["details"]] == ids, listed
    assert server.sandbox("destroy", sandbox_id=ids[0]) == {
        "success": True, "destroyed": True, "sandbox_id": ids[0]}
    gone = server.sandbox("destroy", sandbox_id=ids[0])
    assert gone["success"] and not gone["destroyed"] and gone["error"] == f"Sandbox not found: {ids[0]}", gone
    assert server.sandbox("execute", sandbox_id=ids[0], code="x")["error"] == f"Sandbox not found: {ids[0]}"
    assert server.sandbox("list")["sandboxes"] == [ids[1]]
    server.sandbox("destroy", sandbox_id=ids[1])


@tap.test("result counts only if this code has set it")
def _():
    one = server.sandbox("create")["sandbox_id"]
    for code, value in [("result = 5", 5), ("9", 9), ("result = 5", 5), ("result", 5), ("x = 1", None)]:
        assert server.sandbox("execute", sandbox_id=one, code=code)["return_value"] == value, code
    server.sandbox("destroy", sandbox_id=one)


@tap.test("sandboxes of other languages")
def _():
    shell, script = (server.sandbox("create", language=name)["sandbox_id"] for name in ("bash", "javascript"))
    server.sandbox("execute", sandbox_id=shell, code="a=3")
    assert server.sandbox("execute", sandbox_id=shell, code="echo $a")["stdout"] == "3\n"
    assert not server.sandbox("execute", sandbox_id=shell, code="echo x > /box/a")["success"]
    server.sandbox("execute", sandbox_id=script, code="let a = 3")
    assert server.sandbox("execute", sandbox_id=script, code="a + 1")["return_value"] == 4
    assert "runs bash" in server.sandbox("execute", sandbox_id=shell, code="1", language="python")["error"]
    for one in (shell, script):
        server.sandbox("destroy", sandbox_id=one)


@tap.test("a sandbox that has ended is not found, with the reason")
def _():
    one = server.sandbox("create", language="bash")["sandbox_id"]
    server.sandbox("execute", sandbox_id=one, code="exit 4")
    assert server.sandbox("execute", sandbox_id=one, code="echo")["error"].startswith(
        f"Sandbox not found: {one}; it has ended: ")


@tap.test("wrong calls of code.sandbox")
def _():
    assert server.sandbox("fly")["error"].startswith("Unknown action")
    assert server.tool("code.sandbox")["error"].startswith("action is required")
    assert server.sandbox("execute", code="1")["error"] == "sandbox_id is required"
    assert server.sandbox("destroy")["error"] == "sandbox_id is required"
    assert server.sandbox("create", language="ruby")["error"].startswith("language: 'ruby'")
    assert server.sandbox("create", allow_network=True)["error"].startswith("allow_network: there are no hosts")


@tap.test("sandboxes of a client end with it; other clients do not see them")
def _():
    import socket
    folder = tempfile.TemporaryDirectory()
    path = folder.name + "/socket"
    process = subprocess.Popen([GLOVEBOX, "stdio", "--socket", path], stderr=subprocess.PIPE, text=True, env=server.env)

    def connect():
        client = socket.socket(socket.AF_UNIX)
        while True:
            try:
                client.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                assert process.poll() is None
        lines = client.makefile("rw")
        lines.readline()
        return client, lines

    def ask(lines, **message):
        lines.write(json.dumps(message) + "\n")
        lines.flush()
        return json.loads(lines.readline())

    first, one = connect()
    second, two = connect()
    for lines in (one, two):
        ask(lines, type="hello", request=1, decides=["actions"])
    created = json.loads(ask(one, type="tool", run=1, name="code.sandbox", arguments={"action": "create"})["output"])
    listed = json.loads(ask(two, type="tool", run=1, name="code.sandbox", arguments={"action": "list"})["output"])
    assert listed["sandboxes"] == [], listed
    stolen = ask(two, type="tool", run=2, name="code.sandbox",
                 arguments={"action": "execute", "sandbox_id": created["sandbox_id"], "code": "1"})
    assert "not found" in stolen["output"], stolen
    assert [s["state"] for s in ask(two, type="session_list", request=5, agent=True)["sessions"]] == ["idle"]
    one.close()
    first.close()
    while True:
        states = [s["state"] for s in ask(two, type="session_list", request=6, agent=True)["sessions"]]
        if states == ["terminated"]:
            break
    two.close()
    second.close()
    process.terminate()
    process.communicate()


@tap.test("'glovebox tool' runs code.execute by the rules of agents, and refuses sandboxes")
def _():
    other = Server("agent: {enabled: true, autoApprove: true}")
    done = other.run("tool", "code.execute", '{"code": "6*7"}')
    assert json.loads(json.loads(done.stdout)["output"])["return_value"] == 42, done
    done = other.run("tool", "code.sandbox", '{"action": "list"}')
    assert "stdio" in json.loads(json.loads(done.stdout)["output"])["error"], done
    other.close()


server.close()
tap.plan()
sys.exit(1 if tap.failed else 0)
