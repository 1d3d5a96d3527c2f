/* Programs that people use every day, as far as this machine has them, work in a sandbox. */
#include <unistd.h>

#include "e2e/shell.h"

struct example {
	const char *program; /* in /usr/bin */
	const char *source;
	const char *output; /* its end */
};

static const struct example examples[] = {
    {"make", "printf 'all: a.txt\\n\\t@cat a.txt\\na.txt:\\n\\t@echo made > a.txt\\n' > Makefile; make",
	"made\n"},
    {"git",
	"export HOME=/tmp GIT_CONFIG_NOSYSTEM=1; git init -q a; cd a; echo text > file; git add file; "
	"git -c user.name=a -c user.email=a@example.org commit -q -m first; cd ..; git clone -q a b; cat "
	"b/file",
	"text\n"},
    {"cc", "printf '#include <stdio.h>\\nint main(void) { puts(\"compiled\"); }' > a.c; cc a.c -o a && ./a",
	"compiled\n"},
    {"tar", "mkdir d; echo packed > d/f; tar czf d.tar.gz d; rm -r d; tar xzf d.tar.gz; cat d/f", "packed\n"},
    {"ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f key && cut -d' ' -f1 key.pub", "ssh-ed25519\n"},
    {"sqlite3", "sqlite3 a.db 'create table t(n); insert into t values(42); select n from t'", "42\n"},
    {"jq", "echo '{\"a\":[1,42]}' | jq '.a[1]'", "42\n"},
    {"perl", "perl -e 'print 6 * 7, \"\\n\"'", "42\n"},
    {"npm", "export HOME=/tmp; npm init -y > /dev/null && npm pkg get version", "\"1.0.0\"\n"},
    {"pip3", "pip3 list --format=freeze > /dev/null && echo listed", "listed\n"},
    {"go",
	"export HOME=/tmp; printf 'package main\\nfunc main() { println(42) }' > a.go; go build a.go && ./a "
	"2>&1",
	"42\n"},
    {"cargo",
	"export HOME=/tmp; cargo init -q --vcs none --name a a && cd a && cargo build -q --offline && "
	"target/debug/a",
	"Hello, world!\n"},
    {"pytest",
	"printf 'def test_it():\\n    assert 6 * 7 == 42\\n' > test_a.py; pytest -q -p no:cacheprovider | "
	"tail -1 | cut -c1-8",
	"1 passed\n"},
};

static bool ends_with(const char *text, const char *end) {
	size_t n = strlen(text), n_end = strlen(end);
	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

static void run_example(void) {
	const struct example *example = tap.data;
	char path[100];
	struct gb_run *run;
	snprintf(path, sizeof path, "/usr/bin/%s", example->program);
	if (access(path, X_OK) != 0)
		SKIP("it is not installed here");
	const struct gb_result *result =
	    shell(&run, (struct gb_run_options){.source = example->source, .memory_bytes = 1024ull << 20});
	if (!CHECK_STR(gb_status_name(result->status), "success") ||
	    !CHECK(ends_with(result->stdout_text, example->output)))
		tap_quote(result->stdout_text, result->stderr_text);
	gb_run_destroy(run);
}

__attribute__((constructor)) static void add_examples(void) {
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		tap_add(examples[i].program, run_example, &examples[i]);
}

/* What is allowed for make gives no other identity. */
TEST(no_other_user_or_group_can_be_taken) {
	struct gb_run *run;
	const struct gb_result *result = shell(&run,
	    (struct gb_run_options){.source = "/usr/bin/python3 -c '\n"
					      "import os\n"
					      "for call, ids in ((os.setuid, (0,)), (os.setgid, (0,)), "
					      "(os.setreuid, (0, 0)), (os.setregid, (0, 0)),\n"
					      "                  (os.setresuid, (0, 0, 0)), (os.setresgid, "
					      "(0, 0, 0)), (os.setresuid, (-1, 1, -1))):\n"
					      "    try:\n"
					      "        call(*ids)\n"
					      "        print(call.__name__, ids)\n"
					      "    except OSError as error:\n"
					      "        pass\n"
					      "os.setresuid(-1, os.getuid(), -1)\n"
					      "print(os.getresuid() == (os.getuid(),) * 3)\n"
					      "'"});
	CHECK_STR(result->stdout_text, "True\n");
	gb_run_destroy(run);
}
