/*
 * The scanner: tokens of TypeScript, on demand.
 *
 * It has no context: '/' is always an operator, '>' is always a token of its own, and a template is only its
 * first backtick. Where the context requires another token, the parser calls gb_ts_rescan_*.
 */
#ifndef GB_TS_TOKEN_H
#define GB_TS_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

/* A punctuator of one character is its own kind. */
enum ts_kind {
	T_END = 0,
	T_NAME = 128, /* a word: see ts_word */
	T_NUMBER,
	T_STRING,
	T_PRIVATE,     /* #name */
	T_ARROW,       /* => */
	T_DOTS,        /* ... */
	T_OPTIONAL,    /* ?. */
	T_NULLISH,     /* ?? */
	T_AND,         /* && */
	T_OR,          /* || */
	T_PLUS_PLUS,   /* ++ */
	T_MINUS_MINUS, /* -- */
	T_EQUAL,       /* == === */
	T_UNEQUAL,     /* != !== */
	T_LESS_EQUAL,
	T_GREATER_EQUAL,
	T_SHIFT_LEFT,
	T_SHIFT_RIGHT,
	T_SHIFT_RIGHT_ZERO,
	T_POWER,
	T_ASSIGN, /* += and similar; a plain = is its own kind */
};

/* All keywords, each with the first, second and last letter, from which its place in the hash table is
 * computed. Order: reserved words, words reserved in strict mode, contextual keywords, names of types. */
#define TS_WORDS(X)                                                                                          \
	X(BREAK, "break", 'b', 'r', 'k')                                                                     \
	X(CASE, "case", 'c', 'a', 'e')                                                                       \
	X(CATCH, "catch", 'c', 'a', 'h')                                                                     \
	X(CLASS, "class", 'c', 'l', 's')                                                                     \
	X(CONST, "const", 'c', 'o', 't')                                                                     \
	X(CONTINUE, "continue", 'c', 'o', 'e')                                                               \
	X(DEBUGGER, "debugger", 'd', 'e', 'r')                                                               \
	X(DEFAULT, "default", 'd', 'e', 't')                                                                 \
	X(DELETE, "delete", 'd', 'e', 'e')                                                                   \
	X(DO, "do", 'd', 'o', 'o')                                                                           \
	X(ELSE, "else", 'e', 'l', 'e')                                                                       \
	X(ENUM, "enum", 'e', 'n', 'm')                                                                       \
	X(EXPORT, "export", 'e', 'x', 't')                                                                   \
	X(EXTENDS, "extends", 'e', 'x', 's')                                                                 \
	X(FALSE, "false", 'f', 'a', 'e')                                                                     \
	X(FINALLY, "finally", 'f', 'i', 'y')                                                                 \
	X(FOR, "for", 'f', 'o', 'r')                                                                         \
	X(FUNCTION, "function", 'f', 'u', 'n')                                                               \
	X(IF, "if", 'i', 'f', 'f')                                                                           \
	X(IMPORT, "import", 'i', 'm', 't')                                                                   \
	X(IN, "in", 'i', 'n', 'n')                                                                           \
	X(INSTANCEOF, "instanceof", 'i', 'n', 'f')                                                           \
	X(NEW, "new", 'n', 'e', 'w')                                                                         \
	X(NULL, "null", 'n', 'u', 'l')                                                                       \
	X(RETURN, "return", 'r', 'e', 'n')                                                                   \
	X(SUPER, "super", 's', 'u', 'r')                                                                     \
	X(SWITCH, "switch", 's', 'w', 'h')                                                                   \
	X(THIS, "this", 't', 'h', 's')                                                                       \
	X(THROW, "throw", 't', 'h', 'w')                                                                     \
	X(TRUE, "true", 't', 'r', 'e')                                                                       \
	X(TRY, "try", 't', 'r', 'y')                                                                         \
	X(TYPEOF, "typeof", 't', 'y', 'f')                                                                   \
	X(VAR, "var", 'v', 'a', 'r')                                                                         \
	X(VOID, "void", 'v', 'o', 'd')                                                                       \
	X(WHILE, "while", 'w', 'h', 'e')                                                                     \
	X(WITH, "with", 'w', 'i', 'h')                                                                       \
	X(IMPLEMENTS, "implements", 'i', 'm', 's')                                                           \
	X(INTERFACE, "interface", 'i', 'n', 'e')                                                             \
	X(LET, "let", 'l', 'e', 't')                                                                         \
	X(PACKAGE, "package", 'p', 'a', 'e')                                                                 \
	X(PRIVATE, "private", 'p', 'r', 'e')                                                                 \
	X(PROTECTED, "protected", 'p', 'r', 'd')                                                             \
	X(PUBLIC, "public", 'p', 'u', 'c')                                                                   \
	X(STATIC, "static", 's', 't', 'c')                                                                   \
	X(YIELD, "yield", 'y', 'i', 'd')                                                                     \
	X(ABSTRACT, "abstract", 'a', 'b', 't')                                                               \
	X(ACCESSOR, "accessor", 'a', 'c', 'r')                                                               \
	X(AS, "as", 'a', 's', 's')                                                                           \
	X(ASSERT, "assert", 'a', 's', 't')                                                                   \
	X(ASSERTS, "asserts", 'a', 's', 's')                                                                 \
	X(ASYNC, "async", 'a', 's', 'c')                                                                     \
	X(AWAIT, "await", 'a', 'w', 't')                                                                     \
	X(CONSTRUCTOR, "constructor", 'c', 'o', 'r')                                                         \
	X(DECLARE, "declare", 'd', 'e', 'e')                                                                 \
	X(DEFER, "defer", 'd', 'e', 'r')                                                                     \
	X(FROM, "from", 'f', 'r', 'm')                                                                       \
	X(GET, "get", 'g', 'e', 't')                                                                         \
	X(GLOBAL, "global", 'g', 'l', 'l')                                                                   \
	X(INFER, "infer", 'i', 'n', 'r')                                                                     \
	X(IS, "is", 'i', 's', 's')                                                                           \
	X(KEYOF, "keyof", 'k', 'e', 'f')                                                                     \
	X(MODULE, "module", 'm', 'o', 'e')                                                                   \
	X(NAMESPACE, "namespace", 'n', 'a', 'e')                                                             \
	X(OF, "of", 'o', 'f', 'f')                                                                           \
	X(OUT, "out", 'o', 'u', 't')                                                                         \
	X(OVERRIDE, "override", 'o', 'v', 'e')                                                               \
	X(READONLY, "readonly", 'r', 'e', 'y')                                                               \
	X(REQUIRE, "require", 'r', 'e', 'e')                                                                 \
	X(SATISFIES, "satisfies", 's', 'a', 's')                                                             \
	X(SET, "set", 's', 'e', 't')                                                                         \
	X(SOURCE, "source", 's', 'o', 'e')                                                                   \
	X(TYPE, "type", 't', 'y', 'e')                                                                       \
	X(UNIQUE, "unique", 'u', 'n', 'e')                                                                   \
	X(USING, "using", 'u', 's', 'g')                                                                     \
	X(ANY, "any", 'a', 'n', 'y')                                                                         \
	X(BIGINT, "bigint", 'b', 'i', 't')                                                                   \
	X(BOOLEAN, "boolean", 'b', 'o', 'n')                                                                 \
	X(NEVER, "never", 'n', 'e', 'r')                                                                     \
	X(NUMBER, "number", 'n', 'u', 'r')                                                                   \
	X(OBJECT, "object", 'o', 'b', 't')                                                                   \
	X(STRING, "string", 's', 't', 'g')                                                                   \
	X(SYMBOL, "symbol", 's', 'y', 'l')                                                                   \
	X(UNDEFINED, "undefined", 'u', 'n', 'd')                                                             \
	X(UNKNOWN, "unknown", 'u', 'n', 'n')

enum ts_word {
	W_NONE = 0,
#define X(id, text, first, second, last) W_##id,
	TS_WORDS(X)
#undef X
	    W_COUNT,
	W_LAST_RESERVED = W_WITH,
	W_LAST_STRICT = W_YIELD,
	W_FIRST_TYPE = W_ANY,
};

struct ts_token {
	uint32_t start, end; /* offsets into the source */
	uint8_t kind;        /* ts_kind, or a punctuator */
	uint8_t word;        /* ts_word, for a T_NAME without escapes */
	bool newline;        /* a line terminator precedes it */
};

/* Words that may be identifiers. */
static inline bool is_identifier(const struct ts_token *token) {
	return token->kind == T_NAME && (token->word == W_NONE || token->word > W_LAST_RESERVED);
}

struct ts_parser;

/* Advance to the next token. At the end, and after a failure, it stays T_END. */
void gb_ts_next(struct ts_parser *p);
/* Returns the token after the current one, without advancing. */
struct ts_token gb_ts_peek(struct ts_parser *p);

/* Extend '>' to the longest operator that begins with it. */
void gb_ts_rescan_greater(struct ts_parser *p);
/* Reduce "<<", "<=" or "<<=" to its first '<'. Another T_ASSIGN does not change. */
void gb_ts_split_less(struct ts_parser *p);
/* Rescan '/' or "/=" as a regular expression. */
void gb_ts_rescan_regexp(struct ts_parser *p);
/* Skip the text of a template from @from up to "${" or its end, and scan the token after it. Returns whether
 * an expression follows. */
bool gb_ts_template_text(struct ts_parser *p, uint32_t from);

/* The length in bytes of the line terminator at @at; 0 if there is none. */
static inline unsigned gb_ts_line_end(const char *at) {
	const uint8_t *c = (const uint8_t *)at;
	if (c[0] == '\n')
		return 1;
	if (c[0] == '\r')
		return c[1] == '\n' ? 2 : 1;
	/* U+2028 and U+2029 */
	return c[0] == 0xe2 && c[1] == 0x80 && (c[2] & 0xfe) == 0xa8 ? 3 : 0;
}

#endif
