/* 'glovebox stdio' with a settings file that can be changed, and its stderr. */
#ifndef GB_TESTS_SERVED_H
#define GB_TESTS_SERVED_H

#include "e2e/screen.h"
#include "e2e/stdio.h"

static char folder[] = "/tmp/gb-settings-XXXXXX", path[100];
static int said = -1;         /* the stderr of the process */
static struct screen trouble; /* the text received from it */

__attribute__((constructor)) static void set_up(void) {
	if (!mkdtemp(folder))
		exit(1);
	snprintf(path, sizeof path, "%s/glovebox.yaml", folder);
}

__attribute__((destructor)) static void tear_down(void) {
	unlink(path);
	rmdir(folder);
}

static inline void configure(const char *text) {
	FILE *file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

#define SERVE(...) client_ready((const char *const[]){__VA_ARGS__, NULL})

/* Start a server whose stderr is read. */
static inline struct client serve_file(void) {
	int pipe_fds[2], own = dup(STDERR_FILENO);
	CHECK(pipe2(pipe_fds, O_CLOEXEC) == 0);
	dup2(pipe_fds[1], STDERR_FILENO);
	struct client client = SERVE("--config", path);
	dup2(own, STDERR_FILENO);
	close(own);
	close(pipe_fds[1]);
	said = pipe_fds[0];
	trouble = (struct screen){0};
	return client;
}

static inline int end_file(struct client *client) {
	int status = client_end(client);
	close(said);
	said = -1;
	return status;
}

/* Wait until the server writes @expected to stderr. */
static inline void hear_trouble(const char *expected) {
	struct pollfd ready = {.fd = said, .events = POLLIN};
	bool heard;
	while (!(heard = screen_shows(&trouble, expected)) && poll(&ready, 1, WAIT_MAX_MS) > 0) {
		char text[1000];
		ssize_t n = read(said, text, sizeof text);
		if (n <= 0)
			break;
		screen_add(&trouble, text, (size_t)n);
	}
	screen_check(&trouble, expected, heard);
}

/* Make the server reload its settings, and wait for @expected on stderr. */
static inline void read_again(struct client *client, const char *expected) {
	kill(client->pid, SIGHUP);
	hear_trouble(expected);
}

#endif
