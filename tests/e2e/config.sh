#!/usr/bin/env bash
# Settings as a person or a script meets them. TAP. Needs GB_GLOVEBOX.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/tap.sh"
for variable in ${!GLOVEBOX_*}; do unset "$variable"; done
export HOME=$scratch/home XDG_CONFIG_HOME=$scratch/xdg
mkdir -p "$HOME/.config/glovebox" "$XDG_CONFIG_HOME/glovebox" "$scratch/work"
cd "$scratch/work" || exit 1

shown() { # setting, value and origin
  local line
  line=$(printf '%s\n' "$out" | grep "^$1 " | tr -s ' ')
  [ "$line" = "$1 $2" ] || { echo "# $line"; return 1; }
}

a() { run 0 config show && has "$out" '# no file' && shown agent.enabled 'false # default' && shown agent.maxExecutionTime '3m # default'; }
ok 'without a file there are defaults' a
a() { echo 'sessions: {max: 6}' > "$HOME/.config/glovebox/glovebox.yaml" && run 0 config show && shown sessions.max "6 # $HOME/.config/glovebox/glovebox.yaml:1"; }
ok 'the file in ~/.config is read' a
a() { echo 'sessions: {max: 5}' > "$XDG_CONFIG_HOME/glovebox/glovebox.yaml" && run 0 config show && shown sessions.max "5 # $XDG_CONFIG_HOME/glovebox/glovebox.yaml:1"; }
ok 'the file in XDG_CONFIG_HOME comes first' a
a() { printf 'agent:\n  enabled: false\nsessions:\n  max: 4\n' > glovebox.yaml && run 0 config show && shown sessions.max '4 # ./glovebox.yaml:4' && shown agent.enabled 'false # ./glovebox.yaml:2' && has "$out" "# file: $XDG_CONFIG_HOME/glovebox/glovebox.yaml" && has "$out" '# project file: ./glovebox.yaml' && [ -z "$err" ]; }
ok 'the project file is read after the owner'"'"'s file and can lower its values' a
a() { echo 'sessions: {max: 3}' > "$scratch/env.yaml" && GLOVEBOX_CONFIG=$scratch/env.yaml run 0 config show && shown sessions.max "3 # $scratch/env.yaml:1" && shown agent.enabled 'false # default'; }
ok 'GLOVEBOX_CONFIG names the only file' a
a() { echo 'sessions: {max: 2}' > "$scratch/flag.yaml" && GLOVEBOX_CONFIG=$scratch/env.yaml run 0 config show --config "$scratch/flag.yaml" && shown sessions.max "2 # $scratch/flag.yaml:1"; }
ok '--config overrides GLOVEBOX_CONFIG' a
a() { GLOVEBOX_SESSIONS_MAX=9 run 0 config show && shown sessions.max '9 # $GLOVEBOX_SESSIONS_MAX' && GLOVEBOX_SESSIONS_MAX=9 run 0 config show --set sessions.max=8 && shown sessions.max '8 # --set'; }
ok 'a variable overrides the file, --set overrides both' a
a() { run 0 config show --set security.codeExecution.maxExecutionTime=2000 && shown agent.maxExecutionTime '2s # --set as security.codeExecution.maxExecutionTime'; }
ok 'an alias is shown' a
a() { run 2 config show --config "$scratch/none.yaml" && has "$err" "--config: '$scratch/none.yaml': No such file" && GLOVEBOX_CONFIG=/none.yaml run 2 config show && has "$err" "\$GLOVEBOX_CONFIG: '/none.yaml': No such file"; }
ok 'a named file must exist' a
a() { run 2 config check "$scratch" && has "$err" 'Is a directory'; }
ok 'a folder is an error' a
a() { run 0 config check && [ "$out" = "$XDG_CONFIG_HOME/glovebox/glovebox.yaml: nothing is wrong with it
./glovebox.yaml: nothing is wrong with it" ] && run 0 config check "$scratch/env.yaml" && has "$out" "$scratch/env.yaml: nothing"; }
ok 'check reports that nothing is wrong' a
a() { printf 'agent:\n  enabld: true\n' > bad.yaml && run 2 config check bad.yaml && [ "$err" = "glovebox config: bad.yaml:2:3: there is no setting 'agent.enabld'; did you mean 'agent.enabled'?" ] && [ -z "$out" ]; }
ok 'check reports what is wrong, and where' a
a() { printf 'agent:\n  "\\e[31m": true\n' > bad.yaml && run 2 config check bad.yaml && ! grep -q $'\x1b' "$scratch/err"; }
ok 'text of a file cannot control the terminal' a
a() { run 0 config init fresh.yaml && has "$out" fresh.yaml && run 0 config check fresh.yaml && run 3 config init fresh.yaml && has "$err" 'it was not changed' && grep -q '^  #enabled: false' fresh.yaml; }
ok 'init writes a file and never overwrites one' a
a() { run 3 config init no/such/folder.yaml && has "$err" 'No such file'; }
ok 'init reports why it fails' a
a() { run 0 config show --json --set guard.shell=curl --set agent.maxOutputSize=2M && /usr/bin/python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
by = {s["name"]: s for s in d["settings"]}
assert d["file"].endswith("/xdg/glovebox/glovebox.yaml") and d["project"] == "./glovebox.yaml"
assert d["trusted"] is False and d["warnings"] == []
assert by["agent.enabled"] == {"name": "agent.enabled", "type": "boolean", "value": False, "from": "project", "place": "./glovebox.yaml", "line": 2, "column": 3}
assert by["guard.shell"]["value"] == ["curl"] and by["guard.shell"]["from"] == "flag" and "available" not in by["guard.shell"]
assert by["network.allowlist"] == {"name": "network.allowlist", "type": "list of hosts", "value": [], "from": "default"}
assert by["agent.maxOutputSize"]["value"] == 2 << 20
assert by["agent.maxExecutionTime"]["value"] == 180000 and by["agent.maxExecutionTime"]["from"] == "default"
assert by["agent.allowedRuntimes"]["value"] == ["javascript", "python", "node", "shell"]
assert by["python.profiles"]["value"] == {} and by["actions.mode"]["value"] == "restricted"
assert by["energy.gate"]["value"] == 0.15
' "$scratch/out"; }
ok 'show as json' a
a() { run 0 config show --json --set 'python.profiles={a: [b, c], d: []}' && has "$out" '"value":{"a":["b","c"],"d":[]}'; }
ok 'profiles as json' a
a() { run 0 config show && shown core.maxNetworkTimeout '30s # default, not yet available' && run 2 config show --set core.maxNetworkTimeout=3s && has "$err" 'core.maxNetworkTimeout: not yet available' && run 0 config init marked.yaml && grep -q '# not yet available: ' marked.yaml; }
ok 'settings that are not yet available are marked, and refused' a
a() { GLOVEBOX_AGENT_ENABLD=true run 2 config show && has "$err" "did you mean 'GLOVEBOX_AGENT_ENABLED'?"; }
ok 'an unknown variable is an error that names a similar one' a
a() { run 2 config && has "$err" 'glovebox config show|check|init' && run 2 config dance && run 2 config show x && has "$err" 'takes no operand' && run 2 config check a b && has "$err" 'unexpected operand' && run 0 config --help && has "$out" 'GLOVEBOX_CONFIG'; }
ok 'errors of usage' a
a() { rm -f glovebox.yaml "$HOME/.config/glovebox/glovebox.yaml" "$XDG_CONFIG_HOME/glovebox/glovebox.yaml"; run 0 prompt && [ -z "$out" ] && has "$err" 'agents are disabled' && has "$err" agent.enabled && run 0 prompt --json && [ "$out" = '{"enabled":false}' ] && [ -z "$err" ] && run 0 prompt --set agent.enabled=true --set agent.allowedRuntimes= && [ -z "$out" ] && has "$err" agent.allowedRuntimes; }
ok 'the prompt is empty if agents cannot run code, and a message says why' a
a() { run 0 prompt --set agent.enabled=true && has "$out" '## Running code' && has "$out" 'may take 3m and write 1M of output; the code itself may have 50K' && has "$out" '- `python`' && ! grep -q deno "$scratch/out" && has "$out" 'no network' && has "$out" 'A person sees the code' && has "$out" 'At most 5 sessions at the same time' && has "$out" 'rm and sudo' && ! grep -q restricted: "$scratch/out"; }
ok 'the prompt lists runtimes, limits and rules' a
a() { run 0 prompt --set agent.enabled=true --set agent.autoApprove=true --set agent.persistentSessions=false --set agent.allowedRuntimes=deno,python --set agent.maxExecutionTime=7s --set limits.deno.memory=1G --set python.restricted=true --set python.allowedModules=math,json && has "$out" '- `deno`: Deno; memory 1G' && ! grep -q 'shell' "$scratch/out" && has "$out" 'may take 7s' && has "$out" 'starts with an empty state' && has "$out" 'not confirmed' && has "$out" 'no import except math, json.'; }
ok 'the prompt follows the settings' a
a() { run 0 prompt --set agent.enabled=true --set approvals.waive=execute_code && has "$out" 'not confirmed' && run 0 prompt --json --set agent.enabled=true --set approvals.waive=execute_code && has "$out" '"approval":false' && run 0 prompt --set agent.enabled=true --set approvals.waive=actions && has "$out" 'A person sees the code'; }
ok 'the prompt says whether a person is asked' a
a() { run 0 prompt --set agent.enabled=true --set limits.python.maxTimeout=9s --set limits.shell.output=2K && has "$out" 'may take 3m and write 1M' && [ "$(grep -c '; time' "$scratch/out")" = 1 ] && has "$out" 'library; memory 64M; time 9s' && has "$out" 'programs; memory 256M; output 2K'; }
ok 'the prompt lists lower limits of a runtime' a
a() { run 0 prompt --json --set agent.enabled=true && /usr/bin/python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["enabled"] and d["prompt"].startswith("## Running code\n") and d["approval"] and d["persistentSessions"]
assert [r["name"] for r in d["runtimes"]] == ["javascript", "python", "node", "shell"] and d["runtimes"][0]["memoryBytes"] == 64 << 20
assert all(r["timeoutMs"] == 180000 and r["outputBytes"] == 1 << 20 for r in d["runtimes"])
assert "hosts" not in d and d["maxExecutionTimeMs"] == 180000 and d["maxOutputBytes"] == 1 << 20
assert d["maxCodeBytes"] == 51200 and d["maxConcurrentSessions"] == 5
' "$scratch/out"; }
ok 'the prompt as json' a
a() { run 2 prompt x && has "$err" 'takes no operand' && run 2 prompt --set nonsense=1 && has "$err" "no setting 'nonsense'" && run 0 prompt --help && has "$out" 'system prompt'; }
ok 'errors of usage of the prompt' a
a() { out='' err=''; "$here/scripts/tables" "$(dirname "$glovebox")" --check; }
ok 'types and tables of the documentation are what the sources say' a

echo "1..$n"
