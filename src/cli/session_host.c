/* The process that keeps this user's sessions. session_client.c starts it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "base/list.h"
#include "cli/language.h"
#include "cli/serving.h"
#include "cli/session.h"

/* How long it waits before exiting without sessions, so that sessions that have just ended can still be
 * listed. */
enum { LINGER_MS = 5000, READY_FD = 3, DEFAULT_TIMEOUT_MS = 300000 };

struct host {
	struct serving serving;
	enum gb_language language;
	uint64_t linger_ms;
	struct gb_listener *listener;
	struct gb_source timer;
	int timer_fd;
	bool lingers; /* the exit timer is set */
	bool due;     /* the exit timer has expired */
};

static void on_timer(struct gb_source *source, uint32_t events) {
	(void)events;
	struct host *host = gb_container(struct host, timer, source);
	uint64_t expirations;
	if (read(host->timer_fd, &expirations, sizeof expirations) > 0)
		host->due = host->lingers;
}

static bool watch_timer(struct host *host, struct gb_err *err) {
	host->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (host->timer_fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "timerfd_create");
	return gb_loop_add(&host->serving.loop, &host->timer, host->timer_fd, GB_LOOP_IN, on_timer, err);
}

static bool open_host(struct host *host, struct gb_err *err) {
	struct session_place place;
	struct serving *serving = &host->serving;
	/* Sessions are opened rarely and live long: prepare no warm cells. */
	const struct gb_service_options options = {.engine = {.warm = GB_NONE, .ready = 1u << host->language},
	    .strict = true,
	    .default_timeout_ms = DEFAULT_TIMEOUT_MS};
	return settings_reload(&serving->settings, &serving->config, err) &&
	       session_place_open(&place, err) && serving_open(serving, &options, err) &&
	       watch_timer(host, err) &&
	       gb_listener_create(serving->server, place.socket, &host->listener, err);
}

/* Set or stop the exit timer; stop if it has expired and no client connected in the same turn. */
static void linger(struct host *host) {
	bool needed = gb_server_sessions(host->serving.server) || gb_server_clients(host->serving.server);
	if (host->due && !needed)
		host->serving.stopped = true;
	host->due = false;
	if (needed != host->lingers)
		return;
	host->lingers = !needed;
	uint64_t ms = needed ? 0 : host->linger_ms;
	const struct itimerspec in = {.it_value = {(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)}};
	timerfd_settime(host->timer_fd, 0, &in, NULL);
}

static void close_host(struct host *host) {
	/* From now on, clients start another host. */
	gb_listener_destroy(host->listener);
	if (host->timer_fd >= 0)
		gb_loop_remove(&host->serving.loop, &host->timer);
	gb_close_fd(&host->timer_fd);
	serving_close(&host->serving);
}

/* The client that started this process waits for this. */
static void report_ready(const char *text) {
	(void)!write(READY_FD, text, strlen(text));
	close(READY_FD);
}

static const struct flag flags[] = {
    {"language", 0, LANGUAGE_ARGUMENT, "the language to prepare", 0, NULL},
    {"linger", 0, "TIME", "how long to wait before exiting without sessions; default 5s", 0, NULL},
    SETTINGS_FLAGS,
    {0},
};
enum { FLAG_LANGUAGE, FLAG_LINGER };

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct host *host = data;
	if (!flag)
		return report_error(&command_session_host, "takes no operand, but got '%s'", value);
	if (settings_flag(&host->serving.settings, flag, value))
		return true;
	if (flag - flags == FLAG_LANGUAGE)
		return language_choose(&command_session_host, value, NULL, &host->language);
	return (gb_str_parse_duration_ms(value, &host->linger_ms) && host->linger_ms) ||
	       report_error(&command_session_host, "--linger: '%s' is not a time like 250ms or 5s", value);
}

static int run(const struct command *self, int argc, char **argv) {
	/* It serves commands in all folders, so it reads no project file. */
	struct host host = {
	    .serving = {.command = self, .for_people = true, .settings.no_project = true, SERVING_CLOSED},
	    .language = GB_TYPESCRIPT,
	    .linger_ms = LINGER_MS,
	    .timer_fd = -1,
	    .timer.fd = -1};
	struct gb_err err = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &host);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	const char *linger_ms = getenv("GLOVEBOX_SESSION_LINGER");
	if (linger_ms)
		gb_str_parse_duration_ms(linger_ms, &host.linger_ms);
	bool ok = open_host(&host, &err);
	report_ready(ok ? "ok" : err.message);
	while (ok) {
		linger(&host);
		if (host.serving.stopped)
			break;
		ok = gb_server_turn(host.serving.server, &err);
	}
	if (err.code)
		report_error(self, "%s", err.message);
	close_host(&host);
	return ok ? EXIT_OK : EXIT_REFUSED;
}

const struct command command_session_host = {
    .name = "session-host",
    .synopsis = "[--language LANG] [--linger TIME] [OPTIONS]",
    .summary = "keep this user's sessions",
    .details =
	"'glovebox session' starts this command when it is needed. It exits a short time after its last\n"
	"session has ended. SIGHUP makes it read its settings again.",
    .flags = flags,
    .run = run,
};
