#!/usr/bin/env bash
# 'glovebox session' on the command line. TAP. Needs GB_GLOVEBOX.
set -u
. "$(dirname "$0")/tap.sh"
limit=60
export XDG_RUNTIME_DIR=$scratch/run GLOVEBOX_SESSION_LINGER=300ms
mkdir -m 700 "$XDG_RUNTIME_DIR"
socket=$XDG_RUNTIME_DIR/glovebox/sessions.sock

# The hosts of this test are those that were started with this folder in their environment.
hosts() {
  for pid in $(pgrep -f 'glovebox session-host'); do
    tr '\0' '\n' < "/proc/$pid/environ" 2> /dev/null | grep -qx "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" && echo "$pid"
  done
  true # the last one may be another user's or another test's
}
end_hosts() { for pid in $(hosts); do kill "$pid"; done; }
trap 'end_hosts; rm -rf "$scratch"' EXIT

until_true() { for _ in $(seq 1200); do "$@" && return; sleep 0.05; done; return 1; }

a() { run 0 session list && [ -z "$out$err" ] && run 0 session list --json && [ "$out" = '[]' ] && [ -z "$(hosts)" ]; }
ok 'listing sessions starts no host' a
a() { run 3 session exec nobody -e 1 && has "$err" "there is no session 'nobody'" && [ -z "$(hosts)" ]; }
ok 'a command for a missing session starts no host' a
a() { run 0 session create -l python --name py && [ "$out" = py ] && run 0 session exec py -e 'x = 41' && run 0 session exec py -e 'x + 1' && [ "$out" = 42 ]; }
ok 'two commands share variables' a
a() { run 0 session create -l js && id=$out && [ ${#id} = 32 ] && run 0 session exec "$id" -e 'let x = 1; console.log("hi"); x' && [ "$out" = "$(printf 'hi\n1')" ] && run 0 session exec "$id" -e 'const x = 2' && run 0 session exec "$id" -e x && [ "$out" = 2 ]; }
ok 'an unnamed session is used by its id' a
a() { run 0 session create -l js --name other && run 0 session exec other -e 'typeof x' && has "$out" undefined; }
ok 'two sessions share nothing' a
a() { run 124 session exec py -e 'while True: pass' --timeout 500ms && has "$err" 'longer than its 500 ms' && run 0 session exec py -e x && [ "$out" = 41 ]; }
ok 'an endless loop is interrupted, and the variables are still there' a
a() { run 124 session exec other -e 'for (;;);' --timeout 500ms && run 0 session exec other -e 6*7 && [ "$out" = 42 ]; }
ok 'an endless loop is interrupted in JavaScript too' a
a() { run 1 session exec other -e $'let a = 1;\nnull.x' && has "$err" 'error: TypeError'; }
ok 'an error is printed, and the exit status is 1' a
a() { run 3 session exec py -e 'import sys; sys.exit(3)' && [ -z "$out$err" ] && run 0 session exec py -e x && [ "$out" = 41 ] && run 4 run --session exits -l shell -e '(exit 4)' && [ -z "$err" ] && run 5 session exec exits -e 'exit 5' && run 0 session list && has "$(grep ^exits "$scratch/out")" 'the shell has exited'; }
ok 'the exit status of the code is that of the command' a
a() { run 0 session exec py --json -e '[1]' && has "$out" '"status":"success"' && has "$out" '"result":[1]' && [ "$(wc -l < "$scratch/out")" = 1 ]; }
ok 'JSON output is one object only' a
a() { echo 'x + 2' > "$scratch/f.py" && run 0 session exec py "$scratch/f.py" && [ "$out" = 43 ] && stdin=$scratch/f.py run 0 session exec py - && [ "$out" = 43 ]; }
ok 'a file, and standard input' a
a() { echo text > "$scratch/a.txt" && run 0 session exec py --file "$scratch/a.txt" --input n=2 --stdin typed -e 'open("a.txt").read().strip() * n + input()' && [ "$out" = texttexttyped ] && run 2 session exec other --stdin x -e 1 && has "$err" '--stdin has no effect on javascript' && run 2 session exec py --allow json -e 1 && has "$err" 'without --restricted'; }
ok 'the options of a run also work in a session, or are refused' a
a() { run 0 session exec py -l python --profile stdlib -e 'x' && [ "$out" = 41 ] && run 2 session exec py -l js -e 1 && has "$err" 'another language, python' && run 2 session exec py --profile data -e 1 && has "$err" 'the profile stdlib' && for o in '--set a=b' '--config x' '--packages x'; do run 2 session exec py $o -e 1 && has "$err" 'no effect on a session' || return 1; done; }
ok 'session exec has the other options of run, as conditions or with the reason why they are refused' a
a() { run 3 session exec missing -e 1 && has "$err" "there is no session 'missing'; 'glovebox session create' makes one" && run 3 session exec missing -e 1 --json && json 'j["status"] == "denied"'; }
ok 'a session that does not exist is named' a
a() { run 0 run --session made -e 'let q: number = 5' && run 0 run --session made -e 'q + 1' && [ "$out" = 6 ] && run 0 run --session py -e 'x' && [ "$out" = 41 ] && run 2 run -l js --session py -e 'x' && has "$err" 'another language'; }
ok 'run --session opens the session if it is missing' a
a() { run 0 run --session made --input 'n=[1,2]' -e 'n.length' --json && has "$out" '"result":2' && run 0 run -l python --session py2 --stdin hello -e 'input()' && has "$out" hello && run 0 session kill py2; }
ok 'inputs of a run are passed to a session' a
a() { run 0 session exec py --reset -e 1 && run 1 session exec py -e x && has "$err" NameError; }
ok 'a session can be reset' a
a() {
  "$glovebox" session exec py -e 'import time; print("begun", flush=True); time.sleep(60)' > "$scratch/live" 2>&1 &
  local pid=$!
  until_true grep -q begun "$scratch/live" && run 0 session list && has "$out" executing &&
    run 0 session interrupt py && { wait $pid; [ $? = 1 ]; } && grep -q 'interrupted by the caller' "$scratch/live" && run 0 session list
}
ok 'output is streamed, and another command can interrupt' a
a() {
  timeout 60 "$glovebox" session exec other -e 'console.log("begun"); for (;;);' > "$scratch/live" 2>&1 &
  local pid=$!
  until_true grep -q begun "$scratch/live" && kill -KILL "$(pgrep -P $pid)" && { wait $pid 2> /dev/null; true; } && run 0 session exec other -e 7 && [ "$out" = 7 ]
}
ok 'a client that is killed leaves its session usable' a
a() { run 3 session send py yes && has "$err" 'takes no input' && run 2 session send py && run 2 session interrupt py && has "$err" 'nothing executes'; }
ok 'impossible actions are errors' a
a() {
  run 0 session create -l shell --name sh && run 0 session exec sh -e 'x=5' || return
  "$glovebox" session exec sh -e 'read -p "name? " n; read -n 1 -p "sure? " s; echo "=$n $s $x"' < /dev/null > "$scratch/live" 2> "$scratch/asked" &
  local pid=$!
  until_true grep -q "after 'name? '; answer with 'glovebox session send sh TEXT'" "$scratch/asked" &&
    run 0 session list --json && has "$out" '"state":"awaiting_input"' && has "$out" '"prompt":"name? "' &&
    run 0 session send sh bob && until_true grep -q "after 'sure? '" "$scratch/asked" && run 0 session send -n sh y &&
    wait $pid && grep -q '=bob y 5' "$scratch/live" && run 3 session send sh y && has "$err" 'nothing runs' && run 0 session kill sh
}
ok 'a prompt is shown, and answered by another command' a
a() { run 2 session create --name 'a b' && has "$err" 'name: ' && run 2 session create --name py && has "$err" already && run 2 session create -l cobol && has "$err" "no language 'cobol'; there are typescript (ts), "; }
ok 'names and languages are checked' a
a() {
  for i in 1 2 3 4 5; do run 0 session create -l js --conversation chat || return; done
  run 3 session create -l js --conversation chat && has "$err" 'the limit' && run 0 session cleanup --conversation chat &&
    run 0 session list --conversation chat && [ "$(grep -c terminated "$scratch/out")" = 5 ] && has "$out" 'its conversation has ended'
}
ok 'a conversation has at most five sessions, and cleanup ends them' a
a() { run 0 session kill other --reason 'not needed' && run 0 session list --all && has "$(grep ^other "$scratch/out")" terminated && has "$out" 'not needed' && run 2 session exec other -e 1 && has "$err" 'has ended: not needed'; }
ok 'ended sessions are listed, with the reason' a
a() { run 2 session exec other -e 1 && [ "$err" = "glovebox session exec: 'other' has ended: not needed" ] && run 3 session kill lost && [ "$err" = "glovebox session kill: there is no session 'lost'" ] && run 2 session create --set agent.enabled=true && has "$err" 'has no effect on a session' && run 2 session create --timeout 1s && has "$err" "'session exec'" && run 2 session create --name 'a b' && has "$err" "'a b' is not a name"; }
ok 'refusals name the session once, and say where an option belongs' a
a() { run 1 session exec made --memory 2M -e 'let a = []; for (;;) a.push([1])' && has "$err" memory && run 0 session list && has "$(grep ^made "$scratch/out")" 'more memory than its limit'; }
ok 'a session that crashed is listed, with the reason' a
a() { run 0 session --help && has "$out" 'session create' && run 0 session exec --help && has "$out" 'Exit status' && run 2 session && run 2 session dance && has "$err" "no command 'dance'"; }
ok 'help has examples' a

a() {
  local pid
  pid=$(hosts)
  kill -KILL "$pid" && until_true test ! -e "/proc/$pid" && [ -S "$socket" ] && run 3 session exec py -e 1 &&
    has "$err" 'has died' && has "$err" "there is no session 'py'" && run 0 session list && [ -z "$out$err" ]
}
ok 'a killed host is reported once' a
a() { run 0 session create -l js --name py && run 0 session exec py -e 3 && [ "$out" = 3 ]; }
ok 'the next command starts another host' a
no_hosts() { [ -z "$(hosts)" ]; }
settle() { # waits until the host has reloaded the file
  local pid
  printf '%s\n' "$1" > "$scratch/named.yaml" && pid=$(hosts) && kill -HUP "$pid" && sleep 0.3 && [ "$pid" = "$(hosts)" ]
}
allows_8s() { run 2 session exec py --timeout 9s -e 1 && has "$err" 'which is 8000'; }
a() {
  echo 'limits: {javascript: {maxTimeout: 9s}}' > "$scratch/named.yaml" && run 0 session kill py && until_true no_hosts &&
    (cd "$scratch" && GLOVEBOX_CONFIG=named.yaml run 0 session create -l js --name py) || return
  run 2 session exec py --timeout 10s -e 1 && has "$err" 'the setting limits.javascript.maxTimeout allows, which is 9000' &&
    run 0 session exec py --timeout 9s -e 'let kept = 3'
}
ok 'the host applies the settings file, and rejects requests beyond its limits' a
a() { settle 'limits: {javascript: {maxTimeout: 8s}}' && until_true allows_8s && run 0 session exec py -e kept && [ "$out" = 3 ]; }
ok 'SIGHUP reloads the settings, and keeps the sessions' a
a() { settle 'limits: {javascript: {maxTimeout: never}}' && allows_8s && run 0 session exec py --timeout 8s -e kept; }
ok 'invalid settings are not applied by SIGHUP' a
a() { run 0 session kill py && until_true no_hosts && GLOVEBOX_CONFIG=$scratch/named.yaml run 3 session create -l js --name py && has "$err" 'could not start' && has "$err" 'named.yaml:1:35' && run 0 session create -l js --name py; }
ok 'a host with invalid settings does not start, and the error is printed' a
a() { run 0 session kill py && until_true no_hosts && [ ! -e "$socket" ] && ! pgrep -f "$XDG_RUNTIME_DIR" > /dev/null; }
ok 'the host ends with its last session: no process, no socket' a
a() {
  local i pids=()
  for i in 1 2 3 4 5 6; do "$glovebox" session create -l js --name "many$i" > "$scratch/many$i" 2>&1 & pids+=($!); done
  for i in "${pids[@]}"; do wait "$i" || return; done
  run 0 session list && [ "$(grep -c ' idle ' "$scratch/out")" = 6 ] || return
  [ "$(hosts | wc -l)" = 1 ] || return
  for i in 1 2 3 4 5; do run 0 session kill "many$i" || return; done
}
ok 'commands that start concurrently share one host' a
end_hosts
a() { until_true test ! -S "$socket" && chmod 755 "$XDG_RUNTIME_DIR/glovebox" && run 3 session create -l js && has "$err" "other users can access the folder"; }
ok 'a folder that others can read is refused' a
a() { rm -rf "$XDG_RUNTIME_DIR/glovebox" && mkdir -m 700 "$scratch/elsewhere" && ln -s "$scratch/elsewhere" "$XDG_RUNTIME_DIR/glovebox" && run 3 session create -l js && has "$err" 'open the folder' && [ -z "$(ls "$scratch/elsewhere")" ]; }
ok 'a symbolic link is not followed' a

echo "1..$n"
