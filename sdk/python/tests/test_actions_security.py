"""What code cannot do through the actions. Each test also runs the same code without a sandbox, where it does harm."""

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from .engines import Case
from .helpers import WAIT

SECRET = "the-secret-of-the-host"


class TestCodeExecutionSecurity(Case):
    def setUp(self):
        # A refusal means something only where other code runs.
        self.assert_ok(self.engine.execute("1"), 1)
        self.assert_ok(self.engine.execute("true", language="bash"))
        self.place = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.target = self.place / "target"
        self.target.mkdir()
        (self.target / "secret").write_text(SECRET)

    # --- without a sandbox

    def bare(self, code, language="python", **options):
        """The code as a program of this machine."""
        program = [sys.executable, "-c", code] if language == "python" else ["bash", "-c", code]
        env = {**os.environ, "TEST_SECRET": SECRET, "PATH": f"{self.place}:{os.environ['PATH']}"}
        return subprocess.run(program, capture_output=True, text=True, timeout=WAIT, check=False, env=env, cwd=self.place, **options)

    # --- in one

    def each_mode(self, code, language="python", **given):
        """The results in restricted mode, and in permissive mode, where the sandbox of the system is alone."""
        results = []
        for mode in ("restricted", "permissive"):
            results.append((mode, self.engine.execute(code, language=language, sandbox_mode=mode, **given)))
        self.assertNotIn(SECRET, repr(results))
        return results

    def check_refused(self, code, language="python", **given):
        for mode, result in self.each_mode(code, language, **given):
            self.assertFalse(result["success"], result)
            if mode == "restricted" and language == "python":
                self.assertIn("RestrictedError", result["error"])

    def check_changes_nothing(self, code, harm, language="python"):
        """@harm is what the code makes: absent after it ran in sandboxes, there after it ran without one."""
        self.check_refused(code, language)
        self.assertFalse(harm.exists())
        self.bare(code, language)
        self.assertTrue(harm.exists(), "the code does no harm without a sandbox: the test proves nothing")

    def test_code_execute_blocks_file_access(self):
        code = f"print(open({str(self.target / 'secret')!r}).read())"
        self.check_refused(code)
        self.assertIn(SECRET, self.bare(code).stdout)

    def test_code_execute_blocks_network(self):
        self.check_network("import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:{}/', timeout=5).read())")

    def test_blocks_network_socket(self):
        self.check_network("import socket\ns = socket.create_connection(('127.0.0.1', {}), 5)\ns.send(b'GET')\nprint(s.recv(100))")

    def check_network(self, code):
        """A listener of the host: no connection arrives from sandboxes."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            code = code.format(listener.getsockname()[1])
            self.check_refused(code)
            self.assertEqual(select.select([listener], [], [], 0)[0], [], "a connection has arrived")

            def answer():
                connection, _ = listener.accept()
                connection.recv(1000)
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + SECRET.encode())
                connection.close()

            thread = threading.Thread(target=answer)
            thread.start()
            self.assertIn(SECRET, self.bare(code).stdout)
            thread.join(WAIT)

    def test_code_execute_blocks_imports(self):
        for module in ("os", "sys", "subprocess", "socket", "shutil", "importlib", "builtins", "ctypes", "pickle"):
            self.assertIn("never allowed", self.engine.execute(f"import {module}", allowed_modules=[module])["error"])
        code = f"import shutil\nshutil.copytree({str(self.target)!r}, {str(self.place / 'copy')!r})"
        self.check_changes_nothing(code, self.place / "copy")

    def test_code_execute_blocks_exec(self):
        harm = self.place / "made"
        inner = f"open({str(harm)!r}, 'w').close()"
        self.check_changes_nothing(f"exec({inner!r})", harm)

    def test_blocks_eval_exec(self):
        harm = self.place / "made"
        inner = f"__import__('os').mkdir({str(harm)!r})"
        self.check_changes_nothing(f"eval({inner!r})", harm)
        for code in ("eval('1')", "exec('1')", "compile('1', '', 'eval')", "getattr(1, 'real')", "globals()", "type(1)", "object()",
                     "().__class__.__bases__[0].__subclasses__()"):
            self.assertIn("RestrictedError", self.engine.execute(code)["error"], code)

    def test_blocks_os_access(self):
        code = "import os\nprint(os.environ['TEST_SECRET'], os.getppid(), os.listdir('/home'))"
        self.check_refused(code)
        self.assertIn(SECRET, self.bare(code).stdout)

    def test_blocks_file_write(self):
        harm = self.target / "written"
        code = f"with open({str(harm)!r}, 'w') as f:\n    f.write('x')"
        self.check_changes_nothing(code, harm)

    def test_blocks_subprocess(self):
        harm = self.place / "started"
        self.check_changes_nothing(f"import subprocess\nsubprocess.run(['touch', {str(harm)!r}], check=True)", harm)

    @unittest.skipIf(os.environ.get("GB_SANITIZE", "none") != "none", "the malloc of a sanitizer is not counted")
    def test_resource_limit_memory(self):
        code = "data = bytearray(300 * 1024 * 1024)\nprint(len(data))"
        for _mode, result in self.each_mode(code, max_memory_mb=64):
            self.assert_error(result, "MemoryError")
        self.assertEqual(self.bare(code).stdout, f"{300 * 1024 * 1024}\n")
        self.assert_ok(self.engine.execute("1"), 1)

    def test_resource_limit_cpu(self):
        code = "while True: pass"
        for _mode, result in self.each_mode(code, timeout=0.5):
            self.assert_error(result, "Execution timed out")
        # Without a limit it uses as much as it is given: here, until a limit of this test ends it by SIGXCPU.
        done = subprocess.run(["bash", "-c", f"ulimit -St 1; exec {sys.executable} -c '{code}'"], check=False, timeout=WAIT)
        self.assertEqual(done.returncode, -signal.SIGXCPU)

    def test_code_execute_shell_blocks_rm(self):
        code = f"rm -rf {self.target}"
        self.check_refused(code, "bash")
        self.check_refused(f"x=rm; $x -rf {self.target} && test ! -e {self.target}; ls {self.target}", "bash")
        self.assertTrue((self.target / "secret").exists())
        self.bare(code, "bash")
        self.assertFalse(self.target.exists())

    def test_code_execute_shell_blocks_sudo(self):
        # Stands for a sudo that asks for no password.
        program = self.place / "sudo"
        program.write_text("#!/bin/sh\nexec \"$@\"\n")
        program.chmod(0o755)
        harm = self.place / "as-root"
        self.check_changes_nothing(f"sudo touch {harm}", harm, "bash")
        self.assertIn("sudo", self.engine.execute("sudo id", language="bash")["error"])
        # And a setuid program that the check does not know gains nothing.
        result = self.engine.execute("grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status", language="bash")
        self.assertEqual(result["stdout"].split(), ["NoNewPrivs:", "1", "CapEff:", "0000000000000000"])

    def test_code_execute_shell_readonly_filesystem(self):
        for harm in (self.target / "written", Path("/usr/glovebox-test"), Path("/etc/glovebox-test")):
            for _mode, result in self.each_mode(f"set -e; echo x > {harm}", "bash"):
                self.assertFalse(result["success"], result)
            self.assertFalse(harm.exists())
        for folder in ("/box", "/tmp"):
            for _mode, result in self.each_mode(f"set -e; chmod 777 {folder}; echo x > {folder}/a; test -s {folder}/a", "bash"):
                self.assertFalse(result["success"], result)
        harm = self.target / "written"
        self.bare(f"echo x > {harm}", "bash")
        self.assertEqual(harm.read_text(), "x\n")
        self.assert_ok(self.engine.execute("echo x > /box/a; test -s /box/a", language="bash", allow_filesystem=True))
        self.assertFalse(Path("/box/a").exists())

    def test_sandbox_isolation_between_sessions(self):
        first, second = (self.engine.sandbox("create", allow_filesystem=True)["sandbox_id"] for _ in range(2))
        put = f"secret = {SECRET!r}\nwith open('/box/kept', 'w') as f: f.write(secret)"
        self.assert_ok(self.engine.sandbox("execute", sandbox_id=first, code=put))
        for read in ("secret", "open('/box/kept').read()"):
            self.assert_ok(self.engine.sandbox("execute", sandbox_id=first, code=read), SECRET)
            for result in (self.engine.sandbox("execute", sandbox_id=second, code=read), self.engine.execute(read, allow_filesystem=True)):
                self.assertFalse(result["success"], result)
                self.assertNotIn(SECRET, repr(result))
        # In one interpreter, as without sandboxes, the second finds what the first has put.
        together = {}
        exec(f"secret = {SECRET!r}", together)
        self.assertEqual(eval("secret", together), SECRET)
        for one in (first, second):
            self.engine.sandbox("destroy", sandbox_id=one)
