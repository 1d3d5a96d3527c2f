/* Attaching clients to the terminals of sessions. */
#include "base/err.h"
#include "engine/manager.h"

bool gb_manager_send(
    struct gb_manager *manager, const char *session, const char *bytes, size_t n, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	return record && gb_session_send(record->session, bytes, n, err);
}

static void on_shown(struct gb_session *session, const char *bytes, size_t n, void *data) {
	(void)session;
	struct gb_record *record = data;
	const struct gb_attachment *attachment = &record->attachment;
	attachment->on_bytes(record->manager, bytes, n, attachment->data);
}

static void leave(struct gb_record *record) {
	record->attachment = (struct gb_attachment){0};
	gb_session_detach(record->session);
	/* Its idle time counts from now. */
	gb_record_touch(record);
	gb_manager_wake(record->manager);
}

bool gb_manager_attach(struct gb_manager *manager, const char *session,
    const struct gb_attachment *attachment, bool steal, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	if (!record)
		return false;
	struct gb_attachment before = record->attachment;
	if (before.on_bytes && !steal)
		return gb_fail_field(err, GB_EBUSY, "session",
		    "another client is attached to '%s'; 'steal' takes the terminal over", session);
	/* If a client is attached, only the manager switches the client; the session stays attached. */
	if (!before.on_bytes && !gb_session_attach(record->session, on_shown, record, err))
		return false;
	record->attachment = *attachment;
	gb_session_hold(record->session, false);
	if (before.on_bytes)
		GB_CALL_BACK(manager->engine,
		    before.on_end(manager, "another client has attached to it", false, before.data));
	return true;
}

bool gb_manager_detach(struct gb_manager *manager, const char *session, struct gb_err *err) {
	/* Also a session that has ended but was not moved to the ended list yet. */
	struct gb_record *record = gb_record_find(manager, session, err);
	if (record && record->attachment.on_bytes)
		leave(record);
	return record;
}

bool gb_manager_hold(struct gb_manager *manager, const char *session, bool held, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	if (record)
		gb_session_hold(record->session, held);
	return record;
}

bool gb_manager_resize(
    struct gb_manager *manager, const char *session, unsigned columns, unsigned rows, struct gb_err *err) {
	struct gb_record *record = gb_record_find_alive(manager, session, err);
	return record && gb_session_resize(record->session, columns, rows, err);
}
