/* Checks before approval: a request that fails one is refused without asking a person. */
#include <string.h>

#include "base/cleanup.h"
#include "egress/rules.h"
#include "engine/manager.h"
#include "gate/agent_run.h"
#include "glovebox/errors.h"
#include "guard/static.h"
#include "limits/limits.h"

/* --- limits --- */

/* NULL if the language has no such list. */
static const struct gb_config_list *modules_of_settings(const struct gb_agent_run *run) {
	const struct gb_config *config = run->rules->config;
	const struct gb_run_options *options = &run->request.run;
	if (options->language == GB_NODE)
		return &config->node.allowed_modules;
	if (options->language != GB_PYTHON || !options->restricted)
		return NULL;
	return gb_face_rules(run->request.face)->is_action ? &config->actions.allowed_modules
							   : &config->python.allowed_modules;
}

/* NULL if the language has no such list; also on failure, then *ret_ok is false. An empty list allows nothing. */
static const struct gb_value *allowed_modules(struct gb_agent_run *run, bool *ret_ok) {
	const struct gb_config_list *names = modules_of_settings(run);
	*ret_ok = true;
	if (!names)
		return NULL;
	if (run->asked_modules)
		return run->asked_modules;
	struct gb_value *list = gb_value_array(run->values);
	*ret_ok = list;
	for (size_t i = 0; *ret_ok && i < names->n; i++)
		*ret_ok = gb_value_push(
		    list, gb_value_string(run->values, names->items[i], strlen(names->items[i])));
	return *ret_ok ? list : NULL;
}

static bool add_text(struct gb_agent_run *run, struct gb_value *list, const char *text, size_t n) {
	return gb_value_push(list, gb_value_string(run->values, text, n));
}

/* The hosts that the request names, separated by commas. */
static bool add_requested(struct gb_agent_run *run, struct gb_value *list) {
	struct gb_str rest = gb_str_from(run->request.hosts), host;
	while (rest.n) {
		gb_str_cut(&rest, ',', &host);
		if (!add_text(run, list, host.p, host.n))
			return false;
	}
	return true;
}

/* The hosts of a session that the settings still allow. */
static bool add_allowed(struct gb_agent_run *run, struct gb_value *list, const struct gb_value *session) {
	const struct gb_config_list *allowlist = &run->rules->config->network.allowlist;
	struct gb_host_rule rules[GB_HOST_RULES_MAX], rule;
	const char *problem;
	size_t n = 0;
	for (size_t i = 0; i < allowlist->n && n < GB_HOST_RULES_MAX; i++)
		n += gb_host_rule_parse(gb_str_from(allowlist->items[i]), &rules[n], &problem);
	for (size_t i = 0; i < gb_value_count(session); i++) {
		const char *host = gb_value_bytes(gb_value_at(session, i), NULL);
		if (gb_host_rule_parse(gb_str_from(host), &rule, &problem) &&
		    gb_host_rules_cover(rules, n, &rule) && !add_text(run, list, host, strlen(host)))
			return false;
	}
	return true;
}

/* The hosts of the session that the request names. NULL: it has none, or the request will be refused. */
static const struct gb_value *session_hosts(const struct gb_agent_run *run) {
	const struct gb_gate_request *request = &run->request;
	struct gb_manager *sessions = run->gate->sessions;
	struct gb_session_info info;
	struct gb_err err;
	return request->session && request->conversation &&
		       gb_manager_get(sessions, request->session, &info, &err) &&
		       strcmp(info.conversation, request->conversation) == 0
		   ? gb_manager_hosts(sessions, request->session)
		   : NULL;
}

/* In the network tier: the hosts of the request; without any, those that its session was opened with; without a
 * session, those of the settings. */
static const struct gb_value *hosts(struct gb_agent_run *run, bool *ret_ok) {
	const struct gb_config_list *allowlist = &run->rules->config->network.allowlist;
	*ret_ok = true;
	if (run->request.tier != GB_TIER_NETWORK || gb_agent_run_only_reads(run))
		return NULL;
	struct gb_value *list = gb_value_array(run->values);
	const struct gb_value *session = session_hosts(run);
	*ret_ok = list;
	if (list && run->request.hosts)
		*ret_ok = add_requested(run, list);
	else if (list && session)
		*ret_ok = add_allowed(run, list, session);
	else
		for (size_t i = 0; *ret_ok && i < allowlist->n; i++)
			*ret_ok = add_text(run, list, allowlist->items[i], strlen(allowlist->items[i]));
	return *ret_ok ? list : NULL;
}

static void lower(uint64_t *limit, uint64_t max) {
	if (*limit > max)
		*limit = max;
}

bool gb_agent_run_limit(struct gb_agent_run *run) {
	const struct gb_config *config = run->rules->config;
	struct gb_run_options *options = &run->request.run;
	enum gb_config_runtime runtime = gb_config_runtime_of(options->language);
	const uint64_t *asked = run->asked_for;
	options->timeout_ms = asked[0] ? asked[0] : gb_config_agent_timeout(config, runtime);
	options->memory_bytes = asked[1];
	options->output_bytes = asked[2] ? asked[2] : gb_config_agent_output(config, runtime);
	options->result_bytes = asked[3];
	gb_limits_apply(config, 0, options);
	lower(&options->timeout_ms, config->agent.max_execution_ms);
	bool counts_output = gb_face_rules(run->request.face)->counts_output;
	lower(&options->output_bytes, config->agent.max_output_bytes * (counts_output ? GB_FACE_FRAMES : 1));
	const struct gb_run_options wanted = {.timeout_ms = asked[0],
	    .memory_bytes = asked[1],
	    .output_bytes = asked[2],
	    .result_bytes = asked[3]};
	gb_face_limit(run->request.face, config, run->request.tier, &wanted, options);
	options->restricted = run->asked_restricted ||
			      (options->language == GB_PYTHON && config->python.restricted) ||
			      (options->language == GB_SHELL && config->shell.restricted);
	bool ok, has_hosts;
	options->allowed_modules = allowed_modules(run, &ok);
	options->net = hosts(run, &has_hosts);
	return ok && has_hosts;
}

/* --- the code --- */

static bool check_size(struct gb_agent_run *run) {
	const struct gb_run_options *options = &run->request.run;
	size_t n = options->source_bytes;
	uint64_t max = run->rules->config->agent.max_code_bytes;
	if (memchr(options->source, 0, n)) {
		gb_agent_run_refuse(run, GB_CODE_CODE_SIZE,
		    "the code contains a zero byte, which is invisible to a reviewer");
		return false;
	}
	if (n <= max)
		return true;
	gb_agent_run_refuse(run, GB_CODE_CODE_SIZE,
	    "the code has %zu bytes; the maximum is %llu (agent.maxCodeSize)", n, (unsigned long long)max);
	return false;
}

static bool check_guard(struct gb_agent_run *run) {
	const struct gb_config *config = run->rules->config;
	const struct gb_run_options *options = &run->request.run;
	static const enum gb_guard_language languages[GB_LANGUAGES] = {
	    [GB_SHELL] = GB_GUARD_SHELL, [GB_NODE] = GB_GUARD_NODE, [GB_DENO] = GB_GUARD_NODE};
	enum gb_guard_language language = languages[options->language];
	struct gb_guard_finding finding;
	if (!config->guard.enabled || !gb_face_rules(run->request.face)->guard ||
	    options->language == GB_PYTHON || run->request.is_input)
		return true;
	const struct gb_config_list *more =
	    language == GB_GUARD_SHELL ? &config->guard.shell : &config->guard.javascript;
	if (gb_guard_check_more(
		language, options->source, options->source_bytes, more->items, more->n, &finding))
		return true;
	gb_agent_run_refuse(run, GB_CODE_GUARD, "line %u, column %u: '%s' is not allowed: %s. %s",
	    finding.line, finding.column, finding.pattern,
	    finding.reason ? finding.reason : "forbidden by the settings guard.javascript and guard.shell",
	    finding.suggestion ? finding.suggestion : "");
	const char *pattern = gb_agent_run_text(run, finding.pattern);
	run->result.error.specifier = pattern ? pattern : "";
	return false;
}

/* --- how many --- */

static bool same_text(const char *a, const char *b) {
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Of the other requests that wait or run, how many arrived by the same transport, and how many belong to the
 * same conversation? */
static void count_others(
    const struct gb_agent_run *run, unsigned *ret_all, unsigned *ret_transport, unsigned *ret_conversation) {
	const struct gb_gate *gate = run->gate;
	*ret_all = *ret_transport = *ret_conversation = 0;
	for (const struct gb_list *link = gate->runs.next; link != &gate->runs; link = link->next) {
		const struct gb_agent_run *other = gb_container(struct gb_agent_run, link, link);
		if (other == run || other->request.is_input ||
		    (other->state != GB_AGENT_RUN_ADMITTING && other->state != GB_AGENT_RUN_WAITING &&
			other->state != GB_AGENT_RUN_RUNNING))
			continue;
		++*ret_all;
		*ret_transport += same_text(other->request.transport, run->request.transport);
		*ret_conversation += run->request.conversation &&
				     same_text(other->request.conversation, run->request.conversation);
	}
}

static bool check_number(struct gb_agent_run *run) {
	const struct gb_config *config = run->rules->config;
	unsigned all, transport, conversation;
	/* Only the run that it answers is counted. */
	if (run->request.is_input)
		return true;
	count_others(run, &all, &transport, &conversation);
	const struct {
		const char *scope, *setting;
		unsigned n, max;
	} counts[] = {
	    {"agents", "agent.maxConcurrentRuns", all, config->agent.max_runs},
	    {"this transport", "agent.maxConcurrentRunsPerTransport", transport,
		config->agent.max_runs_of_transport},
	    {"this conversation", "agent.maxConcurrentRunsPerConversation", conversation,
		config->agent.max_runs_of_conversation},
	};
	for (size_t i = 0; i < GB_COUNT(counts); i++) {
		if (counts[i].n < counts[i].max)
			continue;
		gb_agent_run_refuse(run, GB_CODE_TOO_MANY,
		    "%u executions of %s are waiting or running, which is the limit (%s); try again when one "
		    "has ended",
		    counts[i].n, counts[i].scope, counts[i].setting);
		return false;
	}
	return true;
}

static struct gb_turn turn_of(const struct gb_gate_request *request) {
	return (struct gb_turn){
	    gb_face_name(request->face), request->conversation ? request->conversation : "", request->turn};
}

static void on_counted(struct gb_store_op *op) {
	struct gb_agent_run *run = gb_agent_run_op_done(op);
	const char *setting;
	if (!run)
		return;
	run->counted = op->ok && op->granted;
	if (gb_agent_run_interrupted(run))
		return;
	gb_face_calls_per_turn(run->request.face, run->rules->config, &setting);
	if (!op->ok)
		gb_agent_run_refuse(run, GB_CODE_CALLS_PER_TURN, "%s", op->err.message);
	else if (!op->granted)
		gb_agent_run_refuse(run, GB_CODE_CALLS_PER_TURN,
		    "code was run %u times in this turn, which is the limit (%s)", op->max_calls, setting);
	else
		gb_agent_run_proceed(run);
}

void gb_agent_run_count(struct gb_agent_run *run) {
	const struct gb_gate_request *request = &run->request;
	const char *setting;
	if (!request->turn || run->counted) {
		gb_agent_run_proceed(run);
		return;
	}
	const struct gb_turn turn = turn_of(request);
	struct gb_store_op *op = gb_store_op_create(GB_STORE_TAKE_CALL);
	if (op)
		op->max_calls = gb_face_calls_per_turn(request->face, run->rules->config, &setting);
	gb_agent_run_step(run, op, op && gb_store_op_set_turn(op, &turn), on_counted);
}

void gb_agent_run_uncount(struct gb_agent_run *run) {
	const struct gb_turn turn = turn_of(&run->request);
	if (!run->counted)
		return;
	run->counted = false;
	/* If it fails, the call stays counted. */
	struct gb_store_op *op = gb_store_op_create(GB_STORE_GIVE_BACK_CALL);
	gb_gate_submit_op(run->gate, op, op && gb_store_op_set_turn(op, &turn));
}

/* A request names no host that the settings do not admit. Without hosts, a run would have those of its session. */
static bool check_hosts(struct gb_agent_run *run) {
	const struct gb_value *net = run->request.run.net;
	struct gb_err err = {0};
	if (!net)
		return true;
	if (gb_value_count(net)) {
		if (!run->request.hosts || gb_limits_check_net(run->rules->config, net, &err))
			return true;
		gb_agent_run_refuse(run, GB_CODE_REFUSED, "%s", err.message);
	} else if (run->rules->config->network.allowlist.n)
		gb_agent_run_refuse(run, GB_CODE_REFUSED,
		    "the setting network.allowlist no longer has any host of this session; open another "
		    "session");
	else
		gb_agent_run_refuse(run, GB_CODE_REFUSED,
		    "the network tier has no hosts; the owner can allow some with the setting "
		    "network.allowlist");
	return false;
}

static bool check_workdir(struct gb_agent_run *run) {
	struct gb_err err = {0};
	if (gb_limits_check_workdir(run->rules->config, run->request.run.workdir, &err))
		return true;
	gb_agent_run_refuse(run, GB_CODE_REFUSED, "%s", err.message);
	return false;
}

bool gb_agent_run_admit(struct gb_agent_run *run) {
	const struct gb_config *config = run->rules->config;
	enum gb_language language = run->request.run.language;
	if (run->request.face == GB_FACE_ACTIONS && !config->actions.enabled) {
		gb_agent_run_refuse(run, GB_CODE_DISABLED,
		    "code.execute and code.sandbox are disabled here; see the setting actions.enabled");
		return false;
	}
	if (!config->agent.enabled && !(run->request.embedder_enables && run->gate->sessions)) {
		gb_agent_run_refuse(run, GB_CODE_DISABLED,
		    "agents may not run code here; the owner can allow it with the setting agent.enabled");
		return false;
	}
	if (!(config->agent.allowed_runtimes & 1u << gb_config_runtime_of(language))) {
		gb_agent_run_refuse(run, GB_CODE_RUNTIME_DISABLED,
		    "agents may not run %s here; see the setting agent.allowedRuntimes",
		    gb_config_runtime_name(gb_config_runtime_of(language)));
		return false;
	}
	return check_hosts(run) && check_workdir(run) && check_size(run) && check_guard(run) &&
	       check_number(run);
}
