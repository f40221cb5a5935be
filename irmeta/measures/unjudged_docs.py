"""How much of each system's lists is unjudged, and which pairs of systems that leaves undecided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.errors import check_whole
from irmeta.measures.names import canonical_names
from irmeta.phrases import count
from irmeta.rankings.track_facts import TrackFacts
from irmeta.results.scores import Scores
from irmeta.summaries import Summarized, Summary

P = 0.8
"""Persistence of the RBP whose residual weighs unjudged docs."""


@dataclass(frozen=True, repr=False)
class UnjudgedDocs(Summarized):
    """The unjudged docs of one track's lists, and their effect on the order of systems.

    Attributes
    ----------
    unjudged : DataFrame
        One row per system: track, system, pooled (whether it contributed to the pool; null:
        unknown), and means over queries: judged_at_10 and judged_at_k (Judged@10, Judged@k),
        first_unjudged (FirstUnjudged), rbp and rbp_residual (RBP(p=0.8), RBPResidual(p=0.8)).
        A missing list counts as unjudged: its Judged is 0, its residual 1. NaN: no query.
    undecided : DataFrame
        One row per pair of systems whose means of RBP differ by less than the greater of their two
        residuals, so that judging the unjudged docs could reverse their order: track, system_a,
        system_b, difference (RBP of a minus RBP of b), residual (the greater one); in the order of
        the systems.
    pairs : int
        Number of pairs of systems.
    k : int
        Cutoff of judged_at_k.
    only_relevant : bool
        Whether only relevant docs are judged; then unjudged docs may have been seen, and the
        values say little about the systems.
    """

    unjudged: pl.DataFrame
    undecided: pl.DataFrame
    pairs: int
    k: int
    only_relevant: bool

    def _summary(self) -> Summary:
        (track,) = self.unjudged["track"].unique().to_list() or [""]
        facts = [
            count(self.unjudged.height, "system"),
            f"{self.undecided.height:,} of {count(self.pairs, 'pair')} undecided",
        ]
        return Summary(track, facts, lambda: self.unjudged.drop("track"))


def unjudged_measures(k: int = 20) -> tuple[str, ...]:
    """Return the measures that `unjudged_docs` reads.

    Raises
    ------
    UsageError
        If `k` is not a whole number from 1.

    Examples
    --------
    >>> unjudged_measures(100)
    ('Judged@10', 'Judged@100', 'FirstUnjudged', 'RBP(p=0.8,rel=1)', 'RBPResidual(p=0.8)')
    """
    check_whole("k", k)
    names = "Judged@10", f"Judged@{k}", "FirstUnjudged", f"RBP(p={P})", f"RBPResidual(p={P})"
    return tuple(name for one in names for name in canonical_names(one))


def unjudged_docs(scores: Scores, facts: TrackFacts, k: int = 20) -> UnjudgedDocs:
    """Summarise the unjudged docs of each system, and list the pairs that they leave undecided.

    Parameters
    ----------
    scores
        Values of `unjudged_measures` of some or all systems.
    facts
        Facts of the track.
    k
        A second cutoff of the judged share, beside 10.

    Raises
    ------
    UsageError
        If `scores` lacks a measure, or `k` is not a whole number from 1.

    References
    ----------
    .. [1] Moffat and Zobel (2008). Rank-biased precision for measurement of retrieval
       effectiveness, on residuals. doi:10.1145/1416950.1416952

    Examples
    --------
    >>> scores = store.scores(unjudged_measures(), track="news")
    >>> made = unjudged_docs(scores, next(store.views("news")).facts)
    >>> made.unjudged.select("system", "judged_at_10").row(0)
    ('aldBM25', 1.0)
    >>> made.undecided.height, made.pairs
    (16, 190)
    """
    names = unjudged_measures(k)
    means = {name: scores.matrix(name).means for name in names}
    at_10, at_k, first, rbp, residual = (means[name] for name in names)
    systems = pl.Series(list(scores.systems), dtype=pl.String)
    pooled = dict(zip(facts.systems, facts.pooled, strict=True)) if facts.pool_known else {}
    unjudged = pl.DataFrame(
        {
            "system": systems,
            "pooled": pl.Series([pooled.get(name) for name in systems], dtype=pl.Boolean),
            "judged_at_10": at_10,
            "judged_at_k": at_k,
            "first_unjudged": first,
            "rbp": rbp,
            "rbp_residual": residual,
        }
    )
    a, b = np.triu_indices(len(systems), 1)
    difference, greater = rbp[a] - rbp[b], np.maximum(residual[a], residual[b])
    is_undecided = np.abs(difference) < greater
    a, b = a[is_undecided], b[is_undecided]
    undecided = pl.DataFrame(
        {
            "system_a": systems.gather(a),
            "system_b": systems.gather(b),
            "difference": difference[is_undecided],
            "residual": greater[is_undecided],
        }
    )
    track = pl.lit(facts.track).alias("track")
    unjudged, undecided = (frame.select(track, pl.all()) for frame in (unjudged, undecided))
    only_relevant = facts.lowest_grade is not None and facts.lowest_grade >= 1
    return UnjudgedDocs(unjudged, undecided, len(is_undecided), k, only_relevant)
