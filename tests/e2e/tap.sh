# What the tests of the command line share. Sourced, before the folder is changed. Needs GB_GLOVEBOX.
glovebox=$GB_GLOVEBOX
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
n=0 out='' err=''

# Status, then the program's arguments; leaves $out and $err. $stdin is what it reads, $limit how long it may take.
run() {
  local expected=$1 status
  shift
  ${limit:+timeout "$limit"} "$glovebox" "$@" > "$scratch/out" 2> "$scratch/err" < "${stdin:-/dev/null}"
  status=$?
  out=$(cat "$scratch/out") err=$(cat "$scratch/err")
  [ "$status" = "$expected" ] || { echo "# exit status $status, expected $expected: $*"; return 1; }
}

# A name, then a command that must hold.
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

# An expression in Python over what was printed: j, a JSON object, or rows, those of each line.
json() {
  printf '%s\n' "$out" | /usr/bin/python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin if line.strip()]
j = rows[0]
sys.exit(not ('"$1"'))' || { echo "# not so: $1"; return 1; }
}
