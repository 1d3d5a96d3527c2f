/*
 * A process that serves runs until it is told to stop: 'glovebox stdio' and the one that keeps sessions.
 *
 *	struct service service = {.command = self, SERVICE_CLOSED};
 *	service.config = settings_load(self, &service.settings);
 *	service_open(&service, &engine, &server, &err);
 *	while (!service.stopped) gb_server_turn(service.server, &err);
 *	service_close(&service);
 *
 * SIGTERM and SIGINT stop it. SIGHUP has it read its settings again: all of them, or, if anything is wrong,
 * none. What it does then is said on stderr.
 */
#ifndef GB_CLI_SERVICE_H
#define GB_CLI_SERVICE_H

#include "base/loop.h"
#include "cli/settings.h"
#include "server/server.h"

struct service {
	const struct command *command; /* that complains */
	struct settings_request settings;
	const struct gb_config *config; /* as they are now */
	const struct gb_config *first;  /* as they were when the engine was made */
	bool for_people;                /* which of the settings says what is masked: secrets.maskRun */
	struct gb_loop loop;
	struct gb_engine *engine;
	bool agents; /* their requests are taken, if the settings let them */
	struct gb_gate *gate;
	struct gb_server *server;
	struct gb_source signals;
	int signal_fd;
	char trouble[GB_ERR_MESSAGE_MAX]; /* that was complained about last */
	bool stopped;
};

#define SERVICE_CLOSED .loop.epoll = -1, .signals.fd = -1, .signal_fd = -1

/* Make loop, engine and server, under service->config. On failure it is still to be closed. */
bool service_open(struct service *service, const struct gb_engine_options *engine,
    const struct gb_server_options *server, struct gb_err *err);
void service_close(struct service *service);

#endif
