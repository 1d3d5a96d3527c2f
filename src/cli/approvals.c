#include "cli/approvals.h"

#include <pwd.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { FLAG_JSON, FLAG_ALL, FLAG_SESSION, FLAG_CONVERSATION, FLAG_RUNTIME, FLAG_REASON, FLAG_STATE };

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "list, show: approvals as JSON, one per line", 0, " list show "},
    [FLAG_ALL] = {"all", 'a', NULL, "list: also decided requests, the newest first", 0, " list "},
    [FLAG_SESSION] = {"session", 0, "ID", "list: of this session", 0, " list "},
    [FLAG_CONVERSATION] = {"conversation", 0, "ID", "list: of this conversation", 0, " list "},
    [FLAG_RUNTIME] = {"runtime", 0, "NAME", "list: of this runtime: javascript, python, ...", 0, " list "},
    [FLAG_REASON] = {"reason", 0, "TEXT",
	"approve, deny, trust: the reason, for the record and for the agent", FLAG_EMPTY,
	" approve deny trust "},
    [FLAG_STATE] = STATE_FLAGS,
    {0},
};

int approvals_fail(const struct gb_err *err) {
	report_error(&command_approvals, "%s", err->message);
	return err->code == GB_EINVAL || err->code == GB_ELIMIT ? EXIT_BAD_USE : EXIT_CODE_FAILED;
}

const struct approvals_verdict approvals_verdicts[] = {
    {"approve", GB_APPROVE}, {"deny", GB_DENY}, {"trust", GB_TRUST}, {0}};

static bool find_verdict(const char *action, enum gb_approval_verdict *ret_verdict) {
	for (const struct approvals_verdict *known = approvals_verdicts; known->word; known++)
		if (strcmp(action, known->word) == 0) {
			*ret_verdict = known->verdict;
			return true;
		}
	return false;
}

static bool takes_id(const char *action) {
	return strcmp(action, "show") == 0 || find_verdict(action, &(enum gb_approval_verdict){0});
}

static bool take_operand(struct approvals_request *request, const char *value) {
	if (!request->action)
		request->action = value;
	else if (takes_id(request->action) && !request->id)
		request->id = value;
	else
		return report_error(&command_approvals,
		    "got the unexpected operand '%s'; see 'glovebox approvals --help'", value);
	return true;
}

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct approvals_request *request = data;
	const char **texts[] = {[FLAG_SESSION] = &request->filter.session,
	    [FLAG_CONVERSATION] = &request->filter.conversation,
	    [FLAG_RUNTIME] = &request->filter.runtime,
	    [FLAG_REASON] = &request->reason};
	if (!flag)
		return take_operand(request, value);
	if (state_flag(&request->state, flag, value))
		return true;
	if (flag - flags == FLAG_JSON)
		return request->json = true;
	if (flag - flags == FLAG_ALL)
		return request->all = true;
	*texts[flag - flags] = value;
	return true;
}

/* --- deciding --- */

static int decide(struct gb_approvals *approvals, const struct approvals_request *request,
    enum gb_approval_verdict verdict) {
	char id[GB_APPROVAL_ID];
	gb_auto_approval struct gb_approval *approval = NULL;
	struct gb_standing standing;
	struct gb_err err = {0};
	if (!gb_approval_resolve(approvals, request->id, id, &err) ||
	    !gb_approval_get(approvals, id, &approval, &err))
		return approvals_fail(&err);
	struct gb_decision decision = {.verdict = verdict,
	    .hash = approval->hash,
	    .decider = gb_str_from(request->decider),
	    .reason = gb_str_from(request->reason ? request->reason : "")};
	if (!gb_approval_decide(approvals, id, &decision, &standing, &err))
		return approvals_fail(&err);
	printf("%s ", id);
	if (!standing.is_mine)
		printf("was already decided: ");
	approvals_print_standing(&standing);
	int status = approvals_finish_output();
	return standing.is_mine ? status : EXIT_REFUSED;
}

/* --- actions --- */

/* There is no database, because there was no request yet; reading does not create one. */
static int report_no_database(const struct approvals_request *request) {
	if (strcmp(request->action, "list") == 0) {
		fprintf(stderr, "no approvals are pending\n");
		return EXIT_OK;
	}
	report_error(&command_approvals, "there are no approvals in '%s'", request->dir);
	return EXIT_CODE_FAILED;
}

static int act(struct gb_approvals *approvals, const struct approvals_request *request) {
	enum gb_approval_verdict verdict;
	if (strcmp(request->action, "list") == 0)
		return approvals_list(approvals, request);
	if (strcmp(request->action, "watch") == 0)
		return approvals_watch(approvals, request);
	if (find_verdict(request->action, &verdict))
		return decide(approvals, request, verdict);
	return approvals_show(approvals, request);
}

static bool check(const struct approvals_request *request) {
	const char *action = request->action;
	if (takes_id(action) && !request->id)
		return report_error(&command_approvals,
		    "%s: give the id of a request; 'glovebox approvals list' shows them", action);
	if (strcmp(action, "watch") == 0 && !isatty(STDIN_FILENO))
		return report_error(&command_approvals, "watch needs a terminal as standard input; "
							"scripts use list, approve and deny");
	return check_action_flags(&command_approvals, action);
}

/* The user's name, or the user id if it has no name. */
static void name_decider(struct approvals_request *request) {
	const struct passwd *user = getpwuid(getuid());
	if (user)
		snprintf(request->decider, sizeof request->decider, "%s", user->pw_name);
	else
		snprintf(request->decider, sizeof request->decider, "uid %u", (unsigned)getuid());
}

static int dispatch(struct approvals_request *request) {
	struct gb_approvals *approvals;
	struct gb_err err = {0};
	if (!check(request))
		return EXIT_BAD_USE;
	struct gb_approvals_options options = {
	    .read_only = strcmp(request->action, "list") == 0 || strcmp(request->action, "show") == 0};
	name_decider(request);
	if (!gb_approvals_open(request->dir, &options, &approvals, &err))
		return options.read_only && err.code == GB_ENOENT ? report_no_database(request)
								  : approvals_fail(&err);
	int status = act(approvals, request);
	gb_approvals_close(approvals);
	return status;
}

static int run(const struct command *self, int argc, char **argv) {
	struct approvals_request request = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	if (!request.action) {
		print_help(self, stderr);
		return EXIT_BAD_USE;
	}
	request.dir = state_folder(self, &request.state, STATE_COMMON);
	if (!request.dir)
		return EXIT_BAD_USE;
	return dispatch(&request);
}

static const struct action actions[] = {
    {"list", "", "List pending requests; with --all also decided ones."},
    {"show", "ID",
	"Show a request with its code. The id can be abbreviated.\n"
	"\n"
	"Invisible characters, and characters that change how others are displayed, are shown by their\n"
	"number (<U+202E>). The colours only approximate the syntax."},
    {"approve", "ID",
	"Let the code run once, exactly as it was shown.\n"
	"\n"
	"Exit status: 0 approved, 1 no such request, 3 it was decided before or has expired."},
    {"deny", "ID",
	"Refuse the request.\n"
	"\n"
	"  glovebox approvals deny 1a2b --reason 'reads more than it needs'\n"
	"\n"
	"Exit status: 0 denied, 1 no such request, 3 it was decided before or has expired."},
    {"trust", "ID",
	"Approve, and do not ask again in this session: for the same conversation, runtime, permissions and\n"
	"policy.\n"
	"\n"
	"Exit status: 0 approved, 1 no such request, 3 it was decided before or has expired."},
    {"watch", "",
	"Wait for requests, show each with its code, and ask whether it may run. Needs a terminal."},
    {0},
};

const struct command command_approvals = {
    .name = "approvals",
    .synopsis = "list|show ID|approve ID|deny ID|trust ID|watch [OPTIONS]",
    .summary = "review and decide on requests of agents to run code",
    .details =
	"An agent's code waits until a person approves it. A decision applies to exactly the bytes that\n"
	"were shown (code, inputs, permissions, limits) and can be used once. A request that is not\n"
	"answered in time is denied.\n"
	"\n"
	"  glovebox approvals list              pending requests; with --all also decided ones\n"
	"  glovebox approvals show 1a2b         a request with its code; ids can be abbreviated\n"
	"  glovebox approvals approve 1a2b\n"
	"  glovebox approvals deny 1a2b --reason 'reads more than it needs'\n"
	"  glovebox approvals trust 1a2b        approve, and do not ask again in this session: for the same\n"
	"                                       conversation, runtime, permissions and policy\n"
	"  glovebox approvals watch             wait for requests and answer them at this terminal\n"
	"\n"
	"Invisible characters, and characters that change how others are displayed, are shown by their\n"
	"number (<U+202E>). The colours only approximate the syntax.\n"
	"\n"
	"Exit status: 0 done, 1 there is no such approval, 2 usage error, 3 another decision came first\n"
	"or the request had expired; the decision is printed.",
    .flags = flags,
    .actions = actions,
    .run = run,
};
