#include "../tap.h"
#include "base/cleanup.h"
#include "egress/address.h"
#include "egress/rules.h"
#include <arpa/inet.h>

static bool parse(const char *text, struct gb_host_rule *ret, const char **ret_problem) {
	return gb_host_rule_parse(gb_str_from(text), ret, ret_problem);
}

TEST(rules_are_normalised) {
	static const struct {
		const char *text, *normal;
	} cases[] = {
	    {"api.example.com", "api.example.com"},
	    {"API.Example.COM.", "api.example.com"},
	    {"*.Example.com", "*.example.com"},
	    {"db.internal:5432", "db.internal:5432"},
	    {"*.example.com:8443", "*.example.com:8443"},
	    {"intranet", "intranet"},
	    {"xn--bcher-kva.example", "xn--bcher-kva.example"},
	    {"_dmarc.example.com", "_dmarc.example.com"},
	    {"10.1.2.3", "10.1.2.3"},
	    {"127.0.0.1:8080", "127.0.0.1:8080"},
	    {"[::1]:8080", "[::1]:8080"},
	    {"::1", "[::1]"},
	    {"[2001:DB8:0::1]", "[2001:db8::1]"},
	    {"a1.2b", "a1.2b"},
	    {"GET api.example.com", "GET api.example.com"},
	    {"HEAD,GET API.example.com:8443/v1/*", "GET,HEAD api.example.com:8443/v1/*"},
	    {"example.com/a/./b/../%7euser/%c3%a9/*/x", "example.com/a/~user/%C3%A9/*/x"},
	    {"POST [::1]:80/", "POST [::1]:80/"},
	    {"*.example.com/*", "*.example.com/*"},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct gb_host_rule rule;
		const char *problem = "";
		char text[GB_HOST_RULE_MAX + 1];
		if (!CHECK(parse(cases[i].text, &rule, &problem))) {
			printf("# %s: %s\n", cases[i].text, problem);
			continue;
		}
		gb_host_rule_write(&rule, text, sizeof text);
		CHECK_STR(text, cases[i].normal);
	}
}

TEST(rules_that_are_not_exactly_a_host_are_refused) {
	static const char *const cases[] = {"", ".", "*", "*.", "*.com", "*example.com", "a.*.com",
	    "https://example.com", "user@example.com", "example.com:", "example.com:0", "example.com:65536",
	    "example.com:080", "example.com:80:80", "example.com:http", "a..b", ".a", "a. b", "-a.b", "a-.b",
	    "b\xc3\xbc"
	    "cher.example",
	    "127.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "a.1",
	    "::ffff:127.0.0.1", "[::ffff:7f00:1]", "[::1", "::1]", "[example.com]", "[fe80::1%lo]",
	    "localhost", "LOCALHOST:80", "db.localhost", "localhost.", "*.a.localhost", "a\nb.com",
	    "a123456789012345678901234567890123456789012345678901234567890123.com", "GET", "GET ", "GET,",
	    "get example.com", "GET, example.com", "GET,HEAD", "GET,,HEAD example.com", "CONNECT example.com",
	    "GET  example.com", "GET /v1", "/v1", "GET HEAD example.com", "example.com/v1*",
	    "example.com/a?b", "example.com/..", "example.com//a", "example.com/a%2fb", "example.com/%zz",
	    "example.com/a b", "example.com/#a", "example.com/a\\b"};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		struct gb_host_rule rule;
		const char *problem = NULL;
		if (!CHECK(!parse(cases[i], &rule, &problem) && problem))
			printf("# %s\n", cases[i]);
	}
	struct gb_host_rule rule;
	const char *problem = NULL;
	CHECK(!gb_host_rule_parse(GB_STR("a.com\0.b.com"), &rule, &problem));
}

static bool admits(const char *text, const char *name, uint16_t port) {
	struct gb_host_rule rule;
	struct gb_host host;
	const char *problem;
	return CHECK(parse(text, &rule, &problem)) && gb_host_parse(gb_str_from(name), &host, &problem) &&
	       gb_host_rule_admits(&rule, &host, port);
}

TEST(a_rule_admits_its_host_at_its_ports) {
	CHECK(admits("example.com", "example.com", 80) && admits("example.com", "EXAMPLE.com.", 443));
	CHECK(!admits("example.com", "example.com", 8080) && !admits("example.com", "example.com", 22));
	CHECK(!admits("example.com", "a.example.com", 443) && !admits("example.com", "xexample.com", 443));
	CHECK(admits("example.com:8443", "example.com", 8443) &&
	      !admits("example.com:8443", "example.com", 443));
	CHECK(
	    admits("*.example.com", "a.example.com", 443) && admits("*.example.com", "a.b.example.com", 443));
	CHECK(!admits("*.example.com", "example.com", 443) && !admits("*.example.com", "aexample.com", 443));
	CHECK(admits("10.0.0.1", "10.0.0.1", 80) && !admits("10.0.0.1", "10.0.0.2", 80));
	CHECK(admits("[::1]:5", "0:0::1", 5) && !admits("[::1]:5", "::2", 5));
	CHECK(!admits("*.example.com", "", 443) && !admits("*.example.com", ".example.com", 443));
}

static bool covers(const char *const *outer, size_t n, const char *inner) {
	struct gb_host_rule rules[4], rule;
	const char *problem;
	for (size_t i = 0; i < n; i++)
		CHECK(parse(outer[i], &rules[i], &problem));
	return CHECK(parse(inner, &rule, &problem)) && gb_host_rules_cover(rules, n, &rule);
}

TEST(a_run_can_only_narrow_an_allowlist) {
	static const char *const list[] = {"*.example.com", "db.test:5432", "api.test:80", "api.test:443"};
	CHECK(covers(list, 4, "a.example.com") && covers(list, 4, "a.example.com:443"));
	CHECK(covers(list, 4, "*.example.com") && covers(list, 4, "*.b.example.com"));
	CHECK(covers(list, 4, "db.test:5432") && covers(list, 4, "api.test"));
	CHECK(!covers(list, 4, "example.com") && !covers(list, 4, "a.example.com:8443"));
	CHECK(!covers(list, 4, "db.test") && !covers(list, 4, "*.test.com") && !covers(list, 3, "api.test"));
	CHECK(!covers(list, 4, "127.0.0.1:80") && !covers(list, 0, "api.test"));
}

static const char *special(const char *text) {
	struct sockaddr_storage address = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&address;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;
	address.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	void *at = strchr(text, ':') ? (void *)&in6->sin6_addr : (void *)&in->sin_addr;
	CHECK(inet_pton(address.ss_family, text, at) == 1);
	return gb_address_special((const struct sockaddr *)&address);
}

TEST(addresses_that_are_not_of_public_hosts_are_special) {
	static const char *const bad[] = {"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255",
	    "127.0.0.1", "127.255.255.255", "169.254.169.254", "169.254.0.1", "172.16.0.1", "172.31.255.255",
	    "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
	    "203.0.113.5", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1",
	    "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "fe80::1", "febf::1", "fc00::1",
	    "fd00:ec2::254", "ff02::1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:2::1",
	    "2001:db8::1", "2001:10::1", "2002:7f00:1::1", "3fff::1", "4000::1", "fec0::1"};
	static const char *const good[] = {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1",
	    "100.63.255.255", "100.128.0.1", "126.1.1.1", "128.0.0.1", "169.253.1.1", "172.15.1.1",
	    "172.32.0.1", "192.0.1.1", "192.167.1.1", "198.17.1.1", "198.20.0.1", "223.255.255.255",
	    "2606:4700::1111", "2001:4860::8888", "2a00::1", "2003::1"};
	for (size_t i = 0; i < GB_COUNT(bad); i++)
		if (!CHECK(special(bad[i]) != NULL))
			printf("# %s\n", bad[i]);
	for (size_t i = 0; i < GB_COUNT(good); i++)
		if (!CHECK(special(good[i]) == NULL))
			printf("# %s\n", good[i]);
	CHECK_STR(special("169.254.169.254"), "metadata");
	CHECK_STR(special("168.63.129.16"), "metadata");
	CHECK(!special("168.63.129.17"));
	CHECK_STR(special("::ffff:1.1.1.1"), "mapped");
}

TEST(a_path_is_normalised_or_refused) {
	static const struct {
		const char *target, *normal; /* NULL: refused */
	} cases[] = {
	    {"/", "/"},
	    {"/?a=/../b", "/"},
	    {"/v1/models?x=1", "/v1/models"},
	    {"/v1/./a/../b/", "/v1/b/"},
	    {"/v1/..", "/"},
	    {"/v1/.", "/v1/"},
	    {"/v1/%2e%2E/admin", "/admin"},
	    {"/%41%62%7e%2d", "/Ab~-"},
	    {"/%3a%20%c3%a9", "/%3A%20%C3%A9"},
	    {"/a:b@c;d=e,f", "/a:b@c;d=e,f"},
	    {"/.../..a/.b", "/.../..a/.b"},
	    {"/100%25", "/100%25"},
	    {"/v1/../../admin", NULL},
	    {"/..", NULL},
	    {"/v1//admin", NULL},
	    {"//v1", NULL},
	    {"/v1/%2fadmin", NULL},
	    {"/v1/..%2fadmin", NULL},
	    {"/v1/..%5cadmin", NULL},
	    {"/v1/..\\admin", NULL},
	    {"/v1/%252e%252e/admin", NULL},
	    {"/v1/%252fadmin", NULL},
	    {"/v1/%25%32%65./admin", NULL},
	    {"/v1/..;/admin", NULL},
	    {"/v1/..%3b/admin", NULL},
	    {"/v1/.;x/admin", NULL},
	    {"/v1/%00", NULL},
	    {"/v1/%0a", NULL},
	    {"/v1/%", NULL},
	    {"/v1/%4", NULL},
	    {"/v1/%g0", NULL},
	    {"/v1/\xc3\xa9", NULL},
	    {"/v1#a", NULL},
	    {"v1", NULL},
	    {"", NULL},
	    {"*", NULL},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++) {
		char to[64];
		struct gb_str path = {0};
		const char *problem = NULL;
		const bool ok =
		    gb_path_normalise(gb_str_from(cases[i].target), to, sizeof to, &path, &problem);
		if (!CHECK(ok == (cases[i].normal != NULL) &&
			   (ok ? gb_str_eq(path, gb_str_from(cases[i].normal)) : problem != NULL)))
			printf("# %s: %.*s %s\n", cases[i].target, GB_STR_ARG(path), problem ? problem : "");
	}
}

TEST(a_path_that_does_not_fit_is_refused) {
	char to[8];
	struct gb_str path;
	const char *problem = NULL;
	CHECK(gb_path_normalise(GB_STR("/1234567"), to, sizeof to, &path, &problem) && path.n == 8);
	CHECK(!gb_path_normalise(GB_STR("/12345678"), to, sizeof to, &path, &problem) && problem);
	CHECK(!gb_path_normalise(GB_STR("/12345%3a"), to, sizeof to, &path, &problem));
}

TEST(a_pattern_matches_whole_segments) {
	static const struct {
		const char *pattern, *path;
		bool matches;
	} cases[] = {
	    {"/v1/*", "/v1/models", true},
	    {"/v1/*", "/v1/a/b/c", true},
	    {"/v1/*", "/v1/", true},
	    {"/v1/*", "/v1", false},
	    {"/v1/*", "/v10/a", false},
	    {"/v1", "/v1", true},
	    {"/v1", "/v1/", false},
	    {"/v1", "/V1", false},
	    {"/*", "/", true},
	    {"/*", "/a/b", true},
	    {"/", "/", true},
	    {"/", "/a", false},
	    {"/repos/*/issues", "/repos/x/issues", true},
	    {"/repos/*/issues", "/repos//issues", false},
	    {"/repos/*/issues", "/repos/x/y/issues", false},
	    {"/repos/*/issues/*", "/repos/x/issues/1", true},
	    {"/v1/a", "/v1/*", false},
	};
	for (size_t i = 0; i < GB_COUNT(cases); i++)
		if (!CHECK(gb_path_matches(cases[i].pattern, gb_str_from(cases[i].path)) == cases[i].matches))
			printf("# %s %s\n", cases[i].pattern, cases[i].path);
}

static const char *match(const char *const *texts, size_t n, const char *url, const char *method) {
	static char shown[GB_HOST_RULE_MAX + 1];
	struct gb_host_rule rules[4];
	struct gb_host host;
	const char *problem = NULL, *at = strstr(url, "://") + 3;
	const bool tls = strncmp(url, "https", 5) == 0;
	const char *slash = strchr(at, '/'), *colon = strchr(at, ':');
	const char *end = colon && colon < slash ? colon : slash;
	for (size_t i = 0; i < n; i++)
		CHECK(parse(texts[i], &rules[i], &problem));
	CHECK(gb_host_parse((struct gb_str){at, (size_t)(end - at)}, &host, &problem));
	const struct gb_host_request request = {.host = &host,
	    .port = (uint16_t)(end == colon ? atoi(colon + 1)
			       : tls        ? 443
					    : 80),
	    .tls = tls,
	    .method = gb_str_from(method),
	    .target = gb_str_from(slash)};
	const struct gb_host_rule *rule = gb_host_rules_match(rules, n, &request, &problem);
	if (!rule)
		return CHECK(problem) ? NULL : "";
	gb_host_rule_write(rule, shown, sizeof shown);
	return shown;
}

TEST(a_list_is_cut_between_hosts) {
	static const char *const rules[] = {"a.test", "GET,HEAD b.test/x", "", "POST", ""};
	struct gb_str list = GB_STR("a.test,GET,HEAD b.test/x,,POST"), rule;
	for (size_t i = 0; i < 4; i++) {
		CHECK(gb_host_rule_cut(&list, &rule) == (i < 3));
		CHECK(gb_str_eq(rule, gb_str_from(rules[i])));
	}
}

TEST(a_request_is_admitted_by_method_and_path) {
	static const char *const list[] = {
	    "GET,HEAD api.example.com/v1/*", "POST api.example.com/v1/chat", "*.example.com:8443/x"};
	CHECK_STR(match(list, 3, "https://api.example.com/v1/models?x=/../", "GET"), list[0]);
	CHECK_STR(match(list, 3, "http://api.example.com/v1/%6dodels", "HEAD"), list[0]);
	CHECK_STR(match(list, 3, "https://api.example.com/v1/./chat", "POST"), list[1]);
	CHECK_STR(match(list, 3, "https://api.example.com:8443/x", "BREW"), list[2]);
	CHECK_STR(match(list, 3, "http://api.example.com:8443/x", "GET"), list[2]);
	CHECK(!match(list, 3, "https://api.example.com/v1/chat/x", "POST"));
	CHECK(!match(list, 3, "https://api.example.com/v1/models", "DELETE"));
	CHECK(!match(list, 3, "https://api.example.com/v1/models", "get"));
	CHECK(!match(list, 3, "https://api.example.com/v1/models", "GE"));
	CHECK(!match(list, 3, "https://api.example.com/v1/../admin", "GET"));
	CHECK(!match(list, 3, "https://api.example.com/v1/..%2fadmin", "GET"));
	CHECK(!match(list, 3, "https://api.example.com/", "GET"));
	CHECK(!match(list, 3, "https://other.test/v1/models", "GET"));
	CHECK(!match(list, 3, "http://api.example.com:443/v1/models", "GET"));
	CHECK(!match(list, 3, "https://api.example.com:80/v1/models", "GET"));
	static const char *const open[] = {"GET api.test", "api.test:443"};
	CHECK_STR(match(open, 2, "https://api.test/..%2f", "DELETE"), open[1]);
	CHECK_STR(match(open, 2, "https://api.test/..%2f", "GET"), open[0]);
	CHECK(!match(open, 2, "http://api.test/", "DELETE"));
}

TEST(requests_are_read_where_no_rule_admits_all_of_them) {
	static const char *const texts[] = {"GET api.test", "api.test:443", "a.test/x"};
	struct gb_host_rule rules[3];
	struct gb_host api, a, other;
	const char *problem;
	for (size_t i = 0; i < 3; i++)
		CHECK(parse(texts[i], &rules[i], &problem));
	CHECK(gb_host_parse(GB_STR("api.test"), &api, &problem) &&
	      gb_host_parse(GB_STR("a.test"), &a, &problem) &&
	      gb_host_parse(GB_STR("b.test"), &other, &problem));
	CHECK(gb_host_rules_limit_requests(rules, 3, &api, 80));
	CHECK(!gb_host_rules_limit_requests(rules, 3, &api, 443));
	CHECK(gb_host_rules_limit_requests(rules, 3, &a, 443));
	CHECK(!gb_host_rules_limit_requests(rules, 3, &other, 443));
	CHECK(gb_host_rules_find(rules, 3, &a, 443) && !gb_host_rules_find(rules, 3, &other, 443));
}

TEST(a_run_can_narrow_methods_and_paths) {
	static const char *const list[] = {
	    "GET,HEAD api.test/v1/*", "POST api.test/v1/*", "open.test", "GET *.wild.test/a/*/b"};
	static const char *const within[] = {"GET api.test/v1/*", "GET,POST api.test/v1/chat",
	    "GET api.test/v1/*/x", "GET api.test/v1/a/*", "open.test", "POST open.test/x", "open.test/x",
	    "GET x.wild.test/a/c/b", "GET *.wild.test:443/a/*/b"};
	static const char *const beyond[] = {"api.test", "GET api.test", "api.test/v1/*",
	    "GET,DELETE api.test/v1/*", "GET api.test/*", "GET api.test/v1", "GET *.api.test/v1/*",
	    "GET x.wild.test/a/*", "GET x.wild.test/a/c/d", "GET x.wild.test/a/*/*"};
	for (size_t i = 0; i < GB_COUNT(within); i++)
		if (!CHECK(covers(list, 4, within[i])))
			printf("# %s\n", within[i]);
	for (size_t i = 0; i < GB_COUNT(beyond); i++)
		if (!CHECK(!covers(list, 4, beyond[i])))
			printf("# %s\n", beyond[i]);
}
