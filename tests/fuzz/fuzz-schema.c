/* Stubs and checks of any list of tools: bounded, and the same text twice. */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "schema/schema.h"

static void check_stubs(const struct gb_value *tools,
    bool (*write)(const struct gb_value *tools, struct gb_buf *out, struct gb_err *err)) {
	gb_auto_buf struct gb_buf once, twice;
	gb_buf_init(&once, 1 << 20);
	gb_buf_init(&twice, 1 << 20);
	bool ok = write(tools, &once, NULL);
	ALWAYS(write(tools, &twice, NULL) == ok);
	ALWAYS(!ok || (once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_err err = {0};
	struct gb_tool_spec tool;
	const struct gb_value *json = gb_value_from_json(pool, (const char *)data, size, NULL);
	const struct gb_value *tools = json ? gb_tools_list(json, &err) : NULL;
	ALWAYS(!json || !tools == (err.code != GB_OK));
	if (tools) {
		check_stubs(tools, gb_stubs_typescript);
		check_stubs(tools, gb_stubs_python);
	}
	for (size_t i = 0; i < 3 && gb_tools_at(tools, i, &tool); i++) {
		/* Any value will do, such as the list itself. */
		err = (struct gb_err){0};
		bool fits = gb_schema_check(tool.input, gb_value_get(json, "arguments"), "arguments", &err);
		ALWAYS(fits == (err.code == GB_OK));
		gb_schema_check(tool.input, json, "arguments", NULL);
	}
	gb_values_destroy(pool);
	return 0;
}
