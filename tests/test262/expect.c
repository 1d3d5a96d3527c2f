#include "test262/expect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { FILE_MAX = 16 << 20 };

/* How quickjs-ng writes the path of a test: as seen from the folder that holds the suite. */
#define PREFIX "test262/"

bool t262_read_file(int dir, const char *path, struct gb_buf *buf, struct gb_err *err) {
	gb_auto_fd int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gb_fail(err, GB_ENOENT, errno, "open '%s'", path);
	return gb_read_to_end(fd, path, buf, err);
}

static bool read_expectations(struct t262_expect *expect, const char *path, struct gb_err *err) {
	gb_auto_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return gb_fail(err, GB_ENOENT, errno, "open '%s'", path);
	return (t262_read_file(dir, "test262.conf", &expect->conf, err) &&
		   t262_read_file(dir, "test262_errors.txt", &expect->errors, err)) ||
	       gb_wrap(err, "quickjs-ng's expectations in '%s'", path);
}

bool t262_expect_init(
    struct t262_expect *expect, const char *dir, const char *differences, struct gb_err *err) {
	*expect = (struct t262_expect){.used = {false}};
	gb_buf_init(&expect->conf, FILE_MAX);
	gb_buf_init(&expect->errors, FILE_MAX);
	gb_buf_init(&expect->differences, FILE_MAX);
	bool ok = (!dir || read_expectations(expect, dir, err)) &&
		  (!differences || t262_read_file(AT_FDCWD, differences, &expect->differences, err));
	if (!ok)
		t262_expect_finish(expect);
	return ok;
}

void t262_expect_finish(struct t262_expect *expect) {
	gb_buf_finish(&expect->conf);
	gb_buf_finish(&expect->errors);
	gb_buf_finish(&expect->differences);
}

/* The next line that holds something, without its comment and the spaces around. */
static bool next_line(struct gb_str *rest, struct gb_str *ret) {
	while (rest->n) {
		struct gb_str line, text;
		gb_str_cut(rest, '\n', &line);
		gb_str_cut(&line, '#', &text);
		while (text.n && strchr(" \t\r", text.p[text.n - 1]))
			text.n--;
		*ret = text;
		if (text.n)
			return true;
	}
	return false;
}

/* The same, of one section of the configuration only: *@inside is kept from call to call. */
static bool next_in_section(struct gb_str *rest, struct gb_str section, bool *inside, struct gb_str *ret) {
	while (next_line(rest, ret)) {
		if (ret->p[0] == '[')
			*inside = gb_str_eq(*ret, section);
		else if (*inside)
			return true;
	}
	return false;
}

static bool has_head(const char *text, struct gb_str head) {
	return strlen(text) >= head.n && memcmp(text, head.p, head.n) == 0;
}

enum t262_feature t262_expect_feature(const struct t262_expect *expect, struct gb_str name) {
	struct gb_str rest = gb_buf_str(&expect->conf), line, key;
	if (!rest.n)
		return T262_SUPPORTED;
	for (bool inside = false; next_in_section(&rest, GB_STR("[features]"), &inside, &line);) {
		gb_str_cut(&line, '=', &key);
		if (gb_str_eq(key, name))
			return gb_str_eq(line, GB_STR("skip")) ? T262_UNSUPPORTED : T262_SUPPORTED;
	}
	return T262_UNKNOWN;
}

bool t262_expect_excluded(const struct t262_expect *expect, const char *path) {
	struct gb_str rest = gb_buf_str(&expect->conf), line;
	bool excluded = false;
	for (bool inside = false; next_in_section(&rest, GB_STR("[exclude]"), &inside, &line);) {
		bool but = line.p[0] == '!';
		size_t cut = (but ? 1 : 0) + strlen(PREFIX);
		if (line.n > cut && has_head(path, (struct gb_str){line.p + cut, line.n - cut}))
			excluded = !but;
	}
	return excluded;
}

bool t262_expect_fails(const struct t262_expect *expect, const char *path) {
	struct gb_str rest = gb_buf_str(&expect->errors), line, name;
	while (rest.n) {
		gb_str_cut(&rest, '\n', &line);
		gb_str_cut(&line, ':', &name);
		if (name.n > strlen(PREFIX) &&
		    gb_str_eq(
			(struct gb_str){name.p + strlen(PREFIX), name.n - strlen(PREFIX)}, gb_str_from(path)))
			return true;
	}
	return false;
}

struct gb_str t262_expect_difference(struct t262_expect *expect, const char *path) {
	struct gb_str rest = gb_buf_str(&expect->differences), line, prefix;
	for (size_t i = 0; i < T262_DIFFERENCES_MAX && next_line(&rest, &line); i++) {
		gb_str_cut(&line, ' ', &prefix);
		if (!has_head(path, prefix))
			continue;
		expect->used[i] = true;
		return line;
	}
	return (struct gb_str){"", 0};
}

bool t262_expect_stale(const struct t262_expect *expect, size_t *at, struct gb_str *ret_path) {
	struct gb_str rest = gb_buf_str(&expect->differences), line;
	for (size_t i = 0; i < T262_DIFFERENCES_MAX && next_line(&rest, &line); i++) {
		if (i < *at || expect->used[i])
			continue;
		*at = i + 1;
		gb_str_cut(&line, ' ', ret_path);
		return true;
	}
	return false;
}
