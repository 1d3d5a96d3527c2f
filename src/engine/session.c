/* A sandbox that outlives a run. Output between runs is discarded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/engine.h"
#include "engine/limits.h"

enum { NOISE_MAX = 1 << 20, STEP = 4 << 10, NET_MAX = 1 << 20 };

const char *gb_session_state_name(enum gb_session_state state) {
	static const char *const names[] = {"idle", "executing", "awaiting_input", "terminated"};
	return state < GB_COUNT(names) ? names[state] : "terminated";
}

bool gb_session_check_language(enum gb_language language, struct gb_err *err) {
	return gb_language_traits(language)->has_sessions ||
	       gb_fail_field(err, GB_EINVAL, "language", "%s has no sessions", gb_language_name(language));
}

static void free_session(struct gb_session *session) {
	gb_frame_reader_finish(&session->reader);
	gb_terminal_finish(&session->terminal);
	gb_values_destroy(session->net_values);
	if (session->place)
		gb_workplace_leave(session->engine, &session->place);
	free(session);
}

static bool keep_net(struct gb_session *session, const struct gb_value *net, struct gb_err *err) {
	if (!net || gb_value_count(net) == 0)
		return true;
	if (!gb_language_has(session->language, GB_NEED_NET))
		return gb_fail_field(
		    err, GB_EINVAL, "net", "is not for %s", gb_language_name(session->language));
	session->net_values = gb_values_create(NET_MAX);
	session->net = session->net_values ? gb_value_array(session->net_values) : NULL;
	bool ok = session->net;
	for (size_t i = 0; ok && i < gb_value_count(net); i++) {
		size_t n = 0;
		const char *text = gb_value_bytes(gb_value_at(net, i), &n);
		if (!text)
			return gb_fail_field(err, GB_EINVAL, "net", "must be an array of texts");
		ok = gb_value_push(session->net, gb_value_string(session->net_values, text, n));
	}
	return ok || gb_fail_field(err, GB_ELIMIT, "net", "is too long");
}

static bool start_session(
    struct gb_session *session, const char *profile, const char *workdir, struct gb_err *err) {
	struct gb_engine *engine = session->engine;
	/* Its hosts are checked now, as those of a run. */
	struct gb_reach *reach = NULL;
	const struct gb_run_options check = {.language = session->language, .net = session->net};
	if (!gb_reach_create(engine, &check, &reach, err))
		return false;
	gb_reach_destroy(reach);
	if (!gb_runtime_find(engine, session->language, profile, &session->runtime, err))
		return false;
	session->runtime += session->net ? GB_RUNTIME_NETWORK : 0;
	if (workdir && !gb_workplace_enter(engine, workdir, &session->runtime, err))
		return false;
	session->place = workdir ? session->runtime : 0;
	if (gb_runtime_start(engine, session->runtime, err))
		session->cell = gb_pool_take(engine->pools[session->runtime], session, err);
	return session->cell;
}

bool gb_session_connect(struct gb_session *session, uint16_t port, int fd, struct gb_err *err) {
	if (!session->cell)
		return gb_fail_field(err, GB_EINVAL, "session", "has ended: %s", session->reason);
	return gb_network_connect(session->cell, port, fd, err);
}

bool gb_session_open(struct gb_engine *engine, enum gb_language language, const char *profile,
    struct gb_session **ret, struct gb_err *err) {
	return gb_session_open_net(engine, language, profile, NULL, ret, err);
}

bool gb_session_open_net(struct gb_engine *engine, enum gb_language language, const char *profile,
    const struct gb_value *net, struct gb_session **ret, struct gb_err *err) {
	return gb_session_open_in(engine, language, profile, net, NULL, ret, err);
}

bool gb_session_open_in(struct gb_engine *engine, enum gb_language language, const char *profile,
    const struct gb_value *net, const char *workdir, struct gb_session **ret, struct gb_err *err) {
	if (!gb_session_check_language(language, err))
		return false;
	struct gb_session *session = calloc(1, sizeof *session);
	if (!session)
		return gb_fail(err, GB_ENOMEM, 0, "a session");
	session->owner = GB_OWNER_SESSION;
	session->engine = engine;
	session->language = language;
	gb_frame_reader_init(&session->reader, NOISE_MAX);
	gb_terminal_init(&session->terminal);
	if (!keep_net(session, net, err) || !start_session(session, profile, workdir, err)) {
		free_session(session);
		return false;
	}
	*ret = session;
	return true;
}

void gb_reason_keep(char *to, size_t n, const char *reason) {
	static const char more[] = "…";
	size_t length = strlen(reason);
	if (length < n) {
		memcpy(to, reason, length + 1);
		return;
	}
	for (length = n - sizeof more; length > 0 && reason[length - 1] != ' ';)
		length--;
	snprintf(to, n, "%.*s%s", (int)length, reason, more);
}

void gb_session_terminate(struct gb_session *session, const char *reason) {
	if (!session->cell)
		return;
	if (!session->doomed)
		gb_reason_keep(session->reason, sizeof session->reason, reason);
	gb_cell_release(session->cell);
	session->cell = NULL;
	gb_workplace_leave(session->engine, &session->place);
	if (session->run)
		session->run->cell = NULL;
	session->run = NULL;
	if (session->on_change)
		session->on_change(session);
}

void gb_session_close(struct gb_session *session) {
	if (!session)
		return;
	struct gb_run *run = session->run;
	gb_session_terminate(session, "closed");
	if (run) {
		run->session = NULL;
		gb_run_release_cell(run);
		if (!run->settled)
			gb_run_destroy(run);
	}
	free_session(session);
}

enum gb_session_state gb_session_state(const struct gb_session *session) {
	if (!session->cell || session->doomed)
		return GB_SESSION_TERMINATED;
	if (!session->run || session->run->settled)
		return GB_SESSION_IDLE;
	return session->terminal.awaiting ? GB_SESSION_AWAITING_INPUT : GB_SESSION_EXECUTING;
}

const char *gb_session_reason(const struct gb_session *session) {
	return session->reason;
}

bool gb_session_enter(struct gb_run *run, struct gb_err *err) {
	struct gb_session *session = run->session;
	/* The previous run may have settled without having released the cell. */
	if (session->run && session->run->settled)
		gb_run_release_cell(session->run);
	if (!session->cell)
		return gb_fail_field(err, GB_EINVAL, "session", "has ended: %s", session->reason);
	if (session->run)
		return gb_fail_field(err, GB_EBUSY, "session", "another run executes in it");
	session->run = run;
	session->n_jobs++;
	session->noise = 0;
	run->runtime = session->runtime;
	/* The frame limit is the run's; at most the rest of an earlier frame is still to come. */
	session->reader.buf.max = run->own_reader.buf.max;
	run->reader = &session->reader;
	run->cell = session->cell;
	gb_cell_set_owner(run->cell, run);
	gb_cell_yield_cpu(run->cell, false);
	gb_terminal_enter(run);
	return true;
}

bool gb_session_retake(struct gb_run *run, struct gb_err *err) {
	struct gb_session *session = run->session;
	gb_cell_release(session->cell);
	gb_buf_clear(&session->reader.buf);
	session->reader.consumed = 0;
	session->cell = gb_pool_take(session->engine->pools[session->runtime], run, err);
	run->cell = session->cell;
	if (session->cell)
		return true;
	session->run = NULL;
	snprintf(session->reason, sizeof session->reason, "its sandbox died before it was used");
	if (session->on_change)
		session->on_change(session);
	return false;
}

void gb_session_doom(struct gb_session *session, const char *reason) {
	session->doomed = true;
	gb_reason_keep(session->reason, sizeof session->reason, reason);
}

/* The program of the session has exited, or the JavaScript heap was exceeded, which leaves it in an unknown
 * state. Python handles MemoryError. */
void gb_session_judge(struct gb_run *run) {
	struct gb_session *session = run->session;
	const char *why = NULL;
	if (run->ends_session)
		why = gb_language_traits(session->language)->has_terminal ? "the shell has exited"
									  : "its program has ended";
	else if (run->result.status == GB_MEMORY &&
		 gb_workplace_of(session->engine, session->runtime) == GB_RUNTIME_JS)
		why = run->result.error.message;
	if (why)
		gb_session_doom(session, why);
}

/* The session is over or has been compromised. The port reports why the cell ended. */
static void kill_cell(struct gb_session *session) {
	if (!session->cell)
		return;
	gb_cell_ignore(session->cell);
	gb_cell_kill(session->cell);
}

/* Frames while no run executes, from threads that write: terminal bytes go to the attached client, others are
 * discarded. */
static void handle_idle_frames(struct gb_session *session) {
	struct gb_frame frame;
	enum gb_frame_status status;
	while ((status = gb_frame_reader_next(&session->reader, &frame)) == GB_FRAME_READY) {
		if (frame.type != GB_FRAME_TERMINAL)
			continue;
		if (!gb_terminal_on_bytes(session, &frame, NULL)) {
			kill_cell(session);
			return;
		}
		/* The callback may have ended the session. */
		if (!session->cell)
			return;
		size_t whole = frame.n + GB_FRAME_HEAD;
		session->noise -= whole < session->noise ? whole : session->noise;
	}
	if (status == GB_FRAME_BAD || session->noise > NOISE_MAX)
		kill_cell(session);
}

/* Replace the cell, which has not run anything. False if there is no other; then the session has ended. */
static bool take_another_cell(struct gb_session *session) {
	gb_cell_release(session->cell);
	session->cell = gb_pool_take(session->engine->pools[session->runtime], session, NULL);
	if (session->cell)
		return true;
	snprintf(session->reason, sizeof session->reason, "its sandbox died before it was used");
	if (session->on_change)
		session->on_change(session);
	return false;
}

/* The run ended while the sandbox was starting, and its job is in the cell's socket. */
static void withdraw_job(struct gb_session *session) {
	session->run = NULL;
	session->n_jobs--;
	if (session->used)
		gb_session_terminate(session, "its run ended without a result");
	else
		(void)take_another_cell(session);
}

void gb_session_leave(struct gb_run *run) {
	struct gb_session *session = run->session;
	if (!session->cell || session->run != run)
		return;
	if (!run->begun) {
		withdraw_job(session);
		return;
	}
	session->run = NULL;
	gb_cell_set_owner(session->cell, session);
	gb_cell_interrupt(session->cell, 0);
	if (run->waits_to_send || run->paused)
		gb_cell_listen(session->cell, gb_terminal_events(session));
	if (gb_language_traits(session->language)->has_terminal)
		gb_terminal_leave(run);
	if (!session->cell)
		return;
	/* The code may still be running, and its output would be attributed to the next run. */
	if (!run->result_received)
		gb_session_terminate(session, "its run ended without a result");
	else if (session->doomed)
		gb_session_terminate(session, session->reason);
	else
		/* Frames that arrived together with the result. */
		handle_idle_frames(session);
}

/* Replace a warm cell that died before its first use. */
static bool replace_dead_cell(struct gb_session *session) {
	enum { RETAKES_MAX = 32 };
	struct gb_cell *cell = session->cell;
	if (!cell || !gb_cell_was_warm(cell) || session->n_jobs || session->used || session->reader.buf.len ||
	    session->n_retakes == RETAKES_MAX)
		return false;
	session->n_retakes++;
	(void)take_another_cell(session);
	return true;
}

void gb_session_on_cell_ready(struct gb_cell *cell, uint32_t events) {
	struct gb_session *session = gb_cell_owner(cell);
	size_t room;
	if (events & GB_LOOP_OUT)
		gb_terminal_send(session);
	if (!(events & ~(uint32_t)GB_LOOP_OUT))
		return;
	char *into = gb_frame_reader_room(&session->reader, STEP, &room);
	ssize_t n = into ? recv(gb_cell_fd(cell), into, room, MSG_DONTWAIT) : 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		if (!replace_dead_cell(session))
			kill_cell(session);
		return;
	}
	gb_frame_reader_fed(&session->reader, (size_t)n);
	session->noise += (size_t)n;
	handle_idle_frames(session);
}

void gb_session_on_cell_end(struct gb_cell *cell, const struct gb_cell_end *end) {
	struct gb_session *session = gb_cell_owner(cell);
	if (end->cause == GB_CELL_REFUSED || !replace_dead_cell(session))
		gb_session_terminate(session, end->text);
}
