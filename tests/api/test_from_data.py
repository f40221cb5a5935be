"""Data in memory give the numbers that files give, to the last bit, in every function."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ir_measures
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import pytrec_eval
from hypothesis import given, settings
from polars.testing import assert_frame_equal

import irmeta
from irmeta import Store
from irmeta.testing.samples import Track, tracks
from support.examples import scaled
from support.making import read_qrels, read_run

SYSTEMS = ("kestBM25", "kestBM25p", "kestRM3")
MEASURES = "AP,nDCG(gain=exp)@5,P(ties=share)@3,Judged@10,ASL,AP(unjudged=condensed)"


class Files:
    """Three runs and the qrels of a track, as files, dicts and frames."""

    def __init__(self, collections: Path) -> None:
        track = collections / "passage"
        self.runs = {name: track / "runs" / f"{name}.gz" for name in SYSTEMS}
        self.qrels = track / "qrels.txt"
        rows = [
            (system, query, doc, float(score), int(rank))
            for system, path in self.runs.items()
            for query, lines in read_run(path).items()
            for doc, score, rank in lines
        ]
        columns = ["system", "query_id", "doc_id", "score", "rank"]
        self.frame = pl.DataFrame(rows, schema=columns, orient="row")
        self.qrels_dict = read_qrels(self.qrels)
        judged = [(q, d, g) for q, docs in self.qrels_dict.items() for d, g in docs.items()]
        self.qrels_frame = pl.DataFrame(
            judged, schema=["query_id", "doc_id", "relevance"], orient="row"
        )
        self.dicts = {system: self.dict_of(system) for system in self.runs}
        self.store = irmeta.read_files(self.qrels, self.runs.values())

    def dict_of(self, system: str) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for query, doc, score in self.of(system).select("query_id", "doc_id", "score").iter_rows():
            found.setdefault(query, {})[doc] = score
        return found

    def of(self, system: str) -> pl.DataFrame:
        return self.frame.filter(system=system).drop("system")


@pytest.fixture(scope="module")
def files(collections: Path) -> Files:
    return Files(collections)


def scored_docs(frame: pl.DataFrame) -> list[ir_measures.ScoredDoc]:
    return [ir_measures.ScoredDoc(*row) for row in frame.drop("rank").iter_rows()]


class Ranx:
    """Runs and qrels with the attributes of ranx."""

    def __init__(self, values: dict[str, dict[str, float]], name: str | None = None) -> None:
        self.run = self.qrels = self.values = values
        self.name = name

    def to_dict(self) -> dict[str, dict[str, float]]:
        return self.values


def pyterrier(frame: pl.DataFrame) -> Any:
    names = {"query_id": "qid", "doc_id": "docno"}
    of_terrier = frame.rename(names).with_columns(query=pl.lit("words"), docid=pl.lit(7))
    return of_terrier.to_pandas()


RUNS: dict[str, Callable[[Files], object]] = {
    "dict of dicts": lambda f: f.dicts,
    "polars": lambda f: f.frame,
    "polars, systems interleaved": lambda f: f.frame.sample(fraction=1, shuffle=True, seed=1),
    "polars lazy": lambda f: f.frame.lazy(),
    "polars categorical": lambda f: f.frame.with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "pandas": lambda f: f.frame.to_pandas(),
    "pyarrow": lambda f: f.frame.to_arrow(),
    "duckdb": lambda f: duckdb.from_arrow(f.frame.to_arrow()),
    "arrow stream": lambda f: pa.RecordBatchReader.from_stream(f.frame),
    "dict of frames": lambda f: {s: f.of(s) for s in f.runs},
    "PyTerrier": lambda f: {s: pyterrier(f.of(s)) for s in f.runs},
    "ir_measures": lambda f: {s: iter(scored_docs(f.of(s))) for s in f.runs},
    "ranx": lambda f: [Ranx(f.dicts[s], s) for s in f.runs],
    "paths": lambda f: list(f.runs.values()),
    "named paths": lambda f: {s: str(p) for s, p in f.runs.items()},
    "open files": lambda f: [path.open("rb") for path in f.runs.values()],
    "mixed": lambda f: {
        "kestBM25": f.of("kestBM25"),
        "kestBM25p": f.dicts["kestBM25p"],
        "kestRM3": f.runs["kestRM3"],
    },
}
QRELS: dict[str, Callable[[Files], object]] = {
    "dict of dicts": lambda f: f.qrels_dict,
    "polars": lambda f: f.qrels_frame,
    "pandas": lambda f: f.qrels_frame.to_pandas(),
    "PyTerrier": lambda f: f.qrels_frame.rename(
        {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    ).to_pandas(),
    "BEIR": lambda f: f.qrels_frame.rename(
        {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
    ),
    "ir_measures": lambda f: ir_measures.read_trec_qrels(str(f.qrels)),
    "ranx": lambda f: Ranx(f.qrels_dict),
    "path": lambda f: f.qrels,
    "open file": lambda f: io.StringIO(f.qrels.read_text()),
    "list": lambda f: [f.qrels_frame[:100], f.qrels_frame[100:]],
    "named": lambda f: {"graded": f.qrels_dict},
}


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("form", RUNS)
def test_from_data__runs_in_any_form_give_the_values_of_files(form: str, files: Files):
    store = irmeta.from_data(files.qrels, RUNS[form](files))
    assert_frame_equal(
        store.evaluate(MEASURES, per_query=True),
        files.store.evaluate(MEASURES, per_query=True),
        check_exact=True,
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", QRELS)
def test_from_data__qrels_in_any_form_give_the_values_of_files(form: str, files: Files):
    store = irmeta.from_data(QRELS[form](files), files.dicts, track="passage")
    assert_frame_equal(
        store.evaluate(MEASURES, per_query=True),
        files.store.evaluate(MEASURES, per_query=True),
        check_exact=True,
    )


CHOSEN: Any = {"system": "kestBM25", "query": "443396"}
CALLS: dict[str, Callable[[Store], object]] = {
    "pairs.compare": lambda s: [one.means().tolist() for one in s.pairs.compare(track="passage")],
    "per_doc.contributions": lambda s: s.per_doc.contributions(),
    "compare": lambda s: s.compare("AP")[0].systems,
    "curve": lambda s: s.curve("AP", [5, 10], ds=[3]),
    "docs": lambda s: s.docs(),
    "eval_policy": lambda s: s.eval_policy,
    "evaluate": lambda s: s.evaluate("default", per_query=True),
    "explain": lambda s: str(s.explain("AP", **CHOSEN)),
    "qrels_sets": lambda s: s.qrels_sets(),
    "pairs.differences": lambda s: s.pairs.differences("kestRM3", "kestBM25", "AP"),
    "plot.differences": lambda s: s.plot.differences("kestRM3", "kestBM25", "AP").to_dict(),
    "pairs.explain": lambda s: str(s.pairs.explain("RPP", baseline="kestRM3", **CHOSEN)),
    "failures": lambda s: s.failures,
    "info": lambda s: s.info(),
    "pools.budget": lambda s: s.pools.budget(order="random", budget=(20, 50), draws=2).frame(),
    "pools.drawn": lambda s: s.pools.drawn("P@10", draws=3),
    "pools.leave_out": lambda s: s.pools.leave_out("AP", pool_depth=5),
    "means": lambda s: s.means("trec_eval"),
    "merged": lambda s: s.merged({"queries": "judged"}),
    "plot.rarity": lambda s: s.plot.rarity().to_dict(),
    "pools.to_judge": lambda s: s.pools.to_judge(pool_depth=5),
    "pairs.preferences": lambda s: s.pairs.preferences("RPP"),
    "power": lambda s: s.power("AP,RR").counts,
    "prefer": lambda s: s.prefer("RPP", resamples=20, rank_resamples=20)[0].systems,
    "qrels": lambda s: s.qrels(),
    "per_doc.rarity": lambda s: s.per_doc.rarity(rarity_depth=7),
    "results": lambda s: s.results,
    "runs": lambda s: s.runs(),
    "scores": lambda s: s.scores("AP,RR", track="passage").frame(per_query=True),
    "per_doc.search_lengths": lambda s: s.per_doc.search_lengths(),
    "run_notes": lambda s: s.run_notes(),
    "factors": lambda s: s.factors(),
    "samples": lambda s: s.samples(),
    "subtopics": lambda s: s.subtopics(),
    "systems": lambda s: s.systems().drop("file", "sha256"),
    "pairs.ties": lambda s: s.pairs.ties("AP"),
    "tracks": lambda s: s.tracks,
    "stability.truncation": lambda s: s.stability.truncation("P@5"),
    "pools.unjudged": lambda s: [str(one) for one in s.pools.unjudged()],
    "views": lambda s: [view.ranks.tolist() for view in s.views("passage")],
    "stability.volatility": lambda s: s.stability.volatility("AP", ks=[5, 10], systems="all"),
    "warnings": lambda s: s.warnings("passage"),
    "pairs.win_rates": lambda s: s.pairs.win_rates("RPP", resamples=20),
}
ELSEWHERE = {
    *(
        "path",
        "policy",
        "policy_with",
        "reader",
        "track",
        "each",
        "fingerprint",
        "provenance",
        "pairs.provenance",
    ),
    *(
        "queries",
        "to_trec",
        "parts",
        "pairs.lists",
        "plot.compare",
        "plot.curve",
        "plot.search_lengths",
    ),
}
"""Members that name their input, or are tested elsewhere."""
NAMESPACES = ("pairs", "per_doc", "plot", "pools", "stability")


@pytest.fixture(scope="module")
def in_memory(files: Files) -> Store:
    return irmeta.from_data(files.qrels_frame, files.frame, track="passage")


def test_calls__name_every_public_member_of_store(in_memory: Store):
    public = {name for name in dir(in_memory) if not name.startswith("_")} - set(NAMESPACES)
    for space in NAMESPACES:
        inside = (name for name in dir(getattr(in_memory, space)) if not name.startswith("_"))
        public |= {f"{space}.{name}" for name in inside}
    assert public == CALLS.keys() | ELSEWHERE


@pytest.mark.parametrize("name", CALLS)
def test_from_data__every_method_of_store_gives_the_result_of_files(
    name: str, in_memory: Store, files: Files
):
    ours, theirs = CALLS[name](in_memory), CALLS[name](files.store)
    if isinstance(ours, pl.DataFrame | pl.LazyFrame):
        assert isinstance(theirs, pl.DataFrame | pl.LazyFrame)
        assert_frame_equal(ours.lazy().collect(), theirs.lazy().collect(), check_exact=True)
    else:
        assert ours == theirs


def test_from_data__fingerprint_depends_on_values_only(in_memory: Store, files: Files):
    again = irmeta.from_data(files.qrels_frame.to_pandas(), files.frame.to_arrow(), track="passage")
    assert again.fingerprint == in_memory.fingerprint
    more = files.frame.with_columns(pl.col("score") + (pl.int_range(pl.len()) == 5))
    other = irmeta.from_data(files.qrels_frame, more, track="passage")
    assert other.fingerprint != in_memory.fingerprint


@pytest.mark.exhaustive
@given(tracks())
@settings(max_examples=scaled(15))
def test_from_data__random_track_gives_the_values_of_files(made: Track):
    dicts = {
        system: {q: {line[0]: line[1] for line in lines} for q, lines in lists.items()}
        for system, lists in made.runs.items()
    }
    ours = irmeta.from_data(made.qrels, dicts, track="t", workers=1)
    theirs = made.read()
    for order in ("trec_eval", "trec_eval10", "score-file", "file"):
        values = [s.evaluate(MEASURES, tie_order=order, per_query=True) for s in (ours, theirs)]
        assert_frame_equal(*values, check_exact=True)


@pytest.mark.parametrize("call", [irmeta.from_data, irmeta.evaluate])
def test_from_data__names_of_files_are_no_option(call: Callable[..., object]):
    with pytest.raises(irmeta.UsageError, match="names: runs are named by their keys in a dict"):
        call({"q": {"a": 1}}, {"q": {"a": 1}}, names="file")


def test_from_data__ties_are_those_of_float32():
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 16777217.0, "b": 16777216}}  # tied as float32, so b comes first
    assert irmeta.evaluate(qrels, run, "RR", per_query=True)["value"].to_list() == [0.5]
    assert irmeta.evaluate(qrels, run, "RR", tie_order="trec_eval10", per_query=True)[
        "value"
    ].to_list() == [1.0]
    scores = {"q": dict(zip("ab", np.array([0.1, 0.2], np.float32), strict=True))}
    assert irmeta.from_data(qrels, scores).runs().collect()["score"].to_list() == [
        float(np.float32(0.2)),
        float(np.float32(0.1)),
    ]


def test_from_data__rank_column_is_read():
    run = pl.DataFrame(
        {"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [1, 0]}
    )
    store = irmeta.from_data({"q": {"b": 1}}, run, tie_order="rank")
    assert store.means("RR")["value"].to_list() == [1.0]
    with pytest.raises(irmeta.DataError, match="tie order `rank`, but some ranks are not whole"):
        irmeta.from_data({"q": {"b": 1}}, run.drop("rank"), tie_order="rank")


def test_from_data__whole_ids_are_text():
    frame = pl.DataFrame({"qid": [301, 301], "docno": [10, 9], "score": [2, 1]})
    store = irmeta.from_data({301: {10: 0, 9: 1}}, frame)
    assert store.means("RR")["value"].to_list() == [0.5]
    assert store.docs().collect()["doc"].to_list() == ["10", "9"]


def test_from_data__own_tables_are_read(files: Files):
    runs, qrels = files.store.runs().collect(), files.store.qrels()
    store = irmeta.from_data(qrels, runs, track="passage")
    assert_frame_equal(
        store.evaluate(MEASURES, per_query=True),
        files.store.evaluate(MEASURES, per_query=True),
        check_exact=True,
    )


@pytest.mark.exhaustive
def test_from_data__column_subtopic_makes_subtopics(collections: Path):
    web = collections / "web"
    theirs = irmeta.read(collections, track="web")
    rows = [line.split() for line in (web / "diversity.qrels.txt").read_text().splitlines()]
    frame = pl.DataFrame(rows, schema=["qid", "subtopic", "docno", "label"], orient="row")
    frame = frame.with_columns(pl.col("label").cast(pl.Int64))
    for given_qrels, choices in (
        (frame, {}),
        (frame.rename({"subtopic": "iteration"}), {"subtopics": True}),
        (web / "diversity.qrels.txt", {"subtopics": True}),
    ):
        store = irmeta.from_data(given_qrels, theirs.runs("web"), track="web", **choices)
        names = "alpha_nDCG@10,StRecall@5"
        assert_frame_equal(store.means(names), theirs.means(names), check_exact=True)
    with pytest.raises(irmeta.DataError, match=r"several values of column 2.*subtopics=True"):
        irmeta.from_data(frame.rename({"subtopic": "iteration"}), theirs.runs("web"))


def test_from_data__qrels_sets_are_named():
    sets = {"graded": {"q": {"a": 2}}, "strict": {"q": {"a": 0, "b": 1}}}
    store = irmeta.from_data(sets, {"q": {"b": 2.0, "a": 1.0}})
    assert store.means("RR")["value"].to_list() == [0.5]
    assert store.means("RR", qrels="strict")["value"].to_list() == [1.0]


def test_from_data__runs_without_names_are_numbered():
    runs = [{"q": {"a": 1}}, pl.DataFrame({"qid": ["q"], "docno": ["b"], "score": [1.0]})]
    store = irmeta.from_data({"q": {"a": 1}}, runs)
    assert store.means("RR").select("system", "value").rows() == [("run1", 1.0), ("run2", 0.0)]
    assert irmeta.from_data({"q": {"a": 1}}, runs[0]).systems()["system"].to_list() == ["run"]


def test_from_data__run_without_judged_queries_is_skipped():
    runs = {"good": {"q": {"a": 1}}, "odd": {"other": {"a": 1}}}
    with pytest.warns(irmeta.SkippedRunWarning, match=r"1 run skipped: .*runs\['odd'\]: none of"):
        store = irmeta.from_data({"q": {"a": 1}}, runs)
    assert store.means("RR")["system"].to_list() == ["good"]
    with pytest.raises(irmeta.DataError, match="track data: none of its 1 runs can be used"):
        irmeta.from_data({"q": {"a": 1}}, runs["odd"])


def test_from_data__duplicate_option_keeps_the_first():
    run = pl.DataFrame({"qid": ["q"] * 3, "docno": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]})
    message = "runs: query q has doc a a second time"
    with pytest.raises(irmeta.DataError, match=message):
        irmeta.from_data({"q": {"a": 1}}, run)
    store = irmeta.from_data({"q": {"a": 1}}, run, duplicates="first", depth=2)
    assert store.means("RR")["value"].to_list() == [0.5]
    assert store.systems()["duplicates"].to_list() == [1]


def test_evaluate__equals_pytrec_eval(files: Files):
    names = {"map", "ndcg_cut_10", "P_5", "recip_rank", "bpref"}
    evaluator = pytrec_eval.RelevanceEvaluator(files.qrels_dict, names)
    found = irmeta.evaluate(
        files.qrels_dict, files.dicts, names, queries="retrieved", per_query=True
    )
    for system, run in files.dicts.items():
        rows = found.filter(system=system).select("query", "asked", "value").iter_rows()
        expected = evaluator.evaluate(run)
        assert all(value == pytest.approx(expected[q][m], abs=1e-12) for q, m, value in rows)
    assert found.height == sum(map(len, files.dicts.values())) * len(names)


def test_evaluate__means_are_a_frame_as_those_of_the_store(files: Files):
    names = "map,AP@5,AP(average=geometric)"
    found = irmeta.evaluate(files.qrels_dict, files.frame, names)
    assert found.columns == ["system", "measure", "asked", "value", "queries"]
    assert found["asked"].unique().sort().to_list() == ["AP(average=geometric)", "AP@5", "map"]
    expected = files.store.evaluate(names)
    assert_frame_equal(expected, files.store.means(names), check_exact=True)
    assert_frame_equal(found.drop("asked"), expected.select(*found.drop("asked").columns))


def test_evaluate__policies_apply(files: Files):
    policies: Any = {"queries": "relevant", "depth": 20, "pool_depth": 5}
    policies["pool_order"] = "trec_eval"  # the lists are cut under this order
    found = irmeta.evaluate(files.qrels, files.frame, "AP", **policies, per_query=True)
    read = irmeta.read_files(files.qrels, files.runs.values(), depth=policies.pop("depth"))
    expected = read.evaluate("AP", **policies, per_query=True).drop("track")
    assert_frame_equal(found.select(expected.columns), expected, check_exact=True)


def test_evaluate__preset_trec_eval10_has_its_tie_order():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 16777217.0, "b": 16777216.0}}
    for preset in ("trec_eval10", "TREC_EVAL10"):
        found = irmeta.evaluate(qrels, run, preset, depth=5, per_query=True)
        assert found.filter(measure="RR")["value"].to_list() == [1.0]


def test_to_dict__has_the_shape_of_pytrec_eval(files: Files):
    evaluator = pytrec_eval.RelevanceEvaluator(files.qrels_dict, {"map", "P_5"})
    scores = files.store.scores("map,P_5", track="passage", queries="retrieved")
    assert list(scores.to_dict(per_query=True)) == list(SYSTEMS)
    for system in SYSTEMS:
        expected = evaluator.evaluate(files.dicts[system])
        assert scores.to_dict(system, per_query=True) == {
            q: pytest.approx(v) for q, v in expected.items()
        }
    with pytest.raises(irmeta.UsageError, match=r"no system 'kestBM'.*'kestBM25'"):
        scores.to_dict("kestBM")


def test_to_dict__has_means_by_name_as_written(files: Files):
    found = files.store.scores("map", track="passage").to_dict()
    means = files.store.means("AP").select("system", "value").iter_rows()
    assert found == {system: {"map": value} for system, value in means}


def test_to_dict__has_the_queries_that_the_policy_averages():
    qrels = {"1": {"a": 1}, "2": {"a": 2}, "3": {"a": 0}}
    store = irmeta.from_data(qrels, {"1": {"a": 1}})
    scores = store.scores("RR,RR(rel=2)", track="data", queries="relevant")
    expected = {"1": {"RR": 1.0}, "2": {"RR": 0.0, "RR(rel=2)": 0.0}}
    assert scores.to_dict("run", per_query=True) == expected


def test_evaluate__measure_with_several_names_has_a_row_for_each():
    found = irmeta.evaluate(
        {"q": {"a": 1}}, {"q": {"a": 1.0}}, "map,P_5,AP,P@5,map", per_query=True
    )
    assert found.select("measure", "asked", "value").rows() == [
        ("AP", "map", 1.0),
        ("AP", "AP", 1.0),
        ("P@5", "P_5", 0.2),
        ("P@5", "P@5", 0.2),
    ]
    scores = irmeta.from_data({"q": {"a": 1}}, {"q": {"a": 1.0}}).scores("map,AP,RR", track="data")
    assert scores.to_dict("run", per_query=True) == {"q": {"map": 1.0, "AP": 1.0, "RR": 1.0}}


JUDGED = {"q1": {"x": 1, "y": 0}, "q2": {"x": 1, "y": 1}, "q3": {"z": 1}}
RANKED = {
    "a": {"q1": {"x": 2.0, "y": 1.0}, "q2": {"y": 1.0}, "q3": {"z": 1.0}},
    "b": {"q1": {"x": 1.0, "y": 2.0}, "q2": {"x": 1.0}, "q3": {"y": 1.0}},
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("call", [irmeta.compare, irmeta.power, irmeta.prefer])
@pytest.mark.parametrize("choices", [{}, {"negative": "nonrelevant", "depth": 1}])
def test_compare_power_prefer__data_give_the_results_of_their_store(call: Any, choices: Any):
    name = "RPP" if call is irmeta.prefer else "AP"
    for qrels in (JUDGED, pl.DataFrame(_rows(JUDGED), ["qid", "docno", "label"], orient="row")):
        ours = call(qrels, RANKED, name, duplicates="first", **choices)
        theirs = call(irmeta.from_data(qrels, RANKED, depth=choices.get("depth")), name)
        for one, other in zip(ours, theirs, strict=True):
            frames = (f if isinstance(f, pl.DataFrame) else f.systems for f in (one, other))
            assert_frame_equal(*frames)


def _rows(qrels: dict[str, dict[str, int]]) -> list[tuple[str, str, int]]:
    return [(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]


def test_compare__data_are_read_from_files_and_in_a_tie_order(
    collections: Path,
):
    qrels = collections / "passage" / "qrels.txt"
    runs = [collections / "passage" / "runs" / f"kest{name}.gz" for name in ("BM25", "RM3")]
    ours = irmeta.compare(str(qrels), runs, "AP", depth=10, tie_order="file", test="sign")
    store = irmeta.read_files(qrels, runs, depth=10, tie_order="file")
    (found,) = irmeta.compare(store, "AP", test="sign")
    assert_frame_equal(ours[0].systems, found.systems)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((JUDGED,), "no results: pass a store, a folder, files, matrices or a table of values; or"),
        ((JUDGED, RANKED), "specify measures"),
        ((irmeta.from_data(JUDGED, RANKED), RANKED, "AP"), "results hold their runs"),
    ],
)
def test_compare__incomplete_data_are_refused(arguments: tuple[Any, ...], said: str):
    with pytest.raises(irmeta.UsageError, match=said):
        irmeta.compare(*arguments)


@pytest.mark.exhaustive
def test_studies__data_are_refused_and_their_store_is_read(tmp_path: Path, undrawn: None):
    for wrong in ((JUDGED, RANKED, tmp_path), (JUDGED, tmp_path), (JUDGED, RANKED)):
        with pytest.raises(irmeta.UsageError, match=r"irmeta\.from_data\(qrels, runs\) makes one"):
            irmeta.studies.search_length(*wrong)
    with pytest.raises(irmeta.UsageError, match=r"dict is no store\. Studies read stores"):
        irmeta.studies.run_all(JUDGED, RANKED)
    done = irmeta.studies.search_length(irmeta.from_data(JUDGED, RANKED), tmp_path / "out")
    assert done.tables["studied_tracks"]["track"].to_list() == ["data"]


def test_prefer__qrels_without_runs_are_refused():
    with pytest.raises(irmeta.UsageError, match="no store: pass a store or its folder; or qrels"):
        irmeta.prefer(JUDGED)
