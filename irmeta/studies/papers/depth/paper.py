"""Numbers printed in the paper, and where the paper contradicts itself.

Figures 1 to 7 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

from irmeta.schema.columns import Paper
from irmeta.studies.framework.printed_numbers import read_notes, read_printed

SOURCE = (
    "Lu, Moffat and Culpepper 2016, The Effect of Pooling and Evaluation Depth on IR Metrics, "
    "doi:10.1007/s10791-016-9282-6"
)
DATA = Paper("4 collections of 21 to 42 contributing runs and 50 topics each", "Table 3")

NOTATION = {"AP": "AP_{a}", "nDCG": "nDCG_{a}", "Q(gain=linear)": "QM_{a,i}"}
"""The paper's names of measures."""
NUMBERS = read_printed("irmeta.studies.papers.depth")
"""All numbers of the papers, with the digits that they print."""

SLIPS = read_notes("irmeta.studies.papers.depth")
"""Contradictions in the paper, and the choice made here, by table."""
