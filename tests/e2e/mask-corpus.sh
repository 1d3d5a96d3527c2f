#!/bin/bash
# How often the secrets filter masks something in source code that holds no secrets: Python's standard library. TAP.
# Needs GB_MASK_CORPUS.
set -u

python=/usr/bin/python3
[ -x $python ] || python=python3
library=$($python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))' 2>/dev/null)
if [ ! -f "${library:-}/os.py" ]; then
  echo "1..0 # SKIP there is no standard library of Python"
  exit 0
fi

# Its own tests hold passwords, and packages that were installed are others' code.
paths=()
for path in "$library"/*; do
  case ${path##*/} in test | site-packages | dist-packages) ;; *) paths+=("$path") ;; esac
done

out=$("$GB_MASK_CORPUS" "${paths[@]}") || echo "# some file could not be read"
echo "$out" | sed 's/^/# /'
read -r bytes places <<<"$(echo "$out" | awk '$1 == "sources" {print $4, $6}')"

echo 1..2
[ "${bytes:-0}" -gt 5000000 ] && echo 'ok 1 - the library was read' || echo 'not ok 1 - the library was read'
[ -n "${places:-}" ] && [ $((places * 2000000)) -le "$bytes" ] && result=ok || result='not ok'
echo "$result 2 - at most one place is masked for every two megabytes"
