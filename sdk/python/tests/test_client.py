"""The connection: finding, closing, dying, forking; agents; the surface against the tables."""

import os
import signal
import subprocess
import tempfile
import threading
import unittest
from unittest import mock

import glovebox
from glovebox import AsyncGlovebox, AsyncSession, Glovebox, GloveboxError, Session
from glovebox import _tables
from glovebox._transport import find_program

from .helpers import OPEN, WAIT, Case


class Connection(Case):
    def test_a_program_that_is_not_there(self):
        with self.assertRaises(GloveboxError) as caught:
            Glovebox(path="/nonexistent/glovebox").run("1")
        self.assertEqual(caught.exception.code, "not_found")

    def test_a_program_in_the_working_folder_is_not_taken_from_a_relative_path(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            planted = os.path.join(folder, "glovebox")
            with open(planted, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n")
            os.chmod(planted, 0o755)
            os.chdir(folder)
            try:
                for entries in (".", "", ":.", "/nonexistent:.:"):
                    with self.subTest(entries=entries), mock.patch.dict(os.environ, {"PATH": entries}):
                        os.environ.pop("GLOVEBOX_PATH", None)
                        with self.assertRaises(GloveboxError) as caught:
                            find_program(None)
                        self.assertEqual(caught.exception.code, "not_found")
                with mock.patch.dict(os.environ, {"PATH": f".:{folder}"}):
                    os.environ.pop("GLOVEBOX_PATH", None)
                    self.assertEqual(find_program(None), planted)
            finally:
                os.chdir(before)

    def test_a_program_that_fails(self):
        with self.assertRaises(GloveboxError) as caught:
            Glovebox(command=["/bin/sh", "-c", "echo why >&2; exit 7"]).run("1")
        self.assertEqual(caught.exception.code, "connection_lost")
        self.assertIn("ended with status 7: why", str(caught.exception))

    def test_a_program_that_speaks_something_else(self):
        for said in ("echo hello; cat", "echo '{\"type\":\"hello\",\"protocol\":99}'; cat", "echo '[1]'; cat"):
            with self.subTest(said=said), self.assertRaises(GloveboxError) as caught:
                Glovebox(command=["/bin/sh", "-c", said]).run("1")
            self.assertEqual(caught.exception.code, "protocol")

    def test_wrong_settings_are_told(self):
        with self.assertRaises(GloveboxError) as caught:
            self.make(settings={"no.such": 1}).run("1")
        self.assertIn("no.such", str(caught.exception))

    def test_wrong_limits_are_refused(self):
        for limits in ({"timeoutMs": 5}, {"timeout_ms": -1}, {"timeout_ms": "5"}):
            with self.subTest(limits=limits), self.assertRaises(TypeError):
                Glovebox(limits=limits)
        with self.make(limits={"timeout_ms": 50}) as box:
            self.assertEqual(box.run("while (true) {}").error.code, "timeout")

    def test_closed(self):
        box = self.make()
        run = box.start("while (true) {}")
        box.close()
        box.close()
        for call in (run.result, lambda: box.run("1"), lambda: box.sessions()):
            with self.assertRaises(GloveboxError) as caught:
                call()
            self.assertEqual(caught.exception.code, "closed")

    def test_a_program_that_is_killed(self):
        """Open calls end with an error that says so, and the next call starts another program."""
        box = self.make()
        self.addCleanup(box.close)
        box.run("1")
        runs = [box.start("while (true) {}") for _ in range(20)]
        os.kill(box._connection._transport._process.pid, signal.SIGKILL)
        for run in runs:
            with self.assertRaises(GloveboxError) as caught:
                run.result(WAIT)
            self.assertEqual(caught.exception.code, "connection_lost")
            self.assertIn("SIGKILL", str(caught.exception))
        self.assertEqual(box.run("export default 1").result, 1)

    def test_a_forked_child_is_refused(self):
        self.box.run("1")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self.box.run("1")
            except GloveboxError as error:
                os.write(writer, error.code.encode())
            os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with os.fdopen(reader) as pipe:
            self.assertEqual(pipe.read(), "forked")
        self.assertEqual(self.box.run("export default 1").result, 1)

    def test_nothing_is_left(self):
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(10):
            with self.make() as box:
                box.run("1")
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertFalse([thread for thread in threading.enumerate() if thread.name == "glovebox-stderr" and not thread.daemon])


class Agents(Case):
    settings = OPEN

    def test_a_run_of_an_agent(self):
        self.assertTrue(self.box.agents_enabled())
        result = self.box.execute_for_agent("print(6*7)", language="python", purpose="a sum", conversation="c", session=True)
        self.assertEqual((result.stdout, bool(result.session)), ("42\n", True))
        self.assertEqual([info.id for info in self.box.agent_sessions("c")], [result.session])
        self.assertEqual(self.box.kill_agent_session(result.session, "done").state, "terminated")
        self.assertEqual(self.box.cleanup_agent_sessions("c"), 0)

    def test_core_execute(self):
        self.assertEqual(self.box.core_execute("a sum", "return 6*7", timeout=1000, trace={"a": 1}), {"output": "42"})
        self.assertEqual(self.box.core_execute("x", "throw new Error('e')"), {"output": "EXECUTION_ERROR: e"})

    def test_core_execute_never_raises(self):
        box = self.make()
        box.close()
        self.assertTrue(box.core_execute("x", "return 1")["output"].startswith("EXECUTION_ERROR: "))


class Approval(Case):
    settings = {"agent.enabled": True, "energy.enabled": False}

    def test_a_request_waits_for_approval(self):
        def decide(pending):
            program = glovebox._transport.find_program(None)
            options = self.options()
            subprocess.run([program, "approvals", "approve", pending.approval, "--config", options["config_file"]],
                           env=options["env"], capture_output=True, check=True)

        result = self.box.execute_for_agent("print(1)", language="python", on_pending=decide)
        self.assertEqual(result.stdout, "1\n")


class Surface(unittest.TestCase):
    """Whatever the synchronous client has, the asynchronous one has, too; and all fields of the tables."""

    def public(self, kind):
        return {name for name in dir(kind) if not name.startswith("_")} - {"present", "run_callback", "settle"}

    def test_both_clients_have_the_same_methods(self):
        self.assertEqual(self.public(Glovebox), self.public(AsyncGlovebox))
        self.assertEqual(self.public(Session), self.public(AsyncSession))

    def test_everything_has_a_docstring(self):
        for kind in (Glovebox, AsyncGlovebox, Session, AsyncSession, glovebox.Execution, glovebox.AsyncExecution):
            for name in self.public(kind):
                self.assertTrue(getattr(kind, name).__doc__, f"{kind.__name__}.{name}")
        for name in glovebox.__all__:
            if name != "__version__":
                self.assertTrue(getattr(glovebox, name).__doc__, name)

    def test_results_have_the_fields_of_the_table(self):
        import dataclasses

        from glovebox._results import snake

        own = {field.name for field in dataclasses.fields(glovebox.RunResult)}
        self.assertEqual(own - {"session"}, {snake(name) for name, _kind, _optional in _tables.RESULT_FIELDS})
