/* Pages and descriptor tables of all processes. */
#include <stdio.h>
#include <string.h>

#include "runtime/program/memory_parts.h"

/* SLOT: a slot in a descriptor table with a small file behind it. FREE: not charged, since bash uses
 * descriptor 255. */
enum { SLOT_BYTES = 1024, FREE_SLOTS = 256 };

static enum gb_proc_status read_status(const char *id, struct gb_task *ret) {
	char path[GB_PROC_PATH_MAX], text[GB_PROC_TEXT_MAX];
	snprintf(path, sizeof path, "/proc/%.16s/status", id);
	enum gb_proc_status status = gb_proc_read(path, text);
	if (status != GB_PROC_READ)
		return status;
	/* An exited thread has no memory fields. */
	if (!strstr(text, "\nRssAnon:"))
		return GB_PROC_GONE;
	snprintf(ret->id, sizeof ret->id, "%.16s", id);
	ret->pages = (gb_proc_number(text, "\nRssAnon:") + gb_proc_number(text, "\nRssShmem:")) << 10;
	ret->tables = gb_proc_number(text, "\nVmPTE:") << 10;
	ret->size = gb_proc_number(text, "\nVmSize:") << 10;
	ret->fd_slots = gb_proc_number(text, "\nFDSize:");
	return GB_PROC_READ;
}

enum gb_proc_status gb_task_read(const char *pid, struct gb_task *ret) {
	char path[GB_PROC_PATH_MAX];
	enum gb_proc_status status = read_status(pid, ret);
	if (status != GB_PROC_GONE)
		return status;
	/* All threads share their memory: any live one will do. */
	snprintf(path, sizeof path, "/proc/%.16s/task", pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return gb_proc_error();
	for (const char *id; status == GB_PROC_GONE && (id = gb_proc_next(tasks));)
		status = read_status(id, ret);
	closedir(tasks);
	return status;
}

/* Charge shared pages proportionally (Pss). A process that cannot be inspected is charged in full. */
static enum gb_proc_status share_pages(struct gb_task *task) {
	char path[GB_PROC_PATH_MAX], text[GB_PROC_TEXT_MAX];
	snprintf(path, sizeof path, "/proc/%s/smaps_rollup", task->id);
	enum gb_proc_status status = gb_proc_read(path, text);
	if (status == GB_PROC_READ)
		task->pages = (gb_proc_number(text, "\nPss_Anon:") + gb_proc_number(text, "\nPss_Shmem:"))
			      << 10;
	return status == GB_PROC_CLOSED ? GB_PROC_READ : status;
}

static enum gb_proc_status add_task(const char *pid, bool exact, struct gb_tasks *sum) {
	struct gb_task task = {0};
	enum gb_proc_status status = gb_task_read(pid, &task);
	if (status == GB_PROC_READ && exact)
		status = share_pages(&task);
	if (status != GB_PROC_READ)
		return status;
	uint64_t slots = task.fd_slots > FREE_SLOTS ? task.fd_slots - FREE_SLOTS : 0;
	sum->pages += task.pages;
	sum->used += task.pages + task.tables + slots * SLOT_BYTES;
	return status;
}

bool gb_tasks_count(uint64_t limit, bool exact, struct gb_tasks *ret) {
	struct gb_tasks sum = {0};
	enum gb_proc_status status = GB_PROC_READ;
	DIR *proc = opendir("/proc");
	if (!proc)
		return false;
	/* Stop once the limit is exceeded. */
	for (const char *pid; sum.used <= limit && (pid = gb_proc_next(proc));) {
		status = add_task(pid, exact, &sum);
		if (status == GB_PROC_FAILED || status == GB_PROC_CLOSED)
			break;
	}
	closedir(proc);
	*ret = sum;
	return status == GB_PROC_READ || status == GB_PROC_GONE;
}
