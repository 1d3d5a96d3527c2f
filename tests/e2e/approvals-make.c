/*
 * Requests for approvals.sh.
 *
 *	approvals-make DIR submit RUNTIME CONVERSATION [PURPOSE]	code on standard input; prints the id
 *	approvals-make DIR use ID RUNTIME CONVERSATION			the same code again; prints the outcome
 *	approvals-make DIR trusted RUNTIME CONVERSATION			prints yes or no
 */
#include "approvals.h"
#include "base/io.h"

static int fail(const struct gb_err *err) {
	fprintf(stderr, "%s\n", err->message);
	return 1;
}

static int submit(struct gb_approvals *approvals, const struct gb_approval_request *request) {
	struct gb_approval_ticket ticket;
	struct gb_err err = {0};
	if (!gb_approval_submit(approvals, request, &ticket, &err))
		return fail(&err);
	puts(ticket.id);
	return 0;
}

static int use(struct gb_approvals *approvals, const char *id, const struct gb_approval_request *request) {
	enum gb_use use;
	struct gb_err err = {0};
	if (!gb_approval_use(approvals, id, request, &use, &err))
		return fail(&err);
	puts(gb_use_name(use));
	return 0;
}

static int find_trust(struct gb_approvals *approvals, const struct gb_approval_request *request) {
	struct gb_trust trust;
	struct gb_err err = {0};
	bool is_trusted;
	if (!gb_trust_find(approvals, request, &is_trusted, &trust, &err))
		return fail(&err);
	puts(is_trusted ? "yes" : "no");
	return 0;
}

int main(int argc, char **argv) {
	struct gb_approvals *approvals;
	struct gb_err err = {0};
	gb_auto_buf struct gb_buf code;
	gb_buf_init(&code, 4 << 20);
	if (argc < 5 || !gb_approvals_open(argv[1], NULL, &approvals, &err))
		return fail(&err);
	bool uses = strcmp(argv[2], "use") == 0, asks = strcmp(argv[2], "trusted") == 0;
	if (!asks && !gb_read_to_end(0, "standard input", &code, &err))
		return fail(&err);
	struct gb_approval_request request = a_request("");
	request.code = gb_buf_str(&code);
	request.runtime = gb_str_from(argv[3 + uses]);
	request.conversation = gb_str_from(argv[4 + uses]);
	if (argc > 5 && !uses)
		request.purpose = gb_str_from(argv[5]);
	int status = asks   ? find_trust(approvals, &request)
		     : uses ? use(approvals, argv[3], &request)
			    : submit(approvals, &request);
	gb_approvals_close(approvals);
	return status;
}
