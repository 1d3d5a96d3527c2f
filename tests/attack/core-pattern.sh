#!/usr/bin/env bash
# Guests that crash on a host where kernel.core_pattern is a pipe. The kernel starts that program as root, outside of
# every namespace, and gives it the memory of the process; a limit of 0 does not keep it from that. TAP.
# Needs GB_GLOVEBOX. Changes two settings of the machine, so it runs only where GB_TEST_MACHINE is 1.
set -u
pattern=/proc/sys/kernel/core_pattern pipe_limit=/proc/sys/kernel/core_pipe_limit
skip() { # reason
  echo "1..0 # SKIP $1"
  exit 0
}
[ "${GB_TEST_MACHINE:-}" = 1 ] || skip 'changes kernel.core_pattern, which all of the machine has in common: set GB_TEST_MACHINE=1'
[ -w "$pattern" ] && [ -w "$pipe_limit" ] || skip 'kernel.core_pattern cannot be changed here'
. "$(dirname "$0")/../e2e/tap.sh"

old_pattern=$(cat "$pattern") old_limit=$(cat "$pipe_limit")
restore() {
  printf '%s\n' "$old_pattern" > "$pattern"
  printf '%s\n' "$old_limit" > "$pipe_limit"
  rm -rf "$scratch"
}
trap restore EXIT
trap 'exit 1' INT TERM HUP

# Writes down how much it got, and of which process, known by a word in its memory. Other processes of the machine may
# crash meanwhile.
cat > "$scratch/helper" << END
#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin
core=$scratch/core.\$1
cat > "\$core"
word=\$(grep -a -o -m 1 'core-of-[a-z-]*-is-here' "\$core" | head -n 1)
[ -z "\$word" ] || echo "\$word \$(wc -c < "\$core")" >> $scratch/delivered
rm -f "\$core"
END
chmod 755 "$scratch" "$scratch/helper"
: > "$scratch/delivered"
# With this a process that crashes ends when the helper has: a caller that waits for the process need not wait for the helper.
echo 64 > "$pipe_limit" || exit 1
echo "|$scratch/helper %P" > "$pattern" || exit 1

delivered() { grep -q "^core-of-$1-is-here [1-9]" "$scratch/delivered"; }
nothing_of() { ! delivered "$1" || { echo "# the helper got: $(grep "core-of-$1-" "$scratch/delivered")"; return 1; }; }

# Without a wall, with the limits of prlimit. The word is put together by the process.
crash_outside() { # name, limit
  prlimit --core="$2" bash -c 'w=core-of-$1; w=$w-is-here; kill -SEGV $$' bash "$1"
  [ $? = 139 ] || { echo "# did not crash"; return 1; }
}
a() { crash_outside limit-zero 0:0 && delivered limit-zero; }
ok 'without a wall a limit of 0 does not keep memory from the helper' a
a() { crash_outside limit-one 1:1 && nothing_of limit-one; }
ok 'a limit of 1 does' a

# Name, commands of a shell that crashes in the end.
in_a_shell() {
  local name=$1
  run 1 run -l shell -e "w=core-of-$name; w=\$w-is-here"$'\n'"$2" || return 1
  case $err$out in *SIGSEGV* | *crashed*) ;; *) echo "# did not crash"; return 1 ;; esac
  nothing_of "$name"
}
ok 'a shell' in_a_shell shell 'kill -SEGV $$'
ok 'a shell that has set the limit to 0' in_a_shell shell-zero 'ulimit -c 0 || exit 9; kill -SEGV $$'
ok 'a shell that has asked for more' in_a_shell shell-more 'ulimit -c unlimited; ulimit -Sc 100; kill -SEGV $$'
ok 'a shell that has used prlimit' in_a_shell shell-prlimit \
  'prlimit --pid $$ --core=0:0; prlimit --pid $$ --core=unlimited; kill -SEGV $$'
ok 'a program that a shell has started' in_a_shell child \
  "bash -c 'ulimit -c 0; w=core-of-child; w=\$w-is-here; kill -SEGV \$\$'; [ \$? = 139 ] && echo crashed; exit 1"
ok 'Python in a shell, by the C library' in_a_shell python-setrlimit "python3 -c '
import os, resource
w = \"-\".join([\"core-of\", \"python-setrlimit\", \"is-here\"])
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.kill(os.getpid(), 11)'; [ \$? = 139 ] && echo crashed; exit 1"
ok 'Python in a shell, by system calls with high bits' in_a_shell python-syscall "python3 -c '
import ctypes, os
w = \"-\".join([\"core-of\", \"python-syscall\", \"is-here\"])
none, libc = (ctypes.c_uint64 * 2)(0, 0), ctypes.CDLL(None)
for high in (0, 1 << 32, 1 << 63):
    libc.syscall(160, ctypes.c_uint64(4 | high), none)
    for pid in (0, os.getpid()):
        libc.syscall(302, ctypes.c_uint64(pid | high), ctypes.c_uint64(4 | high), none, None)
        libc.syscall(302, ctypes.c_uint64(pid), ctypes.c_uint64(4 | high), none, (ctypes.c_uint64 * 2)())
os.kill(os.getpid(), 11)'; [ \$? = 139 ] && echo crashed; exit 1"

a() {
  run 1 run -l python -e 'import ctypes, resource
w = "-".join(["core-of", "python-cell", "is-here"])
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
ctypes.string_at(0)' || return 1
  has "$err" SIGSEGV && nothing_of python-cell
}
ok 'a Python cell' a
a() {
  run 1 run -l node -e 'globalThis.w = ["core-of", "node", "is-here"].join("-"); process.kill(process.pid, "SIGSEGV"); while (true);' || return 1
  has "$err" SIGSEGV && nothing_of node
}
if command -v node > /dev/null; then ok 'Node.js' a; fi

# Glovebox itself started with a hard limit of 0, which an ordinary user cannot raise: the dump has no memory in it.
a() {
  ulimit -c 0
  in_a_shell hard-limit-zero 'kill -SEGV $$'
}
ok 'a shell where the host has a hard limit of 0' eval '(a)'

# What came before was written down, or this would not be.
a() { crash_outside again 0:0 && delivered again; }
ok 'the helper still gets what is not behind a wall' a
echo "1..$n"
