#include "test262/judge.h"

#include <stdio.h>

#define COMPLETED "Test262:AsyncTestComplete"
#define FAILED    "Test262:AsyncTestFailure:"

static bool starts_with(struct gb_str s, const char *head) {
	size_t n = strlen(head);
	return s.n >= n && memcmp(s.p, head, n) == 0;
}

void t262_outcome_hear(struct t262_outcome *outcome, struct gb_str line) {
	if (gb_str_eq(line, GB_STR(COMPLETED)))
		outcome->completed = true;
	if (!starts_with(line, FAILED))
		return;
	outcome->failed = true;
	snprintf(outcome->said, sizeof outcome->said, "%.*s", GB_STR_ARG(line));
}

static bool wrong(char *why, const char *text, const char *detail) {
	snprintf(why, T262_TEXT_MAX, "%s%s%.350s", text, *detail ? ": " : "", detail);
	return false;
}

/* "Name: message" or "Name". */
static bool is_of_type(const char *text, struct gb_str type) {
	struct gb_str rest = gb_str_from(text), name;
	gb_str_cut(&rest, ':', &name);
	return gb_str_eq(name, type);
}

void t262_outcome_excuse_rejection(struct t262_outcome *sandbox, const struct t262_outcome *plain) {
	if (sandbox->stage != T262_RUN || plain->stage != T262_DONE || !plain->rejected)
		return;
	struct gb_str rest = gb_str_from(plain->unhandled), type;
	gb_str_cut(&rest, ':', &type);
	/* What is no error is shown as one by the sandbox; of errors the words may differ. */
	bool is_value = is_of_type(sandbox->text, GB_STR("Error")) &&
			strcmp(sandbox->text + strlen("Error: "), plain->unhandled) == 0;
	if (is_value || is_of_type(sandbox->text, type))
		sandbox->stage = T262_DONE;
}

/* The sandbox tells what does not link from what throws, and no more: a parse error of the entry and an
 * import that does not resolve are the same there. */
static bool judge_negative(const struct t262_meta *meta, const struct t262_outcome *outcome, char *why) {
	bool runs = gb_str_eq(meta->phase, GB_STR("runtime"));
	if (outcome->stage != (runs ? T262_RUN : T262_LINK))
		return wrong(why, runs ? "did not throw" : "was linked", outcome->text);
	if (!is_of_type(outcome->text, meta->type))
		return wrong(why, "another error", outcome->text);
	return true;
}

bool t262_judge(const struct t262_meta *meta, const struct t262_outcome *outcome, char *why) {
	bool async = t262_list_has(&meta->flags, "async");
	if (outcome->stage == T262_BROKEN)
		return wrong(why, "broke off", outcome->text);
	if (meta->phase.n)
		return judge_negative(meta, outcome, why);
	if (outcome->stage == T262_LINK || outcome->stage == T262_RUN)
		return wrong(why, outcome->stage == T262_LINK ? "did not link" : "threw", outcome->text);
	if (!async)
		return outcome->stage == T262_DONE || wrong(why, "waits for ever", outcome->text);
	if (outcome->failed)
		return wrong(why, "failed later", outcome->said + strlen(FAILED));
	return outcome->completed || wrong(why, "never called $DONE", "");
}

enum t262_category t262_compare(struct t262_verdicts verdicts) {
	if (verdicts.sandbox)
		return T262_PASSED;
	if (verdicts.plain)
		return verdicts.closed ? T262_CLOSED : T262_REGRESSION;
	return verdicts.plain_script ? T262_SKIPPED : T262_ENGINE;
}
