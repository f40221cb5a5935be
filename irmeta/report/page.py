"""One page for a set of tracks: self-contained, without scripts, the same bytes every time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import polars as pl

from irmeta.report.tables import (
    ABSENT,
    Table,
    best_table,
    fact_kind,
    format_value,
    measure_kind,
    table,
)

if TYPE_CHECKING:
    import jinja2

Fact = str | int | float | None

# The facts of a track that the overview repeats, where a track has them
OVERVIEW_FACTS = ("systems", "set aside", "queries", "relevant docs", "rows")


class Figure(NamedTuple):
    """A picture, what it shows, and how to read it."""

    svg: str
    caption: str
    reading: str = ""


@dataclass(frozen=True)
class TrackSection:
    """What the page says of one track.

    Parameters
    ----------
    name
        The track's name.
    facts
        Label to value; whole numbers print as counts. The overview repeats those labelled
        systems, set aside, queries, relevant docs and rows.
    best
        A row a measure: measure, direction (1: higher is better; -1: lower is), system, value,
        second, second_value, median, worst, and note if there is one to make.
    figures
        In the order in which they are shown, two beside each other.
    notes
        What a reader must know before trusting the numbers, a sentence each.
    """

    name: str
    facts: Mapping[str, Fact]
    best: pl.DataFrame
    figures: Sequence[Figure] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """All that the page says.

    Parameters
    ----------
    title, lead
        The heading and the sentence under it.
    summary
        Label to number, for the whole page: tracks, systems, queries, rows.
    tracks
        In the order in which they are shown.
    notes
        What a reader must know of the whole, a sentence each.
    set_aside
        Columns track, file, reason: the runs that are in no number.
    provenance
        Label to value: irmeta's version, the policies.
    files
        Path relative to the page, and what the file holds.
    overview_measures
        The measures whose best systems the overview names, as `TrackSection.best` spells them.
    """

    title: str
    summary: Mapping[str, Fact]
    tracks: Sequence[TrackSection]
    lead: str = ""
    notes: Sequence[str] = ()
    set_aside: pl.DataFrame | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[tuple[str, str]] = ()
    overview_measures: Sequence[str] = ("AP", "ASL")


def render(page: Page) -> str:
    """The page as HTML.

    Nothing in it depends on the clock, and it refers to nothing on a network.

    Parameters
    ----------
    page
        What to say. Its SVG goes in as it is; all other text is escaped.
    """
    anchors = anchors_of([track.name for track in page.tracks])
    axes = [axis for measure in page.overview_measures if (axis := _axis(page, measure))]
    return template("page.html.j2").render(
        page=page,
        summary=facts_of(page.summary),
        overview_facts=OVERVIEW_FACTS,
        axes=axes,
        overview=[
            {
                "name": track.name,
                "anchor": anchor,
                "facts": [_fact(track.facts.get(label)) for label in OVERVIEW_FACTS],
                "best": [_best(track, axis) for axis in axes],
            }
            for track, anchor in zip(page.tracks, anchors, strict=True)
        ],
        tracks=[
            {
                "name": track.name,
                "anchor": anchor,
                "facts": facts_of(track.facts),
                "best": best_table(track.best),
                "figures": track.figures,
                "notes": track.notes,
            }
            for track, anchor in zip(page.tracks, anchors, strict=True)
        ],
        set_aside=_set_aside(page.set_aside),
        files=links_to(page.files),
    )


def links_to(files: Sequence[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Path, link and meaning of each file."""
    # a colon or a percent sign in a path would change what the link means
    return [(path, quote(path), holds) for path, holds in files]


@dataclass(frozen=True)
class _Axis:
    """The scale on which the overview draws one measure for every track."""

    measure: str
    direction: int
    low: float
    high: float
    log: bool

    def at(self, value: float) -> float:
        """Where a value lies, from 0 at the worst end of the drawing to 100 at the best."""
        low, high = self.low, self.high
        if self.log:
            value, low, high = (math.log10(max(number, 1)) for number in (value, low, high))
        share = (value - low) / (high - low) if high > low else 1.0
        share = share if self.direction > 0 else 1 - share
        return round(100 * min(max(share, 0.0), 1.0), 1)

    @property
    def says(self) -> str:
        """The scale in words, worst end first."""
        if self.log:
            return f"{self.measure} from {self.high:,.0f} to {self.low:,.0f} on a log scale"
        low, high = (f"{end:,.4g}" for end in (self.low, self.high))
        ends = (low, high) if self.direction > 0 else (high, low)
        return f"{self.measure} from {ends[0]} to {ends[1]}"


class _Best(NamedTuple):
    system: str = ABSENT
    value: str = ABSENT
    span: tuple[float, float, float] | None = None  # worst, median, best on the axis


def _axis(page: Page, measure: str) -> _Axis | None:
    """One scale for all tracks: 0 to 1 for a share, a log scale from 1 for search lengths."""
    rows = [row for track in page.tracks for row in _measure_rows(track, measure)]
    numbers = [row[name] for row in rows for name in ("value", "median", "worst")]
    numbers = [float(number) for number in numbers if _known(number)]
    if not rows:
        return None
    direction = rows[0]["direction"]
    if measure_kind(direction, numbers) == "score":
        return _Axis(measure, direction, min([0.0, *numbers]), 1.0, log=False)
    if direction < 0 and min(numbers) >= 1:
        top = 10.0 ** max(1, math.ceil(math.log10(max(numbers))))
        return _Axis(measure, direction, 1.0, top, log=True)
    return _Axis(measure, direction, min([0.0, *numbers]), max(numbers), log=False)


def _best(track: TrackSection, axis: _Axis) -> _Best:
    for row in _measure_rows(track, axis.measure):
        ends = row["worst"], row["median"], row["value"]
        kind = measure_kind(row["direction"], ends)
        worst, median, best = ends
        span = (axis.at(worst), axis.at(median), axis.at(best)) if all(map(_known, ends)) else None
        return _Best(format_value(row["system"], "text"), format_value(row["value"], kind), span)
    return _Best()


def _measure_rows(track: TrackSection, measure: str) -> list[dict[str, Any]]:
    return track.best.filter(pl.col("measure") == measure).to_dicts()


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _fact(value: Fact) -> str:
    return format_value(value, fact_kind(value))


def facts_of(facts: Mapping[str, Fact]) -> list[tuple[str, str]]:
    return [(label, _fact(value)) for label, value in facts.items()]


def _set_aside(frame: pl.DataFrame | None) -> Table | None:
    if frame is None or frame.is_empty():
        return None
    shown = frame.select("track", "file", "reason").sort("track", "file", maintain_order=True)
    return table(shown, kinds={"track": "text", "file": "text", "reason": "text"})


def anchors_of(names: Sequence[str]) -> list[str]:
    """A readable id for each track, different for names that differ only in odd characters."""
    anchors: list[str] = []
    for name in names:
        stem = "track-" + (re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-") or "unnamed")
        taken = sum(other == stem or other.startswith(stem + "~") for other in anchors)
        anchors.append(f"{stem}~{taken + 1}" if taken else stem)
    return anchors


@cache
def template(name: str) -> jinja2.Template:
    """One of the templates beside this file."""
    import jinja2

    room = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return room.get_template(name)
