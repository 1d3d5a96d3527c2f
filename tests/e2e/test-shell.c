/* Single shell scripts. */
#include "e2e/shell.h"

TEST(output_and_exit_code) {
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.source = "echo out; echo err >&2; exit 3"});
	CHECK_STR(result->stdout_text, "out\n");
	CHECK_STR(result->stderr_text, "err\n");
	CHECK_INT(result->exit_code, 3);
	CHECK_STR(gb_status_name(result->status), "error");
	CHECK_STR(result->error.name, "ExitError");
	CHECK_STR(result->error.code, "exit_code");
	CHECK_STR(result->error.message, "exit status 3");
	gb_run_destroy(run);
	check_run(NULL, "true", 0, "");
	check_run(NULL, "", 0, "");
	check_run(NULL, "false; echo $?", 0, "1\n");
	check_run(NULL, "cat <<X\nhere $((1 + 1))\nX", 0, "here 2\n");
}

/* The order between the streams is not known, unless they are one. */
TEST(each_stream_keeps_its_order) {
	struct gb_run *run;
	char expected[4000];
	size_t n = 0;
	for (int i = 1; i <= 300; i++)
		n += (size_t)snprintf(expected + n, sizeof expected - n, "%d\n", i);
	const struct gb_result *result = shell(
	    &run, (struct gb_run_options){.source = "for i in $(seq 300); do echo $i; echo $i >&2; done"});
	CHECK_STR(result->stdout_text, expected);
	CHECK_STR(result->stderr_text, expected);
	gb_run_destroy(run);
	check_run(NULL,
	    "exec 2>&1; for i in $(seq 1 2 299); do echo $i; bash -c 'echo $1 >&2' x $((i + 1)); done", 0,
	    expected);
}

TEST(termination_by_a_signal_is_reported) {
	struct gb_run *run;
	const struct gb_result *result = shell(&run, (struct gb_run_options){.source = "kill -TERM $$"});
	CHECK_INT(result->exit_code, 128 + 15);
	CHECK_STR(result->error.message, "ended by signal 15 (SIGTERM)");
	CHECK_STR(result->error.code, "signal");
	gb_run_destroy(run);
	check_run(NULL, "bash -c 'kill -KILL $$' & wait $! 2>/dev/null; echo $?", 0, "137\n");
}

TEST(arguments_script_name_and_line_numbers) {
	struct gb_values *values = gb_values_create(0);
	struct gb_value *args = gb_value_array(values);
	const char *texts[] = {"one", "two words", "it's \"quoted\" $HOME `ls`", "a\nb\\", "", "ü"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		gb_value_push(args, gb_value_string(values, texts[i], strlen(texts[i])));
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.source = "printf '[%s]' \"$0\" \"$@\"\necho $LINENO\nnosuch",
			    .filename = "a b.sh",
			    .args = args});
	CHECK_STR(
	    result->stdout_text, "[a b.sh][one][two words][it's \"quoted\" $HOME `ls`][a\nb\\][][ü]2\n");
	CHECK_STR(result->stderr_text, "a b.sh: line 3: nosuch: command not found\n");
	gb_run_destroy(run);
	gb_values_destroy(values);
}

TEST(standard_input_is_the_given_input_or_empty) {
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.source = "read x; echo \"<$x>\"; cat", .input = "1\n2\n3"});
	CHECK_STR(result->stdout_text, "<1>\n2\n3");
	gb_run_destroy(run);
	check_run(NULL, "cat", 0, "");
}

TEST(the_environment_is_minimal) {
	check_run(NULL, "env | grep -v '^_=\\|^SHLVL=\\|^OLDPWD=' | sort", 0,
	    "HOME=/box\nLC_CTYPE=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin\n"
	    "PWD=/box\nTERM=dumb\nUSER=box\n");
	check_run(NULL, "ls /proc/self/fd", 0, "0\n1\n2\n3\n");
	check_run(NULL, "id -un; pwd; echo ~", 0, "box\n/box\n/box\n");
}

TEST(input_files_are_written_and_changed_files_returned) {
	struct gb_values *values = gb_values_create(0);
	struct gb_value *files = gb_value_object(values);
	gb_value_put_key(files, "in/a.txt", gb_value_string(values, "given", 5));
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){
			    .source = "cat in/a.txt; mkdir d; printf '\\0\\377' > d/b", .files = files});
	CHECK_STR(result->stdout_text, "given");
	size_t n = 0;
	const struct gb_value *made = result->files ? gb_value_get(result->files, "d/b") : NULL;
	const char *bytes = made ? gb_value_bytes(made, &n) : NULL;
	CHECK(bytes && n == 2 && memcmp(bytes, "\0\xff", 2) == 0);
	CHECK_INT(gb_value_count(result->files), 1);
	gb_run_destroy(run);
	gb_values_destroy(values);
}

/* Processes on this machine that have @argument. */
static unsigned count_with_argument(const char *argument) {
	DIR *proc = opendir("/proc");
	unsigned n = 0;
	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		char path[300], text[256] = "";
		snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
		FILE *file = isdigit((unsigned char)entry->d_name[0]) ? fopen(path, "re") : NULL;
		size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
		n += memmem(text, length, argument, strlen(argument)) != NULL;
		if (file)
			fclose(file);
	}
	if (proc)
		closedir(proc);
	return n;
}

struct left_running {
	char argument[32];
	unsigned n_seen;
};

static void count_left_running(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	(void)run, (void)stream, (void)bytes, (void)n;
	struct left_running *left = data;
	left->n_seen = count_with_argument(left->argument);
}

TEST(background_processes_end_with_the_run) {
	/* Its output so far is returned; the run does not wait for it. */
	check_run(NULL,
	    "(echo early; : > go; exec sleep 1000) & until [ -e go ]; do sleep 0.01; done; echo done", 0,
	    "early\ndone\n");
	struct left_running left = {0};
	char source[256];
	snprintf(left.argument, sizeof left.argument, "1000.%d", (int)getpid());
	snprintf(source, sizeof source,
	    "setsid sleep %s & (trap '' TERM HUP; exec sleep %s) &\n"
	    "until [ $(cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -cx sleep) = 2 ]; do :; done; echo "
	    "done",
	    left.argument, left.argument);
	struct gb_run *run;
	const struct gb_result *result = shell(
	    &run, (struct gb_run_options){.source = source, .on_output = count_left_running, .data = &left});
	CHECK_STR(result->stdout_text, "done\n");
	/* The sandbox ends after the result has been sent. */
	CHECK_INT(left.n_seen, 2);
	gb_run_destroy(run);
	for (int i = 0; i < LONG_MS / 10 && count_with_argument(left.argument); i++)
		gb_engine_dispatch(engine, 10, NULL);
	CHECK_INT(count_with_argument(left.argument), 0);
}

TEST(the_end_of_a_script_is_detected_correctly) {
	check_run(NULL, "trap 'echo bye; exit 4' EXIT; echo hi; false", 4, "hi\nbye\n");
	check_run(NULL, "trap 'echo $?' EXIT; (exit 7)", 7, "7\n");
	check_run(NULL, "trap : EXIT; trap - EXIT; echo hi", 0, "hi\n");
	check_run(NULL, "echo end 0 > /dev/shm/.glovebox-end; sleep 1000; echo not here", 0, "");
	check_run(NULL, "head -c 100000 /dev/zero > /dev/shm/.glovebox-end; (exit 7)", 7, "");
	check_run(NULL, "rm /dev/shm/.glovebox-end; (exit 7)", 7, "");
	check_run(NULL, "rm /dev/shm/.glovebox-end; mkdir /dev/shm/.glovebox-end; (exit 7)", 7, "");
	check_run(NULL,
	    "rm /dev/shm/.glovebox-end; mkfifo /dev/shm/.glovebox-end; exec 5<>/dev/shm/.glovebox-end; (exit "
	    "7)",
	    7, "");
	check_run(NULL, "set -x; echo hi", 0, "hi\n++ echo hi\n");
	check_run(NULL, "set -e; false; echo not here", 1, "");
	check_run(NULL, "exec echo replaced", 0, "replaced\n");
}

TEST(bytes_are_passed_unchanged) {
	struct gb_run *run;
	const struct gb_result *result = shell(&run,
	    (struct gb_run_options){.source = "for i in {0..255}; do printf \"\\x$(printf %x $i)\"; done"});
	CHECK_INT(result->stdout_bytes, 256);
	for (size_t i = 0; i < 256 && i < result->stdout_bytes; i++)
		CHECK_INT((unsigned char)result->stdout_text[i], i);
	gb_run_destroy(run);
}

TEST(large_output) {
	struct gb_run *run;
	const char *source = "head -c 10000000 /dev/zero";
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.source = source, .output_bytes = 16 << 20});
	CHECK_INT(result->stdout_bytes, 10000000);
	CHECK(!result->truncated);
	gb_run_destroy(run);
	result = shell(&run, (struct gb_run_options){.source = source, .output_bytes = 1000});
	CHECK_INT(result->stdout_bytes, 1000);
	CHECK(result->truncated);
	CHECK_STR(gb_status_name(result->status), "success");
	gb_run_destroy(run);
}

TEST(time_and_memory_are_limited) {
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.source = "echo x; sleep 1000", .timeout_ms = 5000});
	CHECK_STR(result->error.code, "timeout");
	CHECK_STR(result->stdout_text, "x\n");
	gb_run_destroy(run);
	result =
	    shell(&run, (struct gb_run_options){.source = "tail /dev/zero | cat", .memory_bytes = 64 << 20});
	CHECK_STR(gb_status_name(result->status), "memory");
	gb_run_destroy(run);
	/* Many small processes count like one large. */
	result = shell(&run, (struct gb_run_options){.memory_bytes = 64 << 20,
				 .source = "for i in 1 2 3 4; do python3 -c 'x = bytearray(25 << 20); import "
					   "time; time.sleep(60)' & done; wait"});
	CHECK_STR(gb_status_name(result->status), "memory");
	gb_run_destroy(run);
}

TEST(options_of_other_languages_are_rejected) {
	struct gb_err err = {0};
	struct gb_run *run = NULL;
	CHECK(!gb_run_start(
	    engine, &(struct gb_run_options){.language = GB_SHELL, .source = "", .fn = "f"}, &run, &err));
	CHECK_STR(err.message, "fn: is not for shell");
}
