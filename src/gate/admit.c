/* What is refused before anybody is asked. */
#include <string.h>

#include "base/cleanup.h"
#include "gate/agent_run.h"
#include "guard/static.h"
#include "limits/limits.h"

/* --- limits --- */

enum { CORE_TIMEOUT_MIN_MS = 100 };

/* NULL if there is nothing to say, and on failure, which @ret_ok tells. */
static const struct gb_value *allowed_modules(struct gb_pass *pass, bool *ret_ok) {
	const struct gb_config *config = pass->rules->config;
	const struct gb_run_options *run = &pass->request.run;
	const struct gb_config_list *names = run->language == GB_NODE ? &config->node.allowed_modules
					     : run->language == GB_PYTHON && run->restricted
						 ? &config->python.allowed_modules
						 : NULL;
	*ret_ok = true;
	if (!names || !names->n)
		return NULL;
	struct gb_value *list = gb_value_array(pass->values);
	for (size_t i = 0; i < names->n && *ret_ok; i++)
		*ret_ok = list && gb_value_push(list, gb_value_string(pass->values, names->items[i],
							  strlen(names->items[i])));
	return *ret_ok ? list : NULL;
}

static void lower(uint64_t *limit, uint64_t max) {
	if (*limit > max)
		*limit = max;
}

/* A face may have less than others. Its requests that do not say have what it has usually. */
static void limit_by_face(struct gb_pass *pass) {
	const struct gb_config *config = pass->rules->config;
	struct gb_run_options *run = &pass->request.run;
	const uint64_t *asked = pass->asked_for;
	const char *face = pass->request.face ? pass->request.face : "";
	if (strcmp(face, "core") == 0) {
		bool network = pass->request.tier == GB_TIER_NETWORK;
		lower(&run->timeout_ms,
		    network ? config->core.max_network_timeout_ms : config->core.max_timeout_ms);
		lower(&run->result_bytes, config->core.max_result_bytes);
		if (run->timeout_ms < CORE_TIMEOUT_MIN_MS)
			run->timeout_ms = CORE_TIMEOUT_MIN_MS;
	} else if (strcmp(face, "executor") == 0) {
		lower(&run->timeout_ms, config->executor.timeout_ms);
	} else if (strcmp(face, "actions") == 0) {
		lower(&run->timeout_ms, asked[0] ? run->timeout_ms : config->actions.timeout_ms);
		lower(&run->memory_bytes, config->actions.memory_bytes);
		lower(&run->output_bytes, config->actions.output_bytes);
	}
}

bool gb_pass_limit(struct gb_pass *pass) {
	const struct gb_config *config = pass->rules->config;
	struct gb_run_options *run = &pass->request.run;
	enum gb_config_runtime runtime = gb_terms_runtime(run->language);
	const uint64_t *asked = pass->asked_for;
	run->timeout_ms = asked[0] ? asked[0] : gb_config_agent_timeout(config, runtime);
	run->memory_bytes = asked[1];
	run->output_bytes = asked[2] ? asked[2] : gb_config_agent_output(config, runtime);
	run->result_bytes = asked[3];
	gb_terms_limit(config, 0, run);
	lower(&run->timeout_ms, config->agent.max_execution_ms);
	lower(&run->output_bytes, config->agent.max_output_bytes);
	limit_by_face(pass);
	run->restricted = pass->asked_restricted ||
			  (run->language == GB_PYTHON && config->python.restricted) ||
			  (run->language == GB_SHELL && config->shell.restricted);
	bool ok;
	run->allowed_modules = allowed_modules(pass, &ok);
	return ok;
}

/* --- the code --- */

static bool check_size(struct gb_pass *pass) {
	const struct gb_run_options *run = &pass->request.run;
	size_t n = run->source_bytes;
	uint64_t max = pass->rules->config->agent.max_code_bytes;
	if (memchr(run->source, 0, n)) {
		gb_pass_refuse(
		    pass, "code_size", "the code has a zero byte, which nobody who looks at it would see");
		return false;
	}
	if (n <= max)
		return true;
	gb_pass_refuse(
	    pass, "code_size", "the code has %zu bytes, and may have %llu", n, (unsigned long long)max);
	return false;
}

static bool check_guard(struct gb_pass *pass) {
	const struct gb_config *config = pass->rules->config;
	const struct gb_run_options *run = &pass->request.run;
	static const enum gb_guard_language languages[GB_LANGUAGES] = {
	    [GB_SHELL] = GB_GUARD_SHELL, [GB_NODE] = GB_GUARD_NODE, [GB_DENO] = GB_GUARD_NODE};
	enum gb_guard_language language = languages[run->language];
	struct gb_guard_finding finding;
	if (!config->guard.enabled || run->language == GB_PYTHON || pass->request.is_input)
		return true;
	const struct gb_config_list *more =
	    language == GB_GUARD_SHELL ? &config->guard.shell : &config->guard.javascript;
	if (gb_guard_check_more(language, run->source, run->source_bytes, more->items, more->n, &finding))
		return true;
	gb_pass_refuse(pass, "guard", "line %u, column %u: '%s' is not allowed: %s. %s", finding.line,
	    finding.column, finding.pattern, finding.reason ? finding.reason : "the owner has said so",
	    finding.suggestion ? finding.suggestion : "");
	return false;
}

/* --- how many --- */

static bool same_text(const char *a, const char *b) {
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Of those that are under way, how many come through the same face, and are of the same conversation? */
static void count_others(
    const struct gb_pass *pass, unsigned *ret_all, unsigned *ret_face, unsigned *ret_conversation) {
	const struct gb_gate *gate = pass->gate;
	*ret_all = *ret_face = *ret_conversation = 0;
	for (const struct gb_list *link = gate->passes.next; link != &gate->passes; link = link->next) {
		const struct gb_pass *other = gb_container(struct gb_pass, link, link);
		if (other == pass || other->request.is_input ||
		    (other->state != GB_PASS_WAITING && other->state != GB_PASS_RUNNING))
			continue;
		++*ret_all;
		*ret_face += same_text(other->request.face, pass->request.face);
		*ret_conversation += pass->request.conversation &&
				     same_text(other->request.conversation, pass->request.conversation);
	}
}

static bool check_number(struct gb_pass *pass) {
	const struct gb_config *config = pass->rules->config;
	unsigned all, face, conversation;
	/* The run that it answers is counted. */
	if (pass->request.is_input)
		return true;
	count_others(pass, &all, &face, &conversation);
	const struct {
		const char *whose, *setting;
		unsigned n, max;
	} counts[] = {
	    {"agents", "agent.maxConcurrentRuns", all, config->agent.max_runs},
	    {"this face", "agent.maxConcurrentRunsPerFace", face, config->agent.max_runs_of_face},
	    {"this conversation", "agent.maxConcurrentRunsPerConversation", conversation,
		config->agent.max_runs_of_conversation},
	};
	for (size_t i = 0; i < GB_COUNT(counts); i++) {
		if (counts[i].n < counts[i].max)
			continue;
		gb_pass_refuse(pass, "too_many",
		    "%u executions of %s are under way, which is the limit (%s); try again when one has "
		    "ended",
		    counts[i].n, counts[i].whose, counts[i].setting);
		return false;
	}
	return true;
}

bool gb_pass_count(struct gb_pass *pass) {
	const struct gb_config *config = pass->rules->config;
	const struct gb_gate_request *request = &pass->request;
	const char *face = request->face ? request->face : "";
	bool core = strcmp(face, "core") == 0, granted;
	unsigned max = core ? config->core.calls_per_turn : config->agent.calls_per_turn;
	struct gb_err err = {0};
	if (!request->turn || pass->counted)
		return true;
	const struct gb_turn turn = {face, request->conversation ? request->conversation : "", request->turn};
	if (!gb_turns_take(pass->gate->turns, &turn, max, &granted, &err))
		gb_pass_refuse(pass, "calls_per_turn", "%s", err.message);
	else if (!granted)
		gb_pass_refuse(pass, "calls_per_turn",
		    "code was run %u times in this turn, which is the limit (%s)", max,
		    core ? "core.callsPerTurn" : "agent.callsPerTurn");
	else
		pass->counted = true;
	return pass->counted;
}

bool gb_pass_admit(struct gb_pass *pass) {
	const struct gb_config *config = pass->rules->config;
	enum gb_language language = pass->request.run.language;
	if (!config->agent.enabled) {
		gb_pass_refuse(pass, "disabled",
		    "agents may not run code here; the owner can allow it with the setting agent.enabled");
		return false;
	}
	if (!(config->agent.allowed_runtimes & 1u << gb_terms_runtime(language))) {
		gb_pass_refuse(pass, "runtime_disabled",
		    "agents may not run %s here; see the setting agent.allowedRuntimes",
		    gb_config_runtime_name(gb_terms_runtime(language)));
		return false;
	}
	return check_size(pass) && check_guard(pass) && check_number(pass);
}
