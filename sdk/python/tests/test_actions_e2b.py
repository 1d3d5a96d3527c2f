"""sandbox_mode e2b, against a local server with E2B's public API (e2b_server.py)."""

import io
import logging
import os
import sys
import types
import unittest

from .e2b_server import HAS_NODE, Server
from .engines import Case


class Cloud(Case):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.__exit__)
        os.environ["E2B_API_KEY"] = self.server.key
        self.addCleanup(os.environ.pop, "E2B_API_KEY", None)
        self.cloud = self.connect()

    def connect(self, expose_state=False, **more):
        return self.make(code={"sandbox_mode": "e2b", "expose_state": expose_state, "e2b": {
            "api_url": self.server.url, "sandbox_url": self.server.url, "retry_seconds": 0.001, "client": "http", **more}})

    def paths(self):
        return [f"{method} {path.split('/')[1]}" for method, path, _headers, _body in self.server.requests]

    def test_execute(self):
        result = self.cloud.execute("print('hi')\n6 * 7")
        self.assert_ok(result, 42)
        self.assertEqual(list(result), ["success", "stdout", "stderr", "return_value", "error", "execution_time_ms"])
        self.assertEqual(result["stdout"], "hi\n")
        self.assertEqual(self.paths(), ["POST sandboxes", "POST contexts", "POST execute", "DELETE sandboxes"])
        self.assertEqual(self.server.sandboxes, {})
        created = self.server.requests[0][3]
        self.assertEqual((created["templateID"], created["allow_internet_access"]), ("code-interpreter-v1", False))

    def test_value_is_result_or_the_last_expression(self):
        self.assert_ok(self.cloud.execute("result = [1, {'a': None}]\n7"), [1, {"a": None}])
        self.assert_ok(self.cloud.execute("x = 1"))
        self.assert_ok(self.cloud.execute("object"), "<class 'object'>")

    def test_errors_of_the_code(self):
        self.assert_error(self.cloud.execute("raise ValueError('no')"), "ValueError: no")
        self.assert_error(self.cloud.execute("raise ValueError"), "ValueError")
        self.assert_error(self.cloud.execute("def f(:"), "SyntaxError")
        self.assert_error(self.cloud.execute("  x = 1"), "SyntaxError")

    def test_output_is_cut(self):
        result = self.cloud.execute("for i in range(100): print('x' * 99)", max_output_bytes=1000)
        self.assertTrue(result["success"])
        self.assertTrue(result["stdout"].endswith("[output truncated at 1000 bytes]\n"))
        self.assertLess(len(result["stdout"]), 1100)

    def test_state_is_passed_on(self):
        call = self.connect(expose_state=True).actions_registry["code.execute"]
        self.assert_ok(call(state={"a": [1, "'\"\\"]}, code="state['a'][1]"), "'\"\\")

    @unittest.skipUnless(HAS_NODE, "there is no Node.js")
    def test_javascript(self):
        result = self.cloud.execute("console.log('a'); [1, 2]", language="javascript")
        self.assert_ok(result, [1, 2])
        self.assertEqual(result["stdout"], "a\n")

    def test_bash(self):
        result = self.cloud.execute("echo a; echo b >&2; exit 3", language="bash")
        self.assert_error(result, "ExitError: exit status 3")
        self.assertEqual((result["stdout"], result["stderr"]), ("a\n", "b\n"))

    def test_variables_persist_in_a_sandbox(self):
        one, two = (self.cloud.sandbox("create")["sandbox_id"] for _ in range(2))
        self.assert_ok(self.cloud.sandbox("execute", sandbox_id=one, code="x = 41"))
        self.assert_ok(self.cloud.sandbox("execute", sandbox_id=one, code="x + 1"), 42)
        self.assert_error(self.cloud.sandbox("execute", sandbox_id=two, code="x"), "NameError")
        self.assertEqual(self.cloud.sandbox("list")["sandboxes"], [one, two])
        self.assertTrue(self.cloud.sandbox("destroy", sandbox_id=one)["destroyed"])
        self.assertFalse(self.cloud.sandbox("destroy", sandbox_id=one)["destroyed"])
        self.assertEqual(list(self.server.sandboxes), [two])
        # One that has ended in the cloud is reported, and not made again.
        self.server.sandboxes.pop(two).end()
        lost = self.cloud.sandbox("execute", sandbox_id=two, code="1")
        self.assert_error(lost, "E2B: 502")
        self.assert_error(self.cloud.sandbox("execute", sandbox_id=two, code="1"), f"Sandbox not found: {two}")

    def test_time_limit(self):
        self.assert_error(self.cloud.execute("while True: pass", timeout=0.5), "Execution timed out after 0.5 seconds")
        self.assertEqual(self.server.sandboxes, {})

    def test_requests_are_repeated(self):
        self.server.fail("/sandboxes", 429, 500, 0)
        self.server.fail("/contexts", 503)
        self.server.fail("/execute", 429, 502)
        self.assert_ok(self.cloud.execute("1"), 1)
        self.assertEqual(self.paths().count("POST sandboxes"), 4)
        self.assertEqual(self.paths().count("POST execute"), 3)

    def test_code_that_may_have_run_is_not_repeated(self):
        for status in (500, 0):
            self.server.requests.clear()
            self.server.fail("/execute", status)
            self.assert_error(self.cloud.execute("1"), "E2B: ")
            self.assertEqual(self.paths().count("POST execute"), 1)
        self.assertEqual(self.server.sandboxes, {})

    def test_it_gives_up(self):
        engine = self.connect(retries=2)
        self.server.fail("/sandboxes", 429, 429, 429)
        self.assert_error(engine.execute("1"), "E2B: 429 ")
        self.assertEqual(self.paths(), ["POST sandboxes"] * 3)

    def test_a_sandbox_without_context_is_destroyed(self):
        self.server.fail("/contexts", 400)
        self.assert_error(self.cloud.execute("1"), "E2B: 400 ")
        self.assertEqual(self.server.sandboxes, {})

    def test_refusals_are_not_repeated_and_do_not_show_the_key(self):
        os.environ["E2B_API_KEY"] = "e2b_" + "f" * 40
        captured = io.StringIO()
        handler = logging.StreamHandler(captured)
        logging.getLogger().addHandler(handler)
        self.addCleanup(logging.getLogger().removeHandler, handler)
        result = self.connect().execute("1")
        self.assert_error(result, "E2B: 401 ")
        self.assertIn("E2B_API_KEY", result["error"])
        self.assertNotIn("f" * 40, repr(result) + captured.getvalue())
        self.assertEqual(len(self.server.requests), 1)

    def test_the_key_goes_to_the_api_only(self):
        self.cloud.execute("1")
        for _method, path, headers, body in self.server.requests:
            has_key = self.server.key in repr(headers) + repr(body)
            self.assertEqual(has_key, path.startswith("/sandboxes"), path)

    def test_without_a_key(self):
        del os.environ["E2B_API_KEY"]
        self.assert_error(self.connect().execute("1"), "sandbox_mode: e2b needs a key")
        os.environ["E2B_API_KEY"] = "x"  # for the clean-up

    def test_no_server(self):
        engine = self.make(code={"sandbox_mode": "e2b", "e2b": {"api_url": "http://127.0.0.1:9", "retry_seconds": 0.001,
                                                                 "client": "http", "retries": 1}})
        self.assert_error(engine.execute("1"), "E2B: no answer from 127.0.0.1:9")

    def test_a_sandbox_that_could_not_be_destroyed_can_be_destroyed_again(self):
        engine = self.connect(retries=0)
        box = engine.sandbox("create")["sandbox_id"]
        self.server.fail("/sandboxes/" + box, 200, 500)  # it is running; the answer to its end
        failed = engine.sandbox("destroy", sandbox_id=box)
        self.assertEqual((failed["success"], failed["destroyed"]), (False, False), failed)
        self.assertEqual(engine.sandbox("list")["sandboxes"], [box])
        self.assertTrue(engine.sandbox("destroy", sandbox_id=box)["destroyed"])
        self.assertEqual(self.server.sandboxes, {})
        self.server.requests.clear()
        engine.close()
        self.assertEqual(self.server.requests, [])

    def test_the_owner_disables_it(self):
        for name, value in (("GLOVEBOX_ACTIONS_ENABLED", "false"), ("GLOVEBOX_CONFIG", self.folder.name + "/other.yaml")):
            with self.subTest(name):
                with open(self.folder.name + "/other.yaml", "w", encoding="utf-8") as settings:
                    settings.write("actions: {enabled: false}\n")
                saved = os.environ.get(name)
                os.environ[name] = value
                try:
                    self.assertIn("actions.enabled", self.connect().execute("1")["error"])
                    self.assertIn("actions.enabled", self.connect().sandbox("create")["error"])
                finally:
                    os.environ.pop(name)
                    os.environ.update({name: saved} if saved else {})
        self.assertEqual(self.server.requests, [])

    def test_settings_that_cannot_be_read_refuse_it(self):
        with open(self.folder.name + "/broken.yaml", "w", encoding="utf-8") as settings:
            settings.write("actions: {enabled: perhaps}\n")
        saved = os.environ["GLOVEBOX_CONFIG"]
        self.addCleanup(os.environ.__setitem__, "GLOVEBOX_CONFIG", saved)
        os.environ["GLOVEBOX_CONFIG"] = self.folder.name + "/broken.yaml"
        self.assert_error(self.cloud.execute("1"), "the settings of this machine cannot be read: ")
        self.assertEqual(self.server.requests, [])

    def test_code_that_waits_for_a_person_is_refused(self):
        box = self.cloud.sandbox("create")["sandbox_id"]
        for result in (self.cloud.execute("1", approval="ask"), self.cloud.sandbox("create", approval="ask"),
                       self.cloud.sandbox("execute", sandbox_id=box, code="1", approval="ask")):
            self.assertEqual(result["error"], "approval: not possible with sandbox_mode: e2b, where no person can be asked")

    def test_sandboxes_end_with_the_engine(self):
        self.cloud.sandbox("create")
        self.cloud.close()
        self.assertEqual(self.server.sandboxes, {})


class Package(Case):
    """The package of E2B, if there is one: here, a stand-in with the calls that are used."""

    def test_it_is_used(self):
        calls, faults = [], []

        def fail(name, *texts):
            faults.extend((name, text) for text in texts)

        def may_fail(name):
            if faults and faults[0][0] == name:
                raise RuntimeError(faults.pop(0)[1])

        class FakeSandbox:
            sandbox_id = "one"

            @classmethod
            def create(cls, **options):
                calls.append(("create", options["template"], options["api_key"]))
                may_fail("create")
                return cls()

            def create_code_context(self, language):
                may_fail("context")
                return language

            def run_code(self, code, context, timeout, on_stdout, on_stderr):
                may_fail("run")
                if "cloud" in code:
                    raise RuntimeError("a key like e2b_secret is in this text")
                on_stdout(types.SimpleNamespace(line="out\n"))
                calls.append((code, context, timeout))
                main = types.SimpleNamespace(is_main_result=True, text="[1]", json=None)
                error = types.SimpleNamespace(name="ValueError", value="no") if "raise" in code else None
                return types.SimpleNamespace(results=[main], error=error)

            def is_running(self):
                return True

            def kill(self):
                calls.append("kill")

        sys.modules["e2b_code_interpreter"] = types.SimpleNamespace(Sandbox=FakeSandbox)
        os.environ["E2B_API_KEY"] = "e2b_secret"
        self.addCleanup(sys.modules.pop, "e2b_code_interpreter")
        self.addCleanup(os.environ.pop, "E2B_API_KEY")
        engine = self.make(code={"sandbox_mode": "e2b", "e2b": {"retries": 2, "retry_seconds": 0.001}})
        result = engine.execute("x", timeout=3)
        self.assert_ok(result, [1])
        self.assertEqual(result["stdout"], "out\n")
        self.assertEqual(calls, [("create", "code-interpreter-v1", "e2b_secret"), ("x", "python", 3.0), "kill"])
        self.assert_error(engine.execute("raise"), "ValueError: no")
        refused = engine.execute("cloud")
        self.assert_error(refused, "E2B: ")
        self.assertNotIn("e2b_secret", refused["error"])
        # It repeats what has not run, and nothing else.
        fail("create", "429: too many", "500: broken")
        fail("run", "503: not yet")
        self.assert_ok(engine.execute("x"), [1])
        fail("run", "500: the code may have run")
        self.assert_error(engine.execute("x"), "E2B: RuntimeError: 500")
        self.assertEqual(faults, [])
        # A sandbox without a context is destroyed.
        calls.clear()
        fail("context", "400: no such language")
        self.assert_error(engine.execute("x"), "E2B: RuntimeError: 400")
        self.assertEqual(calls[1:], ["kill"])
