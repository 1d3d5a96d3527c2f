/* Node.js in the sandbox, compared to node -e. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/workers.h"
#include "runs/bench.h"

static const struct bench_subject subject = {
    .run = {.source = "1+1", .language = GB_NODE},
    .ready = 1u << GB_NODE,
    .spacing_us = 150000, /* starting Node.js is slow */
};

static void print_table(const struct bench_figures *f) {
	printf("a fresh sandbox running 1+1 in Node.js             p50 ms    p99 ms   ratio\n");
	bench_print_singles(f);
	printf("other ways, same run\n");
	bench_print_peer("node -e 1+1, without a sandbox", f->plain_50, f);
	printf("a live session, x                               %9.3f %9.3f\n", f->live_50 / 1e3,
	    f->live_99 / 1e3);
}

static void print_json(const struct bench_figures *f) {
	bench_print_json(f);
	printf(",\"nodeMs\":%.4f,\"ratios\":{\"nodeToPooled\":%.1f}}\n", f->plain_50 / 1e3,
	    f->plain_50 / f->pooled_50);
}

static bool find_node(char ret[PATH_MAX]) {
	static const char *const places[] = {"/usr/bin/node", "/usr/local/bin/node"};
	for (size_t i = 0; i < GB_COUNT(places); i++)
		if (access(places[i], X_OK) == 0) {
			snprintf(ret, PATH_MAX, "%s", places[i]);
			return true;
		}
	return false;
}

bool bench_node(const struct bench_asked *asked, struct gb_err *err) {
	struct bench_figures figures = {0};
	struct bench_subject here = subject;
	char node[PATH_MAX];
	/* This program runs outside the sandbox, so it is not taken from settings or PATH. */
	bool found = find_node(node);
	const char *const plain[] = {node, "-e", "1+1", NULL};
	size_t n = asked->quick ? 20 : 100;
	const struct bench_peers peers = {found ? plain : NULL, NULL, n / 2};
	here.config = asked->config;
	pin_to(cpu_number(0));
	bench_progress("a session");
	bool ok = bench_live(&here, "let x = 5", "x", asked->quick ? 200 : 1000, &figures, err);
	bench_progress("single runs, and node -e");
	ok = ok && bench_beside(&here, &peers, n, &figures, err);
	bench_progress(NULL);
	if (ok && found && !figures.plain_50)
		return gb_fail(err, GB_ESYSTEM, 0, "'%s -e 1+1' does not work here", node);
	if (ok)
		(asked->json ? print_json : print_table)(&figures);
	return ok;
}
