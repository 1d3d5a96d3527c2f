/* Functions in TypeScript that call tools. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "schema/internal.h"
#include "value/json.h"
#include "value/text.h"
#include "value/wtf8.h"

enum { REFS_MAX = 1000, ALIASES_MAX = 20000 };

/* Names that generated functions and types must not take: words of the language, what the generated text and code use,
 * and globals whose meaning would change. */
static const char *const reserved[] = {"abstract", "any", "arguments", "as", "async", "await", "bigint",
    "boolean", "break", "case", "catch", "class", "const", "continue", "debugger", "declare", "default",
    "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "from",
    "function", "get", "if", "implements", "import", "in", "infer", "instanceof", "interface", "is", "keyof",
    "let", "module", "namespace", "never", "new", "null", "number", "object", "of", "package", "private",
    "protected", "public", "readonly", "require", "return", "set", "static", "string", "super", "switch",
    "symbol", "this", "throw", "true", "try", "type", "typeof", "undefined", "unique", "unknown", "var",
    "void", "while", "with", "yield", "Array", "Promise", "Record", "Object", "String", "Number", "Boolean",
    "Symbol", "Error", "Map", "Set", "Date", "JSON", "Math", "RegExp", "Function", "console", "output",
    "debug", "report", "globalThis", "Deno", "process", "__callTool__", "__proto__", "constructor", "_",
    NULL};

/* A part of a schema that has a type of its own, because "$ref" leads to it. */
struct ref {
	const struct gb_value *schema;
	char name[160];
};

struct writer {
	struct gb_buf *out;
	struct gb_names names;
	const struct gb_value *root;    /* of the schema that is being written */
	const struct gb_value *current; /* whose type is being written */
	char base[120];                 /* beginning of the names of its types */
	struct ref *refs;
	size_t n_refs;
	unsigned depth, work;
	bool direct; /* not within an object or array: a type must not refer to itself here */
};

static void write_type(struct writer *w, const struct gb_value *schema);

/* --- text --- */

/* A literal in TypeScript, which is one in JSON; U+2028 is escaped in both. */
static void write_literal(struct writer *w, const struct gb_value *value) {
	gb_auto_free char *json = gb_value_to_json(value, 0, NULL, NULL);
	enum gb_type type = gb_value_type(value);
	bool is_plain = type == GB_STRING || type == GB_BOOLEAN || type == GB_NULL ||
			(type == GB_NUMBER && isfinite(gb_value_as_number(value)));
	gb_buf_printf(w->out, "%s", is_plain && json ? json : "unknown");
}

static void write_key(struct writer *w, struct gb_str key) {
	if (gb_is_identifier(key))
		gb_buf_append_str(w->out, key);
	else
		gb_json_append_string(w->out, key);
}

/* Text in a comment: no end of the comment, and nothing that breaks a line or is unsafe on a terminal. */
static void write_comment(struct writer *w, struct gb_str text, const char *line) {
	size_t n_characters = 0;
	for (size_t at = 0; at < text.n && n_characters < GB_SCHEMA_DOC_MAX; n_characters++) {
		uint32_t code;
		size_t n = gb_wtf8_decode(text.p + at, &code);
		if (code == '\n')
			gb_buf_printf(w->out, "\n%s", line);
		else if (code == '/' && at && text.p[at - 1] == '*')
			gb_buf_printf(w->out, "\\/");
		else if (gb_wtf8_is_unsafe(code))
			gb_buf_append_char(w->out, ' ');
		else
			gb_buf_append(w->out, text.p + at, n);
		at += n;
	}
	if (n_characters == GB_SCHEMA_DOC_MAX)
		gb_buf_printf(w->out, "…");
}

static void indent(struct writer *w, unsigned more) {
	for (unsigned i = 0; i < w->depth + more; i++)
		gb_buf_append(w->out, "  ", 2);
}

/* What a type does not say: default, bounds, pattern, format. */
static void write_notes(struct writer *w, const struct gb_value *schema, const char *line) {
	static const char *const keywords[] = {"default", "minimum", "maximum", "exclusiveMinimum",
	    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "pattern",
	    "format"};
	for (size_t i = 0; i < GB_COUNT(keywords); i++) {
		const struct gb_value *value = gb_value_get(schema, keywords[i]);
		gb_auto_free char *json = value ? gb_value_to_json(value, 0, NULL, NULL) : NULL;
		if (!json || strlen(json) > 500)
			continue;
		gb_buf_printf(w->out, "\n%s@%s ", line, keywords[i]);
		write_comment(w, gb_str_from(json), line);
	}
}

static bool has_doc(const struct gb_value *schema) {
	static const char *const keywords[] = {"description", "default", "minimum", "maximum",
	    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems",
	    "maxItems", "pattern", "format"};
	for (size_t i = 0; i < GB_COUNT(keywords); i++)
		if (gb_value_get(schema, keywords[i]))
			return true;
	return false;
}

static void write_doc(struct writer *w, struct gb_str description, const struct gb_value *schema) {
	char line[160];
	snprintf(line, sizeof line, "%*s * ", (int)(2 * w->depth), "");
	gb_buf_printf(w->out, "/**\n%s", line);
	write_comment(w, description, line);
	write_notes(w, schema, line);
	gb_buf_append_char(w->out, '\n');
	indent(w, 0);
	gb_buf_printf(w->out, " */\n");
}

/* --- references --- */

/* Whether the type of @schema is that of @target, or a union or intersection with it: a type alias must not refer to
 * itself in this way. */
static bool leads_directly(
    struct writer *w, const struct gb_value *schema, const struct gb_value *target, unsigned depth) {
	static const char *const combined[] = {"anyOf", "oneOf", "allOf"};
	if (schema == target || depth > GB_SCHEMA_DEPTH_MAX || ++w->work > ALIASES_MAX)
		return true;
	const struct gb_value *reference = gb_value_get(schema, "$ref");
	const struct gb_value *next = reference ? gb_schema_follow(w->root, gb_schema_text(reference)) : NULL;
	if (next && leads_directly(w, next, target, depth + 1))
		return true;
	for (size_t i = 0; i < GB_COUNT(combined); i++) {
		const struct gb_value *parts = gb_value_get(schema, combined[i]);
		for (size_t k = 0; gb_value_type(parts) == GB_ARRAY && k < gb_value_count(parts); k++)
			if (leads_directly(w, gb_value_at(parts, k), target, depth + 1))
				return true;
	}
	return false;
}

/* The last word of a reference: "#/$defs/Node" is "Node". */
static struct gb_str last_word(struct gb_str reference) {
	const char *slash = memrchr(reference.p, '/', reference.n);
	size_t at = slash ? (size_t)(slash + 1 - reference.p) : reference.n;
	return (struct gb_str){reference.p + at, reference.n - at};
}

/* The type of the part @schema; its text is written after the present one. NULL if there are too many. */
static const char *name_of_part(struct writer *w, const struct gb_value *schema, struct gb_str reference) {
	char wanted[260];
	for (size_t i = 0; i < w->n_refs; i++)
		if (w->refs[i].schema == schema)
			return w->refs[i].name;
	if (w->n_refs == REFS_MAX)
		return NULL;
	struct gb_str word = last_word(reference);
	snprintf(wanted, sizeof wanted, "%s_%.*s", w->base, (int)(word.n < 100 ? word.n : 100), word.p);
	const char *name = gb_names_take(&w->names, gb_str_from(wanted));
	if (!name)
		return NULL;
	struct ref *ref = &w->refs[w->n_refs++];
	ref->schema = schema;
	snprintf(ref->name, sizeof ref->name, "%s", name);
	return ref->name;
}

static void write_reference(struct writer *w, struct gb_str reference) {
	const struct gb_value *target = gb_schema_follow(w->root, reference);
	w->work = 0;
	bool is_circular = w->direct && target && leads_directly(w, target, w->current, 0);
	const char *name = target && !is_circular ? name_of_part(w, target, reference) : NULL;
	gb_buf_printf(w->out, "%s", name ? name : "unknown");
}

/* --- types --- */

/* Within an object or array, a type may refer to itself. */
static void write_inner(struct writer *w, const struct gb_value *schema) {
	bool direct = w->direct;
	w->direct = false;
	w->depth++;
	write_type(w, schema);
	w->depth--;
	w->direct = direct;
}

static void write_tuple(struct writer *w, const struct gb_value *items, const struct gb_value *rest,
    const struct gb_value *least) {
	double required = gb_value_type(least) == GB_NUMBER ? gb_value_as_number(least) : 0;
	gb_buf_append_char(w->out, '[');
	for (size_t i = 0; i < gb_value_count(items); i++) {
		gb_buf_printf(w->out, "%s(", i ? ", " : "");
		write_inner(w, gb_value_at(items, i));
		gb_buf_printf(w->out, ")%s", (double)i < required ? "" : "?");
	}
	if (gb_value_type(rest) != GB_BOOLEAN || gb_value_is_true(rest)) {
		gb_buf_printf(w->out, "%s...Array<", gb_value_count(items) ? ", " : "");
		write_inner(w, rest);
		gb_buf_append_char(w->out, '>');
	}
	gb_buf_append_char(w->out, ']');
}

static void write_array(struct writer *w, const struct gb_value *schema) {
	const struct gb_value *first = gb_value_get(schema, "prefixItems"),
			      *rest = gb_value_get(schema, "items");
	if (gb_value_type(rest) == GB_ARRAY) {
		first = rest;
		rest = gb_value_get(schema, "additionalItems");
	}
	if (gb_value_type(first) == GB_ARRAY) {
		write_tuple(w, first, rest, gb_value_get(schema, "minItems"));
		return;
	}
	gb_buf_printf(w->out, "Array<");
	write_inner(w, rest);
	gb_buf_append_char(w->out, '>');
}

static void write_property(
    struct writer *w, struct gb_str name, const struct gb_value *schema, bool required) {
	w->depth++;
	indent(w, 0);
	if (has_doc(schema)) {
		write_doc(w, gb_schema_text(gb_value_get(schema, "description")), schema);
		indent(w, 0);
	}
	w->depth--;
	write_key(w, name);
	gb_buf_printf(w->out, "%s: ", required ? "" : "?");
	write_inner(w, schema);
	gb_buf_printf(w->out, ";\n");
}

/* Names in "required" that are no properties. */
static void write_required_only(struct writer *w, const struct gb_value *schema) {
	const struct gb_value *required = gb_value_get(schema, "required"),
			      *properties = gb_value_get(schema, "properties");
	for (size_t i = 0; gb_value_type(required) == GB_ARRAY && i < gb_value_count(required); i++) {
		struct gb_str name = gb_schema_text(gb_value_at(required, i)), other;
		bool seen = !name.p || gb_value_get(properties, name.p);
		for (size_t k = 0; k < i && !seen; k++) {
			other = gb_schema_text(gb_value_at(required, k));
			seen = other.p && gb_str_eq(other, name);
		}
		if (!seen)
			write_property(w, name, NULL, true);
	}
}

static void write_object(struct writer *w, const struct gb_value *schema) {
	const struct gb_value *properties = gb_value_get(schema, "properties"),
			      *more = gb_value_get(schema, "additionalProperties");
	bool has_more = gb_value_type(more) != GB_BOOLEAN || gb_value_is_true(more);
	size_t n = gb_value_count(properties) + gb_value_count(gb_value_get(schema, "required"));
	if (!n && !has_more) {
		gb_buf_printf(w->out, "Record<string, never>");
		return;
	}
	gb_buf_printf(w->out, "{\n");
	for (size_t i = 0; gb_value_type(properties) == GB_OBJECT && i < gb_value_count(properties); i++) {
		struct gb_str name = gb_schema_text(gb_value_key_at(properties, i));
		write_property(w, name, gb_value_at(properties, i), gb_schema_requires(schema, name));
	}
	write_required_only(w, schema);
	if (has_more) {
		indent(w, 1);
		gb_buf_printf(w->out, "[key: string]: ");
		/* The type of other properties must fit the named ones, too. */
		if (n)
			gb_buf_printf(w->out, "unknown");
		else
			write_inner(w, more);
		gb_buf_printf(w->out, ";\n");
	}
	indent(w, 0);
	gb_buf_append_char(w->out, '}');
}

static void write_choices(struct writer *w, const struct gb_value *choices) {
	if (!gb_value_count(choices))
		gb_buf_printf(w->out, "never");
	for (size_t i = 0; i < gb_value_count(choices); i++) {
		gb_buf_printf(w->out, "%s", i ? " | " : "");
		write_literal(w, gb_value_at(choices, i));
	}
}

/* Each part in parentheses, since it may itself be a union. */
static void write_parts(struct writer *w, const struct gb_value *parts, const char *operator) {
	for (size_t i = 0; i < gb_value_count(parts); i++) {
		gb_buf_printf(w->out, "%s(", i ? operator: "");
		write_type(w, gb_value_at(parts, i));
		gb_buf_append_char(w->out, ')');
	}
}

static bool has_object(const struct gb_value *schema) {
	return gb_value_get(schema, "properties") || gb_value_get(schema, "additionalProperties") ||
	       gb_value_get(schema, "required");
}

static bool has_array(const struct gb_value *schema) {
	return gb_value_get(schema, "items") || gb_value_get(schema, "prefixItems");
}

static void write_one_type(struct writer *w, struct gb_str type, const struct gb_value *schema) {
	static const struct {
		const char *json, *typescript;
	} plain[] = {{"string", "string"}, {"number", "number"}, {"integer", "number"},
	    {"boolean", "boolean"}, {"null", "null"}};
	for (size_t i = 0; i < GB_COUNT(plain); i++) {
		if (!gb_str_eq(type, gb_str_from(plain[i].json)))
			continue;
		gb_buf_printf(w->out, "%s", plain[i].typescript);
		return;
	}
	if (gb_str_eq(type, GB_STR("object")))
		write_object(w, schema);
	else if (gb_str_eq(type, GB_STR("array")))
		write_array(w, schema);
	else
		gb_buf_printf(w->out, "unknown");
}

/* What "type", "properties" and "items" say. False if nothing. */
static bool write_shape(struct writer *w, const struct gb_value *schema) {
	const struct gb_value *type = gb_value_get(schema, "type");
	if (gb_value_type(type) == GB_ARRAY && gb_value_count(type)) {
		gb_buf_append_char(w->out, '(');
		for (size_t i = 0; i < gb_value_count(type); i++) {
			gb_buf_printf(w->out, "%s", i ? " | " : "");
			write_one_type(w, gb_schema_text(gb_value_at(type, i)), schema);
		}
		gb_buf_append_char(w->out, ')');
	} else if (gb_value_type(type) == GB_STRING) {
		write_one_type(w, gb_schema_text(type), schema);
	} else if (has_object(schema)) {
		write_object(w, schema);
	} else if (has_array(schema)) {
		write_array(w, schema);
	} else {
		return false;
	}
	return true;
}

static void join(struct writer *w, bool *written, const char *operator) {
	if (*written)
		gb_buf_printf(w->out, "%s", operator);
	*written = true;
}

/* All that a schema says at once is an intersection. */
static void write_combination(struct writer *w, const struct gb_value *schema) {
	static const char *const unions[] = {"anyOf", "oneOf"};
	const struct gb_value *reference = gb_value_get(schema, "$ref"), *all = gb_value_get(schema, "allOf");
	bool written = false;
	if (gb_value_type(reference) == GB_STRING) {
		join(w, &written, " & ");
		write_reference(w, gb_schema_text(reference));
	}
	/* "type" may stand beside "anyOf" and say nothing new, but what an object's properties are is new. */
	size_t before = w->out->len;
	if (written)
		gb_buf_printf(w->out, " & ");
	if (write_shape(w, schema))
		written = true;
	else
		w->out->len = before;
	for (size_t i = 0; i < GB_COUNT(unions); i++) {
		const struct gb_value *parts = gb_value_get(schema, unions[i]);
		if (gb_value_type(parts) != GB_ARRAY || !gb_value_count(parts))
			continue;
		join(w, &written, " & ");
		gb_buf_append_char(w->out, '(');
		write_parts(w, parts, " | ");
		gb_buf_append_char(w->out, ')');
	}
	if (gb_value_type(all) == GB_ARRAY && gb_value_count(all)) {
		join(w, &written, " & ");
		write_parts(w, all, " & ");
	}
	if (!written)
		gb_buf_printf(w->out, "unknown");
}

static void write_type(struct writer *w, const struct gb_value *schema) {
	const struct gb_value *choices = gb_value_get(schema, "enum"),
			      *constant = gb_value_get(schema, "const");
	bool is_nullable = gb_value_is_true(gb_value_get(schema, "nullable"));
	if (gb_value_type(schema) == GB_BOOLEAN && !gb_value_is_true(schema))
		gb_buf_printf(w->out, "never");
	else if (gb_value_type(schema) != GB_OBJECT || w->depth > GB_SCHEMA_DEPTH_MAX ||
		 gb_buf_failed(w->out))
		gb_buf_printf(w->out, "unknown");
	else if (constant)
		write_literal(w, constant);
	else if (gb_value_type(choices) == GB_ARRAY)
		write_choices(w, choices);
	else
		write_combination(w, schema);
	if (is_nullable)
		gb_buf_printf(w->out, " | null");
}

/* --- tools --- */

static void write_named(struct writer *w, const char *name, const struct gb_value *schema) {
	w->current = schema;
	w->direct = true;
	gb_buf_printf(w->out, "type %s = ", name);
	write_type(w, schema);
	gb_buf_printf(w->out, ";\n");
}

/* The type of @schema under @name, and the types of its parts. */
static void write_schema(struct writer *w, const char *name, const struct gb_value *schema) {
	w->root = schema;
	w->n_refs = 0;
	snprintf(w->base, sizeof w->base, "%s", name);
	struct ref *own = &w->refs[w->n_refs++];
	own->schema = schema;
	snprintf(own->name, sizeof own->name, "%s", name);
	/* Writing one may add others. */
	for (size_t i = 0; i < w->n_refs && !gb_buf_failed(w->out); i++)
		write_named(w, w->refs[i].name, w->refs[i].schema);
}

/* Whether {} is certain to be accepted. */
static bool is_optional(const struct gb_value *schema) {
	static const char *const complicated[] = {
	    "anyOf", "oneOf", "allOf", "$ref", "enum", "const", "not", "if"};
	for (size_t i = 0; i < GB_COUNT(complicated); i++)
		if (gb_value_get(schema, complicated[i]))
			return false;
	return gb_value_count(gb_value_get(schema, "required")) == 0 &&
	       gb_str_eq(gb_schema_text(gb_value_get(schema, "type")), GB_STR("object"));
}

static void write_tool(struct writer *w, const struct gb_tool_spec *tool) {
	char function[160], name[200], params[240] = "Record<string, unknown>", result[240] = "unknown";
	const char *taken = gb_names_take(&w->names, tool->name);
	snprintf(function, sizeof function, "%s", taken ? taken : "_");
	if (tool->input) {
		snprintf(name, sizeof name, "%s_params", function);
		taken = gb_names_take(&w->names, gb_str_from(name));
		snprintf(params, sizeof params, "%s", taken ? taken : "unknown");
		write_schema(w, params, tool->input);
	}
	if (tool->output) {
		snprintf(name, sizeof name, "%s_result", function);
		taken = gb_names_take(&w->names, gb_str_from(name));
		snprintf(result, sizeof result, "%s", taken ? taken : "unknown");
		write_schema(w, result, tool->output);
	}
	if (tool->description.n)
		write_doc(w, tool->description, NULL);
	gb_buf_printf(w->out, "async function %s(params: %s%s): Promise<%s> {\n  return (await __callTool__(",
	    function, params, !tool->input || is_optional(tool->input) ? " = {}" : "", result);
	gb_json_append_string(w->out, tool->name);
	gb_buf_printf(w->out, ", params)) as %s;\n}\n", result);
}

bool gb_stubs_typescript(const struct gb_value *tools, struct gb_buf *out, struct gb_err *err) {
	struct writer w = {.out = out, .refs = calloc(REFS_MAX, sizeof(struct ref))};
	struct gb_tool_spec tool;
	if (!w.refs)
		return gb_fail(err, GB_ENOMEM, 0, "stubs");
	gb_names_init(&w.names, reserved);
	gb_buf_printf(
	    out, "declare function __callTool__(name: string, params: unknown): Promise<unknown>;\n");
	for (size_t i = 0; gb_tools_at(tools, i, &tool) && !gb_buf_failed(out); i++)
		write_tool(&w, &tool);
	bool ok = !gb_buf_failed(out) && !gb_buf_failed(&w.names.list);
	gb_names_finish(&w.names);
	free(w.refs);
	return ok || gb_fail(err, GB_ELIMIT, 0, "the functions for these tools are larger than %zu bytes",
			 out->max);
}
