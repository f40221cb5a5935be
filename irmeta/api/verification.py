"""`verify`: whether published values can be recomputed from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from irmeta.api.other_readings import with_parameter
from irmeta.api.published_values import catalog_tracks, catalog_values, read_published
from irmeta.api.store import EvalChoices, Store
from irmeta.api.verdicts import DIFFER, NOT_OURS, REPRODUCED, TrackVerifier
from irmeta.archive.published_rules import Rule, catalog_rule
from irmeta.errors import MeasureError, UsageError
from irmeta.measures.names import parse_measure
from irmeta.parallel import ordered_map
from irmeta.rankings.track_facts import track_facts
from irmeta.store.scan import Tracks, tracks_of
from irmeta.summaries import Summarized, Summary
from irmeta.words import count


@dataclass(frozen=True, repr=False)
class Verification(Summarized):
    """Published values beside recomputed ones.

    Attributes
    ----------
    values : DataFrame
        track, system, query (null: a mean), evaluator, measure (as published), printed (its text),
        canonical (the measure of irmeta), published, digits (decimals), value, difference, verdict
        (``reproduced``, ``differ`` or ``not ours``) and reason: what else reproduces a value that
        differs, or why there is no value.
    tracks : DataFrame
        One row per track: track, catalog (its name in the catalogue; null: it is not there, or the
        values come from a file), published (values of systems in the store), reproduced, differ,
        explained (of `differ`: reproduced under another policy), not_ours, other_systems (published
        systems that the store does not have).
    """

    values: pl.DataFrame
    tracks: pl.DataFrame

    @property
    def agrees(self) -> bool:
        """Whether no value differs."""
        return not (self.values["verdict"] == DIFFER).any()

    def _summary(self) -> Summary:
        total = self.tracks.select(pl.col("published", "reproduced", "differ", "not_ours").sum())
        published, reproduced, differ, not_ours = total.row(0)
        facts = [
            f"{count(published, 'published value')} of {count(self.tracks.height, 'track')}",
            f"{reproduced:,} reproduced",
            f"{differ:,} differ",
            f"{not_ours:,} not ours",
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
        A CSV file, or a frame of texts, with the columns system, measure, value, and optionally
        track, query and evaluator. Default: the scores in the catalogue of TREC.
    track : str or iterable of str, optional
        Only these tracks of the store.
    catalog : mapping, optional
        Track of the catalogue by track of the store, as ``{"robust": "trec12/robust"}``. By default
        a track is the one that lists at least half of its systems.
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
        If a track is unknown, or the file is missing or lacks a column.
    DataError
        If a line of the file cannot be read.

    Notes
    -----
    A value is reproduced if it differs by at most half a unit of its last digit, and 1e-9. The
    number of digits is the largest of its column, since programs drop zeros at the end. A value
    that differs is computed in other ways, in this order: other tie orders, means over other
    queries, other qrels sets, higher least relevant grades, cut lists, negative grades, older
    definitions of bpref, other cutoffs, and the mean without one query; the first that reproduces
    it is its reason.

    Examples
    --------
    >>> found = irmeta.verify(store, "published.csv", track="news")
    >>> found.tracks.select("published", "reproduced", "differ").row(0)
    (3, 2, 1)
    """
    tracks = tracks_of(store.reader, track)
    if published is None:
        systems = {name: _systems(store, name) for name in tracks}
        from irmeta.archive import facts

        scores = facts.published()
        found = catalog_tracks(systems, catalog or {}, scores)
        rows, names = catalog_values(found, scores), {n: found.get(n) for n in tracks}
    elif catalog:
        raise UsageError("catalog= is for the values of the catalogue, without published=.")
    else:
        rows, names = read_published(published, tracks), dict.fromkeys(tracks)
    verified = partial(_verify_track, store, rows, choices)
    parts = list(ordered_map(verified, list(names.items()), workers=workers))
    return Verification(
        pl.concat([values for values, _ in parts]), pl.DataFrame([row for _, row in parts])
    )


def _systems(store: Store, track: str) -> Sequence[str]:
    return track_facts(store.reader, track).systems


def _verify_track(
    store: Store, published: pl.DataFrame, choices: EvalChoices, names: tuple[str, str | None]
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the values of one track with their verdicts, and the counts of the track."""
    track, catalog = names
    of_track = published.filter(track=track)
    is_here = pl.col("system").is_in(list(_systems(store, track)))
    rows, others = of_track.filter(is_here), of_track.filter(~is_here)
    values = TrackVerifier(store, track, choices).verify(
        _with_meanings(store, track, catalog, rows)
    )
    differs = pl.col("verdict") == DIFFER
    counts = values.select(
        published=pl.len(),
        reproduced=(pl.col("verdict") == REPRODUCED).sum(),
        differ=differs.sum(),
        explained=(differs & pl.col("reason").is_not_null()).sum(),
        not_ours=(pl.col("verdict") == NOT_OURS).sum(),
    ).row(0, named=True)
    others = others["system"].n_unique()
    return values, {"track": track, "catalog": catalog, **counts, "other_systems": others}


def _with_meanings(
    store: Store, track: str, catalog: str | None, rows: pl.DataFrame
) -> pl.DataFrame:
    """Add the number, its digits, and the canonical measure and qrels set or why there is none."""
    sets = [one["name"] for one in store.reader.read_record(track)["qrels"]]
    columns = rows.select("evaluator", "measure").unique(maintain_order=True).rows()
    meanings = [(*column, *_meaning(catalog, *column, sets)) for column in columns]
    names = dict.fromkeys(("evaluator", "measure", "canonical", "qrels", "reason"), pl.String)
    decimals = pl.col("printed").str.extract(r"\.(\d+)").str.len_chars().fill_null(0)
    column = ["evaluator", "measure", pl.col("query").is_null()]
    return rows.with_columns(
        published=pl.col("printed").cast(pl.Float64),
        digits=decimals.max().over(column).cast(pl.Int32),
    ).join(
        pl.DataFrame(meanings, names, orient="row"),
        on=["evaluator", "measure"],
        maintain_order="left",
    )


def _meaning(
    catalog: str | None, evaluator: str, measure: str, sets: Sequence[str]
) -> tuple[str | None, str | None, str | None]:
    """Return the canonical measure and the qrels set behind a column, or why there is none."""
    rule = Rule(measure) if catalog is None else catalog_rule(catalog, evaluator, measure)
    if rule.measure is None:
        return None, None, rule.reason
    if rule.qrels is not None and rule.qrels not in sets:
        return None, None, f"the track has no qrels set named {rule.qrels}"
    try:
        spec = parse_measure(rule.measure)
    except MeasureError as error:
        return None, None, str(error)
    spec = spec if rule.rel == 1 else with_parameter(spec, "rel", rule.rel)
    if spec is None:
        return None, None, f"{measure} has no least relevant grade"
    return spec.name, rule.qrels, rule.reason or None
