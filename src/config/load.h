/* What the files share that make a snapshot of the sources. */
#ifndef GB_CONFIG_LOAD_H
#define GB_CONFIG_LOAD_H

#include <stdatomic.h>

#include "config/place.h"
#include "config/settings.h"

enum { GB_CONFIG_PLACE_MAX = 200 };

/* A snapshot, and what is known about it. */
struct gb_snapshot {
	struct gb_config config;
	struct gb_arena arena;
	atomic_uint references;
	const char *file, *project;
	bool trusted; /* the project file */
	const char **warnings;
	size_t n_warnings;
	struct gb_config_origin *origins;
};

struct gb_loading {
	struct gb_snapshot *snapshot;
	struct gb_config *config;         /* where values go: the snapshot's, or those of one file */
	struct gb_config_origin *origins; /* of them */
	struct gb_config scratch;         /* where a value is read before it is known to be welcome */
	enum gb_config_layer layer;       /* of the file that is read */
	const char *place;                /* its name */
	struct gb_place file_place;       /* of the owner's file, if that was found */
	const struct gb_config_sources *sources;
	const char *home;
	struct gb_err *err;
};

/* Read the settings that @text, of the file l->place, has. */
bool gb_loading_text(struct gb_loading *l, struct gb_str text);
/* Read the project file, if there is one, and take from it what it may say. (project.c) */
bool gb_loading_project(struct gb_loading *l);

/* A long path is told by its end. */
const char *gb_config_shorten(const char *path);
/* "file:line:column", or what else it comes from. */
const char *gb_config_place_text(const struct gb_config_origin *at, char ret[GB_CONFIG_PLACE_MAX]);

#endif
