/* Secrets that clients register, kept until this process ends. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "service/execution.h"

static bool add(struct gb_filter *filter, const struct gb_service_secret *secret, struct gb_err *err) {
	return gb_secrets_add(filter, secret->name, secret->value, secret->n, err);
}

/* To the present filter, to those of executions that began before the settings changed, and to the gate's. */
static bool add_to_filters(
    struct gb_service *service, const struct gb_service_secret *secret, struct gb_err *err) {
	if (!service->filter && !(service->filter = gb_filter_create_bare()))
		return gb_fail(err, GB_ENOMEM, 0, "the secrets filter");
	struct gb_filter *known[GB_FILTERS_MAX] = {service->filter};
	bool ok = add(service->filter, secret, err);
	gb_list_each(struct gb_execution, execution, &service->executions, link) {
		struct gb_masked *masked = execution->masked;
		if (ok && masked && gb_filters_note(known, masked->filter))
			ok = add(masked->filter, secret, err);
	}
	return ok && (!service->gate ||
			 gb_gate_add_secret(service->gate, secret->name, secret->value, secret->n, err));
}

static void free_secret(struct gb_service_secret *secret) {
	sodium_memzero(secret->value, secret->n);
	free(secret->value);
	free(secret->name);
}

/* Keep a copy: the secret is not in the settings, so a new filter does not have it. */
static bool keep_secret(
    struct gb_service_secrets *known, const char *name, const char *value, size_t n, struct gb_err *err) {
	struct gb_service_secret *list = reallocarray(known->list, known->n + 1, sizeof *list);
	if (!list)
		return gb_fail(err, GB_ENOMEM, 0, "a secret");
	known->list = list;
	struct gb_service_secret secret = {strdup(name), malloc(n ? n : 1), n};
	if (!secret.name || !secret.value) {
		free(secret.name);
		free(secret.value);
		return gb_fail(err, GB_ENOMEM, 0, "a secret");
	}
	memcpy(secret.value, value, n);
	list[known->n++] = secret;
	return true;
}

bool gb_service_add_secret(
    struct gb_service *service, const char *name, const char *value, size_t n, struct gb_err *err) {
	struct gb_service_secrets *known = &service->secrets;
	if (known->n == GB_SECRETS_MAX)
		return gb_fail(
		    err, GB_ELIMIT, 0, "%d secrets are registered, which is the limit", GB_SECRETS_MAX);
	if (!keep_secret(known, name, value, n, err))
		return false;
	if (add_to_filters(service, &known->list[known->n - 1], err))
		return true;
	free_secret(&known->list[--known->n]);
	return false;
}

bool gb_service_reapply_secrets(struct gb_service *service, struct gb_filter *filter, struct gb_err *err) {
	for (size_t i = 0; i < service->secrets.n; i++)
		if (!add(filter, &service->secrets.list[i], err))
			return false;
	return true;
}

void gb_service_forget_secrets(struct gb_service *service) {
	while (service->secrets.n)
		free_secret(&service->secrets.list[--service->secrets.n]);
	free(service->secrets.list);
}
