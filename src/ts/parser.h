/*
 * What the files of the eraser share: the parser's state and the small words of the grammar.
 *
 * One pass, no tree. Each file reads one part of the grammar, straight from the tokens, and records what must
 * change: edits (edit.c) at once, and what depends on the whole file - which names are used as values, what a
 * name inside a namespace means - as scopes, declarations and references (name.c), which link.c settles at
 * the end.
 *
 * Failing: gb_ts_fail() keeps the first message and puts the parser at the end of the text. There every loop
 * ends and every function returns by itself, so nobody checks for failure but who tries something out:
 *
 *	struct ts_mark mark = gb_ts_mark(p);
 *	...
 *	if (p->failed) gb_ts_rewind(p, &mark);	// as if nothing had been read
 */
#ifndef GB_TS_PARSER_H
#define GB_TS_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ts/erase.h"
#include "ts/token.h"

#define TS_NONE UINT32_MAX

/* How deep the grammar may nest. More than quickjs-ng reads on its default stack, and some 1 MB of ours. */
enum { TS_DEPTH_MAX = 2400 };

#define TS_LIST(type)                                                                                        \
	struct {                                                                                             \
		type *items;                                                                                 \
		uint32_t n, cap;                                                                             \
	}

/* --- what is recorded --- */

struct ts_name {
	uint32_t start, length; /* in the source */
};

enum ts_edit_kind {
	EDIT_BLANK,        /* spaces instead of what stands there; lines stay */
	EDIT_INSERT_AFTER, /* text that belongs to what stands before it */
	EDIT_INSERT_BEFORE /* text that belongs to what follows */
};

struct ts_edit {
	uint32_t start, end;
	uint32_t text, length; /* in ts_parser.text. A blank begins with it, and has room for it */
	uint32_t order;
	uint8_t kind;
	char last;    /* for a blank: its last character, unless 0 */
	bool session; /* made by session.c: JavaScript gets these alone */
};

enum ts_scope_kind { SCOPE_BLOCK, SCOPE_FUNCTION };

struct ts_scope {
	uint32_t parent;    /* or TS_NONE */
	uint32_t container; /* whose block this is, or TS_NONE */
	uint32_t inside;    /* the innermost scope around it that is such a block, or TS_NONE */
	uint8_t kind;       /* var stops at a SCOPE_FUNCTION */
};

enum ts_decl_kind {
	DECL_VALUE,    /* a variable, a parameter, ... */
	DECL_FUNCTION, /* or a class: what a namespace can merge with */
	DECL_TYPE,     /* nothing at run time */
	DECL_IMPORT,
	DECL_EXPORTED_VARIABLE, /* of a namespace: lives as a property of it */
	DECL_EXPORTED_LOCAL, /* of a namespace: a function, class ..., known by its own name in its block */
	DECL_MEMBER,         /* of an enum */
	DECL_CONTAINER,      /* an enum or a namespace */
};

struct ts_decl {
	struct ts_name name;
	uint32_t scope;
	uint32_t index; /* of an import: into bindings; of a container: into containers */
	uint8_t kind;
};

/* A name that is read or written as a value. There are many: this is kept small, for its pages are touched
 * anew in each run. */
struct ts_ref {
	uint32_t start;
	uint32_t scope;
	uint32_t length : 30;
	bool shorthand : 1; /* { name } */
	bool of_alias : 1;  /* import x = name.y: counts only if that is used */
};

/* A name that an import makes. */
struct ts_binding {
	struct ts_name local;
	uint32_t start, end; /* of all that goes when it is not needed, its comma included */
	uint32_t name;       /* index into names: what it asks of the module; or TS_NONE */
	uint32_t ref;        /* of "import a = b.c": the reference to b; or TS_NONE */
	bool is_default, is_type;
	bool is_require; /* import a = require("b") */
	bool used;
};

struct ts_import_statement {
	uint32_t start, end;
	uint32_t first, n;  /* bindings */
	uint32_t clause;    /* where "{" or "*" begins, or TS_NONE */
	uint32_t from;      /* where "from" begins; of an alias, "import" */
	uint32_t import;    /* index into imports, or TS_NONE */
	uint32_t container; /* of an alias that a namespace exports, or TS_NONE */
	bool is_alias, exported;
	uint8_t previous; /* kind of the token before */
};

/* export { name }, export default name: gone if the name is only a type. */
struct ts_export {
	struct ts_name name;
	uint32_t start, end;
	bool is_default;
};

/* A block of an enum or a namespace. */
struct ts_container {
	struct ts_name name;
	uint32_t start;   /* of the statement, its "export" included */
	uint32_t keyword; /* of the statement without it */
	uint32_t end;     /* after its '}' */
	uint32_t outer;   /* the scope it stands in */
	uint32_t scope;   /* its own */
	uint32_t decl;    /* index of its declaration */
	uint32_t parent;  /* the namespace it stands in, or TS_NONE */
	uint32_t symbol;  /* set when linking: the same for all its blocks */
	uint32_t suffix;  /* of its name inside, if that is not its own; else 0 */
	uint8_t previous; /* the kind of the token before it */
	bool exported;    /* from that namespace, or from the module */
	bool dotted;      /* the B of A.B */
	bool shadowed;    /* something inside has its name */
};

/* A name in front of which the name of a container is needed: a variable that the namespace exports; or after
 * which, in an assignment to the namespace: a function or a class. */
struct ts_place {
	uint32_t at;
	uint32_t container;
	struct ts_name name;
	bool after;
	bool shorthand; /* { name } in a pattern */
};

enum ts_member_type { MEMBER_NUMBER, MEMBER_STRING, MEMBER_UNKNOWN };

/* A member of an enum. */
struct ts_member {
	uint32_t container;
	uint32_t start, key_end; /* of its name, brackets included */
	struct ts_name key;      /* the name itself, quotes included */
	uint32_t value_end;      /* or TS_NONE */
	int64_t number;          /* without a value: what to write, if it is known */
	uint32_t previous;       /* else: the member to count on from, or TS_NONE */
	uint8_t type;            /* ts_member_type of its value */
	bool number_known;
};

/* --- the parser --- */

/* What the grammar depends on, beside the tokens. */
struct ts_context {
	uint32_t scope;
	uint32_t container; /* the namespace whose statements these are, or TS_NONE */
	bool no_in;         /* "in" is no operator: the head of a for */
	bool in_async, in_generator;
	bool no_conditional_type;
	bool ambient;      /* inside "declare": all of it goes */
	bool super_counts; /* a statement "super(...)" here is the one that parameter properties follow */
};

struct ts_failure {
	const char *message;
	uint32_t at;
};

struct ts_parser {
	const char *source; /* zero-terminated */
	uint32_t size;
	struct ts_token token; /* the current one */
	struct ts_token ahead; /* the one after some token that ends at ahead_from, or TS_NONE */
	uint32_t ahead_from;
	uint32_t previous_end; /* of the token before */
	uint8_t previous;      /* kind of the token before the current statement or member */
	struct ts_context in;
	unsigned depth;
	int64_t budget;

	bool failed;
	bool exhausted; /* of memory, depth or work: trying something else does not help */
	bool refused;   /* by session.c: it is not for the engine to judge */
	struct ts_failure failure;
	uint32_t assertion; /* where the last "<name" of an expression was, for a word about JSX */

	bool escaped_names;   /* a name was met that is not written as it reads */
	bool instantiated;    /* something was met that exists at run time */
	uint32_t last_blank;  /* index of the last blank */
	uint32_t super_end;   /* after the super(...) that counts, or TS_NONE */
	uint8_t *not_arrow;   /* bits by position: no arrow function begins here */
	uint8_t *not_arrow_2; /* the same where a return type may not follow */

	struct gb_buf text; /* of edits */
	TS_LIST(struct ts_edit) edits;
	TS_LIST(struct ts_scope) scopes;
	TS_LIST(struct ts_decl) decls;
	TS_LIST(struct ts_ref) refs;
	TS_LIST(struct ts_ref) computed; /* in the computed names of types, which count as uses of imports */
	TS_LIST(struct ts_binding) bindings;
	TS_LIST(struct ts_import_statement) statements;
	TS_LIST(struct ts_export) exports;
	TS_LIST(struct ts_container) containers;
	TS_LIST(struct ts_place) places;
	TS_LIST(struct ts_member) members;
	TS_LIST(struct ts_name) properties; /* of the parameters of the constructor that is being read */
	TS_LIST(struct gb_ts_import) imports;
	TS_LIST(struct gb_ts_name) names;
	TS_LIST(struct gb_ts_declared) declared; /* by a session's text */
	_Alignas(16) char spare[128];            /* what a list gives out when there is no memory */
};

struct ts_mark {
	struct ts_token token;
	struct ts_context in;
	uint32_t previous_end, last_blank, super_end;
	uint32_t edits, scopes, decls, refs, computed, bindings, statements, exports, containers, places,
	    members, imports, names, properties;
	uint32_t text;
	unsigned depth;
	uint8_t previous;
	bool instantiated;
};

/* --- parser.c --- */

/* Keep @message, which is not copied, unless there was one before; then nothing but T_END follows. */
void gb_ts_fail(struct ts_parser *p, uint32_t at, const char *message) __attribute__((cold));
/* The same for good, even while something is tried out. */
void gb_ts_exhaust(struct ts_parser *p, const char *message) __attribute__((cold));
struct ts_mark gb_ts_mark(const struct ts_parser *p);
/* Go back to @mark. */
void gb_ts_rewind(struct ts_parser *p, const struct ts_mark *mark);
/* Forget what was recorded since @mark, but stay where we are. */
void gb_ts_forget(struct ts_parser *p, const struct ts_mark *mark);
/* Room for more in a list that is full, or what to use instead; never NULL. */
void *gb_ts_grow(struct ts_parser *p, void *list, size_t size) __attribute__((cold));
/* One more item, for the caller to fill. */
#define ADD_TO(p, list)                                                                                      \
	((list)->n < (list)->cap ? &(list)->items[(list)->n++]                                               \
				 : (__typeof__((list)->items))gb_ts_grow(p, list, sizeof *(list)->items))
#define ADD(p, name) ADD_TO(p, &(p)->name)

/* Fail since the current token is not @kind. */
void gb_ts_expected(struct ts_parser *p, uint8_t kind) __attribute__((cold));
void gb_ts_expect_word(struct ts_parser *p, uint8_t word, const char *message);

static inline bool is(const struct ts_parser *p, uint8_t kind) {
	return p->token.kind == kind;
}
static inline bool is_word(const struct ts_parser *p, uint8_t word) {
	return p->token.word == word;
}
static inline bool at_identifier(const struct ts_parser *p) {
	return is_identifier(&p->token);
}
static inline bool take(struct ts_parser *p, uint8_t kind) {
	if (p->token.kind != kind)
		return false;
	gb_ts_next(p);
	return true;
}
static inline bool take_word(struct ts_parser *p, uint8_t word) {
	if (p->token.word != word)
		return false;
	gb_ts_next(p);
	return true;
}
/* The current token must be @kind; go past it. */
static inline void gb_ts_expect(struct ts_parser *p, uint8_t kind) {
	if (p->token.kind == kind)
		gb_ts_next(p);
	else
		gb_ts_expected(p, kind);
}
/* '<', if the current token begins with it. */
static inline void gb_ts_rescan_less(struct ts_parser *p) {
	uint8_t kind = p->token.kind;
	if (kind == T_SHIFT_LEFT || kind == T_LESS_EQUAL || kind == T_ASSIGN)
		gb_ts_split_less(p);
}
/* Whether the next token can begin with @first, by a look at the next character: cheaper than to scan it. */
static inline bool may_follow(const struct ts_parser *p, char first) {
	const char *c = p->source + p->token.end;
	while (*c == ' ')
		c++;
	/* Behind a comment, and what is not plain ASCII, there may be anything. */
	return *c == first || *c == '/' || *c <= ' ' || (uint8_t)*c >= 0x80;
}
/* Whether what follows the current token is sure to be nothing that an expression, or a type, goes on with.
 */
enum { END_OF_EXPRESSION = 1, END_OF_TYPE = 2 };
static inline bool ends_here(const struct ts_parser *p, uint8_t what) {
	enum { BOTH = END_OF_EXPRESSION | END_OF_TYPE };
	static const uint8_t ends[256] = {
	    [','] = BOTH,
	    [';'] = BOTH,
	    [')'] = BOTH,
	    [']'] = BOTH,
	    ['}'] = BOTH,
	    [':'] = BOTH,
	    ['='] = END_OF_TYPE,
	    ['>'] = END_OF_TYPE,
	    ['{'] = END_OF_TYPE,
	};
	const char *c = p->source + p->token.end;
	c += *c == ' ';
	return ends[(uint8_t)*c] & what;
}
/* The condition of every loop over what brackets hold. */
static inline bool until(const struct ts_parser *p, uint8_t kind) {
	return p->token.kind != kind && p->token.kind != T_END;
}
/* Bracket what can nest with these. */
static inline void enter(struct ts_parser *p) {
	if (++p->depth > TS_DEPTH_MAX)
		gb_ts_exhaust(p, "nested too deep");
}
static inline void leave(struct ts_parser *p) {
	p->depth--;
}

/* --- edit.c --- */

/* Blank what stands from @start to @end; the index of the edit, for gb_ts_overlay. */
uint32_t gb_ts_blank(struct ts_parser *p, uint32_t start, uint32_t end);
/* Let a blank begin with @text, which must fit. */
void gb_ts_overlay(struct ts_parser *p, uint32_t edit, const char *text);
void gb_ts_blank_token(struct ts_parser *p);
/* Text without line ends. */
void gb_ts_insert(struct ts_parser *p, uint8_t kind, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define insert_before(p, ...) gb_ts_insert(p, EDIT_INSERT_BEFORE, __VA_ARGS__)
#define insert_after(p, ...)  gb_ts_insert(p, EDIT_INSERT_AFTER, __VA_ARGS__)
/* Blank a whole statement or class member that began at @start, with all that was recorded since @mark. */
void gb_ts_blank_statement(struct ts_parser *p, uint32_t start, const struct ts_mark *mark);
bool gb_ts_has_line_end(const struct ts_parser *p, uint32_t start, uint32_t end);
/* Apply the edits. */
bool gb_ts_render(struct ts_parser *p, struct gb_ts_output *out);

/* --- name.c --- */

static inline struct ts_name token_name(const struct ts_token *token) {
	return (struct ts_name){token->start, token->end - token->start};
}
bool gb_ts_name_equal(const struct ts_parser *p, struct ts_name a, struct ts_name b);
/* For printf's "%.*s". */
#define NAME_ARG(p, name) (int)(name).length, (p)->source + (name).start
/* Open a scope in the current one; the caller keeps and puts back p->in. */
void gb_ts_open_scope(struct ts_parser *p, uint8_t kind);
void gb_ts_declare(struct ts_parser *p, struct ts_name name, uint8_t kind);
/* As "var" does, in the scope of the function. */
void gb_ts_declare_var(struct ts_parser *p, struct ts_name name);
/* The current token is a name that is used as a value. */
struct ts_ref *gb_ts_refer(struct ts_parser *p);

/* --- type.c, type_member.c --- */

void gb_ts_type(struct ts_parser *p);
/* At '<'. */
void gb_ts_type_parameters(struct ts_parser *p);
void gb_ts_type_arguments(struct ts_parser *p);
/* The members of an interface or object type, at '{'. */
void gb_ts_type_members(struct ts_parser *p);
/* At '{': "[K in", perhaps with readonly. */
bool gb_ts_at_mapped_type(struct ts_parser *p);
void gb_ts_mapped_type(struct ts_parser *p);
/* At '['. */
bool gb_ts_at_index_signature(struct ts_parser *p);
void gb_ts_index_signature(struct ts_parser *p);
bool gb_ts_can_follow_modifier(const struct ts_token *token);
/* ": type", or nothing; blanked. */
void gb_ts_annotation(struct ts_parser *p);
/* The same where "x is T" can stand. */
void gb_ts_return_annotation(struct ts_parser *p);
/* What stands after the colon of a return type. */
void gb_ts_return_type(struct ts_parser *p);
/* "<T, U>", or nothing; blanked. */
void gb_ts_blank_type_parameters(struct ts_parser *p);

/* --- expression.c, primary.c --- */

void gb_ts_expression(struct ts_parser *p);
/* Up to a comma. With @no_return_type an arrow function's return type needs a ':' after its body. */
void gb_ts_assignment(struct ts_parser *p, bool no_return_type);
/* With "in" as an operator again. */
void gb_ts_assignment_in(struct ts_parser *p);
void gb_ts_expression_in(struct ts_parser *p);
/* Something that can be called, with its calls. */
void gb_ts_left_hand(struct ts_parser *p, bool calls);
void gb_ts_template(struct ts_parser *p, bool in_type);
/* [computed], name, "name", 1, #name. True if it was computed. */
bool gb_ts_property_name(struct ts_parser *p);
void gb_ts_refuse_decorator(struct ts_parser *p);
void gb_ts_primary(struct ts_parser *p);

/* --- function.c --- */

enum { PARAMS_PLAIN, PARAMS_CONSTRUCTOR, PARAMS_TYPE };
/* A pattern or a name; @kind is ts_decl_kind, or DECL_VAR. */
enum { DECL_VAR = 100 };
void gb_ts_pattern(struct ts_parser *p, uint8_t kind);
void gb_ts_parameters(struct ts_parser *p, unsigned kind);
/* Type parameters, parameters, return type, and the body if there is one: whether there is. */
bool gb_ts_function_rest(struct ts_parser *p, bool is_async, bool is_generator);
/* '{' statements '}', in a scope of their own. */
void gb_ts_function_body(struct ts_parser *p);
/* A scope and a fresh context for a function; put p->in back afterwards. */
void gb_ts_enter_function(struct ts_parser *p, bool is_async, bool is_generator);
/* An arrow function, if one begins here. */
bool gb_ts_arrow(struct ts_parser *p, bool no_return_type);

/* --- statement.c --- */

void gb_ts_statement(struct ts_parser *p);
void gb_ts_statements(struct ts_parser *p);
void gb_ts_block(struct ts_parser *p);
/* ';', or what stands for one. False if only the end of the line does. */
bool gb_ts_semicolon(struct ts_parser *p);
void gb_ts_variables(struct ts_parser *p, uint8_t kind);

/* --- declaration.c --- */

/* Whether a declaration begins here, as opposed to an expression that begins with the same word. */
bool gb_ts_at_declaration(struct ts_parser *p);
/* @start is where its "export" stands, if it has one. */
void gb_ts_declaration(struct ts_parser *p, uint32_t start, bool exported);
bool gb_ts_at_using(struct ts_parser *p);
bool gb_ts_at_let(struct ts_parser *p);
/* A function or class named @name has ended, and perhaps a namespace exports it. */
void gb_ts_declared(struct ts_parser *p, struct ts_name name, bool exported);

/* --- class.c --- */

/* At "class"; the name is declared if it is a statement. */
void gb_ts_class(struct ts_parser *p, bool statement, bool exported);

/* --- enum.c, namespace.c --- */

/* At "enum"; @keyword is where that or its "const" stands. */
void gb_ts_enum(struct ts_parser *p, uint32_t start, uint32_t keyword, bool exported);
void gb_ts_namespace(struct ts_parser *p, uint32_t start, bool exported);
/* let, const or var that a namespace exports; at the keyword. */
void gb_ts_exported_variables(struct ts_parser *p, uint32_t start);
/* Declare a container and open its scope; its index. The caller keeps p->in. */
uint32_t gb_ts_open_container(struct ts_parser *p, struct ts_container container);

/* --- module.c, export.c --- */

void gb_ts_import(struct ts_parser *p, uint32_t start, bool exported);
void gb_ts_export(struct ts_parser *p);
/* import(...), at its '('. */
void gb_ts_dynamic_import(struct ts_parser *p);
/* "with { ... }" or nothing. */
void gb_ts_import_attributes(struct ts_parser *p);
/* At the literal that names a module: record it and go past it; its index. */
uint32_t gb_ts_module_specifier(struct ts_parser *p, enum gb_ts_import_kind kind, uint32_t first_name);

/* a, type a, a as b, "a" as b: what stands between the braces of an import or export. */
struct ts_specifier {
	struct ts_token imported, local;
	uint32_t start, end; /* its comma included */
	bool is_type;
};
struct ts_specifier gb_ts_specifier(struct ts_parser *p);

/* --- session.c --- */

/* All statements of the text, as a session takes them. */
void gb_ts_session_statements(struct ts_parser *p);
/* Drop the other edits. */
void gb_ts_keep_session_edits(struct ts_parser *p);

/* --- link.c --- */

/* With the whole file read: which imports and exports stay, what names in namespaces mean. */
void gb_ts_link(struct ts_parser *p);

/* --- table.c --- */

/* Declarations by scope and name. */
struct ts_table;
/* A name to look for. Few are: the hash is not made before. */
struct ts_key {
	struct ts_name name;
	uint32_t hash;
};
struct ts_key gb_ts_key(const struct ts_parser *p, struct ts_name name);
struct ts_table *gb_ts_table_create(struct ts_parser *p);
void gb_ts_table_destroy(struct ts_table *table);
/* False for nearly all names that it does not have; the second is faster still, and less sure. */
bool gb_ts_table_may_have(const struct ts_table *table, struct ts_key key);
bool gb_ts_table_may_have_text(const struct ts_table *table, const char *name, uint32_t length);
/* The first declaration of @key in @scope that has one of @kinds (bits), or NULL. */
const struct ts_decl *gb_ts_table_find(
    struct ts_parser *p, const struct ts_table *table, uint32_t scope, struct ts_key key, unsigned kinds);
/* The same among what the blocks of a container export. */
const struct ts_decl *gb_ts_table_find_exported(
    struct ts_parser *p, const struct ts_table *table, uint32_t container, struct ts_key key);

/* --- emit.c --- */

/* Prepare gb_ts_inner_name. */
void gb_ts_name_containers(struct ts_parser *p);
/* The name that a container has inside, as text that lives in @room. */
enum { TS_INNER_MAX = 300 };
const char *gb_ts_inner_name(const struct ts_parser *p, uint32_t container, char room[TS_INNER_MAX]);
void gb_ts_emit_containers(struct ts_parser *p, const struct ts_table *table);

#endif
