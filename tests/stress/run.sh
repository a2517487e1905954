#!/bin/sh
# `tileswap stress` must find faults that are put in behind its back: the right place, the right kind,
# on the host and on a GPU.  Run by make check; prints a line a test and "N passed, N failed,
# N skipped" at the end.
#
#     TILESWAP=build/tileswap tests/stress/run.sh
#
# Without a GPU its half is skipped; REQUIRE_GPU=1 makes that a failure.  TSW_SEED repeats the places.
set -u

TILESWAP=$(realpath -e -- "${TILESWAP:?the path of the tileswap tool}") || exit 1
here=$(cd "$(dirname "$0")" && pwd)
export TILESWAP
unset TSW_STRESS_INJECT

if ! command -v python3 > /dev/null; then
	echo "skip faults: no python3"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
exec python3 "$here/faults.py"
