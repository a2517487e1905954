#!/bin/sh
# The same matrix in a file transposed by what else is installed, beside tileswap: NumPy over a memmap,
# a blocked loop over a memmap, datamash, gdalmdimtranslate.
#
#     TILESWAP=build/tileswap bench/files-peers.sh DIRECTORY [SIDE [ROUNDS]]
#
# A matrix of SIDE x SIDE doubles (8192) is made in DIRECTORY.  Every run begins with a cold cache and
# counts what it takes to have the result on the disk.  Where root and control groups allow it, each
# runs in a group limited to a quarter of the file; what cannot live in that is run once more without
# a limit, and says so.  Text tools get the matrix as text, SIDE / 8 on a side, and their time is scaled by
# the number of elements.  Prints one JSON object a line; a tool that is not installed is named as skipped.
set -eu

TILESWAP=$(realpath -e -- "${TILESWAP:-build/tileswap}")
PYTHON=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?a directory on the disk to measure}/tsw-peers"
cd "$1/tsw-peers"
side=${2:-8192}
rounds=${3:-3}
bytes=$((side * side * 8))
limit=$((bytes / 4))
[ $limit -ge $((96 << 20)) ] || limit=$((96 << 20)) # what an interpreter needs by itself
group=
trap 'cd ..; rm -rf tsw-peers; [ -z "$group" ] || rmdir "$group" 2> /dev/null || :' EXIT

for g in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	mkdir "$g/tsw-peers" 2> /dev/null || continue
	if echo $limit > "$g/tsw-peers/memory.limit_in_bytes" 2> /dev/null ||
		echo $limit > "$g/tsw-peers/memory.max" 2> /dev/null; then
		group=$g/tsw-peers
		break
	fi
	rmdir "$g/tsw-peers"
done
[ -n "$group" ] || echo "no control group: nothing is limited" >&2

# row WHAT SIDE LIMITED COMMAND...: one line of JSON.
row() {
	sync
	echo 3 > /proc/sys/vm/drop_caches 2> /dev/null || echo "the cache is not cold" >&2
	"$PYTHON" "$here/files/peer.py" "$@"
}

have() {
	command -v "$1" > /dev/null 2>&1 || {
		echo "{\"what\": \"$1\", \"skipped\": \"not installed\"}"
		return 1
	}
}

"$PYTHON" "$here/files/matrix.py" make "$side" m.npy m.bin
rows() {
	row "tileswap, in place, power" "$side" "$group" m.bin "$TILESWAP" transpose m.bin --n "$side" --elem-size 8 \
		--memory $((limit / 2)) --json
	row "tileswap, in place, process" "$side" "$group" m.bin "$TILESWAP" transpose m.bin --n "$side" --elem-size 8 \
		--memory $((limit / 2)) --durability process --json
	row "tileswap -o, a second file" "$side" "$group" out.npy "$TILESWAP" transpose m.npy -o out.npy \
		--memory $((limit / 2)) --json
	rm -f out.npy
	row "NumPy memmap, a[:] = a.T" "$side" "$group" m.bin "$PYTHON" "$here/files/matrix.py" whole "$side" m.bin
	row "NumPy memmap, tiles of 1024" "$side" "$group" m.bin "$PYTHON" "$here/files/matrix.py" tiles "$side" m.bin
	row "NumPy memmap, a second file" "$side" "$group" out.bin "$PYTHON" "$here/files/matrix.py" second "$side" m.bin out.bin
	rm -f out.bin
	if have gdalmdimtranslate; then
		"$PYTHON" "$here/files/matrix.py" zarr "$side" m.bin in.zarr
		row "gdalmdimtranslate, a second file" "$side" "$group" out.zarr gdalmdimtranslate -of ZARR in.zarr out.zarr \
			-array "name=m,transpose=[1,0]"
		rm -rf in.zarr out.zarr
	fi
	if have datamash; then
		"$PYTHON" "$here/files/matrix.py" text $((side / 8)) m.txt
		row "datamash transpose, text" $((side / 8)) "" out.txt sh -c 'datamash transpose < m.txt > out.txt'
		rm -f m.txt out.txt
	fi
}

while [ "$rounds" -gt 0 ]; do
	rounds=$((rounds - 1))
	rows
done
