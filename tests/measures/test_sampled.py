"""Estimates of sampled judgments, and compatibility with ideal lists."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.checksums import add_checksum, parse_record, to_json
from irmeta.errors import UsageError
from irmeta.measures.evaluate import scores_of
from irmeta.measures.names import canonical
from irmeta.rankings.derive.select import take_rows
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Sample
from irmeta.rankings.load import judged_ranks
from irmeta.stats.orders import kendall_tau_b
from irmeta.trec.qrels import parse_qrels
from irmeta.trec.streams import InputFile
from support.cells import EXPLAINED, NEGATIVE, assert_equal, twin_values, values_of
from support.examples import scaled
from support.making import Track, down, tracks
from twins.binary_families import Sampled, estimates

FORMATS = {"prels": "prels", "stratum": "sample-eval"}


def write(track: Track, sampled: Sampled, folder: Path) -> Path:
    """Write a collection of a track, with its qrels as a sample."""
    track.write(folder)
    kind = "prels" if sampled.prels is not None else "stratum"
    of = getattr(sampled, kind)
    lines = []
    for query, docs in track.qrels.items():
        for doc, grade in docs.items():
            if kind == "prels":
                method, probability = of[query][doc]
                chance = "NA" if probability is None else probability
                lines.append(f"{query} {doc} {grade} {method} {chance}\n")
            else:
                lines.append(f"{query} 0 {doc} {of[query][doc]} {grade}\n")
    (folder / "t" / "qrels").write_text("".join(lines), encoding="utf-8")
    (folder / "collection.toml").write_text(
        '[tracks.t]\nruns = ["t/runs/*"]\n'
        f'qrels = [{{ name = "qrels", file = "t/qrels", format = "{FORMATS[kind]}" }}]\n',
        encoding="utf-8",
    )
    return folder


def all_docs(track: Track, of_doc: Callable[[], object]) -> dict[str, dict[str, object]]:
    """Map each judged doc to a value."""
    return {query: {doc: of_doc() for doc in docs} for query, docs in track.qrels.items()}


@st.composite
def samples(draw: st.DrawFn) -> tuple[Track, Sampled]:
    """Draw a track with strata or with inclusion probabilities."""
    track = draw(tracks(systems=3, queries=2))
    if draw(st.booleans()):
        return track, Sampled(stratum=all_docs(track, lambda: draw(st.sampled_from("1A2"))))
    chances = st.tuples(st.sampled_from((0, 1, 2, 4)), st.sampled_from((None, 0.125, 0.3, 1.0)))
    return track, Sampled(prels=all_docs(track, lambda: draw(chances)))


@pytest.mark.exhaustive
@settings(max_examples=scaled(30))
@given(samples())
def test_evaluate__values_of_samples_equal_naive_twins(drawn: tuple[Track, Sampled]):
    track, sampled = drawn
    twins = estimates(sampled)
    with TemporaryDirectory() as folder:
        store = irmeta.read(write(track, sampled, Path(folder)), workers=1)
    for negative in NEGATIVE:
        found = values_of(store, list(twins), negative=negative)
        assert_equal(found, twin_values(track, twins, negative=negative))


def of_explained(kind: str) -> Sampled:
    """Return a sample of the track whose arithmetic is explained."""
    turn = iter(range(1000))
    if kind == "stratum":
        return Sampled(stratum=all_docs(EXPLAINED, lambda: "1A"[next(turn) % 2]))
    kinds = ((1, 0.25), (2, 0.5), (0, 0.125), (1, None), (4, 1.0))
    return Sampled(prels=all_docs(EXPLAINED, lambda: kinds[next(turn) % 5]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", FORMATS)
def test_explain__arithmetic_of_samples_equals_values(kind: str, tmp_path: Path):
    sampled = of_explained(kind)
    track = replace(EXPLAINED, diversity={}, described={})
    store = irmeta.read(write(track, sampled, tmp_path))
    for (system, query, measure), value in values_of(store, list(estimates(sampled))).items():
        found = store.explain(measure, system=system, query=query)
        np.testing.assert_allclose(found.trace.value, value, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, irmeta.Store]:
    """Stores in folders, of a sample in each format."""
    stores = {}
    for kind in FORMATS:
        folder = tmp_path_factory.mktemp(kind)
        track = replace(EXPLAINED, diversity={}, described={})
        irmeta.ingest(write(track, of_explained(kind), folder / "in"), folder / "store")
        stores[kind] = irmeta.open_store(folder / "store")
    return stores


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", FORMATS)
def test_store__sample_is_kept_in_folder_as_in_memory(kind: str, stored, tmp_path: Path):
    store, names = stored[kind], list(estimates(of_explained(kind)))
    again = irmeta.read(store.to_trec(tmp_path / "out"))
    assert_equal(values_of(store, names), values_of(again, names))
    assert store.samples().collect().equals(again.samples().collect())
    assert store.provenance(names)["tracks"]["t"]["sampled_qrels"] == FORMATS[kind]


def test_samples_table__only_sampled_tracks_have_one(stored, made_store):
    table = stored["prels"].samples().filter(query="q").select("doc", "method", "probability")
    assert table.collect().rows()[:3] == [("a", 1, 0.25), ("b", 2, 0.5), ("c", 0, 0.125)]
    assert made_store.samples().collect().height == 0
    assert not (Path(str(made_store.reader)) / "samples").exists()


def test_xinfap__inclusion_probabilities_without_strata_are_refused(stored):
    for name in ("xinfAP", "infNDCG", "infP@5"):
        with pytest.raises(UsageError, match="inclusion probabilities instead of strata"):
            stored["prels"].evaluate(name, per_query=True)


@pytest.mark.parametrize("name", ["statAP", "statNumRel"])
def test_stat_ap__smaller_pool_of_a_sample_is_refused(stored, name: str):
    with pytest.raises(UsageError, match="does not know how they were sampled"):
        stored["prels"].evaluate(name, pool_depth=1, per_query=True)


@pytest.mark.exhaustive
def test_ingest__sampled_track_of_an_earlier_version_is_read_again(tmp_path: Path):
    track = replace(EXPLAINED, diversity={}, described={})
    source = write(track, of_explained("prels"), tmp_path / "in")
    irmeta.ingest(source, tmp_path / "store")
    file = tmp_path / "store" / "tracks" / "t.json"
    record = parse_record(file.read_bytes())
    del record["files"]["samples/part-0.parquet"], record["config"]["qrels"][0]["keeps_sample"]
    file.write_bytes(add_checksum(to_json(record)))
    shutil.rmtree(tmp_path / "store" / "samples")
    store = irmeta.open_store(tmp_path / "store")
    assert store.evaluate("AP", per_query=True).height
    with pytest.raises(UsageError, match="ingest the collection again"):
        store.evaluate("statAP", per_query=True)
    irmeta.ingest(source, tmp_path / "store")
    assert store.evaluate("statAP", per_query=True).height


# Ten docs of the pool in two strata: the first is judged in full, a third of the second.
POOL = {"q": {"a": 1, "b": 0, "c": 2, "d": -1, "e": 1, "f": -1, "g": -1, "h": 0, "i": -1, "j": -1}}
STRATA = Sampled(stratum={"q": {doc: "1" if doc in "abc" else "2" for doc in POOL["q"]}})
LISTED = Track({"s": {"q": down(*"abdxe")}}, POOL)


def test_sample_eval__worked_numbers(tmp_path: Path):
    store = irmeta.read(write(LISTED, STRATA, tmp_path))
    value = {
        m: v for (_, _, m), v in values_of(store, "sample_eval,xinfAP(smoothing=none)").items()
    }
    # Doc e stands for 7/2 docs of stratum 2; with a and c, 5.5 docs are relevant.
    assert value["infNumRel"] == pytest.approx(5.5)
    # Above e at rank 5 are two docs of stratum 1, one relevant, and a doc of stratum 2, unjudged.
    assert value["xinfAP(smoothing=none)"] == pytest.approx((1 + 3.5 * (1 + 1) / 5) / 5.5)
    above = 2 * (1 + 1e-5) / (2 + 3e-5) + 1e-5 / 3e-5
    expected = (1 + 3.5 * (1 + above) / 5) / 5.5
    assert value["xinfAP(norm=min)@1000"] == pytest.approx(expected, rel=1e-12)
    # Two docs of stratum 2 are retrieved, one of them judged. The ideal list has c, then 4.5 docs.
    dcg = 1 + 2 / np.log2(6)
    ideal = 2 + sum(1 / np.log2(rank + 1) for rank in (2, 3, 4, 5))
    assert value["infNDCG@1000"] == pytest.approx(dcg / ideal, rel=1e-12)


PRELS = Sampled(
    prels={"q": {"a": (1, 0.5), "b": (1, 0.2), "c": (0, 0.25), "e": (1, 0.25), "h": (2, 0.1)}}
)


def test_stat_ap__worked_numbers(tmp_path: Path):
    track = Track({"s": {"q": down(*"abdce")}}, {"q": {"a": 1, "b": 0, "c": 2, "e": 1, "h": 0}})
    store = irmeta.read(write(track, PRELS, tmp_path))
    names = "statMAP,statP@4,statRprec,statNumRel,statAP(mtc=excluded)"
    value = {m: v for (_, _, m), v in values_of(store, names).items()}
    # The weights of a, c (chosen for MTC) and e are 2, 1 and 4.
    assert value["statNumRel"] == 7
    assert value["statAP"] == pytest.approx((2 * 1 + 1 * 3 / 4 + 4 * 4 / 5) / 7, rel=1e-12)
    assert value["statP@4"] == pytest.approx(3 / 4)
    assert value["statRprec"] == pytest.approx(7 / 7)
    assert value["statAP(mtc=excluded)"] == pytest.approx((2 * 1 + 4 * 3 / 5) / 6, rel=1e-12)


def test_sample_eval_preset__names(tmp_path: Path):
    assert canonical("sample_eval")[0] == "xinfAP(norm=min)@1000"
    assert canonical("infndcg@10,XINFAP,statmap") == ["infNDCG@10", "xinfAP", "statAP"]


COMPLETE = {
    "statAP": "AP",
    "statP@10": "P@10",
    "statRprec": "Rprec",
    "statNumRel": "NumRel",
    "xinfAP(smoothing=none)": "AP",
    "xinfAP(smoothing=infAP)": "infAP",
    "infNDCG": "nDCG",
    "infNDCG@20": "nDCG@20",
    "infP(smoothing=none)@10": "P@10",
    "infNumRel": "NumRel",
}


@pytest.fixture(scope="module")
def robust(real_store: irmeta.Store) -> JudgedRanks:
    """Twenty queries of a track whose pool is judged in full."""
    (view,) = judged_ranks(real_store.track("robust-2003"))
    return view.only_queries(view.queries[::5])


@pytest.mark.real
def test_estimates__complete_judgments_equal_the_measures_that_they_estimate(robust: JudgedRanks):
    found = scores_of(robust, list(COMPLETE)).values
    expected = np.stack([scores_of(robust, name).values[0] for name in COMPLETE.values()])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def drawn(view: JudgedRanks, share: float, kind: str, rng: np.random.Generator) -> JudgedRanks:
    """Judge the first docs of every list, and a random share of the other docs of the pool."""
    is_top = view.ranks.min(axis=1) <= 10
    is_judged = is_top | (rng.random(len(view.grades)) < share)
    rows = len(view.grades)
    sample = Sample(
        np.full(rows, -1, np.int32), (), np.ones(rows, np.int8), np.where(is_top, 1.0, share)
    )
    if kind == "prels":
        facts = replace(view.facts, sampled="prels")
        full = replace(view, sample=sample, facts=facts, _cache={})
        return take_rows(full, np.flatnonzero(is_judged))
    sample = replace(sample, stratum=np.where(is_top, 0, 1).astype(np.int32), names=("top", "rest"))
    grades = np.where(is_judged, view.grades, -1).astype(np.int8)
    order = np.lexsort((-grades.astype(np.int64), view.query_of(np.arange(rows))))
    facts = replace(view.facts, sampled="sample-eval")
    full = replace(view, sample=sample, grades=grades, facts=facts, _cache={})
    return take_rows(full, order)


ESTIMATED = {
    "prels": {"statNumRel": "NumRel", "statP@20": "P@20", "statAP": "AP"},
    "stratum": {
        "infNumRel": "NumRel",
        "infNumRelRet(smoothing=none)": "NumRelRet",
        "xinfAP": "AP",
        "infNDCG": "nDCG",
    },
}


@pytest.mark.real
@pytest.mark.parametrize("kind", ESTIMATED)
def test_estimates__mean_over_samples_of_a_real_pool_is_the_value(robust: JudgedRanks, kind: str):
    estimated, rng = ESTIMATED[kind], np.random.default_rng(3)
    trials = [
        np.nanmean(scores_of(drawn(robust, 0.3, kind, rng), list(estimated)).values, axis=1)
        for _ in range(25)
    ]
    found = np.mean(trials, axis=0)
    expected = np.stack(
        [scores_of(robust, name).values[0].mean(axis=0) for name in estimated.values()]
    )
    # Ratios of two estimates, such as statAP, have a bias that falls with the size of samples.
    np.testing.assert_allclose(found.mean(axis=1), expected.mean(axis=1), rtol=0.03)
    error = np.std(trials, axis=0, ddof=1) / np.sqrt(len(trials))
    assert (abs(found - expected) <= 4 * error + 0.03 * expected).all()


@pytest.mark.real
def test_stat_num_rel__real_prels_equal_output_of_statap_mq_eval(shared: Path, tmp_path: Path):
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "run").write_text("1 Q0 clueweb09-enwp01-75-20596 1 1 s\n", encoding="utf-8")
    shutil.copy(shared / "qrels" / "prels.web.1-50.txt.gz", folder)
    (tmp_path / "collection.toml").write_text(
        '[tracks.web]\nruns = ["web/run"]\nqrels = [{ name = "prels", '
        'file = "web/prels.web.1-50.txt.gz", format = "prels" }]\n',
        encoding="utf-8",
    )
    values = irmeta.read(tmp_path).evaluate("statNumRel", per_query=True).filter(query="1")
    assert round(values["value"].item(), 6) == 220.290989  # printed as Relevant=220.290989


@pytest.mark.real
def test_prels__real_files_keep_every_method_and_probability(shared: Path, tmp_path: Path):
    for name, rows, certain in (("web.1-50", 13118, 2452), ("mq.10001-20000", 15211, 7257)):
        file = shared / "qrels" / f"prels.{name}.txt.gz"
        sample = parse_qrels(InputFile.at(file, file.name), "prels").sample
        assert sample.height == rows
        assert (sample["method"] == 0).sum() == certain
        assert sample["probability"].is_between(0, 1, closed="right").all()


@pytest.mark.parametrize(("form", "ideal_docs"), [("2012", 2), ("2011", 3)])
def test_inf_ndcg__form_rounds_the_docs_of_the_ideal_list(tmp_path, form: str, ideal_docs: int):
    # One relevant doc of two judged ones stands for 5/2 docs.
    grades = {"a": 1, "b": 0, "c": -1, "d": -1, "e": -1}
    sampled = Sampled(stratum={"q": dict.fromkeys(grades, "1")})
    store = irmeta.read(write(Track({"s": {"q": down("a")}}, {"q": grades}), sampled, tmp_path))
    (value,) = store.means(f"infNDCG(form={form})")["value"]
    assert value == pytest.approx(1 / sum(1 / np.log2(i + 1) for i in range(1, ideal_docs + 1)))


JUDGES = {
    "original": None,
    "umbrela_zeroshot": "gpt4o-umbrela",
    "preferences": "preferences",
}


def judge_of(name: str) -> str | None:
    return JUDGES.get(name, f"gpt4o-{name.replace('_', '-')}")


def test_compatibility__overlap_of_worked_example():
    """The lists share no doc at depth 1 and two at depth 2; the ideal list with itself 1 and 2."""
    qrels, run = {"q": {"a": 3, "b": 1, "c": 0}}, {"q": {"b": 4.0, "a": 3.0, "c": 2.0}}
    means = irmeta.evaluate(qrels, {"run": run}, "Compat(p=0.5,depth=2)")
    assert means["value"][0] == pytest.approx((0.5 * 2 / 2) / (1 + 0.5 * 2 / 2))


def test_compatibility__docs_of_one_grade_are_ideal_in_any_order():
    qrels = {"q": dict.fromkeys("abc", 2) | {"d": 1}}
    for order in ("abcd", "cbad"):
        run = {"q": {doc: -float(place) for place, doc in enumerate(order)}}
        (value,) = irmeta.evaluate(qrels, {"run": run}, "Compat")["value"]
        assert value == pytest.approx(1.0)


@pytest.fixture(scope="module")
def runs(shared: Path) -> irmeta.Store:
    folder = shared / "judges" / "trec-dl-2021-passage"
    return irmeta.read_files(folder / "qrels.txt", sorted((folder / "runs").iterdir()))


@pytest.fixture(scope="module")
def track(shared: Path, runs: irmeta.Store) -> tuple[irmeta.Store, Path]:
    """Runs with ranks in the order of the published values: tied docs by ascending name."""
    folder = shared / "judges" / "trec-dl-2021-passage"
    oracles = shared / "oracles" / "judges" / "compatibility"
    order = ["system", "query", "score", "doc"]
    rows = runs.runs().select(order).sort(order, descending=[False, False, True, False]).collect()
    ranks = pl.int_range(1, pl.len() + 1).over("system", "query").alias("rank")
    names = [file.suffixes[0][1:] for file in sorted(oracles.glob("dl21.*"))]
    sets = {
        name: folder / "qrels.txt" if judge is None else folder / "judges" / f"{judge}.txt"
        for name in names
        for judge in [judge_of(name)]
    }
    data = rows.select("system", "query", "doc", ranks)
    return irmeta.from_data(sets, data), oracles


@pytest.mark.real
def test_compatibility__published_values_of_thirteen_sets(track: tuple[irmeta.Store, Path]):
    store, oracles = track
    for file in sorted(oracles.glob("dl21.*")):
        name = file.suffixes[0][1:]
        text = file.read_text().replace("runid,topic,compatibility\n", "")
        columns = {"system": pl.String, "query": pl.String, "published": pl.Float64}
        published = pl.read_csv(text.encode(), has_header=False, schema=columns)
        ours = store.evaluate("Compat(p=0.9)", qrels=name, per_query=True)
        both = ours.join(published, on=["system", "query"])
        assert both.height >= 50 * 63
        assert (both["value"] - both["published"]).abs().max() < 1e-12, name


@pytest.mark.real
def test_compatibility__published_taus_with_ndcg(
    track: tuple[irmeta.Store, Path], runs: irmeta.Store
):
    """The averages of the nuggets sets are over other years' queries too, so theirs are absent."""
    store, oracles = track
    human = runs.means("nDCG@10")["value"].to_numpy()
    table = pl.read_csv(oracles / "published_tau.csv", has_header=False).rows()
    compared = {name: tau for _, name, tau in table if "nuggets" not in name}
    assert len(compared) == 7
    for name, tau in compared.items():
        values = store.means("Compat(p=0.9)", qrels=name.replace(" ", "_"))["value"].to_numpy()
        assert round(float(kendall_tau_b(human[None], values[None])[0, 0]), 3) == tau, name
