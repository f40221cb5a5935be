"""Ranked lists from run files under every tie order."""

from pathlib import Path
from typing import get_args

import pytest

import irmeta
from irmeta.errors import SkippedRunWarning
from irmeta.policies import TieOrder
from support.ingesting import CONFIG, QRELS, RUN, put
from support.making import read_text
from twins import measures as naive


def test_runs__highest_subtopic_grade_only_without_plain_qrels(tmp_path, store):
    qrels = "1 1 a 0\n1 2 a 2\n1 3 a 1\n1 1 b -2\n1 2 b -1\n2 1 z 1\n"
    runs = "1 Q0 a 1 3 s\n1 Q0 b 2 2 s\n1 Q0 c 3 1 s\n"
    sets = {
        "only": '[{ name = "div", file = "div", subtopics = true }]',
        "second": '[{ name = "adhoc", file = "adhoc" },'
        ' { name = "div", file = "div", subtopics = true }]',
    }
    config = "".join(f'[tracks.{t}]\nruns = ["r"]\nqrels = {q}\n' for t, q in sets.items())
    files = {"r": runs, "div": qrels, "adhoc": "1 0 a 1\n1 0 y 1\n", "collection.toml": config}
    opened = irmeta.ingest(put(tmp_path / "c", files), store)
    assert opened.runs("only").collect()["grade"].to_list() == [2, -1, None]
    assert opened.runs("second").collect()["grade"].to_list() == [1, None, None]
    judged = (
        opened.qrels("second", sets="all")
        .filter(query="1")
        .select("doc", "doc_id")
        .unique()
        .collect()
    )
    assert sorted(judged.rows()) == [("a", 0), ("b", 1), ("y", 2)]


def passage_alone(collections: Path, tmp_path: Path, **keys: str) -> Path:
    """Copy the synthetic passage track without its unreadable run; keys extend its config."""
    folder = tmp_path / "passage"
    folder.mkdir()
    (folder / "qrels").symlink_to(collections / "passage" / "qrels.txt")
    (folder / "runs").mkdir()
    for run in (collections / "passage" / "runs").iterdir():
        if run.name != "nuthFirst.txt":
            (folder / "runs" / run.name).symlink_to(run)
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return put(folder, {"collection.toml": CONFIG + more})


def naive_lists(collections: Path, order: str) -> dict[tuple[str, str], list[str]]:
    lists: dict[tuple[str, str], list[tuple]] = {}
    for path in (collections / "passage" / "runs").iterdir():
        if path.name != "nuthFirst.txt":
            for query, doc, rank, score, tag in naive.read_run(read_text(path)):
                lists.setdefault((tag, query), []).append((doc, score, rank))
    return {key: naive.order(rows, order) for key, rows in lists.items()}


def stored_lists(store: irmeta.Store) -> dict[tuple[str, str], list[str]]:
    lists: dict[tuple[str, str], list[str]] = {}
    runs = store.runs().sort("system", "query", "rank").select("system", "query", "doc")
    for system, query, doc in runs.collect().iter_rows():
        lists.setdefault((system, query), []).append(doc)
    return lists


@pytest.mark.exhaustive
@pytest.mark.parametrize("depth", [None, 7])
@pytest.mark.parametrize("order", get_args(TieOrder))
def test_ingest__lists_are_sorted_by_tie_order_before_depth_cut(
    collections, tmp_path, store, order, depth
):
    opened = irmeta.ingest(
        passage_alone(collections, tmp_path), store, tie_order=order, depth=depth
    )
    expected = naive_lists(collections, order)
    assert stored_lists(opened) == {key: docs[:depth] for key, docs in expected.items()}
    assert opened.info()["tie_order"].item() == order
    assert opened.info()["deepest_rank"].item() == (depth or 200)


@pytest.mark.exhaustive
def test_ingest__track_options_override_store_options(collections, tmp_path, store):
    collection = passage_alone(collections, tmp_path, tie_order='"file"', depth="3")
    opened = irmeta.ingest(collection, store, tie_order="rank", depth=9)
    expected = naive_lists(collections, "file")
    assert stored_lists(opened) == {key: docs[:3] for key, docs in expected.items()}


def test_ingest__names_are_sorted_by_bytes(tmp_path, store):
    names = ["é", "b", "B", "10", "9", "a"]
    lines = [f"{query} Q0 {doc} 1 1" for query in names for doc in names]
    runs = {f"t/runs/{i}": "".join(f"{x} {s}\n" for x in lines) for i, s in enumerate(names)}
    qrels = "".join(f"{query} 0 9 0\n" for query in names)
    opened = irmeta.ingest(put(tmp_path / "c", {**runs, "t/qrels": qrels}), store)
    ordered = ["10", "9", "B", "a", "b", "é"]
    assert opened.systems()["system"].to_list() == ordered
    rows = opened.runs().select("query", "system", "doc").collect().rows()
    assert rows == [(q, s, d) for q in ordered for s in ordered for d in ordered[::-1]]
    docs = opened.docs().filter(query="a").collect()["doc"].to_list()
    assert docs == ["9", "10", "B", "a", "b", "é"]  # the judged doc first


def test_ingest__duplicates_first_keeps_first_line(tmp_path, store):
    run = "1 Q0 a 1 1 s\n1 Q0 b 2 5 s\n2 Q0 a 1 9 s\n1 Q0 a 3 7 s\n1 Q0 c 4 0 s\n1 Q0 a 9 8 s\n"
    collection = put(tmp_path / "c", {"t/runs/s": run, "t/qrels": QRELS})
    opened = irmeta.ingest(collection, store, duplicates="first")
    rows = opened.runs().select("query", "doc", "rank", "score", "position").collect().rows()
    assert rows == [
        ("1", "b", 1, 5.0, 2),
        ("1", "a", 2, 1.0, 1),
        ("1", "c", 3, 0.0, 5),
        ("2", "a", 1, 9.0, 3),
    ]
    assert opened.systems().select("rows", "duplicates").row(0) == (4, 2)


def test_ingest__duplicate_doc_across_interleaved_queries_is_detected(tmp_path, store):
    run = "1 Q0 a 1 3 s\n2 Q0 a 1 9 s\n1 Q0 a 2 1 s\n"
    collection = put(tmp_path / "c", {"t/runs/s": run, "t/runs/u": RUN, "t/qrels": QRELS})
    (collection / "t/runs/u").write_text(RUN.replace(" s\n", " u\n"))
    with pytest.warns(SkippedRunWarning, match="line 3: query 1 has doc a a second time"):
        irmeta.ingest(collection, store)
    kept = irmeta.ingest(collection, tmp_path / "first", duplicates="first")
    assert kept.systems()["duplicates"].to_list() == [1, 0]


def test_ingest__malformed_skip_drops_and_counts_lines(tmp_path, store):
    collection = put(tmp_path / "c", {"t/runs/s": RUN + "1 Q0\n1 Q0 c 3 x s\n", "t/qrels": QRELS})
    opened = irmeta.ingest(collection, store, malformed="skip")
    assert opened.systems().select("rows", "malformed", "notes").row(0) == (
        3,
        2,
        "2 malformed lines dropped",
    )
