#include "cli/run_flags.h"
#include "cli/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "engine/engine.h"

static const char *advice_for(enum gb_need need) {
	static const char *const advice[] = {
	    [GB_NEED_MODULES] = "a script has no exports or variables; pass texts with --args, or --stdin",
	    [GB_NEED_BOX] = "it has no files and no standard input; pass values with --input NAME=JSON",
	    [GB_NEED_PROFILES] = "only Python has profiles",
	    [GB_NEED_RESTRICTED] = "Python and the shell have that mode",
	    [GB_NEED_ALLOWLIST] = "Node.js and Python have a list of modules",
	    [GB_NEED_NET] = "only Deno has that permission",
	    [GB_NEED_SESSIONS] = "it has no sessions",
	};
	return (size_t)need < GB_COUNT(advice) && advice[need] ? advice[need] : "";
}

static bool refuse(
    const struct run_flags *flags, const char *flag, enum gb_language language, const char *advice) {
	return report_error(
	    flags->command, "--%s has no effect on %s: %s", flag, gb_language_name(language), advice);
}

static bool fits(const struct run_flags *flags, enum gb_language language) {
	for (size_t i = 0; i < gb_request_fields_count; i++) {
		const struct gb_request_field *field = &gb_request_fields[i];
		if (field->flag && gb_request_has(field, flags->options) &&
		    !gb_language_has(language, field->need))
			return refuse(flags, field->flag, language, advice_for(field->need));
	}
	if (flags->out && !gb_language_has(language, GB_NEED_BOX))
		return refuse(flags, "out", language, "it makes no files; --json gives the result");
	return !flags->packages || language == GB_NODE ||
	       refuse(flags, "packages", language, "only Node.js has packages");
}

bool run_flags_fit(const struct run_flags *flags, enum gb_language language) {
	const struct gb_run_options *options = flags->options;
	if (!fits(flags, language))
		return false;
	if (language == GB_PYTHON && options->args && !options->fn)
		return report_error(flags->command,
		    "--args has no effect on python: arguments are for a function that 'run --fn' names");
	return language != GB_PYTHON || !options->allowed_modules || options->restricted ||
	       report_error(flags->command,
		   "--allow has no effect on python without --restricted: every module may be imported");
}

bool run_flags_has_sessions(const struct command *command, enum gb_language language) {
	return gb_language_traits(language)->has_sessions ||
	       report_error(command, "--language: %s has no sessions", gb_language_name(language));
}

bool run_flags_check_out(const struct run_flags *flags) {
	gb_auto_fd int fd = -1;
	struct gb_err err = {0};
	return !flags->out || make_folder(flags->out, &fd, &err) ||
	       report_error(flags->command, "--out: %s", err.message);
}
