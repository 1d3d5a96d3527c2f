/* glovebox-egress: makes the connections of cells of the network tier. Started by the host: see egress/client.h. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/accept.h"
#include "egress/process/process.h"
#include "egress/process/tls.h"

struct process gb_process;

static void fail(const char *problem) {
	struct gb_egress_notice notice = {.kind = GB_EGRESS_FAILED};
	snprintf(notice.text, sizeof notice.text, "%s", problem);
	control_send(&notice, NULL, 0);
	_exit(1);
}

static void raise_file_limit(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Each cell has its secrets in locked memory of its own. Without privileges, as much as the host may lock. */
static void raise_lock_limit(void) {
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit limit;
	if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 && getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_MEMLOCK, &limit);
	}
}

static void tick(void) {
	const uint64_t now = now_ms();
	gb_list_each(struct cell, cell, &gb_process.all_cells, link) {
		flow_tick(cell, now);
		if (cell->channel)
			channel_close_idle(cell->channel, now);
	}
	resolve_tick();
}

static void serve(void) {
	uint64_t next = now_ms() + TICK_MS;
	while (!gb_process.stop) {
		const bool busy = gb_process.n_flows || resolve_is_busy();
		const uint64_t now = now_ms();
		if (busy && now >= next) {
			tick();
			next = now + TICK_MS;
		}
		channels_tick(now);
		const uint64_t wanted = channels_deadline(), until = busy && next < wanted ? next : wanted;
		gb_loop_dispatch(&gb_process.loop, until == UINT64_MAX ? -1
						   : until > now       ? (int)(until - now)
								       : 0);
	}
}

int main(int argc, char **argv) {
	const char *problem = NULL;
	struct gb_err err = {0};
	struct process *process = &gb_process;
	signal(SIGPIPE, SIG_IGN);
	raise_file_limit();
	raise_lock_limit();
	gb_list_init(&process->all_cells);
	process->uid = getuid();
	process->sockets_file = open("/proc/net/unix", O_RDONLY | O_CLOEXEC);
	if (!gb_loop_init(&process->loop, &err))
		fail(err.message);
	if (!control_init(&problem) || !resolve_init(&problem) ||
	    !tls_init(argc > 1 ? argv[1] : NULL, &problem) || !transfer_init(&problem))
		fail(problem);
	process->reserve_fd = gb_accept_reserve();
	if (process->reserve_fd < 0)
		fail("open a socket");
	if (process->sockets_file < 0)
		fail("open /proc/net/unix");
	problem = wall_raise();
	if (problem)
		fail(problem);
	control_send(&(struct gb_egress_notice){.kind = GB_EGRESS_READY}, NULL, 0);
	serve();
	return 0;
}
