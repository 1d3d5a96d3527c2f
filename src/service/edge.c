/* The registered secrets that are bound to hosts, given to the engine. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "egress/secret.h"
#include "engine/secrets.h"
#include "guard/secrets.h"
#include "guard/secrets_forms.h"
#include "guard/secrets_store.h"
#include "service/execution.h"
#include "store/state.h"

enum { TEXTS_MAX = GB_SECRET_ORDER_MAX };

/* One secret: its texts lie in .texts, with their positions until all are there. */
struct bound {
	struct gb_edge_secret secret;
	struct gb_buf texts;
	struct gb_str forms[GB_SECRET_FORMS_MAX];
};

struct all {
	struct bound **list;
	size_t n;
};

static void free_all(struct all *all) {
	for (size_t i = 0; i < all->n; i++) {
		struct bound *bound = all->list[i];
		if (bound->texts.data)
			sodium_memzero(bound->texts.data, bound->texts.cap);
		gb_buf_finish(&bound->texts);
		free(bound);
	}
	free(all->list);
}

static struct gb_str keep(struct bound *bound, const void *bytes, size_t n) {
	const size_t at = bound->texts.len;
	gb_buf_append(&bound->texts, bytes, n);
	return gb_buf_failed(&bound->texts) ? (struct gb_str){0} : (struct gb_str){bound->texts.data + at, n};
}

/* The same form may come more than once; the value comes first. */
static bool add_form(void *data, const void *bytes, size_t n) {
	struct bound *bound = data;
	size_t *count = &bound->secret.n_forms;
	for (size_t i = 0; i < *count; i++)
		if (gb_str_eq(bound->forms[i], (struct gb_str){bytes, n}))
			return true;
	if (*count == GB_SECRET_FORMS_MAX || !n)
		return !n;
	bound->forms[(*count)++] = keep(bound, bytes, n);
	return !gb_buf_failed(&bound->texts);
}

static bool fill(struct bound *bound, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding) {
	struct gb_edge_secret *secret = &bound->secret;
	gb_buf_init(&bound->texts, TEXTS_MAX);
	/* At once: growing would move what the texts point to. */
	if (!gb_buf_reserve(&bound->texts, TEXTS_MAX))
		return false;
	secret->name = keep(bound, name, strlen(name));
	secret->hosts = keep(bound, binding->hosts, strlen(binding->hosts));
	secret->header = keep(bound, binding->header, strlen(binding->header));
	secret->variable = keep(bound, binding->variable, strlen(binding->variable));
	secret->forms = bound->forms;
	return gb_secret_forms(value, n, add_form, bound);
}

static bool add(void *data, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err) {
	struct all *all = data;
	if (!binding)
		return true;
	struct bound **list = reallocarray(all->list, all->n + 1, sizeof *list);
	struct bound *bound = list ? calloc(1, sizeof *bound) : NULL;
	all->list = list ? list : all->list;
	if (!bound)
		return gb_fail(err, GB_ENOMEM, 0, "the secret '%s'", name);
	all->list[all->n++] = bound;
	return gb_secret_binding_check(name, value, n, binding, err) &&
	       (fill(bound, name, value, n, binding) ||
		   gb_fail(err, GB_ELIMIT, 0, "the secret '%s' has too many forms", name));
}

static bool give(struct gb_engine *engine, const struct all *all, struct gb_err *err) {
	gb_auto_free struct gb_edge_secret *list = calloc(all->n + 1, sizeof *list);
	if (!list)
		return gb_fail(err, GB_ENOMEM, 0, "secrets");
	for (size_t i = 0; i < all->n; i++)
		list[i] = all->list[i]->secret;
	return gb_engine_set_secrets(engine, list, all->n, err);
}

bool gb_service_bind_secrets(struct gb_engine *engine, const struct gb_config *config, struct gb_err *err) {
	char dir[GB_STATE_PATH];
	struct gb_err why = {0};
	struct all all = {0};
	/* Without a network no code can use them, and without a place for state there are none. */
	if (!config->network.allowlist.n)
		return gb_engine_set_secrets(engine, NULL, 0, err);
	if (!gb_state_choose(config->state_dir, dir, &why)) {
		if (why.code == GB_ENOENT)
			return gb_engine_set_secrets(engine, NULL, 0, err);
		*err = why;
		return false;
	}
	const bool ok = gb_secret_store_each(dir, add, &all, err) && give(engine, &all, err);
	free_all(&all);
	return ok || gb_wrap(err, "secrets that are bound to hosts");
}

void gb_service_bind_first(struct gb_engine *engine, const struct gb_config *config) {
	struct gb_err err = {0};
	if (!gb_service_bind_secrets(engine, config, &err))
		gb_engine_refuse_secrets(engine, &err);
}
