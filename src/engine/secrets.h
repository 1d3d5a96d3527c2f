/*
 * Secrets at the edge: code has placeholders of them, and glovebox-egress puts the values into requests.
 *
 *	gb_engine_set_secrets(engine, list, n, &err);		// for later runs
 *	gb_edge_choose(engine, net, &nonce, &use, &err);	// those of a run; NULL: it gets none
 *	gb_edge_write(use, &job);				// the variables, for the code
 *	n = gb_edge_texts(use, texts);				// the secrets, for glovebox-egress
 *	gb_edge_release(use);
 */
#ifndef GB_ENGINE_SECRETS_H
#define GB_ENGINE_SECRETS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/protocol.h"
#include "egress/secret.h"
#include "glovebox/value.h"

struct gb_engine;
struct gb_edge_use;

struct gb_edge_secret {
	struct gb_str name, hosts, header; /* as in struct gb_secret_texts */
	struct gb_str variable;            /* where code finds its placeholder */
	const struct gb_str *forms;        /* spellings of the value, which is the first */
	size_t n_forms;
};

/* Copies them. Sessions and runs that exist keep what they have. */
bool gb_engine_set_secrets(
    struct gb_engine *engine, const struct gb_edge_secret *list, size_t n, struct gb_err *err);

/* They are not known, for this reason: runs in the network tier fail, until gb_engine_set_secrets. */
void gb_engine_refuse_secrets(struct gb_engine *engine, const struct gb_err *why);

/* The part of placeholders that cannot be guessed. Those of a session stay the same. */
struct gb_edge_nonce {
	bool is_set;
	unsigned char bytes[16];
};

/* The secrets that are bound to hosts which @net has rules for. *ret is NULL if there are none. */
bool gb_edge_choose(struct gb_engine *engine, const struct gb_value *net, struct gb_edge_nonce *nonce,
    struct gb_edge_use **ret, struct gb_err *err);
/* Append their names, as a JSON array. False if there are none. */
bool gb_edge_write_names(struct gb_engine *engine, const struct gb_value *net, struct gb_buf *out);
/* NULL is fine. */
void gb_edge_release(struct gb_edge_use *use);
/* Append a CBOR object of variables and placeholders. */
void gb_edge_write(const struct gb_edge_use *use, struct gb_buf *out);
/* Borrowed from @use; returns how many. 0 for NULL. */
size_t gb_edge_texts(const struct gb_edge_use *use, struct gb_secret_texts ret[GB_EGRESS_SECRETS_MAX]);

#endif
