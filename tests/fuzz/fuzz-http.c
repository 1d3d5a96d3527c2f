/* What is forwarded does not depend on how the stream is cut, of requests and of answers. The first byte says how. */
#include "fuzz.h"

#include <string.h>

#include "egress/http.h"

struct seen {
	size_t n, body, heads;
};

static struct seen scan(struct gb_http *http, bool answers, const char *text, size_t n, size_t piece) {
	struct gb_host host;
	struct seen seen = {0};
	const char *problem;
	size_t used;
	ALWAYS(gb_host_parse(GB_STR("a.b"), &host, &problem));
	if (answers)
		gb_http_init_answers(http);
	else
		gb_http_init(http, &host, 80);
	for (size_t arrived = piece;; arrived += piece) {
		arrived = arrived < n ? arrived : n;
		enum gb_http_piece what;
		while ((what = gb_http_step(http, text + seen.n, arrived - seen.n, &used)) != GB_HTTP_MORE) {
			ALWAYS(used > 0 && used <= arrived - seen.n);
			struct gb_str fields = {text + seen.n, used}, line, name, value;
			seen.heads += what == GB_HTTP_HEAD;
			seen.body += what == GB_HTTP_BODY ? used : 0;
			seen.n += used;
			gb_str_cut(&fields, '\n', &line);
			while (what == GB_HTTP_HEAD && gb_http_next_field(&fields, &name, &value))
				ALWAYS(name.n && !memchr(value.p, '\r', value.n));
		}
		ALWAYS(used == 0);
		if (http->problem || arrived == n)
			return seen;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_http whole, cut;
	if (size == 0)
		return 0;
	const char *text = (const char *)data + 1;
	const bool answers = data[0] & 0x80;
	const struct seen all = scan(&whole, answers, text, size - 1, size);
	const struct seen parts = scan(&cut, answers, text, size - 1, 1 + data[0] % 32);
	ALWAYS(!whole.problem == !cut.problem && whole.n_requests == cut.n_requests);
	ALWAYS(all.n == parts.n && all.body == parts.body && all.heads == parts.heads);
	return 0;
}
