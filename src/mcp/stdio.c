#include "mcp/stdio.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "server/lines.h"

enum {
	BEHIND_BYTES = 1 << 20,   /* unread output at which reports of progress are left out */
	BLOCKED_BYTES = 64 << 20, /* unread output at which the client is not read any more */
	FREE_BYTES = 32 << 20,
	POLL_MS = 100, /* after the end of the input, while output is left */
};

#define DRAINED_NS 5000000000ull

/* A long line is parsed on a thread. Later lines wait. */
struct long_line {
	struct gb_work work;
	struct gb_mcp_stdio *stdio; /* NULL: it was closed */
	struct gb_long_line line;
	struct gb_values *pool;
	struct gb_jsonrpc message;
	struct gb_jsonrpc_failure failure;
	bool ok;
};

struct gb_mcp_stdio {
	struct gb_service *service;
	struct gb_lines lines;
	struct gb_mcp *mcp;
	struct long_line *parsing; /* or NULL */
	bool blocked;
};

/* --- output --- */

static void send_message(const struct gb_mcp_output *output, void *data) {
	struct gb_mcp_stdio *stdio = data;
	gb_buf_append_str(gb_lines_begin(&stdio->lines), output->text);
	gb_lines_end(&stdio->lines);
}

static bool is_behind(void *data) {
	return gb_lines_waiting(&((struct gb_mcp_stdio *)data)->lines) > BEHIND_BYTES;
}

static void update_blocked(struct gb_mcp_stdio *stdio) {
	size_t waiting = gb_lines_waiting(&stdio->lines);
	bool blocked = waiting > (stdio->blocked ? FREE_BYTES : BLOCKED_BYTES);
	if (blocked == stdio->blocked)
		return;
	stdio->blocked = blocked;
	if (blocked)
		gb_lines_pause(&stdio->lines);
	else if (!stdio->parsing)
		gb_lines_resume(&stdio->lines);
}

/* --- input --- */

static bool is_blank(const char *line, size_t n) {
	for (size_t i = 0; i < n; i++)
		if (!strchr(" \t\r", line[i]))
			return false;
	return true;
}

static void on_line(struct gb_lines *lines, const char *line, size_t n) {
	struct gb_mcp_stdio *stdio = gb_container(struct gb_mcp_stdio, lines, lines);
	struct gb_jsonrpc_failure failure = {.id = "null"};
	if (n > lines->line_max) {
		gb_jsonrpc_fail(&failure, GB_JSONRPC_INVALID_REQUEST,
		    "a message has at most %u bytes; this one was skipped", GB_MCP_LINE_MAX);
		gb_mcp_handle(stdio->mcp, NULL, &failure, NULL);
	} else if (!is_blank(line, n)) {
		gb_mcp_receive(stdio->mcp, (struct gb_str){line, n}, NULL);
	}
	update_blocked(stdio);
}

static enum gb_work_end parse(struct gb_work *work, void *data) {
	struct long_line *it = gb_container(struct long_line, work, work);
	const struct gb_long_line *line = &it->line;
	(void)data;
	it->pool = gb_values_create(gb_jsonrpc_memory(line->n));
	it->ok = gb_jsonrpc_read(it->pool, line->buf.data + line->at, line->n, &it->message, &it->failure);
	return GB_WORK_DONE;
}

static void on_parsed(struct gb_work *work) {
	struct long_line *it = gb_container(struct long_line, work, work);
	struct gb_mcp_stdio *stdio = it->stdio;
	if (stdio) {
		stdio->parsing = NULL;
		if (!stdio->lines.ended)
			gb_mcp_handle(stdio->mcp, it->ok ? &it->message : NULL, &it->failure, NULL);
		update_blocked(stdio);
		if (!stdio->blocked)
			gb_lines_resume(&stdio->lines);
	}
	gb_values_destroy(it->pool);
	gb_buf_finish(&it->line.buf);
	free(it);
}

static void on_long_line(struct gb_lines *lines, struct gb_long_line *line) {
	struct gb_mcp_stdio *stdio = gb_container(struct gb_mcp_stdio, lines, lines);
	struct long_line *it = calloc(1, sizeof *it);
	if (!it) {
		struct gb_jsonrpc_failure failure = {.id = "null"};
		gb_jsonrpc_fail(&failure, GB_JSONRPC_INTERNAL, "out of memory");
		gb_mcp_handle(stdio->mcp, NULL, &failure, NULL);
		gb_buf_finish(&line->buf);
		return;
	}
	it->stdio = stdio;
	it->line = *line;
	it->work = (struct gb_work){.run = parse, .done = on_parsed};
	stdio->parsing = it;
	gb_lines_pause(lines);
	if (gb_service_work(stdio->service, &it->work, line->n))
		return;
	parse(&it->work, NULL);
	on_parsed(&it->work);
}

/* The loop of the caller ends: see gb_mcp_stdio_ended. */
static void on_end(struct gb_lines *lines) {
	(void)lines;
}

/* --- open and close --- */

bool gb_mcp_stdio_open(
    const struct gb_mcp_stdio_options *options, struct gb_mcp_stdio **ret, struct gb_err *err) {
	struct gb_mcp_stdio *stdio = calloc(1, sizeof *stdio);
	int in = options->in, out = options->out;
	if (!stdio) {
		gb_close_fd(&in);
		gb_close_fd(&out);
		return gb_fail(err, GB_ENOMEM, 0, "a client");
	}
	stdio->service = options->service;
	gb_lines_init(&stdio->lines, gb_service_loop(options->service), in, out, GB_MCP_LINE_MAX);
	/* A response may be longer than a request: it has the output of the code. */
	stdio->lines.on_line = on_line;
	stdio->lines.on_long_line = on_long_line;
	stdio->lines.long_min = GB_SERVICE_LONG;
	stdio->lines.on_end = on_end;
	const struct gb_mcp_options client = {.service = options->service,
	    .config = options->config,
	    .send = send_message,
	    .is_behind = is_behind,
	    .data = stdio,
	    .extension = options->extension};
	if (gb_mcp_create(&client, &stdio->mcp, err) && gb_lines_start(&stdio->lines, err)) {
		*ret = stdio;
		return true;
	}
	gb_mcp_stdio_close(stdio);
	return false;
}

void gb_mcp_stdio_close(struct gb_mcp_stdio *stdio) {
	if (!stdio)
		return;
	gb_mcp_destroy(stdio->mcp);
	if (stdio->parsing)
		stdio->parsing->stdio = NULL;
	gb_lines_flush(&stdio->lines);
	gb_lines_finish(&stdio->lines);
	free(stdio);
}

struct gb_mcp *gb_mcp_stdio_client(struct gb_mcp_stdio *stdio) {
	return stdio->mcp;
}

/* A client that has closed the input may still read replies. */
bool gb_mcp_stdio_ended(const struct gb_mcp_stdio *stdio) {
	const struct gb_lines *lines = &stdio->lines;
	return lines->ended &&
	       (lines->broken || !gb_lines_waiting(lines) || gb_now_ns() - lines->progress_at > DRAINED_NS);
}

bool gb_mcp_stdio_turn(struct gb_mcp_stdio *stdio, struct gb_err *err) {
	int timeout_ms = stdio->lines.ended ? POLL_MS : gb_mcp_timeout(stdio->mcp);
	bool ok = gb_service_turn(stdio->service, timeout_ms, err);
	if (stdio->lines.ended)
		gb_mcp_end_requests(stdio->mcp);
	gb_mcp_work(stdio->mcp);
	gb_lines_flush(&stdio->lines);
	update_blocked(stdio);
	return ok;
}
