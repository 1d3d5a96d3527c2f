/* Reports of progress, for requests that have asked for them. */
#include <stdio.h>

#include "base/io.h"
#include "mcp/conversation.h"

enum { TEXT_MAX = 16 << 10, MS_NS = 1000000 };

static uint64_t interval_ns(const struct gb_mcp *mcp) {
	return mcp->config->mcp.heartbeat_ms * MS_NS;
}

/* A long text is reported by its end: the result has all of it. */
void gb_mcp_report(struct gb_mcp_request *request, struct gb_str text) {
	struct gb_mcp *mcp = request->mcp;
	request->beat_at = gb_now_ns() + interval_ns(mcp);
	if (!request->token || (mcp->options.is_behind && mcp->options.is_behind(mcp->options.data)))
		return;
	size_t skipped = text.n > TEXT_MAX ? text.n - TEXT_MAX : 0;
	while (skipped < text.n && ((unsigned char)text.p[skipped] & 0xc0) == 0x80)
		skipped++;
	struct gb_buf *out = &mcp->out;
	gb_buf_clear(out);
	gb_buf_printf(out,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,"
	    "\"progress\":%llu",
	    request->token, (unsigned long long)++request->progress);
	gb_mcp_text(out, "message", (struct gb_str){text.p + skipped, text.n - skipped});
	gb_buf_append(out, "}}", 2);
	gb_mcp_send(mcp, request);
}

static void beat(struct gb_mcp_request *request) {
	const struct gb_mcp_run *run = request->run;
	char text[160];
	if (run && *run->approval)
		snprintf(text, sizeof text, "waiting for approval %.8s: glovebox approvals show %.8s",
		    run->approval, run->approval);
	else
		snprintf(text, sizeof text, "running for %llu s",
		    (unsigned long long)((gb_now_ns() - (run ? run->began : gb_now_ns())) / 1000000000));
	gb_mcp_report(request, gb_str_from(text));
}

void gb_mcp_work(struct gb_mcp *mcp) {
	uint64_t now = gb_now_ns();
	gb_list_each(struct gb_mcp_request, request, &mcp->requests, link) {
		if (request->token && request->beat_at <= now)
			beat(request);
	}
}

int gb_mcp_timeout(const struct gb_mcp *mcp) {
	uint64_t now = gb_now_ns(), first = UINT64_MAX;
	for (const struct gb_list *link = mcp->requests.next; link != &mcp->requests; link = link->next) {
		const struct gb_mcp_request *request = gb_container(struct gb_mcp_request, link, link);
		if (request->token && request->beat_at < first)
			first = request->beat_at;
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / MS_NS) + 1;
}
