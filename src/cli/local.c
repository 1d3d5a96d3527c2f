#include "cli/local.h"

#include <signal.h>

#include "base/cleanup.h"
#include "cli/show.h"

static void on_trouble(const struct gb_err *err, void *data) {
	struct local *local = data;
	local->trouble = *err;
}

bool local_open(struct local *local, const struct gb_service_options *options, struct gb_err *err) {
	struct gb_service_options mine = *options;
	*local = (struct local){.loop.epoll = -1};
	if (!gb_loop_init(&local->loop, err))
		return false;
	mine.loop = &local->loop;
	mine.on_trouble = on_trouble;
	mine.data = local;
	if (!gb_service_create(&mine, &local->service, err))
		return false;
	gb_service_client_init(local->service, &local->client);
	return true;
}

void local_close(struct local *local) {
	gb_execution_release(local->execution);
	gb_service_client_finish(&local->client);
	gb_service_destroy(local->service);
	gb_loop_finish(&local->loop);
}

static void show_event(struct gb_execution *execution, const struct gb_event *event, void *data) {
	(void)execution, (void)data;
	if (event->kind == GB_EVENT_LOG)
		show_log(event->log.level, event->log.args);
	else if (event->kind == GB_EVENT_OUTPUT)
		show_output(event->stream, event->text.p, event->text.n);
}

bool local_submit(struct local *local, const struct gb_submission *submission, struct gb_err *err) {
	struct gb_submission mine = *submission;
	if (!mine.on_event && !mine.quiet)
		mine.on_event = show_event;
	return gb_service_submit(&local->client, &mine, &local->execution, err);
}

const struct gb_result *local_wait(
    struct local *local, void (*stop)(struct gb_execution *execution), struct gb_err *err) {
	enum { POLL_MS = 1000 }; /* a signal that arrives just before the wait is noticed after this time */
	while (!gb_execution_result(local->execution)) {
		if (!gb_service_turn(local->service, stop ? POLL_MS : -1, err))
			return NULL;
		if (stop)
			stop(local->execution);
		if (local->trouble.code && !gb_execution_result(local->execution)) {
			*err = local->trouble;
			return NULL;
		}
	}
	return gb_execution_result(local->execution);
}

/* --- signals --- */

static volatile sig_atomic_t stop_signal;

static void on_stop(int number) {
	stop_signal = number;
}

void local_catch_stop_signals(void) {
	static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND};
	struct sigaction before;
	for (size_t i = 0; i < GB_COUNT(stops); i++)
		if (sigaction(stops[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(stops[i], &action, NULL);
}

void local_stop_if_signalled(struct gb_execution *execution) {
	if (!stop_signal || gb_execution_result(execution))
		return;
	stop_signal = 0;
	gb_execution_terminate(execution, "stopped by a signal");
}
