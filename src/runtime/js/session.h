/*
 * One job of a session: a script whose top-level names are properties of the global object, which the next
 * job finds and may declare again.
 *
 *	JSValue promise = gb_js_session_begin(js, &session, &failed_in);	// of {value}
 *	... wait for it ...
 *	gb_js_session_commit(js, &session);					// constants are constant now
 */
#ifndef GB_JS_SESSION_H
#define GB_JS_SESSION_H

#include "runtime/js/modules.h"
#include "runtime/js/realm.h"

/* Starts zeroed. */
struct gb_js_session {
	unsigned jobs;                     /* so far */
	char name[128];                    /* of the one that runs, unless it is that of a file */
	const struct gb_js_source *source; /* NULL if it did not compile */
};

/* Make the properties of @globals names that the session's code sees. */
bool gb_js_session_globals(struct gb_js *js, JSValueConst globals, JSContext **ret_failed_in);

/* Compile and start the job's source. On failure the exception is pending in *ret_failed_in. */
JSValue gb_js_session_begin(struct gb_js *js, struct gb_js_session *session, JSContext **ret_failed_in);

void gb_js_session_commit(struct gb_js *js, const struct gb_js_session *session);

#endif
