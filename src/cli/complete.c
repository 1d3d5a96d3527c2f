#include "cli/complete.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/language.h"
#include "config/settings.h"
#include "glovebox/glovebox.h"

/* A session host or a database that does not answer must not block the user's shell for longer. */
enum { ANSWER_SECONDS = 3 };

void complete_offer(const struct complete_word *word, const char *candidate, const char *description) {
	if (strncmp(candidate, word->given.p, word->given.n) == 0)
		printf("%s%s\t%s\n", word->before, candidate, description);
}

/* --- values --- */

static void offer_files(const struct complete_word *word, struct state_request *state) {
	puts("\tfiles");
}

static void offer_folders(const struct complete_word *word, struct state_request *state) {
	puts("\tfolders");
}

static void offer_languages(const struct complete_word *word, struct state_request *state) {
	for (unsigned i = 0; i < GB_LANGUAGES; i++)
		complete_offer(word, gb_language_infos[i].name, gb_language_infos[i].doc);
}

static void offer_runtimes(const struct complete_word *word, struct state_request *state) {
	for (unsigned i = 0; i < GB_CONFIG_RUNTIMES; i++)
		complete_offer(word, gb_config_runtime_name((enum gb_config_runtime)i), "");
}

static void offer_statuses(const struct complete_word *word, struct state_request *state) {
	for (int status = GB_SUCCESS; status <= GB_DENIED; status++)
		complete_offer(word, gb_status_name((enum gb_status)status), "");
	complete_offer(word, "unfinished", "");
}

static void offer_sessions(const struct complete_word *word, struct state_request *state) {
	complete_sessions(word);
}

static void offer_setting(
    const struct complete_word *word, const char *name, const char *value, const char *description) {
	char text[2 * GB_SETTING_NAME_MAX];
	if ((size_t)snprintf(text, sizeof text, "%s=%s", name, value) < sizeof text)
		complete_offer(word, text, description);
}

/* "agent.enabled=", and after the equals sign its values, if they can be listed, and its default. */
static void offer_settings(const struct complete_word *word, struct state_request *state) {
	static const char one_of[] = "one of ";
	bool wants_value = memchr(word->given.p, '=', word->given.n);
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_setting *setting = &gb_settings[i];
		const char *type = gb_setting_type_name(setting);
		if (!wants_value) {
			offer_setting(word, setting->name, "", setting->help);
		} else if (setting->type == GB_SETTING_BOOL) {
			offer_setting(word, setting->name, "true", "");
			offer_setting(word, setting->name, "false", "");
		} else if (strncmp(type, one_of, strlen(one_of)) == 0) {
			for (struct gb_str rest = gb_str_from(type + strlen(one_of)), choice; rest.n;) {
				char text[GB_SETTING_NAME_MAX];
				gb_str_cut(&rest, ',', &choice);
				rest.p += rest.n > 0, rest.n -= rest.n > 0; /* the space */
				gb_copy_text(text, sizeof text, choice);
				offer_setting(word, setting->name, text, "");
			}
		} else {
			offer_setting(word, setting->name, setting->fallback, "the default");
		}
	}
}

typedef void (*offer)(const struct complete_word *word, struct state_request *state);

/* What the value of an option is, by the option's name or by the name of its value in --help. */
static const struct {
	const char *flag, *argument; /* one of them is NULL */
	offer offer;
} flag_values[] = {
    {"session", NULL, offer_sessions},
    {"runtime", NULL, offer_runtimes},
    {"status", NULL, offer_statuses},
    {NULL, LANGUAGE_ARGUMENT, offer_languages},
    {NULL, "KEY=VALUE", offer_settings},
    {NULL, "FILE", offer_files},
    {NULL, "PATH", offer_files},
    {NULL, "DIR", offer_folders},
};

/* What operands are, by the command; those of an action follow the action. */
static const struct {
	const char *command;
	size_t first, last;
	offer offer;
} operands[] = {
    {"run", 0, 0, offer_files},
    {"execute", 0, 0, offer_files},
    {"ts-strip", 0, 0, offer_files},
    {"session exec", 0, 0, offer_sessions},
    {"session exec", 1, 1, offer_files},
    {"session attach", 0, 0, offer_sessions},
    {"session send", 0, 0, offer_sessions},
    {"session interrupt", 0, 0, offer_sessions},
    {"session kill", 0, 0, offer_sessions},
    {"approvals", 0, 0, complete_approvals},
    {"config", 0, 0, offer_files},
};

/* --- the words before --- */

struct line {
	const struct command *command;
	const struct action *action; /* or NULL: none yet */
	const struct flag *pending;  /* or NULL: the next word is not its value */
	size_t n_operands;
	bool only_operands;
	struct state_request state; /* what --dir, --config and --set say */
};

static bool is_flag(const struct line *line, const char *word) {
	return !line->only_operands && word[0] == '-' && word[1] != '\0';
}

static void read_flag(struct line *line, const char *word) {
	const char *value;
	const struct flag *flag = find_flag(line->command, word, &value);
	if (strcmp(word, "--") == 0)
		line->only_operands = true;
	else if (flag && flag->argument && !value)
		line->pending = flag;
	else if (flag && value)
		state_flag(&line->state, flag, value);
}

static void read_operand(struct line *line, const char *word) {
	const struct command *const *commands = line->command ? line->command->commands : all_commands;
	const struct command *command = find_command(commands, word);
	if (command)
		line->command = command;
	else if (line->command && line->command->actions && !line->action)
		line->action = find_action(line->command, word);
	else
		line->n_operands++;
}

static void read_word(struct line *line, const char *word) {
	if (line->pending) {
		state_flag(&line->state, line->pending, word);
		line->pending = NULL;
	} else if (line->command && is_flag(line, word)) {
		read_flag(line, word);
	} else {
		read_operand(line, word);
	}
}

/* --- the last word --- */

static void offer_value(struct line *line, const struct flag *flag, const struct complete_word *word) {
	for (size_t i = 0; i < GB_COUNT(flag_values); i++) {
		const char *name = flag_values[i].flag, *argument = flag_values[i].argument;
		if (name ? strcmp(name, flag->name) == 0 : strcmp(argument, flag->argument) == 0) {
			flag_values[i].offer(word, &line->state);
			return;
		}
	}
}

static void offer_flags(const struct line *line, const struct complete_word *word) {
	char text[64];
	const char *action = line->action ? line->action->name : NULL;
	for (const struct flag *flag = line->command->flags; flag && flag->name; flag++) {
		snprintf(text, sizeof text, "--%s", flag->name);
		if (has_effect(flag, action))
			complete_offer(word, text, flag->help);
	}
	complete_offer(word, "--help", "describe the command");
}

static void offer_commands(const struct command *const *commands, const struct complete_word *word) {
	for (size_t i = 0; commands[i]; i++)
		complete_offer(word, command_word(commands[i]), commands[i]->summary);
}

static void offer_actions(const struct command *command, const struct complete_word *word) {
	for (const struct action *action = command->actions; action->name; action++) {
		char first[128];
		snprintf(first, sizeof first, "%.*s", (int)strcspn(action->details, ".\n"), action->details);
		complete_offer(word, action->name, first);
	}
}

static void offer_operands(struct line *line, const struct complete_word *word) {
	if (line->action && !*line->action->operands)
		return;
	for (size_t i = 0; i < GB_COUNT(operands); i++)
		if (strcmp(operands[i].command, line->command->name) == 0 &&
		    line->n_operands >= operands[i].first && line->n_operands <= operands[i].last)
			operands[i].offer(word, &line->state);
}

static void offer_first(const struct complete_word *word) {
	offer_commands(all_commands, word);
	complete_offer(word, "help", "describe a command");
}

/* "--name=value": the value is completed, and the rest stays. */
static bool offer_joined(struct line *line, const char *text) {
	const char *value, *equals = strchr(text, '=');
	const struct flag *flag = equals ? find_flag(line->command, text, &value) : NULL;
	char before[64];
	if (!flag || !flag->argument || value != equals + 1)
		return false;
	snprintf(before, sizeof before, "%.*s", (int)(value - text), text);
	offer_value(line, flag, &(struct complete_word){gb_str_from(value), before});
	return true;
}

static void offer_word(struct line *line, const char *text) {
	const struct complete_word word = {gb_str_from(text), ""};
	if (!line->command)
		offer_first(&word);
	else if (line->pending)
		offer_value(line, line->pending, &word);
	else if (is_flag(line, text) || (strcmp(text, "-") == 0 && !line->only_operands)) {
		if (!offer_joined(line, text))
			offer_flags(line, &word);
	} else if (line->command->commands)
		offer_commands(line->command->commands, &word);
	else if (line->command->actions && !line->action)
		offer_actions(line->command, &word);
	else
		offer_operands(line, &word);
}

static int run(const struct command *self, int argc, char **argv) {
	static const char nothing[] = "";
	struct line line = {0};
	alarm(ANSWER_SECONDS);
	/* 'help run' is completed as 'run'. */
	int i = argc > 1 && strcmp(argv[0], "help") == 0 ? 1 : 0;
	for (; i + 1 < argc; i++)
		read_word(&line, argv[i]);
	offer_word(&line, argc ? argv[argc - 1] : nothing);
	return EXIT_OK;
}

const struct command command_complete = {
    .name = "complete",
    .synopsis = "WORD...",
    .summary = "print what the last word of a command line can become",
    .details = "The completions of bash, zsh and fish call this.",
    .run = run,
};
