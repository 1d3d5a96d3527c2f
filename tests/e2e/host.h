/*
 * Host functions for the tests, by number.
 *
 *	options.on_call = host_on_call;
 *	const struct gb_result *result = host_wait(engine, run);
 */
#ifndef GB_TESTS_HOST_H
#define GB_TESTS_HOST_H

#include <glovebox/glovebox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum host_function {
	HOST_ECHO = 1,    /* returns its first argument */
	HOST_LATER,       /* returns a promise of its first argument */
	HOST_THROW,       /* throws a TypeError */
	HOST_THROW_LATER, /* returns a promise that is rejected with a TypeError */
	HOST_APPLY,       /* (f, ...args): returns a promise of f(...args) */
	HOST_NEVER,       /* returns a promise that never settles */
	HOST_ALL,         /* returns all its arguments */
	HOST_THROW_PLAIN, /* throws a string */
	HOST_SLOWLY,      /* returns its first argument later, while the code waits */
	HOST_CALL_LATER,  /* (f): returns at once, and calls f afterwards */
	HOST_LEND,        /* returns a function, HOST_ECHO */
	HOST_PROMISE,     /* returns a promise, HOST_LATER of nothing */
	HOST_HAS,         /* (object, key): whether the host sees the key in the object */
	HOST_OPEN,        /* ({path}): checks whether the path may be opened, then opens it */
	HOST_ROLE,        /* returns the property role of the global "api", read by the host */
};

/* Calls that are answered in the next iteration of the loop. */
static struct {
	struct gb_call *calls[4096];
	size_t n;
} host_later;

static inline const struct gb_value *host_first(struct gb_call *call) {
	const struct gb_value *first = gb_value_at(gb_call_args(call), 0);
	return first ? first : gb_value_undefined(gb_call_values(call));
}

static inline struct gb_value *host_type_error(struct gb_call *call) {
	return gb_value_error(gb_call_values(call), "TypeError", "the host says no", NULL);
}

static inline void host_on_applied(
    struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	(void)run;
	struct gb_call *call = data;
	if (thrown)
		gb_call_throw(call, value);
	else
		gb_call_return(call, value);
}

static inline void host_ignore(struct gb_run *run, const struct gb_value *value, bool thrown, void *data) {
	(void)run, (void)value, (void)thrown, (void)data;
}

static inline void host_apply(struct gb_call *call) {
	struct gb_values *pool = gb_call_values(call);
	struct gb_value *rest = gb_value_array(pool);
	uint32_t function = 0;
	gb_value_as_callable(host_first(call), NULL, &function);
	for (size_t i = 1; i < gb_value_count(gb_call_args(call)); i++)
		gb_value_push(rest, (struct gb_value *)gb_value_at(gb_call_args(call), i));
	gb_call_promise(call);
	if (!gb_run_call(gb_call_run(call), function, rest, host_on_applied, call, NULL))
		gb_call_throw(call, host_type_error(call));
}

static inline void host_call_later(struct gb_call *call) {
	uint32_t function = 0;
	gb_value_as_callable(host_first(call), NULL, &function);
	gb_run_call(gb_call_run(call), function, NULL, host_ignore, NULL, NULL);
	gb_call_return(call, NULL);
}

static inline void host_has(struct gb_call *call) {
	const char *key = gb_value_bytes(gb_value_at(gb_call_args(call), 1), NULL);
	bool has = key && gb_value_get(host_first(call), key);
	gb_call_return(call, gb_value_boolean(gb_call_values(call), has));
}

/* It reads the path twice, as a careless host would. */
static inline void host_open(struct gb_call *call) {
	struct gb_values *pool = gb_call_values(call);
	const char *checked = gb_value_bytes(gb_value_get(host_first(call), "path"), NULL);
	if (!checked || strcmp(checked, "/allowed") != 0) {
		gb_call_throw(call, gb_value_error(pool, "TypeError", "denied", NULL));
		return;
	}
	const char *path = gb_value_bytes(gb_value_get(host_first(call), "path"), NULL);
	char opened[200];
	int n = snprintf(opened, sizeof opened, "opened %s", path);
	gb_call_return(call, gb_value_string(pool, opened, (size_t)n));
}

/* @data is the object of the run's globals. */
static inline void host_role(struct gb_call *call, const struct gb_value *globals) {
	gb_call_return(call, gb_value_get(gb_value_get(globals, "api"), "role"));
}

static inline void host_on_call(struct gb_run *run, struct gb_call *call, void *data) {
	(void)run;
	struct gb_values *pool = gb_call_values(call);
	switch (gb_call_function(call)) {
	case HOST_ECHO:
		gb_call_return(call, host_first(call));
		return;
	case HOST_THROW:
		gb_call_throw(call, host_type_error(call));
		return;
	case HOST_APPLY:
		host_apply(call);
		return;
	case HOST_ALL:
		gb_call_return(call, gb_call_args(call));
		return;
	case HOST_THROW_PLAIN:
		gb_call_throw(call, gb_value_string(pool, "plain", 5));
		return;
	case HOST_CALL_LATER:
		host_call_later(call);
		return;
	case HOST_LEND:
		gb_call_return(call, gb_value_function(pool, HOST_ECHO, "echo"));
		return;
	case HOST_PROMISE:
		gb_call_return(call, gb_value_promise(pool, HOST_LATER));
		return;
	case HOST_HAS:
		host_has(call);
		return;
	case HOST_OPEN:
		host_open(call);
		return;
	case HOST_ROLE:
		host_role(call, data);
		return;
	case HOST_SLOWLY:
		break;
	default:
		gb_call_promise(call);
	}
	if (host_later.n == sizeof host_later.calls / sizeof *host_later.calls)
		abort();
	host_later.calls[host_later.n++] = call;
}

static inline void host_answer_later(void) {
	size_t n = host_later.n;
	host_later.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct gb_call *call = host_later.calls[i];
		uint32_t function = gb_call_function(call);
		if (function == HOST_THROW_LATER)
			gb_call_throw(call, host_type_error(call));
		else if (function == HOST_NEVER && gb_call_run(call))
			host_later.calls[host_later.n++] = call;
		else
			gb_call_return(call, host_first(call));
	}
}

static inline const struct gb_result *host_wait(struct gb_engine *engine, struct gb_run *run) {
	while (!gb_run_settled(run)) {
		if (!gb_engine_dispatch(engine, host_later.n ? 1 : -1, NULL))
			return NULL;
		host_answer_later();
	}
	host_answer_later();
	return gb_run_result(run);
}

#endif
