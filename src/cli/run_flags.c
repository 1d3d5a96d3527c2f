#include "cli/run_flags.h"
#include "cli/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/engine.h"

static bool fits(const struct run_flags *flags, enum gb_language language) {
	const struct gb_language_traits *traits = gb_language_traits(language);
	const struct gb_run_options *options = flags->options;
	const struct {
		const char *flag;
		bool given, has;
		const char *advice;
	} all[] = {
	    {"fn", options->fn, traits->has_modules, "a script has no exports; --args are its parameters"},
	    {"input", options->globals, traits->has_modules, "pass texts with --args, or --stdin"},
	    {"stdin", options->input, traits->has_box, "pass values with --input NAME=JSON"},
	    {"file", options->files, traits->has_box, "it has no files; pass values with --input NAME=JSON"},
	    {"out", flags->out, traits->has_box, "it makes no files; --json gives the result"},
	    {"profile", options->profile, language == GB_PYTHON, "only Python has profiles"},
	    {"restricted", options->restricted, traits->has_restricted,
		"Python and the shell have that mode"},
	    {"allow", options->allowed_modules, traits->has_allowlist,
		"Node.js and Python have a list of modules"},
	    {"packages", flags->packages, language == GB_NODE, "only Node.js has packages"},
	    {"net", options->net, traits->has_net, "only Deno has that permission"},
	};
	for (size_t i = 0; i < GB_COUNT(all); i++)
		if (all[i].given && !all[i].has)
			return report_error(flags->command, "--%s has no effect on %s: %s", all[i].flag,
			    gb_language_name(language), all[i].advice);
	return true;
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
	return !flags->out || open_folder(flags->out, &fd, &err) ||
	       report_error(flags->command, "--out: %s", err.message);
}
