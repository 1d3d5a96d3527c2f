#include <string.h>

#include "base/cleanup.h"
#include "cli/complete.h"
#include "cli/session.h"
#include "cli/untrusted.h"
#include "store/approvals.h"

enum { APPROVALS_MAX = 100, PURPOSE_MAX = 60 };

/* Names of sessions mean nothing to a shell or a terminal: the engine allows only letters, digits, '.', '_' and '-'. */
static void offer_session(const struct complete_word *word, const struct gb_value *session) {
	const char *name = session_text(session, "name"), *state = session_text(session, "state");
	char description[64];
	if (strcmp(state, "terminated") == 0)
		return;
	snprintf(description, sizeof description, "%s, %s", session_text(session, "runtime"), state);
	complete_offer(word, *name ? name : session_text(session, "id"), description);
}

void complete_sessions(const struct complete_word *word) {
	struct session_client client;
	gb_auto_buf struct gb_buf line;
	session_line(&line, "session_list");
	gb_buf_printf(&line, ",\"request\":1");
	if (session_reach(&client, &command_complete, NULL) != REACHED)
		return;
	const struct gb_value *reply = session_send_line(&client, &line) ? session_receive(&client) : NULL;
	const struct gb_value *sessions = reply ? gb_value_get(reply, "sessions") : NULL;
	for (size_t i = 0; i < gb_value_count(sessions); i++)
		offer_session(word, gb_value_at(sessions, i));
	session_leave(&client);
}

static bool offer_approval(void *data, struct gb_approval *approval) {
	const struct complete_word *word = data;
	struct gb_str purpose = approval->request.purpose;
	if (strncmp(approval->id, word->given.p, word->given.n) != 0)
		return true;
	printf("%s%s\t", word->before, approval->id);
	print_name(stdout, purpose.p, purpose.n < PURPOSE_MAX ? purpose.n : PURPOSE_MAX);
	putchar('\n');
	return true;
}

void complete_approvals(const struct complete_word *word, struct state_request *state) {
	const char *dir = state_folder(&command_complete, state, STATE_COMMON);
	const struct gb_approvals_options options = {.read_only = true};
	const struct gb_approval_filter pending = {
	    .pending_only = true, .newest_first = true, .limit = APPROVALS_MAX};
	struct gb_approvals *approvals;
	struct gb_err err = {0};
	if (!dir || !gb_approvals_open(dir, &options, &approvals, &err))
		return;
	gb_approvals_each(approvals, &pending, offer_approval, (void *)word, &err);
	gb_approvals_close(approvals);
}
