# bash completion for tileswap.  The words come from `tileswap help`, so they are always those of the
# tool that is installed.

# Prints the choices that the value of option $3 has in the command $2 of the tool $1, one a line.
_tileswap_values() {
	"$1" help "$2" 2>/dev/null | sed -n "s/^  $3 \([^ ]*|[^ ]*\) .*/\1/p; s/^  $3 T .*raw: *//p" |
		sed 's/[|, ]\{1,\}/\n/g'
}

_tileswap() {
	local tool=$1 cur=$2 prev=$3 command=${COMP_WORDS[1]} words
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; }; then
		words=$("$tool" help 2>/dev/null | sed -n 's/^  tileswap \([a-z-]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words --version --help" -- "$cur")
		return
	fi
	# "--name=value" arrives as three words.
	if [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	elif [ "$cur" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 1]} cur=
		[[ $prev == --* ]] || prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $prev in
	--*)
		words=$(_tileswap_values "$tool" "$command" "$prev")
		if [ -n "$words" ]; then
			mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
			return
		fi
		;;
	esac
	case $cur in
	-*)
		words=$("$tool" help "$command" 2>/dev/null |
			sed -n 's/^  -[a-z], \(--[a-z-]*\).*/\1/p; s/^  \(-[a-z]\) .*/\1/p; s/^  \(--[a-z-]*\).*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		;;
	*)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	esac
}

complete -F _tileswap tileswap
