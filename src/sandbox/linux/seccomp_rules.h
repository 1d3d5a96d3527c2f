/*
 * The rules of the system call filter as data. seccomp.c compiles them; tests iterate over them.
 *
 *	struct gb_seccomp_tables tables;
 *	gb_seccomp_tables(&options, &tables);
 *	for (size_t i = 0; i < tables.n; i++)
 *		... tables.of[i].rules[0 .. tables.of[i].n - 1]
 *
 * The filter first checks the exceptions, in order: the first match decides. Then it checks the other rules,
 * which do not overlap unless they give the same answer, so their order does not matter. A call that no rule
 * matches is refused.
 */
#ifndef GB_SANDBOX_LINUX_SECCOMP_RULES_H
#define GB_SANDBOX_LINUX_SECCOMP_RULES_H

#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/linux/plan.h"

enum { GB_SECCOMP_CONDITIONS = 4, GB_SECCOMP_TABLES_MAX = 10 };

/*
 * A condition on an argument: (arg & mask) == value. A mask of 0 means no condition.
 *
 * The mask also states the width. An argument is a register of 64 bits, but the kernel reads only the low 32
 * of an int, an unsigned int or a pid_t. The mask of a condition on such an argument must have no high bits,
 * so that the filter and the kernel see the same number for all values of the high bits.
 */
struct gb_seccomp_condition {
	unsigned arg;
	uint64_t mask;
	uint64_t value;
	bool differs;   /* instead: (arg & mask) != value; in exceptions only */
	bool is_cookie; /* value is the options' cookie */
};

enum gb_seccomp_answer {
	GB_SECCOMP_ALLOW,
	GB_SECCOMP_REFUSE, /* the options' errno */
	GB_SECCOMP_FAIL,   /* the rule's errno; with 0 the caller sees success, and the kernel does nothing */
};

struct gb_seccomp_rule {
	int nr;
	enum gb_seccomp_answer answer;
	int error;
	struct gb_seccomp_condition conditions[GB_SECCOMP_CONDITIONS];
};

struct gb_seccomp_table {
	const struct gb_seccomp_rule *rules;
	size_t n;
	bool exceptions;
};

struct gb_seccomp_tables {
	struct gb_seccomp_table of[GB_SECCOMP_TABLES_MAX];
	size_t n;
};

/* The tables that make up the filter, exceptions first. */
void gb_seccomp_tables(const struct gb_seccomp_options *options, struct gb_seccomp_tables *ret);

/* Additional rules of a room with programs. Those for mmap are separate, since they depend on the options. */
extern const struct gb_seccomp_table gb_seccomp_program_exceptions, gb_seccomp_ungrouped_exceptions,
    gb_seccomp_program_rules, gb_seccomp_socket_rules;

/* --- macros for writing tables --- */

#define GB_RULE(name, kind, number, ...)                                                                     \
	{                                                                                                    \
		.nr = SCMP_SYS(name), .answer = (kind), .error = (number), .conditions = { __VA_ARGS__ }     \
	}
#define PLAIN(name)              GB_RULE(name, GB_SECCOMP_ALLOW, 0, {0})
#define WHEN(name, ...)          GB_RULE(name, GB_SECCOMP_ALLOW, 0, __VA_ARGS__)
#define REFUSE(name, ...)        GB_RULE(name, GB_SECCOMP_REFUSE, 0, __VA_ARGS__)
#define FAIL(name, number)       GB_RULE(name, GB_SECCOMP_FAIL, number, {0})
#define DO_NOTHING(name)         GB_RULE(name, GB_SECCOMP_FAIL, 0, {0})
#define DO_NOTHING_IF(name, ...) GB_RULE(name, GB_SECCOMP_FAIL, 0, __VA_ARGS__)

/* Arguments that the kernel reads as 32 bits. */
#define IS(n, number)                                                                                        \
	{ .arg = (n), .mask = UINT32_MAX, .value = (uint32_t)(number) }
#define HAS(n, bits, number)                                                                                 \
	{ .arg = (n), .mask = (uint32_t)(bits), .value = (uint32_t)(number) }
#define WITHOUT(n, bits) HAS(n, bits, 0)
#define ONLY(n, bits)    HAS(n, ~(uint32_t)(bits), 0)
/* Arguments that the kernel reads as 64 bits. */
#define IS_LONG(n, number)                                                                                   \
	{ .arg = (n), .mask = UINT64_MAX, .value = (number) }
#define IS_NOT_LONG(n, number)                                                                               \
	{ .arg = (n), .mask = UINT64_MAX, .value = (number), .differs = true }
/* An address outside one of the regions of GB_SECCOMP_REGION. */
#define IS_OUTSIDE(n, region)                                                                                \
	{                                                                                                    \
		.arg = (n), .mask = UINT64_MAX ^ UINT32_MAX, .value = (GB_SECCOMP_REGION + (region)) << 32,  \
		.differs = true                                                                              \
	}
#define IS_COOKIE(n)                                                                                         \
	{ .arg = (n), .mask = UINT64_MAX, .is_cookie = true }

/* A socket's type, without SOCK_CLOEXEC and SOCK_NONBLOCK, which are in the same argument. */
enum { GB_SOCKET_TYPE = 0xf };

#endif
