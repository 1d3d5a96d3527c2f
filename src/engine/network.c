/* The network tier: the policy of a run in the network of its cell, and the records of what it has reached. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "egress/authorities.h"
#include "egress/client.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "engine/workers.h"
#include "glovebox/errors.h"
#include "value/wtf8.h"

enum {
	RECORDS_MAX = 1200,
	DENIALS_MAX = 32,      /* in a result */
	BODIES_MAX = 32 << 10, /* bytes of all bodies of a run that are recorded */
	/* A process that hangs is killed sooner or later, see egress/client.c; a run does not wait for that. */
	RECORDS_WAIT_MS = 5000,
};

/* The network of a cell. It outlives the cell while the records of its last run are still to come. */
struct gb_network {
	struct gb_egress_link link;
	struct gb_run *run;
	bool cell_gone;
};

struct gb_reach {
	struct gb_alarm alarm;
	struct gb_run *run;
	struct gb_network *network; /* while the policy is in effect, or being applied */
	enum reach_state { REACH_NONE, REACH_BEGINNING, REACH_ON, REACH_ENDING, REACH_DONE } state;
	char **rules;
	size_t n_rules;
	struct gb_edge_use *secrets; /* or NULL */
	struct gb_egress_limits limits;
	struct reach_record {
		struct gb_egress_record base;
		struct gb_egress_bodies *bodies; /* or NULL */
	} * records;
	size_t n_records, cap_records;
	struct gb_egress_bodies *next_bodies; /* of the record that comes next, or NULL */
	size_t body_bytes;
	uint64_t n_dropped;
};

/* --- options --- */

static bool check_rule(const struct gb_engine *engine, const char *text, struct gb_err *err) {
	struct gb_host_rule rule;
	const char *problem;
	if (!gb_host_rule_parse(gb_str_from(text), &rule, &problem))
		return gb_fail_field(err, GB_EINVAL, "net", "'%s': %s", text, problem);
	if (rule.host.kind == GB_HOST_NAME || gb_host_is_loopback(&rule.host))
		return true;
	for (size_t i = 0; i < engine->n_addresses; i++)
		if (strcmp(engine->addresses[i].name, rule.host.name) == 0)
			return true;
	return gb_fail_field(
	    err, GB_EINVAL, "net", "'%s': the engine was created without this address", text);
}

static bool copy_rules(
    struct gb_reach *reach, const struct gb_engine *engine, const struct gb_value *net, struct gb_err *err) {
	const size_t n = gb_value_count(net);
	if (gb_value_type(net) != GB_ARRAY)
		return gb_fail_field(err, GB_EINVAL, "net", "must be an array of texts");
	if (n > GB_HOST_RULES_MAX)
		return gb_fail_field(
		    err, GB_ELIMIT, "net", "%zu hosts are more than %d", n, GB_HOST_RULES_MAX);
	reach->rules = calloc(n + 1, sizeof *reach->rules);
	for (size_t i = 0; reach->rules && i < n; i++) {
		size_t length = 0;
		const char *text = gb_value_bytes(gb_value_at(net, i), &length);
		if (gb_value_type(gb_value_at(net, i)) != GB_STRING || memchr(text, '\0', length))
			return gb_fail_field(err, GB_EINVAL, "net", "must be an array of texts");
		char *copy = strndup(text, length);
		if (!copy)
			break;
		reach->rules[reach->n_rules++] = copy;
		if (!check_rule(engine, copy, err))
			return false;
	}
	return reach->n_rules == n || gb_fail(err, GB_ENOMEM, 0, "the hosts of a run");
}

/* A run can only narrow what its session can reach. */
static bool is_within(const struct gb_reach *reach, const struct gb_session *session, struct gb_err *err) {
	struct gb_host_rule outer[GB_HOST_RULES_MAX], inner;
	const char *problem;
	size_t n = 0;
	for (size_t i = 0; session && i < gb_value_count(session->net) && n < GB_HOST_RULES_MAX; i++)
		n += gb_host_rule_parse(
		    gb_str_from(gb_value_bytes(gb_value_at(session->net, i), NULL)), &outer[n], &problem);
	for (size_t i = 0; session && i < reach->n_rules; i++)
		if (!gb_host_rule_parse(gb_str_from(reach->rules[i]), &inner, &problem) ||
		    !gb_host_rules_cover(outer, n, &inner))
			return gb_fail_field(err, GB_EINVAL, "net",
			    "'%s' is not among the hosts of the session", reach->rules[i]);
	return true;
}

static void on_engine_end(struct gb_alarm *alarm) {
	gb_list_init(&alarm->link);
}

static void on_alarm(struct gb_alarm *alarm);

static bool is_lost(const struct gb_session *session) {
	const struct gb_network *network = session->cell ? gb_cell_network(session->cell) : NULL;
	return network && network->link.lost;
}

static bool has_hosts(const struct gb_value *net) {
	return net && gb_value_count(net) > 0;
}

bool gb_reach_create(struct gb_engine *engine, const struct gb_run_options *options, struct gb_reach **ret,
    struct gb_err *err) {
	struct gb_session *session = options->session;
	const struct gb_value *net = has_hosts(options->net) ? options->net : session ? session->net : NULL;
	*ret = NULL;
	/* A session whose network was lost goes on without. */
	if (!has_hosts(net) || (session && !has_hosts(options->net) && is_lost(session)))
		return true;
	if (!gb_language_has(options->language, GB_NEED_NET))
		return gb_fail_field(
		    err, GB_EINVAL, "net", "is not for %s", gb_language_name(options->language));
	if (session && !session->net)
		return gb_fail_field(err, GB_EINVAL, "net", "the session was created without a network");
	struct gb_reach *reach = calloc(1, sizeof *reach);
	if (!reach)
		return gb_fail(err, GB_ENOMEM, 0, "the network of a run");
	gb_list_init(&reach->alarm.link);
	reach->alarm.on_alarm = on_alarm;
	reach->alarm.on_engine_end = on_engine_end;
	reach->limits = (struct gb_egress_limits){.sent_bytes = gb_limit_sent_bytes(options),
	    .received_bytes = gb_limit_received_bytes(options),
	    .max_connections = gb_limit_max_connections(options),
	    .connect_ms = gb_limit_connect_ms(options),
	    .idle_ms = gb_limit_idle_ms(options),
	    .record_bodies = options->record_bodies};
	struct gb_edge_nonce nonce = {0};
	/* A run that narrows the hosts of its session keeps the placeholders of the session. */
	if (copy_rules(reach, engine, net, err) && is_within(reach, session, err) &&
	    gb_edge_choose(engine, session ? session->net : net, session ? &session->nonce : &nonce,
		&reach->secrets, err)) {
		*ret = reach;
		return true;
	}
	gb_reach_destroy(reach);
	return false;
}

static void free_network(struct gb_network *network) {
	gb_egress_close(&network->link);
	free(network);
}

/* The run no longer needs the network of its cell. */
static void let_go(struct gb_reach *reach) {
	struct gb_network *network = reach->network;
	reach->network = NULL;
	if (!network)
		return;
	network->run = NULL;
	if (network->cell_gone)
		free_network(network);
}

void gb_reach_destroy(struct gb_reach *reach) {
	if (!reach)
		return;
	let_go(reach);
	gb_list_remove(&reach->alarm.link);
	for (size_t i = 0; i < reach->n_rules; i++)
		free(reach->rules[i]);
	free(reach->rules);
	gb_edge_release(reach->secrets);
	for (size_t i = 0; i < reach->n_records; i++)
		free(reach->records[i].bodies);
	free(reach->next_bodies);
	free(reach->records);
	free(reach);
}

/* --- the result --- */

static void set_text(struct gb_values *pool, struct gb_value *object, const char *name, const char *text) {
	gb_value_put_key(object, name, gb_value_string(pool, text, strlen(text)));
}

static void set_number(struct gb_values *pool, struct gb_value *object, const char *name, uint64_t number) {
	gb_value_put_key(object, name, gb_value_number(pool, (double)number));
}

/* The setting that would allow it. */
static void write_remedy(const struct gb_egress_record *record, char *to, size_t n) {
	const char *setting = strstr(record->reason, "(network.");
	char port[8] = "";
	if (record->port && record->port != 80 && record->port != 443)
		snprintf(port, sizeof port, ":%u", record->port);
	if (record->method[0] && strncmp(record->reason, "no rule", 7) == 0)
		snprintf(to, n,
		    "add \"%s %s%s%.100s\" to the setting network.allowlist, and to the hosts of the run or "
		    "session (net, --net)",
		    record->method, record->host, port, record->path);
	else if (strncmp(record->reason, "no rule", 7) == 0)
		snprintf(to, n,
		    "add \"%s%s\" to the setting network.allowlist, and to the hosts of the run or session "
		    "(net, --net)",
		    record->host, port);
	else if (strstr(record->reason, "does not accept the certificate"))
		snprintf(to, n,
		    "have the client trust " GB_AUTHORITIES ", or use a rule without methods and path");
	else if (strstr(record->reason, "placeholder"))
		snprintf(
		    to, n, "use the placeholder in the header and for the host that the secret is bound to");
	else if (setting)
		snprintf(to, n, "raise the setting %.*s", (int)strcspn(setting + 1, ")"), setting + 1);
	else if (strstr(record->reason, "literal rule"))
		snprintf(to, n,
		    "add the address itself, as \"address:%u\", to the setting network.allowlist, and "
		    "connect to it",
		    record->port);
	else
		snprintf(
		    to, n, "connect to a host by the name that the setting network.allowlist has for it");
}

static struct gb_value *make_denial(struct gb_values *pool, const struct gb_egress_record *record) {
	struct gb_value *denial = gb_value_object(pool);
	char remedy[GB_HOST_NAME_MAX + 320];
	write_remedy(record, remedy, sizeof remedy);
	set_text(pool, denial, "kind", "network");
	set_text(pool, denial, "host", record->host);
	if (record->port)
		set_number(pool, denial, "port", record->port);
	set_text(pool, denial, "rule", "network.allowlist");
	set_text(pool, denial, "reason", record->reason);
	set_text(pool, denial, "remedy", remedy);
	return denial;
}

static bool is_same(const struct gb_egress_record *a, const struct gb_egress_record *b) {
	return a->verdict == b->verdict && a->port == b->port && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->reason, b->reason) == 0;
}

/* Programs repeat what has failed: each denial is listed once. */
static bool was_listed(const struct gb_reach *reach, size_t i) {
	for (size_t k = 0; k < i; k++)
		if (is_same(&reach->records[k].base, &reach->records[i].base))
			return true;
	return false;
}

static const struct gb_value *list_denials(const struct gb_reach *reach, struct gb_values *pool) {
	struct gb_value *list = gb_value_array(pool);
	for (size_t i = 0; i < reach->n_records && gb_value_count(list) < DENIALS_MAX; i++)
		if (reach->records[i].base.verdict == GB_EGRESS_DENIED && !was_listed(reach, i))
			gb_value_push(list, make_denial(pool, &reach->records[i].base));
	return gb_value_count(list) ? list : NULL;
}

/* As text: bytes that are none are replaced. */
static void set_body(
    struct gb_values *pool, struct gb_value *object, const char *name, const char *bytes, size_t n) {
	gb_auto_buf struct gb_buf text;
	if (!n)
		return;
	gb_buf_init(&text, 3 * n);
	gb_wtf8_mend(&text, bytes, n);
	if (!gb_buf_failed(&text))
		gb_value_put_key(object, name, gb_value_string(pool, text.data, text.len));
}

static struct gb_value *make_connection(struct gb_values *pool, const struct reach_record *made) {
	const struct gb_egress_record *record = &made->base;
	struct gb_value *one = gb_value_object(pool);
	set_number(pool, one, "time", record->time_ms);
	set_text(pool, one, "host", record->host);
	if (record->port)
		set_number(pool, one, "port", record->port);
	if (record->method[0]) {
		set_text(pool, one, "method", record->method);
		set_text(pool, one, "path", record->path);
	}
	if (record->status)
		set_number(pool, one, "status", record->status);
	set_text(pool, one, "verdict", gb_egress_verdict_name((enum gb_egress_verdict)record->verdict));
	if (record->rule[0])
		set_text(pool, one, "rule", record->rule);
	if (record->reason[0])
		set_text(pool, one, "reason", record->reason);
	if (record->verdict != GB_EGRESS_DENIED || record->sent || record->received) {
		set_number(pool, one, "sent", record->sent);
		set_number(pool, one, "received", record->received);
		set_number(pool, one, "durationMs", record->duration_ms);
	}
	if (made->bodies) {
		set_body(pool, one, "requestBody", made->bodies->sent, made->bodies->n_sent);
		set_body(pool, one, "responseBody", made->bodies->received, made->bodies->n_received);
	}
	return one;
}

/* As part of the result: they are recorded with it. */
static void write_result(struct gb_run *run) {
	const struct gb_reach *reach = run->reach;
	struct gb_values *pool = run->values;
	struct gb_value *list = gb_value_array(pool), *all = gb_value_object(pool);
	if (!list || !all || (!reach->n_records && !reach->n_dropped))
		return;
	for (size_t i = 0; i < reach->n_records; i++)
		gb_value_push(list, make_connection(pool, &reach->records[i]));
	gb_value_put_key(all, "list", list);
	set_number(pool, all, "dropped", reach->n_dropped);
	run->result.connections = all;
	run->result.denials = list_denials(reach, pool);
}

/* --- events --- */

static void add_record(struct gb_reach *reach, const struct gb_egress_record *record) {
	if (reach->n_records == reach->cap_records) {
		const size_t cap = reach->cap_records ? reach->cap_records * 2 : 8;
		struct reach_record *records =
		    reach->n_records < RECORDS_MAX ? realloc(reach->records, cap * sizeof *records) : NULL;
		if (!records) {
			reach->n_dropped++;
			return;
		}
		reach->records = records;
		reach->cap_records = cap;
	}
	reach->records[reach->n_records++] =
	    (struct reach_record){.base = *record, .bodies = reach->next_bodies};
	reach->next_bodies = NULL;
}

static struct gb_run *run_of(struct gb_egress_link *link) {
	return gb_container(struct gb_network, link, link)->run;
}

static void on_begun(struct gb_egress_link *link, const char *problem) {
	struct gb_run *run = run_of(link);
	if (!run || run->reach->state != REACH_BEGINNING)
		return;
	if (*problem) {
		gb_run_fail(run, GB_DENIED, "Denied", GB_CODE_REFUSED, problem);
		return;
	}
	run->reach->state = REACH_ON;
	gb_run_send(run);
}

static void on_record(struct gb_egress_link *link, const struct gb_egress_record *record) {
	struct gb_run *run = run_of(link);
	if (run)
		add_record(run->reach, record);
}

static void on_bodies(struct gb_egress_link *link, const struct gb_egress_bodies *bodies) {
	struct gb_run *run = run_of(link);
	struct gb_reach *reach = run ? run->reach : NULL;
	const size_t n = (size_t)bodies->n_sent + bodies->n_received;
	if (!reach || reach->next_bodies || reach->body_bytes + n > BODIES_MAX)
		return;
	reach->next_bodies = malloc(sizeof *reach->next_bodies);
	if (!reach->next_bodies)
		return;
	*reach->next_bodies = *bodies;
	reach->body_bytes += n;
}

static void finish(struct gb_run *run) {
	struct gb_reach *reach = run->reach;
	reach->state = REACH_DONE;
	gb_list_remove(&reach->alarm.link);
	let_go(reach);
	write_result(run);
	gb_run_settle(run);
}

static void on_done(struct gb_egress_link *link, uint64_t dropped) {
	struct gb_run *run = run_of(link);
	if (!run || run->reach->state != REACH_ENDING)
		return;
	run->reach->n_dropped += dropped;
	finish(run);
}

static void on_alarm(struct gb_alarm *alarm) {
	struct gb_reach *reach = gb_container(struct gb_reach, alarm, alarm);
	/* It has not answered: what is missing is at least counted. */
	reach->n_dropped++;
	finish(reach->run);
}

/* glovebox-egress has ended. Code sees its connections end with errors; its job, if it waits, is not run. */
static void on_lost(struct gb_egress_link *link) {
	static const struct gb_egress_record lost = {.verdict = GB_EGRESS_UNREACHED,
	    .reason = "glovebox-egress has ended: all connections were reset, and the sandbox has no network "
		      "any more"};
	struct gb_run *run = run_of(link);
	if (!run)
		return;
	struct gb_reach *reach = run->reach;
	const enum reach_state was = reach->state;
	char reason[200];
	struct gb_egress_record record = lost;
	reach->n_dropped += was == REACH_ENDING;
	add_record(reach, &record);
	if (was == REACH_ENDING) {
		finish(run);
		return;
	}
	reach->state = REACH_DONE;
	let_go(reach);
	const char *problem = gb_egress_problem(run->engine->egress);
	if (was == REACH_BEGINNING && *problem) {
		snprintf(reason, sizeof reason, "glovebox-egress does not start: %s", problem);
		gb_run_fail(run, GB_DENIED, "Denied", GB_CODE_REFUSED, reason);
	} else if (was == REACH_BEGINNING)
		gb_run_fail(run, GB_FAILURE, "SandboxError", GB_CODE_SANDBOX_LOST,
		    "glovebox-egress has ended before the run began");
}

/* --- runs --- */

bool gb_reach_begin(struct gb_run *run, struct gb_err *err) {
	struct gb_reach *reach = run->reach;
	struct gb_network *network = gb_cell_network(run->cell);
	struct gb_secret_texts secrets[GB_EGRESS_SECRETS_MAX];
	const struct gb_egress_policy policy = {.rules = (const char *const *)reach->rules,
	    .n_rules = reach->n_rules,
	    .secrets = secrets,
	    .n_secrets = gb_edge_texts(reach->secrets, secrets),
	    .limits = reach->limits};
	let_go(reach);
	if (!network)
		return gb_fail(err, GB_EINVAL, 0, "the sandbox has no network");
	if (!gb_egress_begin(&network->link, &policy, err))
		return false;
	network->run = run;
	reach->run = run;
	reach->network = network;
	reach->state = REACH_BEGINNING;
	return true;
}

const struct gb_edge_use *gb_reach_secrets(const struct gb_reach *reach) {
	return reach ? reach->secrets : NULL;
}

bool gb_reach_is_beginning(const struct gb_run *run) {
	return run->reach && run->reach->state == REACH_BEGINNING;
}

bool gb_reach_is_ending(const struct gb_run *run) {
	return run->reach && run->reach->state == REACH_ENDING;
}

bool gb_reach_end(struct gb_run *run) {
	struct gb_reach *reach = run->reach;
	if (!reach)
		return false;
	if (!reach->network) {
		write_result(run);
		return false;
	}
	reach->state = REACH_ENDING;
	gb_egress_end(&reach->network->link);
	gb_list_remove(&reach->alarm.link);
	gb_list_append(&run->engine->alarms, &reach->alarm.link);
	gb_alarm_set(run->engine, &reach->alarm, gb_now_ns() + RECORDS_WAIT_MS * 1000000ull);
	return true;
}

/* --- networks of cells --- */

static int open_network(struct gb_engine *engine, bool fetches, void **ret_network, struct gb_err *err) {
	struct gb_network *network = calloc(1, sizeof *network);
	if (!network) {
		gb_fail(err, GB_ENOMEM, 0, "the network of a sandbox");
		return -1;
	}
	network->link = (struct gb_egress_link){.on_begun = on_begun,
	    .on_record = on_record,
	    .on_bodies = on_bodies,
	    .on_done = on_done,
	    .on_lost = on_lost};
	const int fd = gb_egress_open(engine->egress, &network->link, fetches, err);
	if (fd < 0)
		free(network);
	else
		*ret_network = network;
	return fd;
}

int gb_network_open(void *data, void **ret_network, struct gb_err *err) {
	return open_network(data, false, ret_network, err);
}

int gb_network_open_channel(void *data, void **ret_network, struct gb_err *err) {
	return open_network(data, true, ret_network, err);
}

void gb_network_close(void *data) {
	struct gb_network *network = data;
	struct gb_run *run = network->run;
	network->cell_gone = true;
	/* The records of the run are on their way. */
	if (run && run->reach->state == REACH_ENDING)
		return;
	if (run)
		run->reach->network = NULL;
	free_network(network);
}

bool gb_network_connect(struct gb_cell *cell, uint16_t port, int fd, struct gb_err *err) {
	struct gb_network *network = gb_cell_network(cell);
	return network ? gb_egress_connect(&network->link, port, fd, err)
		       : gb_fail(err, GB_EINVAL, 0, "the session has no network: create it with --net");
}

/* The sockets of cells that wait for runs died with the process. */
static void on_egress_lost(void *data) {
	struct gb_engine *engine = data;
	for (size_t i = GB_RUNTIME_NETWORK; i < GB_RUNTIMES; i++)
		if (engine->pools[i])
			gb_pool_discard(engine->pools[i]);
}

bool gb_network_init(struct gb_engine *engine, struct gb_err *err) {
	char program[PATH_MAX];
	if (engine->egress)
		return true;
	if (!gb_worker_find(engine->worker_dir, "glovebox-egress", program, sizeof program, err))
		return false;
	const struct gb_egress_options options = {.loop = &engine->loop,
	    .program = program,
	    .proxy = engine->proxy,
	    .authorities = engine->authorities,
	    .on_lost = on_egress_lost,
	    .data = engine};
	return gb_egress_create(&options, &engine->egress, err);
}

static bool check_proxy(const char *proxy, struct gb_err *err) {
	struct gb_host_rule rule;
	const char *problem = "it is an address of one host, without '*'";
	if (!proxy || !*proxy)
		return true;
	return (gb_host_rule_parse(gb_str_from(proxy), &rule, &problem) && gb_host_rule_is_one(&rule)) ||
	       gb_fail_field(err, GB_EINVAL, "proxy", "'%s': %s; write it as host:port", proxy, problem);
}

bool gb_network_set_addresses(
    struct gb_engine *engine, const struct gb_engine_options *options, struct gb_err *err) {
	if (!check_proxy(options->proxy, err))
		return false;
	for (size_t i = 0; i < options->n_addresses; i++) {
		struct gb_host host;
		const char *problem;
		if (!gb_host_parse(gb_str_from(options->addresses[i]), &host, &problem))
			return gb_fail_field(
			    err, GB_EINVAL, "addresses", "'%s': %s", options->addresses[i], problem);
		if (host.kind == GB_HOST_NAME || gb_host_is_loopback(&host))
			continue;
		if (engine->n_addresses == GB_HOST_ADDRESSES_MAX)
			return gb_fail_field(
			    err, GB_ELIMIT, "addresses", "more than %d", GB_HOST_ADDRESSES_MAX);
		engine->addresses[engine->n_addresses++] = host;
	}
	return true;
}
