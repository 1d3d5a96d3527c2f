#include <stdlib.h>
#include <string.h>

#include "ts/parser.h"

void gb_ts_fail(struct ts_parser *p, uint32_t at, const char *message) {
	if (p->failed)
		return;
	p->failed = true;
	p->failure = (struct ts_failure){message, at};
	p->token = (struct ts_token){.start = p->size, .end = p->size};
	p->previous_end = p->size;
}

void gb_ts_exhaust(struct ts_parser *p, const char *message) {
	p->exhausted = true;
	gb_ts_fail(p, p->token.start, message);
}

void *gb_ts_grow(struct ts_parser *p, void *list_, size_t size) {
	enum { FIRST = 64 };
	TS_LIST(void) *list = list_;
	uint32_t cap = list->cap ? list->cap * 2 : FIRST;
	void *items = realloc(list->items, cap * size);
	if (!items) {
		gb_ts_exhaust(p, "out of memory");
		return p->spare;
	}
	list->items = items;
	list->cap = cap;
	return (char *)items + size * list->n++;
}

struct ts_mark gb_ts_mark(const struct ts_parser *p) {
	return (struct ts_mark){
	    .token = p->token,
	    .in = p->in,
	    .previous_end = p->previous_end,
	    .last_blank = p->last_blank,
	    .super_end = p->super_end,
	    .edits = p->edits.n,
	    .scopes = p->scopes.n,
	    .decls = p->decls.n,
	    .refs = p->refs.n,
	    .computed = p->computed.n,
	    .bindings = p->bindings.n,
	    .statements = p->statements.n,
	    .exports = p->exports.n,
	    .containers = p->containers.n,
	    .places = p->places.n,
	    .members = p->members.n,
	    .properties = p->properties.n,
	    .imports = p->imports.n,
	    .names = p->names.n,
	    .text = (uint32_t)p->text.len,
	    .depth = p->depth,
	    .previous = p->previous,
	    .instantiated = p->instantiated,
	};
}

void gb_ts_forget(struct ts_parser *p, const struct ts_mark *mark) {
	p->edits.n = mark->edits;
	p->scopes.n = mark->scopes;
	p->decls.n = mark->decls;
	p->refs.n = mark->refs;
	p->bindings.n = mark->bindings;
	p->statements.n = mark->statements;
	p->exports.n = mark->exports;
	p->containers.n = mark->containers;
	p->places.n = mark->places;
	p->members.n = mark->members;
	p->properties.n = mark->properties;
	p->imports.n = mark->imports;
	p->names.n = mark->names;
	p->text.len = mark->text;
	/* References in computed names are kept although the type is erased, but its scopes are dropped. */
	for (uint32_t i = mark->computed; i < p->computed.n; i++)
		if (p->computed.items[i].scope >= mark->scopes)
			p->computed.items[i].scope = mark->in.scope;
}

void gb_ts_rewind(struct ts_parser *p, const struct ts_mark *mark) {
	/* Exhausted memory, depth or work cannot be restored. */
	if (p->exhausted)
		return;
	gb_ts_forget(p, mark);
	p->computed.n = mark->computed;
	p->token = mark->token;
	p->in = mark->in;
	p->previous_end = mark->previous_end;
	p->last_blank = mark->last_blank;
	p->super_end = mark->super_end;
	p->depth = mark->depth;
	p->previous = mark->previous;
	p->instantiated = mark->instantiated;
	p->failed = false;
}

void gb_ts_expected(struct ts_parser *p, uint8_t kind) {
	static const char *const messages[256] = {
	    ['('] = "expected '('",
	    [')'] = "expected ')'",
	    ['['] = "expected '['",
	    [']'] = "expected ']'",
	    ['{'] = "expected '{'",
	    ['}'] = "expected '}'",
	    ['<'] = "expected '<'",
	    ['>'] = "expected '>'",
	    [':'] = "expected ':'",
	    [';'] = "expected ';'",
	    [','] = "expected ','",
	    ['='] = "expected '='",
	    ['?'] = "expected '?'",
	    ['.'] = "expected '.'",
	    [T_ARROW] = "expected '=>'",
	    [T_STRING] = "expected the name of a module, in quotes",
	};
	gb_ts_fail(p, p->token.start, messages[kind]);
}

void gb_ts_expect_word(struct ts_parser *p, uint8_t word, const char *message) {
	if (p->token.word == word)
		gb_ts_next(p);
	else
		gb_ts_fail(p, p->token.start, message);
}
