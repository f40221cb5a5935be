"""An HTTP client with irmeta's name, proxies and passwords, and limits of requests to each host."""

from __future__ import annotations

import math
import os
import re
import time
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import ip_address
from netrc import NetrcParseError
from pathlib import Path
from threading import Event, Lock, Semaphore, local
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from irmeta._version import __version__
from irmeta.errors import UsageError

if TYPE_CHECKING:
    import httpx

CONNECTIONS = 4  # to one host at a time
FIRST_INTERVAL = 1.0  # seconds between the starts of two requests, until a host has answered well
SHORTEST_INTERVAL = 0.25
LONGEST_INTERVAL = 60.0
ANSWERS_TO_RELAX = 20  # answers in a row that halve the interval
FAILURES_TO_LEAVE = 3  # files in a row that a host refuses, or for which it cannot be reached


class StoppedError(Exception):
    """Fetching was interrupted."""


class Pauses:
    """A clock, and pauses that end when fetching is stopped."""

    def __init__(self) -> None:
        self._stop = Event()

    def now(self) -> float:
        """Return seconds of a monotonic clock."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Wait."""
        if self._stop.wait(seconds) if seconds > 0 else self._stop.is_set():
            raise StoppedError

    def stop(self) -> None:
        """End all pauses, and make later ones fail."""
        self._stop.set()


class HostLimits:
    """Keep to limits for each host: 4 requests at a time, starting 1 second apart (loopback: 0).

    After 20 answers without an error the interval halves, down to a quarter of a second; a 429 or
    503 doubles it, up to a minute, and delays all requests by its ``Retry-After``.
    """

    def __init__(self, pauses: Pauses) -> None:
        self._pauses = pauses
        self._lock = Lock()
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    @contextmanager
    def turn(self, address: str) -> Generator[None]:
        """Wait for a connection to the host of an address, and hold it until the block ends."""
        with self._lock:
            host = self._hosts[host_of(address)]
        with host.connections:
            with self._lock:
                now = self._pauses.now()
                start = max(now, host.next_start)
                host.next_start = start + (0.0 if is_loopback(address) else host.interval)
            self._pauses.pause(start - now)
            yield

    def answered(self, address: str) -> None:
        """Record an answer without an error."""
        with self._lock:
            host = self._hosts[host_of(address)]
            host.failures, host.answers = 0, host.answers + 1
            if host.answers >= ANSWERS_TO_RELAX:
                host.answers, host.interval = 0, max(SHORTEST_INTERVAL, host.interval / 2)

    def overloaded(self, address: str, retry_after: float | None) -> None:
        """Record an answer that the host is overloaded, with its ``Retry-After`` in seconds."""
        with self._lock:
            host = self._hosts[host_of(address)]
            host.answers = 0
            host.interval = min(LONGEST_INTERVAL, max(FIRST_INTERVAL, 2 * host.interval))
            host.next_start = max(host.next_start, self._pauses.now() + (retry_after or 0.0))

    def failed(self, address: str, reason: str) -> None:
        """Record a file that a host refused, or for which it could not be reached."""
        with self._lock:
            host = self._hosts[host_of(address)]
            if host.failures < FAILURES_TO_LEAVE:  # else the first reason stays
                host.answers, host.failures, host.reason = 0, host.failures + 1, reason

    def leave(self, address: str, reason: str) -> None:
        """End all further requests to the host of an address."""
        with self._lock:
            host = self._hosts[host_of(address)]
            host.failures, host.reason = FAILURES_TO_LEAVE, reason

    def left(self, address: str) -> str | None:
        """Return why requests to a host have ended, or None if they go on."""
        with self._lock:
            host = self._hosts[host_of(address)]
            return host.reason if host.failures >= FAILURES_TO_LEAVE else None


class _Host:
    def __init__(self) -> None:
        self.connections = Semaphore(CONNECTIONS)
        self.interval: float = FIRST_INTERVAL
        self.next_start: float = 0.0
        self.answers: int = 0
        self.failures: int = 0
        self.reason: str = ""


@lru_cache(maxsize=1 << 16)
def host_of(address: str) -> str:
    """Return the host and port of an address."""
    return urlsplit(address).netloc.rpartition("@")[2].lower()


@lru_cache(maxsize=1 << 16)
def is_loopback(address: str) -> bool:
    """Check whether an address is on this computer."""
    name = urlsplit(address).hostname or ""
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


USER_AGENT = f"irmeta/{__version__} (research software; one user's archive of TREC runs)"
TIMEOUT = 60.0  # seconds to connect, and between two pieces of an answer
_INSTALL = "pip install 'irmeta[fetch]'"


def open_client(
    domain: str,
    user: str | None = None,
    password: str | None = None,
    timeout: float = TIMEOUT,
) -> httpx.Client:
    """Return a client for downloads, with the proxies of the environment.

    `user` and `password` are sent to `domain` and the hosts below it, over https or to this
    computer, and never in clear text over a network; without `user` they come from the netrc file.
    """
    try:
        import httpx
    except ImportError:
        raise UsageError(f"fetching needs httpx and tenacity: {_INSTALL}") from None
    client = httpx.Client(
        auth=_auth(domain, user, password),
        # Files are stored as served: a compressed answer would be neither resumable nor countable.
        headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
        timeout=timeout,
        follow_redirects=True,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=4 * CONNECTIONS),
    )
    _keep_deadlines(client)
    return client


_deadline = local()


@contextmanager
def within(seconds: float) -> Generator[None]:
    """End all reading of this thread's connections after some seconds in all, by a time-out.

    The time-out of httpx is for each piece that comes, so a host that sends a byte of its headers
    now and then, or ``100 Continue`` again and again, would hold a connection forever.
    """
    outer = getattr(_deadline, "end", math.inf)
    _deadline.end = min(outer, time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.end = outer


def _keep_deadlines(client: httpx.Client) -> None:
    """Make the connections of a client end at the deadline of their thread.

    httpx has no option for the network backend of httpcore, which has one.
    """
    import httpcore

    class Stream(httpcore.NetworkStream):
        def __init__(self, stream: httpcore.NetworkStream) -> None:
            self._stream = stream

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            left = getattr(_deadline, "end", math.inf) - time.monotonic()
            if left <= 0:
                raise httpcore.ReadTimeout("the deadline has passed")
            shortest = left if timeout is None else min(timeout, left)
            return self._stream.read(max_bytes, None if math.isinf(shortest) else shortest)

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            self._stream.write(buffer, timeout)

        def close(self) -> None:
            self._stream.close()

        def start_tls(self, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
            return Stream(self._stream.start_tls(*arguments, **options))

        def get_extra_info(self, info: str) -> Any:
            return self._stream.get_extra_info(info)

    class Backend(httpcore.SyncBackend):
        def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
            return Stream(super().connect_tcp(*arguments, **options))

    held: Any = client
    for transport in (held._transport, *held._mounts.values()):
        if transport is not None:  # None: no proxy for some hosts
            transport._pool._network_backend = Backend()


def _auth(domain: str, user: str | None, password: str | None) -> httpx.Auth | None:
    import httpx

    if user is not None:
        return _limited(httpx.BasicAuth(user, password or ""), domain)
    file = Path(os.environ.get("NETRC") or Path.home() / ".netrc")
    if not file.is_file():
        return None
    try:
        return _limited(httpx.NetRCAuth(str(file)), "")
    except (NetrcParseError, UnicodeDecodeError) as error:
        where = f", line {error.lineno}" if isinstance(error, NetrcParseError) else ""
        raise UsageError(f"{file}{where}: cannot be read as a netrc file.") from None


def _limited(auth: httpx.Auth, domain: str) -> httpx.Auth:
    """Return an authentication that is sent only to some hosts (empty: any) and only safely."""
    import httpx

    class Limited(httpx.Auth):
        def auth_flow(
            self, request: httpx.Request
        ) -> Generator[httpx.Request, httpx.Response, None]:
            is_safe = request.url.scheme == "https" or is_loopback(str(request.url))
            if is_safe and f".{request.url.host}".endswith(f".{domain}" if domain else ""):
                yield from auth.auth_flow(request)
            else:
                yield request

    return Limited()


_USER = re.compile(r"^([a-z]+://)[^/@]*@", re.IGNORECASE)


def check_address(address: str) -> None:
    """Check that an address is of http or https, and holds no password."""
    shown = _USER.sub(r"\1...@", address)
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{shown} is not an address of http or https.")
    if parts.username is not None:
        raise UsageError(f"{shown} holds a user's name: use `user=`, or a netrc file.")
