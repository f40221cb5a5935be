"""The alternative annotator test, and rankings of docs by the labels of people or judges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from irmeta.errors import UsageError, check_share
from irmeta.stats.corrections import adjusted

FEWEST_DOCS = 30
"""Fewest docs of a person, as in the paper; with fewer the test of that person is undefined."""
FEWEST_PEOPLE = 3
"""Fewest people, as in the paper, so that each is compared with two others."""


class AlternativeAnnotator(NamedTuple):
    """Result of the alternative annotator test.

    Attributes
    ----------
    advantage : float
        Mean over people of the share of docs on which the judge agrees with the other people at
        least as well as the person does.
    winning_rate : float
        Share of people whom the judge may replace, docs being independent, as in the paper. NaN
        where no person can be tested.
    winning_rate_queries : float
        The same with standard errors of whole queries, whose docs are not independent.
    docs : int
        Fewest docs of a person on which the judge and another person have a label.
    """

    advantage: float
    winning_rate: float
    winning_rate_queries: float
    docs: int


def alternative_annotator_test(
    judge: np.ndarray,
    people: np.ndarray,
    query: np.ndarray,
    epsilon: float = 0.2,
    *,
    alpha: float = 0.05,
) -> AlternativeAnnotator:
    """Test whether a judge may replace a person: the alternative annotator test [1]_.

    Parameters
    ----------
    judge : ndarray of float64, shape (docs,)
        Labels of the judge; NaN: none.
    people : ndarray of float64, shape (people, docs)
        Labels of three people or more, on the judge's scale; NaN: none.
    query : ndarray of int64, shape (docs,)
        Query of each doc.
    epsilon : float, default 0.2
        What a person costs more than the judge, as a share of docs: 0.2 for experts, 0.15 for
        skilled people, 0.1 for crowd workers.
    alpha : float, default 0.05
        False discovery rate over people.

    Returns
    -------
    AlternativeAnnotator
        The judge passes if a winning rate is at least 0.5.

    Raises
    ------
    UsageError
        If there are fewer than three people, or `epsilon` or `alpha` is not between 0 and 1.

    Notes
    -----
    On each doc, person j and the judge have as scores the share of the other people with the same
    label. W_f is 1 where the judge's score is at least the person's, W_h where the person's is at
    least the judge's. The null hypothesis that mean(W_h - W_f) is at least epsilon is tested by
    Student's t, one-sided, for each person with 30 docs or more, with the correction of Benjamini
    and Yekutieli over people.

    References
    ----------
    .. [1] Calderon, N., Reichart, R. and Dror, R. (2025). The alternative annotator test for
       LLM-as-a-judge: how to statistically justify replacing human annotators with LLMs. ACL.
       arXiv:2501.10970

    Examples
    --------
    >>> labels = np.random.default_rng(0).integers(0, 2, 60).astype(float)
    >>> query = np.arange(60) // 6
    >>> alternative_annotator_test(labels, np.tile(labels, (3, 1)), query)
    AlternativeAnnotator(advantage=1.0, winning_rate=1.0, winning_rate_queries=1.0, docs=60)
    """
    check_share("epsilon", epsilon)
    check_share("alpha", alpha)
    number = len(people)
    if number < FEWEST_PEOPLE:
        raise UsageError(
            f"the alternative annotator test needs {FEWEST_PEOPLE} people, not {number}: name more."
        )
    known = ~np.isnan(people)
    advantages, p, p_queries, docs = [], [], [], []
    for j in range(number):
        others = np.delete(people, j, axis=0)
        rated = known[j] & ~np.isnan(judge) & ~np.isnan(others).all(axis=0)
        count = (~np.isnan(others[:, rated])).sum(axis=0)
        scores = [
            (others[:, rated] == labels[rated]).sum(axis=0) / count for labels in (judge, people[j])
        ]
        of_judge, of_person = scores[0] >= scores[1], scores[1] >= scores[0]
        differences = of_person.astype(float) - of_judge
        docs.append(len(differences))
        advantages.append(float(of_judge.mean()) if len(differences) else np.nan)
        p.append(_p_below(differences, np.arange(len(differences)), epsilon))
        p_queries.append(_p_below(differences, query[rated], epsilon))
    return AlternativeAnnotator(
        float(np.mean(advantages)), _winning_rate(p, alpha), _winning_rate(p_queries, alpha),
        min(docs),
    )  # fmt: skip


def _p_below(values: np.ndarray, cluster: np.ndarray, limit: float) -> float:
    """Return the one-sided p-value of a mean that is not below a limit, by clusters; NaN: few."""
    _, of_cluster = np.unique(cluster, return_inverse=True)
    clusters = int(of_cluster.max(initial=-1)) + 1
    if len(values) < FEWEST_DOCS or clusters < 2:
        return np.nan
    mean = float(values.mean())
    sums = np.bincount(of_cluster, values - mean)
    error = float(np.sqrt((sums**2).sum() * clusters / (clusters - 1))) / len(values)
    if error == 0.0:
        return 0.0 if mean < limit else 1.0
    return float(stdtr(clusters - 1, (mean - limit) / error))


def _winning_rate(p: list[float], alpha: float) -> float:
    """Return the share of p-values that Benjamini and Yekutieli reject; NaN: none is defined."""
    values = np.array(p)
    tested = int((~np.isnan(values)).sum())
    if not tested:
        return np.nan
    harmonic = (1.0 / np.arange(1, tested + 1)).sum()
    rejected = adjusted(values, "benjamini-hochberg") * harmonic <= alpha
    return float(rejected.sum() / len(values))


def expected_ndcg(labels: np.ndarray, gains: np.ndarray, cutoff: int) -> float:
    """Return nDCG of docs ranked by labels; ties in all orders alike, docs without a label last.

    Parameters
    ----------
    labels
        float64 [docs]; NaN: no label.
    gains
        float64 [docs]: gains of the reference, at least 0.
    cutoff
        Last rank that counts.

    Returns
    -------
    float
        The expectation over orders of ties; NaN: no doc has a gain.
    """
    discount = np.zeros(len(gains))
    discount[:cutoff] = 1.0 / np.log2(np.arange(2, min(cutoff, len(gains)) + 2))
    ideal = float(np.sort(gains)[::-1] @ discount)
    if ideal <= 0.0:
        return np.nan
    keys = np.where(np.isnan(labels), -np.inf, labels)
    order = np.argsort(-keys, kind="stable")
    _, tie = np.unique(-keys[order], return_inverse=True)
    # each doc of a tie has the mean discount of its ranks
    mean = np.bincount(tie, discount) / np.bincount(tie)
    return float(gains[order] @ mean[tie]) / ideal
