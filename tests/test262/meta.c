#include "test262/meta.h"

static struct gb_str trimmed(struct gb_str s) {
	while (s.n && strchr(" \t'\"", s.p[0]))
		s.p++, s.n--;
	while (s.n && strchr(" \t'\"", s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Lines end as JavaScript's do: some tests are about just that. */
static struct gb_str next_line(struct gb_str *rest) {
	size_t n = 0;
	while (n < rest->n && rest->p[n] != '\n' && rest->p[n] != '\r')
		n++;
	struct gb_str line = {rest->p, n};
	n += n < rest->n;
	*rest = (struct gb_str){rest->p + n, rest->n - n};
	return line;
}

/* "[a, b]" or "- a": both forms of a list, whole or in part. */
static bool add_items(struct t262_list *list, struct gb_str piece) {
	while (piece.n) {
		size_t n = 0;
		while (n < piece.n && !strchr(" \t,[]", piece.p[n]))
			n++;
		struct gb_str item = trimmed((struct gb_str){piece.p, n});
		n += n < piece.n;
		piece = (struct gb_str){piece.p + n, piece.n - n};
		if (item.n && item.p[0] == '#')
			return true;
		if (!item.n || gb_str_eq(item, GB_STR("-")))
			continue;
		if (list->n == T262_LIST_MAX)
			return false;
		list->items[list->n++] = item;
	}
	return true;
}

static void add_negative(struct t262_meta *meta, struct gb_str piece) {
	struct gb_str key;
	gb_str_cut(&piece, ':', &key);
	key = trimmed(key);
	if (gb_str_eq(key, GB_STR("phase")))
		meta->phase = trimmed(piece);
	else if (gb_str_eq(key, GB_STR("type")))
		meta->type = trimmed(piece);
}

static bool add_piece(struct t262_meta *meta, struct gb_str key, struct gb_str piece) {
	if (gb_str_eq(key, GB_STR("negative")))
		add_negative(meta, piece);
	struct t262_list *list = gb_str_eq(key, GB_STR("flags"))      ? &meta->flags
				 : gb_str_eq(key, GB_STR("includes")) ? &meta->includes
				 : gb_str_eq(key, GB_STR("features")) ? &meta->features
				 : gb_str_eq(key, GB_STR("defines"))  ? &meta->defines
								      : NULL;
	return !list || add_items(list, piece);
}

bool t262_meta_parse(struct gb_str text, struct t262_meta *ret) {
	struct t262_meta meta = {.flags = {.n = 0}};
	const char *begin = text.n ? memmem(text.p, text.n, "/*---", 5) : NULL;
	const char *end = begin ? memmem(begin, text.n - (size_t)(begin - text.p), "---*/", 5) : NULL;
	if (!end)
		return false;
	struct gb_str rest = {begin + 5, (size_t)(end - begin) - 5}, key = {NULL, 0};
	while (rest.n) {
		struct gb_str piece = next_line(&rest);
		/* A key begins in the first column; its value is indented, or begins with the dash of a list. */
		if (piece.n && !strchr(" \t-", piece.p[0]))
			gb_str_cut(&piece, ':', &key);
		if (!add_piece(&meta, key, piece))
			return false;
	}
	*ret = meta;
	return true;
}

bool t262_list_has(const struct t262_list *list, const char *name) {
	for (size_t i = 0; i < list->n; i++)
		if (gb_str_eq(list->items[i], gb_str_from(name)))
			return true;
	return false;
}
