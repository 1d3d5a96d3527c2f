#!/usr/bin/env bash
# An installed tree works wherever it is: the program finds its workers relative to itself.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
mkdir -p "$tree/first/bin" "$tree/first/libexec/glovebox"
cp "$GB_GLOVEBOX" "$tree/first/bin/"
cp "$GB_WORKER_DIR/glovebox-js" "$tree/first/libexec/glovebox/"
n=0
check_run() { # description, folder
  local said
  n=$((n + 1))
  said=$("$2/bin/glovebox" run -l js -e 'export default 6*7' 2>&1)
  if [ "$said" = 42 ]; then echo "ok $n - $1"; else printf '# %s\nnot ok %d - %s\n' "$said" "$n" "$1"; fi
}
check_run 'workers are found in ../libexec/glovebox' "$tree/first"
mv "$tree/first" "$tree/second"
check_run 'workers are found after the tree was moved' "$tree/second"
ln -s second "$tree/link"
check_run 'workers are found through a symbolic link' "$tree/link"
echo "1..$n"
