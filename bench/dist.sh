#!/usr/bin/env bash
# tileswap-dist against ScaLAPACK's pdtran on this machine, at equal cores: a rank a core, one thread
# each, 8-byte elements, the layout the same for both, every element compared in every run.
#
#     make bench-dist && bench/dist.sh > bench/results/NAME.jsonl
#
# RANKS (default: the cores), SIZES, BLOCKS, STAGES, REPS (odd), ROUNDS: the two take turns that often.
# Wants a quiet machine: ranks that wait for each other lose much to anything else that runs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

BUILD=${BUILD:-build} RANKS=${RANKS:-$(nproc)} SIZES=${SIZES:-4096 8191 16384}
BLOCKS=${BLOCKS:-32 64 128 256 512 half} REPS=${REPS:-5} ROUNDS=${ROUNDS:-3}
STAGES=${STAGES:-8M}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
[ -x "$BUILD/bench-pdtran" ] || {
	echo "$0: no $BUILD/bench-pdtran; make bench-dist wants MPI and libscalapack-openmpi-dev" >&2
	exit 1
}

# Every grid of that many ranks.
grids() {
	local p
	for ((p = 1; p <= RANKS; p++)); do
		[ $((RANKS % p)) -ne 0 ] || echo "$p $((RANKS / p))"
	done
}

for n in $SIZES; do
	grids | while read -r p q; do
		for block in $BLOCKS; do
			mb=$block nb=$block
			[ "$block" != half ] || mb=$(((n + p - 1) / p)) nb=$(((n + q - 1) / q))
			for ((round = 0; round < ROUNDS; round++)); do
				for stage in $STAGES; do
					mpirun -n "$RANKS" --bind-to core "$BUILD/tileswap-dist" --grid "${p}x$q" --n "$n" \
						--mb "$mb" --nb "$nb" --storage columns --stage "$stage" --reps "$REPS" --json </dev/null |
						sed 's/^{/{"kernel": "tileswap", /'
				done
				mpirun -n "$RANKS" --bind-to core "$BUILD/bench-pdtran" "$p" "$q" "$n" "$mb" "$nb" "$REPS" </dev/null
			done
		done
	done
done
