# shellcheck shell=sh
# Functions for the scripts of *.golden: small input files whose bytes tell their places.

# digits BYTES: the text of 1, 2, 3, ..., cut to length; no two places look alike.
digits() {
	seq 1 100000 | tr -d '\n' | head -c "$1"
}

# octal BYTE: one byte on stdout.
byte() {
	printf '%b' "\\0$(printf '%03o' "$1")"
}

# header DICT [VERSION]: a .npy header that holds DICT as it is, of format version 1, 2 or 3.
header() {
	length=${#1}
	printf '\223NUMPY'
	byte "${2:-1}"
	byte 0
	byte $((length % 256))
	byte $((length / 256))
	if [ "${2:-1}" -gt 1 ]; then
		byte 0
		byte 0
	fi
	printf '%s' "$1"
}

# npy DESCR N BYTES: a square .npy file on stdout.
npy() {
	header "{'descr': $1, 'fortran_order': False, 'shape': ($2, $2), }"
	digits "$3"
}
