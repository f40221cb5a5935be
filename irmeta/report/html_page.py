"""HTML page of sections: self-contained, without requests, reproducible byte by byte."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from irmeta.escapes import escape_text
from irmeta.report.notation import is_marked, to_html, to_text
from irmeta.report.table_grid import ABSENT, Grid

if TYPE_CHECKING:
    import jinja2


class Mark(NamedTuple):
    """A verdict as a sign, with its number."""

    sign: str  # ``yes``, ``no``, ``open``, or ``out`` where nothing was computed
    words: str  # the verdict in words
    number: str = ""  # the number as text; empty: none
    title: str = ""  # tooltip
    shade: str = ""  # ``s0``, near the bound, ``s1`` or ``s2``; empty: none


class Sweep(NamedTuple):
    """The share of tracks on which a claim holds, by its bound, as a line of steps."""

    path: str  # data of an SVG path in a box of 200 x 40
    stated: float  # place of the claim's own bound in the box
    low: str  # the least and the greatest bound as text
    high: str


class ClaimFold(NamedTuple):
    """What may explain a verdict, shown on request."""

    heading: str
    text: str  # the tracks on which the claim fails, with their numbers
    facts: Sequence[tuple[str, str, str]]  # name, and medians where it holds and where it does not
    sweep: Sweep | None


class ClaimLine(NamedTuple):
    """A claim."""

    # text, where, printed: the claim, its place in the paper, and the paper's number
    text: str
    where: str
    printed: str
    # over, tracks: the verdict over tracks, and on each shown track
    over: Mark
    tracks: Sequence[Mark] = ()
    notes: Sequence[str] = ()  # what the reader should know of the verdict, one sentence each
    group: str = ""  # heading of the claim and of those below it, such as the paper; empty: none
    fold: ClaimFold | None = None


@dataclass(frozen=True)
class ClaimTable:
    """The claims of a page."""

    text: Sequence[str]  # paragraphs before the table
    over: str  # heading of the verdicts over tracks
    tracks: Sequence[str]  # the shown tracks
    # claims, checks: the claims as the paper computes them, and those computed otherwise, which
    # are folded
    claims: Sequence[ClaimLine]
    checks: Sequence[ClaimLine] = ()
    heading: str = "Claims of the paper"  # heading of the section
    totals: Sequence[str] = ()  # for each shown track, its claims that hold of those with a verdict
    about: Mapping[str, str] = field(default_factory=dict)  # tooltip of each track's heading
    # whether a cell of a track is a sign, whose number and condition are in its tooltip
    is_compact: bool = False


TEMPLATES = Path(__file__).parent
FOLD = 40  # rows; longer tables are folded
WIDE = 600  # pixels; wider figures have no other beside them
_QUOTED = re.compile(r"`([^`]+)`")

Fact = str | int | float | None


class Picture(NamedTuple):
    """A figure on the page: SVG, caption, and explanation of how to read it.

    With the path of a `file` relative to the page, the page refers to the file, which a browser
    loads when the figure is scrolled into view; otherwise the page contains the SVG.
    """

    svg: str
    caption: str
    reading: str = ""
    file: str = ""

    @property
    def size(self) -> str:
        """The attributes width and height of the SVG, so that loading it moves no text."""
        root = self.svg[: self.svg.find(">")]
        return " ".join(re.findall(r'\b(?:width|height)="[\d.]+"', root))

    @property
    def is_wide(self) -> bool:
        """Whether the figure is wider than half of the page."""
        width = re.search(r'\bwidth="([\d.]+)"', self.size)
        return width is not None and float(width[1]) > WIDE


@dataclass(frozen=True)
class Block:
    """A section of the page: facts, text, notes, then tables and figures in order."""

    heading: str
    text: Sequence[str] = ()
    items: Sequence[Grid | Picture] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    notes: Sequence[str] = ()
    below: Sequence[str] = ()  # paragraphs below the first tables or figures
    # whether the section is before the table of contents: one over all tracks, or the only track
    is_first: bool = False

    @property
    def parts(self) -> list[tuple[bool, list[Grid | Picture]]]:
        """Consecutive items of one kind; True: figures."""
        by_kind = groupby(self.items, key=lambda item: isinstance(item, Picture))
        return [(is_picture, list(items)) for is_picture, items in by_kind]


@dataclass(frozen=True)
class Page:
    """Content of a page."""

    # title, lead: the heading, and the sentence below the heading
    title: str
    lead: str
    summary: Mapping[str, Fact]  # label to number, for the entire page
    # sections, tracks: sections over all tracks, then one section per track, with the track's
    # name as heading
    sections: Sequence[Block]
    tracks: Sequence[Block] = ()
    notes: Sequence[str] = ()  # caveats for the entire page, one sentence each
    provenance: Mapping[str, str] = field(default_factory=dict)  # label to value
    files: Sequence[tuple[str, str]] = ()  # path relative to the page, and contents of the file
    claims: ClaimTable | None = None  # claims with their verdicts, before the table of contents


def render(page: Page) -> str:
    """Return the page as HTML, which does not depend on the clock or on a network.

    SVG is inserted unchanged; all other text is escaped. The only script sorts tables, and the
    page's policy forbids any other.
    """
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    anchors = anchors_of([block.heading for block in (*page.sections, *page.tracks)])
    blocks = list(zip(anchors, (*page.sections, *page.tracks), strict=True))
    sections, tracks = blocks[: len(page.sections)], blocks[len(page.sections) :]
    before = [block for block in (sections if len(tracks) > 1 else blocks) if block[1].is_first]
    return _template("page.html.j2").render(
        page=page,
        first=before,
        blocks=[block for block in blocks if block not in before],
        contents=[("Contents", sections), ("Tracks", tracks)],
        links={block.heading: anchor for anchor, block in tracks},
        files=[(path, quote(path), holds) for path, holds in page.files],
        fact=_fact,
        fold=FOLD,
        script=script,
        script_hash=f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
    )


def _fact(value: Fact) -> str:
    if isinstance(value, str) or value is None:
        return value or ABSENT
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def anchors_of(names: Sequence[str]) -> list[str]:
    """Return a readable unique id per name, even if names differ only in special characters."""
    anchors: list[str] = []
    for name in names:
        stem = "track-" + (re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-") or "unnamed")
        taken = sum(anchor == stem or anchor.startswith(stem + "~") for anchor in anchors)
        anchors.append(f"{stem}~{taken + 1}" if taken else stem)
    return anchors


def _shown(value: object) -> object:
    """Escape the control and bidirectional characters of a value; typeset its subscripts."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        shown = escape_text(value, keep="\n\t")
        if is_marked(shown):
            from markupsafe import Markup, escape

            return Markup(to_html(str(escape(shown))))
        return shown
    return value


def _prose(text: str) -> str:
    """Return a sentence as HTML, with what is between backticks as code."""
    from markupsafe import Markup, escape

    escaped = str(escape(escape_text(text, keep="\n\t")))
    return Markup(_QUOTED.sub(r"<code>\1</code>", to_html(escaped)))


@cache
def _template(name: str) -> jinja2.Template:
    import jinja2

    room = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    room.filters["plain"] = to_text  # for attributes
    room.filters["prose"] = _prose
    return room.get_template(name)
