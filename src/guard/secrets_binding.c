#include "guard/secrets_binding.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "egress/authorities.h"
#include "egress/secret.h"

/* --- checks --- */

/* Variables that sandboxes and their programs need. */
static const char *variable_problem(const char *variable) {
#define VARIABLE(name) name,
	static const char *const own[] = {"PATH", "HOME", "TMPDIR", "TZ", "LANG", "IFS", "ENV", "SHELL",
	    "PWD", GB_AUTHORITY_VARIABLES(VARIABLE)};
#undef VARIABLE
	static const char *const own_beginnings[] = {"LD_", "BASH_", "GLOVEBOX_", "DENO_", "NODE_", "PYTHON"};
	const size_t n = strlen(variable);
	if (!n || n > GB_SECRET_VARIABLE_MAX || isdigit((unsigned char)*variable))
		return "a variable has 1 to 64 letters, digits and '_', and does not begin with a digit";
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)variable[i]) && variable[i] != '_')
			return "a variable has 1 to 64 letters, digits and '_', and does not begin with a "
			       "digit";
	for (size_t i = 0; i < GB_COUNT(own); i++)
		if (strcmp(variable, own[i]) == 0)
			return "the sandbox sets this variable itself";
	for (size_t i = 0; i < GB_COUNT(own_beginnings); i++)
		if (strncmp(variable, own_beginnings[i], strlen(own_beginnings[i])) == 0)
			return "the sandbox sets variables that begin so itself";
	return NULL;
}

static bool check_texts(const struct gb_secret_binding *binding, struct gb_err *err) {
	struct gb_host_rule hosts[GB_SECRET_HOSTS_MAX];
	struct gb_str name, before, after;
	size_t n;
	const char *problem;
	if (!gb_secret_hosts_parse(gb_str_from(binding->hosts), hosts, &n, &problem))
		return gb_fail_field(err, GB_EINVAL, "host", "'%.200s': %s", binding->hosts, problem);
	if (!gb_secret_header_parse(gb_str_from(binding->header), &name, &before, &after, &problem))
		return gb_fail_field(err, GB_EINVAL, "header", "'%.200s': %s", binding->header, problem);
	problem = variable_problem(binding->variable);
	return !problem || gb_fail_field(err, GB_EINVAL, "env", "'%.100s': %s", binding->variable, problem);
}

bool gb_secret_binding_check(const char *name, const char *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err) {
	const char *problem;
	if (strlen(name) > GB_SECRET_BOUND_NAME_MAX)
		return gb_fail(err, GB_EINVAL, 0,
		    "the name of a secret that is bound to hosts has at most %d "
		    "characters",
		    GB_SECRET_BOUND_NAME_MAX);
	if (!check_texts(binding, err))
		return false;
	return !value || gb_secret_value_check((struct gb_str){value, n}, &problem) ||
	       gb_fail(err, GB_EINVAL, 0, "the value of secret '%s' cannot be put into a header: %s", name,
		   problem);
}

void gb_secret_binding_variable(const char *name, char ret[GB_SECRET_VARIABLE_MAX + 1]) {
	size_t i = 0;
	for (; name[i] && i < GB_SECRET_VARIABLE_MAX; i++)
		ret[i] = isalnum((unsigned char)name[i]) ? (char)toupper((unsigned char)name[i]) : '_';
	ret[i] = '\0';
}

/* --- as it is stored: lines --- */

void gb_secret_binding_write(const struct gb_secret_binding *binding, struct gb_buf *out) {
	gb_buf_printf(out, "%s\n%s\n%s\n", binding->hosts, binding->header, binding->variable);
}

bool gb_secret_binding_read(
    struct gb_str text, char copy[GB_SECRET_BINDING_MAX], struct gb_secret_binding *ret) {
	const char **const fields[] = {&ret->hosts, &ret->header, &ret->variable};
	if (text.n >= GB_SECRET_BINDING_MAX || memchr(text.p, '\0', text.n))
		return false;
	gb_copy_text(copy, GB_SECRET_BINDING_MAX, text);
	for (size_t i = 0; i < GB_COUNT(fields); i++) {
		char *end = strchr(copy, '\n');
		if (!end)
			return false;
		*end = '\0';
		*fields[i] = copy;
		copy = end + 1;
	}
	return !*copy && check_texts(ret, NULL);
}
