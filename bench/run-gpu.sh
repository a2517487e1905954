#!/bin/bash
# Measures every row of docs/PERFORMANCE.md on the first GPU; JSON lines go to
# bench/results/<gpu>-<date>.jsonl and a table of what they say to stdout.
#
#   bench/run-gpu.sh [--quick]       --quick: under a minute, no Python peers
#
# BUILD: where tileswap-bench was built [build].  RESULTS: another folder for the results.
# PYTHON: the interpreter that has PyTorch, CuPy, Triton [python3].  REPS: repetitions [7].
# LIMIT: seconds after which one program is stopped [150].
set -u
cd "$(dirname "$0")/.." || exit 1

bench=${BUILD:-build}/tileswap-bench
results=${RESULTS:-bench/results}
python=${PYTHON:-python3}
reps=${REPS:-7}
quick=0
[ "${1:-}" = --quick ] && quick=1
failed=0

[ -x "$bench" ] || { echo "run-gpu.sh: $bench is not built" >&2; exit 1; }
if ! gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 2>/dev/null); then
	echo "run-gpu.sh: no GPU here, nothing measured" >&2
	exit 0
fi

# cuBLAS and cuRAND may come with Python packages, where the loader does not look.
folders=$("$python" - <<'END' 2>/dev/null
import glob, sysconfig
files = glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib/libcu[br]*.so*")
print(":".join(sorted({f.rsplit("/", 1)[0] for f in files})))
END
)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folders
if [ -z "${TSW_COMMIT:-}" ] && commit=$(git rev-parse --short HEAD 2>/dev/null); then
	export TSW_COMMIT=$commit
fi

mkdir -p "$results" || exit 1
slug=$(printf '%s' "$gpu" | tr '[:upper:] ' '[:lower:]-' | tr -cd '[:alnum:]-')
out=$results/$slug-$(date -u +%Y-%m-%d).jsonl
[ "$quick" = 1 ] && out=$results/$slug-$(date -u +%Y-%m-%d)-quick.jsonl
: >"$out" || exit 1

run() {
	timeout "${LIMIT:-150}" "$@" >>"$out" || { echo "run-gpu.sh: failed: $*" >&2; failed=1; }
}

# The name of a case stands in every row, so that tables and plots can pick their rows.
gpu() {
	run "$bench" --device cuda --reps "$reps" --json --case "$@"
	printf '%4d s  %s\n' $SECONDS "$1" >&2
}

if [ "$quick" = 1 ]; then
	gpu aligned --kernels --n 16384,32768 --elem-size 1,2,4,8,16
	gpu odd --kernels --n 32769 --elem-size 1,2,4,8
	gpu offset --kernels --n 32768 --elem-size 4 --offset 4
	gpu wide --n 4096 --elem-size 64,256
	gpu odd-width --n 16384 --elem-size 3,12
	gpu batch --kernels --n 32,256 --elem-size 4 --fill 4000000000
	gpu batch-array --n 32,256 --elem-size 4 --fill 4000000000 --array
	gpu tiny --n 4,8 --elem-size 4 --fill 4000000000
	gpu graph --graph --n 512,2048 --elem-size 4
	gpu pattern --pattern --n 32768,32769 --elem-size 4
	gpu checksum --checksum --n 32767,32768 --elem-size 1,3,4,8
	gpu imatcopy-Ts --op T --type s --n 16384,16385
	gpu imatcopy-Cz --op C --type z --n 16384,16385
else
	gpu aligned --kernels --peers --n 1024,2048,4096,8192,12288,16384,24576,32768,49152,65536 \
		--elem-size 1,2,4,8
	gpu aligned --kernels --peers --n 1024,2048,4096,8192,12288,16384,24576,32768 --elem-size 16
	gpu aligned --kernels --peers --n 33280,131072 --elem-size 4
	gpu largest --n 180224 --elem-size 4
	gpu largest --n 130048 --elem-size 8
	gpu power-of-two --n 16320,16384,16448,32704,32768,32832 --elem-size 1,2,4,8
	gpu odd --kernels --peers --n 257,513,1025,2049,4097,8193,16385,24577,32769,49153,65537 \
		--elem-size 1,2,4,8
	gpu odd --kernels --peers --n 100001 --elem-size 4
	gpu odd-ld --kernels --n 32768 --ld +1 --elem-size 1,2,4,8
	gpu offset --kernels --n 32768 --elem-size 4 --offset 4
	gpu offset --kernels --n 24576 --elem-size 8 --offset 8
	gpu wide --kernels --n 8192 --elem-size 32,64
	gpu wide --kernels --n 2048 --elem-size 128,256,512,1024
	gpu wide --kernels --n 1024 --elem-size 2048,4096
	gpu odd-width --kernels --n 16384,16385 --elem-size 3,6,12,24
	gpu odd-width --kernels --n 8192 --elem-size 100
	gpu batch --kernels --n 32,64,128,256,512,1024 --elem-size 2,4,8 --fill 4000000000
	gpu batch-array --kernels --n 32,64,128,256,512,1024 --elem-size 2,4,8 --fill 4000000000 \
		--array
	gpu batch-odd --kernels --n 33,65,100,129,180,257,1000 --elem-size 1,2,4,8 --fill 4000000000
	gpu tiny --n 2,3,4,5,6,7,8,10,12,14,16 --elem-size 4,8 --fill 4000000000
	gpu tiny-strided --n 2,4,8,16 --elem-size 4,8 --fill 4000000000 --stride +4
	gpu graph --kernels --graph --n 16,32,48,64,80,112,128,256,512,1024,2048 --elem-size 1,2,4,8,16
	gpu unaligned --kernels --n 4004,16400,32784,32800 --elem-size 2,4
	gpu unaligned --kernels --n 16386 --elem-size 8
	gpu pattern --pattern --n 32768,33280,32769 --elem-size 4
	gpu pattern --pattern --n 24576,24577 --elem-size 8
	gpu pattern --pattern --n 49152,49153 --elem-size 2
	gpu pattern --pattern --n 65536,65537 --elem-size 1
	gpu checksum --checksum --n 32767,32768 --elem-size 1,2,3,4,6,8,12,16,24
	gpu checksum --checksum --n 16383,16384 --elem-size 5,20
	gpu checksum --checksum --n 8191,8192 --elem-size 17,33,64,100
	gpu checksum --checksum --n 4095,4096 --elem-size 129,200,300
	gpu checksum --checksum --n 2047,2048 --elem-size 1000,4096
	for type in s d c z h b; do
		for op in T C N; do
			gpu "imatcopy-$op$type" --op $op --type $type --n 16384,16385
		done
	done
	# Little memory: the results are compared element by element on the host.
	for type in h s d z; do
		for op in T N; do
			gpu "imatcopy-tiny-$op$type" --op $op --type $type --n 2,4,5,8,16,32,64 --fill 200000000
		done
	done
	gpu ladder --ladder
	for p in pytorch cupy triton; do
		run "$python" bench/peers/${p}_peer.py --json --reps "$reps" --shapes \
			aligned:16384:4,aligned:32768:4,odd:32769:4,aligned:24576:8,odd:24577:8,aligned:49152:2,odd:49153:2,aligned:65536:1,odd:65537:1
		printf '%4d s  %s\n' $SECONDS $p >&2
	done
fi

"$python" bench/table.py "$out"
echo "rows: $(grep -c '"row":"result"' "$out")  results: $out" >&2
exit $failed
