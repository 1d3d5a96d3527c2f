#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fields.h"
#include "cli/language.h"
#include "cli/show.h"
#include "cli/untrusted.h"
#include "glovebox/errors.h"
#include "value/wtf8.h"

/* Longer messages, which quote a long value, are cut. */
enum { MESSAGE_MAX = 2048, FLAGS_MAX = 64 };

static bool has_flag(const struct command *command, const char *name) {
	for (const struct flag *flag = command->flags; flag && flag->name; flag++)
		if (strcmp(flag->name, name) == 0)
			return true;
	return false;
}

/* With --json: the first error of the command line. */
static struct {
	bool keeps;
	const struct command *command;
	char text[MESSAGE_MAX];
} usage;

static void print_report(const struct command *command, const char *text, bool is_cut) {
	fprintf(stderr, "glovebox%s%s: ", *command->name ? " " : "", command->name);
	print_message(stderr, text, strlen(text));
	fputs(is_cut ? "…\n" : "\n", stderr);
}

bool report_error(const struct command *command, const char *format, ...) {
	char text[MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (usage.keeps && !usage.command) {
		usage.command = command;
		gb_copy_text(usage.text, sizeof usage.text, gb_str_from(text));
	} else {
		print_report(command, text, n >= (int)sizeof text);
	}
	return false;
}

void report_warning(const struct command *command, const char *format, ...) {
	char text[MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	print_report(command, text, n >= (int)sizeof text);
}

void usage_as_json(void) {
	usage.keeps = true;
}

void usage_end(int status) {
	const struct command *command = usage.command;
	if (!command)
		return;
	if (status != EXIT_BAD_USE) {
		print_report(command, usage.text, false);
	} else if (has_flag(command, "eval")) { /* its --json has the form of a result */
		show_refusal(command, true, GB_CODE_INVALID, usage.text);
	} else {
		printf("{\"error\":{\"code\":\"%s\",\"message\":", GB_CODE_INVALID);
		print_json_string(stdout, usage.text);
		puts("}}");
	}
}

const char *suggestion(const struct gb_nearest *nearest) {
	static char text[GB_NEAREST_MAX + 32];
	snprintf(text, sizeof text, "; did you mean '%s'?", nearest->best ? nearest->best : "");
	return nearest->best ? text : "";
}

int refuse_command(const struct command *parent, const char *name, int argc, char **argv) {
	struct gb_nearest nearest = {.given = name};
	bool is_option = name[0] == '-';
	for (size_t i = 0; parent->commands[i]; i++)
		gb_nearest_offer(&nearest, command_word(parent->commands[i]));
	for (int i = -1; i < argc; i++)
		if (strcmp(i < 0 ? name : argv[i], "--json") == 0)
			usage_as_json();
	const char *what = is_option ? "a command comes before the option" : "there is no command";
	if (nearest.best)
		report_error(parent, "%s '%s'%s", what, name, suggestion(&nearest));
	else
		report_error(parent, "%s '%s'; 'glovebox %s%s' lists the commands", what, name,
		    *parent->name ? parent->name : "help", *parent->name ? " --help" : "");
	return EXIT_BAD_USE;
}

/* --- help --- */

bool has_effect(const struct flag *flag, const char *action) {
	char word[32];
	snprintf(word, sizeof word, " %s ", action ? action : "");
	if (flag->traits & FLAG_REFUSED)
		return false;
	return !flag->actions || !action || strstr(flag->actions, word);
}

/* Of one action, or of all if it is NULL. */
static void print_flags(const struct command *command, const char *action, FILE *to) {
	bool takes_language = false, any = false;
	for (const struct flag *flag = command->flags; flag && flag->name; flag++) {
		if (!has_effect(flag, action))
			continue;
		fputs(any ? "" : "\nOptions:\n", to);
		any = true;
		takes_language |= flag->argument && strcmp(flag->argument, LANGUAGE_ARGUMENT) == 0;
		char left[48], short_form[8] = "    ";
		if (flag->short_name)
			snprintf(short_form, sizeof short_form, "-%c, ", flag->short_name);
		snprintf(left, sizeof left, "%s--%s%s%s", short_form, flag->name, flag->argument ? " " : "",
		    flag->argument ? flag->argument : "");
		fprintf(to, "  %-26s %s\n", left, flag->help);
	}
	if (takes_language)
		language_print_all(to);
}

void print_help(const struct command *command, FILE *to) {
	print_styled(to, BOLD, "glovebox %s", command->name);
	fprintf(to, " %s\n\n%s\n", command->synopsis, command->details);
	print_flags(command, NULL, to);
	if (command->actions)
		fprintf(to, "\n'glovebox %s ACTION --help' describes an action.\n", command->name);
	manual_refer(command, to);
}

static void print_action_help(const struct command *command, const struct action *action, FILE *to) {
	print_styled(to, BOLD, "glovebox %s %s", command->name, action->name);
	fprintf(
	    to, "%s%s [OPTIONS]\n\n%s\n", *action->operands ? " " : "", action->operands, action->details);
	print_flags(command, action->name, to);
	manual_refer(command, to);
}

/* --- fields of the library and their flags --- */

/* Members of structs that are in no table of glovebox/fields.h, and the flags that set them. */
static const struct {
	const char *field, *flag;
} fields[] = {
    {"name", "name"},
    {"name", "session"},
    {"node_packages", "packages"},
    {"host", "host"},
    {"header", "header"},
    {"env", "env"},
};

/* Whether @field is the member of a struct (glovebox.h), or the path of a field of a message whose name is @json
 * ("limits.timeoutMs", "options.execute.fn"; docs/PROTOCOL.md). */
static bool is_field(const char *field, const char *member, const char *json) {
	const char *dot = strrchr(field, '.');
	return *field && (strcmp(field, member) == 0 || strcmp(dot ? dot + 1 : field, json) == 0);
}

/* The flag that the tables have for @field, or NULL. */
static const char *flag_by_table(const char *field) {
	for (size_t i = 0; i < gb_limit_fields_count; i++)
		if (is_field(field, gb_limit_fields[i].member, gb_limit_fields[i].json) ||
		    (gb_limit_fields[i].contract && is_field(field, "", gb_limit_fields[i].contract)))
			return gb_limit_fields[i].option;
	for (size_t i = 0; i < gb_request_fields_count; i++)
		if (is_field(field, gb_request_fields[i].member, gb_request_fields[i].json))
			return gb_request_fields[i].flag;
	for (size_t i = 0; i < gb_agent_fields_count; i++)
		if (is_field(field, gb_agent_fields[i].member, gb_agent_fields[i].json))
			return gb_agent_fields[i].flag;
	return NULL;
}

/* The name of the flag of @command that sets @field, or NULL. */
static const char *find_flag_of(const struct command *command, const char *field) {
	const char *flag = flag_by_table(field);
	if (flag && has_flag(command, flag))
		return flag;
	for (size_t i = 0; i < GB_COUNT(fields); i++)
		if (strcmp(field, fields[i].field) == 0 && has_flag(command, fields[i].flag))
			return fields[i].flag;
	return NULL;
}

bool report_field_error(
    const struct command *command, const char *field, const char *detail, const char *message) {
	const char *flag = find_flag_of(command, field);
	if (flag)
		report_error(command, "--%s: %s", flag, detail);
	else
		report_error(command, "%s", message);
	return flag;
}

bool report_flag_error(const struct command *command, const struct gb_err *err) {
	return report_field_error(command, err->field, err->message + err->detail, err->message);
}

/* --- parsing --- */

const struct flag *find_flag(const struct command *command, const char *text, const char **ret_value) {
	*ret_value = NULL;
	for (const struct flag *flag = command->flags; flag && flag->name; flag++) {
		size_t n = strlen(flag->name);
		if (flag->short_name && text[1] == flag->short_name && (flag->argument || !text[2])) {
			*ret_value = text[2] ? text + 2 : NULL;
			return flag;
		}
		if (strncmp(text, "--", 2) != 0 || strncmp(text + 2, flag->name, n) != 0)
			continue;
		if (text[2 + n] == '=')
			*ret_value = text + 3 + n;
		if (text[2 + n] == '=' || text[2 + n] == '\0')
			return flag;
	}
	return NULL;
}

/* Flags given so far. There is one command line per process. */
static bool given[FLAGS_MAX];

static bool check_value(const struct command *command, const struct flag *flag, const char *value) {
	if (!(flag->traits & FLAG_REPEATS) && given[flag - command->flags])
		return report_error(command, "--%s is given twice", flag->name);
	if (!(flag->traits & FLAG_EMPTY) && *value == '\0')
		return report_error(command, "--%s: the value is empty; leave the option out", flag->name);
	return (flag->traits & FLAG_PATH) || gb_wtf8_scan(value, strlen(value)) == GB_WTF8_UTF8 ||
	       report_error(command, "--%s: the value is not UTF-8", flag->name);
}

bool check_action_flags(const struct command *command, const char *action) {
	for (const struct flag *flag = command->flags; flag->name; flag++)
		if (given[flag - command->flags] && !has_effect(flag, action))
			return report_error(command, "--%s has no effect on %s, only on:%s", flag->name,
			    action, flag->actions);
	return true;
}

static bool is_flag(const char *text) {
	return text[0] == '-' && text[1] != '\0';
}

static bool is_help(const char *text) {
	return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

static bool report_unknown_flag(const struct command *command, const char *text) {
	char name[GB_NEAREST_MAX];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
	struct gb_nearest nearest = {.given = name};
	char known[FLAGS_MAX][GB_NEAREST_MAX];
	for (size_t i = 0; command->flags && command->flags[i].name && i < FLAGS_MAX; i++) {
		snprintf(known[i], sizeof known[i], "--%s", command->flags[i].name);
		gb_nearest_offer(&nearest, known[i]);
	}
	return report_error(command, "unknown option '%s'%s%s%s%s", text, suggestion(&nearest),
	    nearest.best ? "" : "; see 'glovebox ", nearest.best ? "" : command->name,
	    nearest.best ? "" : " --help'");
}

const struct action *find_action(const struct command *command, const char *name) {
	for (const struct action *action = command->actions; action && action->name; action++)
		if (strcmp(action->name, name) == 0)
			return action;
	return NULL;
}

static bool report_unknown_action(const struct command *command, const char *name) {
	gb_auto_buf struct gb_buf all;
	struct gb_nearest nearest = {.given = name};
	gb_buf_init(&all, MESSAGE_MAX);
	for (const struct action *action = command->actions; action->name; action++) {
		gb_buf_printf(&all, "%s%s", action == command->actions ? "" : ", ", action->name);
		gb_nearest_offer(&nearest, action->name);
	}
	return report_error(
	    command, "'%s' is not one of %s%s", name, gb_buf_c_str(&all), suggestion(&nearest));
}

/* --json decides how errors of the options before it are printed. */
static void find_json(const struct command *command, int argc, char **argv) {
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *value = NULL;
		const struct flag *flag = is_flag(argv[i]) ? find_flag(command, argv[i], &value) : NULL;
		if (flag && !value && strcmp(flag->name, "json") == 0)
			usage_as_json();
		i += flag && flag->argument && !value;
	}
}

static enum parsed parse_flag(const struct command *command, const struct flag *flag, const char *value,
    flag_handler handler, void *data) {
	if (flag->traits & FLAG_REFUSED) {
		report_error(command, "--%s %s", flag->name, flag->help);
		return PARSED_BAD;
	}
	if (!flag->argument != !value) {
		report_error(
		    command, "--%s %s", flag->name, flag->argument ? "needs a value" : "takes no value");
		return PARSED_BAD;
	}
	if ((value && !check_value(command, flag, value)) || !handler(flag, value, data))
		return PARSED_BAD;
	given[flag - command->flags] = true;
	return PARSED;
}

enum parsed parse_flags(
    const struct command *command, int argc, char **argv, flag_handler handler, void *data) {
	bool only_operands = false;
	const struct action *action = NULL;
	find_json(command, argc, argv);
	for (int i = 0; i < argc; i++) {
		if (!only_operands && strcmp(argv[i], "--") == 0) {
			only_operands = true;
			continue;
		}
		if (only_operands || !is_flag(argv[i])) {
			if (command->actions && !action && !(action = find_action(command, argv[i]))) {
				report_unknown_action(command, argv[i]);
				return PARSED_BAD;
			}
			if (!handler(NULL, argv[i], data))
				return PARSED_BAD;
			continue;
		}
		if (is_help(argv[i])) {
			if (action)
				print_action_help(command, action, stdout);
			else
				print_help(command, stdout);
			return PARSED_HELP;
		}
		const char *value;
		const struct flag *flag = find_flag(command, argv[i], &value);
		if (!flag) {
			report_unknown_flag(command, argv[i]);
			return PARSED_BAD;
		}
		if (flag->argument && !value)
			value = ++i < argc ? argv[i] : NULL;
		if (parse_flag(command, flag, value, handler, data) != PARSED)
			return PARSED_BAD;
	}
	return PARSED;
}
