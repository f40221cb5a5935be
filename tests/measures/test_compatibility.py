"""Compatibility: published values of 63 runs and 13 sets of labels, and a worked example."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.stats.orders import kendall_tau_b

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
