"""The blocks of docs/PYTHON_SDK.md are executed, and its table compares the clients of both SDKs."""

import dataclasses
import inspect
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from glovebox import ExecutionResult, Glovebox, Session, SessionInfo, ToolRegistry
from glovebox._executor import CONFIG, EXECUTOR_FIELDS
from glovebox._results import snake

from .helpers import WAIT

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/PYTHON_SDK.md").read_text()


class Page(unittest.TestCase):
    def test_blocks(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
        self.assertGreaterEqual(len(blocks), 5)
        self.execute(blocks)

    def execute(self, blocks):
        """Each in a process of its own; state is kept below a home of the test."""
        with tempfile.TemporaryDirectory() as home:
            env = {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python"), "HOME": home, "GLOVEBOX_STATE_DIR": home + "/state"}
            for block in blocks:
                with self.subTest(block=block):
                    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=WAIT, check=False,
                                          env=env)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_blocks_about_yaml_agents(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/YAML_AGENTS.md").read_text(), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 2)
        self.execute(blocks)

    def test_whatever_one_sdk_can_do_the_other_can(self):
        rows = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", PAGE.split("## Compared")[1], re.M)
        typescript = {name for row in rows for name in re.split(r"`, `", row[0])}
        python = {name for row in rows for name in re.split(r"`, `", row[1])}
        self.assertEqual(typescript, surface_of_typescript())
        self.assertEqual(python, surface_of_python())

    def test_options_and_states_have_the_same_names(self):
        client = set(inspect.signature(Glovebox).parameters)
        self.assertEqual({snake(name) for name in members("options.ts", "GloveboxOptions")}, client)
        executor = set(EXECUTOR_FIELDS) | {"source", "tools", "stubs"}
        self.assertEqual({snake(name) for name in members("executor-types.ts", "ExecutorRequest")}, executor)
        limits = set(CONFIG)
        self.assertEqual(set(members("executor.ts", "RuntimeConfig")), limits)
        info = {field.name for field in dataclasses.fields(SessionInfo)} - {"attached"}
        self.assertEqual({snake(name) for name in members("session.ts", "SessionInfo")}, info)
        result = {field.name for field in dataclasses.fields(ExecutionResult)}
        self.assertEqual(set(members("executor-types.ts", "ExecutionResult")), result)


def source(name):
    return (ROOT / "sdk/typescript/src" / name).read_text()


def members(file, interface):
    """The members of an interface of the TypeScript SDK."""
    body = re.search(rf"^export interface {interface}\b.*?\{{\n(.*?)^\}}", source(file), re.M | re.S)[1]
    return re.findall(r"^  (?:readonly )?(\w+)[?]?[(:]", body, re.M)


def methods(file, kind):
    body = re.search(rf"^export class {kind}\b.*?^\}}", source(file), re.M | re.S)[0]
    return set(re.findall(r"^  (?:async )?(\w+)(?:<[^>]*>)?\(", body, re.M)) - {"constructor"}


def surface_of_typescript():
    session = {f"Session.{name}" for name in members("session.ts", "Session")} - {"Session.id", "Session.name"}
    registry = {f"ToolRegistry.{name}" for name in methods("registry.ts", "ToolRegistry")}
    functions = set(re.findall(r"^export function (\w+)", source("executor.ts"), re.M))
    return methods("client.ts", "Glovebox") | session | registry | functions


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")} - {"present", "run_callback", "settle"}


def surface_of_python():
    names = public(Glovebox) | {f"Session.{name}" for name in public(Session)}
    return names | {f"ToolRegistry.{name}" for name in public(ToolRegistry)} | {"create_executor"}
