#include "egress/record.h"

const char *gb_egress_verdict_name(enum gb_egress_verdict verdict) {
	static const char *const names[] = {"allowed", "denied", "failed"};
	return (unsigned)verdict < GB_EGRESS_VERDICTS ? names[verdict] : "?";
}
