#!/usr/bin/env bash
# `glovebox execute`: an agent's code through the gate. TAP. Needs GB_GLOVEBOX.
set -u
export LC_ALL=C.UTF-8
. "$(dirname "$0")/tap.sh"
export GLOVEBOX_STATE_DIR=$scratch/state GLOVEBOX_CONFIG=$scratch/glovebox.yaml HOME=$scratch

until_true() { for _ in $(seq 1200); do "$@" && return; sleep 0.05; done; return 1; }
configure() { printf '%b' "$1" > "$GLOVEBOX_CONFIG"; }
# Wait until one is pending, and decide: approve, deny, trust.
decide() {
  local id
  for _ in {1..200}; do
    id=$("$glovebox" approvals list --json 2> /dev/null | grep -o '"id":"[0-9a-f]*' | head -1 | cut -d'"' -f4)
    [ -z "$id" ] || break
    sleep 0.05
  done
  "$glovebox" approvals "$1" "$id" "${@:2}" > /dev/null 2>&1
}
asked() { # decision, status, arguments of execute
  local decision=$1 status=$2
  shift 2
  decide $decision & # its words apart
  run "$status" execute "$@"
  local result=$?
  wait
  return $result
}

configure ''
a() { run 3 execute -l python -e 'print(1)' && has "$err" 'agent.enabled' && run 3 execute -l python -e 1 --json && json 'j["status"] == "denied" and j["error"]["code"] == "disabled"' && [ ! -e "$scratch/state" ]; }
ok 'agents may run nothing until the owner says so' a
configure 'agent: {enabled: true, autoApprove: true}\nenergy: {enabled: false}\n'
a() { run 0 execute -l python -e 'print("hi"); 6 * 7' && [ "$out" = $'hi\n42' ]; }
ok 'one setting lets them, another spares the asking' a
a() { run 0 execute -l python -e 'print("hi")' --purpose 'to greet' --conversation c1 --json && json 'j["stdout"] == "hi\n" and j["status"] == "success"' && run 0 audit list --json && has "$out" '"purpose":"to greet"' && has "$out" '"conversationId":"c1"' && has "$out" '"decision":"auto"'; }
ok 'what was run is recorded' a
a() { run 0 execute -l ts -e 'console.log("x"); export default (n: number) => n + 1' --args '[41]' && [ "$out" = $'x\n42' ]; }
ok 'arguments arrive' a
a() { echo '6 * 7' > "$scratch/x.py" && echo 1 > "$scratch/x.txt" && run 0 execute "$scratch/x.py" && [ "$out" = 42 ] && run 2 execute "$scratch/x.txt" && has "$err" '.py (python)' && has "$err" '-l'; }
ok 'the ending of a file tells its language' a
a() { run 124 execute -l python -e 'while True: pass' --timeout 300ms && run 0 audit list --json && has "$out" '"timedOut":true'; }
ok 'so is what ran too long' a
a() { run 1 execute -l python -e 'raise ValueError("no")' && has "$err" 'ValueError: no'; }
ok 'a failure is a failure' a
configure 'agent: {enabled: true, autoApprove: true, allowedRuntimes: [python]}\nenergy: {enabled: false}\n'
a() { run 3 execute -l js -e 1 --json && json 'j["error"]["code"] == "runtime_disabled"'; }
ok 'only the runtimes that are allowed' a
a() { run 3 execute -l python -e "x = '$(printf 'a%.0s' {1..60000})'" --json && json 'j["error"]["code"] == "code_size"'; }
ok 'code of more than 50 KB is not run' a
configure 'agent: {enabled: true, autoApprove: true, maxCodeSize: 1K}\nenergy: {enabled: false}\n'
a() { run 3 execute -l python -e "x = '$(printf 'a%.0s' {1..2000})'" --json && json 'j["error"]["code"] == "code_size"'; }
ok 'no more code than may be' a

a() { printf 'echo harmless #\0\necho evil' > "$scratch/nul.sh" && run 3 execute -l shell "$scratch/nul.sh" && lacks "$out" evil; }
ok 'nor a byte that hides what follows it' a

configure 'agent: {enabled: true, autoApprove: true, callsPerTurn: 2}\nenergy: {enabled: false}\n'
a() { run 0 execute -l js -e 1 --turn 7 && run 0 execute -l js -e 1 --turn 7 && run 3 execute -l js -e 1 --turn 7 --json && json 'j["error"]["code"] == "calls_per_turn"' && run 0 execute -l js -e 1 --turn 8; }
ok 'no more calls in a turn than may be' a

# --- the guard ---
configure 'agent: {enabled: true, autoApprove: true}\nenergy: {enabled: false}\n'
a() { run 3 execute -l js -e $'// process.exit\nprocess.exit(1)' && has "$err" 'line 2' && run 3 execute -l shell -e 'rm -rf /' --json && json 'j["error"]["code"] == "guard"'; }
ok 'the guard names the pattern and the place' a
a() { run 0 execute -l node -e 'console.log(require("path").join("a", "b")); import("node:os").then((os) => { console.log(os.EOL.length); process.exit(0); })' && [ "$out" = $'a/b\n1' ] && run 3 execute -l node -e 'process.env' --set guard.javascript=process.env && has "$err" "'process.env'" && run 3 execute -l ts -e 'require("path")'; }
if command -v node > /dev/null; then ok 'node code may load modules and exit; patterns of the owner hold' a; fi
a() { run 0 execute -l js -e 'export default "process.exit(1)"'; }
ok 'and does not look at texts' a

# --- a person ---
configure 'agent: {enabled: true}\nenergy: {enabled: false}\napprovals: {timeout: 20s}\n'
a() { asked approve 0 -l python -e 'print("yes")' && has "$out" yes && has "$err" 'waiting for approval' && run 0 audit list --json && has "$(head -1 "$scratch/out")" '"decision":"user"' && has "$(head -1 "$scratch/out")" "\"approvedBy\":\"$(id -un)\""; }
ok 'approved: it runs, and who allowed it is recorded' a
a() { asked 'deny --reason never' 3 -l python -e 'print("no")' --json && json 'j["error"]["code"] == "not_approved" and "never" in j["error"]["message"] and j["stdout"] == ""'; }
ok 'denied: it does not, and the reason is told' a
a() { asked trust 0 -l python -e 'print(1)' --conversation talk && run 0 execute -l python -e 'print(2)' --conversation talk && [ "$out" = 2 ]; }
ok 'a trusted conversation is not asked about again' a
a() { asked 'deny' 3 -l shell -e 'echo 3' --conversation talk; }
ok 'but for another runtime it is' a
waits() { run 0 approvals list --json && has "$out" '"state":"pending"' && has "$out" "$1"; }
a() {
  local signal pid
  for signal in TERM HUP INT; do # whatever this shell was started to ignore
    env --default-signal=$signal "$glovebox" execute -l python -e "print('nobody $signal')" > "$scratch/stopped" 2>&1 &
    pid=$!
    until_true waits "nobody $signal" && kill -$signal $pid && { wait $pid; [ $? = 3 ]; } && has "$(cat "$scratch/stopped")" 'stopped by a signal' || return 1
  done
  run 0 approvals list && has "$err" 'no approvals are pending' && run 0 approvals list --all --json && has "$out" '"state":"withdrawn"'
}
ok 'who is stopped while it waits takes its request back' a
configure 'agent: {enabled: true}\nenergy: {enabled: false}\napprovals: {timeout: 1s}\n'
a() { run 3 execute -l python -e 'print(4)' --json && json 'j["error"]["code"] == "not_approved" and "in time" in j["error"]["message"]'; }
ok 'nobody deciding is a denial' a
configure 'agent: {enabled: true, maxCodeSize: 4K}\nenergy: {enabled: false}\napprovals: {timeout: 20s}\n'
a() { asked deny 3 -l python -e 'print(2)' --conversation talk; }
ok 'trust ends when the rules change' a

# --- energy ---
rm -rf "$scratch/state"
configure 'agent: {enabled: true, autoApprove: true}\nenergy: {faces: [execute_code], initial: 0.2, rechargePerHour: 0.01}\n'
a() { run 0 execute -l python -e 'print(1)' && run 0 execute -l python -e 'print(1)' && run 3 execute -l python -e 'print(1)' --json && json 'j["error"]["code"] == "energy" and "0.100" in j["error"]["message"] and "UTC" in j["error"]["message"]'; }
ok 'without energy nothing runs, and when it will is told' a
a() { run 0 execute -l python -e 'print(1)' --set energy.faces=core_execute; }
ok 'runs of a face that is not in energy.faces need no energy' a
a() { run 3 execute -l js -e 'process.exit()' && run 0 energy --json && json 'abs(j["level"] - 0.1) < 0.001'; }
ok 'what the guard refuses costs nothing' a

# --- secrets: everywhere, and in no file of ours ---
rm -rf "$scratch/state"
configure 'agent: {enabled: true, autoApprove: true}\nenergy: {enabled: false}\n'
secret=correct-horse-battery-9
printf %s "$secret" | "$glovebox" secrets add HORSE --stdin > /dev/null 2>&1
split='"-".join(["correct", "horse", "battery", "9"])'
a() { run 0 execute -l python -e "import sys
for c in $split: sys.stdout.write(c); sys.stdout.flush()" && [ "$out" = '***' ]; }
ok 'written a byte at a time' a
a() { run 0 execute -l python -e "import sys
s = $split; sys.stdout.write('x' * (65536 - 5) + s + 'y' * 70000)" && lacks "$out" "$secret" && has "$out" 'x***y'; }
ok 'over the border of a chunk' a
a() { local k; for k in 1002 1006 1010 1015 1020; do run 0 execute --set limits.python.output=1K -l python -e "print('x' * $k + $split)" --json && json 'j["truncated"] and len(j["stdout"]) >= 1000 and set(j["stdout"]) == {"x"}' || return 1; done; }
ok 'nor half of it where output is cut' a
a() { for k in 0 1 2; do run 0 execute -l python -e "import base64
print(base64.b64encode(b'z' * $k + ($split).encode() + b'tail').decode())" && has "$out" '***' || return 1; done; }
ok 'in base64, wherever it begins' a
a() { run 0 execute -l python -e "import json; s = $split; print(json.dumps({'k': s}), s.encode().hex()); {'deep': [s, {s: 1}]}" --json && lacks "$out" "$secret" && lacks "$out" "$(printf %s "$secret" | od -An -tx1 | tr -d ' \n')"; }
ok 'in JSON, in hex, in values and keys' a
a() { run 1 execute -l python -e "s = $split
raise ValueError(s)" --json && lacks "$out" "$secret" && json '"***" in j["error"]["message"] and "***" in j["error"]["stack"]'; }
ok 'in an error and its traceback' a
a() { run 0 execute -l python -e "s = $split
open('/box/' + s + '.txt', 'w').write('it is ' + s)" --json && lacks "$out" "$secret" && has "$out" '***'; }
ok "in a file's name and text" a
a() { run 0 execute -l js -e "console.log('$secret'); console.error({ a: ['$secret'] })" && lacks "$out$err" "$secret"; }
ok 'in log lines' a
a() { run 0 execute -l python -e "print('$secret')" --purpose "to show $secret" --conversation "of $secret" && run 0 audit list --json && lacks "$out" "$secret"; }
ok 'in the code and the purpose that are recorded' a
a() { ! grep -rqaF "$secret" "$scratch/state"; }
ok 'and in no file of the state folder' a
a() { run 0 audit verify; }
ok 'the log is whole' a

# --- what cannot be recorded is not run ---
a() { printf 'not a log' > "$scratch/state/audit.db" && run 3 execute -l python -e 'print("ran")' && lacks "$out" ran && has "$err" audit; }
ok 'a damaged log refuses' a
configure 'agent: {enabled: yes please}\n'
a() { run 2 execute -l python -e 1 && has "$err" 'agent.enabled'; }
ok 'a wrong setting is named' a

echo "1..$n"
