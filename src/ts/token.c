#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/cleanup.h"
#include "ts/parser.h"

/* --- words --- */

#define WORD_HASH(first, second, last, n) (((first)*42u + (second)*25u + (last) + (n)*7u) & 511u)

static const char *const word_text[W_COUNT] = {"",
#define X(id, text, first, second, last) text,
    TS_WORDS(X)
#undef X
};

/* Two words in one place would be a warning, and so an error, of the compiler. */
static const uint8_t word_by_hash[512] = {
#define X(id, text, first, second, last) [WORD_HASH(first, second, last, sizeof(text) - 1)] = W_##id,
    TS_WORDS(X)
#undef X
};

static const uint8_t word_length[W_COUNT] = {0,
#define X(id, text, first, second, last) sizeof(text) - 1,
    TS_WORDS(X)
#undef X
};

static inline uint8_t find_word(const char *text, uint32_t n) {
	enum { SHORTEST = 2, LONGEST = 11 };
	if (n < SHORTEST || n > LONGEST)
		return W_NONE;
	const uint8_t *c = (const uint8_t *)text;
	uint8_t word = word_by_hash[WORD_HASH(c[0], c[1], c[n - 1], n)];
	return word_length[word] == n && memcmp(word_text[word], text, n) == 0 ? word : W_NONE;
}

/* --- characters --- */

/* From C_SLASH on, a token need not begin here. */
enum {
	C_BAD,
	C_NAME,
	C_DIGIT,
	C_BACKSLASH,
	C_QUOTE,
	C_SINGLE,
	C_OPERATOR,
	C_SLASH,
	C_SPACE,
	C_LINE,
	C_HASH,
	C_HIGH
};

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
    ['('] = C_SINGLE,
    [')'] = C_SINGLE,
    ['['] = C_SINGLE,
    [']'] = C_SINGLE,
    ['{'] = C_SINGLE,
    ['}'] = C_SINGLE,
    [';'] = C_SINGLE,
    [','] = C_SINGLE,
    [':'] = C_SINGLE,
    ['~'] = C_SINGLE,
    ['@'] = C_SINGLE,
    ['`'] = C_SINGLE,
    ['>'] = C_SINGLE,
    ['.'] = C_OPERATOR,
    ['?'] = C_OPERATOR,
    ['='] = C_OPERATOR,
    ['!'] = C_OPERATOR,
    ['<'] = C_OPERATOR,
    ['&'] = C_OPERATOR,
    ['|'] = C_OPERATOR,
    ['+'] = C_OPERATOR,
    ['-'] = C_OPERATOR,
    ['*'] = C_OPERATOR,
    ['/'] = C_SLASH,
    ['%'] = C_OPERATOR,
    ['^'] = C_OPERATOR,
    ['#'] = C_HASH,
    [0x80 ... 0xff] = C_HIGH,
};

static inline uint8_t class_of(char c) {
	return classes[(uint8_t)c];
}

/* Plain characters of names, in a table of their own for the loop over them. */
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

/* How many bytes the space beyond ASCII at @at has; 0 if there is none. */
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

/* --- what stands between tokens --- */

/* Where the first line of s[from..to) ends. memchr does many bytes at once, and comments are much of a file.
 */
static uint32_t find_line_end(const char *s, uint32_t from, uint32_t to) {
	const char *newline = memchr(s + from, '\n', to - from);
	uint32_t end = newline ? (uint32_t)(newline - s) : to;
	const char *other = memchr(s + from, '\r', end - from);
	if (other)
		end = (uint32_t)(other - s);
	while (from < end && (other = memchr(s + from, 0xe2, end - from))) {
		if (gb_ts_line_end(other))
			return (uint32_t)(other - s);
		from = (uint32_t)(other - s) + 1;
	}
	return end;
}

static uint32_t skip_comment(struct ts_parser *p, uint32_t from) {
	const char *s = p->source;
	uint32_t at = from + 2;
	for (const char *slash; (slash = memchr(s + at, '/', p->size - at)); at = (uint32_t)(slash - s) + 1) {
		uint32_t end = (uint32_t)(slash - s);
		if (s[end - 1] != '*' || end < from + 3)
			continue;
		p->token.newline |= find_line_end(s, from, end) < end;
		return end + 1;
	}
	gb_ts_fail(p, from, "this comment has no end");
	return p->size;
}

/* Past spaces: mostly the indentation of a line, so eight at a time. */
static inline uint32_t skip_blanks(const struct ts_parser *p, uint32_t at) {
	uint64_t eight;
	for (; at + sizeof eight <= p->size; at += sizeof eight) {
		memcpy(&eight, p->source + at, sizeof eight);
		if (eight != 0x2020202020202020u)
			break;
	}
	while (p->source[at] == ' ')
		at++;
	return at;
}

/* Where the next token begins. */
static uint32_t skip_space(struct ts_parser *p, uint32_t at) {
	const char *s = p->source;
	for (;;) {
		unsigned n;
		switch (class_of(s[at])) {
		case C_LINE:
			p->token.newline = true;
			/* fallthrough */
		case C_SPACE:
			at = skip_blanks(p, at + 1);
			continue;
		case C_HIGH:
			n = gb_ts_line_end(s + at);
			p->token.newline |= n > 0;
			if (!n)
				n = wide_space(s + at);
			if (!n)
				return at;
			at += n;
			continue;
		case C_SLASH:
			if (s[at + 1] != '/' && s[at + 1] != '*')
				return at;
			at = s[at + 1] == '/' ? find_line_end(s, at + 2, p->size) : skip_comment(p, at);
			continue;
		case C_HASH:
			if (at != 0 || s[1] != '!')
				return at;
			at = find_line_end(s, at, p->size);
			continue;
		default:
			return at;
		}
	}
}

/* --- tokens --- */

/* Past "u0061" or "u{61}", after a backslash. */
static uint32_t skip_escape(struct ts_parser *p, uint32_t at) {
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *s = p->source;
	bool braces = s[at] == 'u' && s[at + 1] == '{';
	size_t n = s[at] == 'u' ? strspn(s + at + 1 + braces, digits) : 0;
	if (n == 0 || (braces ? s[at + 2 + n] != '}' : n < 4)) {
		gb_ts_fail(p, at - 1, "this is no escape that a name can have");
		return p->size;
	}
	return at + (braces ? 3 + (uint32_t)n : 5);
}

/* Past a name whose first character is at @at. */
static uint32_t skip_name(struct ts_parser *p, uint32_t at, bool *ret_escaped) {
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
			*ret_escaped = p->escaped_names = true;
			at = skip_escape(p, at + 1);
			if (p->failed)
				return at;
			continue;
		default:
			return at;
		}
	}
}

/* Past plain characters of a name. Sixteen at once, where the machine can: the end of a name is a branch that
 * nobody foresees, and half of all tokens are names. */
static inline uint32_t skip_plain_name(const struct ts_parser *p, uint32_t at) {
	const char *s = p->source;
#ifdef __SSE2__
	if (at + 16 <= p->size) {
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(s + at));
		__m128i letter = _mm_sub_epi8(_mm_or_si128(c, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
		__m128i digit = _mm_sub_epi8(c, _mm_set1_epi8('0'));
		__m128i found =
		    _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(25)), letter),
				     _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit)),
			_mm_or_si128(
			    _mm_cmpeq_epi8(c, _mm_set1_epi8('_')), _mm_cmpeq_epi8(c, _mm_set1_epi8('$'))));
		unsigned others = ~(unsigned)_mm_movemask_epi8(found) & 0xffff;
		if (others)
			return at + (uint32_t)__builtin_ctz(others);
		at += 16;
	}
#endif
	while (in_name[(uint8_t)s[at]])
		at++;
	return at;
}

static uint32_t scan_name(struct ts_parser *p, uint32_t start) {
	const char *s = p->source;
	uint32_t at = skip_plain_name(p, start);
	bool escaped = false;
	if (class_of(s[at]) == C_HIGH || class_of(s[at]) == C_BACKSLASH)
		at = skip_name(p, at, &escaped);
	p->token.kind = T_NAME;
	p->token.word = escaped || s[start] < 'a' ? W_NONE : find_word(s + start, at - start);
	return at;
}

static uint32_t skip_digits(const char *s, uint32_t at) {
	while (is_digit(s[at]) || s[at] == '_')
		at++;
	return at;
}

static uint32_t scan_number(struct ts_parser *p, uint32_t at) {
	const char *s = p->source;
	p->token.kind = T_NUMBER;
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

static uint32_t scan_string(struct ts_parser *p, uint32_t from) {
	const char *s = p->source;
	uint32_t at = from + 1;
	p->token.kind = T_STRING;
	while (at < p->size && s[at] != s[from]) {
		if (s[at] == '\n' || s[at] == '\r')
			break;
		if (s[at] == '\\')
			at += s[at + 1] == '\r' && s[at + 2] == '\n' ? 2 : 1;
		at++;
	}
	if (at >= p->size || s[at] != s[from]) {
		gb_ts_fail(p, from, "this string has no end");
		return p->size;
	}
	return at + 1;
}

static uint32_t scan_private(struct ts_parser *p, uint32_t at) {
	bool escaped;
	uint8_t class = class_of(p->source[at + 1]);
	p->token.kind = T_PRIVATE;
	if (class != C_NAME && class != C_HIGH && class != C_BACKSLASH) {
		gb_ts_fail(p, at, "unexpected '#'");
		return p->size;
	}
	return skip_name(p, at + 1, &escaped);
}

/* The longest first, for each first character. */
static const struct punctuator {
	char text[5];
	uint8_t kind;
} operators[] = {
    {"...", T_DOTS},
    {"?.", T_OPTIONAL},
    {"?\?=", T_ASSIGN},
    {"??", T_NULLISH},
    {"=>", T_ARROW},
    {"===", T_EQUAL},
    {"==", T_EQUAL},
    {"!==", T_UNEQUAL},
    {"!=", T_UNEQUAL},
    {"<<=", T_ASSIGN},
    {"<<", T_SHIFT_LEFT},
    {"<=", T_LESS_EQUAL},
    {"&&=", T_ASSIGN},
    {"&&", T_AND},
    {"&=", T_ASSIGN},
    {"||=", T_ASSIGN},
    {"||", T_OR},
    {"|=", T_ASSIGN},
    {"++", T_PLUS_PLUS},
    {"+=", T_ASSIGN},
    {"--", T_MINUS_MINUS},
    {"-=", T_ASSIGN},
    {"**=", T_ASSIGN},
    {"**", T_POWER},
    {"*=", T_ASSIGN},
    {"/=", T_ASSIGN},
    {"%=", T_ASSIGN},
    {"^=", T_ASSIGN},
};

/* Where the operators of a first character begin. */
static const uint8_t first_operator[256] = {
    ['.'] = 0,
    ['?'] = 1,
    ['='] = 4,
    ['!'] = 7,
    ['<'] = 9,
    ['&'] = 12,
    ['|'] = 15,
    ['+'] = 18,
    ['-'] = 20,
    ['*'] = 22,
    ['/'] = 25,
    ['%'] = 26,
    ['^'] = 27,
};

static bool starts_with(const char *at, const char *text) {
	while (*text && *at == *text)
		at++, text++;
	return !*text;
}

static uint32_t scan_operator(struct ts_parser *p, uint32_t at) {
	const char *s = p->source + at;
	p->token.kind = (uint8_t)*s;
	/* No operator goes on with these, which are what most often follows. */
	if (class_of(s[1]) == C_NAME || class_of(s[1]) == C_SPACE)
		return at + 1;
	for (size_t i = first_operator[(uint8_t)*s]; i < GB_COUNT(operators) && operators[i].text[0] == *s;
	     i++) {
		if (!starts_with(s, operators[i].text))
			continue;
		/* a?.5:1 */
		if (operators[i].kind == T_OPTIONAL && is_digit(s[2]))
			break;
		p->token.kind = operators[i].kind;
		return at + (uint32_t)strlen(operators[i].text);
	}
	return at + 1;
}

static uint32_t scan(struct ts_parser *p, uint32_t at) {
	const char *s = p->source;
	switch (class_of(s[at])) {
	case C_NAME:
	case C_HIGH:
	case C_BACKSLASH:
		return scan_name(p, at);
	case C_DIGIT:
		return scan_number(p, at);
	case C_QUOTE:
		return scan_string(p, at);
	case C_SINGLE:
		p->token.kind = (uint8_t)s[at];
		return at + 1;
	case C_HASH:
		return scan_private(p, at);
	case C_SLASH:
		return scan_operator(p, at);
	case C_OPERATOR:
		if (s[at] == '.' && is_digit(s[at + 1]))
			return scan_number(p, at);
		return scan_operator(p, at);
	default:
		if (at < p->size)
			gb_ts_fail(p, at, "unexpected character");
		return p->size;
	}
}

/* Scan from @from on, whatever the current token is. */
static void scan_from(struct ts_parser *p, uint32_t from) {
	const char *s = p->source;
	uint32_t at = from;
	if (s[at] == ' ')
		at++;
	p->token.newline = false;
	p->token.word = W_NONE;
	if (class_of(s[at]) >= C_SLASH)
		at = skip_space(p, at);
	uint32_t end;
	/* The two kinds that most are. */
	if (class_of(s[at]) == C_NAME) {
		end = scan_name(p, at);
	} else if (class_of(s[at]) == C_SINGLE) {
		p->token.kind = (uint8_t)s[at];
		end = at + 1;
	} else {
		end = scan(p, at);
	}
	if (at >= p->size || p->failed) {
		p->token = (struct ts_token){.start = p->size, .end = p->size, .newline = p->token.newline};
		return;
	}
	if (end > p->size) {
		gb_ts_fail(p, at, "the text ends inside this");
		return;
	}
	p->token.start = at;
	p->token.end = end;
	/* Bytes, not tokens, are what costs time: a comment between two tokens is scanned with each of them.
	 */
	if ((p->budget -= (int64_t)(end - from) + 4) < 0)
		gb_ts_exhaust(p, "too ambiguous: deciding how to read this takes more work than is allowed");
}

void gb_ts_next(struct ts_parser *p) {
	if (p->failed)
		return;
	p->previous_end = p->token.end;
	/* What follows depends on nothing but where it begins. */
	if (p->ahead_from == p->token.end)
		p->token = p->ahead;
	else
		scan_from(p, p->token.end);
}

struct ts_token gb_ts_peek(struct ts_parser *p) {
	struct ts_token current = p->token;
	if (p->failed || p->ahead_from == current.end)
		return p->failed ? current : p->ahead;
	scan_from(p, current.end);
	if (p->failed)
		return p->token;
	p->ahead = p->token;
	p->ahead_from = current.end;
	p->token = current;
	return p->ahead;
}

void gb_ts_rescan_greater(struct ts_parser *p) {
	static const struct punctuator longer[] = {
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

void gb_ts_rescan_less(struct ts_parser *p) {
	if (p->token.kind == '<' || p->failed || p->token.kind == T_END || p->source[p->token.start] != '<')
		return;
	p->token.kind = '<';
	p->token.end = p->token.start + 1;
}

void gb_ts_rescan_regexp(struct ts_parser *p) {
	const char *s = p->source;
	uint32_t at = p->token.start + 1;
	bool in_class = false, escaped;
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
		gb_ts_fail(p, p->token.start, "this regular expression has no end");
		return;
	}
	p->token.end = skip_name(p, at + 1, &escaped);
}

bool gb_ts_template_text(struct ts_parser *p, uint32_t from) {
	const char *s = p->source;
	uint32_t at = from;
	if (p->failed)
		return false;
	for (; at < p->size && s[at] != '`' && !(s[at] == '$' && s[at + 1] == '{'); at++)
		at += s[at] == '\\';
	if (at >= p->size) {
		gb_ts_fail(p, from - 1, "this template has no end");
		return false;
	}
	bool expression = s[at] == '$';
	p->budget -= at - from;
	p->token.end = at + (expression ? 2 : 1);
	gb_ts_next(p);
	return expression;
}
