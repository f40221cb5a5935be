"""Measures of rareness: reference output, equations of the paper, and what changes S and S_d."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from irmeta.measures.names import parse_measure
from irmeta.measures.rareness import rare_parts
from irmeta.rankings.holders import COUNTED, RARITIES, holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.stats.orders import kendall_tau_b, round_means
from support.examples import scaled
from support.making import Track, down, tracks
from twins import rareness

ALL = ("RareP(alpha={})@4", "RareAP(alpha={})", "RareDCG(alpha={})@3", "RarenDCG(alpha={})")
ALL = (*ALL, "RareRBP(alpha={})", "RareAP(alpha={},mix=convex)@2")
PLAIN = ("P@4", "AP", "DCG@3", "nDCG", "RBP(p=0.8,rel=1)", "AP@2")


@pytest.fixture(scope="module")
def case3(shared: Path) -> irmeta.Store:
    """Six runs of the reference outputs, as one track."""
    folder = shared / "oracles" / "case3_innov"
    runs = sorted((folder / "inputs").iterdir())
    return irmeta.read_files(folder / "qrels.txt", runs, names="file")


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def values_of(store: irmeta.Store, measures: Iterable[str], **choices) -> dict[tuple, float]:
    """Return values by system, query, and name of the measure as written in `measures`."""
    written = {parse_measure(name).name: name for name in measures}
    rows = store.evaluate(list(written), **choices, per_query=True).select(
        "system", "query", "measure", "value"
    )
    return {(s, q, written[m]): v for s, q, m, v in rows.iter_rows()}


def test_rareness__equals_released_code(case3, shared):
    reference = json.loads((shared / "oracles/case3_innov/out.ecir2023.json").read_text())
    names = {
        f"{m}_rareness@{k},alpha={told}": f"Rare{m}(alpha={alpha})@{k}"
        for m in ("P", "AP")
        for k in (5, 10)
        for told, alpha in (("0", "0"), ("0.5", "0.5"), ("1.0", "1"), ("None", "1/R"))
    }
    found = values_of(case3, names.values())
    compared = 0
    for told, ours in names.items():
        for system, by_query in reference[told].items():
            for query, value in by_query.items():
                if query != "all":
                    assert found[system, query, ours] == pytest.approx(value, abs=1e-9), told
                    compared += 1
    assert compared == 16 * 6 * 8


def name_of(row: dict[str, str], measure: str) -> str:
    settings = f"alpha={row['alpha']},mix={row['mix']},rarity={row['rarity']}"
    return f"{measure}({settings})@{row['k']}"


@pytest.mark.exhaustive
def test_rareness__equals_reference_by_rarity_and_mix(case3, shared, worked_examples):
    rows = table(shared / "oracles/innovation/innovation_small.csv")
    store = irmeta.read(worked_examples)
    sources = {"case3_innov": (case3, {}), "paper2-rarity": (store, {"track": "paper2-rarity"})}
    assert {row["case"] for row in rows} == sources.keys()
    for case, (of, choices) in sources.items():
        asked = [row for row in rows if row["case"] == case]
        names = {name_of(row, measure) for row in asked for measure in ("RareP", "RareAP")}
        found = values_of(of, names, **choices)
        for row in asked:
            for measure in ("RareP", "RareAP"):
                value = found[row["system"], row["query"], name_of(row, measure)]
                assert value == pytest.approx(float(row[measure]), abs=1e-9), row


@pytest.mark.real
def test_rareness__means_of_robust_2003_equal_reference(real_store, shared):
    rows = table(shared / "oracles/innovation/innovation_robust2003_means_k100.csv")
    names = {name_of({**row, "k": "100"}, m) for row in rows for m in ("RareP", "RareAP")}
    written = {parse_measure(name).name: name for name in names}
    means = real_store.means(list(written), track="robust-2003")
    found = {
        (s, written[m]): v for s, m, v in means.select("system", "measure", "value").iter_rows()
    }
    for row in rows:
        for measure in ("RareP", "RareAP"):
            value = found[row["system"], name_of({**row, "k": "100"}, measure)]
            assert value == pytest.approx(float(row[f"{measure}@100"]), abs=1e-9), row


@pytest.mark.real
def test_rareness__queries_of_robust_2003_equal_reference(real_store, shared):
    rows = table(shared / "oracles/innovation/innovation_robust2003_per_query_k100.csv")
    names = [f"Rare{m}(alpha={alpha})@100" for m in ("P", "AP") for alpha in ("1", "1/R")]
    found = values_of(real_store, names, track="robust-2003")
    for row in rows:
        for measure in ("RareP", "RareAP"):
            value = found[row["system"], row["query"], f"{measure}(alpha={row['alpha']})@100"]
            assert value == pytest.approx(float(row[f"{measure}@100"]), abs=1e-9), row


def test_holders_within__groups_and_others_equal_reference(case3, shared):
    rows = table(shared / "oracles/innovation/innovation_case3_groups_k10.csv")
    (view,) = case3.views("case3_innov")
    view = replace(view, facts=replace(view.facts, groups=("g1", "g1", "g2", "g2", "g3", "g3")))
    every = np.arange(len(view.grades))
    docs = {(view.queries[q], view.docs[i]): i for i, q in enumerate(view.query_of(every))}
    held = {counted: holders_within(view, every, 10, counted) for counted in COUNTED}
    rarity = {counted: found.rarity("linear") for counted, found in held.items()}
    for row in rows:
        i = docs[row["query"], row["doc"]]
        assert held["systems"].retrieved_by[i, 0] == int(row["S_d"])
        assert held["groups"].retrieved_by[i, 0] == int(row["G_d"])
        assert rarity["systems"][i, 0] == pytest.approx(float(row["R_systems"]), abs=1e-12)
        assert rarity["groups"][i, 0] == pytest.approx(float(row["R_groups"]), abs=1e-12)
        for column in range(3):
            if told := row[f"R_others_g{column + 1}"]:
                assert rarity["others"][i, column] == pytest.approx(float(told), abs=1e-12)


@pytest.mark.parametrize("track", ["news", "passage", "web"])
def test_rareness__alpha_zero_is_the_plain_measure(made_store, track):
    for unjudged in ("nonrelevant", "condensed"):
        rare = [parse_measure(name.format(0)) for name in ALL]
        names = [with_unjudged(spec.name, unjudged) for spec in rare]
        plain = [with_unjudged(name, unjudged) for name in PLAIN]
        found = made_store.scores([*names, *plain], track=track).values
        np.testing.assert_array_equal(found[: len(ALL)], found[len(ALL) :])


def with_unjudged(name: str, unjudged: str) -> str:
    stem, at, cut = name.partition("@")
    inside = f"{stem[:-1]}," if stem.endswith(")") else f"{stem}("
    return f"{inside}unjudged={unjudged}){at}{cut}"


def view_of(track: Track) -> irmeta.JudgedRanks:
    (view,) = track.read().views("t")
    return view


@settings(max_examples=scaled(40))
@given(tracks(), st.data())
def test_rareness__counted_equals_naive_twins(track: Track, data: st.DataObject):
    view, names = view_of(track), sorted(track.runs)
    drawn = st.lists(st.sampled_from(["g", "h", None]), min_size=len(names), max_size=len(names))
    groups = dict(zip(names, data.draw(drawn), strict=True))
    pooled = set(data.draw(st.lists(st.sampled_from(names), unique=True)))
    facts = replace(
        view.facts,
        groups=tuple(groups[s] for s in view.systems),
        pooled=tuple(s in pooled for s in view.systems),
        pool_known=True,
    )
    kind, k = data.draw(st.sampled_from(RARITIES)), data.draw(st.sampled_from([1, 3, 20]))
    depth = data.draw(st.sampled_from([None, 1, 2, 30]))
    said = f"rarity={kind}" + ("" if depth is None else f",depth={depth}")
    for counted in COUNTED:
        measures = [f"{m}(counted={counted},{said})@{k}" for m in ("RareP", "RareAP")]
        values = irmeta.scores_of(replace(view, facts=facts), measures).values
        how = {"kind": kind, "counted": counted, "depth": depth, "groups": groups, "pooled": pooled}
        for q, query in enumerate(view.queries):
            lists = {s: track.ranking(s, query) for s in track.runs}
            for s, system in enumerate(view.systems):
                given = system, lists, track.qrels[query], k
                expected = [f(*given, **how) for f in (rareness.rare_precision, rareness.rare_ap)]
                assert values[:, q, s] == pytest.approx(expected, abs=1e-12), (counted, how)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks())
def test_rareness__bounds_and_growth_with_alpha(track: Track):
    store, systems = track.read(), len(track.runs)
    most = {"linear": (systems - 1) / systems, "revised": 1, "idf": 1, "unique": 1}
    for stem in ("RareP({})@3", "RareAP({})"):
        before = 0.0
        for alpha in (0, 0.5, 1, 7):
            names = [stem.format(f"alpha={alpha},rarity={kind}") for kind in RARITIES]
            values = store.scores(names, track="t").values
            for kind, of_kind in zip(RARITIES, values, strict=True):
                assert of_kind.max() <= 1 + alpha * most[kind] + 1e-12
            assert (values >= before).all()
            before = values
        for alpha in ("0", "0.4", "1", "1/R"):
            convex = [stem.format(f"alpha={alpha},mix=convex,rarity={kind}") for kind in RARITIES]
            assert store.scores(convex, track="t").values.max() <= 1 + 1e-12


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks(), st.sampled_from([0.1, 0.5, 0.9]))
def test_rareness__convex_mix_is_a_scaled_sum(track: Track, alpha: float):
    """Eq. 4 at a < 1 is 1 - a times Eq. 1 at a / (1 - a) x S / (S - 1)."""
    store, systems = track.read(), len(track.runs)
    larger = alpha / (1 - alpha) * systems / (systems - 1)
    for stem in ("RareP({})@3", "RareAP({})@4", "RareAP({})", "RarenDCG({})@5"):
        names = [stem.format(f"alpha={alpha},mix=convex"), stem.format(f"alpha={larger!r}")]
        convex, added = store.scores(names, track="t").values
        np.testing.assert_allclose(convex, (1 - alpha) * added, rtol=1e-12, atol=1e-15)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks(), st.sampled_from(RARITIES))
def test_rareness__run_without_relevant_docs_never_lowers_a_value(track: Track, kind: str):
    query = next(iter(track.qrels))
    padded = replace(track, runs={**track.runs, "zzz": {query: down("nothing")}})
    names = [f"RareP(rarity={kind})@3", f"RareAP(rarity={kind})", f"RareRBP(rarity={kind})"]
    before, after = (view_of(t) for t in (track, padded))
    values = irmeta.scores_of(after, names).values[:, :, :-1]
    assert (values >= irmeta.scores_of(before, names).values - 1e-12).all()


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks(), st.data())
def test_rareness__clone_in_a_group_changes_no_value_by_groups(track: Track, data: st.DataObject):
    names = sorted(track.runs)
    cloned = data.draw(st.sampled_from(names))
    query = next(iter(track.qrels))
    more = {"zclone": track.runs[cloned], "zempty": {query: down("nothing")}}
    groups = {name: "g" if name == cloned else name for name in names} | dict.fromkeys(more, "g")
    measures = ["RareP(counted=groups)@3", "RareAP(counted=groups)", "RareAP(counted=others)"]
    found = []
    for runs in (track.runs, track.runs | more):
        view = view_of(replace(track, runs=runs))
        of_systems = tuple(groups[s] for s in view.systems)
        view = replace(view, facts=replace(view.facts, groups=of_systems))
        found.append(irmeta.scores_of(view, measures).values[:, :, : len(names)])
    np.testing.assert_array_equal(found[0][:2], found[1][:2])
    own = names.index(cloned)  # by others, the group's own runs do not change its values
    np.testing.assert_array_equal(found[0][2, :, own], found[1][2, :, own])


def test_rareness__selected_systems_do_not_change_the_counts(made_store):
    names = [name.format("1/R") for name in ALL]
    every = made_store.evaluate(names, track="news", per_query=True)
    alone = made_store.evaluate(names, track="news", system="aldBM25", per_query=True)
    assert alone.rows() == every.filter(system="aldBM25").rows()


def test_rareness__one_system_has_no_rarity():
    track = Track({"s": {"q": down("a", "x", "b")}}, {"q": {"a": 1, "b": 2, "x": 0}})
    for kind in RARITIES:
        names = [f"RareP(rarity={kind})@3", f"RareAP(rarity={kind})"]
        assert irmeta.scores_of(view_of(track), names).values.ravel().tolist() == [
            pytest.approx(2 / 3),
            pytest.approx((1 + 2 / 3) / 2),
        ]


def test_rareness__docs_retrieved_by_all_keep_the_plain_order(made_store):
    """All systems have the same docs in another order: linear rarity is 0."""
    runs = {"a": {"q": down("x", "y", "z")}, "b": {"q": down("z", "x", "y")}}
    view = view_of(Track(runs, {"q": {"x": 1, "y": 1}}))
    rare, plain = irmeta.scores_of(view, "RareAP,AP").values
    np.testing.assert_array_equal(rare, plain)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("RareP@100", "RareP(alpha=1)@100"),
        ("RareAP(counted=groups)@100", "RareAP(alpha=1,counted=groups)@100"),
        ("RareP(rarity=linear,depth=10)@10", "RareP(alpha=1)@10"),
        ("RareP(alpha=1,mix=convex,rarity=revised)@10", "RareP(alpha=1,mix=convex)@10"),
        ("RareAP(rarity=linear,mix=convex)", "RareAP(alpha=1,mix=convex,rarity=linear)"),
        ("RareAP(alpha=1/R,depth=10)", "RareAP(alpha=1/R,depth=10)"),
        ("RareRBP(alpha=0.5)@10", "RareRBP(alpha=0.5,p=0.8,rel=1)@10"),
    ],
)
def test_parse_measure__rareness_prints_what_changes_the_number(written, name):
    assert parse_measure(written).name == name


def test_provenance__records_what_rareness_counts(made_store):
    made = made_store.provenance("RareAP(counted=pooled)@10", track="news")
    (record,) = made["measures"].values()
    assert (record["counted"], record["depth"], record["alpha"]) == ("pooled", None, 1.0)
    facts = made["tracks"]["news"]
    assert facts["counted"]["systems"] == 20
    assert "pool" in facts
    assert "counted" not in made_store.provenance("AP", track="news")["tracks"]["news"]


def test_explain__rareness_shows_counts_of_each_term(made_store):
    found = made_store.explain("RareAP@10", system="aldBM25", query="901", track="news")
    assert found.trace.terms
    assert all("S = 20" in term.arithmetic for term in found.trace.terms)


@pytest.mark.exhaustive
def test_curve__rareness_equals_means_at_each_cutoff(made_store):
    frame = made_store.curve("RareP,RareAP(counted=groups)", [1, 4, 30], track="news")
    for measure, k, of_cut in (
        (m, k, frame.filter(measure=m, k=k))
        for m in frame["measure"].unique(maintain_order=True)
        for k in (1, 4, 30)
    ):
        means = made_store.means(f"{measure}@{k}", track="news")
        assert of_cut["value"].to_list() == pytest.approx(means["value"].to_list(), abs=1e-12)


def grouped(view: JudgedRanks) -> JudgedRanks:
    """Return the view with one group of two systems, and one system that is not in the pool."""
    systems = len(view.systems)
    groups, pooled = (None, "g", "g", None)[:systems], (True, False, True, True)[:systems]
    return replace(view, facts=replace(view.facts, groups=groups, pooled=pooled, pool_known=True))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", RARITIES)
@settings(max_examples=scaled(10))
@given(
    tracks(),
    st.sampled_from(COUNTED),
    st.sampled_from([0.0, 0.5, 3.0]),
    st.integers(1, 6),
    st.sampled_from([None, 1, 3, 8]),
)
def test_means__equal_measures_of_fewer_systems(
    kind, track: Track, counted, alpha: float, k: int, depth: int | None
):
    (view,) = track.read().views("t")
    view = grouped(view)
    systems = len(view.systems)
    members = np.array([[bool(n >> s & 1) for s in range(systems)] for n in range(1, 2**systems)])
    found = rare_parts([view], k, depth=depth).means(members, alpha, kind, counted)
    settings = f"alpha={alpha!r},rarity={kind},counted={counted}"
    settings += "" if depth is None else f",depth={depth}"
    names = [f"Rare{m}({settings})@{k}" for m in ("P", "AP")]
    for draw, of_draw in enumerate(members):
        chosen = [name for name, is_in in zip(view.systems, of_draw, strict=True) if is_in]
        values = irmeta.scores_of(view.only_systems(chosen), names).values
        np.testing.assert_allclose(found[:, draw, of_draw], values.mean(axis=1), rtol=1e-12)
        assert np.isnan(found[:, draw, ~of_draw]).all()


def mean_taus(parts, subsets: list[tuple[int, ...]]) -> np.ndarray:
    """Return the mean tau-b of RareP and RareAP: Algorithm 1 on given subsets."""
    members = np.zeros((len(subsets), len(parts.systems)), bool)
    for draw, subset in enumerate(subsets):
        members[draw, list(subset)] = True
    every = parts.means(np.ones((1, len(parts.systems)), bool))[:, 0]
    means = parts.means(members)
    taus = [
        [
            kendall_tau_b(round_means(every[m, of])[None], round_means(means[m, draw, of])[None])
            for draw, of in enumerate(members)
        ]
        for m in range(2)
    ]
    return np.mean(taus, axis=1).ravel()


@pytest.mark.real
@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [2, 16])
def test_means__algorithm_1_on_all_subsets_equals_reference(real_store, shared, number):
    path = shared / "oracles" / "innovation" / "innovation_robust2003_algorithm1.json"
    reference = json.loads(path.read_text())[str(number)]
    parts = rare_parts(real_store.views("robust-2003"), 100)
    subsets = list(combinations(range(17), number))
    assert len(subsets) == reference["subsets"]
    expected = [reference["mean_tau_b RareP@100"], reference["mean_tau_b RareAP@100"]]
    assert mean_taus(parts, subsets).tolist() == pytest.approx(expected, abs=1e-9)


def test_rare_parts__blocks_of_queries_make_one_mean(made_store):
    (view,) = made_store.views("news")
    halves = view.only_queries(view.queries[:9]), view.only_queries(view.queries[9:])
    every = np.ones((1, 20), bool)
    joined = rare_parts(halves, 10).means(every)
    np.testing.assert_allclose(joined, rare_parts([view], 10).means(every), rtol=1e-12)


def test_rare_parts__rejects_invalid_arguments(made_store):
    (view,) = made_store.views("news")
    with pytest.raises(UsageError, match="k = 0"):
        rare_parts([view], 0)
    with pytest.raises(UsageError, match="at least one view"):
        rare_parts([], 10)
    with pytest.raises(UsageError, match="depth = 0"):
        rare_parts([view], 10, depth=0)
    with pytest.raises(UsageError, match="queries=retrieved"):
        rare_parts([view], 10, queries="retrieved")
    with pytest.raises(UsageError, match="not bool"):
        rare_parts([view], 10).means(np.ones((1, 3), bool))
    with pytest.raises(UsageError, match="float64"):
        rare_parts([view], 10).means(np.ones((1, 20)))


@pytest.mark.parametrize("counted", COUNTED)
def test_with_runs__copies_count_as_systems_that_retrieve_the_same(made_store, counted):
    (view,) = made_store.views("news")
    parts = rare_parts([view], 10)
    twice = parts.with_runs(parts.hits[:, :2], parts.groups[:2])
    copies = np.ones((1, 20), np.int64)
    copies[0, :2] = 2
    np.testing.assert_allclose(
        twice.means(np.ones((1, 22), bool), counted=counted),
        parts.means(copies, counted=counted),
        rtol=1e-12,
    )


def test_rare_parts__queries_without_a_relevant_doc_count_unless_left_out():
    track = Track({"a": {"1": down("x"), "2": down("y")}}, {"1": {"x": 1}, "2": {"y": 0}})
    (view,) = track.read().views("t")
    every = np.ones((1, 1), bool)
    for queries, value in (("judged", 0.5), ("relevant", 1.0)):
        parts = rare_parts([view], 1, queries=queries)
        assert parts.means(every).ravel().tolist() == [value, value]
