#!/bin/sh
# The main job in half a minute: a real .npy file is transposed and compared with NumPy's own
# transpose where NumPy is installed, then a round of stress runs on every device present.
set -eu

tool=${TILESWAP:?the path of the tileswap tool}
dir=$(mktemp -d "${TMPDIR:-/tmp}/tileswap-demo.XXXXXX")
trap 'rm -rf "$dir"' EXIT

python=
for candidate in python3 /usr/bin/python3; do
	if "$candidate" -c 'import numpy' 2>/dev/null; then
		python=$candidate
		break
	fi
done
if [ -z "$python" ]; then
	echo "demo: python3 with numpy is needed to make a .npy file (make deps installs it)" >&2
	exit 1
fi

echo "== a 4000 x 4000 matrix of doubles, written by numpy.save"
"$python" - "$dir/a.npy" <<'PY'
import sys, numpy
numpy.save(sys.argv[1], numpy.random.default_rng(1).standard_normal((4000, 4000)))
PY
ls -l "$dir/a.npy"

echo "== tileswap transpose a.npy -o t.npy --verify"
"$tool" transpose "$dir/a.npy" -o "$dir/t.npy" --verify

echo "== the same, seen by NumPy"
"$python" - "$dir/a.npy" "$dir/t.npy" <<'PY'
import sys, numpy
a, t = (numpy.load(f) for f in sys.argv[1:])
if not numpy.array_equal(t, a.T):
    sys.exit("demo: NumPy says t.npy is not the transpose of a.npy")
print("t.npy equals a.T, all", a.size, "elements")
PY

echo "== a round of stress: fill, transpose in place, compare every element"
"$tool" stress --device all --memory 512M --rounds 1
