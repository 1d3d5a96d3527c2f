/* What the files of the engine share. */
#ifndef GB_ENGINE_ENGINE_H
#define GB_ENGINE_ENGINE_H

#include "base/arena.h"
#include "base/list.h"
#include "base/loop.h"
#include "glovebox/glovebox.h"
#include "runtime/wire.h"
#include "sandbox/pool.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/frame.h"
#include "value/identity.h"

/* What one run and the host have lent each other, and who waits for whom. */
struct gb_bridge {
	struct gb_identity granted; /* of the host's, by id + 1: see LENT_FUNCTION */
	struct gb_list asked;       /* by the code: struct gb_call */
	struct gb_list asking;      /* of the code: struct question */
	uint32_t next_question;
	uint64_t call_bytes;         /* limit of one call, and of one answer */
	uint64_t in_flight_bytes;    /* of those in @asked */
	uint32_t n_asked, max_asked; /* at once */
	uint32_t calls_left;
};

enum gb_runtime {
	GB_RUNTIME_JS,
	GB_RUNTIME_PYTHON,
	GB_RUNTIME_PYTHON_DATA,
	GB_RUNTIME_SHELL,
	GB_RUNTIME_NODE,
	GB_RUNTIME_DENO,
	GB_RUNTIME_PROFILES, /* the first of the caller's own profiles of Python */
	GB_RUNTIMES = GB_RUNTIME_PROFILES + 8,
};

/* A caller's own profile of Python; without a name there is none. */
struct gb_profile {
	char name[16];
	char text[GB_PLAN_PROFILE_BYTES]; /* for the worker: "name:module,module" */
};

/* Whose a cell is. First in both structs. */
enum gb_owner { GB_OWNER_RUN, GB_OWNER_SESSION };

struct gb_session {
	enum gb_owner owner;
	struct gb_engine *engine;
	enum gb_language language;
	enum gb_runtime runtime;
	struct gb_cell *cell; /* NULL once it is terminated */
	struct gb_run *run;   /* that executes, or NULL */
	int n_jobs;           /* that it was sent */
	struct gb_frame_reader reader;
	size_t noise;       /* bytes that came while nobody had asked */
	unsigned n_retakes; /* cells that had died before they were used */
	bool used;          /* it was sent something besides jobs */
	bool doomed;        /* by the run that has just settled: there is nothing to go on with */
	struct gb_terminal {
		gb_shown on_bytes; /* somebody is attached */
		void *data;
		struct gb_buf outbox; /* what is still to be sent while nothing executes */
		size_t unseen;        /* bytes that came although nobody was attached */
		bool awaiting;
		bool held;        /* what it says is left unread, for whoever is attached to keep up */
		unsigned n_waits; /* times that it began to await input */
		char prompt[GB_WIRE_PROMPT_MAX + 1];
	} terminal;
	char reason[256];
	/* A run in it has settled, begins to await input or goes on, or it has ended. Called from anywhere:
	 * only to take note. */
	void (*on_change)(struct gb_session *session);
	void *data;
};

/* Something that is to be done at a certain time. */
struct gb_alarm {
	struct gb_list link; /* in engine->alarms */
	uint64_t at;         /* ns; 0: not at all */
	void (*on_alarm)(struct gb_alarm *alarm);
	/* The engine is about to be destroyed, and is not to be used afterwards. */
	void (*on_engine_end)(struct gb_alarm *alarm);
};

/* A program of the machine is asked for its version, by a run in an engine of its own. (version.c) */
struct gb_question {
	bool asked;
	struct gb_engine *engine; /* or NULL: it could not be asked, or has answered */
	struct gb_run *run;
};
void gb_question_finish(struct gb_question *question);

struct gb_engine {
	struct gb_engine_options options;
	char *worker_dir;                          /* or NULL */
	char *shell, *node, *deno, *node_packages; /* or NULL */
	struct gb_loop loop;
	struct gb_pool *pools[GB_RUNTIMES]; /* NULL until the first run that needs it */
	struct gb_cgroup *cgroup;           /* of them all; NULL: not made yet, or not to be had */
	bool has_no_cgroup;                 /* that was tried */
	struct gb_profile profiles[GB_RUNTIMES - GB_RUNTIME_PROFILES];
	char versions[GB_RUNTIME_PROFILES][80]; /* as far as they were asked for */
	bool knows_version[GB_RUNTIME_PROFILES];
	struct gb_question questions[GB_RUNTIME_PROFILES];
	bool asks_version;      /* its runs start a program with --version: it was made for a question */
	struct gb_source timer; /* a timerfd: the engine's one descriptor tells of deadlines too */
	int timer_fd;
	uint64_t timer_at;   /* when it goes off, in ns; 0: it does not */
	uint8_t random[256]; /* for the names of runs: a system call for many */
	size_t n_random;     /* of it that are unused */
	struct gb_list alarms;
	struct gb_list running;
	struct gb_list settled; /* runs whose sandbox is still to be let go */
};

/* Values that are part of the result. */
struct gb_kept {
	const struct gb_value **list;
	size_t n, cap;
};

struct gb_run {
	enum gb_owner owner;
	struct gb_list link; /* in engine->running or engine->settled, or in neither */
	struct gb_engine *engine;
	enum gb_runtime runtime;
	struct gb_cell *cell; /* NULL once it was let go */

	void (*on_log)(struct gb_run *run, const struct gb_log *log, void *data);
	void (*on_output)(struct gb_run *run, int stream, const char *bytes, size_t n, void *data);
	void (*on_display)(struct gb_run *run, const struct gb_value *display, void *data);
	void (*on_call)(struct gb_run *run, struct gb_call *call, void *data);
	void (*on_report)(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data);
	void (*on_awaiting)(struct gb_run *run, const char *prompt, void *data);
	void (*on_settled)(struct gb_run *run, const struct gb_result *result, void *data);
	void *data;

	uint64_t started, deadline; /* ns; a deadline of 0 is none */
	uint64_t yield_at; /* when it is no longer a short run, or may have made other threads since */
	uint64_t timeout_ms;
	uint64_t memory;                /* what its processes may use; 0: as the language has it */
	uint64_t output_left;           /* bytes of log frames */
	struct gb_buf outbox;           /* what is still to be sent */
	size_t sent;                    /* of it, from its beginning */
	bool waits_to_send;             /* until the socket takes more */
	bool job_kept;                  /* the outbox begins with the job: it may be sent to another cell */
	bool job_unread;                /* its cell has died before it had read the job */
	unsigned n_retakes;             /* cells that had */
	struct gb_frame_reader *reader; /* its own, or the session's */
	struct gb_frame_reader own_reader;
	struct gb_session *session; /* or NULL */
	bool begun;
	enum gb_interrupted { NOT_INTERRUPTED, BY_CALLER, BY_TIME, BY_WAIT } interrupted;
	unsigned n_interrupts;
	struct gb_bridge bridge;

	struct gb_values *values; /* of the result, the reports and the logs */
	struct gb_log *logs;
	size_t cap_logs;
	struct gb_kept reports, displays;
	struct gb_value *files;   /* or NULL */
	uint64_t files_left;      /* bytes */
	struct gb_buf streams[2]; /* stdout, stderr */
	uint64_t display_left;    /* bytes */
	uint64_t report_left;     /* bytes */
	int exit_code;            /* that the program asked for, or -1 */
	bool ends_session;        /* its program has ended */
	unsigned awaiting_left;   /* times */
	bool ends_on_input;
	const char *awaited; /* BY_WAIT: what the result says */
	bool result_received;
	bool stopping; /* killed, but its last words are still to be heard */
	bool settled;
	bool destroyed;
	unsigned held; /* while set, the memory stays */
	struct gb_result result;
	struct gb_arena texts; /* of the result's error */
};

/* --- run.c --- */

/* Check and encode what is asked, and begin nothing. NULL on failure. */
struct gb_run *gb_run_prepare(
    struct gb_engine *engine, const struct gb_run_options *options, struct gb_err *err);
/* Begin what was prepared; its time counts from now. On failure it is as it was. */
bool gb_run_launch(struct gb_run *run, struct gb_err *err);

/* It waits for input, and is not to: interrupt it. @message is the result's. */
void gb_run_end_wait(struct gb_run *run, const char *message);
/* Its time is up. */
void gb_run_time_out(struct gb_run *run);
/* It is a long run: shorter ones have the CPU first. */
void gb_run_yield(struct gb_run *run, uint64_t now);
/* The sandbox is not needed any more, whatever it is doing. */
void gb_run_release_cell(struct gb_run *run);
/* The socket of a cell that belongs to a run is ready; the cell has ended. */
void gb_run_on_cell_ready(struct gb_cell *cell, uint32_t events);
void gb_run_on_cell_end(struct gb_cell *cell, const struct gb_cell_end *end);
/* How a cell ended, in words. */
void gb_cell_describe_exit(const struct gb_cell_end *end, char *text, size_t n);

/* End @run with a failure of its own. */
void gb_run_fail(
    struct gb_run *run, enum gb_status status, const char *name, const char *code, const char *message);
/* It has said @cost bytes more. False if that is too much, and then it has ended. */
bool gb_run_spend_output(struct gb_run *run, size_t cost);

/* --- send.c --- */

/* Send what the outbox holds, now or when the sandbox takes it. */
void gb_run_send(struct gb_run *run);
/* The socket takes more. */
void gb_run_send_more(struct gb_run *run);
/* Send the job, with which the outbox begins; to another cell if the run's is found dead. False if there is
 * none; then the run has no cell, and still its job. */
bool gb_run_send_job(struct gb_run *run, struct gb_err *err);
/* The cell has read the job, or was sent something else: the job cannot be sent to another. */
void gb_run_forget_job(struct gb_run *run);
/* The stream from the cell has ended. True if that was before it had read the job: then another cell has it,
 * or the run has failed. */
bool gb_run_move_on(struct gb_run *run);

/* --- bridge.c --- */

void gb_bridge_init(struct gb_bridge *bridge, const struct gb_run_options *options);
/* The run has settled or is about to be released: calls become nobody's; whoever asked the code is told so if
 * @tell. */
void gb_bridge_close(struct gb_run *run, bool tell);
void gb_bridge_finish(struct gb_bridge *bridge);
/* How much may wait to be sent. */
uint64_t gb_bridge_outbox_max(const struct gb_bridge *bridge);
/* For encoding what goes to the sandbox. */
struct gb_grants gb_bridge_grants(struct gb_bridge *bridge);
/* Handle a CALL or ANSWER. On failure the sandbox is not what it should be. */
bool gb_bridge_on_call(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_bridge_on_answer(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);

/* --- session.c --- */

/* Fails if @language has no sessions. */
bool gb_session_check_language(enum gb_language language, struct gb_err *err);

/* The same for a cell that nobody has asked anything just now. */
void gb_session_on_cell_ready(struct gb_cell *cell, uint32_t events);
void gb_session_on_cell_end(struct gb_cell *cell, const struct gb_cell_end *end);
/* The cell of @run's session has died before its first job: give it another. On failure the session has
 * ended. */
bool gb_session_retake(struct gb_run *run, struct gb_err *err);
/* @run begins in its session; it has ended there. */
bool gb_session_enter(struct gb_run *run, struct gb_err *err);
void gb_session_leave(struct gb_run *run);
/* @run has its result: can the session go on? */
void gb_session_judge(struct gb_run *run);
/* Its process is gone, or to go. */
/* Copy @reason to @to, which has @n bytes: of one that is longer, whole words, since half a secret is not
 * recognised as one. */
void gb_reason_keep(char *to, size_t n, const char *reason);
void gb_session_terminate(struct gb_session *session, const char *reason);

/* --- terminal.c --- */

void gb_terminal_init(struct gb_terminal *terminal);
void gb_terminal_finish(struct gb_terminal *terminal);
/* What a worker says about it. On failure the sandbox is not what it should be. */
bool gb_terminal_on_awaiting(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_terminal_on_bytes(struct gb_session *session, const struct gb_frame *frame, struct gb_err *err);
/* @run takes over what is still to be sent, and gives it back. */
void gb_terminal_enter(struct gb_run *run);
void gb_terminal_leave(struct gb_run *run);
/* Send it, while nothing executes. */
void gb_terminal_send(struct gb_session *session);
/* What to wait for at the cell's socket, but for room to send: @session may be NULL. */
uint32_t gb_terminal_events(const struct gb_session *session);

/* --- engine.c --- */

/* Let the timer go off no later than @deadline. */
void gb_engine_wake_at(struct gb_engine *engine, uint64_t deadline);
/* Let @alarm go off at @at, in ns, instead of whenever it was to. */
void gb_alarm_set(struct gb_engine *engine, struct gb_alarm *alarm, uint64_t at);
/* End the sandboxes of runs that have settled. */
void gb_engine_let_settled_go(struct gb_engine *engine);

/* Dispatch once, leaving the sandboxes of runs that settle for later. */
bool gb_engine_turn(struct gb_engine *engine, int timeout_ms, struct gb_err *err);

/* --- language.c --- */

/* What a language makes of the options that not every one has. */
struct gb_language_traits {
	bool has_box;        /* files and input */
	bool has_sessions;   /* it can live on after a run */
	bool has_terminal;   /* and then has a terminal */
	bool has_restricted; /* a list of what it refuses to do */
	bool has_allowlist;  /* of modules */
	bool has_net;        /* hosts */
	bool has_modules;    /* imports, modules, globals, fn and report */
	uint64_t memory;     /* by default */
};
const struct gb_language_traits *gb_language_traits(enum gb_language language);

/* --- runtimes.c --- */

bool gb_runtime_find(const struct gb_engine *engine, enum gb_language language, const char *profile,
    enum gb_runtime *ret, struct gb_err *err);
/* Take in the caller's own profiles. */
bool gb_runtimes_init(struct gb_engine *engine, const struct gb_engine_options *options, struct gb_err *err);
/* The worker program of Glovebox that is its zygote. */
bool gb_runtime_worker(
    const struct gb_engine *engine, enum gb_runtime which, char *ret, size_t n, struct gb_err *err);
/* The full wall around its sandboxes. */
bool gb_runtime_plan(
    struct gb_engine *engine, enum gb_runtime which, struct gb_plan *ret, struct gb_err *err);
/* Start its pool, which must not exist yet, behind @plan. Tests pass a plan without some layer; no caller of
 * the library can. */
bool gb_runtime_start_behind(
    struct gb_engine *engine, enum gb_runtime which, const struct gb_plan *plan, struct gb_err *err);
/* Start its pool behind the full wall, unless it exists already. */
bool gb_runtime_start(struct gb_engine *engine, enum gb_runtime which, struct gb_err *err);

/* --- request.c --- */

/* Check @options, naming the field that is wrong, and append them to @out as a JOB frame. @asks_version: a
 * program is to be started with --version instead. */
bool gb_request_encode(const struct gb_run_options *options, bool asks_version,
    const struct gb_grants *grants, struct gb_buf *out, struct gb_err *err);

/* --- modules.c --- */

/* Check the specifiers of imports and modules. */
bool gb_request_check_modules(const struct gb_run_options *options, struct gb_err *err);

/* --- answer.c --- */

/* What the worker sent, which may be anything. On failure nothing of @run has changed. */
bool gb_answer_log(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_result(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_output(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_display(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_file(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_exit(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
/* The one argument of report(), from @in. */
const struct gb_value *gb_answer_report(struct gb_run *run, struct gb_cbor_reader in, struct gb_err *err);

#endif
