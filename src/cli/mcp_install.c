/* Adds Glovebox to the configuration file of an MCP client. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "cli/mcp.h"
#include "cli/untrusted.h"
#include "value/json.h"

enum { FILE_MAX = 16 << 20, ENTRY_MAX = 64 << 10 };

#define ENTRY_NAME "glovebox"

/* The clients whose format is documented, and is JSON. */
static const struct client {
	const char *name;
	const char *file; /* below the home directory, or if it begins with "./", in the working directory */
	const char *key;  /* of the object with all servers */
	bool has_type;    /* an entry has a type */
} clients[] = {
    {"claude-code", ".claude.json", "mcpServers", true},
    {"claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers", false},
    {"cursor", ".cursor/mcp.json", "mcpServers", false},
    {"gemini", ".gemini/settings.json", "mcpServers", false},
    {"vscode", "./.vscode/mcp.json", "servers", true},
};

static const struct client *find_client(const struct command *command, const char *name) {
	struct gb_nearest nearest = {.given = name};
	for (size_t i = 0; i < GB_COUNT(clients); i++) {
		if (strcmp(name, clients[i].name) == 0)
			return &clients[i];
		gb_nearest_offer(&nearest, clients[i].name);
	}
	report_error(command,
	    "there is no client '%s' whose file can be changed%s; there are " MCP_CLIENTS
	    "; --print shows the entry for others",
	    name, suggestion(&nearest));
	return NULL;
}

/* --- the entry --- */

static void append_argument(struct gb_buf *out, const char *text) {
	gb_buf_append(out, ", ", 2);
	gb_json_append_bytes(out, gb_str_from(text));
}

/* {"command": "/usr/local/bin/glovebox", "args": ["mcp"]} */
static bool write_entry(
    struct gb_buf *out, bool has_type, const struct settings_request *settings, struct gb_err *err) {
	char program[PATH_MAX], file[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	if (n < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "find the path of this program");
	program[n] = '\0';
	if (settings->file && !realpath(settings->file, file))
		return gb_fail(err, GB_ENOENT, errno, "open '%s'", settings->file);
	gb_buf_printf(out, "{%s\"command\": ", has_type ? "\"type\": \"stdio\", " : "");
	gb_json_append_bytes(out, gb_str_from(program));
	gb_buf_printf(out, ", \"args\": [\"mcp\"");
	if (settings->file) {
		append_argument(out, "--config");
		append_argument(out, file);
	}
	for (size_t i = 0; i < settings->n_set; i++) {
		append_argument(out, "--set");
		append_argument(out, settings->set[i]);
	}
	gb_buf_append(out, "]}", 2);
	return !gb_buf_failed(out) || gb_fail(err, GB_ELIMIT, 0, "the settings are too long");
}

/* --- the file --- */

struct target {
	const struct client *client;
	char path[PATH_MAX]; /* without links */
	struct gb_buf text;  /* as it is; empty if there is no file */
	mode_t mode;
};

/* The working directory can be a project of others, whose links could lead to any file. */
static bool is_link(const char *path) {
	struct stat st;
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static bool find_path(struct target *target, const char *given, struct gb_err *err) {
	const char *home = getenv("HOME"), *file = target->client ? target->client->file : NULL;
	char path[PATH_MAX];
	int n;
	if (given)
		n = snprintf(path, sizeof path, "%s", given);
	else if (!file)
		return gb_fail(err, GB_EINVAL, 0, "name the file with --file");
	else if (strncmp(file, "./", 2) == 0)
		n = snprintf(path, sizeof path, "%s", file + 2);
	else if (home && *home == '/')
		n = snprintf(path, sizeof path, "%s/%s", home, file);
	else
		return gb_fail(err, GB_ENOENT, 0, "HOME is not set: name the file with --file");
	if (n < 0 || (size_t)n >= sizeof path)
		return gb_fail(err, GB_EINVAL, 0, "the path of the file is too long");
	if (!given && strncmp(file, "./", 2) == 0 && (is_link(path) || is_link(dirname(strdupa(path)))))
		return gb_fail(err, GB_EINVAL, 0,
		    "'%s' is, or is in, a link of the working directory; name the file with --file", path);
	/* A link is kept: the file that it leads to is replaced. */
	if (!realpath(path, target->path))
		memcpy(target->path, path, sizeof path);
	return true;
}

static bool read_target(struct target *target, struct gb_err *err) {
	struct stat st;
	gb_auto_fd int fd = open(target->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	target->mode = 0600;
	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd < 0 || fstat(fd, &st) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "open '%s'", target->path);
	if (!S_ISREG(st.st_mode))
		return gb_fail(err, GB_EINVAL, 0, "'%s' is not a regular file", target->path);
	target->mode = st.st_mode & 0777;
	return gb_read_to_end(fd, target->path, &target->text, err);
}

static bool make_folders(const char *path, struct gb_err *err) {
	char folder[PATH_MAX];
	gb_copy_text(folder, sizeof folder, gb_str_from(path));
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) != 0 && errno != EEXIST)
			return gb_fail(err, GB_ESYSTEM, errno, "make the folder '%s'", folder);
		*slash = '/';
	}
	return true;
}

/* Replace the file at once, unless it has changed meanwhile: some clients write theirs often. */
static bool write_target(const struct target *target, struct gb_str text, struct gb_err *err) {
	struct target now = *target;
	char path[PATH_MAX + 16];
	gb_buf_init(&now.text, FILE_MAX);
	bool same = read_target(&now, err) && gb_str_eq(gb_buf_str(&now.text), gb_buf_str(&target->text));
	gb_buf_finish(&now.text);
	if (!same)
		return gb_fail(err, GB_EBUSY, 0, "'%s' has changed meanwhile; try again", target->path);
	snprintf(path, sizeof path, "%s.XXXXXX", target->path);
	gb_auto_fd int fd = make_folders(target->path, err) ? mkostemp(path, O_CLOEXEC) : -1;
	if (fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "write beside '%s'", target->path);
	if (fchmod(fd, target->mode) == 0 && gb_write_all(fd, text.p, text.n) && fsync(fd) == 0 &&
	    rename(path, target->path) == 0)
		return true;
	int error = errno;
	unlink(path);
	return gb_fail(err, GB_ESYSTEM, error, "write '%s'", target->path);
}

/* --- inserting the entry; the rest of the file stays as it is --- */

static size_t skip_space(struct gb_str text, size_t at) {
	while (at < text.n && strchr(" \t\r\n", text.p[at]))
		at++;
	return at;
}

/* Behind the string that begins at @at. The text is valid JSON. */
static size_t skip_string(struct gb_str text, size_t at) {
	for (at++; at < text.n && text.p[at] != '"'; at++)
		at += text.p[at] == '\\';
	return at + 1;
}

/* The offset of the value of the root's last key @key, whose spelling has no escapes; 0: there is none. */
static size_t find_value(struct gb_str text, const char *key) {
	size_t found = 0, n = strlen(key);
	unsigned depth = 0;
	for (size_t at = 0; at < text.n;) {
		if (text.p[at] != '"') {
			depth += text.p[at] == '{' || text.p[at] == '[';
			depth -= text.p[at] == '}' || text.p[at] == ']';
			at++;
			continue;
		}
		size_t end = skip_string(text, at), next = skip_space(text, end);
		bool is_key = depth == 1 && next < text.n && text.p[next] == ':';
		if (is_key && end - at == n + 2 && memcmp(text.p + at + 1, key, n) == 0)
			found = skip_space(text, next + 1);
		at = end;
	}
	return found;
}

struct insertion {
	size_t at;
	struct gb_buf text;
};

static void plan_insertion(
    struct gb_str text, const struct client *client, struct gb_str entry, struct insertion *ret) {
	size_t servers = find_value(text, client->key);
	size_t root = skip_space(text, 0);
	struct gb_buf *out = &ret->text;
	ret->at = (servers ? servers : root) + 1;
	size_t next = skip_space(text, ret->at);
	const char *end = next < text.n && text.p[next] == '}' ? "\n" : ",";
	if (servers)
		gb_buf_printf(
		    out, "\n    \"" ENTRY_NAME "\": %.*s%s", GB_STR_ARG(entry), *end == ',' ? "," : "\n  ");
	else
		gb_buf_printf(out, "\n  \"%s\": {\n    \"" ENTRY_NAME "\": %.*s\n  }%s", client->key,
		    GB_STR_ARG(entry), end);
}

/* What the file has already. */
enum present { ABSENT, SAME, OTHER, UNREADABLE };

static enum present check_file(
    struct gb_str text, const struct client *client, struct gb_str entry, struct gb_err *err) {
	struct gb_values *pool = gb_values_create(FILE_MAX * 8ull);
	enum present present = ABSENT;
	const struct gb_value *root = gb_value_from_plain_json(pool, text.p, text.n, err);
	const struct gb_value *servers = gb_value_get(root, client->key);
	const struct gb_value *mine = gb_value_get(servers, ENTRY_NAME);
	const struct gb_value *wanted = gb_value_from_plain_json(pool, entry.p, entry.n, NULL);
	gb_auto_free char *have = mine ? gb_value_to_json(mine, 0, NULL, NULL) : NULL;
	gb_auto_free char *want = gb_value_to_json(wanted, 0, NULL, NULL);
	bool is_object = root && gb_value_type(root) == GB_OBJECT;
	bool is_list = !servers || (gb_value_type(servers) == GB_OBJECT && find_value(text, client->key));
	if (!is_object || !is_list)
		present = UNREADABLE;
	else if (mine)
		present = have && want && strcmp(have, want) == 0 ? SAME : OTHER;
	gb_values_destroy(pool);
	return present;
}

static void show_insertion(const struct target *target, const struct gb_buf *text) {
	struct gb_str rest = gb_buf_str(text), line;
	printf("%s\n", target->path);
	while (rest.n) {
		gb_str_cut(&rest, '\n', &line);
		if (line.n)
			printf("+ %.*s\n", GB_STR_ARG(line));
	}
	fflush(stdout);
}

static bool confirm(const struct mcp_install *install) {
	char answer[16] = "";
	if (install->yes)
		return true;
	if (!isatty(STDIN_FILENO))
		return false;
	fprintf(stderr, "Write this? [y/N] ");
	return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static bool insert(const struct mcp_install *install, struct target *target, struct gb_str entry,
    bool *ret_written, struct gb_err *err) {
	struct gb_str old = target->text.len ? gb_buf_str(&target->text) : GB_STR("{}\n");
	gb_auto_buf struct gb_buf text;
	struct insertion insertion;
	gb_buf_init(&insertion.text, (size_t)ENTRY_MAX * 2);
	gb_buf_init(&text, FILE_MAX + (size_t)ENTRY_MAX * 2);
	plan_insertion(old, target->client, entry, &insertion);
	gb_buf_append(&text, old.p, insertion.at);
	gb_buf_append_str(&text, gb_buf_str(&insertion.text));
	gb_buf_append(&text, old.p + insertion.at, old.n - insertion.at);
	bool ok = !gb_buf_failed(&text) && !gb_buf_failed(&insertion.text) &&
		  check_file(gb_buf_str(&text), target->client, entry, err) == SAME;
	if (ok) {
		show_insertion(target, &insertion.text);
		*ret_written = confirm(install);
		ok = !*ret_written || write_target(target, gb_buf_str(&text), err);
	} else {
		gb_fail(err, GB_EINVAL, 0, "'%s' cannot be changed; add the entry by hand (--print)",
		    target->path);
	}
	gb_buf_finish(&insertion.text);
	return ok;
}

static bool install_entry(const struct command *command, const struct mcp_install *install,
    struct target *target, struct gb_str entry, struct gb_err *err) {
	bool written = false;
	if (!find_path(target, install->file, err) || !read_target(target, err))
		return false;
	switch (
	    target->text.len ? check_file(gb_buf_str(&target->text), target->client, entry, err) : ABSENT) {
	case SAME:
		printf("%s has this entry already\n", target->path);
		return true;
	case OTHER:
		return gb_fail(err, GB_EINVAL, 0,
		    "'%s' has another entry '" ENTRY_NAME
		    "'; remove it first, or change it by hand (--print)",
		    target->path);
	case UNREADABLE:
		return gb_fail(err, GB_EFORMAT, 0,
		    "'%s' is not plain JSON with an object '%s'%s%s; add the entry by hand (--print)",
		    target->path, target->client->key, err->code ? ": " : "", err->code ? err->message : "");
	case ABSENT:
		break;
	}
	if (!insert(install, target, entry, &written, err))
		return false;
	if (written)
		printf("written; start %s again\n", target->client->name);
	else
		report_warning(command, "nothing was written; --yes writes it");
	return true;
}

static void warn_if_disabled(const struct command *command, const struct settings_request *settings) {
	const struct gb_config *config = settings_load(command, settings);
	fflush(stdout);
	if (config && !config->agent.enabled)
		report_warning(command, "agents may not run code yet, so the server has no tools: set "
					"agent.enabled in your settings");
	gb_config_unref(config);
}

int mcp_install(const struct command *command, const struct mcp_install *install,
    const struct settings_request *settings) {
	struct target target = {.client = install->client ? find_client(command, install->client) : NULL};
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf entry;
	gb_buf_init(&entry, ENTRY_MAX);
	gb_buf_init(&target.text, FILE_MAX);
	if (install->client
		? !target.client
		: !install->print && !report_error(command, "install needs --client NAME or --print; the "
							    "clients are " MCP_CLIENTS))
		return EXIT_BAD_USE;
	bool ok = write_entry(&entry, target.client && target.client->has_type, settings, &err);
	if (ok && install->print)
		printf("{\n  \"%s\": {\n    \"" ENTRY_NAME "\": %.*s\n  }\n}\n",
		    target.client ? target.client->key : "mcpServers", GB_STR_ARG(gb_buf_str(&entry)));
	else if (ok)
		ok = install_entry(command, install, &target, gb_buf_str(&entry), &err);
	if (ok)
		warn_if_disabled(command, settings);
	else
		report_error(command, "%s", err.message);
	gb_buf_finish(&target.text);
	return ok ? EXIT_OK : EXIT_REFUSED;
}
