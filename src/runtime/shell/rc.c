#include "runtime/shell/shell.h"

/*
 * What the shell of a session does before it would show a prompt. It says the number of the last command and
 * its exit code, and reads a word. A number is that of the next command, which it runs with the exit code of
 * the last one in its hands. Another word is to give the prompt; that is also where a command ends that
 * leaves all loops, ours too. Nothing of this is in a function: what is declared in one is gone with it.
 *
 * Each question has a number, and only its own answer is heard: who is interrupted between the two asks
 * again. It begins with the end of a line: of what somebody else may have said there.
 *
 * A command's file has this at its end, where a command that was not to end the shell under set -e would do
 * so as the last one of a file.
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
