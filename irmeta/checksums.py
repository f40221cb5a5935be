"""Checksums of records and Parquet files, to detect files changed after they were written."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from irmeta.locations import Location, local

_END = b"\n}\n"  # of a JSON object as `to_json` writes it
_FIELD = b',\n "sha256": '
_PIECE = 1 << 20  # bytes read at a time

EMBEDDED = b"irmeta.checksum"
"""The metadata key for a Parquet file's CRC-32 in its footer."""
BLANK = b"00000000"
"""The value of `EMBEDDED` before the CRC-32 is known, and in the content that it covers."""
# A key and its value as Thrift's compact protocol stores them: type, length, bytes.
_EMBEDDED = re.compile(re.escape(EMBEDDED) + rb"\x18\x08(.{8})", re.DOTALL)

MISMATCH = "checksum mismatch: the file was changed after it was written"


def to_json(record: object) -> bytes:
    """Format a record as sorted, indented JSON in UTF-8 (non-UTF-8 file names as escapes)."""
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def add_checksum(record: bytes) -> bytes:
    """Append the SHA-256 of a JSON record, as `to_json` writes it, as the record's last field."""
    checksum = hashlib.sha256(record).hexdigest().encode()
    return record.removesuffix(_END) + _FIELD + b'"%s"' % checksum + _END


def load_json(content: str | bytes) -> Any:
    """Parse JSON; ValueError if it is none, or is nested more deeply than Python's parser goes."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_record(content: bytes) -> dict[str, Any]:
    """Return a JSON record without its checksum.

    Raises ValueError if the content is not a JSON object, or has no checksum or another one.
    """
    record = load_json(content)
    if not isinstance(record, dict):
        raise ValueError("not a record")
    if record.pop("sha256", None) is None:
        raise ValueError("no checksum")
    text, _, stored = content.rpartition(_FIELD)
    if stored != b'"%s"' % hashlib.sha256(text + _END).hexdigest().encode() + _END:
        raise ValueError(MISMATCH)
    return record


def checksum_of_bytes(content: bytes) -> str:
    """Return the size and the CRC-32 of a file's content, like `content_checksum`."""
    return f"{len(content)} {zlib.crc32(content):08x}"


def content_checksum(path: Location) -> str:
    """Return the size of a file and the CRC-32 of its content."""
    with path.open("rb") as stream:
        crc = _crc(stream, 0, None)
        return f"{stream.tell()} {crc:08x}"


def known_content_checksum(path: Location) -> str:
    """Return `content_checksum` of a local file, computed again if size or times change."""
    file = local(path)
    status = file.stat()
    return _known(os.path.abspath(file), status.st_size, status.st_mtime_ns, status.st_ino)


@lru_cache(maxsize=1 << 16)
def _known(path: str, size: int, changed: int, inode: int) -> str:
    return content_checksum(Path(path))


def footer_checksum(path: Location) -> str:
    """Return the size of a Parquet file and a hash of its footer.

    The footer locates all pages, and no page checksum covers it.
    """
    with path.open("rb") as stream:
        size, start = _footer(stream)
        stream.seek(start)
        return f"{size} {hashlib.sha256(stream.read()).hexdigest()[:16]}"


def has_footer(end: bytes) -> bool:
    """Check whether the last bytes of a Parquet file hold its whole footer."""
    return len(end) - 8 >= int.from_bytes(end[-8:-4], "little")


def embed_checksum(path: Path) -> None:
    """Write the CRC-32 of a Parquet file into its footer, over `BLANK`."""
    with path.open("r+b") as stream:
        field = _embedded(stream)
        assert field is not None, "no field for the checksum"
        crc = _crc_with_blank(stream, field[0])
        stream.seek(field[0])
        stream.write(crc)


def check_embedded(path: Location) -> bool:
    """Compare a Parquet file with the checksum in its footer; return False if it has none.

    Raises ValueError if the checksum differs.
    """
    with path.open("rb") as stream:
        field = _embedded(stream)
        if field is None:
            return False
        if _crc_with_blank(stream, field[0]) != field[1]:
            raise ValueError(MISMATCH)
    return True


def _footer(stream: IO[bytes]) -> tuple[int, int]:
    """Return the size of a Parquet file, and where its footer starts."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - 8))
    length = int.from_bytes(stream.read(4), "little")
    return size, max(0, size - 8 - length)


def _embedded(stream: IO[bytes]) -> tuple[int, bytes] | None:
    """Return the position and value of the checksum in a footer, or None without one."""
    _, start = _footer(stream)
    stream.seek(start)
    matches = list(_EMBEDDED.finditer(stream.read()))  # statistics may match too, but earlier
    return (start + matches[-1].start(1), matches[-1][1]) if matches else None


def _crc_with_blank(stream: IO[bytes], position: int) -> bytes:
    before = _crc(stream, 0, position)
    return b"%08x" % _crc(stream, position + len(BLANK), None, zlib.crc32(BLANK, before))


def _crc(stream: IO[bytes], start: int, stop: int | None, crc: int = 0) -> int:
    """Compute the CRC-32 of the bytes from `start` to `stop` (None: the end), starting at `crc`."""
    stream.seek(start)
    while piece := stream.read(_PIECE if stop is None else min(_PIECE, stop - start)):
        crc = zlib.crc32(piece, crc)
        start += len(piece)
    return crc
