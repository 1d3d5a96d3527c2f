/*
 * The internal header of the eraser: the parser's state and helpers for the grammar.
 *
 * One pass, no syntax tree. Each file parses one part of the grammar, directly from the tokens, and records
 * what must change. Edits (edit.c) are recorded at once. What depends on the whole file (which names are used
 * as values, what a name inside a namespace refers to) is recorded as scopes, declarations and references
 * (name.c), which link.c resolves at the end.
 *
 * Errors: gb_ts_fail() keeps the first message and moves the parser to the end of the text. There every loop
 * ends and every function returns, so only code that backtracks has to check for failure:
 *
 *	struct ts_mark mark = gb_ts_mark(p);
 *	...
 *	if (p->failed) gb_ts_rewind(p, &mark);	// restore the state at the mark
 */
#ifndef GB_TS_PARSER_H
#define GB_TS_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ts/erase.h"
#include "ts/token.h"

#define TS_NONE UINT32_MAX

/* Maximum nesting depth: more than quickjs-ng parses on its default stack; uses about 1 MB of our stack. */
enum { TS_DEPTH_MAX = 2400 };

#define TS_LIST(type)                                                                                        \
	struct {                                                                                             \
		type *items;                                                                                 \
		uint32_t n, cap;                                                                             \
	}

/* --- records --- */

struct ts_name {
	uint32_t start, length; /* in the source */
};

enum ts_edit_kind {
	EDIT_BLANK,        /* replace the range by spaces; line terminators stay */
	EDIT_INSERT_AFTER, /* insert text that belongs to the source before it */
	EDIT_INSERT_BEFORE /* insert text that belongs to the source after it */
};

struct ts_edit {
	uint32_t start, end;
	uint32_t text, length; /* in ts_parser.text. A blank starts with this text, which must fit */
	uint32_t order;
	uint8_t kind;
	char last;    /* for a blank: its last character; 0 for a space */
	bool session; /* made by session.c: the only edits applied to JavaScript */
};

enum ts_scope_kind {
	SCOPE_BLOCK,
	SCOPE_FUNCTION,
	SCOPE_FOR, /* the variables of a for, whose body may have no braces */
};

struct ts_scope {
	uint32_t parent;    /* or TS_NONE */
	uint32_t container; /* the container whose block this is, or TS_NONE */
	uint32_t inside;    /* the innermost enclosing scope that is a container's block, or TS_NONE */
	uint8_t kind;       /* var declares in the innermost SCOPE_FUNCTION */
};

enum ts_decl_kind {
	DECL_VALUE,    /* a variable, a parameter, ... */
	DECL_FUNCTION, /* or a class: a namespace can merge with these */
	DECL_TYPE,     /* does not exist at run time */
	DECL_IMPORT,
	DECL_EXPORTED_VARIABLE, /* of a namespace: a property of its object */
	DECL_EXPORTED_LOCAL,    /* of a namespace: a function, class ...; also a local name in its block */
	DECL_MEMBER,            /* of an enum */
	DECL_CONTAINER,         /* an enum or a namespace */
	DECL_AMBIENT,           /* by "declare": a value that is declared elsewhere */
	DECL_EXPORTED_AMBIENT,  /* of a namespace: a function, class ..., not a variable */
};

struct ts_decl {
	struct ts_name name;
	uint32_t scope;
	uint32_t index; /* of an import: index into bindings; of a container: into containers */
	uint8_t kind;
};

/* A name that is read or written as a value. Kept small: there are many, and each run touches their pages for
 * the first time. */
struct ts_ref {
	uint32_t start;
	uint32_t scope;
	uint32_t length : 30;
	bool shorthand : 1; /* { name } */
	bool of_alias : 1;  /* the name in "import x = name.y": a use only if x is used */
};

/* A name that an import declares. */
struct ts_binding {
	struct ts_name local;
	uint32_t start, end; /* the range to blank if it is unused, its comma included */
	uint32_t name;       /* index into names: the imported name; or TS_NONE */
	uint32_t ref;        /* of "import a = b.c": the reference to b; or TS_NONE */
	bool is_default, is_type;
	bool is_require; /* import a = require("b") */
	bool used;
};

struct ts_import_statement {
	uint32_t start, end;
	uint32_t first, n;  /* bindings */
	uint32_t clause;    /* where "{" or "*" begins, or TS_NONE */
	uint32_t from;      /* where "from" begins; of an alias: where "import" begins */
	uint32_t import;    /* index into imports, or TS_NONE */
	uint32_t container; /* of an alias that a namespace exports, or TS_NONE */
	bool is_alias, exported;
	uint8_t previous; /* kind of the token before the statement */
};

/* export { name }, export default name: erased if the name is only a type. */
struct ts_export {
	struct ts_name name;
	uint32_t start, end;
	bool is_default;
};

/* A block of an enum or a namespace. */
struct ts_container {
	struct ts_name name;
	uint32_t start;   /* of the statement, including "export" */
	uint32_t keyword; /* of the statement, without "export" */
	uint32_t end;     /* after its '}' */
	uint32_t outer;   /* the enclosing scope */
	uint32_t scope;   /* its own scope */
	uint32_t decl;    /* index of its declaration */
	uint32_t parent;  /* the enclosing namespace, or TS_NONE */
	uint32_t symbol;  /* set when linking: the same for all blocks of one container */
	uint32_t suffix;  /* appended to its name inside the block if that is shadowed; else 0 */
	uint8_t previous; /* the kind of the token before it */
	bool exported;    /* from the enclosing namespace, or from the module */
	bool dotted;      /* the B of A.B */
	bool shadowed;    /* its name is redeclared inside */
};

/* A place where the name of a namespace must be inserted: before a variable that it exports ("N.x"), or after
 * a function or class that it exports ("N.f = f;"). */
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
	uint32_t start, key_end; /* of the key, brackets included */
	struct ts_name key;      /* the key itself, quotes included */
	uint32_t value_end;      /* or TS_NONE */
	int64_t number;          /* without an initializer: the value, if number_known */
	uint32_t previous;       /* otherwise: the member whose value plus one it is, or TS_NONE */
	uint8_t type;            /* ts_member_type of its value */
	bool number_known;
};

/* --- the parser --- */

/* Parsing context, besides the tokens. */
struct ts_context {
	uint32_t scope;
	uint32_t container; /* the namespace whose statements are parsed, or TS_NONE */
	bool no_in;         /* "in" is not an operator: in the head of a for */
	bool in_async, in_generator;
	bool no_conditional_type;
	bool ambient;     /* inside "declare": everything is erased */
	bool track_super; /* record the end of "super(...)", for parameter properties */
};

struct ts_failure {
	const char *message;
	uint32_t at;
};

/* The first JSX element, in the second pass that jsx.c describes. */
struct ts_jsx {
	bool wanted;           /* this is the second pass */
	bool nested;           /* an element is being parsed */
	uint32_t start;        /* or TS_NONE */
	uint32_t closing, end; /* its closing tag, or TS_NONE; its end */
};

struct ts_parser {
	const char *source; /* zero-terminated */
	uint32_t size;
	struct ts_token token; /* the current one */
	struct ts_token ahead; /* the token that follows offset ahead_from (TS_NONE: none cached) */
	uint32_t ahead_from;
	uint32_t previous_end; /* end of the previous token */
	uint8_t previous;      /* kind of the token before the current statement or member */
	struct ts_context in;
	unsigned depth;
	int64_t budget;

	bool failed;
	bool exhausted; /* out of memory, depth or work: backtracking does not help */
	bool is_open;   /* the text ends in a comment or template */
	bool rejected;  /* by session.c: report the error, do not leave it to the engine */
	struct ts_failure failure;
	uint32_t assertion;        /* where the last "<T>x" assertion began; or TS_NONE */
	uint32_t ended;            /* where the last complete statement ended */
	struct ts_name expression; /* of the last statement that is one */
	struct ts_name value;      /* of a program: its last expression */
	struct ts_jsx jsx;

	bool escaped_names;                /* some name contains an escape */
	bool instantiated;                 /* something was parsed that exists at run time */
	uint32_t last_blank;               /* index of the last blank */
	uint32_t super_end;                /* end of the constructor's super(...), or TS_NONE */
	uint8_t *not_arrow;                /* bits by position: no arrow function begins here */
	uint8_t *not_arrow_in_conditional; /* the same for the middle of a?b:c, where a ':' is ambiguous */

	struct gb_buf text; /* of edits */
	TS_LIST(struct ts_edit) edits;
	TS_LIST(struct ts_scope) scopes;
	TS_LIST(struct ts_decl) decls;
	TS_LIST(struct ts_ref) refs;
	TS_LIST(struct ts_ref) computed; /* in computed names of types: they count as uses of imports */
	TS_LIST(struct ts_binding) bindings;
	TS_LIST(struct ts_import_statement) statements;
	TS_LIST(struct ts_export) exports;
	TS_LIST(struct ts_container) containers;
	TS_LIST(struct ts_place) places;
	TS_LIST(struct ts_member) members;
	TS_LIST(struct ts_name) properties; /* parameter properties of the current constructor */
	TS_LIST(struct gb_ts_import) imports;
	TS_LIST(struct gb_ts_name) names;
	TS_LIST(struct gb_ts_declared) declared; /* by a session's text */
	_Alignas(16) char spare[128];            /* the item that ADD returns when out of memory */
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

/* Keep @message, which is not copied, unless there was an earlier failure. From then on every token is
 * T_END. */
void gb_ts_fail(struct ts_parser *p, uint32_t at, const char *message) __attribute__((cold));
/* The same, but gb_ts_rewind() does not clear it. */
void gb_ts_exhaust(struct ts_parser *p, const char *message) __attribute__((cold));
struct ts_mark gb_ts_mark(const struct ts_parser *p);
/* Restore the state at @mark. */
void gb_ts_rewind(struct ts_parser *p, const struct ts_mark *mark);
/* Drop what was recorded since @mark, but keep the position. */
void gb_ts_forget(struct ts_parser *p, const struct ts_mark *mark);
/* Grow a full list and append one item. Returns a spare item when out of memory; never NULL. */
void *gb_ts_grow(struct ts_parser *p, void *list, size_t size) __attribute__((cold));
/* Append an item; the caller fills it. */
#define ADD_TO(p, list)                                                                                      \
	((list)->n < (list)->cap ? &(list)->items[(list)->n++]                                               \
				 : (__typeof__((list)->items))gb_ts_grow(p, list, sizeof *(list)->items))
#define ADD(p, name) ADD_TO(p, &(p)->name)

/* Fail: the current token is not @kind. */
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
static inline bool accept(struct ts_parser *p, uint8_t kind) {
	if (p->token.kind != kind)
		return false;
	gb_ts_next(p);
	return true;
}
static inline bool accept_word(struct ts_parser *p, uint8_t word) {
	if (p->token.word != word)
		return false;
	gb_ts_next(p);
	return true;
}
/* Go past the current token if it is @kind; fail otherwise. */
static inline void gb_ts_expect(struct ts_parser *p, uint8_t kind) {
	if (p->token.kind == kind)
		gb_ts_next(p);
	else
		gb_ts_expected(p, kind);
}
/* Make '<' the current token, if the current token begins with it. */
static inline void gb_ts_rescan_less(struct ts_parser *p) {
	uint8_t kind = p->token.kind;
	if (kind == T_SHIFT_LEFT || kind == T_LESS_EQUAL || kind == T_ASSIGN)
		gb_ts_split_less(p);
}
/* Whether the next token can begin with @first. Looks at the next character, which is cheaper than
 * scanning. */
static inline bool may_follow(const struct ts_parser *p, char first) {
	const char *c = p->source + p->token.end;
	while (*c == ' ')
		c++;
	/* After a comment, line terminator or non-ASCII character, anything may follow. */
	return *c == first || *c == '/' || *c <= ' ' || (uint8_t)*c >= 0x80;
}
/* Whether the next character is certain to end the expression or type that the current token is in. */
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
/* The condition of every loop over the contents of brackets. */
static inline bool more_before(const struct ts_parser *p, uint8_t kind) {
	return p->token.kind != kind && p->token.kind != T_END;
}
/* Every function that can recurse calls these, to limit the depth. */
static inline void enter(struct ts_parser *p) {
	if (++p->depth > TS_DEPTH_MAX)
		gb_ts_exhaust(p, "nested too deep");
}
static inline void leave(struct ts_parser *p) {
	p->depth--;
}

/* --- edit.c --- */

/* Blank the source from @start to @end. Returns the index of the edit, for gb_ts_overlay. */
uint32_t gb_ts_blank(struct ts_parser *p, uint32_t start, uint32_t end);
/* Start a blank with @text, which must fit into it. */
void gb_ts_overlay(struct ts_parser *p, uint32_t edit, const char *text);
void gb_ts_blank_token(struct ts_parser *p);
/* Insert text; line terminators in it are escaped. */
void gb_ts_insert(struct ts_parser *p, uint8_t kind, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define insert_before(p, ...) gb_ts_insert(p, EDIT_INSERT_BEFORE, __VA_ARGS__)
#define insert_after(p, ...)  gb_ts_insert(p, EDIT_INSERT_AFTER, __VA_ARGS__)
/* Blank a whole statement or class member that began at @start, and drop everything recorded since @mark. */
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
/* Open a scope inside the current one; the caller saves and restores p->in. */
void gb_ts_open_scope(struct ts_parser *p, uint8_t kind);
void gb_ts_declare(struct ts_parser *p, struct ts_name name, uint8_t kind);
/* Like "var": in the scope of the enclosing function. */
void gb_ts_declare_var(struct ts_parser *p, struct ts_name name);
/* Record that the current token, a name, is used as a value. */
struct ts_ref *gb_ts_refer(struct ts_parser *p);

/* --- type.c, type_member.c --- */

void gb_ts_type(struct ts_parser *p);
/* At '<'. */
void gb_ts_type_parameters(struct ts_parser *p);
void gb_ts_type_arguments(struct ts_parser *p);
/* Parses the members of an interface or object type, at '{'. */
void gb_ts_type_members(struct ts_parser *p);
/* At '{': whether "[K in" follows, perhaps with readonly. */
bool gb_ts_at_mapped_type(struct ts_parser *p);
void gb_ts_mapped_type(struct ts_parser *p);
/* At '['. */
bool gb_ts_at_index_signature(struct ts_parser *p);
void gb_ts_index_signature(struct ts_parser *p);
bool gb_ts_can_follow_modifier(const struct ts_token *token);
/* Parse and blank ": type", if present. */
void gb_ts_annotation(struct ts_parser *p);
/* The same for a return type, which may be "x is T". */
void gb_ts_return_annotation(struct ts_parser *p);
/* Parse the type after the colon of a return type. */
void gb_ts_return_type(struct ts_parser *p);
/* Parse and blank "<T, U>", if present. */
void gb_ts_blank_type_parameters(struct ts_parser *p);

/* --- expression.c, primary.c --- */

void gb_ts_expression(struct ts_parser *p);
/* An expression up to a comma. With @no_return_type, an arrow function may have a return type only if a ':'
 * follows its body. */
void gb_ts_assignment(struct ts_parser *p, bool no_return_type);
/* The same, with "in" as an operator. */
void gb_ts_assignment_in(struct ts_parser *p);
void gb_ts_expression_in(struct ts_parser *p);
/* A left-hand-side expression, with its calls if @calls. */
void gb_ts_left_hand(struct ts_parser *p, bool calls);
void gb_ts_template(struct ts_parser *p, bool in_type);
/* [computed], name, "name", 1, #name. Returns whether it was computed. */
bool gb_ts_property_name(struct ts_parser *p);
void gb_ts_reject_decorator(struct ts_parser *p);
void gb_ts_primary(struct ts_parser *p);

/* --- jsx.c --- */

/* In the second pass, at '<': parse a JSX element. Returns false, at the '<', if there is none. */
bool gb_ts_jsx(struct ts_parser *p);
/* Whether @failed, the first pass, failed because of the JSX that @again, the second one, found at *ret_at. */
bool gb_ts_is_jsx(struct ts_parser *again, const struct ts_parser *failed, uint32_t *ret_at);

/* --- function.c --- */

enum { PARAMS_PLAIN, PARAMS_CONSTRUCTOR, PARAMS_TYPE };
/* A pattern or a name; @kind is a ts_decl_kind, or DECL_VAR. */
enum { DECL_VAR = 100 };
void gb_ts_pattern(struct ts_parser *p, uint8_t kind);
void gb_ts_parameters(struct ts_parser *p, unsigned kind);
/* Type parameters, parameters, return type, and the body, if any. Returns whether there is a body. */
bool gb_ts_function_rest(struct ts_parser *p, bool is_async, bool is_generator);
/* '{' statements '}', in a scope of their own. */
void gb_ts_function_body(struct ts_parser *p);
/* Open a scope and reset the context for a function; the caller restores p->in afterwards. */
void gb_ts_enter_function(struct ts_parser *p, bool is_async, bool is_generator);
/* Parse an arrow function, if one begins here. */
bool gb_ts_arrow(struct ts_parser *p, bool no_return_type);

/* --- statement.c --- */

void gb_ts_statement(struct ts_parser *p);
void gb_ts_statements(struct ts_parser *p);
void gb_ts_block(struct ts_parser *p);
/* Parse ';' or an implied one. Returns false if only the end of the line ends the statement. */
bool gb_ts_semicolon(struct ts_parser *p);
void gb_ts_variables(struct ts_parser *p, uint8_t kind);

/* --- declaration.c --- */

/* Whether a declaration begins here, and not an expression that begins with the same word. */
bool gb_ts_at_declaration(struct ts_parser *p);
/* @start is the position of its "export", if any. */
void gb_ts_declaration(struct ts_parser *p, uint32_t start, bool exported);
bool gb_ts_at_using(struct ts_parser *p);
bool gb_ts_at_let(struct ts_parser *p);
/* Declare the function or class that was just parsed; @exported: by "export", perhaps from a namespace. */
void gb_ts_declare_function_or_class(struct ts_parser *p, struct ts_name name, bool exported);

/* --- class.c --- */

/* At "class"; its name is declared if it is a statement. */
void gb_ts_class(struct ts_parser *p, bool statement, bool exported);

/* --- enum.c, namespace.c --- */

/* At "enum"; @keyword is the position of "enum" or of the "const" before it. */
void gb_ts_enum(struct ts_parser *p, uint32_t start, uint32_t keyword, bool exported);
void gb_ts_namespace(struct ts_parser *p, uint32_t start, bool exported);
/* let, const or var exported from a namespace; at the keyword. */
void gb_ts_exported_variables(struct ts_parser *p, uint32_t start);
/* Declare a container and open its scope. Returns its index. The caller saves and restores p->in. */
uint32_t gb_ts_open_container(struct ts_parser *p, struct ts_container container);

/* --- import.c, export.c --- */

void gb_ts_import(struct ts_parser *p, uint32_t start, bool exported);
void gb_ts_export(struct ts_parser *p);
/* import(...), at its '('. */
void gb_ts_dynamic_import(struct ts_parser *p);
/* "with { ... }", if present. */
void gb_ts_import_attributes(struct ts_parser *p);
/* At the module specifier: record the import and go past it. Returns its index. */
uint32_t gb_ts_module_specifier(struct ts_parser *p, enum gb_ts_import_kind kind, uint32_t first_name);

/* One item between the braces of an import or export: a, type a, a as b, "a" as b. */
struct ts_specifier {
	struct ts_token imported, local;
	uint32_t start, end; /* its comma included */
	bool is_type;
};
struct ts_specifier gb_ts_specifier(struct ts_parser *p);

/* --- session.c --- */

/* Parse all statements, with the edits that a session needs. */
void gb_ts_session_statements(struct ts_parser *p);
/* The same for a module whose last expression is its value. Returns whether it has one. */
bool gb_ts_program_statements(struct ts_parser *p);
/* Drop all edits except those of session.c. */
void gb_ts_keep_session_edits(struct ts_parser *p);

/* --- link.c --- */

/* After parsing: decide which imports and exports stay, and resolve names in namespaces and enums. */
void gb_ts_link(struct ts_parser *p);

/* --- table.c --- */

/* Declarations by scope and name. */
struct ts_table;
/* A name and its hash. Computed on lookup: few names are looked up. */
struct ts_key {
	struct ts_name name;
	uint32_t hash;
};
struct ts_key gb_ts_key(const struct ts_parser *p, struct ts_name name);
struct ts_table *gb_ts_table_create(struct ts_parser *p);
void gb_ts_table_destroy(struct ts_table *table);
/* Filters: false for most names that are not in the table. The second is faster and less precise. */
bool gb_ts_table_may_have(const struct ts_table *table, struct ts_key key);
bool gb_ts_table_may_have_text(const struct ts_table *table, const char *name, uint32_t length);
/* The first declaration of @key in @scope whose kind is in @kinds (a bit set), or NULL. */
const struct ts_decl *gb_ts_table_find(
    struct ts_parser *p, const struct ts_table *table, uint32_t scope, struct ts_key key, unsigned kinds);
/* The same among the exports of all blocks of a container. */
const struct ts_decl *gb_ts_table_find_exported(
    struct ts_parser *p, const struct ts_table *table, uint32_t container, struct ts_key key);

/* --- emit.c --- */

/* Choose the names that gb_ts_inner_name returns. */
void gb_ts_name_containers(struct ts_parser *p);
/* The name of a container inside its own block, written to @room. */
enum { TS_INNER_MAX = 300 };
const char *gb_ts_inner_name(const struct ts_parser *p, uint32_t container, char room[TS_INNER_MAX]);
void gb_ts_emit_containers(struct ts_parser *p, const struct ts_table *table);

#endif
