#!/usr/bin/python3
"""Secrets at the edge: code has a placeholder, the server of a bound host gets the value, and nothing else gets anything.
Servers, name server and authority are in a namespace of the test. The memory of the sandbox is searched while code waits
for an answer; the same search finds the placeholder there, and the value in glovebox-egress."""
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fetchworld
import netns
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]
API, OTHER, WILD = "api.example", "other.example", "a.wild.example"
API_ADDRESS, OTHER_ADDRESS = "11.0.0.1", "11.0.0.2"
RAW_PORT = 5432
ALLOWLIST = [API, OTHER, f"{API}:{RAW_PORT}", "*.wild.example"]
# With characters that base64, addresses and JSON spell differently.
VALUE = "sk-live_4f/9+Zq=x7&R\"t\\" + os.urandom(12).hex()
VARIABLE, MARK = "API_KEY", "glovebox-secret-openai-"
# The programs that this machine has.
LANGUAGES = [language for language in ("python", "shell", "node", "deno", "js")
             if language not in ("node", "deno") or os.environ.get(f"GLOVEBOX_{language.upper()}") or shutil.which(language)]


def spellings(value):
    """How the value could be spelled: as it is, and in base64 at each position, hex, and as addresses have it."""
    raw = value.encode()
    found = {raw, raw.hex().encode(), raw.hex().upper().encode(), urllib.parse.quote(raw, safe="").encode(),
             urllib.parse.quote(raw).encode(), urllib.parse.quote_plus(raw).encode(), json.dumps(value)[1:-1].encode()}
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * before + raw).rstrip(b"=")
            # Without the characters that depend on what is around it.
            found.add(text[(before * 8 + 5) // 6:(before + len(raw)) * 8 // 6])
    return found


class Server(fetchworld.Server):
    """Sends back what it was sent."""

    def on_reflect(self, stream, request):
        """The header in every spelling, in headers and body."""
        sent = request.fields.get("authorization", "").removeprefix("Bearer ")
        lines = b"\n".join(sorted(spellings(sent))) if sent else b"nothing"
        stream.send(fetchworld.reply(200, [f"X-Echo: {sent}", f"X-Hex: {sent.encode().hex()}"], b"BODY " + lines + b" END"))

    def on_split(self, stream, request):
        """The header, cut into chunks of every kind."""
        sent = request.fields.get("authorization", "").removeprefix("Bearer ").encode()
        stream.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in [b"BODY ", sent[:1], sent[1:9], sent[9:], b" and ", *(sent[i:i + 1] for i in range(len(sent))), b" END"]:
            if piece:
                stream.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        stream.send(b"0\r\n\r\n")

    def on_long(self, stream, request):
        """The header behind more bytes than any window has."""
        sent = request.fields.get("authorization", "").removeprefix("Bearer ").encode()
        stream.send(fetchworld.reply(200, [], b"x" * 700000 + sent + b" END"))

    def on_packed(self, stream, request):
        """Compressed, whatever was asked for."""
        import gzip
        stream.send(fetchworld.reply(200, ["Content-Encoding: gzip"], gzip.compress(request.fields["authorization"].encode())))

    def on_hold(self, stream, request):
        self.happen("held")
        self.wait("searched", self.counts.get("held", 1))
        stream.send(fetchworld.reply(200, [], b"released"))


netns.enter()
folder = tempfile.mkdtemp()
world = netns.World(folder)
state = os.path.join(folder, "state")
world.names.update({API: [world.address(API_ADDRESS)], OTHER: [world.address(OTHER_ADDRESS)], WILD: [OTHER_ADDRESS]})
authority = world.authority()
api, other = Server(), Server()
world.listen(API_ADDRESS, 443, api.serve, world.server_context(API))
world.listen(OTHER_ADDRESS, 443, other.serve, world.server_context(OTHER, WILD))
world.listen(API_ADDRESS, 80, api.serve)
raw_received = []


def serve_raw(stream):
    stream.sendall(b"SERVED\n")
    while piece := stream.recv(65536):
        raw_received.append(piece)
        stream.sendall(piece)


world.listen(API_ADDRESS, RAW_PORT, serve_raw)

# What code asks for: name, address, headers, body. {} is the placeholder.
RIGHT = {"Authorization": "Bearer {}"}
CASES = [
    ("good", f"https://{API}/reflect", RIGHT, None),
    ("split", f"https://{API}/split", RIGHT, None),
    ("long", f"https://{API}/long", RIGHT, None),
    ("packed", f"https://{API}/packed", RIGHT, None),
    ("without", f"https://{API}/reflect", {"Authorization": "Bearer own"}, None),
    ("other host", f"https://{OTHER}/reflect", RIGHT, None),
    ("other header", f"https://{API}/reflect", {"X-Key": "{}"}, None),
    ("other text", f"https://{API}/reflect", {"Authorization": "Basic {}"}, None),
    ("no tls", f"http://{API}/reflect", RIGHT, None),
    ("address", f"https://{API}/reflect?key={{}}", {}, None),
    ("body", f"https://{API}/reflect", {"Content-Type": "text/plain"}, "my key is {}"),
    ("other body", f"https://{OTHER}/reflect", {"Content-Type": "text/plain"}, "my key is {}"),
]
REASONS = {
    "other host": "was sent to another host", "other header": "is in another header", "other text": "has another text around it",
    "no tls": "was sent without TLS", "address": "is in the address", "body": "is in the body", "other body": "is in the body",
}

PYTHON = """
import json, os, urllib.error, urllib.request
P = os.environ.get("API_KEY", "none")
def ask(url, headers, body):
    try:
        request = urllib.request.Request(url, headers=headers, data=body and body.encode())
        with urllib.request.urlopen(request) as got:
            return f"{got.status} {got.headers}{got.read().decode('latin-1')}"
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode('latin-1')}"
    except Exception as error:
        return f"failed {type(error).__name__}: {error}"
print(f"PLACEHOLDER {P}")
for name, url, headers, body in CASES:
    fill = lambda text: text and text.replace("{}", P)
    print(f"== {name} ==\\n" + ask(fill(url), {k: fill(v) for k, v in headers.items()}, fill(body)))
"""
JAVASCRIPT = """
const fill = (text) => text && text.replace('{}', P);
console.log(`PLACEHOLDER ${P}`);
for (const [name, url, headers, body] of CASES) {
    const filled = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, fill(v)]));
    let text;
    try {
        const got = await fetch(fill(url), {method: body ? 'POST' : 'GET', headers: filled, ...(body ? {body: fill(body)} : {})});
        text = `${got.status} ${JSON.stringify([...got.headers])} ${await got.text()}`;
    } catch (error) { text = `failed ${error} ${error?.cause}`; }
    console.log(`== ${name} ==\\n${text}`);
}
"""


def program(language, cases):
    if language == "python":
        return f"CASES = {cases!r}\n{PYTHON}"
    if language == "shell":
        lines = ['printf "PLACEHOLDER %s\\n" "${API_KEY-none}"']
        for name, url, headers, body in cases:
            quote = lambda text: '"' + text.replace("{}", "$API_KEY") + '"'
            options = " ".join("-H " + quote(f"{k}: {v}") for k, v in headers.items())
            lines.append(f"echo '== {name} =='; curl -sS -i {options} {'--data-raw ' + quote(body) if body else ''} {quote(url)} 2>&1; echo")
        return "\n".join(lines)
    place = {"node": "process.env.API_KEY ?? 'none'", "deno": "Deno.env.get('API_KEY') ?? 'none'",
             "js": "typeof secrets === 'undefined' ? 'none' : secrets.API_KEY"}[language]
    return f"const P = {place}, CASES = {json.dumps(cases)};\n{JAVASCRIPT}\nexport default 1"


SETTINGS = [f"network.authorities={authority}"]
# What is masked is so at the edge.
UNMASKED = ["secrets.maskRun=none"]


def command(*arguments, settings=()):
    line = [GLOVEBOX, *arguments, "--set", f"network.allowlist={json.dumps(ALLOWLIST)}"]
    for setting in (*SETTINGS, *(settings or UNMASKED)):
        line += ["--set", setting]
    return line


def environment():
    return dict(os.environ, GLOVEBOX_STATE_DIR=state)


def secrets(*arguments, value=VALUE):
    return subprocess.run([GLOVEBOX, "secrets", *arguments], input=value, capture_output=True, text=True, env=environment())


def begin(language, code, net=ALLOWLIST, settings=()):
    arguments = ["run", "-l", language, "--json", "--timeout", "300s", "-e", code]
    if net:
        arguments += ["--net", ",".join(net)]
    return subprocess.Popen(command(*arguments, settings=settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())


def end(process):
    """All output, and the result."""
    out, errors = process.communicate()
    try:
        return out + errors, json.loads(out)
    except ValueError:
        return out + errors, {"status": "none", "errors": errors.decode(errors="replace")[:2000]}


def run(language, code, **more):
    return end(begin(language, code, **more))


def text_of(result):
    logs = "".join(" ".join(map(str, log.get("args", []))) + "\n" for log in result.get("logs", []))
    return result.get("stdout", "") + logs


def sections(text):
    parts = text.split("== ")
    found = {}
    for part in parts[1:]:
        name, _, rest = part.partition(" ==\n") if " ==\n" in part else part.partition(" ==")
        found[name] = rest
    return parts[0], found


# --- memory

def family(pid):
    """The processes that @pid has started, and theirs."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parents[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def name_of(pid):
    with open(f"/proc/{pid}/comm") as file:
        return file.read().strip()


def search(pid, needles, places=None):
    """Which needles the memory of the process has; and how many bytes were read. @places gets the mappings."""
    found, total = set(), 0
    longest = max(map(len, needles))
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            bounds, rights = line.split()[:2]
            first, last = (int(part, 16) for part in bounds.split("-"))
            # The shadow of a sanitizer has terabytes, and no copies.
            if "r" not in rights or "[v" in line or last - first > 1 << 36:
                continue
            before = b""
            for at in range(first, last, 1 << 22):
                try:
                    memory.seek(at)
                    data = memory.read(min(1 << 22, last - at))
                except (OSError, OverflowError, ValueError):
                    break
                total += len(data)
                data = before + data
                here = {needle for needle in needles if needle in data}
                found |= here
                if here and places is not None:
                    places.append(line.split()[0])
                before = data[-longest:]
    return found, total


def search_family(pid, needles):
    """What glovebox-egress has, and what all others have that @pid has started."""
    inside, outside, total = set(), set(), 0
    for one in family(pid):
        try:
            name = name_of(one)
            found, n = search(one, needles)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name == "glovebox-egress":
            outside |= found
        else:
            inside |= found
            total += n
    return inside, outside, total


# --- the tests

def test_cases(language):
    n_api, n_other = len(api.requests), len(other.requests)
    output, result = run(language, program(language, CASES))
    head, seen = sections(text_of(result))
    placeholder = head.partition("PLACEHOLDER ")[2].strip()
    got, got_other = api.requests[n_api:], other.requests[n_other:]
    tap.ok(f"{language}: code has a placeholder", placeholder.startswith(MARK) and len(placeholder) == len(MARK) + 32, result)
    # A body is checked while it is sent: its head may have arrived.
    whole = [r for r in got if len(r.body) == int(r.fields.get("content-length", 0))]
    sent = [(r.path, r.fields.get("authorization")) for r in whole]
    tap.ok(f"{language}: the server of the bound host got the value",
           sent == [("/reflect", f"Bearer {VALUE}"), ("/split", f"Bearer {VALUE}"), ("/long", f"Bearer {VALUE}"),
                    ("/packed", f"Bearer {VALUE}"), ("/reflect", "Bearer own")], sent, seen)
    tap.ok(f"{language}: no other request arrived at a server", len(whole) == 5 and
           all(r.method == "POST" and MARK.encode() not in r.body for r in got_other + got[5:]),
           [(r.target, r.body) for r in got_other], [(r.target, r.body) for r in got])
    good = seen.get("good", "")
    tap.ok(f"{language}: what the server sends back is masked, in headers and body",
           good.count("*" * len(VALUE)) >= 2 and "BODY" in good and "END" in good, good)
    tap.ok(f"{language}: also if it is cut into chunks",
           f"BODY {'*' * len(VALUE)} and {'*' * len(VALUE)} END" in seen.get("split", ""), seen.get("split"))
    tap.ok(f"{language}: also behind many bytes", f"x{'*' * len(VALUE)} END" in seen.get("long", ""), seen.get("long", "")[-200:])
    tap.ok(f"{language}: a compressed answer is not passed on", "compressed its answer" in json.dumps(result["connections"]) and
           "Bearer" not in seen.get("packed", "") and "\x1f" not in seen.get("packed", ""), seen.get("packed"))
    tap.ok(f"{language}: another credential of the code's own is sent as it is", "BODY" in seen.get("without", "") and
           "own" in seen.get("without", ""), seen.get("without"))
    for name, reason in REASONS.items():
        tap.ok(f"{language}: {name}: refused, and code is told why", reason in seen.get(name, "") or
               (language == "node" and "failed" in seen.get(name, "")), seen.get(name))
    denials = {(d["host"], d.get("port"), d["reason"].split("'openai' ")[-1].split(";")[0]) for d in result.get("denials", [])
               if d["kind"] == "network" and "placeholder" in d["remedy"]}
    expected = {(API if name not in ("other host", "other body") else OTHER, 80 if name == "no tls" else 443) for name in REASONS}
    tap.ok(f"{language}: each is a denial", {(h, p) for h, p, _ in denials} == expected and
           all(any(reason in d[2] for d in denials) for reason in REASONS.values()), denials, result.get("denials"))
    records = [(c["host"], c["method"], c["path"], c.get("status"), c["verdict"]) for c in result["connections"]["list"]
               if c.get("method") and c["verdict"] == "allowed"]
    tap.ok(f"{language}: requests are recorded with method, path and status",
           (API, "GET", "/reflect", 200, "allowed") in records and (API, "GET", "/split", 200, "allowed") in records and
           all(c["sent"] and c["received"] for c in result["connections"]["list"] if c.get("status") == 200), records)
    tap.ok(f"{language}: no output has the value in any spelling",
           not [s for s in spellings(VALUE) if s in output], [s for s in spellings(VALUE) if s in output])


def test_memory(language):
    hold = [("hold", f"https://{API}/hold", RIGHT, None)]
    reflect = [CASES[0], CASES[1]]
    n = api.counts.get("held", 0) + 1
    process = begin(language, program(language, reflect + hold))
    api.wait("held", n)
    needles = spellings(VALUE) | {MARK.encode()}
    inside, outside, total = search_family(process.pid, needles)
    api.happen("searched")
    output, result = end(process)
    tap.ok(f"{language}: the memory of the sandbox has no spelling of the value ({total >> 20} MiB)",
           total > 1 << 20 and not inside & spellings(VALUE), inside, result)
    tap.ok(f"{language}: the same search finds the placeholder there", MARK.encode() in inside, inside, result)
    tap.ok(f"{language}: and the value in glovebox-egress", VALUE.encode() in outside, outside, result)
    tap.ok(f"{language}: nor has its output", not [s for s in spellings(VALUE) if s in output] and b"released" in output, result)


def mapping_flags(pid, places):
    """The flags of these mappings, as the kernel has them."""
    flags, here = {}, None
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            first = line.split()[0]
            here = first if "-" in first and not first.endswith(":") else here
            if first == "VmFlags:" and here in places:
                flags[here] = line.split()[1:]
    return flags


def test_locked():
    """In glovebox-egress the value is in memory that is locked, and in no dump."""
    n = api.counts.get("held", 0) + 1
    process = begin("shell", program("shell", [("hold", f"https://{API}/hold", RIGHT, None)]))
    api.wait("held", n)
    egress = next(pid for pid in family(process.pid) if name_of(pid) == "glovebox-egress")
    places = []
    search(egress, spellings(VALUE), places)
    flags = mapping_flags(egress, places)
    api.happen("searched")
    end(process)
    # A sanitizer locks nothing.
    expected = {"dd"} if os.environ.get("GB_SANITIZE", "none") != "none" else {"lo", "dd"}
    tap.ok("in glovebox-egress the value is in locked memory that is in no dump", flags and
           all(expected <= set(of_one) for of_one in flags.values()), flags)


def test_control():
    """A value that code has is found by the same search."""
    code = f"import os\nos.environ['API_KEY'] = {VALUE!r}\n" + program("python", [("hold", f"https://{API}/hold", {}, None)])
    n = api.counts.get("held", 0) + 1
    process = begin("python", code)
    api.wait("held", n)
    inside, _, _ = search_family(process.pid, spellings(VALUE))
    api.happen("searched")
    end(process)
    tap.ok("a value that code has is found by the same search", VALUE.encode() in inside, inside)


def test_without():
    for language in LANGUAGES:
        # Deno lets code read no other variables.
        seen = b"Requires env access" if language == "deno" else b"PLACEHOLDER none"
        output, result = run(language, program(language, []), net=[OTHER])
        tap.ok(f"{language}: without the bound host there is no placeholder", seen in output and MARK.encode() not in output, result)
        output, result = run(language, program(language, []), net=None)
        tap.ok(f"{language}: nor without a network", seen in output and MARK.encode() not in output, result)
    _, one = run("shell", program("shell", []))
    _, two = run("shell", program("shell", []))
    tap.ok("each run has another placeholder", MARK in text_of(one) and text_of(one) != text_of(two), one, two)


def test_raw():
    """Other ports are copied as they are; a placeholder in plain text is refused there, too."""
    code = (f"exec 3<>/dev/tcp/{API}/{RAW_PORT}; read -u 3 a; echo $a; printf 'plain text\\n' >&3; read -u 3 a; echo $a; "
            f"printf 'key %s\\n' ${{API_KEY::20}} >&3; read -u 3 a; printf '%s %s\\n' ${{API_KEY::40}} ${{API_KEY}} >&3; "
            "read -u 3 a || echo closed")
    output, result = run("shell", code)
    tap.ok("a placeholder in plain text on another port is refused", "plain text\nclosed" in text_of(result) and
           any("is in the body" in d["reason"] and d["port"] == RAW_PORT for d in result.get("denials", [])) and
           MARK.encode() + b"x" not in b"".join(raw_received), result, raw_received)


def test_bodies():
    secrets("add", "plain", "--stdin", value="registered-98765")
    cases = [("one", f"https://{API}/reflect", RIGHT, "first body"), ("two", f"http://{API}/reflect", {}, "with registered-98765 in it"),
             ("three", f"https://{OTHER}/long", {}, "x" * 5000)]
    for language in (one for one in ("shell", "js") if one in LANGUAGES):
        _, result = run(language, program(language, cases), settings=["network.recordBodies=true", "secrets.maskRun=all"])
        seen = {(c["host"], c["port"]): (c.get("requestBody"), c.get("responseBody", "")) for c in result["connections"]["list"]}
        first, second, third = (seen.get(key, ("", "")) for key in ((API, 443), (API, 80), (OTHER, 443)))
        tap.ok(f"{language}: network.recordBodies records bodies, masked", first[0] == "first body" and
               first[1].startswith("BODY ") and "*" * len(VALUE) in first[1] and VALUE not in json.dumps(result), first)
        tap.ok(f"{language}: also of plain requests, with registered secrets masked", second[0] == "with *** in it" and
               second[1] == "BODY nothing END", second)
        tap.ok(f"{language}: and no more than the first 4096 bytes", third == ("x" * 4096, "x" * 4096), third)
        _, result = run(language, program(language, cases))
        tap.ok(f"{language}: without the setting there are no bodies", len(result["connections"]["list"]) == 3 and
               "Body" not in json.dumps(result["connections"]), result["connections"])
    secrets("rm", "plain")


def test_session():
    client = netns.Client(GLOVEBOX, ALLOWLIST, *SETTINGS, "secrets.maskStdio=none", prefix=("env", f"GLOVEBOX_STATE_DIR={state}"))
    for number, (language, name) in enumerate((("shell", "$API_KEY"), ("python", "os.environ['API_KEY']"), ("node", "process.env.API_KEY"),
                                               ("js", "secrets.API_KEY"))):
        session = client.ask("session_open", language=language, net=[API, OTHER])["session"]["id"]
        show = {"shell": f"echo {name}", "python": f"import os; print({name})"}.get(language, f"console.log({name})")
        results = [client.run(10 * number + i, show, session=session, **more) for i, more in
                   enumerate(({}, {}, {"options": {"net": [OTHER]}}))]
        shown = [text_of(result).strip() for result in results]
        tap.ok(f"{language}: the placeholder of a session stays the same", shown[0].startswith(MARK) and len(set(shown)) == 1, results)
    n = len(api.requests)
    session = client.ask("session_open", language="shell", net=[API])["session"]["id"]
    for i in range(2):
        client.run(100 + i, f'curl -sS -H "authorization: Bearer $API_KEY" https://{API}/reflect >/dev/null', session=session)
    tap.ok("and is replaced in each of its runs", [r.fields.get("authorization") for r in api.requests[n:]] == [f"Bearer {VALUE}"] * 2,
           [r.fields for r in api.requests[n:]])
    client.close()


def test_agents():
    """Code of agents can use them; the request and its record say which."""
    settings = ["agent.enabled=true", "agent.autoApprove=true"]
    n = len(api.requests)
    done = subprocess.run(command("execute", "-l", "shell", "--tier", "network", "--json", "-e", program("shell", [CASES[0]]),
                                  settings=settings), capture_output=True, text=True, env=environment())
    tap.ok("code of agents uses a secret without having it", [r.fields.get("authorization") for r in api.requests[n:]] ==
           [f"Bearer {VALUE}"] and VALUE not in done.stdout, done)
    record = subprocess.run([GLOVEBOX, "audit", "list", "--json"], capture_output=True, text=True, env=environment()).stdout
    newest = json.loads(record.strip().splitlines()[0]).get("runId") if record.strip() else ""
    shown = subprocess.run([GLOVEBOX, "audit", "show", str(newest), "--json"], capture_output=True, text=True, env=environment())
    tap.ok("the record names it, and does not have the value", '"secrets":["openai"]' in
           shown.stdout.replace("\\", "").replace(" ", "") and VALUE not in shown.stdout, record[:500], shown)


def test_rotation():
    secrets("add", "second", "--stdin", "--host", "*.wild.example", "--header", "X-Token: {}", value="first-value-1234")
    ask = f'curl -sS -H "x-token: $SECOND" https://{WILD}/reflect -o /dev/null -w "%{{http_code}}"'
    errors = os.path.join(folder, "errors")
    client = netns.Client(GLOVEBOX, ALLOWLIST, *SETTINGS, "secrets.maskStdio=none", prefix=(
        "env", f"GLOVEBOX_STATE_DIR={state}", "sh", "-c", 'exec "$@" 2>"$0"', errors))
    session = client.ask("session_open", language="shell", net=["*.wild.example"])["session"]["id"]
    _, one = run("shell", ask)
    before = client.run(1, ask, session=session)
    secrets("add", "second", "--stdin", value="other-value-5678")
    client.process.send_signal(signal.SIGHUP)
    while "read again" not in open(errors).read():
        time.sleep(0.01)
    after = client.run(2, ask, session=session)
    tap.ok("SIGHUP gives it to sessions that exist", [r.fields.get("x-token") for r in other.requests[-2:]] ==
           ["first-value-1234", "other-value-5678"], before, after)
    _, two = run("shell", ask)
    tap.ok("a new value replaces the old one, and stays bound", [r.fields.get("x-token") for r in other.requests[-2:]] ==
           ["other-value-5678", "other-value-5678"], [r.fields for r in other.requests[-2:]], one, two)
    secrets("rm", "second")
    _, three = run("shell", "echo ${SECOND-none}")
    tap.ok("a removed one is gone", "none" in text_of(three), three)
    client.close()


def test_values():
    """The longest values, of characters that need the longest spellings."""
    for n, value in enumerate(('"\\\\' * 341, "\u00fc" * 512, "%+ /" * 255 + "a", "\\" * 1024, "abcdef")):
        added = secrets("add", "longest", "--stdin", "--host", "*.wild.example", "--header", "X-Token: {}", value=value)
        _, result = run("shell", f'curl -sS -H "x-token: $LONGEST" https://{WILD}/reflect -o /dev/null -w "%{{http_code}}"')
        got = other.requests[-1].fields.get("x-token", "").encode("latin-1")
        tap.ok(f"a value of {len(value.encode())} bytes is put in as it is ({n})", got == value.encode(), added, result)
    secrets("rm", "longest")


def test_damaged():
    """A store that cannot be read: no code runs with a network, other code does."""
    os.chmod(os.path.join(state, "secrets"), 0o644)
    status = [run("shell", "echo ran", net=net)[1] for net in (ALLOWLIST, None)]
    os.chmod(os.path.join(state, "secrets"), 0o600)
    tap.ok("with a store that others can read, code has no network", status[0]["status"] != "success" and "chmod 600" in
           json.dumps(status[0]), status[0])
    tap.ok("other code runs", text_of(status[1]) == "ran\n", status[1])


def test_command():
    def refused(name, *arguments, value="value-of-1234"):
        done = secrets("add", name, "--stdin", *arguments, value=value)
        return done.returncode, done.stderr

    good = ("--host", API, "--header", "authorization: Bearer {}")
    for what, arguments, words in (
            ("a header without {}", ("--host", API, "--header", "authorization: Bearer"), ("--header", "no {}")),
            ("a header with two {}", ("--host", API, "--header", "a: {} {}"), ("--header", "more than one")),
            ("a header without a name", ("--host", API, "--header", "{}"), ("--header", "name: value")),
            ("a header with a bad name", ("--host", API, "--header", "a b: {}"), ("--header", "character")),
            ("the header Host", ("--host", API, "--header", "Host: {}"), ("--header", "belongs to the connection")),
            ("the header Content-Length", ("--host", API, "--header", "content-length: {}"), ("--header", "belongs")),
            ("the header Transfer-Encoding", ("--host", API, "--header", "Transfer-Encoding: {}"), ("--header", "belongs")),
            ("the header Connection", ("--host", API, "--header", "connection: {}"), ("--header", "belongs")),
            ("a header with a line break", ("--host", API, "--header", "a: {}\r\nb: c"), ("--header", "line break")),
            ("a host with a scheme", ("--host", f"https://{API}", "--header", "a: {}"), ("--host", "https")),
            ("a host with a path", ("--host", f"{API}/v1/*", "--header", "a: {}"), ("--host", "without methods and paths")),
            ("an empty host", ("--host", f"{API},", "--header", "a: {}"), ("--host",)),
            ("a variable with a bad name", (*good, "--env", "A-B"), ("--env", "letters, digits")),
            ("the variable PATH", (*good, "--env", "PATH"), ("--env", "sets this variable itself")),
            ("a variable of the certificates", (*good, "--env", "SSL_CERT_FILE"), ("--env", "itself")),
            ("the variable of another secret", (*good, "--env", VARIABLE), ("--env", "openai")),
            ("--host without --header", ("--host", API), ("--header",)),
            ("--env alone", ("--env", "A"), ("--host",))):
        status, errors = refused("bad", *arguments)
        tap.ok(f"{what} is refused", status == 2 and all(word in errors for word in words), status, errors)
    status, errors = refused("bad", *good, "--env", "BAD", value="line one\nline two")
    tap.ok("a value with a line break cannot be bound", status == 3 and "header" in errors, status, errors)
    status, errors = refused("bad", *good, "--env", "BAD", value="v" * 1025)
    tap.ok("nor a long one", status == 3 and "1024" in errors, status, errors)
    listed = secrets("list")
    tap.ok("the list has the binding, and not the value", f"openai  {API}  authorization: Bearer {{}}  {VARIABLE}\n" == listed.stdout,
           listed)
    listed = secrets("list", "--json")
    tap.ok("also as JSON", json.loads(listed.stdout) == [{"name": "openai", "host": API, "header": "authorization: Bearer {}",
                                                          "env": VARIABLE}] and VALUE not in listed.stdout, listed)


added = secrets("add", "openai", "--stdin", "--host", API, "--header", "authorization: Bearer {}", "--env", VARIABLE)
tap.ok("a secret is bound to a host", added.returncode == 0 and VARIABLE in added.stderr, added)
only = sys.argv[1:]
for language in LANGUAGES:
    if not only or language in only:
        test_cases(language)
        if os.getuid() == 0:
            test_memory(language)
for test in (test_locked, test_control, test_without, test_raw, test_bodies, test_session, test_agents, test_rotation, test_values, test_damaged, test_command):
    if (not only or test.__name__ in only) and (test not in (test_locked, test_control) or os.getuid() == 0):
        test()
shutil.rmtree(folder)
tap.plan()
