/* The runner itself: what it reads, how it judges, and that each kind of test ends where it belongs. */
#include "e2e/engine.h"
#include "table.h"
#include "tap.h"
#include "test262/judge.h"
#include "test262/suite.h"

/* --- front matter --- */

static struct t262_meta parsed(const char *text) {
	struct t262_meta meta = {.flags = {.n = 0}};
	CHECK(t262_meta_parse(gb_str_from(text), &meta));
	return meta;
}

TEST(lists_are_read_in_both_forms) {
	struct t262_meta meta =
	    parsed("// a test\n/*---\nflags: [module, async]\nfeatures:\n  - a.b # why\n  - c-d\nincludes:\n"
		   "  [x.js,\n  y.js]\n---*/\nflags: [raw]");
	CHECK_INT(meta.flags.n, 2);
	CHECK(t262_list_has(&meta.flags, "module") && t262_list_has(&meta.flags, "async"));
	CHECK(!t262_list_has(&meta.flags, "raw"));
	CHECK_INT(meta.features.n, 2);
	CHECK(t262_list_has(&meta.features, "a.b") && t262_list_has(&meta.features, "c-d"));
	CHECK_INT(meta.includes.n, 2);
	CHECK(t262_list_has(&meta.includes, "y.js"));
}

TEST(prose_is_not_taken_for_fields) {
	struct t262_meta meta = parsed("/*---\ninfo: |\n  flags: [raw]\n  type: X\n---*/");
	CHECK_INT(meta.flags.n, 0);
	CHECK_INT(meta.type.n, 0);
}

TEST(negative_test_names_phase_and_type) {
	struct t262_meta meta =
	    parsed("/*---\r\nnegative:\r\n  phase: parse\r\n  type: SyntaxError\r\n---*/");
	CHECK(gb_str_eq(meta.phase, GB_STR("parse")));
	CHECK(gb_str_eq(meta.type, GB_STR("SyntaxError")));
}

TEST(text_without_front_matter_is_no_test) {
	struct t262_meta meta;
	CHECK(!t262_meta_parse(GB_STR("let a = 1;"), &meta));
	CHECK(!t262_meta_parse(GB_STR("/*--- flags: [module]"), &meta));
	CHECK(!t262_meta_parse((struct gb_str){NULL, 0}, &meta));
}

/* --- verdicts --- */

static bool passes(const char *front_matter, struct t262_outcome outcome) {
	char why[T262_TEXT_MAX] = "";
	struct t262_meta meta = parsed(front_matter);
	bool ok = t262_judge(&meta, &outcome, why);
	CHECK(ok == !*why);
	return ok;
}

#define SYNC    "/*---\n---*/"
#define ASYNC   "/*---\nflags: [async]\n---*/"
#define PARSE   "/*---\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/"
#define RUNTIME "/*---\nnegative:\n  phase: runtime\n  type: TypeError\n---*/"

TEST(plain_test_passes_when_it_ends) {
	CHECK(passes(SYNC, (struct t262_outcome){.stage = T262_DONE}));
	CHECK(!passes(SYNC, (struct t262_outcome){.stage = T262_RUN}));
	CHECK(!passes(SYNC, (struct t262_outcome){.stage = T262_LINK}));
	CHECK(!passes(SYNC, (struct t262_outcome){.stage = T262_PENDING}));
	CHECK(!passes(SYNC, (struct t262_outcome){.stage = T262_BROKEN}));
}

TEST(asynchronous_test_passes_only_when_it_prints_completion) {
	struct t262_outcome outcome = {.stage = T262_DONE};
	CHECK(!passes(ASYNC, outcome));
	t262_outcome_hear(&outcome, GB_STR("Test262:AsyncTestCompleteOrSo"));
	CHECK(!passes(ASYNC, outcome));
	t262_outcome_hear(&outcome, GB_STR("Test262:AsyncTestComplete"));
	CHECK(passes(ASYNC, outcome));
	outcome.stage = T262_PENDING;
	CHECK(passes(ASYNC, outcome));
	outcome.stage = T262_RUN;
	CHECK(!passes(ASYNC, outcome));
	outcome.stage = T262_DONE;
	t262_outcome_hear(&outcome, GB_STR("Test262:AsyncTestFailure:Error: after all"));
	CHECK(!passes(ASYNC, outcome));
}

TEST(negative_test_passes_with_its_error_in_its_phase) {
	CHECK(passes(PARSE, (struct t262_outcome){.stage = T262_LINK, .text = "SyntaxError: here"}));
	CHECK(passes(PARSE, (struct t262_outcome){.stage = T262_LINK, .text = "SyntaxError"}));
	CHECK(!passes(PARSE, (struct t262_outcome){.stage = T262_LINK, .text = "SyntaxErrors: here"}));
	CHECK(!passes(PARSE, (struct t262_outcome){.stage = T262_RUN, .text = "SyntaxError: here"}));
	CHECK(!passes(PARSE, (struct t262_outcome){.stage = T262_DONE}));
	CHECK(passes(RUNTIME, (struct t262_outcome){.stage = T262_RUN, .text = "TypeError: x"}));
	CHECK(!passes(RUNTIME, (struct t262_outcome){.stage = T262_LINK, .text = "TypeError: x"}));
	CHECK(!passes(RUNTIME, (struct t262_outcome){.stage = T262_BROKEN, .text = "TypeError: x"}));
}

static bool is_excused(enum t262_stage stage, const char *text, bool rejected, const char *unhandled) {
	struct t262_outcome sandbox = {.stage = stage};
	struct t262_outcome plain = {.stage = T262_DONE, .rejected = rejected};
	snprintf(sandbox.text, sizeof sandbox.text, "%s", text);
	snprintf(plain.unhandled, sizeof plain.unhandled, "%s", unhandled);
	t262_outcome_excuse_rejection(&sandbox, &plain);
	return sandbox.stage == T262_DONE;
}

TEST(only_rejections_that_the_plain_engine_reports_are_excused) {
	CHECK(is_excused(T262_RUN, "TypeError: here", true, "TypeError: there"));
	CHECK(is_excused(T262_RUN, "Error: 1", true, "1"));
	CHECK(is_excused(T262_RUN, "Test262Error: x", true, "Test262Error: x"));
	CHECK(!is_excused(T262_RUN, "TypeError: here", true, "RangeError: there"));
	CHECK(!is_excused(T262_RUN, "TypeError: here", false, ""));
	CHECK(!is_excused(T262_LINK, "TypeError: here", true, "TypeError: there"));
	CHECK(!is_excused(T262_BROKEN, "TypeError: here", true, "TypeError: there"));
}

TEST(two_verdicts_make_a_category) {
	CHECK_INT(t262_compare((struct t262_verdicts){.sandbox = true, .plain = true}), T262_PASSED);
	CHECK_INT(t262_compare((struct t262_verdicts){.sandbox = true}), T262_PASSED);
	CHECK_INT(t262_compare((struct t262_verdicts){.plain = true}), T262_REGRESSION);
	CHECK_INT(t262_compare((struct t262_verdicts){.plain = true, .closed = true}), T262_CLOSED);
	CHECK_INT(t262_compare((struct t262_verdicts){.sandbox = false}), T262_ENGINE);
	CHECK_INT(t262_compare((struct t262_verdicts){.closed = true}), T262_ENGINE);
	CHECK_INT(t262_compare((struct t262_verdicts){.plain_script = true}), T262_SKIPPED);
}

/* --- the samples --- */

enum { SAMPLES = 26 };

static struct sample {
	char path[200], why[T262_TEXT_MAX];
	enum t262_category category;
} samples[SAMPLES];
static size_t n_samples;

static void on_test(const char *path, enum t262_category category, const char *reason, void *data) {
	if (!CHECK(n_samples < SAMPLES))
		return;
	struct sample *sample = &samples[n_samples++];
	snprintf(sample->path, sizeof sample->path, "%s", path);
	snprintf(sample->why, sizeof sample->why, "%s", reason);
	sample->category = category;
}

static void check_sample(const struct record *record) {
	static const char *const names[] = {"passed", "failed", "closed", "skipped", "regression"};
	for (size_t i = 0; i < n_samples; i++)
		if (strcmp(samples[i].path, record_get(record, "test")) == 0) {
			bool same = CHECK_STR(names[samples[i].category], record_get(record, "is"));
			const char *why = record_get(record, "why");
			if (!CHECK_STR(samples[i].why, why ? why : "") || !same)
				printf("#   of %s\n", samples[i].path);
			return;
		}
	CHECK_STR("was not run", record_get(record, "test"));
}

TEST(each_sample_ends_in_its_category) {
	char suite[2000], expectations[2100], differences[2100];
	const char *data = getenv("GB_TEST_DATA");
	snprintf(suite, sizeof suite, "%s/test262", data ? data : "tests/data");
	snprintf(expectations, sizeof expectations, "%s/expectations", suite);
	snprintf(differences, sizeof differences, "%s/differences.txt", suite);
	const char *const paths[] = {"test", NULL};
	const struct t262_options options = {
	    .suite = suite,
	    .expectations = expectations,
	    .differences = differences,
	    .plain = getenv("GB_TEST262_PLAIN"),
	    .paths = paths,
	    .quiet = true,
	    .on_test = on_test,
	};
	struct gb_err err = {0};
	struct t262_counts counts = {.stale = 0};
	struct gb_engine *engine = engine_with((struct gb_engine_options){.shards = 1});
	if (!CHECK(engine))
		return;
	if (!CHECK(t262_run(&options, engine, &counts, &err)))
		printf("#   %s\n", err.message);
	gb_engine_destroy(engine);
	CHECK_INT(table_each("test262-samples.txt", check_sample), SAMPLES);
	CHECK_INT(n_samples, SAMPLES);
	CHECK_INT(counts.of[T262_REGRESSION], 1);
	CHECK_INT(counts.unlisted, 6);
	CHECK_INT(counts.better, 0);
	CHECK_INT(counts.stale, 1);
}

TEST(folder_without_suite_is_reported) {
	struct gb_err err = {0};
	struct t262_counts counts;
	CHECK(!t262_run(&(struct t262_options){.suite = "/nowhere"}, NULL, &counts, &err));
	CHECK_STR(err.message, "open '/nowhere': No such file or directory");
}
