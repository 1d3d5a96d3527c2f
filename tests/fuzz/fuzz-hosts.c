/* A rule that was read and written again is the same rule, and covers itself. */
#include "fuzz.h"

#include <string.h>

#include "egress/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_host_rule rule, again;
	const char *problem = NULL;
	char text[GB_HOST_RULE_MAX + 1], twice[GB_HOST_RULE_MAX + 1];
	if (!gb_host_rule_parse((struct gb_str){(const char *)data, size}, &rule, &problem)) {
		ALWAYS(problem);
		return 0;
	}
	gb_host_rule_write(&rule, text, sizeof text);
	ALWAYS(strlen(text) < GB_HOST_RULE_MAX);
	ALWAYS(gb_host_rule_parse(gb_str_from(text), &again, &problem));
	gb_host_rule_write(&again, twice, sizeof twice);
	ALWAYS(strcmp(text, twice) == 0);
	ALWAYS(gb_host_rules_cover(&rule, 1, &again));
	ALWAYS(rule.below || gb_host_rule_is_about(&rule, &again.host));
	return 0;
}
