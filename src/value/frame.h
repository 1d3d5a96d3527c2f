/*
 * Frames: how messages are cut out of a byte stream between a worker and the host.
 *
 *	gb_frame_append(&out, GB_FRAME_JOB, payload, n);
 *
 *	room = gb_frame_reader_room(&reader, 4096, &n);
 *	gb_frame_reader_fed(&reader, recv(fd, room, n, 0));
 *	while (gb_frame_reader_next(&reader, &frame) == GB_FRAME_READY)
 *		handle(frame);
 *
 * A frame is a little-endian u32 length (of what follows it), a u8 type, and a payload.
 */
#ifndef GB_VALUE_FRAME_H
#define GB_VALUE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum gb_frame_type {
	GB_FRAME_JOB = 1,     /* host to worker: what to run */
	GB_FRAME_RESULT = 2,  /* worker to host: how it ended; the last frame */
	GB_FRAME_LOG = 3,     /* worker to host: one console call */
	GB_FRAME_CALL = 4,    /* both ways: call what the other side has lent */
	GB_FRAME_ANSWER = 5,  /* both ways */
	GB_FRAME_OUTPUT = 6,  /* worker to host: what a program wrote */
	GB_FRAME_DISPLAY = 7, /* worker to host: something to be shown, in one or more forms */
	GB_FRAME_EXIT = 8,    /* worker to host: how the program ended itself */
	GB_FRAME_FILE = 9,    /* worker to host: a file that the run has made or changed */
	/* About the terminal of a session, where it has one. */
	GB_FRAME_AWAITING = 10, /* worker to host: what runs waits for somebody to type, or no longer does */
	GB_FRAME_TERMINAL = 11, /* worker to host: what it shows, while somebody is attached */
	GB_FRAME_INPUT = 12,    /* host to worker: what is typed */
	GB_FRAME_RESIZE = 13,   /* host to worker */
	GB_FRAME_ATTACH = 14,   /* host to worker: somebody is at the terminal now */
	GB_FRAME_DETACH = 15,   /* host to worker: nobody is */
};

enum { GB_FRAME_HEAD = 5 };

struct gb_frame {
	uint8_t type;
	const uint8_t *payload;
	size_t n;
};

struct gb_frame_reader {
	struct gb_buf buf; /* its maximum bounds a frame */
	size_t consumed;
};

void gb_frame_append(struct gb_buf *out, uint8_t type, const void *payload, size_t n);

/* Begin a frame whose payload is then appended to @out piece by piece; returns the mark for gb_frame_end. */
size_t gb_frame_begin(struct gb_buf *out, uint8_t type);
void gb_frame_end(struct gb_buf *out, size_t mark);

/* @max_frame bounds one frame, head included. */
void gb_frame_reader_init(struct gb_frame_reader *reader, size_t max_frame);
void gb_frame_reader_finish(struct gb_frame_reader *reader);
/* Room to receive up to @n bytes into (at least one); *ret_n is how much there is. NULL if memory is out, or
 * if a whole frame was not taken before. */
char *gb_frame_reader_room(struct gb_frame_reader *reader, size_t n, size_t *ret_n);
/* How many bytes of the frame under way are still to come; 0 if its head is not there yet. */
size_t gb_frame_reader_missing(const struct gb_frame_reader *reader);
/* @n bytes were received into that room. */
void gb_frame_reader_fed(struct gb_frame_reader *reader, size_t n);

enum gb_frame_status { GB_FRAME_READY, GB_FRAME_MORE, GB_FRAME_BAD };

/* The next whole frame. Its payload lives until the next call to gb_frame_reader_room.
 * GB_FRAME_BAD: a length of zero or beyond the maximum; nothing more can be read from this stream. */
enum gb_frame_status gb_frame_reader_next(struct gb_frame_reader *reader, struct gb_frame *ret_frame);

#endif
