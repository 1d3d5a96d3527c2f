/*
 * MCP over a pair of descriptors: one message on each line.
 *
 *	gb_mcp_stdio_open(&(struct gb_mcp_stdio_options){...}, &stdio, &err);
 *	while (!gb_mcp_stdio_ended(stdio))
 *		gb_mcp_stdio_turn(stdio, &err);
 *	gb_mcp_stdio_close(stdio);
 */
#ifndef GB_MCP_STDIO_H
#define GB_MCP_STDIO_H

#include "mcp/mcp.h"

#define GB_MCP_LINE_MAX (64u << 20)

struct gb_mcp_stdio;

struct gb_mcp_stdio_options {
	struct gb_service *service;
	const struct gb_config *config;
	int in, out; /* taken, also on failure; must be different */
	const struct gb_mcp_extension *extension;
};

bool gb_mcp_stdio_open(
    const struct gb_mcp_stdio_options *options, struct gb_mcp_stdio **ret, struct gb_err *err);
/* Ends the conversation, and its sessions with the service. NULL is fine. */
void gb_mcp_stdio_close(struct gb_mcp_stdio *stdio);
struct gb_mcp *gb_mcp_stdio_client(struct gb_mcp_stdio *stdio);

/* The input has ended, or the output is broken. */
bool gb_mcp_stdio_ended(const struct gb_mcp_stdio *stdio);
/* Wait for events and handle them. */
bool gb_mcp_stdio_turn(struct gb_mcp_stdio *stdio, struct gb_err *err);

#endif
