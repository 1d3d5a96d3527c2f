#include "runtime/shell/shell.h"

/*
 * The startup file of a session's shell. Its PROMPT_COMMAND reports the number and exit code of the last
 * command and reads a reply. A number is that of the next command, which is run with $? set to the exit code
 * of the last one. Any other reply lets the shell show its prompt; a command that breaks out of all loops,
 * including ours, ends there too. None of this is in a function: variables declared by a command would be
 * local to it.
 *
 * Requests are numbered, and replies to other requests are skipped: a shell that is interrupted between
 * request and reply sends a new request. A request begins with a newline, to end a partial line left on the
 * wire.
 *
 * The tail is appended to each command file: under set -e, the exempt failure of a command that is the last
 * one of a sourced file would end the shell.
 */
const char gb_shell_tail[] = "\n\n__gb_code=$?\n";

/* clang-format off */
#define AWAIT_ANSWER \
"while IFS=\" \" builtin read -r __gb_to __gb_word && [[ $__gb_to != \"$__gb_turn\" ]]; do :; done;"

const char gb_shell_rc[] =
"unset HISTFILE\n"
"PS1='\\[\\e[1m\\]box\\[\\e[0m\\]:\\w\\$ '\n"
"__gb_number=0 __gb_turn=0\n"
"__gb_status() { builtin return \"$1\"; }\n"
"readonly -f __gb_status\n"
"PROMPT_COMMAND=('while { __gb_last=${__gb_code:-$?}; __gb_code=; builtin printf \"\\nready %s %s %s\\n\""
" \"$((++__gb_turn))\" \"$__gb_number\" \"$__gb_last\"; " AWAIT_ANSWER
" [[ $__gb_word == [0-9]* ]] && __gb_number=$__gb_word; } <>" GB_SHELL_WIRE " >&0 2>/dev/null; do\n"
"  case $__gb_last in 0) builtin . " GB_SHELL_COMMAND "$__gb_number;;"
" *) __gb_status \"$__gb_last\" || builtin . " GB_SHELL_COMMAND "$__gb_number;; esac\n"
"done'\n"
"'{ builtin printf \"\\nprompt %s\\n\" \"$((++__gb_turn))\"; " AWAIT_ANSWER " } <>" GB_SHELL_WIRE
" >&0 2>/dev/null')\n"
"readonly PROMPT_COMMAND\n";
/* clang-format on */
