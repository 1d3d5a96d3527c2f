/* What languages are called, to everybody but the compiler. */
#include "engine/language.h"

#include <string.h>

const char *const gb_language_names[] = {
    [GB_TYPESCRIPT] = "typescript",
    [GB_JAVASCRIPT] = "javascript",
    [GB_PYTHON] = "python",
    NULL,
};

const char *gb_language_name(enum gb_language language) {
	return gb_language_names[language];
}

bool gb_language_find(const char *name, enum gb_language *ret) {
	for (unsigned i = 0; gb_language_names[i]; i++)
		if (strcmp(gb_language_names[i], name) == 0) {
			*ret = (enum gb_language)i;
			return true;
		}
	return false;
}
