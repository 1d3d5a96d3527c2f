#include "base/list.h"

#include "tap.h"

struct item {
	int number;
	struct gb_list link;
};

TEST(items_are_visited_in_the_order_of_insertion) {
	struct gb_list list;
	gb_list_init(&list);
	CHECK(gb_list_empty(&list));
	struct item items[] = {{.number = 1}, {.number = 2}, {.number = 0}};
	gb_list_append(&list, &items[0].link);
	gb_list_append(&list, &items[1].link);
	gb_list_prepend(&list, &items[2].link);
	int expected = 0;
	gb_list_each(struct item, it, &list, link) CHECK_INT(it->number, expected++);
	CHECK_INT(expected, 3);
	CHECK(gb_list_first(struct item, &list, link) == &items[2]);
}

TEST(the_current_item_may_be_removed_during_iteration) {
	struct gb_list list;
	gb_list_init(&list);
	struct item items[5];
	for (int i = 0; i < 5; i++) {
		items[i].number = i;
		gb_list_append(&list, &items[i].link);
	}
	gb_list_each(struct item, it, &list, link) if (it->number % 2 == 0) gb_list_remove(&it->link);
	CHECK_INT(gb_list_first(struct item, &list, link)->number, 1);
	gb_list_remove(&items[1].link);
	gb_list_remove(&items[1].link); /* removing it again has no effect */
	gb_list_remove(&items[3].link);
	CHECK(gb_list_empty(&list));
	CHECK(gb_list_first(struct item, &list, link) == NULL);
}
