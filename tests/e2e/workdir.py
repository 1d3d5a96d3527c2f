#!/usr/bin/python3
"""Working directories: what code reaches of a directory of the machine, and what it does not. TAP. Needs GB_GLOVEBOX.

Each attack is a program that prints LEAKED if it succeeds. It runs in a sandbox, where it must not, and without one in the
same place, where it must: so the attack works, and the wall is what stops it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
WAIT = 120  # seconds; only a test that fails takes that long
HAS = {name: shutil.which(name) is not None for name in ("node", "deno")}
LANGUAGES = ["js", "python", "shell", *(["node"] if HAS["node"] else []),
             # In CI, a missing Deno is a failure and no reason to skip.
             *(["deno"] if HAS["deno"] or "CI" in os.environ else [])]
top = Path(tempfile.mkdtemp())
top.chmod(0o755)
kept = {name: value for name, value in os.environ.items() if not name.startswith("GLOVEBOX_")}
ENV = kept | {"HOME": str(top / "home"), "GLOVEBOX_STATE_DIR": str(top / "state"), "XDG_RUNTIME_DIR": str(top / "run"),
              "GLOVEBOX_SESSION_LINGER": "100ms", "LC_ALL": "C.UTF-8"}
ENV.pop("XDG_CONFIG_HOME", None)
for name in ("home", "state", "run"):
    (top / name).mkdir(mode=0o700)


class Place:
    """A directory for code, in a folder with a secret that is not for it. Others may enter both: the wall decides."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(dir=top))
        self.folder.chmod(0o777)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.work.chmod(0o777)
        self.secret = self.folder / "secret"
        self.secret.write_text("LEAKED\n")
        self.secret.chmod(0o666)
        self.file("a.txt", "inside")

    def file(self, name, text):
        (self.work / name).write_text(text)
        (self.work / name).chmod(0o666)


def command(language, code, workdir, *options):
    return [GLOVEBOX, "run", "-l", language, "-e", code, "--workdir", str(workdir), *options]


def run(language, code, workdir, *options):
    return subprocess.run(command(language, code, workdir, *options), capture_output=True, text=True, env=ENV, timeout=WAIT,
                          check=False)


def glovebox(*arguments, **how):
    return subprocess.run([GLOVEBOX, *arguments], capture_output=True, text=True, env=ENV, timeout=WAIT, check=False, **how)


# --- use

READS = {
    "js": "Deno.readTextFileSync('a.txt')", "python": "open('/box/a.txt').read()", "shell": "cat a.txt",
    "node": "console.log(require('fs').readFileSync('a.txt', 'utf8'))", "deno": "console.log(await Deno.readTextFile('a.txt'))",
}
WRITES = {
    "js": "Deno.writeTextFileSync('b.txt', 'new')", "python": "open('b.txt', 'w').write('new')", "shell": "printf new > b.txt",
    "node": "require('fs').writeFileSync('b.txt', 'new')", "deno": "await Deno.writeTextFile('b.txt', 'new')",
}
for language in LANGUAGES:

    @tap.test(f"{language} reads the directory, and writes there only with :rw")
    def reads_and_writes():
        place = Place()
        done = run(language, READS[language], place.work)
        assert done.returncode == 0 and "inside" in done.stdout, done
        done = run(language, WRITES[language], place.work)
        assert done.returncode != 0 and not (place.work / "b.txt").exists(), done
        assert "ead-only file system" in done.stdout + done.stderr, done
        done = run(language, WRITES[language], f"{place.work}:rw")
        assert done.returncode == 0 and (place.work / "b.txt").read_text() == "new", done
        assert sorted(os.listdir(place.work)) == ["a.txt", "b.txt"], os.listdir(place.work)


@tap.test("a run without a directory sees none, and JavaScript no functions for files")
def without():
    assert glovebox("run", "-e", "typeof Deno").stdout == "undefined\n"
    assert "cannot import" in glovebox("run", "-e", "import 'glovebox:fs'").stderr
    assert glovebox("run", "-l", "shell", "-e", "ls /box").stdout == ""


@tap.test("the functions of JavaScript for files")
def functions_for_files():
    place = Place()
    code = """import * as fs from 'glovebox:fs';
    await fs.mkdir('d/e', {recursive: true});
    await fs.writeTextFile('d/e/t', 'h\\u00e9\\ud800');
    await fs.writeFile('d/e/b', new Uint8Array([0, 255]));
    await fs.writeTextFile('d/e/t', '+', {append: true});
    const names = [];
    for await (const {name, isFile} of fs.readDir('d/e')) names.push([name, isFile]);
    const errors = [];
    for (const attempt of [() => fs.readFile('none'), () => fs.mkdir('d'), () => fs.readTextFile('d'), () => fs.remove('d'),
        () => fs.writeTextFile('d/e/t', '', {createNew: true}), () => fs.writeTextFile('no', '', {create: false}),
        () => fs.readFile(7), () => fs.readFile('a\\0b'), () => fs.readFile('/etc/passwd'), () => fs.stat('a.txt/x')])
        errors.push(await attempt().then(() => 'none', (e) => e.name));
    await fs.rename('d/e/t', 'd/t');
    const {size, isDirectory, isFile} = await fs.stat('d/t');
    const text = await fs.readTextFile('d/t'), bytes = [...await fs.readFile('d/e/b')];
    await fs.remove('d', {recursive: true});
    export default {names: names.sort(), errors, size, isDirectory, isFile, text, bytes, left: [...fs.readDirSync('.')].map((e) => e.name)}"""
    done = run("js", code, f"{place.work}:rw", "--json")
    assert json.loads(done.stdout)["result"] == {
        "names": [["b", True], ["t", True]],
        "errors": ["NotFound", "AlreadyExists", "IsADirectory", "Error", "AlreadyExists", "NotFound", "TypeError", "TypeError",
                   "NotCapable", "NotADirectory"],
        "size": 7, "isDirectory": False, "isFile": True, "text": "h\u00e9\ufffd+", "bytes": [0, 255], "left": ["a.txt"]}, done


@tap.test("JavaScript removes a tree without following links, and opens no pipe for ever")
def trees_and_pipes():
    place = Place()
    (place.folder / "other").mkdir()
    (place.folder / "other" / "f").write_text("")
    (place.work / "d").mkdir(mode=0o777)
    (place.work / "d").chmod(0o777)
    (place.work / "d" / "link").symlink_to("../../other")
    os.mkfifo(place.work / "pipe")
    (place.work / "pipe").chmod(0o666)
    done = run("js", "Deno.removeSync('d', {recursive: true}); Deno.readFileSync('pipe').length", f"{place.work}:rw")
    assert done.stdout == "0\n" and (place.folder / "other" / "f").exists() and not (place.work / "d").exists(), done


@tap.test("a session keeps its directory, and another request does not change it")
def session():
    place = Place()
    assert glovebox("session", "create", "-l", "python", "--name", "w", "--workdir", "work:rw", cwd=place.folder).returncode == 0
    assert "inside" in glovebox("session", "exec", "w", "-e", "open('a.txt').read()").stdout
    listed = json.loads(glovebox("session", "list", "--json").stdout)
    assert [entry["workdir"] for entry in listed if entry["name"] == "w"] == [f"{place.work}:rw"], listed
    other = glovebox("run", "--session", "w", "-l", "python", "-e", "1", "--workdir", str(place.folder))
    assert other.returncode == 2 and "--workdir" in other.stderr, other
    assert glovebox("session", "kill", "w").returncode == 0


@tap.test("files of a working directory are no files of the result, and the directory stays as it is after the run")
def no_changed_files():
    place = Place()
    done = run("python", "open('b', 'w').write('x')", f"{place.work}:rw", "--json")
    assert "files" not in json.loads(done.stdout) and (place.work / "b").read_text() == "x", done
    assert oct(place.work.stat().st_mode & 0o7777) == "0o777"


# --- attacks

# Programs for Python: the same source runs in the sandbox and outside. SECRET is the path of the secret.
ATTACKS = {
    "an absolute path": "print(open(SECRET).read())",
    "a path with ..": "print(open('../secret').read())",
    "a deep path with ..": "print(open('/box/../../../..' + SECRET if in_box else 'x/../../secret').read())",
    "a link out that was there before": "print(open('link').read())",
    "an absolute link out that was there before": "print(open('absolute').read())",
    "a link to a folder outside": "print(open('up/secret').read())",
    "a link out that the code makes": "os.symlink('../secret', 'mine'); print(open('mine').read())",
    "a hard link to a file outside": "os.link('../secret', 'hard'); print(open('hard').read())",
    "a hard link through a link to a folder": "os.link('up/secret', 'hard'); print(open('hard').read())",
    "writing through a link out": "open('link', 'r+').write('LEAKED'); print(open('link').read())",
    "renaming a file from outside": "os.rename('../secret', 'moved'); print(open('moved').read())",
    "making a file outside": "open('../made', 'w').write('x'); print('LEAKED')",
    "removing a file outside": "os.remove('../secret'); print('LEAKED')",
    "listing the folder outside": "print('LEAKED' if 'secret' in os.listdir('..') else '')",
    "the root of a process": "print(open('/proc/self/root' + SECRET).read())",
    "the current folder of a process": "print(open('/proc/self/cwd/../secret').read())",
    "a program with the rights of its owner": "os.chmod('a.txt', 0o4755); print('LEAKED')",
    "a new program with the rights of its owner": "os.close(os.open('suid', os.O_CREAT | os.O_WRONLY, 0o6755))\n"
                                                  "os.umask(0); print('LEAKED' if os.stat('suid').st_mode & 0o6000 else '')",
    "a named pipe for programs outside": "os.mkfifo('pipe'); print('LEAKED')",
    "a socket for programs outside": "import socket; s = socket.socket(socket.AF_UNIX); s.bind('socket'); print('LEAKED')",
    # The code changes 'swap' between a folder and a link out, and opens a file in it meanwhile.
    "a race with a link out": """
import threading
os.mkdir('inner'); open('inner/secret', 'w').write('inner'); os.symlink('inner', 'swap')
stop = False
def change():
    for to in (['inner', '..'] * 100000):
        if stop:
            return
        os.symlink(to, 'next'); os.rename('next', 'swap')
thread = threading.Thread(target=change); thread.start()
found = ''
for _ in range(20000):
    try:
        found = open('swap/secret').read()
    except OSError:
        continue
    if 'LEAKED' in found:
        break
stop = True
thread.join()
print(found)""",
}


def prepared():
    place = Place()
    (place.work / "link").symlink_to("../secret")
    (place.work / "absolute").symlink_to(place.secret)
    (place.work / "up").symlink_to("..")
    (place.work / "x").mkdir()
    # Of the user of the sandbox, where that is another one, so that only the wall can refuse it to change them.
    if os.geteuid() == 0:
        for path in (place.work / "a.txt", place.secret):
            os.chown(path, 65534, 65534)
    return place


def attack(name, code):
    place = prepared()
    head = f"import os, sys\nSECRET = {str(place.secret)!r}\nin_box = os.getcwd() == '/box'\n"
    done = run("python", head + code, f"{place.work}:rw")
    assert "LEAKED" not in done.stdout, ("in the sandbox", done)
    assert place.secret.read_text() == "LEAKED\n" and not (place.folder / "made").exists(), os.listdir(place.folder)
    outside = subprocess.run([sys.executable, "-c", head + code], cwd=prepared_again(head, place), capture_output=True, text=True,
                             timeout=WAIT, check=False)
    assert "LEAKED" in outside.stdout, ("without the wall", outside)


def prepared_again(head, place):
    """The same place, as it was before the attack."""
    for entry in place.work.iterdir():
        if entry.name not in ("a.txt", "link", "absolute", "up", "x"):
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    return place.work


for name, code in ATTACKS.items():
    tap.test(f"refused: {name}")(lambda: attack(name, code))

# The same in programs, which have /proc and may start others.
SHELL_ATTACKS = {
    "the root of a process": 'cat "/proc/self/root$SECRET"',
    "the root of the first process": 'cat "/proc/1/root$SECRET"; cat "/proc/$$/root$SECRET"',
    "a descriptor of the current folder": 'cat /proc/self/cwd/../secret',
    "a link out": 'ln -s ../secret mine; cat mine link up/secret',
    "a hard link": 'ln ../secret hard && cat hard; ln -P up/secret hard2 && cat hard2',
    "a program with the rights of its owner": 'cp /bin/true t; chmod u+s t && [ -u t ] && echo LEAKED',
    "a named pipe": 'mkfifo pipe && echo LEAKED',
}


def shell_attack(code):
    place = prepared()
    head = f"SECRET={place.secret}\n"
    done = run("shell", head + code, f"{place.work}:rw")
    assert "LEAKED" not in done.stdout, ("in the sandbox", done)
    outside = subprocess.run(["bash", "-c", head + code], cwd=prepared_again(head, place), capture_output=True, text=True,
                             timeout=WAIT, check=False)
    assert "LEAKED" in outside.stdout, ("without the wall", outside)


for name, code in SHELL_ATTACKS.items():
    tap.test(f"refused to the shell: {name}")(lambda: shell_attack(code))


@tap.test("refused: making the directory writable again, and mounting another")
def remount():
    place = prepared()
    done = run("shell", "mount -o remount,rw,bind /box; mount --bind / /box; umount /box; echo x > b && echo LEAKED", place.work)
    assert "LEAKED" not in done.stdout and not (place.work / "b").exists(), done
    done = run("shell", "echo x > b && echo LEAKED", f"{place.work}:rw")
    assert "LEAKED" in done.stdout, ("without :rw nothing would be shown", done)


JS_ATTACKS = ["SECRET", "'../secret'", "'link'", "'absolute'", "'up/secret'", "'/proc/self/root' + SECRET", "'x/../../secret'"]
for language in [name for name in ("js", "node", "deno") if name in LANGUAGES]:

    @tap.test(f"refused in {language}: paths and links out")
    def js_attacks():
        place = prepared()
        read = "require('fs').readFileSync(path, 'utf8')" if language == "node" else "Deno.readTextFileSync(path)"
        code = (f"const SECRET = {json.dumps(str(place.secret))};\nfor (const path of [{', '.join(JS_ATTACKS)}, 'a.txt'])\n"
                f"try {{ console.log({read}) }} catch (e) {{ console.log(e.name) }}")
        done = run(language, code, f"{place.work}:rw")
        assert done.returncode == 0 and "LEAKED" not in done.stdout and "inside" in done.stdout, done
        if language != "node":
            assert done.stdout.count("NotCapable") + done.stdout.count("NotFound") == len(JS_ATTACKS), done
        outside = subprocess.run(["cat", "link", "absolute", "up/secret", "../secret"], cwd=place.work, capture_output=True,
                                 text=True, check=True)
        assert outside.stdout.count("LEAKED") == 4, outside


def started(code, workdir):
    """A run that has printed its first line, and waits for a file 'go' in the directory."""
    process = subprocess.Popen(command("python", code, workdir), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=ENV)
    line = process.stdout.readline()
    assert line == "ready\n", line
    return process


WAITS = "import os, time\nprint('ready', flush=True)\nwhile not os.path.exists('/box/go'): time.sleep(0.01)\n"


@tap.test("another directory in the place of this one during the run has no effect on it")
def swapped():
    place = prepared()
    process = started(WAITS + "print(open('/box/a.txt').read()); open('/box/new', 'w').write('x')", f"{place.work}:rw")
    old = place.folder / "old"
    place.work.rename(old)
    place.work.symlink_to(place.folder)
    (place.folder / "a.txt").write_text("LEAKED")
    assert (place.work / "a.txt").read_text() == "LEAKED"  # a path leads elsewhere
    (old / "go").write_text("")
    said, _ = process.communicate(timeout=WAIT)
    assert "inside" in said and "LEAKED" not in said and process.returncode == 0, said
    assert (old / "new").exists() and not (place.folder / "new").exists()


@tap.test("a folder that is moved out during the run leads nowhere")
def moved_out():
    place = prepared()
    (place.work / "x").chmod(0o777)
    code = "import os\nos.chdir('x')\n" + WAITS + """
for path in ('../secret', '../../secret'):
    try:
        print(open(path).read())
    except OSError as error:
        print(type(error).__name__)
"""
    process = started(code, f"{place.work}:rw")
    moved = place.folder / "moved"
    (place.work / "x").rename(moved)
    outside = subprocess.run(["cat", "../secret"], cwd=moved, capture_output=True, text=True, check=True)
    assert outside.stdout == "LEAKED\n"
    (place.work / "go").write_text("")
    said, _ = process.communicate(timeout=WAIT)
    assert process.returncode == 0 and "LEAKED" not in said and said.count("FileNotFoundError") == 2, said


# --- refusals


def refused(name, workdir, words, *more, **how):
    done = glovebox("run", "-e", "1", "--workdir", str(workdir), *more, **how)
    tap.ok(f"refused: {name}", done.returncode in (2, 3) and words in done.stderr and "workdir" in done.stderr and not done.stdout,
           done)


place = prepared()
refused("the root", "/", "'/' cannot be one")
refused("the root, by another name", "/..:rw", "'/' cannot be one")
refused("an interface of the kernel", "/proc/self", "interface of the kernel")
refused("a file", place.work / "a.txt", "ot a directory")
refused("a directory that is not there", place.work / "none", "No such file or directory")
refused("no directory", ":rw", "DIR:rw")
refused("a link in the current directory", "link-to-work", "link", cwd=place.folder) if (
    (place.folder / "link-to-work").symlink_to("work") or True) else None
top.chmod(0o777)
(top / "state").chmod(0o777)
refused("the state directory", top / "state", "the state of Glovebox")
refused("one that has the state directory", top, "Glovebox")
(top / "state" / "in").mkdir()
(top / "state" / "in").chmod(0o777)
refused("one in the state directory", top / "state" / "in", "the state of Glovebox")
(top / "home" / ".config").mkdir()
for each in ("home", "home/.config"):
    (top / each).chmod(0o777)
    refused(f"one that would have the settings: {each}", top / each, "the settings of Glovebox")
(place.folder / "closed").mkdir(mode=0o700)
(place.folder / "closed").chmod(0o700 if os.geteuid() == 0 else 0o100)
refused("one that the user of the sandbox may not read", place.folder / "closed",
        "may not read" if os.geteuid() == 0 else "ermission denied")
(place.folder / "closed").chmod(0o755 if os.geteuid() == 0 else 0o500)
refused("one that the user of the sandbox may not write", f"{place.folder}/closed:rw", "may not read and write")


@tap.test("agents, and clients for them, cannot name a directory")
def agents():
    done = glovebox("execute", "-e", "1", "--workdir", str(place.work))
    assert done.returncode == 2 and "--workdir" in done.stderr, done
    line = json.dumps({"type": "execute", "run": 1, "source": "1", "workdir": str(place.work)})
    done = glovebox("stdio", input=line + "\n")
    assert json.loads(done.stdout.splitlines()[1])["field"] == "workdir", done
    listed = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    (top / "state").chmod(0o700)
    config = top / "agents.yaml"
    config.write_text("agent: {enabled: true}\n")
    done = glovebox("mcp", "--config", str(config), input="".join(json.dumps(line) + "\n" for line in listed))
    assert "execute_code" in done.stdout and "workdir" not in done.stdout, done


@tap.test("a project's settings cannot name a directory")
def project():
    folder = top / "project"
    folder.mkdir()
    top.chmod(0o755)
    (folder / "glovebox.yaml").write_text(f"executor: {{workingDir: {place.work}}}\n")
    done = glovebox("config", "show", cwd=folder)
    assert "executor.workingDir is ignored: a project file may not set it" in done.stdout, done
    assert str(place.work) not in done.stdout, done


shutil.rmtree(top, ignore_errors=True)
tap.plan()
