/*
 * The rules of each face, as one table.
 *
 * A face is either gated or it is run_code. Gated means: it needs agent.enabled, or for some faces an embedding
 * program that enables it; everything that the code writes is masked, and everything is recorded in the audit log. No
 * setting waives these.
 */
#ifndef GB_GATE_FACES_H
#define GB_GATE_FACES_H

#include "config/config.h"
#include "glovebox/glovebox.h"
#include "store/energy.h"

/* Offsets in struct gb_config; 0 means that the face has only the limits of all agents (agent.* and
 * limits.<runtime>.*). */
struct gb_face_limit {
	size_t usual;            /* of a request that names none */
	size_t max, max_network; /* by tier; a higher value is lowered to it */
	uint64_t min;            /* a lower value is raised to it */
};

enum gb_face_approval {
	GB_FACE_ASKS_NEVER,
	GB_FACE_ASKS_UNLESS_WAIVED,   /* by the owner: approvals.waive, agent.autoApprove */
	GB_FACE_ASKS_UNLESS_EMBEDDER, /* or if the embedding program has stated that it decides */
};

enum { GB_FACE_FRAMES = 4 };

struct gb_face_rules {
	bool gated;
	bool guard;      /* the static guard checks the code */
	bool is_body;    /* the code is the body of a function: see gb_run_options */
	bool with_tools; /* the face may put text and functions around the code */
	bool
	    is_action; /* see gb_run_options; requests may also have globals, allowed modules and .read_only */
	/* An embedding program that states that it decides on this face has enabled it too: it needs no agent.enabled. */
	bool enabled_by_embedder;
	/* The face counts the text of the output itself. Frames, which are larger, may have GB_FACE_FRAMES times as much. */
	bool counts_output;
	const char *intent; /* of its audit records; NULL: none */
	enum gb_face_approval approval;
	size_t calls_per_turn; /* offset of the setting */
	struct gb_face_limit timeout, memory, output, result;
};

const struct gb_face_rules *gb_face_rules(enum gb_face face);

/* May the embedding program state that it decides on requests of this face? */
bool gb_face_embedder_may_decide(enum gb_face face);
/* Does this statement also enable the face? */
bool gb_face_embedder_may_enable(enum gb_face face);
/* Do runs of this face cost energy? */
bool gb_face_is_charged(enum gb_face face, const struct gb_config *config);
/* Calls in one turn of the model; *ret_setting is the name of the setting. */
unsigned gb_face_calls_per_turn(enum gb_face face, const struct gb_config *config, const char **ret_setting);

/* Apply the face's limits to @options, which has those of all agents already. @asked is what the request
 * itself has: 0 where it names no limit. */
void gb_face_limit(enum gb_face face, const struct gb_config *config, enum gb_tier tier,
    const struct gb_run_options *asked, struct gb_run_options *options);

#endif
