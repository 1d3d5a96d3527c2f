/* The table of settings as Markdown, and the template file. */
#include <stdio.h>
#include <string.h>

#include "config/settings.h"

static void write_default(const struct gb_setting *setting, struct gb_buf *out) {
	gb_buf_printf(out, "%s", *setting->fallback ? setting->fallback : "\"\"");
}

static void write_aliases(const struct gb_setting *setting, struct gb_buf *out) {
	static const char *const units[] = {
	    [GB_UNIT_USUAL] = "", [GB_UNIT_MILLISECONDS] = " (ms)", [GB_UNIT_MEGABYTES] = " (MiB)"};
	for (unsigned i = 0; i < GB_SETTING_ALIASES && setting->aliases[i].name; i++)
		gb_buf_printf(out, "%s`%s`%s", i ? "<br>" : "", setting->aliases[i].name,
		    units[setting->aliases[i].unit]);
}

void gb_settings_write_markdown(struct gb_buf *out) {
	gb_buf_printf(out,
	    "| setting, variable | type | default | range | meaning | a project file may | also accepted |\n"
	    "| --- | --- | --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_setting *setting = &gb_settings[i];
		char variable[GB_SETTING_NAME_MAX];
		gb_setting_variable(setting, variable);
		gb_buf_printf(
		    out, "| `%s`<br>`%s` | %s | `", setting->name, variable, gb_setting_type_name(setting));
		write_default(setting, out);
		gb_buf_printf(out, "` | ");
		gb_setting_write_range(setting, out);
		if (setting->at_most)
			gb_buf_printf(out, ", at most `%s`", strrchr(setting->at_most, '.') + 1);
		gb_buf_printf(out, " | %s%s | %s | ",
		    setting->unavailable ? "*" GB_SETTING_UNAVAILABLE "*: " : "", setting->help,
		    gb_setting_project_text(setting));
		write_aliases(setting, out);
		gb_buf_printf(out, " |\n");
	}
}

/* Append "limits:" and "  python:", unless the previous setting is in the same section. */
static unsigned write_sections(struct gb_buf *out, const char *name, const char *before) {
	unsigned depth = 0;
	bool same = true;
	for (const char *dot; (dot = strchr(name, '.')); name = dot + 1, depth++) {
		size_t n = (size_t)(dot - name) + 1;
		same = same && strncmp(name, before, n) == 0;
		before += same ? n : 0;
		if (!same)
			gb_buf_printf(
			    out, "%s%*s%.*s:\n", depth ? "" : "\n", (int)depth * 2, "", (int)n - 1, name);
	}
	return depth;
}

void gb_settings_write_template(struct gb_buf *out) {
	gb_buf_printf(out,
	    "# The settings of Glovebox. A setting that is commented out has the value shown.\n"
	    "# Durations: 500ms, 30s, 5m, 2h, 1d. Sizes: 64K, 256M, 1G. 'glovebox config check FILE' checks "
	    "it;\n"
	    "# 'glovebox config show' shows the effective values and their sources.\n\n");
	const char *before = "";
	for (size_t i = 0; i < gb_settings_count; i++) {
		const struct gb_setting *setting = &gb_settings[i];
		unsigned depth = write_sections(out, setting->name, before);
		const char *last = strrchr(setting->name, '.');
		gb_buf_printf(out, "%*s# %s%s", (int)depth * 2, "",
		    setting->unavailable ? GB_SETTING_UNAVAILABLE ": " : "", setting->help);
		if (setting->min != 0 || setting->max != 0) {
			gb_buf_printf(out, " (");
			gb_setting_write_range(setting, out);
			gb_buf_printf(out, ")");
		}
		gb_buf_printf(out, "\n%*s#%s: ", (int)depth * 2, "", last ? last + 1 : setting->name);
		write_default(setting, out);
		gb_buf_printf(out, "\n");
		before = setting->name;
	}
}
