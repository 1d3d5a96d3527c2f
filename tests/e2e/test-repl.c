/* 'glovebox run' without code: a loop that reads code from a terminal, or from a file. */
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "e2e/person.h"
#include "tap.h"

static char folder[] = "/tmp/gb-repl-XXXXXX";

__attribute__((constructor)) static void set_up(void) {
	if (!mkdtemp(folder) || chmod(folder, 0700) != 0)
		exit(1);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	setenv("GLOVEBOX_STATE_DIR", folder, 1);
	setenv("GLOVEBOX_SESSION_LINGER", "100ms", 1);
	setenv("GLOVEBOX_SECRET_PET", "hunter22-hunter22", 1);
	setenv("TERM", "xterm", 1);
}

__attribute__((destructor)) static void tear_down(void) {
	char command[200];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	(void)!system(command);
}

static struct person user;

/* What ends the reading of a line, before the output. */
#define OUT    "\033[?2004l"
#define UP     "\033[A"
#define PASTE  "\033[200~"
#define PASTED "\033[201~"

static bool begin(const char *language) {
	sit_down(&user, (const char *const[]){"glovebox", "run", "-l", language, NULL});
	return sees(&user, ".help lists commands and keys") && sees(&user, "> ");
}

/* Type a line, and wait for the output. */
static void enters(const char *keys, const char *output) {
	types(&user, keys);
	types(&user, "\r");
	sees(&user, output);
}

static void ends(int status) {
	types(&user, "\004");
	CHECK_INT(leaves(&user), status);
}

/* No session of a loop is left. */
static void check_no_sessions(void) {
	char out[10000];
	glovebox(out, sizeof out, "session list");
	CHECK(!strstr(out, " idle "));
	CHECK(!strstr(out, " executing "));
}

TEST(code_runs_in_one_session) {
	if (!begin("ts"))
		return;
	enters("6 * 7", OUT "42\r\n");
	enters("const rows: number[] = [1, 2]", "typescript> ");
	enters("rows.length + 40.5", OUT "42.5\r\n");
	enters("throw new Error('bo' + 'om')", "Error: boom");
	enters("rows", OUT "[ 1, 2 ]\r\n");
	ends(0);
	check_no_sessions();
}

TEST(the_exit_status_is_that_of_the_last_code) {
	if (!begin("js"))
		return;
	enters("throw 'a' + 'b'", "Error: ab");
	ends(1);
	if (!begin("shell"))
		return;
	enters("echo be\"gun\"", "begun\r\n");
	types(&user, "exit 5\r");
	CHECK_INT(leaves(&user), 5);
	check_no_sessions();
}

TEST(javascript_goes_on_in_the_next_line) {
	if (!begin("js"))
		return;
	types(&user, "function twice(x) {\r");
	sees(&user, "        ... ");
	types(&user, "  return 2 * x\r}\r");
	enters("twice(21)", OUT "42\r\n");
	types(&user, "`a\rb`.length\r");
	sees(&user, OUT "3\r\n");
	types(&user, "1 +\r/* one\r*/ 2.5\r");
	sees(&user, OUT "3.5\r\n");
	/* An error does not wait for more. */
	enters("let 5 = 6", "SyntaxError");
	ends(1);
}

TEST(python_goes_on_until_an_empty_line) {
	if (!begin("python"))
		return;
	types(&user, "def twice(x):\r    return 2 * x\r\r");
	enters("twice(21)", OUT "42\r\n");
	types(&user, "if twice(1) == 3:\r    'no'\relse:\r    print(twice(50))\r\r");
	sees(&user, OUT "100\r\n");
	types(&user, "twice(\r21.5)\r");
	sees(&user, OUT "43\r\n");
	enters("exit(3) or 1", "python> ");
	/* Questions of the loop itself are not counted. */
	types(&user, "def fails():\r    return 1 / 0\r\r");
	types(&user, "fails()\r");
	sees(&user, "File \"input[7]\", line 1");
	sees(&user, "File \"input[6]\", line 2");
	enters("twice(4)", OUT "8\r\n");
	types(&user, "exit()\r");
	CHECK_INT(leaves(&user), 0);
}

TEST(a_shell_goes_on_and_keeps_its_status) {
	if (!begin("shell"))
		return;
	types(&user, "for i in 1 2; do\recho \"i=$i\"; done\r");
	sees(&user, "i=1\r\ni=2\r\n");
	types(&user, "cat <<END\rsome $((6 * 7))\rEND\r");
	sees(&user, "some 42\r\n");
	types(&user, "echo \"a\rb $((2 * 21))\"\r");
	sees(&user, "b 42\r\n");
	enters("(exit 7)", "shell> ");
	enters("echo status=$?", "status=7\r\n");
	/* The code asks at the same terminal. */
	types(&user, "read -p 'name? ' name; echo \"<$name>\"\r");
	sees(&user, OUT "name? ");
	enters("bob", "<bob>\r\n");
	ends(0);
}

TEST(pasted_code_runs_when_it_is_entered) {
	if (!begin("python"))
		return;
	types(&user, PASTE "a = 40\nfor i in range(2):\n    a += 1\n\nprint('a is', a)" PASTED);
	types(&user, "\r");
	sees(&user, "a is 42\r\n");
	ends(0);
}

TEST(input_typed_ahead_is_kept) {
	if (!begin("js"))
		return;
	/* All at once: what the code does not take is for the next prompt. */
	types(&user, "let a = 1; for (let i = 0; i < 1e6; i++);\ra += 1\ra + 40\r\004");
	sees(&user, OUT "42\r\n");
	CHECK_INT(leaves(&user), 0);
}

TEST(ctrl_c_drops_the_line_or_interrupts_the_code) {
	if (!begin("js"))
		return;
	types(&user, "abandoned\003");
	sees(&user, "^C");
	enters("let kept = 41; console.log('be' + 'gun'); for (;;);", "begun\r\n");
	types(&user, "\003");
	sees(&user, "interrupted by the caller");
	sees(&user, "javascript> ");
	enters("kept + 1", OUT "42\r\n");
	/* Again, in the same loop. */
	enters("console.log('once' + ' more'); for (;;);", "once more\r\n");
	types(&user, "\003");
	sees(&user, "interrupted by the caller");
	enters("kept + 2", OUT "43\r\n");
	ends(0);
}

TEST(tab_completes_names_and_commands) {
	if (!begin("js"))
		return;
	enters("const unusualName = 42, unusualNumber = 43", "javascript> ");
	types(&user, "unu\tam\t\r");
	sees(&user, OUT "42\r\n");
	types(&user, "unusualN\t");
	sees(&user, "unusualName  unusualNumber");
	types(&user, "\003.re\t\r");
	sees(&user, ".reset");
	sees(&user, "javascript> ");
	enters("typeof unusualName", "undefined\r\n");
	enters("const tree = {leaf: {unusualKey: 44}, ['no name']: 1}; tree.leaf.other = 0", OUT "0\r\n");
	types(&user, "tree.le\t.unu\t\r");
	sees(&user, OUT "44\r\n");
	types(&user, "tree.toLoc\t.len\t\r"); /* of the prototypes */
	sees(&user, OUT "0\r\n");
	/* A call is not evaluated, and an error is not shown. */
	enters("let calls = 0; const call = () => { calls++; return tree }", "javascript> ");
	types(&user, "call().le\t\003missing.a\t\003");
	enters("calls + 0.5", OUT "0.5\r\n");
	ends(0);
	if (!begin("python"))
		return;
	enters("unusual_name = 42", "python> ");
	types(&user, "unus\t\r");
	sees(&user, OUT "42\r\n");
	enters("import collections", "python> ");
	types(&user, "collections.Counter.most\t.__na\t\r");
	sees(&user, OUT "most_common\r\n");
	types(&user, "'ab'.upp\t\003"); /* no name before the dot */
	ends(0);
	if (!begin("shell"))
		return;
	enters("unusual_variable=44", "shell> ");
	types(&user, "echo $unusual_v\t\r");
	sees(&user, OUT "44\r\n");
	enters("unusual_function() { echo $((6 * 7)); }", "shell> ");
	types(&user, "unus\t\r");
	sees(&user, OUT "42\r\n");
	ends(0);
}

TEST(the_history_is_kept_without_secrets) {
	char path[100], text[1000] = "";
	if (!begin("js"))
		return;
	enters("40 + 2", OUT "42\r\n");
	enters("'hunter22-hunter22'.length", OUT "17\r\n");
	enters(" 50 + 3", OUT "53\r\n");
	ends(0);
	if (!begin("js"))
		return;
	enters(UP, OUT "42\r\n");
	ends(0);
	struct stat st;
	snprintf(path, sizeof path, "%s/history-javascript", folder);
	FILE *file = fopen(path, "re");
	CHECK(file && fread(text, 1, sizeof text - 1, file) > 0 && fstat(fileno(file), &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK(strstr(text, "40 + 2\n") && !strstr(text, "hunter22") && !strstr(text, "50 + 3"));
	if (file)
		fclose(file);
}

TEST(a_session_that_ended_is_replaced_with_a_word_about_it) {
	if (!begin("shell"))
		return;
	enters("a=gone; kill -9 $$", "shell> ");
	enters("echo \"a=<$a>\"", "this is a new one, without its variables");
	sees(&user, "a=<>\r\n");
	ends(0);
	check_no_sessions();
}

TEST(a_named_session_is_used_and_kept) {
	expect(0, "session create -l python --name work", "work");
	expect(0, "session exec work -e 'a = 40'", "");
	sit_down(&user, (const char *const[]){"glovebox", "run", "--session", "work", NULL});
	sees(&user, "python, session 'work'");
	enters("b = a + 2", "python> ");
	ends(0);
	expect(0, "session exec work -e b", "42\n");
	expect(2, "run -i -l js --session work", "another language, python");
	expect(0, "session kill work", "");
}

TEST(code_of_the_command_line_runs_first) {
	sit_down(&user, (const char *const[]){"glovebox", "run", "-ljs", "-i", "-e", "let a = 41", NULL});
	sees(&user, "javascript> ");
	enters("a + 1", OUT "42\r\n");
	ends(0);
}

TEST(code_cannot_control_the_terminal) {
	if (!begin("shell"))
		return;
	enters("printf 'a\\033]0;title\\007b\\n'", "a?]0;title?b\r\n");
	ends(0);
}

TEST(unicode_can_be_edited) {
	if (!begin("js"))
		return;
	types(&user, "'\303\244\346\227\245x\177\033[D\177\303\266\005'.length\r");
	sees(&user, "'\303\266\346\227\245'.length");
	sees(&user, OUT "2\r\n");
	ends(0);
}

TEST(a_dumb_terminal_has_prompts_without_sequences) {
	setenv("TERM", "dumb", 1);
	sit_down(&user, (const char *const[]){"glovebox", "run", "-ljs", NULL});
	sees(&user, "javascript> ");
	types(&user, "let a = [\n");
	sees(&user, "        ... ");
	types(&user, "1, 41]\n");
	sees(&user, "javascript> ");
	types(&user, "a[0] + a[1]\n");
	sees(&user, "\r\n42\r\n");
	sees(&user, "javascript> ");
	types(&user, "dropped\003");
	sees(&user, "javascript> ");
	types(&user, "a.length * 2.25\n");
	sees(&user, "4.5\r\n");
	sees(&user, "javascript> ");
	types(&user, "\004");
	CHECK_INT(leaves(&user), 0);
	CHECK(!strchr(user.screen.text, '\033'));
	setenv("TERM", "xterm", 1);
}

TEST(input_that_is_no_terminal_is_read_without_prompts) {
	char out[10000];
	char command[] = "printf 'let a = [\\n1, 41]\\na[0] + a[1]\\nconsole.log(`a\\nb`)\\n\"last\"' | "
			 "\"$GB_GLOVEBOX\" run -ljs -i 2>&1";
	FILE *pipe = popen(command, "re");
	size_t n = pipe ? fread(out, 1, sizeof out - 1, pipe) : 0;
	out[n] = '\0';
	CHECK_INT(pipe ? pclose(pipe) : -1, 0);
	CHECK_STR(out, "42\na\nb\nlast\n");
	check_no_sessions();
}

TEST(a_signal_ends_the_loop_and_its_session) {
	static const int signals[] = {SIGTERM, SIGHUP};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		if (!begin("js"))
			return;
		if (i == 0)
			enters("console.log('ru' + 'ns'); for (;;);", "runs\r\n");
		kill(user.pid, signals[i]);
		leaves(&user);
		check_no_sessions();
	}
}

TEST(what_a_loop_cannot_have_is_refused) {
	expect(2, "run", "nothing to run");
	expect(2, "run -i -l deno", "deno has no sessions");
	expect(2, "run -i --json", "--json is for a run");
	expect(2, "run -i --set agent.enabled=true", "no effect on sessions");
	expect(2, "run -i -", "standard input has the code of the loop");
}
