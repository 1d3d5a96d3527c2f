#include "test262/assemble.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "test262/expect.h"

enum { CASE_MAX = 64 << 20, FILE_MAX = 4 << 20, PATH_LENGTH = 4096 };

/* Before the harness: defines its print function. */
static const char prelude[] = "globalThis.print = function print(text) { console.log(text); };\n";

/* After sta.js: thrown values that are no Error are shown as JSON, which would lose their class. */
static const char after_sta[] =
    "Object.defineProperty(Test262Error.prototype, 'toJSON', { value() { return String(this); } });\n";

/* Replacements for harness files that use a function constructor without need. */
static const struct {
	const char *name, *text;
} replaced[] = {
    {"fnGlobalObject.js",
	"/*---\ndefines: [fnGlobalObject]\n---*/\nfunction fnGlobalObject() { return globalThis; }\n"},
};

static bool out_of_room(struct gb_err *err) {
	return gb_fail(err, GB_ELIMIT, 0, "the test and what it imports are larger than %d bytes", CASE_MAX);
}

/* --- reading --- */

static bool read_into_arena(
    struct t262_case *one, int suite, const char *path, struct gb_str *ret, struct gb_err *err) {
	gb_auto_buf struct gb_buf buf;
	gb_buf_init(&buf, FILE_MAX);
	if (!t262_read_file(suite, path, &buf, err))
		return false;
	const char *copy = gb_arena_copy(&one->arena, gb_buf_str(&buf));
	if (!copy)
		return out_of_room(err);
	*ret = (struct gb_str){copy, buf.len};
	return true;
}

static bool is_file(int suite, const char *path) {
	struct stat status;
	return fstatat(suite, path, &status, 0) == 0 && S_ISREG(status.st_mode);
}

/* --- the harness --- */

static bool read_harness_file(
    struct t262_case *one, int suite, struct gb_str name, struct gb_str *ret, struct gb_err *err) {
	char path[256];
	for (size_t i = 0; i < GB_COUNT(replaced); i++)
		if (gb_str_eq(name, gb_str_from(replaced[i].name))) {
			*ret = gb_str_from(replaced[i].text);
			return true;
		}
	snprintf(path, sizeof path, "harness/%.*s", GB_STR_ARG(name));
	return read_into_arena(one, suite, path, ret, err);
}

/* Scripts share their declarations and modules do not: each name that the file defines becomes a global. */
static void publish(struct gb_buf *module, struct gb_str text) {
	struct t262_meta meta;
	if (!t262_meta_parse(text, &meta))
		return;
	for (size_t i = 0; i < meta.defines.n; i++) {
		struct gb_str name = meta.defines.items[i];
		if (!memchr(name.p, '.', name.n))
			gb_buf_printf(
			    module, "globalThis.%.*s = %.*s;\n", GB_STR_ARG(name), GB_STR_ARG(name));
	}
}

static bool write_harness(struct t262_case *one, int suite, struct gb_buf *ret_module, struct gb_err *err) {
	struct gb_str names[T262_LIST_MAX + 3] = {GB_STR("assert.js"), GB_STR("sta.js")};
	size_t n = 2;
	if (t262_list_has(&one->meta.flags, "async"))
		names[n++] = GB_STR("doneprintHandle.js");
	for (size_t i = 0; i < one->meta.includes.n; i++)
		names[n++] = one->meta.includes.items[i];
	gb_auto_buf struct gb_buf names_made;
	gb_buf_init(&names_made, FILE_MAX);
	gb_buf_append(ret_module, prelude, sizeof prelude - 1);
	for (size_t i = 0; i < n; i++) {
		struct gb_str text = {"", 0};
		if (!read_harness_file(one, suite, names[i], &text, err))
			return false;
		gb_buf_append_str(ret_module, text);
		gb_buf_append_char(ret_module, '\n');
		publish(&names_made, text);
	}
	gb_buf_append(ret_module, after_sta, sizeof after_sta - 1);
	const char *script = gb_arena_copy(&one->arena, gb_buf_str(ret_module));
	one->harness = (struct gb_str){script, ret_module->len};
	gb_buf_append_str(ret_module, gb_buf_str(&names_made));
	return (script && !gb_buf_failed(ret_module) && !gb_buf_failed(&names_made)) || out_of_room(err);
}

/* --- what is imported --- */

static size_t folder_length(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* @specifier, as written in the file @from, as seen from the suite's folder. False if it leads out of it. */
static bool resolve(const char *from, struct gb_str specifier, char ret[PATH_LENGTH]) {
	size_t n = folder_length(from);
	memcpy(ret, from, n);
	while (specifier.n) {
		struct gb_str part;
		bool more = gb_str_cut(&specifier, '/', &part);
		if (gb_str_eq(part, GB_STR(".")))
			continue;
		if (gb_str_eq(part, GB_STR(".."))) {
			if (n == 0)
				return false;
			ret[n - 1] = '\0';
			n = folder_length(ret);
			continue;
		}
		if (n + part.n + 2 > PATH_LENGTH)
			return false;
		memcpy(ret + n, part.p, part.n);
		n += part.n;
		if (more)
			ret[n++] = '/';
	}
	ret[n] = '\0';
	return true;
}

static bool is_known(const struct t262_case *one, const char *path) {
	for (size_t i = 0; i < one->n_files; i++)
		if (strcmp(one->files[i].name, path) == 0)
			return true;
	return false;
}

static bool add_file(struct t262_case *one, const char *path, struct gb_str text, struct gb_err *err) {
	if (one->n_files == T262_FILES_MAX)
		return gb_fail(err, GB_ELIMIT, 0, "more than %d files", T262_FILES_MAX);
	const char *name = gb_arena_copy(&one->arena, gb_str_from(path));
	if (!name)
		return out_of_room(err);
	one->files[one->n_files++] = (struct t262_file){name, text};
	return true;
}

static bool follow(
    struct t262_case *one, int suite, const char *from, struct gb_str specifier, struct gb_err *err) {
	char path[PATH_LENGTH];
	struct gb_str text = {"", 0};
	if (!resolve(from, specifier, path) || is_known(one, path) || !is_file(suite, path))
		return true;
	return read_into_arena(one, suite, path, &text, err) && add_file(one, path, text, err);
}

/* A quoted text that looks like a path may be imported: an unneeded file does no harm. */
static bool follow_all(struct t262_case *one, int suite, size_t index, struct gb_err *err) {
	struct gb_str text = one->files[index].text;
	for (size_t i = 0; i + 2 < text.n; i++) {
		if (!strchr("'\"`", text.p[i]) || text.p[i + 1] != '.')
			continue;
		const char *end = memchr(text.p + i + 1, text.p[i], text.n - i - 1);
		if (!end)
			continue;
		struct gb_str specifier = {text.p + i + 1, (size_t)(end - text.p) - i - 1};
		bool fits = specifier.n < 256 && !memchr(specifier.p, '\n', specifier.n);
		if (fits && !follow(one, suite, one->files[index].name, specifier, err))
			return false;
	}
	return true;
}

/* Names begin at the deepest folder that holds them all. */
static void shorten_names(struct t262_case *one) {
	size_t common = folder_length(one->files[0].name);
	for (size_t i = 1; i < one->n_files; i++)
		while (strncmp(one->files[0].name, one->files[i].name, common) != 0) {
			char head[PATH_LENGTH];
			snprintf(head, sizeof head, "%.*s", (int)common - 1, one->files[0].name);
			common = folder_length(head);
		}
	for (size_t i = 0; i < one->n_files; i++)
		one->files[i].name += common;
}

/* --- all together --- */

/* @name in the test's own folder; NULL when there is no room. */
static const char *beside(struct t262_case *one, const char *name) {
	char path[PATH_LENGTH];
	snprintf(path, sizeof path, "%.*s%s", (int)folder_length(one->path), one->path, name);
	return gb_arena_copy(&one->arena, gb_str_from(path));
}

static bool keep(struct t262_case *one, struct gb_buf *text, struct gb_str *ret, struct gb_err *err) {
	const char *copy = gb_buf_failed(text) ? NULL : gb_arena_copy(&one->arena, gb_buf_str(text));
	if (!copy)
		return out_of_room(err);
	*ret = (struct gb_str){copy, text->len};
	return true;
}

static bool add_harness(struct t262_case *one, int suite, struct gb_err *err) {
	gb_auto_buf struct gb_buf text;
	struct gb_str kept = {"", 0};
	gb_buf_init(&text, FILE_MAX);
	if (!write_harness(one, suite, &text, err) || !keep(one, &text, &kept, err))
		return false;
	const char *name = beside(one, T262_HARNESS);
	return name ? add_file(one, name, kept, err) : out_of_room(err);
}

/* A run gives back its default export, and calls it if it is a function. Where the test may have one it is
 * imported by an entry that has none. */
static bool may_have_default(const struct t262_case *one) {
	return memmem(one->source.p, one->source.n, "default", strlen("default"));
}

/* The test, which is the first file, imports the harness, or is imported after it. */
static bool make_entry(struct t262_case *one, struct gb_err *err) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, FILE_MAX);
	if (one->harness.n)
		gb_buf_printf(&text, "import './" T262_HARNESS "'; ");
	if (!may_have_default(one)) {
		gb_buf_append_str(&text, one->source);
		return keep(one, &text, &one->files[0].text, err);
	}
	gb_buf_printf(&text, "import './%s';", one->path + folder_length(one->path));
	const char *name = beside(one, T262_ENTRY);
	if (!name)
		return out_of_room(err);
	one->files[0].name = name;
	return keep(one, &text, &one->files[0].text, err) && add_file(one, one->path, one->source, err);
}

static bool assemble(struct t262_case *one, int suite, struct gb_err *err) {
	if (!add_file(one, one->path, one->source, err))
		return false;
	for (size_t i = 0; i < one->n_files; i++)
		if (!follow_all(one, suite, i, err))
			return false;
	if (!t262_list_has(&one->meta.flags, "raw") && !add_harness(one, suite, err))
		return false;
	if (!make_entry(one, err))
		return false;
	shorten_names(one);
	return true;
}

bool t262_case_init(struct t262_case *one, int suite, const char *path, struct gb_err *err) {
	*one = (struct t262_case){.path = path};
	gb_arena_init(&one->arena, CASE_MAX);
	bool ok = read_into_arena(one, suite, path, &one->source, err) &&
		  (t262_meta_parse(one->source, &one->meta) ||
		      gb_fail(err, GB_EFORMAT, 0, "has no front matter that we understand")) &&
		  assemble(one, suite, err);
	if (!ok)
		t262_case_finish(one);
	return ok || gb_wrap(err, "%s", path);
}

void t262_case_finish(struct t262_case *one) {
	gb_arena_finish(&one->arena);
}
