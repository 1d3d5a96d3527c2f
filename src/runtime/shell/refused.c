#include "runtime/shell/refused.h"

#include <string.h>

#include "base/cleanup.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

enum {
	GUARD = GB_REFUSED_GUARD,
	ISOLATED = GB_REFUSED_RESTRICTED,
	RESTRICTED = ISOLATED | GB_REFUSED_RESTRICTED_NETWORK,
	BOTH = GUARD | RESTRICTED,
};

/* Reason and alternative. */
#define FILES                                                                                                \
	"removes files", "Files end with the sandbox: overwrite a file, empty it with ': > FILE', or keep "  \
			 "it."
#define RIGHTS "asks for the rights of another user", "There is one user only: run the command itself."
#define MOUNTS                                                                                               \
	"changes which file systems are attached",                                                           \
	    "Work on files in the current folder; the caller can put files there."
#define DISKS                                                                                                \
	"writes to devices or fills a disk", "Make files with 'printf', 'head -c 1000' or 'truncate -s 1K'."
#define OWNERS                                                                                               \
	"changes the owner or the rights of a file", "One user owns all files; 'chmod' sets their modes."
#define PROCESSES                                                                                            \
	"ends processes",                                                                                    \
	    "'timeout 5 COMMAND' ends a command that takes too long; everything else ends with the run."
#define MACHINE  "controls a whole machine", "There is no machine to control: leave it out."
#define ACCOUNTS "changes accounts", "There is one user only: leave it out."
#define SANDBOX  "makes another sandbox", "This is a sandbox: run the command itself."
#define KERNEL   "reads or changes the kernel's state", "The kernel is out of reach: leave it out."
#define NETWORK  "changes the network", "There is no network to change: leave it out."
#define REMOTE                                                                                               \
	"talks to other machines",                                                                           \
	    "There is no network: ask the caller for the network tier, or to put files into the sandbox."
#define INSTALLS "installs programs", "Use the programs in /usr; no others can be added."
#define OUTLIVES                                                                                             \
	"starts what is meant to outlive the run",                                                           \
	    "Everything ends with the run or its session: start the command itself."
#define DEBUGS "inspects other processes", "Let the program print what it does."

const struct gb_refused gb_refused[] = {
    {GB_REFUSED_COMMAND, NAMES("rm", "rmdir", "unlink", "shred"), FILES, BOTH},
    {GB_REFUSED_COMMAND, NAMES("wipe", "srm"), FILES, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("sudo", "su", "doas", "pkexec", "runuser"), RIGHTS, BOTH},
    {GB_REFUSED_COMMAND, NAMES("setpriv"), RIGHTS, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("mount", "umount"), MOUNTS, BOTH},
    {GB_REFUSED_COMMAND, NAMES("losetup", "swapon", "swapoff", "pivot_root"), MOUNTS, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("dd", "mkfs*", "mkswap", "wipefs", "fdisk", "sfdisk", "parted", "mknod"),
	DISKS, BOTH},
    {GB_REFUSED_COMMAND, NAMES("mke2fs", "blkdiscard", "hdparm", "badblocks"), DISKS, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("chown", "setcap"), OWNERS, BOTH},
    {GB_REFUSED_COMMAND, NAMES("chgrp", "chattr", "setfacl"), OWNERS, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("killall", "pkill"), PROCESSES, BOTH},
    {GB_REFUSED_COMMAND, NAMES("kill", "skill", "fuser"), PROCESSES, RESTRICTED},
    {GB_REFUSED_COMMAND,
	NAMES("shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl", "service"), MACHINE,
	BOTH},
    {GB_REFUSED_COMMAND, NAMES("runlevel"), MACHINE, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("passwd", "chpasswd", "useradd", "usermod", "userdel", "visudo"), ACCOUNTS,
	BOTH},
    {GB_REFUSED_COMMAND, NAMES("groupadd", "groupdel", "chsh", "adduser", "deluser"), ACCOUNTS, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("chroot", "nsenter", "unshare"), SANDBOX, BOTH},
    {GB_REFUSED_COMMAND, NAMES("capsh", "newuidmap", "newgidmap", "bwrap", "docker", "podman", "runc"),
	SANDBOX, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("insmod", "rmmod", "modprobe", "sysctl", "kexec"), KERNEL, BOTH},
    {GB_REFUSED_COMMAND, NAMES("dmesg"), KERNEL, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("iptables", "nft"), NETWORK, BOTH},
    {GB_REFUSED_COMMAND, NAMES("ip6tables", "ufw", "ifconfig", "route", "tc", "brctl"), NETWORK, RESTRICTED},
    {GB_REFUSED_COMMAND,
	NAMES(
	    "curl", "wget", "nc", "ncat", "netcat", "telnet", "ssh", "scp", "sftp", "ftp", "rsync", "socat"),
	REMOTE, ISOLATED}, /* the network tier has hosts that they can reach, and no others */
    {GB_REFUSED_COMMAND,
	NAMES("apt", "apt-get", "aptitude", "dpkg", "yum", "dnf", "rpm", "snap", "apk", "pacman"), INSTALLS,
	RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("crontab", "at"), OUTLIVES, BOTH},
    /* The guard checks the command that nohup and setsid start. */
    {GB_REFUSED_COMMAND, NAMES("atd", "batch", "nohup", "disown", "setsid"), OUTLIVES, RESTRICTED},
    {GB_REFUSED_COMMAND, NAMES("gdb", "strace", "ltrace", "perf", "bpftrace"), DEBUGS, RESTRICTED},
    /* The guard checks the arguments of eval, as far as they are known. */
    {GB_REFUSED_COMMAND, NAMES("eval"), "runs code that is not known before the run",
	"Write the commands themselves, or use an array.", RESTRICTED},
    {GB_REFUSED_DEVICE, NAMES("> /dev/"), "writes to a device", "Write to a file in the current folder.",
	BOTH},
    {GB_REFUSED_SHARED_DEVICE, NAMES("> /dev/"), "writes to a device",
	"Write to a file in the current folder.", GUARD},
    {GB_REFUSED_FORK_BOMB, NAMES("f | f &"), "is a function that starts itself over and over",
	"Use a loop with an end.", BOTH},
    {GB_REFUSED_UNREADABLE, NAMES("$( $( …"), "is nested too deeply, or too long, to be checked",
	"Put inner commands first, into variables.", BOTH},
};
const size_t gb_refused_count = GB_COUNT(gb_refused);

bool gb_refused_matches(const char *pattern, const char *name) {
	size_t n = strlen(pattern);
	return n && pattern[n - 1] == '*' ? strncmp(name, pattern, n - 1) == 0 : strcmp(name, pattern) == 0;
}

const struct gb_refused *gb_refused_find(
    enum gb_refused_kind kind, const char *name, unsigned modes, const char **ret_pattern) {
	for (const struct gb_refused *row = gb_refused; row < gb_refused + gb_refused_count; row++) {
		if (row->kind != kind || !(row->modes & modes))
			continue;
		for (const char *const *pattern = row->names; *pattern; pattern++) {
			if (kind != GB_REFUSED_COMMAND || gb_refused_matches(*pattern, name)) {
				*ret_pattern = *pattern;
				return row;
			}
		}
	}
	return NULL;
}
