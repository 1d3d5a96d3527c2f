/*
 * The executor: code that calls tools of the host. TypeScript in, a result of five fields out: success, output, error,
 * tool_calls_made, duration_ms. docs/EXECUTOR.md is its reference.
 *
 *	struct gb_executor_request request = {.code = code, .stubs = stubs, .on_call = on_call, .on_done = on_done};
 *	if (!gb_executor_start(client, &request, &executor, &err))
 *		gb_executor_refuse(&err, &json);	// the result, as JSON
 *	...
 *	on_call: gb_executor_return(executor, call, json) or gb_executor_throw(executor, call, message), now or later
 *	on_done: gb_executor_write(result, &json), gb_executor_release(executor)
 *
 * The code is the body of an async function, or a Python program. Before it are functions of the face (__callTool__,
 * output, debug) and the stubs of the tools, which are ordinary functions; positions in errors are those of the code.
 * Nothing of the agent decides what is put there.
 */
#ifndef GB_FACE_EXECUTOR_H
#define GB_FACE_EXECUTOR_H

#include "base/buf.h"
#include "service/service.h"

struct gb_executor;

struct gb_executor_result {
	bool success;
	bool has_value; /* the code has returned a value, which is the last line of the output */
	bool denied;    /* the code was not run */
	bool timed_out;
	struct gb_str output, error; /* error: empty if successful */
	unsigned tool_calls;
	double duration_ms;
};

/* Zero means the default, in every field. Everything is copied. */
struct gb_executor_request {
	struct gb_str code;
	/* The tools, as JSON: see gb_tools_list (schema/schema.h). Arguments are checked against their schemas, and other
	 * names are refused. Without it, every call is passed on as it is. */
	struct gb_str tools;
	/* The functions of the tools, in the language of the code (TypeScript or Python); NULL or empty: made of .tools */
	const char *stubs;
	enum gb_language language; /* TypeScript, JavaScript, Deno or Python */
	/* At most what the settings have, which is the default. */
	uint64_t timeout_ms, max_code_bytes, max_output_bytes;
	uint32_t max_tool_calls; /* GB_NONE: none */
	/* The hosts that the code reaches, separated by commas, of those in the settings: the network tier. NULL or empty:
	 * none. */
	const char *hosts;
	/* The directory that the code reads and writes, as /box, with ":rw": see struct gb_run_options. NULL or empty: that of
	 * the settings, which may be none. */
	const char *workdir;
	/* The statements of the agent, and how the request has arrived: see struct gb_gate_request. */
	const char *purpose, *conversation, *turn, *transport;
	bool embedder_decides;

	/* The code calls the tool @name with @params, JSON. To be answered once, by @call, now or later. Must not release
	 * the executor. */
	void (*on_call)(struct gb_executor *executor, uint64_t call, struct gb_str name, struct gb_str params,
	    void *data);
	/* What is added to the output: a text that output() or console has written, a piece of what a program wrote, or the
	 * value that the code has returned. */
	void (*on_output)(struct gb_executor *executor, struct gb_str text, void *data);
	void (*on_debug)(struct gb_executor *executor, struct gb_str message, void *data);
	void (*on_pending)(
	    struct gb_executor *executor, struct gb_str approval, int64_t expires_ms, void *data);
	/* Called once, at last. @result lives until gb_executor_release. */
	void (*on_done)(struct gb_executor *executor, const struct gb_executor_result *result, void *data);
	void *data;
};

/* Fails with GB_ELIMIT and the field "code" if the code is too large, or like gb_service_submit; gb_executor_refuse
 * writes the result. The caller owns *ret: gb_executor_release. */
bool gb_executor_start(struct gb_service_client *client, const struct gb_executor_request *request,
    struct gb_executor **ret, struct gb_err *err);
/* What can be checked before anything is started. */
bool gb_executor_check(
    const struct gb_executor_request *request, const struct gb_config *config, struct gb_err *err);
/* Its execution; lives as long as it. */
struct gb_execution *gb_executor_execution(struct gb_executor *executor);
/* The code ends, and its result says so. */
void gb_executor_terminate(struct gb_executor *executor, const char *reason);
/* Also ends code that runs. NULL is fine. */
void gb_executor_release(struct gb_executor *executor);
/* Answer a call. False if there is none with this number that waits for its answer. @json is the value that the tool
 * has returned; empty: undefined. If it is too long, the call throws in the code. */
bool gb_executor_return(struct gb_executor *executor, uint64_t call, struct gb_str json);
/* The call throws an Error with this message. */
bool gb_executor_throw(struct gb_executor *executor, uint64_t call, struct gb_str message);
/* Every call that waits for an answer throws. One that waits for approval goes on waiting. */
void gb_executor_drop_calls(struct gb_executor *executor, struct gb_str message);

/* Append the result as a JSON object. */
void gb_executor_write(const struct gb_executor_result *result, struct gb_buf *out);
/* The same for a request that could not be submitted. */
void gb_executor_refuse(const struct gb_err *err, struct gb_buf *out);

#endif
