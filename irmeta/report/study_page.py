"""A study's page: what a paper says, section by section, and then what each track says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from irmeta.report.page import Fact, Figure, anchors_of, facts_of, links_to, template
from irmeta.report.tables import Kind, table, to_latex

FOLD = 40  # rows


@dataclass(frozen=True)
class Shown:
    """A table as a reader sees it, on the page and in LaTeX.

    Attributes
    ----------
    name
        Of its LaTeX file.
    frame, kinds
        See `irmeta.report.tables.table`.
    folded
        Whether the page shows it only on request, as it does any table of more than `FOLD` rows.
    in_latex
        The columns that a paper's page has room for; empty: all.
    """

    name: str
    caption: str
    frame: pl.DataFrame
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    folded: bool = False
    in_latex: Sequence[str] = ()

    def latex(self) -> str:
        """The table for a paper: booktabs."""
        label = f"tab:{self.name.replace('_', '-')}"
        frame = self.frame.select(self.in_latex or self.frame.columns)
        return to_latex(frame, self.caption, label, kinds=self.kinds, tight=True)


@dataclass(frozen=True)
class Section:
    """One section of a study's page: words, tables, figures, and what to beware of."""

    heading: str
    text: Sequence[str] = ()
    tables: Sequence[Shown] = ()
    figures: Sequence[Figure] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class StudyPage:
    """All that a study's page says.

    Attributes
    ----------
    sections
        What is said over all tracks, in the paper's order.
    tracks
        A section for each track, its heading the track's name.
    summary, notes, provenance, files
        As in `irmeta.report.page.Page`.
    """

    title: str
    lead: str
    summary: Mapping[str, Fact]
    sections: Sequence[Section]
    tracks: Sequence[Section] = ()
    notes: Sequence[str] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[tuple[str, str]] = ()


def render_study(page: StudyPage) -> str:
    """The page as HTML: self-contained, without scripts, the same bytes every time."""
    sections = [*page.sections, *page.tracks]
    anchors = anchors_of([section.heading for section in sections])
    shown = [
        {
            "section": section,
            "anchor": anchor,
            "tables": [(t, table(t.frame, kinds=t.kinds)) for t in section.tables],
        }
        for section, anchor in zip(sections, anchors, strict=True)
    ]
    return template("study.html.j2").render(
        page=page,
        summary=facts_of(page.summary),
        sections=shown,
        files=links_to(page.files),
        fold=FOLD,
    )
