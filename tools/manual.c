/*
 * Writes the manual pages from the tables of commands, options and settings: 'manual FOLDER' writes FOLDER/man1/glovebox.1,
 * a page for each command, and FOLDER/man5/glovebox.yaml.5. Their text is that of --help, and of 'glovebox config docs'.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "config/settings.h"
#include "glovebox/glovebox.h"

/* --- text as roff --- */

static void put_char(FILE *page, char c) {
	static const char *const escapes[128] = {['\\'] = "\\(rs",
	    ['-'] = "\\-",
	    ['\''] = "\\(aq",
	    ['`'] = "\\(ga",
	    ['^'] = "\\(ha",
	    ['~'] = "\\(ti",
	    ['"'] = "\\(dq"};
	unsigned char byte = (unsigned char)c;
	if (byte < 128 && escapes[byte])
		fputs(escapes[byte], page);
	else
		fputc(c, page);
}

/* Part of a line, in the middle of one. */
static void put_text(FILE *page, struct gb_str text) {
	for (size_t i = 0; i < text.n; i++)
		put_char(page, text.p[i]);
}

static void put(FILE *page, const char *text) {
	put_text(page, gb_str_from(text));
}

/* A whole line, which is no request. */
static void put_line(FILE *page, struct gb_str line) {
	if (line.n && line.p[0] == '.')
		fputs("\\&", page);
	put_text(page, line);
	fputc('\n', page);
}

enum lines { LINES_NONE, LINES_FILLED, LINES_LITERAL };

static const struct gb_str exit_status = {"Exit status: ", 13};

static bool is_exit_status(struct gb_str line) {
	return line.n > exit_status.n && memcmp(line.p, exit_status.p, exit_status.n) == 0;
}

/* What comes between a line and the one before it. */
static void put_break(FILE *page, enum lines before, enum lines now, bool is_paragraph) {
	if (before == LINES_LITERAL && now != LINES_LITERAL)
		fputs(".EE\n.RE\n", page);
	if (now == LINES_LITERAL)
		fputs(before == LINES_NONE ? ".RS 2\n.EX\n"
		      : before != now      ? ".PP\n.RS 2\n.EX\n"
		      : is_paragraph       ? "\n"
					   : "",
		    page);
	else if (now == LINES_FILLED && before != LINES_NONE && (is_paragraph || before != now))
		fputs(".PP\n", page);
}

/* Paragraphs are filled; lines that begin with a space, such as examples, stay as they are. With @has_sections,
 * "Exit status: ..." is a section. */
static void put_details(FILE *page, const char *details, bool has_sections) {
	enum lines before = LINES_NONE;
	bool is_paragraph = false;
	for (struct gb_str rest = gb_str_from(details), line; rest.n;) {
		gb_str_cut(&rest, '\n', &line);
		if (!line.n) {
			is_paragraph = true;
			continue;
		}
		bool is_section = has_sections && is_exit_status(line);
		enum lines now = line.p[0] == ' ' ? LINES_LITERAL : LINES_FILLED;
		put_break(page, before, is_section ? LINES_NONE : now, is_paragraph);
		size_t skip = is_section ? exit_status.n : now == LINES_LITERAL && line.n > 2 ? 2 : 0;
		fputs(is_section ? ".SH EXIT STATUS\n" : "", page);
		put_line(page, (struct gb_str){line.p + skip, line.n - skip});
		before = now;
		is_paragraph = false;
	}
	put_break(page, before, LINES_NONE, false);
}

/* --- pages --- */

struct place {
	const char *folder;
};

static FILE *open_page(const struct place *place, const char *name, int section) {
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/man%d", place->folder, section);
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return NULL;
	snprintf(path, sizeof path, "%s/man%d/%s.%d", place->folder, section, name, section);
	FILE *page = fopen(path, "w");
	if (!page)
		return NULL;
	fputs(".\\\" Written by tools/manual.c from the tables of the sources.\n.TH \"", page);
	put(page, name);
	fprintf(page, "\" %d \"\" \"Glovebox %s\" \"Glovebox manual\"\n.nh\n", section, GB_VERSION);
	return page;
}

static bool close_page(FILE *page) {
	bool ok = !ferror(page);
	return fclose(page) == 0 && ok;
}

static void put_name(FILE *page, const char *name, const char *summary) {
	fputs(".SH NAME\n", page);
	put(page, name);
	fputs(" \\- ", page);
	put(page, summary);
	fputc('\n', page);
}

static void put_reference(FILE *page, const char *name, int section, const char *after) {
	fputs(".BR ", page);
	put(page, name);
	fprintf(page, " (%d)%s\n", section, after);
}

/* --- the page of a command --- */

static void put_synopsis(FILE *page, const char *name, const char *operands) {
	fputs(".B glovebox ", page);
	put(page, name);
	fputs("\n", page);
	put_line(page, gb_str_from(operands));
}

static void put_flag(FILE *page, const struct flag *flag) {
	fputs(".TP\n", page);
	if (flag->short_name) {
		fputs("\\fB\\-", page);
		put_char(page, flag->short_name);
		fputs("\\fR, ", page);
	}
	fputs("\\fB\\-\\-", page);
	put(page, flag->name);
	fputs("\\fR", page);
	if (flag->argument) {
		fputs(" \\fI", page);
		put(page, flag->argument);
		fputs("\\fR", page);
	}
	fputc('\n', page);
	put_line(page, gb_str_from(flag->help));
}

static void put_languages(FILE *page) {
	fputs(".SH LANGUAGES\n", page);
	for (unsigned i = 0; i < GB_LANGUAGES; i++) {
		const struct gb_language_info *info = &gb_language_infos[i];
		fprintf(page, ".TP\n.B ");
		put(page, info->name);
		fputc('\n', page);
		put(page, info->doc);
		if (*info->aliases) {
			fputs("; also called ", page);
			put(page, info->aliases);
		}
		if (*info->endings) {
			fputs("; files end in ", page);
			put(page, info->endings);
		}
		fputc('\n', page);
	}
}

static void put_flags(FILE *page, const struct command *command) {
	bool takes_language = false;
	if (command->flags && command->flags->name)
		fputs(".SH OPTIONS\n", page);
	for (const struct flag *flag = command->flags; flag && flag->name; flag++) {
		if (!has_effect(flag, NULL))
			continue;
		put_flag(page, flag);
		takes_language |= flag->argument && strcmp(flag->argument, LANGUAGE_ARGUMENT) == 0;
	}
	if (takes_language)
		put_languages(page);
}

/* The sections of an action's text would be sections of the page. */
static void put_actions(FILE *page, const struct command *command) {
	for (const struct action *action = command->actions; action && action->name; action++) {
		if (action == command->actions)
			fputs(".SH ACTIONS\n", page);
		fputs(".SS \"glovebox ", page);
		put(page, command->name);
		fputc(' ', page);
		put(page, action->name);
		fputs(*action->operands ? " " : "", page);
		put(page, action->operands);
		fputs("\"\n", page);
		put_details(page, action->details, false);
	}
}

static void put_see_also(FILE *page, const struct command *command) {
	char name[MANUAL_NAME];
	fputs(".SH SEE ALSO\n", page);
	for (size_t i = 0; command->commands && command->commands[i]; i++) {
		manual_name(command->commands[i], name);
		put_reference(page, name, 1, ",");
	}
	put_reference(page, "glovebox", 1, ",");
	put_reference(page, "glovebox.yaml", 5, "");
}

static bool write_command(const struct place *place, const struct command *command) {
	char name[MANUAL_NAME];
	manual_name(command, name);
	FILE *page = open_page(place, name, 1);
	if (!page)
		return false;
	put_name(page, name, command->summary);
	fputs(".SH SYNOPSIS\n", page);
	put_synopsis(page, command->name, command->synopsis);
	fputs(".SH DESCRIPTION\n", page);
	put_details(page, command->details, true);
	put_actions(page, command);
	put_flags(page, command);
	put_see_also(page, command);
	bool ok = close_page(page);
	for (size_t i = 0; command->commands && command->commands[i]; i++)
		ok &= write_command(place, command->commands[i]);
	return ok;
}

/* --- glovebox(1) --- */

/* Variables that are no settings. */
static const struct {
	const char *name, *help;
} variables[] = {
    {"GLOVEBOX_CONFIG", "the settings file, instead of the usual files"},
    {"GLOVEBOX_BASH, GLOVEBOX_NODE, GLOVEBOX_DENO",
	"the programs that run code, instead of the first in PATH"},
    {"GLOVEBOX_SECRET_NAME", "a value that is masked in output, under the name NAME"},
    {"GLOVEBOX_SESSION_LINGER",
	"how long the process that keeps sessions runs after the last session has ended"},
    {"GLOVEBOX_PATH", "the program that the SDKs start"},
};

/* Below the folder that has bin/glovebox. */
static const struct {
	const char *path, *help;
} files[] = {
    {"share/doc/glovebox", "the documentation: tutorial, guides, reference; begin with docs/README.md"},
    {"share/doc/glovebox/examples", "programs in C that embed the library"},
    {"include/glovebox, lib/pkgconfig/glovebox.pc", "the C library: see libglovebox(3)"},
    {"share/glovebox/typescript", "the TypeScript SDK, for 'npm install'"},
    {"libexec/glovebox", "the worker programs; every user can read them, and only the owner may change them"},
};

static void put_pair(FILE *page, const char *term, const char *text) {
	fputs(".TP\n.B ", page);
	put(page, term);
	fputc('\n', page);
	put_line(page, gb_str_from(text));
}

static void put_commands(FILE *page) {
	char name[MANUAL_NAME];
	fputs(".SH COMMANDS\n", page);
	for (size_t i = 0; all_commands[i]; i++) {
		manual_name(all_commands[i], name);
		fputs(".TP\n", page);
		put_reference(page, name, 1, "");
		put_line(page, gb_str_from(all_commands[i]->summary));
	}
}

static bool write_overview(const struct place *place) {
	FILE *page = open_page(place, "glovebox", 1);
	if (!page)
		return false;
	put_name(page, "glovebox", "run untrusted code safely");
	fputs(".SH SYNOPSIS\n.B glovebox\n.I COMMAND\n[OPTIONS]\n.br\n.B glovebox help\n.I COMMAND\n", page);
	fputs(".SH DESCRIPTION\nRun code in a sandbox of its own, with limits on time, memory and output, "
	      "and return its value, its output, and whether it succeeded, failed or exceeded a limit.\n",
	    page);
	put_commands(page);
	fputs(".SH ENVIRONMENT\nEach setting has a variable: see\n", page);
	put_reference(page, "glovebox.yaml", 5, ".");
	for (size_t i = 0; i < GB_COUNT(variables); i++)
		put_pair(page, variables[i].name, variables[i].help);
	fputs(".SH FILES\nThese paths are relative to the folder in which Glovebox is installed, which has\n"
	      ".B bin/glovebox .\nThe folder may be moved.\n",
	    page);
	for (size_t i = 0; i < GB_COUNT(files); i++)
		put_pair(page, files[i].path, files[i].help);
	fputs(".SH SEE ALSO\n", page);
	put_reference(page, "glovebox.yaml", 5, ",");
	put_reference(page, "libglovebox", 3, "");
	return close_page(page);
}

/* --- glovebox.yaml(5) --- */

static void put_range(FILE *page, const struct gb_setting *setting) {
	gb_auto_buf struct gb_buf range;
	gb_buf_init(&range, 1 << 12);
	gb_setting_write_range(setting, &range);
	if (!range.len)
		return;
	fputs("; ", page);
	put(page, gb_buf_c_str(&range));
}

static void put_setting(FILE *page, const struct gb_setting *setting) {
	char variable[GB_SETTING_NAME_MAX];
	gb_setting_variable(setting, variable);
	fputs(".TP\n.B ", page);
	put(page, setting->name);
	fputc('\n', page);
	if (setting->unavailable)
		fputs("(" GB_SETTING_UNAVAILABLE ") ", page);
	put_line(page, gb_str_from(setting->help));
	fputs(".br\n", page);
	put(page, gb_setting_type_name(setting));
	put_range(page, setting);
	fputs("; default: ", page);
	put(page, *setting->fallback ? setting->fallback : "\"\"");
	fputs("; a project file may ", page);
	put(page, gb_setting_project_text(setting));
	fputs("; variable \\%", page); /* not hyphenated */
	put(page, variable);
	fputc('\n', page);
}

static bool write_settings(const struct place *place) {
	FILE *page = open_page(place, "glovebox.yaml", 5);
	const char *before = "";
	if (!page)
		return false;
	put_name(page, "glovebox.yaml", "settings of Glovebox");
	fputs(".SH DESCRIPTION\n", page);
	put_details(page,
	    "A file in YAML. The value of a setting comes from the last of these sources that has it: its\n"
	    "default; the owner's file; the project file, which may only make the owner's settings stricter\n"
	    "unless it is trusted; the environment variable of the setting; the option --set.\n"
	    "\n"
	    "A dot in a name, such as agent.enabled, stands for nested keys:\n"
	    "\n"
	    "  agent:\n"
	    "    enabled: true\n"
	    "\n"
	    "Durations: 500ms, 30s, 5m, 2h, 1d. Sizes: 64K, 256M, 1G. An unknown key, a wrong type and a "
	    "value out of\n"
	    "range are errors.\n"
	    "\n"
	    "  glovebox config init     write a file with every setting in it, as a comment\n"
	    "  glovebox config check    report errors in a file\n"
	    "  glovebox config show     show each setting, its value, and where the value comes from\n"
	    "  glovebox config trust    apply what a project file grants",
	    false);
	fputs(".SH SETTINGS\n", page);
	for (size_t i = 0; i < gb_settings_count; i++) {
		size_t section = strcspn(gb_settings[i].name, ".");
		if (strncmp(gb_settings[i].name, before, section + 1) != 0) {
			fputs(".SS ", page);
			put_line(page, (struct gb_str){gb_settings[i].name, section});
		}
		put_setting(page, &gb_settings[i]);
		before = gb_settings[i].name;
	}
	fputs(".SH FILES\n", page);
	put_pair(page,
	    "$XDG_CONFIG_HOME/glovebox/glovebox.yaml, ~/.config/glovebox/glovebox.yaml, "
	    "/etc/glovebox/glovebox.yaml",
	    "the owner's file: the first of these");
	put_pair(page, "./glovebox.yaml", "the project file, in the working directory");
	fputs(".SH SEE ALSO\n", page);
	put_reference(page, "glovebox", 1, ",");
	put_reference(page, "glovebox-config", 1, "");
	return close_page(page);
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: manual FOLDER\n");
		return 2;
	}
	const struct place place = {argv[1]};
	bool ok = (mkdir(argv[1], 0755) == 0 || errno == EEXIST) && write_overview(&place) &&
		  write_settings(&place);
	for (size_t i = 0; ok && all_commands[i]; i++)
		ok = write_command(&place, all_commands[i]);
	if (!ok)
		perror("manual");
	return !ok;
}
