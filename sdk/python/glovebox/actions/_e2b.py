"""The backend ``e2b``: sandboxes in E2B's cloud. Nothing of it is needed for the other backends.

If the package ``e2b_code_interpreter`` is installed, it is used; otherwise the client in _e2b_http.py. Both have the
interface of ``Remote``."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import threading
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Protocol

from glovebox.actions import _settings as settings
from glovebox.actions._backends import BackendError, CodeRequest, Result
from glovebox.actions._e2b_http import DOMAIN, PORT, RETRY_EXECUTE, TEMPLATE, CloudError, CodeTimeout, Http, may_repeat

TIMEOUT = 30.0
MAX_OUTPUT = 65536
SYNTAX_ERRORS = ("IndentationError", "TabError")
LIFE = 300  # seconds that a sandbox lives without being destroyed, at least

Event = Dict[str, Any]


class Remote(Protocol):
    """One sandbox in the cloud, with one context."""

    id: str

    def run(self, code: str, seconds: float) -> Iterable[Event]:
        """The events of an execution: objects with ``type`` stdout, stderr, result or error."""
        ...

    def is_running(self) -> bool: ...
    def kill(self) -> None: ...


# --- the two clients

class HttpRemote:
    def __init__(self, http: Http, options: Mapping[str, Any], language: str, request: CodeRequest) -> None:
        self._http, self._options = http, options
        body = {"templateID": options["template"], "timeout": options["life"],
                "allow_internet_access": bool(request.allow_network)}
        made = http.json("POST", f"{options['api_url']}/sandboxes", body)
        if not isinstance(made, dict) or not isinstance(made.get("sandboxID"), str):
            raise CloudError("POST /sandboxes answered without a sandboxID")
        self.id: str = made["sandboxID"]
        domain = made.get("domain") or options["domain"]
        self._url = options["sandbox_url"] or f"https://{PORT}-{self.id}.{domain}"
        self._headers = {"E2b-Sandbox-Id": self.id, "E2b-Sandbox-Port": str(PORT)}
        for header, name in (("X-Access-Token", "envdAccessToken"), ("E2B-Traffic-Access-Token", "trafficAccessToken")):
            if made.get(name):
                self._headers[header] = str(made[name])
        try:
            context = http.json("POST", f"{self._url}/contexts", {"language": language}, self._headers)
            self._context = context["id"]
        except (CloudError, TypeError, KeyError) as error:
            self.kill()
            raise error if isinstance(error, CloudError) else CloudError("POST /contexts answered without an id") from None

    def run(self, code: str, seconds: float) -> Iterable[Event]:
        return self._http.lines(f"{self._url}/execute", {"code": code, "context_id": self._context}, self._headers, seconds)

    def is_running(self) -> bool:
        try:
            self._http.json("GET", f"{self._options['api_url']}/sandboxes/{self.id}")
        except CloudError as error:
            return error.status != 404
        return True

    def kill(self) -> None:
        try:
            self._http.json("DELETE", f"{self._options['api_url']}/sandboxes/{self.id}")
        except CloudError as error:
            if error.status != 404:
                raise


class PackageRemote:
    """By the package ``e2b_code_interpreter``."""

    def __init__(self, package: Any, key: str, http: Http, options: Mapping[str, Any], language: str, request: CodeRequest) -> None:
        given = {"api_key": key, "domain": options["domain"], "api_url": options["api_url"],
                 "sandbox_url": options["sandbox_url"], "request_timeout": options["request_timeout"]}
        given = {name: value for name, value in given.items() if value}
        self._http = http
        self._sandbox = self._ask(lambda: package.Sandbox.create(
            template=options["template"], timeout=options["life"], allow_internet_access=bool(request.allow_network), **given))
        self.id: str = self._sandbox.sandbox_id
        try:
            self._context = self._ask(lambda: self._sandbox.create_code_context(language=language))
        except CloudError:
            self.kill()
            raise

    def _ask(self, call: Callable[[], Any], may_repeat: Callable[[int], bool] = may_repeat) -> Any:
        """What the package raises is of the cloud. It repeats nothing itself."""
        for attempt in range(self._http.retries + 1):
            try:
                return call()
            except Exception as error:  # of any of its classes
                status = _status_of(error)
                if attempt < self._http.retries and may_repeat(status):
                    self._http.wait(attempt, None)
                    continue
                if type(error).__name__ == "TimeoutException" and "xecution" in str(error):
                    raise CodeTimeout() from None
                raise CloudError(self._http.hide(f"{type(error).__name__}: {error}"), status) from None
        raise AssertionError("unreachable")

    def run(self, code: str, seconds: float) -> Iterable[Event]:
        events: List[Event] = []
        execution = self._ask(lambda: self._sandbox.run_code(
            code, context=self._context, timeout=seconds,
            on_stdout=lambda line: events.append({"type": "stdout", "text": getattr(line, "line", str(line))}),
            on_stderr=lambda line: events.append({"type": "stderr", "text": getattr(line, "line", str(line))})),
            RETRY_EXECUTE.__contains__)
        for one in execution.results:
            if getattr(one, "is_main_result", False):
                events.append({"type": "result", "is_main_result": True, "text": one.text, "json": getattr(one, "json", None)})
        if execution.error is not None:
            events.append({"type": "error", "name": execution.error.name, "value": execution.error.value})
        return events

    def is_running(self) -> bool:
        return bool(self._ask(self._sandbox.is_running))

    def kill(self) -> None:
        self._ask(self._sandbox.kill)


def _status_of(error: Exception) -> int:
    """The status of HTTP that an exception of the package stands for; 0 if it does not say."""
    if type(error).__name__ == "RateLimitException":
        return 429
    said = re.match(r"(\d{3}): ", str(error))
    return int(said[1]) if said else 0


def find_package() -> Any:
    """The package, or None."""
    try:
        return importlib.import_module("e2b_code_interpreter")
    except ImportError:
        return None


# --- code and values

def _sets_result(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "result" and isinstance(node.ctx, ast.Store)
               for node in ast.walk(tree))


def _whole(request: CodeRequest) -> str:
    """The code, with its state before it; the value of Python is 'result' if the code sets it."""
    code = request.code
    if request.language == "python":
        try:
            if _sets_result(ast.parse(code)):
                code += "\nresult"
        except (SyntaxError, ValueError):
            pass  # the interpreter says so
    return code


def _prelude(request: CodeRequest) -> Optional[str]:
    if request.state is None or request.language == "bash":
        return None
    text = json.dumps(json.dumps(request.state))
    if request.language == "python":
        return f"import json as _json\nstate = _json.loads({text})\ndel _json"
    return f"globalThis.state = JSON.parse({text}); undefined"


def _value(event: Event, language: str) -> Any:
    """Interpreters answer with a text of the value."""
    if event.get("json") is not None:
        return event["json"]
    text = event.get("text")
    if not isinstance(text, str):
        return text
    try:
        return ast.literal_eval(text) if language == "python" else json.loads(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


class _Output:
    """The streams of one execution, cut at a limit."""

    def __init__(self, limit: int) -> None:
        self.texts: Dict[str, List[str]] = {"stdout": [], "stderr": []}
        self.left = self.limit = limit
        self.is_cut = False

    def add(self, stream: str, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self.is_cut |= len(data) > self.left
        kept = data[:self.left].decode("utf-8", "ignore")
        self.left -= min(len(data), self.left)
        self.texts[stream].append(kept)

    def text(self, stream: str) -> str:
        text = "".join(self.texts[stream])
        if stream == "stdout" and self.is_cut:
            text += ("\n" if text and not text.endswith("\n") else "") + f"[output truncated at {self.limit} bytes]\n"
        return text


def _error_text(event: Event) -> str:
    name, value = str(event.get("name") or "Error"), str(event.get("value") or "")
    return ("SyntaxError: " if name in SYNTAX_ERRORS else "") + name + (f": {value}" if value else "")


def execute_in(remote: Remote, request: CodeRequest) -> Result:
    seconds = request.timeout or TIMEOUT
    output, value, error = _Output(request.max_output_bytes or MAX_OUTPUT), None, None
    began = time.monotonic()
    try:
        prelude = _prelude(request)
        if prelude is not None:
            for _event in remote.run(prelude, seconds):
                pass
        for event in remote.run(_whole(request), seconds):
            kind = event.get("type")
            if kind in ("stdout", "stderr"):
                output.add(str(kind), str(event.get("text", "")))
            elif kind == "result" and event.get("is_main_result"):
                value = _value(event, request.language)
            elif kind == "error":
                error = _error_text(event)
    except CodeTimeout:
        error = f"Execution timed out after {seconds:g} seconds"
    except CloudError as problem:
        error = str(problem)
    return {"success": error is None, "stdout": output.text("stdout"), "stderr": output.text("stderr"),
            "return_value": value if error is None else None, "error": error,
            "execution_time_ms": (time.monotonic() - began) * 1000}


# --- the backend

def _refuse_approval(request: CodeRequest) -> None:
    """Nobody can be asked here; code that waits for a person must not run without one."""
    if request.approval is not None:
        raise BackendError("approval: not possible with sandbox_mode: e2b, where no person can be asked")


class E2BSandbox:
    def __init__(self, remote: Remote, end: Callable[[Remote], None], request: CodeRequest) -> None:
        self._remote, self._end = remote, end
        self.id = remote.id
        self.language = request.language
        self._lock = threading.Lock()  # a context executes one code at a time
        self._ended = False

    def execute(self, request: CodeRequest) -> Result:
        _refuse_approval(request)
        if request.language != self.language:
            raise BackendError(f"language: this sandbox runs {self.language}")
        with self._lock:
            return execute_in(self._remote, request)

    def describe(self) -> Optional[Dict[str, Any]]:
        if self._ended or not self._remote.is_running():
            return None
        return {"sandbox_id": self.id, "language": self.language, "backend": "e2b"}

    def destroy(self) -> None:
        self._end(self._remote)
        self._ended = True  # only now: if the cloud has not answered, it may live, and this is tried again


class E2BBackend:
    def __init__(self, configuration: Mapping[str, Any]) -> None:
        find = configuration.get("secret")
        found = find("E2B_API_KEY") if callable(find) else os.environ.get("E2B_API_KEY")
        key = str(found) if found else ""
        if not key:
            raise BackendError("sandbox_mode: e2b needs a key: set the environment variable E2B_API_KEY, or secrets.E2B_API_KEY")
        own = configuration.get("e2b")
        own = own if isinstance(own, Mapping) else {}
        domain = str(own.get("domain") or os.environ.get("E2B_DOMAIN") or DOMAIN)
        self._key = key
        self._options: Dict[str, Any] = {
            "domain": domain,
            "api_url": str(own.get("api_url") or os.environ.get("E2B_API_URL") or f"https://api.{domain}").rstrip("/"),
            "sandbox_url": str(own.get("sandbox_url") or os.environ.get("E2B_SANDBOX_URL") or "").rstrip("/"),
            "template": str(own.get("template") or TEMPLATE),
            "life": int(settings.number(own.get("life_seconds"), "settings.code.e2b.life_seconds") or LIFE),
            "request_timeout": settings.number(own.get("request_timeout"), "settings.code.e2b.request_timeout") or TIMEOUT,
        }
        self._package = find_package() if own.get("client", "auto") != "http" else None
        retries = settings.number(own.get("retries"), "settings.code.e2b.retries")
        self._http = Http(key, timeout=self._options["request_timeout"], retries=4 if retries is None else int(retries),
                          delay=settings.number(own.get("retry_seconds"), "settings.code.e2b.retry_seconds") or 0.5)
        self._lock = threading.Lock()
        self._remotes: Dict[str, Remote] = {}

    def _open(self, request: CodeRequest) -> Remote:
        _refuse_approval(request)
        remote: Remote
        if self._package is not None:
            remote = PackageRemote(self._package, self._key, self._http, self._options, request.language, request)
        else:
            remote = HttpRemote(self._http, self._options, request.language, request)
        with self._lock:
            self._remotes[remote.id] = remote
        return remote

    def _end(self, remote: Remote) -> None:
        remote.kill()
        with self._lock:
            self._remotes.pop(remote.id, None)

    def execute(self, request: CodeRequest) -> Result:
        remote = self._open(request)
        try:
            return execute_in(remote, request)
        finally:
            try:
                self._end(remote)
            except CloudError:
                pass  # close() tries it again; otherwise it ends by itself after its life

    def create(self, request: CodeRequest) -> E2BSandbox:
        return E2BSandbox(self._open(request), self._end, request)

    def close(self) -> None:
        with self._lock:
            remotes = list(self._remotes.values())
            self._remotes.clear()
        for remote in remotes:
            try:
                remote.kill()
            except CloudError:
                pass  # as above
