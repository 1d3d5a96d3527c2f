"""The actions where something goes wrong: arguments of any type, servers that die, forks, engines that are collected."""

import gc
import json
import os
import signal
import threading
import unittest

from glovebox.actions import register_actions

from .engines import Case, Engine
from .helpers import WAIT

KEYS = {"success", "stdout", "stderr", "return_value", "error", "execution_time_ms"}
ARGUMENTS = ["state", "code", "language", "timeout", "timeout_seconds", "max_memory_mb", "max_output_bytes", "sandbox_mode",
             "allow_network", "allow_filesystem", "allowed_modules", "sandbox_id", "action", "config", "node", "graph", "purpose"]
SETTINGS = ["default_timeout", "max_memory_mb", "max_output_bytes", "sandbox_mode", "allow_network", "allow_filesystem",
            "allowed_modules", "approval", "expose_state", "e2b"]


class Unfriendly:
    """What every operation fails for."""

    def __repr__(self):
        raise RuntimeError("no text")

    def __eq__(self, other):
        raise RuntimeError("not comparable")

    def __bool__(self):
        raise RuntimeError("neither true nor false")

    __hash__ = None


class Text(str):
    pass


def odd_values():
    loop = []
    loop.append(loop)
    return [None, 0, -1, 1.5, True, "", "x", "a\0b", "\ud800", b"x", [], [1], {}, {"a": 1}, (), set(), object(), Unfriendly(),
            float("nan"), float("inf"), 1e308, 10 ** 400, "1e400", "nan", " 5 ", "0x10", print, type, loop, Text("python")]


def server_of(engine):
    """The process of its local sandboxes."""
    return engine._glovebox_actions.backends["restricted"].box()._connection._transport._process


class Arguments(Case):
    def check(self, result, what):
        self.assertIsInstance(result, dict, what)
        self.assertIsInstance(result["success"], bool, what)
        if not result["success"]:
            self.assertIsInstance(result["error"], str, what)
            result["error"].encode()  # it can be written to a log

    def test_values_of_any_type_are_results(self):
        box = self.engine.sandbox("create")["sandbox_id"]
        registry = self.engine.actions_registry
        calls = [("code.execute", {"code": "1"}), ("code.sandbox", {"action": "execute", "sandbox_id": box, "code": "1"}),
                 ("code.sandbox", {"action": "destroy", "sandbox_id": "x"}), ("code.sandbox", {"action": "create"})]
        for argument in ARGUMENTS:
            for number, value in enumerate(odd_values()):
                for name, given in calls:
                    result = registry[name](**{"state": {}, **given, argument: value})
                    self.check(result, (name, argument, number))
                    if name == "code.execute":
                        self.assertEqual(set(result), KEYS)
                    if result.get("created"):
                        self.engine.sandbox("destroy", sandbox_id=result["sandbox_id"])

    def test_settings_of_any_type_are_results(self):
        engine = self.make()
        for setting in SETTINGS:
            for number, value in enumerate(odd_values()):
                mode = {"sandbox_mode": "e2b"} if setting == "e2b" else {}
                engine._config = {"settings": {"code": {**mode, setting: value}}}
                self.check(engine.execute("1"), (setting, number))
        for number, value in enumerate(odd_values()):
            for config in (value, {"settings": value}, {"settings": {"code": value}}, {"secrets": value}, {"secrets": {"A": value}}):
                engine._config = config
                self.check(engine.execute("1"), number)

    def test_large_states_are_refused(self):
        nested = []
        for _ in range(90):
            nested = [nested, nested]
        engine = self.make(code={"expose_state": True})
        result = engine.actions_registry["code.execute"](state={"a": nested}, code="1")
        self.assert_error(result, "state has more than ")

    def test_engines_with_fixed_attributes(self):
        class Fixed:
            __slots__ = ("_enable_code_execution",)

        engine, registry = Fixed(), {}
        engine._enable_code_execution = True
        register_actions(registry, engine)
        self.assert_ok(registry["code.execute"](state={}, code="1"), 1)
        # Nothing else leads to them: they end with the process.
        next(cell.cell_contents for cell in registry["code.execute"].__closure__ if hasattr(cell.cell_contents, "close")).close()


class Values(Case):
    """Results that are hard to write."""

    def test_values_that_contain_themselves(self):
        for language, code in (("python", "a = [1]\na.append(a)\nprint('out')\na"),
                               ("javascript", "const a = [1]; a.push(a); console.log('out'); a")):
            result = self.engine.execute(code, language=language)
            self.assert_ok(result, [1, "[circular]"])
            self.assertEqual(result["stdout"], "out\n")
            json.dumps(result)

    def test_a_value_that_occurs_twice_is_copied(self):
        value = self.engine.execute("a = [1]\n[a, a]")["return_value"]
        self.assertEqual(value, [[1], [1]])
        self.assertIsNot(value[0], value[1])

    def test_small_messages_that_stand_for_huge_values(self):
        """Each would take hours or terabytes to write; the process of the engine survives, and the output is there."""
        double = "let x = [1]; for (let i = 0; i < 60; i++) x = [x, x]; console.log('out'); "
        for language, code in (
                ("python", "x = [1]\nfor _ in range(60): x = [x, x]\nprint('out')\nx"), ("javascript", double + "x"),
                ("javascript", double + "new Set([x])"), ("javascript", double + "new Map([[x, 1]])"),
                ("javascript", "console.log('out'); let y = []; y.push(y); new Map([[y, 1]])"),
                ("javascript", "console.log('out'); let b = new ArrayBuffer(4e6);"
                               " Array.from({length: 10000}, () => new Uint8Array(b))")):
            with self.subTest(code):
                result = self.engine.execute(code, language=language)
                self.assert_error(result, "SerializationError: ")
                self.assertEqual(result["stdout"], "out\n")

    def test_large_integers_can_be_written(self):
        self.assert_ok(self.engine.execute("10 ** 3000"), 10 ** 3000)
        result = self.engine.execute("10 ** 5000")
        self.assert_ok(result, hex(10 ** 5000))
        json.dumps(result)


class Servers(Case):
    def kill(self, engine):
        server = server_of(engine)
        os.kill(server.pid, signal.SIGKILL)
        server.wait(WAIT)

    def test_another_server_is_started_and_knows_the_secrets(self):
        engine = self.make(secrets={"TOKEN": "correct-horse-battery"})
        box = engine.sandbox("create")["sandbox_id"]
        call = {"code": "print('correct-horse' + '-battery')"}
        self.assertEqual(engine.execute(**call)["stdout"], "***\n")
        self.kill(engine)
        # The connection may end while the first call is on its way: that call says so.
        results = [engine.execute(**call) for _ in range(3)]
        self.assertEqual(results[-1]["stdout"], "***\n", results)
        self.assertNotIn("horse", repr(results))
        self.assert_error(engine.sandbox("execute", sandbox_id=box, code="1"), f"Sandbox not found: {box}")
        self.assertEqual(engine.sandbox("list")["sandboxes"], [])
        self.assertFalse(engine.sandbox("destroy", sandbox_id=box)["destroyed"])

    def test_a_call_whose_server_dies_says_so(self):
        engine = self.make()
        results = []
        self.assert_ok(engine.execute("1"), 1)
        thread = threading.Thread(target=lambda: results.append(engine.execute("while True: pass", timeout=WAIT)))
        thread.start()
        while not server_of_runs(engine) and not results:
            pass
        self.kill(engine)
        thread.join(WAIT)
        self.assert_error(results[0], "connection_lost: ")

    def test_a_secret_that_cannot_be_registered_stops_the_code(self):
        engine = self.make(secrets={"TOKEN": "x" * 20000})
        self.assert_error(engine.execute("1"), "invalid: secrets.TOKEN: ")


def server_of_runs(engine):
    return engine._glovebox_actions.backends["restricted"].box()._connection._runs


class Threads(Case):
    def each_thread(self, work, count=12):
        errors = []

        def body(number):
            try:
                work(number)
            except BaseException as error:  # the test reports it
                errors.append(error)

        threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        self.assertEqual(errors, [])

    def test_a_sandbox_is_destroyed_once(self):
        for _ in range(10):
            box = self.engine.sandbox("create")["sandbox_id"]
            destroyed = []
            self.each_thread(lambda number: destroyed.append(self.engine.sandbox("destroy", sandbox_id=box)["destroyed"]))
            self.assertEqual(destroyed.count(True), 1)

    def test_sandboxes_of_many_threads(self):
        def work(number):
            for turn in range(5):
                box = self.engine.sandbox("create")["sandbox_id"]
                self.assert_ok(self.engine.sandbox("execute", sandbox_id=box, code=f"x = {number * 10 + turn}"))
                self.assertIn(box, self.engine.sandbox("list")["sandboxes"])
                self.assert_ok(self.engine.sandbox("execute", sandbox_id=box, code="x"), number * 10 + turn)
                self.assertTrue(self.engine.sandbox("destroy", sandbox_id=box)["destroyed"])

        self.each_thread(work)

    def test_one_sandbox_of_many_threads(self):
        box = self.engine.sandbox("create")["sandbox_id"]
        self.assert_ok(self.engine.sandbox("execute", sandbox_id=box, code="n = 0"))
        self.each_thread(lambda number: self.assert_ok(self.engine.sandbox("execute", sandbox_id=box, code="n += 1")))
        self.assert_ok(self.engine.sandbox("execute", sandbox_id=box, code="n"), 12)
        self.engine.sandbox("destroy", sandbox_id=box)


class Forks(Case):
    def in_child(self, work):
        """The text that @work returns in a forked child."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(WAIT)
                os.write(write, work().encode())
            except BaseException as error:  # the parent reports it
                os.write(write, repr(error).encode())
            finally:
                os._exit(0)
        os.close(write)
        with open(read, encoding="utf-8") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        return said

    def test_a_child_has_a_server_of_its_own(self):
        engine = self.make()
        box = engine.sandbox("create")["sandbox_id"]

        def work():
            results = [engine.execute("6 * 7")["return_value"], engine.sandbox("list")["sandboxes"],
                       engine.sandbox("execute", sandbox_id=box, code="1")["error"],
                       engine.sandbox("destroy", sandbox_id=box)["destroyed"]]
            engine.close()
            return repr(results)

        lost = f"Sandbox not found: {box}; it does not exist in this process, or has ended: create another one"
        self.assertEqual(self.in_child(work), repr([42, [], lost, False]))
        self.assert_ok(engine.sandbox("execute", sandbox_id=box, code="1"), 1)

    def test_a_child_of_a_busy_process(self):
        """Threads of the parent may hold any lock at that moment."""
        engine = self.make()
        stop = threading.Event()

        def work():
            while not stop.is_set():
                engine.sandbox("destroy", sandbox_id=engine.sandbox("create")["sandbox_id"])
                engine.execute("1")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(10):
                self.assertEqual(self.in_child(lambda: repr(engine.execute("6 * 7")["return_value"])), "42")
        finally:
            stop.set()
            for thread in threads:
                thread.join(WAIT)


class Ends(Case):
    def test_an_engine_is_collected_while_its_call_runs(self):
        engine, results = Engine(), []
        engine.itself = engine  # only the collector of cycles frees it
        self.assert_ok(engine.execute("1"), 1)
        server, registry = server_of(engine), engine.actions_registry
        call = registry["code.execute"]
        thread = threading.Thread(target=lambda: results.append(call(state={}, code="total = 0\nfor i in range(10 ** 6): total += 1\ntotal")))
        runs = server_of_runs(engine)
        thread.start()
        while not runs and not results:
            pass
        del engine
        gc.collect()
        thread.join(WAIT)
        self.assert_ok(results[0], 10 ** 6)
        gc.collect()
        server.wait(WAIT)
        self.assert_error(call(state={}, code="1"), "Code execution is disabled")

    def test_the_collector_may_find_an_engine_where_locks_are_held(self):
        engine = Engine()
        engine.itself = engine
        self.assert_ok(engine.execute("1"), 1)
        server, connection = server_of(engine), engine._glovebox_actions.backends["restricted"].box()._connection
        actions = engine._glovebox_actions
        with actions.lock, connection._writing, connection._lock:
            del engine
            gc.collect()
        server.wait(WAIT)

    def test_what_create_is_given_holds_for_the_sandbox(self):
        box = self.engine.sandbox("create", allowed_modules=["math"], max_output_bytes=100, timeout=0.3)["sandbox_id"]
        result = self.engine.sandbox("execute", sandbox_id=box, code="import math\nprint('x' * 1000)\nmath.floor(1.5)")
        self.assert_ok(result, 1)
        self.assertIn("truncated at 100 bytes", result["stdout"])
        self.assert_error(self.engine.sandbox("execute", sandbox_id=box, code="while True: pass"), "Execution timed out after 0.3")
        box = self.engine.sandbox("create", sandbox_mode="permissive", timeout=0.3)["sandbox_id"]
        self.assert_ok(self.engine.sandbox("execute", sandbox_id=box, code="import os\nos.getpid() > 0", timeout=WAIT), True)
        self.assert_error(self.engine.sandbox("execute", sandbox_id=box, code="import os", sandbox_mode="restricted"),
                          "RestrictedError")


if __name__ == "__main__":
    unittest.main()
