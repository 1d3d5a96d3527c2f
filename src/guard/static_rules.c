/* The tables. */
#include "guard/static_rules.h"

#include "base/cleanup.h"

#define NO_MODULES "code is one piece: ask for what it needs as an argument, or use what is built in"
#define NO_STRINGS "write the code itself; to read data, JSON.parse"

const struct gb_guard_rule gb_guard_js_rules[] = {
    {"import(", "loads modules while it runs", NO_MODULES},
    {"require(", "loads modules", NO_MODULES},
    {"eval(", "makes code out of text", NO_STRINGS},
    {"Function(", "makes code out of text", NO_STRINGS},
    {"child_process", "starts programs", "there are none to start; compute it, or ask for a tool"},
    {"process.exit", "ends the process", "return the value, or throw an Error"},
    {"process.kill", "ends processes", "return the value, or throw an Error"},
    {"globalThis", "reaches for everything that is global", "name what is needed directly"},
    {"__proto__", "changes prototypes", "Object.create or a class"},
    {"constructor[", "reaches for constructors by a name that is computed", "call the class by its name"},
};
const size_t gb_guard_js_rules_count = GB_COUNT(gb_guard_js_rules);

#define LEAVE_FILES "files end with the session; overwrite what is in the way, or leave it"
#define NO_RIGHTS   "there are no other rights to be had; do it without"
#define NO_DISK     "work on files in the current folder"
#define NO_MACHINE  "the machine is not this code's; do it without"
#define NO_ACCOUNTS "there is one user only; do it without"
#define OWN_JOBS    "kill %1 or kill \"$!\" ends a job of the script's own"

const struct gb_guard_rule gb_guard_shell_rules[] = {
    {"rm", "deletes files", LEAVE_FILES},
    {"rmdir", "deletes folders", LEAVE_FILES},
    {"unlink", "deletes files", LEAVE_FILES},
    {"shred", "destroys files", LEAVE_FILES},
    {"dd", "writes raw blocks", NO_DISK},
    {"mkfs*", "makes file systems", NO_DISK},
    {"mkswap", "makes swap space", NO_DISK},
    {"wipefs", "wipes disks", NO_DISK},
    {"fdisk", "changes disks", NO_DISK},
    {"sfdisk", "changes disks", NO_DISK},
    {"parted", "changes disks", NO_DISK},
    {"mount", "changes what is mounted", NO_DISK},
    {"umount", "changes what is mounted", NO_DISK},
    {"mknod", "makes devices", NO_DISK},
    {"sudo", "takes other rights", NO_RIGHTS},
    {"su", "takes other rights", NO_RIGHTS},
    {"doas", "takes other rights", NO_RIGHTS},
    {"pkexec", "takes other rights", NO_RIGHTS},
    {"runuser", "takes other rights", NO_RIGHTS},
    {"setcap", "gives rights away", NO_RIGHTS},
    {"chown", "gives files away", NO_RIGHTS},
    {"chroot", "leaves its root", NO_RIGHTS},
    {"nsenter", "enters namespaces", NO_RIGHTS},
    {"unshare", "makes namespaces", NO_RIGHTS},
    {"shutdown", "stops the machine", NO_MACHINE},
    {"reboot", "stops the machine", NO_MACHINE},
    {"halt", "stops the machine", NO_MACHINE},
    {"poweroff", "stops the machine", NO_MACHINE},
    {"init", "changes how the machine runs", NO_MACHINE},
    {"telinit", "changes how the machine runs", NO_MACHINE},
    {"systemctl", "changes services", NO_MACHINE},
    {"service", "changes services", NO_MACHINE},
    {"insmod", "changes the kernel", NO_MACHINE},
    {"rmmod", "changes the kernel", NO_MACHINE},
    {"modprobe", "changes the kernel", NO_MACHINE},
    {"sysctl", "changes the kernel", NO_MACHINE},
    {"kexec", "changes the kernel", NO_MACHINE},
    {"iptables", "changes the network", NO_MACHINE},
    {"nft", "changes the network", NO_MACHINE},
    {"crontab", "leaves something behind", NO_MACHINE},
    {"at", "leaves something behind", NO_MACHINE},
    {"passwd", "changes accounts", NO_ACCOUNTS},
    {"chpasswd", "changes accounts", NO_ACCOUNTS},
    {"useradd", "changes accounts", NO_ACCOUNTS},
    {"usermod", "changes accounts", NO_ACCOUNTS},
    {"userdel", "changes accounts", NO_ACCOUNTS},
    {"visudo", "changes accounts", NO_ACCOUNTS},
    {"killall", "ends processes that may not be its own", OWN_JOBS},
    {"pkill", "ends processes that may not be its own", OWN_JOBS},
};
const size_t gb_guard_shell_rules_count = GB_COUNT(gb_guard_shell_rules);

const struct gb_guard_rule gb_guard_shell_device = {"> /dev/", "writes to a device", NO_DISK},
			   gb_guard_shell_bomb = {"f | f &", "a function that only starts itself",
			       "a loop with an end"},
			   gb_guard_shell_depth = {"$( $( …", "nested more deeply than can be looked at",
			       "put the inner commands first, into variables"};

bool guard_rule_at(const struct guard_search *search, size_t index, struct gb_guard_rule *ret) {
	if (index < search->n_rules) {
		*ret = search->rules[index];
		return true;
	}
	index -= search->n_rules;
	if (index >= search->n_more)
		return false;
	*ret = (struct gb_guard_rule){search->more[index], "is refused here by its owner", "do it without"};
	return true;
}
