#!/usr/bin/python3
"""glovebox-egress is killed, stopped and started again under load: every connection ends with an error on both sides, or is
complete. And many connections leave nothing behind. NETWORK_CONNECTIONS is their number: 2000; 'make soak' has 20000."""
import json
import os
import shutil
import signal
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import netns
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
HOST, ADDRESS, PORT, HALF, LITERAL_PORT = "good.example", "11.0.0.1", 7000, 100000, 7002
CAP_NET_BIND_SERVICE = 10
RUNS, EACH = 4, 125
# Each cell that is ready has a hundred sockets; four of them for each processor may be ready or not.
READY = 101 * 4 * os.cpu_count() + 200
N_MANY = max(int(os.environ.get("NETWORK_CONNECTIONS", "2000")), 2 * READY)

netns.enter()
folder = tempfile.mkdtemp()
world = netns.World(folder)
world.names[HOST] = [world.address(ADDRESS)]
ALLOWLIST = [f"{HOST}:{PORT}", f"{HOST}:7001"]


class Halves:
    """A server that sends one half, and the other one when it may. Counts how its connections end."""

    def __init__(self):
        self.may = threading.Event()
        self.lock = threading.Lock()
        self.whole = self.broken = 0

    def serve(self, stream):
        try:
            stream.sendall(b"a" * HALF)
            # The code sends a byte when it has read everything; until then an end is an error.
            while not self.may.wait(0.5):
                if netns.wait_readable(stream, 0):
                    break
            stream.sendall(b"b" * HALF)
            good = stream.recv(1) == b"!"
        except OSError:
            good = False
        with self.lock:
            self.whole += good
            self.broken += not good


LOAD = f"""
import socket, sys
streams = []
for i in range({EACH}):
    stream = socket.create_connection(("{HOST}", {PORT}))
    stream.settimeout(60)
    streams.append(stream)
for stream in streams:
    n = {HALF}
    while n:
        n -= len(stream.recv(n))
print("ready", flush=True)
ends = []
for stream in streams:
    got = 0
    try:
        while got < {HALF} and (piece := stream.recv({HALF})):
            got += len(piece)
        if got == {HALF}:
            stream.send(b"!")
        ends.append("whole" if got == {HALF} else "cut")
    except OSError as error:
        ends.append(type(error).__name__)
    stream.close()
print("ends", {{end: ends.count(end) for end in sorted(set(ends))}})
"""


n_used = 0


def numbers(n):
    """Numbers of runs that were not used before."""
    global n_used
    n_used += n
    return range(n_used - n, n_used)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def egress(client):
    """The process glovebox-egress of the client's program."""
    for pid in children(client.process.pid):
        with open(f"/proc/{pid}/comm") as file:
            if file.read().startswith("glovebox-egress"):
                return pid
    return None


def under_load(name, disturb, good):
    """Disturb RUNS runs with EACH connections each, and check how these end."""
    world_ends = halves.whole, halves.broken
    halves.may.clear()
    for number in numbers(RUNS):
        client.send(type="run", run=number, source=LOAD, options={"language": "python", "net": ALLOWLIST},
                    limits={"timeoutMs": 200000})
    texts, ready, results = {}, set(), {}
    while len(results) < RUNS:
        message = client.receive("output", "result")
        if message["type"] == "result":
            results[message["run"]] = message["result"]
        elif message["type"] == "output":
            texts[message["run"]] = texts.get(message["run"], "") + message["text"]
            if "ready" in texts[message["run"]] and message["run"] not in ready:
                ready.add(message["run"])
                if len(ready) == RUNS:
                    disturb()
                    halves.may.set()
        else:
            tap.ok(f"{name}: the program goes on", False, message)
            break
    counts = {}
    for result in results.values():
        for end, n in json.loads(result["stdout"].split("ends ")[-1].replace("'", '"') or "{}").items():
            counts[end] = counts.get(end, 0) + n
    tap.ok(f"{name}: no connection looks complete that was cut", sum(counts.values()) == RUNS * EACH and
           "cut" not in counts and good(counts), counts, results)
    for _ in range(600):
        if halves.whole + halves.broken - sum(world_ends) == RUNS * EACH:
            break
        threading.Event().wait(0.05)
    tap.ok(f"{name}: the servers see the same", halves.whole - world_ends[0] == counts.get("whole", 0) and
           halves.broken - world_ends[1] == RUNS * EACH - counts.get("whole", 0),
           counts, halves.whole - world_ends[0], halves.broken - world_ends[1])
    return results


CONNECT = f"import socket\nkept = 5\nprint(socket.create_connection(('{HOST}', 7001)).recv(10))"


def check_works(name):
    result = client.run(*numbers(1), f"import socket\nprint(socket.create_connection(('{HOST}', 7001)).recv(10))",
                        options={"language": "python", "net": ALLOWLIST})
    tap.ok(f"{name}: the next run has a network", "SERVED" in result.get("stdout", ""), result)


def test_kills():
    before = under_load("undisturbed", lambda: None, lambda counts: counts.get("whole") == RUNS * EACH)
    tap.ok("undisturbed: all connections are recorded", all(
        len(r["connections"]["list"]) == EACH and r["connections"]["dropped"] == 0 for r in before.values()), before)
    first = egress(client)
    session = client.ask("session_open", language="python", net=ALLOWLIST)["session"]["id"]
    result = client.run(*numbers(1), CONNECT, session=session)
    tap.ok("undisturbed: a session has a network", "SERVED" in result.get("stdout", ""), result)
    results = under_load("killed", lambda: os.kill(first, signal.SIGKILL), lambda counts: "whole" not in counts)
    tap.ok("killed: the result says so", all(
        any("glovebox-egress has ended" in r.get("reason", "") for r in result["connections"]["list"])
        for result in results.values()), results)
    check_works("killed")
    result = client.run(*numbers(1), "print(kept)\n" + CONNECT, session=session)
    tap.ok("killed: a session keeps its state, and has no network", result.get("stdout") == "5\n" and
           result.get("status") == "error", result)
    client.send(type="run", run=(n := numbers(1)[0]), source="1", session=session, options={"net": ALLOWLIST})
    refused = client.receive("result")
    tap.ok("killed: a run in it that names hosts is refused", "network" in json.dumps(refused.get("message") or
           refused["result"]["error"]), refused)
    result = client.run(*numbers(1), "print(kept)", session=session)
    tap.ok("killed: the session continues", result.get("stdout") == "5\n", result)
    second = egress(client)
    tap.ok("killed: another process has started", second and second != first, first, second)
    under_load("stopped", lambda: os.kill(second, signal.SIGSTOP), lambda counts: "whole" not in counts)
    check_works("stopped")


def usage(pid):
    def read(name):
        with open(f"/proc/{pid}/{name}") as file:
            return file.read()
    resident = next(int(line.split()[1]) for line in read("status").splitlines() if line.startswith("VmRSS"))
    try:
        return len(os.listdir(f"/proc/{pid}/fd")), resident
    except PermissionError:
        # Only root may look into glovebox-egress: it is not dumpable. Its memory and the host's descriptors are checked.
        return 0, resident


MANY = f"""
import socket
for i in range({{n}}):
    with socket.create_connection(("{HOST}", 7001)) as stream:
        assert stream.recv(10) == b"SERVED\\n"
"""


def test_leaks():
    session = client.ask("session_open", language="python", net=ALLOWLIST)["session"]["id"]

    def many(n):
        return client.run(*numbers(1), MANY.format(n=n), session=session, limits={"timeoutMs": 600000, "maxConnections": n})
    result = many(200)
    tap.ok("many connections succeed", result.get("status") == "success", result)
    pid = egress(client)
    host, process = usage(client.process.pid), usage(pid)
    result = many(N_MANY)
    recorded = result["connections"]
    tap.ok(f"{N_MANY} connections succeed, and are recorded or counted", result["status"] == "success" and
           len(recorded["list"]) + recorded["dropped"] == N_MANY, result["status"], len(recorded["list"]),
           recorded["dropped"])
    host_after, process_after = usage(client.process.pid), usage(pid)
    tap.ok("no descriptor is left", host_after[0] < host[0] + 60 and process_after[0] < process[0] + READY, host, host_after, process,
           process_after)
    with open(os.path.join(os.path.dirname(GLOVEBOX), "glovebox-egress"), "rb") as file:
        # AddressSanitizer keeps freed memory for a while, up to 256 MB.
        spare = 260000 if b"libasan" in file.read() else 2000
    tap.ok("no memory is left", process_after[1] < process[1] + spare, process, process_after)
    client.ask("session_kill", session=session)


EXHAUST = f"""
import socket
kept, ends = [], []
for i in range(150):
    stream = socket.socket()
    stream.settimeout(60)
    try:
        stream.connect(("127.0.0.1", {LITERAL_PORT}))
        ends.append("served" if stream.recv(10) == b"SERVED\\n" else "closed")
        kept.append(stream)
    except OSError as error:
        ends.append(type(error).__name__)
print("ends", {{end: ends.count(end) for end in sorted(set(ends))}})
"""


def test_descriptors():
    """glovebox-egress has fewer descriptors than code wants: an even and an odd number of free ones, since each
    connection needs two."""
    for limit in (700, 701):
        few = netns.Client(GLOVEBOX, [f"127.0.0.1:{LITERAL_PORT}"], prefix=["prlimit", f"--nofile={limit}:{limit}"])
        result = few.run(1, EXHAUST, options={"language": "python", "net": [f"127.0.0.1:{LITERAL_PORT}"]},
                         limits={"timeoutMs": 300000})
        ends = json.loads(result["stdout"].split("ends ")[-1].replace("'", '"') or "{}")
        tap.ok(f"{limit} descriptors: connections beyond them are reset at once", sum(ends.values()) == 150 and
               0 < ends.get("served", 0) < 150 and not set(ends) - {"served", "ConnectionResetError"}, ends, result)
        few.close()


def test_runs_leave_nothing():
    code = f"import socket\nsocket.create_connection(('{HOST}', 7001)).recv(10)"
    for number in numbers(10):
        client.run(number, code, options={"language": "python", "net": ALLOWLIST})
    pid = egress(client)
    host, process = usage(client.process.pid), usage(pid)
    for number in numbers(2 * READY // 101):
        client.run(number, code, options={"language": "python", "net": ALLOWLIST})
    host_after, process_after = usage(client.process.pid), usage(pid)
    tap.ok("runs leave no sockets", process_after[0] < process[0] + READY and host_after[0] < host[0] + 60, host,
           host_after, process, process_after)


# Enters a user namespace in which only so many network namespaces may exist at a time, and starts a program. The maps are
# written from outside: as root, all ids are mapped.
LIMITED = """
import ctypes, os, sys
inside, outside = os.pipe(), os.pipe()
uid, gid = os.getuid(), os.getgid()
if os.fork() == 0:
    os.read(inside[0], 1)
    for name, own in (("setgroups", None), ("gid_map", gid), ("uid_map", uid)):
        if own is None and uid == 0:
            continue
        with open(f"/proc/{os.getppid()}/{name}", "w") as file:
            file.write("deny" if own is None else f"{own} {own} 1" if uid else "0 0 65536")
    os._exit(0)
assert ctypes.CDLL(None).unshare(0x10000000) == 0
os.write(inside[1], b"x")
assert os.wait()[1] == 0
with open("/proc/sys/user/max_net_namespaces", "w") as file:
    file.write(sys.argv[1])
os.execv(sys.argv[2], sys.argv[2:])
"""
N_NAMESPACES, N_NAMESPACE_RUNS = 150, 250


def test_namespaces():
    """More runs than network namespaces may exist."""
    code = f"import socket\nsocket.create_connection(('{HOST}', 7001)).recv(10)"
    options = {"language": "python", "net": ALLOWLIST}
    few = netns.Client(GLOVEBOX, ALLOWLIST, prefix=[sys.executable, "-c", LIMITED, "0"])
    few.send(type="run", run=1, source=code, options=options)
    result = few.receive("result")
    tap.ok("where no network namespace may exist no run starts", result.get("result", {}).get("status") != "success", result)
    few.close()
    few = netns.Client(GLOVEBOX, ALLOWLIST, prefix=[sys.executable, "-c", LIMITED, str(N_NAMESPACES)])
    bad = [result for result in (few.run(n, code, options=options) for n in range(N_NAMESPACE_RUNS))
           if result.get("status") != "success"]
    tap.ok(f"{N_NAMESPACE_RUNS} runs where {N_NAMESPACES} network namespaces may exist: none is left", not bad, len(bad), bad[:1])
    few.close()


def test_wall():
    """What the kernel says about glovebox-egress, beside the program that has started it."""
    def fields(pid):
        with open(f"/proc/{pid}/status") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    host, process = fields(client.process.pid), fields(egress(client))
    # As root it needs one to listen at ports below 1024 in the namespaces of cells.
    kept = 1 << CAP_NET_BIND_SERVICE if os.getuid() == 0 else 0
    tap.ok("wall: no other privileges, and none can be gained", not int(process["CapPrm"], 16) & ~kept and
           int(process["CapInh"] + process["CapAmb"], 16) == 0 and process["NoNewPrivs"] == "1", process)
    tap.ok("wall: a system call filter", process["Seccomp"] == "2" and host["Seccomp"] != "2", process, host)
    if os.getuid() == 0:
        tap.ok("wall: a user of its own", "0" not in process["Uid"].split() + process["Gid"].split() and
               process["Groups"].strip() == "", process)
        links, folder_of = [], f"/proc/{egress(client)}/fd"
        for fd in os.listdir(folder_of):
            try:
                links.append(os.readlink(f"{folder_of}/{fd}"))
            except FileNotFoundError:
                pass  # a socket that was closed meanwhile
        # Which ports Glovebox processes have claimed, and the authorities.
        files = [link for link in links if link.startswith("/") and not link.endswith(("/net/unix", "/dev/null", ".crt"))]
        tap.ok("wall: no other file is open", not files, files)


halves = Halves()
world.listen(ADDRESS, PORT, halves.serve)
world.listen(ADDRESS, 7001, netns.echo)
world.listen("127.0.0.1", LITERAL_PORT, netns.echo)
# The servers are threads of this program: 500 of them may accept a connection late.
client = netns.Client(GLOVEBOX, ALLOWLIST, f"network.maxConnections={max(N_MANY, 1000)}", "network.connectTimeout=60s")
try:
    test_kills()
    test_wall()
    test_leaks()
    test_descriptors()
    test_runs_leave_nothing()
    test_namespaces()
    tap.ok("the program ends", client.close() == 0)
finally:
    shutil.rmtree(folder, ignore_errors=True)
tap.plan()
sys.exit(1 if tap.failed else 0)
