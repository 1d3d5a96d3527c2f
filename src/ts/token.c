#include <string.h>

#include "base/cleanup.h"
#include "ts/parser.h"
#include "ts/span.h"

/* Not inlined, so that the code that runs for every token stays small: each run loads it into cold caches. */
#define RARE __attribute__((noinline))

/* --- words --- */

#define WORD_HASH(first, second, last, n) (((first)*42u + (second)*25u + (last) + (n)*7u) & 511u)

/* Padded to 16 bytes, for span_load. */
static const struct word {
	char text[15];
	uint8_t length;
} words[W_COUNT] = {{"", 0},
#define X(id, text, first, second, last) {text, sizeof(text) - 1},
    TS_WORDS(X)
#undef X
};

/* A hash collision is an error at compile time: the compiler warns about a duplicate initializer. */
static const uint8_t word_by_hash[512] = {
#define X(id, text, first, second, last) [WORD_HASH(first, second, last, sizeof(text) - 1)] = W_##id,
    TS_WORDS(X)
#undef X
};

/* The only keyword that text[0..n) can be, n > 0. */
static inline uint8_t word_candidate(const char *text, uint32_t n) {
	const uint8_t *c = (const uint8_t *)text;
	return word_by_hash[WORD_HASH(c[0], c[1], c[n - 1], n)];
}

static inline uint8_t find_word(const char *text, uint32_t n) {
	uint8_t word = word_candidate(text, n);
	return words[word].length == n && memcmp(words[word].text, text, n) == 0 ? word : W_NONE;
}

/* --- characters --- */

/* From C_SLASH on, the character may belong to the gap between tokens. */
enum { C_BAD, C_NAME, C_DIGIT, C_BACKSLASH, C_QUOTE, C_PUNCTUATOR, C_SLASH, C_SPACE, C_LINE, C_HASH, C_HIGH };

static const uint8_t classes[256] = {
    ['a' ... 'z'] = C_NAME,
    ['A' ... 'Z'] = C_NAME,
    ['_'] = C_NAME,
    ['$'] = C_NAME,
    ['\\'] = C_BACKSLASH,
    ['0' ... '9'] = C_DIGIT,
    [' '] = C_SPACE,
    ['\t'] = C_SPACE,
    ['\v'] = C_SPACE,
    ['\f'] = C_SPACE,
    ['\n'] = C_LINE,
    ['\r'] = C_LINE,
    ['"'] = C_QUOTE,
    ['\''] = C_QUOTE,
    ['('] = C_PUNCTUATOR,
    [')'] = C_PUNCTUATOR,
    ['['] = C_PUNCTUATOR,
    [']'] = C_PUNCTUATOR,
    ['{'] = C_PUNCTUATOR,
    ['}'] = C_PUNCTUATOR,
    [';'] = C_PUNCTUATOR,
    [','] = C_PUNCTUATOR,
    [':'] = C_PUNCTUATOR,
    ['~'] = C_PUNCTUATOR,
    ['@'] = C_PUNCTUATOR,
    ['`'] = C_PUNCTUATOR,
    ['>'] = C_PUNCTUATOR,
    ['.'] = C_PUNCTUATOR,
    ['?'] = C_PUNCTUATOR,
    ['='] = C_PUNCTUATOR,
    ['!'] = C_PUNCTUATOR,
    ['<'] = C_PUNCTUATOR,
    ['&'] = C_PUNCTUATOR,
    ['|'] = C_PUNCTUATOR,
    ['+'] = C_PUNCTUATOR,
    ['-'] = C_PUNCTUATOR,
    ['*'] = C_PUNCTUATOR,
    ['/'] = C_SLASH,
    ['%'] = C_PUNCTUATOR,
    ['^'] = C_PUNCTUATOR,
    ['#'] = C_HASH,
    [0x80 ... 0xff] = C_HIGH,
};

static inline uint8_t class_of(char c) {
	return classes[(uint8_t)c];
}

/* ASCII characters of names, in a separate table for the loop over them. */
static const bool in_name[256] = {
    ['a' ... 'z'] = true,
    ['A' ... 'Z'] = true,
    ['0' ... '9'] = true,
    ['_'] = true,
    ['$'] = true,
};

static inline bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

/* The length in bytes of the non-ASCII space at @at; 0 if there is none. */
static unsigned wide_space(const char *at) {
	const uint8_t *c = (const uint8_t *)at;
	switch (c[0]) {
	case 0xc2:
		return c[1] == 0xa0 || c[1] == 0x85 ? 2 : 0;
	case 0xe1:
		return c[1] == 0x9a && c[2] == 0x80 ? 3 : 0;
	case 0xe2:
		return (c[1] == 0x80 && ((c[2] >= 0x80 && c[2] <= 0x8b) || c[2] == 0xaf)) ||
			       (c[1] == 0x81 && c[2] == 0x9f)
			   ? 3
			   : 0;
	case 0xe3:
		return c[1] == 0x80 && c[2] == 0x80 ? 3 : 0;
	case 0xef:
		return c[1] == 0xbb && c[2] == 0xbf ? 3 : 0;
	default:
		return 0;
	}
}

/* --- gaps between tokens --- */

/* The end of the first line of s[from..to). */
static uint32_t find_line_end(const char *s, uint32_t from, uint32_t to) {
	for (;; from++) {
		from = span_find(s, from, to, '\n', '\r', '\xe2', '\n');
		if (from >= to || gb_ts_line_end(s + from))
			return from;
	}
}

/* The spaces and comments before a token. */
struct gap {
	uint32_t end;
	bool newline; /* it contains a line terminator */
};

static struct gap skip_comment(struct ts_parser *p, struct gap gap) {
	uint32_t from = gap.end, end = span_find_pair(p->source, from + 2, p->size, '*', '/');
	if (end == p->size) {
		p->is_open = true;
		gb_ts_fail(p, from, "unterminated comment");
		return (struct gap){end, gap.newline};
	}
	return (struct gap){end + 2, gap.newline || find_line_end(p->source, from, end) < end};
}

/* Skip spaces and '\n', which are nearly all of the gaps. */
static inline struct gap skip_plain(const struct ts_parser *p, struct gap gap) {
	const char *s = p->source;
#ifdef __SSE2__
	while (gap.end + SPAN <= p->size) {
		__m128i bytes = span_load(s + gap.end), lines = span_is(bytes, '\n');
		unsigned n = span_first(span_bits(_mm_or_si128(lines, span_is(bytes, ' '))));
		gap.end += n;
		gap.newline |= (span_bits(lines) & ((1u << n) - 1)) != 0;
		if (n < SPAN)
			return gap;
	}
#endif
	for (; s[gap.end] == ' ' || s[gap.end] == '\n'; gap.end++)
		gap.newline |= s[gap.end] == '\n';
	return gap;
}

/* Skip all of a gap, comments included. */
static RARE struct gap skip_gap(struct ts_parser *p, struct gap gap) {
	const char *s = p->source;
	for (;;) {
		gap = skip_plain(p, gap);
		uint32_t at = gap.end;
		unsigned n;
		if (class_of(s[at]) < C_SLASH)
			return gap;
		switch (class_of(s[at])) {
		case C_LINE:
			gap.newline = true;
			/* fallthrough */
		case C_SPACE:
			gap.end++;
			continue;
		case C_HIGH:
			n = gb_ts_line_end(s + at);
			gap.newline |= n > 0;
			if (!n)
				n = wide_space(s + at);
			if (!n)
				return gap;
			gap.end += n;
			continue;
		case C_SLASH:
			if (s[at + 1] == '/')
				gap.end = find_line_end(s, at + 2, p->size);
			else if (s[at + 1] == '*')
				gap = skip_comment(p, gap);
			else
				return gap;
			continue;
		case C_HASH:
			if (at != 0 || s[1] != '!')
				return gap;
			gap.end = find_line_end(s, at, p->size);
			continue;
		default:
			return gap;
		}
	}
}

/* --- tokens --- */

/* Skip "u0061" or "u{61}", after a backslash. */
static uint32_t skip_escape(struct ts_parser *p, uint32_t at) {
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *s = p->source;
	bool braces = s[at] == 'u' && s[at + 1] == '{';
	size_t n = s[at] == 'u' ? strspn(s + at + 1 + braces, digits) : 0;
	if (n == 0 || (braces ? s[at + 2 + n] != '}' : n < 4)) {
		gb_ts_fail(p, at - 1, "invalid escape in a name");
		return p->size;
	}
	return at + (braces ? 3 + (uint32_t)n : 5);
}

/* Skip a name whose first character is at @at. */
static uint32_t skip_name(struct ts_parser *p, uint32_t at) {
	const char *s = p->source;
	for (;;) {
		switch (class_of(s[at])) {
		case C_NAME:
		case C_DIGIT:
			at++;
			continue;
		case C_HIGH:
			if (gb_ts_line_end(s + at) || wide_space(s + at))
				return at;
			for (at++; ((uint8_t)s[at] & 0xc0) == 0x80; at++)
				;
			continue;
		case C_BACKSLASH:
			p->escaped_names = true;
			at = skip_escape(p, at + 1);
			if (p->failed)
				return at;
			continue;
		default:
			return at;
		}
	}
}

struct scanned {
	uint32_t end;
	uint8_t kind, word;
};

static inline bool is_escape_or_non_ascii(char c) {
	return (uint8_t)c >= 0x80 || c == '\\';
}

/* Scan a whole name. A name with an escape or a non-ASCII character is never a keyword. */
static RARE struct scanned scan_name(struct ts_parser *p, uint32_t start) {
	const char *s = p->source;
	uint32_t plain = start;
	while (in_name[(uint8_t)s[plain]])
		plain++;
	uint32_t end = is_escape_or_non_ascii(s[plain]) ? skip_name(p, plain) : plain;
	uint8_t word = end == plain && end > start ? find_word(s + start, end - start) : W_NONE;
	return (struct scanned){end, T_NAME, word};
}

static uint32_t skip_digits(const char *s, uint32_t at) {
	while (is_digit(s[at]) || s[at] == '_')
		at++;
	return at;
}

static uint32_t skip_number(const char *s, uint32_t at) {
	if (s[at] == '0' && s[at + 1] && strchr("xXoObB", s[at + 1])) {
		for (at += 2; in_name[(uint8_t)s[at]];)
			at++;
		return at;
	}
	at = skip_digits(s, at);
	if (s[at] == '.')
		at = skip_digits(s, at + 1);
	if (s[at] == 'e' || s[at] == 'E') {
		uint32_t digits = at + 1 + (s[at + 1] == '+' || s[at + 1] == '-');
		if (is_digit(s[digits]))
			at = skip_digits(s, digits);
	}
	return at + (s[at] == 'n');
}

static uint32_t skip_string(struct ts_parser *p, uint32_t from) {
	const char *s = p->source;
	uint32_t at = span_find(s, from + 1, p->size, s[from], '\\', '\n', '\r');
	while (at < p->size && s[at] == '\\') {
		at += s[at + 1] == '\r' && s[at + 2] == '\n' ? 3 : 2;
		at = span_find(s, at, p->size, s[from], '\\', '\n', '\r');
	}
	if (at >= p->size || s[at] != s[from]) {
		gb_ts_fail(p, from, "unterminated string");
		return p->size;
	}
	return at + 1;
}

static uint32_t skip_private(struct ts_parser *p, uint32_t at) {
	uint8_t class = class_of(p->source[at + 1]);
	if (class != C_NAME && class != C_HIGH && class != C_BACKSLASH) {
		gb_ts_fail(p, at, "unexpected '#'");
		return p->size;
	}
	return skip_name(p, at + 1);
}

/* Operators of two characters, by hash. A collision is an error at compile time, as above. */
#define PAIR(first, second) (((first)*5u + (second)*5u) >> 2 & 63u)
static const struct pair {
	char text[2];
	uint8_t kind;
	uint8_t with_equal; /* the kind with a '=' appended, or 0 */
} pairs[64] = {
#define X(first, second, ...) [PAIR(first, second)] = {{first, second}, __VA_ARGS__},
    X('?', '.', T_OPTIONAL, 0)          //
    X('?', '?', T_NULLISH, T_ASSIGN)    //
    X('=', '>', T_ARROW, 0)             //
    X('=', '=', T_EQUAL, T_EQUAL)       //
    X('!', '=', T_UNEQUAL, T_UNEQUAL)   //
    X('<', '<', T_SHIFT_LEFT, T_ASSIGN) //
    X('<', '=', T_LESS_EQUAL, 0)        //
    X('&', '&', T_AND, T_ASSIGN)        //
    X('&', '=', T_ASSIGN, 0)            //
    X('|', '|', T_OR, T_ASSIGN)         //
    X('|', '=', T_ASSIGN, 0)            //
    X('+', '+', T_PLUS_PLUS, 0)         //
    X('+', '=', T_ASSIGN, 0)            //
    X('-', '-', T_MINUS_MINUS, 0)       //
    X('-', '=', T_ASSIGN, 0)            //
    X('*', '*', T_POWER, T_ASSIGN)      //
    X('*', '=', T_ASSIGN, 0)            //
    X('/', '=', T_ASSIGN, 0)            //
    X('%', '=', T_ASSIGN, 0)            //
    X('^', '=', T_ASSIGN, 0)            //
#undef X
};

/* Whether the punctuator s[at] is not the start of a longer one. */
static inline bool is_single(const char *s, uint32_t at) {
	const struct pair *pair = &pairs[PAIR((uint8_t)s[at], (uint8_t)s[at + 1])];
	bool paired = (pair->text[0] == s[at]) & (pair->text[1] == s[at + 1]);
	return !(paired | ((s[at] == '.') & (class_of(s[at + 1]) != C_NAME)));
}

static struct scanned scan_operator(const char *s, uint32_t at) {
	char first = s[at], second = s[at + 1];
	const struct pair *pair = &pairs[PAIR((uint8_t)first, (uint8_t)second)];
	if (pair->text[0] != first || pair->text[1] != second) {
		bool dots = first == '.' && second == '.' && s[at + 2] == '.';
		return (struct scanned){at + (dots ? 3 : 1), dots ? T_DOTS : (uint8_t)first, W_NONE};
	}
	/* a?.5:1 */
	if (pair->kind == T_OPTIONAL && is_digit(s[at + 2]))
		return (struct scanned){at + 1, '?', W_NONE};
	if (s[at + 2] == '=' && pair->with_equal)
		return (struct scanned){at + 3, pair->with_equal, W_NONE};
	return (struct scanned){at + 2, pair->kind, W_NONE};
}

static struct scanned scan(struct ts_parser *p, uint32_t at) {
	const char *s = p->source;
	switch (class_of(s[at])) {
	case C_NAME:
	case C_HIGH:
	case C_BACKSLASH:
		return scan_name(p, at);
	case C_DIGIT:
		return (struct scanned){skip_number(s, at), T_NUMBER, W_NONE};
	case C_QUOTE:
		return (struct scanned){skip_string(p, at), T_STRING, W_NONE};
	case C_HASH:
		return (struct scanned){skip_private(p, at), T_PRIVATE, W_NONE};
	case C_SLASH:
	case C_PUNCTUATOR:
		if (s[at] == '.' && is_digit(s[at + 1]))
			return (struct scanned){skip_number(s, at), T_NUMBER, W_NONE};
		return scan_operator(s, at);
	default:
		if (at < p->size)
			gb_ts_fail(p, at, "unexpected character");
		return (struct scanned){p->size, T_END, W_NONE};
	}
}

/* Charge the budget for a token, including its gap from @from. The cost is in bytes, not tokens: a comment
 * between two tokens is scanned again with each rescan. */
static inline void spend(struct ts_parser *p, uint32_t from, uint32_t start, uint32_t end) {
	if (__builtin_expect((p->budget -= (int64_t)(end - from) + 4) >= 0, 1))
		return;
	p->exhausted = true;
	gb_ts_fail(p, start, "too ambiguous: parsing this exceeds the work limit");
}

/* Fast path for the two most common kinds: a short name, or a punctuator of one character. The token begins
 * at @at, after a gap that began at @from. */
static inline bool scan_plain(
    struct ts_parser *p, uint32_t from, uint32_t at, bool newline, struct ts_token *to) {
	const char *s = p->source;
	if (class_of(s[at]) == C_PUNCTUATOR && is_single(s, at)) {
		*to = (struct ts_token){at, at + 1, (uint8_t)s[at], W_NONE, newline};
		spend(p, from, at, at + 1);
		return true;
	}
#ifdef __SSE2__
	if (class_of(s[at]) != C_NAME || at + SPAN > p->size)
		return false;
	__m128i bytes = span_load(s + at);
	unsigned n = span_first(span_bits(span_in_name(bytes)));
	if (n == SPAN || is_escape_or_non_ascii(s[at + n]))
		return false;
	uint8_t word = word_candidate(s + at, n);
	*to = (struct ts_token){at, at + n, T_NAME, W_NONE, newline};
	if (word != W_NONE) {
		unsigned same = span_bits(_mm_cmpeq_epi8(bytes, span_load(&words[word])));
		if (((~same & ((1u << n) - 1)) | (words[word].length ^ n)) == 0)
			to->word = word;
	}
	spend(p, from, at, at + n);
	return true;
#else
	return false;
#endif
}

/* All other tokens; the character at @at may still belong to the gap. */
static RARE void scan_other(struct ts_parser *p, uint32_t from, uint32_t at, struct ts_token *to) {
	struct gap gap = {at, false};
	if (class_of(p->source[at]) >= C_SLASH) {
		gap = skip_gap(p, gap);
		if (scan_plain(p, from, gap.end, gap.newline, to))
			return;
	}
	struct scanned scanned = scan(p, gap.end);
	if (scanned.end > p->size)
		gb_ts_fail(p, gap.end, "unexpected end of the text");
	if (p->failed)
		return;
	*to = (struct ts_token){gap.end, scanned.end, scanned.kind, scanned.word, gap.newline};
	if (gap.end < p->size)
		spend(p, from, gap.end, scanned.end);
}

/* The asm keeps this a branch, which is predicted; the compiler would make it an addition that has to wait
 * for the load. */
static inline uint32_t skip_one_space(const char *s, uint32_t at) {
	if (s[at] == ' ') {
		at++;
		__asm__ volatile("" : "+r"(at));
	}
	return at;
}

/* Scan the token after @from into @to. */
static inline void scan_from(struct ts_parser *p, uint32_t from, struct ts_token *to) {
	uint32_t at = skip_one_space(p->source, from);
	if (!scan_plain(p, from, at, false, to))
		scan_other(p, from, at, to);
}

void gb_ts_next(struct ts_parser *p) {
	uint32_t from = p->token.end;
	if (p->failed)
		return;
	p->previous_end = from;
	/* The token depends only on where its gap begins, so a cached one is valid. */
	if (p->ahead_from == from)
		p->token = p->ahead;
	else
		scan_from(p, from, &p->token);
}

struct ts_token gb_ts_peek(struct ts_parser *p) {
	uint32_t from = p->token.end;
	if (p->failed)
		return p->token;
	if (p->ahead_from == from)
		return p->ahead;
	/* If scanning fails, p->ahead is not valid. */
	p->ahead_from = TS_NONE;
	scan_from(p, from, &p->ahead);
	if (p->failed)
		return p->token;
	p->ahead_from = from;
	return p->ahead;
}

static bool starts_with(const char *at, const char *text) {
	while (*text && *at == *text)
		at++, text++;
	return !*text;
}

void gb_ts_rescan_greater(struct ts_parser *p) {
	static const struct {
		char text[5];
		uint8_t kind;
	} longer[] = {
	    {">>>=", T_ASSIGN},
	    {">>>", T_SHIFT_RIGHT_ZERO},
	    {">>=", T_ASSIGN},
	    {">>", T_SHIFT_RIGHT},
	    {">=", T_GREATER_EQUAL},
	};
	if (p->token.kind != '>')
		return;
	for (size_t i = 0; i < GB_COUNT(longer); i++)
		if (starts_with(p->source + p->token.start, longer[i].text)) {
			p->token.kind = longer[i].kind;
			p->token.end = p->token.start + (uint32_t)strlen(longer[i].text);
			return;
		}
}

void gb_ts_split_less(struct ts_parser *p) {
	if (p->source[p->token.start] != '<')
		return;
	p->token.kind = '<';
	p->token.end = p->token.start + 1;
}

void gb_ts_rescan_regexp(struct ts_parser *p) {
	const char *s = p->source;
	uint32_t at = p->token.start + 1;
	bool in_class = false;
	for (; at < p->size && (s[at] != '/' || in_class); at++) {
		if (gb_ts_line_end(s + at))
			break;
		if (s[at] == '\\' && !gb_ts_line_end(s + at + 1))
			at++;
		else if (s[at] == '[')
			in_class = true;
		else if (s[at] == ']')
			in_class = false;
	}
	if (at >= p->size || s[at] != '/') {
		gb_ts_fail(p, p->token.start, "unterminated regular expression");
		return;
	}
	p->token.end = skip_name(p, at + 1);
}

bool gb_ts_template_text(struct ts_parser *p, uint32_t from) {
	const char *s = p->source;
	uint32_t at = from;
	if (p->failed)
		return false;
	for (; at < p->size; at++) {
		at = span_find(s, at, p->size, '`', '$', '\\', '`');
		if (at >= p->size || s[at] == '`' || (s[at] == '$' && s[at + 1] == '{'))
			break;
		at += s[at] == '\\';
	}
	if (at >= p->size) {
		p->is_open = true;
		gb_ts_fail(p, from - 1, "unterminated template");
		return false;
	}
	bool expression = s[at] == '$';
	p->budget -= at - from;
	p->token.end = at + (expression ? 2 : 1);
	gb_ts_next(p);
	return expression;
}
