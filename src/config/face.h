/*
 * Faces: the contracts through which code arrives. This is the list of their names, which settings use; the
 * rules of each face are in gate/faces.c.
 */
#ifndef GB_CONFIG_FACE_H
#define GB_CONFIG_FACE_H

#include <stdbool.h>

/* clang-format off */
#define GB_FACES(X)                                                                                          \
	X(RUN_CODE, "run_code")         /* a person's or an application's own code: not through the gate */  \
	X(CORE_EXECUTE, "core_execute") /* the tool core.execute, and neurons */                             \
	X(EXECUTOR, "executor")         /* code that calls tools of the embedding program */                 \
	X(ACTIONS, "actions")           /* code.execute and code.sandbox of YAML agents */                   \
	X(EXECUTE_CODE, "execute_code") /* `glovebox execute`, the SDKs' execute */
/* clang-format on */

#define GB_FACE_ENUM(id, name) GB_FACE_##id,
enum gb_face { GB_FACES(GB_FACE_ENUM) GB_FACE_COUNT };
#undef GB_FACE_ENUM

/* "execute_code"; "?" if there is no such face. */
const char *gb_face_name(enum gb_face face);
bool gb_face_find(const char *name, enum gb_face *ret);

#endif
