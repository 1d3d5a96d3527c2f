#include <stdarg.h>
#include <string.h>

#include "cli/untrusted.h"

/* A longer one quotes a value that is not worth reading. */
enum { COMPLAINT_MAX = 2048 };

bool complain(const struct command *command, const char *format, ...) {
	char text[COMPLAINT_MAX];
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
	for (const struct flag *flag = command->flags; flag && flag->name; flag++) {
		char left[48], short_form[8] = "    ";
		if (flag->short_name)
			snprintf(short_form, sizeof short_form, "-%c, ", flag->short_name);
		snprintf(left, sizeof left, "%s--%s%s%s", short_form, flag->name, flag->argument ? " " : "",
		    flag->argument ? flag->argument : "");
		fprintf(to, "  %-26s %s\n", left, flag->help);
	}
}

/* The flag that @text, "--name" or "--name=value" or "-x", speaks of. */
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
			complain(
			    command, "unknown option '%s'; see 'glovebox %s --help'", argv[i], command->name);
			return PARSED_BAD;
		}
		if (flag->argument && !value)
			value = ++i < argc ? argv[i] : NULL;
		if (!flag->argument != !value) {
			complain(command, "--%s %s", flag->name,
			    flag->argument ? "needs a value" : "takes no value");
			return PARSED_BAD;
		}
		if (!handler(flag, value, data))
			return PARSED_BAD;
	}
	return PARSED;
}
