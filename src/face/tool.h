/*
 * Tools that a model calls: a definition for the model, and calls with arguments as one JSON object.
 *
 *	const struct gb_tool *tool = gb_tool_find(name);
 *	struct gb_gate_request request = {.transport = "cli"};
 *	if (!tool->read(arguments, &call, &request, &err))
 *		tool->refuse(&err, &output);
 *	... submit the request; when it has a result ...
 *	tool->answer(&call, result, timeout_ms, config, &output);	// output: the text of {"output": text}
 */
#ifndef GB_FACE_TOOL_H
#define GB_FACE_TOOL_H

#include "base/buf.h"
#include "gate/gate.h"

struct gb_sandboxes;

/* Storage of one call that a request points into. */
struct gb_tool_call {
	char *trace;              /* JSON */
	struct gb_values *values; /* or NULL */
	/* Set by the transport before .act and .read. */
	const struct gb_config *config;
	struct gb_sandboxes *sandboxes; /* of its client; NULL: it has none */
	bool is_enabled; /* code of the face may run: agents are enabled, or the embedder has enabled it */
	/* Set by .read. */
	bool asks_person; /* although the embedding program decides */
	enum gb_language language;
	uint64_t output_bytes;
};

/* NULL is fine. */
void gb_tool_call_finish(struct gb_tool_call *call);

struct gb_tool {
	const char *name;
	/* Append its definition as JSON: name, description, parameters (a JSON Schema), and the calls in a turn. */
	void (*define)(const struct gb_config *config, struct gb_buf *out);
	/* NULL, or: answer a call that runs no code. False if it runs code: .read. */
	bool (*act)(const struct gb_value *arguments, struct gb_tool_call *call, struct gb_buf *out);
	/* Fill in face, language, source, limits and statements; they point into @arguments and @call. Fails with
	 * GB_EINVAL and the field of @arguments. */
	bool (*read)(const struct gb_value *arguments, struct gb_tool_call *call,
	    struct gb_gate_request *request, struct gb_err *err);
	/* Append the output for arguments, or a submission, that failed. */
	void (*refuse)(const struct gb_err *err, struct gb_buf *out);
	/* Append the output for a result. @timeout_ms is the limit that the code had. */
	void (*answer)(const struct gb_tool_call *call, const struct gb_result *result, uint64_t timeout_ms,
	    const struct gb_config *config, struct gb_buf *out);
};

/* NULL if there is no such tool. */
const struct gb_tool *gb_tool_find(const char *name);
/* Tool number @i, from 0; NULL after the last. */
const struct gb_tool *gb_tool_at(size_t i);

/* The largest output of a tool, in bytes. */
enum { GB_TOOL_OUTPUT_MAX = 17 << 20 };

#endif
