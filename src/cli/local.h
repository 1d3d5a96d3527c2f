/*
 * A service inside this process, for the one request of a command:
 *
 *	struct local local;
 *	if (local_open(&local, &options, &err) && local_submit(&local, &submission, &err))
 *		result = local_wait(&local, NULL, &err);
 *	local_close(&local);
 */
#ifndef GB_CLI_LOCAL_H
#define GB_CLI_LOCAL_H

#include "service/service.h"

struct local {
	struct gb_loop loop;
	struct gb_service *service;
	struct gb_service_client client;
	struct gb_execution *execution;
	struct gb_err trouble; /* why an agent's execution cannot be recorded; .code is 0: it can */
};

/* Create the service; loop and callbacks of @options are replaced. The caller must call local_close also after a
 * failure. */
bool local_open(struct local *local, const struct gb_service_options *options, struct gb_err *err);
void local_close(struct local *local);

/* If @submission has no on_event, and is not quiet, output and logs are shown while the code runs. */
bool local_submit(struct local *local, const struct gb_submission *submission, struct gb_err *err);
/* Wait for the result, which lives until local_close. @stop, if not NULL, is called at least once a second, and may
 * terminate the execution. NULL if waiting fails, or an agent's execution cannot be recorded. */
const struct gb_result *local_wait(
    struct local *local, void (*stop)(struct gb_execution *execution), struct gb_err *err);

/* From now on, the first SIGINT, SIGTERM or SIGHUP is only noted, so that local_stop_if_signalled, as the @stop of
 * local_wait, can withdraw a request that waits or end a run: neither is left behind. The second one ends this
 * process. */
void local_catch_stop_signals(void);
void local_stop_if_signalled(struct gb_execution *execution);

#endif
