"""All that the study reads of a track, in one pass over its blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measure
from irmeta.measures.search_length import irrelevant_retrieved, lengths_by_doc
from irmeta.measures.spec import Spec
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.scores import Scores
from irmeta.store.scan import TrackFacts
from irmeta.studies.framework.systems import Missed
from irmeta.studies.framework.track import TrackView
from irmeta.studies.papers.search_length.chains import CHAINS, Atomized, atomized
from irmeta.studies.papers.search_length.options import SearchLengthOptions


@dataclass(frozen=True)
class Gathered:
    """What one track holds for the study.

    Attributes
    ----------
    scores
        All measures; `cut`: some of them on lists cut at the options' depth.
    chains
        By the chain's name.
    lengths
        int32 [relevant doc, system]: search lengths as the options' `unretrieved` has them.
    retrieved
        bool [relevant doc, system].
    found_cut
        int64 [system]: relevant docs retrieved by lists cut at the options' depth.
    precision_lengths
        float64 [relevant doc, system]: 1/P ascending within a query, infinite where not retrieved.
    offsets
        int64 [query + 1]: the relevant docs of each query.
    listed
        int64 [system]: rows of its lists for judged queries.
    no_irrelevant
        bool [query, system]: the list holds no doc that is not relevant.
    nonrelevant_judged
        How many docs are judged not relevant.
    """

    scores: Scores
    cut: Scores
    chains: Mapping[str, Atomized]
    lengths: np.ndarray
    retrieved: np.ndarray
    found_cut: np.ndarray
    precision_lengths: np.ndarray
    offsets: np.ndarray
    listed: np.ndarray
    no_irrelevant: np.ndarray
    nonrelevant_judged: int

    @property
    def relevant(self) -> np.ndarray:
        """int64 [query]: relevant docs."""
        return np.diff(self.offsets)

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

        Of docs that are retrieved they are those of any other choice.
        """
        queries = np.flatnonzero(self.relevant)
        found = np.add.reduceat(self.retrieved, self.offsets[queries], axis=0, dtype=np.int32)
        missing = np.repeat(facts.deepest_rank + 1 - found, self.relevant[queries], axis=0)
        return np.where(self.retrieved, self.lengths, missing.astype(np.int32))

    @property
    def without_irrelevant(self) -> tuple[int, int]:
        """How many lists hold no doc that is not relevant, and how many lists there are."""
        there = ~self.scores.no_list[self.relevant > 0]
        none = self.no_irrelevant[self.relevant > 0] & there
        return int(none.sum()), int(there.sum())

    @property
    def has_lengths(self) -> bool:
        """Whether search lengths say anything: most lists hold a doc that is not relevant."""
        without, lists = self.without_irrelevant
        return bool(self.relevant.any()) and 2 * without <= lists


def gather(track: TrackView, options: SearchLengthOptions) -> Gathered:
    """Read a track and compute all that does not depend on which system is best."""
    specs = options.specs()
    return _joined([_of_block(view, options, specs) for view in track.blocks_for(specs)])


def _of_block(view: JudgedRanks, options: SearchLengthOptions, specs: Sequence[Spec]) -> Gathered:
    rel, rows = options.rel, view.relevant_rows(options.rel)
    floors = lengths_by_doc(view, rel, "floor")
    own = lengths_by_doc(view, rel, options.unretrieved)
    of_graded = floors if rel == 1 else lengths_by_doc(view, 1, "floor")
    chains = {
        chain.name: (
            atomized(view, chain, 1, of_graded)
            if chain.graded
            else atomized(view, chain, rel, floors)
        )
        for chain in CHAINS
    }
    shallow = [parse_measure(name) for name in options.shallow]
    return Gathered(
        scores=evaluate_block(view, specs, options.policy),
        cut=evaluate_block(view.cut_to(options.depth), shallow, options.policy),
        chains=chains,
        lengths=own.astype(np.int32),
        retrieved=view.ranks[rows] != view.missing,
        found_cut=(view.ranks[rows] <= options.depth).sum(axis=0, dtype=np.int64),
        precision_lengths=_precision_lengths(view, rel),
        offsets=np.concatenate([[0], np.cumsum(view.counts(rel))]),
        listed=view.lengths.sum(axis=0, dtype=np.int64),
        no_irrelevant=irrelevant_retrieved(view, rel) == 0,
        nonrelevant_judged=int(view.counts(*view.nonrelevant(rel)).sum()),
    )


def _joined(blocks: Sequence[Gathered]) -> Gathered:
    counts = np.concatenate([block.relevant for block in blocks])
    return Gathered(
        scores=Scores.concat([block.scores for block in blocks]),
        cut=Scores.concat([block.cut for block in blocks]),
        chains={c.name: Atomized.concat([b.chains[c.name] for b in blocks]) for c in CHAINS},
        lengths=np.concatenate([block.lengths for block in blocks]),
        retrieved=np.concatenate([block.retrieved for block in blocks]),
        found_cut=np.sum([block.found_cut for block in blocks], axis=0),
        precision_lengths=np.concatenate([block.precision_lengths for block in blocks]),
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        listed=np.sum([block.listed for block in blocks], axis=0),
        no_irrelevant=np.concatenate([block.no_irrelevant for block in blocks]),
        nonrelevant_judged=sum(block.nonrelevant_judged for block in blocks),
    )


def _precision_lengths(view: JudgedRanks, rel: int) -> np.ndarray:
    """1/P of Eq. 6, rank / (relevant docs above + 1): float64 [relevant doc, system].

    Ascending within a query and system, so that a row is a place and not a doc; infinite for docs
    that are not retrieved.
    """
    ranks, offsets = view.sorted_ranks(rel)
    above = np.arange(len(ranks)) - np.repeat(offsets[:-1], np.diff(offsets))
    found = np.where(ranks == view.missing, np.inf, ranks / (above + 1)[:, None])
    for start, stop in pairwise(offsets):
        found[start:stop].sort(axis=0)
    return found
