"""Spellings of measures in ranx, BEIR, MTEB, ir_measures and papers, and measures known elsewhere.

A spelling is listed if it means the same number as irmeta's name, apart from the order of tied
docs, which is a policy. Words are folded: lower case, and ``_`` for ``-``.
"""

from __future__ import annotations

import re
from typing import Any

from irmeta.errors import MeasureError
from irmeta.naming.parameters import printed

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
    "rbo": "it compares two rankings: irmeta.stats.rbo",
    **dict.fromkeys(("insq", "inst", "bpm", "nerr8", "nerr9", "nerr10", "nerr11"), _CWL),
    "sdcg": "neither the session DCG of dynamic search nor the scaled DCG of cwl_eval is in irmeta",
    "infndcg": "sample_eval estimates it from stratified judgments; irmeta has infAP",
    "xinfap": "sample_eval estimates it from stratified judgments; irmeta has infAP",
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

_FORM = re.compile(r"(?P<word>[\w#-]+)\s*(?P<inside>\([^()]*\))?\s*(?P<cut>@.*)?")
_AT = re.compile(r"[_-]at[_-](?=[\d.]+(?:-l\d+)?$)", re.IGNORECASE)  # MTEB's ndcg_at_10
_LEVEL = re.compile(r"(.*\w)-l(\d+)")  # ranx's least relevant grade: map@100-l2
_OF_IR_MEASURES = {
    "judged_only=True": "unjudged=condensed",
    "judged_only=False": None,
    "dcg='exp-log2'": "gain=exp",
    "dcg='log2'": None,
}
_GAINS = re.compile(r"gains\s*=\s*\{([^{}]*)\}")


def fold(word: str) -> str:
    """Return a word in lower case, with ``_`` for ``-``."""
    return word.lower().replace("-", "_")


def split_form(name: str) -> tuple[str, str, str] | None:
    """Split a name into its word, its parameters without parentheses, and ``@`` with its cutoff.

    The cutoff of MTEB's ``ndcg_at_10``, and ranx's least relevant grade of ``map@100-l2``, are
    written as irmeta writes them; ir_measures' parameters too. None for another form.
    """
    name = _AT.sub("@", name.strip())
    level = _LEVEL.fullmatch(name)
    match = _FORM.fullmatch(level[1] if level else name)
    if match is None:
        return None
    inside = _parameters((match["inside"] or "()")[1:-1])
    if level:
        inside = ",".join(filter(None, [inside, f"rel={level[2]}"]))
    return match["word"], inside, match["cut"] or ""


def joined(word: str, inside: str, cut: str) -> str:
    """Return a name of a word, which may have parameters, further parameters, and a cutoff."""
    word, _, own = word.partition("(")
    parameters = ",".join(filter(None, [own.rstrip(")"), inside]))
    return word + (f"({parameters})" if parameters else "") + cut


def _parameters(inside: str) -> str:
    """Translate ir_measures' parameters; those with its defaults are dropped."""
    inside = _GAINS.sub(lambda gains: f"gain={gains[1].replace(',', ';').replace(' ', '')}", inside)
    translated = [_OF_IR_MEASURES.get("".join(part.split()), part) for part in inside.split(",")]
    return ",".join(part for part in translated if part is not None)


def text_of(name: Any) -> Any:
    """Return the name of a measure object of ir_measures in irmeta; anything else unchanged.

    Raises
    ------
    MeasureError
        If the measure is another in irmeta.
    """
    if isinstance(name, str) or not (hasattr(name, "NAME") and hasattr(name, "params")):
        return name
    params: dict[str, Any] = dict(name.params)
    if name.NAME == "RBP" and params.get("rel") is None:
        raise MeasureError(
            f"{name}: RBP of ir_measures is graded without rel, and binary in irmeta: give rel=1, "
            "or write 'RBP(gain=linear)'."
        )
    if name.NAME == "NumRet" and params.get("rel") is not None:
        return f"NumRelRet(rel={params['rel']})"
    if name.NAME == "SetF" and "beta" in params:  # which ir_measures passes on as beta squared
        word, inside, _ = split_form(str(name(beta=1.0))) or ("SetF", "", "")
        beta = f"beta={params['beta'] ** 0.5!r}"
        return joined(word, ",".join(filter(None, [inside, beta])), "")
    if name.NAME == "ERR":  # of gdeval, whose highest grade is 4
        return f"ERR(gmax=4){'' if 'cutoff' not in params else '@' + printed(params['cutoff'])}"
    return str(name)
