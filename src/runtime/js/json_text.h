/*
 * The result of a function body as JSON text, written inside the sandbox.
 *
 *	JSValue writer = gb_js_json_writer(js);		// before the code runs, so that the code cannot change it
 *	JSValue text = gb_js_json_text(js, writer, value, job->result, &cut);
 */
#ifndef GB_JS_JSON_TEXT_H
#define GB_JS_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/js/realm.h"

/* A function of the guest context. An exception is possible only if memory is exhausted. */
JSValue gb_js_json_writer(struct gb_js *js);
/* The text of @value, of at most @max bytes; *ret_cut: it was longer, and ends with "…[truncated]". An exception if
 * the code has damaged what the writer uses, or memory is exhausted. */
JSValue gb_js_json_text(struct gb_js *js, JSValueConst writer, JSValueConst value, size_t max, bool *ret_cut);

#endif
