"""A server of files on the loopback, with faults that a test asks for."""

from __future__ import annotations

import base64
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from irmeta.archive.http_client import Pauses

Answer = Callable[["Handler", bytes], None]
"""Function that answers one request for a file with this content."""


@dataclass
class FileServer:
    """Files by path, faults by path (one per request, in order), and the requests that came."""

    files: dict[str, bytes] = field(default_factory=dict)
    faults: defaultdict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    always: Answer | None = None
    busy: int = 0
    most_busy: int = 0
    lock: Lock = field(default_factory=Lock)
    address: str = ""

    def paths(self, method: str = "GET") -> list[str]:
        return [path for kind, path, _ in self.requests if kind == method]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        state = self.server.state
        with state.lock:
            state.requests.append((self.command, self.path, dict(self.headers)))
            state.busy += 1
            state.most_busy = max(state.most_busy, state.busy)
            fault = state.faults[self.path].pop(0) if state.faults[self.path] else state.always
        content = state.files.get(self.path)
        if fault is not None:
            fault(self, content or b"")
        elif content is None:
            self.answer(404)
        else:
            send(self, content)
        with state.lock:
            state.busy -= 1

    do_HEAD = do_GET  # noqa: N815 (the standard library's name)

    def answer(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        pass


def etag_of(content: bytes) -> str:
    return f'"{hash(content):x}"'


def send(handler: Handler, content: bytes) -> None:
    """Answer with the file, or with its end where a range of this version is asked for."""
    tag, asked = etag_of(content), handler.headers.get("Range")
    if asked and handler.headers.get("If-Range", tag) == tag:
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            handler.answer(416)
        else:
            span = f"bytes {start}-{len(content) - 1}/{len(content)}"
            handler.answer(206, content[start:], ETag=tag, Content_Range=span)
    else:
        handler.answer(200, content, ETag=tag)


def sending(code: int, data: bytes, **headers: str) -> Answer:
    return lambda handler, content: handler.answer(code, data, **headers)


def status(code: int, **headers: str) -> Answer:
    return sending(code, b"", **headers)


def cut(after: int) -> Answer:
    """Break off after some bytes of the file, or of the asked range."""

    def answer(handler: Handler, content: bytes) -> None:
        asked = handler.headers.get("Range")
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        part = content[start:]
        span = {"Content_Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        handler.answer(
            206 if start else 200,
            part[:after],
            ETag=etag_of(content),
            Content_Length=str(len(part)),
            **(span if start else {}),
        )
        handler.close_connection = True

    return answer


def stall(seconds: float) -> Answer:
    def answer(handler: Handler, content: bytes) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return answer


def page(handler: Handler, content: bytes) -> None:
    text = b"<!DOCTYPE html><html><body>Log in</body></html>"
    handler.answer(200, text, Content_Type="text/html; charset=utf-8")


def with_password(user: str, password: str) -> Answer:
    expected = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    def answer(handler: Handler, content: bytes) -> None:
        if handler.headers.get("Authorization") == expected:
            send(handler, content) if content else handler.answer(404)
        else:
            handler.answer(401, WWW_Authenticate='Basic realm="TREC"')

    return answer


class Server(ThreadingHTTPServer):
    state: FileServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that has gone away."""


@contextmanager
def serving(files: dict[str, bytes]) -> Generator[FileServer]:
    """Serve files on a free port of the loopback until the block ends."""
    server = Server(("127.0.0.1", 0), Handler)
    state = server.state = FileServer(dict(files))
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


class FakePauses(Pauses):
    """A clock on which pauses take no time."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.slept: list[float] = []
        self._lock = Lock()

    def now(self) -> float:
        return self.time

    def pause(self, seconds: float) -> None:
        super().pause(0)
        if seconds > 0:
            with self._lock:
                self.slept.append(seconds)
                self.time += seconds
