/*
 * The system call allowlist, compiled to BPF on the host by libseccomp and loaded raw by the child.
 *
 * There is one filter. The zygote loads it once and its cells inherit it: loading costs a tenth of a
 * millisecond and the kernel's time to compile and free it, and kernels have locked up when thousands of
 * filters per second were loaded and freed. So the filter also admits the calls that the zygote needs. Each
 * of those calls requires a descriptor that a cell does not have, or a capability that a cell drops, or a
 * random number (the cookie) that a cell erases, or is blocked in a cell by a limit that it cannot raise.
 *
 * Exceptions are hand-written instructions before those that libseccomp generates: libseccomp does not define
 * which of two rules with different answers wins, and its "not equal" compares all 64 bits of an argument.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/linux/plan.h"
#include "sandbox/linux/seccomp_rules.h"

/* The errno that a rule returns for a call that it does not allow. With GB_SECCOMP_MARK, every call that does
 * not reach the kernel returns the mark. */
static uint32_t error_of(const struct gb_seccomp_rule *rule, const struct gb_seccomp_options *options) {
	bool own = rule->answer == GB_SECCOMP_FAIL && options->denied_errno != GB_SECCOMP_MARK;
	return (uint32_t)(own ? rule->error : options->denied_errno);
}

static uint64_t value_of(const struct gb_seccomp_condition *c, const struct gb_seccomp_options *options) {
	return c->is_cookie ? options->cookie : c->value;
}

/* --- exceptions --- */

struct code {
	struct gb_seccomp *out;
	bool full;
};

static void emit(struct code *code, struct sock_filter instruction) {
	if (code->out->n < GB_PLAN_FILTER_MAX)
		code->out->code[code->out->n++] = instruction;
	else
		code->full = true;
}

enum { MAX_STEPS = 32 };

/* The instructions of one rule. A step that does not match jumps to the next rule. */
struct steps {
	struct sock_filter code[MAX_STEPS];
	unsigned n;
};

static void load(struct steps *steps, size_t offset) {
	steps->code[steps->n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Placeholders in a jump, replaced by distances when the rule is complete. */
enum { NEXT_RULE = 255, MATCHED = 254 };

static void compare(struct steps *steps, uint32_t mask, uint32_t value, uint8_t equal, uint8_t different) {
	if (mask != UINT32_MAX)
		steps->code[steps->n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask);
	steps->code[steps->n++] =
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, equal, different);
}

/* The offset of the high or low half of an argument. */
static size_t half_of(unsigned arg, bool high) {
	const bool second = high == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	return offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t) + (second ? sizeof(uint32_t) : 0);
}

static void resolve_jumps(struct steps *steps, unsigned from, uint8_t placeholder, unsigned target) {
	for (unsigned i = from; i < steps->n; i++) {
		struct sock_filter *in = &steps->code[i];
		if (BPF_CLASS(in->code) != BPF_JMP)
			continue;
		in->jt = in->jt == placeholder ? (uint8_t)(target - i - 1) : in->jt;
		in->jf = in->jf == placeholder ? (uint8_t)(target - i - 1) : in->jf;
	}
}

static void add_condition(struct steps *steps, const struct gb_seccomp_condition *c, uint64_t value) {
	const uint32_t masks[] = {(uint32_t)(c->mask >> 32), (uint32_t)c->mask},
		       values[] = {(uint32_t)(value >> 32), (uint32_t)value};
	const unsigned from = steps->n;
	for (unsigned i = 0; i < GB_COUNT(masks); i++) {
		if (!masks[i])
			continue;
		load(steps, half_of(c->arg, i == 0));
		/* Two numbers differ if one half differs; equality is known only after the last half. */
		bool last = i == 1 || !masks[1];
		if (c->differs)
			compare(steps, masks[i], values[i], last ? NEXT_RULE : 0, MATCHED);
		else
			compare(steps, masks[i], values[i], 0, NEXT_RULE);
	}
	resolve_jumps(steps, from, MATCHED, steps->n);
}

static void add_exception(
    struct code *code, const struct gb_seccomp_rule *rule, const struct gb_seccomp_options *options) {
	struct steps steps = {.n = 0};
	load(&steps, offsetof(struct seccomp_data, nr));
	compare(&steps, UINT32_MAX, (uint32_t)rule->nr, 0, NEXT_RULE);
	for (size_t i = 0; i < GB_COUNT(rule->conditions); i++)
		if (rule->conditions[i].mask)
			add_condition(&steps, &rule->conditions[i], value_of(&rule->conditions[i], options));
	steps.code[steps.n++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_of(rule, options));
	resolve_jumps(&steps, 0, NEXT_RULE, steps.n);
	for (unsigned i = 0; i < steps.n; i++)
		emit(code, steps.code[i]);
}

/* System call numbers of other architectures have other meanings: libseccomp's part kills the process for
 * those. */
static bool add_exceptions(struct gb_seccomp *ret, const struct gb_seccomp_tables *tables,
    const struct gb_seccomp_options *options, struct gb_err *err) {
	struct code code = {.out = ret};
	emit(&code,
	    (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	emit(&code, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 1, 0));
	const uint16_t skip = ret->n;
	emit(&code, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
	for (size_t i = 0; i < tables->n; i++)
		for (size_t j = 0; tables->of[i].exceptions && j < tables->of[i].n; j++)
			add_exception(&code, &tables->of[i].rules[j], options);
	if (code.full)
		return gb_fail(err, GB_EWALL, 0, "seccomp: too many exceptions");
	ret->code[skip].k = (uint32_t)(ret->n - skip - 1);
	return true;
}

/* --- the allowlist --- */

static int add_rule(
    scmp_filter_ctx filter, const struct gb_seccomp_rule *rule, const struct gb_seccomp_options *options) {
	struct scmp_arg_cmp comparisons[GB_COUNT(rule->conditions)];
	unsigned n = 0;
	for (size_t i = 0; i < GB_COUNT(rule->conditions); i++) {
		const struct gb_seccomp_condition *c = &rule->conditions[i];
		if (c->mask)
			comparisons[n++] =
			    SCMP_CMP(c->arg, SCMP_CMP_MASKED_EQ, c->mask, value_of(c, options));
	}
	const uint32_t error = error_of(rule, options);
	if (rule->answer == GB_SECCOMP_ALLOW)
		return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->nr, n, comparisons);
	/* libseccomp rejects a rule whose action is the filter's default action. */
	return error == (uint32_t)options->denied_errno
		   ? 0
		   : seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(error), rule->nr, n, comparisons);
}

static bool add_rules(scmp_filter_ctx filter, const struct gb_seccomp_tables *tables,
    const struct gb_seccomp_options *options, struct gb_err *err) {
	for (size_t i = 0; i < tables->n; i++) {
		const struct gb_seccomp_table *table = &tables->of[i];
		for (size_t j = 0; !table->exceptions && j < table->n; j++) {
			int failed = add_rule(filter, &table->rules[j], options);
			if (failed)
				return gb_fail(
				    err, GB_EWALL, -failed, "seccomp: rule %zu of table %zu", j, i);
		}
	}
	return true;
}

/* Append the code that libseccomp generates. */
static bool export_filter(scmp_filter_ctx filter, struct gb_seccomp *ret, struct gb_err *err) {
	gb_auto_fd int fd = memfd_create("glovebox-bpf", MFD_CLOEXEC);
	if (fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "seccomp: memfd");
	int failed = seccomp_export_bpf(filter, fd);
	if (failed)
		return gb_fail(err, GB_EWALL, -failed, "seccomp: compile the filter");
	const size_t room = sizeof ret->code - ret->n * sizeof *ret->code;
	off_t size = lseek(fd, 0, SEEK_END);
	if (size <= 0 || (size_t)size > room || (size_t)size % sizeof *ret->code)
		return gb_fail(
		    err, GB_EWALL, 0, "seccomp: the filter has %ld bytes, room is for %zu", (long)size, room);
	lseek(fd, 0, SEEK_SET);
	if (!gb_read_all(fd, ret->code + ret->n, (size_t)size))
		return gb_fail(err, GB_ESYSTEM, errno, "seccomp: read the filter");
	ret->n = (uint16_t)(ret->n + (size_t)size / sizeof *ret->code);
	return true;
}

static void release_filter(scmp_filter_ctx *filter) {
	seccomp_release(*filter);
}

bool gb_seccomp_filter(struct gb_seccomp *ret, const struct gb_seccomp_options *options, struct gb_err *err) {
	__attribute__((cleanup(release_filter))) scmp_filter_ctx filter =
	    seccomp_init(SCMP_ACT_ERRNO((uint32_t)options->denied_errno));
	if (!filter)
		return gb_fail(err, GB_EWALL, 0, "seccomp: libseccomp does not know this architecture");
	/* Calls of another architecture (32-bit code) end the process. The binary tree shortens both the
	 * execution of the filter and the kernel's check of it at load time. */
	seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	struct gb_seccomp_tables tables;
	gb_seccomp_tables(options, &tables);
	ret->n = 0;
	return add_exceptions(ret, &tables, options, err) && add_rules(filter, &tables, options, err) &&
	       export_filter(filter, ret, err);
}
