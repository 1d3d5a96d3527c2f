#include "../tap.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "egress/echo.h"
#include "egress/rewrite.h"
#include "egress/secret.h"

static const struct gb_str forms[] = {GB_STR("value-1234"), GB_STR("76616c75652d31323334")};
#define PLACEHOLDER "glovebox-secret-a-00112233445566778899aabbccddeeff"

static struct gb_secret_texts texts(void) {
	return (struct gb_secret_texts){.name = GB_STR("a"),
	    .hosts = GB_STR("a.example,*.b.example:8443"),
	    .header = GB_STR("X-Key: t {}."),
	    .placeholder = GB_STR(PLACEHOLDER),
	    .forms = forms,
	    .n_forms = GB_COUNT(forms)};
}

static void write_order(struct gb_buf *out, const struct gb_secret_texts *from) {
	gb_buf_init(out, GB_SECRET_ORDER_MAX);
	gb_secret_order_write(out, from);
}

static bool reads(const struct gb_secret_texts *from) {
	static struct gb_secret_order order;
	gb_auto_buf struct gb_buf out;
	write_order(&out, from);
	return gb_secret_order_read(out.data, out.len, &order);
}

TEST(an_order_is_read_as_it_was_written) {
	static struct gb_secret_order order;
	const struct gb_secret_texts from = texts();
	gb_auto_buf struct gb_buf out;
	write_order(&out, &from);
	if (!CHECK(gb_secret_order_read(out.data, out.len, &order)))
		return;
	CHECK(gb_str_eq(order.bound.name, GB_STR("a")));
	CHECK(gb_str_eq(order.bound.header, GB_STR("X-Key")));
	CHECK(gb_str_eq(order.bound.before, GB_STR("t ")));
	CHECK(gb_str_eq(order.bound.after, GB_STR(".")));
	CHECK(gb_str_eq(order.bound.placeholder, GB_STR(PLACEHOLDER)));
	CHECK(gb_str_eq(order.bound.value, forms[0]));
	CHECK_INT(order.bound.n_forms, 2);
	CHECK_INT(order.bound.n_hosts, 2);
	CHECK_INT(order.hosts[1].port, 8443);
	CHECK(order.hosts[1].below);
}

TEST(a_cut_order_is_refused) {
	static struct gb_secret_order order;
	const struct gb_secret_texts from = texts();
	gb_auto_buf struct gb_buf out;
	write_order(&out, &from);
	/* Without its last form it is another order, and complete. */
	const size_t without = out.len - sizeof(uint32_t) - forms[1].n;
	for (size_t n = 0; n < out.len; n++)
		if (n != without)
			CHECK(!gb_secret_order_read(out.data, n, &order));
}

TEST(an_order_with_a_length_beyond_its_end_is_refused) {
	static struct gb_secret_order order;
	const struct gb_secret_texts from = texts();
	static const uint32_t lengths[] = {1000, 0x7fffffff, 0xfffffffc, 0xffffffff};
	gb_auto_buf struct gb_buf out;
	write_order(&out, &from);
	for (size_t i = 0; i < GB_COUNT(lengths); i++) {
		memcpy(out.data, &lengths[i], sizeof lengths[i]);
		CHECK(!gb_secret_order_read(out.data, out.len, &order));
	}
}

TEST(orders_with_malformed_texts_are_refused) {
	static char longer[GB_ECHO_FORM_MAX + 1];
	memset(longer, 'x', sizeof longer);
	const struct gb_str bad_value = GB_STR("value\r\nX: y"),
			    long_forms[] = {forms[0], {longer, sizeof longer}},
			    empty_forms[] = {forms[0], GB_STR("")};
	static struct gb_str many[GB_SECRET_FORMS_MAX + 1];
	for (size_t i = 0; i < GB_COUNT(many); i++)
		many[i] = forms[0];
	struct gb_secret_texts cases[15];
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		cases[i] = texts();
	cases[0].name = GB_STR("");
	cases[1].name = (struct gb_str){longer, GB_SECRET_BOUND_NAME_MAX + 1};
	cases[2].hosts = GB_STR("");
	cases[3].hosts = GB_STR("a.example,");
	cases[4].hosts = GB_STR("GET a.example/x");
	cases[5].header = GB_STR("Host: {}");
	cases[6].header = GB_STR("a: b");
	cases[7].placeholder = GB_STR("short");
	cases[8].placeholder = (struct gb_str){longer, GB_PLACEHOLDER_MAX + 1};
	cases[9].placeholder = GB_STR("glovebox secret with spaces in it");
	cases[10].n_forms = 0;
	cases[11].forms = &bad_value;
	cases[11].n_forms = 1;
	cases[12].forms = long_forms;
	cases[13].forms = empty_forms;
	cases[14].forms = many;
	cases[14].n_forms = GB_COUNT(many);
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		if (!CHECK(!reads(&cases[i])))
			printf("# case %zu\n", i);
}

TEST(headers_are_parsed) {
	static const struct {
		const char *text, *name, *before, *after;
	} good[] = {
	    {"authorization: Bearer {}", "authorization", "Bearer ", ""},
	    {"X-Key:{}", "X-Key", "", ""},
	    {"x-key:   {}", "x-key", "", ""},
	    {"Authorization: Token token=\"{}\"", "Authorization", "Token token=\"", "\""},
	    {"a: b:{}:c", "a", "b:", ":c"},
	};
	static const char *const bad[] = {"", "{}", "a", "a: b", ": {}", "a b: {}", "a\t: {}", "a: {}{}",
	    "a: {} {}", "a: {}\r\nb: c", "a: {}\n", "a: \x01{}", "a: {} ", "host: {}", "HOST: {}",
	    "Content-Length: {}", "transfer-encoding: {}", "Connection: {}", "te: {}", "upgrade: {}",
	    "accept-encoding: {}", "a\x80: {}"};
	struct gb_str name, before, after;
	const char *problem;
	for (size_t i = 0; i < GB_COUNT(good); i++) {
		if (!CHECK(
			gb_secret_header_parse(gb_str_from(good[i].text), &name, &before, &after, &problem)))
			continue;
		CHECK(gb_str_eq(name, gb_str_from(good[i].name)));
		CHECK(gb_str_eq(before, gb_str_from(good[i].before)));
		CHECK(gb_str_eq(after, gb_str_from(good[i].after)));
	}
	for (size_t i = 0; i < GB_COUNT(bad); i++)
		if (!CHECK(!gb_secret_header_parse(gb_str_from(bad[i]), &name, &before, &after, &problem) &&
			   problem))
			printf("# '%s'\n", bad[i]);
}

TEST(values_that_no_header_can_have_are_refused) {
	const char *problem;
	CHECK(gb_secret_value_check(GB_STR("sk-1 2/=\xc3\xbc"), &problem));
	static const char *const bad[] = {"", "a\nb", "a\rb", "\x7f", " a", "a "};
	for (size_t i = 0; i < GB_COUNT(bad); i++)
		CHECK(!gb_secret_value_check(gb_str_from(bad[i]), &problem) && problem);
	CHECK(!gb_secret_value_check((struct gb_str){"a\0b", 3}, &problem));
}

/* --- requests --- */

static struct {
	struct gb_secret_order order;
	struct gb_buf bytes;
	const struct gb_bound_secret *list[1];
} one;

static struct gb_rewrite rewrite_to(struct gb_host *host, const char *name, uint16_t port, bool tls) {
	const struct gb_secret_texts from = texts();
	const char *problem;
	gb_buf_finish(&one.bytes);
	write_order(&one.bytes, &from);
	CHECK(gb_secret_order_read(one.bytes.data, one.bytes.len, &one.order));
	CHECK(gb_host_parse(gb_str_from(name), host, &problem));
	one.list[0] = &one.order.bound;
	return (struct gb_rewrite){
	    .host = host, .port = port, .tls = tls, .secrets = one.list, .n_secrets = 1};
}

/* What is sent of the request @text; NULL if it is refused for the reason *ret. */
static const char *rewritten(const char *name, uint16_t port, bool tls, const char *text, struct gb_buf *out,
    char refusal[GB_REFUSAL_MAX]) {
	struct gb_host host;
	struct gb_http http;
	size_t n;
	const struct gb_rewrite how = rewrite_to(&host, name, port, tls);
	gb_http_init(&http, &host, port);
	http.tls = tls;
	gb_buf_clear(out);
	if (!CHECK_INT(gb_http_step(&http, text, strlen(text), &n), GB_HTTP_HEAD))
		return "?";
	return gb_rewrite_head(&how, &http, (struct gb_str){text, n}, (struct gb_str){0}, out, refusal)
		   ? gb_buf_c_str(out)
		   : NULL;
}

TEST(a_placeholder_is_replaced_in_its_header_only) {
	char refusal[GB_REFUSAL_MAX];
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 4096);
	CHECK_STR(rewritten("a.example", 443, true,
		      "GET /x?y HTTP/1.1\r\nHost: a.example\r\nx-key: t " PLACEHOLDER
		      ".\r\nAccept-Encoding: gzip\r\n"
		      "Range: bytes=0-1\r\n\r\n",
		      &out, refusal),
	    "GET /x?y HTTP/1.1\r\nHost: a.example\r\nx-key: t value-1234.\r\nAccept-Encoding: "
	    "identity\r\n\r\n");
	CHECK_STR(rewritten("c.b.example", 8443, true,
		      "GET / HTTP/1.1\r\nHost: c.b.example:8443\r\nX-KEY: t " PLACEHOLDER ".\r\n\r\n", &out,
		      refusal),
	    "GET / HTTP/1.1\r\nHost: c.b.example:8443\r\nX-KEY: t value-1234.\r\nAccept-Encoding: "
	    "identity\r\n\r\n");
	CHECK_STR(rewritten("d.example", 443, true,
		      "GET / HTTP/1.1\r\nHost: d.example\r\nX-Key: own\r\nAccept-Encoding: gzip\r\n\r\n",
		      &out, refusal),
	    "GET / HTTP/1.1\r\nHost: d.example\r\nX-Key: own\r\nAccept-Encoding: gzip\r\n\r\n");
	static const struct {
		const char *host;
		uint16_t port;
		bool tls;
		const char *text, *reason;
	} refused[] = {
	    {"d.example", 443, true, "GET / HTTP/1.1\r\nHost: d.example\r\nX-Key: t " PLACEHOLDER ".\r\n\r\n",
		"to another host"},
	    {"b.example", 8443, true,
		"GET / HTTP/1.1\r\nHost: b.example:8443\r\nX-Key: t " PLACEHOLDER ".\r\n\r\n",
		"to another host"},
	    {"a.example", 8443, true,
		"GET / HTTP/1.1\r\nHost: a.example:8443\r\nX-Key: t " PLACEHOLDER ".\r\n\r\n",
		"to another host"},
	    {"a.example", 80, false, "GET / HTTP/1.1\r\nHost: a.example\r\nX-Key: t " PLACEHOLDER ".\r\n\r\n",
		"without TLS"},
	    {"a.example", 443, true,
		"GET / HTTP/1.1\r\nHost: a.example\r\nX-Key2: t " PLACEHOLDER ".\r\n\r\n",
		"in another header"},
	    {"a.example", 443, true, "GET / HTTP/1.1\r\nHost: a.example\r\nX-Key: " PLACEHOLDER "\r\n\r\n",
		"another text around it"},
	    {"a.example", 443, true,
		"GET / HTTP/1.1\r\nHost: a.example\r\nX-Key: t " PLACEHOLDER PLACEHOLDER ".\r\n\r\n",
		"another text around it"},
	    {"a.example", 443, true, "GET / HTTP/1.1\r\nHost: a.example\r\n" PLACEHOLDER ": x\r\n\r\n",
		"name of a header"},
	    {"a.example", 443, true, "GET /" PLACEHOLDER " HTTP/1.1\r\nHost: a.example\r\n\r\n",
		"in the address"},
	    {"a.example", 443, true, "GET /?" PLACEHOLDER " HTTP/1.1\r\nHost: a.example\r\n\r\n",
		"in the address"},
	};
	for (size_t i = 0; i < GB_COUNT(refused); i++) {
		CHECK(!rewritten(
		    refused[i].host, refused[i].port, refused[i].tls, refused[i].text, &out, refusal));
		if (!CHECK(strstr(refusal, refused[i].reason) != NULL))
			printf("# %zu: %s\n", i, refusal);
		CHECK(!out.len || !memmem(out.data, out.len, "value-1234", 10));
	}
	gb_buf_finish(&one.bytes);
}

TEST(a_placeholder_in_a_body_is_found_wherever_it_is_cut) {
	static const char text[] = "some bytes before " PLACEHOLDER " and after";
	struct gb_host host;
	char refusal[GB_REFUSAL_MAX];
	const struct gb_rewrite how = rewrite_to(&host, "a.example", 443, true);
	for (size_t piece = 1; piece < sizeof text; piece++) {
		struct gb_placeholder_tail tail = {0};
		bool found = false;
		for (size_t at = 0; at < sizeof text - 1 && !found; at += piece) {
			const size_t left = sizeof text - 1 - at;
			found =
			    !gb_rewrite_body(&how, &tail, text + at, left < piece ? left : piece, refusal);
		}
		CHECK(found && strstr(refusal, "in the body"));
	}
	struct gb_placeholder_tail tail = {0};
	CHECK(gb_rewrite_body(&how, &tail, PLACEHOLDER, strlen(PLACEHOLDER) - 1, refusal));
	CHECK(gb_rewrite_body(&how, &tail, "0", 1, refusal));
	gb_buf_finish(&one.bytes);
}

TEST(secrets_in_answers_are_masked_wherever_they_are_cut) {
	static const char text[] =
	    "value-123 value-1234 76616c75652d31323334 value-value-1234value-1234 value-1",
			  expected[] =
			      "value-123 ********** ******************** value-******************** value-1";
	for (size_t piece = 1; piece < sizeof text; piece++) {
		struct gb_echo echo = {.forms = forms, .n_forms = GB_COUNT(forms)};
		gb_auto_buf struct gb_buf out;
		gb_buf_init(&out, 4096);
		for (size_t at = 0; at < sizeof text - 1; at += piece) {
			const size_t left = sizeof text - 1 - at;
			gb_echo_feed(&echo, text + at, left < piece ? left : piece, &out);
		}
		gb_echo_end(&echo, &out);
		CHECK_STR(gb_buf_c_str(&out), expected);
	}
	char head[] = "X: value-1234\r\n";
	gb_echo_mask(forms, GB_COUNT(forms), head, strlen(head));
	CHECK_STR(head, "X: **********\r\n");
}
