/*
 * The network tier of the JavaScript worker: fetch, URL, timers and what belongs to them. Their classes are JavaScript
 * (web/), compiled once in the zygote; requests go to glovebox-egress over the fetch channel (egress/fetch.h).
 *
 *	gb_js_web_install(js);			// in the zygote, or in a fresh guest context
 *	...
 *	while (the awaited promise is pending && gb_js_web_turn(js))
 *		gb_js_run_jobs(js);
 *
 * Without a network nothing of this exists, and gb_js_web_turn is gb_js_bridge_turn.
 */
#ifndef GB_JS_WEB_H
#define GB_JS_WEB_H

#include <stdbool.h>

#include "runtime/js/realm.h"

/* False if memory is exhausted. */
bool gb_js_web_install(struct gb_js *js);
/* Release what belongs to the guest context. */
void gb_js_web_drop(struct gb_js *js);
/* Wait for an answer, a message or a timer, and handle it. False if nothing can arrive that would change anything. */
bool gb_js_web_turn(struct gb_js *js);
/* A job of a session has ended: cancel its requests and timers. */
void gb_js_web_end_job(struct gb_js *js);

/* --- web_bytes.c --- */

/* Add the functions for texts and compressed bytes to @native. */
bool gb_js_web_add_bytes(JSContext *ctx, JSValueConst native);

/* --- web_digest.c --- */

/* digest(bits, bytes): SHA-256, SHA-384 or SHA-512 of a Uint8Array */
JSValue gb_js_web_digest(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv);

#endif
