/* Requests of fetch channels: which are made, to which addresses, and their records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "egress/process/channel.h"

struct fetch *fetch_find(struct channel *channel, uint32_t id) {
	gb_list_each(struct fetch, fetch, &channel->fetches, link) {
		if (fetch->id == id)
			return fetch;
	}
	return NULL;
}

/* --- ends --- */

static void release(struct fetch *fetch) {
	if (fetch->resolution)
		fetch->resolution->owner = NULL;
	transfer_stop(fetch);
	gb_buf_finish(&fetch->up);
	gb_buf_finish(&fetch->head);
	if (fetch->search)
		gb_buf_finish(&fetch->search->down);
	free(fetch->search);
	free(fetch->bodies);
	gb_list_remove(&fetch->link);
	fetch->channel->n_fetches--;
	gb_process.n_flows--;
	free(fetch->method);
	free(fetch->target);
	free(fetch);
}

static void record(const struct fetch *fetch, enum gb_egress_verdict verdict, const char *reason) {
	struct gb_egress_record record = {.time_ms = fetch->wall_ms,
	    .duration_ms = now_ms() - fetch->started_ms,
	    .sent = fetch->sent,
	    .received = fetch->received,
	    .verdict = verdict,
	    .port = fetch->port};
	snprintf(record.host, sizeof record.host, "%s", fetch->host.name);
	snprintf(record.rule, sizeof record.rule, "%s", fetch->rule);
	snprintf(record.reason, sizeof record.reason, "%s", reason);
	snprintf(record.method, sizeof record.method, "%s", fetch->method ? fetch->method : "");
	snprintf(record.path, sizeof record.path, "%.*s",
	    fetch->target ? (int)strcspn(fetch->target, "?") : 0, fetch->target ? fetch->target : "");
	record.status = fetch->status > 0 ? (uint16_t)fetch->status : 0;
	control_record(fetch->channel->cell, &record, fetch->bodies);
}

void fetch_finish(struct fetch *fetch, enum gb_egress_verdict verdict, const char *problem) {
	struct channel *channel = fetch->channel;
	record(fetch, verdict, problem ? problem : "");
	if (problem)
		channel_send(channel, GB_FETCH_FAIL, fetch->id, problem, strlen(problem));
	else
		channel_send(channel, GB_FETCH_END, fetch->id, NULL, 0);
	release(fetch);
}

void fetch_cancel(struct fetch *fetch, const char *reason) {
	record(fetch, GB_EGRESS_ALLOWED, reason);
	release(fetch);
}

bool fetch_charge(struct fetch *fetch, size_t sent, size_t received) {
	struct cell *cell = fetch->channel->cell;
	fetch->sent += sent;
	fetch->received += received;
	cell->sent += sent;
	cell->received += received;
	if (cell->sent > cell->limits.sent_bytes)
		fetch->refused = "the run has sent all bytes that it may (network.maxSent)";
	else if (cell->received > cell->limits.received_bytes)
		fetch->refused = "the run has received all bytes that it may (network.maxReceived)";
	return !fetch->refused;
}

/* --- addresses --- */

static void begin_transfer(struct fetch *fetch) {
	if (!transfer_start(fetch))
		fetch_finish(fetch, GB_EGRESS_UNREACHED, fetch->problem);
}

static void on_resolved(struct resolution *resolution) {
	struct fetch *fetch = resolution->owner;
	const char *special = gb_process.proxy_port ? NULL : resolution_special(resolution);
	char reason[100];
	fetch->resolution = NULL;
	if (resolution->problem) {
		fetch_finish(fetch, GB_EGRESS_UNREACHED, resolution->problem);
		return;
	}
	if (special) {
		snprintf(reason, sizeof reason,
		    "its name leads to a special address (%s), which needs a literal rule", special);
		fetch_finish(fetch, GB_EGRESS_DENIED, reason);
		return;
	}
	fetch->n_addresses = resolution->n;
	memcpy(fetch->addresses, resolution->addresses, sizeof fetch->addresses);
	begin_transfer(fetch);
}

static void find_addresses(struct fetch *fetch) {
	const struct gb_host *host = gb_process.proxy_port ? &gb_process.proxy : &fetch->host;
	if (host->kind != GB_HOST_NAME) {
		address_set(&fetch->addresses[0], host, 0);
		fetch->n_addresses = 1;
		begin_transfer(fetch);
		return;
	}
	struct resolution *resolution = calloc(1, sizeof *resolution);
	if (!resolution) {
		fetch_finish(fetch, GB_EGRESS_UNREACHED, "there is no memory");
		return;
	}
	resolution->done = on_resolved;
	resolution->owner = fetch;
	fetch->resolution = resolution;
	resolve(resolution, host->name);
}

/* --- new requests --- */

static char *copy_text(struct gb_str text) {
	return strndup(text.p, text.n);
}

static bool add_header(struct fetch *fetch, struct gb_buf *line) {
	const char *text = gb_buf_c_str(line);
	struct curl_slist *list = text ? curl_slist_append(fetch->headers, text) : NULL;
	fetch->headers = list ? list : fetch->headers;
	return list;
}

static void write_header(
    struct gb_buf *line, const struct gb_fetch_header *header, const struct gb_bound_secret *secret) {
	gb_buf_clear(line);
	gb_buf_append_str(line, header->name);
	/* libcurl's form of a header without a value. */
	gb_buf_append(line, header->value.n ? ": " : ";", header->value.n ? 2 : 1);
	if (!secret) {
		gb_buf_append_str(line, header->value);
		return;
	}
	gb_buf_append_str(line, secret->before);
	gb_buf_append_str(line, secret->value);
	gb_buf_append_str(line, secret->after);
}

static bool copy_headers(struct fetch *fetch, const struct gb_fetch_open *open) {
	gb_auto_buf struct gb_buf line;
	gb_buf_init(&line, GB_FETCH_MESSAGE_MAX);
	for (size_t i = 0; i < open->n_headers; i++) {
		write_header(&line, &open->headers[i], NULL);
		if (!add_header(fetch, &line))
			return false;
	}
	return true;
}

/* --- secrets --- */

static struct gb_rewrite rewrite_of(
    const struct channel *channel, const struct gb_host *host, const struct gb_fetch_open *open) {
	const struct secrets *secrets = &channel->cell->secrets;
	return (struct gb_rewrite){.host = host,
	    .port = open->port,
	    .tls = open->tls,
	    .secrets = secrets->bound,
	    .n_secrets = secrets->n};
}

/* NULL: no placeholder is where it must not be. */
static const char *check_placeholders(
    const struct gb_rewrite *how, const struct gb_fetch_open *open, char refusal[GB_REFUSAL_MAX]) {
	const struct gb_bound_secret *secret;
	if (!gb_rewrite_target(how, open->method, open->target, refusal))
		return refusal;
	for (size_t i = 0; i < open->n_headers; i++)
		if (gb_rewrite_field(how, open->headers[i].name, open->headers[i].value, &secret, refusal) ==
		    GB_FIELD_REFUSED)
			return refusal;
	return NULL;
}

/* A header with a secret: in locked memory, and then in that of libcurl, which erases it. */
static bool fill_header(
    struct fetch *fetch, const struct gb_fetch_header *header, const struct gb_bound_secret *secret) {
	size_t size = 0;
	char *scratch = secrets_scratch(&size);
	if (!scratch)
		return false;
	struct gb_buf line = {.data = scratch, .cap = size, .max = size};
	write_header(&line, header, secret);
	const bool ok = add_header(fetch, &line);
	explicit_bzero(scratch, size);
	return ok;
}

/* The headers as they are sent, after check_placeholders. */
static bool fill_headers(
    struct fetch *fetch, const struct gb_fetch_open *open, const struct gb_rewrite *how) {
	static const struct gb_fetch_header plain = {GB_STR("Accept-Encoding"), GB_STR("identity")};
	char refusal[GB_REFUSAL_MAX];
	gb_auto_buf struct gb_buf line;
	bool ok = true;
	gb_buf_init(&line, GB_FETCH_MESSAGE_MAX);
	for (size_t i = 0; i < open->n_headers && ok; i++) {
		const struct gb_fetch_header *header = &open->headers[i];
		const struct gb_bound_secret *secret = NULL;
		switch (gb_rewrite_field(how, header->name, header->value, &secret, refusal)) {
		case GB_FIELD_KEPT:
			write_header(&line, header, NULL);
			ok = add_header(fetch, &line);
			break;
		case GB_FIELD_FILLED:
			ok = fill_header(fetch, header, secret);
			break;
		case GB_FIELD_LEFT_OUT:
			break;
		case GB_FIELD_REFUSED:
			ok = false;
		}
	}
	if (!ok || !gb_rewrite_is_searched(how))
		return ok;
	write_header(&line, &plain, NULL);
	return add_header(fetch, &line);
}

static bool search_response(struct fetch *fetch, const struct gb_rewrite *how) {
	struct fetch_search *search;
	size_t n = 0;
	if (!gb_rewrite_is_searched(how))
		return true;
	search = fetch->search = calloc(1, sizeof *search);
	if (!search)
		return false;
	for (size_t i = 0; i < how->n_secrets; i++) {
		const struct gb_bound_secret *bound = how->secrets[i];
		if (!gb_secret_is_for(bound, how->host, how->port, how->tls))
			continue;
		memcpy(search->forms + n, bound->forms, bound->n_forms * sizeof *bound->forms);
		n += bound->n_forms;
	}
	search->echo.forms = search->forms;
	search->echo.n_forms = n;
	gb_buf_init(&search->down, GB_FETCH_WINDOW);
	return true;
}

static bool set_headers(struct fetch *fetch, const struct gb_fetch_open *open, const struct gb_rewrite *how) {
	return how->n_secrets ? fill_headers(fetch, open, how) && search_response(fetch, how)
			      : copy_headers(fetch, open);
}

static struct fetch *make_fetch(struct channel *channel, uint32_t id) {
	struct fetch *fetch = calloc(1, sizeof *fetch);
	if (!fetch)
		return NULL;
	fetch->channel = channel;
	fetch->id = id;
	fetch->credit = GB_FETCH_WINDOW;
	fetch->started_ms = fetch->active_ms = now_ms();
	fetch->wall_ms = wall_clock_ms();
	gb_buf_init(&fetch->up, GB_FETCH_WINDOW);
	gb_buf_init(&fetch->head, GB_FETCH_HEAD_MAX);
	if (channel->cell->limits.record_bodies)
		fetch->bodies = calloc(1, sizeof *fetch->bodies);
	gb_list_init(&fetch->link);
	gb_list_append(&channel->fetches, &fetch->link);
	channel->n_fetches++;
	gb_process.n_flows++;
	return fetch;
}

static const char *over_limit(const struct channel *channel) {
	const struct cell *cell = channel->cell;
	if (!cell->running)
		return "the run has ended, or its network was lost";
	if (channel->n_fetches >= GB_FETCH_REQUESTS_MAX)
		return "the code has too many requests at the same time";
	if (cell->n_connections >= cell->limits.max_connections)
		return "the run has made all connections that it may (network.maxConnections)";
	return NULL;
}

/* Everything that the allowlist and the limits say about the request. NULL: it may be made. */
static const char *decide(struct channel *channel, const struct gb_fetch_open *open,
    const struct gb_host *host, const struct gb_host_rule **ret_rule) {
	const struct gb_host_request request = {.host = host,
	    .port = open->port,
	    .tls = open->tls,
	    .method = open->method,
	    .target = open->target};
	const char *problem = over_limit(channel);
	if (problem)
		return problem;
	*ret_rule = gb_host_rules_match(channel->cell->rules, channel->cell->n_rules, &request, &problem);
	return *ret_rule ? NULL : problem;
}

static void refuse(
    struct channel *channel, uint32_t id, const char *host, uint16_t port, const char *reason) {
	control_deny(channel->cell, host, port, reason);
	channel_send(channel, GB_FETCH_FAIL, id, reason, strlen(reason));
}

void fetch_open(struct channel *channel, uint32_t id, const void *bytes, size_t n) {
	static struct gb_fetch_open open;
	const struct gb_host_rule *rule = NULL;
	struct gb_host host = {.name = ""};
	const char *problem;
	char refusal[GB_REFUSAL_MAX];
	struct gb_rewrite how = {0};
	if (gb_fetch_read_open(bytes, n, &open, &problem) && gb_host_parse(open.host, &host, &problem))
		problem = decide(channel, &open, &host, &rule);
	if (!problem) {
		how = rewrite_of(channel, &host, &open);
		problem = how.n_secrets ? check_placeholders(&how, &open, refusal) : NULL;
	}
	struct fetch *fetch = problem ? NULL : make_fetch(channel, id);
	if (!fetch) {
		refuse(channel, id, host.name, open.port, problem ? problem : "there is no memory");
		return;
	}
	channel->cell->n_connections++;
	fetch->host = host;
	fetch->port = open.port;
	fetch->tls = open.tls;
	fetch->body = open.body;
	fetch->length = open.length;
	fetch->method = copy_text(open.method);
	fetch->target = copy_text(open.target);
	gb_host_rule_write(rule, fetch->rule, sizeof fetch->rule);
	if (!fetch->method || !fetch->target || !set_headers(fetch, &open, &how))
		fetch_finish(fetch, GB_EGRESS_UNREACHED, "there is no memory");
	else if (!fetch_charge(fetch, n, 0))
		fetch_finish(fetch, GB_EGRESS_DENIED, fetch->refused);
	else
		find_addresses(fetch);
}
