#!/usr/bin/python3
"""Every flag of the commands that run code has an effect, or is refused by its name with exit status 2. TAP.

The table names each flag, and what is expected of it in each mode: a language, alone or in a session. A flag has an effect
if the outcome differs from the same command without it. A flag of --help that is not in the table is a failure. Needs
GB_GLOVEBOX.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile

from tap import ok, plan

GLOVEBOX = os.environ["GB_GLOVEBOX"]
scratch = tempfile.mkdtemp()
ENV = {k: v for k, v in os.environ.items() if not k.startswith("GLOVEBOX_")}
ENV.update(
    HOME=scratch, XDG_RUNTIME_DIR=scratch + "/run", GLOVEBOX_STATE_DIR=scratch + "/state", GLOVEBOX_SESSION_LINGER="100ms",
    LC_ALL="C.UTF-8",
)
os.chmod(scratch, 0o755)  # sandboxes look for packages there
os.mkdir(scratch + "/run", 0o700)
os.makedirs(scratch + "/modules/leaf")
with open(scratch + "/modules/leaf/index.js", "w", encoding="utf-8") as file:
    file.write("module.exports = 'a leaf';\n")
with open(scratch + "/data", "w", encoding="utf-8") as file:
    file.write("from a file")
os.mkdir(scratch + "/work", 0o755)
with open(scratch + "/work/data", "w", encoding="utf-8") as file:
    file.write("from a folder")
with open(scratch + "/own.yaml", "w", encoding="utf-8") as file:
    file.write("limits: {javascript: {timeout: 300ms}, python: {timeout: 300ms}, shell: {timeout: 300ms}, node: {timeout: 300ms}}\n")

HAS_NODE, HAS_DENO = shutil.which("node") is not None, shutil.which("deno") is not None
HAS_NUMPY = subprocess.run(["/usr/bin/python3", "-c", "import numpy, pandas, matplotlib"], capture_output=True).returncode == 0
LANGUAGES = ["js", "python", "shell"] + (["node"] if HAS_NODE else [])


def glovebox(*args, **how):
    return subprocess.run([GLOVEBOX, *args], env=ENV, cwd=scratch, capture_output=True, text=True, stdin=subprocess.DEVNULL, **how)


def outcome(args):
    """The result of a command that is visible to a user."""
    shutil.rmtree(scratch + "/out", ignore_errors=True)
    os.mkdir(scratch + "/out")
    done = glovebox(*args)
    said = re.sub(r'"(runId|durationMs|memoryUsedBytes)":("[^"]*"|[\d.]+)', "", done.stdout)
    return done.returncode, said, sorted(os.listdir(scratch + "/out")), done.stderr


NOOP = {"js": "0", "python": "None", "shell": "true", "node": "0"}
# Only a timeout ends it.
ENDLESS = {"js": "for (;;);", "python": "while True: pass", "shell": "while :; do :; done", "node": "for (;;);"}
FUNCTION = {"shell": "echo $1", "js": "function f(x) { return [x] }", "python": "def f(x=1): return [x]", "node": "function f(x) { return [x] }"}
ALONE_FUNCTION = {**FUNCTION, "js": "export " + FUNCTION["js"], "node": "exports.f = (x) => [x]"}
MUCH = {
    "js": "let a = []; for (let i = 0; i < 1e6; i++) a.push({i}); 1", "python": "len(bytearray(120 << 20))",
    "shell": "head -c 400000000 /dev/zero | tail -c 399000000 | wc -c",
    "node": "let a = []; for (let i = 0; i < 6e6; i++) a.push({i}); 1",
}
SEES = {"js": "console.log(typeof x)", "python": "'x' in globals()", "node": "typeof x"}
READS = {"python": "import sys; sys.stdin.read()", "shell": "read -t 5 x; echo $x", "node": "require('fs').readFileSync(0, 'utf8')"}
LISTS = {"python": "import os; os.path.exists('data')", "shell": "ls", "node": "require('fs').existsSync('data')"}
WRITES = {"python": "open('made', 'w').write('x'); None", "shell": "echo x > made", "node": "require('fs').writeFileSync('made', 'x'); 0"}
RESTRICTS = {"python": "import os; 1", "shell": "curl --version > /dev/null; true"}

# flag, its value; the arguments beside it; code by language (NOOP if there is none); the languages in which it
# has an effect, alone and in a session. In all others it must be refused.
EVERY = set(LANGUAGES)
ROWS = [
    ("timeout", "300ms", ["--memory", "200M"], ENDLESS, EVERY, EVERY),
    ("memory", "1500M", ["--timeout", "60s"], MUCH, EVERY, EVERY),
    ("fn", "f", [], FUNCTION, EVERY - {"shell"}, EVERY - {"shell"}),
    ("args", '["seen"]', ["--fn", "f"], FUNCTION, EVERY, EVERY),
    ("input", "x=1", [], SEES, EVERY - {"shell"}, EVERY - {"shell"}),
    ("stdin", "typed", [], READS, EVERY - {"js"}, EVERY - {"js"}),
    ("file", scratch + "/data", [], LISTS, EVERY - {"js"}, EVERY - {"js"}),
    ("out", scratch + "/out", [], WRITES, EVERY - {"js"}, EVERY - {"js"}),
    ("restricted", None, [], RESTRICTS, {"python", "shell"}, {"python", "shell"}),
    ("packages", scratch + "/modules", ["--allow", "leaf"], {"node": "require('leaf')"}, EVERY & {"node"}, set()),
    ("net", "localhost", [], {}, set(), set()),
    ("workdir", scratch + "/work", [], {**LISTS, "js": "typeof Deno"}, EVERY, EVERY),
    ("json", None, [], {}, EVERY, EVERY),
    ("set", "limits.LANG.timeout=300ms", [], ENDLESS, EVERY, set()),
    ("config", "own.yaml", [], ENDLESS, EVERY, set()),
]
# Flags whose effect is tested by itself below.
APART = {"eval", "language", "allow", "profile", "session", "interactive"}
LONG = {"js": "javascript"}


def flags_of(*command):
    help_text = glovebox(*command, "--help").stdout
    return set(re.findall(r"^  (?:-\w, |    )--([a-z-]+)", help_text, re.MULTILINE))


def command(mode, language, code, flags, n):
    if mode == "run":
        return ["run", "-l", language, *flags, "-e", code]
    return ["run", "--session", f"{language}-{n}", "-l", language, *flags, "-e", code]


def judge(name, base, flag, value, expected, endless):
    """@base(flags) is a command line; the flag must have an effect on it, or be refused. If its code is @endless, the effect
    is that a timeout of 300 ms ends it, and it is not started without the flag."""
    given = [f"--{flag}"] + ([value] if value is not None else [])
    without, with_it = None if endless else outcome(base([])), outcome(base(given))
    refused = with_it[0] == 2 and f"--{flag}" in with_it[3]
    if endless:
        ends = with_it[0] == 124 and "longer than its 300 ms" in with_it[3]
        ok(f"{name}: {'has an effect' if expected else 'is refused by its name'}", ends if expected else refused, with_it)
    elif expected:
        ok(f"{name}: has an effect", not refused and with_it[0] != 2 and with_it[:3] != without[:3], without, with_it)
    else:
        ok(f"{name}: is refused by its name", refused and with_it[0] != without[0], without, with_it)


known = {row[0] for row in ROWS} | APART
ok("every flag of run is in the table", flags_of("run") == known, flags_of("run") ^ known)
number = 0
# A sanitizer replaces malloc, and Python's limit does not count its memory.
SANITIZED = "memoryUsedBytes" not in glovebox("run", "-l", "python", "-e", "1", "--json").stdout

for flag, value, more, codes, alone, in_session in ROWS:
    for language in LANGUAGES:
        if SANITIZED and (flag, language) == ("memory", "python"):
            continue
        for mode, effective in (("run", alone), ("session", in_session)):
            number += 1
            code = codes.get(language, NOOP[language])
            if mode == "run" and codes is FUNCTION and language in ALONE_FUNCTION:
                code = ALONE_FUNCTION[language]
            own_value = value.replace("LANG", LONG.get(language, language)) if value else value
            own_more = more if (flag, language) != ("args", "shell") and (flag != "packages" or language == "node") else []
            judge(
                f"{mode} -l {language} --{flag}",
                lambda given, n=number: command(mode, language, code, [*own_more, *given], f"{n}-{len(given)}"),
                flag, own_value, language in effective, codes is ENDLESS,
            )
            for session in (f"{language}-{number}-0", f"{language}-{number}-1", f"{language}-{number}-2"):
                if mode == "session":
                    glovebox("session", "kill", session)

# --- flags with special rules ---


def refused(name, args, flag, words=""):
    done = glovebox(*args)
    as_json = "--json" in args and "unknown option '--json'" not in done.stderr
    said, other = (done.stdout, done.stderr) if as_json else (done.stderr, done.stdout)
    if as_json and said:
        said = json.loads(said)["error"]["message"]
    ok(f"refused: {name}", done.returncode == 2 and flag in said and words in said and not other, args, done)


def works(name, args, words):
    done = glovebox(*args)
    ok(name, done.returncode == 0 and words in done.stdout, args, done)


if HAS_NODE:
    refused("a module that is not allowed", ["run", "-l", "node", "--packages", "modules", "-e", "1"], "--packages", "--allow")
    refused("packages that are not there", ["run", "-l", "node", "--packages", "none", "--allow", "x", "-e", "1"], "--packages")
refused("--allow without --restricted", ["run", "-l", "python", "--allow", "os", "-e", "1"], "--allow", "--restricted")
works("--allow with --restricted", ["run", "-l", "python", "--restricted", "--allow", "colorsys", "-e", "import colorsys; 7"], "7")
refused("--args of Python without --fn", ["run", "-l", "python", "--args", "[1]", "-e", "1"], "--args", "--fn")
for mode in ([], ["--session", "p"]):
    refused(f"--profile of JavaScript {mode}", ["run", *mode, "-l", "js", "--profile", "data", "-e", "1"], "--profile")
    refused(f"--net of JavaScript {mode}", ["run", *mode, "-l", "js", "--net", "a.example", "-e", "1"], "--net")
    refused(f"--net of a host that the settings do not allow {mode}", ["run", *mode, "-l", "python", "--net", "a.example",
            "-e", "1"], "--net", "network.allowlist")
refused("a profile that is not there", ["run", "-l", "python", "--profile", "none", "-e", "1"], "--profile")
refused("sessions of Deno", ["run", "--session", "d", "-l", "deno", "-e", "1"], "--language")
refused("--profile of Deno, installed or not", ["run", "-l", "deno", "--profile", "data", "-e", "1"], "--profile")
works("--session", ["run", "--session", "p", "-l", "python", "-e", "x = 5"], "")
works("an existing session", ["run", "--session", "p", "--profile", "stdlib", "-e", "x"], "5")
refused("another profile than the session has", ["run", "--session", "p", "--profile", "data", "-e", "x"], "--profile", "stdlib")
refused("another language than the session has", ["run", "--session", "p", "-l", "js", "-e", "x"], "-l", "python")
glovebox("session", "create", "-l", "shell", "--name", "s")
refused("a flag that the session's language does not know", ["run", "--session", "s", "--fn", "f", "-e", "x"], "--fn", "shell")
refused("session exec --fn in a shell", ["session", "exec", "s", "--fn", "f", "-e", "true"], "--fn", "shell")
refused("session exec --out that is no folder", ["session", "exec", "s", "--out", scratch + "/data", "-e", "true"], "--out")
refused("run --out that is no folder", ["run", "-l", "shell", "--out", scratch + "/data", "-e", "true"], "--out")
refused("session create --profile of JavaScript", ["session", "create", "-l", "js", "--profile", "data"], "--profile")
refused("session attach --json", ["session", "attach", "--json", "s"], "--json")
glovebox("session", "kill", "s")
glovebox("session", "kill", "p")

# --- values ---

refused("a text with U+0000 for a program", ["run", "-l", "shell", "--args", '["a\\u0000b"]', "-e", "echo $1"], "--args", "U+0000")
with open(scratch + "/zero.sh", "w", encoding="utf-8") as file:
    file.write("echo r\0m\n")
refused("a script with U+0000", ["run", "zero.sh"], "source", "U+0000")
refused("two files of one name", ["run", "-l", "shell", "--file", "data", "--file", "./data", "-e", "ls"], "--file", "data")
refused("code twice", ["run", "-e", "1", "-e", "2"], "--eval")
refused("code and a file", ["run", "-e", "1", "data"], "-e CODE")
AGENT = ["--set", "agent.enabled=true", "--set", "agent.autoApprove=true"]
for flag, long_value in (("purpose", 5000), ("conversation", 300), ("turn", 300), ("expected-output", 5000), ("trace", 20000)):
    refused(f"execute --{flag} that is too long", ["execute", "-e", "1", *AGENT, f"--{flag}", "1" * long_value], f"--{flag}")
refused("execute --trace that is not JSON", ["execute", "-e", "1", *AGENT, "--trace", "{"], "--trace")
refused("execute --args of Python", ["execute", "-l", "python", "-e", "1", "--args", "[1]", *AGENT], "--args")
refused("a name of a session that is too long", ["session", "create", "--name", "n" * 1000], "--name")
refused("a timeout that the settings do not allow", ["run", "-e", "1", "--timeout", "9999h"], "--timeout")
refused("less memory than is possible", ["run", "-e", "1", "--memory", "1"], "--memory")

# In every command: a flag with a value rejects an empty value, a second value, and a value that is not UTF-8.
MAY_BE_EMPTY = {"eval", "stdin", "purpose", "expected-output", "reason"}
MANY = {"input", "file", "allow", "net", "set"}
PATHS = {"file", "out", "packages", "config", "dir", "socket"}
COMMANDS = [["run"], ["execute"], ["stdio"], ["audit"], ["approvals"], ["energy"], ["prompt"], ["config"], ["secrets"]]
COMMANDS += [["session", name] for name in ("create", "exec", "list", "kill", "cleanup")]
for each in COMMANDS:
    text = glovebox(*each, "--help").stdout
    valued = re.findall(r"^  (?:-\w, |    )--([a-z-]+) [A-Z]", text, re.MULTILINE)
    for flag in valued:
        where = " ".join(each)
        if flag not in MAY_BE_EMPTY:
            refused(f"{where} --{flag} ''", [*each, f"--{flag}", ""], f"--{flag}")
        if flag not in PATHS:
            refused(f"{where} --{flag} that is not UTF-8", [*each, f"--{flag}", "a\udcff"], f"--{flag}")
    if "config" in valued:
        refused(f"{where} --config twice", [*each, "--config", "own.yaml", "--config", "own.yaml"], "--config")

# --- flags of another action of the same command ---

for args, flag in (
    (["config", "check", "--json"], "--json"), (["config", "docs", "--set", "a=1"], "--set"),
    (["config", "init", "new.yaml", "--config", "own.yaml"], "--config"), (["secrets", "list", "--stdin"], "--stdin"),
    (["secrets", "rm", "X", "--json"], "--json"), (["audit", "verify", "--status", "error"], "--status"),
    (["audit", "list", "--expect-key", "00" * 32], "--expect-key"), (["approvals", "show", "1234", "--all"], "--all"),
    (["approvals", "list", "--reason", "x"], "--reason"), (["approvals", "deny", "1234", "--json"], "--json"),
):
    refused(" ".join(args), args, flag)

plan()
shutil.rmtree(scratch)
