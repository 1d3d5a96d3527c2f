# Completion of glovebox for bash; see the README of this folder's source.

_glovebox() {
	local text=${COMP_LINE:0:COMP_POINT} trimmed word candidate line i
	local -a words=()
	# bash also splits words at '=' and ':'. Pieces without a space between them are one word.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		trimmed=${text#"${text%%[![:space:]]*}"}
		if ((i == 0)) || [[ $trimmed != "$text" ]]; then words+=(''); fi
		if ((i == COMP_CWORD)); then
			words[-1]+=$trimmed
		else
			words[-1]+=${COMP_WORDS[i]}
			text=${trimmed#"${COMP_WORDS[i]}"}
		fi
	done
	word=${words[-1]}
	# readline replaces only what follows the last of these.
	local before=
	if [[ $word == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]]; then before=${word%"${word##*[=:]}"}; fi

	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		# readline does it, with its own quotes.
		$'\tfiles') compopt -o default 2>/dev/null ;;
		$'\tfolders') compopt -o dirnames 2>/dev/null ;;
		*)
			candidate=${line%%$'\t'*}
			if [[ $candidate == *= ]]; then compopt -o nospace 2>/dev/null; fi
			printf -v candidate %q "${candidate#"$before"}"
			COMPREPLY+=("$candidate")
			;;
		esac
	done < <(command glovebox complete "${words[@]:1}" 2>/dev/null)
}

complete -F _glovebox glovebox
