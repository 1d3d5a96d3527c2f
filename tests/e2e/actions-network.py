#!/usr/bin/python3
"""Actions of YAML workflows reach the hosts in network.allowlist with allow_network, and no others. In a namespace of its
own, with addresses that look public; the same attempts are made outside of the sandbox, where they succeed. TAP. Needs
GB_GLOVEBOX."""
import os
import shutil
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sdk", "python"))
import netns
import tap

GOOD, EVIL = "good.example", "evil.example"
ADDRESSES = {GOOD: "11.0.0.1", EVIL: "11.0.0.2"}
SOURCES = {
    "python": "import urllib.request\nurllib.request.urlopen('http://{}/', timeout=20).read().decode().strip()",
    "javascript": "(async () => (await (await fetch('http://{}/')).text()).trim())()",
    "bash": "exec 3<>/dev/tcp/{}/80 && printf 'GET / HTTP/1.0\\r\\nHost: {}\\r\\n\\r\\n' >&3 && tail -n 1 <&3",
}

netns.enter()
folder = tempfile.mkdtemp()
world = netns.World(folder)
for host, address in ADDRESSES.items():
    world.names[host] = [world.address(address)]
    world.listen(address, 80, netns.http)

for name in [name for name in os.environ if name.startswith("GLOVEBOX_")]:
    del os.environ[name]
settings = os.path.join(folder, "settings.yaml")
with open(settings, "w") as file:
    file.write(f"network:\n  allowlist: [{GOOD}]\n")
os.environ.update(HOME=folder, GLOVEBOX_STATE_DIR=os.path.join(folder, "state"), GLOVEBOX_PATH=os.environ["GB_GLOVEBOX"],
                  GLOVEBOX_CONFIG=settings)

from glovebox.actions import register_actions


class Engine:
    """As a YAML engine has it."""

    _enable_code_execution = True
    _config = {"settings": {"code": {"sandbox_mode": "permissive"}}}

    def __init__(self):
        self.actions = {}
        register_actions(self.actions, self)

    def execute(self, language, host, **more):
        source = SOURCES[language].replace("{}", host)
        return self.actions["code.execute"](state={}, code=source, language=language, **more)

    def sandbox(self, action, **more):
        return self.actions["code.sandbox"](state={}, action=action, **more)


engine = Engine()


def answer(result):
    return str(result["return_value"] or "") + result["stdout"]


@tap.test("outside of the sandbox, both hosts are reached")
def outside():
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for name, where in ADDRESSES.items():
        assert b"SERVED" in opener.open(f"http://{where}/").read(), name


for language in SOURCES:

    @tap.test(f"allow_network reaches a host of network.allowlist, in {language}")
    def reached():
        result = engine.execute(language, GOOD, allow_network=True)
        assert result["success"] and f"SERVED {GOOD}" in answer(result), result

    @tap.test(f"and no other host, in {language}")
    def refused():
        before = len(world.connections)
        for host in (EVIL, ADDRESSES[EVIL]):
            result = engine.execute(language, host, allow_network=True)
            assert not result["success"] and "SERVED" not in answer(result), result
        assert len(world.connections) == before, world.connections

    @tap.test(f"without it no host at all, in {language}")
    def isolated():
        before = len(world.connections)
        result = engine.execute(language, GOOD)
        assert not result["success"] and "SERVED" not in answer(result), result
        assert len(world.connections) == before, world.connections

    @tap.test(f"the same for a sandbox, in {language}")
    def sandboxes():
        for allowed in (True, False):
            made = engine.sandbox("create", language=language, allow_network=allowed)
            assert made["success"], made
            for host in (GOOD, EVIL):
                source = SOURCES[language].replace("{}", host)
                result = engine.sandbox("execute", sandbox_id=made["sandbox_id"], code=source)
                served = f"SERVED {host}" in answer(result)
                assert served == (allowed and host == GOOD), (allowed, host, result)
            assert engine.sandbox("destroy", sandbox_id=made["sandbox_id"])["destroyed"]


@tap.test("without hosts in network.allowlist, allow_network is refused with the setting that is missing")
def no_hosts():
    with open(settings, "w") as file:
        file.write("network:\n  allowlist: []\n")
    other = Engine()
    result = other.execute("python", GOOD, allow_network=True)
    assert not result["success"] and "network.allowlist" in result["error"], result
    made = other.sandbox("create", allow_network=True)
    assert not made["success"] and "network.allowlist" in made["error"], made
    other._glovebox_actions.close()


engine._glovebox_actions.close()
tap.plan()
shutil.rmtree(folder)
