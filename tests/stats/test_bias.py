"""Bias of judges: displacements beyond permuted labels, against twins and exact enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.measures.drawn_labels import FIXED, PermutedLabels, is_doc_sum
from irmeta.measures.names import parse_measures
from irmeta.rankings.derive.relabel import relabelled
from irmeta.rankings.derive.sample import random_number
from irmeta.stats.bias import JudgeBias
from twins import judges as twin
from twins import measures as naive

Labels = dict[str, dict[str, float]]
SUMS = "P@3,nDCG@5,nDCG,AP,AP(norm=min)@4,RBP(p=0.7),R@4,nDCG@40,DCG(discount=zipf),AP(rel=2)@3"
TWINS: dict[str, Callable[[Any, Any], float]] = {
    "P@3": partial(naive.precision, k=3, rel=2),
    "AP": partial(naive.average_precision, rel=2),
    "nDCG@5": partial(naive.ndcg, k=5),
    "RBP(p=0.7)": partial(naive.rbp, p=0.7, rel=2),
}


def lists(seed: int = 0, systems: int = 5, queries: int = 4, docs: int = 12) -> tuple[Labels, Any]:
    """Return labels of docs, and lists of systems that find the relevant ones better and better."""
    rng = np.random.default_rng(seed)
    labels: Labels = {
        f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(docs)} for q in range(queries)
    }
    runs = {
        f"s{s}": {
            q: {
                d: float(g * s / systems + rng.normal())
                for d, g in own.items()
                if rng.random() < 0.8
            }
            for q, own in labels.items()
        }
        for s in range(systems)
    }  # fmt: skip
    return labels, runs


def judge_bias(
    reference: Any, judges: Any, measures: Any, *, groups: Any = None, **choices: Any
) -> JudgeBias:
    """Test means by permuted labels."""
    permuted = irmeta.permuted_means(reference, judges, measures, **choices)
    return irmeta.stats.judge_bias(permuted, groups=groups)


HUMAN, RUNS = lists()
GROUPS = {"type": {"s0": "a", "s1": "b", "s2": "a", "s3": None, "s4": "b"}}


def judged_by(seed: int = 1) -> Labels:
    """Return a judge that errs, lacks docs and a query, and has docs that the reference lacks."""
    rng = np.random.default_rng(seed)
    found: Labels = {
        q: {d: int(rng.integers(0, 4)) if rng.random() < 0.5 else g for d, g in own.items()}
        for q, own in HUMAN.items()
    }
    del found["q3"], found["q0"]["d0"]
    found["q1"]["unknown"] = 3
    return found


def views_of(**sets: Labels) -> dict[str, list[irmeta.JudgedRanks]]:
    store = irmeta.from_data({"human": HUMAN, **sets}, RUNS)
    return {name: list(store.views(store.tracks[0], qrels=name)) for name in ("human", *sets)}


VIEWS = views_of(judge=judged_by(), other=judged_by(2))


@pytest.mark.parametrize("by_query", [True, False])
def test_permuted_labels__only_docs_of_one_stratum_exchange_labels(by_query: bool):
    found = PermutedLabels.of(VIEWS["human"], VIEWS["judge"], by_query)
    (view,) = VIEWS["judge"]
    rows = slice(0, len(found.labels))
    drawn = found.permuted(rows, 50, np.random.default_rng(1))
    assert (drawn[:, 0] == found.labels).all()
    queries = [view.queries[q] for q in view.query_of(np.arange(len(view.grades)))]
    keys = [
        (q if by_query else "", HUMAN[q][d]) if d in HUMAN[q] else None
        for q, d in zip(queries, view.docs, strict=True)
    ]
    assert [s == FIXED for s in found.strata] == [key is None for key in keys]
    for key in {*keys}:
        docs = [i for i, one in enumerate(keys) if one == key]
        assert (np.sort(drawn[docs], axis=0) == np.sort(drawn[docs, :1], axis=0)).all()
        if key is None:
            assert (drawn[docs] == drawn[docs, :1]).all()
    assert (drawn != drawn[:, :1]).any()


@pytest.mark.parametrize("by_query", [True, False])
def test_means__of_sums_over_docs_equal_those_of_the_measures(by_query: bool):
    """The measures are computed on views with each set of labels."""
    labels = PermutedLabels.of(VIEWS["human"], VIEWS["judge"], by_query)
    specs = parse_measures(SUMS)
    assert all(is_doc_sum(spec) for spec in specs)
    found, queries = labels.means(specs, 6, np.random.default_rng(3))
    other = parse_measures("ERR@5,RR,Bpref,AP(unjudged=condensed)")
    assert not any(is_doc_sum(spec) for spec in other)
    assert queries == 3
    assert labels.is_common.tolist() == [True, True, True]
    (view,) = VIEWS["judge"]
    rng = np.random.default_rng(3)
    bounds = labels.offsets if by_query else labels.offsets[[0, -1]]
    drawn = np.concatenate([labels.permuted(slice(*one), 6, rng) for one in pairwise(bounds)])
    alone = labels.means(other, 6, np.random.default_rng(3))[0]
    for d in range(7):
        docs = _docs(view, labels.levels[drawn[:, d]])
        (changed,) = views_of(drawn=docs)["drawn"]
        for specs_, values in ((specs, found), (other, alone)):
            names = [spec.name for spec in specs_]
            expected = irmeta.scores_of(changed, names).values.mean(axis=1)
            np.testing.assert_allclose(values[:, d], np.nan_to_num(expected), atol=1e-12)


def _docs(view: irmeta.JudgedRanks, grades: np.ndarray) -> Labels:
    found: Labels = {query: {} for query in view.queries}
    for row, q in enumerate(view.query_of(np.arange(len(grades)))):
        found[view.queries[q]][view.docs[row]] = float(grades[row])
    return found


def naive_means(name: str, docs: Labels) -> list[float]:
    """Means over q0 to q2, which all sets judge, by the twins of the measures."""
    return [
        sum(TWINS[name](_ranking(run, q), docs[q]) for q in ("q0", "q1", "q2")) / 3
        for run in RUNS.values()
    ]


def _ranking(run: Labels, query: str) -> list[str]:
    return sorted(run[query], key=lambda doc: -run[query][doc])


@pytest.mark.parametrize("within", ["query", "track"])
def test_judge_bias__equals_twin(within: Any):
    """Permutations are ours; means, contrasts, z and the greatest of all are naive."""
    names, draws = [*TWINS], 39
    found = judge_bias(
        VIEWS["human"], {name: _with_rel(VIEWS[name], 2) for name in ("judge", "other")}, names,
        groups=GROUPS, within=within, draws=draws, rng=5,
    )  # fmt: skip
    tables = []
    for judge in ("judge", "other"):
        labels = PermutedLabels.of(VIEWS["human"], VIEWS[judge], within == "query")
        rng, bounds = np.random.default_rng(random_number(5, judge)), labels.offsets
        bounds = bounds if within == "query" else bounds[[0, -1]]
        drawn = np.concatenate(
            [labels.permuted(slice(*one), draws, rng) for one in pairwise(bounds)]
        )
        sets = [_docs(VIEWS[judge][0], labels.levels[column]) for column in drawn.T]
        tables += [[naive_means(name, docs) for docs in sets] for name in names]
    expected, critical = twin.bias(tables, [{0, 2}, {1, 4}])
    rows = found.rows.select("contrast", "sd", "z", "p").to_numpy()
    np.testing.assert_allclose(rows, np.array(expected), atol=1e-9)
    assert found.critical == pytest.approx(critical)
    first = found.rows.filter(judge="judge", measure="AP")
    assert first["name"].to_list() == ["all systems", *RUNS, "a", "b"]
    assert first["systems"].to_list() == [5, 1, 1, 1, 1, 1, 2, 2]
    assert found.rows["queries"].unique().to_list() == [3]
    close = (found.critical + 0.8416212335729143) * found.rows["sd"]
    assert found.rows["detectable"].to_list() == pytest.approx(close.to_list(), nan_ok=True)
    assert (found.rows["flagged"] == (found.rows["p"] <= 0.05)).all()


def _with_rel(views: list[irmeta.JudgedRanks], rel: int) -> list[irmeta.JudgedRanks]:
    return [replace(view, facts=replace(view.facts, rel=rel)) for view in views]


def test_judge_bias__approaches_exact_enumeration():
    """Of 192 arrangements of labels, the share at least as far out as the judge's."""
    first, second = [1, 4, 2, 3, 5, 6, 1, 2, 3, 4], [6, 2, 5, 1, 4, 3, 4, 3, 2, 1]
    ranks, offsets = np.array([first, second]).T, [0, 6, 10]
    human, judge = [1, 1, 0, 0, 0, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 0, 1, 1, 1, 0]
    order = [0, 2, 3, 1, 4, 5, 6, 7, 8, 9]
    docs = [f"d{i}" for i in range(10)]
    make = irmeta.JudgedRanks.from_arrays
    reference = make(ranks, np.array(human), offsets=offsets, docs=docs)
    other = make(
        ranks[order], np.array(judge)[order], offsets=offsets, docs=[docs[i] for i in order]
    )
    found = judge_bias(reference, {"judge": other}, "AP", draws=20_000, rng=2).rows
    strata: list[object] = [(i >= 6, grade) for i, grade in enumerate(human)]
    tables = []
    for labels in twin.rearranged([float(g) for g in judge], strata):
        qrels = [{docs[i]: int(labels[i]) for i in range(*one)} for one in ((0, 6), (6, 10))]
        values = [
            [naive.average_precision(_ordered(ranks, docs, s, q), qrels[q]) for q in (0, 1)]
            for s in (0, 1)
        ]
        tables.append([sum(of_system) / 2 for of_system in values])
    assert len(tables) == 2 * 24 * 2 * 2
    own = twin.rearranged([float(g) for g in judge], strata).index([float(g) for g in judge])
    rows, _ = twin.bias([[tables[own], *tables[:own], *tables[own + 1 :]]], [])
    np.testing.assert_allclose(found["contrast"], [row[0] for row in rows], atol=0.01)
    np.testing.assert_allclose(found["sd"], [row[1] for row in rows], atol=0.01)
    np.testing.assert_allclose(found["p"], [row[3] for row in rows], atol=0.02)


def _ordered(ranks: np.ndarray, docs: list[str], system: int, query: int) -> list[str]:
    rows = range(6) if query == 0 else range(6, 10)
    return [docs[i] for i in sorted(rows, key=lambda i: ranks[i, system])]


def many(seed: int = 0) -> tuple[Labels, Any]:
    return lists(seed, systems=12, queries=20, docs=30)


def _bias_of(human: Labels, runs: Any, judge: Labels, **choices: Any) -> pl.DataFrame:
    store = irmeta.from_data({"human": human, "judge": judge}, runs)
    own, other = (list(store.views(store.tracks[0], qrels=name)) for name in ("human", "judge"))
    return judge_bias(own, {"judge": other}, "P@5,AP", draws=199, **choices).rows


def test_judge_bias__favoured_group_is_named():
    human, runs = many()
    own = [runs[name] for name in ("s0", "s3")]
    judge = {
        q: {
            d: 1 if g == 0 and any(d in _ranking(run, q)[:5] for run in own) else g
            for d, g in docs.items()
        }
        for q, docs in human.items()
    }
    groups = {name: "llm" if name in ("s0", "s3") else "bm25" for name in runs}
    found = _bias_of(human, runs, judge, groups={"group": groups})
    rows = found.filter(measure="P@5", by="group").rows_by_key("name", named=True, unique=True)
    assert rows["llm"]["flagged"]
    assert rows["llm"]["contrast"] == pytest.approx(-rows["bm25"]["contrast"])
    assert rows["llm"]["contrast"] > 0
    flagged = found.filter("flagged", measure="P@5", by="system")
    assert {*flagged.filter(pl.col("contrast") > 0)["name"]} == {"s0", "s3"}


def test_judge_bias__of_less_is_better_has_the_sign_of_favour():
    human, runs = many()
    judge = {
        q: {d: 1 if g == 0 and d in _ranking(runs["s0"], q)[:5] else g for d, g in docs.items()}
        for q, docs in human.items()
    }
    store = irmeta.from_data({"human": human, "judge": judge}, runs)
    own, other = (list(store.views(store.tracks[0], qrels=name)) for name in ("human", "judge"))
    found = judge_bias(own, {"judge": other}, "ASL", draws=19).rows
    row = found.filter(name="s0").row(0, named=True)
    assert row["mean"] < row["expected"]
    assert row["contrast"] > 0


@pytest.mark.exhaustive
def test_judge_bias__of_blind_judges_is_found_no_oftener_than_the_level():
    human, runs = many()
    store = irmeta.from_data(human, runs)
    (view,) = store.views(store.tracks[0])
    rng, found = np.random.default_rng(4), 0
    for i in range(300):
        flipped = rng.random(len(view.grades)) < 0.1
        judge = relabelled(view, np.where(flipped, view.grades == 0, view.grades).astype(float))
        frame = judge_bias(view, {"judge": judge}, "P@5,AP", draws=19, rng=i).rows
        found += int(frame["flagged"].any())
    assert found / 300 <= 0.08


def test_judge_bias__without_errors_or_contrast_cannot_be_said():
    human, runs = many()
    flat: Labels = {q: dict.fromkeys(docs, 1.0) for q, docs in human.items()}
    for judge in (human, flat, {"q0": {"elsewhere": 1.0}}):
        found = _bias_of(human, runs, judge)
        assert found["p"].is_nan().all()
        assert not found["flagged"].any()


def test_judge_bias__does_not_depend_on_other_judges_but_for_p():
    one = judge_bias(VIEWS["human"], {"judge": VIEWS["judge"]}, "AP", draws=99).rows
    both = {name: VIEWS[name] for name in ("other", "judge")}
    beside = judge_bias(VIEWS["human"], both, "AP", draws=99).rows.filter(judge="judge")
    names = ["contrast", "sd", "z", "expected", "unjudged"]
    assert beside.select(names).equals(one.select(names))
    assert (beside["p"] >= one["p"]).all()


def test_judge_bias__unjudged_is_the_share_of_the_first_ten_ranks():
    found = judge_bias(VIEWS["human"], {"judge": VIEWS["judge"]}, "AP", draws=19, groups=GROUPS)
    shares = irmeta.scores_of(VIEWS["judge"][0], "Judged@10").values[0].mean(axis=0)
    rows = dict(found.rows.select("name", "unjudged").rows())
    assert rows["s1"] == pytest.approx(1 - shares[1])
    assert rows["a"] == pytest.approx(1 - (shares[0] + shares[2]) / 2)
    assert "hypotheses" in repr(found)


def test_judge_bias__refuses_what_it_cannot_test():
    human, judges = VIEWS["human"], {"judge": VIEWS["judge"]}
    with pytest.raises(irmeta.UsageError, match="no system 's9'"):
        judge_bias(human, judges, "AP", groups={"type": {"s9": "a"}})
    with pytest.raises(irmeta.UsageError, match="draws"):
        judge_bias(human, judges, "AP", draws=18)
    with pytest.raises(irmeta.UsageError, match="within"):
        judge_bias(human, judges, "AP", within="qurey")
    with pytest.raises(irmeta.UsageError, match="other systems"):
        judge_bias(human, {"judge": VIEWS["judge"][0].only_systems(["s0"])}, "AP")
    with pytest.raises(irmeta.UsageError, match="by subtopic"):
        judge_bias(human, judges, "alpha_nDCG@10")
    assert judge_bias(human, {}, "AP").rows.is_empty()
    assert math.isclose(judge_bias(human, judges, "AP", draws=39).confidence, 0.95)


def test_permuted_labels__more_levels_than_a_byte_has_values():
    """Decimal labels of 300 levels: the first means are those of the measure itself."""
    rng = np.random.default_rng(3)
    grades = np.sort(rng.random(300))[::-1].round(6)
    ranks = np.stack([rng.permutation(300) + 1 for _ in range(3)], axis=1)
    judge = irmeta.JudgedRanks.from_arrays(ranks, grades)
    reference = irmeta.JudgedRanks.from_arrays(ranks, (np.arange(300) < 150).astype(np.int8))
    (found,) = irmeta.permuted_means(reference, {"judge": judge}, "nDCG", draws=2)
    expected = irmeta.scores_of(judge, "nDCG").values[0, 0]
    assert found.values[0] == pytest.approx(expected, abs=1e-12)
