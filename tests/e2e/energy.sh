#!/usr/bin/env bash
# `glovebox energy` on the command line. TAP. Needs GB_GLOVEBOX.
set -u
. "$(dirname "$0")/tap.sh"
export GLOVEBOX_STATE_DIR=$scratch/state

a() { run 0 energy && has "$out" '1.0000 of 1, and 0.5 more an hour; full now' && has "$out" '18 runs now' && has "$out" '5 runs now' && [ ! -e "$scratch/state" ]; }
ok 'full at the start, and reading creates no files' a
a() { run 0 energy set 0.2 && has "$out" 'energy    0.2' && has "$out" 'full at 2' && has "$out" '2 runs now' && has "$out" 'none before 2'; }
ok 'the level can be set' a
a() { run 0 energy --json && json '0.2 <= j["level"] < 0.3 and j["maximum"] == 1 and j["perHour"] == 0.5 and j["fullAt"] and j["tiers"]["isolated"] == {"cost": 0.05, "atLeast": 0.15, "allowed": True, "allowedAt": None} and not j["tiers"]["network"]["allowed"] and j["tiers"]["network"]["allowedAt"]'; }
ok 'the same as JSON' a
a() { run 0 energy set 0 --json && json 'not j["tiers"]["isolated"]["allowed"]'; }
ok 'no run is possible at zero' a
a() { run 2 energy set && has "$err" 'give a level' && run 2 energy set much && run 2 energy set 2 && has "$err" 'more than the maximum' && run 2 energy set nan && has "$err" 'not a number' && run 2 energy lose && has "$err" "'lose' is not one of set" && run 2 energy set 1 2 && has "$err" 'unexpected operand'; }
ok 'usage errors are named' a
a() { "$GB_GLOVEBOX" energy > /dev/full 2> "$scratch/err"; [ $? = 1 ] && has "$(cat "$scratch/err")" 'could be written'; }
ok 'a failed write is an error' a
a() { run 0 energy --help && has "$out" 'glovebox energy [set LEVEL]'; }
ok 'help' a
a() { printf x > "$scratch/state/energy.db" && run 1 energy && has "$err" 'is not a Glovebox database'; }
ok 'a damaged file is an error' a
echo "1..$n"
