/* The frames of a stream do not depend on how it is cut. The first byte says how. */
#include "fuzz.h"

#include <string.h>

#include "value/frame.h"

enum { MAX_FRAME = 300 };

/* Append each frame as it comes out of the reader; false once the stream is bad. */
static bool take_frames(struct gb_frame_reader *reader, struct gb_buf *out) {
	struct gb_frame frame;
	enum gb_frame_status status;
	while ((status = gb_frame_reader_next(reader, &frame)) == GB_FRAME_READY) {
		ALWAYS(frame.n + GB_FRAME_HEAD <= MAX_FRAME);
		gb_frame_append(out, frame.type, frame.payload, frame.n);
	}
	return status != GB_FRAME_BAD;
}

/* Feed in pieces whose sizes a small generator chooses; returns whether the stream was good to its end. */
static bool feed(const uint8_t *data, size_t size, uint32_t seed, size_t largest, struct gb_buf *out) {
	struct gb_frame_reader reader;
	bool good = true;
	gb_frame_reader_init(&reader, MAX_FRAME);
	while (size > 0 && good) {
		seed = seed * 1664525 + 1013904223;
		size_t n = 0, wanted = 1 + (seed >> 16) % largest;
		char *room = gb_frame_reader_room(&reader, wanted, &n);
		ALWAYS(room && n > 0 && n <= wanted);
		if (n > size)
			n = size;
		memcpy(room, data, n);
		gb_frame_reader_fed(&reader, n);
		data += n;
		size -= n;
		good = take_frames(&reader, out);
	}
	gb_frame_reader_finish(&reader);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size == 0)
		return 0;
	gb_auto_buf struct gb_buf at_once, in_pieces;
	gb_buf_init(&at_once, size);
	gb_buf_init(&in_pieces, size);
	bool good = feed(data + 1, size - 1, 0, MAX_FRAME, &at_once);
	ALWAYS(feed(data + 1, size - 1, data[0], 1 + data[0] % 16, &in_pieces) == good);
	ALWAYS(!gb_buf_failed(&at_once) && !gb_buf_failed(&in_pieces));
	ALWAYS(at_once.len == in_pieces.len);
	/* Frames that were read and written again are unchanged. */
	ALWAYS(at_once.len == 0 || memcmp(at_once.data, in_pieces.data, at_once.len) == 0);
	ALWAYS(at_once.len == 0 || memcmp(at_once.data, data + 1, at_once.len) == 0);
	return 0;
}
