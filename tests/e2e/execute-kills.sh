#!/usr/bin/env bash
# Processes killed at random moments: every result that was returned has a record. TAP. Needs GB_GLOVEBOX; GB_MANY_KILLS is their number.
set -u
glovebox=$GB_GLOVEBOX
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export GLOVEBOX_STATE_DIR=$scratch/state HOME=$scratch
kills=${GB_MANY_KILLS:-20}
n=0
settings=(--set agent.enabled=true --set agent.autoApprove=true --set energy.enabled=false)

# The duration of one execution in milliseconds: the moments are drawn from a slightly longer span.
"$glovebox" execute -l js -e 'export default 0' --json "${settings[@]}" > "$scratch/outfirst"
began=$(date +%s%N)
"$glovebox" execute -l js -e 'export default 1' --json "${settings[@]}" > "$scratch/first"
span=$((($(date +%s%N) - began) / 1000000 * 3 / 2 + 1))

for i in $(seq "$kills"); do
  "$glovebox" execute -l js -e "export default 'result $i'" --json "${settings[@]}" > "$scratch/out$i" 2> /dev/null &
  sleep "$(printf '0.%03d' $((RANDOM % span)))"
  kill -9 $! 2> /dev/null
  wait $! 2> /dev/null
done

# A server with hundreds of active requests.
many=(--set agent.maxConcurrentRuns=1000 --set agent.maxConcurrentRunsPerTransport=1000)
mkfifo "$scratch/in"
for i in $(seq 300); do
  echo "{\"type\":\"execute\",\"run\":$i,\"language\":\"javascript\",\"source\":\"export default $i\"}"
done > "$scratch/messages"
for i in $(seq $((kills / 4))); do
  "$glovebox" stdio "${settings[@]}" "${many[@]}" < "$scratch/in" > "$scratch/served$i" 2> /dev/null &
  exec 3> "$scratch/in"
  cat "$scratch/messages" >&3
  sleep "$(printf '0.%03d' $((RANDOM % 250)))"
  kill -9 $! 2> /dev/null
  wait $! 2> /dev/null
  exec 3>&-
done

"$glovebox" audit export > "$scratch/records" 2> "$scratch/err"
grep -o '"runId":"[0-9a-f]*' "$scratch/records" | sort -u > "$scratch/recorded"
cat "$scratch"/first "$scratch"/out* "$scratch"/served* | grep -o '"runId":"[0-9a-f]\{32\}' | sort -u > "$scratch/told"
told=$(wc -l < "$scratch/told")
unrecorded=$(comm -23 "$scratch/told" "$scratch/recorded" | wc -l)
ok() { n=$((n + 1)); if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi; }
echo "# $kills and $((kills / 4)) killed, $told results returned, $(wc -l < "$scratch/recorded") recorded; one takes up to $span ms"
"$glovebox" audit verify > "$scratch/verify" 2>&1
ok $? 'the log opens and is whole'
[ "$told" -gt 0 ]
ok $? 'some results were told'
[ "$unrecorded" = 0 ]
ok $? 'and each of them is recorded'
"$glovebox" execute -l js -e 'export default 2' "${settings[@]}" | grep -qx 2
ok $? 'the next one runs'
echo "1..$n"
