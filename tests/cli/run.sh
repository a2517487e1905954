#!/bin/sh
# The tests of the command-line tool.
#
#     TILESWAP=build/tileswap tests/cli/run.sh [FILE.golden ...]
#
# Golden cases are in *.golden: a script, what it must print, its exit status, and the files that it
# may create or change.  Every case runs in an empty directory of its own.  Only times and rates are
# normalised.  UPDATE=1 rewrites the expectations: read the diff before you keep them.
#
#     === name                 a case begins
#     --- needs                skipped (and counted) unless this shell command succeeds
#     --- setup                makes input files
#     --- run                  the script under test
#     --- stdout, --- stderr   what it prints
#     --- files                "+ name", "~ name", "- name": created, changed, removed
#     --- exit N
#
# Then come the files that NumPy writes and reads (tests/cli/numpy_files.py), damaged headers
# (tests/cli/damaged.py) and signals (tests/cli/signals.sh).  Each prints a line "pass NAME",
# "FAIL NAME" or "skip NAME: why" a test; the last line counts them.
set -u

TILESWAP=$(realpath -e -- "${TILESWAP:?the path of the tileswap tool}") || exit 1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/tileswap-cli.XXXXXX") || exit 1
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$work"
export TILESWAP here work LC_ALL=C
unset OMP_NUM_THREADS
results=$work/results
: > "$results"

tileswap() {
	"$TILESWAP" "$@"
}

# Splits a golden file into $work/cases/NNN/SECTION.
split() {
	rm -rf "$work/cases"
	mkdir "$work/cases"
	awk -v dir="$work/cases" '
		/^=== / { n++; d = sprintf("%s/%04d", dir, n); system("mkdir " d)
			  print substr($0, 5) > (d "/name"); section = ""; next }
		/^--- exit / { print $3 > (d "/exit"); section = ""; next }
		/^--- / { section = $2; printf "" > (d "/" section); next }
		section { print > (d "/" section) }' "$1"
}

normal() {
	sed -E -e 's/(time_ms|transpose_ms|gb_per_s)=[0-9.]+/\1=N/g' \
		-e 's/"(time_ms|transpose_ms|gb_per_s)": [0-9.e+-]+/"\1": N/g'
}

# Name, size and sum of every file, hidden ones too; of a large one only name and size.
listing() {
	find . -type f -size -1024k -exec cksum {} + | sed 's|\./||' | awk '{ print $3, $1, $2 }'
	find . -type f -size +1023k -printf '%P %s large\n'
}

changes() {
	awk 'NR == FNR { old[$1] = $2 " " $3; next }
		!($1 in old) { print "+ " $1; next }
		old[$1] != $2 " " $3 { print "~ " $1 }
		{ seen[$1] = 1 }
		END { for (f in old) if (!(f in seen)) print "- " f }' "$1" "$2" | sort
}

# What a case does, in $1/got/.
perform() {
	mkdir "$1/dir" "$1/got"
	cd "$1/dir" || exit 1
	# shellcheck source=tests/cli/inputs.sh disable=SC1091
	. "$here/inputs.sh"
	if [ -e "$1/setup" ]; then
		# shellcheck disable=SC1091
		. "$1/setup"
	fi
	listing > "$1/before"
	# shellcheck disable=SC1091
	(. "$1/run") > "$1/got/raw-stdout" 2> "$1/got/raw-stderr" < /dev/null
	echo $? > "$1/got/exit"
	listing > "$1/after"
	normal < "$1/got/raw-stdout" > "$1/got/stdout"
	normal < "$1/got/raw-stderr" > "$1/got/stderr"
	changes "$1/before" "$1/after" > "$1/got/files"
}

golden_case() {
	name=$(cat "$1/name")
	for section in stdout stderr files; do
		[ -e "$1/$section" ] || : > "$1/$section"
	done
	# shellcheck disable=SC1091
	if [ -e "$1/needs" ] && ! (. "$1/needs") > /dev/null 2>&1; then
		echo "skip $name: needs $(head -n 1 "$1/needs")"
		return
	fi
	(perform "$1")
	for section in stdout stderr files exit; do
		if ! diff -u "$1/$section" "$1/got/$section" > "$1/diff"; then
			echo "FAIL $name: $section"
			sed '1,2d' "$1/diff"
			return
		fi
	done
	echo "pass $name"
}

# The golden file anew, with what was got where a case ran.
rewrite() {
	for c in "$work"/cases/*; do
		got=$c
		if [ -d "$c/got" ]; then
			got=$c/got
		fi
		echo "=== $(cat "$c/name")"
		for section in needs setup run; do
			if [ -e "$c/$section" ]; then
				echo "--- $section"
				cat "$c/$section"
			fi
		done
		for section in stdout stderr files; do
			if [ -s "$got/$section" ]; then
				echo "--- $section"
				cat "$got/$section"
			fi
		done
		echo "--- exit $(cat "$got/exit")"
		echo
	done
}

golden() {
	split "$1"
	for c in "$work"/cases/*; do
		golden_case "$c"
	done
	if [ "${UPDATE:-0}" = 1 ]; then
		{ sed '/^=== /,$d' "$1" && rewrite | sed '$d'; } > "$work/new" && cp "$work/new" "$1"
	fi
}

note() {
	tee -a "$results"
}

# The first python3 that can do what "$1" says; nothing if none can.
python_with() {
	for candidate in /usr/bin/python3 python3; do
		if "$candidate" -c "$1" 2> /dev/null; then
			echo "$candidate"
			return
		fi
	done
}

python_tests() {
	python=$(python_with "import $2")
	if [ -z "$python" ]; then
		echo "skip $1: no python3 with $2"
		return
	fi
	mkdir -p "$work/$1"
	"$python" "$here/$1.py" "$work/$1" || echo "FAIL $1: the script ended with $?"
}

everything=$([ $# -gt 0 ] || echo yes)
if [ "$everything" ]; then
	set -- "$here"/*.golden
fi
for file; do
	golden "$file" | note
done
if [ "$everything" ]; then
	python_tests numpy_files numpy | note
	python_tests damaged os | note
	mkdir "$work/signals"
	sh "$here/signals.sh" "$work/signals" | note
fi

passed=$(grep -c '^pass ' "$results")
failed=$(grep -c '^FAIL ' "$results")
skipped=$(grep -c '^skip ' "$results")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
