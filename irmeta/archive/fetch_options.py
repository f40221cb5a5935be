"""Options and progress of a fetch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from irmeta.options import Options, option

Placement = Literal["link", "copy"]


@dataclass(frozen=True)
class DownloadLimits(Options):
    """Limits of each download; a file that exceeds one fails alone."""

    max_gb: float = option(4.0, "Largest size of a file in GB.", least=0, metavar="GB")
    min_rate: float = option(
        1000.0,
        "Lowest rate of a download in bytes per second, averaged over a minute.",
        least=0,
        metavar="BYTES",
    )
    max_minutes: float | None = option(
        None,
        "Longest duration of a download in minutes; default unlimited.",
        least=0,
        metavar="MINUTES",
    )


@dataclass(frozen=True)
class FetchOptions(DownloadLimits):
    """How files are fetched."""

    mirror: str | None = option(
        None, "Folder or address of a copy of TREC's files.", metavar="DIR|URL"
    )
    placement: Placement = option(
        "link", "Whether files of a mirror's folder are linked or copied.", flag=""
    )
    md5: Literal["check", "note"] = option(
        "check", "Reject files whose MD5 is not the catalogue's, or keep and note them."
    )
    user: str | None = option(
        None, "User name at NIST or the mirror; the password is asked for.", metavar="NAME"
    )
    dry_run: bool = option(False, "Report files and their sizes, and write nothing.")
