#compdef tileswap
# zsh completion for tileswap.  The words come from `tileswap help`, so they are always those of the
# tool that is installed.

_tileswap() {
	local tool=$words[1] command=$words[2] option=$words[CURRENT-1]
	local -a found

	if ((CURRENT == 2)) || [[ CURRENT -eq 3 && $command == help ]]; then
		found=(${(f)"$($tool help 2>/dev/null | sed -n 's/^  tileswap \([a-z-]*\) .*/\1/p')"})
		_describe command found
		return
	fi
	if [[ $option == --* ]]; then
		found=(${(f)"$($tool help $command 2>/dev/null |
			sed -n "s/^  $option \([^ ]*|[^ ]*\) .*/\1/p; s/^  $option T .*raw: *//p" |
			sed 's/[|, ]\{1,\}/\n/g')"})
		if ((${#found})); then
			_describe value found
			return
		fi
	fi
	if [[ $words[CURRENT] == -* ]]; then
		found=(${(f)"$($tool help $command 2>/dev/null | sed -n \
			's/^  -[a-z], \(--[a-z-]*\).*   *\(.*\)/\1:\2/p
			 s/^  \(-[a-z]\) .*   *\(.*\)/\1:\2/p
			 s/^  \(--[a-z-]*\).*   *\(.*\)/\1:\2/p')"})
		_describe option found
		return
	fi
	_files
}

if [[ $funcstack[1] == _tileswap ]]; then
	_tileswap "$@"
else
	compdef _tileswap tileswap
fi
