"""Downloads of single files from a server with faults."""

from __future__ import annotations

import gzip
import hashlib
import random
from collections.abc import Generator
from pathlib import Path

import pytest

from irmeta import UsageError
from irmeta.archive import content
from irmeta.archive.download import Downloader, FetchError
from irmeta.archive.host_limits import HostLimits, StoppedError
from irmeta.archive.http_client import check_address, open_client
from support.serving import (
    Answer,
    FakePauses,
    FileServer,
    cut,
    page,
    sending,
    serving,
    stall,
    status,
    with_password,
)

RUN = b"".join(b"1 Q0 doc-%d %d %d tag\n" % (i, i, 5000 - i) for i in range(5000))
ZIPPED = gzip.compress(RUN)
RUN_PATH, TEXT_PATH = "/results/trec8/adhoc/input.a.gz", "/text"


@pytest.fixture
def server() -> Generator[FileServer]:
    with serving({RUN_PATH: ZIPPED, TEXT_PATH: RUN}) as state:
        yield state


@pytest.fixture
def pauses() -> FakePauses:
    return FakePauses()


@pytest.fixture
def get(server: FileServer, pauses: FakePauses, tmp_path: Path):
    """Download a path of the server to tmp_path/file."""
    limits = HostLimits(pauses)

    def download(path: str = RUN_PATH, md5: str | None = None, **given: object) -> bytes:
        options = {name: given.pop(name) for name in ("check_md5", "attempts") if name in given}
        with open_client("127.0.0.1", **{"timeout": 5.0, **given}) as client:
            downloader = Downloader(client, pauses, limits, **options)
            downloader.download(server.address + path, tmp_path / "file", md5)
        assert [file.name for file in tmp_path.iterdir()] == ["file"]
        return (tmp_path / "file").read_bytes()

    return download


def test_download__file_as_served(get, server: FileServer):
    assert get() == ZIPPED
    headers = server.requests[0][2]
    assert headers["User-Agent"].startswith("irmeta/")
    assert headers["Accept-Encoding"] == "identity"
    assert "Range" not in headers


@pytest.mark.parametrize("code", [500, 502, 429, 503, 408])
def test_download__asks_again_after_passing_error(get, server: FileServer, code: int):
    server.faults[RUN_PATH] = [status(code), status(code)]
    assert get() == ZIPPED
    assert len(server.requests) == 3


def test_download__waits_as_long_as_the_host_asks(get, server: FileServer, pauses: FakePauses):
    server.faults[RUN_PATH] = [status(429, Retry_After="37")]
    assert get() == ZIPPED
    assert max(pauses.slept) == 37


def test_download__gives_up_on_a_long_wait(get, server: FileServer):
    server.faults[RUN_PATH] = [status(503, Retry_After="86400")]
    with pytest.raises(FetchError, match="503 Service Unavailable"):
        get()
    assert len(server.requests) == 1


def test_download__gives_up_after_some_attempts(get, server: FileServer):
    server.always = status(500)
    with pytest.raises(FetchError, match="500 Internal Server Error") as error:
        get(attempts=3)
    assert error.value.status == "failed"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("code", "expected"), [(404, "missing"), (410, "missing"), (403, "refused"), (418, "failed")]
)
def test_download__final_answers(get, server: FileServer, code: int, expected: str):
    server.always = status(code)
    with pytest.raises(FetchError, match=str(code)) as error:
        get()
    assert error.value.status == expected
    assert len(server.requests) == 1


def test_download__continues_after_a_cut(get, server: FileServer):
    server.faults[RUN_PATH] = [cut(1000), cut(500)]
    assert get() == ZIPPED
    ranges = [headers.get("Range") for _, _, headers in server.requests]
    assert ranges == [None, "bytes=1000-", "bytes=1500-"]


def test_download__starts_anew_where_the_file_changed(get, server: FileServer):
    server.files[RUN_PATH] = gzip.compress(b"older" + RUN)
    server.faults[RUN_PATH] = [cut(1000)]
    with pytest.raises(FetchError):
        get(attempts=1)
    server.files[RUN_PATH] = ZIPPED
    assert get() == ZIPPED
    assert server.requests[-1][2]["Range"] == "bytes=1000-"


def test_download__starts_anew_where_the_host_ignores_ranges(get, server: FileServer):
    server.faults[RUN_PATH] = [cut(1000), sending(200, ZIPPED)]
    assert get() == ZIPPED


def test_download__starts_anew_after_another_range(get, server: FileServer):
    server.faults[RUN_PATH] = [cut(1000), sending(206, b"other", Content_Range="bytes 0-4/5")]
    assert get() == ZIPPED
    assert "Range" not in server.requests[-1][2]


def test_download__starts_anew_after_a_part_that_is_too_long(get, server: FileServer):
    server.faults[RUN_PATH] = [cut(1000), status(416)]
    assert get() == ZIPPED


def test_download__follows_redirects(get, server: FileServer):
    server.faults["/moved"] = [status(301, Location=RUN_PATH)]
    assert get("/moved") == ZIPPED


def test_download__stops_in_a_circle_of_redirects(get, server: FileServer):
    server.always = status(302, Location=RUN_PATH)
    with pytest.raises(FetchError, match="redirects"):
        get()


def test_download__slow_host(get, server: FileServer):
    server.faults[RUN_PATH] = [stall(0.3)]
    assert get(timeout=0.1) == ZIPPED


def test_download__unreachable_host(get, server: FileServer):
    server.address = "http://127.0.0.1:9"
    with pytest.raises(FetchError, match="refused") as error:
        get(attempts=2)
    assert error.value.status == "failed"


@pytest.mark.parametrize("fault", [page, sending(200, b" \n<HTML><body>Log in")])
def test_download__login_page(get, server: FileServer, fault: Answer):
    server.faults[RUN_PATH] = [fault]
    with pytest.raises(FetchError, match="web page instead of the file"):
        get()
    assert len(server.requests) == 1


@pytest.mark.parametrize("data", [RUN, ZIPPED])
def test_download__md5_of_file_or_of_its_content(get, data: bytes):
    assert get(md5=hashlib.md5(data).hexdigest().upper()) == ZIPPED


def test_download__other_md5(get, server: FileServer, tmp_path: Path):
    with pytest.raises(FetchError, match="the MD5 is not the catalogue's"):
        get(md5="0000")
    assert len(server.requests) == 2
    assert not list(tmp_path.iterdir())
    assert get(md5="0000", check_md5=False) == ZIPPED


def test_download__damaged_compressed_file(get, server: FileServer):
    damaged = ZIPPED[:-4] + b"\0\0\0\0"
    server.files[RUN_PATH] = damaged
    with pytest.raises(FetchError, match="compressed data cannot be read"):
        get()
    server.files[RUN_PATH] = ZIPPED
    server.faults[RUN_PATH] = [sending(200, damaged)]
    assert get() == ZIPPED


def test_download__gzip_bomb(get, server: FileServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(content, "ALWAYS_EXPANDED", 1 << 20)
    server.files[RUN_PATH] = gzip.compress(bytes(8 << 20))
    with pytest.raises(FetchError, match="expands to more than 200 times its size"):
        get()


def test_download__stopped(server: FileServer, pauses: FakePauses, tmp_path: Path):
    """The part is kept, and continued by the next download."""
    data = random.Random(0).randbytes(300_000)
    server.files[TEXT_PATH] = data
    target = tmp_path / "file"
    with open_client("127.0.0.1") as client:
        first = Downloader(client, pauses, HostLimits(pauses), lambda count: pauses.stop())
        with pytest.raises(StoppedError):
            first.download(server.address + TEXT_PATH, target)
        size = (tmp_path / ".file.part").stat().st_size
        assert 0 < size < len(data)
        later = FakePauses()
        Downloader(client, later, HostLimits(later)).download(server.address + TEXT_PATH, target)
    assert target.read_bytes() == data
    assert server.requests[-1][2]["Range"] == f"bytes={size}-"


def test_download__password_of_user(get, server: FileServer):
    server.always = with_password("me", "secret")
    with pytest.raises(FetchError, match=r"401 Unauthorized: use --user NAME, or a netrc file"):
        get()
    assert get(user="me", password="secret") == ZIPPED


def test_download__password_of_netrc(
    get,
    server: FileServer,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
):
    file = tmp_path_factory.mktemp("home") / "netrc"
    monkeypatch.setenv("NETRC", str(file))
    file.write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    file.chmod(0o600)
    server.always = with_password("me", "secret")
    assert get() == ZIPPED
    file.write_text("machine\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read as a netrc file"):
        get()


def test_download__password_goes_to_no_other_host(server: FileServer, tmp_path: Path):
    pauses = FakePauses()
    with serving({TEXT_PATH: RUN}) as other:
        # another port is another host
        server.faults["/moved"] = [status(302, Location=other.address + TEXT_PATH)]
        with open_client("127.0.0.1", "me", "secret") as client:
            downloader = Downloader(client, pauses, HostLimits(pauses))
            downloader.download(f"{server.address}/moved", tmp_path / "file")
        with open_client("nist.gov", "me", "secret") as client:
            downloader = Downloader(client, pauses, HostLimits(pauses))
            downloader.download(server.address + TEXT_PATH, tmp_path / "file")
    assert "Authorization" in server.requests[0][2]
    assert "Authorization" not in other.requests[0][2]
    assert "Authorization" not in server.requests[1][2]


def test_download__leaves_a_host_that_refuses(get, server: FileServer):
    server.always = status(401)
    for _ in range(3):
        with pytest.raises(FetchError, match="401"):
            get()
    with pytest.raises(FetchError, match=r"not asked, since 127.* asks for a password"):
        get()
    assert len(server.requests) == 3


def test_size__of_head(server: FileServer, pauses: FakePauses):
    with open_client("127.0.0.1") as client:
        downloader = Downloader(client, pauses, HostLimits(pauses))
        assert downloader.size(server.address + RUN_PATH) == len(ZIPPED)
        with pytest.raises(FetchError, match="404"):
            downloader.size(f"{server.address}/other")
        server.always = status(405)
        assert downloader.size(server.address + RUN_PATH) is None
    assert server.paths() == []


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("ftp://trec.nist.gov/a", "is not an address of http or https"),
        ("http:///a", "is not an address of http or https"),
        ("https://me:secret@trec.nist.gov/", "holds a user's name: use --user"),
    ],
)
def test_check_address__invalid(address: str, problem: str):
    with pytest.raises(UsageError, match=problem) as error:
        check_address(address)
    assert "secret" not in str(error.value)
