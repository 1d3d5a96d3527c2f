/* Values of settings: conversion between text and struct gb_config. */
#ifndef GB_CONFIG_VALUES_H
#define GB_CONFIG_VALUES_H

#include "config/settings.h"
#include "config/yaml.h"

enum { GB_CONFIG_LIST_MAX = 256, GB_CONFIG_PROFILES_MAX = 32, GB_CONFIG_TEXT_MAX = 1024 };

/* The context of reading a value. */
struct gb_setting_read {
	const struct gb_setting *setting;
	enum gb_setting_unit unit;
	struct gb_arena *arena;
	const char *home; /* for "~/"; or NULL */
	/* On failure: the problem, and its place if it is in a part of the value. */
	const struct gb_yaml *at;
	char problem[256];
};

/* Read @node into @into. On false see problem. */
bool gb_setting_read(struct gb_setting_read *read, const struct gb_yaml *node, struct gb_config *into);
/* The same for text from the environment or --set: a list may also be written as "a,b". */
bool gb_setting_read_text(struct gb_setting_read *read, const char *text, struct gb_config *into);
/* Copy the value of one setting. */
void gb_setting_copy(const struct gb_setting *setting, const struct gb_config *from, struct gb_config *to);

/* Append a duration or a size as it is written in a file. */
void gb_config_write_duration(struct gb_buf *out, uint64_t ms);
void gb_config_write_size(struct gb_buf *out, uint64_t bytes);

/* @text in quotes for a message: shortened, and without control characters. */
enum { GB_CONFIG_QUOTED_MAX = 64 };
const char *gb_config_quote(struct gb_str text, char ret[GB_CONFIG_QUOTED_MAX]);

#endif
