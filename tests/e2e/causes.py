#!/usr/bin/python3
"""Where the machine denies a layer, refusals and doctor name the cause. Each cause is brought about in a process of its
own, in new namespaces. Also: what the shipped seccomp profile allows and denies.

TAP. Needs GB_GLOVEBOX.
"""
import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
# The search for leaks stops the process with ptrace, which the profiles deny.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
SOURCE = Path(__file__).resolve().parents[2]
IS_ROOT = os.geteuid() == 0
libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE, MS_RDONLY, MS_REMOUNT = 0x1000, 0x4000, 0x40000, 1, 32
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
CAP_SETGID, CAP_SETUID = 6, 7


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), "call failed")


def mount(source, target, flags, kind=None):
    check(libc.mount(source and str(source).encode(), str(target).encode(), kind, ctypes.c_ulong(flags), None))


# --- running glovebox where something is denied

def own_namespaces():
    """As root of a user namespace if this is not root already. Mounts made later stay in the process."""
    uid, gid = os.geteuid(), os.getegid()
    check(libc.unshare(CLONE_NEWNS | (0 if IS_ROOT else CLONE_NEWUSER)))
    if not IS_ROOT:
        become_root_of_namespace(uid, gid)
    mount(None, "/", MS_REC | MS_PRIVATE)


def become_root_of_namespace(uid, gid):
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


def own_user_namespace():
    uid, gid = os.geteuid(), os.getegid()
    check(libc.unshare(CLONE_NEWUSER))
    become_root_of_namespace(uid, gid)


def glovebox(prepare, *arguments, program=GLOVEBOX):
    """Runs the program after prepare() in the same process. Returns exit status and output."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, preexec_fn=prepare, check=False)
    return done.returncode, done.stdout, done.stderr


def report_of(prepare):
    _, out, _ = glovebox(prepare, "doctor", "--json")
    return json.loads(out)


def finding(report, name):
    for part in report["layers"] + report["rooms"]:
        if part.get("layer", part.get("room")) == name:
            return part
    raise KeyError(name)


def check_cause(title, prepare, layer, verdict, name, mentions=""):
    try:
        found = finding(report_of(prepare), layer)
    except (subprocess.SubprocessError, ValueError) as error:
        tap.ok(title, False, str(error))
        return
    cause = found.get("cause", {})
    good = found["verdict"] == verdict and cause.get("name") == name and mentions in cause.get("text", "")
    # A layer that is missing says what to do: the remedy of the cause.
    good = good and (not name or bool(cause["remedy"])) and (verdict != "missing" or found["remedy"] == cause["remedy"])
    tap.ok(title, good, found)


# --- chroots

def bind_root(root):
    """Every folder of / below @root. What is in @root already stays."""
    for entry in Path("/").iterdir():
        copy = Path(root) / entry.name
        if entry.is_symlink():
            copy.symlink_to(entry.readlink())
        elif entry.is_dir() and entry.name != "lost+found":
            copy.mkdir(exist_ok=True)
            mount(entry, copy, MS_BIND | MS_REC)


def chrooted(is_mount):
    def prepare():
        root = tempfile.mkdtemp()
        own_namespaces()
        if is_mount:
            mount(root, root, MS_BIND)
        else:
            # On a file system of its own, so that nothing is left behind.
            mount(None, root, 0, b"tmpfs")
            root = os.path.join(root, "root")
            os.mkdir(root)
        bind_root(root)
        os.chroot(root)
        os.chdir("/")
    return prepare


# --- seccomp filters

ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
CALLS = {
    "x86_64": {"clone": 56, "unshare": 272, "clone3": 435, "mount": 165, "umount2": 166, "pivot_root": 155,
               "sethostname": 170, "mount_setattr": 442, "landlock_create_ruleset": 444, "seccomp": 317},
    "aarch64": {"clone": 220, "unshare": 97, "clone3": 435, "mount": 40, "umount2": 39, "pivot_root": 41,
                "sethostname": 161, "mount_setattr": 442, "landlock_create_ruleset": 444, "seccomp": 277},
}[os.uname().machine]


def load_filter(call, action, flags=0):
    """Answer @call with @action, if its first argument has one of @flags; 0: always."""
    code = [(0x20, 0, 0, 0), (0x15, 0, 3 if flags else 1, CALLS[call])]
    if flags:
        code += [(0x20, 0, 0, 16), (0x45, 0, 1, flags)]
    code += [(0x06, 0, 0, action), (0x06, 0, 0, ALLOW)]
    text = b"".join(struct.pack("HBBI", *one) for one in code)
    memory = ctypes.create_string_buffer(text)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(memory)))
    if not IS_ROOT:
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    check(libc.syscall(CALLS["seccomp"], 1, 0, program))


def filtered(call, action, flags=0):
    return lambda: load_filter(call, action, flags)


NEW_NAMESPACES = 0x7E020000  # the flags of clone that make one


# --- the shipped profile

SCMP_ACTIONS = {"SCMP_ACT_ALLOW": ALLOW, "SCMP_ACT_ERRNO": ERRNO}


class Argument(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint), ("op", ctypes.c_int), ("value", ctypes.c_uint64), ("mask", ctypes.c_uint64)]


def load_profile(profile, without=()):
    """As a container does, with libseccomp. @without: names that it does not allow."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ERRNO | profile["defaultErrnoRet"])))
    for rule in profile["syscalls"]:
        action = SCMP_ACTIONS[rule["action"]] | rule.get("errnoRet", 0)
        arguments = [Argument(one["index"], {"SCMP_CMP_NE": 1, "SCMP_CMP_EQ": 4}[one["op"]], one["value"], 0)
                     for one in rule.get("args", [])]
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            # Newer than this libseccomp, or not of this machine: the default, as in a container.
            if number >= 0 and name not in without:
                check(library.seccomp_rule_add_array(context, ctypes.c_uint32(action), number, len(arguments),
                                                     (Argument * len(arguments))(*arguments)))
    if not IS_ROOT:
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        library.seccomp_attr_set(context, 3, 0)
    check(library.seccomp_load(context))


def denied_by(profile, name):
    return any(name in rule["names"] for rule in profile["syscalls"] if rule["action"] != "SCMP_ACT_ALLOW")


# --- tests

def test_chroots():
    check_cause("a chroot", chrooted(is_mount=False), "user namespace", "missing", "chroot")
    status, _, err = glovebox(chrooted(is_mount=False), "run", "-e", "export default 1")
    tap.ok("a refused run names cause and remedy", status == 3 and "cause: this process is in a chroot" in err and
           "what to do: enter the root with pivot_root" in err, status, err)
    status, out, _ = glovebox(chrooted(is_mount=False), GLOVEBOX, program=str(SOURCE / "scripts/tour"))
    tap.ok("the tour stops at the first refusal and shows the cause", status == 3 and out.count("$ glovebox run") == 1 and
           "The tour stops" in out and "cause: this process is in a chroot" in out, status, out)
    if IS_ROOT:
        check_cause("a chroot into the root of a mount", chrooted(is_mount=True), "user namespace", "missing", "chroot")


def test_user_namespaces():
    def no_more(kind):
        def prepare():
            own_user_namespace()
            Path(f"/proc/sys/user/max_{kind}_namespaces").write_text("0")
        return prepare

    def without_capabilities():
        for capability in (CAP_SETUID, CAP_SETGID):
            check(libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))

    for kind in ("user", "net"):
        check_cause(f"a limit of 0 on {kind} namespaces", no_more(kind), "user namespace", "missing", "namespace-limit",
                    f"user.max_{kind}_namespaces")
    check_cause("root of a user namespace without other users", own_user_namespace, "user namespace", "missing",
                "unmapped-user")
    if IS_ROOT:
        check_cause("root without the capabilities to change its user", without_capabilities, "user namespace", "missing",
                    "dropped-capabilities")


def test_group_of_root():
    def prepare():
        os.setgroups([])
        os.setgid(0)
        os.setuid(65534)
        os.environ["HOME"] = "/nonexistent"

    # The build may be below a folder that is closed to other users.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name in ("glovebox", "glovebox-shell"):
            shutil.copy(Path(GLOVEBOX).parent / name, folder)
        done = glovebox(prepare, "run", "-l", "shell", "-e", "id -g; id -u", program=f"{folder}/glovebox")
    tap.ok("a user with the group 0 has another group in the sandbox", done[:2] == (0, "65534\n65534\n"), done)


def test_filters():
    eperm = ERRNO | 1
    for call, flags, layer in (("clone", NEW_NAMESPACES, "user namespace"), ("mount", 0, "mount namespace"),
                               ("umount2", 0, "mount namespace"), ("pivot_root", 0, "mount namespace"),
                               ("sethostname", 0, "uts namespace"), ("landlock_create_ruleset", 0, "landlock")):
        check_cause(f"a filter that denies {call}", filtered(call, eperm, flags), layer, "missing", "seccomp-profile",
                    f"denies {call}")
    check_cause("a filter that kills", filtered("umount2", KILL), "mount namespace", "missing", "seccomp-profile",
                "denies umount2")
    report = report_of(filtered("clone3", ERRNO | 38))
    tap.ok("a filter that hides clone3 is harmless", report["ok"] and
           not any(layer.get("cause") for layer in report["layers"] if layer["verdict"] == "missing"), report["ok"])


def test_masks():
    def mask_proc():
        own_namespaces()
        mount("/dev/null", "/proc/uptime", MS_BIND)

    def read_only_groups():
        own_namespaces()
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields, kind = line.split(" - ")[0].split(), line.split(" - ")[1].split()[0]
            if kind in ("cgroup", "cgroup2"):
                mount(None, fields[4], MS_REMOUNT | MS_BIND | MS_RDONLY)

    found = finding(report_of(mask_proc), "programs")
    tap.ok("a masked /proc: rooms without one, and the cause", found["verdict"] == "observed" and
           found["cause"]["name"] == "masked-proc", found)
    check_cause("control groups that are read-only", read_only_groups, "cgroup", "absent", "read-only-cgroups")


def test_profile():
    profile = json.loads((SOURCE / "deploy/glovebox-seccomp.json").read_text())
    found = report_of(lambda: load_profile(profile))
    tap.ok("behind the shipped seccomp profile every layer is raised", found["ok"],
           [layer for layer in found["layers"] if layer["verdict"] != "observed"], found["runtimes"])
    check_cause("behind the same profile without mount, none is", lambda: load_profile(profile, without=("mount",)),
                "mount namespace", "missing", "seccomp-profile", "denies mount")
    tap.ok("the shipped profile denies what acts on the whole machine",
           all(denied_by(profile, name) for name in ("bpf", "init_module", "kexec_load", "reboot", "setns", "ptrace",
                                                     "open_by_handle_at", "perf_event_open", "io_uring_setup")))


def main():
    report = report_of(None)
    tap.ok("without these causes the layers are raised", report["ok"] and
           not any(layer.get("cause") for layer in report["layers"] if layer["verdict"] == "missing"), report)
    test_chroots()
    test_user_namespaces()
    test_filters()
    if IS_ROOT:
        test_group_of_root()
        test_masks()
    test_profile()
    tap.plan()
    sys.exit(1 if tap.failed else 0)


signal.signal(signal.SIGPIPE, signal.SIG_DFL)
main()
