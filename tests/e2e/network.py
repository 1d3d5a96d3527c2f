#!/usr/bin/python3
"""The network tier: which attempts reach a server, which do not, and that each is recorded. In a namespace of its own,
with addresses that look public. The same attempts are made outside of the sandbox, where they succeed."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mcpclient
import netns
import tap
from networkworld import (ALLOWLIST, CLAIMED, EVIL, EVIL_ADDRESS, EXPOSED, GLOVEBOX, GOOD, GOOD_ADDRESS, IDNA, LITERAL,
                          OTHER_PORT, PORT, PRIVATE, folder, glovebox, prepare, rebinding, run, tap_folder, world)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../sdk/python"))
import glovebox as sdk

PLAN = {"good": GOOD, "evil": EVIL, "idna": IDNA, "port": PORT, "other_port": OTHER_PORT, "claimed_port": CLAIMED,
        "address": LITERAL, "evil_address": EVIL_ADDRESS, "private_address": PRIVATE, "abstract": "network-test"}
PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "network-probe.py")

# What code sees. 'served': it reached the server. Others are the beginning of what it sees instead.
EXPECTED = {
    "allowed http": "served", "allowed https": "served", "allowed port": "served", "allowed address": "served",
    "allowed public address": "served", "upper case": "served", "trailing dot": "served", "idna": "served",
    "below a domain": "served",
    "the domain itself": "gaierror", "disallowed http": "gaierror", "disallowed https": "gaierror",
    "disallowed port": "ConnectionRefused", "public address": "OSError: [Errno 101]",
    "private address": "OSError: [Errno 101]", "metadata": "OSError: [Errno 101]",
    "ipv6 loopback": "ConnectionRefused", "ipv6 mapped": "OSError: [Errno 101]",
    "loopback of the host": "ConnectionRefused",
    "private behind a name": "forbidden", "one of two is private": "forbidden", "rebinding": "forbidden",
    "claimed port": "closed b'Connection", "other sni": "SSLError", "no sni": "SSLError", "ech": "forbidden",
    "nul in sni": "forbidden", "no tls": "closed", "other host": "forbidden",
    "other host in the second request": "forbidden", "nul in host": "forbidden", "http/2": "forbidden",
    "upgrade to h2c": "forbidden", "length and chunks": "forbidden", "bad chunk": "forbidden",
    "connect": "forbidden", "absolute target": "forbidden",
    "nul in a name": "code 3", "label of 64 bytes": "code 1", "tunnel by a long name": "code 3",
    "tunnel below an allowed name": "code 3", "text record of a disallowed name": "code 3",
    "other name server": "OSError: [Errno 101]", "quic": "ConnectionRefused",
    "udp to an address": "OSError: [Errno 101]",
    "raw socket": "PermissionError", "icmp": "PermissionError", "packet socket": "PermissionError",
    "vsock": "PermissionError", "netlink": "PermissionError", "mptcp": "PermissionError",
    "abstract socket": "ConnectionRefused",
}
# What the kernel of the sandbox refuses by itself: no process of Glovebox sees it, so there is no record.
IN_THE_KERNEL = {"disallowed port", "public address", "private address", "metadata", "ipv6 loopback", "ipv6 mapped",
                 "loopback of the host", "other name server", "quic", "udp to an address", "raw socket", "icmp",
                 "packet socket", "vsock", "netlink", "mptcp", "abstract socket", "label of 64 bytes"}
# What code sees without the wall, if not 'served': the test's server of TLS refuses what is no TLS; name servers know no such
# name, but they were asked, which is what a tunnel needs.
IN_CONTROL = {"no tls": "closed", "nul in a name": "code 3", "label of 64 bytes": "code 3", "tunnel by a long name": "code 3",
              "tunnel below an allowed name": "code 3", "text record of a disallowed name": "code 0",
              "other name server": "code 0"}
# What only root may do, also outside, and what the settings of the machine decide.
PRIVILEGED, OF_THE_MACHINE = {"raw socket", "packet socket"}, {"icmp", "vsock", "mptcp"}
TUNNELS = {".".join(("x" * 63, "y" * 63, "z" * 60, EVIL)), f"secret.{GOOD}"}


def test_matrix():
    with open(os.path.join(folder, "plan.json"), "w") as file:
        json.dump(PLAN, file)
    control = json.loads(subprocess.run([sys.executable, PROBE, json.dumps(PLAN)], capture_output=True, text=True,
                                        check=True).stdout)
    tap.ok("without the wall: names that carry data reach a name server", TUNNELS <= set(world.asked), world.asked)
    world.asked.clear()
    world.names["rebind.example"] = rebinding()
    with open(PROBE) as file:
        result = run("python", file.read(), files=[os.path.join(folder, "plan.json")])
    try:
        seen = json.loads(result["stdout"])
    except ValueError:
        tap.ok("the attempts run in the sandbox", False, result)
        return
    for name, expected in EXPECTED.items():
        tap.ok(f"in the sandbox: {name}", seen.get(name, "").startswith(expected), seen.get(name), expected)
    for name, outcome in control.items():
        if name in OF_THE_MACHINE or (name in PRIVILEGED and os.getuid() != 0):
            tap.ok(f"without it: {name} # SKIP it depends on the user and the machine", True)
        else:
            tap.ok(f"without it: {name}", outcome.startswith(IN_CONTROL.get(name, "served")), outcome)
    tap.ok("every attempt is one of the expected", set(seen) == set(EXPECTED) == set(control), set(seen) ^ set(EXPECTED))
    tap.ok("in the sandbox: no name server is asked about names that are not allowed",
           EVIL not in world.asked and not any(name.startswith(("xxx", "secret.")) for name in world.asked), world.asked)
    tap.ok("no attempt ends by a time limit", not [n for n, o in seen.items() if o.startswith("timeout")], seen)
    check_records(result)


def check_records(result):
    records = result["connections"]["list"]
    allowed = [r for r in records if r["verdict"] == "allowed"]
    denied = [r for r in records if r["verdict"] == "denied"]
    tap.ok("allowed connections have host, port, rule, bytes and duration",
           allowed and all({"time", "host", "port", "rule", "sent", "received", "durationMs"} <= set(r) for r in allowed),
           allowed)
    tap.ok("denied attempts have a host and a reason", denied and all(r["host"] and r["reason"] for r in denied), denied)
    reasons = "\n".join(r.get("reason", "") for r in records)
    for text in ("no rule allows this host", "special address (private)", "special address (loopback)",
                 "a Glovebox process of this user listens there", "it names another server: evil.example",
                 "it does not name a server", "(ECH)", "names another host than its connection: evil.example",
                 "HTTP/2 is not available", "Upgrade is not available", "ambiguous", "the size of a chunk",
                 "CONNECT is not allowed", "does not begin with a TLS handshake"):
        tap.ok(f"recorded: {text}", text in reasons, reasons)
    hosts = {r["host"] for r in denied}
    tap.ok("names that were asked for are recorded",
           {EVIL, "wild.example", f"secret.{GOOD}"} <= hosts and any(h.startswith("xxx") for h in hosts), hosts)
    tap.ok("nothing was dropped", result["connections"]["dropped"] == 0, result["connections"]["dropped"])
    denial = next((d for d in result["denials"] if d["host"] == EVIL), {})
    tap.ok("a denial says what would allow it", denial.get("kind") == "network" and
           f'"{EVIL}"' in denial.get("remedy", "") and "network.allowlist" in denial["remedy"], denial)


def test_rules():
    done = glovebox("run", "-l", "shell", "--net", EVIL, "-e", "true")
    tap.ok("a run cannot reach more than the settings allow", done.returncode == 2 and "network.allowlist" in done.stderr,
           done)
    done = glovebox("run", "-l", "shell", "--net", GOOD, "-e", f"curl -sS http://{GOOD}/", allowlist=[])
    tap.ok("an empty list allows nothing", done.returncode == 2 and "network.allowlist" in done.stderr, done)
    done = glovebox("run", "-l", "shell", "--net", "https://x/", "-e", "true")
    tap.ok("an invalid host is an error", done.returncode == 2 and "without https://" in done.stderr, done)
    read = f"(await (await fetch('http://{GOOD}/')).text()).trim()"
    done = glovebox("run", "--net", GOOD, "-e", read)
    tap.ok("JavaScript fetches", done.stdout.strip() == f"SERVED {GOOD}", done)
    done = glovebox("run", "-e", "typeof fetch")
    tap.ok("without --net JavaScript has no fetch", done.stdout.strip() == "undefined", done)
    result = run("shell", f"curl -sS http://{GOOD}/ http://a.wild.example/ 2>&1", net=["a.wild.example"])
    tap.ok("a run can narrow what the settings allow", "SERVED a.wild.example" in result["stdout"] and
           f"SERVED {GOOD}" not in result["stdout"], result)
    done = subprocess.run([GLOVEBOX, "run", "-l", "shell", "--json", "-e", f"curl -sS http://{GOOD}/ 2>&1"],
                          capture_output=True, text=True)
    tap.ok("without --net there is no network", "SERVED" not in done.stdout and "connections" not in done.stdout, done)


def test_limits():
    result = run("shell", f"for i in 1 2 3 4; do curl -sS http://{GOOD}/ 2>&1; done", settings=["network.maxConnections=2"])
    tap.ok("the number of connections is limited", result["stdout"].count("SERVED") == 2 and
           any("network.maxConnections" in d["reason"] for d in result["denials"]), result)
    result = run("shell", f"head -c 300000 /dev/zero | curl -sS --data-binary @- http://{GOOD}/ 2>&1",
                 settings=["network.maxSent=100K"])
    tap.ok("sent bytes are limited", "SERVED" not in result["stdout"] and
           any("network.maxSent" in d["reason"] for d in result["denials"]), result)
    world.listen(LITERAL, 7001, lambda stream: stream.sendall(b"x" * 500000))
    world.names["late.example"] = [LITERAL]
    world.listen(LITERAL, 7000, lambda stream: stream.sendall(b"x" * 500000))
    result = run("shell", "cat < /dev/tcp/late.example/7000 | wc -c", settings=["network.maxReceived=100K"])
    tap.ok("received bytes are limited", int(result["stdout"].split()[0]) < 500000 and
           any("network.maxReceived" in d["reason"] for d in result["denials"]), result)
    world.names["late.example"] = netns.SILENT
    result = run("shell", "exec 3<>/dev/tcp/late.example/7000; cat <&3", settings=["network.connectTimeout=1s"])
    tap.ok("the time to connect is limited", any("network.connectTimeout" in r.get("reason", "") and r["verdict"] == "failed"
                                                 for r in result["connections"]["list"]), result)
    result = run("shell", f"exec 3<>/dev/tcp/{GOOD}/5432; cat <&3", settings=["network.idleTimeout=1s"])
    tap.ok("an idle connection is closed", any("network.idleTimeout" in r.get("reason", "") and r["verdict"] == "failed"
                                               for r in result["connections"]["list"]), result)


def test_many_rules():
    """Many ports of a host; more IPv6 addresses than a sandbox has sockets for."""
    ports = range(7100, 7112)
    for port in ports:
        world.listen(GOOD_ADDRESS, port, netns.echo)
    hosts = [f"{GOOD}:{port}" for port in ports]
    result = run("python", f"import socket\nfor port in {list(ports)}: print(socket.create_connection(('{GOOD}', port))"
                 ".recv(9))", net=hosts, allowlist=hosts)
    tap.ok("a host with twelve ports", result["stdout"].count("SERVED") == len(ports), result)
    hosts = [f"[2001:db8::{n}]:5432" for n in range(1, 7)]
    result = run("shell", "true", net=hosts, allowlist=hosts)
    tap.ok("an address that the sandbox has no socket for is recorded", [
        (d["host"], d["port"]) for d in result.get("denials", []) if "no socket left" in d["reason"]] ==
        [("2001:db8::5", 5432), ("2001:db8::6", 5432)], result)


def proxy(stream):
    """An HTTP proxy: connects, and copies; it refuses one host."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += stream.recv(1)
    target = head.split()[1].decode()
    proxied.append(target)
    if target.startswith("a.wild"):
        stream.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        return
    host, port = target.rsplit(":", 1)
    with socket.create_connection((world.names[host][0], int(port))) as server:
        for part in (b"HTTP/1.1 200 Connection", b" established\r\nX: y\r\n", b"\r\n"):
            stream.sendall(part)
        netns.thread(copy, stream, server)
        copy(server, stream)


def copy(source, target):
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


proxied = []


def test_proxy(ca):
    world.listen(EVIL_ADDRESS, 3128, proxy)
    settings = [f"network.proxy={EVIL_ADDRESS}:3128"]
    result = run("shell", f"curl -sS http://{GOOD}/; curl -sS --cacert ca.pem https://{GOOD}/; curl -sS http://a.wild.example/; "
                          f"curl -sS http://{EVIL}/", files=[ca], settings=settings)
    tap.ok("connections go through a proxy", result["stdout"].count(f"SERVED {GOOD}") == 2 and
           proxied == [f"{GOOD}:80", f"{GOOD}:443", "a.wild.example:80"], result, proxied)
    tap.ok("what the proxy refuses is an error", "the proxy (network.proxy) has refused" in result["stdout"], result)
    result = run("shell", f"exec 3<>/dev/tcp/127.0.0.1/{PORT}; head -1 <&3", settings=settings)
    tap.ok("loopback is that of this machine, also with a proxy", result["stdout"] == "SERVED\n" and len(proxied) == 3,
           result, proxied)
    done = glovebox("run", "-l", "shell", "-e", "true", settings=["network.proxy=http://proxy:1/"])
    tap.ok("an invalid proxy is an error", done.returncode != 0 and "network.proxy: expected a host" in done.stderr, done)


def test_authorities(ca):
    """Authorities that the owner has added, in the room and for requests of glovebox-egress."""
    mixed = os.path.join(folder, "mixed.pem")
    with open(mixed, "w") as file:
        for name in ("ca.key", "ca.pem"):
            with open(os.path.join(folder, name)) as part:
                file.write(part.read())
    ask = f"curl -sS https://{GOOD}/ 2>&1; grep -c PRIVATE /etc/ssl/certs/ca-certificates.crt"
    fetch = f"(await (await fetch('https://{GOOD}/')).text()).trim()"
    rule = f"GET {GOOD}/"
    for settings, trusted in ((), False), ((f"network.authorities={ca}",), True), ((f"network.authorities={mixed}",), True):
        result = run("shell", ask, settings=settings)
        tap.ok(f"curl with {settings} {'trusts' if trusted else 'does not trust'} the authority, and sees no key",
               ("SERVED" in result["stdout"]) == trusted and result["stdout"].endswith("0\n"), result)
        result = run("python", get(GOOD).replace("http:", "https:"), settings=settings)
        tap.ok("so does Python", ("SERVED" in result["stdout"]) == trusted, result)
        done = glovebox("run", "--net", GOOD, "-e", fetch, settings=settings)
        tap.ok("so does fetch", (done.stdout.strip() == f"SERVED {GOOD}") == trusted, done)
        result = run("shell", ask, net=[rule], allowlist=[rule], settings=settings)
        tap.ok("so do intercepted connections", ("SERVED" in result["stdout"]) == trusted, result)
    for path, word in (("/no/such.pem", "cannot read"), (os.path.join(folder, "resolv.conf"), "no certificate")):
        done = glovebox("run", "-l", "shell", "--net", GOOD, "-e", "true", settings=[f"network.authorities={path}"])
        tap.ok(f"a file that has none is an error: {word}", done.returncode != 0 and word in done.stderr +
               done.stdout and "network.authorities" in done.stderr + done.stdout, done)
        done = glovebox("run", "-l", "shell", "-e", "echo fine", settings=[f"network.authorities={path}"])
        tap.ok("runs without a network do not need it", done.stdout == "fine\n", done)


def test_prompt():
    done = glovebox("prompt", "--set", "agent.enabled=true", allowlist=[GOOD, "*.wild.example"])
    tap.ok("the prompt for agents names the hosts", f"`{GOOD}`, `*.wild.example`." in done.stdout, done)


def test_agents():
    """Of agents: refused without hosts; with them recorded, and found by the host."""
    settings = ["agent.enabled=true", "agent.autoApprove=true"]
    code = f"import urllib.request as u\nprint(u.urlopen('http://{GOOD}/').read())\nu.urlopen('http://{EVIL}/')"
    arguments = ["execute", "-l", "python", "--tier", "network", "--json", "-e", code]
    state = [f"stateDir={tap_folder}"]
    done = glovebox(*arguments, allowlist=[], settings=settings + state)
    tap.ok("the network tier of agents needs hosts", done.returncode == 3 and "network.allowlist" in done.stdout, done)
    read = f"(await (await fetch('http://{GOOD}/')).text()).trim()"
    done = glovebox("execute", "--tier", "network", "-e", f"console.log({read})", settings=settings + state)
    tap.ok("JavaScript of agents fetches in the network tier", f"SERVED {GOOD}" in done.stdout, done)
    done = glovebox("execute", "-l", "python", "--json", "-e", code, settings=settings + state)
    tap.ok("the isolated tier of agents has no network", "SERVED" not in done.stdout and "no network" in done.stdout, done)
    done = glovebox(*arguments, settings=settings + state)
    result = json.loads(done.stdout)
    tap.ok("code of agents reaches allowed hosts", f"SERVED {GOOD}" in result["stdout"], result)
    tap.ok("its denials are in the result", [d["host"] for d in result["denials"]] == [EVIL], result)

    ask = ["execute", "-l", "shell", "--json", "-e", f"curl -sS http://{GOOD}/ 2>&1"]
    done = glovebox(*ask, settings=settings + state)
    tap.ok("restricted mode refuses curl in the isolated tier, and says what to ask for", "network tier" in
           json.loads(done.stdout)["error"]["message"], done)
    done = glovebox(*ask, "--tier", "network", settings=settings + state)
    tap.ok("restricted mode accepts it in the network tier", f"SERVED {GOOD}" in json.loads(done.stdout)["stdout"], done)
    done = glovebox("execute", "-l", "shell", "--json", "--tier", "network", "-e", f"curl -sS http://{GOOD}/ | dd of=x",
                    settings=settings + state)
    tap.ok("and still refuses what changes the machine", "'dd'" in done.stdout, done)

    def audit(*more):
        done = subprocess.run([GLOVEBOX, "audit", *more, "--dir", tap_folder], capture_output=True, text=True)
        return done.stdout + done.stderr
    record = json.loads(audit("export", "--host", EVIL))
    tap.ok("its record has the attempts", {(c["host"], c["verdict"]) for c in record["network"]["list"]} ==
           {(GOOD, "allowed"), (EVIL, "denied")}, record)
    tap.ok("its record has the tier and the hosts", record["tier"] == "network" and
           GOOD in record["permissions"]["hosts"], record)
    shown = audit("show", str(record["seq"]))
    tap.ok("audit show prints each attempt", f"allowed {GOOD}:80, GET /, status 200, sent" in shown and
           f"denied {EVIL}: no rule allows this host" in shown, shown)
    tap.ok("audit list finds a host", "python" in audit("list", "--host", EVIL), audit("list"))
    tap.ok("audit list finds no other host", "no such records" in audit("list", "--host", "evil.exampl"), "")
    tap.ok("the log is whole", "is whole" in audit("verify"), audit("verify"))


def get(host):
    return f"import urllib.request as u\nprint(u.urlopen('http://{host}/').read().decode())"


def set_hosts(server, hosts):
    """Change the setting while the server runs, and wait until it is in force."""
    with open(os.path.join(server.folder, "glovebox", "glovebox.yaml"), "w") as file:
        json.dump({"network": {"allowlist": hosts}, "agent": {"enabled": True}}, file)
    server.process.send_signal(signal.SIGHUP)
    wanted = ", ".join(hosts) + ". " if hosts else "It has no network. "
    while wanted not in server.request("tools/list")["result"]["tools"][0]["description"]:
        pass


def test_mcp():
    """execute_code over MCP: the network tier as the settings grant it, sessions of both tiers, changed settings."""
    state = os.path.join(folder, "mcp")
    os.makedirs(os.path.join(state, "glovebox"))
    with open(os.path.join(state, "glovebox", "glovebox.yaml"), "w") as file:
        json.dump({"network": {"allowlist": [GOOD]}, "agent": {"enabled": True}}, file)
    server = mcpclient.Server("agent.autoApprove=true", "agent.allowedRuntimes=[python, shell]", state=state,
                              environment={"GLOVEBOX_STATE_DIR": ""})
    tool = server.request("tools/list")["result"]["tools"][0]
    tap.ok("the tool names the hosts, and takes a tier", f"(python, shell): then it reaches these hosts by name, and no "
           f"others: {GOOD}. " in tool["description"] and tool["annotations"]["openWorldHint"] and
           tool["inputSchema"]["properties"]["tier"]["enum"] == ["isolated", "network"], tool)
    isolated = server.tool("execute_code", runtime="python", code=get(GOOD))
    tap.ok("without a tier code has no network", isolated["isError"], isolated)
    done = server.tool("execute_code", runtime="python", tier="network", code="kept = 1\n" + get(GOOD))
    content = done["structuredContent"]
    tap.ok("in the network tier it reaches the host", f"SERVED {GOOD}" in content["stdout"] and
           content["sessionId"] != isolated["structuredContent"]["sessionId"], done)
    done = server.tool("execute_code", runtime="shell", tier="network", code=f"curl -sS http://{GOOD}/")
    tap.ok("so does curl", f"SERVED {GOOD}" in done["structuredContent"]["stdout"], done)
    session = content["sessionId"]
    denied = server.tool("execute_code", runtime="python", sessionId=session, code="print(kept)\n" + get(EVIL))
    content = denied["structuredContent"]
    tap.ok("a session keeps its tier, and a denial names the host and the setting", content["stdout"] == "1\n" and
           [d["host"] for d in content["denials"]] == [EVIL] and EVIL in content["denials"][0]["remedy"], denied)
    tap.ok("the tiers of sessions are listed", sorted(
        (one["runtime"], one["tier"]) for one in server.tool("list_sessions")["structuredContent"]["sessions"]) ==
        [("python", "isolated"), ("python", "network"), ("shell", "network")])
    for name, arguments, word in (
            ("another tier than that of the session", {"runtime": "python", "sessionId": session, "tier": "isolated"},
             "not of the isolated tier"),
            ("an unknown tier", {"runtime": "python", "tier": "all"}, "isolated or network")):
        refused = server.tool("execute_code", code="1", **arguments)
        tap.ok(f"{name} is refused", refused["isError"] and word in refused["content"][0]["text"], refused)
    written = server.tool("write_file", sessionId=session, path="a.txt", content="a")
    tap.ok("files of such a session are written and read", not written["isError"] and
           server.tool("read_file", sessionId=session, path="a.txt")["structuredContent"]["content"] == "a", written)
    set_hosts(server, [GOOD, EVIL])
    both = server.run("python", get(GOOD) + "\n" + get(EVIL), sessionId=session)
    tap.ok("a session has the hosts that it was opened with", f"SERVED {GOOD}" in both["stdout"] and
           f"SERVED {EVIL}" not in both["stdout"], both)
    other = server.run("python", get(EVIL), tier="network")
    tap.ok("a new host is reached in a new session", f"SERVED {EVIL}" in other["stdout"] and
           other["sessionId"] != session, other)
    set_hosts(server, [EVIL])
    gone = server.tool("execute_code", runtime="python", code="1", sessionId=session)
    tap.ok("a session whose hosts are no longer allowed runs no code", gone["isError"] and
           "no longer has any host" in gone["content"][0]["text"], gone)
    tap.ok("its files can still be read", server.tool("read_file", sessionId=session, path="a.txt")
           ["structuredContent"]["content"] == "a")
    set_hosts(server, [])
    refused = server.tool("execute_code", runtime="python", code="1", tier="network")
    tap.ok("without hosts there is no network tier", refused["isError"], refused)
    tap.ok("the server ends", server.close() == 0)


def test_mcp_dialog():
    """The dialog of a client shows what code can reach."""
    server = mcpclient.Server("mcp.trustClientApproval=true", f"network.allowlist=[{GOOD}]")
    server.initialize({"elicitation": {}})
    for tier in ("network", "isolated"):
        number = server.start_tool("execute_code", runtime="python", code="1", tier=tier)
        question = server.wait(lambda message: message.get("method") == "elicitation/create")
        tap.ok(f"the dialog shows the hosts of the {tier} tier", (f"It can connect to: {GOOD}" in
               question["params"]["message"]) == (tier == "network"), question)
        server.send({"id": question["id"], "result": {"action": "decline"}})
        server.reply(number)
    server.close()


def test_sessions():
    client = netns.Client(GLOVEBOX, ALLOWLIST)
    refused = client.ask("session_open", language="shell", net=[EVIL])
    tap.ok("a session cannot reach more than the settings allow", refused["type"] == "error" and
           "network.allowlist" in refused["message"], refused)
    session = client.ask("session_open", language="shell", net=[GOOD, "a.wild.example"])["session"]
    tap.ok("a session has its hosts", session["net"] == f"{GOOD},a.wild.example", session)
    ask = f"curl -sS http://{GOOD}/; curl -sS http://a.wild.example/"
    result = client.run(1, ask, session=session["id"])
    tap.ok("its runs reach its hosts", result["stdout"].count("SERVED") == 2, result)
    result = client.run(2, ask, session=session["id"], options={"net": [GOOD]})
    tap.ok("a run in it can narrow them", f"SERVED {GOOD}" in result["stdout"] and
           "SERVED a.wild" not in result["stdout"] and result["denials"][0]["host"] == "a.wild.example", result)
    result = client.run(3, ask, session=session["id"])
    tap.ok("the next run has them again", result["stdout"].count("SERVED") == 2, result)
    client.send(type="run", run=4, source="true", session=session["id"], options={"net": ["b.wild.example"]})
    refused = client.receive("result")
    tap.ok("a run in it cannot reach others", refused["type"] == "error" and "of the session" in refused["message"], refused)
    plain = client.ask("session_open", language="shell")["session"]
    client.send(type="run", run=5, source="true", session=plain["id"], options={"net": [GOOD]})
    refused = client.receive("result")
    tap.ok("a session without a network stays without", refused["type"] == "error" and
           "without a network" in refused["message"], refused)
    tap.ok("the server ends", client.close() == 0, "")


SERVE = """
cat > serve.py <<'END'
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"SERVED\\n")
    def log_message(self, *arguments):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
END
python3 serve.py > log 2>&1 &
until (: < /dev/tcp/127.0.0.1/8000) 2> /dev/null; do :; done
echo listening
"""


def ask_stream(stream):
    stream.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    data = b""
    while piece := stream.recv(4096):
        data += piece
    return data


def ask_port(port):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as stream:
        return ask_stream(stream)


def ask_socket(path):
    with socket.socket(socket.AF_UNIX) as stream:
        stream.settimeout(30)
        stream.connect(path)
        return ask_stream(stream)


def test_expose_socket(client, session):
    """The server of the session at a unix socket."""
    path = os.path.join(folder, "web.sock")
    for name, fields, word in (("a relative path", {"path": "web.sock"}, "absolute"),
                               ("a path and a port", {"path": path, "on": 9}, "one of them"),
                               ("a folder that does not exist", {"path": folder + "/no/web.sock"}, "make the socket"),
                               ("a path that is too long", {"path": "/" + "x" * 200}, "1 to 107 bytes"),
                               ("a file", {"path": os.path.join(folder, "resolv.conf")}, "is not a socket")):
        refused = client.ask("session_expose", session=session, port=8000, **fields)
        tap.ok(f"{name} is refused", refused["type"] == "error" and word in refused["message"], refused)
    reply = client.ask("session_expose", session=session, port=8000, path=path)
    tap.ok("a session is exposed at a unix socket", reply["session"]["exposed"][-1] == {"port": 8000, "path": path}, reply)
    answers = [ask_socket(path) for _ in range(200)]
    tap.ok("many connections reach its server", all(a.endswith(b"SERVED\n") for a in answers), answers[-1])
    tap.ok("only this user can connect", os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode))
    refused = client.ask("session_expose", session=session, port=8000, path=path)
    tap.ok("a socket is exposed once", refused["type"] == "error" and "already listens" in refused["message"], refused)


def test_python_sdk():
    path = os.path.join(folder, "sdk.sock")
    with sdk.Glovebox(GLOVEBOX, settings={"network.allowlist": [GOOD]}) as box:
        with box.open_session(language="shell", net=[GOOD]) as opened:
            opened.execute(SERVE, check=True)
            exposed = opened.expose(8000, path=path).exposed
            tap.ok("the Python SDK exposes a session", exposed == [{"port": 8000, "path": path}] and
                   ask_socket(path).endswith(b"SERVED\n"), exposed)
            on = opened.expose(8000).exposed[1]["on"]
            tap.ok("also at a port", ask_port(on).endswith(b"SERVED\n"), on)


def test_commands():
    """The commands for sessions in the network tier."""
    home = os.path.join(folder, "home")
    os.makedirs(os.path.join(home, "glovebox"))
    os.makedirs(os.path.join(home, "runtime"), mode=0o700)
    with open(os.path.join(home, "glovebox", "glovebox.yaml"), "w") as file:
        json.dump({"network": {"allowlist": [GOOD, "a.wild.example"]}, "stateDir": os.path.join(home, "state")}, file)
    environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": os.path.join(home, "runtime")}

    def session(*arguments):
        return subprocess.run([GLOVEBOX, "session", *arguments], capture_output=True, text=True, env=environment, cwd=home)
    done = session("create", "-l", "shell", "--name", "web", "--net", EVIL)
    tap.ok("session create: other hosts than those of the settings are refused", done.returncode == 2 and
           "network.allowlist" in done.stderr, done)
    done = session("create", "-l", "shell", "--name", "web", "--net", f"{GOOD},a.wild.example")
    tap.ok("session create --net", done.returncode == 0, done)
    done = session("exec", "web", "-e", f"curl -sS http://{GOOD}/; curl -sS http://a.wild.example/")
    tap.ok("session exec reaches the hosts", done.stdout.count("SERVED") == 2, done)
    done = session("exec", "web", "--net", GOOD, "-e", f"curl -sS http://{GOOD}/; curl -sS http://a.wild.example/")
    tap.ok("session exec --net narrows them, and names the denial", done.stdout.count("SERVED") == 1 and
           "no connection to a.wild.example" in done.stderr, done)
    done = session("exec", "web", "--net", EVIL, "-e", "true")
    tap.ok("it does not widen them", done.returncode == 2 and EVIL in done.stderr, done)
    done = subprocess.run([GLOVEBOX, "run", "--session", "web", "-l", "shell", "-e", f"curl -sS http://{GOOD}/"],
                          capture_output=True, text=True, env=environment, cwd=home)
    tap.ok("run --session reaches them", "SERVED" in done.stdout, done)
    done = session("exec", "web", "-e", SERVE)
    tap.ok("a server starts", "listening" in done.stdout, done)
    done = session("expose", "web", "8000")
    tap.ok("session expose prints an address that leads to it", done.returncode == 0 and
           ask_port(int(done.stdout.rsplit(":")[-1])).endswith(b"SERVED\n"), done)
    done = session("expose", "web", "8000", "--socket", "web.sock")
    path = os.path.join(home, "web.sock")
    tap.ok("so does session expose --socket, below the working directory", done.stdout == path + "\n" and
           ask_socket(path).endswith(b"SERVED\n"), done)
    done = session("expose", "web", "8000", "--socket", "web.sock", "--on", "9")
    tap.ok("a port and a socket are bad use", done.returncode == 2 and "not both" in done.stderr, done)
    listed = json.loads(session("list", "--json").stdout)[0]
    tap.ok("session list has hosts, ports and sockets", listed["net"] == f"{GOOD},a.wild.example" and
           listed["exposed"][1] == {"port": 8000, "path": path}, listed)
    test_python_sdk()
    done = session("kill", "web")
    tap.ok("session kill ends both", done.returncode == 0 and not os.path.exists(path), done)


def test_expose():
    client = netns.Client(GLOVEBOX, ALLOWLIST)
    plain = client.ask("session_open", language="shell")["session"]["id"]
    refused = client.ask("session_expose", session=plain, port=8000)
    tap.ok("a session without a network exposes nothing", refused["type"] == "error" and "--net" in refused["message"],
           refused)
    session = client.ask("session_open", language="shell", net=[GOOD])["session"]["id"]
    reply = client.ask("session_expose", session=session, port=8000, on=EXPOSED)
    tap.ok("a port of a session is exposed", reply["session"].get("exposed") == [{"port": 8000, "on": EXPOSED}], reply)
    refused = client.ask("session_expose", session=session, port=8000, on=EXPOSED)
    tap.ok("a port is exposed once", refused["type"] == "error" and "cannot be used" in refused["message"], refused)
    try:
        early = ask_port(EXPOSED)
    except OSError:
        early = b""
    tap.ok("while nothing listens inside, connections are closed", early == b"", early)
    result = client.run(1, SERVE, session=session, limits={"timeoutMs": 60000})
    tap.ok("a server starts in the session", "listening" in result.get("stdout", ""), result)
    answers = [ask_port(EXPOSED) for _ in range(200)]
    tap.ok("many connections reach it, between runs", all(a.endswith(b"SERVED\n") for a in answers), answers[-1])
    test_expose_socket(client, session)
    result = client.run(2, f"curl -sS http://{GOOD}/", session=session)
    tap.ok("the session still reaches its hosts", "SERVED" in result.get("stdout", ""), result)
    result = run("shell", f"exec 3<>/dev/tcp/127.0.0.1/{EXPOSED}; echo GET >&3; cat <&3", net=[f"127.0.0.1:{EXPOSED}"])
    tap.ok("no entry leads to an exposed port", "SERVED" not in result["stdout"] and
           any("Glovebox process" in d["reason"] for d in result.get("denials", [])), result)
    client.ask("session_kill", session=session)
    try:
        late = ask_port(EXPOSED)
    except OSError as error:
        late = error
    tap.ok("the port ends with the session", isinstance(late, ConnectionRefusedError), late)
    tap.ok("so does the socket", not os.path.exists(os.path.join(folder, "web.sock")))
    client.close()


ca, *kept = prepare()
try:
    test_matrix()
    test_rules()
    test_limits()
    test_many_rules()
    test_proxy(ca)
    test_authorities(ca)
    test_prompt()
    test_agents()
    test_mcp()
    test_mcp_dialog()
    test_sessions()
    test_commands()
    test_expose()
finally:
    shutil.rmtree(folder, ignore_errors=True)
tap.plan()
sys.exit(1 if tap.failed else 0)
