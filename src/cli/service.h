/*
 * A process that serves runs until it is stopped: 'glovebox stdio' and the host of sessions.
 *
 *	struct service service = {.command = self, SERVICE_CLOSED};
 *	service.config = settings_load(self, &service.settings);
 *	service_open(&service, &engine, &server, &err);
 *	while (!service.stopped) gb_server_turn(service.server, &err);
 *	service_close(&service);
 *
 * SIGTERM and SIGINT stop it. SIGHUP makes it read its settings again; if they contain an error, the old
 * settings stay. The outcome is printed on stderr.
 */
#ifndef GB_CLI_SERVICE_H
#define GB_CLI_SERVICE_H

#include "base/loop.h"
#include "cli/settings.h"
#include "server/server.h"

struct service {
	const struct command *command; /* named in errors */
	struct settings_request settings;
	const struct gb_config *config; /* the present settings */
	const struct gb_config *first;  /* the settings when the engine was created */
	bool for_people;                /* masks by secrets.maskRun instead of secrets.maskStdio */
	struct gb_loop loop;
	struct gb_engine *engine;
	bool agents; /* accept requests of agents, if the settings allow them */
	struct gb_gate *gate;
	struct gb_server *server;
	struct gb_source signals;
	int signal_fd;
	char trouble[GB_ERR_MESSAGE_MAX]; /* the error that was reported last */
	bool stopped;
};

#define SERVICE_CLOSED .loop.epoll = -1, .signals.fd = -1, .signal_fd = -1

/* Create loop, engine and server with service->config. The caller must call service_close also after a
 * failure. */
bool service_open(struct service *service, const struct gb_engine_options *engine,
    const struct gb_server_options *server, struct gb_err *err);
void service_close(struct service *service);

#endif
