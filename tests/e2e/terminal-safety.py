#!/usr/bin/python3
"""No text of code, an agent or a project can control the terminal on which glovebox shows it. TAP.

Each command runs on a pseudo-terminal, with texts in which there is everything that terminals obey. What arrives must be
text, the colours of glovebox itself and line feeds. Needs GB_GLOVEBOX and GB_APPROVALS_MAKE.
"""
import base64
import json
import os
import pty
import re
import select
import shutil
import subprocess
import tempfile
import termios

from tap import ok, plan

GLOVEBOX = os.environ["GB_GLOVEBOX"]
WAIT_MAX_S = 120
MARK = "GUEST"
# OSC 52 (clipboard), title, clear, colour, C1 CSI, DEL, backspace, return, NEL, direction, separators, and a forged line.
HOSTILE = (
    MARK + "\x1b]52;c;eA==\x07\x1b]0;t\x1b\\\x1b[2J\x1b[31mRED\x9b31m\x85\x7f\x08\r\u061c\u200e\u200f\u202a\u202e\u2066"
    "\u2069\u2028\u2029\ufeff\nglovebox: FORGED"
)
# Without the characters that end a line in JavaScript or Python.
ONE_LINE = re.sub("[\r\x85\u2028\u2029\ufeff]", "", HOSTILE.split("\n")[0])
OWN_COLOURS = re.compile("\x1b\\[(?:0|1|2|31|32|33|36)m")
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

scratch = tempfile.mkdtemp()
ENV = {k: v for k, v in os.environ.items() if not k.startswith("GLOVEBOX_")}
ENV.update(
    TERM="xterm", HOME=scratch, XDG_RUNTIME_DIR=scratch + "/run", GLOVEBOX_STATE_DIR=scratch + "/state",
    GLOVEBOX_SESSION_LINGER="100ms", LC_ALL="C.UTF-8",
)
for name in ("NO_COLOR", "KITTY_WINDOW_ID", "TERM_PROGRAM"):
    ENV.pop(name, None)
os.mkdir(scratch + "/run", 0o700)
os.mkdir(scratch + "/out")


def on_terminal(args, keys=b"", until=None, stdin=None, env=None):
    """The bytes that glovebox writes to a terminal. The keys are typed after @until was shown."""
    master, slave = pty.openpty()
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST  # the terminal adds no carriage returns
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    process = subprocess.Popen(
        [GLOVEBOX, *args], stdin=slave if stdin is None else stdin, stdout=slave, stderr=slave,
        env={**ENV, **(env or {})}, cwd=scratch, start_new_session=True,
    )
    os.close(slave)
    got = b""
    while True:
        if not select.select([master], [], [], WAIT_MAX_S)[0]:
            process.kill()
            raise TimeoutError(f"no output for {WAIT_MAX_S} s: {args}")
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        got += piece
        if until and until in got:
            os.write(master, keys)
            until = None
    process.wait()
    os.close(master)
    return got


def is_own_colour_only(text):
    """Whether no colour is within a text of the guest."""
    return "\x1b[31mRED" not in text


def trouble(got, is_stream=False):
    """A description of unsafe output; None if there is none."""
    try:
        text = got.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error}"
    if not is_own_colour_only(text):
        return "a colour of the guest"
    text = text.replace("\r\x1b[K", "\n")  # a line of progress, which doctor and verify show when they take long
    found = FORBIDDEN.search(OWN_COLOURS.sub("", text))
    if found:
        return f"U+{ord(found[0]):04X} in {text[max(0, found.start() - 40):found.start() + 20]!r}"
    if not is_stream and re.search("^glovebox: FORGED", OWN_COLOURS.sub("", text), re.MULTILINE):
        return "a line that looks like one of glovebox"
    return None


def safe(name, args, is_stream=False, shows=MARK, **how):
    """Checks that the output shows the text, and has no control sequences."""
    got = on_terminal(args, **how)
    wrong = trouble(got, is_stream)
    ok(name, wrong is None and shows.encode() in got, wrong or f"{shows} is not shown", got)
    return got


def js(text):
    return json.dumps(text)


def plain(*args, **how):
    return subprocess.run([GLOVEBOX, *args], env=ENV, cwd=scratch, stdin=subprocess.DEVNULL, capture_output=True, **how)


# --- the probe itself ---

for character in sorted(set(HOSTILE) - {"\n"}):
    if FORBIDDEN.match(character):
        ok(f"the probe finds U+{ord(character):04X}", trouble(f"a{character}b".encode()) is not None)
ok("the probe finds single bytes and forged lines", trouble(b"\x9b31m") and trouble(b"x\nglovebox: FORGED\n"))
ok("the probe accepts text and the colours of glovebox", trouble("é\t中\n\x1b[31merror\x1b[0m: x\n".encode()) is None)

# --- run ---

PY_PRINT = f"import sys; sys.stdout.write({js(HOSTILE)}); sys.stderr.write({js(HOSTILE)})"
raw = plain("run", "-l", "python", "-e", PY_PRINT)
ok("a pipe gets the raw output of the program, and the probe finds it there", raw.stdout.startswith(HOSTILE.encode()) and trouble(raw.stdout), raw)

THROWS = f"const e = new Error({js(HOSTILE)}); e.name = {js(HOSTILE)}; e.stack = {js(HOSTILE)}; throw e"
RUNS = [
    ("a log", ["-l", "js", "-e", f"console.log({js(HOSTILE)}, {{[{js(HOSTILE)}]: 1}}); console.error({js(HOSTILE)})"], True),
    ("a result", ["-l", "js", "-e", f"export default {js(HOSTILE)}"], True),
    ("a result that is an error", ["-l", "js", "-e", f"export default Object.assign(new Error({js(HOSTILE)}), {{stack: ''}})"], True),
    ("an error", ["-l", "js", "-e", THROWS], False),
    ("a link error", ["-l", "js", "-e", f"import {js(HOSTILE)}"], False),
    ("a line of the code", ["-l", "js", "-e", f"/* {ONE_LINE} */ {MARK}.x"], False),
    ("a name that is not exported", ["-l", "js", "-e", "1", "--fn", HOSTILE], False),
    ("output", ["-l", "python", "-e", PY_PRINT], True),
    ("output that is not UTF-8", ["-l", "python", "-e", f"import os; os.write(1, b'{MARK}\\x9b31m\\xff'); os.write(2, b'\\xc3')"], True),
    ("an error of Python", ["-l", "python", "-e", f"raise type('E', (Exception,), {{}})({js(HOSTILE)})"], False),
    ("output of the shell", ["-l", "shell", "-e", f"printf '%b' {js(HOSTILE)}; printf '%b' {js(HOSTILE)} >&2; exit 3"], True),
]
for name, args, is_stream in RUNS:
    safe(f"run: {name}", ["run", *args], is_stream)
    got = safe(f"run --json: {name}", ["run", "--json", *args], True)
    try:
        json.loads(got)
        ok(f"run --json: {name} is JSON", True)
    except ValueError as error:
        ok(f"run --json: {name} is JSON", False, str(error), got)
if shutil.which("node"):
    safe("run: an error of Node.js", ["run", "-l", "node", "-e", THROWS])
FILE = HOSTILE.replace("\\", "").replace("/", "")
safe("run --out: names of files", ["run", "-l", "python", "-e", f"open({js(FILE)}, 'w').write('x')", "--out", scratch + "/out"])
safe("run: a character whose bytes come one by one",
     ["run", "-l", "python", "-e", f"import os\nfor b in '{MARK}é中😀'.encode(): os.write(1, bytes([b]))"], shows="é中😀")
safe("run: a program's path", ["run", HOSTILE.replace("/", "")])

# --- sessions ---

plain("session", "create", "-l", "shell", "--name", "s", "--conversation", HOSTILE)
plain("session", "create", "-l", "js", "--name", "j", "--conversation", HOSTILE)
safe("session list", ["session", "list"])
safe("session list --json", ["session", "list", "--json"])
safe("session exec: output", ["session", "exec", "s", "-e", f"printf '%b' {js(HOSTILE)}"], True)
safe("session exec: an error", ["session", "exec", "j", "-e", THROWS])
safe("session exec --json", ["session", "exec", "j", "--json", "-e", THROWS], True)
safe("session exec: a question", ["session", "exec", "s", "-e", f"read -p {js(HOSTILE)} x; echo $x"], True,
     keys=b"yes\n", until=b"FORGED", shows="yes")
plain("session", "kill", "j", "--reason", HOSTILE)
safe("session list: why one has ended", ["session", "list"])
safe("session exec: why it has ended", ["session", "exec", "j", "-e", "1"])
safe("session create: a name", ["session", "create", "--name", HOSTILE])
safe("session kill: a name that is not UTF-8", ["session", "kill", MARK + "\udc9b31m"], shows="UTF-8")
plain("session", "kill", "s")

# --- agents ---

AGENT = ["--purpose", HOSTILE, "--expected-output", HOSTILE, "--conversation", HOSTILE, "--set", "agent.enabled=true"]
CODE = f"# {ONE_LINE}\n" + f"print({js(HOSTILE)}); raise ValueError({js(HOSTILE)})"
safe("execute", ["execute", "-l", "python", "-e", CODE, *AGENT, "--set", "agent.autoApprove=true"], True)
safe("execute --json", ["execute", "--json", "-l", "python", "-e", CODE, *AGENT, "--set", "agent.autoApprove=true"], True)
safe("audit list", ["audit", "list"])
safe("audit list --json", ["audit", "list", "--json"], True)
safe("audit show", ["audit", "show", "2"])
safe("audit export", ["audit", "export"], True)
safe("audit show: an id", ["audit", "show", HOSTILE])
maker = subprocess.run(
    [os.environ["GB_APPROVALS_MAKE"], scratch + "/state", "submit", "python", HOSTILE, HOSTILE],
    input=HOSTILE.encode(), env=ENV, capture_output=True, check=True,
)
approval = maker.stdout.decode().strip()
safe("approvals list", ["approvals", "list"])
safe("approvals list --json", ["approvals", "list", "--json"], True)
safe("approvals show", ["approvals", "show", approval])
safe("approvals show --json", ["approvals", "show", approval, "--json"], True)
safe("approvals watch", ["approvals", "watch"], keys=b"q\n", until=b"if you like): ")
safe("approvals deny: a reason", ["approvals", "deny", approval, "--reason", HOSTILE])
safe("approvals list --all", ["approvals", "list", "--all"])

# --- settings, secrets, programs ---

with open(scratch + "/own.yaml", "w", encoding="utf-8") as file:
    file.write(f"guard: {{shell: [{js(HOSTILE)}]}}\nstateDir: {js(HOSTILE)}\n")
with open(scratch + "/bad.yaml", "w", encoding="utf-8") as file:
    file.write(f"agent: {{enabled: {js(HOSTILE)}}}\n")
with open(scratch + "/key.yaml", "w", encoding="utf-8") as file:
    file.write(f"agent: {{{js(HOSTILE)}: true}}\n")
safe("config show", ["config", "show", "--config", "own.yaml"])
safe("config show --json", ["config", "show", "--json", "--config", "own.yaml"], True)
safe("config check: a value", ["config", "check", "bad.yaml"])
safe("config check: a key", ["config", "check", "key.yaml"], shows="invalid key")
safe("config check: a name of a file", ["config", "check", HOSTILE.replace("/", "")])
safe("secrets add: a name", ["secrets", "add", HOSTILE, "--stdin"], shows="letters")
safe("secrets rm: a name", ["secrets", "rm", HOSTILE], shows="glovebox secrets")
with open(scratch + "/output", "w", encoding="utf-8") as file:
    file.write(HOSTILE)
with open(scratch + "/output", encoding="utf-8") as file:
    safe("secrets mask", ["secrets", "mask"], True, stdin=file)
safe("version --runtimes", ["version", "--runtimes"], env={"GLOVEBOX_NODE": HOSTILE})
safe("version --runtimes --json", ["version", "--runtimes", "--json"], True, shows="null", env={"GLOVEBOX_NODE": HOSTILE})
safe("doctor", ["doctor"], env={"GLOVEBOX_NODE": HOSTILE})
with open(scratch + "/code.ts", "w", encoding="utf-8") as file:
    file.write(f"const x: string = `{HOSTILE}`;\n")
safe("ts-strip", ["ts-strip", "code.ts"], True)
safe("ts-strip --json", ["ts-strip", "--json", "code.ts"], True)
with open(scratch + "/bad.ts", "w", encoding="utf-8") as file:
    file.write(f"/* {ONE_LINE} */ enum {{\n")
safe("ts-strip: an error", ["ts-strip", "bad.ts"])

# --- pictures: by the protocol that the terminal announces, and as base64 only ---

PICTURE = b"\x89PNG" + HOSTILE.encode()
SHOW_PICTURE = ["run", "-l", "python", "-e", f"class P:\n  def _repr_png_(self): return {PICTURE!r}\ndisplay(P())"]
BASE64 = base64.b64encode(PICTURE).decode()
safe("a picture on a plain terminal", SHOW_PICTURE, shows="image/png")
for terminal, announced, drawn in (
    ("kitty", {"KITTY_WINDOW_ID": "1"}, f"\x1b_Ga=T,f=100,m=0;{BASE64}\x1b\\\n"),
    ("iTerm2", {"TERM_PROGRAM": "iTerm.app"}, f"\x1b]1337;File=inline=1;size={len(PICTURE)}:{BASE64}\a\n"),
):
    shown = on_terminal(SHOW_PICTURE, env=announced)
    ok(f"a picture on {terminal}", shown == drawn.encode(), shown)

# --- usage errors ---

safe("a command that does not exist", [HOSTILE])
safe("an option that does not exist", ["run", "--" + HOSTILE])
safe("a value that is wrong", ["run", "-e", "1", "--timeout", HOSTILE])

plan()
shutil.rmtree(scratch)
