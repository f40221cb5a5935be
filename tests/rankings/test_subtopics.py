"""Subtopics: grades of (doc, subtopic) pairs and measures of subtopics."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.measures.explain import explain
from irmeta.measures.names import parse_measure
from irmeta.measures.spec import Measure, Term, Trace
from irmeta.naming import REL
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from irmeta.testing import check_measure
from irmeta.testing.samples import registered
from support.examples import scaled
from support.making import Track, diverse_tracks, down
from twins import measures as naive

Pairs = dict[tuple[str, str, str], int]
"""Grades by query, subtopic and doc."""


def view_of(store: irmeta.Store, track: str = "t", **choices: str) -> JudgedRanks:
    """Return the only block of a small track, with subtopics."""
    (view,) = judged_ranks(store.track(track, EvalPolicy(**choices)), needs=("subtopics",))
    return view


def pairs_of(view: JudgedRanks) -> Pairs:
    """Return the grades of a view by query, subtopic and doc."""
    subtopics, pairs = view.subtopics, {}
    for q, query in enumerate(view.queries):
        names = subtopics.of_query(q)
        for row in range(view.offsets[q], view.offsets[q + 1]):
            for i in range(subtopics.starts[row], subtopics.starts[row + 1]):
                key = query, names[subtopics.subtopic[i]], view.docs[row]
                assert key not in pairs
                pairs[key] = int(subtopics.grade[i])
    return pairs


def judged_pairs(track: Track) -> Pairs:
    of_query = track.diversity.items()
    return {(q, s, d): g for q, of in of_query for s, docs in of.items() for d, g in docs.items()}


@pytest.mark.exhaustive
@settings(max_examples=scaled(40))
@given(diverse_tracks())
def test_subtopics__all_pairs_and_ad_hoc_grades(track: Track):
    view = view_of(track.read())
    assert (view.diversity is None) == (not track.qrels)
    assert view.queries == tuple(sorted(track.qrels.keys() | track.diversity.keys()))
    diversity = view.by_subtopic()
    assert pairs_of(diversity) == judged_pairs(track)
    for q, query in enumerate(view.queries):
        names = diversity.subtopics.of_query(q)
        assert list(names) == sorted(track.diversity.get(query, ()), key=str.encode)
        rows = range(diversity.offsets[q], diversity.offsets[q + 1])
        for row in rows:
            grades = track.diversity[query].values()
            held = [docs[d] for docs in grades if (d := diversity.docs[row]) in docs]
            assert diversity.grades[row] == max(held)
        matrix = diversity.subtopics.matrix(rows.start, rows.stop, len(names), fill=-9)
        known = {(s, d): g for (at, s, d), g in judged_pairs(track).items() if at == query}
        for row, of_doc in zip(rows, matrix.tolist(), strict=True):
            assert of_doc == [known.get((s, diversity.docs[row]), -9) for s in names]
        if track.qrels:
            rows = slice(int(view.offsets[q]), int(view.offsets[q + 1]))
            grades = dict(zip(view.docs[rows], view.grades[rows].tolist(), strict=True))
            assert grades == track.qrels.get(query, {})


def subtopic_recall(
    ranking: naive.Ranking, subtopics: Mapping[str, Mapping[str, int]], k: int | None, rel: int
) -> float:
    """Compute subtopic recall at k (Zhai et al. 2003)."""
    relevant = [{d for d, g in docs.items() if g >= rel} for docs in subtopics.values()]
    relevant = [docs for docs in relevant if docs]
    if not relevant:
        return 0.0
    return sum(bool(docs & set((ranking or [])[:k])) for docs in relevant) / len(relevant)


def compute_recall(view: JudgedRanks, params: Mapping[str, int], ks: list[int | None]):
    """Compute subtopic recall from the pairs of a view."""
    subtopics = view.require("subtopics")
    values = np.zeros((len(ks), len(view.queries), len(view.systems)))
    for q in range(len(view.queries)):
        first, last = int(view.offsets[q]), int(view.offsets[q + 1])
        relevant = subtopics.matrix(first, last, int(subtopics.counts[q])) >= params["rel"]
        relevant = relevant[:, relevant.any(axis=0)]
        for i, k in enumerate(ks):
            deepest = view.missing - 1 if k is None else min(k, view.missing - 1)
            is_listed = view.ranks[first:last] <= deepest
            covered = (relevant[:, :, None] & is_listed[:, None]).any(axis=0)
            values[i, q] = covered.sum(axis=0) / max(relevant.shape[1], 1)
    return values


def trace_recall(one, params, k):
    """Trace the new subtopics covered by each doc."""
    known = {s for of in one.subtopic_grades.values() for s, g in of.items() if g >= params["rel"]}
    terms, covered = [], set()
    for rank, doc, grade in one.within(k):
        of_doc = one.subtopic_grades[doc].items()
        new = {s for s, g in of_doc if g >= params["rel"]} - covered
        covered |= new
        terms.append(Term(rank, doc, grade, f"{len(new)} new subtopics", len(new)))
    return Trace(tuple(terms), len(known), "subtopics", None if known else 0.0)


RECALL = Measure(
    name="MySRecall",
    summary="Subtopic recall",
    source="Zhai, Cohen and Lafferty (2003)",
    parameters=(REL,),
    compute=compute_recall,
    trace=trace_recall,
    cutoff="optional",
    unjudged=("condensed",),
    needs=lambda params: ("subtopics",),
)


@pytest.mark.exhaustive
def test_check_measure__accepts_a_measure_of_subtopics():
    check_measure(RECALL)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(diverse_tracks())
def test_evaluate__reads_the_qrels_set_required_by_each_measure(track: Track):
    store = track.read()
    with registered(RECALL):
        found = store.evaluate(["P@2", "MySRecall@2", "MySRecall(rel=2)"], per_query=True)
        alone = store.evaluate("P@2", qrels="qrels", per_query=True) if track.qrels else None
    values = {tuple(row[:-1]): row[-1] for row in found.drop("track").rows()}
    recall = {key: v for key, v in values.items() if key[2] != "P@2"}
    assert {query for _, query, _ in recall} == set(track.diversity)
    for (system, query, measure), value in recall.items():
        k, rel = (None, 2) if "rel=2" in measure else (2, 1)
        ranking = track.ranking(system, query)
        expected = subtopic_recall(ranking, track.diversity[query], k, rel)
        assert value == pytest.approx(expected, abs=1e-12), (system, query, measure)
    if alone is not None:
        other = {tuple(row[:-1]): row[-1] for row in alone.drop("track").rows()}
        assert {key: v for key, v in values.items() if key[2] == "P@2"} == other


TRACK = Track(
    {"a": {"1": down("x", "y", "z")}, "b": {"1": down("z", "w")}},
    {"1": {"x": 2, "z": 0}},
    diversity={"1": {"s1": {"x": 1, "y": 0}, "s10": {"y": 1, "z": 1}, "none": {"x": 0}}},
)


def test_explain__shows_the_subtopics_of_each_doc(tmp_path: Path, capsys):
    from irmeta.cli.display import Display
    from irmeta.cli.explanations import print_explanation

    store = TRACK.ingest(tmp_path)
    with registered(RECALL):
        spec = parse_measure("MySRecall@2")
        explained = explain(store.track("t"), spec, "a", "1")
    assert explained.value == 1.0
    assert explained.facts["subtopics of the query"] == 3
    assert explained.policies["qrels set"] == "diversity"
    shown = explained.docs.select("doc", "subtopics").rows()
    assert shown == [("x", "s1"), ("y", "s10"), ("z", "s10")]
    print_explanation(explained, True, {}, Display(format="table"))
    assert "subtopics" in capsys.readouterr().out


def test_explain__accepts_queries_of_the_qrels_set_of_the_measure(tmp_path: Path):
    runs = {"a": {"1": down("x"), "2": down("x")}}
    track = Track(runs, {"2": {"x": 1}}, diversity={"1": {"s": {"x": 1}}})
    store = track.ingest(tmp_path)
    with registered(RECALL), pytest.raises(UsageError, match=r"has no judged query '2'.*1"):
        store.explain("MySRecall", track="t", system="a", query="2")
    with pytest.raises(UsageError, match=r"has no judged query '1'.*2"):
        store.explain("AP", track="t", system="a", query="1")


def test_subtopics__reject_track_without_subtopics(tmp_path: Path):
    store = Track(TRACK.runs, TRACK.qrels).ingest(tmp_path)
    with pytest.raises(UsageError, match=r"track 't' has no qrels by subtopic.*subtopics = true"):
        view_of(store)


def described(tmp_path: Path, text: str) -> irmeta.Store:
    """Ingest `TRACK` with a CSV file that describes its subtopics."""
    folder = TRACK.write(tmp_path / "c")
    (folder / "t" / "topics.csv").write_text(text, encoding="utf-8")
    config = folder / "collection.toml"
    config.write_text(config.read_text() + '\nsubtopics_file = "t/topics.csv"\n')
    return irmeta.ingest(folder, tmp_path / "s")


@pytest.mark.exhaustive
def test_subtopics_file__gives_weights_types_and_unjudged_subtopics(tmp_path: Path):
    text = "query,subtopic,weight,type\n1,s1,0.75,vital\n1,s2,,okay\n1,s10,.25,\n9,s1,1,vital\n"
    store = described(tmp_path, text)
    subtopics = view_of(store).by_subtopic().subtopics
    assert subtopics.names == ("none", "s1", "s10", "s2")
    np.testing.assert_array_equal(subtopics.weights, [np.nan, 0.75, 0.25, np.nan])
    assert subtopics.types == (None, "vital", None, "okay")
    again = irmeta.read(tmp_path / "c")
    assert view_of(again).by_subtopic().subtopics.types == subtopics.types
    assert irmeta.check(tmp_path / "s").height == 0
    assert (tmp_path / "s" / "subtopics" / "t" / "part-0.parquet").is_file()


def test_subtopics_file__notes_missing_judged_subtopics(tmp_path: Path):
    text = '\ufeffquery,subtopic,weight,type\n1,S1,1,"vital, in\ntwo lines"\n\n1,s10,2,\n\n'
    store = described(tmp_path, text)
    subtopics = view_of(store).by_subtopic().subtopics
    assert subtopics.names == ("S1", "none", "s1", "s10")
    assert subtopics.types[0] == "vital, in\ntwo lines"
    notes = store.info()["notes"].item()
    assert "t/topics.csv lacks 2 of 3 subtopics; the first is 'none' of query '1'" in notes


@pytest.mark.exhaustive
def test_subtopics_file__read_again_after_changes(tmp_path: Path):
    described(tmp_path, "query,subtopic,weight\n1,s1,1\n")
    (tmp_path / "c" / "t" / "topics.csv").write_text("query,subtopic,weight\n1,s1,0.5\n")
    store = irmeta.ingest(tmp_path / "c", tmp_path / "s")
    weights = view_of(store).by_subtopic().subtopics.weights.tolist()
    assert weights[1] == 0.5
    config = tmp_path / "c" / "collection.toml"
    config.write_text(config.read_text().replace("subtopics_file", "# subtopics_file"))
    store = irmeta.ingest(tmp_path / "c", tmp_path / "s")
    assert np.isnan(view_of(store).by_subtopic().subtopics.weights).all()
    assert not (tmp_path / "s" / "subtopics" / "t").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("query,topic,weight\n1,s1,1\n", r"topics\.csv.*is not a known column.*'topic'"),
        ("query,weight\n1,1\n", r"has no column 'subtopic'"),
        ("query,subtopic\n1,s1\n", r"has neither weights nor types"),
        ("query,subtopic,weight\n1,s1,1\n1,s1,2\n", r"line 3.*described twice"),
        ("query,subtopic,weight\n1,s1,heavy\n", r"line 2.*not a number from 0.*heavy"),
        ("query,subtopic,weight\n1,s1,-1\n", r"line 2.*not a number from 0"),
        ("query,subtopic,type\n1,,vital\n", r"line 2.*a query or subtopic is missing"),
        ("\nquery,subtopic,type\n\n1,,vital\n", r"line 4.*a query or subtopic is missing"),
        ("query,subtopic,type\n1,s1\n", r"line 2.*2 fields where the first line has 3"),
        ("", r"topics\.csv: is empty"),
        ("query,subtopic,type\n7,s1,vital\n", r"none of its queries is judged in t/diversity"),
    ],
)
def test_subtopics_file__rejects_malformed_files(tmp_path: Path, text: str, problem: str):
    with pytest.raises(IrmetaError, match=problem):
        described(tmp_path, text)


def test_subtopics_file__requires_qrels_by_subtopic(tmp_path: Path):
    folder = TRACK.write(tmp_path)
    config = folder / "collection.toml"
    text = config.read_text().replace("subtopics = false", 'subtopics_file = "t/diversity"')
    config.write_text(text)
    with pytest.raises(
        IrmetaError, match=r"subtopics_file describes no subtopics.*subtopics = true"
    ):
        irmeta.ingest(folder, tmp_path / "s")


def test_subtopics__hundreds_of_subtopics():
    docs = [f"d{i}" for i in range(40)]
    nuggets = {f"n{i:03}": {docs[i % 40]: 1, docs[(i * 7) % 40]: 0} for i in range(300)}
    track = Track({"s": {"q": down(*docs)}}, {}, diversity={"q": nuggets})
    view = view_of(track.read())
    assert view.subtopics.counts.tolist() == [300]
    assert pairs_of(view) == judged_pairs(track)


@pytest.mark.real
def test_subtopics__real_tracks(real_store: irmeta.Store, shared: Path):
    (view,) = judged_ranks(real_store.track("web-2012"), needs=("subtopics",))
    expected, ad_hoc = {}, {}
    for line in (shared / "tracks/web-2012/diversity-qrels.txt").read_text().splitlines():
        query, subtopic, doc, grade = line.split()
        expected[query, subtopic, doc] = int(grade)
    for line in (shared / "tracks/web-2012/adhoc-qrels.txt").read_text().splitlines():
        query, _, doc, grade = line.split()
        ad_hoc[query, doc] = int(grade)
    assert pairs_of(view.diversity) == expected
    queries = [view.queries[q] for q in view.query_of(np.arange(len(view.grades)))]
    grades = dict(zip(zip(queries, view.docs, strict=True), view.grades.tolist(), strict=True))
    assert grades == ad_hoc
    (legal,) = judged_ranks(real_store.track("legaldiv"), needs=("subtopics",))
    assert legal.diversity is None
    assert set(legal.subtopics.counts.tolist()) == {5}
