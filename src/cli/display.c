#include "cli/display.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/paths.h"
#include "cli/untrusted.h"
#include "value/text.h"

/* The best form first. */
static const struct form {
	const char *media_type, *ending;
} forms[] = {
    {"image/png", "png"},
    {"image/jpeg", "jpg"},
    {"image/svg+xml", "svg"},
    {"text/html", "html"},
    {"text/markdown", "md"},
    {"application/json", "json"},
    {"text/plain", "txt"},
};

static const struct form *best_form(const struct gb_value *display, const char **ret_bytes, size_t *ret_n) {
	for (size_t i = 0; i < GB_COUNT(forms); i++) {
		const struct gb_value *data = gb_value_get(display, forms[i].media_type);
		*ret_bytes = data ? gb_value_bytes(data, ret_n) : NULL;
		if (*ret_bytes)
			return &forms[i];
	}
	return NULL;
}

/* Replace an existing file by a new one, so that nothing is written through a hard link or into a FIFO.
 * Anything but a regular file is not replaced. */
static bool replace_file(int folder, const char *name, const char *bytes, size_t n) {
	char temporary[40];
	struct stat st;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode)) {
		errno = S_ISLNK(st.st_mode) ? ELOOP : EEXIST;
		return false;
	}
	snprintf(
	    temporary, sizeof temporary, ".glovebox-%d-%llx", (int)getpid(), (unsigned long long)gb_now_ns());
	gb_auto_fd int fd =
	    openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return false;
	if (gb_write_all(fd, bytes, n) && renameat(folder, temporary, folder, name) == 0)
		return true;
	int error = errno;
	unlinkat(folder, temporary, 0);
	errno = error;
	return false;
}

static bool write_file(int folder, const char *name, const char *bytes, size_t n, struct gb_err *err) {
	if (replace_file(folder, name, bytes, n))
		return true;
	/* The name may come from the program, so it is printed as untrusted text. */
	char quoted[GB_QUOTED_TEXT];
	int error = errno;
	gb_text_quote(quoted, gb_str_from(name));
	return gb_fail(err, GB_ESYSTEM, error, "write %s", quoted);
}

/* @path is relative and has no "..", which the engine ensures. Creates missing folders, and follows no
 * links. */
static bool write_below(int folder, const char *path, const char *bytes, size_t n, struct gb_err *err) {
	gb_auto_fd int at = dup(folder);
	for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		snprintf(name, sizeof name, "%.*s", (int)(slash - path), path);
		int below = mkdirat(at, name, 0755) == 0 || errno == EEXIST
				? openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				: -1;
		gb_close_fd(&at);
		at = below;
	}
	if (at < 0) {
		char quoted[GB_QUOTED_TEXT];
		int error = errno;
		gb_text_quote(quoted, gb_str_from(path));
		return gb_fail(err, GB_ESYSTEM, error, "make the folder of %s", quoted);
	}
	return write_file(at, path, bytes, n, err);
}

static void say_written(const char *folder, struct gb_str path) {
	fputs("wrote ", stderr);
	print_name(stderr, folder, strlen(folder));
	fputc('/', stderr);
	print_name(stderr, path.p, path.n);
}

static bool write_files(const struct gb_result *result, int dir, const char *folder, struct gb_err *err) {
	for (size_t i = 0; i < gb_value_count(result->files); i++) {
		size_t n_path, n;
		const char *path = gb_value_bytes(gb_value_key_at(result->files, i), &n_path);
		const char *bytes = gb_value_bytes(gb_value_at(result->files, i), &n);
		if (!write_below(dir, path, bytes, n, err))
			return false;
		say_written(folder, (struct gb_str){path, n_path});
		fprintf(stderr, " (%zu bytes)\n", n);
	}
	return true;
}

bool displays_write(const struct gb_result *result, const char *folder, struct gb_err *err) {
	gb_auto_fd int dir = -1;
	if (!open_folder(folder, &dir, err))
		return gb_wrap(err, "--out");
	if (!write_files(result, dir, folder, err))
		return false;
	for (size_t i = 0; i < result->n_displays; i++) {
		const char *bytes;
		size_t n = 0;
		const struct form *form = best_form(result->displays[i], &bytes, &n);
		if (!form)
			continue;
		char name[32];
		snprintf(name, sizeof name, "display-%zu.%s", i + 1, form->ending);
		if (!write_file(dir, name, bytes, n, err))
			return false;
		say_written(folder, gb_str_from(name));
		fprintf(stderr, " (%s, %zu bytes)\n", form->media_type, n);
	}
	return true;
}

/* Which protocol for pictures the terminal has announced in the environment. */
enum terminal { PLAIN_TERMINAL, KITTY, ITERM };

static enum terminal which_terminal(void) {
	const char *term = getenv("TERM"), *program = getenv("TERM_PROGRAM");
	if (!isatty(STDOUT_FILENO))
		return PLAIN_TERMINAL;
	if (getenv("KITTY_WINDOW_ID") || (term && strstr(term, "kitty")) ||
	    (program && strcmp(program, "ghostty") == 0))
		return KITTY;
	if (program && (strcmp(program, "iTerm.app") == 0 || strcmp(program, "WezTerm") == 0))
		return ITERM;
	return PLAIN_TERMINAL;
}

/* Kitty accepts pieces of at most 4096 characters. */
static void draw_kitty(const char *base64, size_t n) {
	enum { PIECE = 4096 };
	for (size_t at = 0; at < n; at += PIECE) {
		size_t length = n - at < PIECE ? n - at : PIECE;
		printf("\033_G%sm=%d;%.*s\033\\", at == 0 ? "a=T,f=100," : "", at + length < n, (int)length,
		    base64 + at);
	}
	putchar('\n');
}

static bool draw(enum terminal terminal, const struct gb_value *display) {
	size_t n = 0;
	const char *png = gb_value_bytes(gb_value_get(display, "image/png"), &n);
	if (!png || terminal == PLAIN_TERMINAL)
		return false;
	gb_auto_buf struct gb_buf base64;
	gb_buf_init(&base64, 2 * n + 16);
	gb_base64_append(&base64, png, n);
	if (!gb_buf_c_str(&base64))
		return false;
	if (terminal == KITTY)
		draw_kitty(base64.data, base64.len);
	else
		printf("\033]1337;File=inline=1;size=%zu:%s\a\n", n, base64.data);
	return true;
}

bool displays_include_value(const struct gb_result *result) {
	size_t n = 0, n_text = 0;
	const char *value = gb_value_bytes(result->value, &n);
	for (size_t i = 0; value && i < result->n_displays; i++) {
		const char *text = gb_value_bytes(gb_value_get(result->displays[i], "text/plain"), &n_text);
		if (text && n == n_text && memcmp(text, value, n) == 0)
			return true;
	}
	return false;
}

void displays_show(const struct gb_result *result) {
	enum terminal terminal = result->n_displays ? which_terminal() : PLAIN_TERMINAL;
	for (size_t i = 0; i < result->n_displays; i++) {
		const char *bytes;
		size_t n = 0;
		const struct gb_value *text = gb_value_get(result->displays[i], "text/plain");
		const struct form *form = best_form(result->displays[i], &bytes, &n);
		if (!form || draw(terminal, result->displays[i]))
			continue;
		bool is_picture = strncmp(form->media_type, "image/", 6) == 0;
		if (text && !is_picture) {
			size_t n_text = 0;
			const char *shown = gb_value_bytes(text, &n_text);
			print_untrusted(stdout, shown, n_text);
			putchar('\n');
		} else {
			printf("[%s, %zu bytes; --out DIR writes it to a file]\n", form->media_type, n);
		}
	}
}
