#!/usr/bin/env bash
# The host suites on NEON without an ARM machine: cross-compiled, linked statically, run by
# qemu-aarch64; then stress rounds by the tool.  test_cpu runs every kernel of "neon" and of plain C.
#
#     BUILD=build tests/neon.sh
#
# Debian's Check for arm64 is fetched by apt into $BUILD/arm64 and installed nowhere.  What is missing is
# named, and all of it counted as one skipped test; with REQUIRE_NEON=1 that is a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$(realpath -m "${BUILD:-build}")/neon
check=$build/../arm64
cross=aarch64-linux-gnu
suites=(test_map test_args test_cpu test_host test_digest test_imatcopy)

missing() {
	if [ "${REQUIRE_NEON:-0}" != 0 ]; then
		echo "REQUIRE_NEON=1, but $1"
		echo "0 passed, 1 failed, 0 skipped"
		exit 1
	fi
	echo "skipped: NEON: $1"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

# The packages of another architecture, by lists of packages of its own.
apt_arm64() {
	apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
		-o Dir::State="$check/apt" -o Dir::State::status="$check/apt/status" \
		-o Dir::Cache="$check/apt" -o Acquire::Languages=none "$@"
}

fetch_check() {
	local package
	mkdir -p "$check/apt/lists/partial" "$check/apt/archives/partial" || return 1
	: > "$check/apt/status"
	apt_arm64 update || echo "some list of packages is not to be had for arm64"
	(cd "$check" && apt_arm64 download check libsubunit-dev) || return 1
	for package in "$check"/*.deb; do
		dpkg-deb -x "$package" "$check" || return 1
	done
	rm -rf "$check/apt" "$check"/*.deb
}

mkdir -p "$build"
command -v $cross-gcc > /dev/null || missing "no $cross-gcc (gcc-$cross)"
command -v qemu-aarch64 > /dev/null || missing "no qemu-aarch64 (qemu-user)"
libs=$check/usr/lib/$cross
if [ ! -e "$libs/libcheck_pic.a" ]; then
	command -v apt-get > /dev/null || missing "no Check for arm64 in $check, and no apt-get"
	fetch_check > "$build-check.log" 2>&1 || {
		tail -n 5 "$build-check.log"
		missing "Check for arm64 is not to be had"
	}
fi

"${MAKE:-make}" --no-print-directory BUILD="$build" CC=$cross-gcc CUDA=0 CFLAGS='-O2 -g' LDFLAGS=-static \
	CHECK_CFLAGS="-I$check/usr/include" \
	CHECK_LIBS="-L$libs -lcheck_pic -lsubunit -lrt -lm -lpthread" \
	"$build/tileswap" "${suites[@]/#/$build/tests/}" || exit 1

tests/machine_code.py --cc $cross-gcc "$build"/obj-*/src/cpu/kernels_neon.c.o || exit 1

# tests/check.sh runs programs: here they are.
programs=$build/run
rm -rf "$programs"
mkdir -p "$programs"
program() {
	printf '#!/bin/sh\nexport TSW_EMULATOR=qemu-aarch64 %s\nexec qemu-aarch64 %s "$@"\n' "$3" "$2" > "$programs/$1"
	chmod +x "$programs/$1"
}
program tileswap "$build/tileswap" TILESWAP_ISA=neon
for suite in "${suites[@]}"; do
	program "$suite" "$build/tests/$suite" TILESWAP_ISA=neon
done
TILESWAP=$programs/tileswap STRESS_MEMORY=$((2 << 20)) tests/check.sh "${suites[@]/#/$programs/}"
