/* Prints which limits cannot be enforced on this machine. docs/THREATS.md has the complete table. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/doctor.h"

static void print_json(const struct gb_port_facts *limits) {
	printf("\"limits\":{");
	facts_print(limits);
	printf("\"notBounded\":[");
	for (size_t i = 0; i < limits->n_not_bounded; i++) {
		printf(i ? "," : "");
		print_json_string(stdout, limits->not_bounded[i]);
	}
	printf("]},");
}

void limits_print(bool json) {
	struct gb_port_facts limits;
	gb_port_limits(&limits);
	if (json) {
		print_json(&limits);
		return;
	}
	printf("%s\n", limits.text);
	for (size_t i = 0; i < limits.n_not_bounded; i++)
		printf("  - %s\n", limits.not_bounded[i]);
	printf("\n");
}
