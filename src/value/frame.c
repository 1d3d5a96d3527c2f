#include "value/frame.h"

enum { LENGTH_BYTES = 4 };

static void store_length(char *at, size_t length) {
	for (unsigned i = 0; i < LENGTH_BYTES; i++)
		at[i] = (char)(length >> 8 * i);
}

static size_t load_length(const char *at) {
	size_t length = 0;
	for (unsigned i = 0; i < LENGTH_BYTES; i++)
		length |= (size_t)(uint8_t)at[i] << 8 * i;
	return length;
}

size_t gb_frame_begin(struct gb_buf *out, uint8_t type) {
	const char head[GB_FRAME_HEAD] = {[LENGTH_BYTES] = (char)type};
	size_t mark = out->len;
	gb_buf_append(out, head, sizeof head);
	return mark;
}

void gb_frame_end(struct gb_buf *out, size_t mark) {
	if (gb_buf_failed(out))
		return;
	size_t length = out->len - mark - LENGTH_BYTES;
	if (length > UINT32_MAX)
		out->failed = true;
	else
		store_length(out->data + mark, length);
}

void gb_frame_append(struct gb_buf *out, uint8_t type, const void *payload, size_t n) {
	size_t mark = gb_frame_begin(out, type);
	gb_buf_append(out, payload, n);
	gb_frame_end(out, mark);
}

void gb_frame_reader_init(struct gb_frame_reader *reader, size_t max_frame) {
	gb_buf_init(&reader->buf, max_frame < GB_FRAME_HEAD ? GB_FRAME_HEAD : max_frame);
	reader->consumed = 0;
}

void gb_frame_reader_finish(struct gb_frame_reader *reader) {
	gb_buf_finish(&reader->buf);
	reader->consumed = 0;
}

char *gb_frame_reader_room(struct gb_frame_reader *reader, size_t n, size_t *ret_n) {
	struct gb_buf *buf = &reader->buf;
	if (reader->consumed) {
		gb_buf_consume(buf, reader->consumed);
		reader->consumed = 0;
	}
	size_t left = buf->max - buf->len;
	if (n > left)
		n = left;
	char *room = n ? gb_buf_reserve(buf, n) : NULL;
	if (room)
		*ret_n = n;
	return room;
}

size_t gb_frame_reader_missing(const struct gb_frame_reader *reader) {
	size_t received = reader->buf.len - reader->consumed;
	if (received < LENGTH_BYTES)
		return 0;
	size_t whole = LENGTH_BYTES + load_length(reader->buf.data + reader->consumed);
	return whole > received ? whole - received : 0;
}

void gb_frame_reader_fed(struct gb_frame_reader *reader, size_t n) {
	reader->buf.len += n;
}

enum gb_frame_status gb_frame_reader_next(struct gb_frame_reader *reader, struct gb_frame *ret_frame) {
	size_t left = reader->buf.len - reader->consumed;
	if (left < LENGTH_BYTES)
		return GB_FRAME_MORE;
	const char *at = reader->buf.data + reader->consumed;
	size_t length = load_length(at);
	if (length == 0 || length > reader->buf.max - LENGTH_BYTES)
		return GB_FRAME_BAD;
	if (left - LENGTH_BYTES < length)
		return GB_FRAME_MORE;
	*ret_frame = (struct gb_frame){
	    .type = (uint8_t)at[LENGTH_BYTES],
	    .payload = (const uint8_t *)at + GB_FRAME_HEAD,
	    .n = length - 1,
	};
	reader->consumed += LENGTH_BYTES + length;
	return GB_FRAME_READY;
}

bool gb_frame_reader_take(struct gb_frame_reader *reader, struct gb_buf *ret_buf) {
	struct gb_buf rest;
	gb_buf_init(&rest, reader->buf.max);
	gb_buf_append(&rest, reader->buf.data + reader->consumed, reader->buf.len - reader->consumed);
	if (gb_buf_failed(&rest))
		return false;
	*ret_buf = reader->buf;
	reader->buf = rest;
	reader->consumed = 0;
	return true;
}
