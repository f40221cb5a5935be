"""`verify`: whether published values can be recomputed from a store."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from irmeta.api.published_meanings import add_meanings, match_names
from irmeta.api.published_values import (
    CatalogTrack,
    catalog_tracks,
    catalog_values,
    published_rows,
    read_published,
)
from irmeta.api.store import EvalChoices, Store
from irmeta.api.verdicts import DIFFER, NOT_OURS, REPRODUCED, TrackVerifier
from irmeta.errors import UsageError, first_few
from irmeta.locations import local
from irmeta.parallel import ordered_map
from irmeta.phrases import count
from irmeta.rankings.track_facts import track_facts
from irmeta.store.scan import Tracks, tracks_of
from irmeta.summaries import Summarized, Summary

_UNMATCHED = {"track": pl.String, "system": pl.String, "absent_from": pl.String}


@dataclass(frozen=True, repr=False)
class Verification(Summarized):
    """Published values beside recomputed ones.

    Attributes
    ----------
    values : DataFrame
        track, system, query (null: a mean), evaluator, measure (as published), printed (its text),
        canonical (the measure of irmeta), qrels (the set that the evaluator's name says; null: that
        of the policy), published, digits (decimals), value, difference, verdict (``reproduced``,
        ``differ`` or ``not ours``) and reason: what else reproduces a value that differs, or why a
        value is not ours.
    tracks : DataFrame
        One row per track: track, catalog (its id in the catalogue; null: it is not there, or the
        values come from a table), published (values of systems in the store), reproduced, differ,
        explained (of `differ`: reproduced by another reading), not_ours, unmatched (published
        systems that the store does not have).
    unmatched : DataFrame
        track, system, absent_from: ``store`` for published systems that the store does not have,
        ``published`` for systems without a published value in tracks that have some.
    provenance : dict
        Versions, policies, fingerprints of the tracks, and where the published values come from.
    """

    values: pl.DataFrame
    tracks: pl.DataFrame
    unmatched: pl.DataFrame
    provenance: dict[str, Any]

    @property
    def agrees(self) -> bool:
        """Whether no value differs."""
        return not (self.values["verdict"] == DIFFER).any()

    @property
    def reasons(self) -> pl.DataFrame:
        """Number of values by track, verdict, evaluator, measure, canonical and reason.

        Values that were reproduced without a remark are left out; a value that differs without a
        known reason has none.
        """
        keys = ("track", "verdict", "evaluator", "measure", "canonical", "reason")
        plain = (pl.col("verdict") == REPRODUCED) & pl.col("reason").is_null()
        rows = self.values.filter(~plain).group_by(keys, maintain_order=True)
        return rows.agg(pl.len().alias("values"))

    def _summary(self) -> Summary:
        total = self.tracks.select(pl.exclude("track", "catalog").sum()).row(0, named=True)
        facts = [
            f"{count(total['published'], 'published value')} of "
            f"{count(self.tracks.height, 'track')}",
            f"{total['reproduced']:,} reproduced",
            f"{total['differ']:,} differ ({total['explained']:,} explained)",
            f"{total['not_ours']:,} not ours",
        ]
        return Summary("", facts, lambda: self.tracks)


def verify(
    store: Store,
    published: str | Path | pl.DataFrame | None = None,
    *,
    track: Tracks = None,
    catalog: Mapping[str, str] | None = None,
    workers: int | None = None,
    **choices: Unpack[EvalChoices],
) -> Verification:
    """Recompute published values of a store's systems, and compare them to the printed digits.

    Parameters
    ----------
    store : Store
        The systems' lists and judgments.
    published : str, Path or DataFrame, optional
        A CSV file or a frame with the columns system, measure, value, and optionally track, query
        (``all``, ``amean`` or empty: a mean) and evaluator. Default: the scores in the catalogue of
        TREC, see `irmeta.catalog`.
    track : str or iterable of str, optional
        Only these tracks of the store.
    catalog : mapping, optional
        Track of the catalogue by track of the store, as ``{"robust": "trec12/robust"}``. By default
        the track of the same name (``trec12-robust``), or the only one that lists at least half of
        the systems.
    workers : int, optional
        Number of threads, default the usable cores. No value depends on it.
    **choices
        Fields of `EvalPolicy` under which all values are computed first.

    Returns
    -------
    Verification

    Raises
    ------
    UsageError
        If a track is unknown, the file is missing or lacks a column, or no published value is of a
        system of the store.
    DataError
        If a line of the file cannot be read.

    Notes
    -----
    A value is reproduced if it differs by at most half a unit of its last digit, and 1e-9. The
    number of digits is the largest of its column (evaluator and measure, means and values per query
    apart), since programs drop zeros at the end. Names of systems match if they are equal, or else
    without the prefix ``input.`` and regardless of case, where that is unambiguous.

    A value that differs is computed in other ways, in this order: other tie orders, means over
    other queries, other qrels sets, other least relevant grades, other gains, stopping
    probabilities, search lengths of docs not retrieved, forms of infNDCG and divisors (``gain``,
    ``stop``, ``unretrieved``, ``form`` and ``norm``), lists cut at 1000 and 100 docs, the other
    meaning of negative grades, other definitions of bpref, other cutoffs, the mean of rounded
    values, the mean without one query, and its own digits where it has fewer than its column. The
    first that reproduces the value is its reason; the value still differs. What concerns a whole
    column, such as a cutoff or a gain, must reproduce at least half of its values that differ. A
    tie order must reproduce another value of the column.

    Examples
    --------
    >>> table = pl.DataFrame({"system": ["aldBM25"] * 2, "measure": ["map", "P_5"],
    ...                       "value": ["0.2844", "0.5280"]})
    >>> irmeta.verify(store, table, track="news").values["reason"].to_list()
    [None, 'measured at cutoff 10']
    """
    given: Any = store.merged(choices)
    tracks, known = tracks_of(store.reader, track), list(store.tracks)
    systems = {name: track_facts(store.reader, name).systems for name in tracks}
    found = dict[str, CatalogTrack]()
    source = {"name": "catalogue"}
    if published is None:
        found = catalog_tracks(systems, catalog or {})
        rows = catalog_values(found)
    elif catalog:
        raise UsageError("`catalog=` is for the values of the catalogue, without `published=`.")
    elif isinstance(published, pl.DataFrame):
        source = {"name": "frame"}
        rows = published_rows(published.drop("line", strict=False), "published", tracks, known)
    else:
        path = local(published)
        rows = published_rows(read_published(path), str(path), tracks, known)
        source = {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    inside = workers if len(tracks) == 1 else 1
    jobs = [
        _Track(store, name, found.get(name), systems[name], rows.filter(track=name), inside)
        for name in tracks
    ]
    verified = list(ordered_map(partial(_verify, choices=given), jobs, workers=workers))
    values = pl.concat([one.values for one in verified])
    if values.is_empty():
        raise UsageError(_nothing(rows, systems))
    measures = values["canonical"].drop_nulls().unique().sort().to_list() or ["AP"]
    made = store.provenance(measures, track=tracks, **given) | {"published": source}
    return Verification(
        values,
        pl.concat([one.tracks for one in verified]),
        pl.concat([one.unmatched for one in verified]),
        made,
    )


def _nothing(rows: pl.DataFrame, systems: Mapping[str, Sequence[str]]) -> str:
    """Return the message for tables and tracks without a common system."""
    tracks = first_few(list(systems), "name some of them", ", ")
    if rows.is_empty():
        return (
            f"no published values of {tracks}: name the track of the catalogue by `catalog=`, or a "
            "file by `published=`."
        )
    track, name = rows.select("track", "system").row(0)
    return (
        f"no published system is in the store: the first is {name!r} of {track}, whose systems "
        f"are {first_few(list(systems[track]), 'irmeta info lists them')}."
    )


@dataclass(frozen=True)
class _Track:
    """A track, its systems, and its published values in the form of `published_values.SCHEMA`."""

    store: Store
    name: str
    catalog: CatalogTrack | None
    systems: Sequence[str]
    rows: pl.DataFrame
    workers: int | None


def _verify(track: _Track, choices: EvalChoices) -> Verification:
    """Verify one track, without provenance."""
    names = match_names(track.rows["system"].unique().sort().to_list(), track.systems)
    is_here = pl.col("system").is_in(list(names))
    rows = track.rows.filter(is_here).with_columns(pl.col("system").replace(names))
    sets = [one["name"] for one in track.store.reader.read_record(track.name)["qrels"]]
    verifier = TrackVerifier(track.store, track.name, choices, track.workers)
    values = verifier.verify(add_meanings(rows, track.catalog, sets))
    differs = pl.col("verdict") == DIFFER
    counts = values.select(
        pl.lit(track.name).alias("track"),
        pl.lit(track.catalog and track.catalog.id, pl.String).alias("catalog"),
        published=pl.len(),
        reproduced=(pl.col("verdict") == REPRODUCED).sum(),
        differ=differs.sum(),
        explained=(differs & pl.col("reason").is_not_null()).sum(),
        not_ours=(pl.col("verdict") == NOT_OURS).sum(),
        unmatched=pl.lit(track.rows.filter(~is_here)["system"].n_unique(), pl.UInt32),
    )
    others = track.rows.filter(~is_here)["system"].unique().sort().to_list()
    have = {*names.values()}
    without = [one for one in track.systems if one not in have] if names else []
    unmatched = [(one, "store") for one in others] + [(one, "published") for one in without]
    frame = pl.DataFrame([(track.name, *one) for one in unmatched], _UNMATCHED, orient="row")
    return Verification(values, counts, frame, {})
