"""Helpers for tests of the search-length study against naive code."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import polars as pl

import irmeta
from irmeta.stats.search_lengths import GREATEST
from irmeta.studies import search_length
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.papers.search_length.study import SearchLengthOptions
from support.making import Track, read_qrels, read_run
from twins import atomized as naive
from twins import chain as naive_chain
from twins import track_means

MADE = {"news": "news/qrels.txt", "passage": "passage/qrels.txt", "web": "web/adhoc.qrels.txt"}
SET_ASIDE = "nuthFirst"

Keyed = dict[tuple[object, ...], naive.Row]


def studied(store: irmeta.Store, out: Path, **choices: object) -> StudyResults:
    """Run the search-length study with few resamples."""
    return search_length(store, out, **{"resamples": 20, **choices})


def naive_track(track: Track) -> track_means.Track:
    """Convert a track for the naive study, with docs in trec_eval's tie order."""
    return {
        "name": track.name,
        "runs": {
            system: {q: track.ranking(system, q) for q in lists}
            for system, lists in track.runs.items()
        },
        "qrels": track.qrels,
    }


def made_track(collections: Path, name: str, qrels: str | None = None) -> track_means.Track:
    """Read a synthetic track naively, without its unreadable run."""
    files = {f.name.split(".")[0]: f for f in (collections / name / "runs").iterdir()}
    files.pop(SET_ASIDE, None)
    runs = {system: read_run(files[system]) for system in sorted(files)}
    return naive_track(Track(runs, read_qrels(collections / (qrels or MADE[name])), name))


def choices_of(track: track_means.Track, chosen: SearchLengthOptions) -> list[naive.Row]:
    """Return the naive rows of best_by_choice under the measures' canonical names."""
    names = {"AP": chosen.ap, "P@20": chosen.p20, "RR": chosen.named("RR")}
    cuts = {"ASL": None, "ASL@g1": 1, "ASL@g10": 10}
    return [
        row | {"measure": names[name] if how is None else chosen.asl(cuts[name], how)}
        for row in naive_chain.best_by_choice(track, chosen.rel)
        for name, how in [row["measure"]]
    ]


def assert_rows(frame: pl.DataFrame, expected: Iterable[naive.Row], *key: str) -> None:
    """Check that a frame has exactly the expected rows, equal to 1e-9; NaN equals NaN.

    Columns absent from the expected rows are ignored.
    """
    found, wanted = _keyed(frame.to_dicts(), key), _keyed(expected, key)
    assert found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
    wrong = [
        (place, column, found[place][column], value)
        for place, row in wanted.items()
        for column, value in row.items()
        if not same(found[place][column], value)
    ]
    assert not wrong, wrong


def _keyed(rows: Iterable[naive.Row], key: tuple[str, ...]) -> Keyed:
    rows = list(rows)
    keyed = {tuple(row[column] for column in key): row for row in rows}
    assert len(keyed) == len(rows), "two rows with one key"
    return keyed


def same(value: object, expected: object) -> bool:
    """Check equality, of numbers to 1e-9."""
    if not isinstance(value, float) or not isinstance(expected, (int, float)):
        return value == expected
    both = math.isnan(value) and math.isnan(expected)
    return both or math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-9)


def filled(histogram: pl.DataFrame) -> pl.DataFrame:
    """Keep the buckets with docs, with the end of the last bucket as in the naive code."""
    ends = pl.col("high").replace({GREATEST: None})
    return histogram.filter(pl.col("docs") > 0).with_columns(ends)
