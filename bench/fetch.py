#!/usr/bin/python3
"""fetch in js compared to fetch of Node.js: the same code, the same server on loopback, by turns in one call. Machines are
noisy, so trust the ratios.

  fetch.py [--quick] [--json]   in a namespace of its own; GB_GLOVEBOX: the program, default build/glovebox
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import netns

GLOVEBOX = os.environ.get("GB_GLOVEBOX", os.path.join(ROOT, "build/glovebox"))
QUICK = "--quick" in sys.argv
HOST, ADDRESS, PORT = "good.example", "11.0.0.1", 80
REQUESTS, MEGABYTES, ROUNDS = (300, 32, 1) if QUICK else (2000, 256, 5)
PARALLEL = 32

SERVER = """
const http = require('http'), piece = Buffer.alloc(1 << 16, 120);
http.createServer((request, response) => {
  const n = Number(request.url.slice(1));
  if (request.method === 'POST') {
    request.resume().on('end', () => response.end('ok'));
  } else if (n <= 65536) {
    response.end(piece.subarray(0, n));
  } else {
    response.setHeader('content-length', n);
    let left = n;
    const send = () => {
      while (left > 0) {
        left -= piece.length;
        if (!response.write(piece)) return response.once('drain', send);
      }
      response.end();
    };
    send();
  }
}).listen(PORT, 'ADDRESS', () => console.log('listening'));
"""
# Both have a clock in events, which is finer than that of Date.
CODE = """
const now = () => new Event('x').timeStamp;
const get = async (n) => (await fetch(`${BASE}/${n}`)).text();
for (let i = 0; i < 100; i++) await get(2);
const times = [];
for (let i = 0; i < REQUESTS; i++) {
  const begin = now();
  await get(2);
  times.push(now() - begin);
}
times.sort((a, b) => a - b);
let begin = now(), left = REQUESTS;
await Promise.all(Array.from({length: PARALLEL}, async () => { while (left-- > 0) await get(2); }));
const rate = REQUESTS / (now() - begin) * 1000;
begin = now();
let n = 0;
for await (const piece of (await fetch(`${BASE}/${MEGABYTES << 20}`)).body) n += piece.length;
if (n !== MEGABYTES << 20) throw new Error(`${n} bytes`);
const down = n / (now() - begin) / 1e6;
const body = new Uint8Array(MEGABYTES << 18);
begin = now();
await (await fetch(`${BASE}/0`, {method: 'POST', body})).text();
const up = body.length / (now() - begin) / 1e6;
const result = [times[REQUESTS >> 1] * 1000, times[REQUESTS * 99 / 100 | 0] * 1000, rate, down, up];
"""
NAMES = ["latency p50, us", "latency p99, us", f"requests/s, {PARALLEL} at a time", "download, GB/s", "upload, GB/s"]


def source(base):
    return f"const BASE = 'http://{base}', REQUESTS = {REQUESTS}, PARALLEL = {PARALLEL}, MEGABYTES = {MEGABYTES};\n{CODE}"


def in_node():
    done = subprocess.run(["node", "--input-type=module", "-e", source(ADDRESS) + "console.log(JSON.stringify(result));"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"node: {done.stderr}")
    return json.loads(done.stdout)


def in_js(client, number):
    result = client.run(number, source(HOST) + "export default result;", options={"language": "js", "net": [HOST], "memoryLimitBytes": 1 << 30},
                        limits={"timeoutMs": 300000, "maxConnections": 1000000, "sentBytes": 4 << 30, "receivedBytes": 16 << 30})
    if result.get("status") != "success":
        sys.exit(f"js: {json.dumps(result)}")
    return result["result"]


def main():
    if not shutil.which("node"):
        print("bench-fetch: Node.js is not installed")
        return
    netns.enter()
    folder = tempfile.mkdtemp()
    world = netns.World(folder)
    world.names[HOST] = [world.address(ADDRESS)]
    server = subprocess.Popen(["node", "-e", SERVER.replace("PORT", str(PORT)).replace("ADDRESS", ADDRESS)], stdout=subprocess.PIPE)
    client = netns.Client(GLOVEBOX, [HOST], "network.maxConnections=1000000", "network.maxSent=4G", "network.maxReceived=16G")
    rounds = {"node": [], "js": []}
    try:
        server.stdout.readline()
        for i in range(ROUNDS):
            rounds["js"].append(in_js(client, i + 1))
            rounds["node"].append(in_node())
        client.close()
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
    median = {which: [sorted(values)[len(values) // 2] for values in zip(*all_)] for which, all_ in rounds.items()}
    if "--json" in sys.argv:
        print(json.dumps({name: {"js": js, "node": node, "ratio": js / node} for name, js, node in zip(NAMES, median["js"], median["node"])}))
        return
    print(f"{'fetch, same server':<28} {'js':>10} {'Node.js':>10} {'js / Node.js':>13}")
    for name, js, node in zip(NAMES, median["js"], median["node"]):
        print(f"{name:<28} {js:10.2f} {node:10.2f} {js / node:13.2f}")


main()
