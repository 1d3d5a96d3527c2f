/* What is long is masked on a thread: forks of a filter, and the order of events. */
#include <pthread.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "guard/masked.h"
#include "secrets.h"
#include "tap.h"

static const char secret[] = "horse-123456", other[] = "donkey-98765";

static void add_secret(struct gb_filter *filter, const char *name, const char *value) {
	CHECK(gb_secrets_add(filter, name, value, strlen(value), NULL));
}

/* --- forks --- */

static void check_masked(struct gb_filter *filter, const char *text, const char *expected) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1 << 16);
	mask_whole(filter, text, strlen(text), &out);
	CHECK_STR(gb_buf_c_str(&out), expected);
}

TEST(fork_finds_the_same_and_its_counts_are_added_when_it_is_joined) {
	struct gb_filter *filter = gb_filter_create();
	add_secret(filter, "S", secret);
	check_masked(filter, "a horse-123456", "a ***");
	struct gb_filter *fork = gb_filter_fork(filter);
	check_masked(fork, "horse-123456, horse-123456", "***, ***");
	check_masked(fork, "AKIA2E3F4G5H6I7J8K9L", "***");
	CHECK_INT(gb_filter_total(fork), 3);
	CHECK_INT(gb_filter_total(filter), 1);
	gb_filter_join(fork);
	CHECK_INT(gb_filter_total(filter), 4);
	CHECK_INT(count_of(filter, "S"), 3);
	gb_filter_destroy(filter);
}

TEST(fork_has_the_patterns_of_its_filter) {
	struct gb_filter *filter = gb_filter_create_bare();
	CHECK(gb_secret_patterns_add(filter, "P", "tok_[0-9]{6}", NULL));
	struct gb_filter *fork = gb_filter_fork(filter);
	check_masked(fork, "tok_123456", "***");
	/* The fork reads them. */
	struct gb_err err = {0};
	CHECK(!gb_secret_patterns_add(filter, "Q", "tak_[0-9]{6}", &err));
	CHECK_INT(err.code, GB_EBUSY);
	gb_filter_join(fork);
	CHECK(gb_secret_patterns_add(filter, "Q", "tak_[0-9]{6}", NULL));
	check_masked(filter, "tok_123456 tak_123456", "*** ***");
	CHECK_INT(count_of(filter, "P"), 2);
	gb_filter_destroy(filter);
}

TEST(secret_that_is_added_later_is_not_known_to_a_fork) {
	struct gb_filter *filter = gb_filter_create();
	add_secret(filter, "S", secret);
	struct gb_filter *fork = gb_filter_fork(filter), *second;
	CHECK(!gb_filter_is_outdated(fork));
	add_secret(filter, "T", other);
	CHECK(gb_filter_is_outdated(fork));
	check_masked(filter, "horse-123456 donkey-98765", "*** ***");
	check_masked(fork, "horse-123456 donkey-98765", "*** donkey-98765");
	second = gb_filter_fork(filter);
	check_masked(second, "horse-123456 donkey-98765", "*** ***");
	/* It outlives the other owners of its filter. */
	gb_filter_join(second);
	CHECK_INT(count_of(filter, "S"), 2);
	CHECK_INT(count_of(filter, "T"), 2);
	gb_filter_destroy(filter);
	check_masked(fork, "horse-123456 donkey-98765", "*** donkey-98765");
	gb_filter_destroy(fork);
}

static void *mask_often(void *data) {
	for (int i = 0; i < 200; i++)
		check_masked(data, "a horse-123456 donkey-98765", "a *** donkey-98765");
	return NULL;
}

TEST(secrets_are_added_while_a_fork_is_in_use) {
	struct gb_filter *filter = gb_filter_create();
	pthread_t thread;
	add_secret(filter, "S", secret);
	struct gb_filter *fork = gb_filter_fork(filter);
	CHECK(pthread_create(&thread, NULL, mask_often, fork) == 0);
	for (int i = 0; i < 100; i++) {
		char value[40];
		snprintf(value, sizeof value, "donkey-%d", 98765 + i);
		add_secret(filter, "T", value);
		check_masked(filter, "horse-123456 donkey-98765", "*** ***");
	}
	pthread_join(thread, NULL);
	gb_filter_join(fork);
	CHECK_INT(count_of(filter, "S"), 300);
	gb_filter_destroy(filter);
}

/* --- events --- */

enum { LONG = 100000 };

static struct gb_filter *filter;
static struct gb_masked masked;
static struct gb_values *pool;
static struct gb_buf heard;  /* see hear */
static struct gb_work *work; /* that was offered, and is not run */
static unsigned n_works;
static bool refuses;

static bool take_work(struct gb_work *offered, size_t bytes, void *data) {
	CHECK(!work && data == &n_works);
	if (refuses)
		return false;
	work = offered;
	n_works++;
	return true;
}

/* 1"text" for output, L0 for a log, D for a display; the beginnings of long texts. */
static void hear(struct gb_masked *m, void *data) {
	struct gb_masked_event event;
	CHECK(m == &masked && data == &heard);
	while (gb_masked_next(m, &event)) {
		if (event.kind == GB_MASKED_LOG) {
			gb_buf_printf(&heard, "L%zu", event.at);
		} else if (event.kind == GB_MASKED_DISPLAY) {
			gb_buf_printf(&heard, "D");
		} else {
			struct gb_str text = gb_masked_output(m, &event);
			gb_buf_printf(
			    &heard, "%d\"%.*s\"", event.stream, (int)(text.n < 12 ? text.n : 12), text.p);
		}
	}
}

static void begin(bool with_threads) {
	filter = gb_filter_create();
	pool = gb_values_create(1 << 24);
	work = NULL;
	n_works = 0;
	refuses = false;
	gb_buf_init(&heard, 1 << 20);
	add_secret(filter, "S", secret);
	CHECK(gb_masked_init(&masked, filter, 1 << 24, 1 << 24));
	if (with_threads)
		gb_masked_use_threads(&masked,
		    &(struct gb_masked_threads){
			.work = take_work, .work_data = &n_works, .on_progress = hear, .data = &heard});
	else
		masked.threads.data = &heard;
}

static void finish(void) {
	gb_masked_finish(&masked);
	gb_filter_destroy(filter);
	gb_values_destroy(pool);
	gb_buf_finish(&heard);
}

static void *run_work(void *data) {
	work->run(work, data);
	return NULL;
}

/* Run the work that was offered, on a thread. */
static void do_work(void) {
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, run_work, NULL) == 0);
	pthread_join(thread, NULL);
	struct gb_work *done = work;
	work = NULL;
	done->done(done);
}

/* @n bytes that begin and end with a secret. */
static struct gb_value *text_of(size_t n, const char *value) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, n + 1000);
	gb_buf_printf(&text, "%s ", value);
	while (text.len < n)
		gb_buf_append(&text, "password= ", 10);
	gb_buf_printf(&text, " %s", value);
	return gb_value_string(pool, text.data, text.len);
}

static void log_of(size_t n) {
	struct gb_value *args = gb_value_array(pool);
	gb_value_push(args, text_of(n, secret));
	gb_masked_put_log(&masked, &(struct gb_log){.args = args, .timestamp = 7});
	hear(&masked, &heard);
}

static void output(int stream, const char *text) {
	gb_masked_put_output(&masked, stream, text, strlen(text));
	hear(&masked, &heard);
}

static void display(void) {
	gb_masked_put_display(&masked, text_of(20, secret));
	hear(&masked, &heard);
}

static void on_report(struct gb_masked *m, const struct gb_value *clean, void *context, void *data) {
	hear(m, data);
	gb_buf_printf(&heard, "%s%s", (const char *)context,
	    clean && strstr(gb_value_bytes(clean, NULL), secret) ? "?" : "");
}

static const struct gb_result *end(struct gb_result *result, size_t n) {
	*result = gb_result_instead(GB_SUCCESS, "", "", "", NULL);
	result->value = text_of(n, secret);
	gb_masked_put_end(&masked, result);
	hear(&masked, &heard);
	return result;
}

/* Everything that a run can say, with a text across events. */
static void say_everything(size_t n, struct gb_result *result) {
	gb_masked_put_report(&masked, text_of(20, secret), on_report, (char *)"R0");
	log_of(20);
	output(1, "a hor");
	log_of(n);
	output(1, "se-123456 b\n");
	display();
	gb_masked_put_report(&masked, text_of(n, secret), on_report, (char *)"R1");
	output(2, "error\n");
	output(1, "c\n");
	output(1, "d\n");
	gb_masked_put_mark(&masked, on_report, (char *)"M");
	log_of(20);
	end(result, n);
}

static const char everything[] = "R0L01\"a \"1\"***\"L11\" b\n\"DR12\"error\n\"1\"c\nd\n\"ML2";

/* Pieces of one stream that wait together come out together. */
static bool is_everything(void) {
	static const char apart[] = "R0L01\"a \"1\"***\"L11\" b\n\"DR12\"error\n\"1\"c\n\"1\"d\n\"ML2";
	const char *text = gb_buf_c_str(&heard);
	return CHECK(strcmp(text, everything) == 0 || strcmp(text, apart) == 0) || printf("# %s\n", text) < 0;
}

static void check_result(const struct gb_result *result) {
	struct gb_result clean;
	CHECK(gb_masked_is_ready(&masked));
	CHECK(gb_masked_result(&masked, result, &clean));
	CHECK_STR(clean.stdout_text, "a *** b\nc\nd\n");
	CHECK_STR(clean.stderr_text, "error\n");
	CHECK_INT(clean.n_logs, 3);
	CHECK_INT((int)clean.logs[1].timestamp, 7);
	const char *value = gb_value_bytes(clean.value, NULL);
	CHECK(strncmp(value, "*** password", 12) == 0 && !strstr(value, secret));
	for (size_t i = 0; i < clean.n_logs; i++)
		CHECK(!strstr(gb_value_bytes(gb_value_at(clean.logs[i].args, 0), NULL), secret));
	/* Three logs and the result with two places each, and one in the output. */
	CHECK_INT(masked.n_masked, 9);
	/* The display and two reports. */
	CHECK_INT(gb_filter_total(filter), 9 + 2 * 3);
}

TEST(events_and_result_without_a_thread) {
	struct gb_result result;
	begin(false);
	say_everything(LONG, &result);
	is_everything();
	check_result(&result);
	finish();
}

TEST(short_items_are_masked_at_once) {
	struct gb_result result;
	begin(true);
	say_everything(1000, &result);
	CHECK_INT(n_works, 0);
	is_everything();
	check_result(&result);
	finish();
}

TEST(events_keep_their_order_behind_a_long_item) {
	struct gb_result result;
	begin(true);
	say_everything(LONG, &result);
	CHECK_STR(gb_buf_c_str(&heard), "R0L01\"a \"");
	CHECK(work && !gb_masked_is_ready(&masked));
	do_work();
	CHECK(work && !gb_masked_is_ready(&masked));
	do_work();
	CHECK_INT(n_works, 2);
	CHECK(!work);
	is_everything();
	check_result(&result);
	finish();
}

TEST(everything_is_masked_at_once_if_there_is_no_thread) {
	struct gb_result result;
	begin(true);
	refuses = true;
	say_everything(LONG, &result);
	is_everything();
	check_result(&result);
	finish();
}

TEST(much_output_in_short_time_is_masked_on_a_thread) {
	enum { PIECES = 10 };
	gb_auto_buf struct gb_buf piece;
	begin(true);
	gb_buf_init(&piece, 100000);
	while (piece.len < 50000)
		gb_buf_printf(&piece, "password= horse-123456 ");
	for (int i = 0; i < PIECES; i++)
		output(1 + i % 2, gb_buf_c_str(&piece));
	struct gb_result result;
	end(&result, 20);
	while (work)
		do_work();
	CHECK(n_works > 0);
	CHECK(gb_masked_is_ready(&masked));
	for (int i = 0; i < 2; i++) {
		CHECK(!strstr(gb_buf_c_str(&masked.outputs[i]), "horse"));
		CHECK_INT(masked.outputs[i].len, piece.len / 23 * 14 * (PIECES / 2));
	}
	finish();
}

TEST(secret_that_is_added_during_the_work_is_masked) {
	struct gb_result result = {0}, clean;
	begin(true);
	struct gb_value *args = gb_value_array(pool);
	gb_value_push(args, text_of(LONG, other));
	gb_masked_put_log(&masked, &(struct gb_log){.args = args});
	output(1, "password= donkey-98765 horse-123456\n");
	add_secret(filter, "T", other);
	do_work();
	CHECK(work);
	CHECK_STR(gb_buf_c_str(&heard), "");
	do_work();
	CHECK(!work);
	end(&result, 20);
	CHECK(gb_masked_result(&masked, &result, &clean));
	CHECK_STR(clean.stdout_text, "password= *** ***\n");
	const char *text = gb_value_bytes(gb_value_at(clean.logs[0].args, 0), NULL);
	CHECK(strncmp(text, "*** password", 12) == 0 && !strstr(text, other));
	CHECK_INT(masked.n_masked, 2 + 2 + 2);
	finish();
}

/* The end of what it says comes from inside a callback. */
static struct gb_result late;

static void on_report_end(struct gb_masked *m, const struct gb_value *clean, void *context, void *data) {
	hear(m, data);
	gb_buf_printf(&heard, "%s", (const char *)context);
	late = gb_result_instead(GB_TERMINATED, "", "", "", NULL);
	gb_masked_put_end(m, &late);
	CHECK(!gb_masked_is_ready(m));
}

TEST(end_that_is_put_in_by_a_callback_comes_last) {
	begin(true);
	gb_masked_put_report(&masked, text_of(LONG, secret), on_report_end, (char *)"R");
	log_of(20);
	do_work();
	while (work)
		do_work();
	CHECK(gb_masked_is_ready(&masked));
	CHECK_STR(gb_buf_c_str(&heard), "RL0");
	finish();
}

TEST(no_events_after_it_is_abandoned) {
	struct gb_result result;
	begin(true);
	say_everything(LONG, &result);
	gb_masked_abandon(&masked);
	gb_buf_clear(&heard);
	while (work)
		do_work();
	CHECK_STR(gb_buf_c_str(&heard), "R1M");
	struct gb_result clean;
	CHECK(!gb_masked_result(&masked, &result, &clean));
	finish();
}

TEST(cyclic_value_is_masked) {
	begin(true);
	struct gb_value *args = gb_value_array(pool), *object = gb_value_object(pool);
	gb_value_push(args, object);
	gb_value_put(object, gb_value_string(pool, "self", 4), object);
	gb_value_put(object, gb_value_string(pool, "text", 4), text_of(10, secret));
	gb_masked_put_log(&masked, &(struct gb_log){.args = args});
	while (work)
		do_work();
	hear(&masked, &heard);
	CHECK_STR(gb_buf_c_str(&heard), "L0");
	const struct gb_value *clean = gb_value_at(masked.logs[0].args, 0);
	CHECK(gb_value_at(clean, 0) == clean);
	CHECK_STR(gb_value_bytes(gb_value_at(clean, 1), NULL), "***");
	finish();
}
