#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "runtime/shell/shell.h"
#include "sandbox/worker.h"

void gb_script_quote(struct gb_buf *out, struct gb_str text) {
	gb_buf_append(out, "$'", 2);
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		if (c == 0)
			continue;
		if (c < ' ' || c == '\'' || c == '\\' || c == 0x7f)
			gb_buf_printf(out, "\\%03o", c);
		else
			gb_buf_append_char(out, (char)c);
	}
	gb_buf_append_char(out, '\'');
}

void gb_script_set_arguments(struct gb_buf *out, const struct gb_job *job) {
	struct gb_settings settings;
	struct gb_str text;
	gb_settings_read(job, &settings);
	uint64_t left = gb_settings_count(&settings.args);
	gb_buf_append(out, "set --", 6);
	while (gb_settings_next(&settings.args, &left, &text)) {
		gb_buf_append_char(out, ' ');
		gb_script_quote(out, text);
	}
}

/* Variables with placeholders of secrets. */
static void export_variables(struct gb_buf *out, struct gb_cbor_reader secrets) {
	struct gb_str name, value;
	uint64_t left = gb_settings_count(&secrets);
	while (gb_settings_next_variable(&secrets, &left, &name, &value)) {
		gb_buf_append_str(out, GB_STR("builtin export "));
		gb_buf_append_str(out, name);
		gb_buf_append_char(out, '=');
		gb_script_quote(out, value);
		gb_buf_append(out, "; ", 2);
	}
}

void gb_script_begin(struct gb_buf *out, const struct gb_settings *settings) {
	static const char no_files[] = "builtin trap '' XFSZ; builtin ulimit -f 0; ";
	static const char *const folders[] = {"/box", "/tmp"};
	export_variables(out, settings->secrets);
	if (!settings->read_only)
		return;
	gb_buf_append(out, no_files, sizeof no_files - 1);
	for (size_t i = 0; i < GB_COUNT(folders); i++)
		if (i > 0 || !gb_worker_has_workdir())
			(void)!chmod(folders[i], 0555);
}

void gb_script_append(struct gb_buf *out, const struct gb_job *job) {
	struct gb_str rest = {job->source.p, job->source.n}, part;
	while (rest.n) {
		gb_str_cut(&rest, '\0', &part);
		gb_buf_append_str(out, part);
	}
}
