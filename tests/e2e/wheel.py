#!/usr/bin/python3
"""The wheel of the Python SDK in an empty virtual environment, with the sources out of sight. TAP. Needs GB_GLOVEBOX and
GB_SOURCE; GB_SANITIZE is the value of b_sanitize."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tap

BUILD, SOURCE = Path(os.environ["GB_GLOVEBOX"]).parent, Path(os.environ["GB_SOURCE"])
IS_ROOT = os.geteuid() == 0
if os.environ.get("GB_SANITIZE", "none") != "none":
    # Programs under a sanitizer load its runtime, which no wheel has.
    print("1..0 # SKIP the wheel is made of programs without sanitizers")
    sys.exit(0)
PYTHON = "/usr/bin/python3"
scratch = Path(tempfile.mkdtemp())
os.chmod(scratch, 0o755)
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith(("GLOVEBOX_", "GB_", "PYTHON", "PIP_", "VIRTUAL_ENV"))}
ENV.update(HOME=str(scratch), XDG_RUNTIME_DIR=str(scratch), PATH="/usr/bin:/bin", LC_ALL="C.UTF-8")


def run(*command, status=0):
    done = subprocess.run([str(part) for part in command], cwd=scratch, env=ENV, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    assert status is None or done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def hidden(*command, status=0, more=()):
    """With an empty folder in place of the sources and the build, and an empty file in place of the libraries @more."""
    folders = [SOURCE] + ([BUILD] if SOURCE not in BUILD.parents else [])
    lines = [f"mount -t tmpfs none '{folder}'" for folder in folders]
    lines += [f"mount --bind /dev/null '{path}'" for path in more]
    ids = [] if IS_ROOT else ["unshare", "-U", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
    script = "\n".join(["set -e", *lines, 'exec "$@"'])
    return run("unshare", *([] if IS_ROOT else ["-r"]), "-m", "sh", "-c", script, "sh", *ids, *command, status=status)


def files(pattern):
    return [str(path) for path in (scratch / "dist").glob(pattern)]


@tap.test("the wheel and the source distribution are made without a network")
def make():
    run("unshare", "-n", *([] if IS_ROOT else ["-r"]), SOURCE / "scripts/wheel", BUILD, scratch / "dist")
    assert len(files("*.whl")) == 1 and len(files("*.tar.gz")) == 1


@tap.test("the same sources give the same bytes")
def same():
    run(SOURCE / "scripts/wheel", BUILD, scratch / "again")
    wheel = Path(files("*.whl")[0])
    assert wheel.read_bytes() == (scratch / "again" / wheel.name).read_bytes()


@tap.test("pip installs it into an empty environment, without a network")
def install():
    run(PYTHON, "-m", "venv", scratch / "env")
    run(scratch / "env/bin/pip", "install", "--no-index", "--disable-pip-version-check", *files("*.whl"))
    run(scratch / "env/bin/pip", "check")


python = scratch / "env/bin/python"


@tap.test("python -m glovebox is the program")
def program():
    assert hidden(python, "-m", "glovebox", "run", "-e", "6*7").stdout == "42\n"
    assert hidden(scratch / "env/bin/glovebox", "run", "-l", "python", "-e", "6*7").stdout == "42\n"
    assert hidden(python, "-m", "glovebox", "run", "-l", "shell", "-e", "exit 3", status=3)


@tap.test("a program uses the SDK, with all it needs inside the environment")
def sdk():
    code = """
import glovebox, os
from glovebox import *
assert "/env/" in glovebox.__file__, glovebox.__file__
tools = ToolRegistry()
@tools.tool
def add(a: int, b: int) -> int:
    return a + b
with Glovebox(settings={"agent.enabled": True, "energy.enabled": False}, decides=["executor"]) as box:
    maps = open(f"/proc/{(box.run('1'), box._connection._transport._process.pid)[1]}/maps").read()
    assert "/env/" in maps and "_bundled/lib/libseccomp" in maps, maps
    print(box.run("[4 / 2]", language="python", check=True).result)
    print(box.run("echo a > b", language="shell", check=True).files)
    print(create_executor({}, tools, box).execute("return await add({a: 40, b: 2})").output)
"""
    assert hidden(python, "-I", "-c", code).stdout == "[2.0]\n{'b': b'a\\n'}\n42\n"


@tap.test("it has no library of the C library, and nothing that refers to another place")
def libraries():
    bundled = next((scratch / "env/lib").glob("python3*/site-packages/glovebox/_bundled"))
    for path in [path for path in bundled.rglob("*") if path.is_file()]:
        assert not re.match(r"(libc\.|libm\.|ld-linux|libpython)", path.name), path
        dynamic = run("readelf", "-d", path).stdout
        assert "RPATH" not in dynamic and set(re.findall(r"RUNPATH.*\[(.*?)\]", dynamic)) <= {
            "$ORIGIN", "$ORIGIN/../lib", "$ORIGIN/../../lib"}, dynamic


@tap.test("without the Python that it was built for, Python is refused, and doctor says so")
def other_python():
    loaded = run("ldd", BUILD / "glovebox-python").stdout
    library = os.path.realpath(re.search(r"libpython\S+ => (\S+)", loaded)[1])
    done = hidden(scratch / "env/bin/glovebox", "run", "-l", "python", "-e", "1", status=3, more=[library])
    assert "libpython" in done.stderr, done.stderr
    done = hidden(scratch / "env/bin/glovebox", "doctor", status=None, more=[library])
    assert re.search("(?i)python.*libpython", done.stdout + done.stderr), done.stdout
    assert hidden(scratch / "env/bin/glovebox", "run", "-e", "6*7", more=[library]).stdout == "42\n"


@tap.test("the source distribution has the SDK alone, and uses the Glovebox that it is told")
def sdist():
    run(PYTHON, "-m", "venv", "--system-site-packages", scratch / "other")
    run(scratch / "other/bin/pip", "install", "--no-index", "--no-build-isolation", "--disable-pip-version-check",
        *files("*.tar.gz"))
    bundled = next((scratch / "env/lib").glob("python3*/site-packages/glovebox/_bundled"))
    code = "from glovebox import *\ntry: Glovebox().run('1')\nexcept GloveboxError as e: print(e.code, e)\n"
    code += f"print(Glovebox({str(bundled / 'bin/glovebox')!r}).run('export default 1').result)"
    said = hidden(scratch / "other/bin/python", "-c", code).stdout.splitlines()
    assert said[0].startswith("not_found ") and said[1] == "1", said


tap.plan()
shutil.rmtree(scratch)
