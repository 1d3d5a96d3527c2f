/*
 * What a run was denied by a limit or a rule, in the form that the denials of the network have, as far as its error
 * says so: which setting decides, and what to set.
 */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

enum { MESSAGE_BYTES = 400 };

static bool put(
    struct gb_values *pool, struct gb_value *object, const char *name, const char *text, size_t n) {
	struct gb_value *value = gb_value_string(pool, text, n);
	return value && gb_value_put_key(object, name, value);
}

static bool put_text(struct gb_values *pool, struct gb_value *object, const char *name, const char *text) {
	return put(pool, object, name, text, strlen(text));
}

/* The section of the settings that has the limits of this runtime. */
static const char *section_of(enum gb_runtime runtime) {
	switch (runtime % GB_RUNTIME_NETWORK) {
	case GB_RUNTIME_JS:
		return "javascript";
	case GB_RUNTIME_SHELL:
		return "shell";
	case GB_RUNTIME_NODE:
		return "node";
	case GB_RUNTIME_DENO:
		return "deno";
	default:
		return "python"; /* each profile of it */
	}
}

static struct gb_value *make_denial(
    struct gb_run *run, const char *kind, const char *rule, const char *remedy) {
	const struct gb_run_error *error = &run->result.error;
	struct gb_value *denial = gb_value_object(run->values);
	const size_t n = error->message_bytes ? error->message_bytes : strlen(error->message);
	return denial && put_text(run->values, denial, "kind", kind) &&
		       put_text(run->values, denial, "rule", rule) &&
		       put(run->values, denial, "reason", error->message, n) &&
		       put_text(run->values, denial, "remedy", remedy)
		   ? denial
		   : NULL;
}

/* The message of this error ends with the name by which a list of modules allows it. */
static void write_module_remedy(const struct gb_run_error *error, char *to, size_t n) {
	static const char before_name[] = "or --allow ";
	const char *name = strstr(error->message, before_name);
	name = name ? name + strlen(before_name) : error->specifier ? error->specifier : "the module";
	snprintf(to, n,
	    "add '%.*s' to the setting node.allowedModules, or to allowedModules of the run (--allow)",
	    (int)strcspn(name, "\n"), name);
}

static struct gb_value *denial_of_failure(struct gb_run *run) {
	const struct gb_run_error *error = &run->result.error;
	char rule[64], remedy[MESSAGE_BYTES];
	if (!error->code || !error->message)
		return NULL;
	if (strcmp(error->code, GB_CODE_MODULE_DENIED) == 0) {
		write_module_remedy(error, remedy, sizeof remedy);
		return make_denial(run, "module", "node.allowedModules", remedy);
	}
	if (run->result.status != GB_MEMORY)
		return NULL;
	snprintf(rule, sizeof rule, "limits.%s.memory", section_of(run->runtime));
	snprintf(remedy, sizeof remedy,
	    "raise the setting %s, or memoryBytes of the run or session (--memory)", rule);
	return make_denial(run, "memory", rule, remedy);
}

void gb_run_add_denial(struct gb_run *run) {
	struct gb_value *denial = run->result.status == GB_SUCCESS ? NULL : denial_of_failure(run);
	struct gb_value *list = denial ? gb_value_array(run->values) : NULL;
	bool whole = list != NULL;
	for (size_t i = 0; whole && i < gb_value_count(run->result.denials); i++)
		whole = gb_value_push(list, (struct gb_value *)gb_value_at(run->result.denials, i));
	if (whole && gb_value_push(list, denial))
		run->result.denials = list;
}
