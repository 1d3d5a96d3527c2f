/*
 * The actions of YAML agents: code.execute runs code in a fresh sandbox, code.sandbox in one that keeps its state.
 * Both are tools whose output is a JSON object; they never fail, an error is part of the object. docs/YAML_AGENTS.md is
 * their reference.
 *
 *	struct gb_sandboxes *sandboxes = gb_sandboxes_create(service);	// of one client
 *	struct gb_tool_call call = {.sandboxes = sandboxes, .config = config, .is_enabled = true};
 *	if (tool->act(arguments, &call, &output)) ...			// create, destroy, list: answered
 *	else if (tool->read(arguments, &call, &request, &err)) ...	// execute: submit the request
 *	gb_sandboxes_destroy(sandboxes);				// ends them
 */
#ifndef GB_FACE_ACTIONS_H
#define GB_FACE_ACTIONS_H

#include "face/tool.h"
#include "service/service.h"

extern const struct gb_tool gb_tool_code_execute, gb_tool_code_sandbox;

/* NULL if there is no memory. @service outlives it. */
struct gb_sandboxes *gb_sandboxes_create(struct gb_service *service);
/* Ends the sandboxes. NULL is fine. */
void gb_sandboxes_destroy(struct gb_sandboxes *sandboxes);

/* --- internal to the actions --- */

/* "python", "javascript", "bash". */
const char *gb_action_language_name(enum gb_language language);

/* A sandbox and what was decided when it was created. */
struct gb_sandbox {
	struct gb_list link;
	char id[33]; /* of its session, whose conversation is gb_sandbox_conversation */
	char conversation[48];
	enum gb_language language;
	bool network, writes;
};

/* Open one. Fails like gb_manager_open. @ret lives until it is destroyed. */
bool gb_sandbox_open(struct gb_sandboxes *sandboxes, const struct gb_sandbox *asked, struct gb_sandbox **ret,
    struct gb_err *err);
/* NULL if this client has no such sandbox, or it has ended: then @ret_reason says why, or is empty. */
struct gb_sandbox *gb_sandbox_find(
    struct gb_sandboxes *sandboxes, const char *id, char *ret_reason, size_t n_reason);
void gb_sandbox_end(struct gb_sandboxes *sandboxes, struct gb_sandbox *sandbox);
/* Append an array of the ids, or of objects. */
void gb_sandboxes_write(struct gb_sandboxes *sandboxes, bool details, struct gb_buf *out);

/* Append {"success":…} with the keys of code.execute. */
void gb_action_write(
    const struct gb_tool_call *call, const struct gb_result *result, uint64_t timeout_ms, struct gb_buf *out);
/* The same for a request that did not run. */
void gb_action_write_error(const char *message, struct gb_buf *out);

#endif
