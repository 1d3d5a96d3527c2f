/* Programs that take more memory than their run may have, in ways that are hard to count. Each attack is run
 * with a small limit, where it must be ended or refused, and with a large one, where the same program must
 * succeed. */
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "e2e/shell.h"
#include "engine/engine.h"
#include "sandbox/linux/cgroup.h"
#include "sandbox/linux/port.h"

/* MiB. Before it is ended, an attack can have allocated its limit, the amount that it allocates between two
 * measurements, and memory of the kernel that is not counted. */
enum { SMALL = 64, LARGE = 1024, TARGET = 384, TAKEN_MAX = 288 };
enum { WAIT_MAX_MS = 500000 };

/* With GB_NO_GROUPS set, cells have no control groups even where they could have. */
static struct gb_engine *make_engine(void) {
	struct gb_engine *made =
	    engine_with((struct gb_engine_options){.shards = 1, .ready = 1u << GB_LANGUAGES});
	if (made)
		made->port->has_no_cgroup = getenv("GB_NO_GROUPS");
	return made;
}

static struct gb_values *values;
static struct gb_value *programs;

static char *read_text(const char *path) {
	FILE *file = fopen(path, "re");
	enum { TEXT_MAX = 64 << 10 };
	char *text = calloc(1, TEXT_MAX);
	if (!file || !text || !fread(text, 1, TEXT_MAX - 1, file))
		exit(1);
	fclose(file);
	return text;
}

__attribute__((constructor)) static void read_programs(void) {
	char path[512];
	snprintf(path, sizeof path, "%s/memory/attacks.py", getenv("GB_TEST_DATA"));
	char *text = read_text(path);
	values = gb_values_create(0);
	programs = gb_value_object(values);
	gb_value_put_key(programs, "attacks.py", gb_value_string(values, text, strlen(text)));
	free(text);
	/* Programs may have half as many descriptors as the host, and these need their maximum. */
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		(void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){files.rlim_max, files.rlim_max});
	gb_engine_destroy(engine);
	engine = make_engine();
}

__attribute__((destructor)) static void forget_programs(void) {
	gb_values_destroy(values);
}

/* The number in the last line that has one. */
static unsigned long taken_by(const char *text) {
	unsigned long taken = 0;
	for (const char *at = text; (at = strstr(at, "took ")); at++)
		taken = strtoul(at + 5, NULL, 10);
	return taken;
}

static const struct gb_result *attack(const char *name, unsigned target, unsigned mib, struct gb_run **ret) {
	char source[200];
	snprintf(source, sizeof source, "exec /usr/bin/python3 attacks.py %s %u", name, target);
	return shell(ret, (struct gb_run_options){.source = source,
			      .files = programs,
			      .memory_bytes = (uint64_t)mib << 20,
			      .timeout_ms = WAIT_MAX_MS,
			      .output_bytes = 64 << 20});
}

/* That @name cannot take @target MiB with a small limit. */
static void check_attack_of(const char *name, unsigned target) {
	struct gb_run *run;
	const struct gb_result *result = attack(name, target, SMALL, &run);
	bool refused = result && result->exit_code == 3 && strstr(result->stdout_text, "refused");
	/* A control group of version 1 bounds buffers of TCP by refusing more, so the program fails. */
	refused = refused || (result && strcmp(name, "tcp") == 0 && result->status == GB_FAILURE);
	bool ok = CHECK(result) && (refused || CHECK_STR(gb_status_name(result->status), "memory"));
	ok = ok && CHECK(!strstr(result->stdout_text, "all\n")) &&
	     CHECK(taken_by(result->stdout_text) <= TAKEN_MAX);
	if (result)
		printf("# %s with %d MiB: %s, took %lu MiB\n", name, SMALL, gb_status_name(result->status),
		    taken_by(result->stdout_text));
	if (!ok && result)
		tap_quote(result->error.message, result->stderr_text);
	gb_run_destroy(run);
	/* Some resources are refused with any limit. */
	if (refused && strcmp(name, "tcp") != 0)
		return;
	result = attack(name, target, LARGE, &run);
	if (CHECK(result) && (!CHECK(strstr(result->stdout_text, "all\n")) ||
				 !CHECK(taken_by(result->stdout_text) >= target - 1)))
		tap_quote(result->error.message, result->stderr_text);
	gb_run_destroy(run);
}

static void check_attack(const char *name) {
	check_attack_of(name, TARGET);
}

TEST(pages) {
	check_attack("plain");
}

TEST(pages_of_a_process_whose_first_thread_has_exited) {
	check_attack("leader");
}

TEST(pages_of_non_dumpable_processes) {
	check_attack("undumpable");
}

TEST(shared_memory_in_no_page_table) {
	check_attack("shared");
}

TEST(shared_memory_of_a_device) {
	check_attack("shared_zero");
}

TEST(page_tables) {
	check_attack("tables");
}

/* Less than of others: it takes 4,000 system calls for each MiB, which an emulated machine makes slowly. */
TEST(mappings) {
	check_attack_of("mappings", 160);
}

TEST(buffers_of_unix_streams) {
	check_attack("streams");
}

TEST(buffers_of_unix_datagrams) {
	check_attack("datagrams");
}

TEST(buffers_of_tcp) {
	check_attack_of("tcp", 224);
}

TEST(data_in_connections_before_accept) {
	check_attack_of("backlog", 160);
}

TEST(unfinished_datagrams) {
	check_attack_of("corks", 128);
}

TEST(pipes) {
	check_attack("pipes");
}

TEST(epoll_items) {
	/* A machine with 4 GiB lets a user have 860,000. */
	check_attack_of("items", 128);
}

TEST(file_locks) {
	/* The kernel goes through all locks of a file for each new one. */
	check_attack_of("locks", 90);
}

/* With a large limit the run may end as well: a keeper that cannot count does not let it go on. */
TEST(pages_after_the_keepers_descriptors_were_limited) {
	struct gb_run *run;
	const struct gb_result *result = attack("blind", TARGET, SMALL, &run);
	printf("# %s: %s\n", gb_status_name(result->status), result->error.message);
	CHECK(result->status != GB_SUCCESS);
	CHECK(!strstr(result->stdout_text, "all\n"));
	CHECK(taken_by(result->stdout_text) <= TAKEN_MAX);
	gb_run_destroy(run);
}

/* --- the keeper's own memory --- */

/* A message that is announced to be large, and never ends. */
static const char endless_message[] =
    "const fs = require('fs'), head = Buffer.from([0, 0, 0, 48, 2]), piece = Buffer.alloc(1 << 20, 1);\n"
    "function write(bytes) {\n"
    "	for (let at = 0; at < bytes.length;)\n"
    "		try { at += fs.writeSync(3, bytes, at) } catch (e) { if (e.code !== 'EAGAIN') throw e }\n"
    "}\n"
    "write(head);\n"
    "const say = (text) => fs.writeSync(1, Buffer.from(text), 0);\n" /* with an offset: not by a message */
    "for (let i = 1; i <= 384; i++) { write(piece); say(`took ${i}\\n`) }\n"
    "say('all\\n'); process.exit(0)";

static const struct gb_result *flood_keeper(uint64_t memory, uint64_t result, struct gb_run **ret) {
	struct gb_value *allowed = gb_value_array(values);
	gb_value_push(allowed, gb_value_string(values, "fs", 2));
	*ret = start(engine, (struct gb_run_options){.language = GB_NODE,
				 .source = endless_message,
				 .timeout_ms = LONG_MS,
				 .memory_bytes = memory << 20,
				 .result_bytes = result << 20,
				 .allowed_modules = allowed});
	const struct gb_result *got = *ret ? gb_run_wait(*ret) : NULL;
	if (CHECK(got))
		printf("# %s, took %lu MiB: %s\n", gb_status_name(got->status), taken_by(got->stdout_text),
		    got->error.message);
	return got;
}

TEST(the_keepers_buffers_have_the_limits_of_the_run) {
	struct gb_run *run;
	const struct gb_result *result = flood_keeper(256, 16, &run);
	CHECK_STR(result->error.code, "protocol");
	CHECK(taken_by(result->stdout_text) <= 16);
	gb_run_destroy(run);
	/* A result may be larger than the memory of its run; then it counts. */
	result = flood_keeper(256, 1024, &run);
	CHECK_STR(gb_status_name(result->status), "memory");
	CHECK(!strstr(result->stdout_text, "all\n"));
	gb_run_destroy(run);
	result = flood_keeper(LARGE, 1024, &run);
	CHECK(strstr(result->stdout_text, "all\n"));
	gb_run_destroy(run);
}

/* --- between runs --- */

static unsigned long rss_of(int pid) {
	char path[64];
	unsigned long pages = 0;
	snprintf(path, sizeof path, "/proc/%d/statm", pid);
	FILE *file = fopen(path, "re");
	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE) >> 20;
}

/* The largest process below this one: that of the attack, if it has taken anything. */
static unsigned long largest_rss(void) {
	DIR *proc = opendir("/proc");
	unsigned long most = 0;
	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		int pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		bool ours = false;
		for (int up = pid ? parent_of(pid) : 0; up > 1 && !ours; up = parent_of(up))
			ours = up == getpid();
		unsigned long rss = ours ? rss_of(pid) : 0;
		most = rss > most ? rss : most;
	}
	if (proc)
		closedir(proc);
	return most;
}

/* A session whose first run has left the attack running, without a word to the terminal. */
static struct gb_session *leave_running(unsigned mib) {
	struct gb_session *session = open_shell();
	struct gb_run *run;
	char source[300];
	snprintf(source, sizeof source,
	    "mkfifo ended; (/usr/bin/python3 attacks.py plain %d > said 2>&1; echo ended 1<> ended) & "
	    "disown; "
	    "echo left",
	    TARGET);
	const struct gb_result *result = shell(&run, (struct gb_run_options){.session = session,
							 .source = source,
							 .files = programs,
							 .memory_bytes = (uint64_t)mib << 20});
	CHECK_STR(result->stdout_text, "left\n");
	gb_run_destroy(run);
	return session;
}

TEST(pages_of_a_background_job_of_a_session) {
	/* Processes that another test has killed may still exist. */
	while (largest_rss() > SMALL)
		gb_engine_dispatch(engine, 5, NULL);
	struct gb_session *session = leave_running(SMALL);
	unsigned long most = 0, now;
	while (gb_session_state(session) != GB_SESSION_TERMINATED) {
		gb_engine_dispatch(engine, 5, NULL);
		now = largest_rss();
		most = now > most ? now : most;
	}
	printf("# took %lu MiB\n", most);
	CHECK(most <= TAKEN_MAX);
	CHECK_STR(gb_session_reason(session), "its processes needed more memory than the session may have");
	gb_session_close(session);
	/* With a large limit the job and the session go on. */
	session = leave_running(LARGE);
	struct gb_run *run;
	const struct gb_result *result = shell(&run, (struct gb_run_options){.session = session,
							 .source = "read x < ended; echo $x; tail -1 said",
							 .memory_bytes = (uint64_t)LARGE << 20});
	CHECK_STR(result->stdout_text, "ended\nall\n");
	gb_run_destroy(run);
	gb_session_close(session);
}

/* --- without /proc --- */

static bool write_text(const char *path, const char *text) {
	FILE *file = fopen(path, "we");
	bool ok = file && fputs(text, file) >= 0;
	return (file && fclose(file) == 0) && ok;
}

/* Cover up a file of /proc, as containers do: then no other /proc may be mounted by a user namespace. */
static bool cover_proc(void) {
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) != 0)
		return false;
	snprintf(map, sizeof map, "%u %u 1", uid, uid);
	if (uid && !write_text("/proc/self/uid_map", map))
		return false;
	snprintf(map, sizeof map, "%u %u 1", gid, gid);
	if (uid && (!write_text("/proc/self/setgroups", "deny") || !write_text("/proc/self/gid_map", map)))
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("/dev/null", "/proc/version", NULL, MS_BIND, NULL) == 0;
}

enum { RAN, REFUSED, OTHERWISE, NO_COVER };

static bool has_groups(void) {
	struct gb_cgroup *group = NULL;
	const struct gb_cgroup_limits limits = {.memory_bytes = 64 << 20, .processes = 64, .cells = true};
	bool has = !getenv("GB_NO_GROUPS") && gb_cgroup_create(&limits, &group, NULL);
	gb_cgroup_destroy(group);
	return has;
}

/* In a process of its own: how does a run end, with /proc or without it? */
static int run_in_child(bool covered) {
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		if (covered && !cover_proc())
			_exit(NO_COVER);
		engine = make_engine();
		struct gb_run *run;
		const struct gb_result *result =
		    engine ? shell(&run, (struct gb_run_options){.source = "echo ran"}) : NULL;
		printf("# %s\n", result ? result->error.message : "no engine");
		_exit(!result                               ? OTHERWISE
		      : strstr(result->stdout_text, "ran")  ? RAN
		      : !strcmp(result->error.code, "wall") ? REFUSED
							    : OTHERWISE);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : OTHERWISE;
}

TEST(no_code_runs_where_memory_cannot_be_counted) {
	CHECK_INT(run_in_child(false), RAN);
	int covered = run_in_child(true);
	if (covered == NO_COVER)
		SKIP("no user namespace to cover /proc in");
	/* A control group counts without it. */
	CHECK_INT(covered, has_groups() ? RAN : REFUSED);
}
