#!/usr/bin/env bash
# What a user of an installed tileswap does: installs it, builds programs against it by pkg-config, by
# CMake and by plain flags, in C, C++ and Fortran, runs the examples of docs/examples, and uninstalls.
# Also what must never drift: exported symbols, API.md, status codes in the bindings.
# Ends with "N passed, N failed, N skipped".
#
# Most functions are called by name, through check().
# shellcheck disable=SC2317
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-$PWD/build}
[[ $BUILD = /* ]] || BUILD=$PWD/$BUILD
CC=${CC:-cc} MAKE=${MAKE:-make}
# The static library wants the OpenMP runtime of the compiler that made it.
case ${CC##*/} in
clang*) CXX=${CXX:-clang++} ;;
*) CXX=${CXX:-g++} ;;
esac
# shellcheck source=tests/checks.sh
. tests/checks.sh
export TMPDIR=$work
prefix=$work/usr

have() {
	command -v "$1" >/dev/null 2>&1
}

# ---- what must not drift ------------------------------------------------------------------------

exported_symbols() {
	nm -D --defined-only "$BUILD/libtileswap.so" | awk '{print $3}' | LC_ALL=C sort |
		diff tests/exports.txt -
}

# A static TLS model anywhere would bind all of the library's thread-local storage.
loads_late() {
	! readelf -d "$BUILD/libtileswap.so" | grep STATIC_TLS
}

# What libtileswap itself exports; the other headers are of libraries of their own.
core_headers() {
	find src -maxdepth 1 -name '*.h' -name 'tileswap*' ! -name tileswap_mpi.h ! -name tileswap_nccl.h
}

declared_symbols() {
	core_headers | xargs grep -hv '^#' | tr '\n' ' ' | grep -o 'TSW_API [^(]*(' | sed 's/($//; s/.*[ *]//' | LC_ALL=C sort |
		diff tests/exports.txt -
}

# Every global name of the static library is tsw_...; those that the compilers make aside.
global_names() {
	! nm -g --defined-only "$BUILD/libtileswap.a" 2>/dev/null |
		awk 'NF == 3 && $3 !~ /^(tsw_|\.gomp_critical|__fatbinwrap|__cudaRegisterLinkedBinary|_Z.*tsw_)/' | grep .
}

api_document() {
	"$MAKE" --no-print-directory -s api-text | diff docs/API.md -
}

# "name value" of every enumerator of the header, and in a binding by a sed script that prints the same.
enumerators() {
	diff <(sed -n 's/^\t\(TSW_[A-Z_0-9]*\) = \([0-9]*\).*/\1 \2/p' src/tileswap.h | sort) \
		<(sed -n "$2" "$1" | tr '[:lower:]' '[:upper:]' | sort)
}

# Every call of tileswap.h is bound under its name.
bound() {
	local name missing=0
	while read -r name; do
		grep -q "\\b$name\\b" "$1" || { echo "$1: $name is not there"; missing=1; }
	done < <(grep -ow 'tsw_[a-z_]*(' src/tileswap.h | tr -d '(' | grep -Fxf tests/exports.txt | sort -u)
	return "$missing"
}

if grep -q __asan_init < <(nm -D "$BUILD/libtileswap.so" 2>/dev/null); then
	skip consumers "the library is built with a sanitizer, a consumer is not"
	echo "$passed passed, $failed failed, $skipped skipped"
	exit 0
fi

check "exported symbols = tests/exports.txt" exported_symbols
check "thread-local storage that a program may load late" loads_late
check "TSW_API declarations = tests/exports.txt" declared_symbols
check "global names carry the prefix" global_names
check "docs/API.md is of this header" api_document
check "enumerators of the Fortran module" enumerators src/fortran/tileswap.f90 \
	's/^ *\(tsw_[a-z_0-9]*\) = \([0-9]\{1,\}\).*/\1 \2/p'
check "the Fortran module binds every call" bound src/fortran/tileswap.f90

# ---- install ------------------------------------------------------------------------------------

"$MAKE" --no-print-directory install BUILD="$BUILD" PREFIX="$prefix" LIBDIR="$prefix/lib" DESTDIR= >"$work/log" 2>&1 || {
	cat "$work/log"
	echo "FAILED make install"
	failed=1
	finish
}
passed=$((passed + 1))
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
warn=(-Wall -Wextra -Werror)

build_and_run() {
	local out
	out=$(mktemp -p "$work")
	"$@" -o "$out" && "$out"
}

pages() {
	local page n=0
	for page in "$prefix"/share/man/man3/*.3; do
		n=$((n + 1))
		(cd "$prefix/share/man" && mandoc -T lint -W error "man3/${page##*/}") || return
	done
	[ "$n" -gt "$(wc -l <tests/exports.txt)" ]
}

src=tests/consumers
check "C, plain flags" build_and_run "$CC" "${warn[@]}" -std=c99 -pedantic -I"$prefix/include" "$src"/consumer.c \
	-L"$prefix/lib" -ltileswap
if have "$CXX"; then
	check "C++17, plain flags" build_and_run "$CXX" "${warn[@]}" -std=c++17 -pedantic -I"$prefix/include" \
		"$src"/consumer.cpp -L"$prefix/lib" -ltileswap
else
	skip "C++17, plain flags" "no $CXX"
fi
if have pkg-config; then
	# shellcheck disable=SC2046
	check "C, pkg-config" build_and_run "$CC" "${warn[@]}" $(pkg-config --cflags tileswap) "$src"/consumer.c \
		$(pkg-config --libs tileswap)
	# shellcheck disable=SC2046
	check "C, pkg-config --static" build_and_run "$CC" "${warn[@]}" $(pkg-config --cflags tileswap) "$src"/consumer.c \
		-Wl,-Bstatic $(pkg-config --libs-only-L --libs-only-l tileswap) -Wl,-Bdynamic $(pkg-config --libs --static tileswap)
	check "pkg-config tells the version" test "$(pkg-config --modversion tileswap)" = \
		"$("$prefix/bin/tileswap" --version | sed 's/tileswap //')"
else
	skip pkg-config "not installed"
fi

if ! have "$CXX"; then
	:
elif "$CXX" -std=c++23 -x c++ -fsyntax-only - <<<'#include <mdspan>' 2>/dev/null; then
	check "C++23, std::mdspan" build_and_run "$CXX" "${warn[@]}" -std=c++23 -DTEST_STD_MDSPAN -I"$prefix/include" \
		"$src"/consumer.cpp -L"$prefix/lib" -ltileswap
else
	skip "std::mdspan" "$CXX has no <mdspan>"
fi
cccl=$(dirname "$(dirname "$(readlink -f "$(command -v "${NVCC:-nvcc}" || echo /usr/local/cuda/bin/nvcc)")")")/include
if have "$CXX" && [ -e "$cccl/cccl/cuda/std/mdspan" ]; then
	check "C++17, cuda::std::mdspan" build_and_run "$CXX" "${warn[@]}" -std=c++17 -DTEST_CUDA_MDSPAN -I"$prefix/include" \
		-isystem "$cccl/cccl" -isystem "$cccl" "$src"/consumer.cpp -L"$prefix/lib" -ltileswap
else
	skip "cuda::std::mdspan" "no CUDA toolkit, or no $CXX"
fi

fortran_consumer() {
	mkdir -p "$work/mod"
	build_and_run gfortran -Wall -Wextra -Wno-compare-reals -Werror -std=f2018 -J"$work/mod" \
		"$prefix/include/tileswap.f90" "$src"/consumer.f90 -L"$prefix/lib" -ltileswap
}
# $1: where the CUDA toolkit is.
fortran_on_device() {
	mkdir -p "$work/mod"
	gfortran -Wall -Wextra -Wno-compare-reals -Werror -std=f2018 -J"$work/mod" -o "$work/device" \
		"$prefix/include/tileswap.f90" "$src"/device.f90 -L"$prefix/lib" -ltileswap -L"$1/lib64" -lcudart
}
gpu() {
	"$prefix/bin/tileswap" info --json | grep -q '"cuda_usable": true'
}
if have gfortran; then
	check "Fortran" fortran_consumer
else
	skip Fortran "no gfortran"
fi
cuda=$(dirname "$cccl")
if ! have gfortran || ! [ -e "$cuda/lib64/libcudart.so" ]; then
	skip "Fortran, device pointers" "no gfortran, or no CUDA toolkit"
else
	check "Fortran, device pointers: builds" fortran_on_device "$cuda"
	if gpu; then
		check "Fortran, device pointers" env LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$cuda/lib64" "$work/device"
	elif [ "${REQUIRE_GPU:-0}" != 0 ]; then
		check "Fortran, device pointers: REQUIRE_GPU=1, and no GPU, or a build without CUDA" false
	else
		skip "Fortran, device pointers" "no GPU, or a build without CUDA"
	fi
fi

cmake_consumer() {
	local build=$work/cmake-$1
	shift
	CC=$CC CXX=$CXX cmake -S "$src/cmake" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" "$@" &&
		cmake --build "$build" && "$build/consumer_c" && "$build/consumer_cpp"
}
cmake_refuses() {
	! cmake -S "$src/cmake" -B "$work/cmake-refused" -DCMAKE_PREFIX_PATH="$prefix" -DWANT_VERSION="$1" >"$work/refused" 2>&1 &&
		grep -q 'compatible with requested' "$work/refused"
}
if have cmake && have "$CXX"; then
	version=$("$prefix/bin/tileswap" --version | sed 's/tileswap //')
	check "CMake, shared" cmake_consumer shared -DWANT_VERSION="$version"
	check "CMake, static" cmake_consumer static -DTILESWAP_USE_STATIC_LIBS=ON
	check "the static CMake consumer needs no .so" bash -c \
		"! ldd '$work/cmake-static/consumer_c' | grep libtileswap"
	check "CMake, a newer version is refused" cmake_refuses "${version%%.*}.999"
	check "CMake, another major version is refused" cmake_refuses "$((${version%%.*} + 1)).0"
	mv "$prefix" "$work/moved" && prefix=$work/moved
	check "CMake, after the tree was moved" env LD_LIBRARY_PATH= bash -c "$(declare -f cmake_consumer)
		CC=$CC CXX=$CXX src=$src work=$work prefix=$prefix cmake_consumer moved"
	mv "$work/moved" "$work/usr" && prefix=$work/usr
else
	skip CMake "no cmake, or no $CXX for its consumer"
fi

# ---- a prefix with blanks -----------------------------------------------------------------------

# What has a part of its name is left alone.
with_blanks() {
	local prefix="$work/a place/usr"
	local -x LD_LIBRARY_PATH="$prefix/lib" PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
	echo kept >"$work/a"
	"$MAKE" --no-print-directory install BUILD="$BUILD" PREFIX="$prefix" LIBDIR="$prefix/lib" DESTDIR= &&
		"$prefix/bin/tileswap" --version || return
	if have pkg-config; then
		eval "build_and_run '$CC' $(pkg-config --cflags tileswap) '$src/consumer.c' $(pkg-config --libs tileswap)" || return
	fi
	if have cmake && have "$CXX"; then
		LD_LIBRARY_PATH='' cmake_consumer blanks || return
	fi
	"$MAKE" --no-print-directory uninstall BUILD="$BUILD" PREFIX="$prefix" LIBDIR="$prefix/lib" DESTDIR= &&
		! find "$prefix" ! -type d | grep . && [ "$(cat "$work/a")" = kept ]
}
check "a prefix with blanks" with_blanks
prefix_refused() {
	! "$MAKE" --no-print-directory install BUILD="$BUILD" PREFIX="$1" DESTDIR="$work/refused/" >"$work/refusal" 2>&1 &&
		grep -qF "$2" "$work/refusal" && [ ! -e "$work/refused" ]
}
rm -rf "$work/refused"
check "a prefix that is no absolute path" prefix_refused usr 'PREFIX = "usr" must begin with /'
check "a prefix that a shell would read" prefix_refused "/usr';#" "PREFIX and LIBDIR must do without ' ; #"

# By an nvcc that is asked for nothing but its targets, and an NCCL of that version code.
with_nccl() {
	local home=$work/nccl code=$1
	shift
	mkdir -p "$home/include" "$home/lib" && touch "$home/lib/libnccl.so" || return
	echo "#define NCCL_VERSION_CODE $code" >"$home/include/nccl.h"
	printf '#!/bin/sh\necho compute_90\n' >"$home/nvcc" && chmod +x "$home/nvcc" || return
	"$MAKE" --no-print-directory BUILD="$work/none" CUDA=1 NVCC="$home/nvcc" NCCL_HOME="$home" "$@" 2>&1
}
old_nccl_refused() {
	! with_nccl 21805 -n help NCCL=1 >"$work/said" &&
		grep -qF "NCCL=1 but $work/nccl/include/nccl.h is of an NCCL before 2.19" "$work/said"
}
check "an NCCL that is too old" old_nccl_refused
check "an NCCL that is not" with_nccl 21900 -n help NCCL=1
# What was built before NCCL came is not taken for what is built with it.
# The words are for make.
# shellcheck disable=SC2016
objects_of_their_own() {
	local without with tell=(-s NCCL=auto --eval 'objects: ; @echo $(OBJ)' objects)
	without=$(with_nccl 21805 "${tell[@]}") && with=$(with_nccl 21900 "${tell[@]}") && [ "$with" != "$without" ]
}
check "objects with NCCL are others" objects_of_their_own

# ---- man pages and completions ------------------------------------------------------------------

if have mandoc; then
	check "man pages of the calls" pages
else
	skip "man pages" "no mandoc"
fi
PATH=$prefix/bin:$PATH
check "bash completion" bash "$src"/completion.bash "$prefix/share/bash-completion/completions/tileswap"
if have zsh; then
	check "zsh completion parses" zsh -n "$prefix/share/zsh/site-functions/_tileswap"
else
	skip "zsh completion" "no zsh"
fi
if have fish; then
	check "fish completion" fish "$src"/completion.fish "$prefix/share/fish/vendor_completions.d/tileswap.fish"
else
	skip "fish completion" "no fish"
fi

# ---- examples -----------------------------------------------------------------------------------

# shellcheck source=tests/consumers/examples.sh
. "$src/examples.sh"

# ---- uninstall ----------------------------------------------------------------------------------

check "make uninstall" "$MAKE" --no-print-directory uninstall BUILD="$BUILD" PREFIX="$prefix" LIBDIR="$prefix/lib" DESTDIR=
check "nothing is left" bash -c "! find '$prefix' -type f -o -type l | grep ."
finish
