"""Values of one track that the study needs, from one pass over its blocks; chains of measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec, parse_measures
from irmeta.measures.search_length import (
    Atomized,
    Chain,
    Discount,
    atomized,
    lengths_by_doc,
    precision_lengths,
)
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.track_facts import TrackFacts
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.new_measure import Reordering, reordering
from irmeta.studies.framework.saturation import Saturation, total_saturation
from irmeta.studies.framework.systems import Missed
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.search_length.options import PERSISTENCE
from irmeta.studies.papers.search_length.options import SearchLengthOptions as Options

STEPS = ("cumulative", "atomize P", "aggregate docs", "aggregate queries")
"""Names of the steps by number; step 0 compares the first measure with the last."""


def _reciprocal(lengths: np.ndarray) -> np.ndarray:
    return 1.0 / lengths


CHAINS = (
    Chain("AP", _reciprocal),
    Chain("nDCG", lambda lengths: 1.0 / np.log2(1.0 + lengths), "grade"),
    Chain(f"RBP(p={PERSISTENCE})", lambda lengths: PERSISTENCE ** (lengths - 1.0)),
    Chain("ERR", _reciprocal, "exp"),
)


def steps(
    chain: Chain, old: Matrix, atomized_values: Atomized, options: Options
) -> Iterator[tuple[int, Reordering]]:
    """Yield step 0, from the first measure of a chain to the last, then each single step.

    `old` has the measure's values. Lists without a value or without a relevant doc are excluded
    from every step.
    """
    known = ~np.isnan(atomized_values.length) & ~np.isnan(old.values)

    def stage(values: np.ndarray, name: str, direction: Literal[1, -1] = 1) -> Matrix:
        values = np.where(known, values, np.nan)
        return replace(old, values=values, measure=name, direction=direction)

    stages = [
        stage(old.values, old.measure),
        stage(atomized_values.worth, "atomized"),
        stage(chain.discount(atomized_values.length), "docs as lengths"),
        stage(atomized_values.length, "search length", -1),
    ]
    for step, (before, after) in enumerate([(stages[0], stages[-1]), *pairwise(stages)]):
        yield step, _compare(before, after, options, chain.discount)


def cumulative(old: Matrix, new: Matrix, options: Options) -> Iterator[tuple[int, Reordering]]:
    """Compare two measures over lists on which both are defined, as step 0."""
    known = ~np.isnan(new.values) & ~np.isnan(old.values)
    before, after = (replace(m, values=np.where(known, m.values, np.nan)) for m in (old, new))
    yield 0, _compare(before, after, options)


def _compare(
    old: Matrix, new: Matrix, options: Options, in_p_space: Discount | None = None
) -> Reordering:
    ratio, alpha, test = options.ratio, options.alpha, options.test
    return reordering(old, new, ratio=ratio, alpha=alpha, test=test, in_p_space=in_p_space)


def frames(
    chain: str, comparisons: Iterable[tuple[int, Reordering]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tables `reordering` (a row per step) and `moves` (a row per step and system)."""
    summaries, moves = [], []
    for step, one in comparisons:
        key = {"chain": pl.lit(chain), "step": pl.lit(step, pl.Int32)}
        systems = one.frame().drop("old", "new")
        moved = systems.filter(pl.col("moved") > 0)
        furthest = moved.filter(pl.col("moved") == pl.col("moved").max()).head(1)
        furthest = furthest.select("track", "better_old", "better_new", furthest="system")
        summaries.append(one.summary().join(furthest, on="track", how="left").with_columns(**key))
        moves.append(systems.with_columns(**key))
    return pl.concat(summaries), pl.concat(moves)


@dataclass(frozen=True)
class Gathered:
    """Values of one track for the study.

    Attributes
    ----------
    scores
        All measures; `cut`: some of them on lists cut at the options' depth.
    chains
        Atomized values by the chain's name.
    lengths
        int32 [relevant doc, system]: search lengths under the options' `unretrieved`.
    retrieved
        bool [relevant doc, system].
    found_cut
        int64 [system]: relevant docs retrieved by lists cut at the options' depth.
    precision_lengths
        float64 [relevant doc, system]: 1/P ascending within a query, infinite where not retrieved.
    relevant
        int64 [query]: number of relevant docs.
    listed
        int64 [system]: rows of the lists for judged queries.
    saturation
        Numbers of lists, and of those that hold no doc that is not relevant.
    nonrelevant_judged
        Number of docs judged non-relevant.
    """

    scores: Scores
    cut: Scores
    chains: Mapping[str, Atomized]
    lengths: np.ndarray
    retrieved: np.ndarray
    found_cut: np.ndarray
    precision_lengths: np.ndarray
    relevant: np.ndarray
    listed: np.ndarray
    saturation: Saturation
    nonrelevant_judged: int

    @property
    def offsets(self) -> np.ndarray:
        """Offsets of each query's relevant docs: int64 [query + 1]."""
        return np.concatenate([[0], np.cumsum(self.relevant)])

    @property
    def missed(self) -> Missed:
        """The share of the relevant docs that each system does not retrieve."""
        return Missed(self.scores.systems, 1.0 - self.retrieved.mean(axis=0))

    @property
    def missed_cut(self) -> Missed:
        """The same for lists cut at the options' depth."""
        return Missed(self.scores.systems, 1.0 - self.found_cut / len(self.retrieved))

    def deep_lengths(self, facts: TrackFacts) -> np.ndarray:
        """Search lengths under ``unretrieved=depth``: int32 [relevant doc, system].

        Lengths of retrieved docs are the same under every choice.
        """
        queries = np.flatnonzero(self.relevant)
        retrieved_counts = np.add.reduceat(
            self.retrieved, self.offsets[queries], axis=0, dtype=np.int32
        )
        missing = np.repeat(
            facts.deepest_rank + 1 - retrieved_counts, self.relevant[queries], axis=0
        )
        return np.where(self.retrieved, self.lengths, missing.astype(np.int32))

    @property
    def has_lengths(self) -> bool:
        """Whether search lengths are meaningful: most lists hold a doc that is not relevant."""
        return bool(self.relevant.any()) and not self.saturation.is_most


def gather(track: TrackView, options: Options) -> Gathered:
    """Read a track and compute all values that do not depend on the best system."""
    specs = parse_measures(options.scored())
    return _joined(list(track.map_blocks(partial(_of_block, options, specs), specs)))


def _of_block(options: Options, specs: Sequence[Spec], view: JudgedRanks) -> Gathered:
    rel, rows = options.rel, view.relevant_rows(options.rel)
    floors = lengths_by_doc(view, rel, "floor")
    plain, graded = (rel, floors), (1, floors if rel == 1 else lengths_by_doc(view, 1, "floor"))
    chains = {c.name: atomized(view, c, *(graded if c.graded else plain)) for c in CHAINS}
    shallow = parse_measures(options.shallow)
    return Gathered(
        scores=evaluate_block(view, specs, options.policy),
        cut=evaluate_block(view.cut_to(options.cut_depth), shallow, options.policy),
        chains=chains,
        lengths=lengths_by_doc(view, rel, options.unretrieved).astype(np.int32),
        retrieved=view.ranks[rows] != view.missing,
        found_cut=(view.ranks[rows] <= options.cut_depth).sum(axis=0, dtype=np.int64),
        precision_lengths=precision_lengths(view, rel),
        relevant=view.counts(rel),
        listed=view.lengths.sum(axis=0, dtype=np.int64),
        saturation=Saturation.of(view, rel),
        nonrelevant_judged=int(view.counts(*view.nonrelevant(rel)).sum()),
    )


def _joined(blocks: Sequence[Gathered]) -> Gathered:
    def end_to_end(name: str) -> np.ndarray:
        return np.concatenate([getattr(block, name) for block in blocks])

    by_query = ("lengths", "retrieved", "precision_lengths", "relevant")
    return Gathered(
        scores=Scores.concat([block.scores for block in blocks]),
        cut=Scores.concat([block.cut for block in blocks]),
        chains={c.name: Atomized.concat([b.chains[c.name] for b in blocks]) for c in CHAINS},
        found_cut=np.sum([block.found_cut for block in blocks], axis=0),
        listed=np.sum([block.listed for block in blocks], axis=0),
        saturation=total_saturation(block.saturation for block in blocks),
        nonrelevant_judged=sum(block.nonrelevant_judged for block in blocks),
        **{name: end_to_end(name) for name in by_query},
    )
