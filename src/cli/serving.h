/*
 * A process that runs code for clients until it is stopped: 'glovebox stdio' and the session host.
 *
 *	struct serving serving = {.command = self, SERVING_CLOSED};
 *	serving.config = settings_load(self, &serving.settings);
 *	serving_open(&serving, &(struct gb_service_options){.engine = engine}, &err);
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
	/* Settings that were reloaded and are not in force yet; NULL: none. */
	const struct gb_config *next_config;
	bool must_reload; /* SIGHUP arrived meanwhile: reload again afterwards */
	bool for_people;  /* mask as secrets.maskRun says, instead of secrets.maskStdio */
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

/* Open missing standard streams, and raise the limit of open files. Call it first. */
void serving_prepare_process(void);

/* Create the loop, the service and the server. The config, loop, filter and callbacks of @options are replaced by those
 * of @serving. The caller must call serving_close also after a failure. */
bool serving_open(struct serving *serving, const struct gb_service_options *options, struct gb_err *err);
void serving_close(struct serving *serving);

#endif
