/* Functions in Python that call tools. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "schema/internal.h"
#include "value/json.h"
#include "value/wtf8.h"

static const char *const reserved[] = {"False", "None", "True", "and", "as", "assert", "async", "await",
    "break", "case", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
    "global", "if", "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "type", "while", "with", "yield", "print", "dict", "list", "str", "int", "float", "bool",
    "set", "tuple", "object", "output", "debug", "report", "display", "_", "__call_tool__", "__debug__",
    "__OMITTED", "self", NULL};

static bool is_reserved(struct gb_str name) {
	for (const char *const *word = reserved; *word; word++)
		if (gb_str_eq(name, gb_str_from(*word)))
			return true;
	return false;
}

/* --- hints --- */

static void write_hint(
    struct gb_buf *out, const struct gb_value *root, const struct gb_value *schema, unsigned depth);

static void write_one_hint(struct gb_buf *out, const struct gb_value *root, const struct gb_value *schema,
    struct gb_str type, unsigned depth) {
	static const struct {
		const char *json, *python;
	} plain[] = {{"string", "str"}, {"number", "float"}, {"integer", "int"}, {"boolean", "bool"},
	    {"null", "None"}, {"object", "dict"}};
	for (size_t i = 0; i < GB_COUNT(plain); i++) {
		if (gb_str_eq(type, gb_str_from(plain[i].json))) {
			gb_buf_printf(out, "%s", plain[i].python);
			return;
		}
	}
	if (!gb_str_eq(type, GB_STR("array"))) {
		gb_buf_printf(out, "object");
		return;
	}
	const struct gb_value *items = gb_value_get(schema, "items");
	gb_buf_printf(out, "list[");
	write_hint(out, root, gb_value_type(items) == GB_OBJECT ? items : NULL, depth + 1);
	gb_buf_append_char(out, ']');
}

static void write_union(
    struct gb_buf *out, const struct gb_value *root, const struct gb_value *parts, unsigned depth) {
	for (size_t i = 0; i < gb_value_count(parts); i++) {
		gb_buf_printf(out, "%s", i ? " | " : "");
		write_hint(out, root, gb_value_at(parts, i), depth + 1);
	}
}

static void write_hint(
    struct gb_buf *out, const struct gb_value *root, const struct gb_value *schema, unsigned depth) {
	enum { DEPTH_MAX = 8, PARTS_MAX = 20 };
	const struct gb_value *type = gb_value_get(schema, "type"), *reference = gb_value_get(schema, "$ref"),
			      *any = gb_value_get(schema, "anyOf");
	if (!any)
		any = gb_value_get(schema, "oneOf");
	if (depth > DEPTH_MAX || gb_buf_failed(out))
		type = reference = any = NULL; /* "object" */
	if (gb_value_type(reference) == GB_STRING) {
		write_hint(out, root, gb_schema_follow(root, gb_schema_text(reference)), depth + 1);
	} else if (gb_value_type(type) == GB_ARRAY && gb_value_count(type)) {
		for (size_t i = 0; i < gb_value_count(type) && i < PARTS_MAX; i++) {
			gb_buf_printf(out, "%s", i ? " | " : "");
			write_one_hint(out, root, schema, gb_schema_text(gb_value_at(type, i)), depth);
		}
	} else if (gb_value_type(type) == GB_STRING) {
		write_one_hint(out, root, schema, gb_schema_text(type), depth);
	} else if (gb_value_count(any) && gb_value_count(any) <= PARTS_MAX) {
		write_union(out, root, any, depth);
	} else {
		gb_buf_printf(out, "object");
	}
}

/* --- docstrings --- */

/* Text within three quotes. */
static void write_doc_text(struct gb_buf *out, struct gb_str text, const char *line) {
	size_t n_characters = 0;
	for (size_t at = 0; at < text.n && n_characters < GB_SCHEMA_DOC_MAX; n_characters++) {
		uint32_t code;
		size_t n = gb_wtf8_decode(text.p + at, &code);
		if (code == '\n')
			gb_buf_printf(out, "\n%s", line);
		else if (code == '"' || code == '\\')
			gb_buf_printf(out, "\\%c", (char)code);
		else if (gb_wtf8_is_unsafe(code))
			gb_buf_append_char(out, ' ');
		else
			gb_buf_append(out, text.p + at, n);
		at += n;
	}
	if (n_characters == GB_SCHEMA_DOC_MAX)
		gb_buf_printf(out, "…");
}

static void write_docstring(struct gb_buf *out, const struct gb_tool_spec *tool) {
	const struct gb_value *properties = gb_value_get(tool->input, "properties");
	gb_buf_printf(out, "    \"\"\"");
	write_doc_text(out, tool->description, "    ");
	for (size_t i = 0; gb_value_type(properties) == GB_OBJECT && i < gb_value_count(properties); i++) {
		struct gb_str name = gb_schema_text(gb_value_key_at(properties, i));
		struct gb_str text = gb_schema_text(gb_value_get(gb_value_at(properties, i), "description"));
		if (!text.n)
			continue;
		gb_buf_printf(out, "\n\n    ");
		write_doc_text(out, name, "    ");
		gb_buf_printf(out, ": ");
		write_doc_text(out, text, "        ");
	}
	gb_buf_printf(out, "\n    \"\"\"\n");
}

/* --- tools --- */

/* Whether a property can be a parameter; others are given as **more. */
static bool is_parameter(struct gb_str name) {
	return gb_is_identifier(name) && !is_reserved(name) && !gb_str_eq(name, GB_STR("more")) &&
	       !(name.n > 1 && name.p[0] == '_' && name.p[1] == '_');
}

static void write_parameters(struct gb_buf *out, const struct gb_value *schema) {
	const struct gb_value *properties = gb_value_get(schema, "properties");
	const char *before = "*, ";
	for (size_t i = 0; gb_value_type(properties) == GB_OBJECT && i < gb_value_count(properties); i++) {
		struct gb_str name = gb_schema_text(gb_value_key_at(properties, i));
		if (!is_parameter(name))
			continue;
		gb_buf_printf(out, "%s%.*s: \"", before, GB_STR_ARG(name));
		write_hint(out, schema, gb_value_at(properties, i), 0);
		gb_buf_printf(out, "\"%s", gb_schema_requires(schema, name) ? "" : " = __OMITTED");
		before = ", ";
	}
	gb_buf_printf(out, "%s**more: \"object\"", before[0] == '*' ? "" : before);
}

static void write_body(struct gb_buf *out, const struct gb_tool_spec *tool) {
	const struct gb_value *properties = gb_value_get(tool->input, "properties");
	gb_buf_printf(out, "    return __call_tool__(");
	gb_json_append_string(out, tool->name);
	gb_buf_printf(out, ", {name: value for name, value in {");
	for (size_t i = 0; gb_value_type(properties) == GB_OBJECT && i < gb_value_count(properties); i++) {
		struct gb_str name = gb_schema_text(gb_value_key_at(properties, i));
		if (is_parameter(name))
			gb_buf_printf(out, "\"%.*s\": %.*s, ", GB_STR_ARG(name), GB_STR_ARG(name));
	}
	gb_buf_printf(out, "**more}.items() if value is not __OMITTED})\n\n");
}

static void write_tool(struct gb_buf *out, struct gb_names *names, const struct gb_tool_spec *tool) {
	const char *name = gb_names_take(names, tool->name);
	gb_buf_printf(out, "def %s(", name ? name : "_");
	write_parameters(out, tool->input);
	gb_buf_printf(out, ") -> \"");
	write_hint(out, tool->output, tool->output, 0);
	gb_buf_printf(out, "\":\n");
	write_docstring(out, tool);
	write_body(out, tool);
}

bool gb_stubs_python(const struct gb_value *tools, struct gb_buf *out, struct gb_err *err) {
	struct gb_names names;
	struct gb_tool_spec tool;
	gb_names_init(&names, reserved);
	gb_buf_printf(out, "__OMITTED = object()\n\n");
	for (size_t i = 0; gb_tools_at(tools, i, &tool) && !gb_buf_failed(out); i++)
		write_tool(out, &names, &tool);
	bool ok = !gb_buf_failed(out) && !gb_buf_failed(&names.list);
	gb_names_finish(&names);
	return ok || gb_fail(err, GB_ELIMIT, 0, "the functions for these tools are larger than %zu bytes",
			 out->max);
}
