"""What `irmeta.cite` says of the statistics of studies, from their results."""

from __future__ import annotations

from pathlib import Path

import pytest

import irmeta


@pytest.mark.parametrize(
    ("study", "said", "unsaid"),
    [
        ("depth", ("Kendall's tau-b [", "Pearson's r ["), "tau_AP"),
        ("innovation", ("tau_AP,b [", "Tukey HSD test blocked by query ["), "bootstrap"),
        ("preference", ("MC4 [", "paired t-test [student1908], Bonferroni-corrected ["), "tau_AP"),
        ("search_length", ("paired t-test [student1908]", "bootstrap intervals ["), "Wilcoxon"),
        ("trust", ("Holm-corrected [", "least detectable differences ["), "Bonferroni"),
        ("judges", ("kappa, alpha and AC2 [", "tau-GAP ["), "alternative annotator"),
        ("properties", ("Studies: properties",), "Statistics of study"),
    ],
)
def test_cite__statistics_in_results(study: str, said: tuple[str, ...], unsaid: str, written: Path):
    text = irmeta.cite(written / study).text
    assert [words for words in said if words not in text] == []
    assert unsaid not in text
