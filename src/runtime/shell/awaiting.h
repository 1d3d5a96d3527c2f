/*
 * When to look who waits for somebody to type, and what the host is told of it: AWAITING frames, one for each
 * wait.
 *
 *	gb_awaiting_begin(&awaiting);
 *	while (gb_keeper_turn(keeper, gb_awaiting_pause(&awaiting)))	// feeds gb_awaiting_shown
 *		gb_awaiting_look(&awaiting, &tty);
 */
#ifndef GB_RUNTIME_SHELL_AWAITING_H
#define GB_RUNTIME_SHELL_AWAITING_H

#include <stdint.h>

#include "runtime/shell/prompt.h"
#include "runtime/shell/tty.h"

struct gb_awaiting {
	struct gb_prompt prompt;
	bool told;
	uint64_t quiet_since, look_at; /* ns */
	unsigned pause_ms;
};

void gb_awaiting_begin(struct gb_awaiting *awaiting);
/* Something was written to the terminal. */
void gb_awaiting_shown(struct gb_awaiting *awaiting, const char *bytes, size_t n);
/* Somebody has typed, and knows that it goes on. */
void gb_awaiting_answered(struct gb_awaiting *awaiting);
/* Milliseconds until it is time to look; and look, if it is. */
int gb_awaiting_pause(const struct gb_awaiting *awaiting);
void gb_awaiting_look(struct gb_awaiting *awaiting, const struct gb_tty *tty);

#endif
