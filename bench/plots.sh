#!/bin/bash
# Draws docs/img/*.svg from the newest full GPU results and the newest full host results, or from
# the files that are named.
set -eu
cd "$(dirname "$0")/.."

# Names end in -YYYY-MM-DD.jsonl.
newest() {
	local pattern=$1 file date last="" last_date=""
	for file in bench/results/*.jsonl; do
		date=${file%.jsonl}
		date=${date: -10}
		case $file in
		*-quick.jsonl | *-scaling.jsonl | *-imatcopy.jsonl | *-checksum.jsonl) continue ;;
		esac
		if grep -qs "$pattern" "$file" && [[ ! $date < $last_date ]]; then
			last=$file
			last_date=$date
		fi
	done
	echo "$last"
}

files=("$@")
if [ ${#files[@]} = 0 ]; then
	for pattern in '"backend":"cuda"' '"backend":"cpu"'; do
		file=$(newest "$pattern")
		[ -z "$file" ] || files+=("$file")
	done
fi
[ ${#files[@]} -gt 0 ] || { echo "plots.sh: no results in bench/results" >&2; exit 1; }
command -v gnuplot >/dev/null || { echo "plots.sh: gnuplot is not installed" >&2; exit 1; }

mkdir -p docs/img
echo "plots.sh: drawing ${files[*]}"
"${PYTHON:-python3}" bench/plots.py docs/img "${files[@]}" | gnuplot
ls docs/img/*.svg
