"""Names of measures in other programs and in papers, and measures known elsewhere.

Names of trec_eval have parameters of their own. Spellings of ranx, BEIR, MTEB, ir_measures and
papers are listed if they mean the same number as irmeta's name, apart from the order of tied docs,
which is a policy. Their words are folded: lower case, and ``_`` for ``-``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from irmeta.errors import MeasureError

IR_MEASURES = {
    "MAP": "AP",
    "MRR": "RR",
    "NDCG": "nDCG",
    "BPref": "Bpref",
    "RPrec": "Rprec",
    "Precision": "P",
    "Recall": "R",
    "MAP_IA": "AP_IA",
}
"""Alternative spellings in ir_measures."""

_NDEVAL = {
    "ERR-IA": "ERR_IA",
    "nERR-IA": "nERR_IA",
    "alpha-DCG": "alpha_DCG",
    "alpha-nDCG": "alpha_nDCG",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "AP_IA",
    "P-IA": "P_IA",
    "strec": "StRecall",
}
"""ndeval's measures, in the order of its columns."""
_WITHOUT_CUTOFF = ("NRBP", "nNRBP", "MAP-IA")
BY_SUBTOPIC = _NDEVAL | {
    "D-nDCG": "DnDCG",
    "D-Q": "DQ",
    "D#-nDCG": "DSharpnDCG",
    "D#-Q": "DSharpQ",
    "DIN-nDCG": "DINnDCG",
    "α_DCG": "alpha_DCG",
    "α_nDCG": "alpha_nDCG",
}
"""Names of measures by subtopic in ndeval, in papers, and with a Greek letter in ir_measures."""
CUBETEST = {"ct": "CT", "act": "ACT", "nct": "nCT"}
"""Measures of TREC's cubetest.py, whose cutoffs are iterations of 5 docs."""
SPELLINGS = IR_MEASURES | BY_SUBTOPIC | CUBETEST
"""Other names of a measure, without parameters and cutoff."""

PLAIN = {
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "map": "AP",
    "yaap": "YAAP",
    "gm_map": "AP(average=geometric)",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "recip_rank": "RR",
    "infAP": "infAP",
    "gm_bpref": "Bpref(average=geometric)",
    "utility": "Utility",
    "11pt_avg": "IPrecAvg",
    "binG": "BinG",
    "G": "G",
    "ndcg": "nDCG",
    "ndcg_rel": "nDCGRel",
    "Rndcg": "RnDCG",
    "set_P": "SetP",
    "set_relative_P": "SetRelP",
    "set_recall": "SetR",
    "set_map": "SetAP",
    "set_F": "SetF",
    "num_nonrel_judged_ret": "NumNonrelJudgedRet",
    "rbp": "RBP(p=0.9,gain=trec_eval10)",
    "rbp_resid": "RBPResidual(p=0.9,tail=trec_eval10)",
}
"""trec_eval's measures without a list of cutoffs."""

_RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_TENTHS = tuple(f"{i / 10:g}" for i in range(11))
CUT: dict[str, tuple[str, tuple[str, ...] | tuple[int, ...]]] = {
    "iprec_at_recall": ("IPrec@{}", _TENTHS),
    "P": ("P@{}", _RANKS),
    "recall": ("R@{}", _RANKS),
    "Rprec_mult": ("Rprec(mult={})", tuple(f"{i / 5:g}" for i in range(1, 11))),
    "ndcg_cut": ("nDCG@{}", _RANKS),
    "map_cut": ("AP@{}", _RANKS),
    "relative_P": ("RelP@{}", _RANKS),
    "success": ("Success@{}", (1, 5, 10)),
    "unj": ("Unjudged@{}", (5, 10, 20)),
}
"""trec_eval's measures with cutoffs: irmeta's name, and the cutoffs of all_trec."""

_FORMS = "|".join(map(re.escape, (*CUT, *PLAIN)))
_WITH_PARAMETERS = re.compile(rf"({_FORMS})[._](?=[-\d.])", re.IGNORECASE)
_PROPER = {name.lower(): name for name in (*CUT, *PLAIN)}
"""trec_eval's names by their lower-case form."""
_GAINS = {"ndcg": "nDCG", "ndcg_rel": "nDCGRel", "Rndcg": "RnDCG", "G": "G"}
TREC_EVAL = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"),
    *("recip_rank", "iprec_at_recall", "P", "recall", "infAP", "gm_bpref", "Rprec_mult"),
    *("utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut"),
    *("relative_P", "success", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    *("num_nonrel_judged_ret", "rbp", "rbp_resid", "unj"),
)
"""trec_eval's measures in the order of its output, without the texts `runid` and `relstring`."""

PREFERENCE_COUNTS = ("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")
"""Measures that are whole numbers, added up over queries."""
PREFERENCE_MEASURES = (
    *PREFERENCE_COUNTS,
    *("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel"),
    *("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret"),
    *("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
)
"""trec_eval's measures of preferences, in its order."""

TAR_EVAL = {
    "num_rels": "NumRel",
    "rels_found": "NumRelRet",
    "num_shown": "NumRet",
    "last_rel": "LastRel(unretrieved=ignored)",
    "wss_100": "WSS@1",
    "wss_95": "WSS(needed=nearest,unreached=zero)@0.95",
    "norm_area": "NormArea",
    "loss_e": "LossE",
    "loss_r": "LossR",
    "loss_er": "LossER",
    "total_cost": "ReviewCost",
    "total_cost_uniform": "ReviewCost(penalty=uniform)",
    "total_cost_weighted": "ReviewCost(penalty=weighted)",
}
"""Measures of CLEF TAR's tar_eval.py, in the order of its output."""
SAMPLE_EVAL = (
    *("xinfAP(norm=min)@1000", "infNDCG@1000", "infP@10", "infP@100", "infP@1000"),
    *("infNumRelRet", "infNumRel"),
)
"""Numbers of sample_eval.pl, in its order, without interpolated precision."""
TAR = (*TAR_EVAL.values(), "AP", *(f"EffortR@{tenth / 10:g}" for tenth in range(1, 11)))
_PERCENT = re.compile(r"(wss|recall|r|ncg|effortr)@(\d+(?:\.\d*)?)%", re.IGNORECASE)

NAMES = (*IR_MEASURES, *TREC_EVAL, *BY_SUBTOPIC, *CUBETEST, *TAR_EVAL)


def _listed(*names: str) -> tuple[str, ...]:
    listed = []
    for name in names:
        ours, cutoffs = CUT.get(name, (PLAIN.get(name, ""), (None,)))
        listed += [ours if cut is None else ours.format(cut) for cut in cutoffs]
    return tuple(listed)


_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
_RANKED = ("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")
OFFICIAL = _listed(*_COUNTS, *_RANKED)
SET = _listed(*_COUNTS, "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")
"""The measures of trec_eval's nicknames ``official`` and ``set``."""


def ndeval(cutoffs: Sequence[int] = (5, 10, 20)) -> tuple[str, ...]:
    """Return the columns of ndeval at some cutoffs, in its order."""
    return tuple(
        f"{ours}@{k}" if k else ours
        for theirs, ours in _NDEVAL.items()
        for k in ((None,) if theirs in _WITHOUT_CUTOFF else cutoffs)
    )


def translated(name: str) -> dict[str, str] | None:
    """Translate a name of trec_eval, ndeval, cubetest.py or tar_eval.py; None for any other.

    The name as written, or as the program prints it if it stands for several, is mapped to
    irmeta's.
    """
    if theirs := from_trec_eval(name):
        return theirs
    ours = from_ndeval(name) or from_cubetest(name) or from_tar_eval(name)
    if ours is None:
        return None
    return {name: ours[0]} if len(ours) == 1 else {spelled: spelled for spelled in ours}


def from_ndeval(name: str) -> list[str] | None:
    """Translate ndeval's name of a measure, or ``ndeval@5,10``; return None for any other name.

    Only the word before parameters and cutoff is translated, so that parameters may follow.
    """
    if name.startswith("ndeval@"):
        try:
            return list(ndeval([int(k) for k in name.removeprefix("ndeval@").split(",")]))
        except ValueError:
            raise MeasureError(f"{name}: write cutoffs as in ndeval@5,10,20.") from None
    word = re.split(r"[(@\s]", name, maxsplit=1)[0]
    return [BY_SUBTOPIC[word] + name[len(word) :]] if word in BY_SUBTOPIC else None


def from_cubetest(name: str) -> list[str] | None:
    """Translate a column of cubetest.py such as ``act@10``; return None for any other name."""
    word, _, iterations = name.partition("@")
    if word not in CUBETEST or not re.fullmatch(r"[1-9]\d*", iterations):
        return None
    return [f"{CUBETEST[word]}@{5 * int(iterations)}"]


def from_tar_eval(name: str) -> list[str] | None:
    """Translate an output of tar_eval.py, or a cutoff in percent; None for any other name."""
    if (ours := TAR_EVAL.get(name.lower())) is not None:
        return [ours]
    match = _PERCENT.fullmatch(name)
    if match is None:
        return None
    measure = "WSS" if match[1].lower() == "wss" else "EffortR"
    return [f"{measure}@{float(match[2]) / 100!r}"]


def from_trec_eval(name: str) -> dict[str, str] | None:
    """Map trec_eval's output names of one of its names to irmeta's names; None for any other name.

    Names may be output names (``P_10``, ``set_F_0.5``) or arguments of ``-m`` (``P.5,10``,
    ``ndcg.1=3,2=9``). A bare name with cutoffs, such as ``P``, means the cutoffs of all_trec. Case
    is ignored, except in names without parameters, which may be others in irmeta.
    """
    if name in PLAIN:
        return {name: PLAIN[name]}
    if (proper := _PROPER.get(name.lower())) in CUT:
        ours, cutoffs = CUT[proper]
        return {f"{proper}_{cut}": ours.format(cut) for cut in cutoffs}
    match = _WITH_PARAMETERS.match(name)
    if match is None:
        return None
    stem, values = _PROPER[match[1].lower()], name[match.end() :].split(",")
    try:
        if stem in CUT:
            read = float if stem in ("iprec_at_recall", "Rprec_mult") else int
            names = [name] if len(values) == 1 else [f"{stem}_{v.strip()}" for v in values]
            translated = [CUT[stem][0].format(repr(read(v))) for v in values]
            return dict(zip(names, translated, strict=True))
        return {name: _with_parameters(stem, values)}
    except ValueError:
        raise MeasureError(f"{name}: trec_eval's {stem} does not take these parameters.") from None


def _with_parameters(stem: str, values: list[str]) -> str:
    if stem in _GAINS:
        pairs = (value.split("=") for value in values)
        return f"{_GAINS[stem]}(gain={';'.join(f'{int(g)}:{float(v)!r}' for g, v in pairs)})"
    numbers = [float(value) for value in values]
    if stem == "set_F" and len(numbers) == 1 and numbers[0] >= 0:
        return f"SetF(beta={math.sqrt(numbers[0])!r})"  # trec_eval's parameter is beta squared
    if stem == "utility" and len(numbers) == 4:
        return "Utility({})".format(
            ",".join(f"{p}={v!r}" for p, v in zip("abcd", numbers, strict=True))
        )
    if stem == "rbp" and values[0].isdecimal() and len(values) == 1:
        return f"RBP(p={float('0.' + values[0])!r},rel=1)"  # ranx's rbp.95
    if stem == "11pt_avg":
        return f"IPrecAvg(levels={';'.join(map(repr, numbers))})"
    raise ValueError


def all_trec(version: int = 9) -> tuple[str, ...]:
    """Return all numbers of trec_eval's all_trec, in its order.

    `runid` and `relstring` are text and omitted. Measures that version 10 added are included for
    both versions; where the two differ, `version` decides.
    """
    names = _listed(*TREC_EVAL)
    if version == 9:
        return names
    return tuple(re.sub(r"^(IPrec|IPrecAvg)(@|$)", r"\1(trec_eval=10)\2", n) for n in names)


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
    "recall_all": "AllRel",
    "recall_any": "Success",
    "hit_rate": "Success",
    "hit_ratio": "Success",
    "hit": "Success",
    "hr": "Success",
    "f1": "F",
    "f1_score": "F",
    "r_precision": "Rprec",
    "ndcg_burges": "nDCG(gain=exp)",
    "q_measure": "Q",
    "compatibility": "Compat",
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

_PREFERENCE = "it compares two systems: `irmeta prefer -m {}`, or store.pairs.preferences"
_LABELS = "trec_eval prints a text there, not a number"
ELSEWHERE = {
    "hits": "in ranx, the number of relevant docs among the first k, which is k times P@k",
    "dcg_burges": "ranx's gains are 2^g - 1, and gain=exp divides them by 2^gmax: give the gains, "
    "as in DCG(gain=1:1;2:3;3:7)",
    "hole": "BEIR counts docs that no query judges; Unjudged@k counts those this query does not",
    "precision": "without a cutoff, P means P@5 to P@1000 as in trec_eval, and SetP the precision "
    "of the complete list as in ranx: write one of them, or a cutoff",
    "ncg": "for NCG@10 of tar_eval.py write NCG@10%, which is EffortR@0.1; the NCG@k of TREC deep "
    "learning is not in irmeta",
    "rbo": "it compares two rankings: irmeta.stats.rbo",
    "tbg": "time-biased gain needs the lengths of docs, which runs and qrels do not have",
    "u_measure": "it needs the lengths of docs, which runs and qrels do not have",
    "runid": _LABELS,
    "relstring": _LABELS,
    **dict.fromkeys(
        (name.lower() for name in PREFERENCE_MEASURES),
        "trec_eval computes it from preference judgments: irmeta trec_eval -R prefs",
    ),
    **dict.fromkeys(
        ("map_avgjg", "p_avgjg", "rprec_mult_avgjg"),
        "trec_eval computes it from groups of judgments: irmeta trec_eval -R qrels_jg",
    ),
    **{
        name.lower(): _PREFERENCE.format(name)
        for name in ("RPP", "STRPP", "LexiRecall", "LexiPrecision", "OI")
    },
}
"""Why a word that is known elsewhere is not the name of a measure here."""


def fold(word: str) -> str:
    """Return a word in lower case, with ``_`` for ``-``."""
    return word.lower().replace("-", "_")
