#!/usr/bin/env bash
# Runs test programs and scripts, then stress rounds on every device present, and adds up what they
# count.
#
#     TILESWAP=build/tileswap tests/check.sh PROGRAM...
#
# Each PROGRAM ends with a line "N passed, N failed, N skipped".  One that lacks it, counts nothing, or
# fails while counting no failure, is itself a failure.  The last line of this script is the sum.
#
#     JOBS=N               programs at a time (default: 1); what they print comes when they end
#     REQUIRE_GPU=1        what is skipped for want of a GPU fails
#     STRESS_SECONDS=S     the large stress rounds go on for S seconds each (default: one round)
#     STRESS_MEMORY=SIZE   the largest matrix of the host's rounds (default: a share of what is free)
#     TSW_SEED=X           repeat a run: random tests print the seed they used
set -uo pipefail

: "${TILESWAP:?the path of the tileswap tool}"
[ $# -gt 0 ] || {
	echo "usage: TILESWAP=... $0 PROGRAM..." >&2
	exit 2
}
jobs=${JOBS:-1}
passed=0 failed=0 skipped=0
failures=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	failed=$((failed + 1))
	failures+=("$1")
	echo "FAILED: $1"
}

# Adds the last line of a program's log to the sum.
count() {
	local name=$1 log=$2 rc p f s
	rc=$(cat "$log.rc")
	if ! read -r p f s < <(tail -n 1 "$log" |
		sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p'); then
		fail "$name ended without its count (exit $rc)"
		return
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	[ "$f" -eq 0 ] || failures+=("$name: $f failed")
	if [ $((p + f + s)) -eq 0 ]; then
		fail "$name ran no test"
	elif [ "$f" -eq 0 ] && [ "$rc" -ne 0 ]; then
		fail "$name counted no failure but ended with $rc"
	elif [ "$f" -gt 0 ] && [ "$rc" -eq 0 ]; then
		fail "$name counted $f failures but ended with 0"
	fi
}

run_alone() {
	local name=$1 log=$3 started=$SECONDS
	echo "--- $name"
	"$2" 2>&1 | tee "$log"
	echo "${PIPESTATUS[0]}" >"$log.rc"
	echo "--- $name: $((SECONDS - started)) s"
}

run_beside_others() {
	local name=$1 log=$3 started=$SECONDS
	"$2" >"$log" 2>&1
	echo $? >"$log.rc"
	{
		flock 9
		echo "--- $name"
		cat "$log"
		echo "--- $name: $((SECONDS - started)) s"
	} 9>"$work/lock"
}

# Each program's log lies in $work under its number.
run_all() {
	local program name n=0
	for program; do
		n=$((n + 1)) name=${program#"$PWD"/}
		if [ "$jobs" -eq 1 ]; then
			run_alone "$name" "$program" "$work/$n"
		else
			[ "$(jobs -rp | wc -l)" -lt "$jobs" ] || wait -n
			run_beside_others "$name" "$program" "$work/$n" &
		fi
	done
	wait
	n=0
	for program; do
		n=$((n + 1))
		count "${program#"$PWD"/}" "$work/$n"
	done
}

# ---- stress rounds --------------------------------------------------------------------------------

info=$("$TILESWAP" info --json 2>/dev/null)

# The first value of a key in what `tileswap info` printed.
info_number() {
	grep -oE "\"$1\": [0-9]+" <<<"$info" | head -n 1 | grep -oE '[0-9]+$'
}

least() {
	[ "$1" -lt "$2" ] && echo "$1" || echo "$2"
}

# One command, counted as one test.
stress() {
	local line rc
	line=$("$TILESWAP" stress --no-progress "$@" 2>&1)
	rc=$?
	line=$(tail -n 1 <<<"$line")
	echo "stress $*: $line"
	if [ "$rc" -eq 0 ] && [[ $line == summary:*wrong=0\ wrong_padding_bytes=0* ]]; then
		passed=$((passed + 1))
	else
		fail "stress $* (exit $rc)"
	fi
}

# Sizes from tiny to `$2`, a number of bytes.
stress_device() {
	local device=$1 share=$2
	local long=(--rounds 1)
	[ -z "${STRESS_SECONDS:-}" ] || long=(--seconds "$STRESS_SECONDS" --rounds 1000000)
	stress --device "$device" --n 1 --elem-size 1 --rounds 3
	stress --device "$device" --n 2 --elem-size 16 --rounds 3
	stress --device "$device" --n 33 --elem-size 3 --rounds 3
	stress --device "$device" --n 65 --ld 78 --elem-size 8 --rounds 3
	stress --device "$device" --n 100 --ld 101 --elem-size 100 --rounds 3
	stress --device "$device" --n 1000 --elem-size 2 --rounds 2
	stress --device "$device" --n 1025 --ld 1038 --elem-size 12
	stress --device "$device" --elem-size 1 --memory $((share / 4)) "${long[@]}"
	stress --device "$device" --elem-size 4 --memory "$share" "${long[@]}"
	stress --device "$device" --elem-size 8 --memory "$share" "${long[@]}"
	stress --device "$device" --elem-size 16 --memory "$share" "${long[@]}"
}

# An eighth of what is free; at most 256 MiB in a short run, which is far beyond any cache.  Sanitizers
# are slow.
host_share() {
	local free most=$((256 << 20))
	free=$(info_number host_memory_available_bytes)
	[ -z "${STRESS_SECONDS:-}" ] || most=$((1 << 40))
	! grep -q __asan_init "$TILESWAP" || most=$((16 << 20))
	least $((${free:-0} / 8)) "$most"
}

stress_all() {
	local free
	echo "--- stress"
	if [ -z "$info" ]; then
		fail "tileswap info printed nothing"
		return
	fi
	stress_device cpu "${STRESS_MEMORY:-$(host_share)}"
	free=$(info_number memory_free_bytes)
	if [ -n "$free" ]; then
		stress_device cuda $((free / 2))
	elif [ "${REQUIRE_GPU:-0}" != 0 ]; then
		fail "REQUIRE_GPU=1, but tileswap info shows no GPU"
	else
		skipped=$((skipped + 1))
		echo "skipped: stress on a GPU: tileswap info shows none"
	fi
}

run_all "$@"
stress_all

[ ${#failures[@]} -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
[ $((passed + failed)) -gt 0 ] || fail "nothing was run"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
