#!/usr/bin/env bash
# The Python package: installed by pip as a user would, then its suites.
#
#     PYTHON=...     the interpreter; default: the first of /usr/bin/python3 and python3 that has pytest
#
# Ends with "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-$PWD/build}
[[ $BUILD = /* ]] || BUILD=$PWD/$BUILD
export PYTHONDONTWRITEBYTECODE=1
unset TILESWAP_LIBRARY
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

fail() {
	failed=$((failed + 1))
	echo "FAILED $1"
	sed 's/^/    /' "$work/log"
	finish
}

usable() {
	"$1" -c 'import setuptools, wheel, pip, pytest' 2>/dev/null
}

python=
for candidate in ${PYTHON:+"$PYTHON"} /usr/bin/python3 python3; do
	if usable "$candidate"; then
		python=$candidate
		break
	fi
done
if [ -z "$python" ]; then
	skipped=1
	echo "skipped: no python3 with pip, setuptools, wheel and pytest"
	finish
fi
if grep -q __asan_init < <(nm -D "$BUILD/libtileswap.so" 2>/dev/null); then
	skipped=1
	echo "skipped: the library is built with a sanitizer, python is not"
	finish
fi

# A copy, so that pip's build leaves nothing in the tree; it brings the C sources along as a source
# distribution would.
mkdir "$work/tree"
cp -R Makefile LICENSE src kernels "$work/tree/"
(cd "$work/tree/src/python" && "$python" setup.py -q sdist -d "$work/sdist") >"$work/log" 2>&1 || fail "sdist"
# The library inside is for the CPU: the suites below run against $BUILD's, which may have CUDA.
CUDA=0 "$python" -m pip install -q --no-index --no-build-isolation --no-deps --target "$work/site" "$work"/sdist/*.tar.gz \
	>"$work/log" 2>&1 || fail "pip install of the source distribution"
PYTHONPATH=$work/site "$python" -c '
import tileswap
x = memoryview(bytearray(range(16))).cast("B", (4, 4))
tileswap.transpose_(x)
assert bytes(x) == bytes((0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)), bytes(x)
' >"$work/log" 2>&1 || fail "the installed package with the library it carries"
passed=$((passed + 2))

# PyTorch and NumPy may each bring an OpenMP runtime of their own; one thread pool is enough here.
TSW_COUNTS=$work/counts TILESWAP_LIBRARY=$BUILD/libtileswap.so PYTHONPATH=$work/site \
	"$python" -m pytest -q -rs -p no:cacheprovider tests/python
rc=$?
read -r p f s <"$work/counts" || { p=0 f=1 s=0; }
[ "$rc" -eq 0 ] || [ "$f" -gt 0 ] || f=1
passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
finish
