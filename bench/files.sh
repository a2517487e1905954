#!/bin/sh
# Transposes of a file on this machine's disk, beside the floor: the same bytes read and written in runs
# of the same length, in the same run of this script.
#
#     TILESWAP=build/tileswap bench/files.sh DIRECTORY [GIB [ROUNDS]]
#
# A file of GIB GiB (2) of doubles is made in DIRECTORY; every measurement begins with a cold cache and
# counts the final fsync.  As root with control groups of version 1 or 2, all of it runs in a group
# limited to an eighth of the file.  Prints one JSON object a line: what, seconds, ratio to the floor
# measured just before, peak memory of the process, bytes at the system calls and at the disk.
set -eu

TILESWAP=$(realpath -e -- "${TILESWAP:-build/tileswap}")
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:?a directory on the disk to measure}"
gib=${2:-2}
rounds=${3:-3}

n=$(awk "BEGIN { print int(sqrt($gib * 2^30 / 8)) }")
bytes=$((n * n * 8))
group=
trap 'rm -f tsw-bench.bin tsw-bench-floor; [ -z "$group" ] || rmdir "$group" 2> /dev/null || :' EXIT
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
run=$(awk "BEGIN { r = int(sqrt($memory / 48)) * 8; print int(r / 4096) * 4096 }")

floor() {
	cold
	floor_s=$(limited ./tsw-bench-floor tsw-bench.bin $bytes "$run" 32)
	echo "{\"what\": \"floor\", \"n\": $n, \"run_bytes\": $run, \"seconds\": $floor_s}"
}

row() {
	what=$1
	shift
	floor
	cold
	limited python3 "$here/files/measure.py" "$what" "$floor_s" "$@"
}

while [ "$rounds" -gt 0 ]; do
	rounds=$((rounds - 1))
	for durability in process power; do
		row "$durability" "$TILESWAP" transpose tsw-bench.bin --n "$n" --elem-size 8 --memory $memory \
			--durability $durability --json
	done
done
