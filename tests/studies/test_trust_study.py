"""The study of trust: grades, and made tracks where the answer is known by construction."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.rankings.derive.lists import reorder_ties
from irmeta.report.theme import TEXT_WIDTH, WIDTH
from irmeta.studies.original.trust.grades import (
    CARE,
    CRITERIA,
    SAFE,
    UNKNOWN,
    UNSAFE,
    measure_facts,
    verdicts,
)
from irmeta.studies.original.trust.page import FIGURES
from irmeta.studies.original.trust.study import TrustOptions
from support.trusted import FEW, Labels, lists, results_of
from twins.orders import kendall_tau_b

pytestmark = pytest.mark.usefixtures("undrawn")


BY_COLUMN = {one.column: one for one in CRITERIA}


@pytest.mark.parametrize(
    ("column", "value", "grade"),
    [
        ("half_tau", 0.8, SAFE),
        ("half_tau", 0.7999, CARE),
        ("half_tau", 0.6, CARE),
        ("half_tau", 0.59, UNSAFE),
        ("half_tau", 0.1 + 0.7, SAFE),
        ("half_tau", math.nan, UNKNOWN),
        ("depth_tau", None, UNKNOWN),
        ("swaps", 0.01, SAFE),
        ("swaps", 0.05, CARE),
        ("swaps", 0.051, UNSAFE),
        ("dropped_tau", 0.79, UNSAFE),
        ("end_flips", 0.1, CARE),
        ("tie_tau", 0.9, SAFE),
    ],
)
def test_criterion__grade(column: str, value: float | None, grade: str):
    assert BY_COLUMN[column].grade(value) == grade


def test_verdicts__worst_criterion_of_a_family_decides():
    row = {"half_tau": 0.9, "swaps": 0.02, "left_out_tau": 0.95, "altered_tau": 0.7}
    found = verdicts(row, systems=9, queries=50, reasons={"depth": "no depth"})
    assert (found["queries"].grade, found["queries"].number) == (CARE, "2.0%")
    assert "2.0%" in found["queries"].why
    assert (found["judgments"].grade, found["judgments"].number) == (UNSAFE, "0.700")
    assert found["depth"].grade == UNKNOWN
    assert found["depth"].why == "no depth"
    few = verdicts(row, systems=4, queries=50)
    assert {one.grade for one in few.values()} == {UNKNOWN}
    assert few["queries"].why == "4 systems are too few"
    assert "3 queries" in verdicts(row, systems=9, queries=3)["depth"].why


def studied(
    out: Path, qrels: object, runs: dict[str, Labels], **choices: Any
) -> dict[str, dict[str, Any]]:
    """Return the rows of the table `trust` by measure."""
    results = results_of(out, qrels, runs, **choices)
    return {row["measure"].split("(")[0]: row for row in results.tables["trust"].to_dicts()}


def ranked(docs: list[str]) -> dict[str, float]:
    return {doc: float(len(docs) - i) for i, doc in enumerate(docs)}


def test_trust__lone_system_with_deep_docs_of_its_own(tmp_path: Path):
    """Left out of the pool, its AP drops, but not RBP of persistence 0.8, which reads the top."""
    rng, qrels, runs = np.random.default_rng(1), Labels(), {f"s{s}": Labels() for s in range(7)}
    for q in range(12):
        top = [f"r{i}" for i in range(20)]
        rest = [f"n{i}" for i in range(30)]
        own = [f"own{i}" for i in range(25)]
        qrels[f"q{q}"] = dict.fromkeys([*top, *own], 1.0) | dict.fromkeys(rest, 0.0)
        for s in range(7):
            first = [top[i] if rng.random() < 0.3 + 0.1 * s else rest[i] for i in range(20)]
            deep = [doc for doc in rest[20:] if doc not in first]
            order = [*first, *(own if s == 2 else deep)]
            runs[f"s{s}"][f"q{q}"] = ranked(order)
    rows = studied(tmp_path, qrels, runs)
    grade = BY_COLUMN["left_out_tau"].grade
    assert grade(rows["AP"]["left_out_least"]) == UNSAFE
    assert grade(rows["AP"]["left_out_tau"]) == CARE
    assert rows["AP"]["left_out_named"] == "s2"
    assert grade(rows["RBP"]["left_out_least"]) == SAFE
    assert rows["AP"]["left_out_drop"] > rows["RBP"]["left_out_drop"]
    assert rows["AP"]["greatest_rank_change"] > 3
    assert (rows["AP"]["left_out"], rows["AP"]["contributors"]) == ("run", 7)


def test_trust__reliable_track_is_safe_by_queries(tmp_path: Path):
    qrels, runs = lists(queries=200, noise=0.3)
    row = studied(tmp_path, qrels, runs)["AP"]
    assert row["queries_grade"] == SAFE
    assert row["half_tau"] > 0.9
    assert row["swaps"] == 0
    assert row["separated"] > 0.7
    assert row["queries_needed"] < 200


def test_trust__few_queries_and_noise_are_unsafe(tmp_path: Path):
    qrels, runs = lists(queries=10, noise=8.0)
    row = studied(tmp_path, qrels, runs)["AP"]
    assert row["queries_grade"] == UNSAFE
    assert row["half_tau"] < 0.6


def test_trust__orders_of_tied_runs_are_unsafe(tmp_path: Path):
    qrels, runs = lists()
    tied = {s: {q: dict.fromkeys(docs, 1.0) for q, docs in of.items()} for s, of in runs.items()}
    row = studied(tmp_path, qrels, tied)["AP"]
    assert row["tie_tau_low"] < row["tie_tau"] < 0.5
    assert row["ties_and_ends_grade"] == UNSAFE
    assert "random orders of tied docs" in row["ties_and_ends_why"]
    assert row["tie_pairs"] == 1


def test_trust__a_lone_run_with_ties_is_named_and_decides_no_grade(tmp_path: Path):
    qrels, runs = lists(queries=12, noise=0.5)
    runs["s0"] = {q: dict.fromkeys(docs, 0.0) for q, docs in qrels.items()}
    row = studied(tmp_path, qrels, runs)["AP"]
    assert (row["tie_movers"], row["tie_movers_named"]) == (1, "s0")
    assert row["tie_tau"] > 0.9
    assert row["ties_and_ends_grade"] == SAFE


def test_trust__identical_systems(tmp_path: Path):
    qrels, runs = lists()
    row = studied(tmp_path, qrels, dict.fromkeys(runs, runs["s3"]))["AP"]
    assert math.isnan(row["half_tau"])
    assert row["tied_pairs"] == 1
    assert row["separated"] == 0
    assert math.isnan(row["tie_tau"])
    assert row["queries_grade"] == UNKNOWN


def test_trust__other_labels(tmp_path: Path):
    qrels, runs = lists(noise=0.5)
    turned = {q: {d: 1 - g for d, g in docs.items()} for q, docs in qrels.items()}
    results = results_of(tmp_path, {"people": qrels, "same": qrels, "turned": turned}, runs)
    row = results.tables["trust"].row(0, named=True)
    assert row["other_qrels_tau"] == 0
    assert (row["other_qrels_least"], row["other_qrels_named"]) == (-1, "turned")
    assert row["judgments_grade"] == UNSAFE
    assert row["dropped_tau_low"] < row["dropped_tau"] < row["dropped_tau_high"]
    changes = results.tables["changes"].filter(measure="AP")
    taus = {(c, a): t for c, a, t in changes.select("change", "amount", "tau_b").iter_rows()}
    assert taus["qrels set", "same"] == 1
    assert taus["labels altered", "20%"] >= taus["labels altered", "60%"]
    assert {a for c, a in taus if c == "relevant docs kept"} == {"50%", "25%", "10%"}
    assert row["dropped_tau"] == taus["relevant docs kept", "50%"]
    assert row["altered_tau"] == taus["labels altered", "40%"]


def test_trust__too_few_systems(tmp_path: Path):
    qrels, runs = lists(systems=3)
    row = studied(tmp_path, qrels, runs)["AP"]
    assert row["queries_grade"] == row["depth_grade"] == UNKNOWN
    assert row["queries_why"] == "3 systems are too few"


def test_trust__values_equal_twins(tmp_path: Path):
    qrels, runs = lists(systems=5, queries=9, noise=1.5)
    results = results_of(tmp_path, qrels, runs)
    row = results.tables["trust"].filter(measure="AP").row(0, named=True)
    (matrix,) = irmeta.matrices(irmeta.from_data(qrels, runs), "AP")
    values = matrix.values
    pairs = list(combinations(range(5), 2))
    tied = [abs(values[q, a] - values[q, b]) <= 1e-12 for q in range(9) for a, b in pairs]
    assert row["tied_pairs"] == pytest.approx(sum(tied) / len(tied))
    between = results.tables["between_measures"].filter(measure="AP").row(0, named=True)
    (other,) = irmeta.matrices(irmeta.from_data(qrels, runs), "RBP(p=0.8)")
    expected = kendall_tau_b(matrix.means.tolist(), other.means.tolist())
    assert between["tau_b"] == pytest.approx(expected)
    own, found = (
        {
            (a, b)
            for a, b in permutations(range(5), 2)
            if tested.pairs.p_adjusted[a, b] <= 0.05 and m.means[a] > m.means[b]
        }
        for m in (matrix, other)
        for (tested,) in [irmeta.compare(m)]
    )
    assert between["found"] == pytest.approx(len(own & found) / len(found))
    assert 0 < between["found"] < 1
    assert between["reversed"] == sum((b, a) in own for a, b in found) / len(found)
    assert (row["least_k"], row["depth_tau"]) != (None, None)


def test_trust__columns_equal_plain_computations(tmp_path: Path):
    """Lists of several lengths with tied scores, where each criterion has a value of its own."""
    qrels, whole = lists(systems=6, queries=12, noise=3.0)
    rng = np.random.default_rng(4)
    runs = {
        system: {
            q: {d: round(docs[d]) for d in sorted(docs, key=lambda d, of=docs: -of[d])[:length]}
            for (q, docs), length in zip(
                of.items(), rng.integers(2 * s, 2 * s + 9, 12), strict=True
            )
        }
        for s, (system, of) in enumerate(whole.items(), 2)
    }
    store = irmeta.from_data(qrels, runs)
    results = irmeta.studies.trust(store, tmp_path, **FEW | {"measures": "AP,SetP"})
    for row in results.tables["trust"].to_dicts():
        (matrix,) = irmeta.matrices(store, row["measure"])
        pairs = list(combinations(range(6), 2))

        (comparison,) = irmeta.compare(matrix)
        separated = [bool(comparison.pairs.p_adjusted[a, b] <= 0.05) for a, b in pairs]
        assert row["separated"] == pytest.approx(sum(separated) / len(pairs))
        (hsd,) = irmeta.compare(matrix, test="hsd-randomised", resamples=FEW["resamples"])
        significant = [bool(hsd.pairs.p_adjusted[a, b] <= 0.05) for a, b in pairs]
        assert row["separated_hsd"] == pytest.approx(sum(significant) / len(pairs))
        least = irmeta.stats.detectable_difference(matrix, power=0.8, alpha=0.05 / len(pairs))
        assert row["detectable"] == pytest.approx(least)

        halves = irmeta.stats.half_orders(matrix, splits=FEW["splits"])
        swapped, kept = halves["swapped"].sum(), halves["separated"].sum()
        assert row["swaps"] == pytest.approx(swapped / kept if kept else math.nan, nan_ok=True)
        low, high = np.quantile(halves["tau"].to_numpy(), (0.025, 0.975))
        assert (row["half_tau_low"], row["half_tau_high"]) == pytest.approx((low, high))

        out = store.pools.leave_out(row["measure"], judgments="all")
        moves = [abs(a - b) for a, b in out.select("rank", "rank_left_out").rows()]
        assert row["rank_change"] == pytest.approx(sum(moves) / len(moves))
        assert row["greatest_rank_change"] == max(moves)
        drops = [a - b for a, b in out.select("value", "value_left_out").rows()]
        relative = [d / v for d, v in zip(drops, out["value"], strict=True)]
        assert row["left_out_drop"] == pytest.approx(sum(relative) / len(relative))

        ended = irmeta.from_data(qrels, {s: without_ends(qrels, of) for s, of in runs.items()})
        (cut,) = irmeta.matrices(ended, row["measure"])
        signs = [
            [np.sign(round(m[a] - m[b], 12)) for a, b in pairs] for m in (matrix.means, cut.means)
        ]
        flipped = [one * other < 0 for one, other in zip(*signs, strict=True)]
        assert row["end_flips"] == pytest.approx(sum(flipped) / len(pairs))
        assert any(flipped) == (row["measure"] == "SetP")

        ends = [means_by(qrels, runs, row["measure"], sign) for sign in (1, -1)]
        low, high = (list(map(of, *ends)) for of in (min, max))
        overlap = [low[a] < high[b] - 1e-12 and low[b] < high[a] - 1e-12 for a, b in pairs]
        assert row["tie_pairs"] == pytest.approx(sum(overlap) / len(pairs))
        assert any(overlap) == (row["measure"] == "AP")
        moved = [s for s, a, b in zip(matrix.systems, low, high, strict=True) if b - a > least]
        assert row["tie_movers"] == len(moved)
        assert row["tie_movers_named"] == ("; ".join(moved) or None)


def means_by(qrels: Labels, runs: dict[str, Labels], measure: str, sign: int) -> list[float]:
    """Return means with the tied docs of higher grades first (sign 1) or last (-1)."""
    untied = {
        s: {
            q: {d: 10 * v + sign * qrels[q].get(d, 0.5) for d, v in docs.items()}
            for q, docs in of.items()
        }
        for s, of in runs.items()
    }
    (matrix,) = irmeta.matrices(irmeta.from_data(qrels, untied), measure)
    return matrix.means.tolist()


def test_reorder_ties__orders_are_equally_likely():
    """Three tied docs, two of them judged: each of six places is as likely, and lists differ."""
    qrels = {f"q{q}": {"a": 1, "b": 0} for q in range(300)}
    runs = {s: {q: {"top": 2, "a": 1, "b": 1, "x": 1} for q in qrels} for s in ("s", "t")}
    store = irmeta.from_data(qrels, runs)
    (view,) = store.views(store.tracks[0], needs=("ties",))
    counts = Counter[tuple[int, ...]]()
    for seed in range(10):
        ranks = reorder_ties(view, "random", seed).ranks.reshape(300, 2, 2)
        counts.update(map(tuple, ranks.transpose(0, 2, 1).reshape(-1, 2).tolist()))
        assert (ranks[:, :, 0] != ranks[:, :, 1]).any()
    assert set(counts) == {(i, j) for i in (2, 3, 4) for j in (2, 3, 4) if i != j}
    assert max(abs(n - 1000) for n in counts.values()) < 130  # 4.5 standard deviations
    assert reorder_ties(view, "best").ranks[:2].tolist() == [[2, 2], [4, 4]]
    assert reorder_ties(view, "worst").ranks[:2].tolist() == [[4, 4], [2, 2]]
    alone = view.only_systems("t")
    assert (
        reorder_ties(alone, "random", 3).ranks[:, 0] == reorder_ties(view, "random", 3).ranks[:, 1]
    ).all()


def rel_sets(names: tuple[str, ...], **labels: Labels) -> irmeta.Store:
    """Return a track with sets in an order: graded (rel 2), binary, the same docs relevant."""
    qrels, runs = lists(systems=6, queries=40, noise=0.3)
    graded = {q: {d: 2 * g for d, g in docs.items()} for q, docs in qrels.items()}
    sets = {"graded": graded, "binary": qrels} | labels
    return irmeta.from_data({name: sets[name] for name in names}, runs, rel={"graded": 2})


def test_trust__scores_each_set_with_its_own_relevant_grade(tmp_path: Path):
    choices = FEW | {"measures": "AP,RBP(p=0.8),RPP"}
    for names in (("graded", "binary"), ("binary", "graded")):
        rows = irmeta.studies.trust(rel_sets(names), tmp_path / names[0], **choices).tables["trust"]
        assert rows["other_qrels_tau"].to_list() == [1.0, 1.0, 1.0]
        rel = "rel=2" if names[0] == "graded" else "rel=1"
        assert rel in rows["measure"][1]  # RBP too


def test_trust__set_without_a_value_cannot_be_said_at_any_place(tmp_path: Path):
    dead = {q: dict.fromkeys(docs, 0.0) for q, docs in lists(systems=6, queries=40)[0].items()}
    for names in (("graded", "binary", "dead"), ("graded", "dead", "binary")):
        tables = irmeta.studies.trust(
            rel_sets(names, dead=dead), tmp_path / names[1], **FEW | {"measures": "AP"}
        ).tables
        row = tables["trust"].row(0, named=True)
        assert math.isnan(row["other_qrels_tau"])
        assert (row["other_qrels_least"], row["other_qrels_named"]) == (1.0, "binary")
        assert row["judgments_grade"] in (UNKNOWN, UNSAFE)
        assert "qrels set dead gives no order of systems" in row["judgments_why"]


def test_verdicts__what_was_not_examined_is_not_safe():
    row = {"half_tau": 0.9, "dropped_tau": 0.95, "altered_tau": 0.95}
    why = {"judgments": "contributors are not left out"}
    found = verdicts(row, systems=9, queries=50, unchecked=why)["judgments"]
    assert found.grade == UNKNOWN
    assert found.why.startswith("contributors are not left out; of what was examined the worst")
    bad = verdicts(row | {"dropped_tau": 0.5}, systems=9, queries=50, unchecked=why)["judgments"]
    assert (bad.grade, bad.number) == (UNSAFE, "0.500")


def test_trust__takes_the_estimated_depth_of_the_pool(tmp_path: Path):
    """One unjudged doc at rank 1 makes no pool shallow, where 99 % of the top are judged."""
    qrels, runs = lists(systems=8, queries=20)
    whole = irmeta.from_data(qrels, runs)
    (view,) = whole.views(whole.tracks[0])
    first = next(
        d for d in view.docs[:20] if (view.ranks[list(view.docs[:20]).index(d)] == 1).any()
    )
    del qrels["q0"][first]
    for docs in (of[q] for of in runs.values() for q in of):
        docs |= {f"x{i}": -99.0 - i for i in range(5)}
    results = results_of(tmp_path, qrels, runs)
    row = results.tables["trust"].row(0, named=True)
    assert "the depth of the pool is estimated as" in results.tables["studied_tracks"]["notes"][0]
    assert row["depth_tau"] is not None
    assert row["left_out_tau"] is not None
    assert row["judgments_grade"] != UNKNOWN


def without_ends(qrels: Labels, lists_of: Labels) -> Labels:
    """Cut the docs below the last relevant one, tied docs by descending names."""
    found: Labels = {}
    for q, docs in lists_of.items():
        order = sorted(docs, key=lambda d, of=docs: (of[d], d), reverse=True)
        last = max((i for i, d in enumerate(order) if qrels[q].get(d, 0) >= 1), default=-1)
        found[q] = {d: docs[d] for d in order[: last + 1]}
    return found


def test_trust__page_says_what_is_most_reliable(tmp_path: Path):
    qrels, runs = lists(noise=0.5)
    results = results_of(tmp_path, qrels, runs, track=None)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    first, after = page.split('<nav class="contents"')
    assert first.index("no table can show") < first.index("Most reliable here")
    assert first.index("Most reliable here") < first.index("from rank") < first.index("nsafe, with")
    assert 'id="track-Grades"' in after
    safe = results.tables["safe_measures"]
    assert safe.filter(pl.col("tracks") > 0)["safe"].is_in([0.0, 1.0]).all()


def test_measure_facts__equal_what_is_known():
    names = ["P@10", "RBP(p=0.5)", "RR", "AP(rel=2)", "RareAP", "RPP"]
    tables = {"trust": pl.DataFrame({"measure": names})}
    rows = {row["measure"]: row for row in measure_facts(tables, TrustOptions())}
    assert set(rows) == set(names) - {"RPP"}
    assert (rows["P@10"]["stops_at"], rows["RBP(p=0.5)"]["persistence"]) == (10, 0.5)
    assert rows["P@10"]["unequal_steps"] == rows["RBP(p=0.5)"]["unequal_steps"] == 1
    # 1/1 - 1/2 over 1/9 - 1/10
    assert rows["RR"]["unequal_steps"] == pytest.approx(45)
    assert rows["P@10"]["violated"] == "top-weightedness"
    assert rows["RR"]["violated"] == "convergence, top-weightedness"
    assert rows["AP(rel=2)"]["violated"] == "none"
    assert rows["RareAP"]["violated"] is None


def test_undecided__is_the_share_of_pairs_within_the_residual(tmp_path: Path):
    qrels, runs = lists(systems=5, queries=6, noise=0.5)
    some = {q: dict(list(docs.items())[:19]) for q, docs in qrels.items()}
    store = irmeta.from_data(some, runs)
    row = irmeta.studies.trust(store, tmp_path, **FEW).tables["trust"]
    lower, upper = (
        irmeta.matrices(store, name)[0].means.tolist()
        for name in ("RBP(p=0.8)", "RBP(p=0.8,unjudged=upper)")
    )
    pairs = list(combinations(range(5), 2))
    open_ = [upper[a] > lower[b] if lower[a] < lower[b] else upper[b] > lower[a] for a, b in pairs]
    assert 0 < sum(open_) < len(pairs)
    found = {m.split("(")[0]: u for m, u in row.select("measure", "undecided").rows()}
    assert found == {"AP": None, "RBP": pytest.approx(sum(open_) / len(pairs))}


def test_trust__preferences_and_draws(tmp_path: Path):
    qrels, runs = lists(systems=6, queries=9)
    store = irmeta.from_data(qrels, runs)
    tables = irmeta.studies.trust(store, tmp_path, **FEW | {"measures": "AP,RPP"}).tables
    row = tables["trust"].filter(measure="RPP").row(0, named=True)
    (rpp,) = store.pairs.compare("RPP", track=store.tracks[0])
    rates = rpp.win_rates()
    halves = irmeta.stats.half_orders(rates, splits=FEW["splits"])
    assert row["half_tau"] == pytest.approx(halves["tau"].mean())
    assert row["altered_tau_low"] <= row["altered_tau"] <= row["altered_tau_high"]
    (view,) = store.views(store.tracks[0], needs=("pool",))
    taus = []
    for draw in range(5):
        (other,) = irmeta.preferences_of(view.alter_labels(0.4, True, rng=draw), "RPP")
        means = [rates.means.tolist(), other.win_rates().means.tolist()]
        taus.append(kendall_tau_b(*([round(v, 12) for v in one] for one in means)))
    assert row["altered_tau"] == pytest.approx(sum(taus) / 5)
    assert (row["altered_tau_low"], row["altered_tau_high"]) == pytest.approx(
        (min(taus), max(taus))
    )


def test_verdicts__worst_value_of_criteria_with_the_same_grade():
    row = {"left_out_tau": 0.75, "dropped_tau": 0.5, "altered_tau": 0.7, "tied_pairs": 0.02}
    found = verdicts(row | {"end_flips": 0.05}, systems=9, queries=50)
    assert (found["judgments"].grade, found["judgments"].number) == (UNSAFE, "0.500")
    assert found["ties_and_ends"].number == "5.0%"


def test_criteria_figure__has_each_value_and_its_grade(tmp_path: Path):
    qrels, runs = lists(noise=0.5)
    tables = results_of(tmp_path, qrels, runs).tables
    narrow, figure = (
        next(one for one in FIGURES if one.name == name) for name in ("criteria", "criteria_wide")
    )
    assert callable(figure.rows)
    cells = figure.rows(tables, TrustOptions())
    assert cells.height == 2 * len(CRITERIA)
    (row,) = tables["trust"].filter(measure="AP").to_dicts()
    (halves,) = cells.filter(row="AP", column="halves").to_dicts()
    assert halves["text"] == f"{row['half_tau']:.3f}"
    assert halves["grade"] == BY_COLUMN["half_tau"].grade(row["half_tau"])
    (other,) = cells.filter(row="AP", column="other qrels").to_dicts()
    assert (other["text"], other["grade"]) == ("\u2014", UNKNOWN)
    chart = figure.draw(cells, TrustOptions()).to_dict(validate=False)
    labels = chart["layer"][0]["encoding"]["x"]["axis"]
    assert (chart["width"], labels["labelAngle"]) == (TEXT_WIDTH, 0)
    chart = narrow.draw(cells, TrustOptions()).to_dict(validate=False)
    labels = chart["layer"][0]["encoding"]["x"]["axis"]
    assert (chart["width"], labels["labelAngle"]) == (WIDTH, -40)


def tau_b(a: irmeta.Matrix, b: irmeta.Matrix, of: list[int] | None = None) -> float:
    """Correlate the means of two matrices by the twin, of some of the systems."""
    means = [[round(v, 12) for v in one.means.tolist()] for one in (a, b)]
    return kendall_tau_b(*([one[i] for i in of] for one in means)) if of else kendall_tau_b(*means)


@pytest.mark.parametrize("preference", ["RPP", "RPP(unjudged=condensed)"])
def test_trust__preferences_have_the_criteria_of_measures(tmp_path: Path, preference: str):
    """Against win rates of cut lists, smaller pools and other orders of ties, one by one."""
    rng, (qrels, runs) = np.random.default_rng(3), lists(systems=6, queries=7, noise=2.0)
    for s, of in enumerate(runs.values()):
        for q, docs in of.items():
            own = [f"{s} {i}" for i in range(4)]
            qrels[q] |= {doc: float(rng.random() < 0.5) for doc in own}
            docs |= {doc: round(2 * rng.normal()) for doc in own}
            of[q] = {doc: round(score, 0) for doc, score in docs.items()}
    store = irmeta.from_data(qrels, runs)
    (track,) = store.tracks
    choices = FEW | {"measures": f"AP,{preference}"}
    tables = irmeta.studies.trust(store, tmp_path, **choices).tables
    row = tables["trust"].filter(measure=preference).row(0, named=True)
    (view,) = store.views(track, needs=("pool",))

    def rates(view: irmeta.JudgedRanks, cutoff: str = "") -> irmeta.Matrix:
        return irmeta.preferences_of(view, preference + cutoff)[0].win_rates()

    whole = rates(view)
    pools = [rates(view.with_pool(None, (system,))) for system in view.facts.systems]
    without = [tau_b(whole, one) for one in pools]
    assert row["left_out_tau"] == pytest.approx(np.quantile(without, 0.1))
    assert row["left_out_least"] == pytest.approx(min(without))
    drops = [whole.means[i] - one.means[i] for i, one in enumerate(pools)]
    assert row["left_out_drop"] == pytest.approx(np.mean(drops))
    assert min(drops) != max(drops)

    deepest = view.facts.deepest_rank
    taus = {k: tau_b(rates(view, f"@{k}"), rates(view)) for k in range(1, deepest + 1)}
    low = [k for k, tau in taus.items() if tau < 0.9 - 1e-12]
    assert row["least_k"] == max(low, default=0) + 1 > 1

    (view,) = store.views(track, needs=("pool", "ties"))
    low, high = (rates(reorder_ties(view, order)).means for order in ("best", "worst"))
    low, high = np.minimum(low, high), np.maximum(low, high)
    overlap = [low[a] < high[b] and low[b] < high[a] for a, b in combinations(range(6), 2)]
    assert row["tie_pairs"] == pytest.approx(np.mean(overlap))
    assert (low < high).any()


@pytest.mark.parametrize(
    ("judged", "why"),
    [
        (6, ""),
        (3, "the pool, complete to depth 3, is too shallow to leave contributors out"),
        (1, "the pool, complete to depth 1, is too shallow to leave contributors out or halve"),
        (0, "the pool, complete to depth 0, is too shallow to leave contributors out or halve"),
    ],
)
def test_trust__says_what_the_pool_is_too_shallow_for(tmp_path: Path, judged: int, why: str):
    qrels, runs = lists(systems=6, queries=6)
    order = [f"d{d}" for d in range(20)]
    for of in runs.values():
        # the doc after those that are judged is everywhere the same, and unjudged
        for docs in of.values():
            first = sorted(docs, key=docs.__getitem__)[:judged]
            docs |= ranked([*first, "unjudged", *(doc for doc in order if doc not in first)])
    results = results_of(tmp_path, qrels, runs)
    row = results.tables["trust"].filter(measure="AP").row(0, named=True)
    lacks = f"contributors are not left out: the pool, complete to depth {judged}, is too shallow"
    assert (lacks in row["judgments_why"]) == bool(why)
    assert (row["judgments_grade"] in (UNKNOWN, UNSAFE)) or not why
    assert (row["left_out_tau"] is None) == bool(why)
    assert results.tables["studied_tracks"]["notes"][0] == (why or None)
    conditions = results.tables["conditions"]["condition"].str.starts_with("pool to depth")
    assert conditions.any() == (judged > 1)
    if not judged:
        assert row["depth_why"] == "the pool is not complete to any depth"


def test_trust__ends_of_lists_keep_every_grade_that_a_measure_counts(tmp_path: Path):
    """Trailing docs of grade 1 gain in nDCG, so that no list ends above them, though rel is 2."""
    qrels, runs = lists(systems=6, queries=10, noise=1.0)
    grades = {
        q: {d: 2 * g or float(int(d[1:]) % 2) for d, g in of.items()} for q, of in qrels.items()
    }
    store = irmeta.from_data({"graded": grades}, runs, rel={"graded": 2})
    choices: dict[str, Any] = FEW | {"measures": "nDCG,AP,ERR@20"}
    rows = irmeta.studies.trust(store, tmp_path, **choices).tables["trust"]
    assert rows["end_flips"].to_list() == [0.0, 0.0, 0.0]
