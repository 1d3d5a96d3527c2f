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
	    "https://example.com", "example.com/path", "user@example.com", "example.com:", "example.com:0",
	    "example.com:65536", "example.com:080", "example.com:80:80", "example.com:http", "a..b", ".a",
	    "a. b", "-a.b", "a-.b",
	    "b\xc3\xbc"
	    "cher.example",
	    "127.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "a.1",
	    "::ffff:127.0.0.1", "[::ffff:7f00:1]", "[::1", "::1]", "[example.com]", "[fe80::1%lo]",
	    "localhost", "LOCALHOST:80", "db.localhost", "localhost.", "*.a.localhost", "a\nb.com",
	    "a123456789012345678901234567890123456789012345678901234567890123.com"};
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
