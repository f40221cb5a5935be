"""Spellings of measures in ranx, BEIR, MTEB, ir_measures and papers, and measures known elsewhere.

A spelling is listed if it means the same number as irmeta's name, apart from the order of tied
docs, which is a policy. Words are folded: lower case, and ``_`` for ``-``.
"""

from __future__ import annotations

FIELD = {
    "map": "AP",
    "average_precision": "AP",
    "mean_average_precision": "AP",
    "mrr": "RR",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "mean_reciprocal_rank": "RR",
    "precision": "P",
    "recall": "R",
    "r_cap": "RelP",
    "hit_rate": "Success",
    "hit_ratio": "Success",
    "hit": "Success",
    "hr": "Success",
    "f1": "F",
    "f1_score": "F",
    "r_precision": "Rprec",
    "ndcg_burges": "nDCG(gain=exp)",
    "q_measure": "Q",
    "s_recall": "StRecall",
    "i_rec": "StRecall",
    "subtopic_recall": "StRecall",
    "statmap": "statAP",
    "t9u": "Utility(a=2,low=-100)",
    "t11u": "Utility(a=2)",
    "t10su": "ScaledUtility(least=-100,bound=utility)",
    "t11su": "ScaledUtility",
    "t11f": "SetF(beta=0.5)",
}
"""Other words of a measure; parameters and cutoff may follow."""

BARE = {"f1": "SetF", "f1_score": "SetF", "hits": "NumRelRet"}
"""What a word means in ranx without a cutoff, where that is another measure."""

_CWL = "cwl_eval computes it, also through ir_measures; irmeta does not"
_PREFERENCE = "it compares two systems: `irmeta prefer -m {}`, or store.preferences"
_LABELS = "trec_eval prints a text there, not a number"
ELSEWHERE = {
    "hits": "in ranx, the number of relevant docs among the first k, which is k times P@k",
    "dcg_burges": "ranx's gains are 2^g - 1, and gain=exp divides them by 2^gmax: give the gains, "
    "as in DCG(gain=1:1;2:3;3:7)",
    "accuracy": "in BEIR it is Success@k; the share of ordered pairs, as in ir_measures, is not in "
    "irmeta",
    "hole": "BEIR counts docs that no query judges; Unjudged@k counts those this query does not",
    "precision": "without a cutoff, P means P@5 to P@1000 as in trec_eval, and SetP the precision "
    "of the complete list as in ranx: write one of them, or a cutoff",
    "compat": "ir_measures computes it; irmeta has only the RBO of two rankings, irmeta.stats.rbo",
    "ncg": "for NCG@10 of tar_eval.py write NCG@10%, which is EffortR@0.1; the NCG@k of TREC deep "
    "learning is not in irmeta",
    "rbo": "it compares two rankings: irmeta.stats.rbo",
    **dict.fromkeys(("insq", "inst", "bpm", "nerr8", "nerr9", "nerr10", "nerr11"), _CWL),
    "sdcg": "neither the session DCG of dynamic search nor the scaled DCG of cwl_eval is in irmeta",
    "tbg": "time-biased gain needs the lengths of docs, which runs and qrels do not have",
    "u_measure": "it needs the lengths of docs, which runs and qrels do not have",
    "runid": _LABELS,
    "relstring": _LABELS,
    "prefs_simp": "trec_eval computes it from preference judgments, which irmeta does not read",
    **{
        name.lower(): _PREFERENCE.format(name)
        for name in ("RPP", "STRPP", "LexiRecall", "LexiPrecision", "OI")
    },
}
"""Why a word that is known elsewhere is not the name of a measure here."""


def fold(word: str) -> str:
    """Return a word in lower case, with ``_`` for ``-``."""
    return word.lower().replace("-", "_")
