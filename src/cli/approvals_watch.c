/* Asks the user at a terminal about each request as it arrives. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/approvals.h"
#include "cli/cells.h"

enum { ANSWER_BYTES = 2048 };

struct watch {
	struct gb_approvals *approvals;
	struct gb_str decider;
	int changes;               /* readable when something may have changed */
	struct gb_approval *asked; /* the request that is shown */
	uint64_t last_seq;         /* requests up to this one were shown; each is shown once */
	bool is_over;              /* the user has quit, or standard input has ended */
};

static bool note_next(void *data, struct gb_approval *approval) {
	struct watch *watch = data;
	struct gb_err err = {0};
	if (approval->seq <= watch->last_seq)
		return true;
	watch->last_seq = approval->seq;
	if (!gb_approval_get(watch->approvals, approval->id, &watch->asked, &err))
		approvals_fail(&err);
	return !watch->asked;
}

static void forget(struct watch *watch) {
	gb_approval_free(&watch->asked);
}

static void prompt(const struct watch *watch) {
	const struct gb_approval_request *request = &watch->asked->request;
	print_styled(stdout, BOLD, "%.8s  ", watch->asked->id);
	print_cell(PLAIN, request->runtime, 10);
	printf("%zu bytes of code: [a]pprove  [d]eny%s  [s]kip  [q]uit (and a reason, if you like): ",
	    request->code.n, request->conversation.n ? "  [t]rust the session" : "");
	fflush(stdout);
}

static bool ask_next(struct watch *watch, struct gb_err *err) {
	struct gb_approval_filter pending = {.pending_only = true};
	if (!gb_approvals_each(watch->approvals, &pending, note_next, watch, err))
		return false;
	if (!watch->asked)
		return true;
	putchar('\n');
	approvals_print(watch->asked);
	putchar('\n');
	/* Discard keys that were typed before the request was visible. */
	tcflush(STDIN_FILENO, TCIFLUSH);
	prompt(watch);
	return true;
}

/* Check whether the request was decided elsewhere or has expired. */
static bool check_answered(struct watch *watch, struct gb_err *err) {
	gb_auto_approval struct gb_approval *now = NULL;
	if (!gb_approval_get(watch->approvals, watch->asked->id, &now, err)) {
		forget(watch);
		return err->code == GB_ENOENT; /* answered, and pruned since */
	}
	if (now->state == GB_APPROVAL_PENDING)
		return true;
	struct gb_standing standing = {
	    .state = now->state, .trusts = now->trusts, .decided_ms = now->decided_ms};
	snprintf(standing.decider, sizeof standing.decider, "%.*s", GB_STR_ARG(now->decider));
	snprintf(standing.reason, sizeof standing.reason, "%.*s", GB_STR_ARG(now->reason));
	printf("\n%.8s was answered elsewhere: ", now->id);
	approvals_print_standing(&standing);
	forget(watch);
	return true;
}

/* --- answers --- */

static void decide(struct watch *watch, enum gb_approval_verdict verdict, struct gb_str reason) {
	struct gb_decision decision = {
	    .verdict = verdict, .hash = watch->asked->hash, .decider = watch->decider, .reason = reason};
	struct gb_standing standing;
	struct gb_err err = {0};
	if (!gb_approval_decide(watch->approvals, watch->asked->id, &decision, &standing, &err)) {
		approvals_fail(&err);
		prompt(watch);
		return;
	}
	printf("%.8s %s", watch->asked->id, standing.is_mine ? "" : "was answered before: ");
	approvals_print_standing(&standing);
	forget(watch);
}

/* The whole word or its first letter. */
static bool means(struct gb_str said, const char *word) {
	return gb_str_eq(said, gb_str_from(word)) || gb_str_eq(said, (struct gb_str){word, 1});
}

static struct gb_str trim(struct gb_str text) {
	while (text.n && (text.p[0] == ' ' || text.p[0] == '\t'))
		text = (struct gb_str){text.p + 1, text.n - 1};
	while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
		text.n--;
	return text;
}

static void answer(struct watch *watch, struct gb_str line) {
	struct gb_str rest = trim(line), word;
	gb_str_cut(&rest, ' ', &word);
	if (means(word, "quit")) {
		watch->is_over = true;
		return;
	}
	if (!watch->asked)
		return;
	for (const struct approvals_verdict *known = approvals_verdicts; known->word; known++)
		if (means(word, known->word)) {
			decide(watch, known->verdict, trim(rest));
			return;
		}
	if (means(word, "skip"))
		forget(watch);
	else
		prompt(watch);
}

/* A read from a terminal returns one line. */
static bool read_answer(struct watch *watch) {
	char line[ANSWER_BYTES];
	ssize_t n = read(STDIN_FILENO, line, sizeof line);
	if (n < 0 && errno == EINTR)
		return true;
	if (n > 0)
		answer(watch, (struct gb_str){line, (size_t)n});
	return n > 0;
}

/* --- the loop: waits for an answer, a change or a deadline --- */

static bool ignore(void *data, struct gb_approval *approval) {
	return true;
}

static bool turn(struct watch *watch, struct gb_err *err) {
	int64_t left;
	if (!gb_approvals_poll(watch->approvals, ignore, NULL, err) ||
	    (watch->asked && !check_answered(watch, err)) || (!watch->asked && !ask_next(watch, err)) ||
	    !gb_approvals_next_deadline(watch->approvals, &left, err))
		return false;
	fflush(stdout);
	struct pollfd fds[] = {
	    {.fd = STDIN_FILENO, .events = POLLIN}, {.fd = watch->changes, .events = POLLIN}};
	if (poll(fds, GB_COUNT(fds), left > INT_MAX ? INT_MAX : (int)left) < 0 && errno != EINTR)
		return gb_fail(err, GB_ESYSTEM, errno, "poll");
	if (fds[0].revents && !read_answer(watch))
		watch->is_over = true;
	return true;
}

int approvals_watch(struct gb_approvals *approvals, const struct approvals_request *request) {
	struct watch watch = {.approvals = approvals, .decider = gb_str_from(request->decider)};
	struct gb_err err = {0};
	bool ok = gb_approvals_fd(approvals, &watch.changes, &err);
	if (ok)
		print_styled(stdout, DIM, "Waiting for requests; q and Enter ends.\n");
	while (ok && !watch.is_over)
		ok = turn(&watch, &err);
	forget(&watch);
	putchar('\n');
	return ok ? approvals_finish_output() : approvals_fail(&err);
}
