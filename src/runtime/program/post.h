/*
 * What a keeper tells the host.
 *
 *	gb_post_open(fd, job.output);
 *	gb_post_output(1, bytes, n);	// as OUTPUT frames, up to the limit
 *	gb_post_frame(frame, n);	// as it is
 *	gb_post_flush();
 *
 * What is posted waits until it is flushed, or until there is much of it.
 */
#ifndef GB_RUNTIME_PROGRAM_POST_H
#define GB_RUNTIME_PROGRAM_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run begins, which may write @output bytes. */
void gb_post_open(int fd, uint64_t output);

/* Call @on_wait now and then while the host does not read. It must not post anything. */
void gb_post_while_waiting(void (*on_wait)(void *data), void *data);

/* To stream 1 or 2. What is beyond the limit is dropped, and that is remembered. */
void gb_post_output(int stream, const void *bytes, size_t n);
/* May @n bytes more be said in another way? If not, that is remembered, and nothing more may be. */
bool gb_post_spend(size_t n);
/* Something was left out. */
void gb_post_cut(void);
bool gb_post_truncated(void);

void gb_post_frame(const void *frame, size_t n);
/* If @over, its session has ended with it. */
void gb_post_exit(int exit_code, bool over);

/* Is there output, not yet for long, and nothing else? Then it may be sent together with what follows. */
bool gb_post_may_wait(void);
/* Nobody is to hear what waits. */
void gb_post_forget(void);
/* Send what waits. If the host is gone there is nobody left to be here for: the process ends. */
void gb_post_flush(void);

#endif
