/*
 * Frames: messages in the byte stream between a worker and the host.
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
	GB_FRAME_JOB = 1,     /* host to worker: the job to run */
	GB_FRAME_RESULT = 2,  /* worker to host: the result; the last frame */
	GB_FRAME_LOG = 3,     /* worker to host: one console call */
	GB_FRAME_CALL = 4,    /* both ways: call a function of the other side */
	GB_FRAME_ANSWER = 5,  /* both ways: the answer to a call */
	GB_FRAME_OUTPUT = 6,  /* worker to host: output of a program */
	GB_FRAME_DISPLAY = 7, /* worker to host: an object to display, in one or more formats */
	GB_FRAME_EXIT = 8,    /* worker to host: the exit status of the program */
	GB_FRAME_FILE = 9,    /* worker to host: a file that the run created or changed */
	/* Terminal of a session, if it has one. */
	GB_FRAME_AWAITING = 10, /* worker to host: the program started or stopped waiting for input */
	GB_FRAME_TERMINAL = 11, /* worker to host: output, while a client is attached */
	GB_FRAME_INPUT = 12,    /* host to worker: keyboard input */
	GB_FRAME_RESIZE = 13,   /* host to worker */
	GB_FRAME_ATTACH = 14,   /* host to worker: a client has attached */
	GB_FRAME_DETACH = 15,   /* host to worker: no client is attached any more */
};

enum { GB_FRAME_HEAD = 5 };

struct gb_frame {
	uint8_t type;
	const uint8_t *payload;
	size_t n;
};

struct gb_frame_reader {
	struct gb_buf buf; /* its maximum limits the size of a frame */
	size_t consumed;
};

void gb_frame_append(struct gb_buf *out, uint8_t type, const void *payload, size_t n);

/* Begin a frame whose payload is then appended to @out in pieces. Returns the mark for gb_frame_end. */
size_t gb_frame_begin(struct gb_buf *out, uint8_t type);
void gb_frame_end(struct gb_buf *out, size_t mark);

/* @max_frame limits the size of one frame, head included. */
void gb_frame_reader_init(struct gb_frame_reader *reader, size_t max_frame);
void gb_frame_reader_finish(struct gb_frame_reader *reader);
/* Space to receive up to @n bytes (at least one); *ret_n is its size. NULL if out of memory, or if a complete
 * frame was not read first. */
char *gb_frame_reader_room(struct gb_frame_reader *reader, size_t n, size_t *ret_n);
/* The number of bytes missing from the current frame; 0 if its head is incomplete. */
size_t gb_frame_reader_missing(const struct gb_frame_reader *reader);
/* @n bytes were received into the space returned by gb_frame_reader_room. */
void gb_frame_reader_fed(struct gb_frame_reader *reader, size_t n);

enum gb_frame_status { GB_FRAME_READY, GB_FRAME_MORE, GB_FRAME_BAD };

/* Get the next complete frame. Its payload is valid until the next call to gb_frame_reader_room.
 * GB_FRAME_BAD: the length is zero or exceeds the maximum; the stream is unusable. */
enum gb_frame_status gb_frame_reader_next(struct gb_frame_reader *reader, struct gb_frame *ret_frame);

/* Hand over the memory that contains the frame which gb_frame_reader_next has returned: its payload stays where it is,
 * and lives as long as *ret_buf, which the caller owns. The bytes behind the frame, usually few, are copied. False if
 * memory is exhausted. */
bool gb_frame_reader_take(struct gb_frame_reader *reader, struct gb_buf *ret_buf);

#endif
