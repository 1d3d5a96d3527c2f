/*
 * JSON-RPC 2.0 as MCP uses it: one message at a time, ids are texts or whole numbers, parameters are an object.
 *
 *	struct gb_jsonrpc message;
 *	struct gb_jsonrpc_failure failure;
 *	if (!gb_jsonrpc_read(pool, text, n, &message, &failure)) ...	// failure.code is the error to reply
 *	if (message.kind == GB_JSONRPC_REQUEST) ...
 */
#ifndef GB_MCP_JSONRPC_H
#define GB_MCP_JSONRPC_H

#include "base/buf.h"
#include "glovebox/value.h"

/* Codes of errors: JSON-RPC's own, then MCP's. */
enum gb_jsonrpc_code {
	GB_JSONRPC_PARSE = -32700,
	GB_JSONRPC_INVALID_REQUEST = -32600,
	GB_JSONRPC_NO_METHOD = -32601,
	GB_JSONRPC_INVALID_PARAMS = -32602,
	GB_JSONRPC_INTERNAL = -32603,
	GB_JSONRPC_BUSY = -32000,
	GB_JSONRPC_NO_RESOURCE = -32002, /* of the versions before 2026-07-28 */
	GB_JSONRPC_MISSING_CAPABILITY = -32021,
	GB_JSONRPC_UNSUPPORTED_VERSION = -32022,
};

enum {
	GB_JSONRPC_ID_MAX = 512,                        /* bytes of an id that is a text */
	GB_JSONRPC_METHOD_MAX = 128,                    /* bytes */
	GB_JSONRPC_ID_TEXT = 6 * GB_JSONRPC_ID_MAX + 3, /* an id as JSON, and a zero */
};

enum gb_jsonrpc_kind { GB_JSONRPC_REQUEST, GB_JSONRPC_NOTIFICATION, GB_JSONRPC_RESPONSE };

struct gb_jsonrpc {
	enum gb_jsonrpc_kind kind;
	const struct gb_value *id;             /* NULL: a notification */
	struct gb_str method;                  /* of a request or notification; without U+0000 */
	const struct gb_value *params;         /* an object, or NULL */
	const struct gb_value *result, *error; /* of a response: one of them */
};

struct gb_jsonrpc_failure {
	int code; /* enum gb_jsonrpc_code */
	char message[240];
	char id[GB_JSONRPC_ID_TEXT]; /* the id as JSON, "null" if it is not known */
	char data[240];              /* JSON, or empty */
};

/* The memory for the values of a message of @n bytes. */
size_t gb_jsonrpc_memory(size_t n);

/* Read one message. Its values are in @pool, which may be NULL after a failure to create it. */
bool gb_jsonrpc_read(struct gb_values *pool, const char *text, size_t n, struct gb_jsonrpc *ret,
    struct gb_jsonrpc_failure *ret_failure);

/* Fill @failure except its id, and return false. */
bool gb_jsonrpc_fail(struct gb_jsonrpc_failure *failure, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Write the id, or a progress token, as JSON. False if it is neither a text of at most GB_JSONRPC_ID_MAX bytes nor a
 * whole number. */
bool gb_jsonrpc_id(const struct gb_value *id, char ret[GB_JSONRPC_ID_TEXT]);
/* Append the error as a response. */
void gb_jsonrpc_write_failure(struct gb_buf *out, const struct gb_jsonrpc_failure *failure);

/* The text of a string without U+0000, zero-terminated; NULL if @value is none. */
const char *gb_jsonrpc_text(const struct gb_value *value);

#endif
