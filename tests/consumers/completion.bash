# Completes as bash would and compares with the tool's own help.
# shellcheck disable=SC1090,SC2034
. "$1"

complete_words() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_tileswap "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	echo "${COMPREPLY[*]}"
}

bad=0
expect() {
	local want=$1 got
	shift
	got=$(complete_words "$@")
	[ "$got" = "$want" ] || { echo "$*: got '$got', want '$want'"; bad=1; }
}

expect transpose tileswap tran
expect checksum tileswap help ch
expect --threads tileswap transpose --th
expect "npy" tileswap checksum --format np
expect "cuda" tileswap stress --device cu
expect "f16 f32 f64" tileswap checksum --dtype f
[[ $(complete_words tileswap transpose -) == *" --json "* ]] || { echo "no --json"; bad=1; }
exit $bad
