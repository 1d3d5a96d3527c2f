/*
 * For all messages of a sandbox, its run settles once, every caller gets one answer, and nothing is leaked. The
 * port is replaced by one whose cells are only sockets. The first byte says what the host does, and whether
 * it is a run of its own or one in a session that has a terminal; then come frames: type, length (two bytes),
 * payload.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "engine/engine.h"
#include "engine/workers.h"
#include "sandbox/port.h"

enum { MAX_INPUT = 64 << 10, KEPT = 16 };

/* --- a port without processes --- */

struct gb_cell {
	int fd;
	void *owner;
};

struct gb_pool {
	struct gb_cell cell;
	int sandbox; /* the other end of its socket */
};

bool gb_worker_find(const char *dir, const char *name, char *ret, size_t n, struct gb_err *err) {
	(void)dir, (void)name, (void)ret, (void)n, (void)err;
	return true;
}

bool gb_program_find(const char *chosen, const char *name, char *ret, size_t n, struct gb_err *err) {
	(void)chosen, (void)name, (void)ret, (void)n, (void)err;
	return true;
}

bool gb_port_create(const struct gb_port_options *options, struct gb_port **ret, struct gb_err *err) {
	(void)options, (void)err;
	*ret = NULL;
	return true;
}

void gb_port_destroy(struct gb_port *port) {
	(void)port;
}

bool gb_plan_create(struct gb_port *port, const struct gb_plan_options *options, struct gb_plan **ret_plan,
    struct gb_err *err) {
	(void)port, (void)options, (void)err;
	*ret_plan = NULL;
	return true;
}

void gb_plan_destroy(struct gb_plan *plan) {
	(void)plan;
}

bool gb_plan_share(
    struct gb_plan *plan, const char *from, const char *to, enum gb_share how, struct gb_err *err) {
	(void)plan, (void)from, (void)to, (void)how, (void)err;
	return true;
}

bool gb_plan_work_in(struct gb_plan *plan, int fd, bool writable, struct gb_err *err) {
	(void)plan, (void)fd, (void)writable, (void)err;
	return true;
}

bool gb_pool_create(struct gb_port *port, const struct gb_plan *plan, const struct gb_pool_options *options,
    struct gb_pool **ret, struct gb_err *err) {
	(void)port, (void)plan, (void)options, (void)err;
	static struct gb_pool pool;
	*ret = &pool;
	return true;
}

void gb_pool_destroy(struct gb_pool *pool) {
	(void)pool;
}

enum gb_pool_state gb_pool_state(const struct gb_pool *pool, struct gb_err *err) {
	(void)pool, (void)err;
	return GB_POOL_READY;
}

void gb_pool_stop(struct gb_pool *pool) {
	(void)pool;
}

bool gb_pool_is_over(const struct gb_pool *pool) {
	(void)pool;
	return false;
}

const char *gb_pool_version(const struct gb_pool *pool) {
	(void)pool;
	return "";
}

size_t gb_pool_layers(const struct gb_pool *pool, const char **ret, size_t n) {
	(void)pool, (void)ret, (void)n;
	return 0;
}

void gb_pool_refill(struct gb_pool *pool) {
	(void)pool;
}

void gb_pool_before_wait(struct gb_pool *pool) {
	(void)pool;
}

struct gb_cell *gb_pool_take(struct gb_pool *pool, void *owner, struct gb_err *err) {
	(void)err;
	int ends[2];
	ALWAYS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	pool->sandbox = ends[1];
	pool->cell = (struct gb_cell){.fd = ends[0], .owner = owner};
	return &pool->cell;
}

void *gb_cell_network(const struct gb_cell *cell) {
	return NULL;
}
void gb_pool_discard(struct gb_pool *pool) {
}
void *gb_cell_owner(const struct gb_cell *cell) {
	return cell->owner;
}

void gb_cell_set_owner(struct gb_cell *cell, void *owner) {
	cell->owner = owner;
}

int gb_cell_fd(const struct gb_cell *cell) {
	return cell->fd;
}

void gb_cell_listen(struct gb_cell *cell, uint32_t events) {
	(void)cell, (void)events;
}

void gb_cell_ignore(struct gb_cell *cell) {
	(void)cell;
}

bool gb_cell_is_waiting(const struct gb_cell *cell) {
	(void)cell;
	return false;
}

bool gb_cell_was_warm(const struct gb_cell *cell) {
	(void)cell;
	return false;
}

bool gb_cell_is_older(const struct gb_cell *cell, uint64_t time) {
	(void)cell, (void)time;
	return true;
}

void gb_cell_limit_memory(struct gb_cell *cell, uint64_t bytes) {
	(void)cell, (void)bytes;
}

void gb_cell_yield_cpu(struct gb_cell *cell, bool yields) {
	(void)cell, (void)yields;
}

void gb_cell_interrupt(struct gb_cell *cell, int job) {
	(void)cell, (void)job;
}

void gb_cell_kill(struct gb_cell *cell) {
	struct gb_pool *pool = gb_container(struct gb_pool, cell, cell);
	gb_close_fd(&pool->sandbox);
}

void gb_cell_release(struct gb_cell *cell) {
	gb_cell_kill(cell);
	gb_close_fd(&cell->fd);
}

/* --- the host --- */

static struct {
	uint8_t manner; /* bits */
	unsigned asked, told, settled, logs;
	struct gb_call *kept[KEPT];
	size_t n_kept;
} host;

enum {
	PROMISES = 1,
	KEEPS = 2,
	CALLS_BACK = 4,
	THROWS = 8,
	REPORTS = 16,
	TERMINATES = 32,
	SESSION = 64,
	ATTACHED = 128
};

static void on_answer(struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	(void)data;
	ALWAYS(value || (thrown && gb_run_settled(run)));
	host.told++;
}

static void call_back(struct gb_run *run, const struct gb_value *value) {
	enum gb_side side;
	uint32_t id;
	if (!gb_value_as_callable(value, &side, &id))
		return;
	ALWAYS(side == GB_SANDBOX || id <= 3);
	if (side == GB_SANDBOX)
		host.asked += gb_run_call(run, id, NULL, on_answer, NULL, NULL);
}

static void on_call(struct gb_run *run, struct gb_call *call, void *data) {
	(void)data;
	const struct gb_value *args = gb_call_args(call);
	ALWAYS(gb_call_run(call) == run && !gb_run_settled(run));
	ALWAYS(!args || gb_value_type(args) == GB_ARRAY);
	for (size_t i = 0; (host.manner & CALLS_BACK) && i < gb_value_count(args) && i < 4; i++)
		call_back(run, gb_value_at(args, i));
	if (host.manner & PROMISES)
		gb_call_promise(call);
	if (host.manner & TERMINATES)
		gb_run_terminate(run, NULL);
	if ((host.manner & KEEPS) && host.n_kept < KEPT)
		host.kept[host.n_kept++] = call;
	else if (host.manner & THROWS)
		gb_call_throw(call, args);
	else
		gb_call_return(call, args);
}

static void on_report(struct gb_run *run, const struct gb_value *value, struct gb_call *call, void *data) {
	ALWAYS(value);
	on_call(run, call, data);
}

static void on_log(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)run, (void)data;
	ALWAYS(gb_value_type(log->args) == GB_ARRAY);
	host.logs++;
}

static void on_awaiting(struct gb_run *run, const char *prompt, void *data) {
	struct gb_session *session = data;
	ALWAYS(!gb_run_settled(run));
	ALWAYS(!prompt == (gb_session_state(session) != GB_SESSION_AWAITING_INPUT));
	ALWAYS(!prompt || (strlen(prompt) <= GB_WIRE_PROMPT_MAX && gb_session_prompt(session) == prompt));
	if (prompt && (host.manner & KEEPS))
		ALWAYS(gb_session_send(session, "y\n", 2, NULL) && !*gb_session_prompt(session));
}

static void on_bytes(struct gb_session *session, const char *bytes, size_t n, void *data) {
	(void)data;
	ALWAYS(bytes && n > 0 && n <= GB_WIRE_TERMINAL_MAX);
	if (host.manner & THROWS)
		gb_session_detach(session);
}

static void on_settled(struct gb_run *run, const struct gb_result *result, void *data) {
	(void)run, (void)data;
	host.settled++;
	ALWAYS(host.told == host.asked);
	ALWAYS(!result->value == (result->status != GB_SUCCESS) && result->n_logs == host.logs);
	gb_auto_free char *json = gb_result_to_json(result, NULL, NULL);
	(void)json;
}

/* --- a run --- */

static struct gb_run *start(struct gb_engine *engine) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *globals = gb_value_object(pool);
	struct gb_run *run = NULL;
	gb_value_put_key(globals, "f", gb_value_function(pool, 1, NULL));
	gb_value_put_key(globals, "g", gb_value_function(pool, 2, "g"));
	gb_value_put_key(globals, "p", gb_value_promise(pool, 3));
	const struct gb_run_options options = {.source = "",
	    .globals = globals,
	    .report = host.manner & REPORTS,
	    .call_bytes = 4096,
	    .report_bytes = 4096,
	    .output_bytes = 4096,
	    .max_calls = 50,
	    .max_in_flight = 8,
	    .on_call = on_call,
	    .on_report = on_report,
	    .on_log = on_log,
	    .on_settled = on_settled};
	ALWAYS(gb_run_start(engine, &options, &run, NULL));
	gb_values_destroy(pool);
	return run;
}

/* One message of the sandbox's; false when there is no more. */
static bool say(struct gb_pool *pool, const uint8_t **data, size_t *size) {
	if (*size < 3)
		return false;
	size_t n = (size_t)(*data)[1] | (size_t)(*data)[2] << 8;
	if (n > *size - 3)
		n = *size - 3;
	gb_auto_buf struct gb_buf frame;
	gb_buf_init(&frame, MAX_INPUT + GB_FRAME_HEAD);
	gb_frame_append(&frame, (*data)[0], *data + 3, n);
	ALWAYS(send(pool->sandbox, frame.data, frame.len, MSG_NOSIGNAL) == (ssize_t)frame.len);
	*data += 3 + n;
	*size -= 3 + n;
	return true;
}

/* In a session, also unsolicited messages. */
static void converse(struct gb_engine *engine, const uint8_t *data, size_t size) {
	struct gb_session *session;
	struct gb_run *run = NULL;
	ALWAYS(gb_session_open(engine, GB_SHELL, NULL, &session, NULL));
	if (host.manner & ATTACHED)
		ALWAYS(gb_session_attach(session, on_bytes, NULL, NULL));
	const struct gb_run_options options = {.session = session,
	    .source = "",
	    .output_bytes = 4096,
	    .on_log = on_log,
	    .on_awaiting = on_awaiting,
	    .on_settled = on_settled,
	    .data = session};
	ALWAYS(gb_run_start(engine, &options, &run, NULL));
	struct gb_pool *pool = engine->pools[GB_RUNTIME_SHELL];
	while (pool->sandbox >= 0 && say(pool, &data, &size)) {
		gb_run_on_cell_ready(&pool->cell, GB_LOOP_IN);
		if (gb_run_settled(run))
			gb_engine_release_settled(engine);
		if (!session->cell)
			break;
	}
	gb_run_terminate(run, "the input has ended");
	ALWAYS(host.settled == 1);
	gb_run_destroy(run);
	ALWAYS(!*gb_session_prompt(session));
	gb_session_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct gb_engine *engine;
	if (!engine)
		ALWAYS(gb_engine_create(NULL, &engine, NULL));
	if (size == 0 || size > MAX_INPUT)
		return 0;
	memset(&host, 0, sizeof host);
	host.manner = *data++;
	size--;
	if (host.manner & SESSION) {
		converse(engine, data, size);
		return 0;
	}
	struct gb_run *run = start(engine);
	while (!gb_run_settled(run) && say(engine->pools[GB_RUNTIME_JS], &data, &size))
		gb_run_on_cell_ready(&engine->pools[GB_RUNTIME_JS]->cell, GB_LOOP_IN);
	gb_run_terminate(run, "the input has ended");
	ALWAYS(host.settled == 1 && gb_run_result(run));
	gb_run_destroy(run);
	while (host.n_kept)
		gb_call_return(host.kept[--host.n_kept], NULL);
	return 0;
}
