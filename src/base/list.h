/*
 * Intrusive doubly linked lists: the link is a member of the object.
 *
 *	struct gb_list cells;			struct cell { struct gb_list link; ... };
 *	gb_list_init(&cells);			gb_list_append(&cells, &cell->link);
 *	gb_list_each(struct cell, cell, &cells, link) ...	// the current one may be removed
 */
#ifndef GB_BASE_LIST_H
#define GB_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct gb_list {
	struct gb_list *next, *prev;
};

static inline void gb_list_init(struct gb_list *list) {
	list->next = list->prev = list;
}

static inline bool gb_list_empty(const struct gb_list *list) {
	return list->next == list;
}

static inline void gb_list_append(struct gb_list *list, struct gb_list *link) {
	link->prev = list->prev;
	link->next = list;
	list->prev->next = link;
	list->prev = link;
}

static inline void gb_list_prepend(struct gb_list *list, struct gb_list *link) {
	gb_list_append(list->next, link);
}

/* Remove @link from its list. No effect on a link that is in no list (initialised, or removed before). */
static inline void gb_list_remove(struct gb_list *link) {
	link->prev->next = link->next;
	link->next->prev = link->prev;
	gb_list_init(link);
}

#define gb_container(type, member, pointer) ((type *)((char *)(pointer)-offsetof(type, member)))

/* The first object, or NULL. */
#define gb_list_first(type, list, member)                                                                    \
	(gb_list_empty(list) ? NULL : gb_container(type, member, (list)->next))

#define gb_list_each(type, it, list, member)                                                                 \
	for (type *it = gb_container(type, member, (list)->next),                                            \
		  *it##_next = gb_container(type, member, it->member.next);                                  \
	     &it->member != (list); it = it##_next, it##_next = gb_container(type, member, it->member.next))

#endif
