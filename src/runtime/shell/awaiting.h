/*
 * Detects when the foreground program waits for terminal input, and sends AWAITING frames to the host: one
 * for each wait.
 *
 *	gb_awaiting_begin(&awaiting);
 *	while (gb_keeper_turn(keeper, gb_awaiting_pause(&awaiting)))	// calls gb_awaiting_shown
 *		gb_awaiting_check(&awaiting, &tty);
 */
#ifndef GB_RUNTIME_SHELL_AWAITING_H
#define GB_RUNTIME_SHELL_AWAITING_H

#include <stdint.h>

#include "runtime/shell/prompt.h"
#include "runtime/shell/tty.h"

struct gb_awaiting {
	struct gb_prompt prompt;
	bool told;
	uint64_t quiet_since, next_check_ns;
	unsigned pause_ms;
};

void gb_awaiting_begin(struct gb_awaiting *awaiting);
/* Bytes were written to the terminal. */
void gb_awaiting_shown(struct gb_awaiting *awaiting, const char *bytes, size_t n);
/* Input was typed. Clears the state without a frame: the sender of the input already expects the program to
 * continue. */
void gb_awaiting_answered(struct gb_awaiting *awaiting);
/* Milliseconds until the next check is due; gb_awaiting_check() does nothing before that. */
int gb_awaiting_pause(const struct gb_awaiting *awaiting);
void gb_awaiting_check(struct gb_awaiting *awaiting, const struct gb_tty *tty);

#endif
