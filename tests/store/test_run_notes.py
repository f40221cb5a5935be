"""Notes on runs: what reading counted that values do not show."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.store.run_notes import disjoint_parts, equal_systems
from support.ingesting import put

QUERIES = [f"q{i}" for i in range(1, 7)]
QRELS = "".join(f"{q} 0 d{i} {int(i == 1)}\n" for q in QUERIES for i in (1, 2, 3))


def lines(name: str, docs: Mapping[str, str] | None = None, *, rising: bool = False) -> str:
    """Write a run of docs separated by blanks for each query; default d1 d2 d3 for all."""
    rows = []
    for query, listed in (docs or dict.fromkeys(QUERIES, "d1 d2 d3")).items():
        for rank, doc in enumerate(listed.split(), 1):
            score = rank if rising else 10 - rank
            rows.append(f"{query} Q0 {doc} {rank} {score} {name}\n")
    return "".join(rows)


RUNS = {
    "good": lines("good"),
    "ok": lines("ok", dict.fromkeys(QUERIES, "d2 d1 d3")),
    "dead": lines("dead", dict.fromkeys(QUERIES, "d1.txt d2.txt")),
    "cut": lines("cut", {"q1": "d3 d1"}),
    "other": lines("other", {"q1": "d2", **{f"x{i}": "d1" for i in range(9)}}),
    "copy": lines("copy"),
    "far": lines("far", rising=True),
}
WANTED = [
    "2 of 7 systems have no list for some judged queries: cut (5 of 6) and other (5 of 6).",
    "1 of 7 systems has lists for queries that are not judged, which are ignored: "
    "other (9 of 10 lists).",
    "1 of 7 systems has no judged doc in any list, and others have: dead.",
    "1 of 7 systems has the same judged docs at the same ranks as another: good (as copy).",
    "1 of 7 systems has a rank column that contradicts the scores in most lists: "
    "far (6 of 6 lists). Are the scores distances, of which the smallest is best?",
]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    files = {f"t/runs/{name}": text for name, text in RUNS.items()}
    return put(tmp_path / "c", {**files, "t/qrels": QRELS})


def begin(notes: list[str]) -> list[str]:
    """Cut notes to the length of those wanted."""
    return [note[: len(wanted)] for note, wanted in zip(notes, WANTED, strict=True)]


def test_run_notes__one_for_each_kind_of_a_folder_a_store_and_data(collection, tmp_path, run):
    store = irmeta.ingest(collection, tmp_path / "store")
    assert begin(store.run_notes()) == WANTED
    assert begin(irmeta.read(collection).run_notes("t")) == WANTED
    qrels, files = collection / "t/qrels", [collection / f"t/runs/{name}" for name in RUNS]
    assert begin(irmeta.from_data(qrels, files, track="t").run_notes()) == WANTED
    for source in ([collection], [store.path], [qrels, *files]):
        for command in (["evaluate", "-m", "AP"], ["compare", "-m", "AP", "--baseline", "good"]):
            done = run(command[0], *source, *command[1:])
            assert done.status == 0
            said = [line.removeprefix("irmeta: t: ") for line in done.err.splitlines()]
            assert begin([line for line in said if " systems ha" in line]) == WANTED
            quiet = run(command[0], *source, *command[1:], "--quiet")
            assert (quiet.out, quiet.err) == (done.out, "")


def test_run_notes__no_word_on_runs_that_need_none(tmp_path, run):
    put(tmp_path, {"q": QRELS, "a": RUNS["good"], "b": RUNS["ok"]})
    done = run("compare", tmp_path / "q", tmp_path / "a", tmp_path / "b", "-m", "AP")
    assert "irmeta" not in done.err
    assert irmeta.read_files(tmp_path / "q", tmp_path / "b").run_notes() == []


def test_run_notes__ranks_only_where_lists_are_ordered_by_score(collection, run):
    store = irmeta.read(collection)
    for order in ("rank", "file"):
        assert not any("rank column" in note for note in store.run_notes(tie_order=order))
    done = run("evaluate", collection, "-m", "AP", "--tie-order", "rank")
    assert "rank column" not in done.err
    notes = irmeta.read(collection, tie_order="rank").run_notes()
    assert not any("rank column" in note for note in notes)


def test_run_notes__ranks_that_contradict_some_lists(tmp_path):
    some = RUNS["good"].replace("q1 Q0 d1 1 9", "q1 Q0 d1 9 9")
    put(tmp_path, {"q": QRELS, "a": some})
    (note,) = irmeta.read_files(tmp_path / "q", tmp_path / "a").run_notes()
    assert note.startswith(
        "1 of 1 system has a rank column that contradicts the scores in some lists: good (1 of 6"
    )


@pytest.mark.parametrize("form", ["trec", "json", "csv"])
def test_run_notes__scores_that_only_float32_makes_equal(tmp_path, run, form):
    scores = {"hit": 1.00000003, "x": 1.00000002, "y": 1.00000001, "z": 0.5}
    text = {
        "trec": "".join(f"1 Q0 {doc} {i} {s} dense\n" for i, (doc, s) in enumerate(scores.items())),
        "json": json.dumps({"1": scores}),
        "csv": "query,doc,score\n" + "".join(f"1,{doc},{s}\n" for doc, s in scores.items()),
    }[form]
    name = f"dense.{form}"
    put(tmp_path, {"q": "1 0 hit 1\n", name: text})
    done = run("evaluate", tmp_path / "q", tmp_path / name, "-m", "RR")
    assert (
        "dense (3 docs). The tie order decides their order. `--tie-order trec_eval10`" in done.err
    )
    assert "0.333333" in done.out
    exact = run(
        "evaluate", tmp_path / "q", tmp_path / name, "-m", "RR", "--tie-order", "trec_eval10"
    )
    assert ("1.0" in exact.out, exact.err) == (True, "")


def test_run_notes__equal_scores_as_given_need_no_note(tmp_path):
    put(tmp_path, {"q": "1 0 hit 1\n", "r": "1 Q0 hit 1 1 s\n1 Q0 x 2 1 s\n"})
    assert irmeta.read_files(tmp_path / "q", tmp_path / "r").run_notes() == []


def test_run_notes__parts_of_the_queries(tmp_path, run):
    halves = {"a": QUERIES[:2], "b": QUERIES[2:]}
    runs = {name: lines(name, dict.fromkeys(own, "d1")) for name, own in halves.items()}
    put(tmp_path, {"q": QRELS, **runs})
    for command in ("evaluate", "compare"):
        done = run(command, tmp_path / "q", tmp_path / "a", tmp_path / "b", "-m", "AP")
        assert "a (4 of 6) and b (2 of 6)" in done.err
        assert "a and b have lists for 2 sets of judged queries without a query in comm" in done.err
        assert "Are they parts of one system?" in done.err


def test_run_notes__many_systems_are_counted(tmp_path, run):
    files = {"t/qrels": QRELS}
    for i in range(100):
        docs = " ".join([*(f"u{j}" for j in range(i)), "d1"])
        files[f"t/runs/s{i:03}"] = lines(f"s{i:03}", {"q1": docs})
    done = run("evaluate", put(tmp_path, files), "-m", "RR")
    assert done.err.splitlines() == [
        "irmeta: t: 5 of 6 judged queries have no list in any run: are these the qrels of another "
        "track?",
        "irmeta: t: 100 of 100 systems have no list for some judged queries: s000 (5 of 6), "
        "s001 (5 of 6), s002 (5 of 6) and 97 more. By default they score the worst value. "
        "`--queries retrieved` leaves them out.",
    ]


def test_run_notes__several_tracks_name_the_track(tmp_path):
    put(tmp_path, {"a/runs/s": lines("s"), "a/qrels": QRELS, "b/qrels": QRELS})
    put(tmp_path, {"b/runs/s": lines("s", dict.fromkeys(QUERIES[:5], "d1"))})
    (note,) = irmeta.read(tmp_path).run_notes()
    assert note.startswith("1 of 2 systems has no list for some judged queries: b/s (1 of 6).")


def test_systems__evaluation_and_ingest_count_the_same(collection, tmp_path):
    from irmeta.api.in_memory import read_tracks
    from irmeta.policies import ReadPolicy
    from irmeta.store.ranked_track import Evaluation

    whole = irmeta.ingest(collection, tmp_path / "store").systems()
    ranked, _ = read_tracks(collection, ReadPolicy(), evaluation=Evaluation())
    assert ranked.systems().equals(whole)
    counts = whole.select("system", "judged_rows", "contradicting_lists", "equal_to").rows()
    assert ("good", 18, 0, "copy") in counts
    assert ("dead", 0, 0, None) in counts
    assert ("far", 18, 6, None) in counts


def test_equal_systems__first_by_name_without_those_that_find_nothing():
    hashes = np.array([7, 5, 7, 7, 5], np.uint64)
    assert equal_systems([*"abcde"], hashes, np.array([1, 0, 2, 3, 4])) == [
        None,
        None,
        "a",
        "a",
        None,
    ]


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        ([[1, 2], [3]], [1, 2]),
        ([[1, 2], [2, 1], [3]], [1, 1, 2]),
        ([[1, 2], [2, 3]], [None, None]),
        ([[1, 2], [3], [1, 2, 3, 4]], [1, 2, None]),
        ([[1, 2], []], [None, None]),
        ([[1], [1]], [None, None]),
    ],
)
def test_disjoint_parts__sets_that_no_query_shares(queries, expected):
    found = [np.array(one, np.int32) for one in queries]
    assert disjoint_parts(found, np.array([1, 2, 3, 4])) == expected


def test_no_list__in_every_file_and_in_tables_where_it_is_not_0(
    collection, tmp_path, run, monkeypatch
):
    for command in (["evaluate"], ["evaluate", "--wide"], ["compare"]):
        for format_ in ("csv", "json", "parquet"):
            out = tmp_path / f"{'-'.join(command)}.{format_}"
            assert run(*command[:1], collection, "-m", "AP", *command[1:], "--out", out).status == 0
            if format_ == "json":
                rows = next(iter(json.loads(out.read_text())["tables"].values()))
                frame = pl.DataFrame(rows)
            else:
                frame = (pl.read_csv if format_ == "csv" else pl.read_parquet)(out)
            found = dict(frame.select("system", "no_list").iter_rows())
            assert found == dict.fromkeys(RUNS, 0) | {"cut": 5, "other": 5}
        table = run(*command[:1], collection, "-m", "AP", *command[1:], "--format", "table").out
        assert "no list" in table
    put(tmp_path, {"q": QRELS, "a": RUNS["good"], "b": RUNS["ok"]})
    for command in (["evaluate"], ["evaluate", "--wide"], ["compare"]):
        files = [tmp_path / name for name in "qab"]
        table = run(command[0], *files, "-m", "AP", *command[1:], "--format", "table").out
        assert "no list" not in table


def test_run_notes__decimal_grades_below_0(tmp_path, run):
    put(tmp_path, {"q": "1 0 a 0.5\n1 0 b -1.5\n", "r": "1 Q0 a 1 2 s\n1 Q0 b 2 1 s\n"})
    done = run("evaluate", tmp_path / "q", tmp_path / "r", "-m", "nDCG")
    assert "the qrels set 'qrels' begin at -1.5: docs of grades below 0 are unjudged" in done.err
    assert "`--negative nonrelevant` takes them for judged." in done.err
    put(tmp_path, {"w": "1 0 a 1\n1 0 b -1\n"})  # usual in TREC's qrels
    assert run("evaluate", tmp_path / "w", tmp_path / "r", "-m", "nDCG").err == ""


def test_notes__queries_without_a_judgment(tmp_path, run):
    put(tmp_path, {"q.json": '{"1": {"a": 1}, "2": {}}', "r.json": '{"1": {"b": 2.0, "a": 1.0}}'})
    done = run("evaluate", tmp_path / "q.json", tmp_path / "r.json", "-m", "RR")
    assert "queries without a judgment, which are not averaged: 1" in done.err
    assert "0.5" in done.out
