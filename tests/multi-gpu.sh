#!/usr/bin/env bash
# What only a machine with several GPUs can show of one matrix over all of them:
#
#     tests/multi-gpu.sh OUTDIR [test] [stress] [bench] [sweep] [nccl]      (default: all)
#
# test      build/tests/test_multi with REQUIRE_GPUS set to the GPUs there are
# bench     the rows of docs/DISTRIBUTED.md: n fills 80 % of the combined memory; then other widths,
#           layouts and n
# nccl      the same by libtileswap_nccl, and its tests, if it was built and NCCL is found
# sweep     methods x buffers x copies x staging, to choose the defaults by
# stress    random layouts for STRESS_SECONDS [20]
#
# Builds nothing.  Goes on after failures.  OUTDIR gets multi-gpu.log with everything that was said,
# multi-gpu.jsonl with all rows and multi-gpu.txt, the table that also goes to stdout.  What would
# begin after LIMIT seconds [300] is left out and said so.  BUILD: where things were built [build];
# GPUS: how many to use, where nvidia-smi cannot tell.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

out=${1:?usage: tests/multi-gpu.sh OUTDIR [stage ...]}
shift
[ $# -gt 0 ] || set -- test bench nccl sweep stress
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
build=${BUILD:-build}
limit=${LIMIT:-300}
log=$out/multi-gpu.log rows=$out/multi-gpu.jsonl
: >"$log"
: >"$rows"
bad=0
table=()

gpus=${GPUS:-$(nvidia-smi --query-gpu=name --format=csv,noheader 2>>"$log" | wc -l)}
case $gpus in
0)
	echo "multi-gpu.sh: no GPU here, nothing run" | tee "$out/multi-gpu.txt" >&2
	exit 3
	;;
2) grids=(1x2 2x1) ;;
3) grids=(1x3) ;;
4 | 5 | 6 | 7) gpus=4 grids=(1x4 2x2) ;;
8) grids=(1x8 2x4) ;;
*) grids=(1x1) ;;
esac
{
	nvidia-smi
	nvidia-smi topo -m
} >>"$log" 2>&1

# NCCL may come with a Python package, where the loader does not look.
folders=$(python3 - <<'END' 2>/dev/null
import glob, sysconfig
files = glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/nccl/lib/libnccl.so*")
print(":".join(sorted({f.rsplit("/", 1)[0] for f in files})))
END
)
LD_LIBRARY_PATH=$(cd "$build" && pwd)${folders:+:$folders}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
# NVLink multicast is not needed, and some hosts do not like it.
export NCCL_NVLS_ENABLE=0
# The CUDA runtime within libtileswap.so wants more of this than the loader keeps for libraries that
# come late, as libtileswap_nccl does here.
export GLIBC_TUNABLES=${GLIBC_TUNABLES:-glibc.rtld.optional_static_tls=32768}

# run NAME SECONDS COMMAND...: the command's output goes to the log, rows also to the rows.
run() {
	local name=$1 most=$2 started=$SECONDS rc
	shift 2
	if [ "$SECONDS" -gt "$limit" ]; then
		table+=("$(printf '%-20s left out: past %d s' "$name" "$limit")")
		return
	fi
	echo "=== $name: $*" >>"$log"
	timeout -k 5 "$most" "$@" >"$out/.last" 2>&1
	rc=$?
	cat "$out/.last" >>"$log"
	grep '^{' "$out/.last" >>"$rows"
	[ "$rc" -eq 0 ] || bad=1
	table+=("$(printf '%-20s exit %d  %3d s  %s' "$name" "$rc" $((SECONDS - started)) \
		"$(grep -v '^{' "$out/.last" | tail -n 1 | cut -c1-110)")")
	rm -f "$out/.last"
}

bench() { # case, seconds, options...
	local name=$1 most=$2
	shift 2
	run "$name" "$most" "$build/tileswap-bench" --devices "$gpus" --json --case "$name" "$@"
}

for stage in "$@"; do
	case $stage in
	test)
		run test_multi 150 env REQUIRE_GPUS="$gpus" REQUIRE_GPU=1 "$build/tests/test_multi"
		;;
	bench)
		for grid in "${grids[@]}"; do
			bench "largest-$grid" 60 --grid "$grid" --method auto,swap --reps 7
			bench "take-$grid" 60 --grid "$grid" --take --reps 7
		done
		for grid in "${grids[@]}"; do
			bench "cyclic-$grid" 60 --grid "$grid" --method auto,swap --mb 256 --nb 256 --reps 3
		done
		grid=${grids[0]}
		for width in 1 2 8 16; do
			bench "largest-$grid-e$width" 60 --grid "$grid" --elem-size $width --reps 3
		done
		bench "odd-$grid" 60 --grid "$grid" --method auto,swap --n 150001 --reps 3
		bench "small-$grid" 30 --grid "$grid" --method auto,swap --n 32768 --reps 7
		bench "tiny-$grid" 30 --grid "$grid" --method auto,copy --n 8192 --reps 7
		bench "host-$grid" 60 --grid "$grid" --method host --n 65536 --reps 3
		;;
	nccl)
		if [ -x "$build/tests/nccl/test_nccl" ]; then
			run test_nccl 90 env REQUIRE_GPUS="$gpus" "$build/tests/nccl/test_nccl"
		fi
		for grid in "${grids[@]}"; do
			bench "nccl-$grid" 60 --grid "$grid" --method nccl --staging 268435456,1073741824 --reps 5
			NCCL_MIN_P2P_NCHANNELS=64 bench "nccl-64-$grid" 60 --grid "$grid" --method nccl --staging 268435456,1073741824 --reps 5
			bench "nccl-take-$grid" 60 --grid "$grid" --take --method nccl --staging 268435456,1073741824 --reps 5
		done
		;;
	sweep)
		for grid in "${grids[@]}"; do
			[ "$grid" = 2x1 ] && continue
			bench "sweep-$grid" 100 --grid "$grid" --method copy,push,pack --buffers 2,3,4,8 \
				--copies 1,2 --reps 3
			bench "staging-$grid" 40 --grid "$grid" --method copy,push \
				--staging 33554432,67108864,134217728,536870912 --reps 3
		done
		;;
	stress)
		run stress 90 env TSW_MULTI_SECONDS="${STRESS_SECONDS:-20}" CK_RUN_CASE=random \
			"$build/tests/test_multi"
		;;
	*)
		echo "tests/multi-gpu.sh: unknown stage '$stage'" >&2
		exit 2
		;;
	esac
done

{
	printf '%s\n' "${table[@]}"
	python3 - "$rows" <<'END' 2>>"$log"
import json, sys
print("%-18s %-5s %8s %3s %10s %3s %2s %9s %8s %7s %9s %6s %8s %s" % (
    "case", "how", "n", "el", "staging", "buf", "cp", "ms", "GB/s", "link", "bound ms", "ratio",
    "extra MB", "wrong"))
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r.get("row") == "multi":
        print("%-18s %-5s %8d %3d %10d %3d %2d %9.3f %8.1f %7.1f %9.3f %6.3f %8.1f %d" % (
            r["case"], r["method"], r["n"], r["elem_size"], r["staging_bytes"], r["buffers"],
            r["copies"], r["time_ms_median"], r["payload_gb_per_s"], r["link_gb_per_s"],
            r["bound_ms"], r["ratio"], r["extra_device_bytes"] / 1e6, r["wrong"]))
END
} | tee "$out/multi-gpu.txt"
exit $bad
