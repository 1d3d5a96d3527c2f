#include "server/table.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 8 };

static size_t slot_of(const struct gb_table *table, uint64_t number) {
	/* Clients may choose any numbers: the upper bits of the product depend on all bits of the number. */
	return (size_t)(number * 0x9e3779b97f4a7c15u >> 32) & (table->n_slots - 1);
}

static void put(struct gb_table *table, struct gb_entry *entry) {
	size_t slot = slot_of(table, entry->number);
	entry->next = table->slots[slot];
	table->slots[slot] = entry;
	if (slot < table->first)
		table->first = slot;
}

static bool grow(struct gb_table *table) {
	struct gb_table larger = {
	    .n_slots = table->n_slots ? table->n_slots * 2 : FIRST_SLOTS, .n = table->n};
	larger.slots = calloc(larger.n_slots, sizeof *larger.slots);
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < table->n_slots; i++)
		for (struct gb_entry *entry = table->slots[i], *next; entry; entry = next) {
			next = entry->next;
			put(&larger, entry);
		}
	free(table->slots);
	*table = larger;
	return true;
}

void gb_table_finish(struct gb_table *table) {
	free(table->slots);
	*table = (struct gb_table){0};
}

bool gb_table_add(struct gb_table *table, struct gb_entry *entry) {
	if (table->n == table->n_slots && !grow(table))
		return false;
	put(table, entry);
	table->n++;
	return true;
}

struct gb_entry *gb_table_find(const struct gb_table *table, uint64_t number) {
	if (!table->n)
		return NULL;
	struct gb_entry *entry = table->slots[slot_of(table, number)];
	while (entry && entry->number != number)
		entry = entry->next;
	return entry;
}

void gb_table_remove(struct gb_table *table, struct gb_entry *entry) {
	struct gb_entry **at = &table->slots[slot_of(table, entry->number)];
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	table->n--;
}

struct gb_entry *gb_table_any(struct gb_table *table) {
	if (!table->n)
		return NULL;
	while (!table->slots[table->first])
		table->first++;
	return table->slots[table->first];
}
