/*
 * Configuration: an immutable snapshot of all settings.
 *
 *	const struct gb_config_sources sources = {.environment = environ};
 *	const struct gb_config *config;
 *	if (!gb_config_load(&sources, &config, &err)) ...
 *	... config->agent.enabled ...
 *	gb_config_reload(&sources, &config, &err);	// a new snapshot; on failure the old one is kept
 *	gb_config_unref(config);
 *
 * The value of a setting comes from the last of these that names it: its default, the owner's file, the
 * project file, the environment, --set. The project file is ./glovebox.yaml in the working directory. It may
 * only tighten the owner's settings, unless the owner has trusted exactly its bytes. A caller that keeps a
 * snapshot across a reload takes a reference. The table of settings: settings.c.
 */
#ifndef GB_CONFIG_CONFIG_H
#define GB_CONFIG_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "config/face.h"
#include "glovebox/languages.h"

/* GB_CONFIG_JAVASCRIPT (TypeScript too), GB_CONFIG_PYTHON and so on: the sections of the settings. */
#define GB_CONFIG_RUNTIME(section, ...) GB_CONFIG_##section,
enum gb_config_runtime { GB_LANGUAGE_SECTION_TABLE(GB_CONFIG_RUNTIME) };
#define GB_CONFIG_RUNTIMES (0 GB_LANGUAGE_SECTION_TABLE(GB_LANGUAGE_ONE))

/* "javascript", "python", "node", "shell", "deno". */
const char *gb_config_runtime_name(enum gb_config_runtime runtime);
/* The runtime whose settings apply to a language. */
enum gb_config_runtime gb_config_runtime_of(enum gb_language language);

/* How actions of YAML agents run code: on this machine in restricted mode, on this machine without it, or
 * with E2B. */
enum gb_config_mode { GB_CONFIG_RESTRICTED, GB_CONFIG_PERMISSIVE, GB_CONFIG_E2B };

/* What is masked in output: registered values, matches of configured patterns, and everything that looks like
 * a secret; only registered values and matches of configured patterns; nothing. */
enum gb_config_masking { GB_CONFIG_MASK_ALL, GB_CONFIG_MASK_REGISTERED, GB_CONFIG_MASK_NONE };

/* In node.allowedModules: the built-in modules that are allowed by default. */
#define GB_CONFIG_NODE_SAFE "node:safe"

struct gb_config_list {
	const char *const *items;
	size_t n;
};

/* Python with modules that are loaded in advance. */
struct gb_config_profile {
	const char *name;
	struct gb_config_list modules;
};

struct gb_config_profiles {
	const struct gb_config_profile *items;
	size_t n;
};

/* Default and maximum of each limit of a run. */
struct gb_config_limits {
	uint64_t timeout_ms, max_timeout_ms;
	uint64_t memory_bytes, max_memory_bytes;
	uint64_t output_bytes, max_output_bytes;
	uint64_t result_bytes, max_result_bytes;
};

/* Durations are in milliseconds. An empty path means the default. */
struct gb_config {
	const char *state_dir;
	struct {
		bool enabled;
		bool auto_approve;
		unsigned allowed_runtimes; /* 1 << GB_CONFIG_PYTHON and so on */
		uint64_t max_execution_ms;
		uint64_t max_output_bytes;
		uint64_t max_code_bytes;
		unsigned max_concurrent_sessions;
		unsigned max_runs, max_runs_of_transport, max_runs_of_conversation; /* at the same time */
		unsigned calls_per_turn;
		bool persistent_sessions;
	} agent;
	struct {
		unsigned calls_per_turn;
		uint64_t max_timeout_ms, max_network_timeout_ms;
		uint64_t max_result_bytes;
	} core;
	struct {
		uint64_t timeout_ms;
		unsigned max_tool_calls;
		const char *working_dir;
	} executor;
	struct {
		bool enabled;
		uint64_t timeout_ms;
		uint64_t memory_bytes;
		uint64_t output_bytes;
		enum gb_config_mode mode;
		bool allow_network, allow_filesystem;
		struct gb_config_list allowed_modules;
	} actions;
	struct {
		const char *key_variable;
	} e2b;
	struct {
		uint64_t timeout_ms;
		unsigned waive; /* 1 << GB_FACE_EXECUTE_CODE and so on */
	} approvals;
	struct {
		bool trust_client;
		uint64_t heartbeat_ms;
	} mcp;
	struct {
		unsigned max, queue;
		uint64_t idle_ms, max_age_ms;
	} sessions;
	struct {
		unsigned keep_results;
		uint64_t keep_ms;
		uint64_t replay_bytes;
	} service;
	struct {
		bool enabled;
		unsigned faces; /* as approvals.waive */
		double initial, maximum, recharge_per_hour;
		double cost_isolated, cost_network;
		double gate, gate_network;
	} energy;
	struct {
		bool enabled;
		struct gb_config_list javascript, shell;
	} guard;
	struct {
		struct gb_config_list patterns, environment;
		enum gb_config_masking mask_run, mask_stdio;
	} secrets;
	struct {
		struct gb_config_list allowlist;
		const char *proxy, *authorities;
		unsigned max_connections;
		uint64_t sent_bytes, received_bytes;
		uint64_t connect_ms, idle_ms;
		bool record_bodies;
	} network;
	struct {
		const char *directory;
		uint64_t max_age_ms, max_bytes;
	} audit;
	struct {
		const char *shell, *node, *deno, *node_packages;
	} programs;
	struct {
		bool restricted;
		struct gb_config_list allowed_modules;
		struct gb_config_profiles profiles;
	} python;
	struct {
		struct gb_config_list allowed_modules; /* an empty one allows nothing */
	} node;
	struct {
		bool restricted;
	} shell;
	struct gb_config_limits limits[GB_CONFIG_RUNTIMES];
};

struct gb_config_sources {
	const char *file;       /* --config: the only file that is read; NULL: search for files */
	const char *const *set; /* "name=value" of each --set */
	size_t n_set;
	char *const *environment; /* as environ is; NULL: none */
	const char *text; /* content of the owner's file; @file is then only its name, and no project file is
			   * read. NULL: read the files */
	size_t text_bytes;
	bool no_project;          /* do not read a project file */
	const char *project;      /* its path; NULL: ./glovebox.yaml, if it exists */
	const char *project_text; /* its content; NULL: read it */
	size_t project_bytes;
	/* Called if the project file would grant something: whether the owner trusts @text, which was read
	 * from @path (absolute, without links). @owner is the configuration without the project file. NULL:
	 * no. */
	bool (*is_trusted)(const struct gb_config *owner, const char *path, struct gb_str text, void *data);
	void *data;
};

/* The caller owns a reference to *ret. An error names the place, the key, and what was expected. */
bool gb_config_load(
    const struct gb_config_sources *sources, const struct gb_config **ret, struct gb_err *err);
/* Load again and replace *config, whose reference is released. On failure *config stays. */
bool gb_config_reload(
    const struct gb_config_sources *sources, const struct gb_config **config, struct gb_err *err);
const struct gb_config *gb_config_ref(const struct gb_config *config);
void gb_config_unref(const struct gb_config *config); /* NULL is fine */

/* The path of the owner's file: @sources->file, $GLOVEBOX_CONFIG, then below $XDG_CONFIG_HOME, ~/.config and
 * /etc. If one of the first two is given, it must exist. @ret is empty if there is no file. */
bool gb_config_find(const struct gb_config_sources *sources, char ret[PATH_MAX], struct gb_err *err);

enum gb_config_layer {
	GB_CONFIG_DEFAULT,
	GB_CONFIG_FILE,
	GB_CONFIG_PROJECT,
	GB_CONFIG_ENVIRONMENT,
	GB_CONFIG_FLAG,
};

/* The source of the value of a setting. */
struct gb_config_origin {
	enum gb_config_layer layer;
	const char *place; /* the file or variable; or NULL */
	const char *name;  /* the key, as written there; NULL for a default */
	unsigned line, column;
	bool lowered; /* it was lowered to a maximum from another source */
};

struct gb_setting;
const struct gb_config_origin *gb_config_origin(
    const struct gb_config *config, const struct gb_setting *setting);
/* Whether any source sets the setting of this name. */
bool gb_config_is_set(const struct gb_config *config, const char *name);
/* The owner's file that was read, or NULL. */
const char *gb_config_file(const struct gb_config *config);
/* The project file that was read, or NULL. */
const char *gb_config_project(const struct gb_config *config);
/* Whether the owner trusts it. Also false if it grants nothing, since then is_trusted is not called. */
bool gb_config_is_trusted(const struct gb_config *config);
/* Messages about values of the project file that were ignored, or about the whole file, with file, line and
 * column. The caller shows them. */
size_t gb_config_warnings(const struct gb_config *config, const char *const **ret);

/* Default time and output of an execution of an agent: agent.maxExecutionTime and agent.maxOutputSize, or
 * limits.<runtime>.timeout and output if these are set. At most limits.<runtime>.maxTimeout and maxOutput. */
uint64_t gb_config_agent_timeout(const struct gb_config *config, enum gb_config_runtime runtime);
uint64_t gb_config_agent_output(const struct gb_config *config, enum gb_config_runtime runtime);

/* Whether the owner has waived the approval of this face: agent.autoApprove or approvals.waive. */
bool gb_config_is_waived(const struct gb_config *config, enum gb_face face);

/* Append the section on running code for the system prompt of an agent, as Markdown; nothing if agents are
 * disabled. @has_input: the agent can answer a shell command that waits for input. */
void gb_config_prompt(const struct gb_config *config, bool has_input, struct gb_buf *out);

#endif
