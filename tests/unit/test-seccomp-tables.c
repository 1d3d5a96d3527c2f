/*
 * Compiled filters against their tables, for calls generated from the tables: each rule as it is, and
 * with each of its numbers changed; and all of these with high bits set in each argument.
 */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>

#include "bpf.h"
#include "sandbox/linux/seccomp_rules.h"
#include "tap.h"

enum { COOKIE = 0x1234567, N_ARGS = 6, N_HIGH = 33 };

static const struct gb_seccomp_options kinds[] = {
    {.room = GB_ROOM_NONE, .denied_errno = EPERM},
    {.room = GB_ROOM_FILES, .cookie = COOKIE, .denied_errno = EPERM},
    {.room = GB_ROOM_PROGRAMS, .cookie = COOKIE, .denied_errno = EPERM},
    {.room = GB_ROOM_PROGRAMS, .cookie = COOKIE, .denied_errno = EPERM, .grouped = true},
    {.room = GB_ROOM_FILES, .cookie = COOKIE, .denied_errno = EPERM, .network = true},
    {.room = GB_ROOM_PROGRAMS, .cookie = COOKIE, .denied_errno = EPERM, .network = true},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* The kernel reads 32 bits of the arguments that rules check, except these. */
static bool is_long(int nr, unsigned arg) {
	switch (nr) {
	case SYS_mmap:
		return arg == 0 || arg == 2 || arg == 3;
	case SYS_mremap:
		return arg == 3;
	case SYS_mprotect:
		return arg == 2;
	case SYS_unshare:
		return arg == 0 || arg == 1; /* 1 is not read by the kernel: the cookie */
	case SYS_landlock_create_ruleset:
		return arg == 3; /* the same */
	case SYS_prlimit64:
		return arg == 2 || arg == 3;
	default:
		return false;
	}
}

static uint64_t value_of(const struct gb_seccomp_condition *c) {
	return c->is_cookie ? COOKIE : c->value;
}

/* A call that the rule matches. */
static struct seccomp_data call_of(const struct gb_seccomp_rule *rule) {
	struct seccomp_data data = {.nr = rule->nr, .arch = AUDIT_ARCH_X86_64};
	for (unsigned i = 0; i < GB_SECCOMP_CONDITIONS; i++) {
		const struct gb_seccomp_condition *c = &rule->conditions[i];
		if (c->mask)
			data.args[c->arg] = c->differs ? value_of(c) ^ 1 : value_of(c);
	}
	return data;
}

/* --- evaluation of the tables --- */

static bool matches(const struct gb_seccomp_rule *rule, const struct seccomp_data *data) {
	bool all = rule->nr == data->nr;
	for (unsigned i = 0; i < GB_SECCOMP_CONDITIONS && all; i++) {
		const struct gb_seccomp_condition *c = &rule->conditions[i];
		bool equal = (data->args[c->arg] & c->mask) == value_of(c);
		all = !c->mask || equal != c->differs;
	}
	return all;
}

static uint32_t answer_of(const struct gb_seccomp_rule *rule) {
	return rule->answer == GB_SECCOMP_ALLOW    ? SECCOMP_RET_ALLOW
	       : rule->answer == GB_SECCOMP_REFUSE ? SECCOMP_RET_ERRNO | EPERM
						   : SECCOMP_RET_ERRNO | (uint32_t)rule->error;
}

/* False if two rules that are not exceptions contradict each other. */
static bool read_tables(
    const struct gb_seccomp_tables *tables, const struct seccomp_data *data, uint32_t *ret) {
	uint32_t answer = SECCOMP_RET_ERRNO | EPERM;
	bool found = false;
	for (size_t i = 0; i < tables->n; i++)
		for (size_t j = 0; j < tables->of[i].n; j++) {
			const struct gb_seccomp_rule *rule = &tables->of[i].rules[j];
			if (!matches(rule, data))
				continue;
			if (found && answer != answer_of(rule))
				return false;
			found = true;
			answer = answer_of(rule);
			if (tables->of[i].exceptions) {
				*ret = answer;
				return true;
			}
		}
	*ret = answer;
	return true;
}

/* --- all calls --- */

struct walk {
	struct gb_seccomp filter;
	struct gb_seccomp_tables tables;
	unsigned n_calls, n_wrong;
	void (*look)(struct walk *walk, const struct seccomp_data *data);
};

static void wrong(struct walk *walk, const struct seccomp_data *data, const char *what) {
	if (walk->n_wrong++ < 20)
		printf("# call %d (%llx, %llx, %llx, %llx, %llx, %llx): %s\n", data->nr, data->args[0],
		    data->args[1], data->args[2], data->args[3], data->args[4], data->args[5], what);
}

/* Variants of a number of a rule: unchanged, 0, all ones, and with each low bit changed. */
static void vary(
    struct walk *walk, const struct gb_seccomp_rule *rule, const struct gb_seccomp_condition *c) {
	const uint64_t value = value_of(c), others[] = {value, 0, UINT32_MAX};
	struct seccomp_data data = call_of(rule);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		data.args[c->arg] = others[i];
		walk->look(walk, &data);
	}
	for (unsigned bit = 0; bit < 32; bit++) {
		data.args[c->arg] = value ^ 1ull << bit;
		walk->look(walk, &data);
	}
}

static void walk_over(
    const struct gb_seccomp_options *options, void (*look)(struct walk *, const struct seccomp_data *)) {
	struct walk walk = {.look = look};
	struct gb_err err = {0};
	if (!CHECK(gb_seccomp_filter(&walk.filter, options, &err))) {
		tap_quote("", err.message);
		return;
	}
	gb_seccomp_tables(options, &walk.tables);
	for (size_t i = 0; i < walk.tables.n; i++)
		for (size_t j = 0; j < walk.tables.of[i].n; j++) {
			const struct gb_seccomp_rule *rule = &walk.tables.of[i].rules[j];
			struct seccomp_data data = call_of(rule);
			look(&walk, &data);
			for (unsigned k = 0; k < GB_SECCOMP_CONDITIONS; k++)
				if (rule->conditions[k].mask)
					vary(&walk, rule, &rule->conditions[k]);
		}
	printf("# room %d: %u instructions, %u calls\n", (int)options->room, walk.filter.n, walk.n_calls);
	CHECK(walk.n_calls > 100);
	CHECK_INT(walk.n_wrong, 0);
}

/* One of the high bits, or all. */
static uint64_t high_bits(unsigned i) {
	return i < 32 ? 1ull << (32 + i) : (uint64_t)UINT32_MAX << 32;
}

/* --- tests --- */

static void compare_high_bits(struct walk *walk, const struct seccomp_data *plain) {
	const uint32_t before = evaluate(&walk->filter, plain);
	for (unsigned arg = 0; arg < N_ARGS; arg++)
		for (unsigned i = 0; i < N_HIGH; i++) {
			struct seccomp_data data = *plain;
			data.args[arg] |= high_bits(i);
			uint32_t after = evaluate(&walk->filter, &data);
			walk->n_calls++;
			if (after == SECCOMP_RET_ALLOW && before != SECCOMP_RET_ALLOW)
				wrong(walk, &data, "high bits turn a refusal into an allow");
			else if (after != before && !is_long(data.nr, arg))
				wrong(walk, &data, "the kernel does not read these bits, the filter does");
		}
}

TEST(high_bits_of_an_argument_do_not_change_the_decision) {
	for (size_t i = 0; i < N_KINDS; i++)
		walk_over(&kinds[i], compare_high_bits);
}

static void compare_with_tables(struct walk *walk, const struct seccomp_data *plain) {
	for (unsigned arg = 0; arg <= N_ARGS; arg++) {
		struct seccomp_data data = *plain;
		if (arg < N_ARGS)
			data.args[arg] |= high_bits(arg);
		uint32_t expected;
		walk->n_calls++;
		if (!read_tables(&walk->tables, &data, &expected))
			wrong(walk, &data, "two rules that match say different things");
		else if (evaluate(&walk->filter, &data) != expected)
			wrong(walk, &data, "the filter does not say what the tables say");
	}
}

TEST(filters_agree_with_their_tables) {
	for (size_t i = 0; i < N_KINDS; i++)
		walk_over(&kinds[i], compare_with_tables);
}

/* libseccomp could not express such a rule. */
TEST(only_exceptions_compare_for_inequality) {
	for (size_t i = 0; i < N_KINDS; i++) {
		struct gb_seccomp_tables tables;
		gb_seccomp_tables(&kinds[i], &tables);
		for (size_t j = 0; j < tables.n; j++)
			for (size_t k = 0; k < tables.of[j].n * GB_SECCOMP_CONDITIONS; k++)
				CHECK(tables.of[j].exceptions || !tables.of[j]
								      .rules[k / GB_SECCOMP_CONDITIONS]
								      .conditions[k % GB_SECCOMP_CONDITIONS]
								      .differs);
	}
}

TEST(every_bit_of_the_cookie_is_checked) {
	const uint64_t cookie = 0x8123456789abcdefull;
	for (enum gb_room room = GB_ROOM_FILES; room <= GB_ROOM_PROGRAMS; room++) {
		struct gb_seccomp filter;
		struct seccomp_data data = {
		    .nr = SYS_unshare, .arch = AUDIT_ARCH_X86_64, .args = {CLONE_NEWUSER, cookie}};
		CHECK(gb_seccomp_filter(&filter,
		    &(struct gb_seccomp_options){.room = room, .cookie = cookie, .denied_errno = EPERM},
		    NULL));
		CHECK_INT(evaluate(&filter, &data), SECCOMP_RET_ALLOW);
		for (unsigned bit = 0; bit < 64; bit++) {
			data.args[1] = cookie ^ 1ull << bit;
			CHECK_INT(evaluate(&filter, &data), SECCOMP_RET_ERRNO | EPERM);
		}
	}
}
