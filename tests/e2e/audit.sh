#!/usr/bin/env bash
# `glovebox audit` on the command line. TAP. Needs GB_GLOVEBOX and GB_AUDIT_MAKE.
set -u
. "$(dirname "$0")/tap.sh"

export GLOVEBOX_STATE_DIR=$scratch/state
nothing() { [ -z "$out" ] && has "$err" "nothing has been recorded in '$scratch/state'" && [ ! -e "$scratch/state" ]; }
a() { run 0 audit verify && nothing && run 0 audit list && nothing && run 0 audit list --json && nothing && run 0 audit export && nothing && run 0 audit show 1 && nothing && run 0 audit show 1 --json && nothing && run 2 audit show && has "$err" 'number of a record'; }
ok 'a missing log is reported, and not created' a
a() { run 0 audit verify --json && json 'j["whole"] and j["records"] == 0 and j["head"] is None' && [ -z "$err" ]; }
ok 'the same as JSON' a
a() { run 1 audit show 1 --dir "$scratch/state" && has "$err" "$scratch/state" && run 1 audit verify --expect-head "1:$(printf '%064d' 0)" && nothing && run 1 audit verify --dir "$scratch/state" && has "$err" "$scratch/state"; }
ok 'a missing log is an error if it is required' a
a() { run 0 approvals list && [ -z "$out" ] && run 0 approvals list --json && [ -z "$out" ] && run 0 energy --json && json 'j["level"] == 1' && run 0 secrets list --json && json 'j == []' && [ ! -e "$scratch/state" ]; }
ok 'other commands work without a log' a
"$GB_AUDIT_MAKE" "$scratch/state" append 30 || exit 1

a() { run 0 audit list && lines 21 && has "$out" 'record' && has "$out" 'export default 1' && [ -z "$err" ]; }
ok 'the newest twenty records are listed' a
a() { ! grep -q $'[\x1b\x07]' "$scratch/out" && has "$out" "'?[31mred?' second line"; }
ok 'code in a list cannot control the terminal' a
a() { run 0 audit show 30 && ! grep -q $'[\x1b\x07]' "$scratch/out" && has "$out" run-30 && has "$out" '    second line'; }
ok 'code of a shown record cannot control the terminal' a
a() { run 0 audit list --status error --limit 3 && lines 4 && has "$out" python && ! has "$out" success > /dev/null; }
ok 'a list by status' a
a() { run 0 audit list --json -n 2 && json 'len(rows) == 2 and rows[0]["seq"] == 30 and rows[1]["seq"] == 29'; }
ok 'a list as JSON' a
a() { run 0 audit export && json 'len(rows) == 30 and [r["seq"] for r in rows] == list(range(1, 31)) and rows[29]["inputCode"].startswith("\x27\x1b[31m")'; }
ok 'an export has all records, the oldest first' a
a() { run 0 audit export --session session-2 --runtime python && json 'len(rows) == 10 and all(r["status"] == "error" for r in rows)'; }
ok 'an export by session and runtime' a
a() { run 0 audit export --from 1h && json 'len(rows) == 30' && run 0 audit export --to 1h && [ -z "$out" ] && run 0 audit export --from 2000-01-01 --to 2001-01-01T00:00:00Z && [ -z "$out" ] && run 0 audit export --from 30d -n 4 && lines 4; }
ok 'an export by time' a
a() { run 0 audit show run-7 --json && json 'len(rows) == 1 and rows[0]["runId"] == "run-7" and rows[0]["approved"] and rows[0]["exitCode"] == 0 and rows[0]["limits"] == {"timeoutMs": 5000}'; }
ok 'a record by its run' a
a() { run 1 audit show run-700 && has "$err" "no record 'run-700'"; }
ok 'an unknown record is an error' a
a() { "$glovebox" audit export > /dev/full 2> "$scratch/err"; [ $? = 1 ] && has "$(cat "$scratch/err")" 'could be written'; }
ok 'a failed write of an export is an error' a
a() { run 0 audit verify && has "$out" 'is whole: 30 records' && has "$out" 'head' && [ -z "$err" ]; }
ok 'a valid log' a
a() { run 0 audit verify --json && json 'rows[0]["whole"] and rows[0]["records"] == 30 and rows[0]["record"] is None'; }
ok 'the same as JSON' a
head=$(printf '%s\n' "$out" | sed -E 's/.*"head":"([^"]*)".*/\1/') key=$(printf '%s\n' "$out" | sed -E 's/.*"key":"([^"]*)".*/\1/')
a() { run 0 audit verify --expect-head "$head" --expect-key "$key" && run 1 audit verify --expect-key "${key//[0-9]/a}" && has "$out" 'a different key' && run 1 audit verify --expect-head "30:${key}" && has "$out" 'the expected hash'; }
ok 'an expected head is compared' a
a() { run 1 audit verify --expect-head "31${head#30}" && has "$out" 'the tail was cut'; }
ok 'an expected head that is newer than the log' a
a() { run 2 audit verify --expect-head 30 && has "$err" SEQ:HASH && run 2 audit verify --expect-key x && has "$err" 'not a key'; }
ok 'an invalid expected head is named' a
a() { run 2 audit && has "$err" 'verify' && run 2 audit lost && has "$err" "'lost' is not one of" && run 2 audit show && has "$err" 'number of a record' && run 2 audit list x && has "$err" "unexpected operand 'x'"; }
ok 'an unknown action is named' a
a() { run 2 audit list --from soon && has "$err" "'soon' is not a time" && run 2 audit list --limit many && has "$err" "'many' is not a number" && run 2 audit list --from 2026; }
ok 'an invalid time or number is named' a
a() { run 0 audit --help && has "$out" 'glovebox audit list|show ID|verify|export' && has "$out" '--expect-head'; }
ok 'help' a
a() { cp -r "$scratch/state" "$scratch/other" && "$GB_AUDIT_MAKE" "$scratch/other" sql 'DELETE FROM audit_record WHERE seq = 12' && run 1 audit verify --dir "$scratch/other" && has "$out" 'is not whole: record 12 was removed' && run 1 audit verify --dir "$scratch/other" --json && json 'not rows[0]["whole"] and rows[0]["problem"] == "removed" and rows[0]["record"] == 12'; }
ok 'a modified log' a
other=$scratch/keyless
a() { cp -r "$scratch/state" "$other" && rm "$other/audit.key" && run 1 audit verify --dir "$other" && has "$out" "the key cannot be compared: open the key 'audit.key': No such file" && has "$out" 'Restore' && has "$out" '--expect-key' && run 1 audit verify --dir "$other" --json && json 'not j["whole"] and j["problem"] == "key" and not j["keyCompared"] and j["records"] == 30'; }
ok 'a missing key is a problem' a
a() { ln -s "$scratch/state/audit.key" "$other/audit.key" && run 1 audit verify --dir "$other" && has "$out" 'is not a regular file' && rm "$other/audit.key" && mkdir "$other/audit.key" && run 1 audit verify --dir "$other" && has "$out" 'is not a regular file' && rmdir "$other/audit.key" && mkfifo "$other/audit.key" && run 1 audit verify --dir "$other" && has "$out" 'is not a regular file' && rm "$other/audit.key"; }
ok 'a key that is not a regular file is a problem' a
a() { [ "$(id -u)" = 0 ] && return; cp "$scratch/state/audit.key" "$other/" && chmod 0 "$other/audit.key" && run 1 audit verify --dir "$other" && has "$out" 'Permission denied' && rm -f "$other/audit.key"; }
ok 'a key that cannot be read is a problem' a
a() { run 0 audit verify --dir "$other" --expect-key "$key" && has "$out" 'is whole' && has "$out" 'could not be read'; }
ok 'a missing key is no problem if the public key is passed' a
a() { "$GB_AUDIT_MAKE" "$other" sql 'DELETE FROM audit_record WHERE seq = 12' && run 1 audit verify --dir "$other" && has "$out" 'record 12 was removed'; }
ok 'a missing key does not hide a more serious problem' a
begun=$scratch/begun
a() { "$GB_AUDIT_MAKE" "$begun" begin 4 && run 0 audit list --dir "$begun" && lines 7 && [ "$(grep -c ' unfinished ' "$scratch/out")" = 2 ] && [ "$(grep -c ' begun ' "$scratch/out")" = 2 ] && [ "$(grep -c ' success ' "$scratch/out")" = 2 ]; }
ok 'runs without an end are listed as unfinished' a
a() { run 0 audit list --dir "$begun" -n 1 && lines 2 && has "$out" success && run 0 audit list --dir "$begun" -n 3 && has "$out" unfinished; }
ok 'a run is unfinished only if the whole log has no end of it' a
a() { run 0 audit list --dir "$begun" --status unfinished && lines 3 && ! grep -q success "$scratch/out" && run 0 audit list --dir "$begun" --status unfinished -n 1 && lines 2 && run 0 audit export --dir "$begun" --status unfinished && json '[r["runId"] for r in rows] == ["begun-1", "begun-3"]'; }
ok 'unfinished runs can be selected' a
a() { run 0 audit show begun-3 --dir "$begun" && has "$out" 'unfinished: the run is active, or was lost with its host' && run 0 audit show begun-4 --dir "$begun" && lacks "$out" unfinished && has "$out" 'execution_begin' && run 0 audit verify --dir "$begun" && has "$out" 'Unfinished runs: 2'; }
ok 'unfinished runs can be shown, and are counted' a
a() { "$GB_AUDIT_MAKE" "$scratch/other" sql "CREATE VIEW \"$(printf '\033[31m')\" AS SELECT 1" && run 1 audit list --dir "$scratch/other" && ! grep -q $'\x1b' "$scratch/err"; }
ok 'names in the file cannot control the terminal' a
a() { printf x > "$scratch/other/audit.db" && run 1 audit verify --dir "$scratch/other" && has "$out" 'is not a Glovebox database' && head -c 9999 /dev/zero | tr '\0' x > "$scratch/other/audit.db" && run 1 audit list --dir "$scratch/other" && has "$err" 'is damaged' && run 1 audit verify --dir "$scratch/other" && has "$out" 'is damaged'; }
ok 'a file that is not a log' a
a() { run 1 audit list --dir /nonexistent && has "$err" /nonexistent; }
ok 'a missing folder' a
a() { env -u GLOVEBOX_STATE_DIR XDG_STATE_HOME="$scratch/xdg" "$glovebox" audit verify 2> "$scratch/err"; [ $? = 0 ] && has "$(cat "$scratch/err")" "$scratch/xdg/glovebox"; }
ok 'the default folder' a
echo "1..$n"
