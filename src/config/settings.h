/*
 * The one table of settings. Everything that speaks of settings goes through it: the file, the environment,
 * --set, what `glovebox config` prints, the documentation.
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
	/* Lists, by what their items are. */
	GB_SETTING_RUNTIMES,
	GB_SETTING_FACES,
	GB_SETTING_MODULES,
	GB_SETTING_HOSTS,
	GB_SETTING_VARIABLES,
	GB_SETTING_TEXTS,
	GB_SETTING_PROFILES, /* names, and a list of modules for each */
};
#define GB_SETTING_TYPES (GB_SETTING_PROFILES + 1)

/* What a plain number means: seconds and bytes, unless a name says otherwise. */
enum gb_setting_unit { GB_UNIT_USUAL, GB_UNIT_MILLISECONDS, GB_UNIT_MEGABYTES };

struct gb_setting_alias {
	const char *name;
	enum gb_setting_unit unit;
};

/*
 * What ./glovebox.yaml may do with a setting, as long as the user has not trusted that file: only what cannot
 * give code, agents or the file's author anything that the owner's settings do not give. A setting that does
 * not say is not for project files.
 */
enum gb_setting_project {
	GB_PROJECT_NEVER,
	GB_PROJECT_LOWER,  /* a lower number; a boolean only to false; masking only to more of it */
	GB_PROJECT_HIGHER, /* a higher number; a boolean only to true */
	GB_PROJECT_SUBSET, /* a list of what is allowed: only items that the owner's list has */
	GB_PROJECT_ADD,    /* a list of what is refused or masked: its items are added to the owner's */
};

enum { GB_SETTING_ALIASES = 3, GB_SETTING_NAME_MAX = 96 };

struct gb_setting {
	const char *name; /* "agent.enabled": the keys on the way to it */
	enum gb_setting_type type;
	size_t offset;        /* in struct gb_config */
	const char *fallback; /* the default, as it would be written */
	double min, max;      /* of numbers; both 0: none */
	const char *at_most;  /* the setting that is its maximum, or NULL */
	struct gb_setting_alias aliases[GB_SETTING_ALIASES];
	const char *help; /* one line */
	enum gb_setting_project project;
	/* It makes no difference to what an agent's code is, does, reaches or shows: trust that was given to
	 * a session stays when it changes. A setting that does not say ends it. */
	bool apart;
	/* Nothing in this version uses it: any value but the default is an error. */
	bool unavailable;
};

/* How `glovebox config`, the docs and errors mark a setting that is unavailable. */
#define GB_SETTING_UNAVAILABLE "not yet available"

extern const struct gb_setting gb_settings[];
extern const size_t gb_settings_count;

/* By its name or another; *ret_unit is what a plain number means under that name. NULL if there is none. */
const struct gb_setting *gb_setting_find(const char *name, enum gb_setting_unit *ret_unit);
/* The setting whose value is at @offset in struct gb_config. NULL if there is none. */
const struct gb_setting *gb_setting_at(size_t offset);
/* Is @path on the way to a setting? */
bool gb_setting_is_section(const char *path);
/* The name, or the section, that somebody who wrote @name may have meant. NULL if nothing is near. */
const char *gb_setting_nearest(const char *name, char ret[GB_SETTING_NAME_MAX]);
/* GLOVEBOX_AGENT_AUTO_APPROVE for agent.autoApprove. */
void gb_setting_variable(const struct gb_setting *setting, char ret[GB_SETTING_NAME_MAX]);

/* The value in @config, as it would be written in the file. */
void gb_setting_write(const struct gb_setting *setting, const struct gb_config *config, struct gb_buf *out);
/* Is its value the same in both? */
bool gb_setting_same(const struct gb_setting *setting, const struct gb_config *a, const struct gb_config *b);
/* The value of a setting that is a number: milliseconds, bytes, or as it is. */
bool gb_setting_is_number(const struct gb_setting *setting);
double gb_setting_number(const struct gb_setting *setting, const struct gb_config *config);
/* "duration", "list of hosts". */
const char *gb_setting_type_name(const struct gb_setting *setting);
/* "1 to 100", in the units of the type; nothing if everything will do. */
void gb_setting_write_range(const struct gb_setting *setting, struct gb_buf *out);

/* May a project file give the setting the value that it has in @project, where the owner's settings are
 * @owner? (tighten.c) */
bool gb_setting_may(
    const struct gb_setting *setting, const struct gb_config *owner, const struct gb_config *project);
/* Give the setting in @owner its value in @project, which it may have; lists are merged in @arena. False if
 * there is no memory, or if a merged list is too long. */
bool gb_setting_tighten(const struct gb_setting *setting, struct gb_config *owner,
    const struct gb_config *project, struct gb_arena *arena);
/* What a project file may do, as in "a project file may only lower it". */
const char *gb_setting_project_text(const struct gb_setting *setting);

/* The table for docs/CONFIGURATION.md. */
void gb_settings_write_markdown(struct gb_buf *out);
/* A file in which every setting stands as a comment. */
void gb_settings_write_template(struct gb_buf *out);

#endif
