#include "../tap.h"
#include "base/cleanup.h"
#include "value/frame.h"

static void feed(struct gb_frame_reader *reader, const void *bytes, size_t n) {
	for (const char *at = bytes; n > 0;) {
		size_t room_n = 0;
		char *room = gb_frame_reader_room(reader, n, &room_n);
		if (!CHECK(room && room_n > 0 && room_n <= n))
			return;
		memcpy(room, at, room_n);
		gb_frame_reader_fed(reader, room_n);
		at += room_n;
		n -= room_n;
	}
}

TEST(a_frame_is_length_type_payload) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 100);
	gb_frame_append(&out, GB_FRAME_LOG, "abc", 3);
	CHECK_INT(out.len, 8);
	CHECK(memcmp(out.data, "\4\0\0\0\3abc", 8) == 0);
}

TEST(frame_can_be_written_in_pieces) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 100);
	gb_frame_append(&out, GB_FRAME_LOG, NULL, 0);
	size_t mark = gb_frame_begin(&out, GB_FRAME_RESULT);
	gb_buf_append(&out, "a", 1);
	gb_buf_append(&out, "bc", 2);
	gb_frame_end(&out, mark);
	CHECK_INT(out.len, 13);
	CHECK(memcmp(out.data, "\1\0\0\0\3\4\0\0\0\2abc", 13) == 0);
}

TEST(a_failed_buffer_stays_failed) {
	gb_auto_buf struct gb_buf out;
	for (size_t max = 0; max < 8; max++) {
		gb_buf_init(&out, max);
		gb_frame_append(&out, GB_FRAME_LOG, "abc", 3);
		CHECK(gb_buf_failed(&out));
		gb_buf_finish(&out);
	}
	gb_buf_init(&out, 8);
	gb_frame_append(&out, GB_FRAME_LOG, "abc", 3);
	CHECK(!gb_buf_failed(&out));
}

TEST(frames_do_not_depend_on_read_boundaries) {
	gb_auto_buf struct gb_buf stream;
	gb_buf_init(&stream, 1000);
	gb_frame_append(&stream, 1, "one", 3);
	gb_frame_append(&stream, 2, "", 0);
	gb_frame_append(&stream, 3, "three three three", 17);
	for (size_t step = 1; step <= stream.len; step++) {
		struct gb_frame_reader reader;
		struct gb_frame frame;
		size_t got = 0;
		gb_frame_reader_init(&reader, 22);
		for (size_t at = 0; at < stream.len; at += step) {
			size_t n = step < stream.len - at ? step : stream.len - at;
			for (size_t i = 0; i < n;) {
				size_t room_n = 0;
				char *room = gb_frame_reader_room(&reader, n - i, &room_n);
				if (!CHECK(room != NULL))
					return;
				memcpy(room, stream.data + at + i, room_n);
				gb_frame_reader_fed(&reader, room_n);
				i += room_n;
				while (gb_frame_reader_next(&reader, &frame) == GB_FRAME_READY)
					CHECK_INT(frame.type, ++got);
			}
		}
		CHECK_INT(got, 3);
		CHECK_INT(frame.n, 17);
		CHECK(memcmp(frame.payload, "three three three", 17) == 0);
		gb_frame_reader_finish(&reader);
	}
}

TEST(frame_size_limit_is_exact) {
	struct gb_frame_reader reader;
	struct gb_frame frame;
	gb_frame_reader_init(&reader, 8);
	feed(&reader, "\4\0\0\0\1abc", 8);
	CHECK_INT(gb_frame_reader_next(&reader, &frame), GB_FRAME_READY);
	CHECK_INT(frame.n, 3);
	CHECK_INT(gb_frame_reader_next(&reader, &frame), GB_FRAME_MORE);
	feed(&reader, "\5\0\0\0", 4);
	CHECK_INT(gb_frame_reader_next(&reader, &frame), GB_FRAME_BAD);
	CHECK_INT(gb_frame_reader_next(&reader, &frame), GB_FRAME_BAD);
	gb_frame_reader_finish(&reader);
}

TEST(invalid_lengths_are_detected_from_the_head) {
	static const char *const heads[] = {"\0\0\0\0", "\xff\xff\xff\xff", "\xfd\3\0\0"};
	for (size_t i = 0; i < GB_COUNT(heads); i++) {
		struct gb_frame_reader reader;
		struct gb_frame frame;
		gb_frame_reader_init(&reader, 1024);
		feed(&reader, heads[i], 3);
		CHECK_INT(gb_frame_reader_next(&reader, &frame), GB_FRAME_MORE);
		feed(&reader, heads[i] + 3, 1);
		CHECK_INT(gb_frame_reader_next(&reader, &frame), GB_FRAME_BAD);
		gb_frame_reader_finish(&reader);
	}
}

TEST(announced_frame_allocates_only_as_it_arrives) {
	struct gb_frame_reader reader;
	struct gb_frame frame;
	size_t n;
	gb_frame_reader_init(&reader, 1 << 30);
	feed(&reader, "\0\0\0\x3f\1", 5);
	CHECK_INT(gb_frame_reader_next(&reader, &frame), GB_FRAME_MORE);
	CHECK(gb_frame_reader_room(&reader, 4096, &n) != NULL);
	CHECK_INT(n, 4096);
	CHECK(reader.buf.cap <= 16384);
	gb_frame_reader_finish(&reader);
}

TEST(no_space_is_returned_before_a_full_frame_is_read) {
	struct gb_frame_reader reader;
	struct gb_frame frame;
	size_t n = 0;
	gb_frame_reader_init(&reader, 8);
	feed(&reader, "\4\0\0\0\1abc", 8);
	CHECK(!gb_frame_reader_room(&reader, 1, &n));
	CHECK_INT(gb_frame_reader_next(&reader, &frame), GB_FRAME_READY);
	CHECK(gb_frame_reader_room(&reader, 100, &n) != NULL);
	CHECK_INT(n, 8);
	gb_frame_reader_finish(&reader);
}
