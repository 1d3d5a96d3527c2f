/* Attacks by shell scripts: they do no harm, and the error explains why. */
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "e2e/shell.h"

/* During each attack another session runs in the same kind of sandbox, and must be unaffected. */
static struct gb_session *neighbour;

static void check_neighbour(void) {
	if (!neighbour) {
		neighbour = open_shell();
		check_run(neighbour, "x=mine; echo mine > /box/f; sleep 10000 &", 0, "");
	}
	check_run(neighbour, "echo $x; cat /box/f; jobs; head -c 1000000 /dev/zero | wc -c", 0,
	    "mine\nmine\n[1]+  Running                 sleep 10000 &\n1000000\n");
}

__attribute__((destructor)) static void leave_neighbour(void) {
	gb_session_close(neighbour);
	gb_engine_destroy(engine);
	engine = NULL;
}

struct attack {
	const char *title, *source;
	const char *says; /* expected in its output */
	int exit_code;    /* or ANY */
	bool refused;     /* rejected in restricted mode */
};

enum { ANY = -1 };

static const struct attack attacks[] = {
    {"rm -rf /", "rm -rf --no-preserve-root / 2>&1 | grep -m 1 'Read-only'; ls /usr/bin/env",
	"Read-only file system", 0, true},
    {"a file over the quota", "dd if=/dev/zero of=/box/x bs=1M count=100", "No space left on device", 1,
	true},
    {"as many files as there is room for, and more",
	"i=0; while : > /tmp/$i; do i=$((i + 1)); done; [ $i -lt 20000 ]", "No space left on device", 0,
	false},
    {"cat /etc/shadow", "cat /etc/shadow", "No such file or directory", 1, false},
    {"mount", "mount -t tmpfs none /tmp", "mount:", ANY, true},
    {"mount, past the program",
	"python3 -c 'import ctypes; print(ctypes.CDLL(None, use_errno=True).mount(b\"n\", "
	"b\"/tmp\", b\"tmpfs\", 0, None), ctypes.get_errno())'",
	"-1 1", 0, false},
    {"kill -9 -1", "sleep 1000 & kill -9 -1; sleep 0.1; echo alive", "alive", 0, true},
    {"kill -9 1", "kill -9 1; sleep 0.1; kill -TERM 1; kill -INT 1; sleep 0.1; echo alive", "alive", 0, true},
    {"typing into the terminal", "python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'",
	"Operation not permitted", 1, false},
    {"sudo", "sudo -n id || su -c id || echo no", "no", 0, true},
    {"setuid", "cp /usr/bin/id /tmp/id && chmod u+s /tmp/id && /tmp/id -u", "65534", 0, false},
    /* If an attack has several attempts, all of them must fail. */
    {"writing to the system",
	"n=0; for f in /usr/x /etc/x /x /opt/x /proc/sys/kernel/hostname; do (echo > $f) && n=1; done; [ $n "
	"= 0 ]",
	"Read-only file system", 0, false},
    {"looking into the keeper",
	"n=0; for f in environ maps mem; do (: < /proc/1/$f) && n=1; done; ls /proc/1/fd && n=1; [ $n = 0 ]",
	"Permission denied", 0, false},
    {"another network", "exec 9<>/dev/tcp/192.0.2.1/80 || echo no", "Network is unreachable", ANY, false},
    {"a namespace of its own", "! unshare -U id && ! unshare -r id", "Operation not permitted", 0, true},
    {"tracing", "python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))'", "-1", 0, false},
    {"devices", "mknod /tmp/d c 1 3 || echo no", "no", 0, true},
};

static void try_restricted(const struct attack *attack) {
	struct gb_session *session = open_shell();
	for (int once = 0; once < 2; once++) {
		struct gb_run *run;
		const struct gb_result *result = shell(&run,
		    (struct gb_run_options){
			.source = attack->source, .session = once ? NULL : session, .restricted = true});
		CHECK_STR(result->error.name, "RestrictedError");
		CHECK_STR(result->error.code, "restricted");
		CHECK_STR(result->stdout_text, "");
		gb_run_destroy(run);
	}
	check_run(session, "echo in step", 0, "in step\n");
	gb_session_close(session);
}

static void run_attack(void) {
	const struct attack *attack = tap.data;
	struct gb_session *session = open_shell();
	check_neighbour();
	for (int once = 0; once < 2; once++) {
		struct gb_run *run;
		const struct gb_result *result = shell(&run,
		    (struct gb_run_options){.source = attack->source, .session = once ? NULL : session});
		bool ok = CHECK(
		    strstr(result->stdout_text, attack->says) || strstr(result->stderr_text, attack->says));
		if (attack->exit_code != ANY)
			ok &= CHECK_INT(result->exit_code, attack->exit_code);
		if (!ok) {
			tap_quote("out: ", result->stdout_text);
			tap_quote("err: ", result->stderr_text);
		}
		gb_run_destroy(run);
	}
	check_run(session, "echo in step", 0, "in step\n");
	gb_session_close(session);
	check_neighbour();
	if (attack->refused)
		try_restricted(attack);
}

__attribute__((constructor)) static void add_attacks(void) {
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
		tap_add(attacks[i].title, run_attack, &attacks[i]);
}

static void on_bomb_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run, (void)stream;
	if (memmem(bytes, n, "Resource temporarily unavailable", 32))
		*(bool *)data = true;
}

/* The other session forks while the fork bomb has reached its limit. test-neighbours.c covers the case in
 * which their processes are counted together. */
TEST(fork_bomb_does_not_disturb_another_session) {
	const struct attack bomb = {.source = ":(){ :|:& };:; sleep 1000"};
	struct gb_session *session = open_shell();
	for (int once = 0; once < 2; once++) {
		bool full = false;
		struct gb_run *run = start(engine, (struct gb_run_options){.source = bomb.source,
						       .language = GB_SHELL,
						       .session = once ? NULL : session,
						       .timeout_ms = LONG_MS,
						       .on_output = on_bomb_output,
						       .data = &full});
		while (run && !full && !gb_run_settled(run))
			gb_engine_dispatch(engine, -1, NULL);
		CHECK(full);
		check_neighbour();
		gb_run_destroy(run);
	}
	gb_session_close(session);
	check_neighbour();
	check_run(NULL, "echo works", 0, "works\n");
	try_restricted(&bomb);
}

static bool lives(pid_t pid) {
	return waitpid(pid, NULL, WNOHANG) == 0;
}

/* The same command connects outside of a sandbox. */
TEST(server_of_the_host_cannot_be_reached) {
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(fd, (struct sockaddr *)&address, n) == 0 && listen(fd, 5) == 0 &&
	      getsockname(fd, (struct sockaddr *)&address, &n) == 0);
	char words[128], unboxed[160];
	snprintf(words, sizeof words, "(exec 9<>/dev/tcp/127.0.0.1/%d)", ntohs(address.sin_port));
	struct gb_run *run;
	const struct gb_result *result = shell(&run, (struct gb_run_options){.source = words});
	CHECK(strstr(result->stderr_text, "Connection refused"));
	CHECK_INT(result->exit_code, 1);
	gb_run_destroy(run);
	snprintf(unboxed, sizeof unboxed, "bash -c '%s'", words);
	CHECK_INT(system(unboxed), 0);
	close(fd);
}

/* The same command succeeds outside of a sandbox. */
TEST(host_processes_cannot_be_signalled) {
	pid_t pid = fork();
	if (pid == 0) {
		execlp("sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	char words[64], unboxed[128];
	snprintf(words, sizeof words, "kill -9 %d", (int)pid);
	struct gb_run *run;
	const struct gb_result *result = shell(&run, (struct gb_run_options){.source = words});
	CHECK(strstr(result->stderr_text, "No such process"));
	CHECK(lives(pid));
	gb_run_destroy(run);
	snprintf(unboxed, sizeof unboxed, "bash -c '%s'", words);
	CHECK_INT(system(unboxed), 0);
	waitpid(pid, NULL, 0);
	CHECK(kill(pid, 0) != 0);
}

TEST(host_files_cannot_be_reached) {
	char path[] = "/tmp/glovebox-shell-XXXXXX", words[64], unboxed[128];
	int fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, "secret", 6) == 6);
	close(fd);
	snprintf(words, sizeof words, "cat %s; rm %s", path, path);
	struct gb_run *run;
	const struct gb_result *result = shell(&run, (struct gb_run_options){.source = words});
	CHECK(strstr(result->stderr_text, "No such file"));
	CHECK(access(path, F_OK) == 0);
	gb_run_destroy(run);
	snprintf(unboxed, sizeof unboxed, "bash -c '%s' >/dev/null", words);
	CHECK_INT(system(unboxed), 0);
	CHECK(access(path, F_OK) != 0);
}
