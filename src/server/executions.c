/* Messages about executions of all clients: list, get, cancel, subscribe to events. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "glovebox/errors.h"
#include "server/replies.h"
#include "server/rpc.h"

enum {
	WATCHES_MAX = 64, /* of a client; each is called for every execution */
	/* Per client. Each subscription keeps its execution from being freed until the last event is sent. */
	SUBSCRIPTIONS_MAX = 1024,
	/* Unread output at which the subscriptions of a client are paused, and at which they continue. Meanwhile the
	 * service keeps events, up to its limit; dropped events are reported as lost. */
	LAG_BYTES = 1 << 20,
	CAUGHT_UP_BYTES = 256 << 10,
};

/* One execution that a client has subscribed to, directly or by a watch. */
struct subscribed {
	struct gb_list link; /* in the client's list */
	struct gb_client *client;
	struct gb_execution *execution;
	uint64_t request; /* number of the message 'subscribe' */
	struct gb_subscription subscription;
};

/* A subscription to all executions, or to those of a session. */
struct watching {
	struct gb_list link; /* in the client's list */
	struct gb_client *client;
	uint64_t request;
	uint64_t n_missed; /* executions not subscribed to: the client lagged, or was at its limit */
	struct gb_execution_watch watch;
};

static void end_subscription(struct subscribed *subscribed) {
	gb_subscription_end(&subscribed->subscription);
	gb_list_remove(&subscribed->link);
	subscribed->client->n_subscriptions--;
	free(subscribed);
}

static void on_event(struct gb_subscription *subscription, const struct gb_event *event) {
	struct subscribed *subscribed = gb_container(struct subscribed, subscription, subscription);
	struct gb_client *client = subscribed->client;
	gb_reply_event(&client->lines, subscribed->request, subscribed->execution, event);
	client->lags |= gb_lines_waiting(&client->lines) > LAG_BYTES;
	if (event->kind == GB_EVENT_FINISHED)
		end_subscription(subscribed);
	else if (client->lags)
		gb_subscription_pause(subscription);
}

static struct subscribed *create_subscribed(
    struct gb_client *client, uint64_t request, struct gb_execution *execution, struct gb_err *err) {
	struct subscribed *subscribed = NULL;
	if (client->n_subscriptions == SUBSCRIPTIONS_MAX)
		gb_fail(err, GB_ELIMIT, 0, "the client has %d subscriptions, which is the limit",
		    SUBSCRIPTIONS_MAX);
	else if (!(subscribed = calloc(1, sizeof *subscribed)))
		gb_fail(err, GB_ENOMEM, 0, "out of memory");
	if (!subscribed)
		return NULL;
	subscribed->client = client;
	subscribed->execution = execution;
	subscribed->request = request;
	subscribed->subscription.on_event = on_event;
	gb_list_append(&client->subscriptions, &subscribed->link);
	client->n_subscriptions++;
	return subscribed;
}

/* Kept events are delivered at once. */
static void begin_subscribed(struct subscribed *subscribed, uint64_t after) {
	struct gb_events *events = gb_execution_events(subscribed->execution);
	/* The last event ends the subscription, so it is always delivered. */
	if (gb_execution_result(subscribed->execution) && after >= events->last)
		after = events->last - 1;
	gb_events_subscribe(events, &subscribed->subscription, after);
}

static void on_execution(struct gb_execution_watch *watch, struct gb_execution *execution) {
	struct watching *watching = gb_container(struct watching, watch, watch);
	struct gb_client *client = watching->client;
	struct subscribed *subscribed = NULL;
	/* Not while the client lags: executions would be kept for a client that does not read. */
	if (!client->lags)
		subscribed = create_subscribed(client, watching->request, execution, NULL);
	if (subscribed)
		begin_subscribed(subscribed, 0);
	else
		watching->n_missed++;
}

static bool watch(struct gb_client *client, const struct gb_message *message, struct gb_err *err) {
	struct gb_service *service = client->server->service;
	struct gb_session_info info = {0};
	struct gb_manager *agents = gb_service_agent_sessions(service);
	if (message->session && !gb_manager_get(gb_service_sessions(service), message->session, &info, err) &&
	    !(agents && gb_manager_get(agents, message->session, &info, err)))
		return false;
	if (client->n_watches == WATCHES_MAX)
		return gb_fail(err, GB_ELIMIT, 0,
		    "the client has %d subscriptions to sessions or to everything, which is the limit",
		    WATCHES_MAX);
	struct watching *watching = calloc(1, sizeof *watching);
	if (!watching)
		return gb_fail(err, GB_ENOMEM, 0, "out of memory");
	watching->client = client;
	watching->request = message->request;
	watching->watch.on_execution = on_execution;
	memcpy(watching->watch.session, info.id, sizeof info.id);
	gb_list_append(&client->watches, &watching->link);
	client->n_watches++;
	gb_service_watch(service, &watching->watch);
	return true;
}

static void end_watch(struct watching *watching) {
	gb_execution_watch_end(&watching->watch);
	watching->client->n_watches--;
	gb_list_remove(&watching->link);
	free(watching);
}

/* End the watch and the subscriptions that the message @request has started. Returns how many. */
static unsigned unsubscribe(struct gb_client *client, uint64_t request) {
	unsigned n = 0;
	gb_list_each(struct watching, watching, &client->watches, link) {
		if (watching->request == request) {
			end_watch(watching);
			n++;
		}
	}
	gb_list_each(struct subscribed, subscribed, &client->subscriptions, link) {
		if (subscribed->request == request) {
			end_subscription(subscribed);
			n++;
		}
	}
	return n;
}

static bool is_used(const struct gb_client *client, uint64_t request) {
	gb_list_each(struct watching, watching, &client->watches, link) {
		if (watching->request == request)
			return true;
	}
	gb_list_each(struct subscribed, subscribed, &client->subscriptions, link) {
		if (subscribed->request == request)
			return true;
	}
	return false;
}

static bool handle_subscribe(struct gb_client *client, const struct gb_message *message,
    struct gb_execution *execution, struct gb_rejection *rejection) {
	struct gb_err err = {0};
	if (message->execution && message->session)
		return gb_reject(gb_rejection_at(rejection, "session"), GB_CODE_INVALID,
		    "give an execution or a session, not both");
	if (is_used(client, message->request))
		return gb_reject(gb_rejection_at(rejection, "request"), GB_CODE_INVALID,
		    "another subscription of this client has this number");
	struct subscribed *subscribed =
	    execution ? create_subscribed(client, message->request, execution, &err) : NULL;
	if (execution ? !subscribed : !watch(client, message, &err))
		return gb_reject(rejection, err.code == GB_ENOENT ? GB_CODE_UNKNOWN_SESSION : GB_CODE_REFUSED,
		    "%s", err.message);
	gb_reply_subscribed(&client->lines, "subscribed", message->request);
	if (subscribed)
		begin_subscribed(subscribed, message->after);
	return true;
}

bool gb_rpc_handle_execution(
    struct gb_client *client, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_service *service = client->server->service;
	struct gb_execution *execution =
	    message->execution ? gb_service_find(service, message->execution) : NULL;
	char reason[GB_REASON_MAX];
	if (message->execution && !execution)
		return gb_reject(gb_rejection_at(rejection, "execution"), GB_CODE_UNKNOWN_RUN,
		    "there is no execution '%.64s', or it is not kept any more", message->execution);
	switch (message->type) {
	case GB_MESSAGE_EXECUTION_LIST:
		gb_reply_executions(&client->lines, message->request, service);
		return true;
	case GB_MESSAGE_EXECUTION_CANCEL:
		gb_execution_terminate(execution, gb_message_reason(message, reason));
		gb_reply_execution(&client->lines, message->request, execution);
		return true;
	case GB_MESSAGE_SUBSCRIBE:
		return handle_subscribe(client, message, execution, rejection);
	case GB_MESSAGE_UNSUBSCRIBE:
		if (!unsubscribe(client, message->subscription))
			return gb_reject(gb_rejection_at(rejection, "subscription"), GB_CODE_INVALID,
			    "this client has no subscription %llu",
			    (unsigned long long)message->subscription);
		gb_reply_subscribed(&client->lines, "unsubscribed", message->request);
		return true;
	default:
		gb_reply_execution(&client->lines, message->request, execution);
		return true;
	}
}

void gb_rpc_update_subscriptions(struct gb_client *client) {
	size_t waiting = gb_lines_waiting(&client->lines);
	bool subscribes = client->n_subscriptions || !gb_list_empty(&client->watches);
	client->lags = subscribes && waiting > (client->lags ? CAUGHT_UP_BYTES : LAG_BYTES);
	if (client->lags)
		return;
	gb_list_each(struct watching, watching, &client->watches, link) {
		if (watching->n_missed)
			gb_reply_missed(&client->lines, watching->request, watching->n_missed);
		watching->n_missed = 0;
	}
	/* Resuming may deliver the last event, which frees the subscription. */
	gb_list_each(struct subscribed, subscribed, &client->subscriptions, link) {
		if (subscribed->subscription.paused && !client->lags)
			gb_subscription_resume(&subscribed->subscription);
	}
}

void gb_rpc_end_subscriptions(struct gb_client *client) {
	gb_list_each(struct watching, watching, &client->watches, link) end_watch(watching);
	gb_list_each(struct subscribed, subscribed, &client->subscriptions, link)
	    end_subscription(subscribed);
}
