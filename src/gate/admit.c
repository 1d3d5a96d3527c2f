/* What is refused before anybody is asked. */
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "gate/pass.h"
#include "guard/static.h"
#include "terms/terms.h"

const struct gb_config_limits *gb_gate_limits(const struct gb_gate *gate, enum gb_language language) {
	return &gate->config->limits[gb_terms_runtime(language)];
}

void gb_pass_limit(struct gb_pass *pass) {
	const struct gb_config *config = pass->gate->config;
	struct gb_run_options *run = &pass->request.run;
	gb_terms_limit(config, 0, run);
	if (run->timeout_ms > config->agent.max_execution_ms)
		run->timeout_ms = config->agent.max_execution_ms;
	if (run->output_bytes > config->agent.max_output_bytes)
		run->output_bytes = config->agent.max_output_bytes;
	run->restricted |= (run->language == GB_PYTHON && config->python.restricted) ||
			   (run->language == GB_SHELL && config->shell.restricted);
}

static bool check_size(struct gb_pass *pass) {
	const struct gb_run_options *run = &pass->request.run;
	size_t n = run->source_bytes;
	uint64_t max = pass->gate->config->agent.max_code_bytes;
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
	const struct gb_config *config = pass->gate->config;
	const struct gb_run_options *run = &pass->request.run;
	bool shell = run->language == GB_SHELL;
	struct gb_guard_finding finding;
	if (!config->guard.enabled || run->language == GB_PYTHON)
		return true;
	const struct gb_config_list *more = shell ? &config->guard.shell : &config->guard.javascript;
	if (gb_guard_check_more(shell ? GB_GUARD_SHELL : GB_GUARD_JAVASCRIPT, run->source, run->source_bytes,
		more->items, more->n, &finding))
		return true;
	gb_pass_refuse(pass, "guard", "line %u, column %u: '%s' is not allowed: %s. %s", finding.line,
	    finding.column, finding.pattern, finding.reason ? finding.reason : "the owner has said so",
	    finding.suggestion ? finding.suggestion : "");
	return false;
}

bool gb_pass_admit(struct gb_pass *pass) {
	const struct gb_config *config = pass->gate->config;
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
	return check_size(pass) && check_guard(pass);
}
