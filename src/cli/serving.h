/*
 * A process that serves runs until it is stopped: 'glovebox stdio' and the host of sessions.
 *
 *	struct serving serving = {.command = self, SERVING_CLOSED};
 *	serving.config = settings_load(self, &serving.settings);
 *	serving_open(&serving, &engine, &server, &err);
 *	while (!serving.stopped) gb_server_turn(serving.server, &err);
 *	serving_close(&serving);
 *
 * SIGTERM and SIGINT stop it. SIGHUP makes it read its settings again; if they contain an error, the old
 * settings stay. The outcome is printed on stderr.
 */
#ifndef GB_CLI_SERVING_H
#define GB_CLI_SERVING_H

#include "base/loop.h"
#include "cli/settings.h"
#include "server/server.h"

struct serving {
	const struct command *command; /* named in errors */
	struct settings_request settings;
	const struct gb_config *config; /* the present settings */
	const struct gb_config *first;  /* the settings when the engine was created */
	/* Settings that were read again, and are being put into force; NULL: none. */
	const struct gb_config *next_config;
	bool must_reload; /* they have changed since */
	bool for_people;  /* masks by secrets.maskRun instead of secrets.maskStdio */
	struct gb_loop loop;
	bool agents; /* accept requests of agents, if the settings allow them */
	struct gb_service *service;
	struct gb_server *server;
	struct gb_source signals;
	int signal_fd;
	char trouble[GB_ERR_MESSAGE_MAX]; /* the error that was reported last */
	bool stopped;
};

#define SERVING_CLOSED .loop.epoll = -1, .signals.fd = -1, .signal_fd = -1

/* Create loop, service and server with serving->config, which replaces that of @options; so do loop, filter and
 * callbacks. The caller must call serving_close also after a failure. */
bool serving_open(struct serving *serving, const struct gb_service_options *options, struct gb_err *err);
void serving_close(struct serving *serving);

#endif
