/* Internal to src/mcp: one conversation, its requests, and the executions that they have started. */
#ifndef GB_MCP_CONVERSATION_H
#define GB_MCP_CONVERSATION_H

#include "base/list.h"
#include "mcp/mcp.h"

enum gb_mcp_era { GB_MCP_LEGACY, GB_MCP_MODERN };

enum {
	GB_MCP_SESSION_ID = 33,
	GB_MCP_REQUESTS_MAX = 256,        /* without a response */
	GB_MCP_RUNS_MAX = 256,            /* with those that wait for input or for a decision */
	GB_MCP_MESSAGE_MAX = 64 << 20,    /* bytes of a message to the client */
	GB_MCP_OUTPUT_KEPT = 64 << 10,    /* of a session, for its resource */
	GB_MCP_OUTPUTS_MAX = 64,          /* sessions with such output */
	GB_MCP_RECORDS_MAX = 200,         /* executions that are listed as resources */
	GB_MCP_FILE_MAX = 16 << 20,       /* of one file that a tool reads or writes */
	GB_MCP_EMBEDDED_MAX = 256 << 10,  /* of the files that a result contains */
	GB_MCP_SHOWN_CODE_MAX = 16 << 10, /* longer code is not shown by a client's dialog */
};

/* The latest output of a session. */
struct gb_mcp_kept {
	struct gb_list link;
	char session[GB_MCP_SESSION_ID];
	struct gb_buf text;
};

/* An execution that was recorded. */
struct gb_mcp_record {
	struct gb_list link;
	char id[33];
	enum gb_language language;
	const char *status;
};

/* A record that is being read, on a thread. */
struct gb_mcp_reading {
	struct gb_mcp_request *request; /* NULL: it was cancelled */
	char id[33];
};

struct gb_mcp {
	struct gb_mcp_options options;
	struct gb_service *service;
	const struct gb_config *config;
	struct gb_service_client client;
	char conversation[48];
	char client_name[80]; /* as the client has stated it */
	bool elicits;         /* a legacy client can ask its user */
	unsigned languages;   /* 1 << GB_PYTHON: installed */
	struct gb_list requests, runs, kept, records;
	unsigned n_requests, n_runs, n_kept, n_records;
	uint64_t n_asked; /* requests to the client */
	struct gb_buf out;
};

struct gb_mcp_run;

/* A request that has no response yet. */
struct gb_mcp_request {
	struct gb_list link;
	struct gb_mcp *mcp;
	enum gb_mcp_era era;
	void *context;
	char *id, *token;               /* JSON; the token of reports of progress, or NULL */
	bool elicits;                   /* the client can ask its user, by this request's era */
	uint8_t digest[32];             /* of a call: of the tool and its arguments */
	uint64_t progress;              /* number of the last report */
	uint64_t beat_at;               /* ns: when the next report is due */
	struct gb_mcp_run *run;         /* that it waits for; or NULL */
	struct gb_mcp_reading *reading; /* likewise */
};

/* How the outcome of an execution is written. */
enum gb_mcp_form { GB_MCP_FORM_RESULT, GB_MCP_FORM_FILE, GB_MCP_FORM_LISTING, GB_MCP_FORM_WRITTEN };

/* An execution of a tool call. It outlives the call if the code waits for input, or the call for a decision. */
struct gb_mcp_run {
	struct gb_list link;
	struct gb_mcp *mcp;
	struct gb_mcp_request *request; /* that waits for it; or NULL */
	struct gb_execution *execution; /* NULL: it is done */
	enum gb_language language;
	enum gb_mcp_form form;
	char session[GB_MCP_SESSION_ID]; /* as far as it is known; else empty */
	bool is_input;                   /* text for the run that waits in .session */
	unsigned n_prompts; /* of a run: how many there were; of an input: the one that it answers */
	bool waits;         /* for input, after .prompt */
	char *prompt;
	struct gb_buf streams[2]; /* output that no result has contained yet */
	uint64_t began;           /* ns */
	char *path;               /* of a file that it reads or writes */
	bool base64;
	size_t bytes;
	/* While it waits for a decision. */
	char approval[33];
	char state[33];     /* requestState of a modern client; empty: none */
	uint8_t digest[32]; /* of the arguments that the state belongs to */
	uint64_t asked;     /* id of the request to a legacy client; 0: none */
	char *shown;        /* code and arguments, for the dialog of a client; or NULL */
	/* When it has ended without a request that waits: its result. */
	struct gb_buf final;
	bool final_failed;
};

/* --- protocol.c --- */

/* Begin the result of @request; its members follow, each after gb_mcp_key. */
struct gb_buf *gb_mcp_begin(struct gb_mcp_request *request);
struct gb_buf *gb_mcp_begin_as(struct gb_mcp_request *request, const char *type);
/* Send it. Frees the request. */
void gb_mcp_end(struct gb_mcp_request *request);
/* Reply with an error. Frees the request. */
void gb_mcp_fail(struct gb_mcp_request *request, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gb_mcp_fail_with(struct gb_mcp_request *request, struct gb_jsonrpc_failure *failure);
void gb_mcp_key(struct gb_buf *out, const char *key);
void gb_mcp_text(struct gb_buf *out, const char *key, struct gb_str text);
/* For lists and what can be read: how long a modern client may keep it. */
void gb_mcp_cacheable(struct gb_mcp_request *request, struct gb_buf *out, unsigned ttl_ms);
/* Send a message that is no response; @request may be NULL. */
void gb_mcp_send(struct gb_mcp *mcp, struct gb_mcp_request *request);
/* Free a request without a response. */
void gb_mcp_request_free(struct gb_mcp_request *request);
struct gb_mcp_request *gb_mcp_find_request(struct gb_mcp *mcp, const char *id);
/* Let the extension append to the list that @method returns. */
void gb_mcp_extend(struct gb_mcp *mcp, const char *method, struct gb_buf *out);

/* --- era.c --- */

/* Which era is the message, and is it complete? */
bool gb_mcp_era(const struct gb_jsonrpc *message, const char *version, enum gb_mcp_era *ret,
    struct gb_jsonrpc_failure *failure);
/* The version to reply to an 'initialize' that asks for @asked. */
const char *gb_mcp_legacy_version(const char *asked);
/* Whether these capabilities of a client include dialogs with forms. */
bool gb_mcp_can_elicit(const struct gb_value *capabilities);

/* --- progress.c --- */

/* Report progress, if the client has asked for it. */
void gb_mcp_report(struct gb_mcp_request *request, struct gb_str text);

/* --- tools.c --- */

/* The arguments of all tools. */
struct gb_mcp_args {
	enum gb_language runtime;
	const char *session;      /* an id; or NULL */
	bool fresh;               /* a new session */
	const enum gb_tier *tier; /* NULL: not given */
	struct gb_str code, text, content;
	const char *purpose, *path, *conversation;
	bool base64;
};

void gb_mcp_list_tools(struct gb_mcp_request *request);
void gb_mcp_call_tool(struct gb_mcp_request *request, const struct gb_value *params);
/* End a call with a text that tells the model what was wrong. */
void gb_mcp_refuse(struct gb_mcp_request *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* End a call with @json as structured content and as text; @more: further content, each with a comma before it. */
void gb_mcp_reply(struct gb_mcp_request *request, struct gb_str json, struct gb_str more, bool failed);

/* --- describe.c --- */

/* Whether agents may run @language, and it is installed. */
bool gb_mcp_offers(const struct gb_mcp *mcp, enum gb_language language);
/* Whether agents may run code in the network tier, in @language or in any. */
bool gb_mcp_offers_network_to(const struct gb_mcp *mcp, enum gb_language language);
bool gb_mcp_offers_network(const struct gb_mcp *mcp);
void gb_mcp_describe_execute(const struct gb_mcp *mcp, struct gb_buf *out);
void gb_mcp_describe_sessions(const struct gb_mcp *mcp, struct gb_buf *out);
void gb_mcp_instructions(const struct gb_mcp *mcp, struct gb_buf *out);

/* --- execute.c --- */

void gb_mcp_execute(struct gb_mcp_request *request, const struct gb_mcp_args *args);
void gb_mcp_send_input(struct gb_mcp_request *request, const struct gb_mcp_args *args);
void gb_mcp_read_file(struct gb_mcp_request *request, const struct gb_mcp_args *args);
void gb_mcp_write_file(struct gb_mcp_request *request, const struct gb_mcp_args *args);
void gb_mcp_list_files(struct gb_mcp_request *request, const struct gb_mcp_args *args);

/* --- run.c --- */

/* Submit @gate for @request; the texts that it points to are borrowed. NULL: the request was refused. */
struct gb_mcp_run *gb_mcp_run_start(
    struct gb_mcp_request *request, const struct gb_gate_request *gate, enum gb_mcp_form form);
/* The run that waits for input in @session, or has ended there since; or NULL. */
struct gb_mcp_run *gb_mcp_run_in(struct gb_mcp *mcp, const char *session);
/* The client has cancelled the request: interrupt the code. No response. */
void gb_mcp_cancel(struct gb_mcp_request *request);
void gb_mcp_run_free(struct gb_mcp_run *run);
/* Reply to its request that the code waits for input. */
void gb_mcp_run_reply_waiting(struct gb_mcp_run *run);
void gb_mcp_kept_free(struct gb_mcp *mcp, struct gb_mcp_kept *kept);
void gb_mcp_record_free(struct gb_mcp *mcp, struct gb_mcp_record *record);

/* --- result.c --- */

/* End the request of @run. @result is NULL if the code waits for input. */
void gb_mcp_run_reply(struct gb_mcp_run *run, const struct gb_result *result);
/* Keep the result for a later request. */
void gb_mcp_run_keep(struct gb_mcp_run *run, const struct gb_result *result);

/* --- approve.c --- */

/* The run waits for a decision: ask the user of the client, or say how to decide. */
void gb_mcp_ask(struct gb_mcp_run *run, struct gb_str approval);
/* Continue the call that a modern client's answer belongs to; false: the request has no such answer. */
bool gb_mcp_continue(struct gb_mcp_request *request, const struct gb_value *params);
/* A legacy client has answered a request of ours. */
void gb_mcp_on_answer(struct gb_mcp *mcp, const struct gb_jsonrpc *message);
/* Remember what a dialog shows. */
void gb_mcp_bind(struct gb_mcp_run *run, const struct gb_gate_request *gate);

/* --- sessions.c --- */

void gb_mcp_list_sessions(struct gb_mcp_request *request, const struct gb_mcp_args *args);
void gb_mcp_kill_session(struct gb_mcp_request *request, const struct gb_mcp_args *args);
/* Describe the session of this conversation with exactly this id; false if there is none. */
bool gb_mcp_find_session(struct gb_mcp *mcp, const char *id, struct gb_session_info *ret);
/* Find the session that a call without a sessionId uses. False if there is none: the call opens one. */
bool gb_mcp_default_session(
    struct gb_mcp *mcp, enum gb_language language, enum gb_tier tier, struct gb_session_info *ret);
/* The tier of a session. */
enum gb_tier gb_mcp_tier_of(const struct gb_session_info *session);

/* --- resources.c, prompts.c --- */

void gb_mcp_list_resources(struct gb_mcp_request *request);
void gb_mcp_list_templates(struct gb_mcp_request *request);
void gb_mcp_read_resource(struct gb_mcp_request *request, const struct gb_value *params);
void gb_mcp_list_prompts(struct gb_mcp_request *request);
void gb_mcp_get_prompt(struct gb_mcp_request *request, const struct gb_value *params);

#endif
