/* Lists of tools, in the forms that MCP and model APIs use. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "schema/internal.h"

static const struct gb_value *first_of(const struct gb_value *object, const char *const *names) {
	const struct gb_value *found = NULL;
	for (; *names && !found; names++)
		found = gb_value_get(object, *names);
	return found;
}

bool gb_tools_at(const struct gb_value *tools, size_t i, struct gb_tool_spec *ret) {
	static const char *const inputs[] = {"inputSchema", "input_schema", "parameters", NULL};
	static const char *const outputs[] = {"outputSchema", "output_schema", NULL};
	const struct gb_value *tool = gb_value_at(tools, i), *function = gb_value_get(tool, "function");
	if (!tool)
		return false;
	if (gb_value_type(function) == GB_OBJECT)
		tool = function;
	*ret = (struct gb_tool_spec){.name = gb_schema_text(gb_value_get(tool, "name")),
	    .description = gb_schema_text(gb_value_get(tool, "description")),
	    .input = first_of(tool, inputs),
	    .output = first_of(tool, outputs),
	    .needs_approval = gb_value_is_true(gb_value_get(tool, "requiresApproval"))};
	return true;
}

bool gb_tools_find(const struct gb_value *tools, struct gb_str name, struct gb_tool_spec *ret) {
	struct gb_tool_spec tool;
	for (size_t i = 0; gb_tools_at(tools, i, &tool); i++) {
		if (!gb_str_eq(tool.name, name))
			continue;
		*ret = tool;
		return true;
	}
	return false;
}

static bool is_schema(const struct gb_value *schema) {
	return !schema || gb_value_type(schema) == GB_OBJECT || gb_value_type(schema) == GB_BOOLEAN;
}

const struct gb_value *gb_tools_list(const struct gb_value *json, struct gb_err *err) {
	const struct gb_value *tools = gb_value_type(json) == GB_OBJECT ? gb_value_get(json, "tools") : json;
	struct gb_tool_spec tool, other;
	if (gb_value_type(tools) != GB_ARRAY) {
		gb_fail(err, GB_EINVAL, 0, "tools must be an array, or an object with an array \"tools\"");
		return NULL;
	}
	if (gb_value_count(tools) > GB_TOOLS_MAX) {
		gb_fail(err, GB_ELIMIT, 0, "there are %zu tools; the maximum is %d", gb_value_count(tools),
		    GB_TOOLS_MAX);
		return NULL;
	}
	for (size_t i = 0; gb_tools_at(tools, i, &tool); i++) {
		if (!tool.name.n || !is_schema(tool.input) || !is_schema(tool.output)) {
			gb_fail(err, GB_EINVAL, 0,
			    "tool %zu: must be an object with a \"name\", and schemas that are objects", i);
			return NULL;
		}
		if (gb_tools_find(tools, tool.name, &other) && other.name.p != tool.name.p) {
			gb_fail(err, GB_EINVAL, 0, "tool %zu: there is another one with this name", i);
			return NULL;
		}
	}
	return tools;
}

/* --- references --- */

/* "~1" is "/", "~0" is "~", and %XX is a byte: a pointer in a URI. */
static bool token_equals(struct gb_str token, struct gb_str key) {
	size_t k = 0;
	for (size_t i = 0; i < token.n; i++, k++) {
		unsigned char c = (unsigned char)token.p[i];
		unsigned byte;
		if (c == '%' && i + 2 < token.n && sscanf(token.p + i + 1, "%2x", &byte) == 1) {
			c = (unsigned char)byte;
			i += 2;
		}
		if (c == '~' && i + 1 < token.n && (token.p[i + 1] == '0' || token.p[i + 1] == '1'))
			c = token.p[++i] == '0' ? '~' : '/';
		if (k >= key.n || (unsigned char)key.p[k] != c)
			return false;
	}
	return k == key.n;
}

static const struct gb_value *step(const struct gb_value *at, struct gb_str token) {
	if (gb_value_type(at) == GB_ARRAY) {
		size_t index = 0;
		for (size_t i = 0; i < token.n; i++) {
			if (token.p[i] < '0' || token.p[i] > '9' || index > GB_TOOLS_MAX)
				return NULL;
			index = index * 10 + (size_t)(token.p[i] - '0');
		}
		return token.n ? gb_value_at(at, index) : NULL;
	}
	for (size_t i = 0; gb_value_type(at) == GB_OBJECT && i < gb_value_count(at); i++)
		if (token_equals(token, gb_schema_text(gb_value_key_at(at, i))))
			return gb_value_at(at, i);
	return NULL;
}

const struct gb_value *gb_schema_follow(const struct gb_value *root, struct gb_str reference) {
	struct gb_str token;
	if (!reference.n || reference.p[0] != '#')
		return NULL;
	struct gb_str rest = {reference.p + 1, reference.n - 1};
	if (rest.n && rest.p[0] != '/')
		return NULL;
	if (rest.n)
		rest = (struct gb_str){rest.p + 1, rest.n - 1};
	for (bool more = reference.n > 1; more && root;) {
		more = gb_str_cut(&rest, '/', &token);
		root = step(root, token);
	}
	return root && (gb_value_type(root) == GB_OBJECT || gb_value_type(root) == GB_BOOLEAN) ? root : NULL;
}

/* --- keywords --- */

bool gb_schema_allows(const struct gb_value *schema, const char *type) {
	const struct gb_value *types = gb_value_get(schema, "type");
	if (gb_value_type(types) == GB_STRING)
		return gb_str_eq(gb_schema_text(types), gb_str_from(type));
	for (size_t i = 0; gb_value_type(types) == GB_ARRAY && i < gb_value_count(types); i++)
		if (gb_str_eq(gb_schema_text(gb_value_at(types, i)), gb_str_from(type)))
			return true;
	return gb_value_type(types) != GB_ARRAY;
}

bool gb_schema_requires(const struct gb_value *schema, struct gb_str name) {
	const struct gb_value *required = gb_value_get(schema, "required");
	for (size_t i = 0; gb_value_type(required) == GB_ARRAY && i < gb_value_count(required); i++)
		if (gb_str_eq(gb_schema_text(gb_value_at(required, i)), name))
			return true;
	return false;
}
