"""Claims with their verdicts, over tracks and on each track, as the first table of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from irmeta.report.table_grid import Grid


class Mark(NamedTuple):
    """A verdict as a sign, with its number.

    Attributes
    ----------
    sign
        ``yes``, ``no`` or ``open``.
    words
        The verdict in words.
    number
        The number as text; empty: none.
    title
        Tooltip.
    """

    sign: str
    words: str
    number: str = ""
    title: str = ""


class ClaimLine(NamedTuple):
    """A claim.

    Attributes
    ----------
    text, where, printed
        The claim, its place in the paper, and the paper's number.
    over, tracks
        The verdict over tracks, and on each shown track.
    notes
        What the reader should know of the verdict, one sentence each.
    """

    text: str
    where: str
    printed: str
    over: Mark
    tracks: Sequence[Mark] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class ClaimTable:
    """The claims of a page.

    Attributes
    ----------
    text
        Paragraphs before the table.
    over
        Heading of the verdicts over tracks.
    tracks
        The shown tracks.
    claims, checks
        The claims as the paper computes them, and those computed otherwise, which are folded.
    details
        All numbers and conditions, folded.
    """

    text: Sequence[str]
    over: str
    tracks: Sequence[str]
    claims: Sequence[ClaimLine]
    checks: Sequence[ClaimLine] = ()
    details: Grid | None = None
