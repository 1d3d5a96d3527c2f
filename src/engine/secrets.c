#include "engine/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "engine/engine.h"
#include "value/cbor.h"

/* One secret. Everything lies in .memory. */
struct edge_secret {
	struct gb_edge_secret texts;
	struct gb_host_rule *hosts;
	size_t n_hosts;
	char *memory;
	size_t n, used;
};

/* Those of an engine, shared with its runs. */
struct gb_edge_secrets {
	unsigned references;
	size_t n;
	struct edge_secret list[];
};

struct gb_edge_use {
	struct gb_edge_secrets *all;
	size_t n;
	struct {
		const struct edge_secret *secret;
		char placeholder[GB_PLACEHOLDER_MAX + 1];
	} list[GB_EGRESS_SECRETS_MAX];
};

/* --- the secrets of an engine --- */

static void free_secret(struct edge_secret *secret) {
	if (secret->memory)
		explicit_bzero(secret->memory, secret->n);
	free(secret->memory);
	free(secret->hosts);
	free((void *)secret->texts.forms);
}

static void release_all(struct gb_edge_secrets *all) {
	if (!all || --all->references)
		return;
	for (size_t i = 0; i < all->n; i++)
		free_secret(&all->list[i]);
	free(all);
}

static struct gb_str keep(struct edge_secret *secret, struct gb_str text) {
	char *to = secret->memory + secret->used;
	if (text.n)
		memcpy(to, text.p, text.n);
	secret->used += text.n;
	return (struct gb_str){to, text.n};
}

static bool copy_texts(struct edge_secret *to, const struct gb_edge_secret *from) {
	struct gb_str *forms = calloc(from->n_forms + 1, sizeof *forms);
	to->texts.forms = forms;
	to->n = from->name.n + from->hosts.n + from->header.n + from->variable.n + 1;
	for (size_t i = 0; i < from->n_forms; i++)
		to->n += from->forms[i].n;
	to->memory = malloc(to->n);
	if (!forms || !to->memory)
		return false;
	to->texts.name = keep(to, from->name);
	to->texts.hosts = keep(to, from->hosts);
	to->texts.header = keep(to, from->header);
	to->texts.variable = keep(to, from->variable);
	for (size_t i = 0; i < from->n_forms; i++)
		forms[i] = keep(to, from->forms[i]);
	to->texts.n_forms = from->n_forms;
	return true;
}

static bool copy_secret(struct edge_secret *to, const struct gb_edge_secret *from, struct gb_err *err) {
	const char *problem = NULL;
	to->hosts = calloc(GB_SECRET_HOSTS_MAX, sizeof *to->hosts);
	if (!to->hosts || !copy_texts(to, from))
		return gb_fail(err, GB_ENOMEM, 0, "a secret");
	return gb_secret_hosts_parse(from->hosts, to->hosts, &to->n_hosts, &problem) ||
	       gb_fail(err, GB_EINVAL, 0, "the hosts of secret '%.*s': %s", (int)from->name.n, from->name.p,
		   problem);
}

bool gb_engine_set_secrets(
    struct gb_engine *engine, const struct gb_edge_secret *list, size_t n, struct gb_err *err) {
	struct gb_edge_secrets *all = n ? calloc(1, sizeof *all + n * sizeof *all->list) : NULL;
	if (n && !all)
		return gb_fail(err, GB_ENOMEM, 0, "secrets");
	if (all)
		all->references = 1;
	for (size_t i = 0; i < n; i++) {
		all->n++;
		if (!copy_secret(&all->list[i], &list[i], err)) {
			release_all(all);
			return false;
		}
	}
	release_all(engine->secrets);
	engine->secrets = all;
	engine->secrets_problem.code = GB_OK;
	return true;
}

void gb_engine_refuse_secrets(struct gb_engine *engine, const struct gb_err *why) {
	engine->secrets_problem = *why;
}

/* --- the secrets of a run --- */

/* Whether a host exists that both are about. */
static bool have_a_host(const struct gb_host_rule *a, const struct gb_host_rule *b) {
	return gb_host_rule_is_about(a, &b->host) || gb_host_rule_is_about(b, &a->host) ||
	       (a->below && b->below && strcmp(a->host.name, b->host.name) == 0);
}

static bool meet(const struct gb_host_rule *bound, const struct gb_host_rule *rule) {
	uint16_t ports[2];
	const uint16_t port = bound->port ? bound->port : 443;
	const size_t n = gb_host_rule_ports(rule, ports);
	for (size_t i = 0; i < n; i++)
		if (ports[i] == port)
			return have_a_host(bound, rule);
	return false;
}

static bool is_for(const struct edge_secret *secret, const struct gb_host_rule *rule) {
	for (size_t i = 0; i < secret->n_hosts; i++)
		if (meet(&secret->hosts[i], rule))
			return true;
	return false;
}

static void make_nonce(struct gb_edge_nonce *nonce) {
	while (!nonce->is_set)
		nonce->is_set =
		    getrandom(nonce->bytes, sizeof nonce->bytes, 0) == (ssize_t)sizeof nonce->bytes;
}

/* Not guessable, and made of characters that need no escape anywhere. */
static void write_placeholder(
    const struct edge_secret *secret, const struct gb_edge_nonce *nonce, char ret[GB_PLACEHOLDER_MAX + 1]) {
	int n = snprintf(ret, GB_PLACEHOLDER_MAX + 1, "glovebox-secret-%.*s-", (int)secret->texts.name.n,
	    secret->texts.name.p);
	for (size_t i = 0; i < sizeof nonce->bytes; i++)
		n += snprintf(ret + n, (size_t)(GB_PLACEHOLDER_MAX + 1 - n), "%02x", nonce->bytes[i]);
}

static bool has(const struct gb_edge_use *use, const struct edge_secret *secret) {
	for (size_t i = 0; use && i < use->n; i++)
		if (use->list[i].secret == secret)
			return true;
	return false;
}

/* Add the secrets that are bound to a host of @rule. False if they are too many. */
static bool add_secrets(struct gb_edge_secrets *all, const struct gb_host_rule *rule,
    struct gb_edge_nonce *nonce, struct gb_edge_use **use) {
	for (size_t i = 0; i < all->n; i++) {
		if (!is_for(&all->list[i], rule) || has(*use, &all->list[i]))
			continue;
		if (!*use && !(*use = calloc(1, sizeof **use)))
			return false;
		if ((*use)->n == GB_EGRESS_SECRETS_MAX)
			return false;
		make_nonce(nonce);
		(*use)->list[(*use)->n].secret = &all->list[i];
		write_placeholder(&all->list[i], nonce, (*use)->list[(*use)->n++].placeholder);
	}
	return true;
}

bool gb_edge_choose(struct gb_engine *engine, const struct gb_value *net, struct gb_edge_nonce *nonce,
    struct gb_edge_use **ret, struct gb_err *err) {
	struct gb_edge_secrets *all = engine->secrets;
	struct gb_edge_use *use = NULL;
	bool ok = true;
	if (engine->secrets_problem.code != GB_OK) {
		if (err)
			*err = engine->secrets_problem;
		return false;
	}
	for (size_t i = 0; all && ok && i < gb_value_count(net); i++) {
		struct gb_host_rule rule;
		const char *problem;
		struct gb_str text = {0};
		text.p = gb_value_bytes(gb_value_at(net, i), &text.n);
		if (text.p && gb_host_rule_parse(text, &rule, &problem))
			ok = add_secrets(all, &rule, nonce, &use);
	}
	if (!ok) {
		free(use);
		return gb_fail_field(err, GB_ELIMIT, "net", "more than %d secrets are bound to these hosts",
		    GB_EGRESS_SECRETS_MAX);
	}
	if (use) {
		use->all = all;
		all->references++;
	}
	*ret = use;
	return true;
}

bool gb_edge_write_names(struct gb_engine *engine, const struct gb_value *net, struct gb_buf *out) {
	struct gb_edge_nonce nonce = {0};
	struct gb_edge_use *use = NULL;
	if (!gb_edge_choose(engine, net, &nonce, &use, NULL) || !use)
		return false;
	for (size_t i = 0; i < use->n; i++) {
		/* Letters, digits, and marks that need no escape: see gb_secret_check. */
		const struct gb_str name = use->list[i].secret->texts.name;
		gb_buf_printf(out, "%s\"%.*s\"", i ? "," : "[", (int)name.n, name.p);
	}
	gb_buf_append_char(out, ']');
	gb_edge_release(use);
	return true;
}

void gb_edge_release(struct gb_edge_use *use) {
	if (use)
		release_all(use->all);
	free(use);
}

void gb_edge_write(const struct gb_edge_use *use, struct gb_buf *out) {
	gb_cbor_object(out, use->n);
	for (size_t i = 0; i < use->n; i++) {
		const struct gb_str variable = use->list[i].secret->texts.variable;
		gb_cbor_string(out, variable.p, variable.n);
		gb_cbor_string(out, use->list[i].placeholder, strlen(use->list[i].placeholder));
	}
}

size_t gb_edge_texts(const struct gb_edge_use *use, struct gb_secret_texts ret[GB_EGRESS_SECRETS_MAX]) {
	for (size_t i = 0; use && i < use->n; i++) {
		const struct gb_edge_secret *texts = &use->list[i].secret->texts;
		ret[i] = (struct gb_secret_texts){.name = texts->name,
		    .hosts = texts->hosts,
		    .header = texts->header,
		    .placeholder = gb_str_from(use->list[i].placeholder),
		    .forms = texts->forms,
		    .n_forms = texts->n_forms};
	}
	return use ? use->n : 0;
}
