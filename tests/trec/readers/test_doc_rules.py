"""Docs that a policy takes out of lists and judgments, repeated docs, and chunks of docs."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, QrelsWarning, UsageError
from irmeta.policies import ReadPolicy
from irmeta.trec.source import track_of_files
from store.test_ranked_track import check_equal

QRELS = {"c1": {"a": 1, "b": 0, "c": 1, "d": 0, "e": 1}}
RUN = {"c1": ["a", "d", "c", "b", "e"]}
FORMS = {
    "lines": "c1 a\n\nc1\tb\nc1 a\n",
    "qrels": "c1 0 a 1\nc1 1 a 0\nc1 0 b 0\n",
    "csv": "user_id,item_id\nc1,a\nc1,b\n",
    "tsv": "query-id\tcorpus-id\tscore\nc1\ta\t1\nc1\tb\t0\n",
    "json": '{"c1": ["a", "b"]}',
}


def write(folder: Path, text: str, name: str = "drop") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def mean(qrels, run, measure, **choices) -> float:
    return irmeta.evaluate(qrels, run, measure, **choices)["value"].item()


@pytest.mark.parametrize("form", FORMS)
def test_drop_docs__residual_collection(form, tmp_path):
    drop = write(tmp_path, FORMS[form])
    assert mean(QRELS, RUN, "AP", drop_docs=drop) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert mean(QRELS, RUN, "P@2", drop_docs=str(drop)) == 0.5
    assert mean(QRELS, RUN, "AP") == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)


def test_drop_docs__seen_items(tmp_path):
    drop = write(tmp_path, "u1 a\nu1 b\nu2 a\n")
    test, run = {"u1": {"c": 5}, "u2": {"d": 3}}, {"u1": ["a", "b", "c"], "u2": ["a", "d"]}
    assert mean(test, run, "RR", drop_docs=drop) == 1
    run = {"u1": ["x", "a", "b", "c"], "u2": ["a", "d"]}
    assert mean(test, run, "RR", drop_docs=drop) == 0.75


@pytest.mark.parametrize("depth", [None, 3])
def test_drop_docs__as_lists_and_judgments_without_these_docs(tmp_path, depth):
    rng = random.Random(7)
    docs, queries = [f"d{i}" for i in range(12)], [f"q{i}" for i in range(8)]
    qrels = {q: {d: rng.randint(0, 2) for d in rng.sample(docs, 6)} for q in queries}
    runs = {s: {q: rng.sample(docs, 9) for q in queries} for s in ("s", "t")}
    drop = {q: set(rng.sample(runs["s"][q], 4)) for q in queries[1:]}
    file = write(tmp_path, "".join(f"{q} {d}\n" for q, ds in drop.items() for d in sorted(ds)))
    left = {q: {d: g for d, g in of.items() if d not in drop.get(q, ())} for q, of in qrels.items()}
    lists = {
        s: {q: [d for d in of if d not in drop.get(q, ())] for q, of in run.items()}
        for s, run in runs.items()
    }
    choices = {"per_query": True, "depth": depth}
    found = irmeta.evaluate(qrels, runs, "AP,nDCG@3,Judged@5", drop_docs=file, **choices)
    assert found.equals(irmeta.evaluate(left, lists, "AP,nDCG@3,Judged@5", **choices))
    assert not found.equals(irmeta.evaluate(qrels, runs, "AP,nDCG@3,Judged@5", **choices))


def test_drop_docs__a_list_without_docs_left_is_empty_and_a_query_without_judgments_is_noted(
    tmp_path,
):
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1}}
    drop = write(tmp_path, "q2 b\nq3 a\n")
    with pytest.warns(QrelsWarning, match="not averaged: 1, whose judged docs are all in drop"):
        store = irmeta.from_data(qrels, {"q1": ["a"], "q2": ["b"]}, drop_docs=drop)
    assert store.systems("data")["empty_lists"].item() == '["q2"]'
    assert "1 docs dropped that are in drop" in store.systems("data")["notes"].item()
    assert store.means("AP").select("value", "queries").rows() == [(0.25, 2)]


def test_drop_docs__lines_without_effect_are_counted(tmp_path):
    drop = write(tmp_path, "c1 a\nc1 new\nc9 a\n")
    with pytest.warns(QrelsWarning, match=r"2 of 3 docs .* had no effect: .* 'new' of query 'c1'"):
        irmeta.evaluate(QRELS, RUN, "AP", drop_docs=drop)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("c1 new\nc9 a\n", "no line has an effect: .* such as doc new of query c1"),
        ("c1 a\nc1 b\nc1 c\nc1 d\nc1 e\n", "no judgment is left: all docs are in drop"),
        ("c1 a\nc1\n", "line 2"),
        ("", "drop"),
        ("user_id,other\nc1,a\n", "drop"),
    ],
)
def test_drop_docs__errors(tmp_path, text, problem):
    drop = write(tmp_path, text)
    with pytest.raises(DataError, match=problem):
        irmeta.evaluate(QRELS, RUN, "AP", drop_docs=drop)


def test_drop_docs__a_run_without_docs_left_is_skipped_and_a_missing_file_named(tmp_path):
    qrels, run = write(tmp_path, "q 0 a 1\n", "qrels"), write(tmp_path, "q Q0 b 1 1 r\n", "r")
    other = write(tmp_path, "q Q0 a 1 1 t\n", "t")
    drop = write(tmp_path, "q b\n")
    with pytest.warns(irmeta.SkippedRunWarning, match="all docs are in drop"):
        store = irmeta.read_files(qrels, [run, other], drop_docs=drop)
    assert store.means("AP")["system"].to_list() == ["t"]
    with pytest.raises(IrmetaError, match="gone"):
        irmeta.read_files(qrels, run, drop_docs=tmp_path / "gone")
    (tmp_path / "pipe").unlink(missing_ok=True)
    with pytest.raises(DataError, match="a pipe, which can be read only once"):
        irmeta.evaluate(QRELS, RUN, "AP", drop_docs="/dev/stdin")


def test_drop_docs__recorded_by_name_and_content(tmp_path):
    track = tmp_path / "collection" / "t"
    (track / "runs").mkdir(parents=True)
    write(track / "runs", "q Q0 a 1 2 r\nq Q0 b 2 1 r\n", "r")
    write(track, "q 0 a 1\nq 0 b 1\nq 0 c 0\n", "qrels")
    drop = write(track, "q a\n")
    collection, out = tmp_path / "collection", tmp_path / "store"
    store = irmeta.ingest(collection, out, drop_docs=drop)
    recorded = f"drop sha256:{hashlib.sha256(b'q a' + bytes([10])).hexdigest()}"
    assert store.policy.drop_docs == recorded
    assert store.policy.record()["drop_docs"] == recorded
    assert store.fingerprint == irmeta.read(collection, drop_docs=drop).fingerprint
    copy = write(tmp_path, "q a\n")
    assert irmeta.ingest(collection, out, drop_docs=copy).fingerprint == store.fingerprint
    write(tmp_path, "q b\n")
    with pytest.raises(UsageError, match="use another folder"):
        irmeta.ingest(collection, out, drop_docs=copy)
    write(collection, 'tracks.t.drop_docs = "t/drop"\n', "collection.toml")
    own = irmeta.ingest(collection, tmp_path / "own")
    assert own.means("RR")["value"].item() == 1  # of b
    before = own.fingerprint
    write(track, "q b\n")
    assert irmeta.ingest(collection, tmp_path / "own").fingerprint != before
    drop.unlink()
    drop.symlink_to(copy)
    with pytest.raises(DataError, match="is a link to a file outside of the collection"):
        irmeta.ingest(collection, tmp_path / "own")


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"drop_docs": "drop"}, "1 Q0 a 1 3 s\n1 Q0 b 2 2 s\n1 Q0 c 3 1 s\n2 Q0 a 1 1 s\n"),
        ({"chunks": "#"}, "1 Q0 a#1 1 3 s\n1 Q0 b 2 2 s\n1 Q0 a#2 3 4 s\n2 Q0 a 1 1 s\n"),
        ({"duplicates": "best"}, "1 Q0 a 1 1 s\n1 Q0 b 2 2 s\n1 Q0 a 3 3 s\n2 Q0 a 1 1 s\n"),
    ],
)
def test_rules__of_lists_that_are_only_evaluated(tmp_path, choices, text):
    qrels = write(tmp_path, "1 0 a 1\n1 0 b 0\n2 0 a 0\n", "qrels")
    run, drop = write(tmp_path, text, "r"), write(tmp_path, "1 a\n1 c\n")
    given = choices | ({"drop_docs": str(drop)} if "drop_docs" in choices else {})
    check_equal(track_of_files(qrels, [run], ReadPolicy(**given)), irmeta.EvalPolicy())


UNSORTED = "q Q0 p2 1 .7 s\nq Q0 p1 2 .5 s\nq Q0 p1 3 .9 s\nq Q0 p3 4 .6 s\n"


@pytest.mark.parametrize(
    ("order", "rule", "value"),
    [
        ("trec_eval", "best", (1 + 2 / 3) / 2),
        ("trec_eval", "first", (1 / 2 + 2 / 3) / 2),
        ("file", "best", (1 / 2 + 2 / 3) / 2),
        ("rank", "best", (1 / 2 + 2 / 3) / 2),
    ],
)
def test_duplicates__keep_the_first_or_best_row(tmp_path, order, rule, value):
    qrels, run = write(tmp_path, "q 0 p1 1\nq 0 p3 1\n", "qrels"), write(tmp_path, UNSORTED, "r")
    store = irmeta.read_files(qrels, run, duplicates=rule, tie_order=order)
    assert store.means("AP")["value"].item() == pytest.approx(value)
    assert store.systems(store.tracks[0])["duplicates"].item() == 1
    with pytest.raises(IrmetaError, match="keeps the first line of each"):
        irmeta.read_files(qrels, run, tie_order=order)


def test_chunks__a_doc_has_the_rank_of_its_best_chunk():
    qrels = {"q": {"page1": 1, "page3": 1}}
    chunks = {"q": {"page1#0": 0.9, "page1#4": 0.8, "page2#1": 0.7, "page3#0": 0.6}}
    assert mean(qrels, chunks, "AP", chunks="#") == pytest.approx(5 / 6)
    assert mean(qrels, chunks, "R@2", chunks="#") == 0.5
    several = {"q": {"page3#0#1": 1, "page1": 2, "page1#1": 3}}
    store = irmeta.from_data(qrels, [chunks, several], chunks="#")
    notes = store.systems("data")["notes"].to_list()
    assert "first '#' of 4 ids of chunks; 1 rows of lower chunks dropped" in notes[0]
    assert "first '#' of 2 ids of chunks (1 have it more than once); 1 rows" in notes[1]
    assert store.means("AP")["value"].to_list() == [pytest.approx(5 / 6), 1]


@pytest.mark.parametrize(
    ("separator", "problem"),
    [
        ("::", "no doc id of its runs has the separator '::' of chunks"),
        ("page", "nothing stands before 'page' in a doc id"),
        ("", "is no separator"),
        (" ", "is no separator"),
    ],
)
def test_chunks__errors(separator, problem):
    run = {"q": {"page1#0": 0.9, "page1#4": 0.8}}
    with pytest.raises(IrmetaError, match=problem):
        irmeta.evaluate({"q": {"page1": 1}}, run, "AP", chunks=separator)


def test_rules__of_runs_without_judgments(tmp_path):
    run, drop = write(tmp_path, "q Q0 a 1 2 r\nq Q0 b 2 1 r\n", "r"), write(tmp_path, "q a\nq c\n")
    with pytest.warns(QrelsWarning, match="1 of 2 docs to drop"):
        assert irmeta.pool_of_runs(run, 1, drop_docs=drop)["doc"].to_list() == ["b"]
    found = irmeta.validate(run, drop_docs=drop)
    assert "1 docs dropped that are in drop" in found.findings["problem"].to_list()
    write(tmp_path, "q c\n")
    assert irmeta.validate(run, drop_docs=drop).passed
    with pytest.raises(DataError, match="no line has an effect"):
        irmeta.pool_of_runs(run, 1, drop_docs=drop)


def test_drop_docs__command(tmp_path, run):
    qrels, file = write(tmp_path, "q 0 a 1\nq 0 b 1\n", "qrels"), write(tmp_path, UNSORTED, "r")
    drop = write(tmp_path, "q p1\nq a\nq no\n")
    options = ["-m", "RR", "--drop-docs", drop, "--duplicates", "best", "--format", "csv"]
    done = run("evaluate", qrels, file, *options)
    assert done.out.splitlines()[1].startswith("s,RR,0.0,1")
    assert ": 1 of 3 docs to drop in drop had no effect" in done.err
