"""Rules that say which measure of irmeta a published number is, by evaluator and era."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """Measure of irmeta behind a published number, or the reason why there is none.

    Attributes
    ----------
    measure : str or None
        Name of the measure; None: the number cannot be recomputed.
    qrels : str or None
        Qrels set that the evaluator read; None: the track's first.
    rel : int
        Least relevant grade.
    reason : str
        Why the number cannot be recomputed, or why `measure` is not the one that its name says.
    """

    measure: str | None
    qrels: str | None = None
    rel: int = 1
    reason: str = ""


TREC_EVAL = re.compile(
    r"map|gm_map|bpref|recip_rank|Rprec|ndcg|11pt_avg|infAP|(P|recall|ndcg_cut|map_cut|success)_\d+"
    r"|iprec_at_recall_\d\.\d+|num_(q|ret|rel|rel_ret)"
)
"""Output names of trec_eval, which `parse_measure` reads."""

BY_EVALUATOR: dict[str, dict[str, str]] = {
    "gdeval": {"ndcg": "nDCG(gain=exp)@20", "err": "ERR(gmax=4)@20"},
    "ndeval": {
        "ERR-IA@10": "ERR_IA@10",
        "alpha-nDCG@10": "alpha_nDCG@10",
        "P-IA@10": "P_IA@10",
        "MAP-IA": "AP_IA",
    },
    "sample-eval": {"infAP": "xinfAP", "infNDCG": "infNDCG"},
}
"""Measures of programs other than trec_eval. gdeval's cutoff is 20 and its highest grade is 4."""

OTHER_NAMES = {
    "rbp_p5": "RBP(p=0.5,gain=linear)",
    "ndcg_20": "nDCG@20",
    "mrr": "RR",
}
"""Names in tables of trec_eval's values. rbp_p5 is graded with gain g/2 where grades go to 2."""

FIRST_SET = ("trec_eval", "adhoc", "eval")
"""Evaluators that read a track's first qrels set; all others are named after the set they read."""

RELEVANT = {"allrel": 1, "highrel": 2}
"""Least relevant grade of evaluators that read the qrels with `trec_eval -l`."""

EXCEPTIONS = {
    ("trec12/robust", "P_10"): Rule("P@15", reason="the column P_10 of this track holds P@15"),
    ("trec-covid/round1", "ndcg"): Rule("nDCG@10", reason="the column holds nDCG@10"),
}
"""Columns whose values are not what their name says, by track of the catalogue and measure.

All runs at hand agree: 17 of 78 of robust 2003, and all 143 of TREC-COVID round 1.
"""

NEEDS_BASELINE = re.compile(r"risk-")


def catalog_rule(track: str, evaluator: str, measure: str) -> Rule:
    """Return the rule for a published number of the catalogue.

    Parameters
    ----------
    track : str
        Track of the catalogue, such as ``trec12/robust``.
    evaluator, measure : str
        Names in the catalogue.

    Examples
    --------
    >>> from irmeta.archive.published_rules import catalog_rule
    >>> catalog_rule("trec12/robust", "trec_eval", "P_10").measure
    'P@15'
    >>> catalog_rule("trec20/microblog", "highrel", "map")
    Rule(measure='map', qrels=None, rel=2, reason='')
    """
    if (exception := EXCEPTIONS.get((track, measure))) is not None:
        return exception
    if NEEDS_BASELINE.match(evaluator):
        return Rule(None, reason="a difference from a baseline run that is not in the catalogue")
    if evaluator in BY_EVALUATOR:
        ours = BY_EVALUATOR[evaluator].get(measure)
        return Rule(ours, reason="" if ours else f"irmeta has no {measure} of {evaluator}")
    if TREC_EVAL.fullmatch(measure) is None and measure not in OTHER_NAMES:
        return Rule(None, reason=f"no rule for {measure}")
    ours, rel = OTHER_NAMES.get(measure, measure), RELEVANT.get(evaluator, 1)
    is_first = evaluator in RELEVANT or evaluator in FIRST_SET
    return Rule(ours, qrels=None if is_first else evaluator, rel=rel)
