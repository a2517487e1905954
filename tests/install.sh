#!/usr/bin/env bash
# The hygiene of an installation, as a packager sees it: make install DESTDIR=... PREFIX=/usr, then
#
#   - every header compiles by itself, as C11 and as C++17, with -pedantic;
#   - programs in C11 and C++17 build by pkg-config from the staging directory, against the shared and
#     the static library, and transpose a matrix;
#   - the shared library exports names that begin with tsw_ and no others, and it and the tool need
#     libc, the loader and the OpenMP run time only: they start where there is no CUDA;
#   - make uninstall leaves no file.
#
#     BUILD=build CC=gcc MAKE=make tests/install.sh [VARIABLE=value ... for make]
#
# Bindings, CMake and examples are looked at by tests/consumers/run.sh.
#
# Most functions are called by name, through check().
# shellcheck disable=SC2317
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

BUILD=${BUILD:-build} CC=${CC:-cc} MAKE=${MAKE:-make}
case ${CC##*/} in
clang*) CXX=${CXX:-clang++} ;;
*) CXX=${CXX:-g++} ;;
esac
read -ra make <<<"$MAKE"
make+=(--no-print-directory "BUILD=$BUILD" "CC=$CC" "$@")
# shellcheck source=tests/checks.sh
. tests/checks.sh
stage=$work/stage

staged() {
	"${make[@]}" "$1" DESTDIR="$stage" PREFIX=/usr LIBDIR=/usr/lib
}

check "make install" staged install
[ "$failed" -eq 0 ] || finish
include=$stage/usr/include lib=$stage/usr/lib tool=$stage/usr/bin/tileswap
shared=$lib/libtileswap.so

check "nothing is installed outside of PREFIX" test "$(ls -A "$stage")" = usr
check "no installed file knows the staging directory" bash -c "! grep -rIl '$stage' '$stage'"

# ---- headers --------------------------------------------------------------------------------------

# A header in a unit of its own, twice, so that its include guard is tried too.
alone() {
	local header=$1 language=$2
	shift 2
	printf '#include "%s"\n#include "%s"\nint not_empty;\n' "$header" "$header" |
		"$@" -Wall -Wextra -Werror -pedantic -I"$include" -x "$language" -fsyntax-only -
}

# The headers that stand by themselves: others need MPI or NCCL.
header_language() {
	case $1 in
	tileswap_nccl.h | tileswap_mpi.h) echo none ;;
	*.hpp) echo c++ ;;
	*.h) echo both ;;
	*) echo none ;;
	esac
}

for path in "$include"/*; do
	header=${path##*/} language=$(header_language "${path##*/}")
	[ "$language" != both ] || check "$header as C11" alone "$header" c "$CC" -std=c11
	[ "$language" = none ] || check "$header as C++17" alone "$header" c++ "$CXX" -std=c++17
done

# ---- programs -------------------------------------------------------------------------------------

# Valid in both languages: transposes, compares every element, and makes one call fail.
cat >"$work/consumer.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <tileswap.h>

enum { N = 75 };

static unsigned short a[N][N];

int main(void)
{
	int r, c;

	for (r = 0; r < N; r++)
		for (c = 0; c < N; c++)
			a[r][c] = (unsigned short)(r * N + c);
	if (tsw_transpose_host(a, N, N, sizeof a[0][0], 0) != TSW_OK) {
		fprintf(stderr, "%s\n", tsw_last_error());
		return 1;
	}
	for (r = 0; r < N; r++)
		for (c = 0; c < N; c++)
			if (a[r][c] != c * N + r)
				return 2;
	if (tsw_transpose(a, N, N - 1, 2) != TSW_ERR_LD || !strstr(tsw_last_error(), "ld = 74"))
		return 3;
	return puts(tsw_version()) < 0;
}
END
cp "$work/consumer.c" "$work/consumer.cpp"

# pkg-config as a packager's build sees it: paths lead into the staging directory.
flags() {
	PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
		PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config "$@" "${NAME:-tileswap}"
}

# Builds $2 with the rest as compiler, links by `pkg-config $1`, runs it: it prints the version.
consumer() {
	local how=$1 source=$2 out=$work/consumer cflags libs
	shift 2
	read -ra cflags <<<"$(flags --cflags)"
	# shellcheck disable=SC2086
	read -ra libs <<<"$(flags --libs $how)"
	if [ "$how" = --static ]; then
		# Our own library statically, the system's as ever.
		libs=("${libs[@]/#-ltileswap/-l:libtileswap.a}")
	fi
	"$@" -Wall -Wextra -Werror -pedantic "${cflags[@]}" -o "$out" "$source" "${libs[@]}" || return
	if [ "$how" = --static ] && readelf -d "$out" | grep -q 'NEEDED.*libtileswap'; then
		echo "the static consumer needs libtileswap.so"
		return 1
	fi
	test "$(LD_LIBRARY_PATH=$lib "$out")" = "$(flags --modversion)"
}

sanitized() {
	grep -q __asan_init <(nm -D "$shared")
}

if sanitized; then
	skip programs "the library is built with a sanitizer, a consumer is not"
elif ! command -v pkg-config >/dev/null; then
	skip programs "no pkg-config"
else
	for how in --shared --static; do
		check "C11 program, $how" consumer $how "$work/consumer.c" "$CC" -std=c11
		check "C++17 program, $how" consumer $how "$work/consumer.cpp" "$CXX" -std=c++17
	done
	check "pkg-config and the tool agree on the version" \
		test "$("$tool" --version)" = "tileswap $(flags --modversion)"
fi

# ---- the MPI library -------------------------------------------------------------------------------

# Transposes by libtileswap_mpi, and reads a failure of it through libtileswap: the detail of a call,
# whichever library it is in, is in one place.
cat >"$work/mpi.c" <<'END'
#include <string.h>
#include <tileswap_mpi.h>

int main(int argc, char **argv)
{
	double a[2][2] = {{1, 2}, {3, 4}};
	tsw_dist d = TSW_DIST_INIT;
	int bad = 0;

	MPI_Init(&argc, &argv);
	d.n = 2;
	if (tsw_mpi_transpose(a, 1, sizeof(double), &d, 0, 1, MPI_COMM_SELF) != TSW_ERR_LD ||
	    !strstr(tsw_last_error(), "ld = 1"))
		bad |= 2;
	if (tsw_mpi_transpose(a, 2, sizeof(double), &d, 0, 1, MPI_COMM_SELF) != TSW_OK ||
	    a[0][1] != 3 || a[1][0] != 2)
		bad |= 4;
	if (tsw_last_error()[0])
		bad |= 8;
	if (tsw_transpose_host(a, 2, 1, 8, 1) != TSW_ERR_LD ||
	    tsw_mpi_transpose(a, 2, sizeof(double), &d, 0, 1, MPI_COMM_NULL) != TSW_ERR_NULL ||
	    !strstr(tsw_last_error(), "MPI_COMM_NULL"))
		bad |= 16;
	MPI_Finalize();
	return bad;
}
END

mpi_program() {
	local how=$1 cflags libs
	read -ra cflags <<<"$(NAME=tileswap_mpi flags --cflags)"
	# shellcheck disable=SC2086
	read -ra libs <<<"$(NAME=tileswap_mpi flags --libs $how)"
	if [ "$how" = --static ]; then
		libs=("${libs[@]/#-ltileswap_mpi/-l:libtileswap_mpi.a}")
		libs=("${libs[@]/%-ltileswap/-l:libtileswap.a}")
	fi
	OMPI_CC=$CC MPICH_CC=$CC "${MPICC:-mpicc}" -Wall -Wextra -Werror "${cflags[@]}" -o "$work/mpi" "$work/mpi.c" "${libs[@]}" &&
		LD_LIBRARY_PATH=$lib OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "$work/mpi"
}

if ! [ -e "$lib/libtileswap_mpi.so" ]; then
	skip "the MPI library" "built without MPI"
	check "its header is not there either" test ! -e "$include/tileswap_mpi.h"
elif sanitized || ! command -v pkg-config >/dev/null; then
	skip "MPI programs" "built with a sanitizer, or no pkg-config"
else
	check "MPI program, --shared" mpi_program --shared
	check "MPI program, --static" mpi_program --static
	check "exported names of libtileswap_mpi" test "$(nm -D --defined-only "$lib/libtileswap_mpi.so" |
		awk '{ print $3 }' | LC_ALL=C sort | tr '\n' ' ')" = "tsw_mpi_transpose tsw_mpi_transpose_relabel "
	check "tileswap-dist is there" "$stage/usr/bin/tileswap-dist" --help
	check "the manual of tileswap-dist" test -s "$stage/usr/share/man/man1/tileswap-dist.1"
fi

# ---- symbols and needs ----------------------------------------------------------------------------

only_our_names() {
	nm -D --defined-only "$shared" >"$work/names" && grep -q ' T tsw_transpose$' "$work/names" &&
		! awk '$3 !~ /^tsw_/ { print $3 }' "$work/names" | grep .
}

# $1 needs no library but those that every machine has, and $2.  Before 2.34 glibc kept a few apart.
needs_only() {
	! readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
		grep -vE "^(libc|ld-linux-[a-z0-9-]+|libgomp|libomp$2)\.so(\.[0-9]+)*\$"
}
older=$(getconf GNU_LIBC_VERSION | awk '{ split($2, v, "."); if (v[1] == 2 && v[2] < 34) print "|libdl|librt|libpthread" }')

check "exported names" only_our_names
check "soname" bash -c "readelf -d '$shared' | grep -qE 'SONAME.*\[libtileswap\.so\.[0-9]+\]'"
if ! sanitized; then
	check "the library needs libc, the loader and OpenMP" needs_only "$shared" "$older"
	check "the tool needs no more than that and libm" needs_only "$tool" "$older|libm"
fi
check "the library needs no executable stack" bash -c \
	"! readelf -lW '$shared' | grep -E 'GNU_STACK.*RWE'"
check "the tool starts" "$tool" info

licences() {
	local text=$stage/usr/share/doc/tileswap/LICENSE
	grep -q 'BSD 3-Clause' "$text" && grep -q 'Yann Collet' "$text" &&
		grep -q 'Redistributions in binary form' "$text"
}
check "the licences" licences

# ---- uninstall ------------------------------------------------------------------------------------

check "make uninstall" staged uninstall
check "nothing is left" bash -c "! find '$stage' ! -type d | grep ."
finish
