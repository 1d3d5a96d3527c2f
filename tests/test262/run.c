#include "test262/run.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { TIMEOUT_MS = 20000, MEMORY_BYTES = 256 << 20, TRANSFER_MAX = 64 << 20 };

/* --- through the sandbox --- */

static struct gb_value *make_modules(struct gb_values *pool, const struct t262_case *one) {
	struct gb_value *modules = gb_value_object(pool);
	for (size_t i = 1; i < one->n_files; i++) {
		char key[1024];
		snprintf(key, sizeof key, "./%s", one->files[i].name);
		gb_value_put_key(
		    modules, key, gb_value_string(pool, one->files[i].text.p, one->files[i].text.n));
	}
	return modules;
}

bool t262_sandbox_start(
    struct gb_engine *engine, const struct t262_case *one, struct gb_run **ret, struct gb_err *err) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_run_options options = {
	    .source = one->files[0].text.p,
	    .source_bytes = one->files[0].text.n,
	    .language = GB_JAVASCRIPT,
	    .filename = one->files[0].name,
	    .modules = make_modules(pool, one),
	    .memory_bytes = MEMORY_BYTES,
	    .timeout_ms = TIMEOUT_MS,
	};
	bool ok = gb_values_failed(pool) ? gb_fail(err, GB_EINVAL, 0, "a module is not text")
					 : gb_run_start(engine, &options, ret, err);
	gb_values_destroy(pool);
	return ok || gb_wrap(err, "%s", one->path);
}

/* A thrown value that is not an Error has only a message, the value as JSON: remove the quotes of a string. */
static void describe(const struct gb_run_error *error, char ret[T262_TEXT_MAX]) {
	const char *message = error->message;
	size_t n = strlen(message);
	if (n > 1 && message[0] == '"' && message[n - 1] == '"')
		snprintf(ret, T262_TEXT_MAX, "%.*s", (int)n - 2, message + 1);
	else
		snprintf(ret, T262_TEXT_MAX, "%s: %s", error->name, message);
}

/* Failures other than exceptions of the code. */
static const struct {
	const char *code;
	enum t262_stage stage;
} codes[] = {
    {"never_settles", T262_PENDING},
    {"crashed", T262_BROKEN},
    {"sandbox_lost", T262_BROKEN},
};

static enum t262_stage stage_of(const struct gb_result *result) {
	for (size_t i = 0; i < GB_COUNT(codes); i++)
		if (strcmp(result->error.code, codes[i].code) == 0)
			return codes[i].stage;
	return result->status == GB_SUCCESS      ? T262_DONE
	       : result->status == GB_LINK_ERROR ? T262_LINK
	       : result->status == GB_FAILURE    ? T262_RUN
						 : T262_BROKEN;
}

void t262_sandbox_finish(struct gb_run *run, struct t262_outcome *ret) {
	*ret = (struct t262_outcome){.stage = T262_BROKEN};
	const struct gb_result *result = gb_run_wait(run);
	for (size_t i = 0; result && i < result->n_logs; i++) {
		struct gb_str line;
		line.p = gb_value_bytes(gb_value_at(result->logs[i].args, 0), &line.n);
		if (line.p)
			t262_outcome_hear(ret, line);
	}
	if (result) {
		ret->stage = stage_of(result);
		describe(&result->error, ret->text);
	}
	gb_run_destroy(run);
}

/* --- through the plain engine --- */

static void put_file(struct gb_buf *out, const char *name, struct gb_str text) {
	gb_buf_printf(out, "%zu %zu\n%s", strlen(name), text.n, name);
	gb_buf_append_str(out, text);
}

static void write_request(struct gb_buf *out, const struct t262_case *one, bool script) {
	gb_buf_printf(out, "%s %zu\n", script ? "script" : "module", one->n_files + (script ? 1 : 0));
	if (script)
		put_file(out, "harness", one->harness);
	put_file(out, one->files[0].name, script ? one->source : one->files[0].text);
	for (size_t i = 1; i < one->n_files; i++)
		put_file(out, one->files[i].name, one->files[i].text);
}

static bool take_word(struct gb_str *line, struct gb_str word) {
	struct gb_str rest = *line, head;
	gb_str_cut(&rest, ' ', &head);
	if (!gb_str_eq(head, word))
		return false;
	*line = rest;
	return true;
}

static void read_answer(struct gb_str rest, struct t262_outcome *ret) {
	struct gb_str line;
	while (gb_str_cut(&rest, '\n', &line)) {
		if (take_word(&line, GB_STR("log"))) {
			t262_outcome_hear(ret, line);
			continue;
		}
		if (take_word(&line, GB_STR("unhandled"))) {
			snprintf(ret->unhandled, sizeof ret->unhandled, "%.*s", GB_STR_ARG(line));
			ret->rejected = true;
			continue;
		}
		ret->stage = take_word(&line, GB_STR("link"))      ? T262_LINK
			     : take_word(&line, GB_STR("run"))     ? T262_RUN
			     : take_word(&line, GB_STR("pending")) ? T262_PENDING
			     : take_word(&line, GB_STR("done"))    ? T262_DONE
								   : T262_BROKEN;
		snprintf(ret->text, sizeof ret->text, "%.*s", GB_STR_ARG(line));
	}
}

static bool spawn_on(int fd, const char *program, pid_t *ret_pid, struct gb_err *err) {
	char *argv[] = {(char *)program, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	int failure = posix_spawn(ret_pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return failure == 0 || gb_fail(err, GB_ENOENT, failure, "start '%s'", program);
}

bool t262_plain(const char *program, const struct t262_case *one, bool script, struct t262_outcome *ret,
    struct gb_err *err) {
	int pair[2];
	pid_t pid;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "socketpair");
	gb_auto_fd int ours = pair[0], theirs = pair[1];
	if (!spawn_on(theirs, program, &pid, err))
		return false;
	gb_close_fd(&theirs);
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, TRANSFER_MAX);
	write_request(&buf, one, script);
	/* A failed write is ignored: if the program ends early, there is no answer, and the stage is T262_BROKEN. */
	gb_write_all(ours, buf.data, buf.len);
	shutdown(ours, SHUT_WR);
	gb_buf_clear(&buf);
	*ret = (struct t262_outcome){.stage = T262_BROKEN};
	gb_read_to_end(ours, "the plain engine's answer", &buf, NULL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	read_answer(gb_buf_str(&buf), ret);
	return true;
}
