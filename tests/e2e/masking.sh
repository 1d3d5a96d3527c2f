#!/usr/bin/env bash
# Masking of secrets in the output of runs, sessions and clients. TAP. Needs GB_GLOVEBOX.
set -u
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
limit=60
export GLOVEBOX_STATE_DIR=$scratch/state HOME=$scratch XDG_RUNTIME_DIR=$scratch/run GLOVEBOX_SESSION_LINGER=300ms
mkdir -m 700 "$XDG_RUNTIME_DIR"
hosts() {
  for pid in $(pgrep -f 'glovebox session-host'); do
    tr '\0' '\n' 2> /dev/null < "/proc/$pid/environ" | grep -qx "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" && echo "$pid"
  done
  true # the last one may be of another test
}
no_hosts() { [ -z "$(hosts)" ]; }
until_true() { for _ in $(seq 1200); do "$@" && return; sleep 0.05; done; return 1; }
trap 'for pid in $(hosts); do kill "$pid"; done; rm -rf "$scratch"' EXIT

# A registered value, and a text that looks like a token; the code assembles them from pieces.
secret=correct-horse-battery token=ghp_0123456789abcdefghijABCDEFGHIJ012345
# shellcheck disable=SC2016
python='
import sys, time
s = "correct-" + "horse-battery"
t = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
class Shown:
    def _repr_html_(self): return "<b>" + s + "</b>"
def byte_by_byte(to):
    for c in "<" + s + ">\n":
        to.write(c); to.flush(); time.sleep(0.006)
def files():
    open("/box/" + s + ".txt", "w").write("in " + s)
'
all=$python'
byte_by_byte(sys.stdout); byte_by_byte(sys.stderr); files(); print(t)
from IPython.display import display
display(Shown())
[s, {s: 1}, b"bytes " + s.encode()]'
fails=$python'
raise ValueError("no " + s)'
# shellcheck disable=SC2016
logs='const s = "correct-" + "horse-battery"; console.log({a: s}, [s]); console.error(`x${s}`); typeof report === "function" && report(s);
export default s'

nothing_out() { lacks "$out$err" "$secret" && has "$out$err" '***'; }
all_out() { has "$out$err" "$secret"; }
b64=$(printf %s "$secret" | base64)

# --- without secrets ---
a() { run 0 run -l python -e "$all" --json && all_out && lacks "$out" "$token" && [ ! -e "$scratch/state" ] && [ ! -e "$scratch/.local" ]; }
ok 'without registered values only texts that look like secrets are masked, and no folder is created' a
a() { run 0 run -l python -e "$all" --json --set secrets.maskRun=registered && has "$out" "$token" && run 0 run -l python -e "$all" --json --set secrets.maskRun=none && has "$out" "$token" && [ ! -e "$scratch/state" ]; }
ok 'masking of texts that look like secrets can be switched off' a
a() { (unset HOME GLOVEBOX_STATE_DIR; run 0 run -l python -e "$all" --json && has "$out" '***'); }
ok 'without a home there are no registered values' a

printf %s "$secret" | "$glovebox" secrets add HORSE --stdin > /dev/null 2>&1

# --- run ---
a() { run 0 run -l python -e "$all" && nothing_out && has "$out" '<***>' && has "$err" '<***>' && lacks "$out" "$token"; }
ok 'run: output written byte by byte, and the result' a
a() { run 0 run -l python -e "$all" --json && nothing_out && lacks "$out" "$b64" && json '"<***>\n" in j["stdout"] and j["stderr"] == "<***>\n" and list(j["files"]) == ["***.txt"] and "***" in json.dumps(j["displays"]) and j["result"][0] == "***"'; }
ok 'run --json: file names and files, displays, results' a
a() { mkdir "$scratch/files" && run 0 run -l python -e "$all" --out "$scratch/files" && [ -e "$scratch/files/***.txt" ] && ! grep -rq "$secret" "$scratch/files" && ! find "$scratch/files" | grep -q "$secret"; }
ok 'run --out: files written to disk' a
a() { run 1 run -l python -e "$fails" && nothing_out && has "$err" 'ValueError: no ***' && run 1 run -l python -e "$fails" --json && nothing_out && json '"***" in j["error"]["message"] and "***" in j["error"]["stack"]'; }
ok "run: an error's message and stack" a
a() { run 1 run -l python -e "raise ValueError('$secret')" && nothing_out; }
ok "run: the excerpt of the code at an error" a
a() { run 0 run -e "$logs" && nothing_out && run 0 run -e "$logs" --json && nothing_out && json 'len(j["logs"]) == 2 and j["logs"][0]["args"] == [{"a": "***"}, ["***"]] and j["result"] == "***"'; }
ok 'run: log values' a
a() { run 0 run -l python -e "$all" --json --set secrets.maskRun=registered && nothing_out && has "$out" "$token"; }
ok 'run: registered values only' a
a() { run 0 run -l python -e "$all" --json --set secrets.maskRun=none && all_out && has "$out" "$token" && run 1 run -l python -e "$fails" --set secrets.maskRun=none && all_out && run 0 run -e "$logs" --set secrets.maskRun=none && all_out; }
ok 'run: masking can be switched off' a
a() { GLOVEBOX_SECRET_X=another-one run 0 run -l python -e 'print("another" + "-one")' --set secrets.maskRun=registered && [ "$out" = '***' ] && PASS=third-one run 0 run -l python -e 'print("third" + "-one")' --set secrets.environment=PASS && [ "$out" = '***' ]; }
ok 'run: values of environment variables' a
a() { run 0 run -l python -e 'print("ab-" + "1234")' --set 'secrets.patterns=["ab-[0-9]{4}"]' --set secrets.maskRun=registered && [ "$out" = '***' ]; }
ok 'run: patterns of the settings' a
a() { run 3 run -e 1 --set 'secrets.patterns=["a*b"]' && has "$err" secrets.patterns && has "$err" '--set secrets.maskRun=none'; }
ok 'run: an invalid pattern is an error' a

# --- sessions ---
a() { run 0 session create -l python --name py && run 0 session exec py -e "$all" && nothing_out && has "$out" '<***>' && lacks "$out" "$token" && run 0 session exec py -e "$all" --json && nothing_out && json 'list(j["files"]) == ["***.txt"]'; }
ok 'session exec: streams, result, files, displays' a
a() { run 1 session exec py -e "$fails" && nothing_out && has "$err" 'no ***' && run 1 session exec py -e "raise ValueError('$secret')" && nothing_out && run 0 run --session py -e 's' && [ "$out" = "***" ]; }
ok 'session exec: errors, and the excerpt of the code' a
a() { run 0 run --session js -l js -e 'var s = "correct-" + "horse-battery"; console.log(s); s' && [ "$out" = $'***\n***' ]; }
ok 'session exec: log values' a
a() { run 0 session create -l js --name told && run 0 session kill told --reason "it said $secret" && run 0 session list --all && has "$(grep ^told "$scratch/out")" 'it said ***' && lacks "$out" "$secret"; }
ok 'session list: why a session has ended' a
a() { run 2 run --session py -e 1 --set secrets.maskRun=none && has "$err" 'no effect on sessions'; }
ok 'run --session rejects settings of its own' a
a() { run 0 session kill py && run 0 session kill js && until_true no_hosts && GLOVEBOX_SECRETS_MASK_RUN=none run 0 session create -l python --name py && run 0 session exec py -e "$all" --json && all_out && has "$out" "$token" && run 0 session kill py; }
ok 'session exec: masking can be switched off' a

masks_later() { run 0 session exec py -e 'print("later-" + "than-that")' && [ "$out" = '***' ]; }
a() { until_true no_hosts && run 0 session create -l python --name py && printf later-than-that > "$scratch/in" && stdin=$scratch/in run 0 secrets add LATER --stdin && has "$err" SIGHUP && kill -HUP "$(hosts)" && until_true masks_later && run 0 session kill py && until_true no_hosts; }
ok 'session exec: later registered values, after SIGHUP' a

# --- clients ---
talk() { # messages, then options
  local messages=$1
  shift
  printf '%s\n' "$messages" | timeout "$limit" /usr/bin/python3 "$here/masking.py" "$glovebox" "$@" > "$scratch/out" 2> "$scratch/err"
  local status=$?
  out=$(cat "$scratch/out") err=$(cat "$scratch/err")
  return $status
}
message() { # a run's source, its language, further options
  /usr/bin/python3 -c 'import json, sys; print(json.dumps({"type": "run", "run": int(sys.argv[1]), "source": sys.argv[2], "options": {"language": sys.argv[3], **json.loads(sys.argv[4])}}))' "$@"
}
three="$(message 1 "$all" python '{}')
$(message 2 "$fails" python '{}')
$(message 3 "$logs" typescript '{"report": true}')"
a() { talk "$three" && nothing_out && lacks "$out" "$b64" && has "$out" "$token" && has "$out" '"type":"output"' && has "$out" '"args":[{"a":"***"},["***"]]}' && has "$out" '"value":"***"' && has "$out" '"***.txt"' && has "$out" '"message":"no ***"' && has "$out" '<b>***</b>'; }
ok 'stdio: registered values in all messages of runs; not texts that look like a token' a
a() { talk "$three" --set secrets.maskStdio=all && nothing_out && lacks "$out" "$token"; }
ok 'stdio: texts that look like a token, if set' a
a() { talk "$three" --set secrets.maskStdio=none && all_out && has "$out" "$token" && has "$out" "\"message\":\"no $secret\"" && lacks "$out" '***'; }
ok 'stdio: masking can be switched off' a
call="$(message 1 'f("correct-" + "horse-battery")' typescript '{"globals": {"f": {"$type": "function", "id": 1}}}')"
a() { talk "$call" && has "$out" "\"args\":[\"$secret\"]"; }
ok 'stdio: arguments for functions of the client are not masked' a
asks='{"type":"session_open","request":1,"name":"s","language":"shell"}
{"type":"run","run":1,"session":"s","source":"read -p \"correct-\"\"horse-battery? \" x"}'
a() { talk "$asks" && nothing_out && has "$out" '"prompt":"***? "' && talk "$asks" --set secrets.maskStdio=none && has "$out" "\"prompt\":\"$secret? \""; }
ok 'stdio: prompts of a session' a

# --- a store that cannot be used ---
chmod 755 "$scratch/state"
a() { run 3 run -e 1 && has "$err" 'chmod 700' && has "$err" '--set secrets.maskRun=none' && run 3 run -e 1 --json && json 'j["status"] == "denied" and j["error"]["code"] == "masking"' && run 3 stdio && has "$err" '--set secrets.maskStdio=none' && run 3 session create -l js && has "$err" 'chmod 700' && run 0 run -e 'export default 1' --set secrets.maskRun=none && [ "$out" = 1 ]; }
ok 'a folder with unsafe permissions: no code is run, and the error names the remedy' a
chmod 700 "$scratch/state"
printf x >> "$scratch/state/secrets"
a() { run 3 run -e 1 && has "$err" 'secrets cannot be masked' && run 3 stdio && run 0 run -e 'export default 1' --set secrets.maskRun=none; }
ok 'a damaged store: no code is run, and the error names the remedy' a

echo "1..$n"
