"""Weights of docs in a sampled pool, by their strata or their inclusion probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irmeta.errors import UsageError
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Sample

BY_MTC = (0, 2)
"""Methods of prels by which a doc was chosen for its weight in MTC, not drawn at random."""
ONLY_MTC = 0


@dataclass(frozen=True)
class Strata:
    """Strata of the queries of a view, int64: `of_row` of each doc, `offsets` of each query.

    float64 [strata]: `docs` of the pool, and how many of them are `judged`.
    """

    of_row: np.ndarray
    offsets: np.ndarray
    docs: np.ndarray
    judged: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """Docs that each judged doc of a stratum stands for: float64 [strata]."""
        return self.docs / np.maximum(self.judged, 1.0)


def sample_of(view: JudgedRanks) -> Sample | None:
    """Return the sample of a view; None if its qrels set does not state that it is a sample."""
    return None if view.facts.sampled is None else view.require("sample")


def strata_of(view: JudgedRanks) -> Strata:
    """Return the strata of a view; all docs of a qrels set that is no sample are one stratum."""
    query = view.query_of(np.arange(len(view.grades)))
    sample, queries = sample_of(view), np.arange(len(view.queries) + 1)
    if sample is None:
        of_row, offsets = query, queries
    elif not sample.names:
        raise UsageError(
            f"the qrels {view.facts.qrels!r} of track {view.facts.track!r} have inclusion "
            "probabilities instead of strata: use statAP and other measures of probabilities."
        )
    else:
        width = len(sample.names)
        known, of_row = np.unique(query * width + sample.stratum, return_inverse=True)
        offsets = np.searchsorted(known, queries * width)
    docs = np.bincount(of_row, minlength=offsets[-1])
    judged = np.bincount(of_row[view.is_judged], minlength=offsets[-1])
    return Strata(of_row, offsets, docs.astype(np.float64), judged.astype(np.float64))


def inclusion_weights(view: JudgedRanks, mtc: str) -> np.ndarray:
    """Return the inverse inclusion probability of each doc, 0 for docs to ignore: float64 [rows].

    1 for judged docs of a set that is no sample; equal within a stratum. In prels, docs chosen for
    MTC have 1 (``certain``), or only docs drawn at random count (``excluded``).
    """
    sample = sample_of(view)
    if sample is None:
        return view.is_judged.astype(np.float64)
    if sample.names:
        strata = strata_of(view)
        return np.where(view.is_judged, strata.weights[strata.of_row], 0.0)
    probability, is_chosen = sample.probability, np.isin(sample.method, BY_MTC)
    is_counted = view.is_judged & ~np.isnan(probability)
    if mtc == "certain":
        probability = np.where(is_chosen, 1.0, probability)
    else:
        is_counted &= sample.method != ONLY_MTC
    return np.where(is_counted, 1.0 / np.where(is_counted, probability, 1.0), 0.0)


def is_random_sample(view: JudgedRanks) -> np.ndarray:
    """Return whether any doc of a query was drawn at random: bool [query].

    All judgments of some queries of a million query track were chosen for MTC.
    """
    sample = sample_of(view)
    if sample is None or sample.names:
        return np.ones(len(view.queries), bool)
    is_drawn = (sample.method != ONLY_MTC) & ~np.isnan(sample.probability)
    return np.diff(view.offsets_of(is_drawn)) > 0
