/* One execution, inside the service: see service.h for its life cycle. */
#ifndef GB_SERVICE_EXECUTION_H
#define GB_SERVICE_EXECUTION_H

#include "guard/masked.h"
#include "service/service.h"

enum gb_execution_phase { GB_EXECUTION_WAITING, GB_EXECUTION_RUNNING, GB_EXECUTION_DONE };

/* The bytes of an incomplete UTF-8 character at the end of the output so far. */
struct gb_output_tail {
	char bytes[3];
	unsigned char n;
};

struct gb_execution {
	struct gb_service *service;
	struct gb_list link;    /* in the service's list of executions */
	struct gb_list waiting; /* in its client's list while it waits */
	char id[33];
	enum gb_execution_phase phase;
	bool in_session;
	bool settled;       /* the run of a caller has ended; its result may still have to be masked */
	bool released;      /* gb_execution_release was called */
	struct gb_run *run; /* of a caller; encoded, and not begun while it waits */
	struct gb_agent_run *agent_run; /* of an agent */
	struct gb_masked *masked;       /* of a caller; NULL: nothing is masked */
	struct gb_output_tail tails[2]; /* of stdout and stderr */
	struct gb_events events;
	struct gb_subscription submitter;
	struct gb_submission submission;  /* its callbacks */
	struct gb_result result;          /* when it is done */
	char refusal[GB_ERR_MESSAGE_MAX]; /* the error message if the code could not be started */
	gb_execution_asked asked;         /* about a call that waits for approval */
	void *asked_data;
	char session[33];       /* the id of its session, as soon as it is known; or empty */
	bool announced_session; /* to the watches of its session */
	uint64_t done_at;       /* gb_now_ns */
	size_t bytes;           /* memory of its values, once it is done */
	char target[33];        /* id of the session in which a caller's code will run; or empty */
};

/* Secrets that clients have registered to be masked. */
struct gb_service_secrets {
	struct gb_service_secret {
		char *name, *value;
		size_t n;
	} * list;
	size_t n;
};

/* The threads for work of the service, its engine and its transports: see gb_service_work. */
enum { GB_SERVICE_DATA, GB_SERVICE_LARGE_DATA, GB_SERVICE_STARTS, GB_SERVICE_THREADS };

struct gb_service_thread {
	struct gb_worker *worker; /* NULL: not started */
	struct gb_source source;
};

struct gb_service {
	struct gb_service_options options;
	struct gb_loop *loop;
	struct gb_engine *engine;
	struct gb_manager *manager;
	struct gb_gate *gate; /* or NULL */
	struct gb_source engine_source, gate_source;
	const struct gb_config *config;
	struct gb_filter *filter; /* or NULL */
	struct gb_service_secrets secrets;
	struct gb_list watches;
	struct gb_service_thread threads[GB_SERVICE_THREADS];
	bool ending;               /* being destroyed: no more work */
	struct gb_list clients;    /* the next one to start a waiting execution comes first */
	struct gb_list executions; /* that are not done, oldest first */
	struct gb_list done;       /* kept, or about to be freed; oldest first */
	unsigned n_running;        /* executions of callers that have a sandbox */
	unsigned n_agents;         /* executions of agents that are not done */
	unsigned n_waiting, n_done, max_runs;
	size_t waiting_bytes, done_bytes;
	bool room;         /* a run has settled since waiting executions were last tried */
	struct gb_err err; /* why the engine failed */
	/* Settings that wait for the gate. */
	const struct gb_config *next_config;
	struct gb_filter *next_filter;
	gb_service_configured on_configured;
	void *on_configured_data;
};

/* --- execution.c --- */

struct gb_execution *gb_execution_create(struct gb_service *service, const struct gb_submission *submission);
void gb_execution_destroy(struct gb_execution *execution);
/* The steps in which a caller's code is submitted: create the run; encode it (gb_run_encode, on any thread); start or
 * queue it; announce it to its submitter and to watches. */
bool gb_execution_create_run(struct gb_execution *execution, const struct gb_gate_request *request,
    struct gb_run_options *ret_options, struct gb_err *err);
bool gb_execution_begin_run(
    struct gb_service_client *client, struct gb_execution *execution, struct gb_err *err);
void gb_execution_announce(struct gb_execution *execution);

/* Its run has settled and everything is masked: give it its result. */
void gb_execution_finish_masked(struct gb_execution *execution);
/* Start the execution that has waited longest. False if there is no sandbox for it. */
bool gb_execution_start_waiting(struct gb_service_client *client);
/* Free done executions that need not be kept any longer. Returns after how many ms to call it again; -1: not at all. */
int gb_executions_expire(struct gb_service *service);
/* The service is being destroyed: masking that is under way on threads ends soon. */
void gb_executions_abandon_masking(struct gb_service *service);
/* Free all executions. */
void gb_executions_finish(struct gb_service *service);
/* Callback of the session manager: the code of a run has started to wait for input. */
void gb_execution_on_awaiting(
    struct gb_manager *manager, const struct gb_session_info *info, struct gb_run *run, void *data);

/* --- output.c --- */

/* Callbacks of the engine. */
void gb_output_on_log(struct gb_run *run, const struct gb_log *log, void *execution);
void gb_output_on_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *execution);
void gb_output_on_display(struct gb_run *run, const struct gb_value *display, void *execution);
/* Append what is masked by now; if the run has settled and its result is masked, finish the execution. */
void gb_output_on_progress(struct gb_masked *masked, void *execution);
/* Append output that is masked already. */
void gb_output_append(struct gb_execution *execution, int stream, const char *bytes, size_t n);
/* All output is appended: append incomplete characters too. */
void gb_output_end(struct gb_execution *execution);

/* --- work.c --- */

void gb_service_work_init(struct gb_service *service);
/* gb_service_work for parts of the service, and for the engine. */
bool gb_service_work_for(struct gb_work *work, size_t bytes, void *service);
bool gb_service_offload(struct gb_task *task, size_t bytes, void *service);
/* Wait for all work, and end the threads. */
void gb_service_work_finish(struct gb_service *service);
/* Drop the submissions of @client that are being encoded: the client is finished. */
void gb_service_abandon_pending(struct gb_service_client *client);

/* --- secrets.c --- */

/* Add all registered secrets to a new filter. */
bool gb_service_reapply_secrets(struct gb_service *service, struct gb_filter *filter, struct gb_err *err);
void gb_service_forget_secrets(struct gb_service *service);

/* --- edge.c --- */

/* Give the engine the registered secrets that are bound to hosts, if the settings allow a network. */
bool gb_service_bind_secrets(struct gb_engine *engine, const struct gb_config *config, struct gb_err *err);
/* The same for a new engine: if they cannot be read, only runs with a network fail. */
void gb_service_bind_first(struct gb_engine *engine, const struct gb_config *config);

/* --- watch.c --- */

/* Call the watches of @session; empty: those of all executions. A callback may end its own watch. */
void gb_execution_call_watches(struct gb_execution *execution, const char *session);
/* Call the watches of the execution's session, once, as soon as the session is known. */
void gb_execution_announce_session(struct gb_execution *execution);

#endif
