#include <stddef.h>
#include <stdint.h>

#include "../tap.h"
#include "base/arena.h"

TEST(memory_is_zeroed_and_aligned) {
	gb_auto_arena struct gb_arena arena;
	gb_arena_init(&arena, 1 << 20);
	for (size_t n = 0; n < 300; n++) {
		char *at = gb_arena_alloc(&arena, n);
		if (!CHECK(at != NULL))
			return;
		CHECK((uintptr_t)at % _Alignof(max_align_t) == 0);
		for (size_t i = 0; i < n; i++)
			CHECK(at[i] == 0);
		memset(at, 0xff, n);
	}
}

TEST(allocations_do_not_overlap) {
	gb_auto_arena struct gb_arena arena;
	char *pieces[200];
	gb_arena_init(&arena, 1 << 20);
	for (int i = 0; i < 200; i++) {
		pieces[i] = gb_arena_alloc(&arena, (size_t)i * 10 + 1);
		memset(pieces[i], i, (size_t)i * 10 + 1);
	}
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < i * 10 + 1; k++)
			CHECK((uint8_t)pieces[i][k] == i);
}

TEST(maximum_is_not_exceeded) {
	for (size_t max = 0; max < 10000; max += 499) {
		gb_auto_arena struct gb_arena arena;
		size_t got = 0;
		gb_arena_init(&arena, max);
		while (gb_arena_alloc(&arena, 16))
			got += 16;
		CHECK(got <= max);
		CHECK(got + 16 > max || got + 4096 > max);
		CHECK(arena.used <= max);
	}
}

TEST(one_allocation_may_use_the_whole_maximum) {
	gb_auto_arena struct gb_arena arena;
	gb_arena_init(&arena, 100000);
	CHECK(!gb_arena_alloc(&arena, 100001));
	CHECK(gb_arena_alloc(&arena, 100000));
	CHECK(!gb_arena_alloc(&arena, 1));
}

TEST(sizes_that_overflow_fail) {
	gb_auto_arena struct gb_arena arena;
	gb_arena_init(&arena, SIZE_MAX);
	CHECK(!gb_arena_alloc(&arena, SIZE_MAX));
	CHECK(!gb_arena_array(&arena, SIZE_MAX / 2, 3));
	CHECK(!gb_arena_copy(&arena, (struct gb_str){"x", SIZE_MAX}));
	CHECK(gb_arena_array(&arena, 3, 5));
}

TEST(copies_are_zero_terminated) {
	gb_auto_arena struct gb_arena arena;
	gb_arena_init(&arena, 1000);
	CHECK_STR(gb_arena_copy(&arena, (struct gb_str){"hello", 4}), "hell");
	CHECK_STR(gb_arena_copy(&arena, (struct gb_str){NULL, 0}), "");
}

TEST(a_finished_arena_can_be_used_again) {
	gb_auto_arena struct gb_arena arena;
	gb_arena_init(&arena, 100);
	CHECK(gb_arena_alloc(&arena, 96));
	CHECK(!gb_arena_alloc(&arena, 96));
	gb_arena_finish(&arena);
	CHECK(gb_arena_alloc(&arena, 96));
}
