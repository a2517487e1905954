#!/bin/sh
# Signals: a file appears complete or not at all, the exit status tells the signal, stress ends with
# its summary.  Run by run.sh in a scratch directory.
set -u
cd "$1" || exit 1

# begin SIGNAL COMMAND...: starts the tool with SIGNAL not ignored, as a shell would for `&`.
begin() {
	signal=$1
	shift
	env --default-signal="$signal" "$TILESWAP" "$@" > out 2> err &
	pid=$!
}

temporary_there() {
	for f in .t.bin.tswtmp-*; do
		[ -s "$f" ] && return 0
	done
	return 1
}

running() {
	kill -0 "$pid" 2> /dev/null
}

# stopped SIGNAL STATUS N: the tool is stopped while it writes; 1 if it was done too soon.
stopped() {
	rm -f t.bin
	truncate -s $(($3 * $3)) a.bin
	begin "$1" transpose a.bin -o t.bin --n "$3" --elem-size 1
	while running && ! temporary_there; do
		:
	done
	kill -s "$1" "$pid" 2> /dev/null
	wait "$pid"
	got=$?
	[ "$got" -ne 0 ] || return 1
	if [ "$got" -ne "$2" ]; then
		echo "FAIL SIG$1 while writing: exit status $got, not $2"
	elif [ -e t.bin ] || ls .t.bin.tswtmp-* 2> /dev/null; then
		echo "FAIL SIG$1 while writing: something is left"
	elif ! grep -q 'no file was written' err; then
		echo "FAIL SIG$1 while writing: it does not say so"
	else
		echo "pass SIG$1 while writing leaves nothing"
	fi
}

writing() {
	for n in 8192 16384 24576; do
		stopped "$1" "$2" "$n" && return
	done
	echo "FAIL SIG$1 while writing: always done too soon"
}

stress() {
	begin "$1" stress --device cpu --n 200 --seconds 60
	while running && ! [ -s out ]; do
		:
	done
	kill -s "$1" "$pid"
	wait "$pid"
	got=$?
	if [ "$got" -eq "$2" ] && tail -n 1 out | grep -q '^summary: rounds=[1-9]'; then
		echo "pass SIG$1 ends stress with its summary"
	else
		echo "FAIL SIG$1 ends stress with its summary: exit status $got, not $2"
		tail -n 1 out
	fi
}

if ! env --default-signal=INT true 2> /dev/null; then
	echo "skip signals: env knows no --default-signal"
	exit
fi
writing TERM 143
writing INT 130
writing HUP 129
stress INT 130
stress TERM 143
