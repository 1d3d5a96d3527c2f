#include "cli/service.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "gate/gate.h"
#include "limits/limits.h"

/* --- reading the settings again --- */

static void report_reload(const struct service *service) {
	gb_auto_buf struct gb_buf fixed;
	gb_buf_init(&fixed, 1024);
	const char *file = gb_config_file(service->config), *name = service->command->name;
	fprintf(stderr, "glovebox %s: settings were read again%s%s\n", name,
	    file ? ": " : "; there is no file", file ? file : "");
	gb_limits_write_fixed(service->first, service->config, &fixed);
	if (fixed.len)
		fprintf(stderr, "glovebox %s: these take effect after a restart: %s\n", name,
		    gb_buf_c_str(&fixed));
}

static bool choose_filter(const struct service *service, const struct gb_config *config,
    struct gb_filter **ret, struct gb_err *err) {
	return settings_filter(
	    config, service->for_people ? "secrets.maskRun" : "secrets.maskStdio", ret, err);
}

static void reload_settings(struct service *service) {
	const struct gb_config *config = gb_config_ref(service->config);
	struct gb_err err = {0};
	struct gb_filter *filter = NULL;
	/* Only the last step changes state, and it changes nothing if it fails. */
	if (settings_reload(&service->settings, &config, &err) &&
	    choose_filter(service, config, &filter, &err) &&
	    (!service->gate || gb_gate_configure(service->gate, config, &err))) {
		gb_server_configure(service->server, config, filter);
		gb_config_unref(service->config);
		service->config = gb_config_ref(config);
		report_reload(service);
		settings_warn(service->command, config);
	} else {
		report_error(service->command, "settings stay as they were: %s", err.message);
	}
	gb_filter_destroy(filter);
	gb_config_unref(config);
}

/* Report each error once, until a different one occurs. */
static void on_trouble(const struct gb_err *err, void *data) {
	struct service *service = data;
	if (strcmp(service->trouble, err->message) == 0)
		return;
	snprintf(service->trouble, sizeof service->trouble, "%s", err->message);
	report_error(
	    service->command, "results of agents are withheld until they can be recorded: %s", err->message);
}

/* --- signals --- */

static void on_signal(struct gb_source *source, uint32_t events) {
	struct service *service = gb_container(struct service, signals, source);
	struct signalfd_siginfo info;
	while (read(service->signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGHUP)
			reload_settings(service);
		else
			service->stopped = true;
}

static bool watch_signals(struct service *service, struct gb_err *err) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 ||
	    (service->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "signalfd");
	return gb_loop_add(&service->loop, &service->signals, service->signal_fd, GB_LOOP_IN, on_signal, err);
}

/* --- open and close --- */

static bool open_server(struct service *service, const struct gb_engine_options *engine,
    const struct gb_server_options *server, struct gb_filter *filter, struct gb_err *err) {
	if (!gb_loop_init(&service->loop, err) ||
	    !gb_limits_engine_create(service->config, engine, &service->engine, err))
		return false;
	const struct gb_gate_options gate = {service->config, service->engine, environ};
	if (service->agents && !gb_gate_open(&gate, &service->gate, err))
		return false;
	struct gb_server_options options = *server;
	options.gate = service->gate;
	options.on_trouble = on_trouble;
	options.data = service;
	options.loop = &service->loop;
	options.engine = service->engine;
	options.config = service->config;
	options.filter = filter;
	return gb_server_create(&options, &service->server, err);
}

bool service_open(struct service *service, const struct gb_engine_options *engine,
    const struct gb_server_options *server, struct gb_err *err) {
	struct gb_filter *filter = NULL;
	service->first = gb_config_ref(service->config);
	if (!choose_filter(service, service->config, &filter, err))
		return false;
	bool ok = open_server(service, engine, server, filter, err);
	gb_filter_destroy(filter);
	return ok && watch_signals(service, err);
}

void service_close(struct service *service) {
	gb_server_destroy(service->server);
	gb_gate_close(service->gate);
	gb_engine_destroy(service->engine);
	if (service->loop.epoll >= 0)
		gb_loop_remove(&service->loop, &service->signals);
	gb_close_fd(&service->signal_fd);
	gb_loop_finish(&service->loop);
	gb_config_unref(service->config);
	gb_config_unref(service->first);
}
