"""A local server of S3, which counts requests."""

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyarrow.fs import S3FileSystem

BUCKET = "bucket"


class Bucket(logging.Handler):
    """A bucket of a running server; `requests` are the request lines since the last `clear`."""

    def __init__(self, endpoint: str) -> None:
        super().__init__()
        self.endpoint, self.requests = endpoint, list[str]()
        self._system: Any = S3FileSystem(
            endpoint_override=endpoint,
            access_key="key",
            secret_key="secret",
            region="us-east-1",
            allow_bucket_creation=True,
        )
        self._system.create_dir(BUCKET)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line of a request."""
        self.requests.append(record.getMessage())

    def put(self, key: str, content: bytes) -> None:
        """Write an object."""
        with self._system.open_output_stream(f"{BUCKET}/{key}") as stream:
            stream.write(content)

    def get(self, key: str) -> bytes:
        """Read an object."""
        with self._system.open_input_stream(f"{BUCKET}/{key}") as stream:
            return stream.read()

    def delete(self, key: str) -> None:
        """Delete an object."""
        self._system.delete_file(f"{BUCKET}/{key}")

    def upload(self, folder: Path, key: str) -> str:
        """Copy a folder, records of tracks last; return its URL."""
        files = [path for path in folder.rglob("*") if path.is_file()]
        for path in sorted(files, key=lambda path: (path.parent.name == "tracks", path)):
            self.put(f"{key}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return f"s3://{BUCKET}/{key}"


@contextmanager
def running() -> Generator[Bucket]:
    """Run a server, and set the environment variables of clients."""
    server_of = pytest.importorskip("moto.server").ThreadedMotoServer
    server = server_of(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    log = logging.getLogger("werkzeug")
    given = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patched:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patched.delenv(name)
        for name, value in given.items():
            patched.setenv(name, value)
        bucket = Bucket(given["AWS_ENDPOINT_URL"])
        patched.setattr(log, "propagate", False)
        log.addHandler(bucket)
        log.setLevel(logging.INFO)
        try:
            yield bucket
        finally:
            log.removeHandler(bucket)
            server.stop()
