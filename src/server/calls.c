#include <stdlib.h>

#include "glovebox/errors.h"
#include "server/replies.h"
#include "server/rpc.h"

/* --- from the code to the client --- */

struct incoming {
	struct gb_entry entry;
	struct gb_call *call;
	bool promised;
};

static struct gb_call_name name_of(const struct gb_rpc_run *run, uint64_t call) {
	return (struct gb_call_name){run->entry.number, call};
}

/* Keep @call until it is answered, under a new number; NULL if memory is exhausted. */
static struct incoming *keep(struct gb_rpc_run *run, struct gb_call *call) {
	struct incoming *incoming = calloc(1, sizeof *incoming);
	if (!incoming)
		return NULL;
	incoming->call = call;
	incoming->entry.number = run->last_call + 1;
	if (!gb_table_add(&run->in, &incoming->entry)) {
		free(incoming);
		return NULL;
	}
	run->last_call++;
	return incoming;
}

/* Remove it from the table, to be answered. */
static struct gb_call *release(struct gb_rpc_run *run, struct incoming *incoming) {
	struct gb_call *call = incoming->call;
	gb_table_remove(&run->in, &incoming->entry);
	free(incoming);
	return call;
}

static void throw(struct gb_call * call, const char *message) {
	gb_call_throw(call, gb_value_error(gb_call_values(call), "RangeError", message, NULL));
}

void gb_rpc_on_call(struct gb_execution *execution, struct gb_call *call, void *data) {
	struct gb_rpc_run *run = data;
	struct gb_err err = {0};
	struct incoming *incoming = keep(run, call);
	(void)execution;
	if (!incoming)
		throw(call, "the host is out of memory");
	else if (!gb_reply_call(&run->client->lines, name_of(run, incoming->entry.number),
		     gb_call_function(call), gb_call_args(call), &err))
		throw(release(run, incoming), err.message);
}

void gb_rpc_on_report(
    struct gb_execution *execution, const struct gb_value *value, struct gb_call *call, void *data) {
	struct gb_rpc_run *run = data;
	struct gb_err err = {0};
	struct incoming *incoming = keep(run, call);
	(void)execution;
	if (!incoming)
		throw(call, "the host is out of memory");
	else if (!gb_reply_report(&run->client->lines, name_of(run, incoming->entry.number), value, &err))
		throw(release(run, incoming), err.message);
}

bool gb_rpc_answer(struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection) {
	struct incoming *incoming = (struct incoming *)gb_table_find(&run->in, message->call);
	if (!incoming)
		return gb_reject(rejection, GB_CODE_UNKNOWN_CALL,
		    message->call && message->call <= run->last_call ? "call %llu has its answer already"
								     : "there is no call %llu",
		    (unsigned long long)message->call);
	if (message->promise && incoming->promised)
		return gb_reject(gb_rejection_at(rejection, "promise"), GB_CODE_INVALID, "was sent before");
	if (message->promise) {
		incoming->promised = true;
		gb_call_promise(incoming->call);
	} else if (message->thrown) {
		gb_call_throw(release(run, incoming), message->thrown);
	} else {
		gb_call_return(release(run, incoming), message->returned);
	}
	return true;
}

/* --- from the client to the code --- */

struct outgoing {
	struct gb_entry entry;
	struct gb_rpc_run *run; /* NULL if the client has disconnected: the engine will still answer */
};

static void on_answer(struct gb_run *engine_run, const struct gb_value *value, bool thrown, void *data) {
	struct outgoing *outgoing = data;
	struct gb_rpc_run *run = outgoing->run;
	if (!run) { /* the client has disconnected */
		free(outgoing);
		return;
	}
	struct gb_call_name name = name_of(run, outgoing->entry.number);
	gb_table_remove(&run->out, &outgoing->entry);
	free(outgoing);
	if (!value) {
		gb_reply_ended(&run->client->lines, name);
		return;
	}
	/* There may be any number of answers, so each has its own pool, which is freed at once. */
	struct gb_values *pool = NULL;
	bool ok = gb_execution_mask(run->execution, &value, &pool, &thrown);
	if (ok)
		gb_reply_answer(&run->client->lines, name, value, thrown);
	else
		gb_reply_ended(&run->client->lines, name);
	gb_values_destroy(pool);
}

/* The engine rejected the call. */
static bool reject_call(const struct gb_err *err, struct gb_rejection *rejection) {
	bool of_args = strcmp(err->field, "args") == 0;
	if (!of_args && err->code != GB_EINVAL)
		return gb_reject(rejection, GB_CODE_REFUSED, "%s", err->message);
	return gb_reject(gb_rejection_at(rejection, of_args ? "args" : "function"), GB_CODE_INVALID, "%s",
	    of_args ? err->message + err->detail : err->message);
}

bool gb_rpc_call(struct gb_rpc_run *run, const struct gb_message *message, struct gb_rejection *rejection) {
	struct gb_run *engine_run = gb_execution_run(run->execution);
	if (!engine_run)
		return gb_reject(gb_rejection_at(rejection, "function"), GB_CODE_INVALID,
		    "the run has not begun and has no functions yet");
	/* The code has ended, and its result is being masked. */
	if (gb_run_settled(engine_run)) {
		gb_reply_ended(&run->client->lines, name_of(run, message->call));
		return true;
	}
	if (gb_table_find(&run->out, message->call))
		return gb_reject(gb_rejection_at(rejection, "call"), GB_CODE_INVALID,
		    "another call of this run has this number");
	struct outgoing *outgoing = calloc(1, sizeof *outgoing);
	if (!outgoing)
		return gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
	outgoing->run = run;
	outgoing->entry.number = message->call;
	if (!gb_table_add(&run->out, &outgoing->entry)) {
		free(outgoing);
		return gb_reject(rejection, GB_CODE_REFUSED, "out of memory");
	}
	struct gb_err err = {0};
	if (gb_run_call(engine_run, message->function, message->args, on_answer, outgoing, &err))
		return true;
	gb_table_remove(&run->out, &outgoing->entry);
	free(outgoing);
	return reject_call(&err, rejection);
}

/* --- the end --- */

void gb_rpc_abandon_calls(struct gb_rpc_run *run) {
	for (struct gb_entry *entry; (entry = gb_table_any(&run->out));) {
		gb_table_remove(&run->out, entry);
		((struct outgoing *)entry)->run = NULL;
	}
	gb_rpc_end_calls(run);
}

void gb_rpc_end_calls(struct gb_rpc_run *run) {
	for (struct gb_entry *entry; (entry = gb_table_any(&run->out));) {
		gb_reply_ended(&run->client->lines, name_of(run, entry->number));
		gb_table_remove(&run->out, entry);
		free((struct outgoing *)entry);
	}
	for (struct gb_entry *entry; (entry = gb_table_any(&run->in));)
		gb_call_return(release(run, (struct incoming *)entry), NULL);
	gb_table_finish(&run->out);
	gb_table_finish(&run->in);
}
