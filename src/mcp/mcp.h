/*
 * The Model Context Protocol: messages of one client in, the service, messages out. It does not depend on the
 * transport: src/mcp/stdio.h is one.
 *
 *	gb_mcp_create(&(struct gb_mcp_options){.service = service, .config = config, .send = send}, &mcp, &err);
 *	while (...) {
 *		gb_service_turn(service, gb_mcp_timeout(mcp), &err);
 *		gb_mcp_work(mcp);
 *	}
 *	gb_mcp_receive(mcp, line, NULL);	// from a callback of the loop
 *	gb_mcp_destroy(mcp);
 *
 * A client is one conversation: its sessions, approvals and records belong to it. Both eras of the protocol are served,
 * decided for each message: "legacy" (initialize; 2025-11-25 and older) and "modern" (each request has its version).
 * The tools are the face execute_code behind the gate.
 */
#ifndef GB_MCP_MCP_H
#define GB_MCP_MCP_H

#include "mcp/jsonrpc.h"
#include "service/service.h"

struct gb_mcp;
struct gb_mcp_request;

/* A message to the client. */
struct gb_mcp_output {
	struct gb_str text; /* one JSON object, without a newline */
	void *context;      /* of the request that it belongs to */
	bool is_last;       /* it is the response to that request */
	int error;          /* the code, if it is an error; else 0 */
};

/* More methods, for tests of the protocol. */
struct gb_mcp_extension {
	/* Append more elements to the list that @method returns; @first: there are none before. */
	void (*append)(const char *method, struct gb_buf *out, bool first);
	/* Handle the request, or return false. */
	bool (*handle)(struct gb_mcp_request *request, const struct gb_jsonrpc *message);
};

struct gb_mcp_options {
	struct gb_service *service;     /* outlives this */
	const struct gb_config *config; /* a reference is taken */
	void (*send)(const struct gb_mcp_output *output, void *data);
	/* Whether so much output is unread that reports of progress are left out. May be NULL: never. */
	bool (*is_behind)(void *data);
	void *data;
	const struct gb_mcp_extension *extension; /* or NULL */
};

/* What a transport knows about a message beside its text. */
struct gb_mcp_input {
	const char *version; /* of a header; NULL: none */
	void *context;
};

bool gb_mcp_create(const struct gb_mcp_options *options, struct gb_mcp **ret, struct gb_err *err);
/* Release all executions: running code is interrupted, requests that wait are withdrawn. NULL is fine. */
void gb_mcp_destroy(struct gb_mcp *mcp);
/* The client has gone: the same for its executions and requests, without further messages. */
void gb_mcp_end_requests(struct gb_mcp *mcp);
/* The settings have changed. */
void gb_mcp_configure(struct gb_mcp *mcp, const struct gb_config *config);

/* Handle one message. @input may be NULL. */
void gb_mcp_receive(struct gb_mcp *mcp, struct gb_str text, const struct gb_mcp_input *input);
/* The same for a message that gb_jsonrpc_read has read; @message is NULL if it failed. */
void gb_mcp_handle(struct gb_mcp *mcp, const struct gb_jsonrpc *message, struct gb_jsonrpc_failure *failure,
    const struct gb_mcp_input *input);

/* Milliseconds until gb_mcp_work has to be called; -1: not at all. */
int gb_mcp_timeout(const struct gb_mcp *mcp);
/* Report the progress of calls that take long. */
void gb_mcp_work(struct gb_mcp *mcp);

#endif
