#include "server/messages.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "glovebox/errors.h"

/* --- the tables --- */

#define OPTION(name_, kind_, member_, ...)                                                                   \
	{                                                                                                    \
		.name = (name_), .kind = (kind_), .offset = offsetof(struct gb_message, options.member_),    \
		.member = #member_, __VA_ARGS__                                                              \
	}
#define FIELD(name_, kind_, member_, ...)                                                                    \
	{ .name = (name_), .kind = (kind_), .offset = offsetof(struct gb_message, member_), __VA_ARGS__ }

/* A limit of glovebox/fields.h. The engine treats 0 as the default, so 0 is rejected here. */
#define LIMIT_64(name_, member_) OPTION(name_, GB_FIELD_WHOLE, member_, .min = 1)
#define LIMIT_32(name_, member_) OPTION(name_, GB_FIELD_WHOLE32, member_, .min = 1, .max = UINT32_MAX)

/* The rows of a 'run' message's limits, and of an 'execute' message's. */
#define IN_LIMITS(width_, name_, member_)        LIMIT_##width_(name_, member_),
#define IN_OPTIONS(width_, name_, member_)       /* in option_fields, by the name of the contract */
#define CONTRACT_LIMITS(width_, name_, member_)  /* in limit_fields */
#define CONTRACT_OPTIONS(width_, name_, member_) LIMIT_##width_(name_, member_),
#define OPTION_LIMIT(member_, width_, name_, place_, contract_, ...)                                         \
	CONTRACT_##place_(width_, contract_, member_)
#define RUN_LIMIT(member_, width_, name_, place_, contract_, ...) IN_##place_(width_, name_, member_)
#define FOR_AGENT(width_, name_, member_)                         LIMIT_##width_(name_, member_),
#define FOR_CALLER(width_, name_, member_)                        /* not for agents */
#define AGENT_LIMIT(member_, width_, name_, place_, contract_, unit_, fallback_, least_, most_, has_flag_,   \
    flag_, enforcer_, agents_, doc_)                                                                         \
	FOR_##agents_(width_, name_, member_)

#define TYPE                                                                                                 \
	{ .name = "type", .kind = GB_FIELD_IGNORED }
#define RUN  FIELD("run", GB_FIELD_WHOLE, run, .required = true)
#define CALL FIELD("call", GB_FIELD_WHOLE, call, .required = true)
/* Never rejected: the run or session ends whatever the reason is. */
#define REASON FIELD("reason", GB_FIELD_REASON, reason)
#define END                                                                                                  \
	{ 0 }

/* The rows of a request (glovebox/fields.h), by their places. */
#define KIND_LANGUAGE  GB_FIELD_LANGUAGE
#define KIND_TEXT      GB_FIELD_TEXT
#define KIND_INPUT     GB_FIELD_TEXT
#define KIND_FLAG      GB_FIELD_BOOLEAN
#define KIND_ARGS      GB_FIELD_ARRAY
#define KIND_NAMES     GB_FIELD_ARRAY
#define KIND_VARIABLES GB_FIELD_OBJECT
#define KIND_IMPORTS   GB_FIELD_OBJECT
#define KIND_SOURCES   GB_FIELD_OBJECT
#define KIND_FILES     GB_FIELD_OBJECT

#define NO_ROW(kind_, name_, member_)
#define ROW(kind_, name_, member_) OPTION(name_, KIND_##kind_, member_),

#define EXECUTE_EXECUTE                                 ROW
#define EXECUTE_OPTIONS                                 NO_ROW
#define EXECUTE_ROW(kind_, member_, name_, place_, ...) EXECUTE_##place_(kind_, name_, member_)

#define OPTIONS_EXECUTE                                 NO_ROW
#define OPTIONS_OPTIONS                                 ROW
#define OPTIONS_ROW(kind_, member_, name_, place_, ...) OPTIONS_##place_(kind_, name_, member_)

#define OPEN_ANY                                                      NO_ROW
#define OPEN_SESSION                                                  NO_ROW
#define OPEN_NEW                                                      ROW
#define OPEN_ROW(kind_, member_, name_, place_, origin_, scope_, ...) OPEN_##scope_(kind_, name_, member_)

#define AGENT_CALLER NO_ROW
#define AGENT_AGENT  ROW
#define AGENT_ROW(kind_, member_, name_, place_, origin_, scope_, needs_, job_, agents_, ...)                \
	AGENT_##agents_(kind_, name_, member_)

/* What agents state about their requests. An input has the id of its session; an 'execute' can have true. */
#define STATED_ID                      STATED_TEXT
#define STATED_TEXT(name_, member_)    FIELD(name_, GB_FIELD_TEXT, member_, .member = #member_),
#define STATED_JSON(name_, member_)    FIELD(name_, GB_FIELD_ANY, member_, .member = #member_),
#define STATED_SESSION(name_, member_) FIELD(name_, GB_FIELD_ANY, agent_session),
#define STATED_CHOICE(name_, member_)                                                                        \
	FIELD(name_, GB_FIELD_CHOICE, member_, .choices = member_##_choices, .member = #member_),
#define STATED_ROW(kind_, member_, name_, ...) STATED_##kind_(name_, member_)

#define INPUT_NONE(name_, member_)
#define INPUT_OPTIONAL(name_, member_) FIELD(name_, GB_FIELD_TEXT, member_, .member = #member_),
#define INPUT_REQUIRED(name_, member_)                                                                       \
	FIELD(name_, GB_FIELD_TEXT, member_, .required = true, .member = #member_),
#define INPUT_ROW(kind_, member_, name_, max_, inputs_, ...) INPUT_##inputs_(name_, member_)

static const char *const tier_choices[] = {GB_AGENT_tier_CHOICES, NULL};
static const char *const on_input_choices[] = {GB_AGENT_on_input_CHOICES, NULL};

static const struct gb_field execute_fields[] = {GB_REQUEST_FIELDS(EXECUTE_ROW) END};

static const struct gb_field option_fields[] = {
    {.name = "execute", .kind = GB_FIELD_FIELDS, .fields = execute_fields},
    GB_LIMIT_FIELDS(OPTION_LIMIT) GB_REQUEST_FIELDS(OPTIONS_ROW) END,
};

static const struct gb_field limit_fields[] = {GB_LIMIT_FIELDS(RUN_LIMIT) END};

static const struct gb_field run_fields[] = {
    TYPE,
    RUN,
    FIELD("source", GB_FIELD_STR, source, .required = true, .member = "source"),
    FIELD("session", GB_FIELD_TEXT, session, .member = "session"),
    {.name = "options", .kind = GB_FIELD_FIELDS, .fields = option_fields},
    {.name = "limits", .kind = GB_FIELD_FIELDS, .fields = limit_fields},
    END,
};

static const struct gb_field agent_limit_fields[] = {GB_LIMIT_FIELDS(AGENT_LIMIT) END};

static const struct gb_field agent_fields[] = {
    TYPE,
    RUN,
    FIELD("source", GB_FIELD_STR, source, .required = true),
    {.name = "limits", .kind = GB_FIELD_FIELDS, .fields = agent_limit_fields},
    GB_REQUEST_FIELDS(AGENT_ROW) GB_AGENT_FIELDS(STATED_ROW) END,
};

static const struct gb_field input_fields[] = {
    TYPE,
    RUN,
    FIELD("text", GB_FIELD_STR, source, .required = true, .member = "text"),
    GB_AGENT_FIELDS(INPUT_ROW) END,
};

static const struct gb_field tool_fields[] = {
    TYPE,
    RUN,
    FIELD("name", GB_FIELD_TEXT, name, .required = true),
    FIELD("arguments", GB_FIELD_OBJECT, arguments, .required = true),
    END,
};

/* The statements of an agent that an executor takes. */
#define STATEMENT(name_) FIELD(#name_, GB_FIELD_TEXT, name_, .member = #name_)

static const struct gb_field executor_fields[] = {
    TYPE,
    RUN,
    FIELD("source", GB_FIELD_STR, source, .required = true, .member = "code"),
    FIELD("stubs", GB_FIELD_TEXT, stubs, .member = "stubs"),
    FIELD("tools", GB_FIELD_STR, tools, .member = "tools"),
    OPTION("language", GB_FIELD_LANGUAGE, language),
    LIMIT_64("timeoutMs", timeout_ms),
    LIMIT_64("maxOutputBytes", output_bytes),
    FIELD("maxCodeBytes", GB_FIELD_WHOLE, max_code_bytes, .min = 1, .max = GB_WHOLE_MAX),
    FIELD("maxToolCalls", GB_FIELD_ANY, max_tool_calls),
    OPTION("net", GB_FIELD_ARRAY, net),
    OPTION("workdir", GB_FIELD_TEXT, workdir),
    STATEMENT(purpose),
    STATEMENT(conversation),
    STATEMENT(turn),
    END,
};

static const struct gb_field tool_answer_fields[] = {
    TYPE,
    RUN,
    CALL,
    FIELD("result", GB_FIELD_STR, answer),
    FIELD("error", GB_FIELD_STR, error),
    END,
};

static const struct gb_field answer_fields[] = {
    TYPE,
    RUN,
    CALL,
    FIELD("return", GB_FIELD_ANY, returned),
    FIELD("throw", GB_FIELD_ANY, thrown),
    FIELD("promise", GB_FIELD_TRUE, promise),
    END,
};

static const struct gb_field call_fields[] = {
    TYPE,
    RUN,
    CALL,
    FIELD("function", GB_FIELD_WHOLE32, function, .max = UINT32_MAX, .required = true),
    FIELD("args", GB_FIELD_ARRAY, args),
    END,
};

static const struct gb_field terminate_fields[] = {
    TYPE,
    RUN,
    REASON,
    END,
};

static const struct gb_field interrupt_fields[] = {TYPE, RUN, END};

#define REQUEST FIELD("request", GB_FIELD_WHOLE, request, .required = true)
#define SESSION FIELD("session", GB_FIELD_TEXT, session, .required = true, .member = "session")
#define AGENT   FIELD("agent", GB_FIELD_BOOLEAN, agent)

static const struct gb_field session_open_fields[] = {
    TYPE,
    REQUEST,
    FIELD("name", GB_FIELD_TEXT, name, .member = "name"),
    FIELD("conversation", GB_FIELD_TEXT, conversation, .member = "conversation"),
    FIELD("reuse", GB_FIELD_BOOLEAN, reuse),
    OPTION("net", GB_FIELD_ARRAY, net),
    GB_REQUEST_FIELDS(OPEN_ROW) END,
};

static const struct gb_field hello_fields[] = {
    TYPE,
    REQUEST,
    FIELD("decides", GB_FIELD_ARRAY, decides, .required = true),
    END,
};

static const struct gb_field secret_fields[] = {
    TYPE,
    REQUEST,
    FIELD("name", GB_FIELD_TEXT, name, .required = true),
    FIELD("value", GB_FIELD_BYTES, text, .required = true),
    END,
};

static const struct gb_field session_fields[] = {TYPE, REQUEST, SESSION, END};

static const struct gb_field session_get_fields[] = {TYPE, REQUEST, SESSION, AGENT, END};

static const struct gb_field session_expose_fields[] = {
    TYPE,
    REQUEST,
    SESSION,
    FIELD("port", GB_FIELD_WHOLE32, port, .min = 1, .max = 65535, .required = true),
    FIELD("on", GB_FIELD_WHOLE32, on, .max = 65535),
    FIELD("path", GB_FIELD_TEXT, path),
    END,
};

static const struct gb_field session_list_fields[] = {
    TYPE,
    REQUEST,
    AGENT,
    FIELD("conversation", GB_FIELD_TEXT, conversation),
    END,
};

static const struct gb_field session_send_fields[] = {
    TYPE,
    REQUEST,
    SESSION,
    FIELD("text", GB_FIELD_BYTES, text, .required = true),
    END,
};

static const struct gb_field session_update_fields[] = {
    TYPE,
    REQUEST,
    SESSION,
    FIELD("trusted", GB_FIELD_ANY, trusted),
    FIELD("addTokens", GB_FIELD_WHOLE, tokens),
    END,
};

static const struct gb_field session_kill_fields[] = {TYPE, REQUEST, SESSION, REASON, AGENT, END};

static const struct gb_field session_cleanup_fields[] = {
    TYPE,
    REQUEST,
    FIELD("conversation", GB_FIELD_TEXT, conversation, .required = true),
    REASON,
    AGENT,
    END,
};

static const struct gb_field session_attach_fields[] = {
    TYPE,
    REQUEST,
    SESSION,
    FIELD("steal", GB_FIELD_BOOLEAN, steal),
    END,
};

#define SIZE(name_) FIELD(#name_, GB_FIELD_WHOLE32, name_, .min = 1, .max = 1000, .required = true)

static const struct gb_field session_resize_fields[] = {
    TYPE,
    REQUEST,
    SESSION,
    SIZE(columns),
    SIZE(rows),
    END,
};

#define EXECUTION FIELD("execution", GB_FIELD_TEXT, execution, .required = true)

static const struct gb_field execution_fields[] = {TYPE, REQUEST, EXECUTION, END};

static const struct gb_field execution_list_fields[] = {TYPE, REQUEST, END};

static const struct gb_field execution_cancel_fields[] = {TYPE, REQUEST, EXECUTION, REASON, END};

static const struct gb_field subscribe_fields[] = {
    TYPE,
    REQUEST,
    FIELD("execution", GB_FIELD_TEXT, execution),
    FIELD("session", GB_FIELD_TEXT, session),
    FIELD("after", GB_FIELD_WHOLE, after, .max = GB_WHOLE_MAX),
    END,
};

static const struct gb_field unsubscribe_fields[] = {
    TYPE,
    REQUEST,
    FIELD("subscription", GB_FIELD_WHOLE, subscription, .max = GB_WHOLE_MAX, .required = true),
    END,
};

static const struct {
	const char *name;
	const struct gb_field *fields;
} types[] = {
    [GB_MESSAGE_RUN] = {"run", run_fields},
    [GB_MESSAGE_EXECUTE] = {"execute", agent_fields},
    [GB_MESSAGE_INPUT] = {"input", input_fields},
    [GB_MESSAGE_TOOL] = {"tool", tool_fields},
    [GB_MESSAGE_EXECUTOR] = {"executor", executor_fields},
    [GB_MESSAGE_TOOL_ANSWER] = {"tool_answer", tool_answer_fields},
    [GB_MESSAGE_ANSWER] = {"answer", answer_fields},
    [GB_MESSAGE_CALL] = {"call", call_fields},
    [GB_MESSAGE_TERMINATE] = {"terminate", terminate_fields},
    [GB_MESSAGE_INTERRUPT] = {"interrupt", interrupt_fields},
    [GB_MESSAGE_HELLO] = {"hello", hello_fields},
    [GB_MESSAGE_SECRET_ADD] = {"secret_add", secret_fields},
    [GB_MESSAGE_EXECUTION_LIST] = {"execution_list", execution_list_fields},
    [GB_MESSAGE_EXECUTION_GET] = {"execution_get", execution_fields},
    [GB_MESSAGE_EXECUTION_CANCEL] = {"execution_cancel", execution_cancel_fields},
    [GB_MESSAGE_SUBSCRIBE] = {"subscribe", subscribe_fields},
    [GB_MESSAGE_UNSUBSCRIBE] = {"unsubscribe", unsubscribe_fields},
    [GB_MESSAGE_SESSION_OPEN] = {"session_open", session_open_fields},
    [GB_MESSAGE_SESSION_GET] = {"session_get", session_get_fields},
    [GB_MESSAGE_SESSION_LIST] = {"session_list", session_list_fields},
    [GB_MESSAGE_SESSION_EXPOSE] = {"session_expose", session_expose_fields},
    [GB_MESSAGE_SESSION_INTERRUPT] = {"session_interrupt", session_fields},
    [GB_MESSAGE_SESSION_SEND] = {"session_send", session_send_fields},
    [GB_MESSAGE_SESSION_UPDATE] = {"session_update", session_update_fields},
    [GB_MESSAGE_SESSION_KILL] = {"session_kill", session_kill_fields},
    [GB_MESSAGE_SESSION_CLEANUP] = {"session_cleanup", session_cleanup_fields},
    [GB_MESSAGE_SESSION_ATTACH] = {"session_attach", session_attach_fields},
    [GB_MESSAGE_SESSION_DETACH] = {"session_detach", session_fields},
    [GB_MESSAGE_SESSION_RESIZE] = {"session_resize", session_resize_fields},
};

/* --- reading --- */

size_t gb_message_memory(size_t n) {
	enum { VALUES_MAX = 4 << 20, VALUE_BYTES = 128, SLACK = 64 << 10 };
	/* A JSON value has at least two bytes, counting a comma; and the number of values in a message is
	 * limited. */
	size_t values = n / 2 < VALUES_MAX ? n / 2 : VALUES_MAX;
	return values * VALUE_BYTES + n * 2 + SLACK;
}

bool gb_message_find_type(struct gb_str name, enum gb_message_type *ret) {
	for (unsigned i = 0; i < GB_COUNT(types); i++)
		if (gb_str_eq(name, gb_str_from(types[i].name))) {
			*ret = (enum gb_message_type)i;
			return true;
		}
	return false;
}

/* Copy type, run, call and request of the message, so that the client can assign the error to its request. */
static void note_context(const struct gb_value *message, struct gb_rejection *rejection) {
	struct gb_str type = gb_read_str(gb_value_get(message, "type"));
	if (type.p)
		gb_copy_text(rejection->about, sizeof rejection->about, type);
	rejection->has_run = gb_read_whole(gb_value_get(message, "run"), &rejection->run);
	rejection->has_call = gb_read_whole(gb_value_get(message, "call"), &rejection->call);
	rejection->has_request = gb_read_whole(gb_value_get(message, "request"), &rejection->request);
}

static bool read_type(
    const struct gb_value *message, enum gb_message_type *ret, struct gb_rejection *rejection) {
	const struct gb_value *type = gb_value_get(message, "type");
	if (gb_message_find_type(gb_read_str(type), ret))
		return true;
	if (gb_value_type(type) == GB_STRING)
		return gb_reject(rejection, GB_CODE_UNKNOWN_TYPE, "there is no type '%s'", rejection->about);
	return gb_reject(
	    gb_rejection_at(rejection, "type"), GB_CODE_INVALID, type ? "must be a string" : "is missing");
}

static bool check_answer(const struct gb_message *message, struct gb_rejection *rejection) {
	if (message->type != GB_MESSAGE_ANSWER ||
	    (message->returned != NULL) + (message->thrown != NULL) + message->promise == 1)
		return true;
	return gb_reject(gb_rejection_at(rejection, "return"), GB_CODE_INVALID,
	    "exactly one of return, throw and promise must be there");
}

static bool check_update(const struct gb_message *message, struct gb_rejection *rejection) {
	return !message->trusted || gb_value_type(message->trusted) == GB_BOOLEAN ||
	       gb_reject(gb_rejection_at(rejection, "trusted"), GB_CODE_INVALID, "must be true or false");
}

bool gb_message_read(struct gb_values *pool, const char *line, size_t n, struct gb_message *ret,
    struct gb_rejection *ret_rejection) {
	struct gb_err err = {0};
	*ret_rejection = (struct gb_rejection){0};
	const struct gb_value *value = pool ? gb_value_from_json(pool, line, n, &err) : NULL;
	if (!value) {
		gb_message_peek(line, n, ret_rejection);
		if (err.code == GB_EFORMAT)
			return gb_reject(ret_rejection, GB_CODE_MALFORMED, "%s", err.message);
		return gb_reject(
		    ret_rejection, GB_CODE_TOO_LONG, "the line holds more values than a line may");
	}
	if (gb_value_type(value) != GB_OBJECT)
		return gb_reject(ret_rejection, GB_CODE_MALFORMED, "line 1, column 1: expected an object");
	note_context(value, ret_rejection);
	struct gb_message message = {0};
	if (!read_type(value, &message.type, ret_rejection) ||
	    !gb_fields_read(types[message.type].fields, value, &message, ret_rejection) ||
	    !check_answer(&message, ret_rejection) || !check_update(&message, ret_rejection))
		return false;
	*ret = message;
	return true;
}

/* Where the last word of the @n bytes of @text begins, if that is within the last @room of them; else @n. */
static size_t last_word(const char *text, size_t n, size_t room) {
	for (size_t at = n; at > 0 && n - at < room; at--)
		if (text[at - 1] == ' ')
			return at;
	return n;
}

/* Half a word may be half a secret, which masking would miss: leave it out. A longer word is no credential. */
static void end_at_word(char *text, size_t n) {
	enum { WORD_MAX = 1024 };
	static const char more[] = "…";
	size_t end = last_word(text, n, WORD_MAX);
	if (end == n && (n == 0 || text[n - 1] != ' '))
		return;
	/* Without room for the mark, the word before is left out as well, if it is one. */
	if (end + sizeof more > GB_REASON_MAX) {
		size_t before = last_word(text, end - 1, WORD_MAX);
		text[end - 1] = '\0';
		end = before + sizeof more <= GB_REASON_MAX ? before : 0;
	}
	if (end > 0)
		memcpy(text + end, more, sizeof more);
}

const char *gb_message_reason(const struct gb_message *message, char text[GB_REASON_MAX]) {
	static const char replacement[] = "\xef\xbf\xbd";
	struct gb_str rest = message->reason, part;
	if (!rest.p)
		return NULL;
	/* U+0000 has one byte here, and its replacement three. */
	size_t n = 0, room = sizeof replacement - 1;
	bool more = true, cut = false;
	while (more && !cut) {
		more = gb_str_cut(&rest, '\0', &part);
		gb_copy_text(text + n, GB_REASON_MAX - n, part);
		size_t copied = strlen(text + n);
		n += copied;
		cut = copied < part.n || (more && n + room >= GB_REASON_MAX);
		if (more && !cut) {
			memcpy(text + n, replacement, sizeof replacement);
			n += room;
		}
	}
	if (cut)
		end_at_word(text, n);
	return text;
}

/* --- errors of the engine about options --- */

/* Append the path of the field that sets @member to @path. */
static bool find_member(const struct gb_field *fields, struct gb_str member, char *path, size_t size) {
	for (; fields->name; fields++) {
		int n = snprintf(path, size, "%s", fields->name);
		if (fields->member && gb_str_eq(gb_str_from(fields->member), member))
			return true;
		if (!fields->fields || (size_t)n + 1 >= size)
			continue;
		path[n] = '.';
		if (find_member(fields->fields, member, path + n + 1, size - (size_t)n - 1))
			return true;
	}
	return false;
}

bool gb_message_reject_option(const struct gb_err *err, struct gb_rejection *rejection) {
	struct gb_str member = gb_str_from(err->field);
	char path[sizeof rejection->field];
	enum gb_message_type type;
	/* Prefer the field names of this message's type. */
	const struct gb_field *own =
	    gb_message_find_type(gb_str_from(rejection->about), &type) ? types[type].fields : run_fields;
	if (!member.n || (!find_member(own, member, path, sizeof path) &&
			     !find_member(run_fields, member, path, sizeof path) &&
			     !find_member(session_open_fields, member, path, sizeof path)))
		return false;
	gb_reject(gb_rejection_at(rejection, path), GB_CODE_INVALID, "%s", err->message + err->detail);
	return true;
}
