#!/usr/bin/env bash
# The MPI library and tileswap-dist under mpirun, with more ranks than processors: 1, 2, 3, 4 and 6.
#
#     BUILD=build tests/mpi/run.sh
#
# Every mpirun has a time limit: a rank that waits for ever is a failure.  TSW_SEED repeats the random
# layouts.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
	exit
}

skip() {
	skipped=$((skipped + 1))
	echo "skipped: $1"
}

if ! [ -x "$BUILD/tileswap-dist" ]; then
	skip "MPI: built without it (make says which; make deps DEV=1 installs Open MPI)"
	finish
fi
if ! command -v mpirun >/dev/null 2>&1; then
	skip "MPI: there is no mpirun"
	finish
fi

# Open MPI refuses root and more ranks than processors unless told; ranks that wait must not starve
# the others.  MPICH wants none of it.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
# What MPI leaves at the end is not ours.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive

ranks() {
	timeout -k 5 "${SECONDS_LIMIT:-240}" mpirun -n "$@"
}

# A test program that counts for itself.
suite() {
	local name=$1 n=$2 rc p f s
	shift 2
	ranks "$n" "$@" >"$work/log" 2>&1
	rc=$?
	if ! read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$work/log"); then
		p=0 f=1 s=0
	elif [ "$rc" -ne 0 ] && [ "$f" -eq 0 ] || [ $((p + f)) -eq 0 ]; then
		f=$((f + 1))
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	echo "$name, $n ranks: $p passed, $f failed (exit $rc)"
	[ "$f" -eq 0 ] || tail -n 30 "$work/log"
}

# check NAME EXIT PATTERN RANKS COMMAND...: that exit status, and output that matches.
check() {
	local name=$1 wanted=$2 pattern=$3 rc
	shift 3
	ranks "$@" >"$work/log" 2>&1
	rc=$?
	if [ "$rc" -eq "$wanted" ] && grep -qE -e "$pattern" "$work/log"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $name: exit $rc, wanted $wanted and /$pattern/"
		tail -n 20 "$work/log" | sed 's/^/    /'
	fi
}

for n in 1 2 3 4 6; do
	suite test_mpi "$n" "$BUILD/tests/mpi/test_mpi" 25
done
if [ -x "$BUILD/tests/mpi/test_pdtran" ]; then
	for n in 1 2 3 4 6; do
		suite test_pdtran "$n" "$BUILD/tests/mpi/test_pdtran"
	done
else
	skip "pdtran: no libscalapack-openmpi here"
fi

# ---- the tool ---------------------------------------------------------------------------------

dist=$BUILD/tileswap-dist
right='wrong=0 wrong_padding_bytes=0'
check "a plain run" 0 "$right" 2 "$dist"
check "2x3, ragged, sources" 0 "$right" 6 "$dist" --grid 2x3 --n 1001 --mb 17 --nb 40 --rsrc 1 --csrc 2 --elem-size 8
check "by columns, padded" 0 "$right" 3 "$dist" --grid 3x1 --n 500 --mb 7 --nb 9 --storage columns --ranks columns --pad 3
check "1 byte, small staging" 0 "$right" 4 "$dist" --grid 1x4 --n 300 --mb 5 --nb 75 --elem-size 1 --stage 1K
check "12 bytes, repeated" 0 "$right" 2 "$dist" --n 200 --mb 20 --nb 30 --elem-size 12 --reps 3
check "wide elements" 0 "$right" 2 "$dist" --n 20 --mb 2 --nb 3 --elem-size 70000 --stage 1M
check "relabelled" 0 '0 bytes sent, .*wrong=0' 4 "$dist" --grid 2x2 --n 700 --mb 30 --nb 30 --relabel
check "JSON" 0 '"grid": "2x1".*"wrong": 0, "wrong_padding_bytes": 0' 2 "$dist" --grid 2x1 --n 100 --json
check "the plan" 0 '^ +0 +1 +20000$' 1 "$dist" --plan --grid 2x1 --n 100 --mb 50 --nb 100
check "the plan as JSON" 0 '"from": 1, "to": 0, "nbytes": 20000' 1 "$dist" --plan --json --grid 2x1 --n 100 --mb 50 --nb 100
check "help" 0 'Usage: mpirun' 2 "$dist" --help
check "an unknown option" 2 "unknown option '--grin'" 2 "$dist" --grin 2x1
check "no value" 2 "--n wants a whole number, not ''" 1 "$dist" --n
check "a wrong value" 2 "--grid wants rows x columns" 1 "$dist" --grid 2by1
check "a grid of another size" 2 "a grid of 2 x 2 wants 4 ranks, here are 3" 3 "$dist" --grid 2x2
check "a source outside" 2 "rsrc = 2 is outside" 2 "$dist" --grid 2x1 --rsrc 2
for grid in 0x2 2x0 0x0; do
	check "a grid of nothing, $grid" 2 "--grid wants rows x columns, as 2x3, not '$grid'" 2 "$dist" --grid "$grid"
done
check "more repetitions than can be kept" 2 "--reps 2305843009213693953: 999999 at most" 1 "$dist" --reps 2305843009213693953
# Each alone would be refused or go on; together they would wait for each other.
SECONDS_LIMIT=60
for other in "--n 101" "--n x" --help "--plan --grid 2x1" ""; do
	# The other's command line is words.
	# shellcheck disable=SC2086
	check "a rank with another command line: $other" 2 "different command lines" 1 "$dist" --n 100 : -n 1 "$dist" $other
done
check "padding past one rank's address space" 2 "the local matrix of rank 0 is larger than the address space" \
	2 "$dist" --grid 2x1 --n 64 --mb 64 --pad 9223372036854775807
unset SECONDS_LIMIT
check "even repetitions" 2 "--reps 2" 1 "$dist" --reps 2
check "too little staging" 1 "stage_bytes = 8" 2 "$dist" --n 10 --stage 8
check "a rank's fault is told once" 1 "ranks can be renumbered" 2 "$dist" --grid 1x2 --relabel
if grep -q 'was built without NCCL' "$dist"; then
	check "a device that is not there" 3 "built without NCCL" 1 "$dist" --device cuda
else
	skip "a device that is not there: this tileswap-dist has it"
fi
# A matrix that is wrong must not pass: the same run with the transposing call broken.
if [ -x "$BUILD/tests/mpi/dist_broken" ]; then
	check "wrong elements are found" 1 'elements are wrong, the first at \(' 2 "$BUILD/tests/mpi/dist_broken" --n 100
	check "wrong elements are counted" 1 '"wrong": 1,' 1 "$BUILD/tests/mpi/dist_broken" --n 100 --json
fi

# A rank that dies takes the others along.
# shellcheck disable=SC2016
check "a rank that dies" 7 "" 3 sh -c '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" != 1 ] || exit 7; exec "$0" --n 500' "$dist"
finish
