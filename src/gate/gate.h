/*
 * The gate: an agent's request goes in, and is refused, or approved, run and recorded.
 *
 *	struct gb_gate *gate;
 *	gb_gate_open(&(struct gb_gate_options){.config = config, .engine = engine}, &gate, &err);
 *	struct gb_gate_request request = {.face = "cli", .run = {.source = "6*7", .language = GB_PYTHON},
 *	    .on_done = on_done};
 *	gb_gate_submit(gate, &request, &pass, &err);
 *	while (!gb_pass_done(pass))
 *		gb_gate_turn(gate, -1, &err);		// or poll gb_gate_poll's descriptors
 *	gb_pass_destroy(pass);
 *	gb_gate_close(gate);
 *
 * Everything that the code says is masked before anybody hears it. A result is told when its record is on the
 * disk; what cannot be recorded is not run. A request that is refused has a result too, whose status is
 * "denied" and whose code says by which rule.
 */
#ifndef GB_GATE_GATE_H
#define GB_GATE_GATE_H

#include "config/config.h"
#include "glovebox/glovebox.h"
#include "store/energy.h"

struct gb_gate;
struct gb_pass;

struct gb_gate_options {
	const struct gb_config *config; /* a reference is taken */
	struct gb_engine *engine;       /* outlives the gate */
	char **environment;             /* for secrets of the environment; or NULL */
};

/* Opens the state folder: approvals, energy, the audit log, registered secrets. With agents disabled it opens
 * nothing, and refuses everything. */
bool gb_gate_open(const struct gb_gate_options *options, struct gb_gate **ret, struct gb_err *err);
/* Passes must have been destroyed. NULL is fine. */
void gb_gate_close(struct gb_gate *gate);

/* Do what can be done, waiting for it at most @timeout_ms (-1: for ever). Callbacks come from here. */
bool gb_gate_turn(struct gb_gate *gate, int timeout_ms, struct gb_err *err);

/* Texts may be NULL. Everything is copied but the run's values, which stay until the pass is done. */
struct gb_gate_request {
	const char *face;         /* through which it came */
	const char *conversation; /* whose it is */
	const char *purpose;      /* what the agent says that it is for */
	enum gb_tier tier;
	/* Source, language, arguments and limits. Nothing else can be set yet: what is not checked, shown to
	 * whoever decides and recorded is refused. */
	struct gb_run_options run;

	/* It waits for a person to decide on @approval, until @expires_ms. */
	void (*on_pending)(struct gb_pass *pass, const char *approval, int64_t expires_ms, void *data);
	void (*on_log)(struct gb_pass *pass, const struct gb_log *log, void *data);
	void (*on_output)(struct gb_pass *pass, int stream, const char *bytes, size_t n, void *data);
	/* Once. @result lives as long as the pass. */
	void (*on_done)(struct gb_pass *pass, const struct gb_result *result, void *data);
	void *data;
};

/* Fails only if the machine does; what is refused is told by on_done. */
bool gb_gate_submit(
    struct gb_gate *gate, const struct gb_gate_request *request, struct gb_pass **ret, struct gb_err *err);
bool gb_pass_done(const struct gb_pass *pass);
const struct gb_result *gb_pass_result(const struct gb_pass *pass); /* NULL before it is done */
/* One that waits for a person is withdrawn, one that runs is ended and recorded. NULL is fine. */
void gb_pass_destroy(struct gb_pass *pass);

#endif
