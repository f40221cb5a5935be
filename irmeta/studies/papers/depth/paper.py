"""Numbers printed in the paper, and where the paper contradicts itself.

Figures 1 to 7 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

from collections.abc import Mapping

from irmeta.schema.columns import Paper
from irmeta.studies.framework.printed_numbers import read_printed

SOURCE = (
    "Lu, Moffat and Culpepper 2016, The Effect of Pooling and Evaluation Depth on IR Metrics, "
    "doi:10.1007/s10791-016-9282-6"
)
DATA = Paper("4 collections of 21 to 42 contributing runs and 50 topics each", "Table 3")

NUMBERS = read_printed("irmeta.studies.papers.depth")
"""All numbers of the papers, with the digits that they print."""

SLIPS: Mapping[str, tuple[str, ...]] = {
    "Table 4": (
        "In Table 4, NumRelPast is said to count the relevant docs that appear beyond depth d. Its "
        "sum with RelInPool is the number of relevant docs per query only if NumRelPast also "
        "counts the relevant docs that the list does not have. Here it does; NumRelListed counts "
        "those that the list has.",
    ),
    "Table 7": (
        "In the paper, Robust04, TREC 8 and TREC 8 Robust name one collection: every percentage of "
        "Table 7(a) is a number of the 861 pairs of 42 runs, and every one of Table 7(b) of the "
        "210 pairs of 21 runs. So pairs are unordered.",
        "In the paper's Table 7, RR is equal at every k, also at k = 1, where it is P@1 by "
        "definition: it was not cut. Here RR is cut at k, and the row without k has the uncut RR.",
        "At k = 1 in Table 7, AP and RBP agree, ERR and Q differ from them: AP and RBP are binary, "
        "ERR and Q graded. The gain of Q is linear (Q(gain=linear)); that of nDCG is not stated "
        "(--gain).",
        "Table 1 prints the exponential gain as 2^(g-1) / max 2^g, which gives a non-relevant doc "
        "a gain. Here it is (2^g - 1) / 2^gmax.",
    ),
    "Table 8": (
        "Table 8 is said to have the settings of Table 7(b), d = 10 and the reference at k = 10. "
        "But its coverage at k = 10 is not 100%, and its percentages are shares of 114, 121 and "
        "106 pairs instead of 111, 105 and 103. All numbers fit d = 20 with the reference at "
        "k = 20. Here the cutoff of the reference is the depth of the pool, if --reference-k does "
        "not change it.",
    ),
    "Table 9": (
        "The residual of ERR is the bound after Eq. 4: where unjudged docs have the highest grade, "
        "ERR@k plus its largest increase from the docs below rank k, minus ERR@k. At k = 1 and "
        "k = 4 every doc is judged, and the paper's values are below that bound: the scores of "
        "Table 9 imply 0.355 and at least 0.061 on TREC 8, 0.456 and at least 0.135 on ClueWeb10, "
        "where it prints 0.291, 0.060, 0.385 and 0.088. From k = 10 on, they are possible, and "
        "those from k = 400 (ClueWeb10: k = 40) on need unjudged docs.",
        "In the paper's Table 9(a), RBP(0.8) decreases from 0.470 to 0.469 and increases again: a "
        "rounding error.",
    ),
    "Section 2": (
        "Section 2 calls the gain G(i) known for i up to k in extended evaluation; it is known for "
        "i up to d. It calls every truncated Q-measure non-monotonic; option (a,i), with R_d, is "
        "monotonic.",
    ),
}
"""Contradictions in the paper, and the choice made here, by table."""
