#!/usr/bin/env bash
# Seeds faults into a copy of the sources, one at a time, and demands that the named suite turns red:
# a fault that survives is a missing test.
#
#     tests/mutate.sh [TABLE...]           (default: tests/mutants/*.txt)
#
# A row of a table is a suite, a file, what the fault is, and a sed expression that seeds it, with
# " | " between them.  The suite is a program of tests/ or a script there (it has a slash in its name);
# VARIABLE=value before it is for its environment.  A fault
# counts as found if the suite fails, crashes or hangs.  An expression that changes nothing, or a
# mutant that does not compile, is a failure: the table is out of date.
#
# CC, CFLAGS (default -O1: compiling is most of the work); WORKERS: tables at a time (default: one a
# processor), each in a copy of its own.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

tables=("$@")
[ $# -gt 0 ] || tables=(tests/mutants/*.txt)
for i in "${!tables[@]}"; do
	tables[i]=$(realpath "${tables[i]}") || exit 2
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Several tables: each by a process of this script's own.
if [ ${#tables[@]} -gt 1 ]; then
	# shellcheck disable=SC2016
	printf '%s\0' "${tables[@]}" | xargs -0 -P "${WORKERS:-$(nproc)}" -I TABLE bash -c \
		'"$1" "$2" >"$3/${2##*/}.log" 2>&1' - "$PWD/tests/mutate.sh" TABLE "$work"
	passed=0 failed=0
	for table in "${tables[@]}"; do
		log=$work/${table##*/}.log
		echo "--- ${table##*/}"
		sed '$d' "$log"
		if read -r p f < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, 0 skipped$/\1 \2/p' "$log"); then
			passed=$((passed + p)) failed=$((failed + f))
		else
			failed=$((failed + 1))
			tail -n 1 "$log"
			echo "${table##*/} ended without its count"
		fi
	done
	echo "$passed passed, $failed failed, 0 skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
	exit
fi

cp -r Makefile src kernels tests "$work" || exit 1
cd "$work" || exit 1

make=(make --no-print-directory BUILD="$work/build" CUDA=0 CC="${CC:-cc}" CFLAGS="${CFLAGS:--O1}" WARN=-w)
seconds=400 # a hang is found, too
export TSW_SEED=${TSW_SEED:-1} # the same faults are found every time
found=0 bad=0

# Builds the suite's program, for a script the tool: 0 if that worked.
build() {
	local program=$work/build/tests/$1
	[[ $1 != */* ]] || program=$work/build/tileswap
	"${make[@]}" "$program" >"$work/log" 2>&1
}

# The suite's exit status; words of its environment come first.  Its first failure ends it: the pipe
# is closed, and the next line it prints is its last.
run() {
	local program=$work/build/tests/$1 ended
	[[ $1 != */* ]] || program=$work/tests/$1
	shift
	{
		timeout "$seconds" env CK_TAP_LOG_FILE_NAME=- TILESWAP="$work/build/tileswap" "$@" "$program" 2>&1 |
			awk '{ print } /^not ok|^FAIL / { exit 1 }' >"$work/log"
		ended=("${PIPESTATUS[@]}")
	} 2>/dev/null # bash tells of crashes
	[ "${ended[1]}" -eq 0 ] && return "${ended[0]}"
	return 1
}

row() {
	printf '%-9s %-8s %-16s %-28s %s\n' "$1" "$2" "$3" "$4" "$5"
}

# What the suite said first, for the table.
reason() {
	local rc=$1
	case $rc in
	124) echo "hangs" ;;
	1) sed -nE 's/^not ok [0-9]+ - [^:]*:[^:]*:([a-z_0-9]+): .*/\1/p; s/^FAIL ([^:]*).*/\1/p' "$work/log" ;;
	*) [ "$rc" -gt 128 ] && echo "signal $((rc - 128))" || echo "exit $rc" ;;
	esac
}

problem() {
	bad=$((bad + 1))
	row "$1" "-" "$2" "$3" "$4"
	[ $# -lt 5 ] || tail -n 5 "$5" | sed 's/^/    /'
}

mutate() {
	local suite=$1 file=$2 what=$3 expression=$4 started=$SECONDS rc
	shift 4
	if ! [ -f "$file" ]; then
		problem "NO FILE" "$suite" "$file" "$what"
		return
	fi
	cp "$file" "$work/original"
	sed -i "$expression" "$file"
	if cmp -s "$file" "$work/original"; then
		problem "NO CHANGE" "$suite" "$file" "$what"
	elif ! build "$suite"; then
		problem "NO BUILD" "$suite" "$file" "$what" "$work/log"
	else
		run "$suite" "$@"
		rc=$?
		if [ "$rc" -eq 0 ]; then
			problem SURVIVED "$suite" "$file" "$what"
		else
			found=$((found + 1))
			row found "$((SECONDS - started)) s" "$suite" "${file##*/}" "$what [$(reason "$rc")]"
		fi
	fi
	cat "$work/original" >"$file" # newer than what was built from the mutant
}

# Splits a row at " | " into the array `fields`.
split() {
	fields=()
	local rest=$1
	while [[ $rest == *" | "* && ${#fields[@]} -lt 3 ]]; do
		fields+=("${rest%%" | "*}")
		rest=${rest#*" | "}
	done
	fields+=("$rest")
}

# A suite must be green, in its environment, before a red one means anything.
declare -A green
sound() {
	local suite=$1 key=$*
	shift
	[ -z "${green[$key]:-}" ] || return "${green[$key]}"
	green[$key]=0
	if ! build "$suite" || ! run "$suite" "$@"; then
		green[$key]=1
		problem "NOT GREEN" "$suite" "-" "without any fault" "$work/log"
	fi
	return "${green[$key]}"
}

row result time suite file "fault [test that found it]"
for table in "${tables[@]}"; do
	while IFS= read -r line; do
		case $line in
		'' | '#'*) continue ;;
		esac
		split "$line"
		if [ ${#fields[@]} -ne 4 ]; then
			problem "NO ROW" "-" "${table##*/}" "$line"
			continue
		fi
		read -ra words <<<"${fields[0]}"
		suite=${words[-1]}
		unset 'words[-1]'
		sound "$suite" "${words[@]}" || continue
		mutate "$suite" "${fields[1]}" "${fields[2]}" "${fields[3]}" "${words[@]}"
	done <"$table"
done

echo "$found passed, $bad failed, 0 skipped"
[ "$bad" -eq 0 ] && [ "$found" -gt 0 ]
