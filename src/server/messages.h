/*
 * The messages of clients: parses a line into a validated message, or a rejection. Needs no engine.
 *
 *	struct gb_message message;
 *	struct gb_rejection rejection;
 *	struct gb_values *pool = gb_values_create(gb_message_memory(n));
 *	if (gb_message_read(pool, line, n, &message, &rejection))
 *		... message.type, message.run ...
 */
#ifndef GB_SERVER_MESSAGES_H
#define GB_SERVER_MESSAGES_H

#include "glovebox/glovebox.h"
#include "server/fields.h"

enum gb_message_type {
	GB_MESSAGE_RUN,
	GB_MESSAGE_EXECUTE,  /* a run that an agent requests */
	GB_MESSAGE_INPUT,    /* input that an agent sends to such a run */
	GB_MESSAGE_TOOL,     /* a tool that an agent calls */
	GB_MESSAGE_EXECUTOR, /* code of an agent that calls tools of the client */
	GB_MESSAGE_TOOL_ANSWER,
	GB_MESSAGE_ANSWER,
	GB_MESSAGE_CALL,
	GB_MESSAGE_TERMINATE,
	GB_MESSAGE_INTERRUPT,
	GB_MESSAGE_HELLO,          /* has a request */
	GB_MESSAGE_SECRET_ADD,     /* has a request */
	GB_MESSAGE_EXECUTION_LIST, /* from here on: about executions of all clients, with a request */
	GB_MESSAGE_EXECUTION_GET,
	GB_MESSAGE_EXECUTION_CANCEL,
	GB_MESSAGE_SUBSCRIBE,
	GB_MESSAGE_UNSUBSCRIBE,
	GB_MESSAGE_SESSION_OPEN, /* from here on: about sessions, with a request */
	GB_MESSAGE_SESSION_GET,
	GB_MESSAGE_SESSION_LIST,
	GB_MESSAGE_SESSION_INTERRUPT,
	GB_MESSAGE_SESSION_EXPOSE,
	GB_MESSAGE_SESSION_SEND,
	GB_MESSAGE_SESSION_UPDATE,
	GB_MESSAGE_SESSION_KILL,
	GB_MESSAGE_SESSION_CLEANUP,
	GB_MESSAGE_SESSION_ATTACH,
	GB_MESSAGE_SESSION_DETACH,
	GB_MESSAGE_SESSION_RESIZE,
};

/* Which members are set depends on the type. All pointers point into the pool. */
struct gb_message {
	enum gb_message_type type;
	uint64_t run;
	struct gb_str source;
	struct gb_run_options options; /* without source and callbacks */
	uint64_t call;
	const struct gb_value *returned, *thrown;
	bool promise;
	uint32_t function;
	const struct gb_value *args; /* or NULL */
	struct gb_str reason;        /* see gb_message_reason */
	uint64_t request;
	const char *session;              /* id or name; NULL for a run without a session */
	const char *name;                 /* or NULL */
	const struct gb_value *arguments; /* of a tool */
	const char *stubs;                /* of an executor, as its limits */
	struct gb_str tools;
	uint64_t max_code_bytes;
	const struct gb_value *max_tool_calls; /* a number, or NULL */
	struct gb_str answer, error;           /* of a tool */
	bool reuse;
	struct gb_str text;
	/* What an agent states about its request (GB_AGENT_FIELDS): conversation, purpose, ..., each NULL if it
	 * is not there; tier is an enum gb_tier, on_input 0 (end) or 1 (wait). */
#define GB_STATED_ID(member)         const char *member;
#define GB_STATED_TEXT(member)       const char *member;
#define GB_STATED_JSON(member)       const struct gb_value *member;
#define GB_STATED_SESSION(member)    const struct gb_value *agent_##member; /* a boolean, or an id */
#define GB_STATED_CHOICE(member)     unsigned member;
#define GB_STATED(kind, member, ...) GB_STATED_##kind(member)
	GB_AGENT_FIELDS(GB_STATED)
#undef GB_STATED
	bool agent;                     /* it is about the sessions of agents */
	const struct gb_value *trusted; /* a boolean, or NULL */
	const struct gb_value *decides; /* an array */
	uint64_t tokens;
	const char *execution;        /* an id, or NULL */
	uint64_t after, subscription; /* the number of an event; the request of a subscription */
	bool steal;
	uint32_t columns, rows;
	uint32_t port, on; /* of a session, of the host */
	const char *path;  /* of a unix socket of the host, instead of .on; or NULL */
};

/* The maximum size of the pool for a line of @n bytes. */
size_t gb_message_memory(size_t n);
bool gb_message_read(struct gb_values *pool, const char *line, size_t n, struct gb_message *ret,
    struct gb_rejection *ret_rejection);

enum { GB_REASON_MAX = 4096 };
/* The reason as a C string in @text: U+0000 becomes U+FFFD, and one that does not fit ends behind a word, with
 * "…". NULL if the message gives none. */
const char *gb_message_reason(const struct gb_message *message, char text[GB_REASON_MAX]);

/* Turn an error of gb_run_start about an option into a rejection that names the message's field. False, with
 * @rejection unchanged, if the error is not about an option. */
bool gb_message_reject_option(const struct gb_err *err, struct gb_rejection *rejection);

/* Find type, run, call and request in the text of a message that cannot be parsed as a whole, as far as
 * possible (peek.c). */
void gb_message_peek(const char *line, size_t n, struct gb_rejection *rejection);
/* Look up a message type by name. False if there is no such type. */
bool gb_message_find_type(struct gb_str name, enum gb_message_type *ret);

#endif
