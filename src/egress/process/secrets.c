/* Secrets in locked memory, which is in no dump and is not inherited. Runs that have the same secret share it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "egress/process/process.h"
#include "egress/secret.h"

enum { SCRATCH = GB_HTTP_HEAD_MAX + GB_SECRET_BOUND_VALUE_MAX + 1024 };

struct secret {
	struct gb_list link;
	unsigned references;
	char *memory; /* the order, to which all texts point */
	size_t n;
	struct gb_secret_order order;
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
		if (gb_secret_order_read(secret->memory, n, &secret->order)) {
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
	if (secrets->n == GB_EGRESS_SECRETS_MAX || !secrets_scratch(&scratch))
		return false;
	struct secret *secret = find(bytes, n);
	if (secret)
		secret->references++;
	else
		secret = create(bytes, n);
	if (!secret)
		return false;
	secrets->list[secrets->n] = secret;
	secrets->bound[secrets->n++] = &secret->order.bound;
	return true;
}

bool secrets_exist(void) {
	return known.has_list && !gb_list_empty(&known.all);
}

void secrets_finish(struct secrets *secrets) {
	for (unsigned i = 0; i < secrets->n; i++)
		release(secrets->list[i]);
	secrets->n = 0;
}
