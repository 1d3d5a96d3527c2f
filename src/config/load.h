/* Loading, internal to config: from the sources to a snapshot. */
#ifndef GB_CONFIG_LOAD_H
#define GB_CONFIG_LOAD_H

#include <stdatomic.h>

#include "config/place.h"
#include "config/settings.h"

enum { GB_CONFIG_PLACE_MAX = 200 };

/* A snapshot and its metadata. */
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
	struct gb_config *config;         /* destination of values: the snapshot's, or those of one file */
	struct gb_config_origin *origins; /* of these values */
	struct gb_config scratch;         /* a value is read into this before it is accepted */
	enum gb_config_layer layer;       /* of the file being read */
	const char *place;                /* name of that file */
	struct gb_place file_place;       /* of the owner's file, if it was found by search */
	const struct gb_config_sources *sources;
	const char *home;
	struct gb_err *err;
};

/* Read the settings in @text, the content of the file l->place. */
bool gb_loading_text(struct gb_loading *l, struct gb_str text);
/* Read the project file, if there is one, and apply what it may set. (project.c) */
bool gb_loading_project(struct gb_loading *l);

/* The end of a long path. */
const char *gb_config_shorten(const char *path);
/* "file:line:column", "$VARIABLE", "--set" or "default". */
const char *gb_config_place_text(const struct gb_config_origin *at, char ret[GB_CONFIG_PLACE_MAX]);

#endif
