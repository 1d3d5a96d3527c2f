/*
 * The worker of the attack tests: takes the place of glovebox-js, in the same sandbox, and follows orders. A question
 * in text names an attack and its argument; a job names the behaviour of a hostile worker.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "base/io.h"
#include "hostile.h"
#include "sandbox/worker.h"
#include "value/frame.h"

enum { QUESTION_MAX = 200 };

static const struct attack *find_attack(const char *name) {
	for (const struct attack *const *a = __start_attacks; a < __stop_attacks; a++)
		if (strcmp((*a)->name, name) == 0)
			return *a;
	return NULL;
}

static void answer(int fd, const char *verdict, const char *detail) {
	char line[120];
	int n = snprintf(line, sizeof line, "%s %s\n", verdict, detail);
	gb_write_all(fd, line, (size_t)n);
}

static void perform(int fd, char *question) {
	char *argument = strchr(question, ' ');
	if (argument)
		*argument++ = '\0';
	const struct attack *attack = find_attack(question);
	if (!attack) {
		answer(fd, "unknown", question);
		return;
	}
	long returned = attack->probe(argument ? argument : "");
	int error = errno;
	char number[24];
	snprintf(number, sizeof number, "%ld", returned < 0 ? error : returned);
	const char *name = returned < 0 ? strerrorname_np(error) : NULL;
	answer(fd, returned < 0 ? "denied" : "done", name ? name : number);
}

static bool init(const char *profile) {
	(void)profile;
	return true;
}

static void serve(int fd) {
	char question[QUESTION_MAX];
	size_t n = 0;
	while (n < sizeof question - 1) {
		ssize_t got = read(fd, question + n, sizeof question - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
		/* Text never has this byte. */
		if (n >= GB_FRAME_HEAD && question[GB_FRAME_HEAD - 1] == GB_FRAME_JOB) {
			hostile_serve(fd, question, n);
			return;
		}
	}
	question[n] = '\0';
	if (n)
		perform(fd, question);
}

int main(void) {
	static const struct gb_worker worker = {.init = init, .serve = serve};
	return gb_zygote_main(&worker);
}
