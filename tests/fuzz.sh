#!/usr/bin/env bash
# Runs libFuzzer on every target of tests/fuzz, several at a time, and counts the targets that came
# through.  `make fuzz` builds first.
#
#     tests/fuzz.sh BUILD SECONDS [TARGET...]
#
# BUILD holds the program `fuzzer`.  The stored inputs are read from tests/fuzz/corpus/TARGET; what is
# found beside them stays in BUILD/corpus/TARGET for the next time, and an input that breaks something
# in BUILD/broken.  WORKERS: targets at a time (default: one a processor).
# SEED: the same inputs in the same order, from an empty BUILD/corpus (default 0: other ones each time).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$(realpath "${1:?usage: tests/fuzz.sh BUILD SECONDS [TARGET...]}") || exit 2
seconds=${2:?usage: tests/fuzz.sh BUILD SECONDS [TARGET...]}
shift 2
targets=("$@")
[ $# -gt 0 ] || read -ra targets < <(cd tests/fuzz/corpus && echo *)

fuzz_one() {
	local target=$1 log=$2/$1.log
	local words=()
	mkdir -p "$build/corpus/$target" "$build/broken"
	[ ! -f "tests/fuzz/$target.dict" ] || words=(-dict="tests/fuzz/$target.dict")
	# The kernels that AddressSanitizer sees; a hang is 20 s on one input, a leak or more than 2 GiB an error too.
	TILESWAP_ISA=c TSW_FUZZ=$target "$build/fuzzer" -seed="${SEED:-0}" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="$build/broken/$target-" "${words[@]}" \
		"$build/corpus/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1
	echo $? >"$2/$target.rc"
}
export -f fuzz_one
export build seconds

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# shellcheck disable=SC2016
printf '%s\0' "${targets[@]}" |
	xargs -0 -P "${WORKERS:-$(nproc)}" -I TARGET bash -c 'fuzz_one "$1" "$2"' - TARGET "$logs"

number() { # the last number behind a word of libFuzzer's
	grep -oE "$1:? +[0-9]+" "$log" | tail -n 1 | grep -oE '[0-9]+$' || echo '-'
}

passed=0 failed=0 all=0
printf '%-14s %8s %14s %10s %8s %8s\n' target seconds executions a_second edges inputs
for target in "${targets[@]}"; do
	log=$logs/$target.log
	executions=$(number 'stat::number_of_executed_units')
	rate=$(number 'stat::average_exec_per_sec')
	inputs=$(grep -oE 'corp: [0-9]+' "$log" | tail -n 1 | grep -oE '[0-9]+')
	printf '%-14s %8s %14s %10s %8s %8s\n' "$target" "$seconds" "$executions" "$rate" "$(number cov)" "${inputs:--}"
	if [ "$(cat "$logs/$target.rc")" = 0 ] && [ "$executions" != - ]; then
		passed=$((passed + 1))
		all=$((all + executions))
	else
		failed=$((failed + 1))
		tail -n 40 "$log"
		echo "FAILED: $target; again: TSW_FUZZ=$target $build/fuzzer INPUT"
	fi
done
echo "$all executions in $((${#targets[@]} * seconds)) seconds"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
