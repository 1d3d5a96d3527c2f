/* Runs a compiled filter as the kernel would: the part of classic BPF that filters here use. */
#ifndef GB_TESTS_UNIT_BPF_H
#define GB_TESTS_UNIT_BPF_H

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/linux/plan.h"

static inline uint32_t evaluate(const struct gb_seccomp *filter, const struct seccomp_data *data) {
	uint32_t a = 0;
	for (unsigned pc = 0; pc < filter->n;) {
		const struct sock_filter *in = &filter->code[pc++];
		uint32_t k = in->k;
		switch (in->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + k, sizeof a);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= k;
			break;
		case BPF_JMP | BPF_JA:
			pc += k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == k ? in->jt : in->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			pc += a > k ? in->jt : in->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= k ? in->jt : in->jf;
			break;
		case BPF_RET | BPF_K:
			return k;
		default:
			printf("# unknown instruction %x\n", in->code);
			return UINT32_MAX;
		}
	}
	return UINT32_MAX;
}

#endif
