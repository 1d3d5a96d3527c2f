/* Secrets in locked memory, which is in no dump and is not inherited. Runs that have the same secret share it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "egress/process/process.h"

enum { SCRATCH = GB_HTTP_HEAD_MAX + GB_SECRET_VALUE_MAX + 1024, PARTS_BEFORE_FORMS = 6 };

struct secret {
	struct gb_list link;
	unsigned references;
	char *memory; /* the order, to which all texts point */
	size_t n;
	struct gb_bound_secret bound;
	struct gb_str forms[GB_SECRET_FORMS_MAX];
};

static struct {
	struct gb_list all;
	bool has_list;
	char *scratch;
} known;

/* --- memory --- */

static char *lock_memory(size_t n) {
	char *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	if (mlock(memory, n) == 0 && madvise(memory, n, MADV_DONTDUMP) == 0 &&
	    madvise(memory, n, MADV_WIPEONFORK) == 0)
		return memory;
	munmap(memory, n);
	return NULL;
}

static void unlock_memory(char *memory, size_t n) {
	if (!memory)
		return;
	explicit_bzero(memory, n);
	munmap(memory, n);
}

char *secrets_scratch(size_t *ret_n) {
	if (!known.scratch)
		known.scratch = lock_memory(SCRATCH);
	*ret_n = SCRATCH;
	return known.scratch;
}

/* --- orders --- */

/* Texts with their lengths in front. */
static bool cut_text(struct gb_str *rest, struct gb_str *ret) {
	uint32_t n;
	if (rest->n < sizeof n)
		return false;
	memcpy(&n, rest->p, sizeof n);
	if (n > rest->n - sizeof n)
		return false;
	*ret = (struct gb_str){rest->p + sizeof n, n};
	rest->p += sizeof n + n;
	rest->n -= sizeof n + n;
	return true;
}

static bool read_order(struct secret *secret) {
	struct gb_bound_secret *bound = &secret->bound;
	struct gb_str rest = {secret->memory, secret->n}, host, form;
	const char *problem;
	if (!cut_text(&rest, &bound->name) || !cut_text(&rest, &host) || !cut_text(&rest, &bound->header) ||
	    !cut_text(&rest, &bound->before) || !cut_text(&rest, &bound->after) ||
	    !cut_text(&rest, &bound->placeholder) || !gb_host_rule_parse(host, &bound->host, &problem))
		return false;
	while (rest.n) {
		if (bound->n_forms == GB_SECRET_FORMS_MAX || !cut_text(&rest, &form) || !form.n)
			return false;
		secret->forms[bound->n_forms++] = form;
	}
	bound->forms = secret->forms;
	bound->value = secret->forms[0];
	return bound->n_forms && bound->placeholder.n >= GB_PLACEHOLDER_MIN &&
	       bound->placeholder.n <= GB_PLACEHOLDER_MAX && bound->header.n &&
	       bound->value.n <= GB_SECRET_VALUE_MAX;
}

static void release(struct secret *secret) {
	if (--secret->references)
		return;
	gb_list_remove(&secret->link);
	unlock_memory(secret->memory, secret->n);
	free(secret);
}

static struct secret *find(const char *bytes, size_t n) {
	gb_list_each(struct secret, secret, &known.all, link) {
		if (secret->n == n && memcmp(secret->memory, bytes, n) == 0)
			return secret;
	}
	return NULL;
}

static struct secret *create(const char *bytes, size_t n) {
	struct secret *secret = calloc(1, sizeof *secret);
	if (!secret)
		return NULL;
	secret->memory = n ? lock_memory(n) : NULL;
	secret->n = n;
	secret->references = 1;
	gb_list_init(&secret->link);
	if (secret->memory) {
		memcpy(secret->memory, bytes, n);
		if (read_order(secret)) {
			gb_list_append(&known.all, &secret->link);
			return secret;
		}
	}
	release(secret);
	return NULL;
}

bool secrets_add(struct secrets *secrets, const char *bytes, size_t n) {
	size_t scratch;
	if (!known.has_list)
		gb_list_init(&known.all);
	known.has_list = true;
	if (secrets->n == SECRETS_MAX || !secrets_scratch(&scratch))
		return false;
	struct secret *secret = find(bytes, n);
	if (secret)
		secret->references++;
	else
		secret = create(bytes, n);
	if (!secret)
		return false;
	secrets->list[secrets->n] = secret;
	secrets->bound[secrets->n++] = &secret->bound;
	return true;
}

void secrets_finish(struct secrets *secrets) {
	for (unsigned i = 0; i < secrets->n; i++)
		release(secrets->list[i]);
	secrets->n = 0;
}
