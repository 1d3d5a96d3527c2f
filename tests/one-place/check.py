#!/usr/bin/python3
"""Each patch beside this file adds one thing in at most three files, and it is seen everywhere. Prints TAP.

Usage: check.py BUILD     a build of these sources, whose options the copy is built with"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FILES_MAX = 3
TARGETS = ["glovebox", "glovebox-js", "manual", "tables"]
COPIED = ["Makefile", "meson.build", "bench", "completions", "docs", "examples", "include", "scripts", "sdk", "src", "tests", "tools"]


def call(*command, cwd, **more):
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, **more)


class Copy:
    """A copy of the sources, with the patches applied, built."""

    def __init__(self, folder, build):
        self.folder, self.build = folder, folder / "build"
        for name in COPIED:
            source = ROOT / name
            ignored = shutil.ignore_patterns("node_modules", "dist", "__pycache__", "corpus")
            shutil.copytree(source, folder / name, ignore=ignored) if source.is_dir() else shutil.copy(source, folder)
        (folder / "tests/fuzz/corpus").mkdir(parents=True, exist_ok=True)
        (folder / ".deps").symlink_to((ROOT / ".deps").resolve())
        self.sanitize = build_option(build, "b_sanitize")
        self.log = ""

    def run(self, *command):
        """True if it succeeded; what it said is kept for the report."""
        done = call(*command, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.log += f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
        return done.returncode == 0

    def make(self):
        return all([
            self.run("meson", "setup", "build", f"-Db_sanitize={self.sanitize}", "-Db_lundef=false", "-Dbuildtype=debug"),
            self.run("ninja", "-C", "build", *TARGETS),
            self.run(sys.executable, "scripts/tables", "build"),
            self.run("build/manual", "man"),
        ])

    def environment(self):
        return {**os.environ, "GB_WORKER_DIR": str(self.build), "HOME": str(self.folder), "XDG_CONFIG_HOME": ""}

    def glovebox(self, *words):
        return call(self.build / "glovebox", *words, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL)

    def ask(self, message):
        """What 'glovebox stdio' answers to a message: its result or error."""
        command = [str(self.build / "glovebox"), "stdio"]
        with subprocess.Popen(command, cwd=self.folder, env=self.environment(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            return next(said for said in map(json.loads, server.stdout) if said["type"] in ("result", "error"))

    def read(self, path):
        return (self.folder / path).read_text()


def build_option(build, name):
    options = json.loads(call("meson", "introspect", "--buildoptions", build, cwd=ROOT).stdout)
    return next(option["value"] for option in options if option["name"] == name)


# --- what is seen of each


def result_field(copy):
    run = copy.glovebox("run", "-l", "js", "-e", "console.log(1); console.log(2)", "--json")
    yield "json", json.loads(run.stdout)["logCount"] == 2
    yield "types", "  logCount?: number;" in copy.read("sdk/typescript/src/tables.ts")
    yield "docs", "| `logCount`" in copy.read("docs/PROTOCOL.md")


def limit(copy):
    run = copy.glovebox("run", "-l", "js", "-e", "export default 123456789", "--max-source", "8")
    yield "command line", run.returncode == 2 and "--max-source: " in run.stderr
    yield "help", "--max-source" in copy.glovebox("execute", "--help").stdout
    message = {"type": "run", "run": 1, "source": "export default 6*7", "limits": {"maxSourceBytes": 8}}
    yield "json", copy.ask(message)["field"] == "limits.maxSourceBytes"
    yield "types", "  maxSourceBytes?: number;" in copy.read("sdk/typescript/src/tables.ts")
    yield "docs", "| `maxSourceBytes` |" in copy.read("docs/PROTOCOL.md")


def request_field(copy):
    run = copy.glovebox("run", "-l", "js", "-e", "export default 1", "--remark", "much too long")
    yield "command line", run.returncode == 2 and "--remark: " in run.stderr
    yield "help", all("--remark TEXT" in copy.glovebox(*words, "--help").stdout for words in [["run"], ["session", "exec"]])
    message = {"type": "run", "run": 1, "source": "export default 6*7", "options": {"remark": "much too long"}}
    yield "json", copy.ask(message)["field"] == "options.remark"
    yield "types", copy.read("sdk/typescript/src/tables.ts").count("  remark?: string;") == 2
    yield "docs", "| `remark` |" in copy.read("docs/PROTOCOL.md")


def agent_field(copy):
    run = copy.glovebox("execute", "-l", "js", "-e", "export default 1", "--ticket", "much too long", "--set", "agent.enabled=true")
    yield "command line", run.returncode == 2 and "--ticket: " in run.stderr
    yield "help", "--ticket TEXT" in copy.glovebox("execute", "--help").stdout
    message = {"type": "execute", "run": 1, "source": "export default 6*7", "ticketNumber": "much too long"}
    yield "json", copy.ask(message)["field"] == "ticketNumber"
    yield "types", "  ticketNumber?: string;" in copy.read("sdk/typescript/src/tables.ts")
    yield "docs", "| `ticketNumber` |" in copy.read("docs/PROTOCOL.md")


def language_alias(copy):
    yield "command line", copy.glovebox("run", "-l", "ecmascript", "-e", "export default 6*7").stdout == "42\n"
    yield "help", "ecmascript" in copy.glovebox("run", "--help").stdout
    message = {"type": "run", "run": 1, "source": "export default 6*7", "options": {"language": "ecmascript"}}
    yield "json", copy.ask(message)["result"]["result"] == 42
    yield "types", "'ecmascript'" in copy.read("sdk/typescript/src/tables.ts")
    yield "docs", "`ecmascript`" in copy.read("docs/PROTOCOL.md")


def error_code(copy):
    run = copy.glovebox("run", "-l", "js", "-e", "export default 'a very unusual value'")
    yield "command line", "hint: choose another value" in run.stderr
    run = copy.glovebox("run", "-l", "js", "-e", "export default 'a very unusual value'", "--json")
    yield "json", json.loads(run.stdout)["error"]["code"] == "unusual_value"
    yield "types", "'unusual_value'" in copy.read("sdk/typescript/src/tables.ts")
    yield "docs", "`unusual_value`" in copy.read("docs/PROTOCOL.md")


def setting(copy):
    yield "command line", copy.glovebox("config", "show", "--set", "shell.greeting=true").returncode == 0
    shown = copy.glovebox("config", "show", "--json", "--set", "shell.greeting=true").stdout
    yield "json", "shell.greeting" in shown or "greeting" in shown
    yield "docs", "shell.greeting" in copy.read("docs/CONFIGURATION.md")
    yield "manual", ".B shell.greeting\n" in copy.read("man/man5/glovebox.yaml.5")
    yield "completion", "shell.greeting=" in copy.glovebox("complete", "run", "--set", "shell.gr").stdout


def command_flag(copy):
    yield "help", "--uppercase" in copy.glovebox("run", "--help").stdout
    run = copy.glovebox("run", "-l", "js", "-e", "export default 1", "--uppercase")
    yield "command line", run.returncode == 0 and "UPPERCASE" in run.stderr
    yield "docs", "--uppercase" in copy.read("docs/CLI.md")
    yield "manual", "\\-\\-uppercase" in copy.read("man/man1/glovebox-run.1")
    yield "completion", "--uppercase" in copy.glovebox("complete", "run", "--upp").stdout


CHECKS = {
    "result-field": result_field,
    "limit": limit,
    "request-field": request_field,
    "agent-field": agent_field,
    "language-alias": language_alias,
    "error-code": error_code,
    "setting": setting,
    "command-flag": command_flag,
}


class Report:
    def __init__(self):
        self.n = self.failed = 0

    def ok(self, title, good, why=""):
        self.n += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {title}", flush=True)
        for line in [] if good else why.splitlines():
            print(f"# {line}")


def seen(check, copy):
    """The places where it was not seen."""
    try:
        return [place for place, good in check(copy) if not good]
    except (KeyError, ValueError, StopIteration) as problem:
        return [f"{type(problem).__name__}: {problem}"]


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as scratch:
        copy = Copy(Path(scratch), sys.argv[1])
        for name in CHECKS:
            patch = HERE / f"{name}.patch"
            files = set(re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M))
            report.ok(f"{name}: at most {FILES_MAX} files", 0 < len(files) <= FILES_MAX, " ".join(files))
            report.ok(f"{name}: the patch applies", copy.run("patch", "-p1", "--forward", "-i", patch), copy.log[-2000:])
        report.ok("the copy is built", copy.make(), copy.log[-4000:])
        for name, check in CHECKS.items():
            missing = seen(check, copy)
            report.ok(f"{name}: seen everywhere", not missing, "not in: " + ", ".join(missing))
    print(f"1..{report.n}")
    return 1 if report.failed else 0


sys.exit(main())
