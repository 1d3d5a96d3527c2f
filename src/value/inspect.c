#include "value/inspect.h"

#include <stdio.h>
#include <string.h>

#include "value/repr.h"

enum { MAX_ENTRIES = 100, INDENT = 2, MAX_STEPS = 10000000 };

static void inspect(struct gb_page *page, const struct gb_value *value);

static bool has_entries_to_show(const struct gb_value *value) {
	return gb_value_is_container(value) || (value->type == GB_VIEW && value->kind != GB_DATAVIEW);
}

static size_t count_of(const struct gb_value *value) {
	return value->type == GB_VIEW ? value->view.length : gb_value_count(value);
}

static bool is_identifier(struct gb_str s) {
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return s.n > 0;
}

/* Write "<3 empty items>" for the holes from @index on; returns the index after them. */
static size_t inspect_holes(struct gb_page *page, const struct gb_value *array, size_t index) {
	size_t end = index;
	while (end < array->list.used && array->list.slots[end]->type == GB_HOLE && page->steps_left) {
		page->steps_left--;
		end++;
	}
	page->cut |= page->steps_left == 0;
	gb_page_printf(page, "<%zu empty item%s>", end - index, end - index == 1 ? "" : "s");
	return end;
}

/* Write one entry; returns the index of the next. */
static size_t inspect_entry(struct gb_page *page, const struct gb_value *value, size_t index) {
	if (value->type == GB_VIEW) {
		gb_inspect_element(page, value, index);
		return index + 1;
	}
	if (gb_value_has_entries(value)) {
		const struct gb_value *key = value->list.slots[2 * index];
		if (value->type == GB_OBJECT && is_identifier(key->bytes))
			gb_page_put(page, key->bytes.p, key->bytes.n);
		else
			inspect(page, key);
		gb_page_text(page, value->type == GB_OBJECT ? ": " : " => ");
		inspect(page, value->list.slots[2 * index + 1]);
		return index + 1;
	}
	const struct gb_value *element = value->list.slots[index];
	if (element->type == GB_HOLE)
		return inspect_holes(page, value, index);
	inspect(page, element);
	return index + 1;
}

static void put_opening(struct gb_page *page, const struct gb_value *value) {
	size_t count = count_of(value);
	switch ((enum gb_type)value->type) {
	case GB_ARRAY:
		gb_page_put(page, "[", 1);
		return;
	case GB_OBJECT:
		gb_page_put(page, "{", 1);
		return;
	case GB_VIEW:
		gb_page_printf(page, "%s(%zu) [", gb_view_infos[value->kind].name, count);
		return;
	default:
		gb_page_printf(page, "%s(%zu) {", value->type == GB_MAP ? "Map" : "Set", count);
	}
}

static const char *closing(const struct gb_value *value) {
	return value->type == GB_ARRAY || value->type == GB_VIEW ? "]" : "}";
}

/* Primitive elements share lines, as many as fit; others get a line each. */
static bool shares_lines(const struct gb_value *value) {
	if (value->type == GB_VIEW)
		return true;
	if (gb_value_has_entries(value))
		return false;
	for (size_t i = 0; i < value->list.used && i < MAX_ENTRIES; i++)
		if (gb_value_has_identity(value->list.slots[i]))
			return false;
	return true;
}

static void put_at(struct gb_page *page, size_t at, const char *bytes, size_t n) {
	size_t tail = page->out.len - at;
	page->cut |= n > page->max - page->out.len;
	gb_page_put(page, bytes, n);
	if (gb_page_stopped(page))
		return;
	char *data = page->out.data + at;
	memmove(data + n, data, tail);
	memcpy(data, bytes, n);
}

/* The entry that begins at @at made its line too long: move it to a new line. */
static void move_to_next_line(struct gb_page *page, size_t at) {
	char start[1 + INDENT * (GB_INSPECT_DEPTH + 1)];
	memset(start, ' ', sizeof start);
	start[0] = '\n';
	put_at(page, at, start, page->indent); /* the existing space is the last one */
	page->line_start = at + 1;
}

static void put_entries(struct gb_page *page, const struct gb_value *value) {
	bool share_lines = !page->one_line && shares_lines(value);
	size_t count = count_of(value), shown = 0;
	for (size_t i = 0; i < count && !gb_page_stopped(page); shown++) {
		if (shown)
			gb_page_put(page, ",", 1);
		if (shown && !share_lines)
			page->one_line ? gb_page_put(page, " ", 1) : gb_page_break(page);
		size_t at = page->out.len;
		if (shown && share_lines)
			gb_page_put(page, " ", 1);
		if (shown == MAX_ENTRIES) {
			gb_page_printf(page, "... %zu more item%s", count - i, count - i == 1 ? "" : "s");
			i = count;
		} else {
			i = inspect_entry(page, value, i);
		}
		if (shown && share_lines && page->out.len - page->line_start > GB_INSPECT_WIDTH)
			move_to_next_line(page, at);
	}
}

static void put_flat(struct gb_page *page, const struct gb_value *value) {
	put_opening(page, value);
	if (count_of(value)) {
		gb_page_put(page, " ", 1);
		put_entries(page, value);
		gb_page_put(page, " ", 1);
	}
	gb_page_text(page, closing(value));
}

static void put_broken(struct gb_page *page, const struct gb_value *value) {
	put_opening(page, value);
	page->indent += INDENT;
	gb_page_break(page);
	put_entries(page, value);
	page->indent -= INDENT;
	gb_page_break(page);
	gb_page_text(page, closing(value));
}

/* Write on one line if it fits; otherwise undo the attempt, with the numbers that it assigned, and use
 * several lines. */
static void put_container(struct gb_page *page, const struct gb_value *value) {
	if (page->one_line) {
		put_flat(page, value);
		return;
	}
	struct gb_page before = *page;
	page->one_line = true;
	put_flat(page, value);
	page->one_line = false;
	if (!page->overflow)
		return;
	size_t start = before.out.len;
	before.out = page->out;
	before.out.len = start;
	before.steps_left = page->steps_left;
	*page = before;
	put_broken(page, value);
}

/* Write "[Circular *1]" if @value is one of the open containers. */
static bool put_circular(struct gb_page *page, const struct gb_value *value) {
	for (unsigned i = 0; i < page->depth; i++) {
		if (page->path[i].value != value)
			continue;
		if (!page->path[i].number)
			page->path[i].number = ++page->numbers;
		gb_page_printf(page, "[Circular *%u]", page->path[i].number);
		return true;
	}
	return false;
}

static void put_name(struct gb_page *page, const struct gb_value *value) {
	static const char *const names[] = {
	    [GB_ARRAY] = "Array", [GB_OBJECT] = "Object", [GB_MAP] = "Map", [GB_SET] = "Set"};
	const char *name = value->type == GB_VIEW ? gb_view_infos[value->kind].name : names[value->type];
	gb_page_printf(page, "[%s]", name);
}

static void inspect(struct gb_page *page, const struct gb_value *value) {
	if (gb_page_stopped(page))
		return;
	if (!has_entries_to_show(value)) {
		gb_inspect_leaf(page, value);
		return;
	}
	if (put_circular(page, value))
		return;
	if (page->depth > GB_INSPECT_DEPTH) {
		put_name(page, value);
		return;
	}
	size_t at = page->out.len;
	page->path[page->depth].value = value;
	page->path[page->depth++].number = 0;
	put_container(page, value);
	unsigned number = page->path[--page->depth].number;
	if (!number)
		return;
	char ref[32];
	size_t n = (size_t)snprintf(ref, sizeof ref, "<ref *%u> ", number);
	put_at(page, at, ref, n);
	if (page->line_start > at)
		page->line_start += n;
}

char *gb_value_inspect(const struct gb_value *value, size_t max_bytes) {
	struct gb_page page = {.max = max_bytes, .steps_left = MAX_STEPS};
	gb_buf_init(&page.out, SIZE_MAX);
	if (!value)
		gb_page_text(&page, "undefined");
	else if (value->type == GB_STRING)
		gb_inspect_string(&page, value->bytes, GB_INSPECT_LINES);
	else
		inspect(&page, value);
	if (page.cut)
		gb_buf_append_str(&page.out, GB_STR("…"));
	if (gb_buf_c_str(&page.out))
		return page.out.data;
	gb_buf_finish(&page.out);
	return NULL;
}
