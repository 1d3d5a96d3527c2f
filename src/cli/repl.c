#include "cli/repl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/history.h"
#include "cli/paths.h"
#include "cli/reader.h"
#include "cli/repl_ask.h"
#include "cli/show.h"

enum { NAME_SIZE = 32, PROMPT_SIZE = 32 };

struct loop {
	const struct repl *repl;
	struct session_job job;
	struct gb_run_options options;
	struct repl_ask ask;
	struct reader reader;
	struct history history;
	char name[NAME_SIZE], prompt[PROMPT_SIZE], more[PROMPT_SIZE], piece[NAME_SIZE];
	unsigned n_pieces;
	int status;
	bool over;
};

/* --- commands --- */

static const char *const commands[] = {".exit", ".help", ".load", ".reset", NULL};

static void print_commands(void) {
	fputs(
	    "  .help         this list\n"
	    "  .load FILE    run the code of FILE\n"
	    "  .reset        end the session and begin a new one, without variables\n"
	    "  .exit         leave; Ctrl-D on an empty line does, too\n"
	    "\n"
	    "Incomplete code continues in the next line; in Python, an empty line ends a block. Tab\n"
	    "completes names. The arrow keys move the cursor and show earlier code. Alt-Enter begins a new\n"
	    "line. Ctrl-C discards the typed text, or interrupts the running code; the session stays.\n",
	    stdout);
}

/* @filename may be NULL. In stack traces a piece has its number in this loop: questions about completeness and
 * completion are runs of the session, too, which have numbers there. */
static void execute(struct loop *loop, const char *source, size_t n, const char *filename) {
	snprintf(loop->piece, sizeof loop->piece, "input[%u]", ++loop->n_pieces);
	loop->options.filename = filename ? filename : loop->piece;
	loop->options.source = source;
	loop->options.source_bytes = n;
	loop->status = session_execute(&loop->job);
	loop->options.files = NULL; /* copied once: the code may have changed its copies */
}

static void load(struct loop *loop, const char *path) {
	gb_auto_buf struct gb_buf source;
	gb_buf_init(&source, GB_SOURCE_MAX);
	if (!*path)
		report_error(loop->job.command, ".load needs the name of a file");
	else if (read_path(loop->job.command, ".load: ", path, &source) && source.len)
		execute(loop, gb_buf_c_str(&source), source.len, path);
}

static void reset(struct loop *loop) {
	session_end(loop->job.command, loop->job.session);
	loop->options.files = loop->repl->options->files;
}

/* Whether @text is the command @name, perhaps with an operand. */
static bool is_command(const char *text, const char *name, const char **ret_operand) {
	size_t n = strlen(name);
	if (strncmp(text, name, n) != 0 || (text[n] && text[n] != ' '))
		return false;
	*ret_operand = text + n + strspn(text + n, " ");
	return true;
}

/* Whether the text is for the loop and not for the language: a dot and a word, which only a shell could know. */
static bool takes_command(struct loop *loop, const char *text) {
	const char *operand = "";
	struct gb_nearest nearest = {.given = text};
	if (*text != '.')
		return false;
	if (is_command(text, ".help", &operand)) {
		print_commands();
	} else if (is_command(text, ".exit", &operand)) {
		loop->over = true;
	} else if (is_command(text, ".load", &operand)) {
		load(loop, operand);
	} else if (is_command(text, ".reset", &operand)) {
		reset(loop);
	} else if (loop->options.language != GB_SHELL && strspn(text + 1, "abcdefghijklmnopqrstuvwxyz") &&
		   !text[1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyz")]) {
		for (size_t i = 0; commands[i]; i++)
			gb_nearest_offer(&nearest, commands[i]);
		report_error(loop->job.command, "there is no command '%s'%s", text, suggestion(&nearest));
	} else {
		return false;
	}
	return true;
}

/* What users of the language type to leave. In a shell they are commands, after which the session has ended. */
static bool leaves(struct loop *loop, const char *text) {
	static const char *const words[] = {"exit", "quit", "exit()", "quit()"};
	int status, end = 0;
	if (loop->options.language == GB_SHELL) {
		if (sscanf(text, "exit %d%n", &status, &end) == 1 && !text[end])
			loop->status = status & 0xff;
		return end || strcmp(text, "exit") == 0 || strcmp(text, "logout") == 0;
	}
	for (size_t i = 0; i < GB_COUNT(words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	if (sscanf(text, "exit(%d)%n", &status, &end) == 1 && end && !text[end])
		loop->status = status & 0xff;
	return end && !text[end];
}

/* --- the loop --- */

static bool is_complete(void *data, const char *text, size_t n) {
	const struct loop *loop = data;
	return (n && *text == '.' && !memchr(text, '\n', n)) || repl_is_complete(&loop->ask, text, n);
}

static void complete(void *data, struct line *line, struct gb_buf *list) {
	const struct loop *loop = data;
	repl_complete(&loop->ask, commands, line, list);
}

static bool is_blank(const char *text) {
	return text[strspn(text, " \t\n")] == '\0';
}

static void remember(struct loop *loop, const char *text) {
	bool has_secret = loop->repl->filter && show_has_secrets(loop->repl->filter, gb_str_from(text));
	/* A space before it keeps it out of the history, as in shells. */
	if (loop->reader.kind == READER_EDITOR && *text != ' ' && !has_secret)
		history_add(&loop->history, text);
}

static void take_text(struct loop *loop, struct gb_buf *text) {
	const char *code = gb_buf_c_str(text);
	if (!code) {
		report_error(loop->job.command, "the code is too long");
	} else if (!is_blank(code)) {
		remember(loop, code);
		if (leaves(loop, code))
			loop->over = true;
		else if (!takes_command(loop, code))
			execute(loop, code, text->len, NULL);
	}
}

static void run_loop(struct loop *loop) {
	if (loop->repl->options->source_bytes)
		execute(loop, loop->repl->options->source, loop->repl->options->source_bytes,
		    loop->repl->options->filename);
	while (!loop->over && !reader_must_end()) {
		gb_auto_buf struct gb_buf text;
		enum read_end end = reader_read(&loop->reader, &text);
		if (end == READ_END)
			return;
		if (end == READ_TEXT)
			take_text(loop, &text);
	}
}

/* --- its begin and end --- */

static void open_history(struct loop *loop) {
	char name[NAME_SIZE];
	struct gb_err err = {0};
	snprintf(name, sizeof name, "history-%s", gb_language_name(loop->options.language));
	if (loop->reader.kind == READER_EDITOR && loop->repl->state_dir &&
	    !history_open(&loop->history, loop->repl->state_dir, name, &err))
		report_warning(
		    loop->job.command, "what you type is not kept for the next time: %s", err.message);
}

static void name_prompts(struct loop *loop) {
	int n = snprintf(loop->prompt, sizeof loop->prompt, "%s> ", gb_language_name(loop->options.language));
	snprintf(loop->more, sizeof loop->more, "%*s ", n - 1, "...");
}

/* A name that no other session has, unless one was given. */
static const char *choose_session(struct loop *loop) {
	uint64_t number = 0;
	if (loop->repl->session)
		return loop->repl->session;
	while (getrandom(&number, sizeof number, 0) != sizeof number)
		;
	snprintf(loop->name, sizeof loop->name, "repl-%016llx", (unsigned long long)number);
	return loop->name;
}

static void greet(const struct loop *loop) {
	if (loop->reader.kind == READER_PIPE)
		return;
	printf("glovebox %s, %s", GB_VERSION, gb_language_name(loop->options.language));
	if (loop->repl->session)
		printf(", session '%s'", loop->job.session);
	puts("; .help lists commands and keys, Ctrl-D leaves");
	fflush(stdout);
}

int repl_run(const struct repl *repl) {
	struct loop loop = {.repl = repl, .options = *repl->options, .history.fd = -1};
	int status;
	loop.job = (struct session_job){.command = repl->command,
	    .options = &loop.options,
	    .create = true,
	    .fixed_language = repl->fixed_language,
	    .interactive = true,
	    .out = repl->out};
	loop.job.session = choose_session(&loop);
	enum gb_language language;
	if (!session_prepare(&loop.job, &language, &status))
		return status;
	loop.options.language = language;
	loop.ask = (struct repl_ask){repl->command, loop.job.session, loop.options.language};
	name_prompts(&loop);
	loop.reader = (struct reader){.prompt = loop.prompt,
	    .more = loop.more,
	    .history = &loop.history,
	    .is_complete = is_complete,
	    .complete = complete,
	    .data = &loop};
	reader_open(&loop.reader);
	open_history(&loop);
	greet(&loop);
	run_loop(&loop);
	reader_close(&loop.reader);
	history_close(&loop.history);
	if (!repl->session)
		session_end(repl->command, loop.job.session);
	return loop.status;
}
