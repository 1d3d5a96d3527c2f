/*
 * One job of a session: a script whose top-level names become properties of the global object, which later
 * jobs can use and redeclare.
 *
 *	JSValue promise = gb_js_session_begin(js, &session, &failed_in);	// of {value}
 *	... wait for it ...
 *	gb_js_session_commit(js, &session);					// makes const declarations constant
 */
#ifndef GB_JS_SESSION_H
#define GB_JS_SESSION_H

#include "runtime/js/modules.h"
#include "runtime/js/realm.h"

/* Zero-initialised. */
struct gb_js_session {
	unsigned jobs;                     /* so far */
	char name[128];                    /* of the current job, unless it has a filename */
	const struct gb_js_source *source; /* NULL if compilation failed */
};

/* Define the properties of @globals as names in the session. */
bool gb_js_session_globals(struct gb_js *js, JSValueConst globals, JSContext **ret_failed_in);

/* Compile and start the job's source. On failure the exception is pending in *ret_failed_in. */
JSValue gb_js_session_begin(struct gb_js *js, struct gb_js_session *session, JSContext **ret_failed_in);

void gb_js_session_commit(struct gb_js *js, const struct gb_js_session *session);

#endif
