/* Checks of values against JSON Schemas: tests/data/schema-checks.txt. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "schema/schema.h"
#include "tap.h"

static void check_row(char *line) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	char *schema = line, *value = strchr(line, '\t');
	*value++ = '\0';
	char *expected = strchr(value, '\t');
	if (expected)
		*expected++ = '\0';
	const struct gb_value *parsed = gb_value_from_json(pool, schema, strlen(schema), NULL);
	const struct gb_value *given = gb_value_from_json(pool, value, strlen(value), NULL);
	if (!CHECK(parsed && given) ||
	    !CHECK_INT(gb_schema_check(parsed, given, "arguments", &err), !expected) ||
	    (expected && !CHECK_STR(err.message, expected)))
		printf("#   %s, %s: %s\n", schema, value, err.message);
	gb_values_destroy(pool);
}

TEST(values_are_checked_against_schemas) {
	char path[4096], line[4096];
	snprintf(path, sizeof path, "%s/schema-checks.txt", getenv("GB_TEST_DATA"));
	FILE *file = fopen(path, "re");
	unsigned n = 0;
	if (!CHECK(file != NULL))
		return;
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		check_row(line);
		n++;
	}
	fclose(file);
	CHECK(n >= 60);
}

/* A value with a thousand members, each of which is compared with all others. */
TEST(work_is_limited) {
	gb_auto_buf struct gb_buf text;
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	gb_buf_init(&text, 1 << 20);
	gb_buf_append_char(&text, '[');
	for (int i = 0; i < 3000; i++)
		gb_buf_printf(&text, "%s%d", i ? "," : "", i);
	gb_buf_append_char(&text, ']');
	static const char unique[] = "{\"uniqueItems\":true}";
	CHECK(!gb_schema_check(gb_value_from_json(pool, unique, strlen(unique), NULL),
	    gb_value_from_json(pool, text.data, text.len, NULL), "arguments", &err));
	CHECK_INT(err.code, GB_ELIMIT);
	gb_values_destroy(pool);
}

static const struct gb_value *list_of(struct gb_values *pool, const char *json, struct gb_err *err) {
	const struct gb_value *value = gb_value_from_json(pool, json, strlen(json), err);
	return value ? gb_tools_list(value, err) : NULL;
}

TEST(forms_of_tool_lists) {
	static const char *const forms[] = {
	    "[{\"name\":\"a\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"}}]",
	    "{\"tools\":[{\"name\":\"a\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}]}",
	    "[{\"type\":\"function\",\"function\":{\"name\":\"a\",\"description\":\"d\",\"parameters\":{"
	    "\"type\":\"object\"}}}]"};
	for (size_t i = 0; i < GB_COUNT(forms); i++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_err err = {0};
		struct gb_tool_spec tool = {0};
		const struct gb_value *tools = list_of(pool, forms[i], &err);
		CHECK(tools && gb_tools_find(tools, GB_STR("a"), &tool));
		CHECK(gb_str_eq(tool.name, GB_STR("a")) && gb_str_eq(tool.description, GB_STR("d")) &&
		      tool.input);
		CHECK(!gb_tools_find(tools, GB_STR("b"), &tool));
		gb_values_destroy(pool);
	}
}

TEST(wrong_tool_lists_are_refused) {
	static const char *const wrong[][2] = {{"5", "tools must be an array"},
	    {"{}", "tools must be an array"}, {"[{}]", "tool 0: must be an object with a \"name\""},
	    {"[5]", "tool 0: must be"}, {"[{\"name\":\"a\",\"inputSchema\":5}]", "tool 0: must be"},
	    {"[{\"name\":\"a\"},{\"name\":\"a\"}]", "tool 1: there is another one"}};
	for (size_t i = 0; i < GB_COUNT(wrong); i++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_err err = {0};
		if (!CHECK(!list_of(pool, wrong[i][0], &err) && strstr(err.message, wrong[i][1])))
			printf("#   %s: %s\n", wrong[i][0], err.message);
		gb_values_destroy(pool);
	}
}
