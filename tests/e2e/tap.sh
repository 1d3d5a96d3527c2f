# Helpers for the tests of the command line. Must be sourced before a change of the working directory. Needs GB_GLOVEBOX.
glovebox=$GB_GLOVEBOX
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
n=0 out='' err=''

# run STATUS ARGUMENT...: checks the exit status, sets $out and $err. $stdin is its input, $limit its time limit.
run() {
  local expected=$1 status
  shift
  ${limit:+timeout "$limit"} "$glovebox" "$@" > "$scratch/out" 2> "$scratch/err" < "${stdin:-/dev/null}"
  status=$?
  out=$(cat "$scratch/out") err=$(cat "$scratch/err")
  [ "$status" = "$expected" ] || { echo "# exit status $status, expected $expected: $*"; return 1; }
}

# ok NAME COMMAND...: a test that passes if the command succeeds.
ok() {
  local name=$1
  shift
  n=$((n + 1))
  if "$@"; then
    echo "ok $n - $name"
  else
    printf '%s\n' "out: ${out:0:2000}" "err: ${err:0:2000}" | cat -v | sed 's/^/# /'
    echo "not ok $n - $name"
  fi
}

has() { case $1 in *"$2"*) ;; *) echo "# no '$2'"; return 1 ;; esac; }
lacks() { case $1 in *"$2"*) echo "# there is '$2'"; return 1 ;; esac; }
lines() { [ "$(printf '%s\n' "$out" | wc -l)" = "$1" ] || { echo "# not $1 lines"; return 1; }; }

# Checks a Python expression over the output: j, a JSON object, or rows, the JSON objects of the lines.
json() {
  printf '%s\n' "$out" | /usr/bin/python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin if line.strip()]
j = rows[0]
sys.exit(not ('"$1"'))' || { echo "# false: $1"; return 1; }
}
