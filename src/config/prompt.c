/* What an agent's model is told of running code. */
#include <stdio.h>

#include "base/cleanup.h"
#include "config/settings.h"
#include "config/values.h"

/* --- what an execution gets that does not ask --- */

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

/* --- the text --- */

/* A setting's value, as it would be written in the file. */
static void say(struct gb_buf *out, const struct gb_config *config, const char *name) {
	enum gb_setting_unit unit;
	const struct gb_setting *setting = gb_setting_find(name, &unit);
	if (setting)
		gb_setting_write(setting, config, out);
}

/* Limits of one runtime that are below those of all executions. */
static void say_own_limits(
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

#define LABEL(section, name, label) [GB_CONFIG_##section] = label,

static void say_runtimes(struct gb_buf *out, const struct gb_config *config) {
	static const char *const labels[] = {GB_LANGUAGE_SECTION_TABLE(LABEL)};
	gb_buf_printf(out, "Runtimes:\n");
	for (unsigned i = 0; i < GB_CONFIG_RUNTIMES; i++)
		if (config->agent.allowed_runtimes & 1u << i) {
			char memory[GB_SETTING_NAME_MAX];
			snprintf(memory, sizeof memory, "limits.%s.memory",
			    gb_config_runtime_name((enum gb_config_runtime)i));
			gb_buf_printf(out, "- %s; memory ", labels[i]);
			say(out, config, memory);
			say_own_limits(out, config, (enum gb_config_runtime)i);
			gb_buf_printf(out, "\n");
		}
}

static void say_limits(struct gb_buf *out, const struct gb_config *config) {
	gb_buf_printf(out, "\nOne execution may take ");
	say(out, config, "agent.maxExecutionTime");
	gb_buf_printf(out, " and write ");
	say(out, config, "agent.maxOutputSize");
	gb_buf_printf(out, " of output; the code itself may have ");
	say(out, config, "agent.maxCodeSize");
	gb_buf_printf(out, ". A runtime with less says so above. Whatever goes beyond is stopped or cut, and "
			   "you are told.\n");
}

static void say_sessions(struct gb_buf *out, const struct gb_config *config) {
	if (!config->agent.persistent_sessions) {
		gb_buf_printf(out, "\nEvery execution starts from nothing: no variable or file of an earlier "
				   "one is left.\n");
		return;
	}
	gb_buf_printf(out,
	    "\nThere is a session for each runtime of this conversation: what one execution defines, "
	    "imports or writes is there for the next. At most %u at once; one that is not used for ",
	    config->agent.max_concurrent_sessions);
	say(out, config, "sessions.idleTimeout");
	gb_buf_printf(out, " ends.\n");
	if (config->agent.allowed_runtimes & 1u << GB_CONFIG_SHELL)
		gb_buf_printf(out,
		    "\nA shell command that waits for input is ended: give it its input in the "
		    "command.\n");
}

/* What is refused before it is tried. */
static void say_restrictions(struct gb_buf *out, const struct gb_config *config) {
	const struct gb_config_list *modules = &config->python.allowed_modules;
	unsigned runtimes = config->agent.allowed_runtimes;
	if (config->shell.restricted && runtimes & 1u << GB_CONFIG_SHELL)
		gb_buf_printf(out,
		    "\nThe shell refuses commands that delete, or that change the machine, such "
		    "as rm and sudo.\n");
	if (!config->python.restricted || !(runtimes & 1u << GB_CONFIG_PYTHON))
		return;
	gb_buf_printf(out, "\nPython is restricted: no open, eval, exec or getattr, and no import%s",
	    modules->n ? " but of" : ".\n");
	for (size_t i = 0; i < modules->n; i++)
		gb_buf_printf(out, "%s %s", i ? "," : "", modules->items[i]);
	gb_buf_printf(out, modules->n ? ".\n" : "");
}

static void say_manners(struct gb_buf *out) {
	gb_buf_printf(out,
	    "\nHow to use it:\n"
	    "- If a tool does the task, use the tool. Use code for tasks that no tool does.\n"
	    "- It is good for computing, for converting data and for working on files.\n"
	    "- Say what the code does before you run it.\n"
	    "- When it fails, read its stderr; correct it and try again, or report what went wrong.\n");
}

void gb_config_prompt(const struct gb_config *config, struct gb_buf *out) {
	if (!config->agent.enabled || !config->agent.allowed_runtimes)
		return;
	gb_buf_printf(out,
	    "## Running code\n\n"
	    "You can write code and have it run, in a sandbox that is closed on all sides.\n\n");
	say_runtimes(out, config);
	say_limits(out, config);
	say_sessions(out, config);
	gb_buf_printf(out, "\nThe code sees none of the user's files and no network.\n");
	say_restrictions(out, config);
	gb_buf_printf(out, "\n%s\n",
	    config->agent.auto_approve
		? "Executions are not confirmed by anybody, so be sure of what you run."
		: "A person is shown the code before it runs, and can refuse it. A refusal is final: do not "
		  "try "
		  "the same by another way.");
	say_manners(out);
}
