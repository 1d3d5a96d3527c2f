/*
 * Decisions by the user of the client, if the owner trusts the client's word (mcp.trustClientApproval): a legacy client
 * is sent a request; a modern one gets a result that asks for input, and repeats its call with the answer. Otherwise,
 * and if the client cannot ask, the request waits for 'glovebox approvals'.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "mcp/conversation.h"
#include "value/json.h"
#include "value/wtf8.h"

#define ASKED_PREFIX "glovebox-"

/* --- what the dialog shows --- */

/* Characters that could hide other text are shown by their number. */
static void append_visible(struct gb_buf *out, struct gb_str text) {
	while (text.n) {
		uint32_t c;
		size_t n = gb_wtf8_next(text.p, text.n, &c);
		if (!n)
			return;
		if (c != '\n' && c != '\t' && gb_wtf8_is_unsafe(c))
			gb_buf_printf(out, "\\u{%x}", (unsigned)c);
		else
			gb_buf_append(out, text.p, n);
		text = (struct gb_str){text.p + n, text.n - n};
	}
}

static void append_files(struct gb_buf *out, const struct gb_value *files) {
	for (size_t i = 0; i < gb_value_count(files); i++) {
		struct gb_str path, content;
		path.p = gb_value_bytes(gb_value_key_at(files, i), &path.n);
		content.p = gb_value_bytes(gb_value_at(files, i), &content.n);
		gb_buf_printf(out, "file ");
		append_visible(out, path);
		gb_buf_printf(out, ":\n");
		if (gb_wtf8_scan(content.p, content.n) == GB_WTF8_UTF8)
			append_visible(out, content);
		else
			out->failed =
			    true; /* binary content cannot be shown, so it cannot be approved here */
	}
}

void gb_mcp_bind(struct gb_mcp_run *run, const struct gb_gate_request *gate) {
	const struct gb_run_options *options = &gate->run;
	const char *source = options->source ? options->source : "";
	struct gb_str code = {source, options->source_bytes ? options->source_bytes : strlen(source)};
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_MCP_SHOWN_CODE_MAX);
	gb_buf_printf(&text, "%s %s%s%s\n", gate->is_input ? "Type this text into" : "An agent asks to run",
	    gate->is_input ? "session" : gb_language_name(options->language),
	    gate->session ? (gate->is_input ? " " : " in session ") : "", gate->session ? gate->session : "");
	if (gate->tier == GB_TIER_NETWORK && !gate->is_input) {
		const struct gb_config_list *hosts = &run->mcp->config->network.allowlist;
		gb_buf_printf(&text, "It can connect to:");
		for (size_t i = 0; i < hosts->n; i++)
			gb_buf_printf(&text, "%s %s", i ? "," : "", hosts->items[i]);
		gb_buf_append_char(&text, '\n');
	}
	if (gate->purpose && *gate->purpose) {
		gb_buf_printf(&text, "Purpose, as the agent states it: ");
		append_visible(&text, gb_str_from(gate->purpose));
		gb_buf_append_char(&text, '\n');
	}
	const struct gb_mcp_run *waiting = gate->is_input ? gb_mcp_run_in(run->mcp, gate->session) : NULL;
	if (waiting && waiting->prompt) {
		gb_buf_printf(&text, "It answers this prompt: ");
		append_visible(&text, gb_str_from(waiting->prompt));
		gb_buf_append_char(&text, '\n');
	}
	gb_buf_append_char(&text, '\n');
	append_files(&text, options->files);
	if (gb_wtf8_scan(code.p, code.n) != GB_WTF8_UTF8)
		text.failed = true;
	append_visible(&text, code);
	const char *shown = gb_buf_c_str(&text);
	run->shown = shown ? strdup(shown) : NULL;
}

/* --- asking --- */

static void write_dialog(struct gb_buf *out, const struct gb_mcp_run *run, bool modern) {
	bool may_trust = run->mcp->config->agent.persistent_sessions;
	gb_buf_printf(out, "{%s", modern ? "\"mode\":\"form\"" : "");
	gb_mcp_text(out, "message", gb_str_from(run->shown));
	gb_mcp_key(out, "requestedSchema");
	gb_buf_printf(out,
	    "{\"type\":\"object\",\"properties\":{\"decision\":{\"type\":\"string\",\"title\":\"Decision\","
	    "\"enum\":[\"approve\",\"deny\"%s],\"enumNames\":[\"Approve\",\"Deny\"%s]}},\"required\":["
	    "\"decision\"]}}",
	    may_trust ? ",\"trust\"" : "", may_trust ? ",\"Approve and trust the session\"" : "");
}

static void ask_legacy(struct gb_mcp_run *run) {
	struct gb_mcp *mcp = run->mcp;
	struct gb_buf *out = &mcp->out;
	run->asked = ++mcp->n_asked;
	gb_buf_clear(out);
	gb_buf_printf(out,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"" ASKED_PREFIX
	    "%llu\",\"method\":\"elicitation/create\",\"params\":",
	    (unsigned long long)run->asked);
	write_dialog(out, run, false);
	gb_buf_append_char(out, '}');
	gb_mcp_send(mcp, run->request);
}

/* The state is a random number that stands for the run: nothing of it is in the client's hands. */
static void ask_modern(struct gb_mcp_run *run) {
	struct gb_mcp_request *request = run->request;
	uint8_t bytes[16];
	randombytes_buf(bytes, sizeof bytes);
	sodium_bin2hex(run->state, sizeof run->state, bytes, sizeof bytes);
	memcpy(run->digest, request->digest, sizeof run->digest);
	struct gb_buf *out = gb_mcp_begin_as(request, "input_required");
	gb_mcp_key(out, "inputRequests");
	gb_buf_printf(out, "{\"decision\":{\"method\":\"elicitation/create\",\"params\":");
	write_dialog(out, run, true);
	gb_buf_printf(out, "}}");
	gb_mcp_text(out, "requestState", gb_str_from(run->state));
	run->request = NULL;
	request->run = NULL;
	gb_mcp_end(request);
}

static void report_waiting(struct gb_mcp_run *run) {
	char text[160];
	if (!run->request || !*run->approval)
		return;
	snprintf(text, sizeof text, "waiting for approval %.8s: glovebox approvals show %.8s", run->approval,
	    run->approval);
	gb_mcp_report(run->request, gb_str_from(text));
}

void gb_mcp_ask(struct gb_mcp_run *run, struct gb_str approval) {
	const struct gb_mcp_request *request = run->request;
	gb_copy_text(run->approval, sizeof run->approval, approval);
	run->asked = 0;
	if (!request)
		return;
	if (!run->mcp->config->mcp.trust_client || !request->elicits || !run->shown) {
		report_waiting(run);
	} else if (request->era == GB_MCP_LEGACY) {
		report_waiting(run);
		ask_legacy(run);
	} else {
		ask_modern(run);
	}
}

/* --- answers --- */

static void write_decider(const struct gb_mcp *mcp, char text[120]) {
	size_t n = (size_t)snprintf(text, 120, "MCP client %s", mcp->client_name);
	for (size_t i = 0; i < n && text[i]; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
}

/* @answer is the result of a dialog. A dialog that was closed decides nothing. */
static void decide(struct gb_mcp_run *run, const struct gb_value *answer) {
	static const struct {
		const char *word;
		enum gb_approval_verdict verdict;
	} words[] = {{"approve", GB_APPROVE}, {"deny", GB_DENY}, {"trust", GB_TRUST}};
	const char *action = gb_jsonrpc_text(gb_value_get(answer, "action"));
	const char *word = gb_jsonrpc_text(gb_value_get(gb_value_get(answer, "content"), "decision"));
	char decider[120];
	write_decider(run->mcp, decider);
	run->asked = 0;
	if (!run->mcp->config->mcp.trust_client || !action)
		return;
	if (strcmp(action, "decline") == 0)
		gb_execution_decide(run->execution, GB_DENY, decider, "declined in the client's dialog");
	for (size_t i = 0; strcmp(action, "accept") == 0 && word && i < GB_COUNT(words); i++)
		if (strcmp(word, words[i].word) == 0)
			gb_execution_decide(run->execution, words[i].verdict, decider, "");
	report_waiting(run);
}

static struct gb_mcp_run *find_asked(struct gb_mcp *mcp, const char *id) {
	char text[48];
	gb_list_each(struct gb_mcp_run, run, &mcp->runs, link) {
		snprintf(text, sizeof text, ASKED_PREFIX "%llu", (unsigned long long)run->asked);
		if (run->asked && run->execution && strcmp(id, text) == 0)
			return run;
	}
	return NULL;
}

void gb_mcp_on_answer(struct gb_mcp *mcp, const struct gb_jsonrpc *message) {
	const char *id = gb_jsonrpc_text(message->id);
	struct gb_mcp_run *run = id ? find_asked(mcp, id) : NULL;
	if (run)
		decide(run, message->result);
}

static struct gb_mcp_run *find_state(struct gb_mcp *mcp, const char *state) {
	struct gb_mcp_run *found = NULL;
	gb_list_each(struct gb_mcp_run, run, &mcp->runs, link) {
		if (*run->state && strlen(state) == strlen(run->state) &&
		    sodium_memcmp(state, run->state, strlen(state)) == 0)
			found = run;
	}
	return found;
}

static void resume(struct gb_mcp_run *run, struct gb_mcp_request *request, const struct gb_value *answers) {
	const struct gb_value *answer = gb_value_get(answers, "decision");
	run->request = request;
	request->run = run;
	if (!run->execution) {
		run->request = NULL;
		request->run = NULL;
		gb_mcp_reply(request, gb_buf_str(&run->final), (struct gb_str){"", 0}, run->final_failed);
		gb_mcp_run_free(run);
	} else if (run->waits) {
		gb_mcp_run_reply_waiting(run);
	} else if (*run->approval && gb_value_type(answer) != GB_OBJECT) {
		gb_mcp_ask(run, gb_str_from(run->approval));
	} else {
		decide(run, answer);
	}
}

bool gb_mcp_continue(struct gb_mcp_request *request, const struct gb_value *params) {
	const struct gb_value *state = gb_value_get(params, "requestState");
	const char *text = gb_jsonrpc_text(state);
	if (!state || request->era != GB_MCP_MODERN)
		return false;
	struct gb_mcp_run *run = text ? find_state(request->mcp, text) : NULL;
	if (!run) {
		gb_mcp_fail(request, GB_JSONRPC_INVALID_PARAMS,
		    "requestState is unknown, was used, or has expired: repeat the call without it");
		return true;
	}
	*run->state = '\0'; /* it can be used once */
	if (memcmp(run->digest, request->digest, sizeof run->digest) == 0) {
		resume(run, request, gb_value_get(params, "inputResponses"));
		return true;
	}
	/* The call differs from the one that was shown, so it is another one. */
	gb_mcp_run_free(run);
	return false;
}
