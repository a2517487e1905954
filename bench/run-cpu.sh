#!/bin/bash
# Measures every host row of docs/PERFORMANCE.md; JSON lines go to bench/results/<cpu>-<date>.jsonl
# and a table of what they say to stdout.  Wants a quiet machine.
#
#   bench/run-cpu.sh [--quick | --scaling]
#
# --quick: about a minute, no large matrices.  --scaling: from one thread to all, and the peers that
# use several; for machines with many cores.
#
# BUILD: where tileswap-bench was built [build].  RESULTS: another folder for the results.
# PYTHON: the interpreter that has NumPy [python3].  REPS: repetitions [7].  TSW_MKL, TSW_OPENBLAS,
# TSW_FFTW, TSW_FFTWF, TSW_GSL: peers that the loader does not find.
set -u
cd "$(dirname "$0")/.." || exit 1

bench=${BUILD:-build}/tileswap-bench
results=${RESULTS:-bench/results}
python=${PYTHON:-python3}
reps=${REPS:-7}
mode=${1:-}
failed=0
cores=$(nproc)

[ -x "$bench" ] || { echo "run-cpu.sh: $bench is not built" >&2; exit 1; }
if [ -z "${TSW_COMMIT:-}" ] && commit=$(git rev-parse --short HEAD 2>/dev/null); then
	export TSW_COMMIT=$commit
fi
# PyPI's mkl lies beside the interpreter, where the loader does not look.
if [ -z "${TSW_MKL:-}" ]; then
	mkl=$("$python" -c 'import glob, sys; print(*glob.glob(sys.prefix + "/lib/libmkl_rt.so.?"))' \
		2>/dev/null)
	[ -n "$mkl" ] && export TSW_MKL=${mkl%% *}
fi

mkdir -p "$results" || exit 1
slug=$(sed -n 's/^model name.*: //p; s/^CPU part.*: /arm-/p' /proc/cpuinfo | head -1 |
	sed 's/([^)]*)//g; s/@.*//' | tr '[:upper:]' '[:lower:]' | tr -cs '[:alnum:]' '-' | sed 's/^-//; s/-$//')
out=$results/${slug:-cpu}-${cores}cores-$(date -u +%Y-%m-%d).jsonl
[ -n "$mode" ] && out=${out%.jsonl}-${mode#--}.jsonl
: >"$out" || exit 1

run() {
	"$@" >>"$out" || { echo "run-cpu.sh: failed: $*" >&2; failed=1; }
}

# The name of a case stands in every row, so that tables and plots can pick their rows.
cpu() {
	run "$bench" --device cpu --reps "$reps" --json --case "$@"
	printf '%4d s  %s\n' $SECONDS "$1" >&2
}

numpy() {
	run env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE "$python" bench/peers/numpy_peer.py --json \
		--reps 3 --shapes "$1"
	printf '%4d s  numpy\n' $SECONDS >&2
}

scaling() {
	local t
	for ((t = 1; t < 2 * cores; t *= 2)); do
		cpu scaling --n 10000,16384 --elem-size 8 --threads $((t < cores ? t : cores))
	done
}

case $mode in
--quick)
	cpu plain --n 4000 --elem-size 1,2,4,8,16
	cpu power-of-two --n 4096 --elem-size 4,8
	cpu odd --n 4097,4501 --elem-size 4,8
	cpu one-thread --n 4000 --elem-size 4,8 --threads 1
	cpu wide --n 1000 --elem-size 64,256
	cpu odd-width --n 3000 --elem-size 3,12,24
	cpu batch --n 8,64 --elem-size 4,8 --fill 1000000000
	cpu in-cache --peers --n 8,32,128,512 --elem-size 8 --resident --threads 1
	;;
--scaling)
	cpu plain --n 10000 --elem-size 4,8,16
	cpu power-of-two --n 16384 --elem-size 8
	cpu odd --n 20001 --elem-size 4,8
	scaling
	;;
"")
	cpu plain --n 10000,20000 --elem-size 4,8
	cpu plain --n 10000 --elem-size 4 --offset 4
	cpu plain --n 10000 --elem-size 8 --offset 8
	cpu power-of-two --n 8192,16384 --elem-size 4,8
	cpu power-of-two --n 32768 --elem-size 4
	cpu power-of-two --n 8192 --ld 8448 --elem-size 8
	cpu odd --n 10001,20001 --elem-size 4,8
	cpu odd-at-power --n 8191,8193,16385 --elem-size 4,8
	cpu plain --n 8192,10000 --elem-size 16
	cpu narrow --n 16384,20000,20001 --elem-size 1,2
	cpu wide --n 4000 --elem-size 64
	cpu wide --n 1000 --elem-size 256,1024
	cpu wide --n 500 --elem-size 4096
	cpu odd-width --n 8192,10000 --elem-size 3,12,24
	cpu one-thread --n 8192,10000,10001 --elem-size 4,8 --threads 1
	cpu batch --n 4,8,16,32,64 --elem-size 4,8 --fill 1000000000
	cpu batch-array --n 4,8,16,32,64 --elem-size 4,8 --fill 1000000000 --array
	cpu in-cache --peers --n 8,16,32,64,128,256,512 --elem-size 4,8,16 --resident --threads 1
	cpu peers --peers --n 4096,4097,8192,10000 --elem-size 4,8,16
	cpu curve --n 512,1024,2048,3072,4096,6144,8192,12288,16384 --elem-size 1,2,4,8,16
	for type in s d c z h b; do
		cpu "imatcopy-T$type" --op T --type "$type" --n 1000,10000
		cpu "imatcopy-N$type" --op N --type "$type" --n 10000
	done
	cpu checksum --checksum --n 10000 --elem-size 1,2,3,4,8,12,16
	cpu choices --kernels --n 8192,10000,10001 --elem-size 4,8 --threads 1
	cpu choices --kernels --n 10000 --offset 16 --elem-size 4,8 --threads 1
	cpu choices --kernels --n 256,512 --elem-size 8,16 --resident --threads 1
	scaling
	case $(uname -m) in
	x86_64) isas="c avx2 avx512" ;;
	*) isas="c neon" ;;
	esac
	for isa in $isas; do
		TILESWAP_ISA=$isa cpu "isa-$isa" --n 8192,10000 --elem-size 1,2,4,8 --threads 1
	done
	numpy peers:4096:4,peers:4097:4,peers:8192:4,peers:4096:8,peers:4097:8,peers:8192:8,peers:4096:16
	;;
*)
	echo "run-cpu.sh: $mode: no such set" >&2
	exit 2
	;;
esac

"$python" bench/table.py "$out"
echo "rows: $(grep -c '"row":"result"' "$out")  results: $out" >&2
exit $failed
