/* Texts that are cut at a length contain no part of a secret. */
#include "e2e/gate.h"
#include "gate/agent_run.h"
#include "value/json.h"

#define MASKING OPEN_TO_ALL "secrets.patterns: ['horse-[0-9]{10}']\n"

enum { SECRET_BYTES = 16 };

struct told {
	unsigned n_done, n_leaks;
	size_t n_logs;
	bool refused;
	size_t longest;
	char message[300];
};

/* Five characters of either half identify the secret. */
static bool leaks(const char *text) {
	return strstr(text, "horse") || strstr(text, "67890");
}

static unsigned leaks_in_logs(const struct gb_result *result) {
	unsigned n = 0;
	for (size_t i = 0; i < result->n_logs; i++) {
		gb_auto_buf struct gb_buf text;
		gb_buf_init(&text, 1 << 20);
		uint32_t next_id = 0;
		CHECK(gb_json_write(&text, result->logs[i].args, &next_id, NULL));
		n += leaks(gb_buf_c_str(&text));
	}
	return n;
}

static void on_told(struct gb_agent_run *run, const struct gb_result *result, void *data) {
	(void)run;
	struct told *told = data;
	const struct gb_run_error *error = &result->error;
	const char *const texts[] = {
	    error->name, error->message, error->stack, error->specifier, error->code, error->filename};
	told->n_done++;
	told->refused = result->status == GB_DENIED;
	told->n_logs = result->n_logs;
	told->n_leaks += leaks_in_logs(result);
	snprintf(told->message, sizeof told->message, "%s", error->message);
	for (size_t i = 0; i < GB_COUNT(texts); i++) {
		size_t n = strlen(texts[i]);
		told->longest = n > told->longest ? n : told->longest;
		told->n_leaks += leaks(texts[i]);
	}
}

static struct told told_of(struct site *site, enum gb_language language, const char *source) {
	struct told told = {0};
	struct gb_err err = {0};
	struct gb_agent_run *run;
	struct gb_gate_request request = {
	    .face = GB_FACE_EXECUTE_CODE,
	    .run = {.source = source, .language = language},
	    .on_done = on_told,
	    .data = &told,
	};
	CHECK(gb_gate_submit(site->gate, &request, &run, &err));
	while (!told.n_done && CHECK(gb_gate_turn(site->gate, 20000, &err)))
		;
	gb_agent_run_destroy(run);
	return told;
}

/* @format creates code from a number: how many characters precede the secret. It may be a width. */
static bool check_cut(enum gb_language language, const char *format, size_t cut, size_t step) {
	auto_site struct site site = site_make(MASKING);
	for (size_t before = cut - SECRET_BYTES - 1; before <= cut; before += step) {
		char source[400];
		snprintf(source, sizeof source, format, (int)before, 0);
		struct told told = told_of(&site, language, source);
		if (told.refused)
			return false;
		CHECK(*told.message || told.n_logs);
		if (!CHECK_INT(told.n_leaks, 0))
			printf("# %d: %zu characters before the secret\n", (int)language, before);
	}
	return true;
}

TEST(cut_error_contains_no_part_of_a_secret) {
	check_cut(GB_JAVASCRIPT, "throw new Error('x'.repeat(%d) + ' hor' + 'se-12345678' + '90')", 65536, 1);
	check_cut(GB_JAVASCRIPT,
	    "const e = new Error('no'); e.stack = e.name = 'x'.repeat(%d) + ' hor' + 'se-12345678' + '90'; "
	    "throw "
	    "e",
	    65536, 3);
	check_cut(GB_PYTHON, "raise ValueError('x' * %d + ' hor' + 'se-12345678' + '90')", 65536, 1);
	check_cut(GB_PYTHON,
	    "try:\n  raise ValueError('x' * (%d - 100) + ' hor' + 'se-12345678' + '90')\n"
	    "except ValueError as e:\n  raise KeyError('y') from e",
	    65536, 3);
}

TEST(cut_error_of_node_contains_no_part_of_a_secret) {
	if (!check_cut(GB_NODE, "throw new Error('x'.repeat(%d) + ' hor' + 'se-12345678' + '90')", 65536, 4))
		SKIP("there is no Node.js on PATH");
	/* The limit counts characters, and each has three bytes here. */
	check_cut(GB_NODE, "throw new Error('\\u20ac'.repeat(%d) + ' hor' + 'se-12345678' + '90')", 65536, 4);
}

TEST(cut_error_keeps_the_text_before_the_cut) {
	auto_site struct site site = site_make(MASKING);
	struct told told = told_of(&site, GB_JAVASCRIPT, "throw new Error('x'.repeat(70000))");
	CHECK_INT(told.longest, 65536);
	told = told_of(&site, GB_JAVASCRIPT, "throw new Error('it ends in horse')");
	CHECK_STR(told.message, "it ends in horse");
}

TEST(key_in_a_message_is_complete_or_omitted) {
	check_cut(GB_JAVASCRIPT,
	    "export default {['x'.repeat(%d) + ' hor' + 'se-12345678' + '90']: Symbol()}", 100, 1);
	if (!check_cut(GB_NODE, "export default {['x'.repeat(%d) + ' hor' + 'se-12345678' + '90']: Symbol()}",
		100, 4))
		SKIP("there is no Node.js on PATH");
}

#define NAMED(object)                                                                                        \
	"Object.defineProperty(" object ", 'name', {value: 'x'.repeat(%d) + ' hor' + 'se-12345678' + '90'})"

TEST(class_in_a_message_is_named_completely_or_not_at_all) {
	static const char instance[] = "export default new (" NAMED("class {}") ")()";
	check_cut(GB_JAVASCRIPT, instance, 100, 1);
	if (!check_cut(GB_NODE, instance, 100, 4))
		SKIP("there is no Node.js on PATH");
}

TEST(function_in_a_log_is_named_completely_or_not_at_all) {
	/* The name stands behind "[Function: ". */
	check_cut(GB_JAVASCRIPT, "console.log(" NAMED("() => 1") ")", 200, 1);
	check_cut(
	    GB_JAVASCRIPT, "console.log(Symbol('x'.repeat(%d) + ' hor' + 'se-12345678' + '90'))", 200, 1);
}

TEST(text_in_a_logged_instance_is_complete_or_omitted) {
	static const char logged[] =
	    "console.log(new (class A { text = 'x'.repeat(%d) + ' hor' + 'se-12345678' + '90'; })())";
	if (!check_cut(GB_NODE, logged, 1000, 4))
		SKIP("there is no Node.js on PATH");
	check_cut(GB_NODE, logged, 65536, 4);
}

TEST(failed_import_is_named_completely_or_not_at_all) {
	static const size_t cuts[] = {160, 240, 256};
	for (size_t i = 0; i < GB_COUNT(cuts); i++) {
		check_cut(GB_JAVASCRIPT, "import '%0*d horse-1234567890'", cuts[i], 1);
		check_cut(GB_JAVASCRIPT, "await import('%0*d horse-1234567890')", cuts[i], 1);
	}
}

TEST(refusal_is_masked_before_it_is_cut) {
	auto_site struct site site = site_make("agent: {enabled: true}\nenergy: {enabled: false}\n"
					       "secrets.patterns: ['horse-[0-9]{10}']\n");
	for (int before = 580; before <= 600; before++) {
		struct told told = {0};
		struct gb_err err = {0};
		struct gb_agent_run *run;
		char reason[1000];
		struct gb_gate_request request = python("1");
		request.on_done = on_told;
		request.data = &told;
		CHECK(gb_gate_submit(site.gate, &request, &run, &err));
		snprintf(reason, sizeof reason, "%0*d horse-1234567890", before, 0);
		gb_agent_run_terminate(run, reason);
		while (!told.n_done && CHECK(gb_gate_turn(site.gate, 20000, &err)))
			;
		gb_agent_run_destroy(run);
		CHECK(told.refused);
		CHECK_INT(told.n_leaks, 0);
	}
}

/* --- sessions --- */

TEST(cut_prompt_contains_no_part_of_a_secret) {
	auto_site struct site site = site_make(MASKING);
	for (int behind = 1006; behind <= 1023; behind += 3) {
		struct gb_err err = {0};
		struct heard heard;
		char source[200];
		snprintf(source, sizeof source, "printf 'horse-1234567890 %%0*d? ' %d 0; read x", behind);
		struct gb_gate_request request = {
		    .conversation = "c", .persistent = true, .run = {.source = source, .language = GB_SHELL}};
		CHECK(submit(&site, request, &heard));
		while (!*heard.prompt && CHECK(gb_gate_turn(site.gate, 20000, &err)))
			;
		CHECK(!leaks(heard.prompt));
		gb_agent_run_terminate(heard.run, NULL);
		wait_for(&site, &heard);
	}
}

TEST(cut_reason_of_a_session_contains_no_part_of_a_secret) {
	auto_site struct site site = site_make(MASKING);
	for (int before = 236; before <= 256; before += 4) {
		struct gb_err err = {0};
		struct heard first, second;
		char reason[600];
		struct gb_gate_request request = {
		    .conversation = "c", .persistent = true, .run = {.source = "for (;;);"}};
		request.run.language = GB_JAVASCRIPT;
		CHECK(submit(&site, request, &first));
		CHECK(submit(&site, request, &second));
		snprintf(reason, sizeof reason, "%0*d horse-1234567890", before, 0);
		CHECK(gb_manager_kill(
		    gb_gate_sessions(site.gate), gb_agent_run_session(first.run), reason, &err));
		wait_for(&site, &first);
		wait_for(&site, &second);
		CHECK(*first.message && *second.message);
		CHECK(!leaks(first.message));
		CHECK(!leaks(second.message));
	}
}
