#!/usr/bin/python3
"""Runs web-platform-tests against JavaScript of the network tier, and prints how many passed, failed, or do not apply.

    tests/wpt/run.py DIR [SUITE...]     SUITE is a folder or file below DIR; url, encoding and fetch/api if none is named
    -v                                  print each test that failed

DIR is a checkout of web-platform-tests, with its server in tools/wptserve. The tests run unchanged, one file in a run of
its own. Around them are testharness.js of DIR and a few lines that give the run what a worker of a browser has: self,
location, and relative URLs. Files that need a browser are counted with the reason.
"""
import collections
import concurrent.futures
import json
import logging
import os
import re
import socket
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GLOVEBOX = os.environ.get("GB_GLOVEBOX", os.path.join(ROOT, "build", "glovebox"))
DEFAULT = ["url", "encoding", "fetch/api"]
SECONDS = 60

# Path (a regular expression) and why its tests do not apply.
NOT_APPLICABLE = [
    (r"/resources/|/support/|/tools/", None),  # no tests
    (r"idlharness", "checks the interface definitions of browsers"),
    (r"\.tentative\.", "tests a proposal, not the standard"),
    (r"\.https\.|\.h2\.", "needs a certificate or HTTP/2 of the suite's own server"),
    (r"/legacy-mb-|iso-2022-jp|big5|replacement-encodings|unsupported-encodings|single-byte-decoder|api-replacement|"
     r"textdecoder-fatal-single-byte|encoding/streams/|textdecoder-labels|unsupported-labels",
     "legacy encodings and encoding streams are not offered"),
    (r"sharedarraybuffer", "there is no shared memory"),
    (r"fetch/api/(cors|policies|crashtests)/|mode-no-cors|mode-same-origin|headers-no-cors|cors-",
     "code in a sandbox has no origin, so CORS does not apply"),
    (r"fetch/api/credentials/", "there are no cookies and no credentials of a user"),
    (r"referrer|keepalive|/destination/|request-cache|integrity|scheme-blob|accept-header|/priority|multi-globals|"
     r"navigate|redirect-to-dataurl|redirect-referrer|redirect-origin|redirect-schemes|redirect-upload|"
     r"fetch-later|sec-metadata|request-reset-attributes|block-mime|private-state|attribution|url-parsing|mediasource",
     "about documents, caches or the origin of a page"),
    (r"\.html$|\.xhtml$|\.window\.js$|\.htm$|\.svg$", "needs a document"),
    (r"\.worker\.js$|serviceworker|sharedworker", "needs workers"),
]

# Single tests: file, name, reason.
TESTS_NOT_APPLICABLE = [
    (r"", r"SharedArrayBuffer", "there is no shared memory"),
    (r"textencoder-constructor-non-utf", r"decode: (?!utf)", "legacy encodings and encoding streams are not offered"),
    (r"historical", r"structured serialize", "structuredClone copies class instances as plain objects, as in every tier"),
    (r"encodeInto", r"detached", "there is no MessageChannel"),
]

PROLOGUE = """
globalThis.self = globalThis;
const tested = [];
"""
BETWEEN = """
globalThis.GLOBAL = {isWindow: () => false, isWorker: () => true, isShadowRealm: () => false};
globalThis.location = {href: %(base)s, origin: new URL(%(base)s).origin, protocol: 'http:', host: new URL(%(base)s).host,
    hostname: '127.0.0.1', pathname: new URL(%(base)s).pathname, search: '', toString() { return this.href; }};
{
    const resolve = (input) => (typeof input === 'string' ? (URL.canParse(input, location.href) ? new URL(input, location.href).href : input) : input);
    const plain = globalThis.fetch;
    globalThis.fetch = (...given) => plain(...(given.length ? [resolve(given[0]), ...given.slice(1)] : []));
    globalThis.Request = new Proxy(Request, {
        construct: (target, given) => Reflect.construct(target, given.length ? [resolve(given[0]), ...given.slice(1)] : []),
    });
    const redirect = Response.redirect;
    Response.redirect = (...given) => redirect.call(Response, ...(given.length ? [resolve(given[0]), ...given.slice(1)] : []));
}
const finished = new Promise((resolve) => add_completion_callback((tests, status) => {
    console.log('WPT' + JSON.stringify({status: status.status, message: status.message,
        tests: tests.map((test) => ({name: test.name, status: test.status, message: test.message}))}));
    resolve();
}));
"""
EPILOGUE = """
;if (!tests_are_explicit) done();
await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, %(ms)d))]);
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_server(folder):
    """The suite's own server, for files, generated answers (.py) and substitutions. Returns its two ports."""
    third_party = os.path.join(folder, "tools/third_party")
    for path in [os.path.join(folder, "tools/wptserve"), os.path.join(folder, "tools"),
                 *(os.path.join(third_party, name, below) for name in os.listdir(third_party) for below in ("", "src"))]:
        sys.path.append(path)
    from wptserve.config import ConfigBuilder
    from wptserve.server import WebTestHttpd
    logging.disable(logging.CRITICAL)
    ports = [free_port(), free_port()]
    builder = ConfigBuilder(logging.getLogger(), browser_host="127.0.0.1", alternate_hosts={"alt": "127.0.0.1"},
                            doc_root=folder, subdomains={"www", "www1", "www2"}, not_subdomains={"nonexistent"},
                            ports={"http": ports, "https": ports, "ws": [], "wss": [], "h2": ports,
                                   "http-local": ports, "http-public": ports},
                            ssl={"type": "none"})
    config = builder.__enter__()
    for port in ports:
        WebTestHttpd(host="127.0.0.1", port=port, doc_root=folder, config=config).start()
    return ports


def reason_not(path):
    for pattern, reason in NOT_APPLICABLE:
        if re.search(pattern, "/" + path):
            return True, reason
    return (False, None) if path.endswith(".any.js") else (True, None)


def meta(text):
    return re.findall(r"^// META: *([a-z]+)=(.*?)\s*$", text, re.M)


def read(folder, path):
    with open(os.path.join(folder, path), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def substitute(text, ports):
    """What the suite's server puts into scripts. There is one host."""
    return re.sub(r"{{([^}]*)}}", lambda match: str(ports[int(match[1][-2]) % 2]) if match[1].startswith("ports") else
                  "127.0.0.1", text)


def script(folder, path, ports, seconds):
    """The source of a run, or the reason why there is none."""
    port = ports[0]
    text = read(folder, path)
    fields = meta(text)
    globals_ = [value for key, value in fields if key == "global"]
    if globals_ and not re.search(r"worker|\bany\b|shadowrealm", globals_[0]) and "window" in globals_[0]:
        return None, "needs a document"
    parts = []
    for key, value in fields:
        if key != "script":
            continue
        included = value.lstrip("/") if value.startswith("/") else os.path.normpath(os.path.join(os.path.dirname(path), value))
        if included.endswith(".sub.js"):
            parts.append(substitute(read(folder, included), ports))
        elif "idlharness" in included or "testdriver" in included:
            return None, "checks the interface definitions of browsers" if "idl" in included else "drives a browser"
        else:
            parts.append(read(folder, included))
    harness = read(folder, "resources/testharness.js")
    base = json.dumps(f"http://127.0.0.1:{port}/{path[:-len('.any.js')]}.any.worker.js")
    explicit = "explicit_done" in text
    return "\n".join([PROLOGUE, harness, BETWEEN % {"base": base}, f"const tests_are_explicit = {json.dumps(explicit)};",
                      *parts, text, EPILOGUE % {"ms": seconds * 1000}]), None


def run(folder, path, ports):
    """Counts of one file, its failures, and the reason if it does not apply."""
    source, reason = script(folder, path, ports, SECONDS // 2)
    if source is None:
        return path, collections.Counter(), [], reason
    with tempfile.NamedTemporaryFile("w", suffix=".js", errors="surrogateescape") as file:
        file.write(source)
        file.flush()
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        done = subprocess.run([GLOVEBOX, "run", "-l", "js", "--json", "--timeout", f"{SECONDS}s", "--set",
                               f"network.allowlist=[{hosts}]", "--net", hosts, file.name], capture_output=True, text=True)
    counts, failures = collections.Counter(), []
    try:
        result = json.loads(done.stdout)
        lines = [arg for log in result["logs"] for arg in log["args"] if isinstance(arg, str) and arg.startswith("WPT")]
    except (ValueError, KeyError):
        result, lines = {"error": {"message": done.stderr[-300:]}}, []
    if not lines:
        message = (result.get("error") or {}).get("message", "the harness did not finish")
        return path, collections.Counter(failed=1), [(path, "(the file)", message)], None
    report = json.loads(lines[-1][3:])
    for test in report["tests"]:
        passed = test["status"] == 0
        # Its own precondition has failed, or it is in the table.
        inapplicable = test["status"] == 4 or (not passed and any(
            re.search(file, path) and re.search(name, test["name"]) for file, name, _ in TESTS_NOT_APPLICABLE))
        counts["passed" if passed else "not applicable" if inapplicable else "failed"] += 1
        if not passed and not inapplicable:
            failures.append((path, test["name"], test["message"] or ("timeout" if test["status"] == 2 else "not run")))
    return path, counts, failures, None


def find(folder, suites):
    for suite in suites:
        if os.path.isfile(os.path.join(folder, suite)):
            yield suite, suite
            continue
        for at, folders, files in os.walk(os.path.join(folder, suite)):
            folders.sort()
            for name in sorted(files):
                path = os.path.relpath(os.path.join(at, name), folder)
                if re.search(r"\.(js|html|xhtml|htm|svg)$", name) and not name.endswith(".sub.js"):
                    yield suite, path


def main(arguments):
    verbose = "-v" in arguments
    arguments = [argument for argument in arguments if argument != "-v"]
    if not arguments or not os.path.isfile(os.path.join(arguments[0], "resources/testharness.js")):
        sys.exit(__doc__)
    folder, suites = os.path.abspath(arguments[0]), arguments[1:] or DEFAULT
    ports = start_server(folder)
    totals, reasons, all_failures = collections.defaultdict(collections.Counter), collections.Counter(), []
    chosen = []
    for suite, path in find(folder, suites):
        skipped, reason = reason_not(path)
        if not skipped:
            chosen.append((suite, path))
        elif reason:
            totals[suite]["files not applicable"] += 1
            reasons[reason] += 1
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (suite, _), (path, counts, failures, reason) in zip(chosen, pool.map(lambda one: run(folder, one[1], ports), chosen)):
            totals[suite]["files"] += not reason
            totals[suite]["files not applicable"] += bool(reason)
            reasons[reason] += bool(reason)
            totals[suite] += counts
            all_failures += failures
            if verbose:
                for _, name, message in failures:
                    print(f"FAIL {path}: {name}: {message}"[:400])
    for suite in suites:
        print(f"{suite}: " + ", ".join(f"{totals[suite][key]} {key}" for key in
                                       ("passed", "failed", "not applicable", "files", "files not applicable")))
    print("files that do not apply:")
    for reason, n in sorted(reasons.items(), key=lambda item: -item[1]):
        if n:
            print(f"  {n:4} {reason}")
    return 1 if all_failures else 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # the server's threads
