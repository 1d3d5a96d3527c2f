/* Waiting for a decision, and several processes competing for the same approval. */
#include <poll.h>
#include <sys/wait.h>

#include "approvals-fixture.h"

/* --- waiting --- */

static bool is_readable(int fd) {
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	return poll(&pollfd, 1, 0) == 1;
}

static unsigned poll_count(struct gb_approvals *approvals) {
	unsigned n = 0;
	CHECK(gb_approvals_poll(approvals, count, &n, NULL));
	return n;
}

TEST(waiter_is_woken_by_another_handle) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approvals *other = open_in(fixture.folder, plain);
	int fd = -1;
	CHECK(gb_approvals_fd(fixture.approvals, &fd, NULL));
	CHECK_INT(poll_count(fixture.approvals), 0);
	CHECK(!is_readable(fd));
	struct gb_approval_ticket ticket = submit(other, "1");
	CHECK(is_readable(fd));
	CHECK_INT(poll_count(fixture.approvals), 1);
	CHECK(!is_readable(fd));
	decide(other, &ticket, GB_APPROVE);
	submit_and_deny(other, "2");
	CHECK(is_readable(fd));
	CHECK_INT(poll_count(fixture.approvals), 2);
	CHECK_INT(poll_count(fixture.approvals), 0);
	gb_approvals_close(other);
}

TEST(changes_before_the_descriptor_are_polled_too) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approvals *other = open_in(fixture.folder, plain);
	int fd;
	submit(other, "1");
	CHECK(gb_approvals_fd(fixture.approvals, &fd, NULL));
	CHECK(!is_readable(fd));
	CHECK_INT(poll_count(fixture.approvals), 1);
	gb_approvals_close(other);
}

TEST(removed_notification_file_is_created_again) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approvals *other = open_in(fixture.folder, plain);
	int fd;
	CHECK(gb_approvals_fd(fixture.approvals, &fd, NULL));
	for (unsigned i = 0; i < 2; i++) {
		if (i == 0)
			CHECK(unlink(file_in(fixture.folder, "approvals.bell")) == 0);
		else
			CHECK(rename(file_in(fixture.folder, "approvals.bell"),
				  file_in(fixture.folder, "moved")) == 0);
		CHECK(is_readable(fd));
		poll_count(fixture.approvals);
		CHECK(!is_readable(fd) || (poll_count(fixture.approvals), !is_readable(fd)));
		submit_and_deny(other, i ? "1" : "2");
		CHECK(is_readable(fd));
		CHECK_INT(poll_count(fixture.approvals), 1);
	}
	gb_approvals_close(other);
}

TEST(poll_expires_approvals_and_visits_them) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	submit(fixture.approvals, "1");
	CHECK_INT(poll_count(fixture.approvals), 1);
	clock_ms += 300000;
	CHECK_INT(poll_count(fixture.approvals), 1);
	CHECK_INT(poll_count(fixture.approvals), 0);
}

static bool decide_here(void *data, struct gb_approval *approval) {
	struct gb_decision decision = a_decision(GB_DENY, &approval->hash, "ann");
	struct gb_standing standing;
	if (approval->state == GB_APPROVAL_PENDING)
		CHECK(gb_approval_decide(data, approval->id, &decision, &standing, NULL) && standing.is_mine);
	return true;
}

TEST(a_visitor_may_decide) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	for (unsigned i = 0; i < 5; i++)
		submit(fixture.approvals, "12345" + i);
	CHECK(gb_approvals_poll(fixture.approvals, decide_here, fixture.approvals, NULL));
	CHECK_INT(count_all(fixture.approvals, (struct gb_approval_filter){.pending_only = true}), 0);
}

/* --- several processes --- */

enum { RIVALS = 8, CONTESTS = 10 };

/* Each rival process does @work for each ticket, at the same time. Returns the number of wins of all
 * rivals. */
static unsigned compete(const char *folder, const struct gb_approval_ticket *tickets,
    bool (*work)(struct gb_approvals *, const struct gb_approval_ticket *, unsigned)) {
	int start[2], wins[2];
	char won[RIVALS * CONTESTS + 1];
	unsigned n = 0;
	if (pipe(start) != 0 || pipe(wins) != 0)
		abort();
	for (unsigned i = 0; i < RIVALS; i++)
		if (fork() == 0) {
			struct gb_approvals *approvals = open_in(folder, plain);
			char byte;
			close(start[1]);
			if (read(start[0], &byte, 1) != 0)
				_exit(1);
			for (unsigned j = 0; j < CONTESTS; j++)
				if (work(approvals, &tickets[j], i) && write(wins[1], "!", 1) != 1)
					_exit(1);
			gb_approvals_close(approvals);
			_exit(tap.failures > 0);
		}
	close(start[0]), close(start[1]), close(wins[1]);
	for (ssize_t got; (got = read(wins[0], won, sizeof won)) > 0;)
		n += (unsigned)got;
	for (int status; wait(&status) > 0;)
		CHECK_INT(status, 0);
	close(wins[0]);
	return n;
}

static bool decide_as(
    struct gb_approvals *approvals, const struct gb_approval_ticket *ticket, unsigned rival) {
	char name[16];
	struct gb_standing standing = {0};
	snprintf(name, sizeof name, "rival-%u", rival);
	struct gb_decision decision = a_decision(rival % 2 ? GB_APPROVE : GB_DENY, &ticket->hash, name);
	CHECK(gb_approval_decide(approvals, ticket->id, &decision, &standing, NULL));
	CHECK(standing.is_mine == (strcmp(standing.decider, name) == 0));
	/* Odd rivals approve, even ones deny. */
	CHECK_INT(
	    standing.state, (standing.decider[6] - '0') % 2 ? GB_APPROVAL_APPROVED : GB_APPROVAL_DENIED);
	return standing.is_mine;
}

static bool use_as(struct gb_approvals *approvals, const struct gb_approval_ticket *ticket, unsigned rival) {
	return use(approvals, ticket->id, a_request("1")) == GB_USE_GRANTED;
}

static void submit_contests(struct fixture *fixture, struct gb_approval_ticket tickets[CONTESTS]) {
	struct gb_approval_request request = a_request("1");
	request.token = GB_STR("");
	for (unsigned i = 0; i < CONTESTS; i++)
		CHECK(gb_approval_submit(fixture->approvals, &request, &tickets[i], NULL));
}

TEST(one_of_several_deciding_processes_is_first) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket tickets[CONTESTS];
	submit_contests(&fixture, tickets);
	gb_approvals_close(fixture.approvals);
	fixture.approvals = NULL;
	CHECK_INT(compete(fixture.folder, tickets, decide_as), CONTESTS);
}

TEST(one_of_several_using_processes_is_granted) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket tickets[CONTESTS];
	submit_contests(&fixture, tickets);
	for (unsigned i = 0; i < CONTESTS; i++)
		decide(fixture.approvals, &tickets[i], GB_APPROVE);
	gb_approvals_close(fixture.approvals);
	fixture.approvals = NULL;
	CHECK_INT(compete(fixture.folder, tickets, use_as), CONTESTS);
}

TEST(a_waiter_is_woken_by_another_process) {
	auto_fixture struct fixture fixture = fixture_open(plain);
	struct gb_approval_ticket ticket = submit(fixture.approvals, "1");
	int fd;
	CHECK(gb_approvals_fd(fixture.approvals, &fd, NULL));
	poll_count(fixture.approvals);
	pid_t pid = fork();
	if (pid == 0) {
		struct gb_approvals *other = open_in(fixture.folder, plain);
		bool mine = decide(other, &ticket, GB_APPROVE).is_mine;
		gb_approvals_close(other);
		_exit(!mine);
	}
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	CHECK_INT(poll(&pollfd, 1, 60000), 1);
	int status = -1;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_INT(poll_count(fixture.approvals), 1);
	CHECK_INT(use(fixture.approvals, ticket.id, a_request("1")), GB_USE_GRANTED);
}
