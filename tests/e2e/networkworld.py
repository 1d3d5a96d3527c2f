"""The world of the tests of the network tier: servers at addresses that look public, and Glovebox with an allowlist.

    from networkworld import *
    ca, *kept = prepare()            # starts the servers; ca: the certificate of their authority
    result = run("shell", "curl ...")

Importing it enters namespaces: see netns.
"""
import json
import os
import socket
import subprocess
import tempfile

import netns

GLOVEBOX = os.environ["GB_GLOVEBOX"]
GOOD, EVIL, IDNA = "good.example", "evil.example", "b\u00fccher.example"
GOOD_ADDRESS, EVIL_ADDRESS, PRIVATE, LITERAL = "11.0.0.1", "11.0.0.2", "10.9.8.7", "11.0.0.3"
PORT, OTHER_PORT, CLAIMED, EXPOSED = 8081, 8082, 8083, 8090
ALLOWLIST = [GOOD, f"{GOOD}:5432", "xn--bcher-kva.example", "*.wild.example", "inside.example", "mixed.example",
             "rebind.example", f"127.0.0.1:{PORT}", f"127.0.0.1:{CLAIMED}", f"127.0.0.1:{EXPOSED}", f"{LITERAL}:5432", "late.example:7000"]

netns.enter()
folder = tempfile.mkdtemp()
world = netns.World(folder)
tap_folder = os.path.join(folder, "state")


def rebind(answers):
    """The first answer is public, every later one is loopback."""
    asked = []

    def answer(kind):
        asked.append(kind)
        return answers[0] if asked.count(1) <= 1 else answers[1]
    return answer


def rebinding():
    return rebind([[GOOD_ADDRESS], ["127.0.0.1"]])


def prepare():
    for address in (GOOD_ADDRESS, EVIL_ADDRESS, PRIVATE, LITERAL, "169.254.169.254"):
        world.address(address)
    world.names.update({
        GOOD: [GOOD_ADDRESS], EVIL: [EVIL_ADDRESS], "xn--bcher-kva.example": [GOOD_ADDRESS],
        "a.wild.example": [GOOD_ADDRESS], "wild.example": [GOOD_ADDRESS], "inside.example": [PRIVATE],
        "mixed.example": [GOOD_ADDRESS, PRIVATE], "rebind.example": rebinding()})
    ca = world.authority()
    context = world.server_context(GOOD, EVIL)
    for address in (GOOD_ADDRESS, EVIL_ADDRESS):
        world.listen(address, 443, netns.http, context)
    for address in (GOOD_ADDRESS, EVIL_ADDRESS, PRIVATE, "169.254.169.254", "127.0.0.1", "::1"):
        world.listen(address, 80, netns.http)
    for address, port in ((GOOD_ADDRESS, 5432), (GOOD_ADDRESS, 5433), (LITERAL, 5432), ("127.0.0.1", PORT),
                          ("127.0.0.1", OTHER_PORT), ("127.0.0.1", CLAIMED), ("::1", PORT)):
        world.listen(address, port, netns.echo)
    for address in (GOOD_ADDRESS, EVIL_ADDRESS):
        echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        echo.bind((address, 443))
        netns.thread(answer_udp, echo)
    other_dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other_dns.bind((EVIL_ADDRESS, 53))
    netns.thread(answer_dns, other_dns)
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(b"\0network-test")
    abstract.listen()
    netns.thread(greet, abstract)
    # As a Glovebox process that listens: see src/base/claim.h.
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    claim.bind(f"\0glovebox/listens/{os.getuid()}/{CLAIMED}/1".encode())
    return ca, claim, abstract


def answer_udp(stream):
    while True:
        data, client = stream.recvfrom(2000)
        stream.sendto(data, client)


def answer_dns(stream):
    while True:
        data, client = stream.recvfrom(2000)
        stream.sendto(world.answer(data), client)


def greet(listener):
    while True:
        connection, _ = listener.accept()
        connection.sendall(b"SERVED")
        connection.close()


def glovebox(*arguments, allowlist=ALLOWLIST, settings=(), **more):
    """Run the program; returns its exit status, output and errors."""
    command = [GLOVEBOX, *arguments, "--set", f"network.allowlist={json.dumps(allowlist)}"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, GLOVEBOX_STATE_DIR=tap_folder),
                          **more)
    return done


def run(language, code, net=ALLOWLIST, files=(), **more):
    """Run code; returns its result."""
    arguments = ["run", "-l", language, "--json", "--timeout", "120s", "--net", ",".join(net), "-e", code]
    for file in files:
        arguments += ["--file", file]
    for module in ("fs", "http", "https", "dns", "dns/promises") if language == "node" else ():
        arguments += ["--allow", module]
    done = glovebox(*arguments, **more)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"status": "none", "stdout": "", "stderr": done.stderr, "exit": done.returncode}
