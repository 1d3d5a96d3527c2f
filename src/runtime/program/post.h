/*
 * Frames from a keeper to the host.
 *
 *	gb_post_open(fd, job.output);
 *	gb_post_output(1, bytes, n);	// as OUTPUT frames, up to the limit
 *	gb_post_frame(frame, n);	// unchanged
 *	gb_post_flush();
 *
 * Frames are queued until a flush, or until the queue is large.
 */
#ifndef GB_RUNTIME_PROGRAM_POST_H
#define GB_RUNTIME_PROGRAM_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin a run that may write @output bytes. */
void gb_post_open(int fd, uint64_t output);

/* Call @on_wait periodically while a send to the host blocks. It must not post anything. */
void gb_post_while_waiting(void (*on_wait)(void *data), void *data);

/* To stream 1 or 2. Bytes beyond the limit are dropped and set the truncated flag. */
void gb_post_output(int stream, const void *bytes, size_t n);
/* Charge @n bytes of another frame to the output limit. False if they exceed it; then the truncated flag is
 * set and the limit is used up. */
bool gb_post_charge(size_t n);
/* Set the truncated flag. */
void gb_post_mark_truncated(void);
bool gb_post_truncated(void);

void gb_post_frame(const void *frame, size_t n);
/* @over: the session has ended with the program. */
void gb_post_exit(int exit_code, bool over);

/* True if only recent output is queued: it may be sent together with later frames. */
bool gb_post_may_batch(void);
/* Drop queued frames. */
void gb_post_discard(void);
/* Send queued frames. The process exits if the host has closed the connection. */
void gb_post_flush(void);

#endif
