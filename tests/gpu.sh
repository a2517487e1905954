#!/usr/bin/env bash
# Everything that only a machine with a GPU can show, in one go:
#
#     tests/gpu.sh OUTDIR [check] [python] [sanitize] [sass] [stress] [soak] [bench]   (default: all)
#
# check     make check with REQUIRE_GPU=1
# python    tests/gpu-python.sh: the Python suite in place, consumers, the examples
# sanitize  the device suite at small sizes under compute-sanitizer: memcheck, racecheck, initcheck,
#           synccheck
# sass      the machine code of the kernels holds no form of cp.async that ptxas is known to get wrong
# stress    `tileswap stress` at the largest n that fits, elements of 1, 2, 4, 8 and 16 bytes, a minute
#           each (STRESS_SECONDS)
# soak      tests/soak: many streams for two minutes (SOAK_SECONDS), memory watched
# bench     bench/run-gpu.sh
#
# Logs and JSON go to OUTDIR; a table of the stages comes last.  CUDA_ARCH narrows the build.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

out=${1:?usage: tests/gpu.sh OUTDIR [stage ...]}
shift
[ $# -gt 0 ] || set -- check python sanitize sass stress soak bench
mkdir -p "$out"
out=$(cd "$out" && pwd)
build=${BUILD:-build}
table=()
bad=0

stage() {
	local name=$1 started=$SECONDS rc
	shift
	"$@" >"$out/$name.log" 2>&1
	rc=$?
	[ "$rc" -eq 0 ] || { bad=1; tail -n 25 "$out/$name.log"; }
	table+=("$(printf '%-12s exit %d  %4d s  %s' "$name" "$rc" $((SECONDS - started)) \
		"$(tail -n 1 "$out/$name.log" | cut -c1-120)")")
}

sanitize() { # tool, how small
	# One test provokes an error of the caller's own; it is not the sanitizer's business.
	stage "$1" env TSW_DEVICE_SMALL="$2" compute-sanitizer --tool "$1" --error-exitcode 9 \
		--report-api-errors no "${@:3}" "$build/tests/test_device"
}

stress() {
	stage "stress-$1" "$build/tileswap" stress --device cuda --elem-size "$1" \
		--seconds "${STRESS_SECONDS:-60}" --json
}

# Of kernels/device.cuh's warning: an odd uniform register as a descriptor is an illegal instruction.
# shellcheck disable=SC2317  # called by name, through stage
sass() {
	local object bad=0
	for object in "$build"/obj-*/kernels/*.cu.o; do
		cuobjdump --dump-sass "$object" | grep -E 'LDGSTS.*desc\[UR[0-9]*[13579]\]' && bad=1
	done
	echo "sass: $([ "$bad" = 0 ] && echo clean || echo 'illegal instructions found')"
	return "$bad"
}

stage build make CUDA=1 BUILD="$build" -j"$(nproc)" all tests "$build/tests/soak"
for what in "$@"; do
	case $what in
	check) stage check env REQUIRE_GPU=1 make CUDA=1 BUILD="$build" check ;;
	python) stage python env BUILD="$build" tests/gpu-python.sh "$out/gpu-python.log" ;;
	sanitize)
		sanitize memcheck 1 --leak-check full
		sanitize racecheck 2
		sanitize initcheck 1
		sanitize synccheck 1
		;;
	sass) stage sass sass ;;
	stress)
		for bytes in 1 2 4 8 16; do
			stress "$bytes"
		done
		;;
	soak) stage soak env REQUIRE_GPU=1 "$build/tests/soak" --device --threads 16 --seconds "${SOAK_SECONDS:-120}" ;;
	bench) stage bench env OUT="$out" BUILD="$build" bench/run-gpu.sh ;;
	*)
		echo "tests/gpu.sh: unknown stage '$what'" >&2
		exit 2
		;;
	esac
done

printf '%s\n' "${table[@]}"
exit $bad
