"""Tracks whose blocks of queries are computed by the workers of an executor."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import DataError, ExecutorError, IrmetaError, UsageError
from irmeta.measures.names import parse_measures, registry
from irmeta.rankings import load
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.store import long_table
from irmeta.store.layout import FolderTrack, Layout
from irmeta.studies.framework import runner
from support.executors import Killing, cluster_in_process, content
from support.making import Track, down

pytestmark = pytest.mark.exhaustive

MEASURES = "AP,nDCG@2,AP(norm=pool)@2,ASL"
DOCS = "abcdef"


def queries_of(view: JudgedRanks) -> tuple[str, ...]:
    return view.queries


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the track `big`, in groups of one query, and of the small track `a`."""
    source = tmp_path_factory.mktemp("split")
    for name, queries in (("big", 8), ("a", 2)):
        names = [f"q{i}" for i in range(queries)]
        runs = {
            f"s{s}": {
                q: down(*DOCS[(s + i) % 6 :], *DOCS[: (s + i) % 6]) for i, q in enumerate(names)
            }
            for s in range(3)
        }
        qrels = {q: {"a": 1, DOCS[1 + i % 5]: 2, "f": 0} for i, q in enumerate(names)}
        Track(runs, qrels, name).write(source / "in")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(long_table, "GROUP_ROWS", 1)
        return irmeta.ingest(source / "in", source / "store").path


@pytest.fixture
def store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> irmeta.Store:
    """The store in blocks of two queries, for an executor of one; workers share three blocks."""
    monkeypatch.setattr(Layout, "block_rows", 36)
    monkeypatch.setattr(load, "SENT_ROWS", 18)
    monkeypatch.setattr(load, "LEAST_ROWS", 18)
    monkeypatch.setattr(runner, "WHOLE_BLOCKS", 2)
    return irmeta.open_store(folder)


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def cluster() -> Iterator[Executor]:
    with cluster_in_process() as client:
        yield client.get_executor()


@pytest.fixture(params=["processes", "cluster"])
def executor(request: pytest.FixtureRequest) -> Executor:
    return request.getfixturevalue(request.param)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the blocks that were sent to executors."""
    numbers: list[int] = []
    real = load.ordered_map

    def noted(function, items, **options):
        if options.get("executor") is not None:
            items = list(items)
            numbers.extend(items)
        return real(function, items, **options)

    monkeypatch.setattr(load, "ordered_map", noted)
    return numbers


def test_over_blocks__executor_yields_every_query_once_in_order(store, sent):
    with ThreadPoolExecutor(2) as executor:
        call = partial(over_blocks, queries_of, store.track("big"))
        found = list(call(executor=executor))
        assert [len(queries) for queries in call(executor=executor, max_rows=40)] == [2, 2, 2, 2]
    assert found == [(f"q{i}",) for i in range(8)]
    assert sent == [*range(8), *range(4)]


def test_evaluate__executor_and_threads_give_equal_frames(store, executor, sent):
    choices = {"tie_order": "file", "pool_order": "file"}
    found = store.evaluate(MEASURES, executor=executor, **choices, per_query=True)
    assert sorted(sent) == sorted([*range(8), *range(2)])
    assert_frame_equal(found, store.evaluate(MEASURES, **choices, per_query=True), check_exact=True)
    means = store.means("map,P", system="s1", executor=executor)
    assert_frame_equal(means, store.means("map,P", system="s1", workers=1), check_exact=True)
    scores = store.scores("AP", track="big", executor=executor)
    assert (scores.values == store.scores("AP", track="big").values).all()


@pytest.mark.usefixtures("undrawn")
def test_reanalyze__split_tracks_give_equal_bytes(store, executor, sent, tmp_path: Path):
    study = partial(irmeta.reanalyze, store.path, measures=MEASURES, track="big")
    study(tmp_path / "shared", executor=executor)
    assert sent == list(range(4))
    study(tmp_path / "threads", workers=3)
    runner.WHOLE_BLOCKS = 99  # restored by the fixture
    study(tmp_path / "whole", workers=1)
    whole = content(tmp_path / "whole")
    assert content(tmp_path / "shared") == whole
    assert content(tmp_path / "threads") == whole


@pytest.mark.usefixtures("undrawn")
def test_search_length__split_tracks_give_equal_bytes(store, cluster, sent, tmp_path: Path):
    study = partial(irmeta.studies.search_length, store, min_systems=2)
    study(tmp_path / "shared", executor=cluster)
    assert sent == [*range(4), *range(4)], "the study, and the table of the queries"
    runner.WHOLE_BLOCKS = 99  # restored by the fixture
    study(tmp_path / "whole", workers=1)
    assert content(tmp_path / "shared") == content(tmp_path / "whole")


@pytest.mark.usefixtures("undrawn")
def test_reanalyze__worker_killed_by_a_block_fails_its_track_only(store, tmp_path: Path):
    with Killing(1) as executor:
        with pytest.raises(IrmetaError, match=r"^1 of 2 tracks failed\. track big: its worker was"):
            irmeta.reanalyze(store.path, tmp_path / "out", measures="AP", executor=executor)
        with pytest.raises(DataError, match="track big: its worker was killed 4 times"):
            store.means("AP", track="big", executor=executor)
    assert irmeta.studies.open(tmp_path / "out").tables["tracks"]["track"].to_list() == ["a"]


@pytest.mark.usefixtures("undrawn")
def test_reanalyze__lost_executor_ends_the_batch(store, tmp_path: Path, monkeypatch):
    def lost(*given, **options):
        raise ExecutorError("no workers")
        yield

    monkeypatch.setattr(load, "ordered_map", lost)
    with ThreadPoolExecutor(1) as executor, pytest.raises(ExecutorError, match="no workers"):
        irmeta.reanalyze(store.path, tmp_path / "out", executor=executor, track="big")


def test_over_blocks__worker_that_reads_another_version_is_an_error(store, monkeypatch):
    real = load._on_block

    def later(function, sent, index):
        monkeypatch.setattr(FolderTrack, "fingerprint", lambda *given: "other")
        return real(function, sent, index)

    monkeypatch.setattr(load, "_on_block", later)
    said = pytest.raises(DataError, match="track a: was replaced while it was read")
    with ThreadPoolExecutor(1) as executor, said:
        list(over_blocks(queries_of, store.track("a"), executor=executor))


def test_evaluate__executor_and_store_in_memory_is_an_error(worked_examples: Path):
    store = irmeta.read(worked_examples / "ties")
    said = pytest.raises(UsageError, match="is in memory, where no other process reads it: ingest")
    with ThreadPoolExecutor(1) as executor, said:
        store.evaluate("AP", executor=executor, per_query=True)


def test_spec__pickles_as_its_name():
    names = [name for name, one in registry().items() if one.cutoff != "required"]
    for spec in parse_measures([*names, "map", "P_5", "RBP(p=0.5, unjudged=upper)@10"]):
        again = pickle.loads(pickle.dumps(spec))
        assert (again, again.asked) == (spec, spec.asked)


def test_command__evaluate_on_a_cluster(run, store, cluster, sent, worked_examples: Path):
    address = cluster._client.scheduler.address
    command = ("evaluate", store.path, "-m", "AP", "-q")
    found = run(*command, "--dask", address)
    assert (found.status, found.err) == (0, "")
    assert sorted(sent) == sorted([*range(8), *range(2)])
    assert found.out == run(*command).out
    refused = run("evaluate", worked_examples / "ties", "--dask", address)
    assert (refused.status, refused.err) == (
        2,
        f"irmeta: {worked_examples / 'ties'} is not a store: for --dask, make one by irmeta "
        "ingest.\n",
    )
