#!/bin/sh
# Files transposed by the real tool on a real disk: killed at random moments, on full disks, in every
# format.  Run by make check; prints a line a test and "N passed, N failed, N skipped" at the end.
#
#     TILESWAP=build/tileswap tests/files/run.sh
#
# TSW_KILLS (96) kills are dealt out; TSW_SEED repeats a storm.
set -u

TILESWAP=$(realpath -e -- "${TILESWAP:?the path of the tileswap tool}") || exit 1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/tileswap-files.XXXXXX") || exit 1
trap 'umount "$work/small" 2> /dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export TILESWAP
results=$work/results

# The Python that has NumPy, if one has.
python=python3
for p in python3 /usr/bin/python3; do
	"$p" -c 'import numpy' 2> /dev/null && python=$p && break
done

# collect NAME COMMAND...: a program that prints "pass NAME", "FAIL NAME: why" or "skip NAME: why".
collect() {
	name=$1
	shift
	if ! "$@" > "$work/out" 2> "$work/err"; then
		echo "FAIL $name: exit status not 0" >> "$work/out"
		cat "$work/err"
	fi
	tee -a "$results" < "$work/out"
}

: > "$results"
mkdir "$work/kills" "$work/formats" "$work/faults"
chmod a+rx "$work" "$work/faults"
collect "kill storm" "$python" "$here/kill_storm.py" "$work/kills"
collect "formats" "$python" "$here/formats.py" "$work/formats"
collect "faults" sh "$here/faults.sh" "$work/faults"

passed=$(grep -c '^pass ' "$results")
failed=$(grep -c '^FAIL ' "$results")
skipped=$(grep -c '^skip ' "$results")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
