#!/usr/bin/python3
"""Attacks through fetch in JavaScript: by code, with headers and URLs; by servers, with redirects, compressed bodies, answers
that never end or that are no HTTP. Each is possible without the sandbox: curl or a plain socket outside shows it."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fetchworld
import netns
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
HOST, ADDRESS = "good.example", "11.0.0.1"
EVIL, EVIL_ADDRESS = "evil.example", "11.0.0.2"
INSIDE, PRIVATE, METADATA = "inside.example", "10.9.8.7", "169.254.169.254"
ALLOWLIST = [HOST, INSIDE]
BASE = f"const base = 'http://{HOST}';\n"
TRY = "const attempt = async (run) => { try { return await run(); } catch (error) { return `${error.name}: ${error.message}`; } };\n"

netns.enter()
folder = tempfile.mkdtemp()
world = netns.World(folder)
world.names.update({HOST: [world.address(ADDRESS)], EVIL: [world.address(EVIL_ADDRESS)], INSIDE: [world.address(PRIVATE)]})
world.address(METADATA)
server = fetchworld.start(world, ADDRESS, 80)
others = {address: fetchworld.start(world, address, 80) for address in (EVIL_ADDRESS, PRIVATE, METADATA, "127.0.0.1")}
code = fetchworld.Code(GLOVEBOX, ALLOWLIST)


def curl(*arguments):
    """What curl outside prints."""
    return subprocess.run(["curl", "-sS", "--max-time", "60", *arguments], capture_output=True, env={"PATH": os.environ["PATH"]}).stdout


def raw(request, enough=1 << 20):
    """What the server answers to these bytes, at most so many."""
    got = b""
    with socket.create_connection((ADDRESS, 80)) as stream:
        stream.sendall(request)
        stream.settimeout(5)
        try:
            while len(got) < enough and (piece := stream.recv(65536)):
                got += piece
        except TimeoutError:
            pass
    return got


def get(path, *headers):
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {HOST}", "Connection: close", *headers, "", ""]).encode()


def value(source, **more):
    return code.value(BASE + TRY + source, **more)


def alive(what):
    seen = value("return (await fetch(`${base}/status/200`)).text();")
    tap.ok(f"after {what} requests still work", seen == "body", seen)


def test_redirects():
    secret = os.path.join(folder, "secret")
    with open(secret, "w") as file:
        file.write("SECRET")
    hosts = {"a public address": EVIL_ADDRESS, "a private address": PRIVATE, "the metadata service": METADATA,
             "loopback": "127.0.0.1", "a host without a rule": EVIL, "an allowed name with a private address": INSIDE}
    for name, host in hosts.items():
        path = f"/redirect?to=http://{host}/status/200"
        tap.ok(f"redirect to {name}: followed without the wall", curl("-L", f"http://{HOST}{path}") == b"body")
        before = [len(one.requests) for one in others.values()]
        seen = value(f"return attempt(async () => (await fetch(`${{base}}{path}`)).text());")
        tap.ok(f"redirect to {name}: refused", str(seen).startswith("TypeError: fetch failed"), seen)
        tap.ok(f"redirect to {name}: and nothing is reached", before == [len(one.requests) for one in others.values()])
    said = curl("-L", "--proto-redir", "=all", f"http://{HOST}/redirect?to=file://{secret}")
    tap.ok("redirect to a file: followed without the wall", said == b"SECRET", said)
    for url in (f"file://{secret}", "ftp://good.example/", "data:text/plain,SECRET", "javascript:1", "blob:http://good.example/x",
                "gopher://good.example/", "about:blank", "ws://good.example/", "http://user:pass@good.example/status/200", "http://["):
        seen = value(f"return attempt(async () => (await fetch(`${{base}}/redirect?to={url}`)).text());")
        tap.ok(f"redirect to {url.replace(folder, '')}: refused", str(seen).startswith("TypeError: fetch failed: the redirect leads") or
               "does not lead to a URL" in str(seen), seen)


def test_headers():
    injected = raw(get("/echo", "X: a\r\nInjected: yes"))
    tap.ok("a header with a line break is two headers for a server", b'["Injected", "yes"]' in injected, injected)
    n_before = len(server.requests)
    seen = value("""
        const bad = ['\\r', '\\n', '\\0', '\\r\\nInjected: yes', '\\n Injected: yes'], all = [];
        for (const text of bad) {
            const run = (name, init) => attempt(async () => { await fetch(`${base}/echo`, init); return name + JSON.stringify(text); });
            all.push(await run('value', {headers: {x: `a${text}b`}}), await run('name', {headers: {[`a${text}b`]: 'x'}}),
                await run('method', {method: `GET${text}X`}), await run('list', {headers: [['x', `a${text}b`]]}),
                await attempt(async () => { new Headers().set('x', `a${text}b`); return 'set'; }),
                await attempt(async () => { new Request(base).headers.append(`x${text}b`, 'y'); return 'append'; }),
                await attempt(async () => { new Response('', {statusText: `a${text}b`}); return 'statusText'; }));
        }
        return all.filter((one) => !one.startsWith('TypeError'));""")
    tap.ok("header injection: CR, LF and NUL in names, values and methods are refused", seen == [], seen)
    seen = value("""
        const got = await (await fetch(`${base}/echo/\\r\\nInjected: yes?a=\\r\\nb: c\\0d`)).json();
        return [got.target, got.headers.some(([name]) => name === 'Injected' || name === 'b')];""")
    tap.ok("line breaks in a URL are no line breaks of the request", seen == ["/echo/Injected:%20yes?a=b:%20c%00d", False], seen)
    seen = value("return attempt(async () => { await fetch(`${base}/echo`, {headers: {x: 'a\\u010ab'}}); return 'sent'; });")
    tap.ok("letters whose low byte is a line break are refused", str(seen).startswith("TypeError"), seen)
    host = raw(get("/echo", f"Host: {EVIL}"))
    tap.ok("a second Host reaches a server without the wall", EVIL.encode() in host, host)
    names = ["Host", "hOsT", "Transfer-Encoding", "Content-Length", "Connection", "Upgrade", "TE", "Trailer", "Expect", "Keep-Alive",
             "Proxy-Authorization", "Proxy-Connection", "HTTP2-Settings"]
    seen = value(f"""
        const all = [];
        for (const name of {json.dumps(names)}) {{
            all.push([name, await attempt(async () => {{ await fetch(`${{base}}/echo`, {{headers: {{[name]: '{EVIL}'}}}}); return 'sent'; }})]);
            const request = new Request(`${{base}}/echo`, {{method: 'POST', body: 'x'}});
            request.headers.append(name, 'chunked');
            all.push([name, await attempt(async () => {{ await fetch(request); return 'sent'; }})]);
        }}
        return all.filter(([, said]) => !said.startsWith('TypeError'));""")
    tap.ok("headers of the connection are refused: " + ", ".join(names), seen == [], seen)
    sent = [one.target for one in server.requests[n_before:] if one.fields.get("user-agent") == "glovebox"]
    tap.ok("of all these one request was made, that with the URL", sent == ["/echo/Injected:%20yes?a=b:%20c%00d"], sent)
    # Checks of the code's own process can be circumvented: glovebox-egress repeats them (tests/unit/test-egress-fetch.c).
    n_before = len(server.requests)
    value("""
        for (const prototype of [Array.prototype, String.prototype, RegExp.prototype, Headers.prototype])
            for (const name of ['includes', 'test', 'replace', 'has', 'toLowerCase'])
                if (typeof prototype[name] === 'function')
                    try { prototype[name] = name === 'test' ? () => true : name === 'toLowerCase' ? () => 'x' : () => false; } catch {}
        return attempt(async () => { const got = await fetch(`${base}/echo`, {headers: {Host: 'evil.example'}}); return got.text(); });""")
    hosts = [header for one in server.requests[n_before:] for header in one.headers if EVIL in header[1]]
    tap.ok("nor is there another Host when code replaces functions of the language", hosts == [], hosts)


def test_bombs():
    answer = raw(get("/bomb?as=gzip"), 1 << 30)
    inflated = zlib.decompressobj(31).decompress(answer.split(b"\r\n\r\n", 1)[1], 300 << 20)
    tap.ok("a decompression bomb: 300 MiB and more without the wall", len(inflated) == 300 << 20, len(answer))
    for kind in ("gzip", "twice", "br"):
        seen = value(f"return attempt(async () => (await (await fetch(`${{base}}/bomb?as={kind}`)).bytes()).length);")
        tap.ok(f"a decompression bomb is refused: {kind}", seen == "TypeError: fetch failed: the body becomes too large when it is decompressed",
               seen)
        seen = value(f"""
            let n = 0;
            const said = await attempt(async () => {{ for await (const piece of (await fetch(`${{base}}/bomb?as={kind}`)).body) n += piece.length; }});
            return [said, n <= 256 << 20];""")
        tap.ok(f"also piece by piece: {kind}", seen == ["TypeError: fetch failed: the body becomes too large when it is decompressed", True], seen)
    alive("decompression bombs")


ENDLESS = ("head", "headers", "interim", "body", "chunks", "extension", "trailers")


def test_endless():
    """The limit of received bytes ends them; it does not count extensions of chunks, in which no progress is seen."""
    code = fetchworld.Code(GLOVEBOX, ALLOWLIST, "network.maxReceived=1M", "network.idleTimeout=2s")
    for how in ENDLESS:
        got = raw(get(f"/endless?how={how}"), 3 << 20)
        tap.ok(f"endless {how}: more than 3 MiB without the wall", len(got) >= 3 << 20, len(got))
        server.wait(f"endless {how} closed")
        n = server.counts[f"endless {how} closed"]
        seen = code.value(BASE + TRY + f"return attempt(async () => (await fetch(`${{base}}/endless?how={how}`)).text());")
        tap.ok(f"endless {how}: the request fails", str(seen).startswith("TypeError: fetch failed"), seen)
        tap.ok(f"endless {how}: and its connection is closed", server.wait(f"endless {how} closed", n + 1))
    tap.ok("the server of these runs ends", code.close() == 0)
    alive("answers without an end")


def test_trickle():
    result = code.run(BASE + "await fetch(`${base}/trickle`);", timeoutMs=1500)
    tap.ok("a server that trickles: the time limit of the run ends it", result.get("timedOut") and server.wait("trickle closed"), result)
    seen = value("return attempt(() => fetch(`${base}/trickle`, {signal: AbortSignal.timeout(300)}));")
    tap.ok("so does a time limit of the request", str(seen).startswith("TimeoutError") and server.wait("trickle closed", 2), seen)
    alive("a server that trickles")


# Answers that are read all the same: what the code gets of them.
HARMLESS = {}


def test_garbage():
    for name, answer in fetchworld.GARBAGE.items():
        got = raw(get(f"/garbage?as={name.replace(' ', '+')}"))
        tap.ok(f"garbage, {name}: reaches a client without the wall", got == answer, got)
        seen = value(f"""return attempt(async () => {{
            const got = await fetch(`${{base}}/garbage?as={name.replace(' ', '+')}`);
            return [got.status, await got.text()]; }});""")
        expected = HARMLESS.get(name)
        tap.ok(f"garbage, {name}: " + ("is read as it must be" if expected else "the request fails"),
               seen == expected if expected else str(seen).startswith("TypeError: fetch failed"), seen, expected)
    alive("garbage")


try:
    test_redirects()
    test_headers()
    test_bombs()
    test_endless()
    test_trickle()
    test_garbage()
    server.stopping = True
    tap.ok("the program ends", code.close() == 0)
finally:
    shutil.rmtree(folder, ignore_errors=True)
tap.plan()
sys.exit(1 if tap.failed else 0)
