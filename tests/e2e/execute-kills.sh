#!/usr/bin/env bash
# Killed at random moments: no result was told whose record is missing. TAP. Needs GB_GLOVEBOX; GB_MANY_KILLS says how often.
set -u
glovebox=$GB_GLOVEBOX
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export GLOVEBOX_STATE_DIR=$scratch/state HOME=$scratch
kills=${GB_MANY_KILLS:-20}
told=0 unrecorded=0 n=0
settings=(--set agent.enabled=true --set agent.autoApprove=true --set energy.enabled=false)

# How long one takes here, in hundredths of a second: the moments are drawn from a little more than that.
"$glovebox" execute -l js -e 'export default 0' --json "${settings[@]}" > "$scratch/outfirst"
began=$(date +%s%N)
"$glovebox" execute -l js -e 'export default 1' --json "${settings[@]}" > "$scratch/first"
span=$((($(date +%s%N) - began) / 10000000 * 3 / 2 + 1))

for i in $(seq "$kills"); do
  "$glovebox" execute -l js -e "export default 'result $i'" --json "${settings[@]}" > "$scratch/out$i" 2> /dev/null &
  sleep "$(printf '0.%02d' $((RANDOM % span)))"
  kill -9 $! 2> /dev/null
  wait $! 2> /dev/null
done
"$glovebox" audit export > "$scratch/records" 2> "$scratch/err"
for file in "$scratch"/first "$scratch"/out*; do
  id=$(grep -o '"runId":"[0-9a-f]*' "$file" | cut -d'"' -f4)
  [ -n "$id" ] || continue
  told=$((told + 1))
  grep -qF "\"runId\":\"$id\"" "$scratch/records" || unrecorded=$((unrecorded + 1))
done
ok() { n=$((n + 1)); if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi; }
echo "# $kills killed, $told results told, span $span"
"$glovebox" audit verify > "$scratch/verify" 2>&1
ok $? 'the log opens and is whole'
[ "$told" -gt 0 ]
ok $? 'some results were told'
[ "$unrecorded" = 0 ]
ok $? 'and each of them is recorded'
"$glovebox" execute -l js -e 'export default 2' "${settings[@]}" | grep -qx 2
ok $? 'the next one runs'
echo "1..$n"
