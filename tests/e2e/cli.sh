#!/usr/bin/env bash
# The command line of glovebox. TAP. Needs GB_GLOVEBOX.
set -u
. "$(dirname "$0")/tap.sh"

a() { run 0 run -e 'export default 6*7' && [ "$out" = 42 ] && [ -z "$err" ]; }
ok 'a result is printed' a
a() { run 0 run -e '6*7' && [ "$out" = 42 ] && run 0 run -l js -e $'const a = [1]\nfunction f() {}\na, [...a, 2];;' && [ "$out" = '[ 1, 2 ]' ] && run 0 run -e '({a: 1}) satisfies object' && [ "$out" = '{ a: 1 }' ] && run 0 run -e 'new Promise(done => done(3))' --json && json 'j["result"] == 3' && echo '"of a file" as any' > "$scratch/last.ts" && run 0 run "$scratch/last.ts" && [ "$out" = 'of a file' ]; }
ok 'without exports the last expression is the result' a
a() { run 0 run -e 'export const x = 1; 6*7' && [ -z "$out" ] && run 0 run -e 'if (1) { 6*7 }' && [ -z "$out" ] && run 0 run -e '6*7; let x' && [ -z "$out" ] && run 0 run -e 'console.log(1)' && [ "$out" = 1 ] && run 0 run -e '() => { throw 1 }' && [ "$out" = '[Function]' ] && run 0 run -e '(a, b) => a + b' --args '[1, 2]' && [ "$out" = 3 ] && run 1 run -e $'let a;\n  a.b.c' && has "$err" '<runCode>:2:3'; }
ok 'a last expression is the result only without exports, and a function is not called without --args' a
a() { run 0 run -l js -e 'export default 6*7' --json && has "$out" '"status":"success"' && has "$out" '"result":42' && [ -z "$err" ] && [ "$(wc -l < "$scratch/out")" = 1 ]; }
ok 'JSON output is one object only' a
a() { run 0 run -l js -e 'export default [1n, new Map([["a", new Date(0)]]), new Uint8Array([1,2])]' --json && has "$out" '[{"$type":"bigint","value":"1"},{"$type":"Map","entries":[["a",{"$type":"Date","value":"1970-01-01T00:00:00.000Z"}]]},{"$type":"Uint8Array","data":"AQI="}]'; }
ok 'JSON output keeps types' a
a() { run 124 run -l js -e 'while(true){}' --timeout 200ms && has "$err" 'longer than its 200 ms' && has "$err" 'hint: allow it more time (--timeout'; }
ok 'the exit status of a timeout is 124' a
a() { run 1 run -l js -e 'const a=[]; for(;;) a.push("x".repeat(1e6))' --memory 32M --json && has "$out" '"status":"memory"' && run 0 run -e 'export default 1'; }
ok 'the memory limit, and the next run works' a
a() { run 1 run -l js -e 'export default new Promise(() => {})' && has "$err" 'hint: await only' && run 1 run -l js -e 'throw new Error("x")' && ! has "$err" 'hint:' > /dev/null; }
ok 'an error with a code has a hint' a
a() { run 3 run -l python -e 'import sys; print(1); sys.exit(3)' && [ "$out" = 1 ] && [ -z "$err" ] && run 1 run -l python -e 'exit("lost")' && [ "$err" = lost ] && run 0 run -l python -e 'exit(0)' && run 3 run -l python -e 'exit(3)' --json && json "j['exitCode'] == 3 and j['error'] == {'name': 'SystemExit', 'message': '3', 'code': 'exit'}"; }
ok 'sys.exit is the exit status, without a traceback' a
a() { run 4 run -l shell -e 'echo a; exit 4' && [ "$out" = a ] && [ -z "$err" ] && run 137 run -l shell -e 'kill -9 $$' && has "$err" 'ended by signal 9 (SIGKILL)' && run 1 run -l python -e 'import os; os.environ["x"]; exit(3)' && has "$err" KeyError; }
ok 'the exit status of a script, and of a script that a signal ends' a
a() { run 1 run -l js -e $'let a = 1;\nthrow new Error("boom")' && has "$err" 'error: Error: boom' && has "$err" '<runCode>:2:11' && has "$err" '^'; }
ok 'an error shows its position' a
a() { run 1 run -l js -e 'export default }' && has "$err" 'link_error: SyntaxError'; }
ok 'a syntax error is a link error' a
a() { run 0 run -e 'const x: number = 1; export default x as number' && [ "$out" = 1 ]; }
ok 'TypeScript is the default language' a
a() { run 1 run -e 'let x: = 1' && has "$err" '         ^'; }
ok 'a syntax error of TypeScript is shown with a caret' a
a() { echo 'export default import.meta.url' > "$scratch/m.js" && run 0 run "$scratch/m.js" && [ "$out" = "sandbox:$scratch/m.js" ]; }
ok 'import.meta.url has the name of the file' a
a() { echo 'export const add = (a, b) => a + b' > "$scratch/in" && stdin=$scratch/in run 0 run - --fn add --args '[1, 2]' && [ "$out" = 3 ]; }
ok 'standard input, an export, arguments' a
a() { run 0 run -e 'export default a.length + b' --input 'a=[1,2]' --input b=40 && [ "$out" = 42 ]; }
ok 'inputs are global variables' a
a() { run 0 run -e 'console.log("o", {a: 1}); console.error("e")' && [ "$out" = 'o { a: 1 }' ] && [ "$err" = e ]; }
ok 'logs go to stdout or stderr by level' a
a() { run 0 run -e 'console.log("\x1b[31mred\x07")' && ! grep -q $'[\x1b\x07]' "$scratch/out"; }
ok 'code cannot control the terminal' a
a() { run 1 run -e 'throw new Error("\x1b[31mred")' && ! grep -q $'\x1b' "$scratch/err"; }
ok 'errors of code cannot control the terminal' a
a() { export GLOVEBOX_DENO=/nonexistent/deno; run 3 run -l deno -e 1 && has "$err" 'deno' && has "$err" "hint: 'glovebox doctor' lists" && run 3 run -l deno -e 1 --json && has "$out" '"code":"runtime_disabled"'; local s=$?; unset GLOVEBOX_DENO; return $s; }
ok 'a language that is not installed is refused' a
if command -v node > /dev/null; then
  a() { run 0 run -l node -e 'console.log("hi"); require("path").join("a", "b")' && [ "$out" = "$(printf 'hi\na/b')" ]; }
  ok 'Node.js' a
  a() { run 3 run -l node -e 'process.exit(3)' && [ -z "$err" ] && run 5 run -l node -e 'process.exitCode = 5' && [ -z "$err" ]; }
  ok 'the exit status of Node.js' a
  a() { run 1 run -l node -e 'require("net")' && has "$err" '--allow net' && run 0 run -l node --allow net -e 'typeof require("net").connect' && [ "$out" = function ]; }
  ok 'a module of Node.js is allowed by name' a
  a() { run 0 version --runtimes --json && has "$out" '"node":{"path":"/'; }
  ok 'installed runtimes are listed' a
fi
# A program named by the environment, with each command that asks for its version.
cp "$GB_OUTSIDE_MARK" "$scratch/program" && chmod 755 "$scratch/program" "$scratch"
a() { "$scratch/program" > /dev/null && [ -e "$scratch/program.ran" ] && rm "$scratch/program.ran"; }
ok 'the mark is left outside a sandbox' a
a() { GLOVEBOX_NODE=$scratch/program GLOVEBOX_DENO=$scratch/program GLOVEBOX_BASH=$scratch/program run 0 version --runtimes --json && json "j['runtimes']['node'] == {'path': '$scratch/program', 'version': 'v1.2.3'}" && GLOVEBOX_NODE=$scratch/program run 3 doctor && [ ! -e "$scratch/program.ran" ]; }
ok 'version and doctor start no program outside a sandbox' a
chmod 700 "$scratch"
a() { run 0 version --runtimes --json && json "j['runtimes']['bash']['version'].startswith('GNU bash, version ')" && { [ -z "$(command -v node)" ] || json "j['runtimes']['node']['version'] == '$(node --version 2> /dev/null)'"; }; }
ok 'versions are those that the programs print' a
a() { run 2 run -l node --restricted -e 1 && has "$err" '--restricted has no effect on node'; }
ok 'an option that the language does not support is refused' a
a() { echo 'print("py"); 6 * 7' > "$scratch/x.py" && run 0 run "$scratch/x.py" && [ "$out" = "$(printf 'py\n42')" ]; }
ok 'the ending of a file determines its language' a
a() { echo 'print(7)' > "$scratch/x.txt" && cp "$scratch/x.txt" "$scratch/program-text" && run 2 run "$scratch/x.txt" && has "$err" 'the ending .txt' && has "$err" '.py (python)' && has "$err" '-l' && run 2 run "$scratch/program-text" && has "$err" 'no ending' && run 0 run -l python3 "$scratch/x.txt" && [ "$out" = 7 ]; }
ok 'a file without an ending of a language needs -l' a
a() { run 0 run -l python -e 'print("a" * 4000)' --set limits.python.output=2K && has "$err" 'the output was cut at its limit, 2K (settings limits.python.output, limits.python.maxOutput), or the files at theirs, 16M (limits.python.result)' && run 0 run -e 'for (let i = 0; i < 100; i++) console.log("a".repeat(100))' --set limits.javascript.output=4K && has "$err" 'at its limit, 4K (settings limits.javascript.output, ' && lacks "$err" files; }
ok 'cut output names the limit and its setting' a
a() { (cd "$scratch" && run 0 run -l python --out new/a/b -e 'open("x", "w").write("made")') && [ "$(cat "$scratch/new/a/b/x")" = made ] && mkdir "$scratch/elsewhere" && ln -s elsewhere "$scratch/link" && (cd "$scratch" && run 2 run -l python --out link/new -e 1 && has "$err" 'symbolic link') && [ -z "$(ls "$scratch/elsewhere")" ]; }
ok '--out creates its folder, and not behind a link' a
a() {
  mkdir -p "$scratch/tree/sub" && echo one > "$scratch/tree/a" && echo two > "$scratch/tree/sub/b" && ln -s /etc/passwd "$scratch/tree/link" && mkfifo "$scratch/tree/fifo" &&
    (cd "$scratch" && run 0 run -l shell --file tree/ -e 'find . -type f | sort; cat tree/*/b' && [ "$out" = "$(printf './tree/a\n./tree/sub/b\ntwo')" ] && has "$err" "2 symbolic links or special files in 'tree/' were left out") &&
    (cd "$scratch/tree" && run 0 run -l shell --file . --file ../x.py -e 'find . -type f | sort' && [ "$out" = "$(printf './a\n./sub/b\n./x.py')" ])
}
ok '--file takes a folder, without links' a
a() { mkdir "$scratch/pictures" && : > "$scratch/pictures/d" && run 1 run -l python --out "$scratch/pictures" -e 'import os; os.mkdir("d"); open("d/\033[31m", "w").close()' && case $err in *"$(printf '\033')"*) false ;; *) has "$err" '--out' ;; esac; }
ok 'a file name chosen by the code cannot control the terminal' a
a() { run 2 run && has "$err" 'nothing to run' && run 2 run -e 1 -e 2 && has "$err" '--eval is given twice' && run 2 run -e 1 file && has "$err" 'one piece of code'; }
ok 'no code, or more than one source of code' a
a() { run 2 run --nonsense && has "$err" "unknown option '--nonsense'" && run 2 run -e && has "$err" 'needs a value' && run 2 run -e 1 --json=1 && has "$err" 'takes no value'; }
ok 'an unknown option is named' a
a() { run 2 run -e 1 --timeout soon && has "$err" "'soon' is not a time" && run 2 run -e 1 --memory lots && has "$err" "'lots' is not a size" && run 2 run -e 1 --memory 10K && has "$err" "--memory: 10240 is not between"; }
ok 'an invalid time or size is named' a
a() { run 2 run -e 1 --args '[1' && has "$err" '--args' && has "$err" 'line 1, column 3' && run 2 run -e 1 --args '{}' && has "$err" 'must be an array'; }
ok 'the position in invalid arguments is shown' a
a() { run 2 run -e 1 --input x && has "$err" NAME=JSON && run 2 run -e 1 --input 'a-b=1' && has "$err" a-b && run 2 run -e 1 --input a=1 --input a=2 && has "$err" twice; }
ok 'an invalid input is named' a
a() { run 2 run -l cobol -e 1 && has "$err" "no language 'cobol'; there are typescript (ts), " && run 2 run /nonexistent.js && has "$err" /nonexistent.js; }
ok 'an unknown language, a missing file' a
a() { head -c 17000000 /dev/zero | tr '\0' ' ' > "$scratch/big.js" && run 2 run "$scratch/big.js" && has "$err" 'larger than'; }
ok 'code that is too large' a
a() { run 2 rnu && has "$err" "did you mean 'run'?" && run 2 run --timeot 1s && has "$err" "did you mean '--timeout'?" && run 2 session exce && has "$err" "did you mean 'exec'?" && run 2 audit lst && has "$err" "did you mean 'list'?" && run 2 config show --set agent.enabld=true && has "$err" "did you mean 'agent.enabled'?" && run 2 run --nonsense && lacks "$err" 'did you mean'; }
ok 'a misspelt command, option, action or setting has a suggestion' a
a() { run 0 run -ljs -e'export default 6*7' && [ "$out" = 42 ] && run 2 run -lcobol -e 1 && has "$err" "no language 'cobol'"; }
ok 'the value of a short option may be attached' a
a() { run 2 run --nonsense --json && json 'j["status"] == "denied" and j["error"]["code"] == "invalid" and "--nonsense" in j["error"]["message"]' && [ -z "$err" ] && run 2 audit lst --json && json 'j["error"]["code"] == "invalid" and "lst" in j["error"]["message"]' && [ -z "$err" ] && run 2 run -e --json --nonsense && [ -z "$out" ] && has "$err" nonsense; }
ok 'a usage error is JSON with --json' a
a() { run 0 help run && has "$out" 'glovebox run [FILE' && run 0 help session create && has "$out" 'glovebox session create' && run 0 help && has "$out" 'run untrusted code safely' && run 2 help nonsense && has "$err" "no command 'nonsense'"; }
ok 'help describes a command' a
a() { run 0 audit verify --help && has "$out" 'glovebox audit verify' && has "$out" '--expect-key' && lacks "$out" '--status' && for c in 'audit list' 'audit show' 'audit export' 'approvals list' 'approvals watch' 'energy set' 'secrets add' 'config trust' 'session kill'; do run 0 $c --help && has "$out" "glovebox $c" || return 1; done; }
ok 'every subcommand has its own help' a
a() { run 2 rnu && [ "$err" = "glovebox: there is no command 'rnu'; did you mean 'run'?" ] && run 2 --json && json 'j["error"]["code"] == "invalid"' && run 2 qqqq --json && [ -z "$err" ] && json "'qqqq' in j['error']['message']" && run 2 session qqqq --json && json "'qqqq' in j['error']['message']" && run 2 session qqqq && has "$err" "'glovebox session --help' lists"; }
ok 'an unknown command is an error of one line, as JSON with --json' a
a() { run 2 && has "$err" 'glovebox run' && run 2 nonsense && has "$err" "no command 'nonsense'" && run 0 --help && has "$out" 'run untrusted code safely'; }
ok 'without a command the commands are listed' a
a() { for c in run session audit secrets ts-strip doctor bench config prompt version; do run 0 $c --help && has "$out" "glovebox $c" || return 1; done; }
ok 'every command has help' a
a() { for c in run execute 'session create'; do run 0 $c --help && has "$out" 'python       py python3' || return 1; done; }
ok 'help lists the languages' a
a() { run 0 version && has "$out" 'glovebox 0.' && run 0 version --json && has "$out" '{"version":"0.' && run 2 version x; }
ok 'version' a
a() { echo 'let x: number = 1 as any' > "$scratch/a.ts" && run 0 ts-strip "$scratch/a.ts" && [ "$out" = 'let x         = 1       ' ] && stdin=$scratch/a.ts run 0 ts-strip - --json && [ "$out" = '{"text":"let x         = 1       \n"}' ]; }
ok 'types are stripped' a
a() { printf 'let a = 1\n\tlet é: = 2\n' > "$scratch/a.ts" && run 1 ts-strip "$scratch/a.ts" && has "$err" "$scratch/a.ts:2:10: error: expected a type" && has "$err" $'\n  \tlet é: = 2\n  \t       ^' && run 1 ts-strip "$scratch/a.ts" --json && [ "$out" = '{"error":{"message":"expected a type","line":2,"column":10}}' ]; }
ok 'code whose types cannot be stripped is an error with its position' a
a() { echo '@d class A {}' > "$scratch/a.ts" && run 1 ts-strip "$scratch/a.ts" && has "$err" 'decorators are not supported; ' && run 2 ts-strip && has "$err" 'nothing to strip' && run 2 ts-strip a b && run 2 ts-strip /nonexistent.ts && has "$err" /nonexistent.ts; }
ok 'unsupported syntax and missing arguments are named' a
a() { printf 'let x: 1 = "a\xff\xc3\xed\xa0\x80\xf0\x9f\x98"' > "$scratch/a.ts" && run 0 ts-strip "$scratch/a.ts" --json && iconv -f utf-8 -t utf-8 "$scratch/out" > /dev/null && json 'j["text"].startswith("let x    = \"a\ufffd")'; }
ok 'the JSON of code that is not UTF-8 is UTF-8' a
a() { local dir=$scratch/$'\xff'; mkdir "$dir" && echo 'agent: {enabled: false}' > "$dir/a.yaml" && run 0 config show --json --config "$dir/a.yaml" && iconv -f utf-8 -t utf-8 "$scratch/out" > /dev/null && json 'j["file"].endswith("/\ufffd/a.yaml")'; }
ok 'the JSON of settings in a file whose name is not UTF-8 is UTF-8' a
export GLOVEBOX_STATE_DIR=$scratch/state
a() { printf 'hunter22\n' > "$scratch/in" && stdin=$scratch/in run 0 secrets add PET --stdin && [ -z "$out" ] && ! grep -rq hunter22 "$scratch/state" && run 0 secrets list && [ "$out" = PET ] && run 0 secrets list --json && [ "$out" = '[{"name":"PET"}]' ]; }
ok 'a secret is stored, and never shown' a
a() { printf 'a hunter22 aHVudGVyMjI= AKIA%s b' 0123456789ABCDEF > "$scratch/in" && stdin=$scratch/in run 0 secrets mask && [ "$out" = 'a *** *** *** b' ] && printf '<another1>' > "$scratch/in" && export GLOVEBOX_SECRET_X=another1 && stdin=$scratch/in run 0 secrets mask && unset GLOVEBOX_SECRET_X && [ "$out" = '<***>' ]; }
ok 'masking can be tried' a
a() { run 0 secrets rm PET && run 0 secrets list && [ -z "$out" ] && run 3 secrets rm PET && has "$err" "no secret 'PET'"; }
ok 'a secret is removed' a
a() { printf 'short' > "$scratch/in" && stdin=$scratch/in run 3 secrets add PET --stdin && has "$err" 'at least 6' && run 2 secrets add 'a b' --stdin && has "$err" name && run 2 secrets add PET && has "$err" '--stdin'; }
ok 'a value that is too short, an invalid name, no terminal' a
a() { run 2 secrets && has "$err" 'glovebox secrets add NAME' && run 2 config && has "$err" 'glovebox config show' && run 2 secrets add && has "$err" NAME && run 2 secrets list x && run 2 secrets add a b c && run 2 secrets nonsense; }
ok 'secrets shows its usage' a
a() { run 0 secrets kinds && has "$out" github-token && run 0 secrets kinds --json && /usr/bin/python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert len(d) >= 60 and all(k["name"] and k["pattern"] and k["note"] for k in d)' "$scratch/out"; }
ok 'the known kinds of secrets are listed' a
a() { chmod 755 "$scratch/state" && run 3 secrets list && has "$err" "chmod 700 '$scratch/state'" && stdin=$scratch/in run 3 secrets mask && [ -z "$out" ] && chmod 700 "$scratch/state" && run 0 secrets list; }
ok 'a folder with unsafe permissions is refused' a
# $scratch is such a folder, and so is /root.
a() { cp "$(command -v bash)" "$scratch/bash" && chmod 755 "$scratch/bash" && export GLOVEBOX_BASH=$scratch/bash; run 0 run -l shell -e 'echo here' && [ "$out" = here ] && [ "$(stat -c %a "$scratch")" = 700 ]; local s=$?; unset GLOVEBOX_BASH; return $s; }
ok 'a program below a folder that is closed to other users' a
a() { run 0 doctor && has "$out" 'Every layer of the sandbox works.' && has "$out" 'files' && has "$out" 'programs' && ! has "$out" missing > /dev/null; }
ok 'doctor observes every layer in every room' a
a() { run 0 doctor --json && /usr/bin/python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["ok"] and d["run"]["ok"]
assert len(d["layers"]) == 11
for layer in d["layers"]:
    assert layer["verdict"] == "observed" or layer["optional"], layer
    assert layer["wholeWall"] == layer["rooms"]["none"] and layer["withoutIt"], layer
    assert all(how and how != "allowed" for how in layer["rooms"].values()), layer
assert {r["room"]: r["verdict"] for r in d["rooms"]} == dict.fromkeys(["none", "files", "programs"], "observed")
runtimes = {r["runtime"]: r["verdict"] for r in d["runtimes"]}
assert list(runtimes) == ["js", "python", "shell", "node", "deno"] and "missing" not in runtimes.values()
assert runtimes["js"] == runtimes["python"] == runtimes["shell"] == "observed"' "$scratch/out"; }
ok 'doctor as json' a
a() { run 0 doctor --json && /usr/bin/python3 -c '
import json, sys
limits = json.load(open(sys.argv[1]))["limits"]
assert limits["cgroupVersion"] in (0, 1, 2) and bool(limits["notBounded"]) == (limits["cgroupVersion"] == 0)' "$scratch/out"; }
ok 'doctor lists what is not bounded without control groups' a
a() { export GLOVEBOX_DENO=/nonexistent/deno; run 0 doctor && has "$out" 'Every layer of the sandbox works.' && grep -q '^  absent    deno .*GLOVEBOX_DENO' "$scratch/out"; local s=$?; unset GLOVEBOX_DENO; return $s; }
ok 'doctor succeeds if a runtime is not installed' a
a() { export GLOVEBOX_NODE=/usr/bin/true; run 3 doctor && ! has "$out" 'Every layer of the sandbox works.' > /dev/null && grep -q '^  missing   node ' "$scratch/out" && grep -q '^  observed  shell ' "$scratch/out"; local s=$?; unset GLOVEBOX_NODE; return $s; }
ok 'doctor fails if an installed runtime does not run' a
a() { run 0 bench --json && /usr/bin/python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert all(d[l][k] > 0 for l in ("javascript", "python", "shell") for k in ("onDemandMs", "pooledMs")) and {"node", "deno"} <= set(d)' "$scratch/out"; }
ok 'bench as json' a
# An installed copy of another build is found, and refused.
a() { mkdir "$scratch/alone" && cp "$glovebox" "$scratch/alone/" && out=$("$scratch/alone/glovebox" run -e 1 2>&1); [ $? = 3 ] && { [ -e /usr/local/libexec/glovebox/glovebox-js ] || has "$out" "worker program 'glovebox-js'"; }; }
ok 'a missing worker is an error that names it' a
a() { run 2 stdio x && has "$err" "takes no operand" && run 2 stdio --max-runs 0 && has "$err" "'0' is not a number" && run 2 stdio --timeout soon && has "$err" "'soon' is not a time" && run 0 stdio --help && has "$out" '"type":"run"'; }
ok 'stdio names an invalid option, and shows an example' a
a() { run 0 stdio && [ "$out" = '{"type":"hello","protocol":1,"version":"'"$("$glovebox" version | cut -d' ' -f2)"'"}' ] && [ -z "$err" ]; }
ok 'stdio sends hello and ends at end of input' a
a() { run 3 stdio --socket "$scratch/no/such/folder" && has "$err" 'No such file' && run 3 stdio --socket "$(printf '%0200d' 1)" && has "$err" 'path of a socket'; }
ok 'a socket that cannot be created is an error' a
a() { "$glovebox" stdio <&- > "$scratch/out" 2>&1; [ $? = 0 ] && "$glovebox" stdio >&- 2> "$scratch/err" < /dev/null; }
ok 'stdio without standard streams ends' a
# The leak checker would need a thread.
a() { out=$(ASAN_OPTIONS=detect_leaks=0 prlimit --nproc=0:0 -- "$glovebox" run -e 'export default 1' 2>&1); case $? in 0) [ "$out" = 1 ] ;; 3) has "$out" ': ' ;; *) false ;; esac; }
ok 'at the process limit of the user a run succeeds or is refused' a

mkdir -p "$scratch/node_modules/tiny" && echo 'module.exports = n => n * 2' > "$scratch/node_modules/tiny/index.js"
if [ -n "$(command -v node)" ]; then
  a() { [ "$(id -u)" != 0 ] || { run 2 run -l node -e 1 --allow x --packages "$scratch/node_modules" && has "$err" 'chmod o+rx'; }; }
  ok 'a folder that sandboxes cannot reach is named' a
  chmod 755 "$scratch"
  a() { run 0 run -l node -e 'require("tiny")(21)' --allow tiny --packages "$scratch/node_modules" && [ "$out" = 42 ] && run 1 run -l node -e 'require("tiny")' --allow fs --packages "$scratch/node_modules" && has "$err" tiny; }
  ok 'an allowed package can be used' a
  a() { (cd "$scratch" && run 0 run -l node -e 'require("tiny")(21)' --allow tiny --packages node_modules && [ "$out" = 42 ] && run 0 run -l node -e 'require("tiny")(2)' --allow tiny --packages ./node_modules/ && [ "$out" = 4 ]); }
  ok 'the folder of packages may be a relative path' a
fi

echo "1..$n"
