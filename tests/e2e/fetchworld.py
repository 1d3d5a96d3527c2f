"""A server for tests of fetch: paths with a behaviour each, and events between requests instead of durations."""
import base64
import gzip
import json
import socket
import threading
import urllib.parse
import zlib

import netns

# 400 MiB of zeros in brotli: Python has no encoder for it.
BROTLI_BOMB = (
    "y///P/gnAOKxQCD3/o///3/wTwDEYRGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w"
    "/+CYA4LADQvf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/o///3/wTwDEYQGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIg"
    "DgsAdO//+P//B/8EQBwWAOje//H//w/+CYA4LADQvf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/o///3/wTwDEYQGA7v0f////4J8AiMMCAN"
    "37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w/+CYA4LADQvf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/o//"
    "/3/wTwDEYQGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w/+CYA4LADQvf/j//8f/B"
    "MAcVgAoHv/x///P/gnAOKwAED3/o///3/wTwDEYQGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwW"
    "AOje//H//w/+CYA4LADQvf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/o///3/wTwDEYQGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693"
    "/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w/+CYA4LADQvf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/i/////wTwDEYQGA7v0f")
BROTLI_TEXT = "Gw8n+KVByujwxGtRQLEHQB4="


def reply(status=200, headers=(), body=b"", length=True):
    lines = [f"HTTP/1.1 {status} Status", *headers] + ([f"Content-Length: {len(body)}"] if length else [])
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Request:
    """One request as it was sent."""

    def __init__(self, head):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = lines[0].split(" ")
        self.path, _, query = self.target.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query))
        self.headers = [line.split(": ", 1) if ": " in line else [line.rstrip(":"), ""] for line in lines[1:]]
        self.fields = {name.lower(): value for name, value in self.headers}
        self.body = b""


class Stream:
    """A connection, and the bytes that were received and not used yet."""

    def __init__(self, socket_):
        self.socket, self.buffer = socket_, b""

    def fill(self):
        piece = self.socket.recv(65536)
        self.buffer += piece
        return bool(piece)

    def until(self, mark):
        while mark not in self.buffer:
            if not self.fill():
                return None
        part, self.buffer = self.buffer.split(mark, 1)
        return part

    def take(self, n):
        while len(self.buffer) < n and self.fill():
            pass
        part, self.buffer = self.buffer[:n], self.buffer[n:]
        return part

    def chunks(self):
        while (line := self.until(b"\r\n")) is not None:
            n = int(line, 16)
            yield from [self.take(n)] if n else []
            self.take(2)
            if n == 0:
                return

    def closed(self):
        """Wait until the other side has closed it."""
        try:
            while self.fill():
                pass
        except OSError:
            pass

    def send(self, data):
        self.socket.sendall(data)


class Server:
    """Serves connections of a netns.World: world.listen(address, port, server.serve)."""

    def __init__(self):
        self.lock = threading.Condition()
        self.events = set()
        self.counts = {}
        self.requests = []
        self.stopping = False

    def happen(self, event):
        with self.lock:
            self.events.add(event)
            self.counts[event] = self.counts.get(event, 0) + 1
            self.lock.notify_all()

    def wait(self, event, n=1):
        """Wait for an event, at most as long as a test may take."""
        with self.lock:
            return self.lock.wait_for(lambda: self.counts.get(event, 0) >= n, 60)

    def serve(self, connection):
        stream = Stream(connection)
        while (head := stream.until(b"\r\n\r\n")) is not None:
            request = Request(head)
            self.requests.append(request)
            handler = getattr(self, "on_" + request.path.strip("/").split("/")[0].replace("-", "_"), None)
            if "content-length" in request.fields and not getattr(handler, "reads", False):
                request.body = stream.take(int(request.fields["content-length"]))
            elif "transfer-encoding" in request.fields and not getattr(handler, "reads", False):
                request.body = b"".join(stream.chunks())
            if not handler:
                stream.send(reply(404))
            elif handler(stream, request) == "close":
                return

    # --- what was sent

    def on_echo(self, stream, request):
        """The request, as JSON."""
        shown = {"method": request.method, "target": request.target, "headers": request.headers,
                 "body": base64.b64encode(request.body).decode()}
        body = json.dumps(shown).encode()
        stream.send(reply(200, ["Content-Type: application/json"], b"" if request.method == "HEAD" else body))

    def on_back(self, stream, request):
        """The body as it was sent, with its type."""
        stream.send(reply(200, [f"Content-Type: {request.fields.get('content-type', '')}"], request.body))

    def on_status(self, stream, request):
        status = int(request.path.split("/")[2])
        body = b"" if request.method == "HEAD" or status in (204, 205, 304) else b"body"
        stream.send(reply(status, ["X-One: 1", "X-One: 2", "Set-Cookie: a=1", "Set-Cookie: b=2"], body,
                          length=status not in (204, 304)))

    def on_redirect(self, stream, request):
        stream.send(reply(int(request.query.get("status", 302)), [f"Location: {request.query['to']}"], b"moved"))

    def on_hops(self, stream, request):
        n = int(request.query["n"])
        stream.send(reply(302, [f"Location: /hops?n={n - 1}"]) if n else reply(200, [], b"arrived"))

    # --- codings

    def on_coded(self, stream, request):
        text = b"text " * 2000
        compressor = zlib.compressobj(wbits=-15)
        body, coding = {
            "gzip": (gzip.compress(text), "gzip"), "x-gzip": (gzip.compress(text), "x-gzip"),
            "deflate": (zlib.compress(text), "deflate"), "raw": (compressor.compress(text) + compressor.flush(), "deflate"),
            "br": (base64.b64decode(BROTLI_TEXT), "br"), "twice": (gzip.compress(gzip.compress(text)), "gzip, gzip"),
            "joined": (gzip.compress(text[:5000]) + gzip.compress(text[5000:]), "gzip"), "none": (text, "identity"),
            "cut": (gzip.compress(text)[:-20], "gzip"), "wrong": (b"this is no gzip" * 10, "gzip"),
            "other": (b"bytes", "zstd"), "empty": (b"", "gzip"),
        }[request.query["as"]]
        stream.send(reply(200, [f"Content-Encoding: {coding}"], body))

    def on_bomb(self, stream, request):
        """400 MiB of zeros, compressed once or twice."""
        compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
        zeros = bytes(1 << 20)
        body = b"".join(compressor.compress(zeros) for _ in range(400)) + compressor.flush()
        kind = request.query["as"]
        if kind == "twice":
            body = gzip.compress(body, 9)
        elif kind == "br":
            body = base64.b64decode(BROTLI_BOMB)
        stream.send(reply(200, [f"Content-Encoding: {'gzip, gzip' if kind == 'twice' else kind}"], body))

    # --- events

    def on_await(self, stream, request):
        """Answers when the event has happened so often."""
        done = self.wait(request.query["event"], int(request.query.get("n", 1)))
        stream.send(reply(200 if done else 500, [], b"happened" if done else b"never"))

    def on_happen(self, stream, request):
        self.happen(request.query["event"])
        stream.send(reply(200))

    def on_barrier(self, stream, request):
        """Answers when n requests wait here."""
        name = "barrier " + request.query["n"]
        self.happen(name)
        self.on_await(stream, Request(f"GET /x?event={urllib.parse.quote(name)}&n={request.query['n']} HTTP/1.1".encode()))

    def on_hang(self, stream, request):
        """Never answers. Its events: begun, and closed by the client."""
        name = request.query["name"]
        self.happen(f"{name} begun")
        if "head" in request.query:
            stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbegin")
        stream.closed()
        self.happen(f"{name} closed")
        return "close"
    on_hang.reads = True

    def on_download(self, stream, request):
        """Sends a second part when the event has happened."""
        stream.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        self.wait(request.query["event"])
        stream.send(b"6\r\nsecond\r\n0\r\n\r\n")

    def on_upload(self, stream, request):
        """Each chunk of the body is an event."""
        got = []
        for chunk in stream.chunks() if "transfer-encoding" in request.fields else [b"not chunked"]:
            got.append(chunk.decode())
            self.happen(f"{request.query['name']} {chunk.decode()}")
        stream.send(reply(200, [], ",".join(got).encode()))
    on_upload.reads = True

    def on_slow_upload(self, stream, request):
        """Reads nothing of the body before the event; answers with the number of its bytes."""
        self.wait(request.query["event"])
        n = 0
        for chunk in stream.chunks():
            n += len(chunk)
        stream.send(reply(200, [], str(n).encode()))
    on_slow_upload.reads = True

    def on_bytes(self, stream, request):
        stream.send(reply(200, [], bytes(i & 255 for i in range(256)) * (int(request.query["n"]) // 256)))

    def on_cut(self, stream, request):
        """Less than it has announced."""
        how = request.query["how"]
        stream.send(b"HTTP/1.1 200 OK\r\n" + (b"Content-Length: 100\r\n\r\nfew" if how == "length" else
                                               b"Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"))
        return "close"

    # --- attacks

    def on_endless(self, stream, request):
        """Never ends: a head, headers, an interim response, a body."""
        how = request.query["how"]
        first, again = {
            "head": (b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65536), "headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000),
            "interim": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
            "body": (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
            "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 1000),
            "extension": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", b"x" * 65536),
            "trailers": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n" * 1000),
        }[how]
        try:
            stream.send(first)
            while not self.stopping:
                stream.send(again)
        except OSError:
            self.happen(f"endless {how} closed")
        return "close"

    def on_trickle(self, stream, request):
        """A byte of the head at a time, forever: no end comes, and the connection is never idle."""
        try:
            stream.send(b"HTTP/1.1 200 OK\r\nX: ")
            while not self.lock_wait_stop(0.05):
                stream.send(b"x")
        except OSError:
            self.happen("trickle closed")
        return "close"

    def lock_wait_stop(self, seconds):
        with self.lock:
            return self.lock.wait_for(lambda: self.stopping, seconds)

    def on_garbage(self, stream, request):
        stream.send(GARBAGE[request.query["as"]])
        try:
            stream.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        stream.closed()
        return "close"


# Answers that are no HTTP, or that two parsers could read differently.
GARBAGE = {
    "nothing": b"",
    "text": b"garbage garbage garbage\r\n\r\n",
    "zeros": b"\0" * 1000,
    "old": b"ICY 200 OK\r\n\r\nbody",
    "http/0.9": b"<html>body</html>",
    "status": b"HTTP/1.1 20 OK\r\nContent-Length: 4\r\n\r\nbody",
    "status of letters": b"HTTP/1.1 abc OK\r\nContent-Length: 4\r\n\r\nbody",
    "status of four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 4\r\n\r\nbody",
    "no colon": b"HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 4\r\n\r\nbody",
    "space in a name": b"HTTP/1.1 200 OK\r\nX y: 1\r\nContent-Length: 4\r\n\r\nbody",
    "nul in a value": b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 4\r\n\r\nbody",
    "nul in a name": b"HTTP/1.1 200 OK\r\nX\0: a\r\nContent-Length: 4\r\n\r\nbody",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 8\r\n\r\nbodybody",
    "length of letters": b"HTTP/1.1 200 OK\r\nContent-Length: four\r\n\r\nbody",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nbody",
    "huge length": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nbody",
    "bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nbody\r\n0\r\n\r\n",
    "huge chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nbody\r\n0\r\n\r\n",
    "switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nbytes",
    "only interim": b"HTTP/1.1 100 Continue\r\n\r\n",
    "no end of the head": b"HTTP/1.1 200 OK\r\nX: y\r\n",
    "http/2": b"HTTP/2 200\r\n\r\nbody",
}


def start(world, address, *ports):
    server = Server()
    for port in ports:
        world.listen(address, port, server.serve)
    return server


class Code:
    """Runs JavaScript of the network tier, in one 'glovebox stdio'."""

    def __init__(self, glovebox, allowlist, *settings):
        self.client = netns.Client(glovebox, allowlist, *settings)
        self.allowlist, self.number = allowlist, 0

    def run(self, source, net=None, **limits):
        """The result of a run whose code is the body of an async function."""
        return self.plain(f"export default await (async () => {{\n{source}\n}})()", limits={"timeoutMs": 20000, **limits},
                          options={"language": "js", "net": self.allowlist if net is None else net})

    def plain(self, source, **more):
        """The result of a run as the message says it."""
        self.number += 1
        return self.client.run(self.number, source, **more)

    def value(self, source, **more):
        """What the code returns; the whole result if it has failed."""
        result = self.run(source, **more)
        return result.get("result", result) if result.get("status") == "success" else result

    def close(self):
        return self.client.close()
