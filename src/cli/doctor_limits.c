/* Which limits 'glovebox doctor' cannot find anything to enforce by. docs/THREATS.md has the whole table. */
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "sandbox/linux/cgroup.h"

static const char *const not_bounded[] = {
    "memory of all cells together",
    "memory that programs take between two looks of their keeper, 20 ms apart, below the run's memory and 1 "
    "GiB "
    "for each process",
    "epoll watches and pages in pipes of a single cell: the kernel counts them for all cells of the user "
    "together",
};

static int find_version(void) {
	struct gb_cgroup *group = NULL;
	const struct gb_cgroup_limits limits = {.memory_bytes = 64 << 20, .processes = 64, .cells = true};
	int version = gb_cgroup_create(&limits, &group, NULL) ? gb_cgroup_version(group) : 0;
	gb_cgroup_destroy(group);
	return version;
}

void limits_say(bool json) {
	const int version = find_version();
	const size_t n = version ? 0 : GB_COUNT(not_bounded);
	if (json)
		printf("\"limits\":{\"cgroupVersion\":%d,\"notBounded\":[", version);
	else if (version)
		printf("Cells with programs have control groups of their own (version %d).\n", version);
	else
		printf(
		    "Cells with programs have no control groups of their own. Not bounded without them:\n");
	for (size_t i = 0; i < n; i++) {
		if (!json) {
			printf("  - %s\n", not_bounded[i]);
			continue;
		}
		printf(i ? "," : "");
		print_json_string(stdout, not_bounded[i]);
	}
	printf(json ? "]}," : "\n");
}
