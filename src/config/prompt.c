/* The section on running code for the system prompt of an agent. */
#include <stdio.h>

#include "base/cleanup.h"
#include "config/settings.h"
#include "config/values.h"

/* --- defaults of an execution --- */

static uint64_t agent_limit(
    const struct gb_config *config, const char *name, uint64_t own, uint64_t max_own, uint64_t agents) {
	uint64_t limit = gb_config_is_set(config, name) && own < agents ? own : agents;
	return limit < max_own ? limit : max_own;
}

uint64_t gb_config_agent_timeout(const struct gb_config *config, enum gb_config_runtime runtime) {
	const struct gb_config_limits *limits = &config->limits[runtime];
	char name[GB_SETTING_NAME_MAX];
	snprintf(name, sizeof name, "limits.%s.timeout", gb_config_runtime_name(runtime));
	return agent_limit(
	    config, name, limits->timeout_ms, limits->max_timeout_ms, config->agent.max_execution_ms);
}

uint64_t gb_config_agent_output(const struct gb_config *config, enum gb_config_runtime runtime) {
	const struct gb_config_limits *limits = &config->limits[runtime];
	char name[GB_SETTING_NAME_MAX];
	snprintf(name, sizeof name, "limits.%s.output", gb_config_runtime_name(runtime));
	return agent_limit(
	    config, name, limits->output_bytes, limits->max_output_bytes, config->agent.max_output_bytes);
}

bool gb_config_is_waived(const struct gb_config *config, enum gb_face face) {
	return config->agent.auto_approve || config->approvals.waive & 1u << face;
}

/* --- the text --- */

/* Append the value of a setting, as it is written in a file. */
static void write_value(struct gb_buf *out, const struct gb_config *config, const char *name) {
	enum gb_setting_unit unit;
	const struct gb_setting *setting = gb_setting_find(name, &unit);
	if (setting)
		gb_setting_write(setting, config, out);
}

/* Append the limits of a runtime that are lower than those of all executions. */
static void write_own_limits(
    struct gb_buf *out, const struct gb_config *config, enum gb_config_runtime runtime) {
	uint64_t timeout = gb_config_agent_timeout(config, runtime);
	uint64_t output = gb_config_agent_output(config, runtime);
	if (timeout < config->agent.max_execution_ms) {
		gb_buf_printf(out, "; time ");
		gb_config_write_duration(out, timeout);
	}
	if (output < config->agent.max_output_bytes) {
		gb_buf_printf(out, "; output ");
		gb_config_write_size(out, output);
	}
}

#define LABEL(section, name, memory, label) [GB_CONFIG_##section] = label,

static void write_runtimes(struct gb_buf *out, const struct gb_config *config) {
	static const char *const labels[] = {GB_LANGUAGE_SECTION_TABLE(LABEL)};
	gb_buf_printf(out, "Runtimes:\n");
	for (unsigned i = 0; i < GB_CONFIG_RUNTIMES; i++)
		if (config->agent.allowed_runtimes & 1u << i) {
			char memory[GB_SETTING_NAME_MAX];
			snprintf(memory, sizeof memory, "limits.%s.memory",
			    gb_config_runtime_name((enum gb_config_runtime)i));
			gb_buf_printf(out, "- %s; memory ", labels[i]);
			write_value(out, config, memory);
			write_own_limits(out, config, (enum gb_config_runtime)i);
			gb_buf_printf(out, "\n");
		}
}

static void write_limits(struct gb_buf *out, const struct gb_config *config) {
	gb_buf_printf(out, "\nOne execution may take ");
	write_value(out, config, "agent.maxExecutionTime");
	gb_buf_printf(out, " and write ");
	write_value(out, config, "agent.maxOutputSize");
	gb_buf_printf(out, " of output; the code itself may have ");
	write_value(out, config, "agent.maxCodeSize");
	gb_buf_printf(out,
	    ". Lower limits of a runtime are listed above. An execution that exceeds a limit is "
	    "stopped or its output is cut, and the result says so.\n");
}

static void write_sessions(struct gb_buf *out, const struct gb_config *config, bool has_input) {
	if (!config->agent.persistent_sessions) {
		gb_buf_printf(out,
		    "\nEvery execution starts with an empty state: variables and files of earlier "
		    "executions do not exist.\n");
		return;
	}
	gb_buf_printf(out,
	    "\nEach runtime has a session in this conversation: variables, imports and files of one "
	    "execution "
	    "exist in the next. At most %u sessions at the same time; a session that is not used for ",
	    config->agent.max_concurrent_sessions);
	write_value(out, config, "sessions.idleTimeout");
	gb_buf_printf(out, " ends.\n");
	if (config->agent.allowed_runtimes & 1u << GB_CONFIG_SHELL)
		gb_buf_printf(out, "\nA shell command that waits for input %s\n",
		    has_input ? "returns with its prompt: answer it with send_input."
			      : "is ended: pass its input in the command.");
}

/* Append what restricted mode rejects. */
static void write_restrictions(struct gb_buf *out, const struct gb_config *config) {
	const struct gb_config_list *modules = &config->python.allowed_modules;
	unsigned runtimes = config->agent.allowed_runtimes;
	if (config->shell.restricted && runtimes & 1u << GB_CONFIG_SHELL)
		gb_buf_printf(out, "\nThe shell rejects commands that delete files or change the machine, "
				   "such as rm and sudo.\n");
	if (!config->python.restricted || !(runtimes & 1u << GB_CONFIG_PYTHON))
		return;
	gb_buf_printf(out, "\nPython is restricted: no open, eval, exec or getattr, and no import%s",
	    modules->n ? " except" : ".\n");
	for (size_t i = 0; i < modules->n; i++)
		gb_buf_printf(out, "%s %s", i ? "," : "", modules->items[i]);
	gb_buf_printf(out, modules->n ? ".\n" : "");
}

static void write_advice(struct gb_buf *out) {
	gb_buf_printf(out,
	    "\nHow to use it:\n"
	    "- If a tool does the task, use the tool. Use code for tasks that no tool does.\n"
	    "- It is good for computing, for converting data and for working on files.\n"
	    "- Say what the code does before you run it.\n"
	    "- When it fails, read its stderr; correct it and try again, or report what went wrong.\n");
}

static void write_network(struct gb_buf *out, const struct gb_config *config) {
	const struct gb_config_list *hosts = &config->network.allowlist;
	if (!hosts->n) {
		gb_buf_printf(out, "\nThe code has no access to the user's files and no network.\n");
		return;
	}
	gb_buf_printf(out, "\nThe code has no access to the user's files. It has no network, except with the "
			   "tier `network` (not for "
			   "JavaScript): then it can connect to these hosts, and to no others:");
	for (size_t i = 0; i < hosts->n; i++)
		gb_buf_printf(out, "%s `%s`", i ? "," : "", hosts->items[i]);
	gb_buf_printf(out, ".\n");
}

void gb_config_prompt(const struct gb_config *config, bool has_input, struct gb_buf *out) {
	if (!config->agent.enabled || !config->agent.allowed_runtimes)
		return;
	gb_buf_printf(out, "## Running code\n\n"
			   "You can write code and run it in an isolated sandbox.\n\n");
	write_runtimes(out, config);
	write_limits(out, config);
	write_sessions(out, config, has_input);
	write_network(out, config);
	write_restrictions(out, config);
	gb_buf_printf(out, "\n%s\n",
	    gb_config_is_waived(config, GB_FACE_EXECUTE_CODE)
		? "Executions are not confirmed by a person, so check the code before you run it."
		: "A person sees the code before it runs and can refuse it. A refusal is final: do not try "
		  "the "
		  "same in another way.");
	write_advice(out);
}
