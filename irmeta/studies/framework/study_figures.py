"""The figures of a study in the requested formats; files of unchanged charts are kept."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import polars as pl

from irmeta.options import Options
from irmeta.parallel import ordered_map
from irmeta.report.notation import Notations
from irmeta.report.theme import subtitle_of, to_spec, without_titles
from irmeta.studies import drawing_processes
from irmeta.studies.framework.recorded_files import RecordedFiles
from irmeta.studies.framework.study import Figure, Study, Tables


class Drawn(NamedTuple):
    """A chart with the name of its files, its caption and its reading, and the measures in it."""

    name: str
    draw: partial[Any]
    caption: str
    reading: str
    notations: Notations


def charts(
    study: Study, tables: Tables, options: Options, track: str | None = None
) -> Iterator[Drawn]:
    """Yield the charts of all tracks, or of one track; figures without rows are skipped."""
    by = "all" if track is None else "track"
    for figure in study.drawn:
        if figure.by == by:
            yield from _charts_of(study, figure, tables, options)


def _charts_of(study: Study, figure: Figure, tables: Tables, options: Options) -> Iterator[Drawn]:
    source = figure.rows
    if isinstance(source, str) and source not in tables and not study.table(source).apart:
        return
    rows = tables[source] if isinstance(source, str) else source(tables, options)
    for name, drawn in _rows_by_figure(figure, rows):
        if drawn.height:
            caption = figure.caption
            first = drawn.row(0, named=True)
            text = caption.format(**first) if isinstance(caption, str) else caption(drawn, options)
            draw = partial[Any](figure.draw, drawn, options)
            if figure.of_tracks:
                studied = tables["studied_tracks"].filter("used")["track"]
                draw = partial[Any](figure.draw, drawn, options, studied.to_list())
            yield Drawn(name, draw, text, figure.reading, study.notations(drawn))


def _rows_by_figure(figure: Figure, rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    if not figure.each:
        yield figure.name, rows
        return
    for value in rows[figure.each].unique(maintain_order=True):
        ending = re.sub(r"[^a-z0-9]+", "_", str(value).lower()).strip("_")
        name = f"{figure.name}_{ending}" if ending else figure.name
        yield name, rows.filter(pl.col(figure.each) == value)


def spec_of(figure: Drawn) -> dict[str, Any]:
    """Build the chart and return its Vega-Lite specification."""
    with plainly():
        return to_spec(figure.draw())


def draw_figures(files: RecordedFiles, figures: Iterable[Drawn], workers: int) -> None:
    """Draw the figures of one part as its record says; write those whose chart has changed."""
    formats, titles = files.facts["formats"], files.facts["titles"]

    def images(figure: Drawn) -> tuple[Drawn, str, dict[str, bytes]]:
        spec = spec_of(figure)
        if files.facts.get("style", "paper") == "paper":
            notations, legend = figure.notations, figure.notations.legend()
            caption = notations(figure.caption) + (f" {legend}." if legend else "")
            figure = figure._replace(caption=caption, reading=notations(figure.reading))
            spec = notations.in_spec(spec)
        if not titles:  # the caption says what a title does; a subtitle has numbers
            words = subtitle_of(spec)
            more = f" {words[0].upper()}{words[1:]}." if words else ""
            figure, spec = figure._replace(caption=figure.caption + more), without_titles(spec)
        digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()
        image_names = [files.figure(figure.name, ending) for ending in formats]
        if all(files.has(name, chart=digest) for name in image_names):
            return figure, digest, {}
        return figure, digest, drawing_processes.draw(spec, formats)

    results = ordered_map(images, figures, workers=workers)
    for order, (figure, digest, drawn) in enumerate(results):
        words = {"caption": figure.caption, "reading": figure.reading}
        facts = {"chart": digest, "order": order, **words}
        for ending in formats:
            name = files.figure(figure.name, ending)
            if ending in drawn:
                files.write(name, drawn[ending], **facts)
            else:
                files.keep(name, **facts)


# Altair validates every object that it makes, and a chart that layers or concatenates others copies
# all of them, in case they share parameters. Both take most of the time of a figure, and change no
# spec of a study.
Charts = list[Any]
_COMBINE, _REMOVE = "_combine_subchart_params", "_remove_duplicate_params"

_lock = Lock()
_users = 0
_before: dict[tuple[Any, str], Any] = {}


@contextmanager
def plainly() -> Generator[None]:
    """Build charts plainly in this process until the block ends; threads may overlap.

    Charts with parameters or names are built as ever.
    """
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _replace()
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for (module, name), value in _before.items():
                    setattr(module, name, value)
                _before.clear()


def _replace() -> None:
    import altair as alt
    from altair.utils import schemapi

    api = sys.modules[alt.LayerChart.__module__]
    new: dict[tuple[Any, str], Any] = {(schemapi, "DEBUG_MODE"): False}
    for name, replacement in ((_COMBINE, _combined), (_REMOVE, _unique)):
        if hasattr(api, name):  # private: another Altair may have none
            new[api, name] = replacement(getattr(api, name), alt.Undefined)
    for (module, name), value in new.items():
        _before[module, name] = getattr(module, name)
        setattr(module, name, value)


def _combined(combine: Callable[..., Any], undefined: object) -> Callable[..., tuple[Any, Charts]]:
    """Return a function that takes the parameters of charts out of them, if they have any."""

    def combined(params: Any, charts: Charts) -> tuple[Any, Charts]:
        if params is not undefined or not _are_plain(charts, undefined):
            return combine(params, charts)
        return undefined, list(charts)

    return combined


def _unique(remove: Callable[[Charts], Charts], undefined: object) -> Callable[[Charts], Charts]:
    """Return a function that removes the parameters of layers that others have, if any have."""
    return lambda charts: list(charts) if _are_plain(charts, undefined) else remove(charts)


def _are_plain(charts: Sequence[Any], undefined: object) -> bool:
    """Check whether charts, and the layers in them, have neither parameters nor names."""
    return all(
        all(getattr(chart, name, undefined) is undefined for name in ("params", "name"))
        and _are_plain(getattr(chart, "layer", ()) or (), undefined)
        for chart in charts
    )
