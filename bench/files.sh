#!/bin/sh
# Transposes of a file on this machine's disk, beside the floor: the same bytes read and written in runs
# of the same length, through the page cache and past it, in the same run of this script.
#
#     TILESWAP=build/tileswap bench/files.sh DIRECTORY [GIB [ROUNDS [FIRST]]]
#
# A file of GIB GiB (2) of doubles is made in DIRECTORY; every measurement begins with a cold cache and
# counts the final fsync.  As root with control groups of version 1 or 2, all of it runs in a group
# limited to an eighth of the file.  The last rows are without a limit, with all of the file in the page
# cache, if it is no larger than a quarter of the memory.  What a disk was asked to do just before tells
# on what is measured next: each of ROUNDS (3) takes another order, six have each once; the number of the
# first one is FIRST (1).  Prints one
# JSON object a line: round, what, seconds, ratio to the faster of the round's floors, peak memory of the
# process, bytes at the system calls and at the disk.
set -eu

TILESWAP=$(realpath -e -- "${TILESWAP:-build/tileswap}")
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:?a directory on the disk to measure}"
gib=${2:-2}
first=${4:-1}
last=$((first + ${3:-3} - 1))

n=$(awk "BEGIN { print int(sqrt($gib * 2^30 / 8)) }")
bytes=$((n * n * 8))
group=
trap 'rm -f tsw-bench.bin tsw-bench-floor tsw-bench.rows; [ -z "$group" ] || rmdir "$group" 2> /dev/null || :' EXIT
cc -O2 -D_GNU_SOURCE -o tsw-bench-floor "$here/files/floor.c" -lpthread
head -c "$bytes" /dev/urandom > tsw-bench.bin
sync

limit=$((bytes / 8))
for g in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	mkdir "$g/tsw-bench" 2> /dev/null || continue
	if echo $limit > "$g/tsw-bench/memory.limit_in_bytes" 2> /dev/null ||
		echo $limit > "$g/tsw-bench/memory.max" 2> /dev/null; then
		group=$g/tsw-bench
		break
	fi
	rmdir "$g/tsw-bench"
done
[ -n "$group" ] || echo "no control group: the page cache is not limited" >&2

cold() {
	sync
	echo 3 > /proc/sys/vm/drop_caches 2> /dev/null || echo "the cache is not cold" >&2
}

limited() {
	if [ -n "$group" ]; then
		# shellcheck disable=SC2016  # the inner shell expands it
		group=$group sh -c 'echo $$ > "$group/cgroup.procs"; exec "$@"' limited "$@"
	else
		"$@"
	fi
}

# Tiles of half the limit, three pairs of them in memory; a run is one row of a tile, in whole pages.
memory=$((limit / 2))
run=$(awk "BEGIN { r = int(sqrt($memory / 48)) * 8; print r < 4096 ? 4096 : int(r / 4096) * 4096 }")

# floor WHAT RUN THREADS [direct]
floor() {
	what=$1
	shift
	seconds=$(limited ./tsw-bench-floor tsw-bench.bin $bytes "$@")
	echo "{\"what\": \"$what\", \"n\": $n, \"run_bytes\": $1, \"seconds\": $seconds}"
}

# transpose WHAT DURABILITY [MEMORY]
transpose() {
	limited python3 "$here/files/measure.py" "$1" "$TILESWAP" transpose tsw-bench.bin \
		--n "$n" --elem-size 8 --json --durability "$2" ${3:+--memory "$3"}
}

# Floors through the page cache and past it; the faster one counts.
measure() {
	case $1 in
	floors)
		cold
		floor "floor" "$run" 32
		cold
		floor "floor past the page cache" "$run" 64 direct
		;;
	cached-floor)
		sync
		floor "floor in the page cache, $cached" "$cached_run" $(($(nproc) + 2))
		;;
	cached)
		sync
		transpose "process, in the page cache, $cached" process
		;;
	*)
		cold
		transpose "$1" "$1" "$memory"
		;;
	esac
}

# round NUMBER WHAT...: in this order.
round() {
	number=$1
	shift
	for one; do
		measure "$one"
	done > tsw-bench.rows
	python3 "$here/files/ratios.py" "$number" < tsw-bench.rows
}

for i in $(seq "$first" "$last"); do
	case $((i % 6)) in
	1) round "$i" floors process power ;;
	2) round "$i" power process floors ;;
	3) round "$i" process floors power ;;
	4) round "$i" floors power process ;;
	5) round "$i" power floors process ;;
	0) round "$i" process power floors ;;
	esac
done

# All of it in the page cache already, and no limit, where it and as much again of dirty pages may stay
# there.  The floor takes the tool's threads and runs: of what fits six times into 200 MiB.
kib=$(awk '/^MemTotal:/ { print $2 }' /proc/meminfo)
[ $((bytes / 256)) -le "$kib" ] || {
	echo "the file is larger than a quarter of the memory: not measured in the page cache" >&2
	exit 0
}
cached_run=$(awk "BEGIN {
	r = int(($n + 5) / 6) * 8; m = int(sqrt(200 * 2^20 / 48)) * 8; if (r > m) r = m
	print int(r / 4096) * 4096 }")
[ -z "$group" ] || rmdir "$group"
group=

# cached_round NUMBER HOW: HOW the file has come into the cache, see below.
cached_round() {
	cached=$2
	case $(($1 % 2)) in
	1) round "$1" cached-floor cached ;;
	0) round "$1" cached cached-floor ;;
	esac
}

# Newer kernels keep what was read in one go in large folios, and a write of a part of one looks at all
# of its blocks; what was read in short runs they keep page by page.
for i in $(seq "$first" "$last"); do
	cold
	cat tsw-bench.bin > /dev/null
	cached_round "$i" "read in one go"
	cold
	transpose "to have it read" process > /dev/null
	cached_round "$i" "read in runs"
done
