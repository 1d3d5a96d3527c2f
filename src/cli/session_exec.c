#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/fields.h"
#include "base/io.h"
#include "cli/code_flags.h"
#include "cli/paths.h"
#include "cli/run_flags.h"
#include "cli/session.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "cli/untrusted.h"
#include "cli/wake.h"
#include "engine/result_json.h"
#include "glovebox/errors.h"
#include "value/json.h"

enum { EXIT_INTERRUPTED = 130, LISTS_MAX = 64 << 20 };

/* --- the request --- */

static void write_limits(struct gb_buf *line, const struct gb_run_options *options) {
	gb_buf_printf(line, ",\"limits\":{");
	bool first = true;
	for (size_t i = 0; i < gb_limit_fields_count; i++) {
		const struct gb_limit_field *limit = &gb_limit_fields[i];
		uint64_t value = gb_limit_get(limit, options);
		if (!value || limit->contract)
			continue;
		gb_buf_printf(
		    line, "%s\"%s\":%llu", first ? "" : ",", limit->json, (unsigned long long)value);
		first = false;
	}
	gb_buf_append_char(line, '}');
}

static bool write_field(struct gb_buf *line, const struct gb_request_field *field,
    const struct gb_run_options *options, uint32_t *next_id) {
	const char *text = gb_request_text(field, options);
	const struct gb_value *value = gb_request_value(field, options);
	gb_buf_printf(line, ",\"%s\":", field->json);
	if (value)
		return gb_json_write(line, value, next_id, NULL);
	if (text)
		gb_json_append_string(line, gb_str_from(text));
	else
		gb_buf_printf(line, "true");
	return true;
}

/* The fields in options.execute, or those in options itself. */
static bool write_fields(
    struct gb_buf *line, bool in_execute, const struct gb_run_options *options, uint32_t *next_id) {
	for (size_t i = 0; i < gb_request_fields_count; i++) {
		const struct gb_request_field *field = &gb_request_fields[i];
		if (field->in_execute == in_execute && field->scope != GB_SCOPE_NEW &&
		    gb_request_has(field, options) && !write_field(line, field, options, next_id))
			return false;
	}
	return true;
}

static bool write_options(struct gb_buf *line, const struct gb_run_options *options) {
	uint32_t next_id = 0;
	/* A first member, since each of the others begins with a comma. */
	gb_buf_printf(line, ",\"options\":{\"report\":false");
	for (size_t i = 0; i < gb_limit_fields_count; i++) {
		const struct gb_limit_field *limit = &gb_limit_fields[i];
		uint64_t value = limit->contract ? gb_limit_get(limit, options) : 0;
		if (value)
			gb_buf_printf(line, ",\"%s\":%llu", limit->contract, (unsigned long long)value);
	}
	bool ok = write_fields(line, false, options, &next_id);
	if (options->fn || options->args) {
		gb_buf_printf(line, ",\"execute\":{");
		size_t begin = line->len;
		ok = ok && write_fields(line, true, options, &next_id);
		if (line->len > begin) /* without the comma of the first */
			line->data[begin] = ' ';
		gb_buf_append_char(line, '}');
	}
	gb_buf_append_char(line, '}');
	write_limits(line, options);
	return ok;
}

static bool ask(struct session_client *client, const struct session_job *job) {
	gb_auto_buf struct gb_buf line;
	const struct gb_run_options *options = job->options;
	session_line(&line, "run");
	gb_buf_printf(&line, ",\"run\":1");
	session_line_text(&line, "session", job->session);
	gb_buf_printf(&line, ",\"source\":");
	gb_json_append_string(&line, (struct gb_str){options->source, options->source_bytes});
	if (!write_options(&line, options))
		return report_error(job->command, "an input of the code is nested too deeply");
	return session_send_line(client, &line);
}

/* Check that the existing session fits the flags. *ret_language is its language. */
static bool check_session(
    const struct session_job *job, const struct gb_value *session, enum gb_language *ret_language) {
	enum gb_language language;
	const char *runtime = session_text(session, "runtime"), *profile = session_text(session, "profile");
	const struct run_flags given = {job->command, job->options, NULL, job->out};
	if (!gb_language_find(runtime, &language))
		return true;
	*ret_language = language;
	if (job->fixed_language && language != job->options->language)
		return report_error(
		    job->command, "-l: the session '%s' has another language, %s", job->session, runtime);
	if (!run_flags_fit(&given, language))
		return false;
	const char *workdir = session_text(session, "workdir");
	if (job->options->workdir && strcmp(job->options->workdir, workdir) != 0)
		return report_error(job->command,
		    "--workdir: the session '%s' has %s%s; use another session for another directory",
		    job->session, *workdir ? "the working directory " : "no working directory", workdir);
	return !job->options->profile || strcmp(job->options->profile, *profile ? profile : "stdlib") == 0 ||
	       report_error(job->command,
		   "--profile: the session '%s' has the profile %s; use another session for another profile",
		   job->session, *profile ? profile : "stdlib");
}

static bool session_line_value(struct gb_buf *line, const char *key, const struct gb_value *value) {
	size_t n = 0;
	gb_auto_free char *json = gb_value_to_json(value, 0, &n, NULL);
	if (json)
		gb_buf_printf(line, ",\"%s\":%.*s", key, (int)n, json);
	return json;
}

static bool report_missing(const struct session_job *job) {
	char message[GB_ERR_MESSAGE_MAX];
	snprintf(message, sizeof message, "there is no session '%s'; 'glovebox session create' makes one",
	    job->session);
	if (!job->json)
		return report_error(job->command, "%s", message);
	show_refusal(job->command, true, GB_CODE_REFUSED, message);
	return false;
}

/* Open the session if it does not exist and the job says so. On failure *ret_status is the exit status. */
static bool open_session_if_missing(struct session_client *client, const struct session_job *job,
    enum gb_language *ret_language, int *ret_status) {
	gb_auto_buf struct gb_buf line;
	const struct gb_value *reply;
	const struct run_flags given = {job->command, job->options, NULL, job->out};
	*ret_status = EXIT_REFUSED;
	session_line(&line, "session_get");
	gb_buf_printf(&line, ",\"request\":1");
	session_line_text(&line, "session", job->session);
	if (!session_send_line(client, &line) || !(reply = session_receive(client)))
		return false;
	const struct gb_value *found = gb_value_get(reply, "session");
	bool is_there = found && strcmp(session_text(found, "state"), "terminated") != 0;
	if (!found && !job->create)
		return report_missing(job);
	*ret_status = EXIT_BAD_USE;
	if (is_there || !job->create)
		return !is_there || check_session(job, found, ret_language);
	if (!run_flags_fit(&given, job->options->language))
		return false;
	if (found && job->interactive)
		report_warning(job->command,
		    "the session has ended: %s; this is a new one, without its variables",
		    session_text(found, "reason"));
	*ret_status = EXIT_REFUSED;
	gb_buf_finish(&line);
	session_line(&line, "session_open");
	gb_buf_printf(&line, ",\"request\":2,\"reuse\":true");
	session_line_text(&line, "name", job->session);
	session_line_text(&line, "language", gb_language_name(job->options->language));
	session_line_text(&line, "profile", job->options->profile);
	session_line_text(&line, "workdir", job->options->workdir);
	if (job->options->net && !session_line_value(&line, "net", job->options->net))
		return false;
	if (!session_send_line(client, &line) || !(reply = session_receive(client)))
		return false;
	if (strcmp(session_text(reply, "type"), "error") != 0)
		return true;
	*ret_status = session_report_error(job->command, reply);
	return false;
}

/* --- replies --- */

static enum gb_log_level level_by_name(const char *name) {
	for (int level = GB_LOG_LOG; level <= GB_LOG_DEBUG; level++)
		if (strcmp(gb_log_level_name((enum gb_log_level)level), name) == 0)
			return (enum gb_log_level)level;
	return GB_LOG_LOG;
}

/* The host masks the output of the code. This filter is for excerpts of the code itself; false if it must not
 * be quoted. */
static bool choose_filter(struct gb_filter **ret) {
	const struct settings_request none = {0};
	const struct gb_config *config = NULL;
	bool ok =
	    settings_reload(&none, &config, NULL) && settings_filter(config, "secrets.maskRun", ret, NULL);
	gb_config_unref(config);
	return ok;
}

/* Convert the message back to a result, so that it is shown as every other result. */
static int show_message(const struct session_client *client, const struct session_job *job,
    enum gb_language language, const struct gb_value *message) {
	struct gb_arena lists;
	struct gb_result result;
	struct gb_err err = {0};
	struct gb_filter *filter = NULL;
	int status = EXIT_CODE_FAILED;
	gb_arena_init(&lists, LISTS_MAX);
	bool ok = gb_result_read_json(gb_value_get(message, "result"), &lists, &result, &err);
	gb_auto_free char *json = ok && job->json ? gb_result_to_json(&result, NULL, &err) : NULL;
	if (ok && !result.value)
		result.value = gb_value_undefined(client->pool);
	if (ok && (json || !job->json)) {
		bool quotable = result.error.line && choose_filter(&filter);
		const struct gb_run_options limits = {.language = language};
		const struct shown shown = {
		    .command = job->command,
		    .limits = &limits,
		    .source = {job->options->source, quotable ? job->options->source_bytes : 0},
		    .filter = filter,
		    .out = job->out,
		    .json = json,
		};
		status = show_result(&shown, &result);
	} else {
		report_error(job->command, "%s", err.message);
	}
	gb_filter_destroy(filter);
	gb_arena_finish(&lists);
	return status;
}

static int refuse(const struct session_job *job, const struct gb_value *error) {
	const char *code = session_text(error, "code");
	if (!job->json)
		return session_report_error(job->command, error);
	show_refusal(job->command, true, code, session_text(error, "message"));
	return strcmp(code, GB_CODE_INVALID) == 0 ? EXIT_BAD_USE : EXIT_REFUSED;
}

static void show_prompt(const struct session_job *job, const char *prompt) {
	if (session_answer_begin(job))
		return;
	fprintf(
	    stderr, "%sglovebox %s: it awaits input", isatty(STDERR_FILENO) ? "\n" : "", job->command->name);
	if (*prompt) {
		fputs(" after '", stderr);
		print_name(stderr, prompt, strlen(prompt));
		fputc('\'', stderr);
	}
	fprintf(stderr, "; answer with 'glovebox session send %s TEXT'\n", job->session);
}

/* Returns true if it was the last message; then *ret_status is the exit status. */
static bool take_message(const struct session_client *client, const struct session_job *job,
    enum gb_language language, const struct gb_value *message, int *ret_status) {
	const char *type = session_text(message, "type");
	if (strcmp(type, "log") == 0 && !job->json) {
		show_log(level_by_name(session_text(message, "level")), gb_value_get(message, "args"));
	} else if (strcmp(type, "output") == 0 && !job->json) {
		size_t n = 0;
		const char *text = gb_value_bytes(gb_value_get(message, "text"), &n);
		session_answer_show(strcmp(session_text(message, "stream"), "stderr") == 0 ? 2 : 1, text, n);
	} else if (strcmp(type, "prompt") == 0) {
		show_prompt(job, session_text(message, "prompt"));
	} else if (strcmp(type, "result") == 0) {
		*ret_status = show_message(client, job, language, message);
		return true;
	} else if (strcmp(type, "error") == 0 && !gb_value_get(message, "request")) {
		/* An error with a request is about keys that came too late. */
		*ret_status = refuse(job, message);
		return true;
	}
	return false;
}

/* --- interrupts --- */

static volatile sig_atomic_t interrupts;
/* What was done about them. */
static int sent;
static bool stays;

void session_note_interrupt(int signal_number) {
	interrupts = interrupts + 1;
	wake_note(signal_number);
}

/* The first SIGINT interrupts the code; the second ends this program, unless it is interactive. */
static void on_interrupt(struct session_client *client) {
	gb_auto_buf struct gb_buf line;
	session_line(&line, "interrupt");
	gb_buf_printf(&line, ",\"run\":1");
	if (interrupts == sent)
		return;
	if (interrupts > 1 && !stays) {
		session_answer_end();
		_exit(EXIT_INTERRUPTED);
	}
	sent = interrupts;
	session_send_line(client, &line);
}

static bool reach(struct session_client *client, const struct session_job *job) {
	enum reached reached =
	    session_reach(client, job->command, job->create ? &job->options->language : NULL);
	if (reached == NO_HOST)
		report_missing(job);
	return reached == REACHED;
}

bool session_prepare(const struct session_job *job, enum gb_language *ret_language, int *ret_status) {
	struct session_client client;
	*ret_status = EXIT_REFUSED;
	*ret_language = job->options->language;
	if (!reach(&client, job))
		return false;
	bool ok = open_session_if_missing(&client, job, ret_language, ret_status);
	session_leave(&client);
	return ok;
}

int session_execute(const struct session_job *job) {
	struct session_client client;
	int status = EXIT_REFUSED;
	if (!reach(&client, job))
		return EXIT_REFUSED;
	const struct sigaction action = {.sa_handler = session_note_interrupt};
	client.on_interrupt = on_interrupt;
	interrupts = sent = 0;
	(void)wake_fd();
	stays = job->interactive;
	enum gb_language language = job->options->language;
	if (open_session_if_missing(&client, job, &language, &status) && ask(&client, job)) {
		sigaction(SIGINT, &action, NULL);
		const struct gb_value *message;
		do {
			session_answer_until_message(&client, job->session);
			message = session_receive(&client);
		} while (message && !take_message(&client, job, language, message, &status));
		session_answer_end();
		if (!message)
			status = EXIT_CODE_FAILED;
	}
	session_leave(&client);
	return status;
}

/* --- the command --- */

struct request {
	struct code_flags code;
	const char *session, *out;
	struct gb_run_options options;
};

static const struct flag flags[] = {
    CODE_FLAGS,
    {"language", 'l', LANGUAGE_ARGUMENT, "the language that the session must have", 0, NULL},
    SESSION_FLAGS{"profile", 0, "NAME", "Python: the profile that the session must have", 0, NULL},
    LIMIT_FLAGS{"out", 0, "DIR",
	"write the files that a program created, and what Python displays, to DIR, and create DIR", FLAG_PATH,
	NULL},
    {"packages", 0, "DIR",
	"has no effect on a session: the process that keeps the sessions reads the setting "
	"programs.nodePackages "
	"when it starts",
	FLAG_REFUSED | FLAG_PATH, NULL},
    {"session", 0, "NAME", "is the first operand of this command", FLAG_REFUSED, NULL},
    {"config", 0, "FILE", SESSION_KEPT_SETTINGS, FLAG_REFUSED | FLAG_PATH, NULL},
    {"set", 0, "NAME=VALUE", SESSION_KEPT_SETTINGS, FLAG_REFUSED | FLAG_REPEATS, NULL},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct request *request = data;
	bool ok;
	if (!flag && request->session)
		return code_flags_take_file(&request->code, value);
	if (!flag)
		request->session = value;
	else if (code_flags_take(&request->code, flag, value, &ok))
		return ok;
	else
		request->out = value;
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct request request = {0};
	struct gb_values *values = gb_values_create(CODE_VALUES_MAX);
	request.code = (struct code_flags){.command = self, .options = &request.options, .values = values};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	int status = parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	bool complete = request.session && (request.code.file || request.code.code);
	if (parsed == PARSED && !complete)
		report_error(
		    self, "give the NAME of a session, and a FILE, or - for standard input, or -e CODE");
	bool fits = !request.code.language ||
		    language_choose(self, request.code.language, NULL, &request.options.language);
	if (parsed == PARSED && complete && fits && code_flags_load(&request.code)) {
		const struct session_job job = {.command = self,
		    .session = request.session,
		    .options = &request.options,
		    .fixed_language = request.code.language,
		    .json = request.code.json,
		    .out = request.out};
		const struct run_flags given = {self, &request.options, NULL, request.out};
		status = run_flags_check_out(&given) ? session_execute(&job) : EXIT_BAD_USE;
	}
	code_flags_finish(&request.code);
	gb_values_destroy(values);
	return status;
}

const struct command command_session_exec = {
    .name = "session exec",
    .synopsis = "NAME|ID (-e CODE | FILE | -) [OPTIONS]",
    .summary = "run code in a session",
    .details =
	"Later runs in the session can use what this run defines. The result is the value of the last\n"
	"expression. Output is shown while the code runs. If the session has a terminal (shell) and the\n"
	"code asks for input, type the answer; if standard input is not a terminal, answer with 'glovebox\n"
	"session send'. Runs in one session are executed one after the other. Ctrl-C interrupts the code;\n"
	"a second Ctrl-C ends this command. A run that exceeds its timeout is interrupted, and the\n"
	"session stays.\n"
	"\n"
	"  glovebox session exec work -e 'x = 1'\n"
	"  glovebox session exec work -e 'x + 1'\n"
	"\n"
	"Exit status: 0 success, 1 the code failed, 2 usage error or ended session, 3 refused or no such\n"
	"session, 124 timeout. If the program ends with a status of its own, as by sys.exit(3), that is\n"
	"the exit status.",
    .flags = flags,
    .run = run,
};
