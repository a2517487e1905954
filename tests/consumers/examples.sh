# shellcheck shell=bash
# The examples of docs/examples against the installed library; sourced by run.sh.
# prefix, work, warn, cuda and gpu() are run.sh's.
# shellcheck disable=SC2154

example() {
	local name=$1
	shift
	"$CC" -std=c11 "${warn[@]}" -O2 -I"$prefix/include" "docs/examples/$name.c" -o "$work/$name" \
		-L"$prefix/lib" -ltileswap "$@"
}

heads() {
	example heads && "$work/heads"
}
check "example heads" heads

# A line per way, with its peak; the peak of the in-place way is at most 60 % of the copying one's.
# Two threads anywhere: a BLAS takes some memory for each of its threads.
lapack_solve() {
	example lapack_solve -llapacke -llapack -lblas -lm || return
	OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 "$work/lapack_solve" "${LAPACK_N:-2500}" | tee "$work/lapack" || return
	awk '{ split($4, kv, "="); peak[$1] = kv[2] }
		END { exit !(NR == 2 && peak["tileswap"] > 0 && peak["tileswap"] <= 0.6 * peak["lapacke"]) }' "$work/lapack"
}
if echo '#include <lapacke.h>' | "$CC" -fsyntax-only -x c - 2>/dev/null; then
	check "example lapack_solve" lapack_solve
	sed 's/^/    /' "$work/lapack"
else
	skip "example lapack_solve" "no lapacke.h"
fi

# Needs the toolkit to build and a GPU with the CUDA build of the library to run.
cusolver_lu() {
	example cusolver_lu -isystem "$cuda/include" -L"$cuda/lib64" -lcusolver -lcublas -lcurand -lcudart -lm
}
if [ -e "$cuda/include/cusolverDn.h" ]; then
	check "example cusolver_lu builds" cusolver_lu
	if gpu; then
		check "example cusolver_lu, 60 % of the GPU" env LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$cuda/lib64" "$work/cusolver_lu" 0.6
		sed 's/^/    /' "$work/log"
	elif [ "${REQUIRE_GPU:-0}" != 0 ]; then
		check "example cusolver_lu: REQUIRE_GPU=1, and no GPU, or a build without CUDA" false
	else
		skip "example cusolver_lu" "no GPU, or a build without CUDA"
	fi
else
	skip "example cusolver_lu" "no CUDA toolkit"
fi
