/*
 * The two contexts of a JavaScript sandbox, made once in the zygote.
 *
 * Code is compiled in one, which can do nothing else, and runs in the other, which has no compiler: there
 * eval and the function constructors throw because there is nothing behind them, not because they were
 * hidden. Compiled code is handed over as bytecode, inside this process; none is ever taken from outside.
 */
#ifndef GB_JS_REALM_H
#define GB_JS_REALM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "quickjs.h"

enum { GB_JS_ERRORS = 6 };
extern const char *const gb_js_error_names[GB_JS_ERRORS];

/* Functions of the fresh realm that the codec calls, taken before any guest code could replace them. */
struct gb_js_intrinsics {
	JSValue object_prototype;
	JSValue map, map_set, map_for_each;
	JSValue set, set_add, set_for_each;
	JSValue date_get_time;
	JSValue bigint, bigint_to_string, bigint_invert;
	JSValue data_view, view_buffer, view_offset, view_length;
	JSValue typed_array_length;
	JSValue aggregate_error;
	JSValue error, errors[GB_JS_ERRORS]; /* Error, and those that are made from it */
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
	unsigned decoding;                 /* values are being read just now */
	volatile sig_atomic_t interrupted; /* what runs is to stop */
	struct gb_js_bridge *bridge;       /* NULL until there is a job */
	struct gb_js_modules *modules;     /* the same */
	struct gb_js_rejections {          /* promises that nobody has looked after */
		JSValue *promises;
		uint32_t n, cap;
	} unhandled;
	JSValue uncaught; /* the first that a job of its own, such as one of queueMicrotask, has thrown */
	bool has_uncaught;
	/* Where console goes. */
	void (*on_log)(struct gb_js *js, unsigned level, int argc, JSValueConst *argv);
};

bool gb_js_init(struct gb_js *js);

/* After fork: every child must draw its own numbers. */
void gb_js_reseed(struct gb_js *js);

enum gb_js_kind {
	GB_JS_MODULE,
	GB_JS_SCRIPT,
	GB_JS_SESSION, /* a script that may await; evaluated, it gives a promise of {value} */
};

/* Compile @source (with a zero after its end) and bring it into the guest context. On failure the exception
 * is pending in *ret_failed_in. */
JSValue gb_js_compile(struct gb_js *js, const char *source, size_t n, const char *filename,
    enum gb_js_kind kind, JSContext **ret_failed_in);

/* Another guest context instead of the one that there is. */
bool gb_js_renew_guest(struct gb_js *js);

/* Make the properties of @globals identifiers that guest code sees, without putting them on globalThis. */
bool gb_js_define_globals(struct gb_js *js, JSValueConst globals, JSContext **ret_failed_in);

/* Forget rejections that were not handled, and the exception that was not caught. */
void gb_js_forget_rejections(struct gb_js *js);

/* Run what promises have queued until nothing is left. */
void gb_js_run_jobs(struct gb_js *js);

#endif
