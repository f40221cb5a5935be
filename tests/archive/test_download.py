"""Downloads of single files from a server with faults."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from irmeta import UsageError
from irmeta.archive import content, download
from irmeta.archive.download import Downloader, FetchError
from irmeta.archive.fetch_options import DownloadLimits
from irmeta.archive.http_client import HostLimits, Pauses, StoppedError, check_address, open_client
from support.serving import (
    Answer,
    FakePauses,
    FileServer,
    Handler,
    cut,
    etag_of,
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
        names = ("check_md5", "attempts", "file_limits")
        options = {name: given.pop(name) for name in names if name in given}
        kind = given.pop("kind", None)
        with open_client("127.0.0.1", **{"timeout": 5.0, **given}) as client:
            downloader = Downloader(client, pauses, limits, **options)
            downloader.download(server.address + path, tmp_path / "file", md5, kind)
        assert [file.name for file in tmp_path.iterdir()] == ["file"]
        return (tmp_path / "file").read_bytes()

    return download


@pytest.mark.exhaustive
def test_download__file_as_served(get, server: FileServer):
    assert get() == ZIPPED
    headers = server.requests[0][2]
    assert headers["User-Agent"].startswith("irmeta/")
    assert headers["Accept-Encoding"] == "identity"
    assert "Range" not in headers


@pytest.mark.one_in(3)
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


def rest(content: bytes, start: int, total: int | None = None, **headers: str) -> Answer:
    """Send the rest of a file from a byte, whatever version was asked for."""
    span = f"bytes {start}-{len(content) - 1}/{len(content) if total is None else total}"
    return sending(206, content[start:], Content_Range=span, **headers)


@pytest.mark.parametrize(
    ("other", "headers"),
    [
        (gzip.compress(RUN + b"1 Q0 d 5001 -1 tag\n"), {"ETag": '"other"'}),
        (ZIPPED[:2000] + ZIPPED[2000:], {}),  # without an ETag nothing says that it is the same
        (ZIPPED, {"ETag": f"W/{etag_of(ZIPPED)}"}),
    ],
    ids=["other", "none", "weak"],
)
def test_download__does_not_join_two_versions(get, server: FileServer, other: bytes, headers):
    server.faults[RUN_PATH] = [cut(1000), rest(other, 1000, **headers)]
    assert get() == ZIPPED
    assert [h.get("Range") for *_, h in server.requests] == [None, "bytes=1000-", None]


def test_download__does_not_join_files_of_two_lengths(get, server: FileServer):
    tag = etag_of(ZIPPED)
    server.faults[RUN_PATH] = [cut(1000), rest(ZIPPED, 1000, len(ZIPPED) + 1, ETag=tag)]
    assert get() == ZIPPED
    assert "Range" not in server.requests[-1][2]


def dripping_headers(handler: Handler, content: bytes) -> None:
    """Send a byte of a header now and then."""
    handler.close_connection = True
    with suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Header: ")
        for _ in range(200):
            handler.wfile.write(b"a")
            handler.wfile.flush()
            time.sleep(0.02)


def endless_continue(handler: Handler, content: bytes) -> None:
    """Say 100 Continue again and again."""
    handler.close_connection = True
    with suppress(OSError):
        for _ in range(200):
            handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            handler.wfile.flush()
            time.sleep(0.02)


def dripping_chunk(handler: Handler, content: bytes) -> None:
    """Send the size of a chunk without end."""
    handler.close_connection = True
    with suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;")
        for _ in range(200):
            handler.wfile.write(b"a")
            handler.wfile.flush()
            time.sleep(0.02)


@pytest.mark.parametrize("fault", [dripping_headers, endless_continue, dripping_chunk])
def test_download__every_phase_has_a_deadline(
    get, server: FileServer, fault: Answer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(download, "ANSWER_SECONDS", 0.2)
    server.faults[RUN_PATH] = [fault]
    with pytest.raises(FetchError, match=r"timed out \(ReadTimeout\)"):
        get(attempts=1)
    assert get() == ZIPPED


@pytest.mark.parametrize("fault", [dripping_headers, endless_continue, dripping_chunk])
def test_download__longest_duration_of_all_attempts(server: FileServer, tmp_path: Path, fault):
    server.always = fault
    pauses, begun = Pauses(), time.monotonic()
    with open_client("127.0.0.1") as client:
        limits = DownloadLimits(max_minutes=0.3 / 60)
        downloader = Downloader(client, pauses, HostLimits(pauses), file_limits=limits)
        with pytest.raises(FetchError, match=r"took more than 0\.005 minutes \(`max_minutes=`"):
            downloader.download(server.address + RUN_PATH, tmp_path / "file")
    assert time.monotonic() - begun < 3


@pytest.mark.parametrize("wait", ["99999999999999999999", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_download__leaves_a_host_that_asks_to_wait_too_long(get, server: FileServer, wait: str):
    server.always = status(429, Retry_After=wait)
    with pytest.raises(FetchError, match="429 Too Many Requests"):
        get()
    with pytest.raises(FetchError, match=r"not asked, since 127.* asks to wait for more than 10"):
        get()
    assert len(server.requests) == 1


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
    with pytest.raises(FetchError, match=r"expands to more than 0.001 GB \(`max_gb=`\)"):
        get(file_limits=DownloadLimits(max_gb=0.001))
    assert len(server.requests) == 2  # not asked again


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        (RUN_PATH, b"", "is empty"),
        (TEXT_PATH, b"", "is empty"),
        (RUN_PATH, gzip.compress(b"", mtime=0), "is empty"),
        (RUN_PATH, RUN, "is not a .gz file"),
        ("/a.Z?x=1", ZIPPED, "is not a .Z file"),
        (RUN_PATH, gzip.compress(b"No such file.\n", mtime=0), "no line of a run"),
        (TEXT_PATH, b"1 0 doc 1\n", "no line of a run"),
    ],
)
def test_download__other_content_than_the_name_says(
    get, server: FileServer, path: str, data: bytes, reason: str
):
    server.always = sending(200, data)
    with pytest.raises(FetchError, match=reason):
        get(path, kind="run")
    assert len(server.requests) == 2
    server.always = sending(200, RUN if path == TEXT_PATH else ZIPPED)
    if not path.startswith("/a"):
        assert get(path, kind="run")


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("run", "1 Q0 doc 1 -2.5e1 tag"),
        ("run", "1 doc 3 2,5 tag"),
        ("run", "# comment\n\n1\tQ0\td\t0\t.5\tsome tag"),
        ("qrels", "1 0 doc -1"),
        ("qrels", "1 doc 1 2 0.5"),
    ],
)
def test_download__lines_of_runs_and_qrels(get, server: FileServer, kind: str, line: str):
    server.files[TEXT_PATH] = line.encode()
    assert get(TEXT_PATH, kind=kind) == line.encode()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "headers",
    [
        {"ETag": "\xff\xfe"},
        {"ETag": "a" * 5000},
        {"Last_Modified": "\xe9t\xe9"},
        {"Retry_After": "1 Jan 99999999999 00:00:00 GMT"},
        {"Location": "\xff"},
    ],
)
def test_download__hostile_headers(get, server: FileServer, headers: dict[str, str]):
    """The next attempt after a broken transfer gets the file, also from a good host."""
    server.faults[RUN_PATH] = [
        lambda handler, content: handler.answer(
            200, content[:1000], Content_Length=str(len(content)), Connection="close", **headers
        )
    ]
    with pytest.raises(FetchError, match="broke off"):
        get(attempts=1)
    assert get() == ZIPPED


def test_download__recorded_version_that_cannot_be_sent(get, server: FileServer, tmp_path: Path):
    (tmp_path / ".file.part").write_bytes(ZIPPED[:10])
    record = {"address": server.address + RUN_PATH, "version": "\xff"}
    (tmp_path / ".file.part.json").write_text(json.dumps(record), encoding="utf-8")
    assert get() == ZIPPED


def endless(handler: Handler, content: bytes) -> None:
    """Send up to 64 MB without saying how much comes."""
    handler.close_connection = True
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):  # the client goes away
        for _ in range(64):
            handler.wfile.write(bytes(1 << 20))


@pytest.mark.parametrize("fault", [endless, sending(200, b"", Content_Length="2000000")])
def test_download__file_larger_than_allowed(get, server: FileServer, fault: Answer):
    server.faults[RUN_PATH] = [fault]
    with pytest.raises(FetchError, match=r"larger than 0.001 GB \(`max_gb=`\)"):
        get(file_limits=DownloadLimits(max_gb=0.001))
    assert get() == ZIPPED  # no part is continued


def test_download__file_larger_than_the_free_disk(get, server: FileServer, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    server.faults[RUN_PATH] = [endless]
    with pytest.raises(FetchError, match=r"larger than the free disk space, 0\.001 GB"):
        get()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_download__full_disk_is_a_failure_of_the_file(get, tmp_path: Path):
    (tmp_path / ".file.part").symlink_to("/dev/full")
    with pytest.raises(FetchError, match=r".file.part cannot be written \(No space left"):
        get()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (DownloadLimits(), r"came at 0\.0\d+ bytes a second \(`min_rate=1000`\)"),
        (DownloadLimits(min_rate=0, max_minutes=2), r"took more than 2 minutes \(`max_minutes=`"),
    ],
)
def test_download__drip(
    get, server: FileServer, pauses: FakePauses, limits: DownloadLimits, reason: str
):
    """A byte every 30 seconds of the clock of the limits; the part is kept for the next fetch."""
    sent = 0

    def drip(handler: Handler, content: bytes) -> None:
        nonlocal sent
        handler.close_connection = True
        handler.send_response(200)
        handler.send_header("ETag", etag_of(content))
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        with suppress(OSError):
            while sent < 300:
                pauses.time += 30
                handler.wfile.write(content[sent : sent + 1])
                sent += 1
                time.sleep(0.01)

    server.faults[RUN_PATH] = [drip]
    with pytest.raises(FetchError, match=reason):
        get(file_limits=limits)
    assert sent < 300
    assert get() == ZIPPED
    assert int(server.requests[-1][2]["Range"].removeprefix("bytes=").removesuffix("-")) > 0


def test_download__body_of_a_redirect_is_not_read(get, server: FileServer):
    def redirect(handler: Handler, content: bytes) -> None:
        handler.close_connection = True
        handler.send_response(302)
        handler.send_header("Location", RUN_PATH)
        handler.end_headers()
        with suppress(OSError):
            for sent in range(64):
                handler.wfile.write(bytes(1 << 20))
                most.append(sent)

    most: list[int] = []
    server.faults["/moved"] = [redirect]
    assert get("/moved") == ZIPPED
    assert len(most) < 64


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
    with pytest.raises(FetchError, match=r"401 Unauthorized: use `user=`, or a netrc file"):
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


@pytest.mark.exhaustive
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
        ("https://me:secret@trec.nist.gov/", "holds a user's name: use `user=`"),
    ],
)
def test_check_address__invalid(address: str, problem: str):
    with pytest.raises(UsageError, match=problem) as error:
        check_address(address)
    assert "secret" not in str(error.value)
