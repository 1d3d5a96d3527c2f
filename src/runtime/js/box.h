/*
 * The files of a JavaScript worker with a working directory: the module 'glovebox:fs', and the same functions as
 * properties of a global Deno, under its names. The functions are JavaScript (box.js), compiled once in the zygote;
 * they make system calls, so the kernel decides about every path (see docs/WORKDIR.md).
 *
 * Without a working directory nothing of this exists.
 */
#ifndef GB_JS_BOX_H
#define GB_JS_BOX_H

#include <stdbool.h>

#include "runtime/js/realm.h"

#define GB_JS_BOX_MODULE "glovebox:fs"

/* In a fresh guest context. False if memory is exhausted. */
bool gb_js_box_install(struct gb_js *js);
/* Release what belongs to the guest context. */
void gb_js_box_drop(struct gb_js *js);

#endif
