"""ratios.py ROUND: rows of one round, a JSON object a line; adds the round to each, and to those that are no
floor the ratio of their seconds to the fastest floor's."""
import json
import sys

rows = [json.loads(line) for line in sys.stdin]
floor = min(row["seconds"] for row in rows if row["what"].startswith("floor"))
for row in rows:
    ratio = {} if row["what"].startswith("floor") else {"ratio": round(row["seconds"] / floor, 3)}
    print(json.dumps({"round": int(sys.argv[1]), **row, **ratio}))
