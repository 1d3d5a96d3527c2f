#!/usr/bin/python3
"""glovebox.actions in the_edge_agent, an engine for YAML agents that is not ours: its checkout is not part of this repository,
and nothing of it or of the actions is changed. TAP. Not part of 'make test'.

Usage: the-edge-agent.py CHECKOUT     (https://github.com/fabceolin/the_edge_agent); needs GB_GLOVEBOX, and what the engine
needs: networkx, jinja2, jmespath, jsonschema, fsspec, typer, requests, dotenv, pydantic, pydot, yaml, and pytest."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tap

CHECKOUT = Path(sys.argv[1]).resolve()
PACKAGE = Path(__file__).resolve().parents[2] / "sdk/python"
sys.path[:0] = [str(CHECKOUT / "python/src"), str(PACKAGE)]
FOLDER = tempfile.TemporaryDirectory()
os.environ.update(GLOVEBOX_PATH=os.path.abspath(os.environ["GB_GLOVEBOX"]), HOME=FOLDER.name,
                  GLOVEBOX_STATE_DIR=FOLDER.name + "/state")

from the_edge_agent import YAMLEngine  # noqa: E402

WORKFLOW = """
name: both-actions
imports:
  - %s
settings:
  code:
    default_timeout: 20
    allowed_modules: [statistics]
nodes:
  - name: compute
    uses: code.execute
    with:
      code: |
        import statistics
        result = statistics.mean([{{ state.a }}, {{ state.b }}])
    output: mean
  - name: script
    uses: actions.code_execute
    with: {language: javascript, code: "console.log('hi'); [1, 2].map(x => x * 2)"}
    output: script
  - name: shell
    uses: code.execute
    with: {language: bash, code: "echo $((6 * 7))"}
    output: shell
  - name: open
    uses: code.sandbox
    with: {action: create}
    output: box
  - name: put
    uses: code.sandbox
    with: {action: execute, sandbox_id: "{{ state.box.sandbox_id }}", code: "counter = 41"}
  - name: take
    uses: actions.code_sandbox
    with: {action: execute, sandbox_id: "{{ state.box.sandbox_id }}", code: "counter + 1"}
    output: taken
  - name: refused
    uses: code.execute
    with: {code: "import os"}
    output: refused
  - name: close
    uses: code.sandbox
    with: {action: destroy, sandbox_id: "{{ state.box.sandbox_id }}"}
    output: closed
edges:
  - {from: __start__, to: compute}
  - {from: compute, to: script}
  - {from: script, to: shell}
  - {from: shell, to: open}
  - {from: open, to: put}
  - {from: put, to: take}
  - {from: take, to: refused}
  - {from: refused, to: close}
  - {from: close, to: __end__}
"""


def run(imported, **options):
    path = Path(FOLDER.name, "workflow.yaml")
    path.write_text(WORKFLOW % imported)
    engine = YAMLEngine(**options)
    graph = engine.load_from_file(str(path))
    action = engine.actions_registry["code.execute"]
    assert action.__module__.startswith("glovebox.actions"), action.__module__
    final = [event for event in graph.invoke({"a": 2, "b": 6}) if event.get("type") == "final"][0]
    return final["state"]


def check(state):
    assert state["mean"]["return_value"] == 4, state["mean"]
    assert (state["script"]["stdout"], state["script"]["return_value"]) == ("hi\n", [2, 4]), state["script"]
    assert state["shell"]["stdout"] == "42\n", state["shell"]
    assert state["box"]["created"] is True and state["taken"]["return_value"] == 42, state
    assert "never allowed in restricted code" in state["refused"]["error"], state["refused"]
    assert state["closed"]["destroyed"] is True, state["closed"]


@tap.test("a workflow with both actions, imported by the name of the package")
def _():
    check(run("package: glovebox.actions", enable_code_execution=True))


@tap.test("the same, imported by a path")
def _():
    check(run(f"path: {PACKAGE}/glovebox/actions/__init__.py", enable_code_execution=True))


@tap.test("without enable_code_execution nothing runs")
def _():
    state = run("package: glovebox.actions")
    assert "disabled" in state["mean"]["error"], state["mean"]


@tap.test("the engine's own tests of its actions pass with ours in their place")
def _():
    # Each engine of those tests gets our actions as an import would register them.
    Path(FOLDER.name, "conftest.py").write_text(
        "from the_edge_agent import YAMLEngine\n"
        "from glovebox.actions import register_actions\n"
        "made = YAMLEngine.__init__\n"
        "def init(self, *args, **given):\n"
        "    made(self, *args, **given)\n"
        "    register_actions(self.actions_registry, self)\n"
        "YAMLEngine.__init__ = init\n")
    source = CHECKOUT / "python/tests/test_yaml_engine_code.py"
    Path(FOLDER.name, source.name).write_text(source.read_text())
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", source.name], cwd=FOLDER.name,
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path[:2], os.environ.get("PYTHONPATH", "")])})
    print("#", done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0 and re.search(r"[1-9]\d* passed", done.stdout), done.stdout[-3000:]


tap.plan()
sys.exit(1 if tap.failed else 0)
