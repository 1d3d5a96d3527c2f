#!/usr/bin/python3
"""Completions of bash, zsh and fish: words typed at the shells themselves, and what they become. TAP.

Needs GB_GLOVEBOX and GB_SOURCE. In bash and zsh, on a terminal, 'glovebox' is a function that prints its arguments, so the
test sees the words that the shell would run; the completions call the program.
"""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from tap import ok, plan

GLOVEBOX, COMPLETIONS = Path(os.environ["GB_GLOVEBOX"]), Path(os.environ["GB_SOURCE"]) / "completions"
SCRATCH = Path(tempfile.mkdtemp())
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("GLOVEBOX_", "XDG_", "ZDOTDIR", "ZSH", "BASH", "FISH"))}
ENV.update(HOME=str(SCRATCH), XDG_RUNTIME_DIR=str(SCRATCH / "run"), GLOVEBOX_STATE_DIR=str(SCRATCH / "state"), LC_ALL="C.UTF-8", TERM="vt100",
           PATH=f"{GLOVEBOX.parent}:{ENV['PATH']}", HISTFILE="/dev/null")
HANG = 300  # seconds; only a shell that does not answer takes them


def glovebox(*args):
    return subprocess.run([GLOVEBOX, *args], env=ENV, cwd=SCRATCH, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def complete(*words):
    """Candidate to description."""
    lines = glovebox("complete", *words).stdout.split("\n")[:-1]
    return dict(line.split("\t", 1) for line in lines)


class Shell:
    """A shell on a terminal."""

    def __init__(self, argv, prepare):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(SCRATCH)
            os.execvpe(argv[0], argv, ENV)
        self.text = ""
        self.type(prepare + "; printf 'READY%s\\n' 1\n")
        self.wait("READY1")

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern):
        """The match of a pattern in what was printed; what is before its end is forgotten."""
        while not (found := re.search(pattern, self.text)):
            if not select.select([self.fd], [], [], HANG)[0]:
                raise TimeoutError(f"{pattern} is not in {self.text!r}")
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace").replace("\r", "")
            except OSError as error:
                raise EOFError(f"the shell ended: {self.text!r}") from error
        self.text = self.text[found.end():]
        return found

    def becomes(self, typed):
        """The words that are run after this was typed."""
        self.type(typed + "\n")
        return self.wait(r"WORDS((?:<[^>]*>)*)END\n").group(1)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


PRINTS = "glovebox() { printf WORDS; printf '<%s>' \"$@\"; printf 'END\\n'; }"


def shells():
    bash = ["bash", "--norc", "--noprofile", "-i"]
    yield "bash", bash, f"{PRINTS}; PS1=; bind 'set enable-bracketed-paste off' 'set bell-style none'; . '{COMPLETIONS}/glovebox.bash'"
    zsh = ["zsh", "-f", "-i"]
    yield "zsh", zsh, (f"{PRINTS}; PS1=; unset zle_bracketed_paste; unsetopt prompt_sp beep; fpath=('{COMPLETIONS}' $fpath); "
                       "autoload -U compinit && compinit -u -D")


def check_typed(name, argv, prepare, approval):
    if not shutil.which(argv[0]):
        ok(f"{name}: completions # SKIP there is no {name}", True)
        return
    shell = Shell(argv, prepare)
    for what, typed, wanted in [
        ("commands", "glovebox approv\t", "<approvals>"),
        ("options and languages", "glovebox run --langu\tpyth\t-e 1", "<run><--language><python><-e><1>"),
        ("a value after =", "glovebox run --language=pyth\t", "<run><--language=python>"),
        ("settings and their values", "glovebox config show --set agent.enab\ttr\t", "<config><show><--set><agent.enabled=true>"),
        ("subcommands and sessions", "glovebox session inter\tmy-ses\t", "<session><interrupt><my-session>"),
        ("actions and approval ids", f"glovebox approvals app\t{approval[:6]}\t", f"<approvals><approve><{approval}>"),
        ("files", "glovebox run only\t", "<run><only file.js>"),
        ("folders", "glovebox run --out fold\t", "<run><--out><folder>"),
        ("no option after --", "glovebox run -- --langu\t", "<run><--><--langu>"),
    ]:
        got = shell.becomes(typed).replace("/>", ">")  # zsh removes the slash of a folder when the line is run
        ok(f"{name}: {what}", got == wanted, got)
    # Ctrl-U deletes the line before the shell runs it.
    shell.type("glovebox run --set $(touch evaluated) --langu\t\x15")
    got = shell.becomes("glovebox version")
    ok(f"{name}: words are not evaluated", not (SCRATCH / "evaluated").exists(), got)
    shell.type("./glovebox ses\t\x15")
    got = shell.becomes("glovebox version")
    ok(f"{name}: a program of the working directory is not started", not (SCRATCH / "started").exists(), got)
    shell.close()


def check_fish(approval):
    if not shutil.which("fish"):
        ok("fish: completions # SKIP there is no fish", True)
        return
    for what, line, wanted in [
        ("commands", "glovebox approv", "approvals"),
        ("options", "glovebox run --langu", "--language"),
        ("a value after =", "glovebox run --language=pyth", "--language=python"),
        ("settings", "glovebox config show --set agent.enab", "agent.enabled="),
        ("values of settings", "glovebox config show --set agent.enabled=", "agent.enabled=true"),
        ("sessions", "glovebox session interrupt ", "my-session"),
        ("approval ids", "glovebox approvals approve ", approval),
        ("files", "glovebox run only", "only file.js"),
        ("folders", "glovebox run --out fold", "folder/"),
    ]:
        done = subprocess.run(["fish", "--no-config", "-c", f"source '{COMPLETIONS}/glovebox.fish'; complete -C '{line}'"], env=ENV, cwd=SCRATCH,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        ok(f"fish: {what}", wanted in [found.split("\t")[0] for found in done.stdout.split("\n")], done.stdout, done.stderr)


def check_candidates(approval):
    listed = re.findall(r"^  glovebox (\S+)  *\S", glovebox("help").stdout.split("\nExamples")[0], re.M)
    ok("every command of 'glovebox help' is offered", set(listed) | {"help"} == set(complete("")), set(listed) ^ set(complete("")))
    for command in listed:
        flags = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)(?= |$)", glovebox(command, "--help").stdout, re.M))
        if command != "session":
            ok(f"every option of '{command}' is offered", flags | {"--help"} == set(complete(command, "-")), flags ^ set(complete(command, "-")))
    ok("options without an effect on the action are not", "--expect-key" not in complete("audit", "list", "--"))
    settings = set(re.findall(r"^\| `([\w.]+)`<br>", glovebox("config", "docs").stdout, re.M))
    ok("every setting is offered", {f"{name}=" for name in settings} == set(complete("run", "--set", "")))
    ok("'help' is completed as the command", complete("help", "session", "ki") == complete("session", "ki") and complete("help", "session", "ki"))
    ok("an approval has its purpose as description", complete("approvals", "deny", "").get(approval, "").startswith("to add <U+001B>"), complete("approvals", "deny", ""))
    other = complete("approvals", "deny", "--dir", str(SCRATCH / "none"), "")
    ok("--dir before it is used", other == {}, other)
    sessions = complete("session", "kill", "")
    unnamed = [name for name in sessions if name != "my-session"]
    ok("a session has its name, or its id if it has none", len(sessions) == 2 and glovebox("session", "kill", *unnamed).returncode == 0, sessions)
    strange = [["--", ""], ["run", "--"], ["run", "--set"], ["session"], ["nothing", ""], ["run", "-l"], ["\udcff", "\udcff"], ["help"], ["help", "help", ""], []]
    ended = [(words, done.returncode) for words in strange if (done := glovebox("complete", *words)).returncode != 0]
    ok("strange command lines are answered", not ended, ended)


def main():
    (SCRATCH / "run").mkdir(mode=0o700)
    (SCRATCH / "folder").mkdir()
    (SCRATCH / "glovebox").write_text("#!/bin/sh\ntouch started\n")
    os.chmod(SCRATCH / "glovebox", 0o755)
    (SCRATCH / "only file.js").write_text("1")
    glovebox("session", "create", "-l", "js", "--name", "my-session")
    glovebox("session", "create", "-l", "js")
    execute = subprocess.Popen([GLOVEBOX, "execute", "-l", "js", "-e", "1", "--purpose", "to add \x1b[31m", "--set", "agent.enabled=true"], env=ENV, cwd=SCRATCH,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    execute.stderr.readline()
    approval = next(iter(complete("approvals", "show", "")), "none")
    try:
        check_candidates(approval)
        for name, argv, prepare in shells():
            check_typed(name, argv, prepare, approval)
        check_fish(approval)
    finally:
        execute.terminate()
        execute.wait()
        for session in complete("session", "kill", ""):
            glovebox("session", "kill", session)
        shutil.rmtree(SCRATCH, ignore_errors=True)
    plan()


main()
