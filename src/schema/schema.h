/*
 * JSON Schemas of tools: checks arguments against a schema, and generates functions for code that calls the tools.
 *
 *	struct gb_values *pool = gb_values_create(0);
 *	struct gb_value *json = gb_value_from_json(pool, text, n, &err);
 *	const struct gb_value *tools = gb_tools_list(json, &err);	// an array
 *	gb_stubs_typescript(tools, &out, &err);
 *	struct gb_tool_spec tool;
 *	if (gb_tools_find(tools, name, &tool) && !gb_schema_check(tool.input, arguments, &err))
 *		... err.message: "arguments.path.0: must be a string" ...
 *
 * Schemas come from tools, which may be hostile: depth, work and output are limited. References lead within the same
 * schema only; nothing is ever fetched.
 */
#ifndef GB_SCHEMA_SCHEMA_H
#define GB_SCHEMA_SCHEMA_H

#include "base/buf.h"
#include "glovebox/value.h"

enum {
	GB_TOOLS_MAX = 10000,
	GB_STUBS_MAX = 8 << 20, /* bytes of generated text */
};

/* One tool of a list. Texts and schemas belong to the list. */
struct gb_tool_spec {
	struct gb_str name, description;
	const struct gb_value *input, *output; /* schemas; NULL: anything */
	bool needs_approval;                   /* each call needs a person's approval */
};

/* The array of tools in @json: an array, or an object with "tools", as MCP lists them. Fails if an element has no
 * name, or two have the same. */
const struct gb_value *gb_tools_list(const struct gb_value *json, struct gb_err *err);
/* Tool number @i. False after the last. The schema is inputSchema, input_schema or parameters, also of an object
 * "function". */
bool gb_tools_at(const struct gb_value *tools, size_t i, struct gb_tool_spec *ret);
bool gb_tools_find(const struct gb_value *tools, struct gb_str name, struct gb_tool_spec *ret);

/* Check @value against @schema. The error names the path from @root_name, "arguments", and what is wrong. Not checked:
 * pattern, patternProperties, format, and other keywords that the page of the executor lists. Fails with GB_ELIMIT if a
 * check takes too much work. */
bool gb_schema_check(
    const struct gb_value *schema, const struct gb_value *value, const char *root_name, struct gb_err *err);

/* Append a typed asynchronous function for each tool, which calls __callTool__(name, params). Accepted by the compiler
 * in strict mode, and the same for the same tools. */
bool gb_stubs_typescript(const struct gb_value *tools, struct gb_buf *out, struct gb_err *err);
/* Append a function with hints and a docstring for each tool, which calls __call_tool__(name, params). */
bool gb_stubs_python(const struct gb_value *tools, struct gb_buf *out, struct gb_err *err);

#endif
