/* Sessions of a shell on a terminal. */
#include <time.h>

#include "e2e/screen.h"
#include "e2e/shell.h"

enum { WAIT_MAX_S = 60 };

TEST(shell_state_persists_between_runs) {
	struct gb_session *session = open_shell();
	check_run(session, "cd /tmp && export A=1", 0, "");
	check_run(session, "echo $A $PWD", 0, "1 /tmp\n");
	check_run(session, "declare -A map=([k]=v); f() { echo \"f $1\"; }; alias hi='echo hello'", 0, "");
	check_run(session, "echo ${map[k]}; f x; hi", 0, "v\nf x\nhello\n");
	check_run(session, "false; echo $?", 0, "1\n");
	check_run(session, "false", 1, "");
	check_run(session, "echo $?", 0, "1\n");
	check_run(session, "cat <<X\nhere $A\nX", 0, "here 1\n");
	check_run(session, "sleep 100 &", 0, "");
	check_run(session, "jobs", 0, "[1]+  Running                 sleep 100 &\n");
	/* Whether the shell reports the end of the job depends on its timing. */
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.session = session, .source = "kill %1; wait; echo over"});
	const char *told = strncmp(result->stdout_text, "[1]", 3) == 0
			       ? "[1]+  Terminated              sleep 100\nover\n"
			       : "over\n";
	CHECK_STR(result->stdout_text, told);
	CHECK_INT(result->exit_code, 0);
	gb_run_destroy(run);
	CHECK_STR(gb_session_state_name(gb_session_state(session)), "idle");
	gb_session_close(session);
}

TEST(both_streams_of_a_session_are_one) {
	struct gb_session *session = open_shell();
	char expected[4000];
	size_t n = 0;
	for (int i = 1; i <= 300; i++)
		n += (size_t)snprintf(expected + n, sizeof expected - n, "%d\n", i);
	check_run(session, "for i in $(seq 1 2 299); do echo $i; echo $((i + 1)) >&2; done", 0, expected);
	gb_session_close(session);
}

TEST(two_sessions_share_nothing) {
	struct gb_session *a = open_shell(), *b = open_shell();
	check_run(a, "x=1; echo a > /box/f; echo a > /tmp/f; echo a > /dev/shm/f", 0, "");
	check_run(b, "echo \"<$x>\"; ls /box /tmp /dev/shm", 0, "<>\n/box:\n\n/dev/shm:\n\n/tmp:\n");
	check_run(a, "echo $x; cat /box/f", 0, "1\na\n");
	gb_session_close(a);
	gb_session_close(b);
}

/* Errors that make a shell abandon the command, and break or continue out of all loops, including the
 * keeper's own. */
TEST(a_command_cannot_desynchronise_the_shell_and_its_keeper) {
	struct gb_session *session = open_shell();
	check_run(session, "echo ${nosuch?gone}; echo not here", 1, "bash: nosuch: gone\n");
	check_run(session, "set -u; echo $nosuch; echo not here", 1, "bash: nosuch: unbound variable\n");
	check_run(session, "set +u; break 99; echo not here", 0, "");
	check_run(session, "continue", 0, "");
	check_run(session, "return 5; echo not here", 5, "");
	check_run(session, "set -e; [ -e nosuch ] && echo not here", 1, "");
	check_run(session, "echo $?; set +e", 0, "1\n");
	check_run(session, "PROMPT_COMMAND=; echo no", 1, "bash: PROMPT_COMMAND: readonly variable\n");
	check_run(session, "unset -f __gb_status; echo in step", 0,
	    "bash: unset: __gb_status: cannot unset: readonly function\nin step\n");
	check_run(session, "exec 3>&- 4>&- 10>&- 11>&- 255>&-; echo in step", 0, "in step\n");
	check_run(session, "rm -rf /tmp/* /dev/shm/* /dev/shm/.[a-z]* /box/* 2>/dev/null; echo in step", 0,
	    "in step\n");
	check_run(session, "echo in step", 0, "in step\n");
	gb_session_close(session);
}

/* For any output of the command, on any descriptor. */
TEST(a_command_cannot_forge_reports_of_the_shell) {
	struct gb_session *session = open_shell();
	check_run(session, "printf 'ready 1 1 0\\nready 2 2 0\\nprompt 3\\n'", 0,
	    "ready 1 1 0\nready 2 2 0\nprompt 3\n");
	check_run(session, "ls /proc/self/fd", 0, "0  1  2  3\n");
	check_run(session,
	    "for n in {3..254}; do echo 'ready 9 9 0' >&$n; done 2>&1 | grep -v 'Bad file descriptor'; echo "
	    "done",
	    0, "done\n");
	/* Deliberately, by the name of the wire: it corrupts its own session only. */
	check_run(session, "echo nonsense > /dev/pts/0; echo ready 1000 1000 7 > /dev/pts/0; echo still", 0,
	    "still\n");
	check_run(session, "head -c 300000 /dev/zero > /dev/pts/0; echo still", 0, "still\n");
	check_run(session, "echo in step", 0, "in step\n");
	gb_session_close(session);
}

TEST(waits_for_input_are_detected_and_answered) {
	static const struct {
		const char *source, *prompt, *answer, *output;
	} cases[] = {
	    {"read -p 'Continue? [y/N] ' x; echo \"got $x\"", "Continue? [y/N] ", "y\n",
		"Continue? [y/N] y\ngot y\n"},
	    {"read x; echo \"got $x\"", "", "1\n", "1\ngot 1\n"},
	    {"read -s -p 'Password: ' x; echo; echo \"got $x\"", "Password: ", "secret\n",
		"Password: \ngot secret\n"},
	    {"printf 'key: '; stty -echo; read x; stty echo; echo $x", "key: ", "k\n", "key: k\n"},
	    {"read -n 1 -p 'one: ' x; echo; echo $x", "one: ", "z", "one: z\nz\n"},
	    {"read -t 60 -p 'soon: ' x; echo $x", "soon: ", "now\n", "soon: now\nnow\n"},
	    {"bash -c 'read -p \"inner? \" x; echo $x'", "inner? ", "i\n", "inner? i\ni\n"},
	    {"printf 'one\\ntwo\\rthree \\033[1mfour\\033[0m> '; read x", "three four> ", "\n",
		"one\ntwo\rthree \033[1mfour\033[0m> \n"},
	    {"cat", "", "echo\n\4", "echo\necho\n"},
	    {"python3 -c 'print(input(\"name? \"))'", "name? ", "Bob\n", "name? Bob\nBob\n"},
	    {"python3 -c 'import getpass; print(getpass.getpass())'", "Password: ", "pw\n",
		"Password: \npw\n"},
	    {"python3 -c 'import select, sys; print(select.select([sys.stdin], [], [])[0] != [])'", "", "\n",
		"\nTrue\n"},
	    {"python3 -c 'import selectors, sys; s = selectors.EpollSelector(); "
	     "s.register(sys.stdin, 1); print(len(s.select()))'",
		"", "\n", "\n1\n"},
	    {"python3 -c 'import select; p = select.poll(); p.register(0, 1); print(len(p.poll()))'", "",
		"\n", "\n1\n"},
	};
	struct gb_session *session = open_shell();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dialogue dialogue = {.session = session, .answers = {cases[i].answer}};
		struct gb_run *run;
		const struct gb_result *result = shell(&run, (struct gb_run_options){.session = session,
								 .source = cases[i].source,
								 .on_awaiting = on_awaiting,
								 .data = &dialogue});
		bool ok = CHECK_INT(dialogue.n, 1);
		ok &= CHECK_STR(dialogue.asked[0], cases[i].prompt);
		ok &= CHECK_STR(result->stdout_text, cases[i].output);
		if (!ok)
			printf("#   %s\n", cases[i].source);
		gb_run_destroy(run);
	}
	gb_session_close(session);
}

TEST(several_waits_for_input_in_one_run) {
	struct gb_session *session = open_shell();
	struct dialogue dialogue = {.session = session, .answers = {"1\n", "2\n", NULL}};
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.session = session,
			    .source = "read -p 'a? ' a; read -p 'b? ' b; echo $a$b; read -t 3 -p 'c? ' c; "
				      "sleep 3; echo over",
			    .on_awaiting = on_awaiting,
			    .data = &dialogue});
	CHECK_INT(dialogue.n, 3);
	CHECK_STR(dialogue.asked[1], "b? ");
	CHECK_STR(dialogue.asked[2], "c? ");
	CHECK_INT(dialogue.goes_on, 1);
	CHECK_STR(result->stdout_text, "a? 1\nb? 2\n12\nc? over\n");
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(full_screen_programs_wait_for_input) {
	struct gb_session *session = open_shell();
	struct dialogue dialogue = {.session = session, .answers = {"q"}};
	struct gb_run *run;
	const struct gb_result *result = shell(&run, (struct gb_run_options){.session = session,
							 .source = "seq 1000 | less",
							 .on_awaiting = on_awaiting,
							 .data = &dialogue});
	CHECK_INT(dialogue.n, 1);
	CHECK_STR(dialogue.asked[0], ":");
	CHECK_INT(result->exit_code, 0);
	gb_run_destroy(run);
	dialogue = (struct dialogue){.session = session, .answers = {"print(6 * 7)\n", "exit()\n"}};
	result = shell(&run,
	    (struct gb_run_options){
		.session = session, .source = "python3 -q", .on_awaiting = on_awaiting, .data = &dialogue});
	CHECK_INT(dialogue.n, 2);
	CHECK_STR(dialogue.asked[0], ">>> ");
	CHECK(strstr(result->stdout_text, "42"));
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(a_silent_program_is_not_taken_for_waiting) {
	static const char *const silent[] = {"sleep 0.4", "printf 'Continue? [y/N] '; sleep 0.4",
	    "printf 'loading: '; python3 -c 'import time; t = time.time()\nwhile time.time() - t < 0.4: "
	    "pass'",
	    "x=0; while [ $x -lt 60000 ]; do x=$((x + 1)); done", "sleep 0.4 | cat", "wait",
	    "read x < /dev/null", "(sleep 0.4; echo late) | (read x; echo $x)",
	    "python3 -c 'import time; time.sleep(0.3)' < /dev/null"};
	struct gb_session *session = open_shell();
	for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
		struct dialogue dialogue = {.session = session};
		struct gb_run *run;
		shell(&run, (struct gb_run_options){.session = session,
				.source = silent[i],
				.on_awaiting = on_awaiting,
				.data = &dialogue});
		if (!CHECK_INT(dialogue.n, 0))
			printf("#   %s\n", silent[i]);
		gb_run_destroy(run);
	}
	gb_session_close(session);
}

TEST(input_without_a_reader_is_rejected) {
	struct gb_session *session = open_shell(), *python = NULL;
	struct gb_err err = {0};
	CHECK(!gb_session_send(session, "x", 1, &err));
	CHECK_STR(err.message, "nothing runs in this session that could read it");
	CHECK(gb_session_open(engine, GB_PYTHON, NULL, &python, &err));
	CHECK(!gb_session_send(python, "x", 1, &err));
	CHECK_STR(err.message, "this session's language takes no input while it runs");
	CHECK(!gb_session_attach(python, NULL, NULL, &err));
	CHECK(!gb_session_resize(python, 80, 24, &err));
	CHECK(!gb_session_resize(session, 0, 24, &err));
	CHECK(!gb_session_resize(session, 80, 100000, &err));
	gb_session_close(python);
	gb_session_close(session);
}

TEST(a_timeout_keeps_the_session) {
	static const char *const endless[] = {"sleep 1000", "while :; do :; done",
	    "while :; do /bin/true; done", "read x", "python3 -c 'while True: pass'",
	    "cat /dev/zero > /dev/null", "sleep 1000 & wait", "stty raw -echo; sleep 1000"};
	struct gb_session *session = open_shell();
	check_run(session, "x=kept", 0, "");
	for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
		struct gb_run *run;
		const struct gb_result *result = shell(&run,
		    (struct gb_run_options){.session = session, .source = endless[i], .timeout_ms = 300});
		if (!result) {
			printf("#   %s: the session has ended: %s\n", endless[i], gb_session_reason(session));
			break;
		}
		bool ok = CHECK_STR(gb_status_name(result->status), "terminated");
		ok &= CHECK_STR(result->error.code, "timeout");
		ok &= CHECK_STR(gb_session_state_name(gb_session_state(session)), "idle");
		if (!ok)
			printf("#   %s: %s\n", endless[i], result->error.message);
		gb_run_destroy(run);
	}
	check_run(session, "echo $x", 0, "kept\n");
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){
			    .session = session, .source = "trap '' INT; sleep 1000", .timeout_ms = 5000});
	CHECK_STR(result ? result->error.code : "", "timeout");
	CHECK_STR(gb_session_state_name(gb_session_state(session)), "terminated");
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(exit_ends_the_session) {
	struct gb_session *session = open_shell();
	check_run(session, "echo bye; exit 4", 4, "bye\n");
	CHECK_STR(gb_session_state_name(gb_session_state(session)), "terminated");
	CHECK_STR(gb_session_reason(session), "the shell has exited");
	gb_session_close(session);
	session = open_shell();
	check_run(session, "exec echo replaced", 0, "replaced\n");
	CHECK_STR(gb_session_reason(session), "the shell has exited");
	gb_session_close(session);
	session = open_shell();
	check_run(session, "kill -9 $$", 137, "");
	CHECK_STR(gb_session_reason(session), "the shell has exited");
	gb_session_close(session);
	session = open_shell();
	check_run(session, "(sleep 5; kill -9 $$) & true", 0, "");
	while (gb_session_state(session) != GB_SESSION_TERMINATED)
		gb_engine_dispatch(engine, 100, NULL);
	CHECK_STR(gb_session_reason(session), "its program has ended");
	gb_session_close(session);
}

TEST(terminal_settings_are_restored_after_a_run) {
	struct gb_session *session = open_shell();
	check_run(session, "stty -echo -icanon -opost -isig; stty size", 0, "24 80\n");
	check_run(session,
	    "stty -a | tr ' ;' '\\n\\n' | grep -x -e '-*\\(echo\\|icanon\\|opost\\|isig\\|onlcr\\)' | sort | "
	    "tr '\\n' ' '",
	    0, "-onlcr echo icanon isig opost ");
	CHECK(gb_session_resize(session, 132, 50, NULL));
	check_run(session, "stty size; tput cols", 0, "50 132\n132\n");
	gb_session_close(session);
}

TEST(standard_input_of_a_run_is_typed) {
	struct gb_session *session = open_shell();
	struct gb_run *run;
	const struct gb_result *result = shell(
	    &run, (struct gb_run_options){.session = session, .source = "cat; echo .", .input = "a\nb"});
	CHECK_STR(result->stdout_text, "a\nb.\n");
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(large_and_binary_output) {
	struct gb_session *session = open_shell();
	struct gb_run *run;
	const struct gb_result *result = shell(
	    &run, (struct gb_run_options){
		      .session = session, .source = "head -c 10000000 /dev/zero", .output_bytes = 16 << 20});
	CHECK_INT(result->stdout_bytes, 10000000);
	CHECK(!result->truncated);
	gb_run_destroy(run);
	result = shell(&run,
	    (struct gb_run_options){
		.session = session, .source = "head -c 10000000 /dev/zero; echo end", .output_bytes = 5000});
	CHECK_INT(result->stdout_bytes, 5000);
	CHECK(result->truncated);
	gb_run_destroy(run);
	result = shell(&run, (struct gb_run_options){.session = session,
				 .source = "for i in {0..255}; do printf \"\\x$(printf %x $i)\"; done"});
	CHECK_INT(result->stdout_bytes, 256);
	for (size_t i = 0; i < 256 && i < result->stdout_bytes; i++)
		CHECK_INT((unsigned char)result->stdout_text[i], i);
	gb_run_destroy(run);
	gb_session_close(session);
}

/* Output of one run does not appear in another, except that output between runs precedes that of the next. */
TEST(output_belongs_to_its_run) {
	struct gb_session *session = open_shell();
	for (int i = 0; i < 100; i++) {
		char source[64], expected[64];
		snprintf(source, sizeof source, "/bin/echo %d-a; echo %d-b", i, i);
		snprintf(expected, sizeof expected, "%d-a\n%d-b\n", i, i);
		check_run(session, source, 0, expected);
	}
	/* On a busy machine it may be written before the first run ends, or after the second has begun. */
	static const char *const sources[] = {"(sleep 0.1; echo between; : > said) & disown",
	    "until [ -e said ]; do sleep 0.01; done; echo now"};
	char told[64] = "";
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct gb_run *run;
		const struct gb_result *result =
		    shell(&run, (struct gb_run_options){.session = session, .source = sources[i]});
		strncat(told, result->stdout_text, sizeof told - 1 - strlen(told));
		gb_run_destroy(run);
		usleep(300000);
	}
	CHECK_STR(told, "between\nnow\n");
	gb_session_close(session);
}

TEST(a_session_can_be_reset) {
	struct gb_session *session = open_shell();
	check_run(session, "x=1; echo kept > f; sleep 1000 &", 0, "");
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){
			    .session = session, .source = "echo \"<$x>\"; jobs; cat f", .reset = true});
	CHECK_STR(result->stdout_text, "<>\nkept\n");
	gb_run_destroy(run);
	gb_session_close(session);
}

TEST(exceeding_the_memory_limit_ends_the_session) {
	struct gb_session *session = open_shell();
	struct gb_run *run;
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){
			    .session = session, .source = "tail /dev/zero", .memory_bytes = 64 << 20});
	CHECK_STR(gb_status_name(result->status), "memory");
	CHECK_STR(gb_session_state_name(gb_session_state(session)), "terminated");
	gb_run_destroy(run);
	gb_session_close(session);
}

/* --- an attached client --- */

static void on_bytes(struct gb_session *session, const char *bytes, size_t n, void *data) {
	(void)session;
	screen_add(data, bytes, n);
}

/* Wait until @text is shown. */
static bool await_text(struct screen *screen, const char *text) {
	time_t deadline = time(NULL) + WAIT_MAX_S;
	bool shown;
	while (!(shown = screen_shows(screen, text)) && time(NULL) < deadline)
		gb_engine_dispatch(engine, 100, NULL);
	return screen_check(screen, text, shown);
}

static void type(struct gb_session *session, const char *text) {
	CHECK(gb_session_send(session, text, strlen(text), NULL));
}

TEST(a_client_attaches_and_detaches) {
	static struct screen screen;
	struct gb_session *session = open_shell();
	struct gb_err err = {0};
	check_run(session, "x=before", 0, "");
	CHECK(gb_session_attach(session, on_bytes, &screen, &err));
	CHECK(!gb_session_attach(session, on_bytes, &screen, &err));
	CHECK_STR(err.message, "session: another client is attached already");
	if (!await_text(&screen, "$ "))
		return;
	type(session, "echo \"<$x>\"; y=typed\r");
	await_text(&screen, "<before>\r\n");
	await_text(&screen, "$ ");
	/* A partially typed line does not become part of a later run. */
	type(session, "echo half");
	await_text(&screen, "half");
	check_run(session, "echo run $y", 0, "run typed\r\n");
	await_text(&screen, "run typed\r\n");
	await_text(&screen, "$ ");
	/* Line editing keys work: back, and insert. */
	type(session, "echo ab\002\002X\r");
	await_text(&screen, "Xab\r\n");
	gb_session_detach(session);
	check_run(session, "echo $y", 0, "typed\n");
	check_run(session, "echo plain", 0, "plain\n");
	gb_session_close(session);
}

/* The run waits for that program, until its own timeout. */
TEST(a_run_waits_for_a_program_left_by_a_detached_client) {
	static struct screen screen;
	struct gb_session *session = open_shell();
	CHECK(gb_session_attach(session, on_bytes, &screen, NULL));
	await_text(&screen, "$ ");
	type(session, "sh -c 'echo started; exec sleep 1'\r");
	await_text(&screen, "started\r\n");
	check_run(session, "echo run", 0, "run\r\n");
	await_text(&screen, "$ ");
	type(session, "sh -c 'echo started; exec sleep 1000'\r");
	await_text(&screen, "started\r\n");
	struct gb_run *run;
	const struct gb_result *result = shell(
	    &run, (struct gb_run_options){.session = session, .source = "echo never", .timeout_ms = 300});
	CHECK_STR(result->error.code, "timeout");
	CHECK_STR(result->stdout_text, "");
	gb_run_destroy(run);
	gb_session_detach(session);
	check_run(session, "echo run", 0, "run\n");
	gb_session_close(session);
}

/* The program ends at the moment when the keeper would interrupt the shell. */
TEST(a_run_after_a_left_program_has_only_its_own_output) {
	static struct screen screen;
	struct gb_session *session = open_shell();
	CHECK(gb_session_attach(session, on_bytes, &screen, NULL));
	for (int i = 0; i < 20; i++) {
		char line[64];
		await_text(&screen, "$ ");
		snprintf(line, sizeof line, "sh -c 'echo star''ted; exec sleep 0.%03d'\r", 80 + i * 11);
		type(session, line);
		await_text(&screen, "started\r\n");
		check_run(session, "echo run", 0, "run\r\n");
	}
	/* A command of the shell itself is waited for too. */
	await_text(&screen, "$ ");
	type(session, "echo star''ted; for ((i = 0; i < 100000; i++)); do :; done; x=whole\r");
	await_text(&screen, "started\r\n");
	check_run(session, "echo $x", 0, "whole\r\n");
	gb_session_close(session);
}

TEST(a_client_attaches_before_the_first_run_and_answers) {
	static struct screen screen;
	struct gb_session *session = open_shell();
	CHECK(gb_session_attach(session, on_bytes, &screen, NULL));
	await_text(&screen, "$ ");
	struct dialogue dialogue = {.session = session, .answers = {"yes\r"}};
	struct gb_run *run;
	const struct gb_result *result = shell(&run, (struct gb_run_options){.session = session,
							 .source = "read -p 'Sure? ' x; echo \"got $x\"",
							 .on_awaiting = on_awaiting,
							 .data = &dialogue});
	CHECK_INT(dialogue.n, 1);
	CHECK(strstr(result->stdout_text, "got yes"));
	gb_run_destroy(run);
	await_text(&screen, "got yes\r\n");
	await_text(&screen, "$ ");
	type(session, "exit 7\r");
	while (gb_session_state(session) != GB_SESSION_TERMINATED)
		gb_engine_dispatch(engine, 100, NULL);
	CHECK_STR(gb_session_reason(session), "its program has ended");
	gb_session_close(session);
}

/* In any state of the shell when it is interrupted at its prompt. */
TEST(a_client_may_detach_at_any_moment) {
	static struct screen screen;
	struct gb_session *session = open_shell();
	for (int i = 0; i < 150 && gb_session_state(session) != GB_SESSION_TERMINATED; i++) {
		CHECK(gb_session_attach(session, on_bytes, &screen, NULL));
		gb_engine_dispatch(engine, 0, NULL);
		usleep((useconds_t)(i * 37 % 4000));
		gb_session_detach(session);
		if (i % 2)
			usleep((useconds_t)(i * 53 % 3000));
		check_run(session, "echo here", 0, "here\n");
	}
	gb_session_close(session);
}
