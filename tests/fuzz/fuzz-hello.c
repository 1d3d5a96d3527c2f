/* A verdict on the beginning of a connection does not change when more bytes arrive. */
#include "fuzz.h"

#include <string.h>

#include "egress/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct gb_hello hello, whole;
	const enum gb_hello_status last = gb_hello_read(data, size, &whole);
	if (size > 2048)
		return 0;
	for (size_t n = 0; n < size; n++) {
		const enum gb_hello_status status = gb_hello_read(data, n, &hello);
		ALWAYS(status == GB_HELLO_MORE || status == last);
		ALWAYS(status != GB_HELLO_COMPLETE || strcmp(hello.name, whole.name) == 0);
	}
	return 0;
}
