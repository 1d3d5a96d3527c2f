/*
 * The two contexts of a JavaScript sandbox, created once in the zygote.
 *
 * Code is compiled in one context, which does nothing else, and runs in the other, which has no compiler:
 * there eval and the function constructors throw because no compiler exists, not because they were hidden.
 * Compiled code is passed as bytecode, within this process; bytecode from outside is never accepted.
 */
#ifndef GB_JS_REALM_H
#define GB_JS_REALM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "quickjs.h"

enum { GB_JS_ERRORS = 6 };
extern const char *const gb_js_error_names[GB_JS_ERRORS];

/* Intrinsic functions for the codec, taken before guest code can replace them. */
struct gb_js_intrinsics {
	JSValue object_prototype;
	JSValue map, map_set, map_for_each;
	JSValue set, set_add, set_for_each;
	JSValue date_get_time;
	JSValue bigint, bigint_to_string, bigint_invert;
	JSValue data_view, view_buffer, view_offset, view_length;
	JSValue typed_array_length;
	JSValue aggregate_error;
	JSValue error, errors[GB_JS_ERRORS]; /* Error and its subclasses */
	JSValue regexp, regexp_source, regexp_flags;
};

struct gb_js_bridge;
struct gb_js_modules;

struct gb_js {
	JSRuntime *runtime;
	JSContext *compiler;
	JSContext *guest;
	struct gb_js_intrinsics intrinsics;
	bool has_console;
	bool has_files; /* then the exports of the module GB_JS_BOX_MODULE */
	JSValue files;
	unsigned decoding;                 /* depth of nested decoding */
	volatile sig_atomic_t interrupted; /* set by a signal: running code must stop */
	struct gb_js_bridge *bridge;       /* NULL before the first job */
	struct gb_js_modules *modules;     /* likewise */
	struct gb_js_rejections {          /* promises with unhandled rejections */
		JSValue *promises;
		uint32_t n, cap;
	} unhandled;
	JSValue uncaught; /* the first exception thrown by a job without a promise, such as queueMicrotask */
	bool has_uncaught;
	/* Receives console calls. */
	void (*on_log)(struct gb_js *js, unsigned level, int argc, JSValueConst *argv);
};

bool gb_js_init(struct gb_js *js);

/* After fork: each child needs its own random numbers. */
void gb_js_reseed(struct gb_js *js);

enum gb_js_kind {
	GB_JS_MODULE,
	GB_JS_SCRIPT,
	GB_JS_SESSION, /* a script with top-level await; evaluates to a promise of {value} */
};

/* Compile @source (NUL-terminated) and load it into the guest context. On failure the exception is pending in
 * *ret_failed_in. */
JSValue gb_js_compile(struct gb_js *js, const char *source, size_t n, const char *filename,
    enum gb_js_kind kind, JSContext **ret_failed_in);

/* Run a script of Glovebox's own, whose value is a function, and call that. @text need not end with a NUL. */
JSValue gb_js_call_script(
    struct gb_js *js, const char *filename, struct gb_str text, int argc, JSValueConst *argv);

/* Replace the guest context by a fresh one. */
bool gb_js_renew_guest(struct gb_js *js);

/* Define the properties of @globals as global bindings, but not as properties of globalThis. */
bool gb_js_define_globals(struct gb_js *js, JSValueConst globals, JSContext **ret_failed_in);

/* Clear unhandled rejections and the uncaught exception. */
void gb_js_clear_rejections(struct gb_js *js);

/* @thrown, which is consumed, cannot be caught by the code: it fails the run. */
void gb_js_keep_uncaught(struct gb_js *js, JSValue thrown);

/* Run queued jobs (microtasks) until the queue is empty. */
void gb_js_run_jobs(struct gb_js *js);

#endif
