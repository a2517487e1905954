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
# processor), each in a copy of its own of a tree in which all suites have been built.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

tables=("$@")
[ $# -gt 0 ] || tables=(tests/mutants/*.txt)
for i in "${!tables[@]}"; do
	tables[i]=$(realpath "${tables[i]}") || exit 2
done
workers=${WORKERS:-$(nproc)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sound"
cp -r Makefile src kernels tests "$work/sound" || exit 1

# The same names in every copy: objects and what they depend on are copied with it.
make=(make --no-print-directory BUILD=build CUDA=0 CC="${CC:-cc}" CFLAGS="${CFLAGS:--O1}" WARN=-w)
most=400 # seconds of a suite without a fault, and what it may take with one: a hang is found, too
seconds=$most
export TSW_SEED=${TSW_SEED:-1} # the same faults are found every time

# The program of a suite, of a script the tool.
program() {
	[[ $1 == */* ]] && echo build/tileswap || echo "build/tests/$1"
}

# Builds it: 0 if that worked.
build() {
	"${make[@]}" "$(program "$1")" >log 2>&1
}

# The suite's exit status; words of its environment come first.  Its first failure ends it.
run() {
	local suite=$PWD/build/tests/$1 said pid found ended
	[[ $1 != */* ]] || suite=$PWD/tests/$1
	shift
	exec {said}< <(exec timeout -k 5 "$seconds" env CK_TAP_LOG_FILE_NAME=- TILESWAP="$PWD/build/tileswap" \
		"$@" "$suite" 2>&1)
	pid=$!
	awk '{ print } /^not ok|^FAIL / { exit 1 }' <&"$said" >log
	found=$?
	[ "$found" -eq 0 ] || kill "$pid" 2>/dev/null
	exec {said}<&-
	wait "$pid" 2>/dev/null # bash tells of crashes
	ended=$?
	[ "$found" -eq 0 ] || ended=1
	return "$ended"
}

row() {
	printf '%-9s %-8s %-16s %-28s %s\n' "$1" "$2" "$3" "$4" "$5"
}

# What the suite said first, for the table.
reason() {
	local rc=$1
	case $rc in
	124) echo "hangs" ;;
	1) sed -nE 's/^not ok [0-9]+ - [^:]*:[^:]*:([a-z_0-9]+): .*/\1/p; s/^FAIL ([^:]*).*/\1/p' "log" ;;
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
	cp "$file" original
	sed -i "$expression" "$file"
	if cmp -s "$file" original; then
		problem "NO CHANGE" "$suite" "$file" "$what"
	elif ! build "$suite"; then
		problem "NO BUILD" "$suite" "$file" "$what" "log"
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
	cat original >"$file" # newer than what was built from the mutant
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
# What it takes then says how long a fault is waited for.
declare -A green limit
sound() {
	local suite=$1 key=$* started
	shift
	if [ -z "${green[$key]:-}" ]; then
		green[$key]=0 seconds=$most started=$SECONDS
		if ! build "$suite" || ! { started=$SECONDS && run "$suite" "$@"; }; then
			green[$key]=1
			problem "NOT GREEN" "$suite" "-" "without any fault" "log"
		fi
		limit[$key]=$((30 + 20 * (SECONDS - started)))
		[ "${limit[$key]}" -lt "$most" ] || limit[$key]=$most
	fi
	seconds=${limit[$key]}
	return "${green[$key]}"
}

# The faults of a table, in a copy of the tree.
table() (
	found=0 bad=0
	cp -a "$work/sound" "$work/${1##*/}" && cd "$work/${1##*/}" || exit 1
	row result time suite file "fault [test that found it]"
	while IFS= read -r line; do
		case $line in
		'' | '#'*) continue ;;
		esac
		split "$line"
		if [ ${#fields[@]} -ne 4 ]; then
			problem "NO ROW" "-" "${1##*/}" "$line"
			continue
		fi
		read -ra words <<<"${fields[0]}"
		suite=${words[-1]}
		unset 'words[-1]'
		sound "$suite" "${words[@]}" || continue
		mutate "$suite" "${fields[1]}" "${fields[2]}" "${fields[3]}" "${words[@]}"
	done <"$1"
	rm -rf "$PWD"
	echo "$found passed, $bad failed, 0 skipped"
	[ "$bad" -eq 0 ] && [ "$found" -gt 0 ]
)

# Everything that does not depend on a fault is built once.  Failures show in the tables.
suites=$(sed -nE 's/^([^#|]* )?([^ |]+) \| .*/\2/p' "${tables[@]}" | sort -u)
for suite in $suites; do
	program "$suite"
done | (cd "$work/sound" && xargs "${make[@]}" -k -j "$workers" >/dev/null 2>&1)

if [ ${#tables[@]} -eq 1 ]; then
	table "${tables[0]}"
	exit
fi

# The longest first, so that all workers end together.
longest_first() {
	local table
	for table in "${tables[@]}"; do
		echo "$(grep -c ' | ' "$table") $table"
	done | sort -rn | cut -d' ' -f2-
}

while IFS= read -r table; do
	[ "$(jobs -rp | wc -l)" -lt "$workers" ] || wait -n
	table "$table" >"$work/${table##*/}.log" 2>&1 &
done < <(longest_first)
wait

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
