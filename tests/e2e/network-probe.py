"""Runs inside a sandbox, and outside of it as the control: makes attempts to reach servers, and prints a JSON object of
their outcomes. 'served' means that a server has answered; anything else is the error."""
import json
import os
import socket
import ssl
import struct
import sys
import time

TIMEOUT = 8
outcomes = {}


def attempt(name, function, *arguments):
    begin = time.monotonic()
    try:
        outcome = function(*arguments)
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    if time.monotonic() - begin >= TIMEOUT / 2:
        outcome = f"timeout ({outcome})"
    outcomes[name] = outcome


def served(data):
    data = bytes(data)
    return "served" if b"SERVED" in data else "forbidden" if b" 403 " in data[:20] else f"closed {data[:60]!r}"


def connect(host, port, family=socket.AF_UNSPEC):
    error = OSError("no address")
    for kind, _, _, _, address in socket.getaddrinfo(host, port, family, socket.SOCK_STREAM):
        stream = socket.socket(kind, socket.SOCK_STREAM)
        stream.settimeout(TIMEOUT)
        try:
            stream.connect(address)
            return stream
        except OSError as reason:
            stream.close()
            error = reason
    raise error


def is_whole(data):
    """Whether an answer of HTTP is complete. Of other protocols, each piece is."""
    head, end, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return not data.startswith(b"HTTP/") or (end and len(body) >= int((lengths or [b"0"])[0]))


def read(stream):
    """An answer, which may arrive in pieces."""
    data = b""
    try:
        while piece := stream.recv(4096):
            data += piece
            if is_whole(data):
                break
        return data
    except ConnectionError as error:
        return data or type(error).__name__.encode()


def send(host, port, data):
    """A reset may come while it connects, sends or reads."""
    try:
        with connect(host, port) as stream:
            stream.sendall(data)
            return served(read(stream))
    except (ConnectionResetError, BrokenPipeError):
        return served(b"ConnectionReset")


def get(host, header=None, port=80):
    return send(host, port, f"GET / HTTP/1.1\r\nHost: {header or host}\r\n\r\n".encode())


def second(host, other):
    with connect(host, 80) as stream:
        stream.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        first = served(read(stream))
        if first != "served":
            return "first " + first
        stream.sendall(f"GET / HTTP/1.1\r\nHost: {other}\r\n\r\n".encode())
        return served(read(stream))


def tls(host, name, port=443):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with connect(host, port) as stream, context.wrap_socket(stream, server_hostname=name) as secure:
        secure.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        return served(read(secure))


def hello(name, more=b""):
    """A ClientHello, with more extensions."""
    names = struct.pack(">HBH", len(name) + 3, 0, len(name)) + name
    extensions = struct.pack(">HH", 0, len(names)) + names + more
    body = b"\3\3" + b"r" * 32 + b"\0" + b"\0\2\x13\1" + b"\1\0" + struct.pack(">H", len(extensions)) + extensions
    message = b"\1" + struct.pack(">I", len(body))[1:] + body
    return b"\26\3\1" + struct.pack(">H", len(message)) + message


def raw_tls(host, data):
    """What a TLS server would answer to: an alert of one is an answer as well."""
    with connect(host, 443) as stream:
        stream.sendall(data)
        answer = read(stream)
        denied = answer[:2] == b"\25\3" and answer[6:7] == bytes([49])
        return "forbidden" if denied else "served" if answer[:1] in (b"\25", b"\26") else f"closed {answer[:60]!r}"


def query(name, kind=1, server="127.0.0.1"):
    """The code of a name server's answer."""
    question = b"".join(bytes([len(l)]) + l for l in name) + b"\0" + struct.pack(">HH", kind, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.settimeout(TIMEOUT)
        stream.connect((server, 53))
        stream.send(b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + question)
        return f"code {stream.recv(1500)[3] & 15}"


def udp(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.settimeout(TIMEOUT)
        stream.connect((host, port))
        stream.send(b"\xc0" + b"q" * 1200)
        stream.recv(100)
        return "served"


def make(family, kind, protocol=0):
    with socket.socket(family, kind, protocol):
        return "served"


def abstract(name):
    with socket.socket(socket.AF_UNIX) as stream:
        stream.settimeout(TIMEOUT)
        stream.connect(b"\0" + name.encode())
        return served(stream.recv(100))


def main(plan):
    good, evil = plan["good"], plan["evil"]
    chunked = f"POST / HTTP/1.1\r\nHost: {good}\r\nTransfer-Encoding: chunked\r\n"
    hidden = f"GET / HTTP/1.1\r\nHost: {evil}\r\n\r\n"
    attempt("allowed http", get, good)
    attempt("allowed https", tls, good, good)
    attempt("allowed port", send, good, 5432, b"x")
    attempt("allowed address", send, "127.0.0.1", plan["port"], b"x")
    attempt("allowed public address", send, plan["address"], 5432, b"x")
    attempt("upper case", get, good.upper())
    attempt("trailing dot", get, good + ".")
    attempt("idna", get, plan["idna"], plan["idna"].encode("idna").decode())
    attempt("below a domain", get, "a.wild.example")
    attempt("the domain itself", get, "wild.example")
    attempt("disallowed http", get, evil)
    attempt("disallowed https", tls, evil, evil)
    attempt("disallowed port", send, good, 5433, b"x")
    attempt("public address", send, plan["evil_address"], 80, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    attempt("private address", send, plan["private_address"], 80, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    attempt("metadata", send, "169.254.169.254", 80, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    attempt("ipv6 loopback", send, "::1", plan["port"], b"x")
    attempt("ipv6 mapped", send, "::ffff:" + plan["evil_address"], 80, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    attempt("loopback of the host", send, "127.0.0.1", plan["other_port"], b"x")
    attempt("private behind a name", get, "inside.example")
    attempt("one of two is private", get, "mixed.example")
    attempt("rebinding", lambda: [get("rebind.example"), get("rebind.example")][1])
    attempt("claimed port", send, "127.0.0.1", plan["claimed_port"], b"x")
    attempt("other sni", tls, good, evil)
    attempt("no sni", tls, good, None)
    attempt("ech", raw_tls, good, hello(good.encode(), b"\xfe\x0d\0\1x"))
    attempt("nul in sni", raw_tls, good, hello(good.encode() + b"\0.x"))
    attempt("no tls", send, good, 443, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    attempt("other host", get, good, evil)
    attempt("other host in the second request", second, good, evil)
    attempt("nul in host", get, good, good + "\0" + evil)
    attempt("http/2", send, good, 80, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    attempt("upgrade to h2c", send, good, 80,
            f"GET / HTTP/1.1\r\nHost: {good}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n".encode())
    attempt("length and chunks", send, good, 80, (chunked + f"Content-Length: 4\r\n\r\n0\r\n\r\n{hidden}").encode())
    attempt("bad chunk", send, good, 80, (chunked + f"\r\n4;x\r\nabcd{hidden}").encode())
    attempt("connect", send, good, 80, f"CONNECT {evil}:80 HTTP/1.1\r\nHost: {good}\r\n\r\n".encode())
    attempt("absolute target", send, good, 80, f"GET http://{evil}/ HTTP/1.1\r\nHost: {good}\r\n\r\n".encode())
    attempt("nul in a name", query, [good.split(".")[0].encode() + b"\0", b"example"])
    attempt("label of 64 bytes", query, [b"a" * 64, b"example"])
    attempt("tunnel by a long name", query, [b"x" * 63, b"y" * 63, b"z" * 60, b"evil", b"example"])
    attempt("tunnel below an allowed name", query, [b"secret", *[l.encode() for l in good.split(".")]])
    attempt("text record of a disallowed name", query, [l.encode() for l in evil.split(".")], 16)
    attempt("other name server", query, [l.encode() for l in evil.split(".")], 1, plan["evil_address"])
    attempt("quic", udp, good, 443)
    attempt("udp to an address", udp, plan["evil_address"], 443)
    attempt("raw socket", make, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    attempt("icmp", make, socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    attempt("packet socket", make, socket.AF_PACKET, socket.SOCK_RAW)
    attempt("vsock", make, 40, socket.SOCK_STREAM)
    attempt("netlink", make, socket.AF_NETLINK, socket.SOCK_RAW)
    attempt("mptcp", make, socket.AF_INET, socket.SOCK_STREAM, 262)
    attempt("abstract socket", abstract, plan["abstract"])


main(json.loads(sys.argv[1] if len(sys.argv) > 1 else open("plan.json").read()))
print(json.dumps(outcomes))
