/*
 * Prints the tables of the C sources as one JSON object, for scripts/tables, which makes the TypeScript types
 * and the tables of the documentation from it.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fields.h"
#include "glovebox/errors.h"
#include "glovebox/languages.h"
#include "value/json.h"

enum { TABLES_MAX = 1 << 20 };

static void write_text(struct gb_buf *out, const char *key, const char *text) {
	gb_buf_printf(out, ",\"%s\":", key);
	gb_json_append_string(out, gb_str_from(text));
}

static void write_flag(struct gb_buf *out, const char *key, bool flag) {
	gb_buf_printf(out, ",\"%s\":%s", key, flag ? "true" : "false");
}

/* An object whose first member is the name. */
static void begin(struct gb_buf *out, size_t i, const char *name) {
	gb_buf_printf(out, "%s{\"name\":", i ? ",\n" : "");
	gb_json_append_string(out, gb_str_from(name));
}

static void write_results(struct gb_buf *out) {
	for (size_t i = 0; i < gb_result_fields_count; i++) {
		const struct gb_result_field *field = &gb_result_fields[i];
		begin(out, i, field->json);
		write_text(out, "kind", gb_result_kind_name(field->kind));
		write_flag(out, "optional", field->optional);
		write_text(out, "doc", field->doc);
		gb_buf_append_char(out, '}');
	}
}

static void write_limits(struct gb_buf *out) {
	for (size_t i = 0; i < gb_limit_fields_count; i++) {
		const struct gb_limit_field *field = &gb_limit_fields[i];
		begin(out, i, field->json);
		write_text(out, "unit", gb_limit_unit_name(field->unit));
		gb_buf_printf(out, ",\"fallback\":%llu", (unsigned long long)field->fallback);
		write_text(out, "contract", field->contract ? field->contract : "");
		write_flag(out, "agents", field->for_agents);
		write_text(out, "option", field->option ? field->option : "");
		write_text(out, "doc", field->doc);
		gb_buf_append_char(out, '}');
	}
}

static void write_requests(struct gb_buf *out) {
	for (size_t i = 0; i < gb_request_fields_count; i++) {
		const struct gb_request_field *field = &gb_request_fields[i];
		begin(out, i, field->json);
		write_text(out, "kind", gb_request_kind_name(field->kind));
		write_text(out, "scope", gb_request_scope_name(field->scope));
		write_flag(out, "inExecute", field->in_execute);
		write_flag(out, "inContract", field->in_contract);
		write_flag(out, "agents", field->for_agents);
		write_text(out, "doc", field->doc);
		gb_buf_append_char(out, '}');
	}
}

static void write_statements(struct gb_buf *out) {
	for (size_t i = 0; i < gb_agent_fields_count; i++) {
		const struct gb_agent_field *field = &gb_agent_fields[i];
		begin(out, i, field->json);
		write_text(out, "kind", gb_agent_kind_name(field->kind));
		write_flag(out, "inputs", field->inputs != GB_INPUTS_NONE);
		write_flag(out, "required", field->inputs == GB_INPUTS_REQUIRED);
		gb_buf_printf(out, ",\"choices\":[");
		for (size_t k = 0; field->choices && field->choices[k]; k++)
			gb_buf_printf(out, "%s\"%s\"", k ? "," : "", field->choices[k]);
		gb_buf_append_char(out, ']');
		write_text(out, "doc", field->doc);
		gb_buf_append_char(out, '}');
	}
}

static void write_words(struct gb_buf *out, const char *key, const char *words) {
	gb_buf_printf(out, ",\"%s\":[", key);
	struct gb_str rest = gb_str_from(words), word;
	for (size_t i = 0; rest.n; i++) {
		gb_str_cut(&rest, ' ', &word);
		gb_buf_printf(out, "%s\"%.*s\"", i ? "," : "", GB_STR_ARG(word));
	}
	gb_buf_append_char(out, ']');
}

static void write_languages(struct gb_buf *out) {
	for (size_t i = 0; i < GB_LANGUAGES; i++) {
		const struct gb_language_info *info = &gb_language_infos[i];
		begin(out, i, info->name);
		write_words(out, "aliases", info->aliases);
		write_words(out, "endings", info->endings);
		write_text(out, "doc", info->doc);
		gb_buf_append_char(out, '}');
	}
}

static void write_errors(struct gb_buf *out) {
	for (size_t i = 0; i < gb_error_infos_count; i++) {
		const struct gb_error_info *info = &gb_error_infos[i];
		begin(out, i, info->code);
		write_text(out, "where", info->where);
		write_text(out, "what", info->what);
		write_text(out, "hint", info->hint);
		gb_buf_append_char(out, '}');
	}
}

static void write_statuses(struct gb_buf *out) {
	for (int status = GB_SUCCESS; status <= GB_DENIED; status++)
		gb_buf_printf(out, "%s\"%s\"", status ? "," : "", gb_status_name((enum gb_status)status));
}

int main(void) {
	static const struct {
		const char *name;
		void (*write)(struct gb_buf *out);
	} tables[] = {
	    {"results", write_results},
	    {"limits", write_limits},
	    {"requests", write_requests},
	    {"statements", write_statements},
	    {"languages", write_languages},
	    {"statuses", write_statuses},
	    {"errors", write_errors},
	};
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, TABLES_MAX);
	for (size_t i = 0; i < GB_COUNT(tables); i++) {
		gb_buf_printf(&out, "%s\n\"%s\":[", i ? "," : "{", tables[i].name);
		tables[i].write(&out);
		gb_buf_append_char(&out, ']');
	}
	gb_buf_printf(&out, "\n}");
	return gb_buf_c_str(&out) && puts(out.data) >= 0 ? 0 : 1;
}
