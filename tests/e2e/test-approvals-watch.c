/* `glovebox approvals watch` at a terminal. */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

#include "approvals.h"
#include "tap.h"

enum { SCREEN = 4 << 20, WAIT_MAX_MS = 60000 };

/* `watch` at a terminal, while other handles submit and decide. */
struct person {
	char folder[FOLDER];
	struct gb_approvals *approvals;
	int terminal;
	pid_t pid;
	char *screen;
	size_t n, read; /* bytes on the screen; the part that has been matched */
};

static struct person person_sit(struct gb_approvals_options options) {
	struct person person = {.screen = calloc(1, SCREEN)};
	struct winsize size = {.ws_row = 40, .ws_col = 80};
	struct gb_err err = {0};
	folder_create(person.folder);
	if (!CHECK(gb_approvals_open(person.folder, &options, &person.approvals, &err)))
		printf("# %s\n", err.message);
	person.pid = forkpty(&person.terminal, NULL, NULL, &size);
	if (person.pid == 0) {
		setenv("TERM", "xterm", 1);
		unsetenv("NO_COLOR");
		execl(getenv("GB_GLOVEBOX"), "glovebox", "approvals", "watch", "--dir", person.folder, NULL);
		_exit(99);
	}
	return person;
}

/* Wait until @text appears on the screen, after the matched part. */
static bool person_see(struct person *person, const char *text) {
	for (;;) {
		const char *at = strstr(person->screen + person->read, text);
		if (at) {
			person->read = (size_t)(at - person->screen) + strlen(text);
			return true;
		}
		struct pollfd pollfd = {.fd = person->terminal, .events = POLLIN};
		if (poll(&pollfd, 1, WAIT_MAX_MS) != 1)
			return false;
		ssize_t got = read(person->terminal, person->screen + person->n, SCREEN - 1 - person->n);
		if (got <= 0)
			return false;
		/* A zero byte would end the searched text. */
		for (ssize_t i = 0; i < got; i++)
			if (person->screen[person->n + (size_t)i] == '\0')
				person->screen[person->n + (size_t)i] = '0';
		person->n += (size_t)got;
	}
}

#define SEE(person, text)                                                                                    \
	(CHECK(person_see(person, text)) ||                                                                  \
	    (tap_quote("missing: ", text), tap_quote("screen: ", (person)->screen), false))

static void person_type(struct person *person, const char *text) {
	CHECK(write(person->terminal, text, strlen(text)) == (ssize_t)strlen(text));
}

static void person_leave(struct person *person) {
	int status = 0;
	if (person->pid > 0)
		kill(person->pid, SIGKILL);
	if (person->pid > 0)
		waitpid(person->pid, &status, 0);
	close(person->terminal);
	gb_approvals_close(person->approvals);
	folder_destroy(person->folder);
	free(person->screen);
}
#define auto_person __attribute__((cleanup(person_leave)))

/* Wait for its end. */
static void person_is_done(struct person *person, int expected) {
	int status = -1;
	while (person_see(person, "\x7f never")) {
	}
	CHECK(waitpid(person->pid, &status, 0) == person->pid && WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), expected);
	person->pid = 0;
}

static struct gb_approval_ticket submit(struct person *person, const char *code) {
	struct gb_approval_request request = a_request(code);
	struct gb_approval_ticket ticket = {0};
	CHECK(gb_approval_submit(person->approvals, &request, &ticket, NULL));
	return ticket;
}

static enum gb_approval_state state_of(struct person *person, const char *id) {
	gb_auto_approval struct gb_approval *approval = NULL;
	return CHECK(gb_approval_get(person->approvals, id, &approval, NULL)) ? approval->state
									      : GB_APPROVAL_PENDING;
}

static const struct gb_approvals_options plain;

TEST(requests_are_shown_and_decided_in_order) {
	auto_person struct person person = person_sit(plain);
	SEE(&person, "Waiting for requests");
	struct gb_approval_ticket one = submit(&person, "print('one')");
	SEE(&person, "conversation-1");
	SEE(&person, "1 | ");
	SEE(&person, "[q]uit (and a reason, if you like): ");
	person_type(&person, "a\n");
	SEE(&person, "approved\x1b[0m by ");
	CHECK_INT(state_of(&person, one.id), GB_APPROVAL_APPROVED);
	struct gb_approval_ticket two = submit(&person, "print('two')"),
				  three = submit(&person, "print('three')");
	SEE(&person, "'two'");
	SEE(&person, "if you like): ");
	person_type(&person, "deny it writes\n");
	SEE(&person, "denied\x1b[0m by ");
	SEE(&person, ": it writes");
	SEE(&person, "'three'");
	SEE(&person, "if you like): ");
	person_type(&person, "t\n");
	SEE(&person, "the session is trusted");
	CHECK_INT(state_of(&person, two.id), GB_APPROVAL_DENIED);
	struct gb_approval_request request = a_request("print('four')");
	struct gb_trust trust;
	bool is_trusted = false;
	CHECK(gb_trust_find(person.approvals, &request, &is_trusted, &trust, NULL) && is_trusted);
	CHECK_STR(trust.approval_id, three.id);
	person_type(&person, "q\n");
	person_is_done(&person, 0);
}

TEST(a_skipped_request_stays_pending_and_invalid_input_is_asked_again) {
	auto_person struct person person = person_sit(plain);
	struct gb_approval_ticket one = submit(&person, "first");
	SEE(&person, "if you like): ");
	person_type(&person, "yes\n");
	SEE(&person, "if you like): ");
	CHECK_INT(state_of(&person, one.id), GB_APPROVAL_PENDING);
	person_type(&person, "s\n");
	struct gb_approval_ticket two = submit(&person, "second");
	SEE(&person, "second");
	SEE(&person, "if you like): ");
	person_type(&person, "\x04");
	person_is_done(&person, 0);
	CHECK_INT(state_of(&person, one.id), GB_APPROVAL_PENDING);
	CHECK_INT(state_of(&person, two.id), GB_APPROVAL_PENDING);
}

TEST(a_decision_of_another_process_is_shown) {
	auto_person struct person person = person_sit(plain);
	struct gb_approval_ticket ticket = submit(&person, "first");
	SEE(&person, "if you like): ");
	struct gb_decision decision = a_decision(GB_DENY, &ticket.hash, "bob");
	struct gb_standing standing;
	CHECK(
	    gb_approval_decide(person.approvals, ticket.id, &decision, &standing, NULL) && standing.is_mine);
	SEE(&person, "was answered elsewhere: ");
	SEE(&person, "denied\x1b[0m by bob at ");
	SEE(&person, ": because");
	submit(&person, "second");
	SEE(&person, "second");
}

TEST(input_typed_before_the_question_is_discarded) {
	auto_person struct person person = person_sit(plain);
	person_type(&person, "a\n");
	struct gb_approval_ticket ticket = submit(&person, "first");
	SEE(&person, "if you like): ");
	person_type(&person, "d\n");
	SEE(&person, "denied");
	CHECK_INT(state_of(&person, ticket.id), GB_APPROVAL_DENIED);
}

TEST(a_question_ends_when_its_request_expires) {
	auto_person struct person person = person_sit((struct gb_approvals_options){.timeout_ms = 5000});
	/* A request that expired before `watch` started is not asked about. */
	SEE(&person, "Waiting for requests");
	struct gb_approval_ticket ticket = submit(&person, "first");
	SEE(&person, "expired");
	CHECK_INT(state_of(&person, ticket.id), GB_APPROVAL_EXPIRED);
}

TEST(code_is_coloured_and_its_own_escapes_are_not_obeyed) {
	auto_person struct person person = person_sit(plain);
	submit(&person, "def f():  # \x1b[8mhidden\x1b]0;x\x07\n\treturn 12 + 'a\xe2\x80\xae'");
	SEE(&person,
	    "\x1b[1mdef\x1b[0m f():  \x1b[32m# \x1b[0m\x1b[31m<U+001B>\x1b[0m\x1b[32m[8mhidden\x1b[0m");
	SEE(&person, "\x1b[1mreturn\x1b[0m \x1b[36m12\x1b[0m + "
		     "\x1b[33m'a\x1b[0m\x1b[31m<U+202E>\x1b[0m\x1b[33m'\x1b[0m");
	SEE(&person, "4 characters that cannot be seen");
	CHECK(strstr(person.screen, "\x1b]0;") == NULL && strchr(person.screen, '\x07') == NULL);
}

TEST(a_line_of_a_megabyte_is_shown_and_can_be_decided) {
	auto_person struct person person = person_sit(plain);
	char *code = malloc((1 << 20) + 1);
	memset(code, '/', 1 << 20);
	code[1 << 20] = '\0';
	struct gb_approval_ticket ticket = submit(&person, code);
	free(code);
	SEE(&person, "1048576 bytes of code");
	SEE(&person, "if you like): ");
	person_type(&person, "d\n");
	SEE(&person, "denied");
	CHECK_INT(state_of(&person, ticket.id), GB_APPROVAL_DENIED);
}
