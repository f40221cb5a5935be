"""Download one file: resume, retry, and check what came."""

from __future__ import annotations

import email.utils
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from irmeta.archive.content import (
    REJECTED,
    Content,
    TooLargeError,
    WebPageError,
    check_content,
    has_md5,
    is_web_page,
)
from irmeta.archive.fetch_options import DownloadLimits
from irmeta.archive.http_client import HostLimits, Pauses, host_of, within
from irmeta.checksums import load_json
from irmeta.errors import DataError, IrmetaError
from irmeta.files import FULL_DISK, write_bytes

if TYPE_CHECKING:
    import httpx
    import tenacity

ATTEMPTS = 5
LONGEST_WAIT = 600.0  # seconds of a Retry-After that is obeyed; after a longer one the host is left
ANSWER_SECONDS = 120.0  # in which the headers of an answer must be complete
_LARGE = 1 << 24  # bytes of a file whose part is worth a record before it breaks off
_LONGEST_HEADER = 1000
_OVERLOADED = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_MISSING = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)


class FetchError(IrmetaError):
    """A file that the host lacks (``missing``), protects (``refused``) or failed to deliver."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status: str = status


class _RetryError(Exception):
    """A failure that another attempt, after `wait` seconds, may mend; final after `most` attempts.

    `of_host`: other files of this host would fail too.
    """

    def __init__(
        self,
        reason: str,
        *,
        wait: float | None = None,
        of_host: bool = False,
        most: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.wait, self.of_host, self.most = wait, of_host, most


@dataclass(frozen=True)
class Downloader:
    """Download files with one client, within limits for each host; `check_md5` rejects another MD5.

    `received` is called with the number of bytes of each piece that came.
    """

    client: httpx.Client
    pauses: Pauses
    limits: HostLimits
    received: Callable[[int], object] = lambda count: None
    check_md5: bool = True
    file_limits: DownloadLimits = field(default_factory=DownloadLimits)
    attempts: int = ATTEMPTS
    jitter: Callable[[], float] = field(default=lambda: 0.0)

    def download(
        self, address: str, path: Path, md5: str | None = None, kind: str | None = None
    ) -> Content:
        """Download a file to a path, and continue an earlier partial download.

        Until it is complete and checked, the file is called `.NAME.part`. A part is continued only
        if the host still has the same version of the file (``ETag`` or ``Last-Modified``).
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        part = _Part(path)
        longest = self.file_limits.max_minutes
        end = math.inf if longest is None else self.pauses.now() + 60 * longest
        try:
            for attempt in self._attempts(end):
                with attempt:
                    self._transfer(address, part, end)
                    return self._finish(address, part, path, md5, kind)
        except _RetryError as error:
            if error.of_host:
                self.limits.failed(address, f"{host_of(address)} does not answer ({error})")
            raise FetchError("failed", str(error)) from None
        raise AssertionError("attempts end by a result or an error")

    def size(self, address: str) -> int | None:
        """Return the size of a file that the host tells without sending it, or None."""
        import httpx

        self._check_host(address)
        try:
            with self.limits.turn(address), within(ANSWER_SECONDS):
                response = self.client.head(address)
        except httpx.HTTPError:
            return None
        status = response.status_code
        self._record(address, status, response)
        if status in _MISSING or status in _REFUSED:
            raise _refusal(status, address)
        return _length(response.headers) if status == HTTPStatus.OK else None

    def _attempts(self, end: float) -> tenacity.Retrying:
        import tenacity

        backoff = tenacity.wait_exponential(multiplier=1, max=60)

        def wait(state: tenacity.RetryCallState) -> float:
            error: Any = state.outcome.exception() if state.outcome is not None else None
            return max(backoff(state) + self.jitter(), error.wait or 0.0)

        def is_final(state: tenacity.RetryCallState) -> bool:
            error: Any = state.outcome.exception() if state.outcome is not None else None
            most = self.attempts if error.most is None else error.most
            is_late = self.pauses.now() + wait(state) > end
            return state.attempt_number >= most or (error.wait or 0.0) > LONGEST_WAIT or is_late

        return tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_RetryError),
            wait=wait,
            stop=is_final,
            sleep=self.pauses.pause,
            reraise=True,
        )

    def _check_host(self, address: str) -> None:
        if (reason := self.limits.left(address)) is not None:
            raise FetchError("failed", f"not asked, since {reason}")

    def _transfer(self, address: str, part: _Part, end: float) -> None:
        """Receive the missing bytes of a part until the clock shows `end`."""
        import httpx

        self._check_host(address)
        start, headers = part.resume(address)
        try:
            with (
                self.limits.turn(address),
                within(end - self.pauses.now()),
                self._answer(address, headers) as response,
            ):
                self._receive(address, part, start, response, end)
        except httpx.TimeoutException as error:
            if self.pauses.now() >= end:
                raise self._late() from None
            raise _RetryError(f"timed out ({type(error).__name__})", of_host=True) from None
        except (httpx.ConnectError, httpx.ProxyError) as error:
            raise _RetryError(_text(error), of_host=True) from None
        except httpx.TransportError as error:
            raise _RetryError(f"the transfer broke off ({_text(error)})") from None
        except (httpx.TooManyRedirects, httpx.InvalidURL) as error:
            raise FetchError("failed", _text(error)) from None
        except ValueError as error:  # of a header that httpx does not expect
            raise FetchError("failed", f"the answer cannot be read ({_text(error)})") from None
        self.limits.answered(address)

    @contextmanager
    def _answer(self, address: str, headers: dict[str, str]) -> Generator[httpx.Response]:
        """Ask for a file, and follow redirects without reading their bodies, which may be endless.

        Passwords are sent to further hosts as httpx does: not to others than the first.
        """
        import httpx

        request: httpx.Request | None = self.client.build_request("GET", address, headers=headers)
        auth: Any = httpx.USE_CLIENT_DEFAULT
        for _ in range(self.client.max_redirects + 1):
            assert request is not None
            with within(ANSWER_SECONDS):
                response = self.client.send(request, stream=True, auth=auth, follow_redirects=False)
            with closing(response):
                if (request := response.next_request) is None:
                    yield response
                    return
            auth = None
        raise FetchError("failed", f"more than {self.client.max_redirects} redirects")

    def _late(self) -> _RetryError:
        longest = self.file_limits.max_minutes
        return _RetryError(f"took more than {longest:g} minutes (`max_minutes=`)", most=1)

    def _receive(
        self, address: str, part: _Part, start: int, response: httpx.Response, end: float
    ) -> None:
        status = response.status_code
        self._record(address, status, response)
        if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and start:
            part.remove()
            raise _RetryError("the partial download is of another file")
        if status == HTTPStatus.PARTIAL_CONTENT and start:
            if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                part.remove()
                raise _RetryError("the host sent another range than requested")
            if not part.is_of(response.headers):
                part.remove()
                raise _RetryError("the host sent the rest of another version of the file")
        elif status == HTTPStatus.OK:
            start = 0
        elif status in _OVERLOADED or status >= 500 or status == HTTPStatus.REQUEST_TIMEOUT:
            is_of_host = status in _OVERLOADED
            raise _RetryError(_answer(status), wait=_retry_after(response), of_host=is_of_host)
        else:
            raise _refusal(status, address)
        if is_web_page(response.headers.get("Content-Type", ""), address):
            raise _page()
        meter = _Meter(self.file_limits, self.pauses, part, start, _length(response.headers))
        with (
            part.receiving(address, response.headers, start),
            part.path.open("ab" if start else "wb") as file,
        ):
            for piece in _pieces(response):
                self.pauses.pause(0)  # before it is written: nobody waits for a stopped download
                if self.pauses.now() > end:
                    raise self._late()
                meter.count(len(piece))
                _write(file, piece, part)
                self.received(len(piece))

    def _record(self, address: str, status: int, response: httpx.Response) -> None:
        """Adapt the limits of the host to its answer."""
        if status in _OVERLOADED:
            wait = _retry_after(response) or 0.0
            if wait > LONGEST_WAIT:
                asks = (
                    f"{host_of(address)} asks to wait for more than {LONGEST_WAIT / 60:g} minutes"
                )
                self.limits.leave(address, asks)
            else:
                self.limits.overloaded(address, wait)
        elif status in _REFUSED:
            self.limits.failed(address, f"{host_of(address)} asks for a password: {_PASSWORD}")
        elif status in _MISSING:
            self.limits.answered(address)

    def _finish(
        self, address: str, part: _Part, path: Path, md5: str | None, kind: str | None
    ) -> Content:
        """Check a complete part, and give the file its name."""
        try:
            most = int(self.file_limits.max_gb * 1e9)
            content = check_content(part.path, address, md5=md5 is not None, kind=kind, most=most)
        except WebPageError:
            part.remove()
            raise _page() from None
        except TooLargeError as error:
            part.remove()
            raise FetchError("failed", error.problem) from None
        except DataError as error:
            part.remove()
            raise _RetryError(error.problem, most=2) from None
        if md5 is not None and self.check_md5 and not has_md5(part.path, content, md5):
            part.remove()
            raise _RetryError(REJECTED, most=2)
        os.replace(part.path, path)
        part.remove()
        return content


def _pieces(response: httpx.Response) -> Generator[bytes]:
    """Yield the pieces of a body as they come; those of a fixed size would be lost in a cut."""
    pieces = response.iter_raw()
    while True:
        with within(ANSWER_SECONDS):  # headers of chunks may drip too
            piece = next(pieces, None)
        if piece is None:
            return
        yield piece


class _Meter:
    """Size, rate and time of one transfer, compared with limits."""

    def __init__(
        self, limits: DownloadLimits, pauses: Pauses, part: _Part, start: int, length: int | None
    ) -> None:
        self._limits, self._pauses, self._part = limits, pauses, part
        self._size = start
        self._minute = pauses.now()
        self._in_minute = 0
        self._room = start + shutil.disk_usage(part.path.parent).free
        if length is not None:
            self._check_size(start + length)

    def count(self, received: int) -> None:
        """Count the bytes of a piece."""
        now = self._pauses.now()
        self._size, self._in_minute = self._size + received, self._in_minute + received
        self._check_size(self._size)
        if now - self._minute >= 60:
            rate = self._in_minute / (now - self._minute)
            if rate < self._limits.min_rate:
                reason = f"came at {rate:.3g} bytes a second (`min_rate={self._limits.min_rate:g}`)"
                raise _RetryError(reason, of_host=True, most=1)
            self._minute, self._in_minute = now, 0

    def _check_size(self, size: int) -> None:
        if size > self._limits.max_gb * 1e9:
            self._part.remove()
            reason = f"larger than {self._limits.max_gb:g} GB (`max_gb=`)"
            raise FetchError("failed", reason)
        if size > self._room:
            self._part.remove()
            raise FetchError(
                "failed", f"larger than the free disk space, {self._room / 1e9:.3g} GB"
            )


def _write(file: IO[bytes], piece: bytes, part: _Part) -> None:
    """Append a piece to a part; a full disk is a failure of this file alone."""
    try:
        file.write(piece)
        file.flush()
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        raise FetchError("failed", f"{part.path} cannot be written ({error.strerror})") from None


_PASSWORD = "use `user=`, or a netrc file"


class _Part:
    """A partial download beside its file, and the version of the file that it is a part of."""

    def __init__(self, path: Path) -> None:
        self.path: Path = path.with_name(f".{path.name}.part")
        self._version: Path = path.with_name(f".{path.name}.part.json")

    def resume(self, address: str) -> tuple[int, dict[str, str]]:
        """Return the number of bytes that are there, and the headers that ask for the others."""
        try:
            known = load_json(self._version.read_bytes())
            size = self.path.stat().st_size
        except (OSError, ValueError):
            return 0, {}
        version = _sendable(known.get("version")) if isinstance(known, dict) else None
        if not size or version is None or known.get("address") != address:
            return 0, {}
        return size, {"Range": f"bytes={size}-", "If-Range": version}

    def is_of(self, headers: Any) -> bool:
        """Check whether the rest of a file is of the version that the part is of.

        An answer to ``If-Range`` repeats the ``ETag`` (RFC 9110, section 15.3.7); it may omit
        ``Last-Modified``.
        """
        known = json.loads(self._version.read_bytes())
        total = headers.get("Content-Range", "").rpartition("/")[2]
        is_as_long = known.get("length") is None or total in ("*", str(known["length"]))
        version, answered = known["version"], _version(headers)
        is_tag = version[:1] == '"'
        return is_as_long and (answered == version or (answered is None and not is_tag))

    @contextmanager
    def receiving(self, address: str, headers: Any, start: int) -> Generator[None]:
        """Record the version of the file if receiving it ends early; at once if it is large."""
        length = _length(headers)
        total = None if length is None else start + length
        facts = {"address": address, "version": _version(headers), "length": total}
        record = json.dumps(facts).encode()
        try:
            if length is None or length > _LARGE:  # the process may be killed
                write_bytes(self._version, record)
            yield
        except BaseException:
            with suppress(OSError):  # a full disk: then the part is not continued
                write_bytes(self._version, record)
            raise

    def remove(self) -> None:
        """Remove the part and its version."""
        self.path.unlink(missing_ok=True)
        self._version.unlink(missing_ok=True)


def _version(headers: Any) -> str | None:
    """Return the version of a file that an answer states: its strong ETag, else its date."""
    tag = headers.get("ETag", "")
    return _sendable(headers.get("Last-Modified") if not tag or tag[:2] == "W/" else tag)


def _sendable(version: object) -> str | None:
    """Return a version of a file if it can be sent in a header, else None."""
    if not isinstance(version, str) or not 0 < len(version) < _LONGEST_HEADER:
        return None
    return version if version.isascii() and version.isprintable() else None


def _length(headers: Any) -> int | None:
    """Return the ``Content-Length`` of an answer, None if there is none."""
    length = headers.get("Content-Length", "")
    return int(length) if length.isdecimal() and len(length) < len(str(sys.maxsize)) else None


def _refusal(status: int, address: str) -> FetchError:
    if status in _MISSING:
        return FetchError("missing", _answer(status))
    if status in _REFUSED:
        return FetchError("refused", f"{_answer(status)}: {_PASSWORD} for {host_of(address)}")
    return FetchError("failed", _answer(status))


def _page() -> FetchError:
    return FetchError("failed", "the host sent a web page instead of the file (a login page?)")


def _answer(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"status {status}"


def _text(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds of a ``Retry-After``, given as seconds or as a date."""
    seconds = response.headers.get("Retry-After", "").strip()
    if seconds.isdecimal():
        return float(seconds)
    try:
        date = email.utils.parsedate_to_datetime(seconds)
        return max(0.0, date.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
