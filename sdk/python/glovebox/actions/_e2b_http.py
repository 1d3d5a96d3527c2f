"""A small client of E2B's API: sandboxes, contexts, and execution, which answers lines of JSON."""

from __future__ import annotations

import http.client
import json
import random
import socket
import ssl
import time
import urllib.parse
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

from glovebox.actions._backends import BackendError

PORT = 49999  # of the code interpreter in a sandbox
TEMPLATE = "code-interpreter-v1"
DOMAIN = "e2b.app"
LINE_MAX = 64 * 1024 * 1024
BODY_MAX = 1024 * 1024

# The proxy in front of a sandbox answers with these before any code has run.
RETRY_EXECUTE = frozenset((429, 502, 503))


def may_repeat(status: int) -> bool:
    """Whether a request that executes nothing is repeated after this answer."""
    return status == 429 or status >= 500


class CloudError(BackendError):
    """E2B did not do what was asked: the code is not the reason."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(f"E2B: {message}")
        self.status = status


class CodeTimeout(Exception):
    """The code took too long."""


class Http:
    """Requests with retries. No text that leaves this class has the key."""

    def __init__(self, key: str, *, timeout: float, retries: int, delay: float) -> None:
        self._key = key
        self._timeout, self.retries, self._delay = timeout, retries, delay

    def hide(self, text: str) -> str:
        return text.replace(self._key, "***")

    def json(self, method: str, url: str, body: Optional[Mapping[str, Any]] = None,
             headers: Optional[Mapping[str, str]] = None) -> Any:
        """Repeated if the answer is 429 or 5xx, or there is none."""
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            connection = None
            try:
                connection, response = self._send(method, url, body, headers or {"X-API-Key": self._key})
                text = response.read(BODY_MAX).decode("utf-8", "replace")
                if response.status < 400:
                    return json.loads(text) if text.strip() else None
                if last or not may_repeat(response.status):
                    raise self._refused(response.status, response.reason, text)
                self.wait(attempt, response.headers.get("Retry-After"))
            except (OSError, http.client.HTTPException, ValueError) as error:
                if last:
                    raise CloudError(self.hide(f"no answer from {_host(url)}: {error}")) from None
                self.wait(attempt, None)
            finally:
                if connection is not None:
                    connection.close()
        raise AssertionError("unreachable")

    def lines(self, url: str, body: Mapping[str, Any], headers: Mapping[str, str], seconds: float) -> Iterator[Dict[str, Any]]:
        """The objects of an answer, until it ends; raises CodeTimeout after @seconds."""
        connection, response = self._open(url, body, headers)
        end = time.monotonic() + seconds
        try:
            while True:
                left = end - time.monotonic()
                if left <= 0:
                    raise CodeTimeout()
                if connection.sock is not None:
                    connection.sock.settimeout(left)
                line = response.readline(LINE_MAX)
                if not line:
                    return
                message = json.loads(line)
                if isinstance(message, dict):
                    yield message
        except (socket.timeout, TimeoutError):
            raise CodeTimeout() from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise CloudError(self.hide(f"the answer was cut off: {error}")) from None
        finally:
            connection.close()

    def _open(self, url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Tuple[
            http.client.HTTPConnection, http.client.HTTPResponse]:
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            try:
                connection, response = self._send("POST", url, body, headers)
            except ConnectionRefusedError as error:
                if last:
                    raise CloudError(self.hide(f"no answer from {_host(url)}: {error}")) from None
                self.wait(attempt, None)
                continue
            except (OSError, http.client.HTTPException) as error:  # the code may have run
                raise CloudError(self.hide(f"no answer from {_host(url)}: {error}")) from None
            if response.status < 400:
                return connection, response
            text = response.read(BODY_MAX).decode("utf-8", "replace")
            connection.close()
            if last or response.status not in RETRY_EXECUTE:
                raise self._refused(response.status, response.reason, text)
            self.wait(attempt, response.headers.get("Retry-After"))
        raise AssertionError("unreachable")

    def _send(self, method: str, url: str, body: Optional[Mapping[str, Any]], headers: Mapping[str, str]) -> Tuple[
            http.client.HTTPConnection, http.client.HTTPResponse]:
        parts = urllib.parse.urlsplit(url)
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(parts.netloc, timeout=self._timeout, context=ssl.create_default_context())
        else:
            connection = http.client.HTTPConnection(parts.netloc, timeout=self._timeout)
        data = None if body is None else json.dumps(body).encode()
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request(method, path, data, {"Content-Type": "application/json", **headers})
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def wait(self, attempt: int, retry_after: Optional[str]) -> None:
        """Longer after each attempt, and not at the same time as other clients."""
        seconds = min(self._delay * 2 ** attempt, 8.0) * (0.5 + random.random() / 2)
        if retry_after is not None and retry_after.isdigit():
            seconds = max(seconds, min(float(retry_after), 10.0))
        time.sleep(seconds)

    def _refused(self, status: int, reason: str, text: str) -> CloudError:
        try:
            said = json.loads(text)
            text = str(said.get("message", text)) if isinstance(said, dict) else text
        except ValueError:
            pass
        what = f"{status} {reason}" + (f": {text.strip()[:500]}" if text.strip() else "")
        if status in (401, 403):
            what += "; check the key in E2B_API_KEY"
        if status == 429:
            what += "; too many requests, also after waiting"
        return CloudError(self.hide(what), status)


def _host(url: str) -> str:
    return urllib.parse.urlsplit(url).netloc
