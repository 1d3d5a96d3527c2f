/* An order with a secret is read within its bounds. With a good one, a request that is sent has no placeholder, and the
 * value only if its host gets it; an answer has the value nowhere. */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "egress/echo.h"
#include "egress/rewrite.h"
#include "egress/secret.h"

#define VALUE       "value-1234"
#define PLACEHOLDER "glovebox-secret-a-00112233445566778899aabbccddeeff"

static bool is_within(struct gb_str text, const uint8_t *data, size_t size) {
	return !text.n ||
	       ((const uint8_t *)text.p >= data && (const uint8_t *)text.p + text.n <= data + size);
}

static void check_order(const uint8_t *data, size_t size) {
	static struct gb_secret_order order;
	if (!gb_secret_order_read((const char *)data, size, &order))
		return;
	const struct gb_bound_secret *bound = &order.bound;
	const struct gb_str texts[] = {
	    bound->name, bound->header, bound->before, bound->after, bound->placeholder, bound->value};
	for (size_t i = 0; i < GB_COUNT(texts); i++)
		ALWAYS(is_within(texts[i], data, size));
	for (size_t i = 0; i < bound->n_forms; i++)
		ALWAYS(is_within(bound->forms[i], data, size) && bound->forms[i].n);
	ALWAYS(bound->n_hosts && bound->n_hosts <= GB_SECRET_HOSTS_MAX && bound->n_forms);
	ALWAYS(
	    !memchr(bound->value.p, '\n', bound->value.n) && !memchr(bound->value.p, '\r', bound->value.n));
}

static bool has(const struct gb_buf *text, const char *part) {
	return text->len && memmem(text->data, text->len, part, strlen(part));
}

static void check_request(
    const struct gb_bound_secret *secret, const char *host, const char *bytes, size_t n) {
	struct gb_host named;
	const char *problem;
	char refusal[GB_REFUSAL_MAX];
	struct gb_http http;
	size_t used;
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1 << 20);
	ALWAYS(gb_host_parse(gb_str_from(host), &named, &problem));
	const struct gb_rewrite how = {
	    .host = &named, .port = 443, .tls = true, .secrets = &secret, .n_secrets = 1};
	gb_http_init(&http, &named, 443);
	http.tls = true;
	http.any_host = true;
	if (gb_http_step(&http, bytes, n, &used) != GB_HTTP_HEAD ||
	    !gb_rewrite_head(&how, &http, (struct gb_str){bytes, used}, (struct gb_str){0}, &out, refusal))
		return;
	ALWAYS(!has(&out, PLACEHOLDER));
	ALWAYS(gb_rewrite_is_searched(&how) || !has(&out, VALUE) || memmem(bytes, n, VALUE, strlen(VALUE)));
}

static void check_answer(const struct gb_bound_secret *secret, const uint8_t *data, size_t size) {
	struct gb_echo echo = {.forms = secret->forms, .n_forms = secret->n_forms};
	const size_t first = size ? data[0] % size : 0;
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, size + 1);
	gb_echo_feed(&echo, (const char *)data, first, &out);
	gb_echo_feed(&echo, (const char *)data + first, size - first, &out);
	gb_echo_end(&echo, &out);
	ALWAYS(out.len == size && !has(&out, VALUE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct gb_secret_order order;
	static struct gb_buf bytes;
	static const struct gb_str forms[] = {GB_STR(VALUE)};
	const struct gb_secret_texts texts = {.name = GB_STR("a"),
	    .hosts = GB_STR("a.example"),
	    .header = GB_STR("X-Key: {}"),
	    .placeholder = GB_STR(PLACEHOLDER),
	    .forms = forms,
	    .n_forms = 1};
	if (!bytes.len) {
		gb_buf_init(&bytes, 4096);
		gb_secret_order_write(&bytes, &texts);
		ALWAYS(gb_secret_order_read(bytes.data, bytes.len, &order));
	}
	check_order(data, size);
	check_request(&order.bound, "a.example", (const char *)data, size);
	check_request(&order.bound, "b.example", (const char *)data, size);
	check_answer(&order.bound, data, size);
	return 0;
}
