/*
 * Objects by number, through an entry inside the object.
 *
 *	struct thing { struct gb_entry entry; ... };
 *	thing->entry.number = 7;
 *	gb_table_add(&table, &thing->entry);
 *	struct gb_entry *found = gb_table_find(&table, 7);
 *
 * A zeroed table is an empty one.
 */
#ifndef GB_SERVER_TABLE_H
#define GB_SERVER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gb_entry {
	uint64_t number;
	struct gb_entry *next;
};

struct gb_table {
	struct gb_entry **slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t n;
	size_t first; /* no entry in the slots before */
};

/* Free the slots; entries stay with their owner. */
void gb_table_finish(struct gb_table *table);

/* False if memory is exhausted. The number must not be in the table. */
bool gb_table_add(struct gb_table *table, struct gb_entry *entry);
/* NULL if there is none. */
struct gb_entry *gb_table_find(const struct gb_table *table, uint64_t number);
void gb_table_remove(struct gb_table *table, struct gb_entry *entry);
/* Any entry; NULL if there is none left. */
struct gb_entry *gb_table_any(struct gb_table *table);

#endif
