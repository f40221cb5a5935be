"""Made tar archives."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path


def tar_of(file: Path, members: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(file, "w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
    return file
