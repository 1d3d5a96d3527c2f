/* What the files of 'glovebox doctor' share. */
#ifndef GB_CLI_DOCTOR_H
#define GB_CLI_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "glovebox/glovebox.h"
#include "sandbox/linux/plan.h"

/* --- rooms and layers (sandbox/linux/observe.c) --- */

enum { DOCTOR_ROOMS = 3 };

/* How an attempt ended: "allowed", an errno's name, or "seccomp". Empty if it was not made. */
typedef char outcome[24];

enum verdict { OBSERVED, ABSENT, MISSING };
/* "observed", "absent", "missing". */
const char *verdict_name(enum verdict verdict);

struct finding {
	enum verdict verdict;
	outcome rooms[DOCTOR_ROOMS]; /* behind the whole wall */
	outcome alone, without;      /* this layer alone, and without it: in an empty room */
	char trouble[GB_ERR_MESSAGE_MAX];
};

/* What exists outside for the probe to reach for. */
struct bait {
	int listener;
	int shm_id;
	pid_t victim;
	char port[8], shm[16], pid[16], host_name[160], file[40];
};

struct room {
	struct gb_plan plan;
	/* ABSENT: no runtime that is installed needs it. MISSING: its wall could not be raised, or an attempt
	 * was not refused. */
	enum verdict verdict;
	char trouble[GB_ERR_MESSAGE_MAX];
};

struct layers {
	struct bait bait;
	char probe[PATH_MAX];
	struct room rooms[DOCTOR_ROOMS];
	/* Called before each attempt with what is tried. */
	void (*on_progress)(const char *what, void *data);
	void *data;
};

struct check {
	enum gb_layer layer;
	unsigned needs;      /* layers without which this one cannot be raised, or cannot be told apart */
	const char *attempt; /* for people */
	const char *probes[DOCTOR_ROOMS]; /* what the probe is asked to do; NULL: as in the room before */
	size_t bait;                      /* offset of the argument in struct bait, or SIZE_MAX */
	const char *remedy;
	bool optional;
};

extern const struct check checks[GB_LAYER_COUNT];

/* "none", "files", "programs". */
const char *room_name(size_t room);

/* Find the probe, make the plans, and prepare the targets of the attempts. */
bool layers_begin(struct layers *layers, struct gb_err *err);
/* Raise the whole wall of a room once. */
void layers_raise(struct layers *layers, size_t room);
void layers_end(struct layers *layers);
/* Attempt what the layer of @check forbids: in each room whose wall was raised, and in an empty one by this
 * layer alone and without it. */
void layers_observe(struct layers *layers, const struct check *check, struct finding *ret);

/* --- runtimes (doctor_runtimes.c) --- */

struct runtime_check {
	const char *name;
	enum gb_language language;
	size_t room;
	const char *program;  /* of the machine; NULL: Glovebox brings its own */
	const char *variable; /* that says where it is */
	const char *source;
	bool has_value; /* the result's value is 42; else success says so */
};

enum { DOCTOR_RUNTIMES = 5 };
extern const struct runtime_check runtime_checks[DOCTOR_RUNTIMES];

/* Run code by the way that every run takes. *ret_text is the result, or what is wrong. */
enum verdict runtime_observe(const struct runtime_check *check, char *ret_text, size_t n);

/* --- limits (doctor_limits.c) --- */

/* Say whether cells have control groups, and what is not bounded if not. */
void limits_say(bool json);

#endif
