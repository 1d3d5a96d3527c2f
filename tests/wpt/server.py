"""The server of web-platform-tests as far as their tests of fetch need it: files of a copy of the suite with their headers,
and its handlers, files NAME.py with main(request, response). Written from the documentation of wptserve."""
import base64
import importlib.util
import json
import mimetypes
import os
import re
import sys
import threading
import types
import urllib.parse

import fetchworld


def text_of(value):
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def bytes_of(value):
    return value if isinstance(value, bytes) else str(value).encode("latin-1")


def json_handler(function):
    def handle(request, response):
        response.headers.set(b"Content-Type", b"application/json")
        return json.dumps(function(request, response), default=text_of)
    return handle


def install_modules():
    """The modules that handlers import."""
    names = {"wptserve": {}, "wptserve.utils": {"isomorphic_decode": text_of, "isomorphic_encode": bytes_of},
             "wptserve.handlers": {"json_handler": json_handler}}
    for name, members in names.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module


class Fields:
    """Headers: names without regard to case, bytes."""

    def __init__(self, entries=()):
        self.entries = [(bytes_of(name), bytes_of(value)) for name, value in entries]

    def get(self, name, default=None):
        values = [value for given, value in self.entries if given.lower() == bytes_of(name).lower()]
        return b", ".join(values) if values else default

    def __getitem__(self, name):
        return self.get(name)

    def __contains__(self, name):
        return self.get(name) is not None

    def __iter__(self):
        return iter([name for name, _ in self.entries])

    def items(self):
        return list(self.entries)

    def __str__(self):
        return "".join(f"{text_of(name)}: {text_of(value)}\n" for name, value in self.entries)

    def set(self, name, value):
        self.entries = [one for one in self.entries if one[0].lower() != bytes_of(name).lower()]
        self.append(name, value)

    def append(self, name, value):
        self.entries.append((bytes_of(name), bytes_of(value)))

    def update(self, entries):
        for name, value in entries:
            self.set(name, value)


class Parameters(dict):
    """Parameters of a query or a form: name to a list of values."""

    def __init__(self, text):
        super().__init__()
        for name, value in urllib.parse.parse_qsl(text, keep_blank_values=True, encoding="latin-1"):
            self.setdefault(name.encode("latin-1"), []).append(value.encode("latin-1"))

    def first(self, name, *default):
        values = self.get_list(name)
        if not values and not default:
            raise KeyError(name)
        return values[0] if values else default[0]

    def get_list(self, name):
        return dict.get(self, bytes_of(name), [])

    def get(self, name, default=None):
        values = self.get_list(name)
        return values[0] if values else default

    def __getitem__(self, name):
        return self.first(name)

    def __contains__(self, name):
        return bool(self.get_list(name))


class Stash:
    """Values that a request leaves for a later one, which takes them."""

    def __init__(self):
        self.values, self.lock = {}, threading.RLock()

    def at(self, path):
        return types.SimpleNamespace(
            put=lambda key, value, where=None: self.put((where or path, text_of(key)), value),
            take=lambda key, where=None: self.take((where or path, text_of(key))), lock=self.lock)

    def put(self, key, value):
        with self.lock:
            self.values[key] = value

    def take(self, key):
        with self.lock:
            return self.values.pop(key, None)


class Request:
    def __init__(self, plain, stash, host, client):
        self.method, self.body = plain.method, plain.body
        self.request_path = plain.target
        self.url_parts = urllib.parse.urlsplit("http://" + host + plain.target)
        self.url = self.url_parts.geturl()
        self.headers = Fields(plain.headers)
        self.raw_headers = self.headers
        self.GET = Parameters(self.url_parts.query)
        is_form = b"urlencoded" in (self.headers.get(b"content-type") or b"")
        self.POST = Parameters(self.body.decode("latin-1") if is_form else "")
        self.server = types.SimpleNamespace(stash=stash.at(self.url_parts.path))
        self.client_address = client
        self.cookies = {}
        kind, _, credentials = (self.headers.get("authorization") or b"").partition(b" ")
        try:
            user, _, password = base64.b64decode(credentials, validate=True).partition(b":")
        except ValueError:
            user, password = None, None
        basic = kind.lower() == b"basic"
        self.auth = types.SimpleNamespace(username=user if basic else None, password=password if basic else None)


class Writer:
    """Bytes that a handler writes itself. A response without a length ends with its connection."""

    def __init__(self, stream, response):
        self.stream, self.response, self.began = stream, response, False

    def write(self, data):
        self.began = True
        try:
            self.stream.send(bytes_of(data))
            return True
        except OSError:
            return False

    write_content = write_raw_content = write

    def write_status(self, code, message=None):
        return self.write(f"HTTP/1.1 {code} {text_of(message or 'Status')}\r\n")

    def write_header(self, name, value):
        return self.write(bytes_of(name) + b": " + bytes_of(value) + b"\r\n")

    def end_headers(self):
        return self.write("\r\n")


class Response:
    def __init__(self, stream):
        self.status, self.headers, self.content, self.close_connection = 200, Fields(), b"", False
        self.writer = Writer(stream, self)

    def add_required_headers(self):
        pass

    def write_status_headers(self):
        self.writer.write(self.head())

    def head(self):
        code, reason = self.status if isinstance(self.status, tuple) else (self.status, "OK")
        lines = [b"HTTP/1.1 %d %s" % (int(code), bytes_of(reason))]
        lines += [name + b": " + value for name, value in self.headers.items()]
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def take(self, returned):
        """What main() has returned: content, (headers, content) or (status, headers, content)."""
        if isinstance(returned, tuple):
            self.content = returned[-1]
            for name, value in returned[-2]:
                self.headers.append(name, value)
            if len(returned) == 3:
                self.status = returned[0]
        elif returned is not None:
            self.content = returned


class Server:
    def __init__(self, directory, substitutions):
        self.directory, self.substitutions, self.stash = directory, substitutions, Stash()
        self.missing, self.handlers, self.lock = set(), {}, threading.Lock()
        install_modules()

    def serve(self, connection):
        stream = fetchworld.Stream(connection)
        while (head := stream.until(b"\r\n\r\n")) is not None:
            plain = fetchworld.Request(head)
            if "content-length" in plain.fields:
                plain.body = stream.take(int(plain.fields["content-length"]))
            elif "transfer-encoding" in plain.fields:
                plain.body = b"".join(stream.chunks())
            if self.answer(stream, Request(plain, self.stash, plain.fields.get("host", "host"), connection.getpeername())) == "close":
                return

    def answer(self, stream, request):
        response = Response(stream)
        path = self.path_of(request.url_parts.path)
        if path is None:
            self.missing.add(request.url_parts.path)
            response.status, response.content = (404, "Not Found"), b""
        elif path.endswith(".py"):
            response.take(self.handler(path)(request, response))
        elif path.endswith(".asis"):
            with open(path, "rb") as file:
                # With CRLF and an empty line at the end, which glovebox-egress requires.
                response.writer.write(b"\r\n".join(file.read().splitlines() + [b"", b""]))
        else:
            self.file(path, response)
        for pipe in text_of(request.GET.get(b"pipe", b"")).split("|"):
            field = re.fullmatch(r"header\(([^,]*), *(.*?)(,True|,False)?\)", pipe)
            if field:
                (response.headers.append if field[3] == ",True" else response.headers.set)(field[1], field[2])
        if response.writer.began:
            return "close"
        content = response.content() if callable(response.content) else response.content
        content = content if isinstance(content, bytes) else content.encode()
        if b"content-length" not in response.headers:
            response.headers.set("Content-Length", len(content))
        stream.send(response.head() + (b"" if request.method == "HEAD" else content))
        return "close" if response.close_connection else None

    def path_of(self, path):
        full = os.path.realpath(os.path.join(self.directory, urllib.parse.unquote(path).lstrip("/")))
        return full if full.startswith(self.directory + os.sep) and os.path.isfile(full) else None

    def handler(self, path):
        with self.lock:
            if path not in self.handlers:
                spec = importlib.util.spec_from_file_location(f"handler{len(self.handlers)}", path)
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                self.handlers[path] = module.main
            return self.handlers[path]

    def file(self, path, response):
        with open(path, "rb") as file:
            response.content = file.read()
        response.headers.set("Content-Type", mimetypes.guess_type(path)[0] or "application/octet-stream")
        if ".sub." in os.path.basename(path):
            response.content = self.substitute(response.content.decode()).encode()
        if os.path.isfile(path + ".headers"):
            with open(path + ".headers") as file:
                for line in filter(None, map(str.strip, file)):
                    response.headers.set(*line.split(": ", 1))

    def substitute(self, text):
        return re.sub(r"\{\{([^}]*)\}\}", lambda found: self.substitutions.get(found[1], found[0]), text)
