"""An HTTP client with irmeta's name, the environment's proxies, and a user's passwords."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from netrc import NetrcParseError
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from irmeta._version import __version__
from irmeta.archive.host_limits import CONNECTIONS, is_loopback
from irmeta.errors import UsageError

if TYPE_CHECKING:
    import httpx

USER_AGENT = f"irmeta/{__version__} (research software; one user's archive of TREC runs)"
TIMEOUT = 60.0  # seconds to connect, and between two pieces of an answer
_INSTALL = "pip install 'irmeta[fetch]'"


def open_client(
    domain: str,
    user: str | None = None,
    password: str | None = None,
    timeout: float = TIMEOUT,
) -> httpx.Client:
    """Return a client for downloads.

    Proxies are those of the environment (``HTTPS_PROXY``, ``NO_PROXY``). Without `user`, names and
    passwords come from the netrc file (``NETRC``, else ``~/.netrc``).

    Parameters
    ----------
    domain
        Host to which, with the hosts below it, `user` and `password` are sent, and to no others.
        Passwords go over https, or to this computer, and never in clear text over a network.

    Raises
    ------
    UsageError
        If httpx is not installed, or the netrc file is malformed.
    """
    try:
        import httpx
    except ImportError:
        raise UsageError(f"fetching needs httpx and tenacity: {_INSTALL}") from None
    return httpx.Client(
        auth=_auth(domain, user, password),
        # Files are stored as served: a compressed answer would be neither resumable nor countable.
        headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
        timeout=timeout,
        follow_redirects=True,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=4 * CONNECTIONS),
    )


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
    """Check that an address is of http or https, and holds no password.

    Raises
    ------
    UsageError
        If it does not; the message shows no password.
    """
    shown = _USER.sub(r"\1...@", address)
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{shown} is not an address of http or https.")
    if parts.username is not None:
        raise UsageError(f"{shown} holds a user's name: use `user=`, or a netrc file.")
