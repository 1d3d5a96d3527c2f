/* An accepted list of trusted files has absolute paths, each once, without control characters. */
#include "fuzz.h"

#include <string.h>

#include "store/trusted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_trusted *list = NULL;
	struct gb_err err = {0};
	if (!gb_trusted_parse((struct gb_str){(const char *)data, size}, &list, &err)) {
		ALWAYS(!list && err.code != GB_OK && err.message[0]);
		return 0;
	}
	ALWAYS(list->n <= GB_TRUSTED_MAX);
	for (size_t i = 0; i < list->n; i++) {
		const struct gb_trusted_file *file = &list->files[i];
		ALWAYS(file->path[0] == '/' && strlen(file->path) <= GB_TRUSTED_PATH_MAX);
		ALWAYS(gb_trusted_find(list, file->path) == file);
		ALWAYS(gb_trusted_has(list, file->path, &file->hash));
		for (const char *p = file->path; *p; p++)
			ALWAYS((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
	gb_trusted_destroy(list);
	return 0;
}
