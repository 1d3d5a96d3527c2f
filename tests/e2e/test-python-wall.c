/*
 * What Python code cannot do. Restricted code is rejected before it runs; unrestricted code has all of Python
 * inside the sandbox. Most rejected operations are shown to succeed in the same worker without a sandbox.
 */
#include <sys/stat.h>

#include "e2e/python-cases.h"
#include "e2e/python-run.h"

#define CANARY "canary-7c1f0e"

static struct gb_engine *engine;
static char canary_path[] = "/tmp/glovebox-canary-XXXXXX";

static void make_canary(void) {
	int fd = mkstemp(canary_path);
	if (fd < 0 || write(fd, CANARY, strlen(CANARY)) < 0 || fchmod(fd, 0666) != 0)
		exit(1);
	close(fd);
	setenv("GB_CANARY", CANARY, 1);
}

/* True if the file is unchanged. */
static bool canary_lives(void) {
	char *text = read_file(canary_path);
	bool ok = text && strcmp(text, CANARY) == 0;
	free(text);
	return ok;
}

/* @source with the canary's path in place of its "%s". */
static const char *about_canary(const char *source) {
	static char text[4096];
	snprintf(text, sizeof text, source, canary_path, canary_path, canary_path);
	return text;
}

static void check_restricted(const char *source) {
	struct gb_run *run = python_restricted(engine, source);
	CHECK(is_restricted(run));
	gb_run_destroy(run);
}

static void check_refused(const char *source, const char *name, const char *message) {
	struct gb_run *run = python(engine, source);
	if (!CHECK_REFUSED(run, name, message))
		printf("#   %s\n", source);
	gb_run_destroy(run);
}

static void check_gives(const char *source, const char *json) {
	struct gb_run *run = python(engine, source);
	CHECK_GIVES(run, json);
	gb_run_destroy(run);
}

/* Rejected in restricted mode; rejected by the sandbox; succeeds without a sandbox, at least for root. */
static void check_thrice(const char *source, const char *name, const char *message) {
	check_restricted(source);
	check_refused(source, name, message);
	if (geteuid() == 0)
		CHECK(works_bare(source));
}

/* --- operations that must be blocked --- */

TEST(test_code_execute_blocks_file_access) {
	check_thrice("open('/etc/passwd').read()", "FileNotFoundError", "/etc/passwd");
	check_thrice(about_canary("open('%s').read()"), "FileNotFoundError", "glovebox-canary");
	check_thrice("open('/proc/self/environ', 'rb').read()", "FileNotFoundError", "/proc");
	check_thrice("open('/proc/self/mem', 'rb')", "FileNotFoundError", "/proc");
	check_thrice("import os\nos.listdir('/')", "PermissionError", "'/'");
	check_thrice("import os\nos.listdir('/sys')", "FileNotFoundError", "/sys");
	check_thrice("import os\nos.listdir('/etc')", "PermissionError", "/etc");
	check_thrice("import pathlib\npathlib.Path('/root').stat()", "FileNotFoundError", "/root");
}

TEST(test_code_execute_blocks_network) {
	check_restricted("import urllib.request\nurllib.request.urlopen('http://127.0.0.1/')");
	check_refused(
	    "import urllib.request\nurllib.request.urlopen('http://127.0.0.1/')", "URLError", "no network");
	check_refused("import http.client\nhttp.client.HTTPConnection('example.com').request('GET', '/')",
	    "PermissionError", "no network");
	check_refused("import asyncio\nawait asyncio.open_connection('example.com', 80)", "PermissionError",
	    "no network");
	check_refused("import socket\nsocket.gethostbyname('localhost')", "PermissionError", "no network");
}

TEST(test_code_execute_blocks_imports) {
	static const char *const modules[] = {
	    "os", "sys", "subprocess", "socket", "shutil", "importlib", "builtins", "ctypes", "pickle"};
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		char source[64];
		snprintf(source, sizeof source, "import %s", modules[i]);
		check_restricted(source);
		struct gb_run *run = python(engine, source);
		CHECK_INT(gb_run_result(run)->status, GB_SUCCESS);
		gb_run_destroy(run);
	}
	check_restricted("__import__('os')");
	check_gives("sorted(__import__('os').environ.get(n) or '' for n in ('GB_CANARY', 'HOME', 'PATH'))",
	    "[\"\",\"\",\"\"]");
}

TEST(test_code_execute_blocks_exec) {
	check_restricted("exec('import os')");
	check_refused("exec('import os; os.execv(\"/bin/ls\", [\"ls\"])')", "PermissionError",
	    "os.execv is not possible");
	check_gives("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
		    "[libc.execve(b'/usr/lib/os-release', None, None), ctypes.get_errno()]",
	    "[-1,1]");
}

TEST(test_blocks_os_access) {
	check_restricted("import os\nos.environ");
	check_gives(
	    "import os\n[os.environ.get('GB_CANARY'), os.uname().nodename, os.getpid() < 5, os.getppid()]",
	    "[null,\"glovebox\",true,0]");
	check_thrice("import os\nos.kill(os.getppid(), 0)", "PermissionError", "not permitted");
	check_thrice("import os\nos.setuid(0)", "PermissionError", "not permitted");
	check_refused("import os\nos.chroot('/box')", "PermissionError", "not permitted");
	check_refused("import os\nos.sched_setaffinity(0, {0})", "PermissionError", "not permitted");
}

TEST(test_blocks_network_socket) {
	check_restricted("import socket\nsocket.socket()");
	check_refused("import socket\nsocket.socket()", "PermissionError", "no network");
	/* Bypasses the error messages of the runtime. */
	static const char source[] =
	    "import _socket, ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
	    "seen = set()\nfor family in (1, 2, 10, 16, 17, 40):\n"
	    "    if libc.socket(family, 1, 0) < 0: seen.add((family, ctypes.get_errno()))\n"
	    "[sorted(seen)]";
	check_gives(source, "[[[1,1],[2,1],[10,1],[16,1],[17,1],[40,1]]]");
	CHECK(works_bare("import ctypes\nassert ctypes.CDLL(None).socket(2, 1, 0) >= 0"));
	check_refused("import _socket\n_socket.socket(1, 1)", "PermissionError", "not permitted");
	CHECK(works_bare("import _socket\n_socket.socket(1, 1)"));
}

TEST(test_blocks_file_write) {
	check_restricted("open('/tmp/x', 'w')");
	check_thrice(about_canary("open('%s', 'r+').close()"), "FileNotFoundError", "glovebox-canary");
	check_thrice("open('/etc/ld.so.cache', 'r+').close()", "PermissionError", "ld.so.cache");
	check_refused("open('/usr/lib/x', 'w')", "OSError", "Read-only file system: '/usr/lib/x'");
	check_refused("open('/x', 'w')", "OSError", "Read-only file system: '/x'");
	check_refused("import os\nos.unlink('/usr/lib/os-release')", "OSError", "Read-only");
	check_refused("import os\nos.chmod('/usr/lib/os-release', 0o777)", "OSError", "Read-only");
	check_gives("import os\nopen('/box/f', 'w').write('a'); open('/tmp/f', 'w').write('b')\n"
		    "[os.getcwd(), os.listdir('.'), os.listdir('/tmp')]",
	    "[\"/box\",[\"f\"],[\"f\"]]");
	check_gives("import os\n[os.listdir('/box'), os.listdir('/tmp')]", "[[],[]]");
	CHECK(canary_lives());
}

TEST(test_blocks_subprocess) {
	check_restricted("import subprocess\nsubprocess.run(['ls'])");
	check_refused(
	    "import subprocess\nsubprocess.run(['ls'])", "PermissionError", "subprocess is not possible");
	check_refused("import multiprocessing\nmultiprocessing.Process(target=print).start()",
	    "PermissionError", "is not possible");
	check_refused("from concurrent.futures import "
		      "ProcessPoolExecutor\nProcessPoolExecutor().submit(print).result()",
	    "PermissionError", "is not possible");
#ifdef __x86_64__
	/* Bypasses the error messages of the runtime: fork, vfork, posix_spawn, and clone as the zygote may
	 * use it. */
	check_gives("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nseen = []\n"
		    "for n, *args in ((57,), (58,), (56, 17, 0, 0, 0, 0), (56, 0x20020011, 0, 0, 0, 0), "
		    "(435, 0, 0)):\n"
		    "    seen.append(libc.syscall(n, *args))\n"
		    "    if seen[-1] == 0: os._exit(0)\n"
		    "    seen[-1] = ctypes.get_errno()\n"
		    "seen",
	    "[1,1,1,1,38]");
#endif
	CHECK(works_bare(
	    "import ctypes, os\npid = ctypes.CDLL(None).fork()\nif pid == 0: os._exit(0)\nassert pid > 0"));
}

TEST(test_blocks_eval_exec) {
	check_restricted("eval('1')");
	check_restricted("exec('1')");
	check_restricted("compile('1', '', 'eval')");
	check_gives("eval('1 + 1')", "2");
	check_refused("eval('open(\"/etc/shadow\")')", "FileNotFoundError", "/etc/shadow");
}

TEST(test_resource_limit_memory) {
#ifdef __SANITIZE_ADDRESS__
	SKIP("the malloc of a sanitizer is not counted");
#endif
	for (int restricted = 0; restricted < 2; restricted++) {
		struct gb_run *run = python_with(engine,
		    (struct gb_run_options){.source = "x = []\nwhile True: x.append(bytearray(1 << 20))",
			.restricted = restricted});
		CHECK_STR(gb_status_name(gb_run_result(run)->status), "memory");
		CHECK_STR(gb_run_result(run)->error.name, "MemoryError");
		gb_run_destroy(run);
	}
	/* Bypasses Python's own accounting. */
	check_refused(
	    "import mmap\nxs = []\nwhile True:\n    m = mmap.mmap(-1, 1 << 24)\n    m.write(bytes(1 << 24))\n"
	    "    xs.append(m)",
	    "OSError", "Cannot allocate memory");
	struct gb_run *bomb =
	    python(engine, "import os\nfd = os.memfd_create('x')\nwhile True: os.write(fd, bytes(1 << 20))");
	CHECK_STR(gb_status_name(gb_run_result(bomb)->status), "memory");
	gb_run_destroy(bomb);
	check_refused(
	    "import ctypes\nassert ctypes.CDLL(None).memfd_create(b'x', 0) >= 0", "AssertionError", "");
	CHECK(works_bare("import ctypes\nassert ctypes.CDLL(None).memfd_create(b'x', 0) >= 0"));
	check_refused("i = 0\nwhile True:\n    open(f'/box/{i}', 'wb').write(bytes(1 << 20))\n    i += 1",
	    "OSError", "No space left");
	check_refused("i = 0\nwhile True:\n    open(f'/tmp/{i}', 'wb').close()\n    i += 1", "OSError",
	    "No space left");
}

/* Memory that no allocator counts, for a run with a limit of 64 MiB: it is limited, even if the code changes
 * its own limits. */
TEST(the_limit_of_mapped_memory_cannot_be_raised) {
#ifdef __SANITIZE_ADDRESS__
	SKIP("a sanitizer maps terabytes");
#endif
	static const char source[] =
	    "import mmap, resource\n"
	    "def fill():\n"
	    "    xs = []\n"
	    "    try:\n"
	    "        while len(xs) < 1000: xs.append(mmap.mmap(-1, 1 << 20))\n"
	    "    except OSError: pass\n"
	    "    return len(xs) < 300\n"
	    "seen = [fill()]\n"
	    "for limit in ((-1, -1), (1 << 40, -1), (resource.getrlimit(resource.RLIMIT_AS)[1] + 1,) * 2):\n"
	    "    try: resource.setrlimit(resource.RLIMIT_AS, limit)\n"
	    "    except ValueError: seen.append(fill())\n"
	    "seen";
	check_gives(source, "[true,true,true,true]");
	struct gb_session *session = NULL;
	CHECK(gb_session_open(engine, GB_PYTHON, NULL, &session, NULL));
	for (int i = 0; i < 2; i++) {
		struct gb_run *run =
		    python_with(engine, (struct gb_run_options){.session = session, .source = source});
		CHECK_GIVES(run, "[true,true,true,true]");
		gb_run_destroy(run);
	}
	gb_session_close(session);
}

/* Ten times 60 MiB of shared memory, of which one page each stays mapped: the address space limit does not
 * count the rest. */
TEST(shared_anonymous_memory_is_rejected) {
#ifdef __SANITIZE_ADDRESS__
	SKIP("a sanitizer maps terabytes");
#endif
	static const char source[] =
	    "import ctypes\n"
	    "libc = ctypes.CDLL(None, use_errno=True)\n"
	    "libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p\n"
	    "libc.mremap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int\n"
	    "libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long\n"
	    "size, failed = 60 << 20, ctypes.c_void_p(-1).value\n"
	    "for i in range(10):\n"
	    "    at = libc.mmap(None, size, 3, 0x21, -1, 0)\n"
	    "    if at == failed: raise OSError(ctypes.get_errno(), 'mmap')\n"
	    "    for page in range(0, size, 4096): ctypes.c_char.from_address(at + page).value = b'x'\n"
	    "    if libc.mremap(at, size, 4096, 0) == failed: raise OSError(ctypes.get_errno(), 'mremap')\n";
	check_refused(source, "PermissionError", "mmap");
	CHECK(works_bare(source));
	/* Python's shared anonymous mappings are made private, and work otherwise. */
	check_gives("import mmap\nm = mmap.mmap(-1, 8192)\nm.write(b'some')\nm.resize(16384)\n"
		    "r = mmap.mmap(-1, 4096, access=mmap.ACCESS_READ)\n"
		    "w = mmap.mmap(-1, 4096, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)\nw[0] = 1\n"
		    "[m[:4].decode(), len(m), len(r), type(m).__name__, isinstance(w, mmap.mmap)]",
	    "[\"some\",16384,4096,\"mmap\",true]");
}

TEST(test_resource_limit_cpu) {
	static const char *const sources[] = {
	    "while True: pass",
	    "import itertools\nsum(itertools.repeat(1))",
	    "import re\nre.match('(a*)*b', 'a' * 40)",
	    "import ctypes\nctypes.CDLL(None).pause()",
	    "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    try:\n        "
	    "while True: pass\n"
	    "    except BaseException: pass",
	    "import threading\n[threading.Thread(target=exec, args=('while True: pass',)).start() for _ in "
	    "range(8)]",
	};
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct gb_run *run =
		    python_with(engine, (struct gb_run_options){.source = sources[i], .timeout_ms = 300});
		const struct gb_result *result = gb_run_result(run);
		CHECK_STR(gb_status_name(result->status), "terminated");
		CHECK_STR(result->error.code, "timeout");
		CHECK_STR(result->error.message, "the run took longer than its 300 ms");
		CHECK(result->timed_out);
		gb_run_destroy(run);
	}
	struct gb_run *run = python_with(engine,
	    (struct gb_run_options){.source = "while True: pass", .restricted = true, .timeout_ms = 300});
	CHECK_STR(gb_run_result(run)->error.code, "timeout");
	gb_run_destroy(run);
}

/* The box contains no shell, and no other programs. */
TEST(test_code_execute_shell_blocks_rm) {
	check_restricted("import os\nos.system('rm -rf /')");
	check_refused(
	    about_canary("import os\nos.system('rm -f %s')"), "PermissionError", "os.system is not possible");
	check_gives(about_canary("import ctypes\nctypes.CDLL(None).system(b'rm -f %s')"), "32512");
	/* 127: the C library's status for a missing shell. */
	check_refused("import shutil\nshutil.rmtree('/usr/lib/python3')", "OSError", "Read-only");
	CHECK(canary_lives());
}

TEST(test_code_execute_shell_blocks_sudo) {
	check_restricted("import subprocess\nsubprocess.run(['sudo', 'id'])");
	check_refused("import os\nos.popen('sudo id')", "PermissionError", "os.popen is not possible");
	check_gives(
	    "import os\n[os.path.exists(p) for p in ('/usr/bin/sudo', '/bin/su', '/bin/sh', '/usr/bin/env')]",
	    "[false,false,false,false]");
	check_gives("import ctypes\nlibc = ctypes.CDLL(None)\n"
		    "[libc.setuid(0), libc.setgid(0), libc.setresuid(0, 0, 0), libc.prctl(38, 0, 0, 0, 0)]",
	    "[-1,-1,-1,-1]");
}

TEST(test_code_execute_shell_readonly_filesystem) {
	check_gives("import os\nwritten = []\n"
		    "for top in ('/', '/usr', '/usr/lib', '/usr/lib/python3', '/etc', '/dev', '/usr/share', "
		    "'/lib', '/lib64'):\n"
		    "    for act in (lambda p: open(p, 'w'), os.mkdir, lambda p: os.symlink('/box', p)):\n"
		    "        try: act(os.path.join(top, 'planted'))\n"
		    "        except OSError as e:\n"
		    "            if e.errno in (1, 2, 13, 30): continue\n"
		    "        written.append(top)\n"
		    "written",
	    "[]");
	check_restricted("open('/usr/lib/planted', 'w')");
}

TEST(test_sandbox_isolation_between_sessions) {
	struct gb_session *a = NULL, *b = NULL;
	CHECK(gb_session_open(engine, GB_PYTHON, NULL, &a, NULL) &&
	      gb_session_open(engine, GB_PYTHON, NULL, &b, NULL));
	struct gb_run *run = python_with(engine,
	    (struct gb_run_options){.session = a,
		.source = "import os, builtins, math\nsecret = 1\nbuiltins.leak = math.leak = 2\n"
			  "os.environ['LEAK'] = '3'\nopen('/tmp/leak', 'w').write('4')\nos.getpid()"});
	CHECK_INT(gb_run_result(run)->status, GB_SUCCESS);
	gb_run_destroy(run);
	run = python_with(
	    engine, (struct gb_run_options){.session = b,
			.source = "import os, builtins, math\n"
				  "['secret' in globals(), hasattr(builtins, 'leak'), hasattr(math, 'leak'),"
				  " 'LEAK' in os.environ, os.path.exists('/tmp/leak')]"});
	CHECK_GIVES(run, "[false,false,false,false,false]");
	gb_run_destroy(run);
	gb_session_close(a);
	gb_session_close(b);
	check_gives("['secret' in globals(), __import__('os').path.exists('/tmp/leak')]", "[false,false]");
}

/* --- native code in a cell --- */

/* Raw system calls, as made by native code: each fails with EPERM. */
TEST(native_code_gains_no_further_rights) {
#ifndef __x86_64__
	SKIP("the numbers are those of x86-64");
#endif
#ifdef __SANITIZE_ADDRESS__
	SKIP("sanitizer build: its filter admits more");
#endif
	check_gives(
	    "import ctypes\n"
	    "libc = ctypes.CDLL(None, use_errno=True)\n"
	    "t = b'tmpfs'\n"
	    "calls = dict(mount=(165, t, b'/box', t, 0, 0), umount2=(166, b'/tmp', 2), pivot_root=(155, "
	    "b'/box', b'/box'),\n"
	    "    unshare=(272, 0x10000000), setns=(308, 0, 0), chroot=(161, b'/box'), ptrace=(101, 16, 1, 0, "
	    "0),\n"
	    "    process_vm_readv=(310, 1, 0, 0, 0, 0, 0), kill=(62, 1, 9), tkill=(200, 1, 9), tgkill=(234, "
	    "1, 1, 9),\n"
	    "    pidfd_send_signal=(424, 0, 9, 0, 0), pidfd_getfd=(438, 0, 0, 0), bpf=(321, 0, 0, 0), "
	    "perf=(298, 0, 0, 0, 0, 0),\n"
	    "    io_uring_setup=(425, 8, 0), userfaultfd=(323, 1), keyctl=(250, 0, 0), add_key=(248, t, t, "
	    "t, 1, 0),\n"
	    "    memfd_create=(319, t, 0), memfd_secret=(447, 0), shmget=(29, 0, 4096, 0o1000), "
	    "mq_open=(240, t, 64, 0, 0),\n"
	    "    mmap_exec=(9, 0, 4096, 7, 0x22, -1, 0), personality=(135, 0x40000), setrlimit=(160, 7, t),\n"
	    "    open_tree=(428, -100, t, 1), fsopen=(430, t, 0), move_mount=(429, 0, t, 0, t, 0), "
	    "name_to_handle=(303, 0, t, 0, 0, 0),\n"
	    "    open_by_handle=(304, 0, 0, 0), init_module=(175, 0, 0, t), kexec=(246, 0, 0, 0, 0), "
	    "reboot=(169, 1, 2, 3, 0),\n"
	    "    swapon=(167, t, 0), sethostname=(170, t, 5), settimeofday=(164, 0, 0), syslog=(103, 3, 0, "
	    "0), acct=(163, 0),\n"
	    "    fanotify_init=(300, 0, 0), inotify_init=(253,), quotactl=(179, 0, 0, 0, 0), iopl=(172, 3),\n"
	    "    chown=(92, b'/box', 0, 0), mknod=(133, b'/box/n', 0o20666, 0x103), setxattr=(188, b'/box', "
	    "t, t, 1, 0),\n"
	    "    seccomp=(317, 1, 0, 0), prctl_dumpable=(157, 4, 1, 0, 0, 0), io_setup=(206, 8, 0), "
	    "sched_setscheduler=(144, 0, 1, t),\n"
	    "    setpriority=(141, 0, 0, -5), mlock=(149, 0, 4096), bind=(49, 0, 0, 0), listen=(50, 0, 1), "
	    "accept=(43, 0, 0, 0),\n"
	    "    connect=(42, 0, 0, 0), execveat=(322, -100, t, 0, 0, 0), splice=(275, 0, 0, 0, 0, 1, 0), "
	    "vmsplice=(278, 0, 0, 0, 0))\n"
	    "gained = {}\n"
	    "for name, (number, *args) in calls.items():\n"
	    "    args = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]\n"
	    "    value = libc.syscall(ctypes.c_long(number), *args)\n"
	    "    if value != -1 or ctypes.get_errno() != 1: gained[name] = [value, ctypes.get_errno()]\n"
	    "gained",
	    "{}");
}

TEST(capabilities_are_dropped_and_cannot_be_regained) {
	check_gives(
	    "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
	    "head = (ctypes.c_uint32 * 2)(0x20080522, 0)\ndata = (ctypes.c_uint32 * 6)(*[1 << 21] * 6)\n"
	    "[libc.capset(head, data), ctypes.get_errno()]",
	    "[-1,1]");
}

TEST(writable_memory_is_never_executable) {
	static const char source[] =
	    "import mmap\nm = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)";
	check_refused(source, "PermissionError", "not permitted");
	CHECK(works_bare(source));
	check_refused(
	    "import mmap, os\nfd = os.open('/box/code', os.O_RDWR | os.O_CREAT)\nos.ftruncate(fd, 4096)\n"
	    "mmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
	    "PermissionError", "not permitted");
	check_refused(
	    "import ctypes, shutil, glob\nshutil.copy(glob.glob('/usr/lib/*/libz.so*')[0], '/box/l.so')\n"
	    "ctypes.CDLL('/box/l.so')",
	    "OSError", "failed to map");
}

TEST(a_cell_sees_no_other_process) {
	struct gb_session *session = NULL;
	CHECK(gb_session_open(engine, GB_PYTHON, NULL, &session, NULL));
	check_gives("import ctypes, os\nlibc = ctypes.CDLL(None)\n"
		    "[p for p in range(1, 400) if libc.syscall(434, p, 0) >= 0] == [os.getpid()]",
	    "true");
	gb_session_close(session);
}

/* --- known escapes from restricted mode end in the sandbox --- */

/* The payload of an escape. */
static const char payload[] =
    "\n_gained, _refused = [], 0\n"
    "for _get in (lambda: open('%s').read(), lambda: __import__('os').environ['GB_CANARY'],\n"
    "             lambda: open('/etc/passwd').read(), lambda: open('/proc/self/environ').read(),\n"
    "             lambda: __import__('_socket').socket(1, 1)):\n"
    "    try: _gained.append(_get())\n"
    "    except Exception: _refused += 1\n"
    "print('gained', _gained, 'refused', _refused)\n";
static unsigned n_reached;

static void run_unrestricted(void) {
	const struct one_case *c = tap.data;
	struct gb_values *pool = gb_values_create(0);
	const struct gb_value *given =
	    *c->options ? gb_value_from_json(pool, c->options, strlen(c->options), NULL) : NULL;
	char source[sizeof c->source + 4096];
	snprintf(source, sizeof source, "%s%s", c->source, about_canary(payload));
	struct gb_run *run = python_with(engine, (struct gb_run_options){.source = source,
						     .globals = gb_value_get(given, "globals"),
						     .imports = gb_value_get(given, "imports"),
						     .modules = gb_value_get(given, "modules"),
						     .timeout_ms = 5000});
	char *all = run ? all_of(run) : NULL;
	/* Neither the host's environment nor its files. */
	if (CHECK(all) && !CHECK(!strstr(all, CANARY) && !strstr(all, "root:")))
		printf("#   %.2000s\n", all);
	/* Some escapes fail before they run the payload. */
	const char *told = all ? strstr(all, "gained [") : NULL;
	if (told && CHECK(strncmp(told, "gained [] refused 5", 19) == 0))
		n_reached++;
	CHECK(canary_lives());
	free(all);
	gb_run_destroy(run);
	gb_values_destroy(pool);
}

static void check_payload(void) {
	char source[4096 + 64];
	CHECK(n_reached > 100);
	snprintf(source, sizeof source, "%sassert len(_gained) == 5", about_canary(payload));
	CHECK(works_bare(source));
}

__attribute__((constructor)) static void set_up(void) {
	make_canary();
	add_table("escapes", run_unrestricted);
	tap_add("most_come_to_their_payload, which works without a wall", check_payload, NULL);
	engine = engine_with((struct gb_engine_options){.ready = 1u << GB_PYTHON, .shards = 1});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
	unlink(canary_path);
}
