#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/audit.h"
#include "cli/cli.h"
#include "value/text.h"

enum { LIST_LIMIT = 20 };

enum {
	FLAG_JSON,
	FLAG_FROM,
	FLAG_TO,
	FLAG_SESSION,
	FLAG_CONVERSATION,
	FLAG_RUNTIME,
	FLAG_STATUS,
	FLAG_HOST,
	FLAG_LIMIT,
	FLAG_KEY,
	FLAG_HEAD,
	FLAG_STATE
};

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "list, show: records as JSON, one per line; verify: one object", 0, NULL},
    [FLAG_FROM] = {"from", 0, "TIME",
	"recorded at or after 2026-01-31, 2026-01-31T12:00:00Z, or 2h (ago), 30d", 0, " list show export "},
    [FLAG_TO] = {"to", 0, "TIME", "recorded before this time", 0, " list show export "},
    [FLAG_SESSION] = {"session", 0, "ID", "of this session", 0, " list show export "},
    [FLAG_CONVERSATION] = {"conversation", 0, "ID", "of this conversation", 0, " list show export "},
    [FLAG_RUNTIME] = {"runtime", 0, "NAME", "of this runtime: javascript, python, ...", 0,
	" list show export "},
    [FLAG_STATUS] = {"status", 0, "STATUS",
	"with this status: success, error, memory, terminated, denied, ...; or unfinished", 0,
	" list show export "},
    [FLAG_HOST] = {"host", 0, "NAME", "with an attempt to reach this host", 0, " list show export "},
    [FLAG_LIMIT] = {"limit", 'n', "N",
	"at most N records; 0: all; default: the newest 20 for list, all for export", 0,
	" list show export "},
    [FLAG_KEY] = {"expect-key", 0, "KEY", "verify: the public key that you have stored elsewhere", 0,
	" verify "},
    [FLAG_HEAD] = {"expect-head", 0, "SEQ:HASH", "verify: a head that you have stored elsewhere", 0,
	" verify "},
    [FLAG_STATE] = STATE_FLAGS,
    {0},
};

/* Also accepts days ("30d"), which durations of runs do not have. */
static bool parse_ago(const char *text, uint64_t *ret_ms) {
	char *end;
	unsigned long long days = strtoull(text, &end, 10);
	if (end != text && text[0] != '-' && strcmp(end, "d") == 0 && days < 1000000) {
		*ret_ms = days * 86400000;
		return true;
	}
	/* A number without a unit is ambiguous (seconds ago, or a year). */
	return *end && gb_str_parse_duration_ms(text, ret_ms);
}

static bool parse_time(const char *text, int64_t *ret_ms) {
	char whole[48];
	double ms;
	uint64_t ago;
	if (parse_ago(text, &ago)) {
		*ret_ms = (int64_t)time(NULL) * 1000 - (int64_t)ago;
		return true;
	}
	snprintf(whole, sizeof whole, strlen(text) == strlen("2026-01-31") ? "%sT00:00:00Z" : "%s", text);
	if (!gb_date_parse(gb_str_from(whole), &ms))
		return false;
	*ret_ms = (int64_t)ms;
	return true;
}

static bool parse_number(const char *text, uint64_t *ret) {
	char *end;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return end != text && *end == '\0' && errno == 0 && text[0] != '-' && *ret <= INT64_MAX;
}

static bool parse_hex(const char *text, uint8_t *ret, size_t n) {
	for (size_t i = 0; i < 2 * n; i++) {
		const char *digits = "0123456789abcdef", *digit = text[i] ? strchr(digits, text[i]) : NULL;
		if (!digit)
			return false;
		ret[i / 2] = (uint8_t)(ret[i / 2] << 4 | (digit - digits));
	}
	return text[2 * n] == '\0';
}

static bool take_head(struct audit_request *request, const char *value) {
	char number[24];
	const char *colon = strchr(value, ':');
	snprintf(number, sizeof number, "%.*s", colon ? (int)(colon - value) : 0, value);
	request->expected.has_head = true;
	return (colon && parse_number(number, &request->expected.seq) && request->expected.seq > 0 &&
		   parse_hex(colon + 1, request->expected.hash.bytes, GB_HASH_BYTES)) ||
	       report_error(&command_audit,
		   "--expect-head: '%s' is not SEQ:HASH, as 'glovebox audit verify' prints it", value);
}

static bool take_key(struct audit_request *request, const char *value) {
	request->expected.has_key = true;
	return parse_hex(value, request->expected.public_key, GB_PUBLIC_KEY_BYTES) ||
	       report_error(&command_audit,
		   "--expect-key: '%s' is not a key, as 'glovebox audit verify' prints it", value);
}

static bool take_time(const char *name, const char *value, int64_t *ret) {
	return parse_time(value, ret) ||
	       report_error(&command_audit,
		   "--%s: '%s' is not a time; write 2026-01-31, 2026-01-31T12:00:00Z, 2h or 30d", name,
		   value);
}

static bool take_operand(struct audit_request *request, const char *value) {
	if (!request->action)
		request->action = value;
	else if (strcmp(request->action, "show") == 0 && !request->id)
		request->id = value;
	else
		return report_error(
		    &command_audit, "got the unexpected operand '%s'; see 'glovebox audit --help'", value);
	return true;
}

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct audit_request *request = data;
	if (!flag)
		return take_operand(request, value);
	if (state_flag(&request->state, flag, value))
		return true;
	switch (flag - flags) {
	case FLAG_JSON:
		return request->json = true;
	case FLAG_FROM:
		return take_time("from", value, &request->filter.from_ms);
	case FLAG_TO:
		return take_time("to", value, &request->filter.to_ms);
	case FLAG_SESSION:
		request->filter.session = value;
		return true;
	case FLAG_CONVERSATION:
		request->filter.conversation = value;
		return true;
	case FLAG_RUNTIME:
		request->filter.runtime = value;
		return true;
	case FLAG_STATUS:
		/* An unfinished run has only a record of its beginning, which has no status. */
		request->unfinished = strcmp(value, "unfinished") == 0;
		request->filter.status = request->unfinished ? NULL : value;
		return true;
	case FLAG_HOST:
		request->filter.host = value;
		return true;
	case FLAG_LIMIT:
		request->has_limit = true;
		return parse_number(value, &request->filter.limit) ||
		       report_error(&command_audit, "--limit: '%s' is not a number", value);
	case FLAG_KEY:
		return take_key(request, value);
	default:
		return take_head(request, value);
	}
}

/* A number identifies a record, other text a run. A run may have two records: its beginning and its end. */
static int show(struct audit_request *request) {
	if (!parse_number(request->id, &request->filter.seq) || request->filter.seq == 0) {
		request->filter.seq = 0;
		request->filter.run = request->id;
	}
	return audit_show(request);
}

static bool is_known(const struct audit_request *request) {
	static const char *const actions[] = {"list", "show", "verify", "export"};
	for (size_t i = 0; i < GB_COUNT(actions); i++)
		if (strcmp(request->action, actions[i]) == 0)
			return true;
	return false;
}

/* If the folder cannot be examined, reading it will report the error. */
static bool is_there(const struct audit_request *request) {
	bool exists;
	return !gb_audit_exists(request->dir, &exists, NULL) || exists;
}

/* Nothing was recorded yet. This is an error if the command line implies that there is a log: with --dir, or
 * with an expected key or head. */
static int nothing_yet(const struct audit_request *request) {
	bool verify = strcmp(request->action, "verify") == 0;
	if (verify && (request->expected.has_key || request->expected.has_head)) {
		report_error(&command_audit, "nothing has been recorded in '%s'", request->dir);
		return EXIT_CODE_FAILED;
	}
	if (verify && request->json)
		audit_verify_nothing();
	else
		fprintf(stderr, "nothing has been recorded in '%s' yet\n", request->dir);
	return EXIT_OK;
}

static int dispatch(struct audit_request *request) {
	if (!request->action) {
		print_help(&command_audit, stderr);
		return EXIT_BAD_USE;
	}
	if (!check_action_flags(&command_audit, request->action))
		return EXIT_BAD_USE;
	if (strcmp(request->action, "show") == 0 && !request->id) {
		report_error(&command_audit, "show: give the number of a record or the id of a run");
		return EXIT_BAD_USE;
	}
	if (is_known(request) && !request->state.dir && !is_there(request))
		return nothing_yet(request);
	if (strcmp(request->action, "list") == 0) {
		request->filter.newest_first = true;
		if (!request->has_limit)
			request->filter.limit = LIST_LIMIT;
		return request->json ? audit_export(request) : audit_list(request);
	}
	if (strcmp(request->action, "show") == 0)
		return show(request);
	if (strcmp(request->action, "verify") == 0)
		return audit_verify(request);
	return audit_export(request);
}

static int run(const struct command *self, int argc, char **argv) {
	struct audit_request request = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	request.dir = state_folder(self, &request.state, STATE_AUDIT);
	if (!request.dir)
		return EXIT_BAD_USE;
	return dispatch(&request);
}

static const struct action actions[] = {
    {"list", "",
	"List the newest records, one line each. The options select which records are listed.\n"
	"\n"
	"  glovebox audit list --from 2h --status error\n"
	"\n"
	"The records are printed without being checked: see 'glovebox audit verify'."},
    {"show", "ID",
	"Show all fields of the record with this number, or of the run with this id.\n"
	"\n"
	"  glovebox audit show 42"},
    {"verify", "",
	"Check that every record is present and unchanged. Print the public key and the head (number and\n"
	"hash of the newest record). Store them in a place that writers of the log cannot change: with\n"
	"--expect-key and --expect-head, verify also detects a log that was replaced or restored to an\n"
	"older state. Without --expect-key the key file must be readable.\n"
	"\n"
	"Exit status: 0 the log is unchanged, 1 there is a bad record, which is named."},
    {"export", "",
	"Print the records as JSON, one object per line, the oldest first.\n"
	"\n"
	"  glovebox audit export --from 30d > a.jsonl"},
    {0},
};

const struct command command_audit = {
    .name = "audit",
    .synopsis = "list|show ID|verify|export [OPTIONS]",
    .summary = "show and verify the log of what agents ran",
    .details =
	"The audit log has a record of each execution: its code, its approval, its limits, and its\n"
	"result. Each record contains the hash of the previous one, and the newest record is signed, so\n"
	"that changes are detected.\n"
	"\n"
	"  glovebox audit list                         the newest records; --session, --status and others "
	"select\n"
	"  glovebox audit list --from 2h --status error\n"
	"  glovebox audit show 42                      all fields of record 42, or of the run with this id\n"
	"  glovebox audit verify                       check that every record is present and unchanged\n"
	"  glovebox audit export --from 30d > a.jsonl  one JSON object per line, the oldest first\n"
	"\n"
	"verify prints the public key and the head (number and hash of the newest record). Store them\n"
	"in a place that writers of the log cannot change: with --expect-key and --expect-head,\n"
	"verify also detects a log that was replaced or restored to an older state. If verify finds an\n"
	"error, it names the first bad record and exits with 1. Without --expect-key the key file must be\n"
	"readable.\n"
	"\n"
	"list, show and export print the file without checking it: run verify first. If nothing was\n"
	"recorded yet, they report this and exit with 0. A run without a record of its end has the status\n"
	"'unfinished': it is still running, or its host was killed.",
    .flags = flags,
    .actions = actions,
    .run = run,
};
