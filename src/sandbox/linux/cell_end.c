#include "sandbox/linux/cell_end.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "sandbox/linux/plan.h"
#include "sandbox/linux/protocol.h"

static_assert(GB_CELL_EXIT_NOT_COUNTED == GB_CELL_EXIT_NOT_RAISED + __builtin_ctz(GB_LAYER_CGROUP),
    "this exit status names the cgroup layer");

__attribute__((format(printf, 3, 4))) static void set(
    struct gb_cell_end *ret, enum gb_cell_cause cause, const char *format, ...) {
	va_list args;
	ret->cause = cause;
	va_start(args, format);
	vsnprintf(ret->text, sizeof ret->text, format, args);
	va_end(args);
}

static void set_missing_layer(struct gb_cell_end *ret, int exit_status) {
	if (exit_status == GB_CELL_EXIT_NOT_COUNTED) {
		set(ret, GB_CELL_LAYER_MISSING,
		    "%s: the cell has no control group, and its memory cannot be counted through /proc; see "
		    "'glovebox "
		    "doctor'",
		    gb_layer_name(GB_LAYER_CGROUP));
		return;
	}
	bool raised = exit_status >= GB_CELL_EXIT_NOT_OBSERVED;
	int bit = exit_status - (raised ? GB_CELL_EXIT_NOT_OBSERVED : GB_CELL_EXIT_NOT_RAISED);
	set(ret, GB_CELL_LAYER_MISSING, "%s: the sandbox %s; see 'glovebox doctor'",
	    gb_layer_name((enum gb_layer)(1u << bit)),
	    raised ? "raised this layer, did not observe that it holds, and ended"
		   : "could not raise this layer, and ended");
}

void gb_cell_end_by_status(int wait_status, struct gb_cell_end *ret) {
	const int sig = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
	const int status = WEXITSTATUS(wait_status);
	if (sig == SIGXCPU)
		set(ret, GB_CELL_CPU_TIME, "the run used more CPU time than it may");
	else if (sig)
		set(ret, GB_CELL_CRASHED, "the sandbox died of signal %d (SIG%s)", sig, sigabbrev_np(sig));
	else if (status >= GB_CELL_EXIT_NOT_RAISED && status < GB_CELL_EXIT_NO_WALL_END)
		set_missing_layer(ret, status);
	else if (status == GB_CELL_EXIT_PROGRAM)
		set(ret, GB_CELL_NO_ANSWER, "its program has ended");
	else if (status == GB_CELL_EXIT_MEMORY)
		set(ret, GB_CELL_MEMORY, "its processes needed more memory than the session may have");
	else
		set(ret, status == GB_CELL_EXIT_UNUSED ? GB_CELL_UNUSED : GB_CELL_NO_ANSWER,
		    "the sandbox ended without an answer (exit status %d)", status);
}

void gb_cell_end_by_memory(enum gb_out_of_memory which, struct gb_cell_end *ret) {
	if (which == GB_OOM_CELL)
		set(ret, GB_CELL_MEMORY,
		    "the kernel ended the run because it needed more memory than it may have");
	else
		set(ret, GB_CELL_MEMORY,
		    "the kernel ended the run because all runs together, or all processes of the machine, "
		    "needed more "
		    "memory than there is for them");
}
