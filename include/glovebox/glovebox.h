/*
 * libglovebox: run code that nobody has vouched for.
 *
 *	struct gb_engine *engine;
 *	struct gb_run *run;
 *	struct gb_err err = {0};
 *	gb_engine_create(NULL, &engine, &err);
 *	gb_run_start(engine, &(struct gb_run_options){.source = "export default 6*7"}, &run, &err);
 *	const struct gb_result *result = gb_run_wait(run);
 *	... result->status, result->value ...
 *	gb_run_destroy(run);
 *	gb_engine_destroy(engine);
 *
 * An engine keeps sandboxed processes ready; a run is one execution in one of them, from request to result.
 *
 * Embedding: an engine belongs to one thread at a time. It has no global state, starts no threads and handles
 * no signals; the host gets a SIGCHLD only when a zygote ends, and may ignore it or reap it. It works only
 * inside calls: either call gb_run_wait, or poll gb_engine_fd for input together with your own descriptors and
 * call gb_engine_dispatch when it is readable; callbacks are called from there.
 */
#ifndef GLOVEBOX_H
#define GLOVEBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "glovebox/err.h"
#include "glovebox/errors.h"
#include "glovebox/fields.h"
#include "glovebox/languages.h"
#include "glovebox/value.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define GB_VERSION "0.1.0"

struct gb_engine;
struct gb_session;
struct gb_run;
struct gb_call;

/* A profile of Python: what its sandboxes have imported before any code comes. */
struct gb_python_profile {
	const char *name;    /* a word of at most 15 letters; not "stdlib" or "data", which are there */
	const char *modules; /* "numpy,scipy.stats"; one that is not installed is left out */
};

/* Zero means the default, in every field. */
struct gb_engine_options {
	const char *worker_dir; /* where glovebox-js is; else beside the program, else the installed place */
	unsigned ready;         /* 1 << GB_PYTHON and so on: what is to be ready from the start, JavaScript if
				 * nothing is said; the others are when they are first asked for */
	/* Programs, by path; NULL: as GLOVEBOX_BASH, GLOVEBOX_NODE and GLOVEBOX_DENO say, or as PATH has
	 * them. */
	const char *shell, *node, *deno;
	const char *node_packages; /* a folder of packages that Node.js code may be allowed to use; or NULL */
	const struct gb_python_profile *python_profiles; /* more of them, at most 8 */
	size_t n_python_profiles;
	unsigned shards;   /* zygotes: one per CPU that the process may use, and never more */
	unsigned warm;     /* sandboxes kept ready per shard: 4; GB_NONE for none */
	unsigned max_runs; /* at once, warm sandboxes included: 1024 */
	uint64_t
	    memory_bytes; /* of everything together, where control groups are to be had: 3/4 of the machine */
};

#define GB_NONE ((unsigned)-1)

/* Start the zygotes and see the wall stand. Fails with GB_EWALL, naming the layer, if it cannot be raised.
 * @options may be NULL. */
bool gb_engine_create(const struct gb_engine_options *options, struct gb_engine **ret, struct gb_err *err);
/* Ends every process. Not from a callback. Runs that have not settled are destroyed, without calling anybody;
 * those that have must be destroyed before. NULL is fine. */
void gb_engine_destroy(struct gb_engine *engine);

/* The names of the layers of the wall that stand around code of @language ("seccomp", "landlock", ...): at
 * most
 * @n are given, and how many there are is returned. 0 until a sandbox for it was first made ready. */
size_t gb_engine_layers(
    const struct gb_engine *engine, enum gb_language language, const char **ret, size_t n);
/* The version of the program that runs @language, in its own words: "Python 3.11.2". The first call starts a
 * process and waits for it, 5 seconds at most; a program of the machine (bash, Node.js, Deno) is started in a
 * sandbox. Empty if there is no answer. Lives as long as the engine. */
const char *gb_engine_version(struct gb_engine *engine, enum gb_language language);
/* Start that process now, if it has to be started, so that a later call of gb_engine_version has less to wait
 * for. */
void gb_engine_ask_version(struct gb_engine *engine, enum gb_language language);

/* Readable when there is something to dispatch. */
int gb_engine_fd(const struct gb_engine *engine);
/* Do what can be done now; wait for it at most @timeout_ms (0: not at all, -1: for ever). */
bool gb_engine_dispatch(struct gb_engine *engine, int timeout_ms, struct gb_err *err);

enum gb_status {
	GB_SUCCESS,
	GB_FAILURE,    /* "error": the code threw, or gave what cannot cross */
	GB_MEMORY,     /* it needed more than its limit */
	GB_TERMINATED, /* by the caller, or by a limit: error.code says which */
	GB_LINK_ERROR, /* it is not a module that can be linked: syntax, unknown import, missing export */
	GB_DENIED,     /* it was not run at all */
};

/* "success", "error", "memory", "terminated", "link_error", "denied". */
const char *gb_status_name(enum gb_status status);

/* What went wrong. Texts are never NULL but may be empty; line and column are 0 when unknown. */
struct gb_run_error {
	const char *name;
	const char *message;
	const char *stack;
	const char *code; /* which limit or rule: "timeout", "output_limit", … */
	const char *specifier;
	const char *filename;
	unsigned line, column;
	/* How long a text is that holds U+0000, and so seems to end there; 0 for all others. */
	size_t name_bytes, message_bytes, stack_bytes;
};

enum gb_log_level { GB_LOG_LOG, GB_LOG_INFO, GB_LOG_WARN, GB_LOG_ERROR, GB_LOG_DEBUG };

/* "log", "info", "warn", "error", "debug". */
const char *gb_log_level_name(enum gb_log_level level);

/* One console call. */
struct gb_log {
	enum gb_log_level level;
	double timestamp; /* milliseconds since 1970 */
	const struct gb_value *args;
};

/* What a kind of field (fields.h) is in C. A text is never NULL; a list or text may be empty. */
#define GB_MEMBER_ID(member)     char member[33];
#define GB_MEMBER_STATUS(member) enum gb_status member;
#define GB_MEMBER_VALUE(member)  const struct gb_value *member;        /* NULL: there is none */
#define GB_MEMBER_VALUES(member) const struct gb_value *const *member; /* with size_t n_member */
#define GB_MEMBER_DISPLAYS(member)                                                                           \
	const struct gb_value *const *member;                    /* objects: media type to text, bytes */
#define GB_MEMBER_FILES(member)   const struct gb_value *member; /* an object: path to bytes, or NULL */
#define GB_MEMBER_LOGS(member)    const struct gb_log *member;
#define GB_MEMBER_OUTPUT(member)  const char *member##_text; /* with size_t member_bytes */
#define GB_MEMBER_TEXT(member)    const char *member;
#define GB_MEMBER_FLAG(member)    bool member;
#define GB_MEMBER_INTEGER(member) int member;
#define GB_MEMBER_COUNT(member)   uint64_t member; /* 0: unknown */
#define GB_MEMBER_MS(member)      double member;
#define GB_MEMBER_ERROR(member)   struct gb_run_error member; /* all empty when the run was successful */

/* One or two members for each row of GB_RESULT_FIELDS, which documents them. */
struct gb_result {
#define GB_ROW(kind, member, json, when, doc)    GB_MEMBER_##kind(member)
#define GB_LIST(kind, member, json, when, doc)   GB_MEMBER_##kind(member) size_t n_##member;
#define GB_STREAM(kind, member, json, when, doc) GB_MEMBER_##kind(member) size_t member##_bytes;
	GB_RESULT_FIELDS(GB_ROW, GB_LIST, GB_STREAM)
#undef GB_ROW
#undef GB_LIST
#undef GB_STREAM
};

/* Zero means the default, in every field. Everything is copied. */
struct gb_run_options {
	const char *source;
	size_t source_bytes; /* 0: the source ends with a zero byte */
	enum gb_language language;
	const char *filename; /* in stack traces and import.meta: "<runCode>" */
	const char *fn;       /* the export that is the result; NULL: the default export, if there is one */
	const struct gb_value *args;    /* an array, if the export is a function */
	const struct gb_value *globals; /* an object: identifiers that the code sees */
	const struct gb_value *imports; /* an object: bare specifier to an object of named exports */
	const struct gb_value *modules; /* an object: "./lib/math.js" to its source */
	bool report;                    /* the code has a function report(value) */

	/* Not for every language; one that has no use for a field refuses it. */
	const char *profile; /* Python: "stdlib", or "data": with numpy, pandas and matplotlib loaded */
	const char *input;   /* what the program reads from its standard input */
	const struct gb_value *files; /* an object, path to text or bytes: put into /box, where it runs */
	bool reset;                   /* in a session: forget what was defined before */
	bool restricted; /* Python, shell: refuse what honest code does not need; a courtesy, not a wall */
	const struct gb_value *allowed_modules; /* Python (restricted), Node.js: an array of names that it may
						 * import; an empty one allows none. NULL: none in
						 * Python, ["node:safe"] in Node.js */
	const struct gb_value *net; /* Deno: an array of hosts, "name" or "name:port", that it may ask
				     * for; its network ends at the wall all the same */
	struct gb_session *session; /* run in there; its language and profile are the run's */
	/* In a session that has a terminal: a run that waits for input is interrupted at once and settles
	 * with the code "awaiting_input", and the prompt in the message. The session stays, as after any
	 * interrupt. */
	bool ends_on_input;

	/* The limits: GB_LIMIT_FIELDS of fields.h documents them. timeout_ms may be GB_NO_TIMEOUT. */
#define GB_LIMIT(member, width, ...) uint##width##_t member;
	GB_LIMIT_FIELDS(GB_LIMIT)
#undef GB_LIMIT

	/* As it happens. @log is valid during the call; its args live as long as the run. */
	void (*on_log)(struct gb_run *run, const struct gb_log *log, void *data);
	/* What the program writes, as it happens, to its @stream 1 or 2; and what it shows. */
	void (*on_output)(struct gb_run *run, int stream, const char *bytes, size_t n, void *data);
	void (*on_display)(struct gb_run *run, const struct gb_value *display, void *data);
	/* The code calls a function of the host's (gb_value_function in globals, imports, args or an answer),
	 * and waits. @call is the callee's now: see gb_call_return. Without this callback calls throw. */
	void (*on_call)(struct gb_run *run, struct gb_call *call, void *data);
	/* The code calls report(); the value is in the result already. @call is to be answered like any
	 * other, and its answer is what report() returns; without this callback it returns undefined. */
	void (*on_report)(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data);
	/* In a session that has a terminal: what runs waits for somebody to type, after @prompt, which is the
	 * unfinished line before the cursor and may be empty; or, if @prompt is NULL, it goes on. */
	void (*on_awaiting)(struct gb_run *run, const char *prompt, void *data);
	/* Once. The run may be destroyed here. */
	void (*on_settled)(struct gb_run *run, const struct gb_result *result, void *data);
	void *data;
};

#define GB_NO_TIMEOUT UINT64_MAX
#define GB_SOURCE_MAX (16u << 20)
#define GB_MEMORY_MIN (1u << 20)
/* Bytes of each text of an error (characters, in Node.js and Deno): beyond this it is cut. */
#define GB_ERROR_TEXT_MAX (64u << 10)

/* Start a run. Fails on wrong options (GB_EINVAL names the field), or when no sandbox is to be had. What the
 * code does wrong is not a failure of this call: it is in the result. */
bool gb_run_start(
    struct gb_engine *engine, const struct gb_run_options *options, struct gb_run **ret, struct gb_err *err);

/* Stop it at once, whatever it does. The result's error says @reason (may be NULL; at most 64 KiB of it).
 * on_settled is called before this returns. Does nothing when it has settled already. */
void gb_run_terminate(struct gb_run *run, const char *reason);

/* The id that its result will have. Lives as long as the run. */
const char *gb_run_id(const struct gb_run *run);
/* What was given as options->data. */
void *gb_run_data(const struct gb_run *run);

/* False while it waits for its session (sessions.h), and for good if it has ended there. */
bool gb_run_begun(const struct gb_run *run);
/* Has it settled? */
bool gb_run_settled(const struct gb_run *run);
/* The result, once it has; NULL before. Lives as long as the run. */
const struct gb_result *gb_run_result(const struct gb_run *run);

/* Dispatch until it has settled. NULL only if waiting itself fails. */
const struct gb_result *gb_run_wait(struct gb_run *run);

/* Also ends it if it still runs, without calling anybody. NULL is fine. */
void gb_run_destroy(struct gb_run *run);

/*
 * Sessions: a sandbox that outlives a run. What one run defines, the next one finds.
 *
 *	gb_session_open(engine, GB_PYTHON, NULL, &session, &err);
 *	gb_run_start(engine, &(struct gb_run_options){.session = session, .source = "x = 1"}, &run, &err);
 *	...
 *	gb_session_close(session);
 *
 * One run at a time. A run whose time is up is interrupted and the session kept; one that does not stop
 * within five seconds, and one that is terminated, ends the session with it. sessions.h keeps many, by name.
 */
enum gb_session_state {
	GB_SESSION_IDLE,
	GB_SESSION_EXECUTING,
	GB_SESSION_AWAITING_INPUT, /* executing, and it waits for somebody to type: see gb_session_send */
	GB_SESSION_TERMINATED,
};

/* "idle", "executing", "awaiting_input", "terminated". */
const char *gb_session_state_name(enum gb_session_state state);

/* @profile may be NULL. */
bool gb_session_open(struct gb_engine *engine, enum gb_language language, const char *profile,
    struct gb_session **ret, struct gb_err *err);
/* Ends the sandbox, and a run in it without calling anybody. Before the engine is destroyed. NULL is fine. */
void gb_session_close(struct gb_session *session);

enum gb_session_state gb_session_state(const struct gb_session *session);
/* Why it is terminated; empty if it is not. */
const char *gb_session_reason(const struct gb_session *session);

/*
 * Terminals. A shell's session has one; other languages refuse these with GB_EINVAL. What is written to it is
 * the output of the run that executes, as stream 1. Somebody may be attached to it, and then has a prompt
 * when no run executes, and sees everything.
 */

/* What stands before the cursor while it awaits input, which may be nothing; empty otherwise. */
const char *gb_session_prompt(const struct gb_session *session);
/* Type @bytes: to the run that executes, or for somebody who is attached. */
bool gb_session_send(struct gb_session *session, const char *bytes, size_t n, struct gb_err *err);
/* on_bytes is called with what the terminal shows from now on; it must not close the session. */
typedef void (*gb_shown)(struct gb_session *session, const char *bytes, size_t n, void *data);
bool gb_session_attach(struct gb_session *session, gb_shown on_bytes, void *data, struct gb_err *err);
void gb_session_detach(struct gb_session *session);
/* Whoever is attached does not keep up: while held, the terminal stands still, and with it what writes there.
 */
void gb_session_hold(struct gb_session *session, bool held);
/* At first it is 80 by 24. */
bool gb_session_resize(struct gb_session *session, unsigned columns, unsigned rows, struct gb_err *err);

/* Ask the code to stop, as Ctrl-C does. The run settles as "terminated", with the code "interrupted", unless
 * the code has other plans. False if it is not in a session, or has settled. */
bool gb_run_interrupt(struct gb_run *run);

/*
 * Calls, from the code to the host:
 *
 *	static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
 *		double n = gb_value_as_number(gb_value_at(gb_call_args(call), 0));
 *		gb_call_return(call, gb_value_number(gb_call_values(call), n * 2));
 *	}
 *
 * The code waits inside its call until there is an answer; to let it go on with a promise meanwhile, say
 * gb_call_promise first. Either way the answer may come at any time, also after on_call has returned; each
 * call must be answered once, even when its run has ended (the answer then only releases it).
 */

/* The run, or NULL once it has settled. */
struct gb_run *gb_call_run(const struct gb_call *call);
/* The id that was given to gb_value_function or gb_value_promise. */
uint32_t gb_call_function(const struct gb_call *call);
/* What it was called with: an array. It lives as long as the call. */
const struct gb_value *gb_call_args(const struct gb_call *call);
/* A pool for the answer, which lives as long as the call. */
struct gb_values *gb_call_values(struct gb_call *call);

/* The code goes on, with a promise that the answer will settle. */
void gb_call_promise(struct gb_call *call);
/* Answer and release the call. NULL is undefined. A value that cannot cross (too large, too deep) throws in
 * the code instead; then this returns false too. */
bool gb_call_return(struct gb_call *call, const struct gb_value *value);
/* The same, but the code sees it thrown: usually a gb_value_error without a stack. */
bool gb_call_throw(struct gb_call *call, const struct gb_value *thrown);

/* Calls, from the host to the code: @function is the number of a GB_SANDBOX function or promise, which is
 * "called" to wait for it. @args is an array, or NULL. on_answer is called once: with what was returned or
 * thrown (promises awaited), valid during the call; or, if the run ends before, with NULL as @value. */
typedef void (*gb_answered)(struct gb_run *run, const struct gb_value *value, bool thrown, void *data);
bool gb_run_call(struct gb_run *run, uint32_t function, const struct gb_value *args, gb_answered on_answer,
    void *data, struct gb_err *err);

/* The result as one JSON object on one line, in the shape that is the same everywhere. The caller's to
 * free(). */
char *gb_result_to_json(const struct gb_result *result, size_t *ret_n, struct gb_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
