#include "server/table.h"
#include "tap.h"

enum { MANY = 5000 };

TEST(an_empty_table_has_no_entries) {
	struct gb_table table = {0};
	CHECK(!gb_table_find(&table, 0));
	CHECK(!gb_table_any(&table));
	gb_table_finish(&table);
}

TEST(many_entries_are_found_and_removed) {
	static struct gb_entry entries[MANY];
	struct gb_table table = {0};
	for (unsigned i = 0; i < MANY; i++) {
		entries[i].number = (uint64_t)i << (i % 40);
		if (!gb_table_find(&table, entries[i].number))
			CHECK(gb_table_add(&table, &entries[i]));
		else
			entries[i].number = UINT64_MAX;
	}
	for (unsigned i = 0; i < MANY; i++)
		if (entries[i].number != UINT64_MAX)
			CHECK(gb_table_find(&table, entries[i].number) == &entries[i]);
	CHECK(!gb_table_find(&table, UINT64_MAX - 1));
	for (unsigned i = 0; i < MANY; i += 2)
		if (entries[i].number != UINT64_MAX)
			gb_table_remove(&table, &entries[i]);
	for (unsigned i = 0; i < MANY; i++)
		if (entries[i].number != UINT64_MAX)
			CHECK(!gb_table_find(&table, entries[i].number) == (i % 2 == 0));
	size_t n = table.n, seen = 0;
	for (struct gb_entry *entry; (entry = gb_table_any(&table)); seen++)
		gb_table_remove(&table, entry);
	CHECK_INT(seen, n);
	CHECK_INT(table.n, 0);
	gb_table_finish(&table);
}

TEST(an_entry_may_be_added_after_the_table_was_emptied) {
	struct gb_entry a = {.number = 1}, b = {.number = 2};
	struct gb_table table = {0};
	for (int i = 0; i < 3; i++) {
		CHECK(gb_table_add(&table, &a) && gb_table_add(&table, &b));
		for (struct gb_entry *entry; (entry = gb_table_any(&table));)
			gb_table_remove(&table, entry);
	}
	gb_table_finish(&table);
}
