"""Runs, functions of the program, streaming, sessions."""

import asyncio
import threading

from glovebox import AsyncGlovebox, GloveboxError, Output, Report, RunFailed, SandboxError

from .helpers import WAIT, Case


class Runs(Case):
    def test_a_run_has_all_fields(self):
        result = self.box.run("import sys; print('out'); print('err', file=sys.stderr); 6*7", language="python")
        self.assertEqual((result.status, result.result, result.stdout, result.stderr, result.exit_code),
                         ("success", 42, "out\n", "err\n", 0))
        self.assertTrue(result.ok and result.run_id and result.duration_ms >= 0)

    def test_an_error_of_the_code_is_a_result_or_an_exception(self):
        result = self.box.run("throw new TypeError('no')")
        self.assertEqual((result.status, result.error.name, result.error.message, result.error.line), ("error", "TypeError", "no", 1))
        with self.assertRaises(RunFailed) as caught:
            self.box.run("throw new TypeError('no')", check=True)
        self.assertEqual(caught.exception.result.error.name, "TypeError")
        self.assertIn("TypeError: no", str(caught.exception))

    def test_limits(self):
        result = self.box.run("while (true) {}", timeout_ms=50)
        self.assertEqual((result.status, result.error.code, result.timed_out), ("terminated", "timeout", True))

    def test_files_in_and_out(self):
        result = self.box.run("tr a-z A-Z < in.txt > out.txt", language="shell", files={"in.txt": "text", "b": b"\0"})
        self.assertEqual(result.files["out.txt"], b"TEXT")

    def test_logs(self):
        result = self.box.run("console.warn('x', 1)")
        self.assertEqual([(log.level, log.args) for log in result.logs], [("warn", ["x", 1])])

    def test_unknown_and_wrong_options(self):
        for options, text in (({"languag": "js"}, "languag"), ({"timeout": 5}, "timeout"), ({"args": 5}, "args must be"),
                              ({"timeout_ms": -1}, "timeout_ms"), ({"timeout_ms": True}, "timeout_ms"),
                              ({"globals": []}, "globals must be"), ({"language": "a\0b"}, "U+0000")):
            with self.subTest(options=options), self.assertRaises(TypeError) as caught:
                self.box.run("1", **options)
            self.assertIn(text, str(caught.exception))
        with self.assertRaises(TypeError) as caught:
            self.box.run_code("1", timeout_ms=5)
        with self.assertRaises(GloveboxError) as refused:
            self.box.run("1", language="cobol")
        self.assertEqual(refused.exception.field, "options.language")

    def test_terminate(self):
        run = self.box.start("while (true) {}")
        self.assertTrue(run.running)
        run.terminate("enough\0")
        run.terminate("again")
        result = run.result(WAIT)
        self.assertEqual((result.status, result.error.message), ("terminated", "enough\ufffd"))
        self.assertFalse(run.running)

    def test_events_while_it_runs(self):
        run = self.box.start("for i in range(3): print(i, flush=True)", language="python")
        events = list(run)
        self.assertEqual("".join(event.text for event in events if isinstance(event, Output)), "0\n1\n2\n")
        self.assertEqual(list(run), [])
        self.assertEqual(run.result().stdout, "0\n1\n2\n")

    def test_on_output(self):
        heard = []
        result = self.box.run("echo a; echo b >&2", language="shell", on_output=lambda text, stream: heard.append((text, stream)))
        self.assertEqual(result.stdout, "a\n")
        self.assertEqual(sorted(heard), [("a\n", "stdout"), ("b\n", "stderr")])

    def test_on_output_is_called_in_order_and_before_the_result(self):
        for on_output in (self.slow, self.raises):
            self.heard = []
            result = self.box.run("for i in range(200): print(i, flush=True)", language="python", on_output=on_output)
            self.assertEqual("".join(self.heard), result.stdout)

    def slow(self, text, _stream):
        # Other threads run in between.
        threading.Event().wait(0.001)
        self.heard.append(text)

    def raises(self, text, _stream):
        self.heard.append(text)
        raise SystemExit if len(self.heard) % 2 else ValueError

    def test_a_secret_is_masked(self):
        self.box.add_secret("KEY", "hunter2-hunter2")
        self.assertEqual(self.box.run("print('hunter2-' + 'hunter2')", language="python").stdout, "***\n")


class Functions(Case):
    def test_functions_of_the_program(self):
        def divide(a, b):
            return a / b

        result = self.box.run_code("export default divide(6, 4)", globals={"divide": divide}, check=True)
        self.assertEqual(result.result, 1.5)
        result = self.box.run_code("export default divide(1, 0)", globals={"divide": divide})
        self.assertEqual((result.error.name, result.error.message), ("ZeroDivisionError", "division by zero"))

    def test_imports(self):
        import math

        result = self.box.run_code("import {sqrt} from 'math'; import {one} from 'm'; export default sqrt(16) + one",
                                   imports={"math": math_functions(math), "m": {"one": 1}}, check=True)
        self.assertEqual(result.result, 5)

    def test_asynchronous_functions(self):
        async def later(x):
            await asyncio.sleep(0)
            return x * 2

        code = "export default (await Promise.all([f(1), f(2), f(3)])).join()"
        self.assertEqual(self.box.run_code(code, globals={"f": later}, check=True).result, "2,4,6")

    def test_functions_of_the_code(self):
        def apply(function):
            return function.submit(20)

        code = "export default await apply((x) => x + 1)"
        self.assertEqual(self.box.run_code(code, globals={"apply": apply}, check=True).result, 21)

        def fails(function):
            answer = function.submit()
            return answer

        result = self.box.run_code("export default await f(() => { throw new RangeError('r') })", globals={"f": fails})
        self.assertEqual((result.error.name, result.error.message), ("RangeError", "r"))

    def test_a_function_calls_the_same_glovebox(self):
        def nested(source):
            return self.box.run(source).result

        self.assertEqual(self.box.run_code("export default run('export default 6*7')", globals={"run": nested}).result, 42)

    def test_a_value_that_cannot_cross_is_an_exception_in_the_code(self):
        result = self.box.run_code("export default f()", globals={"f": lambda: object()})
        self.assertEqual(result.error.name, "SerializationError")

    def test_reports(self):
        heard = []
        run = self.box.start_code("report(1); report({a: 2})", report=heard.append)
        result = run.result(WAIT)
        self.assertEqual((result.reports, heard, run.reports), ([1, {"a": 2}], [1, {"a": 2}], [1, {"a": 2}]))
        self.assertEqual([event.value for event in run if isinstance(event, Report)], [1, {"a": 2}])

    def test_errors_as_values(self):
        caught = []

        def keep(error):
            caught.append(error)

        self.box.run_code("f(new Error('m', {cause: new TypeError('c')})); export default 0", globals={"f": keep}, check=True)
        self.assertIsInstance(caught[0], SandboxError)
        self.assertEqual((caught[0].name, caught[0].message, caught[0].__cause__.name), ("Error", "m", "TypeError"))


def math_functions(module):
    return {"sqrt": module.sqrt}


class Sessions(Case):
    def test_state_stays_until_the_session_ends(self):
        with self.box.open_session(language="python", name="work") as session:
            session.execute("x = 5", check=True)
            self.assertEqual(session.execute("x + 1", check=True).result, 6)
            info = session.info()
            self.assertEqual((info.name, info.runtime, info.state, info.execution_count), ("work", "python", "idle", 2))
            self.assertIn(session.id, [other.id for other in self.box.sessions()])
        self.assertEqual(session.info().state, "terminated")

    def test_interrupt_keeps_the_session(self):
        with self.box.open_session(language="python") as session:
            run = session.start("print('on', flush=True)\nwhile True: pass")
            next(iter(run))
            run.interrupt()
            self.assertEqual(run.result(WAIT).error.code, "interrupted")
            self.assertEqual(session.execute("1 + 1").result, 2)

    def test_input(self):
        with self.box.open_session(language="shell") as session:
            asked = []
            run = session.start("read -p 'name? ' n; echo hi $n",
                                on_prompt=lambda prompt, _id: (asked.append(prompt), session.send("Ada\n")))
            result = run.result(WAIT)
            self.assertEqual(asked, ["name? "])
            self.assertIn("hi Ada", result.stdout)

    def test_cleanup(self):
        self.box.open_session(language="python", conversation="c")
        self.box.open_session(language="python", conversation="c")
        self.assertEqual(len(self.box.sessions("c")), 2)
        self.assertEqual(self.box.cleanup("c", "done"), 2)


class Asynchronous(Case):
    def drive(self, make):
        async def main():
            async with AsyncGlovebox(**self.options()) as box:
                return await make(box)

        return asyncio.run(asyncio.wait_for(main(), WAIT))

    def test_many_at_once(self):
        async def make(box):
            results = await asyncio.gather(*(box.run(f"export default {i} * 2") for i in range(500)))
            return [result.result for result in results]

        self.assertEqual(self.drive(make), [i * 2 for i in range(500)])

    def test_functions_run_in_the_event_loop(self):
        async def make(box):
            loop = asyncio.get_running_loop()
            seen = []

            def plain(x):
                seen.append(asyncio.get_running_loop() is loop)
                return x + 1

            async def later(x):
                await asyncio.sleep(0)
                seen.append(asyncio.get_running_loop() is loop)
                return x + 1

            result = await box.run_code("export default await g(f(1))", globals={"f": plain, "g": later}, check=True)
            return result.result, seen

        self.assertEqual(self.drive(make), (3, [True, True]))

    def test_events_and_sessions(self):
        async def make(box):
            text = ""
            async for event in box.start("echo a; echo b", language="shell"):
                text += event.text
            async with await box.open_session(language="python") as session:
                await session.execute("x = 1")
                value = (await session.execute("x + 1", check=True)).result
            return text, value, (await session.info()).state

        self.assertEqual(self.drive(make), ("a\nb\n", 2, "terminated"))

    def test_agents(self):
        async def make(box):
            result = await box.execute_for_agent("print(1)", language="python")
            output = await box.core_execute("x", "return 1")
            return await box.agents_enabled(), result.status, result.error.code, output["output"][:17]

        self.assertEqual(self.drive(make), (False, "denied", "disabled", "EXECUTION_DENIED:"))


class Threads(Case):
    def test_200_threads_at_once(self):
        results, errors = [], []

        def work(i):
            try:
                results.append(self.box.run(f"export default {i}").result)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        self.assertEqual((errors, sorted(results)), ([], list(range(200))))
