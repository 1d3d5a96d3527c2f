/* What a run says comes out without secrets, in the order in which it was said. */
#include "guard/masked.h"

#include "base/cleanup.h"
#include "secrets.h"
#include "tap.h"

static const char secret[] = "horse-123456";
static struct gb_filter *filter;
static struct gb_masked masked;
static struct gb_values *pool;
static struct gb_buf heard; /* 1"text" for output, L0 for a log, D for a display */

static void begin(void) {
	filter = gb_filter_create();
	pool = gb_values_create(1 << 20);
	gb_buf_init(&heard, 1 << 20);
	CHECK(gb_secrets_add(filter, "S", secret, sizeof secret - 1, NULL));
	CHECK(gb_masked_init(&masked, filter, 1 << 20, 1 << 20));
}

static void hear(void) {
	struct gb_masked_event event;
	while (gb_masked_next(&masked, &event)) {
		if (event.kind == GB_MASKED_LOG) {
			gb_buf_printf(&heard, "L%zu", event.at);
		} else if (event.kind == GB_MASKED_DISPLAY) {
			gb_buf_printf(&heard, "D");
		} else {
			struct gb_str text = gb_masked_output(&masked, &event);
			gb_buf_printf(&heard, "%d\"%.*s\"", event.stream, (int)text.n, text.p);
		}
	}
}

static void output(int stream, const char *text) {
	gb_masked_put_output(&masked, stream, text, strlen(text));
	hear();
}

static void log_line(void) {
	gb_masked_put_log(&masked, &(struct gb_log){.args = gb_value_array(pool)});
	hear();
}

static void end(bool cut) {
	const struct gb_result result = {.truncated = cut, .error = {.name = "", .code = ""}};
	gb_masked_put_end(&masked, &result);
	hear();
}

static void finish(void) {
	gb_masked_finish(&masked);
	gb_filter_destroy(filter);
	gb_values_destroy(pool);
	gb_buf_finish(&heard);
}

static void check_heard(const char *expected) {
	CHECK_STR(gb_buf_c_str(&heard), expected);
	finish();
}

/* Each stream always holds the beginning of a secret, so the queue is never empty. */
TEST(events_that_have_come_out_take_no_room) {
	enum { TIMES = 10000, ROOM_MAX = 64 };
	begin();
	for (int i = 0; i < TIMES; i++) {
		gb_buf_clear(&heard);
		output(1 + i % 2, "h");
	}
	CHECK(masked.first < masked.n_queue);
	CHECK(masked.cap_queue <= ROOM_MAX);
	end(false);
	finish();
}

TEST(text_that_cannot_be_a_secret_is_released_at_once) {
	begin();
	output(1, "one\n");
	log_line();
	output(2, "two\n");
	gb_masked_put_display(&masked, gb_value_array(pool));
	hear();
	output(1, "three\n");
	check_heard("1\"one\n\"L02\"two\n\"D1\"three\n\"");
}

TEST(a_log_does_not_overtake_text_that_is_held_back) {
	begin();
	output(1, "a hors");
	log_line();
	CHECK_STR(gb_buf_c_str(&heard), "1\"a \"");
	output(1, "eshoe\n");
	log_line();
	check_heard("1\"a \"1\"hors\"L01\"eshoe\n\"L1");
}

TEST(a_secret_around_a_log_is_masked) {
	begin();
	output(1, "a hors");
	log_line();
	output(1, "e-1234");
	log_line();
	output(1, "56 b\n");
	check_heard("1\"a \"1\"***\"L0L11\" b\n\"");
}

TEST(other_stream_and_displays_do_not_overtake_held_text) {
	begin();
	output(1, "a hors");
	output(2, "error\n");
	gb_masked_put_display(&masked, gb_value_array(pool));
	output(2, "more\n");
	CHECK_STR(gb_buf_c_str(&heard), "1\"a \"");
	end(false);
	check_heard("1\"a \"1\"hors\"2\"error\n\"D2\"more\n\"");
}

TEST(half_a_secret_at_a_cut_is_left_out_and_the_rest_is_not) {
	begin();
	output(1, "a hors");
	log_line();
	output(2, "b horse-");
	end(true);
	check_heard("1\"a \"L02\"b \"");
}

TEST(streams_may_hold_each_other_back) {
	begin();
	output(1, "a hors");
	output(2, "b hors");
	output(1, "e-123456 c\n");
	output(2, "d\n");
	check_heard("1\"a \"1\"***\"2\"b \"2\"hors\"1\" c\n\"2\"d\n\"");
}

/* Cut into pieces of every length, with something else between them, it becomes what it would as a whole. */
TEST(pieces_become_what_the_whole_becomes) {
	gb_auto_buf struct gb_buf text, whole;
	gb_buf_init(&text, 4000);
	gb_buf_init(&whole, 4000);
	sample_expand(
	    "start ghp_<w36>, postgres://u:<w9>@h/x; horse-horse-123456 hors password = \"<w12>\"\\n"
	    "-----BEGIN RSA PRIVATE KEY-----\\n<w64>\\n<w64>\\n-----END RSA PRIVATE KEY-----\\nthe end",
	    &text);
	for (size_t piece = 1; piece <= text.len; piece++) {
		size_t n_logs = 0;
		begin();
		gb_buf_clear(&whole);
		gb_mask_text(filter, gb_buf_str(&text), &whole);
		for (size_t at = 0; at < text.len; at += piece, n_logs++) {
			size_t n = text.len - at < piece ? text.len - at : piece;
			gb_masked_put_output(&masked, 1, text.data + at, n);
			gb_masked_put_output(&masked, 2, text.data + at, n);
			log_line();
		}
		end(false);
		for (int i = 0; i < 2; i++)
			CHECK(gb_str_eq(gb_buf_str(&masked.outputs[i]), gb_buf_str(&whole)));
		CHECK_INT(masked.n_logs, n_logs);
		char last[40];
		snprintf(last, sizeof last, "L%zu", n_logs - 1);
		CHECK(strstr(gb_buf_c_str(&heard), last));
		check_heard(heard.data);
	}
}
