#include "base/buf.h"
#include "cli/settings.h"
#include "cli/untrusted.h"
#include "value/json.h"

enum { PROMPT_MAX = 1 << 20 };

struct request {
	struct settings_request settings;
	bool json;
};

static const struct flag flags[] = {
    SETTINGS_FLAGS,
    {"json", 0, NULL, "one JSON object, with the limits as numbers", 0, NULL},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	if (!flag)
		return report_error(&command_prompt, "takes no operand, but got '%s'", value);
	if (!settings_flag(&request->settings, flag, value))
		request->json = true;
	return true;
}

static void add_names(struct gb_buf *out, const struct gb_config *config) {
	const char *comma = "";
	gb_buf_printf(out, ",\"runtimes\":[");
	for (unsigned i = 0; i < GB_CONFIG_RUNTIMES; i++)
		if (config->agent.allowed_runtimes & 1u << i) {
			gb_buf_printf(out,
			    "%s{\"name\":\"%s\",\"memoryBytes\":%llu,\"timeoutMs\":%llu,\"outputBytes\":%"
			    "llu}",
			    comma, gb_config_runtime_name((enum gb_config_runtime)i),
			    (unsigned long long)config->limits[i].memory_bytes,
			    (unsigned long long)gb_config_agent_timeout(config, (enum gb_config_runtime)i),
			    (unsigned long long)gb_config_agent_output(config, (enum gb_config_runtime)i));
			comma = ",";
		}
	gb_buf_printf(out, "]");
}

static void add_json(struct gb_buf *out, const struct gb_config *config, struct gb_str prompt) {
	gb_buf_printf(out, "{\"enabled\":%s", prompt.n ? "true" : "false");
	if (prompt.n) {
		gb_buf_printf(out, ",\"prompt\":");
		gb_json_append_string(out, prompt);
		add_names(out, config);
		gb_buf_printf(out,
		    ",\"maxExecutionTimeMs\":%llu,\"maxOutputBytes\":%llu,\"maxCodeBytes\":%llu,"
		    "\"maxConcurrentSessions\":%u,\"persistentSessions\":%s,\"approval\":%s",
		    (unsigned long long)config->agent.max_execution_ms,
		    (unsigned long long)config->agent.max_output_bytes,
		    (unsigned long long)config->agent.max_code_bytes, config->agent.max_concurrent_sessions,
		    config->agent.persistent_sessions ? "true" : "false",
		    gb_config_is_waived(config, GB_FACE_EXECUTE_CODE) ? "false" : "true");
	}
	gb_buf_printf(out, "}\n");
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	const struct gb_config *config = settings_load(self, &request.settings);
	if (!config)
		return EXIT_BAD_USE;
	gb_auto_buf struct gb_buf prompt, json;
	gb_buf_init(&prompt, PROMPT_MAX);
	gb_buf_init(&json, (size_t)PROMPT_MAX * 8);
	gb_config_prompt(config, false, &prompt);
	if (request.json)
		add_json(&json, config, gb_buf_str(&prompt));
	const struct gb_buf *out = request.json ? &json : &prompt;
	if (out->len)
		print_data(stdout, out->data, out->len);
	else if (!gb_buf_failed(out))
		report_warning(self, "agents %s, so there is no text for them",
		    config->agent.enabled ? "may use no language (setting agent.allowedRuntimes)"
					  : "are disabled (setting agent.enabled)");
	gb_config_unref(config);
	return gb_buf_failed(out) ? EXIT_REFUSED : EXIT_OK;
}

const struct command command_prompt = {
    .name = "prompt",
    .synopsis = "[--json]",
    .summary = "print a section about running code for an agent's system prompt",
    .details =
	"Print a section for an agent's system prompt: which code it can run, within which limits, what\n"
	"is kept between runs, and how to use it. The text depends on the settings. If agents cannot run\n"
	"code (agent.enabled is false), the text is empty, and a message on stderr says why.\n"
	"\n"
	"  glovebox prompt --set agent.enabled=true         show the text that agents would get",
    .flags = flags,
    .run = run,
};
