"""What can happen to the process, the server and the threads of a program while runs are open."""

import asyncio
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

from glovebox import AsyncGlovebox, GloveboxError, SerializationError

from .helpers import WAIT, Case

KILLS = int(os.environ.get("GB_SDK_KILLS", "10"))
ROOT = Path(__file__).resolve().parents[1]


def server_of(box):
    return box._connection._transport._process.pid


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition):
    deadline = time.monotonic() + WAIT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it did not happen")
        time.sleep(0.01)


class Faults(Case):
    def in_another_process(self, code):
        """Runs the code in a Python of its own, which has @options of a Glovebox; returns what it printed."""
        prelude = f"from glovebox import *\noptions = {self.options()!r}\n"
        return subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, timeout=WAIT,
                              check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})

    def test_the_server_is_killed_again_and_again(self):
        """50 calls are open each time: each ends with an error that says so, and the next call works."""
        box = self.make()
        self.addCleanup(box.close)
        random.seed(1)
        for _ in range(KILLS):
            self.assertEqual(box.run("export default 1").result, 1)
            pid = server_of(box)
            code = ("while (true) {}", "for (;;) await f()", "for (;;) console.log(1)")
            runs = [box.start(code[i % 3], globals={"f": lambda: 1}) for i in range(50)]
            time.sleep(random.random() * 0.03)
            os.kill(pid, signal.SIGKILL)
            for run in runs:
                with self.assertRaises(GloveboxError) as caught:
                    run.result(WAIT)
                self.assertEqual(caught.exception.code, "connection_lost")
                self.assertIn("SIGKILL", str(caught.exception))

    def test_a_server_that_does_not_read_is_killed_by_close(self):
        """The pipe is full, and a thread is in the middle of a line."""
        box = self.make()
        box.run("1")
        pid = server_of(box)
        os.kill(pid, signal.SIGSTOP)
        errors = []

        def write():
            try:
                box.run("1", files={"f": b"x" * (4 << 20)})
            except GloveboxError as error:
                errors.append(error.code)

        writer = threading.Thread(target=write)
        writer.start()
        wait_until(lambda: box._connection._writing.locked())
        from unittest import mock

        with mock.patch("glovebox._client.EXIT_TIMEOUT", 0.2):
            box.close()
        writer.join(WAIT)
        self.assertFalse(writer.is_alive())
        self.assertEqual(errors, ["closed"])
        self.assertFalse(is_alive(pid))

    def test_a_client_that_is_dropped_ends_its_server(self):
        box = self.make()
        box.run("1")
        pid, gone = server_of(box), weakref.ref(box)
        del box
        gc.collect()
        self.assertIsNone(gone())
        wait_until(lambda: not is_alive(pid))

    def test_a_program_that_ends_without_close(self):
        for end in ("", "import sys; sys.exit(3)", "import os; os._exit(4)", "raise ValueError('x')",
                    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"):
            with self.subTest(end=end):
                done = self.in_another_process(
                    "box = Glovebox(**options); box.run('1'); run = box.start('while (true) {}')\n"
                    f"print(box._connection._transport._process.pid, flush=True)\n{end}")
                pid = int(done.stdout)
                wait_until(lambda: not is_alive(pid))

    def test_ctrl_c_ends_the_wait_and_the_code(self):
        done = self.in_another_process(
            "import signal, threading, os\nbox = Glovebox(**options); box.run('1')\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
            "def stop(text, stream): os.kill(os.getpid(), signal.SIGINT)\n"
            "try: box.run('import time\\nprint(1, flush=True)\\nwhile True: pass', language='python', on_output=stop)\n"
            "except KeyboardInterrupt: print('interrupted', box.run('export default 2').result)\n"
            "box.close()")
        self.assertEqual(done.stdout, "interrupted 2\n", done.stderr)

    def test_a_cancelled_task_ends_its_code(self):
        async def main():
            async with AsyncGlovebox(**self.options()) as box:
                started = asyncio.Event()
                task = asyncio.ensure_future(box.run_code("f(); for (;;);", globals={"f": started.set}))
                await started.wait()
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                while box._connection._runs:
                    await asyncio.sleep(0.01)

        asyncio.run(asyncio.wait_for(main(), WAIT))

    def test_everything_is_refused_in_a_forked_child(self):
        run = self.box.start("while (true) {}")
        self.addCleanup(run.terminate)
        session = self.box.open_session(language="python")
        self.addCleanup(session.kill)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            codes = []
            for call in (run.result, lambda: next(iter(run)), lambda: self.box.run("1"), session.info,
                         lambda: session.execute("1"), lambda: self.box.sessions()):
                try:
                    call()
                    codes.append("none")
                except GloveboxError as error:
                    codes.append(error.code)
            run.terminate()
            self.box.close()
            os.write(writer, " ".join(codes).encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            self.assertEqual(pipe.read(), " ".join(["forked"] * 6))
        os.waitpid(child, 0)
        self.assertTrue(run.running)
        self.assertEqual(self.box.run("export default 1").result, 1)

    def test_a_child_that_outlives_the_program_does_not_keep_the_server(self):
        done = self.in_another_process(
            "import os, sys, time\nbox = Glovebox(**options); box.run('1')\n"
            "pid = box._connection._transport._process.pid\n"
            "child = os.fork()\n"
            "if child == 0:\n    os.close(1); os.close(2); time.sleep(1000)\n"
            "print(pid, child, flush=True); os._exit(0)")
        pid, child = map(int, done.stdout.split())
        try:
            wait_until(lambda: not is_alive(pid))
            self.assertTrue(is_alive(child))
        finally:
            os.kill(child, signal.SIGKILL)

    def test_many_threads_in_one_client_while_it_closes(self):
        for _ in range(5):
            box = self.make()
            outcomes = []

            def work():
                for _ in range(200):
                    try:
                        box.run_code("export default f(1)", globals={"f": lambda x: x})
                    except GloveboxError as error:
                        outcomes.append(error.code)
                        return

            threads = [threading.Thread(target=work) for _ in range(20)]
            for thread in threads:
                thread.start()
            wait_until(lambda: box._connection is not None)
            box.close()
            for thread in threads:
                thread.join(WAIT)
                self.assertFalse(thread.is_alive())
            self.assertEqual(set(outcomes), {"closed"})

    def test_functions_that_fail_in_any_way_give_the_code_an_answer(self):
        def leave():
            raise SystemExit(3)

        def interrupt():
            raise KeyboardInterrupt

        class Silent(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        def silent():
            raise Silent

        def endless():
            return endless()

        for function, name in ((leave, "SystemExit"), (interrupt, "KeyboardInterrupt"), (silent, "Silent"),
                               (endless, "RecursionError")):
            with self.subTest(name=name):
                result = self.box.run_code("export default f()", globals={"f": function})
                self.assertEqual((result.status, result.error.name), ("error", name))

    def test_an_answer_that_is_too_long_is_an_error_in_the_code(self):
        result = self.box.run_code("export default await f()", globals={"f": lambda: "x" * (129 << 20)})
        self.assertEqual(result.status, "error", result)
        self.assertIn("bytes", result.error.message)

    def test_values_that_are_too_large_to_send(self):
        with self.assertRaises((GloveboxError, SerializationError)):
            self.box.run("1", globals={"x": "x" * (129 << 20)})
        self.assertEqual(self.box.run("export default 1").result, 1)

    def test_large_integers_of_the_sandbox(self):
        self.assertEqual(self.box.run_code("export default 10n ** 5000n", check=True).result, 10**5000)
        self.assertEqual(self.box.run("-(10 ** 5000)", language="python", check=True).result, -(10**5000))

    def test_dates_that_python_has_none_for(self):
        for code in ("new Date(8.64e15)", "new Date(-8.64e15)", "new Date(NaN)", "new Date(-62198755200001)"):
            with self.subTest(code=code):
                self.assertEqual(self.box.run_code(f"export default [{code}, 1]", check=True).result[1], 1)

    def test_a_callback_that_never_returns_does_not_keep_the_run(self):
        waiting = threading.Event()
        self.addCleanup(waiting.set)
        result = self.box.run("f()", globals={"f": lambda: waiting.wait(WAIT) and None}, timeout_ms=200)
        self.assertEqual(result.error.code, "timeout")
