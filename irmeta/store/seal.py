"""What tells that a record or a Parquet file of a store is not the one that was written."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

_END = b"\n}\n"  # of JSON


def sealed(record: bytes) -> bytes:
    """A record's JSON with, last of all, a hash of what it is without."""
    said = b',\n "sha256": "%s"' % hashlib.sha256(record).hexdigest().encode()
    return record.removesuffix(_END) + said + _END


def unsealed(content: bytes) -> dict[str, Any]:
    """The record that was written; without a hash, as in older stores, what is there.

    Raises
    ------
    ValueError
        If it is another.
    """
    record = json.loads(content)
    if not isinstance(record, dict) or "files" not in record:
        raise ValueError("it is no record of a track")
    if record.pop("sha256", None) is not None:
        rest, _, said = content.rpartition(b',\n "sha256": ')
        if said != b'"%s"' % hashlib.sha256(rest + _END).hexdigest().encode() + _END:
            raise ValueError("it is not what was written")
    return record


def file_facts(file: Path) -> str:
    """The size of a Parquet file and a hash of its end, which no checksum of a page covers."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        stream.seek(max(0, size - 8))
        length = int.from_bytes(stream.read(4), "little")
        stream.seek(max(0, size - 8 - length))
        return f"{size} {hashlib.sha256(stream.read()).hexdigest()[:16]}"


def written(folders: dict[str, Path]) -> dict[str, str]:
    """What tells every Parquet file of a track from another, by kind and name."""
    return {
        f"{kind}/{file.name}": file_facts(file)
        for kind, folder in folders.items()
        for file in sorted(folder.glob("part-*.parquet"))
    }
