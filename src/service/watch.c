/* Watches report executions as they are submitted. */
#include <string.h>

#include "service/execution.h"

void gb_service_watch(struct gb_service *service, struct gb_execution_watch *watch) {
	gb_list_append(&service->watches, &watch->link);
}

void gb_execution_watch_end(struct gb_execution_watch *watch) {
	gb_list_remove(&watch->link);
}

void gb_execution_call_watches(struct gb_execution *execution, const char *session) {
	gb_list_each(struct gb_execution_watch, watch, &execution->service->watches, link) {
		if (strcmp(watch->session, session) == 0)
			watch->on_execution(watch, execution);
	}
}

void gb_execution_announce_session(struct gb_execution *execution) {
	const char *session =
	    execution->agent_run ? gb_agent_run_session(execution->agent_run) : execution->session;
	if (execution->announced_session || !*session)
		return;
	execution->announced_session = true;
	gb_execution_call_watches(execution, session);
}
