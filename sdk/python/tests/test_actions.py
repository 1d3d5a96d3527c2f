"""Tests of the actions code.execute and code.sandbox, except for security: see test_actions_security.py."""

import json
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from glovebox.actions import ACTIONS, __tea_actions__, register_actions

from .engines import ROOT, RUNNER, Case, Engine, load_runner
from .helpers import WAIT

KEYS = ["success", "stdout", "stderr", "return_value", "error", "execution_time_ms"]


class TestCodeExecutionActions(Case):
    def test_code_execute_simple(self):
        result = self.engine.execute("x = 1 + 2")
        self.assertEqual(list(result), KEYS)
        self.assert_ok(result)
        self.assertIsInstance(result["execution_time_ms"], float)
        self.assertEqual(pickle.loads(pickle.dumps(result)), result)

    def test_code_execute_returns_value(self):
        self.assert_ok(self.engine.execute("x = 6\nx * 7"), 42)
        self.assert_ok(self.engine.execute("result = 5\n7"), 5)
        self.assert_ok(self.engine.execute("{'a': [1, None, 2.5], 'b': {3}, 'c': b'x'}"), {"a": [1, None, 2.5], "b": {3}, "c": b"x"})
        self.assert_error(self.engine.execute("raise ValueError()"), "ValueError")
        self.assert_error(self.engine.execute("def f(:"), "SyntaxError")
        self.assert_error(self.engine.execute("  x = 1"), "SyntaxError")

    def test_code_execute_captures_stdout(self):
        self.assertEqual(self.engine.execute("print('hello'); print('world')")["stdout"], "hello\nworld\n")

    def test_code_execute_captures_stderr(self):
        result = self.engine.execute("import sys; print('out'); print('err', file=sys.stderr)", sandbox_mode="permissive")
        self.assertEqual((result["stdout"], result["stderr"]), ("out\n", "err\n"))
        self.assertEqual(self.engine.execute("echo err >&2", language="bash")["stderr"], "err\n")

    def test_code_execute_timeout(self):
        self.assert_error(self.engine.execute("while True: pass", timeout=0.3), "Execution timed out after 0.3 seconds")
        self.assert_error(self.engine.execute("while True: pass", timeout="0.3"), "Execution timed out")
        self.assert_ok(self.engine.execute("1", timeout=0), 1)

    def test_code_sandbox_create_destroy(self):
        made = self.engine.sandbox("create")
        self.assertEqual({key: made[key] for key in ("success", "created", "language")},
                         {"success": True, "created": True, "language": "python"})
        sandbox = made["sandbox_id"]
        listed = self.engine.sandbox("list")
        self.assertIn(sandbox, listed["sandboxes"])
        self.assertIn(sandbox, [details["sandbox_id"] for details in listed["details"]])
        self.assertIn(sandbox, self.engine._sandbox_sessions)
        self.assertEqual(self.engine.sandbox("destroy", sandbox_id=sandbox),
                         {"success": True, "destroyed": True, "sandbox_id": sandbox})
        gone = self.engine.sandbox("destroy", sandbox_id=sandbox)
        self.assertEqual((gone["success"], gone["destroyed"]), (True, False))
        self.assertIn("not found", gone["error"])
        self.assertNotIn(sandbox, self.engine.sandbox("list")["sandboxes"])
        self.assert_error(self.engine.sandbox("execute", sandbox_id=sandbox, code="1"), f"Sandbox not found: {sandbox}")

    def test_code_sandbox_session_persistence(self):
        for language, first, then, value in (("python", "counter = 10", "counter += 5; result = counter", 15),
                                             ("javascript", "let counter = 10", "counter + 5", 15)):
            with self.subTest(language):
                sandbox = self.engine.sandbox("create", language=language)["sandbox_id"]
                self.assert_ok(self.engine.sandbox("execute", sandbox_id=sandbox, code=first))
                self.assert_ok(self.engine.sandbox("execute", sandbox_id=sandbox, code=then), value)
                self.engine.sandbox("destroy", sandbox_id=sandbox)

    def test_code_execute_shell_simple(self):
        result = self.engine.execute("for i in 1 2; do echo $((i * 2)); done", language="bash")
        self.assert_ok(result)
        self.assertEqual(result["stdout"], "2\n4\n")
        self.assert_error(self.engine.execute("exit 3", language="bash"), "exit status 3")
        self.assert_error(self.engine.execute("echo (", language="bash"), "SyntaxError")

    def test_dual_namespace_access(self):
        registry = self.engine.actions_registry
        self.assertEqual(sorted(registry), sorted(ACTIONS))
        self.assertEqual(sorted(__tea_actions__["actions"]), sorted(ACTIONS))
        for name in ("code.execute", "actions.code_execute"):
            self.assert_ok(registry[name](state={}, code="result = 42"), 42)
        for name in ("code.sandbox", "actions.code_sandbox"):
            self.assertTrue(registry[name](state={}, action="list")["success"])

    def test_concurrent_execution_safety(self):
        results = {}

        def work(number):
            results[number] = self.engine.execute(f"total = 0\nfor i in range(1000): total += {number}\ntotal")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        for number in range(24):
            self.assert_ok(results[number], number * 1000)

    def test_sandbox_cleanup_after_crash(self):
        """If the process that created sandboxes is killed, its server ends, and with it everything in the sandboxes."""
        code = ("import sys; from tests.engines import Engine\n"
                "e = Engine(); i = e.sandbox('create', language='bash')['sandbox_id']\n"
                "print(e._glovebox_actions.backends['restricted'].box()._connection._transport._process.pid, flush=True)\n"
                "print(e.sandbox('execute', sandbox_id=i, code='echo started'), flush=True)\n"
                "e.sandbox('execute', sandbox_id=i, code='sleep 1000', timeout=900)\n")
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                                 cwd=ROOT / "sdk/python")
        server = int(child.stdout.readline())
        self.assertIn("started", child.stdout.readline())
        pidfd = os.pidfd_open(server)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        self.assertTrue(select.select([pidfd], [], [], WAIT)[0], "the server outlives its client")
        os.close(pidfd)

    def test_sandbox_that_ends_by_itself_is_reported(self):
        sandbox = self.engine.sandbox("create", language="bash")["sandbox_id"]
        self.engine.sandbox("execute", sandbox_id=sandbox, code="exit 4")
        self.assert_error(self.engine.sandbox("execute", sandbox_id=sandbox, code="echo"), f"Sandbox not found: {sandbox}")
        self.assertNotIn(sandbox, self.engine._sandbox_sessions)

    def test_invalid_language_raises_error(self):
        """The error is in the result: actions never raise an exception."""
        self.assert_error(self.engine.execute("1", language="ruby"),
                          "language: 'ruby' is not supported; supported are python, javascript and bash")
        self.assertFalse(self.engine.sandbox("create", language="ruby")["success"])

    def test_max_output_bytes_truncation(self):
        result = self.engine.execute("print('X' * 10000)", max_output_bytes=100)
        self.assertTrue(result["success"])
        self.assertTrue(result["stdout"].rstrip().endswith("[output truncated at 100 bytes]"), result["stdout"])
        self.assertLess(len(result["stdout"]), 200)

    def test_code_execute_javascript(self):
        result = self.engine.execute("console.log('a', {b: 1}); console.error('c'); [1, 2].map(x => x * 2)", language="javascript")
        self.assert_ok(result, [2, 4])
        self.assertEqual(result["stdout"], "a { b: 1 }\nc\n")
        self.assert_ok(self.engine.execute("(async () => 3)()", language="javascript"), 3)
        self.assert_error(self.engine.execute("let = ;", language="javascript"), "SyntaxError")


class Details(Case):
    """How an engine registers, configures and calls the actions."""

    def test_disabled_unless_the_engine_enables_it(self):
        engine = self.make(enabled=False)
        self.assert_error(engine.execute("1"), "Code execution is disabled")
        self.assertIn("disabled", engine.sandbox("create")["error"])
        engine._enable_code_execution = True
        self.assert_ok(engine.execute("1"), 1)
        registry = {}
        register_actions(registry, None)
        self.assert_error(registry["code.execute"](state={}, code="1"), "Code execution is disabled")

    def test_registration_starts_nothing_and_keeps_sandboxes(self):
        engine = self.make()
        self.assertEqual(engine._glovebox_actions.backends, {})
        sandbox = engine.sandbox("create")["sandbox_id"]
        again = {}
        register_actions(again, engine)
        self.assert_ok(again["code.sandbox"](state={}, action="execute", sandbox_id=sandbox, code="1"), 1)

    def test_settings_are_read_at_each_call(self):
        engine = self.make(code={"default_timeout": "${TEST_TIMEOUT:-0.2}"})
        self.assert_error(engine.execute("while True: pass"), "Execution timed out after 0.2 seconds")
        engine._config = {"settings": {"code": {"allowed_modules": ["math"], "max_output_bytes": "20"}}}
        self.assert_ok(engine.execute("import math\nmath.floor(2.5)"), 2)
        self.assertIn("truncated", engine.execute("print('x' * 1000)")["stdout"])
        engine._config = {}
        self.assert_error(engine.execute("import math"), "RestrictedError")

    def test_state_is_seen_only_if_exposed(self):
        call = {"state": {"a": [1, {"b": 2}], "f": print}, "code": "state['a'][1]['b']"}
        self.assert_error(self.engine.actions_registry["code.execute"](**call), "NameError")
        engine = self.make(code={"expose_state": True})
        self.assert_ok(engine.actions_registry["code.execute"](**call), 2)
        call["code"] = "state['a'].append(3)"
        self.assert_error(engine.actions_registry["code.execute"](**call), "TypeError: 'state' cannot be changed")
        call["code"] = "sorted(state)"
        self.assert_ok(engine.actions_registry["code.execute"](**call), ["a"])

    def test_declared_secrets_are_masked(self):
        engine = self.make(secrets={"TOKEN": "${TEST_TOKEN}"})
        os.environ["TEST_TOKEN"] = "correct-horse-battery"
        self.addCleanup(os.environ.pop, "TEST_TOKEN")
        self.assertEqual(engine.execute("print('correct-horse' + '-battery')")["stdout"], "***\n")

    def test_the_configuration_of_a_secret_store_is_not_masked(self):
        engine = self.make(secrets={"backend": "environment", "prefix": "ordinary-text"})
        self.assertEqual(engine.execute("print('ordinary-text')")["stdout"], "ordinary-text\n")

    def test_unknown_keywords_are_ignored_and_nothing_raises(self):
        self.assert_ok(self.engine.execute("1", config={}, node="n", graph=object(), colour=3), 1)
        self.assertEqual(self.engine.execute()["error"], "code is required")
        self.assert_ok(self.engine.execute(""))
        self.assertEqual(self.engine.execute(3)["error"], "code must be text, not int")
        self.assert_error(self.engine.execute("1", timeout="soon"), "timeout must be a number")
        self.assertEqual(self.engine.sandbox("execute", code="1")["error"], "sandbox_id is required")
        self.assertEqual(self.engine.sandbox("execute", sandbox_id="x")["error"], "code is required")
        self.assertEqual(self.engine.sandbox("destroy")["error"], "sandbox_id is required")
        self.assertTrue(self.engine.sandbox("fly")["error"].startswith("Unknown action 'fly'"))
        self.assertTrue(self.engine.sandbox(None)["error"].startswith("action is required"))
        self.assert_error(self.engine.execute("1", sandbox_mode="moon"), "sandbox_mode: 'moon' is not known")

    def test_deleting_the_engine_ends_its_server(self):
        engine = Engine()
        engine.sandbox("create")
        server = engine._glovebox_actions.backends["restricted"].box()._connection._transport._process
        del engine
        server.wait(WAIT)

    def test_modules_that_are_left_out_are_those_of_the_settings(self):
        engine = self.make(code={"allowed_modules": ["math"]})
        for left_out in (None, ""):
            self.assert_ok(engine.execute("import math\nmath.floor(2.5)", allowed_modules=left_out), 2)
        self.assert_error(engine.execute("import math", allowed_modules=[]), "RestrictedError")

    def test_a_registered_backend_is_used(self):
        from glovebox.actions import register_backend

        class Echo:
            def __init__(self, configuration):
                self.word = configuration["word"]

            def execute(self, request):
                return {"success": True, "stdout": self.word + request.code, "stderr": "", "return_value": None, "error": None,
                        "execution_time_ms": 0.0}

            def close(self):
                pass

        register_backend("echo", Echo)
        self.assertEqual(self.make(code={"sandbox_mode": "echo", "word": "> "}).execute("hello")["stdout"], "> hello")

    def test_execution_waits_for_approval_if_the_settings_require_it(self):
        self.check_approval(self.make(code={"approval": "ask"}))

    def test_execution_waits_for_approval_if_the_call_requires_it(self):
        self.check_approval(self.make(), approval="ask", purpose="to count")
        engine = self.make(code={"approval": "ask"})
        self.check_approval(engine, approval="")
        self.assert_error(self.engine.execute("1", approval="never"), "approval: must be")

    def check_approval(self, engine, **given):
        results = []
        thread = threading.Thread(target=lambda: results.append(engine.execute("6 * 7", **given)))
        thread.start()
        glovebox = [os.environ["GLOVEBOX_PATH"], "approvals"]
        waiting = ""
        while not waiting and thread.is_alive():
            waiting = subprocess.run([*glovebox, "list", "--json"], capture_output=True, text=True, check=False).stdout.strip()
        self.assertTrue(waiting, results)
        approval = json.loads(waiting.splitlines()[0])["id"]
        shown = subprocess.run([*glovebox, "show", approval, "--json"], capture_output=True, text=True, check=True).stdout
        self.assertIn(given.get("purpose", ""), shown)
        subprocess.run([*glovebox, "approve", approval], check=True, capture_output=True)
        thread.join(WAIT)
        self.assert_ok(results[0], 42)


class Owner(Case):
    """The settings of the machine's owner take precedence over the engine's."""

    settings = "actions: {enabled: false}\n"

    def test_owner_setting_disables_both_actions(self):
        self.assertIn("actions.enabled", self.engine.execute("1")["error"])
        self.assertIn("actions.enabled", self.engine.sandbox("create")["error"])


class TestCodeExecutionActionsIntegration(Case):
    """With the engine of examples/yaml-agent."""

    def setUp(self):
        self.runner = load_runner()

    def load(self, workflow, **options):
        engine = self.runner.Engine(enable_code_execution=True, **options)
        engine.load(ROOT / "examples/yaml-agent" / workflow)
        self.addCleanup(engine._glovebox_actions.close)
        return engine

    def test_code_execute_in_yaml_workflow(self):
        state, following = self.load("statistics.yaml").run({"rows": [10, 20]})
        self.assertEqual(state["mean"]["return_value"], 15)
        self.assertEqual(state["report"]["stdout"], "the mean is 15\n")
        self.assertIsNone(following)

    def test_code_sandbox_with_checkpoint(self):
        engine = self.load("sandbox.yaml")
        with tempfile.TemporaryDirectory() as folder:
            saved = folder + "/saved.json"
            state, following = engine.run({}, until="prepare")
            engine.save(saved, state, following)
            resumed, following = engine.resume(saved)
            self.assertEqual(resumed["sorted"]["return_value"], [1, 2, 3])
            # Resuming again fails, because the first resumed run has destroyed the sandbox. Resuming in another process
            # fails too, because a sandbox belongs to the process that created it.
            with self.assertRaises(self.runner.WorkflowError) as lost:
                engine.resume(saved)
            self.assertIn(f"sandbox {state['box']['sandbox_id']} (state.box)", str(lost.exception))
            other = subprocess.run([sys.executable, str(RUNNER), str(ROOT / "examples/yaml-agent/sandbox.yaml"), "--resume", saved],
                                   capture_output=True, text=True, check=False, timeout=WAIT,
                                   env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")})
            self.assertEqual(other.returncode, 1, other)
            self.assertIn("lost since the checkpoint", other.stderr)

    def test_code_execute_with_llm_generated_code(self):
        seen = []
        state, _ = self.load("generated.yaml").run({}, on_step=lambda name, result: seen.append((name, result["success"])))
        self.assertEqual(seen, [("ask", True), ("run", False), ("ask", True), ("run", True)])
        self.assertEqual(state["run"]["return_value"], {"the": 2, "cat": 1, "and": 1, "dog": 1})

    def test_a_workflow_fails_closed(self):
        engine = self.runner.Engine().load(ROOT / "examples/yaml-agent/statistics.yaml")
        with self.assertRaises(self.runner.WorkflowError) as refused:
            engine.run({"rows": [1]})
        self.assertIn("disabled", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
