/* The static guard and restricted mode read any code to its end, and report positions within it. The first
 * byte is the language. */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "guard/static.h"
#include "runtime/shell/commands.h"

static size_t offset_of(const char *text, size_t n, unsigned line, unsigned column) {
	size_t at = 0;
	while (--line)
		while (at < n && text[at++] != '\n')
			continue;
	return at + column - 1;
}

/* Restricted mode refuses what the guard refuses, except for output to shared devices. */
static void check_restricted(const char *text, size_t n, const struct gb_guard_finding *guards) {
	struct gb_refusal refusal = {.word = ""};
	bool passed = gb_commands_check((struct gb_str){text, n}, GB_REFUSED_RESTRICTED, NULL, 0, &refusal);
	ALWAYS(!passed || !guards->pattern || strcmp(guards->pattern, "> /dev/") == 0);
	ALWAYS(passed || (refusal.line && refusal.column && refusal.reason && refusal.instead));
	ALWAYS(passed || offset_of(text, n, refusal.line, refusal.column) <= n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const char *const more[] = {"a.b", "zz*"};
	struct gb_guard_finding finding = {0}, again = {0};
	if (size == 0)
		return 0;
	enum gb_guard_language language = data[0] == 's' ? GB_GUARD_SHELL : GB_GUARD_JAVASCRIPT;
	const char *text = (const char *)data + 1;
	size_t n = size - 1;
	bool passed = gb_guard_check_more(language, text, n, more, GB_COUNT(more), &finding);
	ALWAYS(passed == !finding.pattern);
	/* Without the owner's patterns it finds no more than with them. */
	ALWAYS(gb_guard_check(language, text, n, &again) || !passed);
	if (language == GB_GUARD_SHELL)
		check_restricted(text, n, &again);
	if (passed)
		return 0;
	ALWAYS(finding.line && finding.column && finding.reason && finding.suggestion);
	if (language == GB_GUARD_SHELL)
		ALWAYS(offset_of(text, n, finding.line, finding.column) <= n);
	return 0;
}
