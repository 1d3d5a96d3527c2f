#include "runtime/js/source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { GROWTH = 4, GROWTH_SLACK = 64 << 10, KEPT_MAX = 256 };

struct gb_js_source *gb_js_source_add(
    struct gb_js_sources *sources, const char *name, struct gb_job_text written, bool is_typescript) {
	if (sources->n == sources->cap) {
		size_t cap = sources->cap ? sources->cap * 2 : 4;
		struct gb_js_source **list = realloc(sources->list, cap * sizeof *list);
		if (!list)
			return NULL;
		sources->list = list;
		sources->cap = cap;
	}
	struct gb_js_source *source = calloc(1, sizeof *source);
	if (!source)
		return NULL;
	*source = (struct gb_js_source){
	    .name = name, .written = written, .compiled = written, .is_typescript = is_typescript};
	gb_ts_output_init(&source->output, written.n * GROWTH + GROWTH_SLACK);
	sources->list[sources->n++] = source;
	return source;
}

/* On the line on which the body begins, so that only columns of that line differ. */
static const char body_head[] = "export default async function () {", body_tail[] = "\n}";

bool gb_js_source_wrap_body(struct gb_js_source *source) {
	return gb_js_source_wrap(source, gb_str_from(body_head), gb_str_from(body_tail));
}

static void locate_in(struct gb_str text, size_t offset, struct gb_js_position *ret) {
	gb_ts_locate(text.p, text.n, offset, &ret->line, &ret->column);
}

bool gb_js_source_wrap(struct gb_js_source *source, struct gb_str head, struct gb_str tail) {
	struct gb_buf *whole = &source->whole;
	struct gb_job_text written = source->written;
	gb_buf_init(whole, head.n + written.n + tail.n + 1);
	gb_buf_append(whole, head.p, head.n);
	gb_buf_append(whole, written.p, written.n);
	gb_buf_append(whole, tail.p, tail.n);
	if (!gb_buf_c_str(whole))
		return false;
	locate_in((struct gb_str){written.p, written.n}, written.n, &source->last);
	locate_in(gb_buf_str(whole), head.n, &source->begin);
	locate_in(gb_buf_str(whole), head.n + written.n, &source->end);
	source->written = source->compiled = (struct gb_job_text){whole->data, whole->len};
	return true;
}

bool gb_js_source_prepare(struct gb_js_source *source, struct gb_ts_error *ret_error) {
	const struct gb_job_text *text = &source->written;
	bool ok;
	if (source->is_session)
		ok = gb_ts_erase_session(text->p, text->n, source->is_typescript, &source->output, ret_error);
	else if (source->is_program)
		ok = gb_ts_erase_program(text->p, text->n, source->is_typescript, &source->output, ret_error);
	else if (source->is_typescript)
		ok = gb_ts_erase(text->p, text->n, &source->output, ret_error);
	else
		return true;
	if (!ok)
		return false;
	source->compiled = (struct gb_job_text){source->output.text.data, source->output.text.len};
	source->has_imports = true;
	return true;
}

static void release(struct gb_js_source *source) {
	gb_ts_output_finish(&source->output);
	gb_buf_finish(&source->whole);
	free(source->own_name);
	free(source);
}

/* Positions differ only in sources with insertions. */
static bool keep_mapping(struct gb_js_source *source) {
	if (source->own_name)
		return true;
	if (source->output.n_shifts == 0 || !(source->own_name = strdup(source->name)))
		return false;
	source->name = source->own_name;
	source->written = source->compiled = (struct gb_job_text){NULL, 0};
	source->output.n_imports = source->output.n_declared = 0;
	source->has_imports = true;
	gb_buf_finish(&source->output.text);
	return true;
}

void gb_js_sources_keep_mappings(struct gb_js_sources *sources) {
	size_t n = 0;
	for (size_t i = 0; i < sources->n; i++)
		if (keep_mapping(sources->list[i]))
			sources->list[n++] = sources->list[i];
		else
			release(sources->list[i]);
	size_t old = n > KEPT_MAX ? n - KEPT_MAX : 0;
	for (size_t i = 0; i < old; i++)
		release(sources->list[i]);
	memmove(sources->list, sources->list + old, (n - old) * sizeof *sources->list);
	sources->n = n - old;
}

void gb_js_sources_finish(struct gb_js_sources *sources) {
	for (size_t i = 0; i < sources->n; i++)
		release(sources->list[i]);
	free(sources->list);
	*sources = (struct gb_js_sources){0};
}

static struct gb_js_source *find(const struct gb_js_sources *sources, const char *name, size_t n) {
	/* The latest source of that name. */
	for (size_t i = sources->n; i-- > 0;)
		if (strlen(sources->list[i]->name) == n && memcmp(sources->list[i]->name, name, n) == 0)
			return sources->list[i];
	return NULL;
}

/* --- positions --- */

static bool is_before(unsigned line, unsigned column, struct gb_js_position position) {
	return line < position.line || (line == position.line && column < position.column);
}

/* From a position in the whole text to one in the source within it. False if it is in the text around it; one behind
 * its end, which is where a missing bracket is noticed, becomes its end. */
static bool map_within(const struct gb_js_source *source, unsigned *line, unsigned *column) {
	if (!source->begin.line || !*line)
		return true;
	if (is_before(*line, *column, source->begin)) {
		*line = *column = 0;
		return false;
	}
	if (!is_before(*line, *column, source->end)) {
		*line = source->last.line;
		*column = source->last.column;
		return false;
	}
	if (*line == source->begin.line)
		*column -= source->begin.column - 1;
	*line -= source->begin.line - 1;
	return true;
}

/* False if it is not in what the caller has written. */
static bool map(const struct gb_js_source *source, unsigned *line, unsigned *column) {
	if (source && source->output.n_shifts && *line && *column)
		gb_ts_map(&source->output, line, column);
	return !source || map_within(source, line, column);
}

/* The decimal number that ends at @end; *ret_at is its start. False if there is none, or no colon before
 * it. */
static bool number_before(const char *begin, const char *end, unsigned *ret_number, const char **ret_at) {
	const char *at = end;
	while (at > begin && isdigit((unsigned char)at[-1]))
		at--;
	if (at == end || end - at > 9 || at == begin || at[-1] != ':')
		return false;
	*ret_number = (unsigned)strtoul(at, NULL, 10);
	*ret_at = at;
	return true;
}

bool gb_js_stack_line_parse(const char *line, size_t n, struct gb_js_stack_line *ret) {
	const char *end = line + n, *at;
	if (n && end[-1] == ')')
		end--;
	ret->after = end;
	if (!number_before(line, end, &ret->column, &at) || !number_before(line, at - 1, &ret->line, &at))
		return false;
	const char *open = memchr(line, '(', (size_t)(at - 1 - line));
	const char *word = memmem(line, (size_t)(at - 1 - line), "at ", 3);
	ret->file = open ? open + 1 : word ? word + 3 : NULL;
	ret->n_file = ret->file ? (size_t)(at - 1 - ret->file) : 0;
	return ret->file && ret->line;
}

bool gb_js_stack_line_is_ours(const struct gb_js_stack_line *line) {
	static const char prefix[] = "glovebox:";
	return line->n_file >= sizeof prefix - 1 && memcmp(line->file, prefix, sizeof prefix - 1) == 0;
}

void gb_js_source_map_stack(const struct gb_js_sources *sources, const char *stack, struct gb_buf *out) {
	/* Of a text that does not compile, the only line is the position, which may be behind the source's end. */
	bool is_position = !stack[strcspn(stack, "\n")] || !stack[strcspn(stack, "\n") + 1];
	while (*stack) {
		size_t n = strcspn(stack, "\n");
		struct gb_js_stack_line line;
		const bool parsed = gb_js_stack_line_parse(stack, n, &line);
		const struct gb_js_source *source = parsed ? find(sources, line.file, line.n_file) : NULL;
		const bool added = source
				       ? !map(source, &line.line, &line.column) && !(is_position && line.line)
				       : parsed && gb_js_stack_line_is_ours(&line);
		if (added) {
			stack += n + (stack[n] == '\n');
			continue;
		}
		if (source) {
			gb_buf_append(out, stack, (size_t)(line.file + line.n_file - stack));
			gb_buf_printf(out, ":%u:%u", line.line, line.column);
			gb_buf_append(out, line.after, (size_t)(stack + n - line.after));
		} else {
			gb_buf_append(out, stack, n);
		}
		stack += n;
		if (*stack) {
			gb_buf_append_char(out, '\n');
			stack++;
		}
	}
}

/* --- imports --- */

/* For JavaScript, imports are parsed only on demand, after an error. */
static const struct gb_ts_output *imports_of(struct gb_js_source *source) {
	if (!source->has_imports)
		gb_ts_find_imports(source->written.p, source->written.n, &source->output);
	source->has_imports = true;
	return &source->output;
}

/* Compares the text between the quotes; specifiers with escapes never match. */
static bool specifier_is(
    const struct gb_js_source *source, const struct gb_ts_import *import, const char *specifier) {
	size_t n = strlen(specifier);
	return import->length == n + 2 &&
	       memcmp(source->written.p + import->specifier + 1, specifier, n) == 0;
}

static void locate(const struct gb_js_source *source, size_t offset, unsigned *line, unsigned *column) {
	gb_ts_locate(source->written.p, source->written.n, offset, line, column);
}

bool gb_js_source_find_import(const struct gb_js_sources *sources, const char *importer,
    const char *specifier, unsigned *ret_line, unsigned *ret_column) {
	struct gb_js_source *source = find(sources, importer, strlen(importer));
	if (!source)
		return false;
	const struct gb_ts_output *output = imports_of(source);
	for (size_t i = 0; i < output->n_imports; i++)
		if (specifier_is(source, &output->imports[i], specifier)) {
			locate(source, output->imports[i].specifier, ret_line, ret_column);
			return true;
		}
	return false;
}

static const struct gb_ts_name *find_name(
    const struct gb_js_source *source, const struct gb_ts_import *import, const char *name) {
	for (uint32_t i = 0; i < import->n_names; i++) {
		const struct gb_ts_name *requested = &source->output.names[import->first_name + i];
		const char *text = source->written.p + requested->start;
		if (requested->is_default
			? strcmp(name, "default") == 0
			: requested->length == strlen(name) && memcmp(text, name, requested->length) == 0)
			return requested;
	}
	return NULL;
}

bool gb_js_source_find_name(const struct gb_js_sources *sources, const char *module, const char *name,
    char *(*resolve)(void *data, const char *importer, const char *specifier), void *data,
    struct gb_js_place *ret_place) {
	for (size_t i = 0; i < sources->n; i++) {
		struct gb_js_source *source = sources->list[i];
		const struct gb_ts_output *output = imports_of(source);
		for (size_t k = 0; k < output->n_imports; k++) {
			const struct gb_ts_import *import = &output->imports[k];
			const struct gb_ts_name *requested = find_name(source, import, name);
			if (!requested || import->length < 2)
				continue;
			snprintf(ret_place->specifier, sizeof ret_place->specifier, "%.*s",
			    (int)import->length - 2, source->written.p + import->specifier + 1);
			gb_auto_free char *resolved = resolve(data, source->name, ret_place->specifier);
			if (!resolved || strcmp(resolved, module) != 0)
				continue;
			ret_place->importer = source->name;
			locate(source, requested->start, &ret_place->line, &ret_place->column);
			return true;
		}
	}
	return false;
}

/* True if the escape sequence at @at (a backslash) is U+0000. */
static bool is_zero_escape(const char *at, const char *end) {
	struct gb_str rest = {at + 1, (size_t)(end - at - 1)};
	if (rest.n && rest.p[0] == '0')
		return rest.n == 1 || !isdigit((unsigned char)rest.p[1]);
	if (rest.n >= 3 && memcmp(rest.p, "x00", 3) == 0)
		return true;
	if (rest.n >= 5 && memcmp(rest.p, "u0000", 5) == 0)
		return true;
	if (rest.n < 4 || memcmp(rest.p, "u{0", 3) != 0)
		return false;
	size_t zeros = strspn(rest.p + 2, "0");
	return rest.p[2 + zeros] == '}';
}

static bool has_zero(struct gb_str literal) {
	const char *end = literal.p + literal.n;
	for (const char *at = literal.p; at < end; at++) {
		if (*at == '\0' || (*at == '\\' && is_zero_escape(at, end)))
			return true;
		at += *at == '\\';
	}
	return false;
}

bool gb_js_source_find_nul(
    struct gb_js_source *source, struct gb_str *ret_specifier, unsigned *ret_line, unsigned *ret_column) {
	struct gb_job_text text = source->written;
	if (!memchr(text.p, '\\', text.n) && !memchr(text.p, '\0', text.n))
		return false; /* the common case */
	const struct gb_ts_output *output = imports_of(source);
	for (size_t i = 0; i < output->n_imports; i++) {
		const struct gb_ts_import *import = &output->imports[i];
		if (import->length < 2)
			continue;
		*ret_specifier = (struct gb_str){text.p + import->specifier + 1, import->length - 2};
		if (!has_zero(*ret_specifier))
			continue;
		locate(source, import->specifier, ret_line, ret_column);
		return true;
	}
	return false;
}
