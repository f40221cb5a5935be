"""The table `families`: families of systems that a judge favours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from irmeta.delimited import read_cells
from irmeta.errors import DataError, UsageError, did_you_mean, first_few
from irmeta.measures.drawn_labels import permuted_means
from irmeta.phrases import listed
from irmeta.stats.bias import Families, family_bias
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.original.judges.judged_track import JudgedTrack, of_shared_pairs

COLUMNS = ("system", "family", "team")
MOST_NAMED = 10
"""Systems that a note names."""


def read_families(file: str, track: TrackView) -> Families:
    """Read the family of each system from CSV: system, family, and team unless the track has it.

    Systems of other tracks, and those without a family, are left out and named in a note.
    """
    facts, unknown = track.facts, list[str]()
    systems = tuple(facts.systems)
    groups = dict(zip(systems, facts.groups or [None] * len(systems), strict=True))
    frame = read_cells(Path(file), file, trim=True)
    for column in COLUMNS[:2]:
        if column not in frame.columns:
            hint = did_you_mean(column, frame.columns)
            raise DataError("no such column", file=file, value=column, fix=hint)
    families, teams = dict[str, str](), dict[str, str]()
    for line, row in enumerate(frame.iter_rows(named=True), 2):
        system, family = row["system"], row["family"]
        if system not in systems:
            unknown.append(f"{system} in line {line}")
        if system not in systems or family is None:
            continue
        if system in families:
            raise DataError("system named twice", file=file, line=line, value=system)
        team = row.get("team") or groups.get(system)
        if team is None:
            raise DataError(
                "no team of this system", file=file, line=line, value=system,
                fix="Add a column team: systems of one team are not independent.",
            )  # fmt: skip
        families[system], teams[system] = family, team
    if not families:
        known = first_few(list(systems), "`irmeta info` lists the systems")
        raise UsageError(f"families: {file} has no system of this track: {known}.")
    if absent := [system for system in systems if system not in families]:
        track.note(f"no family in {file}, so left out of families: {listed(absent, MOST_NAMED)}")
    if unknown:
        track.note(f"{file} names systems that the track lacks: {listed(unknown, MOST_NAMED)}")
    return Families.of(systems, families, teams)


def family_tables(judged: JudgedTrack) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the table `families`, by the first measure, on the pairs that all judges labelled."""
    options, measure, track = judged.options, judged.options.measures[0], judged.track
    if options.families is None:
        return
    if not judged.is_by_doc_sum:
        raise UsageError(f"families: {measure} is no sum over docs: let nDCG or AP be the first.")
    families = read_families(options.families, track)
    shared = judged.on_shared_pairs(judged.judges)
    pairs = shared.labels[of_shared_pairs(judged.reference)]
    if pairs.is_empty():
        track.note("no pair of query and doc is labelled by all judges, so families are left out")
        return
    blocks = {
        name: list(shared.track.blocks(qrels=of_shared_pairs(name))) for name in judged.labels
    }
    permuted = permuted_means(
        blocks.pop(judged.reference),
        blocks,
        [measure],
        within=options.within,
        draws=options.draws,
        rng=options.seed,
    )
    holes = list[tuple[str, str, float]]()
    for judge in judged.judges:
        shares = np.nan_to_num(judged.scores.judged_shares[judge].values).mean(axis=0)
        by_unit = families.units @ (1.0 - shares)
        for f, family in enumerate(families.labels):
            holes.append((judge, family, float(by_unit[families.family == f].mean())))
    by_family = pl.DataFrame(holes, ["judge", "family", "unjudged"], orient="row")
    share = pairs.height / judged.labels[judged.reference].height
    is_low, is_high = pl.col("contrast_low") > 0, pl.col("contrast_high") < 0
    verdict = (
        pl.when(pl.col("p").is_nan())
        .then(None)
        .when((pl.col("p") <= options.alpha) & (is_low | is_high))
        .then(pl.when(is_low).then(pl.lit("favoured")).otherwise(pl.lit("disfavoured")))
        .otherwise(pl.lit("not shown"))
    )
    yield (
        "families",
        family_bias(permuted, families)
        .rename({"unjudged": "unjudged_common"})
        .join(by_family, on=["judge", "family"], how="left", maintain_order="left")
        .with_columns(measure=pl.lit(measure), pairs=pl.lit(share), verdict=verdict),
    )
