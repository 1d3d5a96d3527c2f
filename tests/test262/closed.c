#include "test262/closed.h"

#include <ctype.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "test262/judge.h"

enum { CODE_MAX = 64 << 20 };

/* --- before the run --- */

/* Features that no run has. */
static const struct {
	const char *feature, *reason;
} closed_features[] = {
    {"json-modules", "modules other than JavaScript"},
    {"import-text", "modules other than JavaScript"},
    {"import-bytes", "modules other than JavaScript"},
    {"cross-realm", "host hooks ($262)"},
};

static bool is_word(char c) {
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Does @text hold @word, and not as a part of a longer one? */
static bool has_word(struct gb_str text, const char *word) {
	size_t n = strlen(word);
	for (size_t i = 0; i + n <= text.n; i++) {
		if (memcmp(text.p + i, word, n) != 0 || (i > 0 && is_word(text.p[i - 1])))
			continue;
		if (i + n == text.n || !is_word(word[n - 1]) || !is_word(text.p[i + n]))
			return true;
	}
	return false;
}

static bool is_unsupported(const struct t262_expect *expect, struct gb_str feature, char *ret_reason) {
	enum t262_feature known = t262_expect_feature(expect, feature);
	if (known == T262_SUPPORTED)
		return false;
	snprintf(ret_reason, T262_TEXT_MAX, "feature %.*s: %s", GB_STR_ARG(feature),
	    known == T262_UNKNOWN ? "unknown to quickjs-ng" : "quickjs-ng skips it");
	return true;
}

const char *t262_reason_not_to_run(
    const struct t262_case *one, const struct t262_expect *expect, bool *ret_closed, char *buf) {
	const struct t262_meta *meta = &one->meta;
	*ret_closed = false;
	if (t262_expect_excluded(expect, one->path))
		return "excluded by quickjs-ng";
	for (size_t i = 0; i < meta->features.n; i++)
		if (is_unsupported(expect, meta->features.items[i], buf))
			return buf;
	if (t262_list_has(&meta->flags, "noStrict"))
		return "sloppy mode: a module is always strict";
	if (t262_list_has(&meta->flags, "raw") && !t262_list_has(&meta->flags, "module"))
		return "a raw script: there are only modules";
	*ret_closed = true;
	for (size_t i = 0; i < GB_COUNT(closed_features); i++)
		if (t262_list_has(&meta->features, closed_features[i].feature))
			return closed_features[i].reason;
	bool hooks = has_word(one->source, "$262") || t262_list_has(&meta->includes, "detachArrayBuffer.js");
	return hooks ? "host hooks ($262)" : NULL;
}

/* --- after it --- */

/* Missing features, by the code that uses them. */
static const struct {
	const char *word, *reason;
} closed_words[] = {
    {"eval", "eval"},
    {"Function(", "function constructors"},
    {"AsyncFunction(", "function constructors"},
    {"GeneratorFunction(", "function constructors"},
    {"AsyncGeneratorFunction(", "function constructors"},
    {"SharedArrayBuffer", "shared memory"},
    {"Atomics", "shared memory"},
};

/* Errors that a missing feature causes; other errors have another reason. */
static const char *const closed_failures[] = {
    " is not defined",
    " but got a ReferenceError",
    " Expected a SyntaxError but got a TypeError",
};

/* Harness files that compile functions from text, and report the failure with their own message. */
static const char *const closed_includes[] = {"resizableArrayBufferUtils.js", "wellKnownIntrinsicObjects.js"};

static bool shows_want(const char *why) {
	for (size_t i = 0; i < GB_COUNT(closed_failures); i++)
		if (strstr(why, closed_failures[i]))
			return true;
	return false;
}

static bool includes_closed(const struct t262_meta *meta) {
	for (size_t i = 0; i < GB_COUNT(closed_includes); i++)
		if (t262_list_has(&meta->includes, closed_includes[i]))
			return true;
	return false;
}

/* Where the comment that begins at @at ends; @at itself if none does. */
static size_t after_comment(struct gb_str text, size_t at) {
	struct gb_str rest = {text.p + at, text.n - at};
	bool block = rest.n > 1 && memcmp(rest.p, "/*", 2) == 0;
	if (!block && (rest.n < 2 || memcmp(rest.p, "//", 2) != 0))
		return at;
	const char *end = block ? memmem(rest.p + 2, rest.n - 2, "*/", 2) : memchr(rest.p, '\n', rest.n);
	return end ? (size_t)(end - text.p) + (block ? 2 : 0) : text.n;
}

/* @text without its comments, which speak of more than the code does. What looks like a comment within a
 * string is lost too: then a reason may be overlooked, and never be made up. */
static void append_code(struct gb_buf *out, struct gb_str text) {
	for (size_t i = 0; i < text.n;) {
		size_t after = after_comment(text, i);
		if (after == i)
			gb_buf_append_char(out, text.p[i++]);
		i = after > i ? after : i;
	}
}

const char *t262_reason_to_fail(const struct t262_case *one, const char *why) {
	/* The engine's message for everything that needs a compiler. */
	bool surely = strstr(why, "eval is not supported") || includes_closed(&one->meta);
	if (!surely && !shows_want(why))
		return NULL;
	gb_auto_buf struct gb_buf code;
	gb_buf_init(&code, CODE_MAX);
	append_code(&code, one->source);
	for (size_t i = 1; i < one->n_files; i++)
		if (!gb_str_ends_with(gb_str_from(one->files[i].name), GB_STR(T262_HARNESS)))
			append_code(&code, one->files[i].text);
	for (size_t i = 0; i < GB_COUNT(closed_words); i++)
		if (has_word(gb_buf_str(&code), closed_words[i].word))
			return closed_words[i].reason;
	return surely ? "function constructors" : NULL;
}
