#!/usr/bin/env bash
# `glovebox approvals` as a person or a script meets it. TAP. Needs GB_GLOVEBOX and GB_APPROVALS_MAKE.
set -u
export LC_ALL=C.UTF-8
. "$(dirname "$0")/tap.sh"

submit() { printf '%b' "$2" | "$GB_APPROVALS_MAKE" "$scratch/state" submit "$1" "${3:-talk}" "${4:-to test}"; }
use() { [ "$(printf '%b' "$3" | "$GB_APPROVALS_MAKE" "$scratch/state" use "$1" "$2" "${5:-talk}")" = "$4" ] || { echo "# not $4"; return 1; }; }
me=$(id -un)

export GLOVEBOX_STATE_DIR=$scratch/state
a() { run 0 approvals list && has "$err" 'no approvals are pending' && run 1 approvals show 1234 && [ ! -e "$scratch/state" ]; }
ok 'looking makes nothing where there is nothing' a

one=$(submit python 'import os\nprint(1)  # one\n')
two=$(submit js 'export default "two"' other 'say two')
a() { run 0 approvals list && lines 3 && has "$out" "${one:0:8}" && has "$out" 'import os print(1)' && has "$out" 'say two' && has "$out" pending; }
ok 'a list' a
a() { run 0 approvals list --json && json 'len(rows) == 2 and rows[0]["code"] == "import os\nprint(1)  # one\n" and rows[1]["purpose"] == "say two" and rows[0]["permissions"] == {"network": []} and rows[0]["state"] == "pending"'; }
ok 'a list as JSON' a
a() { run 0 approvals list --conversation other && lines 2 && run 0 approvals list --runtime python && lines 2 && run 0 approvals list --session none && [ -z "$out" ]; }
ok 'a list by conversation, runtime, session' a
a() { run 0 approvals show "${one:0:6}" && for part in "$one" python session-1 talk 'to test' '{"network":[]}' '{"timeoutMs":5000}' '{"n":1}' expires '  1 | import os' '  2 | print(1)  # one'; do has "$out" "$part" || return 1; done && ! grep -q $'\x1b' "$scratch/out"; }
ok 'all of one, without colours where there is no terminal' a
a() { run 0 approvals show "$two" --json && json 'len(rows) == 1 and rows[0]["conversationId"] == "other"'; }
ok 'one as JSON' a
a() { run 2 approvals show 12 && has "$err" 'is not an approval id' && run 1 approvals show 00000000000000000000000000000000 && has "$err" 'there is no approval'; }
ok 'ids that are none' a

a() { run 0 approvals approve "${one:0:8}" && has "$out" "approved by $me at"; }
ok 'approve' a
a() { run 3 approvals deny "$one" --reason no && has "$out" 'was already decided' && has "$out" "approved by $me"; }
ok 'who comes second is told what the first decided' a
a() { use "$one" python 'import os\nprint(2)\n' changed && use "$one" python 'import os\nprint(1)  # one\n' granted && use "$one" python 'import os\nprint(1)  # one\n' used; }
ok 'what was approved runs once, and nothing else does' a
a() { run 0 approvals deny "$two" --reason 'not today' && has "$out" 'not today' && use "$two" js 'export default "two"' denied other; }
ok 'deny, with a reason' a
three=$(submit python 'x = 3')
a() { run 0 approvals trust "$three" && has "$out" 'the session is trusted' && [ "$("$GB_APPROVALS_MAKE" "$scratch/state" trusted python talk)" = yes ] && [ "$("$GB_APPROVALS_MAKE" "$scratch/state" trusted js talk)" = no ]; }
ok 'trust' a
four=$(printf 'x = 4' | "$GB_APPROVALS_MAKE" "$scratch/state" submit python '')
a() { run 2 approvals trust "$four" && has "$err" 'belongs to no conversation'; }
ok 'no trust without a conversation' a
a() { run 0 approvals list && lines 2 && run 0 approvals list --all && lines 5 && run 0 approvals list --all --json && json 'rows[0]["state"] == "pending" and rows[1]["trusts"] and rows[2]["reason"] == "not today" and rows[3]["used"] and rows[3]["decidedBy"] == "'"$me"'"'; }
ok 'what was decided is listed too' a

# The approver must not be deceived.
five=$(submit shell 'echo \033[2J\033]0;title\a\b\r hidden\nls \u202e txt.exe \u200b\u2066x\u2069\n\u0430dmin \xc2\x9b31m e\u0301 \u00a0\n')
a() { run 0 approvals show "$five" && ! LC_ALL=C grep -q $'[\x1b\x07\x08\x0d]' "$scratch/out" && ! has "$out" $'\u202e' > /dev/null && ! has "$out" $'\u200b' > /dev/null && for part in 'echo <U+001B>[2J<U+001B>]0;title<U+0007><U+0008><U+000D> hidden' 'ls <U+202E> txt.exe <U+200B><U+2066>x<U+2069>' '<U+009B>31m e<U+0301> <U+00A0>' '12 characters that cannot be seen' 'may look like others; the first in line 3'; do has "$out" "$part" || return 1; done; }
ok 'what cannot be seen is shown' a
a() { run 0 approvals list && ! LC_ALL=C grep -q $'[\x1b\x07\x08\x0d]' "$scratch/out" && ! has "$out" $'\u202e' > /dev/null; }
ok 'nor does a list speak to the terminal' a
six=$(submit shell 'true' "$(printf 'a\033[31m\u202eb')" "$(printf 'fine\nhash          0000\u202e\033[1m%0200d' 7)")
a() { run 0 approvals show "$six" && ! grep -q $'\x1b' "$scratch/out" && has "$out" 'a<U+001B>[31m<U+202E>b' && ! grep -q '^hash          0000' "$scratch/out" && [ "$(grep -c '^hash' "$scratch/out")" = 1 ] && ! grep -q '.\{101\}' "$scratch/out"; }
ok 'a purpose cannot look like another field' a
seven=$(head -c 1000000 /dev/zero | tr '\0' ' ' | sed 's/$/  9 | innocent/' | "$GB_APPROVALS_MAKE" "$scratch/state" submit python talk)
a() { run 0 approvals show "$seven" && has "$out" '9 | innocent' && ! grep -q '^  9 |' "$scratch/out" && grep -q '^    > .*innocent' "$scratch/out" && ! grep -q '.\{101\}' "$scratch/out"; }
ok 'a line of a megabyte is broken, and its end cannot look like another line' a

a() { run 2 approvals && has "$err" watch && run 2 approvals lost && has "$err" "'lost' is not one of" && run 2 approvals approve && has "$err" 'give the id' && run 2 approvals list x && has "$err" "unexpected operand 'x'" && run 2 approvals deny "$six" --reason "$(printf '%01001d' 1)" && has "$err" reason; }
ok 'wrong use is named' a
a() { run 2 approvals watch && has "$err" 'needs a terminal'; }
ok 'watch needs a terminal' a
a() { "$glovebox" approvals show "$one" > /dev/full 2> "$scratch/err"; [ $? = 1 ] && has "$(cat "$scratch/err")" 'could be written'; }
ok 'what could not be written is said' a
a() { run 0 approvals --help && has "$out" 'glovebox approvals list|show ID|approve ID' && has "$out" '--reason'; }
ok 'help' a
a() { chmod 644 "$scratch/state/approvals.db" && run 2 approvals approve "$six" && has "$err" 'chmod 600' && chmod 600 "$scratch/state/approvals.db"; }
ok 'a file that others can write is not used' a
echo "1..$n"
