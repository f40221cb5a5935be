"""The study as a value: its per-track part, what joins the tracks, and its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from irmeta.results.tables import write_text
from irmeta.store.scan import StoreReader
from irmeta.studies.atomized.per_track import PARTS, per_track
from irmeta.studies.atomized.settings import NAME, REVISION, Settings, provenance
from irmeta.studies.atomized.summaries import summarise
from irmeta.studies.base import Chart, Folder, Study, Tables
from irmeta.studies.publish import join_parts, write_figures, write_latex, write_tables


def combine(
    store: StoreReader, tracks: Sequence[str], settings: Mapping[str, Any], folder: Folder
) -> None:
    """Join the tables of all tracks, sum them up, and write figures, LaTeX and page."""
    from irmeta.report.study_page import render_study  # figures are slow to import
    from irmeta.studies.atomized.page import study_page

    chosen = Settings.from_record(settings)
    record = provenance(store, chosen, *tracks)
    tables = join_parts(folder, PARTS, tracks, record)
    summed = summarise(tables, chosen)
    write_tables(folder, summed, record)
    tables |= summed
    write_figures(folder, charts(tables, chosen))
    page = study_page(folder, tables, chosen, record)
    write_latex(folder, [shown for section in page.sections for shown in section.tables])
    write_text(folder.root / "report.html", render_study(page))


def charts(tables: Tables, settings: Any, track: str | None = None) -> Iterable[Chart]:
    """The figures of all tracks, or of one."""
    from irmeta.studies.atomized.figures import of_track, over_tracks  # slow to import

    if track is None:
        return over_tracks(tables, settings)
    return of_track(tables, track, settings)


SEARCH_LENGTH = Study(NAME, REVISION, Settings, per_track, combine, charts)
