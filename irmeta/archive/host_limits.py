"""Limits of requests to each host: connections at a time, and requests a second."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import ip_address
from threading import Event, Lock, Semaphore
from urllib.parse import urlsplit

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
        """Wait.

        Raises
        ------
        StoppedError
            If fetching is stopped, at once.
        """
        if self._stop.wait(seconds) if seconds > 0 else self._stop.is_set():
            raise StoppedError

    def stop(self) -> None:
        """End all pauses, and make later ones fail."""
        self._stop.set()


class HostLimits:
    """Keep to limits for each host.

    At most 4 requests to a host run at a time, and they start 1 second apart. After 20 answers in a
    row without an error, the interval halves, down to a quarter of a second. An answer that the
    host is overloaded (429 or 503) doubles it, up to a minute, and delays all requests to this host
    by its ``Retry-After``. Requests to this computer (loopback) have no interval.
    """

    def __init__(self, pauses: Pauses) -> None:
        self._pauses = pauses
        self._lock = Lock()
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    @contextmanager
    def turn(self, address: str) -> Generator[None]:
        """Wait for a connection to the host of an address, and hold it until the block ends.

        Raises
        ------
        StoppedError
            If fetching is stopped.
        """
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
            host.answers, host.failures, host.reason = 0, host.failures + 1, reason

    def left(self, address: str) -> str | None:
        """Return the reason why a host is not asked any more, or None if it is asked."""
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
