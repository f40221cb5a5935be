"""Tracks read for evaluation only, and sets added to a track: as complete tracks in memory."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import DataError, UsageError
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import parse_measures
from irmeta.policies import EvalPolicy, ReadPolicy, TieOrder
from irmeta.rankings.load import evaluation_of
from irmeta.rankings.track import Track as StoreTrack
from irmeta.rankings.view import needs_of
from irmeta.store import ranked_track
from irmeta.store.derived_tracks import AddedSets
from irmeta.store.memory import MemoryStore, read_into_memory
from irmeta.store.ranked_track import RankedTrack, RankReader
from irmeta.store.scan import read_table
from irmeta.trec import runs as run_text
from irmeta.trec.collection import read_collection
from irmeta.trec.source import TrackSource, track_of_files
from support.examples import scaled
from support.making import Track, tracks
from support.tarring import tar_of

TRACKS = Path(__file__).parents[1] / "tracks.toml"
MEASURES = "AP,nDCG@5,RR,P(ties=share)@3,AP(norm=pool)@10,Judged@5,bpref,AP(unjudged=condensed)"
ROW = "{} Q0 {} {} {} s"
docs = st.sampled_from(["a", "b", "B", "ab", "abcdefgh", "abcdefghi", "é", "1"])
"""Docs, of which `a` is judged of query a too."""
rows = st.tuples(docs, st.integers(-2, 3), st.sampled_from(["2", "1.5", "1.5000000001", "0", "-1"]))
lists = st.tuples(
    st.sampled_from(["1", "2", "a", "10", "x"]),
    st.lists(rows, min_size=1, max_size=7, unique_by=lambda row: row[0]),
)
odd = st.sampled_from(
    ["", "\t", "# note", "1 Q0 a", "1 Q0 z 1 nan s", "2 Q0 c 1,5 0,5 s", "1\tQ0  c 1 3 other\r"]
)
QRELS = "1 0 a 1\n1 0 b 0\n1 0 abcdefghi 2\n2 0 B 1\n2 0 é -1\na 0 a 3\n10 0 z 1\n7 0 a 1\n"


def read(source: TrackSource, evaluation: Any = None, **choices: Any) -> tuple[MemoryStore, str]:
    """Return a track in memory, and the message if it cannot be read."""
    store, (outcome,) = read_into_memory(
        "it", [source], source.policy, evaluation=evaluation, **choices
    )
    return store, str(outcome.error)


def check_equal(source: TrackSource, policy: EvalPolicy, measures: str = MEASURES) -> None:
    """Check that a track that is read for evaluation equals a complete one."""
    specs = parse_measures(measures)
    evaluation = evaluation_of(policy, needs_of(specs))
    (complete, message), (ranked, same) = read(source), read(source, evaluation)
    assert message == same
    if message != "None":
        return
    name = source.name
    is_ranked = isinstance(ranked._tracks[name], RankedTrack)
    assert is_ranked == (evaluation.columns(source.policy) is not None)
    assert complete.track(name).record == ranked.track(name).record
    for kind in ("systems", "qrels", "samples", "subtopics"):
        assert_frame_equal(*(read_table(store.track(name), kind) for store in (complete, ranked)))
    try:
        theirs = evaluate(StoreTrack.of(complete, name, policy), specs)
    except DataError as error:  # the tie order reads ranks, and a malformed line has none
        with pytest.raises(DataError, match=f"^{re.escape(str(error))}$"):
            evaluate(StoreTrack.of(ranked, name, policy), specs)
        return
    ours = evaluate(StoreTrack.of(ranked, name, policy), specs)
    assert ours.queries == theirs.queries
    for array in ("values", "no_list", "included"):
        np.testing.assert_array_equal(getattr(ours, array), getattr(theirs, array))


def write(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.exhaustive
@settings(max_examples=scaled(400, part=20))
@given(st.data())
def test_ranked_track__equals_complete_track(data):
    """Lists apart, ties, duplicates and malformed lines, in chunks of any size."""
    runs = data.draw(st.lists(st.lists(lists, min_size=1, max_size=5), min_size=1, max_size=3))
    policy = ReadPolicy(
        tie_order=data.draw(st.sampled_from(get_args(TieOrder))),
        depth=data.draw(st.sampled_from([None, 2])),
        duplicates=data.draw(st.sampled_from(["error", "first"])),
        malformed=data.draw(st.sampled_from(["error", "skip"])),
        drop_self=data.draw(st.booleans()),
        names="file",
    )
    order = None if policy.depth else data.draw(st.sampled_from([None, *get_args(TieOrder)]))
    pool_order = policy.tie_order if policy.depth else "trec_eval"
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_text, "CHUNK_BYTES", data.draw(st.sampled_from([40, 90, 1 << 19])))
        paths = []
        for index, several in enumerate(runs):
            if data.draw(st.booleans()):  # else lists of a query may be apart
                several = [*{query: (query, found) for query, found in several}.values()]
            text = [
                ROW.format(q, *(row[i] for i in (0, 1, 2))) for q, found in several for row in found
            ]
            if data.draw(st.integers(0, 3)) == 0:
                text.insert(data.draw(st.integers(0, len(text))), data.draw(odd))
            paths.append(write(Path(folder), f"r{index}", text))
        qrels = write(Path(folder), "qrels", QRELS.splitlines())
        source = track_of_files(qrels, paths, policy)
        check_equal(source, EvalPolicy(tie_order=order, pool_order=pool_order))


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", ["trec_eval", "score-file"])
def test_ranked_track__equals_made_tracks(collections: Path, order, monkeypatch):
    """Several runs, gz files, archives, five columns, subtopics, pooled systems, a skipped run."""
    monkeypatch.setattr(run_text, "CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(ranked_track, "GROUP_ROWS", 500)
    for source in read_collection(collections, ReadPolicy(tie_order=order)):
        policy = EvalPolicy(pool_order=order)
        check_equal(replace(source, runs=source.runs[:6]), policy, f"{MEASURES},RBP,ERR@3,ASL")


@pytest.mark.real
def test_ranked_track__equals_real_tracks(shared: Path, tmp_path: Path):
    for track in (shared / "tracks").iterdir():
        (tmp_path / track.name).symlink_to(track)
    shutil.copy(TRACKS, tmp_path / "collection.toml")
    for source in read_collection(tmp_path, ReadPolicy(depth=100)):
        check_equal(
            replace(source, runs=source.runs[:4]),
            EvalPolicy(pool_order="trec_eval"),
            f"trec_eval,{MEASURES}",
        )


def plain_source(folder: Path, run: str, **choices: Any) -> TrackSource:
    paths = [write(folder, "qrels", QRELS.splitlines()), write(folder, "r", run.splitlines())]
    return track_of_files(paths[0], paths[1:], ReadPolicy(**choices))


CHUNKED = {
    "plain": "1 Q0 a 1 2 s\n2 Q0 a 1 2 s\n",
    "unsorted, tied": "2 Q0 a 1 1 s\n2 Q0 b 2 2 s\n2 Q0 c 3 2 s\n1 Q0 a 1 2 s\n",
    "five columns": "1 Q0 a 1 2\n2 Q0 a 1 2\n",
}
WHOLE = {
    "queries apart": "1 Q0 a 1 2 s\n2 Q0 a 1 2 s\n1 Q0 b 2 1 s\n",
    "duplicate": "1 Q0 a 1 2 s\n1 Q0 a 2 1 s\n",
    "malformed": "1 Q0 a 1 2 s\n1 Q0 b\n",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [*CHUNKED, *WHOLE])
def test_ranked_run__chunks_for_adjacent_queries_without_duplicates(name, tmp_path, monkeypatch):
    monkeypatch.setattr(run_text, "CHUNK_BYTES", 16)
    source = plain_source(tmp_path, (CHUNKED | WHOLE)[name], malformed="skip", duplicates="first")
    whole = []
    read_whole = RankReader._whole
    monkeypatch.setattr(
        RankReader, "_whole", lambda self, file: whole.append(file) or read_whole(self, file)
    )
    check_equal(source, EvalPolicy())
    assert bool(whole) == (name in WHOLE)


def test_ranked_track__reads_runs_of_archives(tmp_path):
    run = write(tmp_path, "r", ["1 Q0 a 1 2 s", "2 Q0 a 1 2 s"])
    archive = tmp_path / "runs.tar"
    tar_of(archive, {"one": run.read_bytes(), "two": b"1 Q0 b 1 1 t\n", "bad": b"1 Q0\n"})
    qrels = write(tmp_path, "qrels", QRELS.splitlines())
    check_equal(track_of_files(qrels, [archive], ReadPolicy()), EvalPolicy())


def test_ranked_track__refuses_unnamed_docs_and_too_little_memory(tmp_path):
    source = plain_source(tmp_path, CHUNKED["plain"])
    evaluation = evaluation_of(EvalPolicy(), ())
    store, _ = read(source, evaluation)
    with pytest.raises(UsageError, match="'runs' is not kept of a track that is only evaluated"):
        read_table(store.track(source.name), "runs")
    assert "its rows exceed the memory limit" in read(source, evaluation, memory=8)[1]
    assert read(source, evaluation, memory=1000)[1] == "None"


GRADES = st.sampled_from([-1, 0, 1, 2, 0.5, 1.25])
LABELS = st.dictionaries(
    st.sampled_from(["q0", "q1"]),
    st.dictionaries(st.sampled_from(["a", "b", "doc1", "e", "new", "other"]), GRADES, min_size=1),
    min_size=1,
)
OF_SETS = "AP,nDCG@10,P@2,Bpref,Judged@10,RBP,Compat"


def frame_of(labels: dict[str, dict[str, float]]) -> pl.DataFrame:
    rows = [(q, d, float(g)) for q, docs in labels.items() for d, g in docs.items()]
    schema = {"query": pl.String, "doc": pl.String, "grade": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


@pytest.mark.exhaustive
@given(tracks(queries=2), LABELS)
def test_added_set__scores_equal_those_of_a_store_that_has_read_it(track: Track, labels):
    runs = {
        name: {q: {line[0]: float(line[1]) for line in lines} for q, lines in run.items()}
        for name, run in track.runs.items()
    }
    alone = irmeta.from_data({"human": track.qrels}, runs)
    both = irmeta.from_data({"human": track.qrels, "judge": labels}, runs)
    added = AddedSets(alone.reader.track("data"), {"judge": frame_of(labels)}, {})
    specs = parse_measures(OF_SETS)
    for qrels in ("judge", "human"):
        policy = EvalPolicy(qrels=qrels)
        found = evaluate(StoreTrack(added, policy), specs)
        expected = evaluate(both.track("data", policy), specs)
        assert found.queries == expected.queries
        np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)


def test_added_set__is_in_the_record_with_its_relevant_grade():
    store = irmeta.from_data({"human": {"q": {"d": 2}}}, {"r": {"q": {"d": 1.0}}})
    added = AddedSets(
        store.reader.track("data"), {"j": frame_of({"q": {"d": 0.5, "x": 3}})}, {"j": 0.5}
    )
    *_, record = added.record["qrels"]
    assert (record["name"], record["levels"], record["queries"]) == ("j", [0.5, 3.0], 1)
    assert added.record["config"]["qrels"][-1]["rel"] == 0.5
    docs = added.read("docs")
    assert docs["doc_id"].to_list() == [0, 1]
    assert added.read("qrels", pl.col("set") == "j")["doc"].to_list() == ["d", "x"]
    assert [one["name"] for one in store.reader.track("data").record["qrels"]] == ["human"]
