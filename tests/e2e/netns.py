"""A network namespace for tests: with addresses that look public, a name server, and servers for HTTP, TLS and TCP.

    netns.enter()                    # this process is in a namespace of its own from now on
    world = netns.World(folder)      # starts the servers, on threads
    ... run programs: they see world.names by DNS ...

Nothing leaves the namespace: it has a loopback device and no other. An ordinary user enters a user namespace first.
"""
import ctypes
import fcntl
import json
import os
import select
import socket
import ssl
import struct
import subprocess
import threading

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
libc = ctypes.CDLL(None, use_errno=True)
SILENT = object()  # as the addresses of a name: queries for it are not answered


def must(result):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def enter():
    """Enter a network and mount namespace. Programs that are started later have the same user id, and no privileges
    that they would not have outside."""
    uid, gid = os.getuid(), os.getgid()
    must(libc.unshare(CLONE_NEWNS | CLONE_NEWNET | (0 if uid == 0 else CLONE_NEWUSER)))
    if uid != 0:
        for name, text in (("setgroups", "deny"), ("gid_map", f"{gid} {gid} 1"), ("uid_map", f"{uid} {uid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    must(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    set_device("lo", flags=1)


def set_device(name, address=None, flags=None):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        if flags is not None:
            fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", name.encode(), flags))
        if address is not None:
            packed = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(s, SIOCSIFADDR, struct.pack("16s16s", name.encode(), packed))
            mask = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("255.255.255.255"))
            fcntl.ioctl(s, SIOCSIFNETMASK, struct.pack("16s16s", name.encode(), mask))


def thread(function, *arguments):
    started = threading.Thread(target=function, args=arguments, daemon=True)
    started.start()
    return started


class World:
    """Servers, and a name server for them."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {}     # name to a list of addresses, or to a function that returns one
        self.asked = []     # names that were asked for
        self.connections = []
        self.n_addresses = 0
        resolv = os.path.join(folder, "resolv.conf")
        with open(resolv, "w") as file:
            file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:2\n")
        must(libc.mount(resolv.encode(), os.path.realpath("/etc/resolv.conf").encode(), None, MS_BIND, None))
        self.dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.dns.bind(("127.0.0.1", 53))
        thread(self.serve_names)

    # --- names

    def address(self, address):
        """Give this machine another address."""
        self.n_addresses += 1
        set_device(f"lo:{self.n_addresses}", address)
        return address

    def answer(self, query):
        at, labels = 12, []
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
            at += 1 + query[at]
        name, kind = ".".join(labels).lower(), struct.unpack(">H", query[at + 1:at + 3])[0]
        self.asked.append(name)
        found = self.names.get(name)
        found = found(kind) if callable(found) else found
        if found is SILENT:
            return None
        family, code = {1: (socket.AF_INET, 1), 28: (socket.AF_INET6, 28)}.get(kind, (None, 0))
        records = [socket.inet_pton(family, a) for a in found or [] if family and (":" in a) == (kind == 28)]
        head = query[:2] + struct.pack(">HHHHH", 0x8580 | (0 if found is not None else 3), 1, len(records), 0, 0)
        body = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", code, 1, 0, len(r)) + r for r in records)
        return head + query[12:at + 5] + body

    def serve_names(self):
        while True:
            query, client = self.dns.recvfrom(1500)
            answer = self.answer(query)
            if answer:
                self.dns.sendto(answer, client)

    # --- servers

    def listen(self, address, port, serve, wrap=None):
        listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(1024)
        thread(self.accept, listener, address, port, serve, wrap)
        return listener.getsockname()[1]

    def accept(self, listener, address, port, serve, wrap):
        while True:
            connection, _ = listener.accept()
            self.connections.append((address, port))
            thread(self.serve_one, connection, serve, wrap)

    @staticmethod
    def serve_one(connection, serve, wrap):
        try:
            with (wrap.wrap_socket(connection, server_side=True) if wrap else connection) as stream:
                serve(stream)
        except OSError:
            pass

    # --- certificates

    def authority(self):
        """A certificate authority. Returns the path of its certificate."""
        key, certificate = os.path.join(self.folder, "ca.key"), os.path.join(self.folder, "ca.pem")
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                     "-subj", "/CN=test authority", "-addext", "basicConstraints=critical,CA:TRUE")
        return certificate

    def server_context(self, *names):
        base = os.path.join(self.folder, names[0])
        with open(base + ".ext", "w") as file:
            file.write("subjectAltName=" + ",".join(f"DNS:{n}" for n in names) + "\nbasicConstraints=CA:FALSE\n")
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", base + ".key", "-out", base + ".csr", "-subj",
                     f"/CN={names[0]}")
        self.openssl("x509", "-req", "-in", base + ".csr", "-CA", os.path.join(self.folder, "ca.pem"), "-CAkey",
                     os.path.join(self.folder, "ca.key"), "-CAcreateserial", "-days", "2", "-extfile", base + ".ext",
                     "-out", base + ".pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(base + ".pem", base + ".key")
        return context

    @staticmethod
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def http(stream):
    """Answers every request with its Host, and keeps the connection open unless the request says otherwise, by its header
    or by the path /close."""
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            piece = stream.recv(65536)
            if not piece:
                return
            buffer += piece
        head, buffer = buffer.split(b"\r\n\r\n", 1)
        lines = head.split(b"\r\n")
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(b":") for line in lines[1:])}
        length = int(fields.get(b"content-length", b"0"))
        while len(buffer) < length:
            buffer += stream.recv(65536)
        buffer = buffer[length:]
        body = b"SERVED " + fields.get(b"host", b"?") + b"\n"
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        if fields.get(b"connection") == b"close" or lines[0].split()[1] == b"/close":
            return


def echo(stream):
    """Greets, and returns what it is sent."""
    stream.sendall(b"SERVED\n")
    while piece := stream.recv(65536):
        stream.sendall(piece)


def wait_readable(stream, seconds):
    return bool(select.select([stream], [], [], seconds)[0])


class Client:
    """A client of 'glovebox stdio'."""

    def __init__(self, glovebox, allowlist, *settings, prefix=()):
        command = [*prefix, glovebox, "stdio", "--set", f"network.allowlist={json.dumps(allowlist)}"]
        for setting in settings:
            command += ["--set", setting]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self, *types):
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message["type"] in types + ("error",):
                return message
        return {"type": "end"}

    def ask(self, kind, **message):
        self.send(type=kind, request=1, **message)
        return self.receive("session")

    def run(self, number, source, **more):
        self.send(type="run", run=number, source=source, **more)
        return self.receive("result").get("result", {})

    def close(self):
        self.process.stdin.close()
        return self.process.wait()
