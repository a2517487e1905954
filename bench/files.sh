#!/bin/sh
# Transposes of a file on this machine's disk, beside the floor: the same bytes read and written in runs
# of the same length, through the page cache and past it, in the same run of this script.
#
#     TILESWAP=build/tileswap bench/files.sh DIRECTORY [GIB [ROUNDS]]
#
# A file of GIB GiB (2) of doubles is made in DIRECTORY; every measurement begins with a cold cache and
# counts the final fsync.  As root with control groups of version 1 or 2, all of it runs in a group
# limited to an eighth of the file.  The last rows are without a limit, with all of the file in the page
# cache, if it is no larger than a quarter of the memory.  Prints one JSON object a line: what, seconds, ratio to the faster of the floors measured just
# before, peak memory of the process, bytes at the system calls and at the disk.
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

# floor RUN [direct]: prints the seconds.
floor() {
	limited ./tsw-bench-floor tsw-bench.bin $bytes "$@"
}

tell_floor() {
	echo "{\"what\": \"$1\", \"n\": $n, \"run_bytes\": $2, \"seconds\": $3}"
}

# Through the page cache and past it; the faster one counts.
cold_floor() {
	cold
	through=$(floor "$run" 32)
	tell_floor "floor" "$run" "$through"
	cold
	past=$(floor "$run" 64 direct)
	tell_floor "floor past the page cache" "$run" "$past"
	floor_s=$(printf '%s\n%s\n' "$through" "$past" | sort -n | head -n 1)
}

transpose() {
	limited python3 "$here/files/measure.py" "$1" "$floor_s" "$TILESWAP" transpose tsw-bench.bin \
		--n "$n" --elem-size 8 --json --durability "$2" ${3:+--memory "$3"}
}

for _ in $(seq "$rounds"); do
	cold_floor
	for durability in process power; do
		cold
		transpose "$durability" "$durability" "$memory"
	done
done

# All of it in the page cache already, and no limit, where it and as much again of dirty pages may stay
# there.  The tool takes the runs of a sixth of a row.
kib=$(awk '/^MemTotal:/ { print $2 }' /proc/meminfo)
[ $((bytes / 256)) -le "$kib" ] || {
	echo "the file is larger than a quarter of the memory: not measured in the page cache" >&2
	exit 0
}
cached_run=$(awk "BEGIN { r = int(($n + 5) / 6) * 8; if (r > 65536) r = 65536; print int(r / 4096) * 4096 }")
[ -z "$group" ] || rmdir "$group"
group=
for _ in $(seq "$rounds"); do
	sync
	cat tsw-bench.bin > /dev/null
	sync
	floor_s=$(floor "$cached_run" 32)
	tell_floor "floor in the page cache" "$cached_run" "$floor_s"
	sync
	transpose "process, in the page cache" process ""
done
