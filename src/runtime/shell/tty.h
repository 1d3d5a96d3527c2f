/*
 * A pseudo-terminal inside the cell: the program has the slave, the keeper both ends.
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
	int master, slave; /* the slave stays open, so that the master never hangs up */
	dev_t device;
	struct termios normal;
};

/* With default settings, except that newlines are not translated (no ONLCR); or @raw. Exits on failure. */
void gb_tty_open(struct gb_tty *tty, bool raw);
void gb_tty_close(struct gb_tty *tty);

/* Translate newlines to CR LF while a client is attached. */
void gb_tty_for_people(struct gb_tty *tty, bool people);
/* Turn echo off, until gb_tty_restore(). */
void gb_tty_hide_typed(const struct gb_tty *tty);
/* Reset the settings that a program has changed, and discard unread input. */
void gb_tty_restore(const struct gb_tty *tty);
void gb_tty_resize(const struct gb_tty *tty, unsigned columns, unsigned rows);
/* Like Ctrl-C, even if the program has disabled or remapped that key. */
void gb_tty_interrupt(const struct gb_tty *tty);

#endif
