"""The study as a value: its per-track part and what joins the tracks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from irmeta.store.layout import Layout
from irmeta.studies.atomized.per_track import PARTS, per_track
from irmeta.studies.atomized.settings import NAME, REVISION, Settings, provenance
from irmeta.studies.atomized.summaries import summarise
from irmeta.studies.base import Folder, Study
from irmeta.studies.publish import join_parts, write_figure, write_latex, write_tables


def combine(
    layout: Layout, tracks: Sequence[str], settings: Mapping[str, Any], folder: Folder
) -> None:
    """Join the tables of all tracks, sum them up, and write figures, LaTeX and page."""
    from irmeta.report.study_page import render_study
    from irmeta.results.tables import write_text
    from irmeta.studies.atomized.figures import over_tracks  # figures are slow to import
    from irmeta.studies.atomized.page import study_page

    chosen = Settings.from_record(settings)
    record = provenance(layout, chosen, *tracks)
    tables = join_parts(folder, PARTS, tracks, record)
    summed = summarise(tables, chosen)
    write_tables(folder, summed, record)
    tables |= summed
    charts = {
        c.name: (c, write_figure(folder, c.name, c.chart)) for c in over_tracks(tables, chosen)
    }
    page = study_page(folder, tables, chosen, record, charts)
    write_latex(folder, [shown for section in page.sections for shown in section.tables])
    write_text(folder.root / "report.html", render_study(page))


SEARCH_LENGTH = Study(NAME, REVISION, per_track, combine)
