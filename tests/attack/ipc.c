/* Communicate with processes of the host through the kernel's message queues and shared memory. */
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "attack.h"

static key_t make_key(struct stage *stage) {
	key_t key = 0x6b0000 + getpid();
	snprintf(stage->argument, sizeof stage->argument, "%d", (int)key);
	return key;
}

static bool set_shm(struct stage *stage) {
	return (stage->ipc_id = shmget(make_key(stage), 4096, IPC_CREAT | 0666)) >= 0;
}

static void strike_shm(struct stage *stage) {
	shmctl(stage->ipc_id, IPC_RMID, NULL);
}

static bool set_msg(struct stage *stage) {
	return (stage->ipc_id = msgget(make_key(stage), IPC_CREAT | 0666)) >= 0;
}

static void strike_msg(struct stage *stage) {
	msgctl(stage->ipc_id, IPC_RMID, NULL);
}

static bool set_sem(struct stage *stage) {
	return (stage->ipc_id = semget(make_key(stage), 1, IPC_CREAT | 0666)) >= 0;
}

static void strike_sem(struct stage *stage) {
	semctl(stage->ipc_id, 0, IPC_RMID);
}

#define STOPPED_BY GB_LAYER_IPC | GB_LAYER_SECCOMP

ATTACK(attach_shared_memory, .layers = STOPPED_BY, .set = set_shm, .strike = strike_shm) {
	return syscall(SYS_shmget, atoi(argument), 4096, 0);
}

ATTACK(join_a_message_queue, .layers = STOPPED_BY, .set = set_msg, .strike = strike_msg) {
	return syscall(SYS_msgget, atoi(argument), 0);
}

ATTACK(join_a_semaphore, .layers = STOPPED_BY, .set = set_sem, .strike = strike_sem) {
	return syscall(SYS_semget, atoi(argument), 1, 0);
}

ATTACK(make_shared_memory, .layers = GB_LAYER_SECCOMP) {
	long id = syscall(SYS_shmget, IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	return id < 0 ? -1 : syscall(SYS_shmctl, id, IPC_RMID, NULL);
}

static bool set_mq(struct stage *stage) {
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
	snprintf(stage->argument, sizeof stage->argument, "glovebox-attack-%d", (int)getpid());
	mode_t mask = umask(0);
	long fd = syscall(SYS_mq_open, stage->argument, O_RDWR | O_CREAT | O_CLOEXEC, 0666, &attr);
	umask(mask);
	if (fd >= 0)
		stage->fds[stage->n_fds++] = (int)fd;
	return fd >= 0;
}

static void strike_mq(struct stage *stage) {
	syscall(SYS_mq_unlink, stage->argument);
}

ATTACK(open_a_posix_message_queue, .layers = STOPPED_BY, .set = set_mq, .strike = strike_mq) {
	return syscall(SYS_mq_open, argument, O_RDWR, 0, NULL);
}
