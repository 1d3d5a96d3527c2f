#!/usr/bin/python3
"""A local server with E2B's public API, for tests: sandboxes, contexts, and POST /execute, which answers lines of JSON.

    with Server() as server:
        ... server.url, server.key ...

As a program it prints its address and key as JSON, and serves until its standard input ends. Contexts are processes of this
machine without any sandbox: only tests may use it. 'make test-e2b' checks it with E2B's own client."""

import json
import os
import shutil
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "e2b_" + "0123456789abcdef" * 2 + "01234567"

# A context: reads {"code": …} lines, and answers with events, then with "end".
PYTHON = r'''
import ast, json, sys, traceback
events = sys.stdout
def send(**event):
    print(json.dumps(event), file=events, flush=True)
class Stream:
    def __init__(self, name): self.name = name
    def write(self, text):
        if text: send(type=self.name, text=text)
        return len(text)
    def flush(self): pass
sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
names, count = {"__name__": "__main__"}, 0
for line in sys.stdin:
    count += 1
    try:
        tree = ast.parse(json.loads(line)["code"])
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(last, "<cell>", "eval"), names) if last else None
        if value is not None:
            send(type="result", text=repr(value), is_main_result=True)
    except BaseException as error:
        send(type="error", name=type(error).__name__, value=str(error), traceback=traceback.format_exc())
    send(type="number_of_executions", execution_count=count)
    send(type="end")
'''
JAVASCRIPT = r'''
const vm = require("vm"), util = require("util");
const send = event => process.stdout.write(JSON.stringify(event) + "\n");
const say = name => (...args) => send({type: name, text: util.format(...args) + "\n"});
const context = vm.createContext({console: {log: say("stdout"), info: say("stdout"), error: say("stderr"), warn: say("stderr")}});
let count = 0;
require("readline").createInterface({input: process.stdin}).on("line", async line => {
  try {
    const value = await vm.runInContext(JSON.parse(line).code, context);
    if (value !== undefined) send({type: "result", text: util.inspect(value), json: value, is_main_result: true});
  } catch (error) {
    send({type: "error", name: error.name, value: error.message, traceback: String(error.stack)});
  }
  send({type: "number_of_executions", execution_count: ++count});
  send({type: "end"});
});
'''


class Context:
    """A process that keeps variables."""

    def __init__(self, language):
        self.id, self.language = str(uuid.uuid4()), language
        self.lock = threading.Lock()
        self.start()

    def start(self):
        program = ["node", "-e", JAVASCRIPT] if self.language == "javascript" else [sys.executable, "-c", PYTHON]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, code):
        if self.language == "bash":
            done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
            yield {"type": "stdout", "text": done.stdout}
            yield {"type": "stderr", "text": done.stderr}
            if done.returncode:
                yield {"type": "error", "name": "ExitError", "value": f"exit status {done.returncode}", "traceback": ""}
            return
        with self.lock:
            self.process.stdin.write(json.dumps({"code": code}) + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                event = json.loads(line)
                if event["type"] == "end":
                    return
                yield event

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Sandbox:
    def __init__(self, body):
        self.id = "i" + uuid.uuid4().hex[:19]
        self.token = uuid.uuid4().hex
        self.body = body
        self.contexts = {}
        self.defaults = {}

    def form(self):
        return {"sandboxID": self.id, "templateID": self.body.get("templateID"), "clientID": "test", "envdVersion": "0.2.0",
                "envdAccessToken": self.token, "metadata": self.body.get("metadata") or {}, "state": "running", "cpuCount": 1,
                "memoryMB": 512, "startedAt": "2030-01-01T00:00:00Z", "endAt": "2030-01-01T01:00:00Z"}

    def add(self, language):
        context = Context(language or "python")
        self.contexts[context.id] = context
        return context

    def find(self, context_id, language):
        """The context of that id, or the default one of the language."""
        if context_id:
            return self.contexts.get(context_id)
        language = language or "python"
        if language not in self.defaults:
            self.defaults[language] = self.add(language)
        return self.defaults[language]

    def end(self):
        for context in self.contexts.values():
            context.end()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=None, headers=()):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, message, headers=()):
        self.reply(status, {"code": status, "message": message}, headers)

    def read_body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            text = b"".join(self.read_chunks())
        else:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return json.loads(text) if text else {}

    def read_chunks(self):
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def serve(self):
        server, path = self.server.owner, self.path.split("?")[0]
        body = self.read_body()
        server.requests.append((self.command, path, dict(self.headers), body))
        fault = server.take_fault(path)
        if fault:
            if fault["status"] == 0:
                self.close_connection = True
                return
            self.refuse(fault["status"], fault.get("message", "a fault of the test"), fault.get("headers", ()))
        elif path in ("/execute", "/health") or path.startswith("/contexts"):
            self.serve_sandbox(server, path, body)
        elif self.headers.get("X-API-Key") != server.key:
            self.refuse(401, f"the key {self.headers.get('X-API-Key')} is not valid")
        else:
            self.serve_api(server, path.removeprefix("/v2"), body)

    do_GET = do_POST = do_DELETE = serve

    def serve_api(self, server, path, body):
        parts = path.strip("/").split("/")
        sandbox = server.sandboxes.get(parts[1]) if len(parts) > 1 else None
        if parts[0] != "sandboxes":
            self.refuse(404, "there is no such path")
        elif len(parts) == 1 and self.command == "POST":
            sandbox = Sandbox(body)
            server.sandboxes[sandbox.id] = sandbox
            self.reply(201, sandbox.form())
        elif len(parts) == 1:
            self.reply(200, [each.form() for each in server.sandboxes.values()])
        elif sandbox is None:
            self.refuse(404, f"sandbox {parts[1]} not found")
        elif self.command == "DELETE":
            server.sandboxes.pop(sandbox.id).end()
            self.reply(204)
        elif self.command == "POST" and parts[2:] == ["timeout"]:
            self.reply(204)
        else:
            self.reply(200, sandbox.form())

    def serve_sandbox(self, server, path, body):
        sandbox = server.sandboxes.get(self.headers.get("E2b-Sandbox-Id", ""))
        if sandbox is None:
            self.refuse(502, "the sandbox was not found")
        elif path == "/health":
            self.reply(204)
        elif path == "/execute":
            self.execute(sandbox, body)
        elif path == "/contexts" and self.command == "POST":
            context = sandbox.add(body.get("language"))
            self.reply(200, {"id": context.id, "language": context.language, "cwd": body.get("cwd") or "/home/user"})
        elif path == "/contexts":
            self.reply(200, [{"id": each.id, "language": each.language, "cwd": "/home/user"} for each in sandbox.contexts.values()])
        else:
            self.serve_context(sandbox, path.split("/")[2:])

    def serve_context(self, sandbox, parts):
        context = sandbox.contexts.get(parts[0])
        if context is None:
            self.refuse(404, f"context {parts[0]} not found")
        elif self.command == "DELETE":
            sandbox.contexts.pop(context.id).end()
            self.reply(204)
        else:
            context.end()
            context.start()
            self.reply(204)

    def execute(self, sandbox, body):
        context = sandbox.find(body.get("context_id"), body.get("language"))
        if context is None:
            self.refuse(404, f"context {body.get('context_id')} not found")
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for event in context.run(body["code"]):
                data = json.dumps(event).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True  # the client has given up


class Server:
    def __init__(self, key=KEY):
        self.key, self.sandboxes, self.requests, self.faults = key, {}, [], []
        self.lock = threading.Lock()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.owner = self
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def fail(self, path, *statuses, **more):
        """The next requests of @path are answered with these; 0: the connection is closed."""
        self.faults += [{"path": path, "status": status, **more} for status in statuses]

    def take_fault(self, path):
        with self.lock:
            for fault in self.faults:
                if path.startswith(fault["path"]):
                    self.faults.remove(fault)
                    return fault
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        for sandbox in self.sandboxes.values():
            sandbox.end()


HAS_NODE = shutil.which("node") is not None

if __name__ == "__main__":
    with Server() as served:
        print(json.dumps({"url": served.url, "key": served.key}), flush=True)
        while os.read(0, 4096):
            pass
