#include "cli/serving.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "limits/limits.h"

/* --- the process --- */

/* If a standard stream is closed, open /dev/null there, so that no later descriptor gets its number. */
static void fill_standard_streams(void) {
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return;
}

/* Each run needs a few descriptors. */
static void raise_file_limit(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void serving_prepare_process(void) {
	fill_standard_streams();
	raise_file_limit();
}

/* --- reloading the settings --- */

static void report_reload(const struct serving *serving) {
	gb_auto_buf struct gb_buf fixed;
	gb_buf_init(&fixed, 1024);
	const char *file = gb_config_file(serving->config), *name = serving->command->name;
	fprintf(stderr, "glovebox %s: settings were read again%s%s\n", name,
	    file ? ": " : "; there is no file", file ? file : "");
	gb_limits_write_fixed(serving->first, serving->config, &fixed);
	if (fixed.len)
		fprintf(stderr, "glovebox %s: these take effect after a restart: %s\n", name,
		    gb_buf_c_str(&fixed));
}

static void begin_reload(struct serving *serving);

static bool choose_filter(const struct serving *serving, const struct gb_config *config,
    struct gb_filter **ret, struct gb_err *err) {
	return settings_filter(
	    config, serving->for_people ? "secrets.maskRun" : "secrets.maskStdio", ret, err);
}

/* The new settings are in force, or were refused. */
static void end_reload(bool ok, const struct gb_err *err, void *data) {
	struct serving *serving = data;
	const struct gb_config *config = serving->next_config;
	serving->next_config = NULL;
	if (ok) {
		gb_config_unref(serving->config);
		serving->config = gb_config_ref(config);
		report_reload(serving);
		settings_warn(serving->command, config);
	} else {
		report_error(serving->command, "settings stay as they were: %s", err->message);
	}
	gb_config_unref(config);
	if (serving->must_reload)
		begin_reload(serving);
}

static void begin_reload(struct serving *serving) {
	struct gb_err err = {0};
	struct gb_filter *filter = NULL;
	serving->must_reload = serving->next_config;
	if (serving->must_reload)
		return;
	serving->next_config = gb_config_ref(serving->config);
	if (settings_reload(&serving->settings, &serving->next_config, &err) &&
	    choose_filter(serving, serving->next_config, &filter, &err))
		gb_service_configure(serving->service, serving->next_config, filter, end_reload, serving);
	else
		end_reload(false, &err, serving);
	gb_filter_destroy(filter);
}

/* Report each error once, until a different one occurs. */
static void on_trouble(const struct gb_err *err, void *data) {
	struct serving *serving = data;
	if (strcmp(serving->trouble, err->message) == 0)
		return;
	snprintf(serving->trouble, sizeof serving->trouble, "%s", err->message);
	report_error(
	    serving->command, "results of agents are withheld until they can be recorded: %s", err->message);
}

/* --- signals --- */

static void on_signal(struct gb_source *source, uint32_t events) {
	struct serving *serving = gb_container(struct serving, signals, source);
	struct signalfd_siginfo info;
	while (read(serving->signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGHUP)
			begin_reload(serving);
		else
			serving->stopped = true;
}

static bool watch_signals(struct serving *serving, struct gb_err *err) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 ||
	    (serving->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "signalfd");
	return gb_loop_add(&serving->loop, &serving->signals, serving->signal_fd, GB_LOOP_IN, on_signal, err);
}

/* --- open and close --- */

bool serving_open(struct serving *serving, const struct gb_service_options *given, struct gb_err *err) {
	struct gb_service_options options = *given;
	serving->first = gb_config_ref(serving->config);
	if (!gb_loop_init(&serving->loop, err) ||
	    !choose_filter(serving, serving->config, &options.filter, err))
		return false;
	options.loop = &serving->loop;
	options.config = serving->config;
	options.keeps_by_settings = true;
	options.on_trouble = on_trouble;
	options.data = serving;
	bool ok = gb_service_create(&options, &serving->service, err);
	gb_filter_destroy(options.filter);
	return ok && (!serving->agents || gb_service_accept_agents(serving->service, environ, err)) &&
	       gb_server_create(serving->service, &serving->server, err) && watch_signals(serving, err);
}

void serving_close(struct serving *serving) {
	gb_server_destroy(serving->server);
	gb_service_destroy(serving->service);
	if (serving->loop.epoll >= 0)
		gb_loop_remove(&serving->loop, &serving->signals);
	gb_close_fd(&serving->signal_fd);
	gb_loop_finish(&serving->loop);
	gb_config_unref(serving->next_config);
	gb_config_unref(serving->config);
	gb_config_unref(serving->first);
}
