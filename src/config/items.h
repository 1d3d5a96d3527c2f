/* Lists of settings and what can stand in them. */
#ifndef GB_CONFIG_ITEMS_H
#define GB_CONFIG_ITEMS_H

#include "config/values.h"

/* UTF-8 without control characters, not too long. */
bool gb_config_is_text(struct gb_str text);
/* The name of an environment variable. */
bool gb_config_is_variable(struct gb_str text);

/* @node is a sequence; @to is what the setting's type says. */
bool gb_config_read_list(struct gb_setting_read *read, const struct gb_yaml *node, void *to);
/* @node is a mapping. */
bool gb_config_read_profiles(struct gb_setting_read *read, const struct gb_yaml *node, void *to);

/* In quotes where they are needed. */
void gb_config_write_item(struct gb_buf *out, const char *text);
void gb_config_write_list(struct gb_buf *out, const void *from);
void gb_config_write_runtimes(struct gb_buf *out, const void *from);
void gb_config_write_faces(struct gb_buf *out, const void *from);
void gb_config_write_profiles(struct gb_buf *out, const void *from);

#endif
