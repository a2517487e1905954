"""measure.py WHAT COMMAND...: runs a command, prints one JSON object about it."""
import json
import resource
import subprocess
import sys
import time

what, command = sys.argv[1], sys.argv[2:]
begun = time.monotonic()
run = subprocess.run(command, check=True, capture_output=True, text=True)
seconds = time.monotonic() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
told = json.loads(run.stdout)
volume = told["n"] ** 2 * told["elem_size"]
print(json.dumps({
    "what": what, "seconds": round(seconds, 3),
    "user_s": round(used.ru_utime, 2), "system_s": round(used.ru_stime, 2),
    "peak_rss_mib": round(used.ru_maxrss / 1024, 1),
    "read_per_v": round(told["bytes_read"] / volume, 3),
    "written_per_v": round(told["bytes_written"] / volume, 3),
    "journalled_per_v": round(told["bytes_journalled"] / volume, 3),
    "disk_read_per_v": round(used.ru_inblock * 512 / volume, 3)}))
