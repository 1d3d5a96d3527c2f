#include "cli/service.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "terms/terms.h"

/* --- reading the settings again --- */

static void say_what_holds(const struct service *service) {
	gb_auto_buf struct gb_buf fixed;
	gb_buf_init(&fixed, 1024);
	const char *file = gb_config_file(service->config), *name = service->command->name;
	fprintf(stderr, "glovebox %s: settings were read again%s%s\n", name,
	    file ? ": " : "; there is no file", file ? file : "");
	gb_terms_write_fixed(service->first, service->config, &fixed);
	if (fixed.len)
		fprintf(stderr, "glovebox %s: these hold after a restart: %s\n", name, gb_buf_c_str(&fixed));
}

static bool choose_filter(const struct service *service, const struct gb_config *config,
    struct gb_filter **ret, struct gb_err *err) {
	return settings_filter(
	    config, service->for_people ? "secrets.maskRun" : "secrets.maskStdio", ret, err);
}

static void read_again(struct service *service) {
	struct gb_err err = {0};
	const struct gb_config *fresh = NULL;
	struct gb_filter *filter = NULL;
	if (!settings_reload(&service->settings, &fresh, &err) ||
	    !choose_filter(service, fresh, &filter, &err)) {
		complain(service->command, "settings stay as they were: %s", err.message);
		gb_config_unref(fresh);
		return;
	}
	gb_server_configure(service->server, fresh, filter);
	gb_filter_destroy(filter);
	gb_config_unref(service->config);
	service->config = fresh;
	say_what_holds(service);
}

/* --- signals --- */

static void on_signal(struct gb_source *source, uint32_t events) {
	struct service *service = gb_container(struct service, signals, source);
	struct signalfd_siginfo info;
	while (read(service->signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGHUP)
			read_again(service);
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
	return gb_loop_add(&service->loop, &service->signals, service->signal_fd, EPOLLIN, on_signal, err);
}

/* --- its life --- */

static bool open_server(struct service *service, const struct gb_engine_options *engine,
    const struct gb_server_options *server, struct gb_filter *filter, struct gb_err *err) {
	if (!gb_loop_init(&service->loop, err) ||
	    !gb_terms_engine_create(service->config, engine, &service->engine, err))
		return false;
	struct gb_server_options options = *server;
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
	gb_engine_destroy(service->engine);
	if (service->loop.epoll >= 0)
		gb_loop_remove(&service->loop, &service->signals);
	gb_close_fd(&service->signal_fd);
	gb_loop_finish(&service->loop);
	gb_config_unref(service->config);
	gb_config_unref(service->first);
}
