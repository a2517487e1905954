#!/usr/bin/env bash
# What Python, the consumers and the examples show on a machine with a GPU, in one go, without a
# network and without installing anything: the package is used where it lies.
#
#     tests/gpu-python.sh [LOG]          (default: gpu-python.log)
#
# Wants nvcc, Python 3 with pytest, PyTorch and CuPy; without them it fails.  Runs
#   - tests/python on the library just built, with CuPy, CUDA PyTorch, graphs, a second GPU
#   - tests/python/run.sh: the package as pip builds it, where pip is there
#   - tests/consumers/run.sh: C, C++, CMake, pkg-config; the cuSOLVER example on 60 % of the GPU
#   - docs/examples/weight.py on 90 % of it
#
#     GPUS=2       a second GPU is demanded
#     PYTHON=...   the interpreter that has PyTorch [python3]
#     CUDA_ARCH    narrows the build
#
# The log holds everything; the last line is "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

log=${1:-gpu-python.log}
build=${BUILD:-build}
[[ $build = /* ]] || build=$PWD/$build
python=${PYTHON:-python3}
export REQUIRE_GPU=1 REQUIRE_GPUS=${GPUS:-1} PYTHON=$python PYTHONDONTWRITEBYTECODE=1
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$log")" && : >"$log" || exit 1

say() {
	echo "$*" | tee -a "$log"
}

# Runs a step; its own count is added up where its last line is one, else it is one test.
step() {
	local name=$1 started=$SECONDS rc p f s
	shift
	say "=== $name: $*"
	"$@" >"$work/out" 2>&1
	rc=$?
	cat "$work/out" >>"$log"
	if read -r p f s < <(tail -n 1 "$work/out" |
		sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p'); then
		[ "$rc" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	else
		p=$((rc == 0)) f=$((rc != 0)) s=0
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	[ "$f" -eq 0 ] || tail -n 25 "$work/out"
	say "=== $name: exit $rc, $((SECONDS - started)) s, $p passed, $f failed, $s skipped"
}

modules() {
	"$python" - <<-'END'
		import sys
		import cupy, numpy, pytest, torch
		print("python", sys.version.split()[0], "numpy", numpy.__version__, "torch", torch.__version__,
		      "cupy", cupy.__version__, "pytest", pytest.__version__)
		print(torch.cuda.device_count(), "x", torch.cuda.get_device_name())
	END
}

# The package from the source tree, the library from $build.
in_place() {
	local p f s rc
	TSW_COUNTS=$work/counts TILESWAP_LIBRARY=$build/libtileswap.so PYTHONPATH=$PWD/src/python \
		"$python" -m pytest -q -rs -p no:cacheprovider tests/python
	rc=$?
	read -r p f s <"$work/counts" || { p=0 f=1 s=0; }
	echo "$p passed, $f failed, $s skipped"
	return "$rc"
}

# The matrix fills most of the memory: nothing else may hold any, so it has a process of its own.
weight() {
	TILESWAP_LIBRARY=$build/libtileswap.so PYTHONPATH=$PWD/src/python \
		"$python" docs/examples/weight.py 0.9
}

step "what is there" modules
[ "$failed" -gt 0 ] || step build make CUDA=1 BUILD="$build" -j"$(nproc)" all
if [ "$failed" -eq 0 ]; then
	step "tests/python, in place" in_place
	grep -E '^SKIPPED' "$work/out"
	step "tests/python, by pip" env BUILD="$build" tests/python/run.sh
	step consumers env BUILD="$build" tests/consumers/run.sh
	grep -E '^ +(cusolver_lu|lapack)|^skipped' "$work/out"
	step weight weight
	tail -n 1 "$work/out"
fi
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
