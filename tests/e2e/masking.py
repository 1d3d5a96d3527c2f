"""A client of 'glovebox stdio': sends lines, and prints all replies until each run has ended.

    masking.py GLOVEBOX [OPTION...] < messages

A call is answered with null, a report as well; what is printed is each line as it came.
"""
import json
import subprocess
import sys

asked = [json.loads(line) for line in sys.stdin if line.strip()]
open_runs = {m["run"] for m in asked if m["type"] == "run"}
open_requests = {m["request"] for m in asked if "request" in m}
process = subprocess.Popen([sys.argv[1], "stdio", *sys.argv[2:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def say(message):
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


for message in asked:
    say(message)
while open_runs or open_requests:
    line = process.stdout.readline()
    if not line:
        sys.exit("it has ended before the runs")
    sys.stdout.write(line)
    heard = json.loads(line)
    if heard["type"] in ("call", "report"):
        say({"type": "answer", "run": heard["run"], "call": heard["call"], "return": None})
    if heard["type"] == "prompt":
        say({"type": "session_send", "request": 99, "session": heard["session"], "text": "\n"})
    if heard["type"] in ("result", "error"):
        open_runs.discard(heard.get("run"))
    open_requests.discard(heard.get("request"))
process.stdin.close()
sys.exit(process.wait())
