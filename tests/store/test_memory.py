"""Collections read into memory, compared with their store on disk, also by several threads."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import irmeta
from irmeta.api import Store, read_tracks
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.policies import EvalPolicy, ReadPolicy, TieOrder
from irmeta.progress import showing
from irmeta.rankings.load import judged_ranks
from irmeta.store import long_table
from irmeta.store import read_track as track
from irmeta.testing.samples import Track, tracks
from support.examples import scaled
from support.ingesting import CONFIG, FACTS, QRELS, RUN, put
from support.undrawn import draw_nothing

ONE = {"runs/s": RUN, "qrels": QRELS}
orders = st.sampled_from(get_args(TieOrder))
KINDS = ("runs", "qrels", "docs", "systems")
NEEDY = "AP,nDCG(gain=exp)@5,P(ties=share)@3,AP(norm=pool)@10,Judged@5,ASL,AP(unjudged=condensed)"


@pytest.fixture(scope="module")
def held(collections: Path) -> Store:
    with pytest.warns(irmeta.SkippedRunWarning):
        return irmeta.read(collections)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
def test_read__tables_equal_store(held: Store, made_store: Store, kind: str):
    for name in [*made_store.tracks, None]:
        ours, theirs = getattr(held, kind)(name), getattr(made_store, kind)(name)
        assert_frame_equal(ours.lazy().collect(), theirs.lazy().collect(), check_exact=True)


def test_read__metadata_equals_store(held: Store, made_store: Store):
    assert (held.tracks, held.policy) == (made_store.tracks, made_store.policy)
    assert held.fingerprint == made_store.fingerprint
    assert_frame_equal(held.info(), made_store.info())
    assert held.provenance(NEEDY) == made_store.provenance(NEEDY)
    assert "collections': 3 tracks, " in repr(held)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("order", [None, "trec_eval10", "score-file", "file"])
def test_read__values_equal_store(held: Store, made_store: Store, order):
    ours, theirs = (s.evaluate(NEEDY, tie_order=order, per_query=True) for s in (held, made_store))
    assert_frame_equal(ours, theirs, check_exact=True)


@pytest.mark.exhaustive
def test_read__all_methods_and_studies_equal_store(
    held: Store, made_store: Store, tmp_path: Path, monkeypatch
):
    for ask in (
        lambda s: s.means("default"),
        lambda s: s.per_doc.search_lengths("web"),
        lambda s: s.per_doc.rarity(rarity_depth=7),
        lambda s: s.curve("AP,RBP", range(1, 9), ds=[3, 5]),
        lambda s: irmeta.SearchLengths(s, "news").systems,
    ):
        assert_frame_equal(ask(held), ask(made_store), check_exact=True)
    name, query = (
        made_store.runs("news").select(c).first().collect().item() for c in ("system", "query")
    )
    chosen = {"system": name, "query": query, "track": "news"}
    assert str(held.explain("AP", **chosen)) == str(made_store.explain("AP", **chosen))
    draw_nothing(monkeypatch)
    ours, theirs = (
        irmeta.studies.search_length(s, tmp_path / which, min_systems=1, resamples=20)
        for which, s in (("ours", held), ("theirs", made_store))
    )
    assert set(ours.tables) == set(theirs.tables)
    for table in ours.tables:
        assert_frame_equal(ours.tables[table], theirs.tables[table], check_exact=True)


@pytest.mark.exhaustive
@given(tracks(), orders, st.none() | orders, orders)
@settings(max_examples=scaled(40))
def test_read__blocks_equal_store(
    made: Track, read: TieOrder, order: TieOrder | None, pool_order: TieOrder
):
    specs = parse_measures(NEEDY)
    policy = EvalPolicy(tie_order=order, pool_order=pool_order)
    asked = {"needs": ("ties", "pool", "retrieved"), "max_rows": 1}
    with TemporaryDirectory() as folder:
        on_disk = made.ingest(Path(folder), tie_order=read)
        stores = on_disk, irmeta.read(Path(folder) / "collection", tie_order=read)
        both = [list(judged_ranks(store.track("t", policy), **asked)) for store in stores]
    for theirs, ours in zip(*both, strict=True):
        assert ours.queries == theirs.queries
        values = [evaluate_block(view, specs, policy).values for view in (ours, theirs)]
        np.testing.assert_array_equal(*values)


@pytest.mark.exhaustive
def test_read__result_does_not_depend_on_groups_and_workers(
    held: Store, collections: Path, monkeypatch
):
    monkeypatch.setattr(long_table, "GROUP_ROWS", 700)
    for workers in (1, 3):
        with pytest.warns(irmeta.SkippedRunWarning):
            other = irmeta.read(collections, workers=workers)
        assert len(other.reader.track("news").groups()) > 3
        for kind in KINDS:
            ours, theirs = (getattr(s, kind)().lazy().collect() for s in (other, held))
            assert_frame_equal(ours, theirs, check_exact=True)
        assert_frame_equal(
            other.evaluate(NEEDY, per_query=True),
            held.evaluate(NEEDY, per_query=True),
            check_exact=True,
        )


def test_read__empty_list_of_tracks_is_refused(collections: Path):
    with pytest.raises(irmeta.UsageError, match="no track was given"):
        irmeta.read(collections, track=[])


def test_memory_store__pickled_single_track_is_small(held: Store):
    (web, whole) = (len(pickle.dumps(reader)) for reader in (held.reader.only("web"), held.reader))
    assert 0 < web < whole / 3
    alone = Store(pickle.loads(pickle.dumps(held.reader.only("web"))))
    assert_frame_equal(alone.means("AP"), held.means("AP", track="web"))


def test_read__filtered_rows_equal_store(held: Store, made_store: Store):
    where = pl.col("rank") == 2
    for kind in ("runs", "docs"):
        own = where if kind == "runs" else pl.col("doc_id") == 2
        ours, theirs = (s.reader.track("news").read(kind, own) for s in (held, made_store))
        assert_frame_equal(ours, theirs)
    systems = held.reader.track("web").read("systems", pl.col("system") == "heronQE")
    assert systems["system"].to_list() == ["heronQE"]


def test_read__store_folder_is_refused(made_store: Store):
    with pytest.raises(irmeta.UsageError, match="is a store: open it with"):
        irmeta.read(made_store.path)


def test_read__system_facts_are_in_systems_table(tmp_path: Path):
    files = {"collection.toml": CONFIG + FACTS, "runs/s": RUN, "runs/u": RUN.replace("s\n", "u\n")}
    put(tmp_path, files | {"qrels": QRELS, "f.csv": "run,team,kind,p\ns,one,auto,yes\nu,,,no\n"})
    store = irmeta.read(tmp_path)
    assert store.systems().select("system", "group", "pooled").rows() == [
        ("s", "one", True),
        ("u", None, False),
    ]


def test_read_tracks__unreadable_track_fails_alone(tmp_path: Path):
    put(tmp_path, {"a/runs/s": RUN, "a/qrels": QRELS, "b/runs/s": "no run\n", "b/qrels": QRELS})
    with pytest.raises(irmeta.IrmetaError, match=r"1 of 2 tracks failed\. .*b/runs/s, line 1"):
        irmeta.read(tmp_path)
    store, outcomes = read_tracks(tmp_path, ReadPolicy())
    assert [(o.track, o.state) for o in outcomes] == [("a", "read"), ("b", "failed")]
    assert store.tracks == ["a"]


def test_read__memory_limit_is_enforced_without_writing_files(
    collections: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(track, "MOST_ROWS", 1)  # the row limit applies to spilling only
    needed = irmeta.read(collections, track="web").reader._tracks["web"].held
    with pytest.raises(irmeta.IrmetaError, match=r"web.*exceed the memory limit.*irmeta ingest"):
        irmeta.read(collections, track="web", memory=needed)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive  # reads a track thirty times
def test_read_tracks__memory_limit_is_shared_by_tracks(tmp_path: Path):
    put(tmp_path, {f"{t}/{name}": text for t in "ab" for name, text in ONE.items()})
    held = irmeta.read(tmp_path, track="a").reader._tracks["a"].held
    fails, fits = 0, 1 << 30
    while fits - fails > 1:
        memory = (fails + fits) // 2
        _, (outcome,) = read_tracks(tmp_path, ReadPolicy(), tracks="a", memory=memory, workers=1)
        fails, fits = (memory, fits) if outcome.error else (fails, memory)
    for memory, last in ((fits + held - 10, "failed"), (fits + held, "read")):
        _, outcomes = read_tracks(tmp_path, ReadPolicy(), memory=memory, workers=1)
        assert [outcome.state for outcome in outcomes] == ["read", last]


def test_memory_store__path_is_refused(held: Store):
    with pytest.raises(irmeta.UsageError, match="into memory"):
        _ = held.path


@pytest.mark.exhaustive
def test_read__progress_counts_every_file(collections: Path):
    seen: list[tuple[str, int, int]] = []
    with pytest.warns(irmeta.SkippedRunWarning):
        irmeta.read(collections, progress=lambda *said: seen.append(said))
    files = sum(1 for path in collections.rglob("runs/*") if path.is_file())
    assert seen[-1][1:] == (files, files)


def test_read_tracks__progress_ends_with_all_files_after_failure(tmp_path: Path):
    put(tmp_path, {"a/runs/s": RUN, "a/qrels": QRELS, "b/runs/s": RUN, "b/qrels": "none\n"})
    seen: list[tuple[str, int, int]] = []
    with showing("Reading", lambda *said: seen.append(said)):
        read_tracks(tmp_path, ReadPolicy())
    assert seen == [("a", 1, 2), ("b", 2, 2)]


def test_evaluate__threads_on_one_store_get_the_values_of_one(made_store: irmeta.Store):
    measures = ("AP", "nDCG@10", "RareP@10")
    tracks = [(name, track) for name in measures for track in ("news", "passage")]

    def values(asked: tuple[str, str]) -> list[tuple]:
        name, track = asked
        return made_store.evaluate(name, track=track, per_query=True, workers=1).rows()

    alone = [values(asked) for asked in tracks]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(values, tracks * 2)) == alone * 2
