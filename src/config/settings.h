/*
 * The table of settings. The file, the environment, --set, `glovebox config` and the documentation use it.
 */
#ifndef GB_CONFIG_SETTINGS_H
#define GB_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "config/config.h"

enum gb_setting_type {
	GB_SETTING_BOOL,
	GB_SETTING_COUNT,
	GB_SETTING_DURATION,
	GB_SETTING_SIZE,
	GB_SETTING_REAL,
	GB_SETTING_MODE,
	GB_SETTING_MASKING,
	GB_SETTING_PATH,
	GB_SETTING_VARIABLE,
	GB_SETTING_HOST, /* or "" */
	/* Lists, by what their items are. */
	GB_SETTING_RUNTIMES,
	GB_SETTING_FACES,
	GB_SETTING_MODULES,
	GB_SETTING_HOSTS,
	GB_SETTING_VARIABLES,
	GB_SETTING_TEXTS,
	GB_SETTING_PROFILES, /* names, each with a list of modules */
};
#define GB_SETTING_TYPES (GB_SETTING_PROFILES + 1)

/* The unit of a plain number: seconds and bytes, unless an alias has another. */
enum gb_setting_unit { GB_UNIT_USUAL, GB_UNIT_MILLISECONDS, GB_UNIT_MEGABYTES };

struct gb_setting_alias {
	const char *name;
	enum gb_setting_unit unit;
};

/*
 * What ./glovebox.yaml may do with a setting while the owner has not trusted that file: only changes that
 * give code, agents or the author of the file nothing that the owner's settings do not give. By default a
 * project file cannot set it.
 */
enum gb_setting_project {
	GB_PROJECT_NEVER,
	GB_PROJECT_LOWER,  /* a lower number; a boolean only to false; masking only to more of it */
	GB_PROJECT_HIGHER, /* a higher number; a boolean only to true */
	GB_PROJECT_SUBSET, /* a list of what is allowed: only items of the owner's list */
	GB_PROJECT_ADD,    /* a list of what is refused, charged or masked: added to the owner's list */
};

enum { GB_SETTING_ALIASES = 3, GB_SETTING_NAME_MAX = 96 };

struct gb_setting {
	const char *name; /* "agent.enabled": its keys, joined by dots */
	enum gb_setting_type type;
	size_t offset;        /* in struct gb_config */
	const char *fallback; /* the default, as text */
	double min, max;      /* range of a number; both 0: none */
	const char *at_most;  /* name of the setting that is its maximum, or NULL */
	struct gb_setting_alias aliases[GB_SETTING_ALIASES];
	const char *help; /* one line */
	enum gb_setting_project project;
	/* It does not affect what code of an agent does, reaches or shows: trust in a session survives a
	 * change of it. A change of any other setting revokes trust. */
	bool apart;
	/* Nothing in this version uses it: any value but the default is an error. */
	bool unavailable;
};

/* How `glovebox config`, the docs and errors mark a setting that is unavailable. */
#define GB_SETTING_UNAVAILABLE "not yet available"

extern const struct gb_setting gb_settings[];
extern const size_t gb_settings_count;

/* Find by name or alias; *ret_unit is the unit of a plain number under that name. NULL if there is none. */
const struct gb_setting *gb_setting_find(const char *name, enum gb_setting_unit *ret_unit);
/* The setting whose value is at @offset in struct gb_config. NULL if there is none. */
const struct gb_setting *gb_setting_at(size_t offset);
/* Whether @path is the prefix of a setting, as "agent" is. */
bool gb_setting_is_section(const char *path);
/* The name or section that is most similar to @name, for "did you mean". NULL if none is similar. */
const char *gb_setting_nearest(const char *name, char ret[GB_SETTING_NAME_MAX]);
/* GLOVEBOX_AGENT_AUTO_APPROVE for agent.autoApprove. */
void gb_setting_variable(const struct gb_setting *setting, char ret[GB_SETTING_NAME_MAX]);

/* Append the value in @config, as it is written in a file. */
void gb_setting_write(const struct gb_setting *setting, const struct gb_config *config, struct gb_buf *out);
/* Whether both have the same value. */
bool gb_setting_same(const struct gb_setting *setting, const struct gb_config *a, const struct gb_config *b);
/* The value of a number: milliseconds, bytes, or the plain number. */
bool gb_setting_is_number(const struct gb_setting *setting);
double gb_setting_number(const struct gb_setting *setting, const struct gb_config *config);
/* "duration", "list of hosts". */
const char *gb_setting_type_name(const struct gb_setting *setting);
/* Append "1 to 100", in the units of the type; nothing if there is no range. */
void gb_setting_write_range(const struct gb_setting *setting, struct gb_buf *out);

/* Whether a project file may set the value in @project, given the settings of the owner. (tighten.c) */
bool gb_setting_may(
    const struct gb_setting *setting, const struct gb_config *owner, const struct gb_config *project);
/* Apply the value in @project to @owner, after gb_setting_may; lists are merged in @arena. False if there is
 * no memory, or if a merged list is too long. */
bool gb_setting_tighten(const struct gb_setting *setting, struct gb_config *owner,
    const struct gb_config *project, struct gb_arena *arena);
/* "only lower it": what a project file may do. */
const char *gb_setting_project_text(const struct gb_setting *setting);

/* The table for docs/CONFIGURATION.md. */
void gb_settings_write_markdown(struct gb_buf *out);
/* A file with every setting as a comment. */
void gb_settings_write_template(struct gb_buf *out);

#endif
