#!/usr/bin/python3
"""An installed tree: complete, movable, independent of the sources, and never mixed up with another copy. TAP.

Needs GB_GLOVEBOX, GB_SOURCE, GB_OUTSIDE_MARK; GB_SANITIZE is the value of b_sanitize. What hides or replaces folders of the
machine (the sources, /usr/local) does so in a mount namespace of its own.
"""
import filecmp
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tap import ok, plan

GLOVEBOX, SOURCE, MARK = Path(os.environ["GB_GLOVEBOX"]), Path(os.environ["GB_SOURCE"]), os.environ["GB_OUTSIDE_MARK"]
BUILD = GLOVEBOX.parent
SANITIZE = os.environ.get("GB_SANITIZE", "none")
IS_ROOT = os.geteuid() == 0
SCRATCH = Path(tempfile.mkdtemp())
os.chmod(SCRATCH, 0o755)  # sandboxes look for packages and programs there
ENV = {k: v for k, v in os.environ.items() if not k.startswith("GLOVEBOX_") and k not in ("GB_WORKER_DIR", "PKG_CONFIG_PATH", "DESTDIR")}
ENV.update(HOME=str(SCRATCH), XDG_RUNTIME_DIR=str(SCRATCH), LC_ALL="C.UTF-8")
WORKERS = ["js", "python", "shell", "node", "deno", "probe"]


def run(*args, env=None, **how):
    how = {"cwd": SCRATCH, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace", **how}
    return subprocess.run([str(arg) for arg in args], env={**ENV, **(env or {})}, check=False, **how)


def install(prefix, destdir="", **how):
    return run(SOURCE / "scripts/install", BUILD, prefix, env={"DESTDIR": str(destdir)}, **how)


def remove(prefix, destdir=""):
    return run(SOURCE / "scripts/install", "--remove", prefix, env={"DESTDIR": str(destdir)})


def run_mounted(mounts, *args, **how):
    """Run with mounts of its own: (what, where); None is an empty folder."""
    lines = [f"mount -t tmpfs none '{where}'" if what is None else f"mount --bind '{what}' '{where}'" for what, where in mounts]
    script = "\n".join(["set -e", *lines, 'exec "$@"'])
    # An ordinary user is root while it mounts, and itself again in the program.
    ids = [] if IS_ROOT else ["unshare", "-U", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
    return run("unshare", *([] if IS_ROOT else ["-r"]), "-m", "sh", "-c", script, "sh", *ids, *args, **how)


def without_sources(*args, **how):
    return run_mounted([(None, SOURCE)] + ([(None, BUILD)] if SOURCE not in BUILD.parents else []), *args, **how)


def answers(done, wanted="42"):
    return done.returncode == 0 and done.stdout.strip() == wanted


JS = ["run", "-l", "js", "-e", "export default 6*7"]


def files_of(tree):
    return sorted(str(p.relative_to(tree)) for p in tree.rglob("*") if p.is_symlink() or not p.is_dir())


# --- installing

def check_install():
    first, second = SCRATCH / "first", SCRATCH / "stage/opt/second place"
    built = {path: path.stat().st_mtime_ns for path in BUILD.glob("*glovebox*") if path.is_file()}
    done = install(first)
    ok("make install installs", done.returncode == 0, done.stdout, done.stderr)
    listed = (first / "share/glovebox/files").read_text().split("\n")[:-1]
    ok("its list names every file", listed == files_of(first), set(listed) ^ set(files_of(first)))
    wanted = ["bin/glovebox", "lib/libglovebox.a", "lib/libglovebox.so", "lib/pkgconfig/glovebox.pc", "include/glovebox/glovebox.h",
              "share/doc/glovebox/LICENSE", "share/doc/glovebox/docs/README.md", "share/man/man1/glovebox.1", "share/man/man5/glovebox.yaml.5",
              "share/man/man3/libglovebox.3", "share/bash-completion/completions/glovebox", "share/zsh/site-functions/_glovebox",
              "share/fish/vendor_completions.d/glovebox.fish"] + [f"libexec/glovebox/glovebox-{name}" for name in WORKERS]
    found = [re.sub(r"^lib/.*(lib|pkgconfig/)", r"lib/\1", name) for name in listed]
    ok("program, workers, library, headers, manual, completions and documentation are there", set(wanted) <= set(found), set(wanted) - set(found))
    done = install("/opt/second place", SCRATCH / "stage", umask=0o077)
    ok("DESTDIR is put before PREFIX, which may contain a space", done.returncode == 0 and files_of(second) == files_of(first), done.stderr)
    same = filecmp.cmpfiles(first, second, files_of(first), shallow=False)
    ok("another PREFIX is the same bytes", not same[1] and not same[2], same[1:])
    ok("no program was built for it", built == {path: path.stat().st_mtime_ns for path in built})
    closed = [str(p) for p in second.rglob("*") if not p.is_symlink() and not os.stat(p).st_mode & 0o004]
    ok("under umask 077 every user can read it", not closed, closed)
    open_to_all = [str(p) for p in second.rglob("*") if not p.is_symlink() and os.stat(p).st_mode & 0o022]
    ok("only its owner can write to it", not open_to_all, open_to_all)
    done = install("relative/prefix")
    ok("a relative PREFIX is refused", done.returncode != 0 and "absolute" in done.stderr, done.stderr)
    return first


def check_move(first):
    tree = SCRATCH / "moved-here"
    first.rename(tree)
    done = without_sources("ls", SOURCE)
    ok("the sources are hidden from what follows", answers(done, ""), done.stdout, done.stderr)
    for name, code, wanted in [("js", "export default 6*7", "42"), ("python", "6*7", "42"), ("shell", "echo $((6*7))", "42")]:
        done = without_sources(tree / "bin/glovebox", "run", "-l", name, "-e", code)
        ok(f"after the move, without sources: {name} runs", answers(done, wanted), done.stdout, done.stderr)
    link = SCRATCH / "link"
    link.symlink_to("moved-here/bin/glovebox")
    done = run(link, *JS)
    ok("workers are found through a symbolic link to the program", answers(done), done.stderr)
    done = run(tree / "bin/glovebox", "session", "create", "-l", "js", "--name", "moved", env={"GLOVEBOX_SESSION_LINGER": "100ms"})
    ended = run(tree / "bin/glovebox", "session", "kill", "moved")
    ok("sessions start from the moved tree", done.returncode == 0 and ended.returncode == 0, done.stderr, ended.stderr)
    return tree


# --- the library

def pkg_config(tree, *args):
    folder = next(tree.rglob("glovebox.pc")).parent
    done = run("pkg-config", *args, "glovebox", env={"PKG_CONFIG_PATH": str(folder)})
    return done.stdout.strip() if done.returncode == 0 else "pkg-config failed: " + done.stderr


def compile_example(tree, name, *flags):
    """As a user would, in a shell: pkg-config quotes what is special to it."""
    program = SCRATCH / f"{name}{len(flags)}"
    words = " ".join(flags) + (f" -fsanitize={SANITIZE}" if SANITIZE != "none" else "")
    source = tree / f"share/doc/glovebox/examples/{name}.c"
    done = without_sources("sh", "-c", f"cc -Wall -Werror '{source}' -o '{program}' {words}")
    return program, done


def check_library(tree):
    flags = pkg_config(tree, "--cflags", "--libs")
    folder = pkg_config(tree, "--variable=libdir")
    rpath = f"-Wl,-rpath,'{folder}'"
    for name, wanted in [("run", "success: 42"), ("bridge", "")]:
        program, done = compile_example(tree, name, flags, rpath)
        ok(f"examples/{name}.c compiles against the moved tree", done.returncode == 0, done.stderr)
        done = without_sources(program)
        ok(f"examples/{name}.c runs", done.returncode == 0 and wanted in done.stdout, done.stdout, done.stderr)
    workers = pkg_config(tree, "--variable=workerdir")
    chosen = f"""-DWORKER_DIR='"{workers}"'"""
    static = pkg_config(tree, "--static", "--cflags", "--libs")
    # A sanitizer cannot be linked statically: only the library is, then.
    how = "-static" if SANITIZE == "none" else "-Wl,-Bstatic"
    static = static if SANITIZE == "none" else static.replace("-lglovebox", "-lglovebox -Wl,-Bdynamic")
    program, done = compile_example(tree, "run", chosen, how, static)
    ok("examples/run.c links statically with pkg-config --static", done.returncode == 0, done.stderr)
    linked = run("ldd", program)
    ok("it does not need the shared library", "libglovebox" not in linked.stdout, linked.stdout)
    done = without_sources(program)
    ok("it runs, and finds its workers by pkg-config's workerdir", answers(done, "success: 42"), done.stdout, done.stderr)
    program, done = compile_example(tree, "run", how, static)
    done = run(program)
    ok("without worker_dir it says where it looked", done.returncode == 3 and "worker_dir" in done.stderr, done.stderr)


# --- other copies

def decoy(tree):
    """A tree whose workers leave a mark if they are started outside a sandbox."""
    (tree / "libexec/glovebox").mkdir(parents=True)
    (tree / "bin").mkdir()
    for name in WORKERS:
        shutil.copy(MARK, tree / f"libexec/glovebox/glovebox-{name}")
    return tree


def marks(tree):
    """The marks in a tree, which are removed."""
    found = sorted(tree.rglob("*.ran"))
    for path in found:
        path.unlink()
    return found


def check_decoys(tree):
    local = decoy(SCRATCH / "local")
    at_local = [(local, "/usr/local")]
    shutil.copy(GLOVEBOX, local / "bin/glovebox")
    done = run_mounted(at_local, "/usr/local/bin/glovebox", *JS)
    ok("control: an older copy in /usr/local starts its own workers", done.returncode != 0 and marks(local), done.stdout, done.stderr)
    done = run_mounted(at_local, GLOVEBOX, *JS)
    ok("a checkout's program does not start workers of /usr/local", answers(done) and not marks(local), done.stdout, done.stderr)
    done = run_mounted(at_local, tree / "bin/glovebox", *JS)
    ok("a moved tree's program does not either", answers(done) and not marks(local), done.stdout, done.stderr)
    alone = SCRATCH / "alone"
    alone.mkdir()
    shutil.copy(GLOVEBOX, alone / "glovebox")
    done = run_mounted(at_local, alone / "glovebox", *JS)
    ok("a program without workers refuses, and does not use those of /usr/local", done.returncode == 3 and not marks(local), done.stdout, done.stderr)

    other = decoy(SCRATCH / "other")
    for name in WORKERS:
        shutil.copy(MARK, other / f"glovebox-{name}")
    done = run(alone / "glovebox", *JS, cwd=other)
    ok("the working directory has no influence", done.returncode == 3 and not marks(other), done.stdout, done.stderr)
    done = run("bash", "-c", f"exec -a '{other}/bin/glovebox' '{alone}/glovebox' \"$@\"", "sh", *JS)
    ok("argv[0] has no influence", done.returncode == 3 and not marks(other), done.stdout, done.stderr)
    paths = {name: f"{other}/libexec/glovebox:{other}/bin" for name in ["PATH", "LD_LIBRARY_PATH", "GB_WORKER_DIR", "GLOVEBOX_WORKER_DIR"]}
    done = run(alone / "glovebox", *JS, env=paths)
    ok("the environment has no influence", done.returncode != 0 and not marks(other), done.stdout, done.stderr)
    shutil.copy(alone / "glovebox", other / "bin/glovebox")
    run(other / "bin/glovebox", *JS)
    ok("control: beside them, it starts these workers", marks(other))


# --- workers that others can change

def refusal(tree, path, mode, wanted):
    before = os.stat(path).st_mode & 0o7777
    os.chmod(path, mode)
    done = run(tree / "bin/glovebox", *JS)
    os.chmod(path, before)
    return done.returncode == 3 and wanted in done.stderr, done.stdout, done.stderr


def check_permissions(tree):
    folder = tree / "libexec/glovebox"
    worker = folder / "glovebox-js"
    ok("a folder of workers that every user can write to is refused", *refusal(tree, folder, 0o777, "every user can write"))
    ok("a worker that every user can write to is refused", *refusal(tree, worker, 0o757, "every user can write"))
    done = run(tree / "bin/glovebox", *JS)
    ok("control: with its modes restored it runs", answers(done), done.stderr)
    if not IS_ROOT:
        ok("a worker of another user is refused # SKIP only root can give a file to another user", True)
        return
    os.chown(worker, 12345, -1)
    done = run(tree / "bin/glovebox", *JS)
    os.chown(worker, os.stat(tree / "bin/glovebox").st_uid, -1)
    ok("a worker of another user is refused", done.returncode == 3 and "belongs to user 12345" in done.stderr, done.stderr)


# --- manual and documentation

def names_of_commands(program):
    names = re.findall(r"^  glovebox (\S+)", run(program, "help").stdout, re.M)
    names = list(dict.fromkeys(name for name in names if name not in ("run'",)))
    subcommands = re.findall(r"^  glovebox session (\S+)  +\S", run(program, "session", "--help").stdout, re.M)
    return names + [f"session {name}" for name in subcommands if f"session {name}" not in names]


def check_manual(tree):
    program = tree / "bin/glovebox"
    names = names_of_commands(program)
    pages = {f"glovebox-{name.replace(' ', '-')}" for name in names}
    there = {page.stem for page in (tree / "share/man/man1").iterdir()} - {"glovebox"}
    ok("each command has a page, and no other", len(names) > 15 and pages == there, pages ^ there)
    silent = [name for name in names if f"man glovebox-{name.replace(' ', '-')}\n" not in run(program, *name.split(), "--help").stdout]
    ok("each --help names its page", not silent, silent)
    ok("a checkout's --help names no page that is not installed", "Manual page" not in run(GLOVEBOX, "run", "--help").stdout)
    missing = []
    for name in names:
        page = (tree / f"share/man/man1/glovebox-{name.replace(' ', '-')}.1").read_text().replace("\\-", "-")
        flags = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)(?= |$)", run(program, *name.split(), "--help").stdout, re.M)
        missing += [(name, flag) for flag in flags if flag not in page]
    ok("each option of --help is in the page", not missing, missing)
    settings = re.findall(r"^\| `([\w.]+)`<br>", run(program, "config", "docs").stdout, re.M)
    page = (tree / "share/man/man5/glovebox.yaml.5").read_text().split("\n")
    absent = [name for name in settings if f".B {name}" not in page]
    ok("glovebox.yaml(5) has every setting", len(settings) > 50 and not absent, absent)
    functions = set()
    for header in ["glovebox.h", "sessions.h", "value.h"]:
        text = (tree / "include/glovebox" / header).read_text()
        functions |= set(re.findall(r"^\w[^(\n]*\b(gb_\w+)\(", text, re.M))
    page = (tree / "share/man/man3/libglovebox.3").read_text()
    absent = sorted(name for name in functions if not re.search(rf"\b{name}\(", page))
    ok("libglovebox(3) has every function", len(functions) > 90 and not absent, absent)
    check_pages(tree)
    if shutil.which("man"):
        found = [run("man", "-w", "glovebox-run", env={"PATH": f"{where}/bin:/usr/bin:/bin"}).stdout.strip() for where in (tree, SCRATCH)]
        # Without it, man may find that of a copy in /usr/local.
        page = str(tree / "share/man/man1/glovebox-run.1")
        ok("man finds a page if the tree's bin is in PATH", found[0] == page and found[1] != page, found)
    else:
        ok("man finds a page if the tree's bin is in PATH # SKIP there is no man", True)


def check_pages(tree):
    pages = sorted((tree / "share/man").glob("man?/*"))
    if shutil.which("mandoc"):
        done = run("mandoc", "-T", "lint", "-W", "warning", *pages)
        warnings = [line for line in (done.stdout + done.stderr).split("\n") if line and "missing date" not in line]
        ok("mandoc finds no error in a page", not warnings, warnings)
    else:
        ok("mandoc finds no error in a page # SKIP there is no mandoc", True)
    if shutil.which("groff"):
        bad = [(page.name, done.stderr) for page in pages if (done := run("groff", "-man", "-ww", "-Tutf8", "-k", "-z", page)).stderr]
        ok("groff warns of nothing in a page", not bad, bad)
    else:
        ok("groff warns of nothing in a page # SKIP there is no groff", True)


def check_documentation(tree):
    dead = []
    for page in [*(tree / "share/doc/glovebox").rglob("*.md"), *(tree / "share/glovebox").rglob("README.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in link and not link.startswith("mailto:") and not (page.parent / link).exists():
                dead.append((page.name, link))
    ok("each link of the installed documentation leads somewhere", not dead, dead)
    texts = "".join(run(tree / "bin/glovebox", *name.split(), "--help").stdout for name in names_of_commands(tree / "bin/glovebox"))
    sources = re.findall(r"(?:docs|src|scripts|include)/[\w/]+\.\w+", texts)
    ok("--help names no file of the sources", not sources, sources)


def check_sdk(tree):
    sdk = tree / "share/glovebox/typescript"
    if not shutil.which("node") or not sdk.is_dir():
        ok("the SDK runs code with the program of its tree # SKIP there is no Node.js, or the SDK is not built", True)
        return
    script = f"import {{ runCode }} from '{sdk}/dist/index.js'; console.log((await runCode('export default 6*7')).result)"
    words = ["env", "PATH=/nonexistent", shutil.which("node"), "--input-type=module", "-e", script]
    # The Node.js of scripts/setup is below the sources.
    done = run(*words) if words[2].startswith(str(SOURCE)) else without_sources(*words)
    ok("the SDK runs code with the program of its tree", answers(done), done.stdout, done.stderr)


# --- updating and removing

def check_removal():
    tree, precious = SCRATCH / "tree", SCRATCH / "precious"
    install(tree)
    own = tree / "share/doc/of the user"
    own.write_text("mine")
    precious.write_text("mine")
    stale = tree / "share/glovebox/old/file"
    stale.parent.mkdir()
    stale.write_text("of an older version")
    files = tree / "share/glovebox/files"
    files.write_text(files.read_text() + "share/glovebox/old/file\n")
    done = install(tree)
    ok("an update removes files of the older version", done.returncode == 0 and not stale.parent.exists() and (tree / "bin/glovebox").exists(), done.stderr)
    files.write_text(files.read_text() + f"../precious\n{precious}\nshare/../../precious\n")
    done = remove(tree)
    ok("a list with paths outside of the tree removes nothing there", precious.exists(), done.stdout)
    ok("make uninstall removes everything, and leaves files of the user", done.returncode == 0 and files_of(tree) == ["share/doc/of the user"], files_of(tree), done.stderr)
    own.unlink()
    done = remove(tree)
    ok("a second time it says that nothing is installed", done.returncode != 0 and "no Glovebox" in done.stderr, done.stderr)
    moved = SCRATCH / "to move"
    install(moved)
    moved.rename(SCRATCH / "was moved")
    done = remove(SCRATCH / "was moved")
    ok("a moved tree can be removed, with its folders", done.returncode == 0 and list((SCRATCH / "was moved").rglob("*")) == [], done.stderr)


def main():
    tree = check_move(check_install())
    check_library(tree)
    check_decoys(tree)
    check_permissions(tree)
    check_manual(tree)
    check_documentation(tree)
    check_sdk(tree)
    check_removal()
    plan()


try:
    main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
