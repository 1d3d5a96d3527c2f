#!/usr/bin/python3
"""Code with tools reaches the hosts that its request names, and no others. In a namespace of its own, with addresses that
look public; the same attempts are made outside of the sandbox, where they succeed. TAP. Needs GB_GLOVEBOX."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import netns
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
GOOD, OTHER, EVIL = "good.example", "other.example", "evil.example"
ADDRESSES = {GOOD: "11.0.0.1", OTHER: "11.0.0.2", EVIL: "11.0.0.3"}
WAIT = 120  # seconds; only a test that fails takes that long

netns.enter()
folder = tempfile.mkdtemp()
world = netns.World(folder)
for host, host_address in ADDRESSES.items():
    world.names[host] = [world.address(host_address)]
    world.listen(host_address, 80, netns.http)

SETTINGS = ["agent.enabled=true", "agent.autoApprove=true", "energy.enabled=false",
            "agent.allowedRuntimes=[javascript, deno]", f"network.allowlist=[{GOOD}, {OTHER}]"]
ENV = {name: value for name, value in os.environ.items() if not name.startswith("GLOVEBOX_")}
ENV.update(HOME=folder, GLOVEBOX_STATE_DIR=os.path.join(folder, "state"))
os.environ.update(ENV)
FETCH = 'return (await (await fetch("http://{}/")).text()).trim()'
# In CI, a missing Deno is a failure and no reason to skip.
HAS_DENO = shutil.which("deno") is not None or "CI" in os.environ
RUNTIMES = {"js": [], **({"deno": ["-l", "deno"]} if HAS_DENO else {})}


def execute(code, *options):
    with open(os.path.join(folder, "code.ts"), "w") as file:
        file.write(code)
    command = [GLOVEBOX, "executor", file.name, *options]
    for setting in SETTINGS:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, env=ENV, stdin=subprocess.DEVNULL, timeout=WAIT, check=False)
    # The result is the last line; denials are told before it.
    return json.loads(done.stderr.splitlines()[-1]), done.returncode


@tap.test("outside of the sandbox, all hosts are reached")
def outside():
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for name, where in ADDRESSES.items():
        assert b"SERVED" in opener.open(f"http://{where}/").read(), name


for runtime, language in RUNTIMES.items():

    @tap.test(f"AC3.2 code reaches a host on the allowlist, on {runtime}")
    def allowed():
        result, status = execute(FETCH.format(GOOD), *language, "--net", f"{GOOD},{OTHER}")
        assert (result["success"], result["output"], status) == (True, f"SERVED {GOOD}", 0), result

    @tap.test(f"AC3.9 code reaches no host that is not on the allowlist, on {runtime}")
    def refused():
        connections = len(world.connections)
        for host in (EVIL, ADDRESSES[EVIL], OTHER):  # OTHER is in the settings, and not in the request
            result, status = execute(FETCH.format(host), *language, "--net", GOOD)
            assert not result["success"] and status == 1 and result["error"], (host, result)
            assert "(line 1," in result["error"] or "(line" not in result["error"], result
        assert len(world.connections) == connections, world.connections

    @tap.test(f"AC3.9 without hosts in the request there is no network, whatever the settings have, on {runtime}")
    def isolated():
        result, _ = execute(FETCH.format(GOOD), *language)
        assert not result["success"] and "Requires net access" in result["error"], result

    @tap.test(f"the record has the tier and the hosts that a person approves, on {runtime}")
    def recorded():
        execute("return 1", *language, "--net", GOOD)
        listed = subprocess.run([GLOVEBOX, "audit", "export"], capture_output=True, text=True, env=ENV, check=True)
        record = json.loads(listed.stdout.splitlines()[-1])
        assert record["tier"] == "network" and record["permissions"]["hosts"] == [GOOD], record

    @tap.test(f"a request names no host that the settings do not admit, on {runtime}")
    def wider():
        for hosts in (EVIL, f"{GOOD},{EVIL}", "*.good.example", f"{GOOD}:81"):
            result, status = execute("return 1", *language, "--net", hosts)
            assert status == 3 and "network.allowlist" in result["error"], (hosts, result)
        result, status = execute("return 1", *language, "--net", "no host")
        assert status == 3 and "'no host'" in result["error"], result


@tap.test("over glovebox stdio")
def stdio():
    client = netns.Client(GLOVEBOX, [GOOD, OTHER], *SETTINGS[:-1])
    for number, net, field in ((1, [GOOD, 5], "net"), (2, ["a,b"], "net"), (3, "x", "net")):
        client.send(type="executor", run=number, source="return 1", net=net)
        answer = client.receive("executor_result")
        assert answer["type"] == "error" and answer["field"] == field, answer
    for language in ["typescript", *(["deno"] if HAS_DENO else [])]:
        client.send(type="executor", run=4 + (language == "deno"), source=FETCH.format(OTHER), language=language, net=[OTHER])
        result = client.receive("executor_result")["result"]
        assert result["output"] == f"SERVED {OTHER}", result
    client.close()


tap.plan()
shutil.rmtree(folder)
