"""Judges that labelled a part of the queries or docs, on real labels and by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.studies.framework.study_results import StudyResults
from support.judged import judged_store

pytestmark = pytest.mark.usefixtures("undrawn_module")

FEW: dict[str, Any] = {"resamples": 50, "splits": 20}


@pytest.mark.real
@pytest.mark.parametrize("common", [False, True])
def test_judge__with_the_references_labels_of_some_queries_keeps_all_there(
    shared: Path, tmp_path: Path, common: bool
):
    case = shared / "cases" / "files" / "partial-judge"
    if not case.exists():
        pytest.skip(f"needs {case}")
    irmeta.ingest(case / "c", tmp_path / "store")
    judge = f"j={case / 'judge.txt'}"
    results = irmeta.studies.judges(
        tmp_path / "store", tmp_path / "out", judges=judge, measures="AP", common=common, **FEW
    )
    kept = results.tables["conclusions"]
    assert kept["queries"].unique().to_list() == [4]
    by_t = kept.filter(test="t")
    assert by_t["kept"][0] > 0
    assert by_t["survived"].to_list() == [1.0]
    assert kept.select("reversed", "lost", "new").sum().row(0) == (0, 0, 0)
    assert results.tables["leaderboards"]["tau_b"].to_list() == [1.0] * (1 + common)
    assert results.tables["single_queries"].height == 4
    verdict = results.tables["verdicts"].row(0, named=True)
    assert (verdict["queries"], verdict["limits"]) == (4, "cannot be said: only 4 common queries")
    assert (verdict["conclusions"], verdict["bias"], verdict["orders_as"]) == (None, None, None)
    noise = results.tables["query_noise"]
    assert noise["queries"].to_list() == [4]
    assert noise["difference"].to_list() == [0.0]


@pytest.fixture(scope="module")
def annotated(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    source = shared / "judges" / "trec-dl-2019-passage"
    if not source.exists():
        pytest.skip(f"needs {source}")
    folder = tmp_path_factory.mktemp("annotators")
    files = sorted((source / "annotators").iterdir())
    return irmeta.studies.judges(
        judged_store(source, folder),
        folder / "out",
        judges=[f"{number}={file}" for number, file in enumerate(files, 1)],
        measures="nDCG@10",
        tests="t",
        **FEW,
    )


@pytest.mark.real
def test_annotators__are_compared_on_the_queries_that_they_labelled(annotated: StudyResults):
    """Counts by plain Python: nDCG@10 of ten lines, t of all pairs over the annotator's queries."""
    rows = (
        annotated.tables["conclusions"]
        .filter(test="t")
        .with_columns(all=pl.sum_horizontal("kept", "lost", "reversed"))
    )
    found = {judge: (queries, kept, every) for judge, queries, kept, every in rows.select(
        "judge", "queries", "kept", "all"
    ).rows()}  # fmt: skip
    assert {judge: found[judge] for judge in "1458"} == {
        "1": (13, 221, 291), "4": (9, 84, 149), "5": (9, 171, 189), "8": (15, 330, 344),
    }  # fmt: skip


@pytest.mark.real
def test_annotators__who_relabelled_relevant_docs_have_an_upper_bound_or_no_verdict(
    annotated: StudyResults,
):
    """Counts by `awk` over the qrels; of 5 to 9 % of grade 0 and 61 to 100 % of the others."""
    rows = annotated.tables["verdicts"].rows_by_key("judge", named=True, unique=True)
    assert {judge: row["labels"] for judge, row in rows.items()}["1"] == 1115
    assert rows["3"]["labelled"] == "0: 9%, 1: 100%, 2: 100%, 3: 100%"
    for judge in "123456":
        assert rows[judge]["limits"].startswith("an upper bound, if docs were selected"), judge
        assert (
            rows[judge]["survived_low"] <= rows[judge]["survived"] <= rows[judge]["survived_high"]
        )
    for judge in "78":
        assert rows[judge]["limits"] == "cannot be said: 41% of the first ten docs unjudged"
        assert rows[judge]["conclusions"] is None
        assert math.isnan(rows[judge]["survived"])
    assert (rows["1"]["pairs"], rows["1"]["conclusions"]) == (37 * 36 // 2, 291)
