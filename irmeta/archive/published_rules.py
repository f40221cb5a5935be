"""Rules that say which measure of irmeta a published number is, by evaluator and era."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """Measure of irmeta behind a published number, or the reason why there is none.

    Attributes
    ----------
    measure : str or None
        Name of the measure; None: the number cannot be recomputed.
    sets : tuple of str
        Names that the qrels set of the evaluator may have; empty: the track's first set.
    rel : int
        Least relevant grade.
    reason : str
        Why the number cannot be recomputed, or why `measure` is not the one that its name says.
    """

    measure: str | None
    sets: tuple[str, ...] = ()
    rel: int = 1
    reason: str = ""


OLDER_NAMES = (
    (r"P(\d+)", r"P_\1"),
    (r"recall(\d+)", r"recall_\1"),
    (r"ircl_prn\.(\d\.\d+)", r"iprec_at_recall_\1"),
    (r"R-prec", "Rprec"),
    (r"gm_ap", "gm_map"),
    (r"exact_prec", "set_P"),
    (r"exact_recall", "set_recall"),
    (r"old_bpref", "Bpref(form=trec_eval7)"),
)
"""Names that trec_eval 7 and 8 print, and the names of trec_eval 9 or irmeta."""

TREC_EVAL = re.compile(
    r"map|gm_map|bpref|recip_rank|Rprec|ndcg|11pt_avg|infAP|set_(P|recall)"
    r"|(P|recall|ndcg_cut|map_cut|success)_\d+|iprec_at_recall_\d\.\d+|num_(q|ret|rel|rel_ret)"
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
    "sample-eval": {
        "infAP": "xinfAP(norm=min)@1000",
        "infNDCG": "infNDCG@1000",
        "iP10": "infP@10",
        "iP100": "infP@100",
    },
}
"""Measures of programs other than trec_eval. gdeval's cutoff is 20 and its highest grade is 4."""

OTHER_NAMES = {
    "rbp_p5": "RBP(p=0.5,gain=linear)",
    "ndcg_20": "nDCG@20",
    "mrr": "RR",
    "Precision@10": "P@10",
    "Precision@15": "P@15",
}
"""Names in tables of trec_eval's values. rbp_p5 is graded with gain g/2 where grades go to 2."""

BY_EDITION = {(edition, "bpref"): "Bpref(form=trec_eval7)" for edition in ("trec12", "trec13")}
"""Measures whose definition changed: trec_eval.h of version 8.1 says it of bpref."""

SETS = {"sample-eval": ("sample",)}
"""Names of the set that an evaluator reads, where neither its own name nor the first set."""

FIRST_SET = (
    *("trec_eval", "adhoc", "allrel", "eval", "feed", "gdeval", "highrel", "ndcg", "ndeval"),
    *("opinion", "passages-eval", "topicrel"),
)
"""Evaluators that read a track's first qrels set; all others are named after the set they read."""

RELEVANT = {"highrel": 2, "opinion": 2, "passages-eval": 2}
"""Least relevant grade of evaluators that read the qrels with `trec_eval -l`.

NIST says so of passages (trec.nist.gov/data/deep2019.html), and nDCG does not depend on it.
"""

RELEVANT_OF_TRACK = {"trec21/microblog": 2}
"""Least relevant grade of trec_eval's values of a track: only highly relevant docs counted.

No run of 2012 has a larger P_1000 than 0.0347, of at most 0.0436 from grade 2 and 0.1065 from 1.
"""

PASSAGES = ("trec29/deep", "trec30/deep", "trec31/deep")
"""Tracks whose passage task has values of trec_eval from qrels in which grade 1 is not relevant.

Their nDCG is lower than that of the other evaluator, which reads all grades.
"""

GAINS_FROM_2 = PASSAGES[:2]
"""Those whose nDCG has gains from grade 2: all 236 and 252 values of 2020 and 2021 are equal."""

_NDCG_AT_10 = Rule("nDCG@10", reason="the column holds nDCG@10")
EXCEPTIONS = {(f"trec-covid/round{number}", "ndcg"): _NDCG_AT_10 for number in (1, 2, 3)}
"""Columns whose values are not what their name says, by track of the catalogue and measure.

All 143 runs of TREC-COVID round 1 agree. The columns of rounds 2 and 3 have the nDCG@10 that
Anserini's documentation has for its runs (r3.fusion2: 0.6100).
"""

_PRECISION_AT_15 = Rule("P@15", reason="the column P_10 of this track holds P@15")
PRECISION_AT_15 = re.compile(r"trec(\d|1[0-2])/.*|trec13/(genomics|robust)|trec14/(HARD|robust)")
"""Tracks whose column P_10 of trec_eval holds P@15: those with Rprec beside it.

A mean of P@10 over 50 topics is a multiple of 1/500. All 129 runs of TREC-8 ad hoc have multiples
of 1/750, and few of 1/500. Of 110 runs of robust 2004 with 249 topics, all but one have multiples
of 1/3735. The 17 runs at hand of robust 2003 have these values of P@15.
"""

FIRST_OF_SEVERAL: dict[tuple[str, tuple[str, ...] | None], str] = {
    ("trec15/terabyte", ("adhoc",)): "a mean over the 149 topics of 2004 to 2006"
}
"""What later values are, of tasks whose runs have several and the first is over the qrels' topics.

Of all 61 automatic runs, the first P_10 is a multiple of 1/500, and the second of 1/1490.
"""

OTHER_TOPICS = {
    "trec16/million-query": "NIST computed it on the topics of the terabyte tracks, whose qrels "
    "the track does not have"
}
"""Why the values of a track cannot be recomputed.

NIST calls those of the million query track of 2007 "tb-topics": P_100 reaches 0.41, and the track's
own judgments allow 0.11.
"""

NEEDS_BASELINE = re.compile(r"risk-")


def catalog_rule(
    track: str, evaluator: str, measure: str, run_tasks: Sequence[str] | None = None
) -> Rule:
    """Return the rule for a published number of the catalogue, by its names there."""
    if (exception := EXCEPTIONS.get((track, measure))) is not None:
        return exception
    if (evaluator, measure) == ("trec_eval", "P_10") and PRECISION_AT_15.fullmatch(track):
        return _PRECISION_AT_15
    if track in OTHER_TOPICS:
        return Rule(None, reason=OTHER_TOPICS[track])
    if NEEDS_BASELINE.match(evaluator):
        return Rule(None, reason="a difference from a baseline run that is not in the catalogue")
    sets = SETS.get(evaluator, ())
    if not sets and evaluator not in FIRST_SET:
        sets = (evaluator, evaluator.removesuffix("-eval"))
    if evaluator in BY_EVALUATOR:
        ours = BY_EVALUATOR[evaluator].get(measure)
        return Rule(ours, sets, reason="" if ours else f"no rule for {measure} of {evaluator}")
    edition = track.partition("/")[0]
    ours = BY_EDITION.get((edition, measure)) or OTHER_NAMES.get(measure)
    if ours is None and TREC_EVAL.fullmatch(measure) is None:
        return Rule(None, reason=f"no rule for {measure}")
    rel = RELEVANT.get(evaluator) or RELEVANT_OF_TRACK.get(track, 1)
    is_ndcg = measure.startswith("ndcg")
    if evaluator == "trec_eval" and track in PASSAGES and tuple(run_tasks or ()) == ("passages",):
        if is_ndcg and track not in GAINS_FROM_2:
            return Rule(None, reason="the gains of grades in this column are not established")
        return Rule(ours or measure, sets, 2)
    return Rule(ours or measure, sets, 1 if is_ndcg else rel)


def given_rule(measure: str) -> Rule:
    """Return the rule for a number of a user's file: the name of a measure, today's or older."""
    for pattern, name in OLDER_NAMES:
        if (match := re.fullmatch(pattern, measure)) is not None:
            return Rule(match.expand(name))
    return Rule(measure)
