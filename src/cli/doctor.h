/* Shared by the files of 'glovebox doctor'. */
#ifndef GB_CLI_DOCTOR_H
#define GB_CLI_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "glovebox/glovebox.h"
#include "sandbox/port.h"

/* --- runtimes (doctor_runtimes.c) --- */

struct runtime_check {
	const char *name;
	enum gb_language language;
	enum gb_room room;
	const char *program;  /* installed on the machine; NULL: part of Glovebox */
	const char *variable; /* environment variable with its path */
	const char *source;
	bool has_value; /* the result must be 42; otherwise success is enough */
};

enum { DOCTOR_RUNTIMES = 5 };
extern const struct runtime_check runtime_checks[DOCTOR_RUNTIMES];

/* The plan of the first runtime in @room that is installed. */
bool runtime_plan(struct gb_port *port, enum gb_room room, struct gb_plan **ret, struct gb_err *err);
/* Run code with the library. *ret_text is the result or the error. */
enum gb_verdict runtime_observe(const struct runtime_check *check, char *ret_text, size_t n);

/* --- limits (doctor_limits.c) --- */

/* Print which mechanisms limit cells, and what is not bounded. */
void limits_print(bool json);

/* --- doctor.c --- */

/* Print as members of a JSON object, each followed by a comma. */
void facts_print(const struct gb_port_facts *facts);

#endif
