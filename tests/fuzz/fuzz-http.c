/* What is forwarded does not depend on how the stream is cut. The first byte says how. */
#include "fuzz.h"

#include <string.h>

#include "egress/http.h"

static size_t scan(struct gb_http *http, const char *text, size_t n, size_t piece) {
	struct gb_host host;
	const char *problem;
	size_t done = 0, forward;
	ALWAYS(gb_host_parse(GB_STR("a.b"), &host, &problem));
	gb_http_init(http, &host, 80);
	for (size_t seen = piece; done < n; seen += piece) {
		seen = seen < n ? seen : n;
		enum gb_http_status status = gb_http_scan(http, text + done, seen - done, &forward);
		ALWAYS(forward <= seen - done);
		done += forward;
		if (status == GB_HTTP_BAD || seen == n)
			break;
	}
	return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_http whole, cut;
	if (size == 0)
		return 0;
	const char *text = (const char *)data + 1;
	const size_t n = scan(&whole, text, size - 1, size);
	const size_t parts = scan(&cut, text, size - 1, 1 + data[0] % 32);
	ALWAYS(!whole.problem == !cut.problem && whole.n_requests == cut.n_requests);
	ALWAYS(n == parts);
	return 0;
}
