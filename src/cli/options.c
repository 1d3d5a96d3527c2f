#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "cli/language.h"
#include "cli/untrusted.h"
#include "value/wtf8.h"

/* Longer messages, which quote a long value, are cut. */
enum { MESSAGE_MAX = 2048, FLAGS_MAX = 64 };

bool report_error(const struct command *command, const char *format, ...) {
	char text[MESSAGE_MAX];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	bool is_cut = n >= (int)sizeof text;
	fprintf(stderr, "glovebox %s: ", command->name);
	print_message(stderr, text, strlen(text));
	fputs(is_cut ? "…\n" : "\n", stderr);
	return false;
}

void print_help(const struct command *command, FILE *to) {
	print_styled(to, BOLD, "glovebox %s", command->name);
	fprintf(to, " %s\n\n%s\n", command->synopsis, command->details);
	if (command->flags)
		fprintf(to, "\nOptions:\n");
	bool takes_language = false;
	for (const struct flag *flag = command->flags; flag && flag->name; flag++) {
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

/* --- fields of the library and their flags --- */

/* Members of structs that are in no table of glovebox/fields.h, and the flags that set them. */
static const struct {
	const char *field, *flag;
} fields[] = {
    {"name", "name"},
    {"name", "session"},
    {"node_packages", "packages"},
};

static bool has_flag(const struct command *command, const char *name) {
	for (const struct flag *flag = command->flags; flag && flag->name; flag++)
		if (strcmp(flag->name, name) == 0)
			return true;
	return false;
}

/* Whether @field is the member of a struct (glovebox.h), or the path of a field of a message whose name is @json
 * ("limits.timeoutMs", "options.execute.fn"; docs/PROTOCOL.md). */
static bool is_field(const char *field, const char *member, const char *json) {
	const char *dot = strrchr(field, '.');
	return strcmp(field, member) == 0 || strcmp(dot ? dot + 1 : field, json) == 0;
}

/* The flag that the tables have for @field, or NULL. */
static const char *flag_by_table(const char *field) {
	for (size_t i = 0; i < gb_limit_fields_count; i++)
		if (is_field(field, gb_limit_fields[i].member, gb_limit_fields[i].json) ||
		    (gb_limit_fields[i].in_options && strcmp(field, "options.memoryLimitBytes") == 0))
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

/* The flag that @text ("--name", "--name=value" or "-x") names. */
static const struct flag *find_flag(const struct command *command, const char *text, const char **ret_value) {
	*ret_value = NULL;
	for (const struct flag *flag = command->flags; flag && flag->name; flag++) {
		size_t n = strlen(flag->name);
		if (flag->short_name && text[1] == flag->short_name && text[2] == '\0')
			return flag;
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
	char word[32];
	snprintf(word, sizeof word, " %s ", action);
	for (const struct flag *flag = command->flags; flag->name; flag++)
		if (given[flag - command->flags] && flag->actions && !strstr(flag->actions, word))
			return report_error(command, "--%s has no effect on %s, only on:%s", flag->name,
			    action, flag->actions);
	return true;
}

static bool is_flag(const char *text) {
	return text[0] == '-' && text[1] != '\0';
}

enum parsed parse_flags(
    const struct command *command, int argc, char **argv, flag_handler handler, void *data) {
	bool only_operands = false;
	for (int i = 0; i < argc; i++) {
		if (!only_operands && strcmp(argv[i], "--") == 0) {
			only_operands = true;
			continue;
		}
		if (only_operands || !is_flag(argv[i])) {
			if (!handler(NULL, argv[i], data))
				return PARSED_BAD;
			continue;
		}
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_help(command, stdout);
			return PARSED_HELP;
		}
		const char *value;
		const struct flag *flag = find_flag(command, argv[i], &value);
		if (!flag) {
			report_error(
			    command, "unknown option '%s'; see 'glovebox %s --help'", argv[i], command->name);
			return PARSED_BAD;
		}
		if (flag->argument && !value)
			value = ++i < argc ? argv[i] : NULL;
		if (!flag->argument != !value) {
			report_error(command, "--%s %s", flag->name,
			    flag->argument ? "needs a value" : "takes no value");
			return PARSED_BAD;
		}
		if ((value && !check_value(command, flag, value)) || !handler(flag, value, data))
			return PARSED_BAD;
		given[flag - command->flags] = true;
	}
	return PARSED;
}
