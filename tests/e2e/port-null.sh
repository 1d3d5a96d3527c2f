#!/usr/bin/env bash
# The whole program on top of the null port: it refuses to run code, and says why. TAP. Needs GB_GLOVEBOX_NULL, GB_GLOVEBOX.
set -u
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
linux=$GB_GLOVEBOX
GB_GLOVEBOX=$GB_GLOVEBOX_NULL
. "$here/tap.sh"
export GLOVEBOX_STATE_DIR=$scratch/state GLOVEBOX_CONFIG=$scratch/glovebox.yaml HOME=$scratch XDG_RUNTIME_DIR=$scratch/run GLOVEBOX_SESSION_LINGER=300ms
mkdir -m 700 "$XDG_RUNTIME_DIR"
echo 'agent: {enabled: true, autoApprove: true}' > "$GLOVEBOX_CONFIG"
why='sandbox: this build has no sandbox for this operating system'

a() { for l in javascript typescript python shell node deno; do run 3 run --language "$l" -e 1 && has "$err" "$why" && [ -z "$out" ] || return 1; done; }
ok 'a run in any language is refused' a
a() { run 3 run --json -e 1 && json "j['status'] == 'denied' and j['error']['code'] == 'wall' and j['error']['message'].startswith('$why')"; }
ok 'as json' a
a() { run 3 doctor && has "$err" "$why" && run 3 doctor --json && has "$err" "$why"; }
ok 'doctor says that there is no sandbox' a
a() { run 3 execute -l javascript -e 1 && has "$err" "$why" && [ -z "$out" ]; }
ok 'the run of an agent is refused' a
a() { run 0 version && run 0 config show && run 0 session list; }
ok 'commands that run no code work' a
# Names of the Linux port; those of the gate and the guard are others.
symbols() { nm "$1" | grep -E ' gb_(zygote|cgroup|cell_group|seccomp|landlock|shard|spawn|oneshot)'; }
a() { [ -z "$(symbols "$glovebox")" ] && [ -n "$(symbols "$linux")" ]; }
ok 'no function of the Linux port is linked' a
a() { ! readelf -d "$glovebox" | grep -q libseccomp && readelf -d "$linux" | grep -q libseccomp; }
ok 'libseccomp is not linked' a
echo "1..$n"
