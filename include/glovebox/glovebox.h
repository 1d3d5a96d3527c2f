/*
 * libglovebox: run untrusted code safely.
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
 * Embedding: only one thread at a time may use an engine. An engine has no global state, starts no threads
 * and handles no signals; the host gets a SIGCHLD only when a zygote ends, and may ignore or reap it. Work
 * happens only inside calls: either call gb_run_wait, or poll gb_engine_fd for input together with your own
 * descriptors and call gb_engine_dispatch when it is readable; callbacks are called from there. A caller with
 * threads can lend them for work that takes long: gb_engine_options.offload. Only functions that say so wait. A
 * callback may call every function except where its comment says otherwise; events are never dispatched inside a
 * callback.
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
struct gb_task;

/* A profile of Python: the modules that its sandboxes import in advance. */
struct gb_python_profile {
	const char *name;    /* a word of at most 15 letters; not "stdlib" or "data", which are built in */
	const char *modules; /* "numpy,scipy.stats"; modules that are not installed are skipped */
};

/* Zero means the default, in every field. */
struct gb_engine_options {
	/* The folder of glovebox-js; default: libexec/glovebox of the installed tree that the library is in (or the program,
	 * if it is linked statically), or the folder of the library or program itself. */
	const char *worker_dir;
	/* 1 << GB_PYTHON and so on: languages whose sandboxes start with the engine; default: JavaScript. The
	 * sandboxes of other languages start at their first use: the first runs wait for them. */
	unsigned ready;
	/* Paths of programs; NULL: the value of GLOVEBOX_BASH, GLOVEBOX_NODE or GLOVEBOX_DENO, else the
	 * program found in PATH. */
	const char *shell, *node, *deno;
	const char *node_packages; /* a folder of packages that Node.js code may be allowed to use; or NULL */
	const struct gb_python_profile *python_profiles; /* additional profiles, at most 8 */
	size_t n_python_profiles;
	unsigned shards;   /* zygotes; default and maximum: one per CPU that the process may use */
	unsigned warm;     /* sandboxes kept ready per shard; default: 4; GB_NONE for none */
	unsigned max_runs; /* concurrent runs, warm sandboxes included; default: 1024 */
	/* Memory of all sandboxes together, if control groups are available; default: 3/4 of the
	 * machine's. */
	uint64_t memory_bytes;
	/* Hosts of the 'net' of runs that are addresses and not names, apart from those of loopback: at most 16. */
	const char *const *addresses;
	size_t n_addresses;
	const char *proxy; /* "host:port" of an HTTP proxy for all connections of runs; or NULL */
	/* Path of a file of certificates in PEM format: authorities that code and glovebox-egress trust as well; or NULL */
	const char *authorities;
	/* For callers with threads: called with a part of the engine's work that takes long: on about @bytes of data,
	 * such as decoding a value of many megabytes, or, if @bytes is 0, the start of a process, which mostly waits.
	 * Let another thread call gb_task_run(@task), once, and return true; the event that the work is part of comes
	 * later then, and the events of the same run behind it. Must not call functions of the engine. False, or NULL:
	 * the engine does the work at once. */
	bool (*offload)(struct gb_task *task, size_t bytes, void *data);
	void *offload_data;
};

#define GB_NONE ((unsigned)-1)

/* Start the zygotes of the languages in options->ready, and wait until every layer of the sandbox is active.
 * Fails with GB_EWALL, naming the layer, if one cannot be set up. @options may be NULL. The caller owns *ret:
 * gb_engine_destroy. */
bool gb_engine_create(const struct gb_engine_options *options, struct gb_engine **ret, struct gb_err *err);
/* End all processes, wait for their end and for tasks on other threads, and free @engine. Must not be called from a
 * callback of the engine, where it has no effect. Runs that have not settled are destroyed without a callback; the
 * caller must have destroyed the settled ones before. NULL is allowed. */
void gb_engine_destroy(struct gb_engine *engine);

/* Do the work of @task, on any thread; see offload above. The task is not valid afterwards. */
void gb_task_run(struct gb_task *task);

/* Store the names of the sandbox layers that confine code of @language ("seccomp", "landlock", ...) in @ret,
 * at most @n, and return the number of layers. 0 before the first sandbox of @language is ready. The names
 * live as long as the engine. */
size_t gb_engine_layers(
    const struct gb_engine *engine, enum gb_language language, const char **ret, size_t n);
/* The version of the program that runs @language, as the program prints it: "Python 3.11.2". Empty if it is not
 * known. The text is complete once it is not empty, and lives as long as the engine. */
const char *gb_engine_version(const struct gb_engine *engine, enum gb_language language);
/* Determine the version, without waiting, unless this was done before. Interpreters that are part of Glovebox
 * report it when the first sandbox of the language is ready; a program of the machine (bash, Node.js, Deno)
 * is started in a sandbox, once, for at most 5 seconds. Returns whether the answer is still outstanding:
 * dispatch, and call this again. */
bool gb_engine_ask_version(struct gb_engine *engine, enum gb_language language);
/* For callers without a loop of their own: ask, dispatch until there is an answer, and return
 * gb_engine_version. Inside a callback it does not wait. */
const char *gb_engine_await_version(struct gb_engine *engine, enum gb_language language);

/* A descriptor that is readable when there are events to dispatch. The engine owns it. */
int gb_engine_fd(const struct gb_engine *engine);
/* Handle all pending events; if there are none, wait at most @timeout_ms for one (0: do not wait, -1: no
 * time limit). Fails if waiting for events fails, and with GB_EINVAL inside a callback of the engine. */
bool gb_engine_dispatch(struct gb_engine *engine, int timeout_ms, struct gb_err *err);

enum gb_status {
	GB_SUCCESS,
	GB_FAILURE,    /* "error": the code threw, or returned a value that cannot be serialized */
	GB_MEMORY,     /* the code exceeded its memory limit */
	GB_TERMINATED, /* by the caller, or by a limit: see error.code */
	GB_LINK_ERROR, /* the module could not be linked: syntax, unknown import, missing export */
	GB_DENIED,     /* the code was not run */
};

/* "success", "error", "memory", "terminated", "link_error", "denied". A static string. */
const char *gb_status_name(enum gb_status status);

/* The error of a run. Texts are never NULL but may be empty; line and column are 0 if unknown. */
struct gb_run_error {
	const char *name;
	const char *message;
	const char *stack;
	const char *code; /* the limit or rule that ended the run: "timeout", "output_limit", … */
	const char *specifier;
	const char *filename;
	unsigned line, column;
	/* The length of a text that contains U+0000; 0 for a text without it. */
	size_t name_bytes, message_bytes, stack_bytes;
};

enum gb_log_level { GB_LOG_LOG, GB_LOG_INFO, GB_LOG_WARN, GB_LOG_ERROR, GB_LOG_DEBUG };

/* "log", "info", "warn", "error", "debug". A static string. */
const char *gb_log_level_name(enum gb_log_level level);

/* One console call. */
struct gb_log {
	enum gb_log_level level;
	double timestamp; /* milliseconds since 1970 */
	const struct gb_value *args;
};

/* The C type of each kind of field (fields.h). A text is never NULL; a list or text may be empty. */
#define GB_MEMBER_ID(member)     char member[33];
#define GB_MEMBER_STATUS(member) enum gb_status member;
#define GB_MEMBER_VALUE(member)  const struct gb_value *member;        /* NULL: no value */
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

/* One or two members per row of GB_RESULT_FIELDS, which documents them. All are owned by the run. */
struct gb_result {
#define GB_ROW(kind, member, json, when, doc)    GB_MEMBER_##kind(member)
#define GB_LIST(kind, member, json, when, doc)   GB_MEMBER_##kind(member) size_t n_##member;
#define GB_STREAM(kind, member, json, when, doc) GB_MEMBER_##kind(member) size_t member##_bytes;
	GB_RESULT_FIELDS(GB_ROW, GB_LIST, GB_STREAM)
#undef GB_ROW
#undef GB_LIST
#undef GB_STREAM
};

/* The C type of each kind of request field (fields.h). */
#define GB_OPTION_LANGUAGE(member)  enum gb_language member;
#define GB_OPTION_TEXT(member)      const char *member;
#define GB_OPTION_INPUT(member)     const char *member; /* may be empty */
#define GB_OPTION_FLAG(member)      bool member;
#define GB_OPTION_ARGS(member)      const struct gb_value *member; /* an array */
#define GB_OPTION_NAMES(member)     const struct gb_value *member; /* an array of texts */
#define GB_OPTION_VARIABLES(member) const struct gb_value *member; /* an object */
#define GB_OPTION_IMPORTS(member)   const struct gb_value *member; /* an object of objects */
#define GB_OPTION_SOURCES(member)   const struct gb_value *member; /* an object of texts */
#define GB_OPTION_FILES(member)     const struct gb_value *member; /* an object of texts and bytes */

/* Zero means the default, in every field. gb_run_start copies everything. */
struct gb_run_options {
	const char *source;
	size_t source_bytes; /* 0: the source ends with a zero byte */
	/* The request: GB_REQUEST_FIELDS of fields.h documents the members. gb_run_start fails if the language
	 * does not support one that is set. */
#define GB_OPTION(kind, member, ...) GB_OPTION_##kind(member)
	GB_REQUEST_FIELDS(GB_OPTION)
#undef GB_OPTION
	struct gb_session *session; /* run in this session, in its language and profile */
	const char *run_id;         /* 32 lower case hexadecimal digits, not used before; NULL: random */
	/* In a session that has a terminal: a run that waits for input is interrupted at once and settles
	 * with the code "awaiting_input", and the prompt in the message. The session continues, as after any
	 * interrupt. */
	bool ends_on_input;
	/* JavaScript and TypeScript without a session: the source is the body of an async function. The result is what it
	 * returns, as JSON text, which is cut at result_bytes; docs/CORE_EXECUTE.md has the texts of values that JSON
	 * cannot express. */
	bool is_body;
	/* JavaScript, TypeScript, without a session: if the module exports nothing, the value of its last
	 * expression is the result. In other languages, and in sessions, that is so without this option. */
	bool last_value;
	/* The code is an action of a YAML agent (docs/YAML_AGENTS.md). Python: the variable 'result' comes before the last
	 * expression; the variable 'state' cannot be changed; restricted mode rejects more names. */
	bool is_action;
	/* Python and shell: files in the sandbox cannot be written. Once set in a session, it stays. */
	bool read_only;
	/* Requests that are read have the first 4096 bytes of their bodies in result.connections, at most 32 KiB for all. */
	bool record_bodies;
	/* JavaScript, TypeScript and Deno without a session: text before and after the source, which together are the
	 * module. Positions in errors are those of the source; stacks have no frames of this text. */
	const char *head, *tail;

	/* The limits: GB_LIMIT_FIELDS of fields.h documents them. timeout_ms may be GB_NO_TIMEOUT. */
#define GB_LIMIT(member, width, ...) uint##width##_t member;
	GB_LIMIT_FIELDS(GB_LIMIT)
#undef GB_LIMIT

	/* The code called console. @log is valid during the callback; its args live as long as the run. */
	void (*on_log)(struct gb_run *run, const struct gb_log *log, void *data);
	/* The program wrote to its standard output (@stream 1) or standard error (2). */
	void (*on_output)(struct gb_run *run, int stream, const char *bytes, size_t n, void *data);
	/* The program showed a display, such as a figure. */
	void (*on_display)(struct gb_run *run, const struct gb_value *display, void *data);
	/* The code calls a host function (gb_value_function in globals, imports, args or an answer) and
	 * waits. The callback owns @call and must answer it: see gb_call_return. Without this callback such
	 * calls throw. */
	void (*on_call)(struct gb_run *run, struct gb_call *call, void *data);
	/* The code calls report(); @value is in the result already. The callback owns @call and must answer
	 * it; the answer is the return value of report(). Without this callback report() returns
	 * undefined. */
	void (*on_report)(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data);
	/* In a session that has a terminal: the run waits for input. @prompt is the unfinished line before
	 * the cursor and may be empty; NULL: the run continues. */
	void (*on_awaiting)(struct gb_run *run, const char *prompt, void *data);
	/* The run has settled; called once. The callback may destroy the run. */
	void (*on_settled)(struct gb_run *run, const struct gb_result *result, void *data);
	void *data;
};

#define GB_NO_TIMEOUT UINT64_MAX
#define GB_SOURCE_MAX (16u << 20)
#define GB_MEMORY_MIN (1u << 20)
/* The length at which each text of an error is cut, in bytes (in Node.js and Deno: in characters). */
#define GB_ERROR_TEXT_MAX (64u << 10)

/* Start a run. The caller owns *ret: gb_run_destroy. Fails on invalid options (GB_EINVAL names the field) or
 * if no sandbox is available: GB_EBUSY if all are in use, GB_ENOENT if the program of the language is not
 * installed, GB_EWALL if a layer of the sandbox is known to be missing. Errors of the code do not make this call
 * fail: they are in the result.
 *
 * Does not wait: if the sandboxes of the language are still starting, the run begins when they are ready, and
 * its time limit counts from then. If they cannot be started, it settles as "denied" with the code "wall". */
bool gb_run_start(
    struct gb_engine *engine, const struct gb_run_options *options, struct gb_run **ret, struct gb_err *err);

/* Stop the run at once. The result's error contains @reason (may be NULL; cut at 64 KiB). on_settled is
 * called before this returns. Does nothing if the run has settled. */
void gb_run_terminate(struct gb_run *run, const char *reason);

/* Read no more from the sandbox until this is called with false, so that code that writes waits, for a caller that
 * cannot take more. The time limit goes on counting. */
void gb_run_pause(struct gb_run *run, bool paused);

/* While @held, no time is charged to the run's time limit: for code that waits in a call of the host, for example for a
 * decision of a person. Its limit of CPU time stays. No effect on runs in sessions. */
void gb_run_hold_clock(struct gb_run *run, bool held);

/* The id of the run, the same as in its result. Lives as long as the run. */
const char *gb_run_id(const struct gb_run *run);
/* The pointer that was passed as options->data. */
void *gb_run_data(const struct gb_run *run);

/* Whether the run has started executing. False while it is queued in its session (sessions.h) or waits for its
 * sandbox to start; stays false if it ended before. */
bool gb_run_begun(const struct gb_run *run);
/* Whether the run has settled. */
bool gb_run_settled(const struct gb_run *run);
/* The result of a settled run, else NULL. Lives as long as the run. */
const struct gb_result *gb_run_result(const struct gb_run *run);

/* Dispatch until the run has settled, and return its result, which lives as long as the run. NULL if
 * dispatching fails: gb_engine_dispatch then says why. This includes calls from inside a callback of the engine,
 * which return NULL at once if the run has not settled. */
const struct gb_result *gb_run_wait(struct gb_run *run);

/* Free the run with its result. A run that has not settled is ended without a callback. NULL is allowed. */
void gb_run_destroy(struct gb_run *run);

/*
 * Sessions: a sandbox that outlives a run. Definitions of a run are visible to later runs.
 *
 *	gb_session_open(engine, GB_PYTHON, NULL, &session, &err);
 *	gb_run_start(engine, &(struct gb_run_options){.session = session, .source = "x = 1"}, &run, &err);
 *	...
 *	gb_session_close(session);
 *
 * A session executes one run at a time. A run that exceeds its time limit is interrupted and the session
 * continues; the session ends if the run does not stop within five seconds, or is terminated. sessions.h
 * manages many sessions by name.
 */
enum gb_session_state {
	GB_SESSION_IDLE,
	GB_SESSION_EXECUTING,
	GB_SESSION_AWAITING_INPUT, /* executing, and waiting for input: see gb_session_send */
	GB_SESSION_TERMINATED,
};

/* "idle", "executing", "awaiting_input", "terminated". A static string. */
const char *gb_session_state_name(enum gb_session_state state);

/* Open a session. @profile may be NULL. The caller owns *ret: gb_session_close. Fails if @language has no
 * sessions or no sandbox is available. Does not wait: if the sandboxes of the language are still starting, runs
 * in the session wait for them, and if they cannot be started, the session ends with the reason. */
bool gb_session_open(struct gb_engine *engine, enum gb_language language, const char *profile,
    struct gb_session **ret, struct gb_err *err);
/* The same in the network tier: its runs can reach the hosts in @net, an array of texts, which is copied. A run can
 * name fewer of them. NULL or empty: none, as gb_session_open. */
bool gb_session_open_net(struct gb_engine *engine, enum gb_language language, const char *profile,
    const struct gb_value *net, struct gb_session **ret, struct gb_err *err);
/* The same with a working directory: @workdir is as that of a run (struct gb_run_options), and of the whole session.
 * NULL: none. */
bool gb_session_open_in(struct gb_engine *engine, enum gb_language language, const char *profile,
    const struct gb_value *net, const char *workdir, struct gb_session **ret, struct gb_err *err);
/* Connect the stream socket @fd, which stays the caller's, to a server that listens on 127.0.0.1:@port inside the
 * session. Fails if the session is not in the network tier. If nothing listens there, the connection is closed. */
bool gb_session_connect(struct gb_session *session, uint16_t port, int fd, struct gb_err *err);
/* End the sandbox, and without a callback the run in it; free @session. Must be called before the engine is
 * destroyed. NULL is allowed. */
void gb_session_close(struct gb_session *session);

enum gb_session_state gb_session_state(const struct gb_session *session);
/* Why the session was terminated; empty if it was not. Lives as long as the session. */
const char *gb_session_reason(const struct gb_session *session);

/*
 * Terminals. Only sessions of the shell have one; for other languages these functions fail with GB_EINVAL.
 * The terminal's output is the output of the run that executes, as stream 1. One client may attach to the
 * terminal: it sees all output, and a shell prompt while no run executes.
 */

/* The text before the cursor while the session awaits input, possibly empty; empty otherwise. */
const char *gb_session_prompt(const struct gb_session *session);
/* Send @bytes to the terminal as if typed. Fails with GB_EINVAL if no run executes and no client is attached,
 * GB_ELIMIT if there are too many bytes. */
bool gb_session_send(struct gb_session *session, const char *bytes, size_t n, struct gb_err *err);
/* Called with output of the terminal; must not close the session. */
typedef void (*gb_shown)(struct gb_session *session, const char *bytes, size_t n, void *data);
/* Attach a client: @on_bytes gets the terminal's output from now on. Fails with GB_EBUSY if one is
 * attached. */
bool gb_session_attach(struct gb_session *session, gb_shown on_bytes, void *data, struct gb_err *err);
/* Detach the client. Does nothing if none is attached. */
void gb_session_detach(struct gb_session *session);
/* While @held, the terminal's output is not read, so programs that write to it block: for an attached client
 * that cannot keep up. Does nothing if no client is attached. */
void gb_session_hold(struct gb_session *session, bool held);
/* Set the size of the terminal, initially 80 by 24. Fails with GB_EINVAL if it is out of range. */
bool gb_session_resize(struct gb_session *session, unsigned columns, unsigned rows, struct gb_err *err);

/* Ask the code to stop, as Ctrl-C does. The run settles as "terminated" with the code "interrupted", unless
 * the code handles the interrupt. False if the run is not in a session, does not execute or was interrupted
 * already. */
bool gb_run_interrupt(struct gb_run *run);

/*
 * Calls, from the code to the host:
 *
 *	static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
 *		double n = gb_value_as_number(gb_value_at(gb_call_args(call), 0));
 *		gb_call_return(call, gb_value_number(gb_call_values(call), n * 2));
 *	}
 *
 * The code blocks in its call until the call is answered; after gb_call_promise it continues with a promise
 * instead. In both cases the answer may come at any time, also after on_call has returned. Each call must be
 * answered exactly once, even if its run has ended (the answer then only frees the call).
 */

/* The run, or NULL if it has settled. */
struct gb_run *gb_call_run(const struct gb_call *call);
/* The id that was passed to gb_value_function or gb_value_promise. */
uint32_t gb_call_function(const struct gb_call *call);
/* The arguments: an array that lives as long as the call. */
const struct gb_value *gb_call_args(const struct gb_call *call);
/* A pool for the values of the answer. The call owns it. */
struct gb_values *gb_call_values(struct gb_call *call);

/* Let the code continue with a promise, which the answer settles. */
void gb_call_promise(struct gb_call *call);
/* Answer the call with @value and free the call. NULL is undefined. If the value cannot be sent (too large,
 * too deep), the call throws in the code and this returns false. */
bool gb_call_return(struct gb_call *call, const struct gb_value *value);
/* The same, but the call throws @thrown in the code: usually a gb_value_error without a stack. */
bool gb_call_throw(struct gb_call *call, const struct gb_value *thrown);

/* The answer to gb_run_call: the value that was returned or thrown, valid during the callback; @value is NULL
 * if the run ended first. */
typedef void (*gb_answered)(struct gb_run *run, const struct gb_value *value, bool thrown, void *data);
/* Call a function of the code. @function is the id of a GB_SANDBOX function, or of a promise, to await it.
 * @args is an array, or NULL. @on_answer is called once, after awaiting promises. Fails if the run has
 * settled or @args is not an array; then there is no callback. */
bool gb_run_call(struct gb_run *run, uint32_t function, const struct gb_value *args, gb_answered on_answer,
    void *data, struct gb_err *err);

/* The result as a JSON object on one line, as docs/PROTOCOL.md describes it. The caller must free() it. NULL
 * on failure. */
char *gb_result_to_json(const struct gb_result *result, size_t *ret_n, struct gb_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
