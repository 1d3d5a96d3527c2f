/* Thousands of subscriptions to one execution, one of which never reads: completeness, order and memory. */
#include <malloc.h>

#include "e2e/service.h"

enum {
	MANY = 2000,
	CHUNKS = 200,
	CHUNK_BYTES = 10001,
	REPLAY_BYTES = 256 << 10,
	REPLAY_EVENTS = 1000,
	BYTES_PER_SUBSCRIPTION = 1024,
};

/* About 2 MB, in 200 parts. */
static const char source[] = "for i in range(200): print(str(i % 10) * 10000, flush=True)";

/* One subscription to the output of an execution, compared to what its submitter receives. */
struct reader {
	struct gb_subscription subscription;
	const struct task *task;
	size_t at; /* bytes of output that were delivered */
	uint64_t next, lost;
	unsigned n_finished;
	bool differs;
};

static void on_event(struct gb_subscription *subscription, const struct gb_event *event) {
	struct reader *reader = gb_container(struct reader, subscription, subscription);
	const struct gb_buf *text = &reader->task->text;
	bool is_lost = event->kind == GB_EVENT_LOST;
	reader->next += is_lost ? event->count : 1;
	reader->lost += is_lost ? event->count : 0;
	reader->differs |= event->seq != reader->next - 1 || reader->n_finished;
	reader->n_finished += event->kind == GB_EVENT_FINISHED;
	if (event->kind != GB_EVENT_OUTPUT)
		return;
	/* After a loss, the position in the output is unknown: count the bytes, and do not compare them. */
	if (!reader->lost)
		reader->differs |= reader->at + event->text.n > text->len ||
				   memcmp(text->data + reader->at, event->text.p, event->text.n) != 0;
	reader->at += event->text.n;
}

static struct reader *subscribe(struct task *task) {
	struct reader *reader = calloc(1, sizeof *reader);
	if (!reader)
		abort();
	*reader = (struct reader){.subscription.on_event = on_event, .task = task, .next = 1};
	gb_events_subscribe(gb_execution_events(task->execution), &reader->subscription, 0);
	return reader;
}

/* --- memory --- */

struct measured {
	size_t heap; /* the largest, while events are delivered */
	size_t kept_bytes, n_kept;
};

static struct measured measured;

/* Called for the submitter, which is the first subscription to receive an event. */
static void measure(struct task *task, const struct gb_event *event) {
	const struct gb_events *events = gb_execution_events(task->execution);
	size_t heap = mallinfo2().uordblks;
	measured.heap = heap > measured.heap ? heap : measured.heap;
	measured.kept_bytes = events->bytes > measured.kept_bytes ? events->bytes : measured.kept_bytes;
	measured.n_kept = events->n_kept > measured.n_kept ? events->n_kept : measured.n_kept;
}

/* --- the executions --- */

static void check_readers(struct reader *readers[], unsigned n, const struct task *task) {
	unsigned complete = 0;
	for (unsigned i = 0; i < n; i++)
		complete += !readers[i]->differs && !readers[i]->lost && readers[i]->n_finished == 1 &&
			    readers[i]->at == task->text.len && readers[i]->next == task->last + 1;
	CHECK_INT(complete, n);
}

/* The reader received STARTED before it was paused. */
static void check_paused(struct reader *reader, const struct task *task) {
	const struct gb_events *events = gb_execution_events(task->execution);
	CHECK_INT(reader->next, 2);
	gb_subscription_resume(&reader->subscription);
	CHECK(reader->lost > 0);
	CHECK_INT(reader->lost, task->last - 1 - events->n_kept);
	CHECK_INT(reader->next, task->last + 1);
	CHECK_INT(reader->n_finished, 1);
	CHECK(!reader->differs);
	CHECK_INT(reader->at, events->bytes);
}

/* Run the code with @n subscriptions besides that of the submitter; the last of them is paused. */
static struct measured run_with(struct place *place, unsigned n) {
	struct task task = {.then = measure};
	struct gb_gate_request request = python(source);
	static struct reader *readers[MANY];
	request.run.output_bytes = 16 << 20;
	measured = (struct measured){0};
	task_submit(&task, &place->client, request);
	gb_buf_reserve(&task.text, CHUNKS * CHUNK_BYTES);
	for (unsigned i = 0; i < n; i++)
		readers[i] = subscribe(&task);
	gb_subscription_pause(&readers[n - 1]->subscription);
	task_wait(place, &task);
	CHECK_INT(task.status, GB_SUCCESS);
	CHECK_INT(task.text.len, CHUNKS * CHUNK_BYTES);
	check_readers(readers, n - 1, &task);
	check_paused(readers[n - 1], &task);
	for (unsigned i = 0; i < n; i++) {
		gb_subscription_end(&readers[i]->subscription);
		free(readers[i]);
	}
	task_finish(&task);
	return measured;
}

TEST(one_of_2000_subscriptions_that_never_reads_costs_no_memory_and_delays_no_other) {
	auto_place struct place place = {0};
	place_open(&place, (struct wants){.replay = {.bytes = REPLAY_BYTES, .count = REPLAY_EVENTS}});
	/* The first execution also starts the sandboxes of the language. */
	run_with(&place, 1);
	struct measured one = run_with(&place, 1), many = run_with(&place, MANY);
	double each = ((double)many.heap - (double)one.heap) / (MANY - 1);
	printf("# heap with 1 subscription: %zu KiB, with %d: %zu KiB, %.0f bytes each\n", one.heap >> 10,
	    MANY, many.heap >> 10, each);
	printf("# kept at most: %zu events of %zu KiB\n", many.n_kept, many.kept_bytes >> 10);
	CHECK(each < BYTES_PER_SUBSCRIPTION);
	CHECK(many.n_kept <= REPLAY_EVENTS);
	CHECK(many.kept_bytes <= REPLAY_BYTES);
}

TEST(late_subscriptions_get_kept_and_later_events) {
	auto_place struct place place = {0};
	struct task task = {0};
	static struct reader *early[MANY], *late[MANY];
	place_open(&place, (struct wants){.replay = {.bytes = REPLAY_BYTES, .count = REPLAY_EVENTS}});
	task_submit(&task, &place.client,
	    python("import time\nfor i in range(10): print(i, flush=True); time.sleep(0.01)"));
	for (unsigned i = 0; i < MANY; i++)
		early[i] = subscribe(&task);
	while (task.text.len < 4 && place_turn(&place))
		;
	for (unsigned i = 0; i < MANY; i++)
		late[i] = subscribe(&task);
	task_wait(&place, &task);
	CHECK_INT(task.text.len, 20);
	check_readers(early, MANY, &task);
	check_readers(late, MANY, &task);
	for (unsigned i = 0; i < MANY; i++) {
		gb_subscription_end(&early[i]->subscription);
		gb_subscription_end(&late[i]->subscription);
		free(early[i]);
		free(late[i]);
	}
	task_finish(&task);
}
