/* What the files of 'glovebox doctor' share. */
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
	const char *program;  /* of the machine; NULL: Glovebox brings its own */
	const char *variable; /* that says where it is */
	const char *source;
	bool has_value; /* the result's value is 42; else success says so */
};

enum { DOCTOR_RUNTIMES = 5 };
extern const struct runtime_check runtime_checks[DOCTOR_RUNTIMES];

/* The plan of the first runtime in @room that is installed. */
bool runtime_plan(struct gb_port *port, enum gb_room room, struct gb_plan **ret, struct gb_err *err);
/* Run code by the way that every run takes. *ret_text is the result, or what is wrong. */
enum gb_verdict runtime_observe(const struct runtime_check *check, char *ret_text, size_t n);

/* --- limits (doctor_limits.c) --- */

/* Say by what cells are limited, and what is not bounded. */
void limits_print(bool json);

/* --- doctor.c --- */

/* As members of a JSON object, each with a comma behind it. */
void facts_print(const struct gb_port_facts *facts);

#endif
