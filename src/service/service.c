#include "service/service.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/watchdog.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "limits/limits.h"
#include "service/execution.h"

enum { RETRY_MS = 50 };

/* --- the engine and the gate --- */

static void on_engine_ready(struct gb_source *source, uint32_t events) {
	(void)events;
	struct gb_service *service = gb_container(struct gb_service, engine_source, source);
	gb_engine_dispatch(service->engine, 0, &service->err);
}

/* gb_service_turn calls gb_gate_work in every turn. */
static void on_gate_ready(struct gb_source *source, uint32_t events) {
	(void)source, (void)events;
}

/* While a record cannot be written, the gate withholds its result, starts no other agent run, and retries. Other
 * executions go on. */
static void process_gate(struct gb_service *service) {
	struct gb_err err = {0};
	if (service->gate && !gb_gate_work(service->gate, &err) && service->options.on_trouble)
		service->options.on_trouble(&err, service->options.data);
}

/* --- waiting executions --- */

/* Round robin, so that a client with many requests does not delay the others. */
static struct gb_service_client *next_waiting(struct gb_service *service) {
	gb_list_each(struct gb_service_client, client, &service->clients, link) {
		if (!gb_list_empty(&client->waiting))
			return client;
	}
	return NULL;
}

static void start_waiting(struct gb_service *service) {
	/* Also try if fewer run than may: the engine is full by sandboxes that end without a run, such as those of
	 * sessions. */
	while (service->n_waiting && (service->room || service->n_running < service->max_runs)) {
		struct gb_service_client *client = next_waiting(service);
		/* Move it first: a callback of the execution may finish the client. */
		gb_list_remove(&client->link);
		gb_list_append(&service->clients, &client->link);
		if (gb_execution_start_waiting(client))
			continue;
		/* No sandbox is free: the client stays first. */
		gb_list_remove(&client->link);
		gb_list_prepend(&service->clients, &client->link);
		service->room = false;
		return;
	}
}

/* --- turns --- */

static int sooner(int a_ms, int b_ms) {
	return a_ms < 0 ? b_ms : b_ms < 0 || a_ms < b_ms ? a_ms : b_ms;
}

bool gb_service_turn(struct gb_service *service, int timeout_ms, struct gb_err *err) {
	timeout_ms = sooner(timeout_ms, service->gate ? gb_gate_timeout(service->gate) : -1);
	timeout_ms =
	    sooner(timeout_ms, service->n_waiting && service->n_running < service->max_runs ? RETRY_MS : -1);
	timeout_ms = sooner(timeout_ms, gb_executions_expire(service));
	if (gb_loop_dispatch(service->loop, timeout_ms) < 0 && errno != EINTR)
		return gb_fail(err, GB_ESYSTEM, errno, "epoll_wait");
	struct gb_watch watch;
	gb_watch_begin(&watch);
	process_gate(service);
	start_waiting(service);
	gb_watch_end(&watch, "gb_service_turn");
	if (!service->err.code)
		return true;
	if (err)
		*err = service->err;
	return false;
}

/* --- settings --- */

static void complete_filter(struct gb_service *service) {
	if (service->secrets.n && !service->filter && !(service->filter = gb_filter_create_bare()))
		gb_fail(&service->err, GB_ENOMEM, 0, "the secrets filter");
	else
		gb_service_reapply_secrets(service, service->filter, &service->err);
}

static void end_configure(bool ok, const struct gb_err *err, void *data) {
	struct gb_service *service = data;
	const struct gb_config *config = service->next_config;
	struct gb_filter *filter = service->next_filter;
	struct gb_manager_options sessions = {0};
	service->next_config = NULL;
	service->next_filter = NULL;
	/* Without a manager, the service is being destroyed. */
	if (ok && service->manager) {
		gb_filter_destroy(service->filter);
		service->filter = gb_filter_ref(filter);
		gb_config_unref(service->config);
		service->config = gb_config_ref(config);
		gb_limits_sessions(config, &sessions);
		gb_manager_configure(service->manager, &sessions);
		/* If this fails, the service stops: secrets would no longer be masked. */
		complete_filter(service);
	}
	gb_filter_destroy(filter);
	gb_config_unref(config);
	if (service->manager)
		service->on_configured(ok, err, service->on_configured_data);
}

void gb_service_configure(struct gb_service *service, const struct gb_config *config,
    struct gb_filter *filter, gb_service_configured done, void *data) {
	struct gb_err err = {0};
	if (service->next_config) {
		gb_fail(&err, GB_EBUSY, 0, "another change of the settings is still in progress");
		done(false, &err, data);
		return;
	}
	if (!gb_service_bind_secrets(service->engine, config, &err)) {
		done(false, &err, data);
		return;
	}
	service->next_config = gb_config_ref(config);
	service->next_filter = gb_filter_ref(filter);
	service->on_configured = done;
	service->on_configured_data = data;
	if (!service->gate)
		end_configure(true, NULL, service);
	else if (!gb_gate_configure(service->gate, config, end_configure, service, &err))
		end_configure(false, &err, service);
}

void gb_service_serve_embedder(struct gb_service *service, gb_service_configured done, void *data) {
	/* Settings that are still being applied come into force before this. */
	const struct gb_config *config = service->next_config ? service->next_config : service->config;
	struct gb_err err = {0};
	if (!service->gate)
		gb_fail(&err, GB_EINVAL, 0, "this server does not accept requests of agents");
	else if (gb_gate_serve_embedder(service->gate, config, done, data, &err))
		return;
	done(false, &err, data);
}

/* --- clients --- */

void gb_service_client_init(struct gb_service *service, struct gb_service_client *client) {
	client->service = service;
	gb_list_init(&client->waiting);
	gb_list_init(&client->pending);
	gb_list_append(&service->clients, &client->link);
}

void gb_service_client_finish(struct gb_service_client *client) {
	if (!client->service)
		return;
	gb_list_remove(&client->link);
	gb_service_abandon_pending(client);
	client->service = NULL;
}

/* --- the service --- */

static bool open_parts(struct gb_service *service, struct gb_err *err) {
	struct gb_manager_options sessions = {.on_awaiting = gb_execution_on_awaiting};
	gb_limits_sessions(service->config, &sessions);
	if (!gb_limits_engine_create(service->config, &service->options.engine, &service->engine, err))
		return false;
	gb_service_bind_first(service->engine, service->config);
	return gb_manager_create(service->engine, &sessions, &service->manager, err) &&
	       gb_loop_add(service->loop, &service->engine_source, gb_engine_fd(service->engine), GB_LOOP_IN,
		   on_engine_ready, err);
}

static bool on_gate_filter(struct gb_filter *filter, void *data, struct gb_err *err) {
	return gb_service_reapply_secrets(data, filter, err);
}

bool gb_service_accept_agents(struct gb_service *service, char **environment, struct gb_err *err) {
	const struct gb_gate_options gate = {.config = service->config,
	    .engine = service->engine,
	    .environment = environment,
	    .on_filter = on_gate_filter,
	    .data = service,
	    .work = gb_service_work_for,
	    .work_data = service};
	return gb_gate_open(&gate, &service->gate, err) &&
	       gb_loop_add(service->loop, &service->gate_source, gb_gate_fd(service->gate), GB_LOOP_IN,
		   on_gate_ready, err);
}

bool gb_service_create(
    const struct gb_service_options *options, struct gb_service **ret, struct gb_err *err) {
	struct gb_service *service = calloc(1, sizeof *service);
	if (!service)
		return gb_fail(err, GB_ENOMEM, 0, "the service");
	service->options = *options;
	service->options.engine.offload = gb_service_offload;
	service->options.engine.offload_data = service;
	service->loop = options->loop;
	service->engine_source.fd = service->gate_source.fd = -1;
	gb_service_work_init(service);
	service->config = gb_config_ref(options->config);
	service->filter = gb_filter_ref(options->filter);
	service->max_runs = GB_OR(options->max_runs, DEFAULT_MAX_RUNS);
	gb_list_init(&service->clients);
	gb_list_init(&service->executions);
	gb_list_init(&service->done);
	gb_list_init(&service->watches);
	if (!open_parts(service, err)) {
		gb_service_destroy(service);
		return false;
	}
	*ret = service;
	return true;
}

void gb_service_destroy(struct gb_service *service) {
	if (!service)
		return;
	gb_executions_abandon_masking(service);
	gb_service_work_finish(service);
	gb_executions_finish(service);
	gb_manager_destroy(service->manager);
	service->manager = NULL;
	gb_loop_remove(service->loop, &service->engine_source);
	gb_loop_remove(service->loop, &service->gate_source);
	gb_gate_close(service->gate);
	gb_engine_destroy(service->engine);
	gb_filter_destroy(service->filter);
	gb_service_forget_secrets(service);
	gb_config_unref(service->config);
	free(service);
}

const struct gb_config *gb_service_config(const struct gb_service *service) {
	return service->config;
}

struct gb_loop *gb_service_loop(struct gb_service *service) {
	return service->loop;
}

struct gb_engine *gb_service_engine(struct gb_service *service) {
	return service->engine;
}

struct gb_manager *gb_service_sessions(struct gb_service *service) {
	return service->manager;
}

struct gb_manager *gb_service_agent_sessions(struct gb_service *service) {
	return service->gate ? gb_gate_sessions(service->gate) : NULL;
}

struct gb_filter *gb_service_filter(struct gb_service *service) {
	return service->filter;
}

struct gb_filter *gb_service_agent_filter(struct gb_service *service) {
	return service->gate ? gb_gate_filter(service->gate) : NULL;
}

struct gb_gate *gb_service_gate(struct gb_service *service) {
	return service->gate;
}

bool gb_service_has_language(struct gb_service *service, enum gb_language language) {
	return gb_engine_has_language(service->engine, language);
}

bool gb_service_has_agents(const struct gb_service *service) {
	return service->gate && gb_gate_enabled(service->gate);
}
