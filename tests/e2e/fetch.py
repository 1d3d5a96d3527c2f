#!/usr/bin/python3
"""fetch in JavaScript of the network tier: each class and function that belongs to it, streams, redirects, codings,
time-outs, cancellation, requests at the same time. Servers and name server are in a network namespace of the test."""
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fetchworld
import netns
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
HOST, OTHER, EVIL = "good.example", "other.example", "evil.example"
ADDRESS, OTHER_ADDRESS, EVIL_ADDRESS = "11.0.0.1", "11.0.0.2", "11.0.0.3"
ALLOWLIST = [HOST, OTHER, "silent.example"]
NAMES = ["AbortController", "AbortSignal", "Blob", "DOMException", "Event", "EventTarget", "File", "FormData", "Headers",
         "ReadableStream", "Request", "Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "clearInterval",
         "clearTimeout", "fetch", "setInterval", "setTimeout"]
BASE = f"const base = 'http://{HOST}', other = 'http://{OTHER}';\n"

netns.enter()
folder = tempfile.mkdtemp()
world = netns.World(folder)
world.names.update({HOST: [world.address(ADDRESS)], OTHER: [world.address(OTHER_ADDRESS)],
                    EVIL: [world.address(EVIL_ADDRESS)], "silent.example": lambda kind: netns.SILENT})
server = fetchworld.start(world, ADDRESS, 80)
other = fetchworld.start(world, OTHER_ADDRESS, 80)
evil = fetchworld.start(world, EVIL_ADDRESS, 80)
code = fetchworld.Code(GLOVEBOX, ALLOWLIST)


def check(name, source, expected, **more):
    """The code returns what is expected."""
    seen = code.value(BASE + source, **more)
    tap.ok(name, seen == expected, seen, expected)


def test_names():
    listed = f"{NAMES}.filter((name) => name in globalThis).sort()"
    check("the names of the network tier exist there", f"return {listed};", NAMES)
    check("and are functions", f"return {NAMES}.filter((name) => typeof globalThis[name] !== 'function');", [])
    result = code.plain(f"export default {listed}", options={"language": "js"})
    tap.ok("none of the names exists in the isolated tier", result.get("result") == [], result)
    result = code.plain("let n = 0; try { setTimeout(() => n++, 1) } catch (e) { n = e.name } export default n",
                             options={"language": "js"})
    tap.ok("nor do timers", result.get("result") == "ReferenceError", result)
    result = code.plain("export default typeof fetch", options={"language": "ts", "net": ALLOWLIST})
    tap.ok("TypeScript of the network tier has them", result.get("result") == "function", result)


def test_request_response():
    check("a request is sent as it was given", """
        const got = await (await fetch(`${base}/echo/ü?q=ö&x=1#hidden`, {method: 'PATCH', body: 'text', headers: {'X-A': '1'}})).json();
        const fields = Object.fromEntries(got.headers.map(([n, v]) => [n.toLowerCase(), v]));
        return [got.method, got.target, got.body, fields['x-a'], fields['content-type'], fields.host, fields['content-length']];""",
          ["PATCH", "/echo/%C3%BC?q=%C3%B6&x=1", "dGV4dA==", "1", "text/plain;charset=UTF-8", HOST, "4"])
    check("a request has no cookies, credentials, origin or referrer of its own", """
        await (await fetch(`${base}/status/200`)).text();
        const got = await (await fetch(`${base}/echo`, {credentials: 'include', referrer: base})).json();
        return got.headers.map(([name]) => name.toLowerCase()).sort();""",
          ["accept", "accept-encoding", "accept-language", "host", "user-agent"])
    check("a URL with credentials is refused", """
        return fetch('http://user:pass@good.example/').catch((error) => error.name);""", "TypeError")
    check("a Request is sent", """
        const request = new Request(`${base}/echo`, {method: 'post', body: new Uint8Array([0, 255]), headers: [['x', 'y']]});
        const copy = request.clone();
        const got = await (await fetch(request)).json(), again = await (await fetch(copy)).json();
        return [got.method, got.body, again.body, request.bodyUsed, await fetch(request).catch((error) => error.name)];""",
          ["POST", "AP8=", "AP8=", True, "TypeError"])
    check("a response has status, headers, text", """
        const got = await fetch(`${base}/status/404#part`);
        return [got.status, got.ok, got.statusText, got.type, got.redirected, got.url, got.headers.get('x-one'),
            got.headers.getSetCookie(), await got.text(), got.bodyUsed, await got.text().catch((error) => error.name)];""",
          [404, False, "Status", "basic", False, f"http://{HOST}/status/404", "1, 2", ["a=1", "b=2"], "body", True, "TypeError"])
    check("responses without a body", """
        const all = [];
        for (const [status, method] of [[204, 'GET'], [304, 'GET'], [200, 'HEAD'], [404, 'HEAD']]) {
            const got = await fetch(`${base}/status/${status}`, {method});
            all.push([got.status, await got.text()]);
        }
        return all;""", [[204, ""], [304, ""], [200, ""], [404, ""]])
    check("a response is read in each form", """
        const get = () => fetch(`${base}/back`, {method: 'POST', body: '{"a":"ü"}', headers: {'Content-Type': 'a/b'}});
        const blob = await (await get()).blob();
        return [await (await get()).json(), (await (await get()).arrayBuffer()).byteLength, blob.type, blob.size,
            [...await (await get()).bytes()].slice(0, 2), await (await get()).text()];""",
          [{"a": "ü"}, 10, "a/b", 10, [123, 34], '{"a":"ü"}'])
    check("a clone has the same body", """
        const got = await fetch(`${base}/bytes?n=300032`), copy = got.clone();
        const [one, two] = await Promise.all([got.bytes(), copy.bytes()]);
        return [one.length, two.length, one.every((byte, i) => byte === two[i])];""", [300032, 300032, True])
    check("Response and its static functions", """
        const one = new Response('a', {status: 201, statusText: 'Fine', headers: {a: 'b'}}), made = Response.json({b: 1});
        return [one.status, one.statusText, one.headers.get('a'), await one.text(), await made.json(),
            made.headers.get('content-type'), Response.redirect(base, 308).headers.get('location'), Response.error().type];""",
          [201, "Fine", "b", "a", {"b": 1}, "application/json", f"http://{HOST}/", "error"])
    check("Headers", """
        const headers = new Headers({B: ' 2 ', a: '1'});
        headers.append('a', '3'); headers.set('c', 'x'); headers.delete('c');
        return [[...headers], headers.has('A'), headers.get('b'), headers.get('c')];""",
          [[["a", "1, 3"], ["b", "2"]], True, "2", None])
    check("URL and URLSearchParams", """
        const url = new URL('../c?x=1&x=2#f', 'https://User@EXAMPLE.com:443/a/b/');
        url.searchParams.append('y', 'a b&'); url.port = '8080';
        return [url.href, url.origin, url.searchParams.getAll('x'), URL.canParse('http://['), String(new URLSearchParams({q: 'ü'}))];""",
          ["https://User@example.com:8080/a/c?x=1&x=2&y=a+b%26#f", "https://example.com:8080", ["1", "2"], False, "q=%C3%BC"])
    check("TextEncoder and TextDecoder", """
        const decoder = new TextDecoder(), bytes = new TextEncoder().encode('aü€😀');
        const pieces = [...bytes].map((byte) => decoder.decode(new Uint8Array([byte]), {stream: true})).join('') + decoder.decode();
        let fatal; try { new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([255])); } catch (error) { fatal = error.name; }
        return [bytes.length, pieces, new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 255])), fatal,
            new TextEncoder().encodeInto('ü€', new Uint8Array(3))];""",
          [10, "aü€😀", "a\ufffd", "TypeError", {"read": 1, "written": 2}])
    check("Blob and File", """
        const blob = new Blob(['ab', new Uint8Array([99]), new Blob(['d'])], {type: 'A/B'}), file = new File([blob], 'name', {lastModified: 5});
        return [blob.size, blob.type, await blob.text(), await blob.slice(1, 3).text(), file.name, file.lastModified, file.size,
            file instanceof Blob];""", [4, "a/b", "abcd", "bc", "name", 5, 4, True])
    check("a FormData is sent and read", """
        const form = new FormData();
        form.append('a', '1'); form.append('a', 'ü\\n2'); form.append('f', new Blob(['\\r\\n--x'], {type: 'c/d'}), 'n"ame');
        const got = await (await fetch(`${base}/back`, {method: 'POST', body: form})).formData(), file = got.get('f');
        return [got.getAll('a'), file.name, file.type, await file.text(), file instanceof File];""",
          [["1", "ü\r\n2"], 'n"ame', "c/d", "\r\n--x", True])
    check("a body of URLSearchParams", """
        const got = await (await fetch(`${base}/back`, {method: 'POST', body: new URLSearchParams({a: 'b c', d: 'ü'})})).formData();
        return [...got];""", [["a", "b c"], ["d", "ü"]])
    check("many headers and a long path", """
        const headers = Object.fromEntries(Array.from({length: 200}, (_, i) => [`x-${i}`, 'v'.repeat(100)]));
        const got = await (await fetch(`${base}/echo?${'q'.repeat(20000)}`, {headers})).json();
        return [got.target.length, got.headers.filter(([name, value]) => name.startsWith('x-') && value.length === 100).length];""",
          [20006, 200])
    check("empty values and values of bytes above 127", """
        const got = await (await fetch(`${base}/echo`, {headers: {empty: '', high: 'ü'}})).json();
        return got.headers.filter(([name]) => ['empty', 'high'].includes(name.toLowerCase()));""", [["empty", ""], ["high", "ü"]])
    check("data: URLs are read without a server", "return (await fetch('data:text/plain,a%20b')).text();", "a b")


def test_streams():
    check("a body is read while the server still sends it", """
        const reader = (await fetch(`${base}/download?event=download`)).body.getReader(), decoder = new TextDecoder();
        const first = decoder.decode((await reader.read()).value);
        await (await fetch(`${base}/happen?event=download`)).text();
        let rest = '';
        for (let piece; !(piece = await reader.read()).done;) rest += decoder.decode(piece.value);
        return [first, rest];""", ["first", "second"])
    check("a body is iterated", """
        let n = 0;
        for await (const piece of (await fetch(`${base}/bytes?n=1000192`)).body) n += piece.length;
        return n;""", 1000192)
    check("a body is sent while the code still makes it", """
        const parts = ['one', 'two', 'three'], encoder = new TextEncoder();
        let at = 0;
        const body = new ReadableStream({async pull(controller) {
            if (at > 0)
                await (await fetch(`${base}/await?event=up%20${parts[at - 1]}`)).text();
            if (at < parts.length)
                controller.enqueue(encoder.encode(parts[at++]));
            else
                controller.close();
        }}, {highWaterMark: 0});
        return (await fetch(`${base}/upload?name=up`, {method: 'POST', body, duplex: 'half'})).text();""", "one,two,three")
    check("a stream that is made faster than the server reads waits", """
        let made = 0, released = false;
        const body = new ReadableStream({async pull(controller) {
            made += 65536;
            controller.enqueue(new Uint8Array(65536));
            if (made === 32 << 20) controller.close();
        }}, {highWaterMark: 0});
        const got = fetch(`${base}/slow_upload?event=slow`, {method: 'POST', body, duplex: 'half'});
        for (let before = -1; before !== made; await new Promise((resolve) => setTimeout(resolve, 200))) before = made;
        const waited = made < 16 << 20;
        await (await fetch(`${base}/happen?event=slow`)).text();
        return [waited, await (await got).text(), made];""", [True, str(32 << 20), 32 << 20])
    check("a body that is not read makes the server wait, and can be read later", """
        const got = await fetch(`${base}/bytes?n=10000128`), others = [];
        for (let i = 0; i < 5; i++) others.push(await (await fetch(`${base}/back`, {method: 'POST', body: `${i}`})).text());
        return [others.join(''), (await got.bytes()).length];""", ["01234", 10000128])
    check("a stream that fails ends the request", """
        const body = new ReadableStream({pull(controller) { controller.error(new RangeError('mine')); }});
        return fetch(`${base}/upload?name=failing`, {method: 'POST', body, duplex: 'half'}).catch((error) => `${error}`);""",
          "RangeError: mine")
    check("a large body of known length", """
        const bytes = new Uint8Array(5000000).map((_, i) => i);
        const got = await (await fetch(`${base}/back`, {method: 'POST', body: bytes})).bytes();
        return [got.length, got.every((byte, i) => byte === (i & 255))];""", [5000000, True])
    for how in ("length", "chunks"):
        check(f"a body that ends too early is an error: {how}", f"""
            const got = await fetch(`${{base}}/cut?how={how}`);
            return [got.status, await got.text().catch((error) => error.name)];""", [200, "TypeError"])


def test_redirects():
    check("follow", """
        const got = await fetch(`${base}/redirect?to=${encodeURIComponent(`${other}/status/200`)}`);
        return [got.status, got.redirected, got.url, await got.text()];""", [200, True, f"http://{OTHER}/status/200", "body"])
    check("manual: the redirect itself is the response", """
        const got = await fetch(`${base}/redirect?to=/echo`, {redirect: 'manual'});
        return [got.status, got.headers.get('location'), await got.text()];""", [302, "/echo", "moved"])
    check("error: a redirect is an error", """
        return fetch(`${base}/redirect?to=/echo`, {redirect: 'error'}).catch((error) => error.name);""", "TypeError")
    check("methods and bodies of redirects", """
        const all = [];
        for (const [status, method] of [[301, 'POST'], [302, 'POST'], [302, 'PUT'], [303, 'PUT'], [307, 'POST'], [308, 'PUT'], [303, 'HEAD']]) {
            const got = await fetch(`${base}/redirect?status=${status}&to=/echo`, {method, body: method === 'HEAD' ? undefined : 'x'});
            const shown = method === 'HEAD' ? {method: 'HEAD', body: ''} : await got.json();
            all.push(`${status} ${method} ${shown.method} ${shown.body}`);
        }
        return all;""", ["301 POST GET ", "302 POST GET ", "302 PUT PUT eA==", "303 PUT GET ", "307 POST POST eA==",
                         "308 PUT PUT eA==", "303 HEAD HEAD "])
    check("credentials in headers do not follow to another origin", """
        const headers = {Authorization: 'secret', Cookie: 'a=b', 'X-Mine': '1'}, names = (got) => got.headers.map(([n]) => n.toLowerCase())
            .filter((name) => ['authorization', 'cookie', 'x-mine'].includes(name)).sort();
        const to = (url) => `${base}/redirect?to=${encodeURIComponent(url)}`;
        return [names(await (await fetch(to(`${base}/echo`), {headers})).json()),
            names(await (await fetch(to(`${other}/echo`), {headers})).json())];""",
          [["authorization", "cookie", "x-mine"], ["x-mine"]])
    check("twenty redirects are followed, no more", """
        const last = fetch(`${base}/hops?n=21`).catch((error) => error.message);
        return [await (await fetch(`${base}/hops?n=20`)).text(), await last];""",
          ["arrived", "fetch failed: there are more than 20 redirects"])
    reached = len(evil.requests)
    check("each hop is checked: a redirect to a host without a rule fails", f"""
        return fetch(`${{base}}/redirect?to=http://{EVIL}/echo`).catch((error) => error.message);""",
          "fetch failed: no rule allows this host and port")
    tap.ok("and no server is reached", len(evil.requests) == reached, evil.requests)


def test_codings():
    for coding in ("gzip", "x-gzip", "deflate", "raw", "br", "twice", "joined", "none"):
        check(f"content coding: {coding}", f"""
            return await (await fetch(`${{base}}/coded?as={coding}`)).text() === 'text '.repeat(2000);""", True)
    for coding, reason in (("cut", "the body ends before its content coding does"),
                           ("wrong", "the body is not in its content coding, gzip")):
        check(f"content coding: {coding}", f"""
            return fetch(`${{base}}/coded?as={coding}`).then((got) => got.text()).catch((error) => error.message);""",
              f"fetch failed: {reason}")
    check("a coding that is not known is left to the code", """
        const got = await fetch(`${base}/coded?as=other`);
        return [got.headers.get('content-encoding'), await got.text()];""", ["zstd", "bytes"])
    check("an empty body with a coding", "return (await fetch(`${base}/coded?as=empty`)).text();", "")


def test_time():
    check("AbortSignal.timeout ends a request", """
        const error = await fetch(`${base}/hang?name=timeout`, {signal: AbortSignal.timeout(300)}).catch((error) => error);
        const closed = await (await fetch(`${base}/await?event=timeout%20closed`)).text();
        return [error.name, error instanceof DOMException, closed];""", ["TimeoutError", True, "happened"])
    check("a cancelled request is closed at the socket: before its response", """
        const controller = new AbortController(), got = fetch(`${base}/hang?name=early`, {signal: controller.signal});
        await (await fetch(`${base}/await?event=early%20begun`)).text();
        controller.abort();
        const error = await got.catch((error) => error);
        return [error.name, await (await fetch(`${base}/await?event=early%20closed`)).text()];""", ["AbortError", "happened"])
    check("during its body", """
        const controller = new AbortController(), got = await fetch(`${base}/hang?name=late&head=1`, {signal: controller.signal});
        const reader = got.body.getReader(), first = (await reader.read()).value.length;
        const rest = reader.read().catch((error) => error);
        controller.abort(new RangeError('mine'));
        return [first, `${await rest}`, await (await fetch(`${base}/await?event=late%20closed`)).text()];""",
          [5, "RangeError: mine", "happened"])
    check("by the reader of its body", """
        const got = await fetch(`${base}/hang?name=reader&head=1`);
        await got.body.cancel();
        return (await fetch(`${base}/await?event=reader%20closed`)).text();""", "happened")
    check("during the body of the request", """
        const controller = new AbortController(), encoder = new TextEncoder();
        let cancelled;
        const body = new ReadableStream({
            start(c) { c.enqueue(encoder.encode('x')); },
            cancel(reason) { cancelled = reason.name; },
        });
        const got = fetch(`${base}/hang?name=upload`, {method: 'POST', body, duplex: 'half', signal: controller.signal});
        await (await fetch(`${base}/await?event=upload%20begun`)).text();
        controller.abort();
        return [(await got.catch((error) => error)).name, cancelled, await (await fetch(`${base}/await?event=upload%20closed`)).text()];""",
          ["AbortError", "AbortError", "happened"])
    result = code.run(BASE + "fetch(`${base}/hang?name=unawaited&head=1`); await (await fetch(`${base}/await?event=unawaited%20begun`)).text();")
    tap.ok("a request that nothing awaits ends with the run", result.get("status") == "success" and
           server.wait("unawaited closed"), result)
    result = code.run(BASE + "await fetch(`${base}/hang?name=run`);", timeoutMs=1500)
    tap.ok("the time limit of the run ends its requests", result.get("timedOut") and server.wait("run closed"), result)
    check("an abort before the request makes none", """
        return fetch(`${base}/happen?event=never`, {signal: AbortSignal.abort()}).catch((error) => error.name);""", "AbortError")
    tap.ok("the server has not seen it", "never" not in server.events, server.events)
    check("AbortSignal.any, throwIfAborted, events", """
        const one = new AbortController(), any = AbortSignal.any([one.signal, AbortSignal.timeout(60000)]);
        let events = 0; any.addEventListener('abort', () => events++); any.onabort = () => events++;
        one.abort('why');
        try { any.throwIfAborted(); } catch (reason) { return [events, reason, any.reason, any.aborted]; }""", [2, "why", "why", True])
    check("timers run in order, and are cleared", """
        const seen = [];
        await new Promise((resolve) => {
            setTimeout(() => seen.push('b'), 2); setTimeout(() => seen.push('a'), 1); clearTimeout(setTimeout(() => seen.push('never'), 1));
            let n = 0; const id = setInterval((x) => { seen.push(x); if (++n === 3) { clearInterval(id); resolve(); } }, 5, 'i');
        });
        return seen;""", ["a", "b", "i", "i", "i"])
    quick = fetchworld.Code(GLOVEBOX, ALLOWLIST, "network.idleTimeout=1s", "network.connectTimeout=1s")
    for name, path in (("no answer", "hang?name=idle1"), ("no more of the body", "hang?name=idle2&head=1")):
        seen = quick.value(BASE + f"return fetch(`${{base}}/{path}`).then((got) => got.text()).catch((error) => error.message);")
        tap.ok(f"network.idleTimeout: {name}", seen == "fetch failed: the connection was idle for too long (network.idleTimeout)", seen)
    seen = quick.value("return fetch('http://silent.example/').catch((error) => error.message);")
    tap.ok("network.connectTimeout: a name server that does not answer", "network.connectTimeout" in str(seen) or
           "name server" in str(seen), seen)
    tap.ok("the server of these runs ends", quick.close() == 0)


def test_concurrency():
    check("requests are made at the same time", """
        const all = await Promise.all(Array.from({length: 40}, () => fetch(`${base}/barrier?n=40`).then((got) => got.text())));
        return [all.length, [...new Set(all)]];""", [40, ["happened"]])
    # Many times: bodies then meet a channel that is full, while no message waits, at different places.
    check("their responses do not mix, and all arrive", """
        let right = 0;
        for (let round = 0; round < 16; round++)
            await Promise.all(Array.from({length: 60}, async (_, i) => {
                const text = `${i} `.repeat(1 + i * 500);
                const got = await (await fetch(`${base}/back`, {method: 'POST', body: text})).text();
                right += got === text;
            }));
        return right;""", 960, timeoutMs=100000)
    check("more requests than glovebox-egress takes at the same time wait for each other", """
        const all = await Promise.all(Array.from({length: 100}, (_, i) => fetch(`${base}/back`, {method: 'POST', body: `${i}`})
            .then((got) => got.text()).catch((error) => error.message)));
        return all.filter((text, i) => text !== `${i}`);""", [])
    check("one that waits for others can be aborted, and is never made", """
        const controller = new AbortController(), first = new AbortController();
        const held = Array.from({length: 64}, (_, i) => fetch(`${base}/hang?name=held`, {signal: first.signal}).catch((error) => error.name));
        const waits = fetch(`${base}/happen?event=waited`, {signal: controller.signal}).catch((error) => error.name);
        const next = fetch(`${base}/status/200`).then((got) => got.status);
        controller.abort();
        const name = await waits;
        first.abort();
        return [name, [...new Set(await Promise.all(held))], await next];""", ["AbortError", ["AbortError"], 200])
    tap.ok("the server has not seen it", "waited" not in server.events)
    seen = code.value(BASE + "for (let i = 0; i < 200; i++) await (await fetch(`${base}/status/200`)).text(); return 'done';")
    tap.ok("two hundred requests after another", seen == "done", seen)


def test_sessions():
    code.client.send(type="session_open", request=1, language="js", net=[HOST])
    session = code.client.receive("session")["session"]["id"]
    result = code.plain(BASE + "globalThis.kept = await fetch(`${base}/status/200`); globalThis.text = await kept.text(); text",
                        session=session)
    tap.ok("a session fetches", result.get("result") == "body", result)
    result = code.plain("globalThis.late = 0; fetch(`http://good.example/hang?name=session`);"
                        "const begun = await (await fetch('http://good.example/await?event=session%20begun')).text();"
                        "setTimeout(() => late++, 1); begun",
                        session=session)
    tap.ok("its requests end with the run", result.get("result") == "happened" and server.wait("session closed"), result)
    result = code.plain("await new Promise((resolve) => setTimeout(resolve, 20)); [text, late, await (await fetch('http://good.example/status/200')).text(), "
                 f"await fetch('http://{OTHER}/').catch((e) => e.name)]", session=session)
    tap.ok("the next run keeps values, has no timers of the last, and the hosts of the session",
           result.get("result") == ["body", 0, "body", "TypeError"], result)


def test_records():
    result = code.run(BASE + f"""
        await (await fetch(`${{base}}/status/404?q=1`)).text();
        await fetch('http://{EVIL}/').catch(() => 0);""")
    records = result.get("connections", {}).get("list", [])
    tap.ok("requests are recorded with host, bytes and rule", [
        (r["host"], r["port"], r["verdict"]) for r in records] == [(HOST, 80, "allowed"), (EVIL, 80, "denied")] and
        records[0]["received"] >= 100 and records[0]["sent"] > 0 and records[0]["rule"] == HOST, result)
    tap.ok("a denial names the setting", [(d["host"], d["rule"]) for d in result.get("denials", [])] ==
           [(EVIL, "network.allowlist")], result)


def test_positions():
    """An error is made when the network has answered; it tells where the code called fetch."""
    result = code.run(f"""
        async function get() {{
            return fetch('http://{EVIL}/');
        }}
        await get();""")
    error = result.get("error", {})
    tap.ok("a failed fetch has the position of its call", error.get("line") == 4, result)
    tap.ok("and the stack names no script of Glovebox", "get (" in error.get("stack", "") and
           "glovebox:" not in error.get("stack", "glovebox:"), result)


try:
    test_names()
    test_request_response()
    test_streams()
    test_redirects()
    test_codings()
    test_time()
    test_concurrency()
    test_sessions()
    test_records()
    test_positions()
    tap.ok("the program ends", code.close() == 0)
finally:
    shutil.rmtree(folder, ignore_errors=True)
tap.plan()
sys.exit(1 if tap.failed else 0)
