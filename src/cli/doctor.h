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
	bool has_value; /* the value of the run must be 42; false: the run must only succeed */
};

enum { DOCTOR_RUNTIMES = 5 };
extern const struct runtime_check runtime_checks[DOCTOR_RUNTIMES];

/* Create the plan of the first installed runtime that uses @room. */
bool runtime_plan(struct gb_port *port, enum gb_room room, struct gb_plan **ret, struct gb_err *err);
/* Run the source of @check with the library. @ret_text, of @n bytes, gets the result or the error as text. */
enum gb_verdict runtime_observe(const struct runtime_check *check, char *ret_text, size_t n);

/* --- limits (doctor_limits.c) --- */

/* Print which mechanisms limit cells, and which resources this machine cannot limit. */
void limits_print(bool json);

/* --- doctor.c --- */

/* Print @facts as members of a JSON object, each followed by a comma. */
void facts_print(const struct gb_port_facts *facts);

#endif
