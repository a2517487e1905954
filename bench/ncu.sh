#!/bin/bash
# Reads hardware counters by Nsight Compute: shared-memory bank conflicts and DRAM bytes of the
# ladder's and the library's kernels, each launched once.  A table goes to stdout, the raw CSV to
# bench/results/ncu-<name>.csv (or RESULTS).
#
#   bench/ncu.sh [N]        side of the square matrices [16384]; the ladder has sizes of its own
#
# BUILD: where tileswap-bench was built [build].
set -u
cd "$(dirname "$0")/.." || exit 1

bench=${BUILD:-build}/tileswap-bench
results=${RESULTS:-bench/results}
n=${1:-16384}
metrics=l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
metrics+=,dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum

command -v ncu >/dev/null || { echo "ncu.sh: Nsight Compute is not installed" >&2; exit 1; }
mkdir -p "$results" || exit 1

# The clocks of the machine are left alone.
counters() {
	local name=$1
	shift
	ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" \
		--kernel-name 'regex:rung_|tsw_|copy_kernel|rmw_kernel' \
		"$bench" --device cuda --profile "$@" >"$results/ncu-$name.csv" ||
		{ echo "ncu.sh: $name: failed" >&2; tail -3 "$results/ncu-$name.csv" >&2; exit 1; }
	"${PYTHON:-python3}" bench/ncu_table.py "$name" "$results/ncu-$name.csv"
}

counters ladder --ladder
for elem in 1 2 4 8 16; do
	counters "even-$elem" --kernels --n "$n" --elem-size $elem
	counters "odd-$elem" --kernels --n $((n + 1)) --elem-size $elem
done
