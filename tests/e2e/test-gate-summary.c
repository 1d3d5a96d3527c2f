/* The summary of the output in the audit record. */
#include "e2e/gate.h"

static struct seen recorded(enum gb_language language, const char *source) {
	auto_site struct site site = site_make(OPEN_TO_ALL "secrets.patterns: ['horse-[0-9]+']\n");
	ask(&site, (struct gb_gate_request){.run = {.source = source, .language = language}});
	return records(&site);
}

TEST(console_logs_and_the_result_are_recorded) {
	CHECK_STR(recorded(GB_JAVASCRIPT,
		      "console.log('a', {b: 1}); console.error('c'); export default {ok: [1, 'x,}\"']}")
		      .output,
	    "a { b: 1 }\nc\n{\"ok\":[1,\"x,}\\\"\"]}");
	CHECK_STR(recorded(GB_TYPESCRIPT, "const n: number = 6 * 7; export default n").output, "42");
	CHECK_STR(recorded(GB_JAVASCRIPT, "export default 'x'").output, "\"x\"");
}

TEST(output_of_programs_and_the_result_are_recorded) {
	CHECK_STR(recorded(GB_PYTHON, "import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr, "
				      "flush=True)\nprint('end', end='', flush=True)\n[6 * 7]")
		      .output,
	    "out\nerr\nend\n[42]");
	CHECK_STR(recorded(GB_SHELL, "echo out").output, "out\n");
}

static void check_program(enum gb_language language, const char *missing) {
	struct seen seen =
	    recorded(language, "console.log('a', {b: 1}); console.error('c'); export default [6 * 7]");
	if (strcmp(seen.status, "denied") == 0)
		SKIP(missing);
	CHECK_STR(seen.output, "a { b: 1 }\nc\n[42]");
}

TEST(output_of_node_is_recorded) {
	check_program(GB_NODE, "there is no Node.js on PATH");
}

TEST(output_of_deno_is_recorded) {
	check_program(GB_DENO, "there is no Deno on PATH");
}

TEST(error_is_recorded) {
	CHECK_STR(recorded(GB_JAVASCRIPT, "console.log('a'); throw new TypeError('no horse-123')").output,
	    "a\nTypeError: no ***");
	CHECK_STR(recorded(GB_SHELL, "echo out; exit 3").output, "out\nExitError: exit status 3");
}

TEST(nul_does_not_end_an_error_that_is_recorded) {
	CHECK_STR(recorded(GB_JAVASCRIPT, "throw Object.assign(new Error('a\\0b'), {name: 'N\\0M'})").output,
	    "N?M: a?b");
}

TEST(displays_are_recorded_in_order) {
	CHECK_STR(recorded(GB_PYTHON, "print('before', flush=True)\n"
				      "display({'text/plain': 'x', 'text/html': '<b>x</b>'}, raw=True)\n"
				      "print('after', end='', flush=True)\ndisplay('y')\n42")
		      .output,
	    "before\n[display: text/plain, text/html]\nafter\n[display: text/plain]\n42");
}

TEST(run_without_output_has_an_empty_summary) {
	CHECK_STR(recorded(GB_JAVASCRIPT, "export default null").output, "");
	CHECK_STR(recorded(GB_SHELL, ":").output, "");
}

TEST(output_and_result_have_500_characters_each) {
	char expected[1100];
	memset(expected, 'x', 500);
	expected[500] = '\0';
	struct seen seen = recorded(GB_PYTHON, "print('x' * 1000)");
	CHECK_STR(seen.output, expected);
	CHECK(seen.was_cut);
	seen = recorded(GB_PYTHON, "print('x' * 1000)\n42");
	snprintf(expected + 500, sizeof expected - 500, "\n42");
	CHECK_STR(seen.output, expected);
	CHECK(seen.was_cut);
	seen = recorded(GB_PYTHON, "print('x' * 1000)\n'y' * 1000");
	memcpy(expected + 500, "\n\"", 2);
	memset(expected + 502, 'y', 499);
	expected[1001] = '\0';
	CHECK_STR(seen.output, expected);
	CHECK(seen.was_cut);
	seen = recorded(GB_PYTHON, "print('x')\n'y' * 1000");
	CHECK_STR(seen.output + 2, expected + 501);
	CHECK(seen.was_cut);
	/* Characters, not bytes; as many as are kept are not a cut. */
	seen = recorded(GB_PYTHON, "print('\\U0001f600' * 500, end='')\n'\\U0001f601' * 498");
	CHECK(!seen.was_cut);
	CHECK(recorded(GB_PYTHON, "'\\U0001f601' * 499").was_cut);
	CHECK(recorded(GB_PYTHON, "print('\\U0001f600' * 501, end='')").was_cut);
	CHECK(!recorded(GB_PYTHON, "print('x')\n42").was_cut);
}

TEST(size_covers_logs_and_the_result) {
	CHECK(recorded(GB_JAVASCRIPT, "console.log('x'.repeat(5000)); export default 1").output_bytes > 5000);
	CHECK(recorded(GB_JAVASCRIPT, "export default 'x'.repeat(5000)").output_bytes > 5000);
}

TEST(secret_across_the_end_of_the_summary_is_masked) {
	for (int at = 485; at <= 500; at++) {
		char source[200];
		snprintf(source, sizeof source, "print('x' * %d + ' horse-' + '1234567890')", at);
		CHECK(!strstr(recorded(GB_PYTHON, source).output, "hor"));
		snprintf(source, sizeof source, "console.log('x'.repeat(%d) + ' horse-' + '1234567890')", at);
		CHECK(!strstr(recorded(GB_JAVASCRIPT, source).output, "hor"));
	}
	CHECK(
	    !strstr(recorded(GB_PYTHON, "print('x' * 1000)\n'y' * 90 + ' horse-' + '12345'").output, "hor"));
}
