/*
 * A pseudo-terminal of this cell's own: a program has the one end, the keeper both.
 *
 *	gb_tty_open(&tty);
 *	gb_keeper_start(keeper, &(struct gb_program){.terminal = tty.slave, ...});
 *	read(tty.master, ...);
 */
#ifndef GB_RUNTIME_SHELL_TTY_H
#define GB_RUNTIME_SHELL_TTY_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct gb_tty {
	int master, slave; /* the slave stays open, so that there is always somebody to talk to */
	dev_t device;
	struct termios normal;
};

/* As programs expect it, but that a line ends with a line feed alone; or @raw: bytes as they are. Ends the
 * process if that cannot be done. */
void gb_tty_open(struct gb_tty *tty, bool raw);
void gb_tty_close(struct gb_tty *tty);

/* For somebody who looks at it, a line's end also returns to its beginning. */
void gb_tty_for_people(struct gb_tty *tty, bool people);
/* Do not show what is typed, until it is restored. */
void gb_tty_hide_typed(const struct gb_tty *tty);
/* Undo what a program has done to it, and forget what was typed and not read. */
void gb_tty_restore(const struct gb_tty *tty);
void gb_tty_resize(const struct gb_tty *tty, unsigned columns, unsigned rows);
/* As Ctrl-C does, whatever the program has made of that key. */
void gb_tty_interrupt(const struct gb_tty *tty);

#endif
