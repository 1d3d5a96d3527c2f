#!/usr/bin/python3
"""The network tier as programs see it: each client that is installed, unmodified, makes the same attempts in the sandbox and
outside. Outside they all reach a server. In the sandbox only those to allowed hosts do; the others fail without a time limit,
and are recorded where a process of Glovebox sees them."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import netns
import tap
from networkworld import EVIL, EVIL_ADDRESS, GOOD, GOOD_ADDRESS, PRIVATE, folder, prepare, rebinding, run, world

LONG, LABEL = ".".join(("x" * 63, "y" * 63, "z" * 60, EVIL)), "a" * 64 + ".example"
# Attempts: the URL, whether it may be reached, and the host of the denial (None: the kernel refuses it, or it is no name).
URLS = {
    "allowed by http": (f"http://{GOOD}/", True, None),
    "allowed by https": (f"https://{GOOD}/", True, None),
    "upper case": (f"http://{GOOD.upper()}/", True, None),
    "dot at the end": (f"http://{GOOD}./", True, None),
    "idna": ("http://xn--bcher-kva.example/", True, None),
    "below a domain": ("http://a.wild.example/", True, None),
    "the domain itself": ("http://wild.example/", False, "wild.example"),
    "disallowed by http": (f"http://{EVIL}/", False, EVIL),
    "disallowed by https": (f"https://{EVIL}/", False, EVIL),
    "disallowed port": (f"http://{GOOD}:8080/", False, None),
    "public address": (f"http://{EVIL_ADDRESS}/", False, None),
    "address of an allowed name": (f"http://{GOOD_ADDRESS}/", False, None),
    "private address": (f"http://{PRIVATE}/", False, None),
    "metadata": ("http://169.254.169.254/", False, None),
    "loopback of the host": ("http://127.0.0.1/", False, None),
    "ipv6 address": ("http://[::1]/", False, None),
    "mapped address": (f"http://[::ffff:{EVIL_ADDRESS}]/", False, None),
    "private behind a name": ("http://inside.example/", False, "inside.example"),
    "one of two is private": ("http://mixed.example/", False, "mixed.example"),
    "rebinding, first": ("http://rebind.example/", True, None),
    "rebinding, later": ("http://rebind.example/", False, "rebind.example"),
    "label of 64 bytes": (f"http://{LABEL}/", False, None),
    "data in a long name": (f"http://{LONG}/", False, LONG),
    "data below an allowed name": (f"http://secret.{GOOD}/", False, f"secret.{GOOD}"),
}
# Outside, these do not reach a server either: there is no such name. What matters is that a name server is asked.
NO_SUCH_NAME = {"label of 64 bytes", "data in a long name", "data below an allowed name"}
# Words of clients for an attempt that ended by a time limit. EAI_AGAIN: a name server that did not answer.
LATE = ("timed out", "timeout", "etimedout", "temporary failure", "eai_again")


def in_turn(command, shape="%s"):
    """A client of the shell, as a source for these attempts."""
    return lambda attempts: "\n".join(f"echo '== {name}'; {command.replace('URL', shape % url)} 2>&1; echo"
                                      for name, url in attempts.items())


def listed(source):
    """A client that has the list of attempts in its source."""
    return lambda attempts: source.replace("ATTEMPTS", json.dumps(list(attempts.items())))


PARSE = 'u=URL; s=${u%%:*}; h=${u#*//}; h=${h%/}; p=80; case $h in *:8080) p=8080; h=${h%:*};; esac; h=${h#[}; h=${h%]}'
BASH = PARSE + r'; (exec 3<>/dev/tcp/$h/$p && printf "GET / HTTP/1.1\r\nHost: ${u:7:-1}\r\nConnection: close\r\n\r\n" >&3 && cat <&3)'
OPENSSL = (PARSE + r'; printf "GET / HTTP/1.0\r\nHost: $h\r\nConnection: close\r\n\r\n" | openssl s_client -quiet -ign_eof -CAfile ca.pem '
           '-verify_return_error -servername $h -connect $h:443')
PERL = (PARSE + r"""; H=$h P=$p perl -MIO::Socket::IP -e '$s = IO::Socket::IP->new(PeerHost => $ENV{H}, PeerPort => $ENV{P}, GetAddrInfoFlags => 0)
 or die $@; $h = $ENV{H} =~ /:/ ? "[$ENV{H}]" : $ENV{H}; print $s "GET / HTTP/1.0\r\nHost: $h\r\nConnection: close\r\n\r\n"; print <$s>'""")
STATIC = r"""
cat > static.c <<'END'
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int argc, char **argv) {
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	char text[1000];
	int n, error = getaddrinfo(argv[1], argv[2], &hints, &found);
	if (error)
		return printf("%s\n", gai_strerror(error)), 1;
	int stream = socket(found->ai_family, SOCK_STREAM, 0);
	if (connect(stream, found->ai_addr, found->ai_addrlen) != 0)
		return perror("connect"), 1;
	snprintf(text, sizeof text, strchr(argv[1], ':') ? "GET / HTTP/1.0\r\nHost: [%s]\r\n\r\n" : "GET / HTTP/1.0\r\nHost: %s\r\n\r\n", argv[1]);
	write(stream, text, strlen(text));
	shutdown(stream, SHUT_WR);
	while ((n = read(stream, text, sizeof text)) > 0)
		fwrite(text, 1, n, stdout);
	return n < 0 ? perror("read"), 1 : 0;
}
END
gcc -w -static -o static static.c 2> /dev/null
"""
JAVA = r"""
cat > Ask.java <<'END'
import java.io.FileInputStream;
import java.net.URL;
import java.net.HttpURLConnection;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;
public class Ask {
	public static void main(String[] args) throws Exception {
		KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
		store.load(null, null);
		store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream("ca.pem")));
		TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		factory.init(store);
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(null, factory.getTrustManagers(), null);
		HttpsURLConnection.setDefaultSSLSocketFactory(context.getSocketFactory());
		for (int i = 0; i < args.length; i += 2) {
			System.out.println("== " + args[i]);
			try {
				HttpURLConnection connection = (HttpURLConnection) new URL(args[i + 1]).openConnection();
				connection.setRequestProperty("Connection", "close");
				System.out.println(new String(connection.getInputStream().readAllBytes()));
			} catch (Exception e) {
				System.out.println(e);
			}
		}
	}
}
END
"""
NODE = """
import https from 'node:https'; import http from 'node:http'; import fs from 'node:fs';
const ca = fs.readFileSync('ca.pem');
const ask = (url) => new Promise((done) => { try {
  (url.startsWith('https') ? https : http).get(url, {ca, agent: false}, (r) => {
    let text = ''; r.on('data', (d) => text += d); r.on('end', () => done(text)); }).on('error', (e) => done(String(e)));
} catch (e) { done(String(e)); } });
for (const [name, url] of ATTEMPTS) { console.log('== ' + name); console.log(await ask(url)); }
"""
FETCH = """
for (const [name, url] of ATTEMPTS) {
  console.log('== ' + name);
  try { const r = await fetch(url, {headers: {connection: 'close'}}); console.log(await r.text()); } catch (e) { console.log(String(e), String(e.cause)); }
}
"""
# In the sandbox by JavaScript's own fetch, outside by Node.js. Each request needs a connection of its own.
JS = """
for (const [name, url] of ATTEMPTS) {
  console.log('== ' + name);
  try { const r = await fetch(url + 'close'); console.log(await r.text()); } catch (e) { console.log(String(e), String(e.cause)); }
}
"""
DENO = """
const client = Deno.createHttpClient({caCerts: [Deno.readTextFileSync('ca.pem')], poolMaxIdlePerHost: 0});
for (const [name, url] of ATTEMPTS) {
  console.log('== ' + name);
  try { const r = await fetch(url, {client}); console.log(await r.text()); } catch (e) { console.log(String(e), String(e.cause)); }
}
"""
URLLIB = """
import ssl, urllib.request
context = ssl.create_default_context(cafile='ca.pem')
for name, url in ATTEMPTS:
    print('==', name)
    try:
        print(urllib.request.urlopen(url, context=context).read().decode())
    except Exception as e:
        print(repr(e))
"""
ASYNCIO = """
import asyncio, ssl
from urllib.parse import urlsplit
async def main(url):
    url = urlsplit(url)
    secure = ssl.create_default_context(cafile='ca.pem') if url.scheme == 'https' else None
    reader, writer = await asyncio.open_connection(url.hostname, url.port or (443 if secure else 80), ssl=secure)
    writer.write(b'GET / HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n' % url.netloc.encode())
    print((await reader.read()).decode())
async def all():
    for name, url in ATTEMPTS:
        print('==', name)
        try:
            await main(url)
        except Exception as e:
            print(repr(e))
"""


def static(attempts):
    return STATIC + in_turn(PARSE + "; ./static $h $p")(attempts)


def java(attempts):
    return JAVA + "java Ask.java " + " ".join(f"'{name}' '{url}'" for name, url in attempts.items()) + " 2>&1"


HTTP, HTTPS = ("http:",), ("https:",)
# Of each: the program that has to be installed, the language, the source, and the protocols that it speaks.
CLIENTS = {
    "curl": ("curl", "shell", in_turn("curl -sS --cacert ca.pem 'URL'"), HTTP + HTTPS),
    "wget": ("wget", "shell", in_turn("wget -qO- --tries=1 --ca-certificate=ca.pem 'URL'"), HTTP + HTTPS),
    "bash": ("bash", "shell", in_turn(BASH), HTTP),
    "git": ("git", "shell", lambda attempts: "export GIT_TERMINAL_PROMPT=0 GIT_SSL_CAINFO=$PWD/ca.pem\n" +
            in_turn("git ls-remote 'URLx.git'")(attempts), HTTP + HTTPS),
    "openssl": ("openssl", "shell", in_turn(OPENSSL), HTTPS),
    "perl": ("perl", "shell", in_turn(PERL), HTTP),
    "busybox": ("busybox", "shell", in_turn("busybox wget -qO- 'URL'"), HTTP),
    "a static program": ("gcc", "shell", static, HTTP),
    "java": ("java", "shell", java, HTTP + HTTPS),
    "urllib": ("python3", "python", listed(URLLIB), HTTP + HTTPS),
    "asyncio": ("python3", "python", listed(ASYNCIO), HTTP + HTTPS),
    "node http": ("node", "node", listed(NODE), HTTP + HTTPS),
    "node fetch": ("node", "node", listed(FETCH), HTTP),
    "js fetch": ("node", "js", listed(JS), HTTP + HTTPS),
    "deno fetch": ("deno", "deno", listed(DENO), HTTP + HTTPS),
}
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", "DENO_DIR": folder + "/deno",
               "NODE_EXTRA_CA_CERTS": folder + "/ca.pem"}
OUTSIDE = {"shell": ["bash", "-c"], "python": [sys.executable, "-c"], "node": ["node", "--input-type=module", "-e"], "js": ["node", "--input-type=module", "-e"],
           "deno": ["deno", "run", "-A", "--no-config", "-q"]}


def outside(language, source):
    """Run code without a sandbox; returns its output."""
    if language == "deno":
        path = os.path.join(folder, "outside.ts")
        with open(path, "w") as file:
            file.write(source)
        source = path
    if language == "python" and "async def all" in source:
        source += "\nasyncio.run(all())"
    done = subprocess.run([*OUTSIDE[language], source], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=folder,
                          stderr=subprocess.DEVNULL)
    return done.stdout


def parts(text):
    """What was printed after each '== NAME'."""
    found = {}
    for part in ("\n" + text).split("\n== ")[1:]:
        name, _, rest = part.partition("\n")
        found[name] = rest
    return found


def reached(client, said):
    # git reaches the server, which has no repository.
    return "SERVED" in said or (client == "git" and "not valid" in said)


def inside(language, source, ca):
    """Run code in the sandbox; returns its result and what it printed after each name."""
    if language == "python" and "async def all" in source:
        source += "\nawait all()"
    world.names["rebind.example"] = rebinding()
    world.asked.clear()
    if language == "js":
        result = run(language, source, settings=[f"network.authorities={ca}"])
    else:
        result = run(language, source, files=[ca])
    logs = "\n".join(" ".join(map(str, one["args"])) for one in result.get("logs") or [])
    return result, parts(result["stdout"] + "\n" + logs)


def test_client(client, ca):
    program, language, source, protocols = CLIENTS[client]
    if not shutil.which(program):
        tap.ok(f"{client} # SKIP {program} is not installed", True)
        return
    attempts = {name: url for name, (url, _, _) in URLS.items() if url.startswith(protocols)}
    world.names["rebind.example"] = rebinding()
    world.asked.clear()
    control = parts(outside(language, source(attempts)))
    missing = [name for name in attempts if name not in NO_SUCH_NAME and not reached(client, control.get(name, ""))]
    tap.ok(f"{client}: without the wall all attempts reach a server", not missing, {n: control.get(n) for n in missing})
    tap.ok(f"{client}: and names that carry data reach a name server", "http:" not in protocols or
           {LONG, f"secret.{GOOD}"} <= set(world.asked), world.asked)
    n_before = len(world.connections)
    result, seen = inside(language, source(attempts), ca)
    denials = [one["host"] for one in result.get("denials", [])]
    tap.ok(f"{client}: the attempts are made", set(seen) == set(attempts) and not result.get("timedOut"), result)
    for name in attempts:
        _, allowed, host = URLS[name]
        said = seen.get(name, "")
        tap.ok(f"{client}: {name} is {'reached' if allowed else 'refused'}" + (" and recorded" if host else ""),
               reached(client, said) == allowed and (not host or host in denials) and
               not any(word in said.lower() for word in LATE), said, denials)
    others = {to for to in world.connections[n_before:] if to[0] != GOOD_ADDRESS or to[1] not in (80, 443)}
    tap.ok(f"{client}: no other server is reached, and no name server is asked about other names", not others and
           not {EVIL, LONG, LABEL, f"secret.{GOOD}", "wild.example"} & set(world.asked), others, world.asked)


# What only some clients can attempt: the command, whether it may succeed, and the reason that is recorded.
# Outside, the output has 'SERVED' too, or the word that is named.
RESOLVER = ("import dns from 'node:dns/promises'; const r = new dns.Resolver(); %sconsole.log(await r.%s.then((a) => 'SERVED ' + a,"
            " String))")
DENO_RESOLVE = "console.log(await Deno.resolveDns('%s', 'A'%s).then((a) => 'SERVED ' + a, String))"
SPECIAL = [
    ("curl", "shell", "the server name of another host", f"curl -sSk --connect-to {EVIL}:443:{GOOD}:443 https://{EVIL}/ 2>&1",
     f"it names another server: {EVIL}"),
    ("curl", "shell", "the Host of another host in the second request",
     f"curl -sS http://{GOOD}/ -o /dev/null --next -sS -H 'Host: {EVIL}' http://{GOOD}/ 2>&1",
     f"names another host than its connection: {EVIL}"),
    ("curl", "shell", "an upgrade to HTTP/2", f"curl -sS --http2 http://{GOOD}/ 2>&1", "Upgrade is not available"),
    ("curl", "shell", "two lengths", f"curl -sS -H 'Transfer-Encoding: chunked' -H 'Content-Length: 4' -d abcd http://{GOOD}/ 2>&1",
     "ambiguous"),
    ("openssl", "shell", "the server name of another host", "printf 'GET / HTTP/1.0\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client -quiet -ign_eof "
     f"-servername {EVIL} -connect {GOOD}:443 2>&1", f"it names another server: {EVIL}"),
    ("openssl", "shell", "no server name", "printf 'GET / HTTP/1.0\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client -quiet -ign_eof "
     f"-noservername -connect {GOOD}:443 2>&1", "it does not name a server"),
    ("bash", "shell", "QUIC", f"exec 3<>/dev/udp/{GOOD}/443; echo SERVED >&3 && head -1 <&3; true", None),
    ("bash", "shell", "UDP to another host", f"exec 3<>/dev/udp/{EVIL_ADDRESS}/443; echo SERVED >&3 && head -1 <&3; true", None),
    ("busybox", "shell", "another name server", f"busybox nslookup {EVIL} {EVIL_ADDRESS} 2>&1 | sed 's/Address.*{EVIL_ADDRESS}$/SERVED/'",
     None),
    ("node", "node", "resolve4 of a disallowed name", RESOLVER % ("", f"resolve4('{EVIL}')"), "no rule allows this host"),
    ("node", "node", "another name server", RESOLVER % (f"r.setServers(['{EVIL_ADDRESS}']); ", f"resolve4('{EVIL}')"), None),
    ("node", "node", "the server name of another host", "import https from 'node:https'; await new Promise((done) => https.get("
     f"'https://{GOOD}/', {{servername: '{EVIL}', rejectUnauthorized: false}}, (r) => r.on('data', (d) => console.log(String(d))).on("
     "'end', done)).on('error', (e) => { console.log(String(e)); done(); }))", f"it names another server: {EVIL}"),
    ("node", "node", "the Host of another host", f"import http from 'node:http'; await new Promise((done) => http.get('http://{GOOD}/', "
     f"{{headers: {{host: '{EVIL}'}}}}, (r) => r.on('data', (d) => console.log(String(d))).on('end', done)))",
     f"names another host than its connection: {EVIL}"),
    ("deno", "deno", "resolveDns of a disallowed name", DENO_RESOLVE % (EVIL, ""), "no rule allows this host"),
    ("deno", "deno", "another name server", DENO_RESOLVE % (EVIL, f", {{nameServer: {{ipAddr: '{EVIL_ADDRESS}', port: 53}}}}"), None),
    ("psql", "shell", "a disallowed host", f"psql 'host={EVIL} sslmode=require' 2>&1 | sed 's/SSL error/SERVED/'", "no rule allows this host"),
    ("psql", "shell", "a disallowed port", f"psql 'host={GOOD} port=5433 sslmode=require' 2>&1 | sed 's/SSL error/SERVED/'", None),
    ("psql", "shell", "an address", f"psql 'host={EVIL_ADDRESS} sslmode=require' 2>&1 | sed 's/SSL error/SERVED/'", None),
]
# What these clients reach.
REACHED = [
    ("node", "node", "resolve4 of an allowed name", RESOLVER % ("", f"resolve4('{GOOD}')")),
    ("deno", "deno", "resolveDns of an allowed name", DENO_RESOLVE % (GOOD, "")),
    ("psql", "shell", "an allowed host and port", f"psql 'host={GOOD} port=5432 sslmode=require' 2>&1 | sed 's/SSL error/SERVED/'"),
    ("bash", "shell", "an allowed address", "exec 3<>/dev/tcp/11.0.0.3/5432; head -1 <&3"),
]


def test_special(ca):
    for program, language, name, source, reason in SPECIAL + [(*one, None) for one in REACHED]:
        if not shutil.which(program):
            tap.ok(f"{program}: {name} # SKIP it is not installed", True)
            continue
        said = outside(language, source)
        tap.ok(f"{program}: {name}: possible without the wall", "SERVED" in said, said)
        result, _ = inside(language, source, ca)
        said = result["stdout"] + result.get("stderr", "") + json.dumps(result.get("logs") or [])
        if (program, language, name, source) in REACHED:
            tap.ok(f"{program}: {name}: and in the sandbox", "SERVED" in said, result)
            continue
        reasons = [one["reason"] for one in result.get("denials", [])]
        tap.ok(f"{program}: {name}: not in the sandbox" + (", and recorded" if reason else ""), "SERVED" not in said and
               not result.get("timedOut") and not any(word in said.lower() for word in LATE) and
               (not reason or any(reason in one for one in reasons)), result)


ca, *kept = prepare()
try:
    world.listen(GOOD_ADDRESS, 8080, netns.http)
    world.listen(EVIL_ADDRESS, 5432, netns.echo)
    wanted = sys.argv[1:] or [*CLIENTS, "special"]
    for client in CLIENTS:
        if client in wanted:
            test_client(client, ca)
    if "special" in wanted:
        test_special(ca)
finally:
    shutil.rmtree(folder, ignore_errors=True)
tap.plan()
sys.exit(1 if tap.failed else 0)
