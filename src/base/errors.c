#include "glovebox/errors.h"

#include <string.h>

#define CODE(constant, code, ...) const char GB_CODE_##constant[sizeof(code)] = code;
GB_ERROR_TABLE(CODE)

#define CUTS_WHOLE false
#define CUTS_CUT   true
#define INFO(constant, code, where, output, what, hint)                                                      \
	{GB_CODE_##constant, where, what, hint, CUTS_##output},
const struct gb_error_info gb_error_infos[] = {GB_ERROR_TABLE(INFO)};
const size_t gb_error_infos_count = sizeof gb_error_infos / sizeof *gb_error_infos;

const struct gb_error_info *gb_error_find(const char *code) {
	for (size_t i = 0; code && i < gb_error_infos_count; i++)
		if (strcmp(gb_error_infos[i].code, code) == 0)
			return &gb_error_infos[i];
	return NULL;
}

const char *gb_error_hint(const char *code) {
	const struct gb_error_info *info = gb_error_find(code);
	return info && *info->hint ? info->hint : NULL;
}
