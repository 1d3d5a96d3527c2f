#!/usr/bin/python3
"""The network tier beside the isolated tier and direct loopback, in one call: machines are noisy, so trust the ratios.

  network.py [--quick]      in a namespace of its own; GB_GLOVEBOX: the program, default build/glovebox
"""
import json
import os
import shutil
import socket
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import netns

GLOVEBOX = os.environ.get("GB_GLOVEBOX", os.path.join(ROOT, "build/glovebox"))
QUICK = "--quick" in sys.argv
HOST, ADDRESS = "good.example", "11.0.0.1"
ALLOWLIST = [f"{HOST}:7001", f"{HOST}:7002"]
BYTES = (64 if QUICK else 512) << 20
CODE = {"shell": "true", "python": "1", "node": "1", "deno": "1"}
PROGRAMS = {"shell": "bash", "python": "python3", "node": "node", "deno": "deno"}

CONNECT = """
import socket, time
def times(host, port, n):
    all = []
    for i in range(n):
        begin = time.perf_counter()
        with socket.create_connection((host, port)) as stream:
            stream.recv(1)
        all.append((time.perf_counter() - begin) * 1e6)
    return sorted(all)
"""
THROUGH = CONNECT + f"""
all = times(socket.gethostbyname("{HOST}"), 7001, N)
begin = time.perf_counter()
n = 0
with socket.create_connection(("{HOST}", 7002)) as stream:
    while piece := stream.recv(1 << 20):
        n += len(piece)
[all[len(all) // 2], all[len(all) * 99 // 100], n / (time.perf_counter() - begin) / 1e9]
"""
# The same between two threads inside the sandbox.
DIRECT = CONNECT + f"""
import threading
def serve(listener, data, times):
    for i in range(times):
        connection, _ = listener.accept()
        for i in range(data[1]):
            connection.sendall(data[0])
        connection.close()
def listen(data, times):
    listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
    threading.Thread(target=serve, args=(listener, data, times), daemon=True).start()
    return listener.getsockname()[1]
all = times("127.0.0.1", listen((b"x", 1), N), N)
port = listen((b"x" * (1 << 20), {BYTES} >> 20), 1)
begin = time.perf_counter()
n = 0
with socket.create_connection(("127.0.0.1", port)) as stream:
    while piece := stream.recv(1 << 20):
        n += len(piece)
[all[len(all) // 2], all[len(all) * 99 // 100], n / (time.perf_counter() - begin) / 1e9]
"""


def send_all(stream):
    piece = b"x" * (1 << 20)
    for _ in range(BYTES >> 20):
        stream.sendall(piece)


def serve_bytes():
    """As the server inside the sandbox: one thread, one byte for each connection."""
    with socket.create_server((ADDRESS, 7001), backlog=1000) as listener:
        while True:
            connection, _ = listener.accept()
            connection.sendall(b"x")
            connection.close()


def open_client():
    return netns.Client(GLOVEBOX, ALLOWLIST, "network.maxReceived=8G", "network.maxConnections=100000")


numbers = iter(range(1, 1 << 30))


def run(client, language, code, net, **more):
    options = {"language": language, **({"net": ALLOWLIST} if net else {})}
    begin = time.perf_counter()
    result = client.run(next(numbers), code, options=options, **more)
    took = (time.perf_counter() - begin) * 1e3
    if result.get("status") != "success":
        sys.exit(f"{language}: {json.dumps(result)}")
    return took, result


def starts(language):
    """Milliseconds: the first run, and the median of later ones; of both tiers, later runs in turn."""
    first = {}
    for net in (False, True):
        client = open_client()
        run(client, "js", "1", False)
        first[net] = run(client, language, CODE[language], net)[0]
        client.close()
    client = open_client()
    later = {False: [], True: []}
    for _ in range(8 if QUICK else 40):
        for net in later:
            later[net].append(run(client, language, CODE[language], net)[0])
            # The sandbox that was used is replaced meanwhile.
            time.sleep(0.05 if language in ("shell", "python") else 0.8)
    client.close()
    return first, {net: sorted(times)[len(times) // 2] for net, times in later.items()}


def main():
    netns.enter()
    folder = tempfile.mkdtemp()
    world = netns.World(folder)
    world.names[HOST] = [world.address(ADDRESS)]
    netns.thread(serve_bytes)
    world.listen(ADDRESS, 7002, send_all)
    print("start, ms          isolated first  later   network first  later   later ratio")
    for language, program in PROGRAMS.items():
        if not shutil.which(program):
            continue
        first, later = starts(language)
        print(f"{language:<18} {first[False]:14.1f} {later[False]:6.2f} {first[True]:15.1f} {later[True]:6.2f} "
              f"{later[True] / later[False]:13.2f}")
    client = open_client()
    n = 200 if QUICK else 2000
    more = {"limits": {"timeoutMs": 300000}}
    through = run(client, "python", THROUGH.replace("N)", f"{n})"), True, **more)[1]["result"]
    direct = run(client, "python", DIRECT.replace("N)", f"{n})"), True, **more)[1]["result"]
    client.close()
    print("\nfrom Python        connect and 1 byte, us: p50   p99    GB/s")
    for name, values in (("direct loopback", direct), ("glovebox-egress", through)):
        print(f"{name:<18} {values[0]:28.0f} {values[1]:5.0f} {values[2]:7.2f}")
    print(f"{'ratio':<18} {through[0] / direct[0]:28.2f} {through[1] / direct[1]:5.2f} {through[2] / direct[2]:7.2f}")
    shutil.rmtree(folder, ignore_errors=True)


main()
