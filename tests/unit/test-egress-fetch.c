/* What glovebox-egress accepts of a request that a cell sends. The cell is untrusted, so the checks of its JavaScript
 * do not count. */
#include "../tap.h"
#include "base/cleanup.h"
#include "egress/fetch.h"

static struct gb_fetch_open plain(void) {
	return (struct gb_fetch_open){
	    .method = GB_STR("GET"), .host = GB_STR("good.example"), .target = GB_STR("/"), .port = 80};
}

static bool is_accepted(const struct gb_fetch_open *open) {
	static struct gb_fetch_open read;
	gb_auto_buf struct gb_buf message;
	const char *problem;
	gb_buf_init(&message, GB_FETCH_MESSAGE_MAX);
	gb_fetch_write_open(&message, open);
	return !gb_buf_failed(&message) && gb_fetch_read_open(message.data, message.len, &read, &problem);
}

static bool accepts_header(struct gb_str name, struct gb_str value) {
	static struct gb_fetch_open open;
	open = plain();
	open.headers[open.n_headers++] = (struct gb_fetch_header){name, value};
	return is_accepted(&open);
}

TEST(plain_requests_are_accepted) {
	static struct gb_fetch_open open;
	open = plain();
	CHECK(is_accepted(&open));
	CHECK(accepts_header(GB_STR("Accept"), GB_STR("a, b\t\xc3\xbc")));
	CHECK(accepts_header(GB_STR("X-Empty"), GB_STR("")));
}

TEST(headers_of_the_connection_are_refused) {
	static const char *const names[] = {"Host", "hOST", "Transfer-Encoding", "Content-Length",
	    "Connection", "Upgrade", "TE", "Trailer", "Expect", "Keep-Alive", "Proxy-Authorization",
	    "Proxy-Connection", "HTTP2-Settings"};
	for (size_t i = 0; i < GB_COUNT(names); i++)
		if (!CHECK(!accepts_header(gb_str_from(names[i]), GB_STR("x"))))
			printf("# %s\n", names[i]);
}

TEST(line_breaks_and_nul_are_refused) {
	static const struct gb_str bad[] = {
	    GB_STR("a\rb"), GB_STR("a\nb"), GB_STR("a\0b"), GB_STR("a\r\nHost: b"), GB_STR("\n")};
	for (size_t i = 0; i < GB_COUNT(bad); i++) {
		static struct gb_fetch_open open;
		CHECK(!accepts_header(GB_STR("X"), bad[i]));
		CHECK(!accepts_header(bad[i], GB_STR("x")));
		open = plain();
		open.method = bad[i];
		CHECK(!is_accepted(&open));
		open = plain();
		open.target = bad[i];
		CHECK(!is_accepted(&open));
	}
}

TEST(malformed_names_methods_and_targets_are_refused) {
	static const char *const methods[] = {"", "CONNECT", "connect", "TRACE", "GET /", "G:T"};
	static const char *const targets[] = {
	    "", "a", "http://other.example/", "/a b", "/#a", "/\x7f", "*", "/\xc3\xbc"};
	static const char *const names[] = {"", "a b", "a:", "a:b", "\xc3\xbc", "a\x7f"};
	static struct gb_fetch_open open;
	for (size_t i = 0; i < GB_COUNT(methods); i++) {
		open = plain();
		open.method = gb_str_from(methods[i]);
		CHECK(!is_accepted(&open));
	}
	for (size_t i = 0; i < GB_COUNT(targets); i++) {
		open = plain();
		open.target = gb_str_from(targets[i]);
		if (!CHECK(!is_accepted(&open)))
			printf("# %s\n", targets[i]);
	}
	for (size_t i = 0; i < GB_COUNT(names); i++)
		CHECK(!accepts_header(gb_str_from(names[i]), GB_STR("x")));
}

TEST(cut_messages_are_refused) {
	static struct gb_fetch_open open, read;
	gb_auto_buf struct gb_buf message;
	const char *problem;
	open = plain();
	gb_buf_init(&message, GB_FETCH_MESSAGE_MAX);
	gb_fetch_write_open(&message, &open);
	for (size_t n = 0; n < message.len; n++)
		CHECK(!gb_fetch_read_open(message.data, n, &read, &problem));
}
