/* Shared by the files of the engine. */
#ifndef GB_ENGINE_ENGINE_H
#define GB_ENGINE_ENGINE_H

#include <pthread.h>

#include "base/arena.h"
#include "base/fields.h"
#include "base/list.h"
#include "base/loop.h"
#include "engine/limits.h"
#include "engine/secrets.h"
#include "engine/workdir.h"
#include "glovebox/glovebox.h"
#include "runtime/wire.h"
#include "sandbox/port.h"
#include "value/cbor.h"
#include "value/codec.h"
#include "value/frame.h"
#include "value/identity.h"

/* Long work of the engine that another thread may do, if the caller lends one. */
struct gb_task {
	struct gb_list link; /* in engine->tasks.finished */
	struct gb_engine *engine;
	void (*work)(struct gb_task *task); /* on any thread: uses only what belongs to the task */
	void (*done)(struct gb_task *task); /* in the event loop of the engine; frees the task */
};

struct gb_tasks {
	struct gb_source source;
	int fd; /* eventfd: .finished is not empty. -1: the caller has no threads */
	pthread_mutex_t lock;
	struct gb_list finished; /* protected by the lock */
	size_t n;                /* that other threads have, or that are finished */
};

/* Functions and promises that a run and its host have lent each other, and the calls in flight. */
struct gb_bridge {
	struct gb_identity granted; /* lent by the host, key: id + 1; see LENT_FUNCTION */
	pthread_mutex_t lock;       /* of @granted, which decoding on another thread reads */
	struct gb_values *answer;   /* during on_answer: the values of the answer */
	struct gb_list asked;       /* calls from the code: struct gb_call */
	struct gb_list asking;      /* calls from the host: struct host_call */
	uint32_t next_question;
	uint64_t call_bytes;         /* maximum of one call, and of one answer */
	uint64_t in_flight_bytes;    /* of the calls in @asked */
	uint32_t n_asked, max_asked; /* in flight */
	uint32_t calls_left;
};

enum gb_runtime {
	GB_RUNTIME_JS,
	GB_RUNTIME_PYTHON,
	GB_RUNTIME_PYTHON_DATA,
	GB_RUNTIME_SHELL,
	GB_RUNTIME_NODE,
	GB_RUNTIME_DENO,
	/* sandboxes for one run of a program with --version */
	GB_RUNTIME_SHELL_VERSION,
	GB_RUNTIME_NODE_VERSION,
	GB_RUNTIME_DENO_VERSION,
	GB_RUNTIME_PROFILES, /* the first of the caller's own Python profiles */
	/* Added to one of the above: the same in the network tier, in sandboxes of its own. */
	GB_RUNTIME_NETWORK = GB_RUNTIME_PROFILES + 8,
	/* The first of those that have a working directory of the caller's: see workdir.c. */
	GB_RUNTIME_WORKPLACES = 2 * GB_RUNTIME_NETWORK,
	GB_WORKPLACES = 16,
	GB_RUNTIMES = GB_RUNTIME_WORKPLACES + GB_WORKPLACES,
};

/* The sandboxes of a runtime with a working directory. */
struct gb_workplace {
	struct gb_workdir workdir;
	enum gb_runtime of;
	unsigned n_users; /* runs and sessions */
	uint64_t left_at; /* ns; by the last of them */
};

/* A Python profile of the caller; unused without a name. */
struct gb_profile {
	char name[16];
	char text[GB_PROFILE_BYTES]; /* for the worker: "name:module,module" */
};

/* The type of a cell's owner. First member of both structs. */
enum gb_owner { GB_OWNER_RUN, GB_OWNER_SESSION };

struct gb_session {
	enum gb_owner owner;
	struct gb_engine *engine;
	enum gb_language language;
	enum gb_runtime runtime;
	enum gb_runtime place; /* that it has entered: see gb_workplace_enter; or 0 */
	struct gb_cell *cell;  /* NULL once terminated */
	struct gb_run *run;    /* the executing run, or NULL */
	struct gb_value *net;  /* the hosts that its runs can reach, in net_values; NULL: none */
	struct gb_values *net_values;
	struct gb_edge_nonce nonce; /* of its placeholders of secrets */
	int n_jobs;                 /* jobs sent so far */
	struct gb_frame_reader reader;
	size_t noise;       /* bytes received while no run executes */
	unsigned n_retakes; /* cells that died before they were used */
	bool used;          /* it has been sent something other than jobs */
	bool doomed;        /* the run that has just settled ended the session */
	struct gb_terminal {
		gb_shown on_bytes; /* set while a client is attached */
		void *data;
		struct gb_buf outbox; /* unsent frames while no run executes */
		size_t unseen;        /* bytes received while no client was attached */
		bool awaiting;
		bool held;        /* its output is left unread, for flow control of the attached client */
		unsigned n_waits; /* how often it began to await input */
		char prompt[GB_WIRE_PROMPT_MAX + 1];
	} terminal;
	char reason[256];
	/* Called when a run in it settles, begins or ceases to await input, or when the session ends. May be
	 * called from anywhere: the callback must only record the change. */
	void (*on_change)(struct gb_session *session);
	void *data;
};

/* A timer. */
struct gb_alarm {
	struct gb_list link; /* in engine->alarms */
	uint64_t at;         /* ns; 0: not at all */
	void (*on_alarm)(struct gb_alarm *alarm);
	/* The engine is being destroyed and must not be used afterwards. */
	void (*on_engine_end)(struct gb_alarm *alarm);
};

/* The version of the interpreter of a language. (version.c) */
struct gb_version_query {
	bool started;
	/* If the interpreter is a program of the machine: */
	struct gb_run *run; /* runs it with --version; NULL before that, and after its pool is stopped */
	char answer[80];    /* its output */
};

struct gb_engine {
	struct gb_engine_options options;
	char *worker_dir;                          /* or NULL */
	char *shell, *node, *deno, *node_packages; /* or NULL */
	struct gb_loop loop;
	struct gb_pool *pools[GB_RUNTIMES]; /* NULL until the first run that needs it; see gb_runtime_start */
	struct gb_workplace workplaces[GB_WORKPLACES];
	struct gb_port *port;
	struct gb_egress *egress;                        /* NULL until the first run in the network tier */
	struct gb_host addresses[GB_HOST_ADDRESSES_MAX]; /* that runs in the network tier can be allowed */
	size_t n_addresses;
	char *proxy, *authorities;       /* or NULL */
	struct gb_edge_secrets *secrets; /* or NULL */
	struct gb_err secrets_problem;   /* .code is GB_OK: there is none */
	struct gb_profile profiles[GB_RUNTIME_NETWORK - GB_RUNTIME_PROFILES];
	struct gb_version_query version_queries[GB_LANGUAGES];
	unsigned in_callback;   /* depth of callbacks of the caller: see GB_CALL_BACK */
	struct gb_source timer; /* a timerfd, so that the engine's one descriptor covers deadlines too */
	int timer_fd;
	uint64_t timer_at;   /* expiration, in ns; 0: not armed */
	uint8_t random[256]; /* for run ids: one system call for many */
	size_t n_random;     /* unused bytes of it */
	bool created;        /* gb_engine_create has returned */
	struct gb_tasks tasks;
	struct gb_list alarms;
	struct gb_list starting; /* runs whose cell waits for its zygote */
	struct gb_list running;
	struct gb_list settled; /* runs whose cell is still to be released */
};

/* Call a callback of the caller. Meanwhile no events are dispatched, and @engine is not destroyed. @engine may
 * be NULL. */
#define GB_CALL_BACK(engine, call)                                                                           \
	do {                                                                                                 \
		struct gb_engine *called_by = (engine);                                                      \
		if (called_by)                                                                               \
			called_by->in_callback++;                                                            \
		call;                                                                                        \
		if (called_by)                                                                               \
			called_by->in_callback--;                                                            \
	} while (0)

/* Values that are part of the result. */
struct gb_kept {
	const struct gb_value **list;
	size_t n, cap;
};

struct gb_run {
	enum gb_owner owner;
	struct gb_list link; /* in engine->starting, running or settled, or unlinked */
	struct gb_engine *engine;
	enum gb_runtime runtime;
	enum gb_runtime place; /* that it has entered: see gb_workplace_enter; or 0 */
	struct gb_cell *cell;  /* NULL once released */

	void (*on_log)(struct gb_run *run, const struct gb_log *log, void *data);
	void (*on_output)(struct gb_run *run, int stream, const char *bytes, size_t n, void *data);
	void (*on_display)(struct gb_run *run, const struct gb_value *display, void *data);
	void (*on_call)(struct gb_run *run, struct gb_call *call, void *data);
	void (*on_report)(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data);
	void (*on_awaiting)(struct gb_run *run, const char *prompt, void *data);
	void (*on_settled)(struct gb_run *run, const struct gb_result *result, void *data);
	void *data;

	uint64_t started, deadline; /* ns; deadline 0: none */
	uint64_t yield_at;          /* when to lower its CPU priority (again, for threads created since) */
	bool clock_held;
	uint64_t clock_left; /* ns until the deadline, while it is held; 0: no deadline */
	uint64_t timeout_ms;
	uint64_t memory;        /* memory limit of its processes; 0: the language's default */
	uint64_t output_left;   /* bytes of log frames */
	struct gb_buf outbox;   /* unsent bytes */
	size_t sent;            /* bytes of the outbox already sent */
	bool paused;            /* nothing is read from the cell */
	bool waits_to_send;     /* waits for GB_LOOP_OUT */
	struct gb_reach *reach; /* its network; NULL in the isolated tier */
	/* the outbox begins with the job, which may be sent to another cell */
	bool job_kept;
	bool job_unread;                /* its cell died before it read the job */
	unsigned n_retakes;             /* number of cells that died this way */
	struct gb_frame_reader *reader; /* its own, or the session's */
	struct gb_frame_reader own_reader;
	struct gb_session *session; /* or NULL */
	bool begun;
	enum gb_interrupted { NOT_INTERRUPTED, BY_CALLER, BY_TIME, BY_WAIT } interrupted;
	unsigned n_interrupts;
	struct gb_bridge bridge;

	struct gb_values *values; /* for the result, the reports and the logs */
	struct gb_log *logs;
	size_t cap_logs;
	struct gb_kept reports, displays;
	struct gb_value *files;   /* or NULL */
	uint64_t files_left;      /* bytes */
	bool takes_list;          /* it was asked for the list of all files: the path "." */
	struct gb_buf streams[2]; /* stdout, stderr */
	uint64_t display_left;    /* bytes */
	uint64_t report_left;     /* bytes */
	int exit_code;            /* reported by the program, or -1 */
	bool ends_session;        /* the program of the session has exited */
	unsigned awaiting_left;   /* times */
	bool ends_on_input;
	const char *awaited; /* BY_WAIT: message of the result */
	/* The value of a frame that another thread decodes; or NULL. The frames behind it wait. */
	struct gb_task *decoding;
	bool is_last; /* that frame is the result */
	bool has_end; /* the cell has ended, for this reason; the run ends after the remaining frames */
	enum gb_cell_cause end_cause;
	const char *end_text;
	bool result_received;
	/* killed; remaining frames are still read, and then the run settles with these */
	bool stopping;
	struct gb_stop {
		const char *code, *message;
		bool timed_out;
	} stop;
	bool settled;
	bool destroyed;
	unsigned held; /* the memory is not freed while nonzero */
	struct gb_result result;
	struct gb_arena texts; /* for the result's error */
};

/* --- run.c --- */

/* Validate and encode the options without starting anything. NULL on failure. */
struct gb_run *gb_run_prepare(
    struct gb_engine *engine, const struct gb_run_options *options, struct gb_err *err);
/* The same in two steps: a run that can be launched after gb_run_encode, which touches nothing but the run and what
 * @options point to, and so can be called from any thread. With a session, .language is the session's, and .session
 * is not followed by gb_run_encode. */
struct gb_run *gb_run_create(
    struct gb_engine *engine, const struct gb_run_options *options, struct gb_err *err);
bool gb_run_encode(struct gb_run *run, const struct gb_run_options *options, struct gb_err *err);
/* Start a prepared run. Its time counts from now, or if its sandbox is still starting, from when that is ready.
 * On failure the run is unchanged. */
bool gb_run_launch(struct gb_run *run, struct gb_err *err);
/* Start a run that executes the program of its language with --version, in a sandbox of @runtime. */
bool gb_run_query_version(struct gb_engine *engine, const struct gb_run_options *options,
    enum gb_runtime runtime, struct gb_run **ret, struct gb_err *err);

/* Interrupt a run because it waits for input. @message is the message of the result. */
void gb_run_end_wait(struct gb_run *run, const char *message);
/* The run has reached its deadline. */
void gb_run_time_out(struct gb_run *run);
/* Lower the CPU priority of a long run in favour of short ones. */
void gb_run_yield(struct gb_run *run, uint64_t now);
/* Release the cell, whatever its state. */
void gb_run_release_cell(struct gb_run *run);
/* Callbacks for a cell that belongs to a run: its socket is ready; it begins to run; it has ended. */
void gb_run_on_cell_ready(struct gb_cell *cell, uint32_t events);
void gb_run_on_cell_begin(struct gb_cell *cell);
void gb_run_on_cell_end(struct gb_cell *cell, const struct gb_cell_end *end);

/* Settle @run with a failure. */
void gb_run_fail(
    struct gb_run *run, enum gb_status status, const char *name, const char *code, const char *message);
/* Charge @cost bytes to the output limit. False if it is exceeded; then the run has settled. */
bool gb_run_spend_output(struct gb_run *run, size_t cost);

/* After a frame that was decoded on another thread: handle the frames behind it. */
void gb_run_resume(struct gb_run *run);
/* The time between two interrupts; the time after which a run yields the CPU to shorter ones. */
#define GB_RUN_AGAIN_NS 100000000ull
#define GB_RUN_SHORT_NS 20000000ull

/* Free the memory of a run that has no cell. */
void gb_run_free(struct gb_run *run);
/* A callback may destroy its run; the memory is freed after gb_run_unhold. */
void gb_run_hold(struct gb_run *run);
void gb_run_unhold(struct gb_run *run);
/* Settle with the error that a frame could not be handled. */
void gb_run_fail_frame(struct gb_run *run, const struct gb_err *err);
/* The run has its result. */
void gb_run_conclude(struct gb_run *run);
/* The records of its connections have come. */
void gb_run_settle(struct gb_run *run);
/* Add what the error of the run says that it was denied to the result's denials. */
void gb_run_add_denial(struct gb_run *run);

/* --- task.c --- */

/* If the caller has lent threads, prepare for their tasks. */
bool gb_tasks_init(struct gb_engine *engine, struct gb_err *err);
/* Wait for all tasks on other threads, and free everything. */
void gb_tasks_finish(struct gb_engine *engine);
/* Let another thread do @task, with .work and .done set, on about @bytes of data. False if it has to be done now. */
bool gb_task_offload(struct gb_engine *engine, struct gb_task *task, size_t bytes);

/* The same for the sandbox: gb_port_options.offload of @engine. */
bool gb_task_offload_port(struct gb_port_task *task, void *engine);

/* --- decode.c --- */

/* The value at the end of a frame, and how to go on when it is decoded. */
struct gb_decoding {
	struct gb_cbor_reader in;       /* in the frame that was read last, to its end */
	struct gb_decode_limits limits; /* .data: the bridge of the run, or NULL */
	struct gb_values *pool;         /* NULL: of the run */
	/* @value is NULL if it could not be decoded, and @err says why. Fails on a protocol violation. */
	bool (*then)(struct gb_run *run, const struct gb_decoding *decoding, const struct gb_value *value,
	    struct gb_err *err);
	/* Called instead, if the run has settled meanwhile. May be NULL. */
	void (*drop)(const struct gb_decoding *decoding);
	/* For .then: one of these. */
	struct gb_log log;
	struct gb_call *call;
	struct {
		uint32_t id;
		bool thrown;
	} answer;
	struct {
		enum gb_status status;
		uint64_t memory;
		bool truncated;
	} result;
	bool is_result;
};

/* Decode the value and call .then: now, or if it is long, after another thread has decoded it; until then the frames
 * behind it wait. Fails if .then fails now. */
bool gb_run_decode(struct gb_run *run, const struct gb_decoding *decoding, struct gb_err *err);
/* The run has settled: the value that is being decoded is not used. */
void gb_run_stop_decoding(struct gb_run *run);

/* --- network.c --- */

/* Read the hosts of @options, if it has any. *ret is NULL otherwise. */
bool gb_reach_create(struct gb_engine *engine, const struct gb_run_options *options, struct gb_reach **ret,
    struct gb_err *err);
void gb_reach_destroy(struct gb_reach *reach);
/* The run has a cell of the network tier: apply its policy. The job is sent when that is in effect. */
bool gb_reach_begin(struct gb_run *run, struct gb_err *err);
/* The variables with placeholders of secrets, or NULL. @reach may be NULL. */
const struct gb_edge_use *gb_reach_secrets(const struct gb_reach *reach);
/* Whether the job has to wait. */
bool gb_reach_is_beginning(const struct gb_run *run);
/* The run is about to settle. True if it has to wait for the records of its connections: then gb_run_settle follows. */
bool gb_reach_end(struct gb_run *run);
/* Whether it waits for them. */
bool gb_reach_is_ending(const struct gb_run *run);
/* For the pools of the network tier: see struct gb_pool_options. */
int gb_network_open(void *engine, void **ret_network, struct gb_err *err);
/* The same for cells without sockets: over a fetch channel. */
int gb_network_open_channel(void *engine, void **ret_network, struct gb_err *err);
void gb_network_close(void *network);
/* Prepare for the first run in the network tier. */
bool gb_network_init(struct gb_engine *engine, struct gb_err *err);
/* Read the addresses of the engine's options. */
bool gb_network_set_addresses(
    struct gb_engine *engine, const struct gb_engine_options *options, struct gb_err *err);
/* Connect @fd to @port inside the cell. */
bool gb_network_connect(struct gb_cell *cell, uint16_t port, int fd, struct gb_err *err);

/* --- send.c --- */

/* Send the outbox, now or when the socket is writable. */
void gb_run_send(struct gb_run *run);
/* The socket is writable. */
void gb_run_send_more(struct gb_run *run);
/* Poll for what the run has to read and send now. */
void gb_run_listen(struct gb_run *run);
/* Send the job at the beginning of the outbox; to another cell if the run's cell is dead. False if there is
 * none; then the run has no cell, but keeps its job. */
bool gb_run_send_job(struct gb_run *run, struct gb_err *err);
/* The cell has read the job, or was sent something else: the job can no longer move to another cell. */
void gb_run_forget_job(struct gb_run *run);
/* The stream from the cell has ended. True if the cell had not read the job: then the job was moved to
 * another cell, or the run has failed. */
bool gb_run_move_on(struct gb_run *run);

/* --- bridge.c --- */

void gb_bridge_init(struct gb_bridge *bridge, const struct gb_run_options *options);
/* The run has settled or is being destroyed: detaches calls from the code; fails calls from the host, with a
 * callback if @tell. */
void gb_bridge_close(struct gb_run *run, bool tell);
void gb_bridge_finish(struct gb_bridge *bridge);
/* Maximum size of the outbox. */
uint64_t gb_bridge_outbox_max(const struct gb_bridge *bridge);
/* Records functions lent to the sandbox during encoding. */
struct gb_grants gb_bridge_grants(struct gb_bridge *bridge);
/* Inside on_answer of gb_run_call: take over the values of the answer, which are freed afterwards otherwise. */
struct gb_values *gb_run_take_answer(struct gb_run *run);
/* Handle a CALL or ANSWER. Fails on a protocol violation. */
bool gb_bridge_on_call(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_bridge_on_answer(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);

/* --- session.c --- */

/* Fails if @language does not support sessions. */
bool gb_session_check_language(enum gb_language language, struct gb_err *err);

/* Callbacks for a cell while no run executes in its session. */
void gb_session_on_cell_ready(struct gb_cell *cell, uint32_t events);
void gb_session_on_cell_end(struct gb_cell *cell, const struct gb_cell_end *end);
/* The cell of @run's session died before its first job: replace it. On failure the session has ended. */
bool gb_session_retake(struct gb_run *run, struct gb_err *err);
/* @run begins to execute in its session; ceases to. */
bool gb_session_enter(struct gb_run *run, struct gb_err *err);
void gb_session_leave(struct gb_run *run);
/* @run has its result: end the session if it cannot continue. */
void gb_session_judge(struct gb_run *run);
/* Its cell is ending: no other run begins in it. It is terminated when the present run has left it. */
void gb_session_doom(struct gb_session *session, const char *reason);
/* Copy @reason to @to, of @n bytes; a longer one is cut at a word boundary, since the redaction of secrets
 * would miss a partial one. */
void gb_reason_keep(char *to, size_t n, const char *reason);
/* End the session: its process has exited, or is killed. */
void gb_session_terminate(struct gb_session *session, const char *reason);

/* --- terminal.c --- */

void gb_terminal_init(struct gb_terminal *terminal);
void gb_terminal_finish(struct gb_terminal *terminal);
/* Handle terminal frames from a worker. Fails on a protocol violation. */
bool gb_terminal_on_awaiting(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_terminal_on_bytes(struct gb_session *session, const struct gb_frame *frame, struct gb_err *err);
/* @run takes over the terminal's unsent frames; returns them. */
void gb_terminal_enter(struct gb_run *run);
void gb_terminal_leave(struct gb_run *run);
/* Send unsent frames while no run executes. */
void gb_terminal_send(struct gb_session *session);
/* Events to poll for on the cell's socket, except GB_LOOP_OUT. @session may be NULL. */
uint32_t gb_terminal_events(const struct gb_session *session);

/* --- engine.c --- */

/* Make the timer expire no later than @deadline. */
void gb_engine_wake_at(struct gb_engine *engine, uint64_t deadline);
/* Set @alarm to @at, in ns, replacing its previous time. */
void gb_alarm_set(struct gb_engine *engine, struct gb_alarm *alarm, uint64_t at);
/* Release the cells of all settled runs. */
void gb_engine_release_settled(struct gb_engine *engine);

/* Wait until all pools that were started are ready. Fails if one does not become ready. Only before the first
 * run. */
bool gb_engine_await_pools(struct gb_engine *engine, struct gb_err *err);

/* Dispatch once without releasing the cells of runs that settle. Fails with GB_EINVAL inside a callback. */
bool gb_engine_turn(struct gb_engine *engine, int timeout_ms, struct gb_err *err);

/* --- version.c --- */

/* Stop the pools of programs that have answered. */
void gb_versions_clean_up(struct gb_engine *engine);
void gb_versions_finish(struct gb_engine *engine);

/* --- language.c --- */

/* Which options a language supports. */
struct gb_language_traits {
	bool has_box;        /* files and input */
	bool has_sessions;   /* its process can outlive a run */
	bool has_terminal;   /* and then has a terminal */
	bool has_profiles;   /* sets of modules that are loaded in advance */
	bool has_restricted; /* a restricted mode */
	bool has_allowlist;  /* of modules */
	bool has_net;        /* network hosts */
	bool has_modules;    /* imports, modules, globals, fn and report */
};
const struct gb_language_traits *gb_language_traits(enum gb_language language);
/* The memory limit of a run that names none. */
uint64_t gb_language_memory(enum gb_language language);
/* Whether @language has what a field of a request needs. */

/* --- runtimes.c --- */

bool gb_runtime_find(const struct gb_engine *engine, enum gb_language language, const char *profile,
    enum gb_runtime *ret, struct gb_err *err);
/* Register the caller's own profiles. */
bool gb_runtimes_init(struct gb_engine *engine, const struct gb_engine_options *options, struct gb_err *err);
/* Whether the worker and the program of @language are installed. */
bool gb_engine_has_language(const struct gb_engine *engine, enum gb_language language);
/* The path of its worker program. */
bool gb_runtime_worker(
    const struct gb_engine *engine, enum gb_runtime which, char *ret, size_t n, struct gb_err *err);
/* The plan with all sandbox layers. *ret is the caller's. */
bool gb_runtime_plan(
    struct gb_engine *engine, enum gb_runtime which, struct gb_plan **ret, struct gb_err *err);
/* Start its pool, which must not exist yet, with @plan, without waiting for it. Tests pass a plan without some
 * layer; callers of the library cannot. */
bool gb_runtime_start_behind(
    struct gb_engine *engine, enum gb_runtime which, const struct gb_plan *plan, struct gb_err *err);
/* Start its pool with all sandbox layers, unless it exists, without waiting for it. Fails if the pool cannot be
 * started; what goes wrong later ends the cells that were taken from it. */
bool gb_runtime_start(struct gb_engine *engine, enum gb_runtime which, struct gb_err *err);
/* If the pool could not be started or was stopped, destroy it, so that the next run starts another. Not from
 * inside a callback. */
void gb_runtime_clean_up(struct gb_engine *engine, enum gb_runtime which);
/* Whether both have the same worker program. */
bool gb_runtime_is_same(const struct gb_engine *engine, enum gb_runtime a, enum gb_runtime b);

/* --- workdir.c --- */

void gb_workplaces_init(struct gb_engine *engine);
/* Stop those that nothing has used for a while. Not from inside a callback. */
void gb_workplaces_clean_up(struct gb_engine *engine);
/* The same runtime with the working directory @text: replaces *runtime. To be left by gb_workplace_leave. */
bool gb_workplace_enter(
    struct gb_engine *engine, const char *text, enum gb_runtime *runtime, struct gb_err *err);
/* The cell has been released. Sets *which to 0, for which it does nothing. */
void gb_workplace_leave(struct gb_engine *engine, enum gb_runtime *which);
/* The runtime without the directory; the directory, or NULL. */
enum gb_runtime gb_workplace_of(const struct gb_engine *engine, enum gb_runtime which);
struct gb_workdir *gb_workplace_dir(struct gb_engine *engine, enum gb_runtime which);

/* --- request.c --- */

/* Validate @options, with the field's name in errors, and append them to @out as a JOB frame. @asks_version:
 * start the program with --version instead. @secrets may be NULL. */
bool gb_request_encode(const struct gb_run_options *options, bool asks_version,
    const struct gb_edge_use *secrets, const struct gb_grants *grants, struct gb_buf *out,
    struct gb_err *err);

/* --- modules.c --- */

/* Check the specifiers of imports and modules. */
/* Whether a run asks for the list of its files: "take" has the path ".". */
bool gb_request_takes_list(const struct gb_value *take);
bool gb_request_check_modules(const struct gb_run_options *options, struct gb_err *err);

/* --- answer.c --- */

/* Decode frames from the worker, which are untrusted. On failure @run is unchanged. */
bool gb_answer_log(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_result(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_output(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_display(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
/* Whether @path is a relative path without "." and "..". */
bool gb_path_is_plain(struct gb_str path);
bool gb_answer_file(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
bool gb_answer_exit(struct gb_run *run, const struct gb_frame *frame, struct gb_err *err);
/* Charge @n bytes of a report. */
bool gb_answer_spend_report(struct gb_run *run, size_t n, struct gb_err *err);
/* Keep the report @args, which was decoded in the pool of the run: returns its argument. NULL: a protocol violation. */
const struct gb_value *gb_answer_report(struct gb_run *run, const struct gb_value *args, struct gb_err *err);
extern const struct gb_decode_limits gb_answer_limits;

#endif
