#!/usr/bin/python3
"""Executes the console blocks of README.md and docs/, compares their output, and checks links. TAP. Needs GB_GLOVEBOX.

A block is fenced by ```console. Lines that begin with '$ ' are commands, lines after a command that begin with '> '
continue it, and all other lines are its output, standard error included. In the output,
  …          matches any text, also none, and also several lines;
  2be91f54   (eight hexadecimal digits) matches any eight, and stands for these in later commands of the page.
A command that ends with '&' continues in the background: the check waits until its output is the expected one.

All blocks of a page run in one bash, in a new home directory. A comment on the line before a block changes that:
  <!-- not executed: REASON -->     the block is not executed
  <!-- needs: node -->              the block is skipped where this language cannot run
Usage: check.py [PAGE...]"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
DEPS = Path(os.environ.get("GB_DEPS", ROOT / ".deps"))
HANGS = 120  # seconds; only a command that hangs takes that long
ID = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8}\b")
LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")


class Block:
    def __init__(self, page, line, note):
        self.page, self.line, self.note = page, line, note
        self.steps = []  # pairs: command, expected lines

    def name(self):
        return f"{self.page}:{self.line}"

    def add(self, text):
        if text.startswith("$ "):
            self.steps.append([text[2:], []])
        elif text.startswith("> ") and self.steps and not self.steps[-1][1]:
            self.steps[-1][0] += "\n" + text[2:]
        elif self.steps:
            self.steps[-1][1].append(text)
        else:
            self.steps.append(["", [text]])

    def reason(self):
        """Why it is not executed, or None."""
        match = re.fullmatch(r"<!-- not executed: (.+) -->", self.note)
        return match and match[1]

    def needs(self):
        match = re.fullmatch(r"<!-- needs: (\w+) -->", self.note)
        return match and match[1]


def blocks_of(path):
    """The console blocks of a page, and complaints about notes that belong to none."""
    page, block, fence, note, complaints = path.relative_to(ROOT).as_posix(), None, "", "", []
    blocks = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if fence:
            if line.strip() == "```":
                fence = ""
            elif fence == "console":
                blocks[-1].add(line)
        elif line.startswith("```"):
            fence = line[3:].strip() or "none"
            if fence == "console":
                blocks.append(Block(page, number, note))
                note = ""
        elif re.match(r"<!-- (not executed|needs):", line):
            note = line.strip()
        elif line.strip() and note:
            complaints.append(f"{page}:{number - 1}: no console block follows '{note}'")
            note = ""
    return blocks, complaints


def pattern(expected, ids):
    """A regular expression for expected output. New ids get a group; known ids stand for their values."""
    text, names = "", []
    for part in re.split(f"({ID.pattern}|…)", expected):
        if part == "…":
            text += ".*?"
        elif ID.fullmatch(part):
            if part in ids:
                text += re.escape(ids[part])
            elif part in names:
                text += f"(?P=id{names.index(part)})"
            else:
                text += f"(?P<id{len(names)}>[0-9a-f]{{8}})"
                names.append(part)
        else:
            text += re.escape(part)
    return re.compile(text, re.S), names


def normal(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


class Shell:
    """One bash with a home directory of its own."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="gb-docs-"))
        work = self.folder / "home/work"
        for path in (work / "build", self.folder / "bin", self.folder / "run"):
            path.mkdir(parents=True)
        (self.folder / "run").chmod(0o700)
        for link in (work / "build/glovebox", self.folder / "bin/glovebox"):
            link.symlink_to(GLOVEBOX)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("GLOVEBOX_", "XDG_", "GB_"))}
        environment.update(
            HOME=str(self.folder / "home"), XDG_RUNTIME_DIR=str(self.folder / "run"), LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1",
            PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}", GLOVEBOX_SESSION_LINGER="1s")
        deno = next(DEPS.glob("deno/node_modules/@deno/*/deno"), None)
        if not shutil.which("deno") and deno:
            environment["GLOVEBOX_DENO"] = str(deno)
        self.bash = subprocess.Popen(["bash", "--norc", "--noprofile"], cwd=work, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.count, self.ids, self.environment = 0, {}, environment

    def start(self, command):
        """Run a command to its end, or to its place in the background. Returns the file of its output."""
        self.count += 1
        out = self.folder / f"out.{self.count}"
        (self.folder / "command").write_text(command)
        guard = threading.Timer(HANGS, self.kill)
        guard.start()
        try:
            self.bash.stdin.write(f'eval "$(cat {self.folder}/command)" > {out} 2>&1 < /dev/null; echo "done {self.count}"\n')
            self.bash.stdin.flush()
            while (line := self.bash.stdout.readline()) and line != f"done {self.count}\n":
                pass
        except BrokenPipeError:
            line = ""
        guard.cancel()
        return out if line else None

    def run(self, command, expected):
        """Returns None, or a complaint."""
        for written, value in self.ids.items():
            command = command.replace(written, value)
        out = self.start(command)
        if not out:
            return f"$ {command}: the shell ended, or the command took longer than {HANGS} s"
        wanted, names = pattern(normal("\n".join(expected)), self.ids)
        deadline = time.monotonic() + HANGS
        while not (match := wanted.fullmatch(normal(out.read_text(errors="replace")))):
            if not command.rstrip().endswith("&") or time.monotonic() > deadline:
                return f"$ {command}\nexpected:\n" + "\n".join(expected) + "\nprinted:\n" + normal(out.read_text(errors="replace"))
            time.sleep(0.05)
        self.ids.update({name: match[f"id{index}"] for index, name in enumerate(names)})
        return None

    def kill(self):
        try:
            os.killpg(self.bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self):
        self.kill()
        self.bash.communicate()
        if any((self.folder / "run").iterdir()):
            listed = subprocess.run([GLOVEBOX, "session", "list", "--json"], env=self.environment, capture_output=True, text=True, timeout=HANGS)
            for session in json.loads(listed.stdout or "[]"):
                subprocess.run([GLOVEBOX, "session", "kill", session["id"]], env=self.environment, capture_output=True, timeout=HANGS)
        shutil.rmtree(self.folder, ignore_errors=True)


def runs(language, known={}):
    if language not in known:
        shell = Shell()
        known[language] = shell.run(f"glovebox run -l {language} -e 'console.log(1)'", ["1"]) is None
        shell.close()
    return known[language]


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    return {slug(match) for match in re.findall(r"^#+ (.*)$", text, re.M)}


def broken_links(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            yield f"{path.relative_to(ROOT)}: {target}: there is no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{path.relative_to(ROOT)}: {target}: there is no such heading"


def check_page(blocks, count):
    shell = None
    for block in blocks:
        name = f"{block.name()} prints what the page shows"
        if block.reason():
            print(f"# {block.name()}: not executed: {block.reason()}")
        elif not block.steps or any(not command for command, _ in block.steps):
            tap.ok(name, False, "the block has output without a command; add '$ ' or '<!-- not executed: REASON -->'")
        elif block.needs() and not runs(block.needs()):
            tap.ok(f"{name} # SKIP {block.needs()} cannot run here", True)
        else:
            shell = shell or Shell()
            complaint = next((c for c in (shell.run(*step) for step in block.steps) if c), None)
            tap.ok(name, not complaint, *(complaint or "").split("\n"))
            count["executed"] += 1
        count["total"] += 1
    if shell:
        shell.close()


def main():
    os.umask(0o022)
    pages = [Path(page).resolve() for page in sys.argv[1:]] or [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    more = [] if sys.argv[1:] else [*ROOT.glob("src/**/README.md"), ROOT / "sdk/typescript/README.md", ROOT / "bench/README.md"]
    count = {"executed": 0, "total": 0}
    complaints = [link for page in [*pages, *more] for link in broken_links(page)]
    for page in pages:
        blocks, lost = blocks_of(page)
        complaints += lost
        check_page(blocks, count)
    tap.ok("links and notes lead somewhere", not complaints, *complaints)
    print(f"# console blocks: {count['executed']} executed, {count['total']} in total")
    tap.plan()
    return 1 if tap.failed else 0


sys.exit(main())
