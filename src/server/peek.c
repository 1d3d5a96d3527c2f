#include "server/messages.h"

/* The rest of a text that may be JSON. */
struct text {
	const char *at, *end;
};

static void skip_space(struct text *text) {
	while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == '\r'))
		text->at++;
}

/* The string that begins here, without its quotes and with its escapes. */
static bool take_string(struct text *text, struct gb_str *ret) {
	const char *from = ++text->at;
	for (; text->at < text->end && *text->at != '"'; text->at++)
		if (*text->at == '\\' && ++text->at == text->end)
			return false;
	if (text->at >= text->end)
		return false;
	*ret = (struct gb_str){from, (size_t)(text->at++ - from)};
	return true;
}

static bool take_whole(struct text *text, uint64_t *ret) {
	uint64_t number = 0;
	const char *from = text->at;
	for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
		if ((number = number * 10 + (uint64_t)(*text->at - '0')) > GB_WHOLE_MAX)
			return false;
	skip_space(text);
	*ret = number;
	return text->at > from && text->at < text->end && (*text->at == ',' || *text->at == '}');
}

/* Read the value of @key if it is one of the wanted keys; otherwise leave it to the caller. */
static void take_member(struct text *text, struct gb_str key, struct gb_rejection *rejection) {
	struct gb_str name;
	enum gb_message_type type;
	skip_space(text);
	if (gb_str_eq(key, GB_STR("type")) && text->at < text->end && *text->at == '"' &&
	    take_string(text, &name) && gb_message_find_type(name, &type))
		gb_copy_text(rejection->about, sizeof rejection->about, name);
	else if (gb_str_eq(key, GB_STR("run")))
		rejection->has_run = take_whole(text, &rejection->run);
	else if (gb_str_eq(key, GB_STR("call")))
		rejection->has_call = take_whole(text, &rejection->call);
	else if (gb_str_eq(key, GB_STR("request")))
		rejection->has_request = take_whole(text, &rejection->request);
}

void gb_message_peek(const char *line, size_t n, struct gb_rejection *rejection) {
	struct text text = {line, line + n};
	struct gb_str string;
	size_t depth = 0;
	skip_space(&text);
	if (text.at == text.end || *text.at != '{')
		return;
	while (text.at < text.end) {
		char c = *text.at;
		if (c == '"') {
			if (!take_string(&text, &string))
				return;
			skip_space(&text);
			if (depth == 1 && text.at < text.end && *text.at == ':') {
				text.at++;
				take_member(&text, string, rejection);
			}
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return;
		text.at++;
	}
}
