#!/usr/bin/env bash
# The settings, as the commands follow them. TAP. Needs GB_GLOVEBOX.
set -u
export LC_ALL=C.UTF-8
. "$(dirname "$0")/tap.sh"
limit=120
for variable in ${!GLOVEBOX_*}; do unset "$variable"; done
export HOME=$scratch/home XDG_CONFIG_HOME=$scratch/xdg XDG_RUNTIME_DIR=$scratch
file=$XDG_CONFIG_HOME/glovebox/glovebox.yaml
mkdir -p "$HOME" "$(dirname "$file")" "$scratch/work" && cd "$scratch/work" || exit 1
configure() { printf '%b' "$1" > "$file"; }

# --- run ---
configure 'limits: {javascript: {timeout: 310ms, maxTimeout: 20s, memory: 8M, maxMemory: 32M}, python: {output: 1K}}\n'
a() { run 124 run -e 'for(;;);' && has "$err" '310 ms' && run 1 run -e 'export default new ArrayBuffer(2e7).byteLength' --timeout 20s && has "$err" memory && run 0 run -e 'export default new ArrayBuffer(2e7).byteLength' --memory 32M --timeout 20s && [ "$out" = 20000000 ] && run 0 run -l python -e 'print("x" * 5000)' --json && json 'j["truncated"]'; }
ok 'a run without limits gets those of the settings' a
configure 'limits: {javascript: {timeout: 310ms, maxTimeout: 500ms, maxMemory: 32M}}\n'
a() { run 2 run -e 1 --timeout 501ms && has "$err" 'the setting limits.javascript.maxTimeout allows, which is 500' && run 2 run -e 1 --memory 33M && has "$err" limits.javascript.maxMemory && run 124 run -e 'for(;;);' --timeout 500ms && run 124 run -e 'for(;;);' --timeout 700ms --set limits.javascript.maxTimeout=5s; }
ok 'an error names the setting that is exceeded' a
a() { configure 'limits: {javascript: {timeout: soon}}\n' && run 2 run -e 1 && has "$err" 'xdg/glovebox/glovebox.yaml:1:32: limits.javascript.timeout: expected a duration' && run 0 run -e 1 --config /dev/null && run 2 run -e 1 --config /dev/null --set nonsense=1 && has "$err" "no setting 'nonsense'" && run 2 stdio && run 2 bench && run 2 audit list && run 2 secrets list; }
ok 'an invalid setting is an error in every command' a
configure 'python: {profiles: {texts: [difflib, textwrap]}}\nprograms: {shell: /nowhere/bash}\n'
a() { run 0 run -l python --profile texts -e 'import sys; "difflib" in sys.modules' && [ "$out" = true ] && run 2 run -l python --profile others -e 1 && run 3 run -l shell -e 'echo 1' && has "$err" /nowhere/bash && run 0 run -l shell -e 'echo 1' --set programs.shell= && [ "$out" = 1 ] && run 0 bench --set programs.node=/nowhere/node --set programs.deno=/nowhere/deno && has "$out" /nowhere/bash && has "$out" /nowhere/node && has "$out" /nowhere/deno; }
ok 'programs and profiles' a
if [ -n "$(command -v node)" ]; then
  mkdir -p "$scratch/packages/tiny" && echo 'module.exports = n => n * 2' > "$scratch/packages/tiny/index.js" && chmod 755 "$scratch"
  configure "node: {allowedModules: [tiny]}\nprograms: {nodePackages: $scratch/packages, node: $(command -v node)}\n"
  a() { run 0 run -l node -e 'require("tiny")(21)' && [ "$out" = 42 ] && run 1 run -l node -e 'require("tiny")(21)' --set node.allowedModules= && run 1 run -l node -e 'require("path")' --set node.allowedModules= && has "$err" "'path' is not allowed" && run 0 run -l node -e 'require("path").sep' --set node.allowedModules=node:safe && run 0 run -l node -e 'require("tiny")(21) + require("zlib").constants.Z_OK' --allow zlib && [ "$out" = 42 ]; }
  ok 'modules and packages of Node.js' a
fi

cp "$GB_OUTSIDE_MARK" "$scratch/program" && chmod 755 "$scratch/program" "$scratch"
marked="--set programs.node=$scratch/program --set programs.deno=$scratch/program --set programs.shell=$scratch/program"
a() {
  local setting
  for setting in node deno shell; do
    # shellcheck disable=SC2086
    run 0 execute -l "$setting" -e 1 --set stateDir="$scratch/marked" --set agent.enabled=true --set agent.autoApprove=true --set agent.allowedRuntimes=node,deno,shell $marked || return 1
    # shellcheck disable=SC2086
    run 0 run -l "$setting" -e 1 --set stateDir="$scratch/marked" $marked || return 1
  done
  # shellcheck disable=SC2086
  run 0 audit list --json --set stateDir="$scratch/marked" && [ "$(printf '%s\n' "$out" | grep -c '"runtimeVersion":"v1.2.3"')" = 3 ] && run 0 bench --json $marked && run 0 doctor && [ ! -e "$scratch/program.ran" ]
}
ok 'programs named in settings are started in a sandbox only' a
a() { "$scratch/program" > "$scratch/out" && [ -e "$scratch/program.ran" ]; }
ok 'a program that is started outside a sandbox leaves its mark' a

# --- what is kept ---
configure "stateDir: $scratch/kept\naudit: {directory: $scratch/log}\nagent: {enabled: true, autoApprove: true}\n"
a() { run 0 execute -l python -e 'print(1)' --purpose here && [ -e "$scratch/log/audit.db" ] && [ -e "$scratch/kept" ] && [ ! -e "$HOME/.local" ] && run 0 audit list --json && has "$out" '"purpose":"here"' && run 0 audit verify && run 0 energy && run 0 energy set 0.5 && has "$out" 0.5; }
ok 'audit and energy use the folders of the settings' a
a() { run 0 audit list --set audit.directory="$scratch/empty" && has "$err" "$scratch/empty" && run 0 audit list --json --dir "$scratch/log" && has "$out" here && run 0 audit list --json --config /dev/null --set audit.directory="$scratch/log" && has "$out" here && XDG_CONFIG_HOME=$scratch run 0 audit list && has "$err" "$HOME/.local/state/glovebox" && XDG_CONFIG_HOME=$scratch run 0 audit list --json --config "$file" && has "$out" here; }
ok 'audit uses the folder of --dir, --config and --set' a
a() { echo shy-of-light > "$scratch/in" && stdin=$scratch/in run 0 secrets add PET --stdin && has "$err" "$scratch/kept" && [ -e "$scratch/kept/secrets" ] && run 0 secrets list && [ "$out" = PET ] && run 0 run -l python -e 'print("shy-of-" + "light")' && [ "$out" = '***' ] && run 0 secrets list --set stateDir="$scratch/other" && [ -z "$out" ] && [ ! -e "$HOME/.local" ] && [ ! -e "$scratch/other" ]; }
ok 'secrets use the state folder of the settings' a
a() { printf 'ab-1234 cd-1234' > "$scratch/in" && PASS=cd-1234 stdin=$scratch/in run 0 secrets mask --set 'secrets.patterns=["ab-[0-9]{4}"]' --set secrets.environment=PASS && [ "$out" = '*** ***' ]; }
ok 'masking follows the settings' a
configure "stateDir: $scratch/kept\nagent: {enabled: true}\nenergy: {enabled: false}\napprovals: {timeout: 60s}\n"
a() {
  "$glovebox" execute -l python -e 'print(2)' > "$scratch/answer" 2>&1 &
  local pid=$! id='' result
  for _ in $(seq 1200); do
    id=$("$glovebox" approvals list --json 2> /dev/null | grep -o '"id":"[0-9a-f]*' | cut -d'"' -f4)
    [ -z "$id" ] || break
    sleep 0.05
  done
  run 0 approvals approve "$id"
  result=$?
  wait $pid && [ $result = 0 ] && grep -qx 2 "$scratch/answer"
}
ok 'approvals use the state folder of the settings' a

echo "1..$n"
