/* Relative specifiers: paths relative to the root of the module graph. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "runtime/js/modules.h"

static bool is_relative(const char *specifier) {
	return strncmp(specifier, "./", 2) == 0 || strncmp(specifier, "../", 3) == 0;
}

/* Append the components of @path to "./a/b", handling "..". False if that leaves the root. */
static bool append_parts(struct gb_buf *to, struct gb_str path) {
	while (path.n) {
		struct gb_str part;
		gb_str_cut(&path, '/', &part);
		if (part.n == 0 || gb_str_eq(part, GB_STR(".")))
			continue;
		if (!gb_str_eq(part, GB_STR(".."))) {
			gb_buf_append_char(to, '/');
			gb_buf_append_str(to, part);
			continue;
		}
		if (to->len <= 1)
			return false;
		while (to->data[--to->len] != '/')
			;
	}
	return true;
}

/* The folder of a module; the root for a label in angle brackets. */
static struct gb_str folder_of(const char *name) {
	const char *slash = strrchr(name, '/');
	if (!slash || name[0] == '<')
		return (struct gb_str){NULL, 0};
	return (struct gb_str){name, (size_t)(slash - name)};
}

char *gb_js_resolve_specifier(const char *base, const char *specifier) {
	if (!is_relative(specifier))
		return strdup(specifier);
	struct gb_buf path;
	gb_buf_init(&path, 64 << 10);
	gb_buf_append_char(&path, '.');
	bool inside = append_parts(&path, folder_of(base)) && append_parts(&path, gb_str_from(specifier));
	if (inside && gb_buf_c_str(&path))
		return path.data;
	gb_buf_finish(&path);
	return strdup(specifier);
}
