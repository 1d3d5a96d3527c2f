#include "config/face.h"

#include <string.h>

#define NAME(id, name) [GB_FACE_##id] = (name),
static const char *const names[] = {GB_FACES(NAME)};

const char *gb_face_name(enum gb_face face) {
	return (unsigned)face < GB_FACE_COUNT ? names[face] : "?";
}

bool gb_face_find(const char *name, enum gb_face *ret) {
	for (unsigned i = 0; i < GB_FACE_COUNT; i++)
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum gb_face)i;
			return true;
		}
	return false;
}
