#include "face/tool.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "face/actions.h"
#include "face/core_execute.h"

static const struct gb_tool *const tools[] = {
    &gb_tool_core_execute, &gb_tool_code_execute, &gb_tool_code_sandbox};

const struct gb_tool *gb_tool_at(size_t i) {
	return i < GB_COUNT(tools) ? tools[i] : NULL;
}

const struct gb_tool *gb_tool_find(const char *name) {
	for (size_t i = 0; i < GB_COUNT(tools); i++)
		if (strcmp(tools[i]->name, name) == 0)
			return tools[i];
	return NULL;
}

void gb_tool_call_finish(struct gb_tool_call *call) {
	if (!call)
		return;
	free(call->trace);
	call->trace = NULL;
	gb_values_destroy(call->values);
	call->values = NULL;
}
