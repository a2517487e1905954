#!/usr/bin/env bash
# The host side under ThreadSanitizer: clang with LLVM's OpenMP and its archer library, which tells
# ThreadSanitizer what OpenMP waits for (gcc's libgomp gives false races).  `make check-tsan` builds
# first.
#
#     tests/tsan.sh BUILD [SUITE...]
#
# Vector accesses of more than 16 bytes are not seen by ThreadSanitizer: the suites of the engine run
# with the plain C kernels (TILESWAP_ISA=c), the first one also with what the machine would pick.
# Then races that change no result are seeded, one at a time (tests/tsan/races.txt): a suite can only
# turn red by a report of them, and each must.  QUICK=1 leaves that out.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$(realpath "${1:?usage: tests/tsan.sh BUILD [SUITE...]}") || exit 2
shift
suites=("$@")
[ $# -gt 0 ] || suites=(test_properties test_imatcopy test_digest test_file)

archer=$("${TSAN_CLANG:-clang}" -print-file-name=libarcher.so)
[ -e "$archer" ] || archer=$(find /usr/lib/llvm-*/lib -name libarcher.so 2>/dev/null | sort | tail -n 1)
if [ ! -e "$archer" ]; then
	echo "no libarcher.so: it comes with LLVM's OpenMP (Debian: libomp-dev)"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
export OMP_TOOL_LIBRARIES=$archer
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66 ${TSAN_OPTIONS:-}"
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-3}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

suite() { # name, then its environment
	local name=$1 started=$SECONDS rc p f s reports
	shift
	echo "--- $name $*"
	env "$@" "$build/tests/$name" >"$log" 2>&1
	rc=$?
	reports=$(grep -c 'WARNING: ThreadSanitizer' "$log")
	if ! read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log"); then
		p=0 f=1 s=0
	elif [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	[ "$f" -eq 0 ] || tail -n 80 "$log"
	echo "--- $name $*: $p passed, $f failed, $s skipped, $reports races, exit $rc, $((SECONDS - started)) s"
}

suite "${suites[0]}"
for name in "${suites[@]}"; do
	suite "$name" TILESWAP_ISA=c
done

if [ "${QUICK:-0}" = 0 ]; then
	echo "--- seeded races"
	CC=${TSAN_CLANG:-clang} SANITIZE=thread CFLAGS='-O1 -g' tests/mutate.sh tests/tsan/races.txt | tee "$log"
	if read -r p f < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, 0 skipped$/\1 \2/p' "$log"); then
		passed=$((passed + p)) failed=$((failed + f))
	else
		failed=$((failed + 1))
	fi
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
