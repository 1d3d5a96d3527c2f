/* 'glovebox session attach' at a terminal, and input for runs of 'session exec'. */
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "e2e/person.h"
#include "tap.h"

static char folder[] = "/tmp/gb-attach-XXXXXX";

__attribute__((constructor)) static void set_up(void) {
	if (!mkdtemp(folder) || chmod(folder, 0700) != 0)
		exit(1);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	setenv("GLOVEBOX_SESSION_LINGER", "100ms", 1);
	setenv("TERM", "xterm", 1);
}

__attribute__((destructor)) static void tear_down(void) {
	/* A failed test may have left its session. */
	char command[200], out[1000];
	glovebox(out, sizeof out, "session kill sh");
	glovebox(out, sizeof out, "session kill js");
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	(void)!system(command);
}

static const char *const attach_sh[] = {"glovebox", "session", "attach", "sh", NULL};
#define LEAVE "\035"

static struct person one, two;

/* A session 'sh', with a client at its prompt. */
static bool begin(void) {
	expect(0, "session create -l shell --name sh", "sh");
	sit_down(&one, attach_sh);
	return sees(&one, "Ctrl-] detaches") && sees(&one, "$ ");
}

static void finish(void) {
	expect(0, "session kill sh", "");
}

/* --- the tests --- */

TEST(a_user_types_and_detaches) {
	expect(0, "session create -l shell --name sh", "sh");
	expect(0, "session exec sh -e x=before", "");
	sit_down(&one, attach_sh);
	sees(&one, "$ ");
	types(&one, "echo \"<$x>\"; y=typed\r");
	sees(&one, "<before>\r\n");
	sees(&one, "$ ");
	/* Line editing works: backspace, and another letter. */
	types(&one, "echo ab\002\002X\r");
	sees(&one, "Xab\r\n");
	types(&one, LEAVE);
	sees(&one, "left 'sh', which continues");
	CHECK_INT(leaves(&one), 0);
	expect(0, "session exec sh -e 'echo $x $y'", "before typed\n");
	finish();
}

TEST(a_resize_is_passed_on) {
	if (!begin())
		return;
	types(&one, "stty size\r");
	sees(&one, "30 100\r\n");
	const struct winsize size = {.ws_col = 91, .ws_row = 17};
	CHECK(ioctl(one.master, TIOCSWINSZ, &size) == 0);
	/* The resize is sent independently of the input, and may arrive after it. */
	types(&one, "until [ \"$(stty size)\" = '17 91' ]; do :; done; echo 'now it'\" is\"\r");
	sees(&one, "now it is\r\n");
	types(&one, LEAVE);
	CHECK_INT(leaves(&one), 0);
	finish();
}

TEST(a_full_screen_program_can_be_used) {
	if (!begin())
		return;
	types(&one, "seq 1000 > n; less n\r");
	sees(&one, "\r\n28\r\n");
	types(&one, "G");
	sees(&one, "1000");
	/* The program continues after a detach, and redraws for the next client. */
	types(&one, LEAVE);
	CHECK_INT(leaves(&one), 0);
	sit_down(&one, attach_sh);
	sees(&one, "999\r\n1000");
	types(&one, "q");
	sees(&one, "$ ");
	types(&one, "echo still\" here\"\r");
	sees(&one, "still here\r\n");
	types(&one, LEAVE);
	CHECK_INT(leaves(&one), 0);
	expect(0, "session exec sh -e 'tail -1 n'", "1000\n");
	finish();
}

TEST(one_client_at_a_time_unless_stolen) {
	static const char *const steal[] = {"glovebox", "session", "attach", "--steal", "sh", NULL};
	if (!begin())
		return;
	sit_down(&two, attach_sh);
	sees(&two, "another client is attached to 'sh'");
	CHECK_INT(leaves(&two), 3);
	types(&one, "echo not\" yet\"\r");
	sees(&one, "not yet\r\n");
	sit_down(&two, steal);
	sees(&one, "left 'sh': another client has attached to it");
	CHECK_INT(leaves(&one), 1);
	sees(&two, "$ ");
	types(&two, "echo mine\" now\"\r");
	sees(&two, "mine now\r\n");
	types(&two, LEAVE);
	CHECK_INT(leaves(&two), 0);
	finish();
}

TEST(the_end_of_the_session_ends_the_attachment) {
	if (!begin())
		return;
	expect(0, "session list --json", "\"attached\":true");
	expect(0, "session kill sh --reason enough", "");
	sees(&one, "'sh' has ended: enough");
	CHECK_INT(leaves(&one), 0);
	if (!begin())
		return;
	types(&one, "exit\r");
	sees(&one, "'sh' has ended: its program has ended");
	CHECK_INT(leaves(&one), 0);
}

TEST(a_killed_client_leaves_the_session) {
	if (!begin())
		return;
	types(&one, "z=kept; echo se\"t\"\r");
	sees(&one, "set\r\n");
	kill(one.pid, SIGKILL);
	CHECK(waitpid(one.pid, NULL, 0) == one.pid);
	close(one.master);
	expect(0, "session exec sh -e 'echo $z'", "kept\n");
	sit_down(&one, attach_sh);
	types(&one, "echo $z\" still\"\r");
	sees(&one, "kept still\r\n");
	/* On another signal the client restores the terminal. */
	kill(one.pid, SIGTERM);
	sees(&one, "left 'sh'");
	CHECK_INT(leaves(&one), 1);
	expect(0, "session list --json", "\"state\":\"idle\"");
	finish();
}

TEST(runs_and_an_attached_client_share_a_terminal) {
	if (!begin())
		return;
	expect(0, "session exec sh -e 'echo from a run; w=1'", "from a run");
	sees(&one, "from a run\r\n");
	sees(&one, "$ ");
	types(&one, "echo w=$w\r");
	sees(&one, "w=1\r\n");
	types(&one, LEAVE);
	CHECK_INT(leaves(&one), 0);
	finish();
}

/* More output than the terminal takes: the program blocks, and an interrupt still works. */
TEST(a_flood_of_output_can_be_interrupted) {
	if (!begin())
		return;
	types(&one, "yes 'some words, again and again'\r");
	sees(&one, "again and again\r\n");
	usleep(300000);
	types(&one, "\003");
	sees(&one, "^C");
	sees(&one, "$ ");
	types(&one, "echo all\" is well\"\r");
	sees(&one, "all is well\r\n");
	types(&one, LEAVE);
	CHECK_INT(leaves(&one), 0);
	finish();
}

TEST(prompts_are_answered_by_the_attached_client) {
	static const char *const ask[] = {"glovebox", "session", "exec", "sh", "-e",
	    "read -p 'name? ' n; read -s -p 'word? ' w; echo; echo \"=$n ${#w}\"; exit 4", NULL};
	expect(0, "session create -l shell --name sh", "sh");
	sit_down(&one, ask);
	sees(&one, "name? ");
	awaits_keys(&one);
	types(&one, "bob\177\177en\n");
	sees(&one, "en");
	sees(&one, "word? ");
	types(&one, "secret\n");
	sees(&one, "=ben 6");
	CHECK(!strstr(one.screen.text, "secret"));
	CHECK_INT(leaves(&one), 4);
}

/* The client, and then a program that reads a line of the same terminal. */
static void sit_down_and_read(struct person *person, const char *arguments) {
	char script[300];
	snprintf(script, sizeof script, "\"$GB_GLOVEBOX\" session %s; read line; echo \"next: <$line>\"",
	    arguments);
	sit_down_with(person, "/bin/sh", (const char *const[]){"sh", "-c", script, NULL});
}

TEST(lines_typed_ahead_of_a_prompt_are_kept_for_the_next_program) {
	expect(0, "session create -l shell --name sh", "sh");
	sit_down_and_read(&one, "exec sh -e 'read -p \"name? \" n; read -p \"age? \" a; echo \"=$n $a\"'");
	sees(&one, "name? ");
	awaits_keys(&one);
	types(&one, "bob\n41\nls\n");
	sees(&one, "age? ");
	sees(&one, "=bob 41");
	sees(&one, "next: <ls>");
	CHECK_INT(leaves(&one), 0);
	finish();
}

TEST(keys_typed_after_detaching_are_kept_for_the_next_program) {
	expect(0, "session create -l shell --name sh", "sh");
	sit_down_and_read(&one, "attach sh");
	sees(&one, "$ ");
	types(&one, LEAVE "later\n");
	sees(&one, "next: <later>");
	CHECK_INT(leaves(&one), 0);
	/* But not the answer to a question that the code has asked of the terminal, which is also input. */
	sit_down_and_read(&one, "attach sh");
	sees(&one, "$ ");
	types(&one, "printf '\\033[6n'; echo as\"ked\"\r");
	sees(&one, "asked\r\n");
	types(&one, LEAVE "rm -rf answer\n");
	sees(&one, "left 'sh'");
	types(&one, "typed\n");
	sees(&one, "next: <typed>");
	CHECK_INT(leaves(&one), 0);
	finish();
}

TEST(the_screen_is_that_from_before) {
	if (!begin())
		return;
	char *entered = strstr(one.screen.text, "\033[?1049h"),
	     *greeting = strstr(one.screen.text, "attached to");
	CHECK(entered && greeting && entered < greeting);
	types(&one, "seq 100 > n; less n\r");
	sees(&one, "\r\n28\r\n");
	types(&one, "q");
	sees(&one, "$ ");
	CHECK(!strstr(one.screen.text, "\033[?1049l"));
	types(&one, LEAVE);
	sees(&one, "\033[?1049l");
	sees(&one, "left 'sh'");
	CHECK_INT(leaves(&one), 0);
	/* A terminal without a second screen gets no sequences. */
	setenv("TERM", "dumb", 1);
	sit_down(&one, attach_sh);
	sees(&one, "$ ");
	types(&one, LEAVE);
	CHECK_INT(leaves(&one), 0);
	CHECK(!strstr(one.screen.text, "\033[?1049"));
	setenv("TERM", "xterm", 1);
	finish();
}

TEST(invalid_attachments_are_errors) {
	static const char *const nobody[] = {"glovebox", "session", "attach", "nobody", NULL};
	static const char *const js[] = {"glovebox", "session", "attach", "js", NULL};
	expect(2, "session attach sh", "needs a terminal");
	expect(2, "session attach", "give the NAME or ID of a session");
	sit_down(&one, nobody);
	sees(&one, "'nobody'");
	CHECK_INT(leaves(&one), 3);
	expect(0, "session create -l js --name js", "js");
	sit_down(&one, js);
	sees(&one, "has no terminal");
	CHECK_INT(leaves(&one), 3);
	expect(0, "session kill js", "");
}
