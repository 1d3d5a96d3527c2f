#include "guard/secrets_filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "guard/secrets_forms.h"
#include "guard/secrets_patterns.h"
#include "guard/secrets_table.h"

enum { MAX_KINDS = 10000 };

struct gb_filter *gb_filter_create(void) {
	struct gb_filter *filter = calloc(1, sizeof *filter);
	if (!filter)
		return NULL;
	filter->version = 1;
	filter->references = 1;
	filter->literals = gb_literals_create();
	if (filter->literals)
		return filter;
	free(filter);
	return NULL;
}

struct gb_filter *gb_filter_create_bare(void) {
	struct gb_filter *filter = gb_filter_create();
	if (filter)
		filter->bare = true;
	return filter;
}

struct gb_filter *gb_filter_ref(struct gb_filter *filter) {
	if (filter)
		filter->references++;
	return filter;
}

bool gb_filters_note(struct gb_filter *known[GB_FILTERS_MAX], struct gb_filter *filter) {
	size_t i = 0;
	while (i < GB_FILTERS_MAX && known[i] && known[i] != filter)
		i++;
	bool is_new = i == GB_FILTERS_MAX || !known[i];
	if (is_new && i < GB_FILTERS_MAX)
		known[i] = filter;
	return is_new;
}

bool gb_filter_is_empty(const struct gb_filter *filter) {
	return filter->bare && !filter->n_kinds;
}

void gb_filter_destroy(struct gb_filter *filter) {
	if (!filter || --filter->references)
		return;
	gb_mask_destroy(filter->block);
	gb_matcher_finish(&filter->own);
	gb_literals_unref(filter->literals);
	gb_rx_finish(&filter->rx);
	for (size_t i = 0; i < filter->n_kinds; i++)
		free(filter->kinds[i].name);
	free(filter->kinds);
	if (filter->parent) {
		filter->parent->n_forks--;
		gb_filter_destroy(filter->parent);
	}
	free(filter);
}

/* --- forks --- */

struct gb_filter *gb_filter_fork(struct gb_filter *filter) {
	struct gb_filter *fork = gb_filter_ready(filter) ? calloc(1, sizeof *fork) : NULL;
	struct gb_kind *kinds = fork ? calloc(filter->n_kinds + 1, sizeof *kinds) : NULL;
	if (!kinds) {
		free(fork);
		return NULL;
	}
	*fork = (struct gb_filter){
	    .references = 1,
	    .parent = gb_filter_ref(filter),
	    .kinds = kinds,
	    .n_kinds = filter->n_kinds,
	    .cap_kinds = filter->n_kinds + 1,
	    .bare = filter->bare,
	    .matcher = filter->matcher,
	    .literals = gb_literals_ref(filter->literals),
	    .numeric = filter->numeric,
	    .compiled = true,
	    .linked = true,
	    .ready = true,
	    .named = true,
	    .version = filter->version,
	};
	filter->n_forks++;
	return fork;
}

bool gb_filter_is_outdated(const struct gb_filter *fork) {
	return fork->version != fork->parent->version;
}

void gb_filter_join(struct gb_filter *fork) {
	struct gb_filter *parent = fork->parent;
	/* The parent may have more kinds by now, never fewer. */
	for (size_t i = 0; i < fork->n_kinds; i++)
		parent->kinds[i].count += fork->kinds[i].count;
	parent->total += fork->total;
	gb_filter_destroy(fork);
}

/* --- kinds --- */

static bool add_kind(struct gb_filter *filter, const char *name, struct gb_err *err) {
	if (filter->n_kinds == MAX_KINDS)
		return gb_fail(err, GB_ELIMIT, 0, "there are more than %d secrets and patterns", MAX_KINDS);
	if (filter->n_kinds == filter->cap_kinds) {
		size_t cap = filter->cap_kinds ? filter->cap_kinds * 2 : 256;
		struct gb_kind *kinds = realloc(filter->kinds, cap * sizeof *kinds);
		if (!kinds)
			return gb_fail(err, GB_ENOMEM, 0, "out of memory for a secret's name");
		filter->kinds = kinds;
		filter->cap_kinds = cap;
	}
	struct gb_kind *kind = &filter->kinds[filter->n_kinds];
	*kind = (struct gb_kind){.name = strdup(name)};
	if (!kind->name)
		return gb_fail(err, GB_ENOMEM, 0, "out of memory for a secret's name");
	filter->n_kinds++;
	return true;
}

static void drop_kind(struct gb_filter *filter) {
	free(filter->kinds[--filter->n_kinds].name);
}

bool gb_filter_count(
    const struct gb_filter *filter, size_t index, const char **ret_name, uint64_t *ret_count) {
	if (index >= filter->n_kinds)
		return false;
	*ret_name = filter->kinds[index].name;
	*ret_count = filter->kinds[index].count;
	return true;
}

uint64_t gb_filter_total(const struct gb_filter *filter) {
	return filter->total;
}

/* --- patterns --- */

static bool add_pattern(struct gb_filter *filter, const char *name, const char *pattern, struct gb_err *err) {
	if (!add_kind(filter, name, err))
		return false;
	if (gb_rx_compile(&filter->rx, pattern, (uint16_t)(filter->n_kinds - 1), err))
		return true;
	drop_kind(filter);
	return gb_wrap(err, "pattern '%s'", name);
}

/* Their kinds come before all others. */
static bool name_table(struct gb_filter *filter, struct gb_err *err) {
	while (!filter->bare && !filter->named && filter->n_kinds < gb_n_secret_patterns)
		if (!add_kind(filter, gb_secret_patterns[filter->n_kinds].name, err))
			return false;
	filter->named = true;
	return true;
}

/* Those of the table are compiled again, for a matcher of the filter's own to have them all. */
static bool compile_table(struct gb_filter *filter, struct gb_err *err) {
	if (filter->bare || filter->rx.n_chains)
		return true;
	for (size_t i = 0; i < gb_n_secret_patterns; i++)
		if (!gb_rx_compile(&filter->rx, gb_secret_patterns[i].pattern, (uint16_t)i, err)) {
			gb_rx_finish(&filter->rx);
			return false;
		}
	return true;
}

static void has_changed(struct gb_filter *filter) {
	filter->ready = false;
	filter->version++;
}

bool gb_secret_patterns_add(
    struct gb_filter *filter, const char *name, const char *pattern, struct gb_err *err) {
	if (!name || !*name || !pattern)
		return gb_fail(err, GB_EINVAL, 0, "a pattern has a name and a text");
	if (filter->n_forks)
		return gb_fail(err, GB_EBUSY, 0, "the filter is in use on another thread");
	if (!name_table(filter, err) || !compile_table(filter, err) ||
	    !add_pattern(filter, name, pattern, err))
		return false;
	filter->compiled = false;
	has_changed(filter);
	return true;
}

/* --- registered values --- */

bool gb_secret_check(const char *name, size_t n, struct gb_err *err) {
	size_t length = name ? strlen(name) : 0;
	bool named = length > 0 && length <= GB_SECRET_NAME_MAX && !isdigit((unsigned char)name[0]);
	for (size_t i = 0; i < length && named; i++)
		named = isalnum((unsigned char)name[i]) || strchr("_.-", name[i]);
	if (!named)
		return gb_fail(err, GB_EINVAL, 0,
		    "a secret's name is made of letters, digits, '_', '.' and '-', at most %d of them, and "
		    "does not begin with a digit",
		    GB_SECRET_NAME_MAX);
	if (n < GB_SECRET_MIN)
		return gb_fail(err, GB_EINVAL, 0,
		    "the value of secret '%s' has %zu bytes, and at least %d are needed: something so short "
		    "would be found, and masked, everywhere",
		    name, n, GB_SECRET_MIN);
	if (n > GB_SECRET_MAX)
		return gb_fail(err, GB_ELIMIT, 0, "the value of secret '%s' is larger than %d bytes", name,
		    GB_SECRET_MAX);
	return true;
}

struct addition {
	struct gb_literals *literals;
	uint32_t kind;
};

static bool add_form(void *data, const void *bytes, size_t n) {
	struct addition *addition = data;
	return gb_literals_add(addition->literals, bytes, n, addition->kind);
}

static bool could_be_number(const uint8_t *value, size_t n) {
	for (size_t i = 0; i < n; i++)
		if (!isdigit(value[i]) && !(value[i] && strchr("+-.eEn", value[i])))
			return false;
	return true;
}

bool gb_secrets_add(
    struct gb_filter *filter, const char *name, const void *value, size_t n, struct gb_err *err) {
	if (!gb_secret_check(name, n, err) || !name_table(filter, err))
		return false;
	if (filter->n_secrets == GB_SECRETS_MAX || filter->secret_bytes + n > GB_SECRETS_BYTES)
		return gb_fail(err, GB_ELIMIT, 0,
		    "secret '%s': there are more than %d secrets, or %d bytes of them", name, GB_SECRETS_MAX,
		    GB_SECRETS_BYTES);
	if (!gb_literals_detach(&filter->literals))
		return gb_fail(err, GB_ENOMEM, 0, "out of memory for secret '%s'", name);
	if (!add_kind(filter, name, err))
		return false;
	/* From here on the filter must be rebuilt, even if memory is exhausted before all forms are added. */
	filter->linked = false;
	has_changed(filter);
	struct addition addition = {filter->literals, (uint32_t)(filter->n_kinds - 1)};
	if (!gb_secret_forms(value, n, add_form, &addition))
		return gb_fail(err, GB_ENOMEM, 0, "out of memory for secret '%s'", name);
	filter->n_secrets++;
	filter->secret_bytes += n;
	filter->numeric |= could_be_number(value, n);
	return true;
}

bool gb_secrets_add_environment(struct gb_filter *filter, char **environment, struct gb_err *err) {
	size_t prefix = strlen(GB_SECRET_VARIABLE);
	for (char **at = environment; at && *at; at++) {
		const char *equals = strchr(*at, '=');
		char name[GB_SECRET_NAME_MAX + 1];
		if (strncmp(*at, GB_SECRET_VARIABLE, prefix) != 0 || !equals || equals < *at + prefix)
			continue;
		size_t n = (size_t)(equals - *at) - prefix;
		if (n > GB_SECRET_NAME_MAX)
			return gb_fail(err, GB_EINVAL, 0,
			    "the name after " GB_SECRET_VARIABLE " is longer than %d bytes",
			    GB_SECRET_NAME_MAX);
		memcpy(name, *at + prefix, n);
		name[n] = '\0';
		if (!gb_secrets_add(filter, name, equals + 1, strlen(equals + 1), err))
			return gb_wrap(err, "environment variable " GB_SECRET_VARIABLE "%s", name);
	}
	return true;
}

/* --- ready --- */

bool gb_filter_ready(struct gb_filter *filter) {
	if (filter->ready)
		return true;
	bool own = filter->bare || filter->rx.n_chains;
	filter->matcher = own ? &filter->own : &gb_secret_table;
	if (!filter->compiled)
		filter->compiled = !own || gb_matcher_build(&filter->own, &filter->rx);
	if (!filter->linked)
		filter->linked = gb_literals_build(filter->literals);
	filter->ready = name_table(filter, NULL) && filter->compiled && filter->linked;
	return filter->ready;
}

size_t gb_filter_longest(struct gb_filter *filter) {
	gb_filter_ready(filter);
	size_t patterns = filter->matcher->rx ? filter->matcher->rx->longest : 0,
	       literals = filter->literals->longest;
	return patterns > literals ? patterns : literals;
}
