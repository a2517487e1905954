#!/bin/sh
# The tool where the system says no: full and read-only disks, a file that is cut off, a second run, a
# signal, failing calls.  Run by run.sh in a scratch directory.
set -u
cd "$1" || exit 1

# check NAME STATUS WORDS COMMAND...
check() {
	name=$1 status=$2 words=$3
	shift 3
	"$@" > out 2> err
	got=$?
	if [ "$got" -ne "$status" ]; then
		echo "FAIL $name: exit status $got, not $status: $(cat err)"
	elif ! grep -q -- "$words" out err; then
		echo "FAIL $name: it does not say '$words': $(cat err)"
	else
		echo "pass $name"
	fi
}

is() {
	if [ "$2" = "$3" ]; then
		echo "pass $1"
	else
		echo "FAIL $1: '$2', not '$3'"
	fi
}

raw="--n 700 --elem-size 8 --memory 512K"
fresh() { # another file: a copy over the old one would keep its attribute
	rm -f m.bin m.bin.tswj
	cp before.bin m.bin
}

make_input() {
	head -c 3920000 /dev/urandom > before.bin
	fresh
}

# shellcheck disable=SC2086  # $raw is split into words on purpose
t() {
	"$TILESWAP" transpose "$@" $raw
}

make_input
t m.bin -o expected.bin > out 2>&1 || cat out
expected=$(cksum < expected.bin)

# A disk too full for the journal changes nothing.
mkdir -p ../small
if mount -t tmpfs -o size=3900k none ../small 2> /dev/null; then
	cp m.bin ../small/m.bin
	check "a full disk" 1 "No space left" t ../small/m.bin
	is "a full disk changes nothing" "$(cksum < ../small/m.bin)" "$(cksum < before.bin)"
	is "a full disk keeps no journal" "$(ls ../small)" m.bin
	mount -o remount,ro ../small
	check "a read-only disk" 1 "Read-only file system" t ../small/m.bin
	umount ../small
else
	echo "skip a full disk: cannot mount a tmpfs"
fi

# Root may write everything: somebody else tries.
nobody=
[ "$(id -u)" -ne 0 ] || nobody="setpriv --reuid=65534 --clear-groups"
if [ -z "$nobody" ] || $nobody test -r m.bin 2> /dev/null; then
	cp "$TILESWAP" tool # the path to the other one may be closed to others
	chmod a=r m.bin
	# shellcheck disable=SC2086  # words
	check "a file that may not be written" 1 "Permission denied" $nobody ./tool transpose m.bin \
		--n 700 --elem-size 8
	chmod a+w m.bin
	chmod a-w .
	# shellcheck disable=SC2086  # words
	check "a directory that may not be written" 1 "Permission denied" $nobody ./tool transpose \
		m.bin --n 700 --elem-size 8
	chmod u+w .
	chmod a=r,u+w m.bin
	is "and nothing is changed" "$(cksum < m.bin)" "$(cksum < before.bin)"
else
	echo "skip a file that may not be written: root may, and nobody may not come here"
fi

# shellcheck disable=SC2016  # the inner shell expands it
check "a file limit" 1 "File too large" sh -c 'ulimit -f 100; exec "$TILESWAP" transpose m.bin '"$raw"
is "a file limit changes nothing" "$(cksum < m.bin)" "$(cksum < before.bin)"

# A second run is kept out by the lock.
if command -v flock > /dev/null; then
	check "a second run" 1 "held by another run" flock m.bin "$TILESWAP" transpose m.bin \
		--n 700 --elem-size 8
else
	echo "skip a second run: no flock"
fi

# Symbolic links lead to one journal; SIGTERM stops, says how to go on, and the same command does.
ln -sf m.bin link.bin
stopped=
for _ in 1 2 3 4 5 6 7 8 9 10; do
	env --default-signal=TERM "$TILESWAP" transpose link.bin --n 700 --elem-size 8 --memory 200K 2> err > out &
	pid=$!
	while kill -0 $pid 2> /dev/null && ! [ -e m.bin.tswj ]; do
		:
	done
	kill -TERM $pid 2> /dev/null
	wait $pid
	got=$?
	if [ $got -eq 143 ] && [ -e m.bin.tswj ]; then
		stopped=yes
		break
	fi
	# It ended by itself: from the start again.
	fresh
done
if [ -n "$stopped" ]; then
	is "SIGTERM says how to resume" "$(grep -c 'resume it with: tileswap transpose link.bin --n 700' err)" 1
	check "other options than the stopped run's" 1 "begun with" "$TILESWAP" transpose m.bin \
		--n 699 --elem-size 8 --ld 700 --memory 200K
	check "another durability than the stopped run's" 1 'resume it with "power"' "$TILESWAP" transpose \
		m.bin --n 700 --elem-size 8 --durability process
	cp m.bin copy.bin
	cp m.bin.tswj copy.bin.tswj
	check "a copy of a stopped run's file and journal" 1 "attribute" "$TILESWAP" transpose copy.bin \
		--n 700 --elem-size 8
	check "a checksum of a half transposed matrix" 1 "half transposed" "$TILESWAP" checksum link.bin \
		--n 700 --elem-size 8
	check "a half transposed matrix to a new file" 1 "half transposed" "$TILESWAP" transpose m.bin \
		-o n.bin --n 700 --elem-size 8
	is "writes none" "$(ls n.bin .n.bin.* 2> /dev/null)" ""
	check "a checksum where only the journal tells" 1 "half transposed" "$TILESWAP" checksum copy.bin \
		--n 700 --elem-size 8
	mv m.bin.tswj hidden
	check "a checksum where only the attribute tells" 1 "half transposed" "$TILESWAP" checksum m.bin \
		--n 700 --elem-size 8
	check "a stopped run whose journal is gone" 1 "journal of that run is gone" "$TILESWAP" transpose \
		m.bin --n 700 --elem-size 8
	mv hidden m.bin.tswj
	check "a stopped run goes on by another name" 0 "resumed_from_pair" "$TILESWAP" transpose m.bin \
		--n 700 --elem-size 8
	is "and ends well" "$(cksum < m.bin)" "$expected"
	is "and leaves nothing" "$(ls m.bin* link.bin*)" "$(printf 'link.bin\nm.bin')"
else
	echo "FAIL SIGTERM: the run was always done too soon"
fi

# A byte that changes behind the run's back is found by --verify, as often as it is asked; put right, the
# run comes to its end.  The first pair is long done when the fourth record of slot 0 is written.
sequence() {
	od -A n -t u8 -j 8216 -N 8 m.bin.tswj 2> /dev/null | tr -cd 0-9 | grep . || echo 0
}
verify() {
	"$TILESWAP" transpose m.bin --n 700 --elem-size 8 --verify
}
change() {
	printf '%b' "\\0$(printf %o $(($(od -A n -t u1 -N 1 m.bin) ^ 1)))" | dd of=m.bin conv=notrunc 2> /dev/null
}
stopped=
for _ in 1 2 3 4 5 6 7 8 9 10; do
	fresh
	env --default-signal=TERM "$TILESWAP" transpose m.bin --n 700 --elem-size 8 --memory 200K --verify 2> err > out &
	pid=$!
	while kill -0 $pid 2> /dev/null && [ "$(sequence)" -lt 6 ]; do
		:
	done
	kill -TERM $pid 2> /dev/null
	wait $pid
	if [ $? -eq 143 ] && [ -e m.bin.tswj ]; then
		stopped=yes
		break
	fi
done
if [ -n "$stopped" ]; then
	change
	check "a byte that has changed" 1 "transposed, and not what it should be" verify
	is "and what to do" "$(sed -n 's/=[0-9a-f]*/=N/g; 2,$p' err)" \
		"tileswap: transpose: something changed m.bin between the two reads, or one of them went wrong; if they differ again, restore it from a backup, as a new file, and remove its journal
compare once more with: tileswap transpose m.bin --n 700 --elem-size 8 --verify"
	check "a checksum after a failed comparison" 1 "not what it should be when it was read back" \
		"$TILESWAP" checksum m.bin --n 700 --elem-size 8
	check "a byte that has changed, compared once more" 1 "transposed, and not what it should be" verify
	change
	check "a byte that is right again" 0 "verified" verify
	is "and the matrix is" "$(cksum < m.bin)" "$expected"
	is "and nothing is left beside it" "$(ls m.bin*)" m.bin
else
	echo "FAIL --verify: the run was always done too soon"
fi

# What --once leaves is a whole matrix, for readers too; a journal that is none may hide a half one.
fresh
t m.bin --once > out 2>&1 || cat out
check "a checksum beside the mark of --once" 0 "placed=" "$TILESWAP" checksum m.bin --n 700 --elem-size 8
rm -f copy.bin copy.bin.tswj
cp m.bin copy.bin
cp m.bin.tswj copy.bin.tswj
check "and where there is no attribute" 0 "placed=" "$TILESWAP" checksum copy.bin --n 700 --elem-size 8
echo none > copy.bin.tswj
check "a checksum beside a damaged journal" 1 "not a whole journal" "$TILESWAP" checksum copy.bin \
	--n 700 --elem-size 8

# Calls that fail at random, by libfiu: whatever the status, running it again ends well.
if command -v fiu-run > /dev/null; then
	wrong=
	for i in 1 2 3 4 5 6; do
		fresh
		for name in posix/io/rw/pread posix/io/rw/pwrite posix/io/sync/fdatasync posix/io/sync/fsync; do
			fiu-run -x -c "enable_random name=$name,probability=0.03" "$TILESWAP" transpose m.bin \
				--n 700 --elem-size 8 --memory 200K > out 2>&1 && [ ! -e m.bin.tswj ] &&
				fresh
			grep -q 'Segmentation\|Aborted' out && wrong="$name: $(cat out)"
		done
		if [ -e m.bin.tswj ]; then
			"$TILESWAP" transpose m.bin --n 700 --elem-size 8 > out 2>&1 || wrong="$i: $(cat out)"
			[ "$(cksum < m.bin)" = "$expected" ] || wrong="$i: the matrix is wrong"
		fi
	done
	is "random failures by libfiu" "$wrong" ""
else
	echo "skip random failures by libfiu: no fiu-run"
fi
