#!/bin/sh
# Installs, by apt, what is missing for building and testing tileswap.  DEV=1 adds what the linters,
# the sanitizers of clang and the aarch64 tests want.  nvcc is never installed: it is used where it is.
set -eu

packages="gcc libc6-dev make pkg-config check python3 python3-numpy"
if [ "${DEV:-}" ] && [ "${DEV:-0}" != 0 ]; then
	packages="$packages g++ clang libclang-rt-dev clang-format cppcheck shellcheck libomp-dev git mandoc gnuplot-nox \
		python3-h5py fiu-utils openmpi-bin libopenmpi-dev libscalapack-openmpi-dev \
		gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user \
		gfortran cmake liblapacke-dev libopenblas-dev zsh fish python3-pip python3-setuptools python3-wheel \
		python3-pytest python3-torch"
fi

if ! command -v apt-get >/dev/null 2>&1; then
	echo "deps: no apt-get here; install the equivalents of: $packages" >&2
	exit 1
fi

missing=
for package in $packages; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
		missing="$missing $package"
done
if [ -z "$missing" ]; then
	echo "deps: nothing is missing"
	exit 0
fi

as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update -q
# The list is split into words on purpose.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
