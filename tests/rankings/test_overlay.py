"""Overlays of qrels sets: labels of the first set that has one, and their sources in records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.errors import RelevanceWarning, UsageError
from irmeta.results.tidy_files import provenance

Labels = dict[str, dict[str, float]]
HUMAN: Labels = {"q1": {"a": 2, "b": 0, "x": -1}, "q2": {"c": 1}}
JUDGE: Labels = {"q1": {"a": 0, "d": 1, "x": 2}, "q2": {"c": 2, "e": 2}, "q3": {"f": 1}}
RUNS = {
    "s": {"q1": {"a": 3.0, "d": 2.0, "x": 1.0}, "q2": {"e": 2.0, "c": 1.0}, "q3": {"f": 1.0}},
    "t": {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"c": 2.0, "g": 1.0}, "q3": {"g": 1.0}},
}


def laid_over(*sets: Labels, negative: bool = False) -> Labels:
    """Return the label of the first set that has one, a negative grade last, for each doc."""
    joined: Labels = {}
    for accepts_negative in (negative, True):
        for labels in sets:
            for query, docs in labels.items():
                for doc, grade in docs.items():
                    if grade >= 0 or accepts_negative:
                        joined.setdefault(query, {}).setdefault(doc, grade)
    return joined


def means(qrels: Any, **choices: Any) -> dict[tuple[str, str], float]:
    frame = irmeta.evaluate(qrels, RUNS, ["nDCG@10", "P@2", "Judged@3"], **choices)
    return {row[:2]: row[2] for row in frame.select("system", "measure", "value").rows()}


@pytest.fixture
def store() -> irmeta.Store:
    return irmeta.from_data({"human": HUMAN, "judge": JUDGE}, RUNS)


@pytest.mark.parametrize("names", [("human", "judge"), ("judge", "human")])
@pytest.mark.parametrize("negative", ["unjudged", "nonrelevant"])
def test_overlay__scores_as_the_joined_labels(names: tuple[str, str], negative: str):
    sets = {"human": HUMAN, "judge": JUDGE}
    joined = laid_over(*(sets[name] for name in names), negative=negative == "nonrelevant")
    expected = means(joined, negative=negative)
    assert means(sets, overlay=names, negative=negative) == pytest.approx(expected)
    assert means(sets, overlay=",".join(names), negative=negative) == pytest.approx(expected)


def test_overlay__of_a_store(store: irmeta.Store):
    frame = store.evaluate("P@2", overlay=["human", "judge"])
    expected = means(laid_over(HUMAN, JUDGE))
    assert dict(frame.select("system", "value").rows()) == pytest.approx(
        {system: value for (system, measure), value in expected.items() if measure.startswith("P@")}
    )
    assert "overlay" not in irmeta.EvalPolicy().record()


def test_overlay__compare_and_selected_queries(store: irmeta.Store):
    (compared,) = irmeta.compare(store, "P@2", overlay="human,judge")
    assert compared.matrix.qrels == "human+judge"
    assert compared.systems["queries"].to_list() == [3, 3]
    (matrix,) = irmeta.matrices(store, "P@2", overlay="human,judge", query=["q1", "q2"])
    assert matrix.queries == ("q1", "q2")
    assert matrix.qrels == "human+judge"
    assert matrix.values[:, 0].tolist() == [1.0, 1.0]


def test_overlay__refused(store: irmeta.Store):
    with pytest.raises(UsageError, match="two or more different qrels sets"):
        store.evaluate("P@2", overlay="human")
    with pytest.raises(UsageError, match="two or more different qrels sets"):
        store.evaluate("P@2", overlay="human,human")
    with pytest.raises(UsageError, match=r"no qrels set 'jugde'.*judge"):
        store.evaluate("P@2", overlay="human,jugde")
    with pytest.raises(UsageError, match="overlay and qrels both"):
        store.evaluate("P@2", overlay="human,judge", qrels="human")
    with pytest.raises(UsageError, match=r"least relevant grades .*human 2, judge 1"):
        store.evaluate("P@2", overlay="human,judge", rel={"human": 2})
    with pytest.raises(UsageError, match="compares qrels sets with one another"):
        irmeta.studies.judges(store, "out", overlay="human,judge")
    binary = irmeta.from_data({"human": HUMAN, "binary": {"q1": {"d": 1}}}, RUNS)
    with pytest.warns(RelevanceWarning, match=r"highest grades .*human 2, binary 1"):
        binary.evaluate("P@2", overlay="human,binary")


def test_overlay__one_grade_for_all_sets(store: irmeta.Store):
    expected = means(laid_over(HUMAN, JUDGE), rel=2)
    frame = store.evaluate("P@2", overlay="human,judge", rel=2)
    assert dict(frame.select("system", "value").rows()) == pytest.approx(
        {system: value for (system, measure), value in expected.items() if measure.startswith("P")}
    )


def test_command__overlay(tmp_path: Path, run):
    folder = tmp_path / "news"
    (folder / "runs").mkdir(parents=True)
    for name, labels in (("human", HUMAN), ("judge", JUDGE)):
        rows = [f"{q} 0 {d} {g}\n" for q, docs in labels.items() for d, g in docs.items()]
        (folder / f"qrels.{name}.txt").write_text("".join(rows))
    for name, lists in RUNS.items():
        rows = [f"{q} Q0 {d} 0 {s} {name}\n" for q, docs in lists.items() for d, s in docs.items()]
        (folder / "runs" / name).write_text("".join(rows))
    sets = (f'{{ name = "{name}", file = "news/qrels.{name}.txt" }}' for name in ("human", "judge"))
    (tmp_path / "collection.toml").write_text(f"tracks.news.qrels = [{', '.join(sets)}]\n")
    done = run("evaluate", tmp_path, "-m", "P@2", "--overlay", "human,judge", "--format", "csv")
    assert done.status == 0, done.err
    expected = means(laid_over(HUMAN, JUDGE))
    printed = pl.read_csv(done.out.encode()).select("system", "value").rows()
    assert dict(printed) == pytest.approx(
        {system: value for (system, measure), value in expected.items() if measure.startswith("P")}
    )
    file = tmp_path / "scores.parquet"
    written = run("evaluate", tmp_path, "-m", "P@2", "--overlay", "human,judge", "--out", file)
    assert written.status == 0, written.err
    record = provenance(file)
    assert record is not None
    assert record["eval_policy"]["overlay"] == ["human", "judge"]
    assert record["tracks"]["news"]["qrels"] == "human+judge"
    # a, b and c by people; d, x (people's -1 is no label), e and f by the judge
    assert record["tracks"]["news"]["overlay"] == {"human": 3, "judge": 4}
