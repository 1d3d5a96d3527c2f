/* The tools that execute something. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "engine/engine.h"
#include "mcp/conversation.h"
#include "value/text.h"

static struct gb_gate_request base_request(const struct gb_mcp *mcp, enum gb_language language) {
	return (struct gb_gate_request){.conversation = mcp->conversation, .run = {.language = language}};
}

/* A run that waits for input would keep the code behind it from starting. True: the request was refused. */
static bool refuse_if_waiting(struct gb_mcp_request *request, const char *session) {
	const struct gb_mcp_run *run = gb_mcp_run_in(request->mcp, session);
	if (!run || !run->waits)
		return false;
	gb_mcp_refuse(request,
	    "session %s waits for input after this prompt: %s\nAnswer it with send_input, end the session "
	    "with "
	    "kill_session, or use another one (sessionId \"new\").",
	    session, run->prompt ? run->prompt : "");
	return true;
}

/* An earlier run in the session has ended after its call: what it left is not reported any more. */
static void forget_ended(struct gb_mcp *mcp, const char *session) {
	struct gb_mcp_run *run = gb_mcp_run_in(mcp, session);
	if (run && !run->execution)
		gb_mcp_run_free(run);
}

/* The tier that the call asks for; else that of the session that it names. */
static enum gb_tier choose_tier(struct gb_mcp *mcp, const struct gb_mcp_args *args) {
	struct gb_session_info info;
	if (args->tier)
		return *args->tier;
	return args->session && gb_mcp_find_session(mcp, args->session, &info) ? gb_mcp_tier_of(&info)
									       : GB_TIER_ISOLATED;
}

/* False: the request was refused. */
static bool check_runtime(struct gb_mcp_request *request, const struct gb_mcp_args *args, enum gb_tier tier) {
	const char *name = gb_language_name(args->runtime);
	if (!gb_language_has(args->runtime, GB_NEED_SESSIONS) && (args->session || args->fresh))
		gb_mcp_refuse(request, "%s has no sessions: leave sessionId out", name);
	else if (tier == GB_TIER_NETWORK && args->tier &&
		 !gb_mcp_offers_network_to(request->mcp, args->runtime))
		gb_mcp_refuse(request, "the network tier is not for %s", name);
	else if (!args->code.n)
		gb_mcp_refuse(request, "code is empty");
	else
		return true;
	return false;
}

void gb_mcp_execute(struct gb_mcp_request *request, const struct gb_mcp_args *args) {
	struct gb_mcp *mcp = request->mcp;
	struct gb_gate_request gate = base_request(mcp, args->runtime);
	struct gb_session_info info;
	gate.tier = choose_tier(mcp, args);
	if (!check_runtime(request, args, gate.tier))
		return;
	gate.purpose = args->purpose;
	gate.session = args->session;
	gate.fresh = args->fresh;
	gate.persistent = !args->session && mcp->config->agent.persistent_sessions &&
			  gb_language_has(args->runtime, GB_NEED_SESSIONS);
	/* Only a shell session has a terminal; elsewhere nothing waits for input. */
	gate.waits_for_input = (gate.persistent || gate.session) && args->runtime == GB_SHELL;
	gate.run.source = args->code.p;
	gate.run.source_bytes = args->code.n;
	const char *session = args->session;
	if (!session && !args->fresh && gb_mcp_default_session(mcp, args->runtime, gate.tier, &info))
		session = info.id;
	if (session && refuse_if_waiting(request, session))
		return;
	if (session)
		forget_ended(mcp, session);
	gb_mcp_run_start(request, &gate, GB_MCP_FORM_RESULT);
}

void gb_mcp_send_input(struct gb_mcp_request *request, const struct gb_mcp_args *args) {
	struct gb_mcp *mcp = request->mcp;
	struct gb_mcp_run *waiting = gb_mcp_run_in(mcp, args->session);
	struct gb_gate_request gate = base_request(mcp, GB_SHELL);
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, args->text.n + 2);
	gb_buf_append_str(&text, args->text);
	if (!args->text.n || args->text.p[args->text.n - 1] != '\n')
		gb_buf_append_char(&text, '\n');
	gate.is_input = true;
	gate.session = args->session;
	gate.run.source = gb_buf_c_str(&text);
	gate.run.source_bytes = text.len;
	if (!waiting) {
		gb_mcp_refuse(request, "nothing in session %s waits for input", args->session);
		return;
	}
	if (!waiting->execution) {
		/* Nothing was typed: the code has ended meanwhile. Its output is the answer. */
		struct gb_mcp_request *asked = request;
		if (waiting->final_failed || gb_buf_failed(&waiting->final))
			gb_mcp_reply(asked, gb_buf_str(&waiting->final), (struct gb_str){"", 0}, true);
		else
			gb_mcp_reply(asked, gb_buf_str(&waiting->final), (struct gb_str){"", 0}, false);
		gb_mcp_run_free(waiting);
		return;
	}
	if (waiting->request) {
		gb_mcp_refuse(
		    request, "session %s does not wait for input: its code is running", args->session);
		return;
	}
	unsigned answered = waiting->n_prompts;
	struct gb_mcp_run *input = gb_mcp_run_start(request, &gate, GB_MCP_FORM_RESULT);
	if (input)
		input->n_prompts = answered;
}

/* --- files --- */

/* The session that has the file; false: the request was refused. */
static bool find_session(
    struct gb_mcp_request *request, const struct gb_mcp_args *args, struct gb_session_info *ret) {
	if (args->path && (!gb_path_is_plain(gb_str_from(args->path)) || strpbrk(args->path, "\r\n"))) {
		gb_mcp_refuse(request, "path must be relative to the working directory, such as data/a.csv, "
				       "without '.' and '..'");
		return false;
	}
	if (!gb_mcp_find_session(request->mcp, args->session, ret) || ret->state == GB_SESSION_TERMINATED) {
		gb_mcp_refuse(request,
		    "this conversation has no live session %s%s%s; execute_code opens another", args->session,
		    ret->reason && *ret->reason ? ": it has ended: " : "", ret->reason ? ret->reason : "");
		return false;
	}
	if (gb_config_runtime_of(ret->language) == GB_CONFIG_JAVASCRIPT) {
		gb_mcp_refuse(request, "a session of %s has no files", gb_language_name(ret->language));
		return false;
	}
	return !refuse_if_waiting(request, args->session);
}

static void start_file(struct gb_mcp_request *request, struct gb_gate_request *gate,
    const struct gb_mcp_args *args, enum gb_mcp_form form, size_t bytes) {
	static const char *const purposes[] = {[GB_MCP_FORM_FILE] = "read the file",
	    [GB_MCP_FORM_LISTING] = "list all files",
	    [GB_MCP_FORM_WRITTEN] = "write the file"};
	struct gb_mcp_run *run;
	char purpose[4096];
	snprintf(purpose, sizeof purpose, "%s%s%.3000s", purposes[form], args->path ? " " : "",
	    args->path ? args->path : "");
	forget_ended(request->mcp, args->session);
	gate->session = args->session;
	gate->purpose = purpose;
	/* What a person approves must have code: a comment, which has the path in one line. */
	gb_auto_buf struct gb_buf source;
	gb_buf_init(&source, 8192);
	if (form == GB_MCP_FORM_WRITTEN)
		gb_buf_printf(&source, "%s write_file: %s",
		    gate->run.language == GB_NODE || gate->run.language == GB_DENO ? "//" : "#", args->path);
	gate->run.source = source.len ? gb_buf_c_str(&source) : "";
	run = gb_mcp_run_start(request, gate, form);
	if (!run)
		return;
	run->path = args->path ? strdup(args->path) : NULL;
	run->bytes = bytes;
}

static void take(
    struct gb_mcp_request *request, const struct gb_mcp_args *args, const char *path, enum gb_mcp_form form) {
	struct gb_session_info info = {0};
	if (!find_session(request, args, &info))
		return;
	struct gb_gate_request gate = base_request(request->mcp, info.language);
	struct gb_values *pool = gb_values_create(0);
	gate.tier = gb_mcp_tier_of(&info);
	struct gb_value *paths = gb_value_array(pool);
	gb_value_push(paths, gb_value_string(pool, path, strlen(path)));
	gate.run.take = paths;
	if (gb_values_failed(pool))
		gb_mcp_refuse(request, "the path must be UTF-8 text");
	else
		start_file(request, &gate, args, form, 0);
	gb_values_destroy(pool);
}

void gb_mcp_read_file(struct gb_mcp_request *request, const struct gb_mcp_args *args) {
	take(request, args, args->path, GB_MCP_FORM_FILE);
}

void gb_mcp_list_files(struct gb_mcp_request *request, const struct gb_mcp_args *args) {
	take(request, args, ".", GB_MCP_FORM_LISTING);
}

static struct gb_value *read_content(struct gb_values *pool, const struct gb_mcp_args *args, size_t *ret_n) {
	gb_auto_buf struct gb_buf bytes;
	gb_buf_init(&bytes, GB_MCP_FILE_MAX);
	if (!args->base64) {
		*ret_n = args->content.n;
		return gb_value_string(pool, args->content.p, args->content.n);
	}
	if (!gb_base64_decode(&bytes, args->content))
		return NULL;
	*ret_n = bytes.len;
	return gb_value_buffer(pool, bytes.data ? bytes.data : "", bytes.len);
}

void gb_mcp_write_file(struct gb_mcp_request *request, const struct gb_mcp_args *args) {
	struct gb_session_info info = {0};
	size_t bytes = 0;
	if (!find_session(request, args, &info))
		return;
	struct gb_gate_request gate = base_request(request->mcp, info.language);
	gate.tier = gb_mcp_tier_of(&info);
	struct gb_values *pool = gb_values_create(args->content.n * 2 + (64 << 10));
	struct gb_value *files = gb_value_object(pool), *content = read_content(pool, args, &bytes);
	gate.run.files = files;
	if (!content || !gb_value_put_key(files, args->path, content))
		gb_mcp_refuse(
		    request, args->base64 ? "content is not base64, or too long" : "content is too long");
	else
		start_file(request, &gate, args, GB_MCP_FORM_WRITTEN, bytes);
	gb_values_destroy(pool);
}
