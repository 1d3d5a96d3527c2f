/* Accepted settings can be written, and are read back unchanged. They are accepted as a project file, too, and
 * then loosen nothing. */
#include "fuzz.h"

#include <string.h>

#include "config/settings.h"

static bool load(const char *text, size_t n, const struct gb_config **ret, struct gb_err *err) {
	static char *const environment[] = {(char *)"HOME=/home/somebody", NULL};
	const struct gb_config_sources sources = {
	    .file = "f.yaml", .text = text, .text_bytes = n, .environment = environment};
	return gb_config_load(&sources, ret, err);
}

static void write_all(const struct gb_config *config, struct gb_buf *out) {
	for (size_t i = 0; i < gb_settings_count; i++) {
		gb_buf_printf(out, "%s: ", gb_settings[i].name);
		gb_setting_write(&gb_settings[i], config, out);
		gb_buf_append_char(out, '\n');
	}
}

/* The owner's settings are the defaults. */
static void check_project(const char *text, size_t n) {
	const struct gb_config_sources sources = {
	    .file = "o.yaml", .text = "", .project_text = text, .project_bytes = n};
	const struct gb_config *owner = NULL, *config = NULL;
	struct gb_err err = {0};
	ALWAYS(load("", 0, &owner, &err));
	if (gb_config_load(&sources, &config, &err)) {
		for (size_t i = 0; i < gb_settings_count; i++)
			ALWAYS(gb_setting_may(&gb_settings[i], owner, config));
		const char *const *warnings;
		size_t n_warnings = gb_config_warnings(config, &warnings);
		for (size_t i = 0; i < n_warnings; i++)
			for (const char *p = warnings[i]; *p; p++)
				ALWAYS((unsigned char)*p >= 0x20);
	}
	gb_config_unref(config);
	gb_config_unref(owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const struct gb_config *config = NULL, *again = NULL;
	struct gb_err err = {0};
	check_project(size ? (const char *)data : "", size);
	if (!load(size ? (const char *)data : "", size, &config, &err)) {
		ALWAYS(!config && err.code != GB_OK && err.message[0]);
		for (const char *p = err.message; *p; p++)
			ALWAYS((unsigned char)*p >= 0x20);
		return 0;
	}
	gb_auto_buf struct gb_buf one, two;
	gb_buf_init(&one, 4 << 20);
	gb_buf_init(&two, 4 << 20);
	write_all(config, &one);
	/* Many long texts can exceed the maximum size of a file. */
	bool same = load(gb_buf_c_str(&one), one.len, &again, &err);
	ALWAYS(same || err.code == GB_ELIMIT);
	if (same) {
		write_all(again, &two);
		ALWAYS(gb_str_eq(gb_buf_str(&one), gb_buf_str(&two)));
	}
	gb_config_unref(again);
	gb_config_unref(config);
	return 0;
}
