/* Lists, and the items that they can have. */
#ifndef GB_CONFIG_ITEMS_H
#define GB_CONFIG_ITEMS_H

#include "config/values.h"

/* Whether @text is UTF-8 without control characters, and not too long. */
bool gb_config_is_text(struct gb_str text);
/* Whether @text is the name of an environment variable. */
bool gb_config_is_variable(struct gb_str text);

/* @node is a sequence; @to points to the value in struct gb_config. */
bool gb_config_read_list(struct gb_setting_read *read, const struct gb_yaml *node, void *to);
/* @node is a mapping. */
bool gb_config_read_profiles(struct gb_setting_read *read, const struct gb_yaml *node, void *to);

/* Quoted if necessary. */
void gb_config_write_item(struct gb_buf *out, const char *text);
void gb_config_write_list(struct gb_buf *out, const void *from);
void gb_config_write_runtimes(struct gb_buf *out, const void *from);
void gb_config_write_faces(struct gb_buf *out, const void *from);
void gb_config_write_profiles(struct gb_buf *out, const void *from);

#endif
