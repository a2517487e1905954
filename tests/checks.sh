# shellcheck shell=bash
# For scripts whose tests are commands; sourced from the top of the tree.  Makes a directory $work, which
# goes at the end, and counts.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# check NAME COMMAND...: in silence; what it said is shown if it fails.
check() {
	local name=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $name: $*"
		sed 's/^/    /' "$work/log"
	fi
}

# skip NAME WHY
skip() {
	skipped=$((skipped + 1))
	echo "skipped $1: $2"
}

# Ends the script with its count.
finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
	exit
}
