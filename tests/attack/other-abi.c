/* Make system calls by ABIs that a filter might not check. */
#include <signal.h>

#include "attack.h"

#ifdef __x86_64__
/* getpid, as a 32-bit program would. */
ATTACK(call_as_a_32_bit_program, .layers = GB_LAYER_SECCOMP, .signal = SIGSYS) {
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "r8", "r9", "r10", "r11", "memory");
	return result;
}

ATTACK(call_as_an_x32_program, .layers = GB_LAYER_SECCOMP, .signal = SIGSYS, .kernel_says = {ENOSYS}) {
	return syscall(0x40000000 | SYS_getpid);
}

ATTACK(change_the_descriptor_table, .layers = GB_LAYER_SECCOMP, .kernel_says = {ENOSYS}) {
	char table[16];
	return syscall(SYS_modify_ldt, 0, table, sizeof table);
}

ATTACK(change_a_segment_base, .programs_allow = true, .layers = GB_LAYER_SECCOMP) {
	unsigned long base;
	return syscall(SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */, &base);
}

ATTACK(reach_io_ports, .layers = GB_LAYER_SECCOMP, .kernel_says = {EPERM, ENOSYS}) {
	struct tries tries = {0};
	try(&tries, syscall(SYS_ioperm, 0x80, 1, 1));
	try(&tries, syscall(SYS_iopl, 3));
	return tries_end(&tries);
}
#endif

/* Numbers that no kernel has yet. */
ATTACK(call_what_does_not_exist_yet, .layers = GB_LAYER_SECCOMP, .kernel_says = {ENOSYS}) {
	struct tries tries = {0};
	for (long nr = 600; nr < 1200; nr++)
		try(&tries, syscall(nr, -1, -1, -1, -1, -1, -1));
	return tries_end(&tries);
}
