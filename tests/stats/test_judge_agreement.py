"""Agreement of judges: twins, published values, intervals and edge cases."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.schema.result_tables import SAME_SCALE
from irmeta.stats.label_agreement import SAME, coefficients, query_intervals
from twins import labels as twin

Labels = dict[str, dict[str, float]]
WHOLE = ("kappa", "kappa_linear", "kappa_quadratic")


def sets_of(rows: list[tuple[int, int, float, float]]) -> tuple[Labels, Labels]:
    """Return two sets of labels of (query, doc, grade, grade of the judge); below -5: none."""
    human, judge = Labels(), Labels()
    for query, doc, a, b in rows:
        for side, grade in ((human, a), (judge, b)):
            if grade > -5:
                side.setdefault(f"q{query}", {})[f"d{doc}"] = grade
    return human, judge


GRADES = st.sampled_from([-9, -1, 0, 0, 1, 1, 2, 2.5, 3])
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 5), GRADES, GRADES),
    min_size=1,
    max_size=14,
    unique_by=lambda row: row[:2],
)


@given(ROWS)
def test_agree__coefficients_equal_twins(rows: list[tuple[int, int, float, float]]):
    human, judge = sets_of(rows)
    labels = [(a, b) for _, _, a, b in rows if a >= 0 and b >= 0]
    if not labels:
        return
    found = irmeta.agree(human, {"judge": judge}, rel=1, raw=True, resamples=2)
    (row,) = found.judges.to_dicts()
    levels = sorted({grade for pair in labels for grade in pair})
    if row["scale"] == SAME:
        levels = sorted({grade for one in human.values() for grade in one.values() if grade >= 0})
    expected = {
        "exact": sum(a == b for a, b in labels) / len(labels),
        "kappa": twin.kappa(labels, twin.nominal),
        "kappa_linear": twin.kappa(labels, twin.linear),
        "kappa_quadratic": twin.kappa(labels, twin.quadratic),
        **{f"alpha_{metric}": twin.alpha(labels, metric) for metric in METRICS},
        "ac1": twin.gwet(labels, levels, "nominal"),
        "ac2": twin.gwet(labels, levels, "quadratic"),
        "spearman": twin.spearman(labels),
        "kappa_binary": twin.kappa([(a >= 1, b >= 1) for a, b in labels], twin.nominal),
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected, nan_ok=True)
    assert row["docs"] == len(labels)
    assert row["both_relevant"] == sum(a >= 1 and b >= 1 for a, b in labels)


METRICS = ("nominal", "ordinal", "interval")


def drop_negative(labels: Labels) -> Labels:
    return {q: {d: g for d, g in docs.items() if g >= 0} for q, docs in labels.items()}


def test_agree__negative_grades_are_no_labels():
    human = {"q": {"a": 2, "b": 0, "c": 1, "d": -1, "e": 1}}
    judge = {"q": {"a": 2, "b": 1, "c": -2, "d": 0, "e": 1}}
    found = irmeta.agree(human, {"judge": judge}, resamples=5)
    same = irmeta.agree(drop_negative(human), {"judge": drop_negative(judge)}, resamples=5)
    assert found.judges.equals(same.judges)
    assert found.common.equals(same.common)
    (row,) = found.judges.to_dicts()
    assert (row["docs"], row["reference_alone"], row["judge_alone"]) == (3, 1, 1)


def test_agree__a_stray_grade_leaves_the_coefficients_of_the_scale():
    docs = [f"d{i}" for i in range(250)]
    human = {"q": {doc: float(i % 3) for i, doc in enumerate(docs)}}
    judge = {"q": {doc: float((i + (i % 7 == 0)) % 3) for i, doc in enumerate(docs)}}
    clean = irmeta.agree(human, {"judge": judge}, resamples=5).judges.to_dicts()[0]
    assert clean["scale"] == SAME
    stray = {"q": {**judge["q"], "x": 7.0, "y": 6.0}}
    with_more = {"q": {**human["q"], "x": 1.0, "y": 2.0}}
    found = irmeta.agree(with_more, {"judge": stray}, resamples=5)
    (row,) = found.judges.to_dicts()
    assert row["scale"] == "same, without 2 labels of grade 6, 7"
    for name in SAME_SCALE:
        assert row[name] == pytest.approx(clean[name]), name
    assert row["docs"] == clean["docs"] + 2
    assert found.common["alpha_nominal"].item() == pytest.approx(clean["alpha_nominal"])
    many = {"q": {**judge["q"], **{f"x{i}": 7.0 for i in range(10)}}}
    assert irmeta.agree(human, {"judge": many}, resamples=5).judges["scale"].item() != SAME
    scores = irmeta.agree(with_more, {"judge": stray}, same_scale=True, resamples=5).judges
    assert scores["ac1"].item() != pytest.approx(clean["ac1"])


def test_agree__too_many_grades_are_refused():
    fine = {"q": {f"d{i}": i / 1000 for i in range(600)}}
    with pytest.raises(irmeta.errors.UsageError, match=r"600 distinct grades .*`grade_digits=`"):
        irmeta.agree(fine, {"judge": fine})
    rounded = irmeta.agree(fine, {"judge": fine}, grade_digits=2, resamples=5)
    assert rounded.judges["exact"].item() == 1.0


@pytest.mark.exhaustive
@given(st.lists(ROWS, min_size=2, max_size=4))
def test_agree__common_alpha_with_missing_labels_equals_twin(several):
    judges = {f"j{i}": sets_of(rows)[1] for i, rows in enumerate(several)}
    reference = {"q0": {"d0": 1, "d1": 2}, "q1": {"d0": 0}}
    judges = {name: judge for name, judge in judges.items() if judge}
    if not judges:
        return
    units: dict[tuple[str, str], list[float]] = {}
    for one in (reference, *judges.values()):
        for query, docs in one.items():
            for doc, grade in drop_negative({query: docs})[query].items():
                units.setdefault((query, doc), []).append(grade)
    several_labels = sum(len(unit) > 1 for unit in units.values())
    if not several_labels:
        with pytest.raises(irmeta.UsageError, match="no judged doc in common"):
            irmeta.agree(reference, judges, same_scale=True, resamples=2)
        return
    found = irmeta.agree(reference, judges, same_scale=True, resamples=2)
    row = found.common.row(0, named=True)
    assert row["docs"] == several_labels
    expected = {f"alpha_{m}": twin.alpha(list(units.values()), m) for m in METRICS}
    assert {name: row[name] for name in expected} == pytest.approx(expected, nan_ok=True)


HUMAN = {f"q{q}": {f"d{d}": (q * d) % 3 for d in range(6)} for q in range(8)}


def test_agree__judge_equal_to_the_reference_agrees_in_full():
    found = irmeta.agree(HUMAN, {"same": HUMAN}, rel=2)
    (row,) = found.judges.to_dicts()
    for name in ("exact", *WHOLE, "ac1", "ac2", "spearman", "precision", "recall", "kappa_binary"):
        assert row[name] == pytest.approx(1)
        assert row[f"{name}_low"] == pytest.approx(1)
    assert row["leniency"] == 0
    assert found.confusion.filter(pl.col("reference_grade") != pl.col("judge_grade")).is_empty()


def test_agree__other_scale_is_named_and_not_compared():
    binary = {q: {d: int(g > 1) for d, g in docs.items()} for q, docs in HUMAN.items()}
    (row,) = irmeta.agree(HUMAN, {"b": binary}, rel={"reference": 2}).judges.to_dicts()
    assert row["scale"] == "grades 0, 1; reference: 0, 1, 2"
    assert row["kappa_binary"] == row["precision"] == 1
    assert all(math.isnan(row[name]) for name in SAME_SCALE)
    assert (row["rel_reference"], row["rel_judge"]) == (2, 1)
    (raw,) = irmeta.agree(HUMAN, {"b": binary}, raw=True).judges.to_dicts()
    assert not math.isnan(raw["kappa"])


def test_agree__set_without_relevant_docs_is_warned_about():
    with pytest.warns(irmeta.RelevanceWarning, match="no doc is relevant in low"):
        irmeta.agree(HUMAN, {"low": {"q1": {"d1": 1}}}, rel=2)


def drawn_tables(queries: int, rng: np.random.Generator) -> np.ndarray:
    """Tables of 60 docs a query, whose grades, and a judge's errors, differ by query."""
    grades = rng.dirichlet([2.0, 0.8, 0.4, 0.2], queries)
    noise = rng.beta(1.5, 3.0, (queries, 1, 1))
    wrong = rng.dirichlet([1.0, 1.0, 0.7, 0.4], queries)[:, None, :]
    cells = grades[:, :, None] * ((1 - noise) * np.eye(4) + noise * wrong)
    return rng.multinomial(60, cells.reshape(queries, 16)).reshape(queries, 4, 4).astype(float)


def covered(queries: int, trials: int, resamples: int) -> dict[str, float]:
    """Return the share of intervals of some queries that cover the coefficient of all."""
    rng = np.random.default_rng(queries)
    every = drawn_tables(4000, rng)

    def compute(tables: np.ndarray) -> dict[str, np.ndarray]:
        found = coefficients(tables, np.arange(4.0), 2, 2)
        return {name: found[name] for name in ("kappa", "ac2", "leniency", "recall")}

    truth = {name: float(one[0]) for name, one in compute(every.sum(axis=0)[None]).items()}
    hits = dict.fromkeys(truth, 0)
    for seed in np.random.SeedSequence(0).spawn(trials):
        some = every[rng.integers(0, len(every), queries)]
        for name, (low, high) in query_intervals(some, compute, resamples, seed).items():
            hits[name] += low <= truth[name] <= high
    return {name: number / trials for name, number in hits.items()}


def test_agree__intervals_of_few_queries_cover():
    found = covered(6, 300, 300)
    assert min(found["kappa"], found["ac2"]) >= 0.88  # percentiles: 0.79


@pytest.mark.exhaustive
@pytest.mark.parametrize("queries", [5, 10, 19])
def test_agree__intervals_of_few_queries_cover_in_simulations(queries: int):
    found = covered(queries, 600, 1000)
    assert min(found["kappa"], found["ac2"]) >= 0.92
    assert found["leniency"] >= 0.89
    assert found["recall"] >= 0.78


def test_agree__bootstrap_t_of_a_mean_equals_twin():
    """Queries of equal size: the leniency is a mean, whose standard error is s / sqrt(n)."""
    rng = np.random.default_rng(3)
    human = {f"q{q}": {f"d{d}": int(rng.integers(4)) for d in range(8)} for q in range(7)}
    judge = {q: {d: int(rng.integers(4)) for d in docs} for q, docs in human.items()}
    found = irmeta.agree(human, {"j": judge}, resamples=500, rng=9, same_scale=True)
    (row,) = found.judges.to_dicts()
    assert row["interval"] == "bootstrap-t"
    gaps = np.array([np.mean([judge[q][d] - human[q][d] for d in human[q]]) for q in human])
    seed = np.random.SeedSequence(9)
    counts = np.random.default_rng(seed).multinomial(7, np.full(7, 1 / 7), 500)
    samples = [np.repeat(gaps, times) for times in counts]
    errors = [one.std(ddof=1) / math.sqrt(7) for one in samples]
    ratios = [
        (one.mean() - gaps.mean()) / error
        for one, error in zip(samples, errors, strict=True)
        if error > 1e-9
    ]
    own = gaps.std(ddof=1) / math.sqrt(7)
    low, high = gaps.mean() - own * np.quantile(ratios, [0.975, 0.025])
    assert (row["leniency_low"], row["leniency_high"]) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("queries", "kind"), [(1, None), (2, "jackknife t"), (5, "bootstrap-t"), (20, "percentile")]
)
def test_agree__kind_of_interval_is_stated(queries: int, kind: str | None):
    human = {f"q{q}": {f"d{d}": (q * d) % 3 for d in range(6)} for q in range(queries)}
    judge = {q: {d: (g + (d == "d1")) % 3 for d, g in docs.items()} for q, docs in human.items()}
    (row,) = irmeta.agree(human, {"j": judge}).judges.to_dicts()
    assert row["interval"] == kind
    assert math.isnan(row["kappa_low"]) == (kind is None)


@pytest.mark.parametrize("queries", [3, 8, 30])
def test_agree__rounding_errors_of_perfect_agreement_are_no_spread(queries: int):
    rng = np.random.default_rng(0)
    human = {f"q{q}": {f"d{d}": int(rng.integers(4)) for d in range(9)} for q in range(queries)}
    (row,) = irmeta.agree(human, {"j": human}).judges.to_dicts()
    for name in ("spearman", "kappa", "kappa_quadratic", "alpha_interval"):
        assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx((1, 1))


def test_agree__jackknife_of_a_mean_equals_the_t_interval():
    human = {f"q{q}": {f"d{d}": (q + d) % 3 for d in range(6)} for q in range(4)}
    judge = {q: {d: min(g + (q == "q1") * (d > "d2"), 2) for d, g in docs.items()}
             for q, docs in human.items()}  # fmt: skip
    judge["q3"]["d0"] = 2
    (row,) = irmeta.agree(human, {"j": judge}).judges.to_dicts()
    gaps = np.array([np.mean([judge[q][d] - human[q][d] for d in human[q]]) for q in human])
    margin = 3.182446305284263 * gaps.std(ddof=1) / 2
    ends = row["leniency"] - margin, row["leniency"] + margin
    assert (row["leniency_low"], row["leniency_high"]) == pytest.approx(ends)
    assert -1 <= row["kappa_low"] < row["kappa"] < row["kappa_high"] < 1


def test_agree__judge_without_common_docs_and_constant_judge():
    constant = {q: dict.fromkeys(docs, 1) for q, docs in HUMAN.items()}
    judges = {"elsewhere": {"x": {"d0": 1}}, "constant": constant}
    rows = irmeta.agree(HUMAN, judges, same_scale=True).judges.to_dicts()
    assert rows[0]["docs"] == 0
    assert rows[0]["reference_alone"] == 48
    assert math.isnan(rows[0]["kappa"])
    assert rows[1]["kappa"] == pytest.approx(0)
    assert math.isnan(rows[1]["spearman"])


def test_agree__no_judge_with_a_common_doc_is_refused():
    with pytest.raises(irmeta.UsageError, match="elsewhere and reference have no judged doc in co"):
        irmeta.agree(HUMAN, {"elsewhere": {"x": {"d0": 1}}})


def test_agree__same_seed_same_bytes_whatever_judges_stand_beside():
    judge = {q: {d: 2 - g for d, g in docs.items()} for q, docs in HUMAN.items()}
    alone = irmeta.agree(HUMAN, {"a": judge}, rng=3).judges
    beside = irmeta.agree(HUMAN, {"b": HUMAN, "a": judge}, rng=3).judges
    assert alone.equals(beside.filter(judge="a"))
    assert not alone.equals(irmeta.agree(HUMAN, {"a": judge}, rng=4).judges)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"judges": None}, "no judge"),
        ({"judges": {"reference": HUMAN}}, "name of the reference"),
        ({"rel": {"jugde": 2}}, "Did you mean 'judge'"),
        ({"track": "news"}, "for a store"),
        ({"source": {"a": HUMAN, "b": HUMAN}}, "several references: a, b"),
    ],
)
def test_agree__wrong_arguments(arguments: dict[str, Any], message: str):
    given: Any = {"source": HUMAN, "judges": {"judge": HUMAN}} | arguments
    with pytest.raises(irmeta.UsageError, match=message):
        irmeta.agree(**given)


def test_agree__names_of_judges():
    named = {"a set": {"qrels": HUMAN}, "one set": HUMAN, "list": [HUMAN, HUMAN]}
    found = {key: irmeta.agree(HUMAN, one).judges["judge"].to_list() for key, one in named.items()}
    assert found == {"a set": ["qrels"], "one set": ["judge"], "list": ["judge1", "judge2"]}


def test_agree__judgments_by_subtopic_are_refused():
    rows = {"query": ["q1", "q1"], "doc": ["d1", "d1"], "subtopic": ["1", "2"], "grade": [1, 0]}
    with pytest.raises(irmeta.DataError, match="judge has judgments by subtopic"):
        irmeta.agree(HUMAN, {"judge": pl.DataFrame(rows)})


def test_agree__qrels_sets_of_a_store():
    store = irmeta.from_data({"a": HUMAN, "b": HUMAN, "c": HUMAN}, {"r": {"q1": {"d1": 1.0}}})
    found = irmeta.agree(store, reference="b").judges
    assert found.select("reference", "judge").rows() == [("b", "a"), ("b", "c")]
    assert irmeta.agree(store, "c").judges["judge"].to_list() == ["c"]
    with pytest.raises(irmeta.UsageError, match="no qrels set 'd'"):
        irmeta.agree(store, reference="d")


def judged(folder: Path, judge: str) -> Path:
    return folder / "judges" / f"{judge}.txt"


@pytest.mark.real
def test_agree__equals_the_oracle_of_47_judges(shared: Path):
    table = pl.read_csv(shared / "oracles" / "judges" / "label_agreement.csv")
    renamed = {"tp": "both_relevant", "fn": "reference_relevant", "fp": "judge_relevant"}
    renamed |= {"tn": "none_relevant", "pairs": "docs", "mean_human": "mean_reference"}
    renamed["rel_human"] = "rel_reference"
    for (track, *rels), rows in table.group_by("track", "rel_human", "rel_judge"):
        folder = shared / "judges" / str(track)
        human = folder / ("human.txt" if track == "llmjudge" else "qrels.txt")
        judges = {judge: judged(folder, judge) for judge in rows["judge"]}
        rel: Any = {"human": rels[0], **dict.fromkeys(judges, rels[1])}
        found = irmeta.agree(human, judges, reference="human", rel=rel, raw=True, resamples=1)
        both = rows.rename(renamed).join(found.judges, on="judge", suffix="_ours")
        assert both.height == rows.height
        for name in rows.rename(renamed).columns[2:]:
            gap = (both[name] - both[f"{name}_ours"]).abs()
            assert (gap.fill_nan(0).fill_null(0) < 1e-9).all(), (track, name)


@pytest.mark.real
def test_agree__published_values_of_the_llmjudge_benchmark(shared: Path):
    """65 of 66 values to one unit of the fourth digit, 64 of them rounded alike.

    The kappa of RMITIR-llama70B is .26546, printed .2654, and its alpha .4871, printed .4873.
    """
    folder = shared / "judges" / "llmjudge"
    published = pl.read_csv(folder / "published.csv")
    judges = {judge: judged(folder, judge) for judge in published["judge"]}
    found = irmeta.agree(folder / "human.txt", judges, raw=True, resamples=1)
    both = published.join(found.judges, on="judge", suffix="_ours")
    wrong = [
        (judge, name)
        for name in ("kappa", "alpha_ordinal")
        for judge, value, ours in both.select("judge", name, f"{name}_ours").iter_rows()
        if abs(ours - value) > 1e-4
    ]
    assert wrong == [("RMITIR-llama70B", "alpha_ordinal")]


@pytest.mark.real
def test_agree__intervals_draw_whole_queries(shared: Path):
    """Intervals that draw docs would be [.358, .384]: labels of one query are not independent."""
    folder = shared / "judges" / "trec-dl-2021-passage"
    found = irmeta.agree(folder / "qrels.txt", {"u": judged(folder, "gpt4o-umbrela")}, rel=2)
    (row,) = found.judges.to_dicts()
    assert row["kappa"] == pytest.approx(0.3712, abs=5e-5)
    for name, low, high in (("kappa", 0.316, 0.428), ("kappa_quadratic", 0.580, 0.714)):
        assert row[f"{name}_low"] == pytest.approx(low, abs=0.005)
        assert row[f"{name}_high"] == pytest.approx(high, abs=0.005)
    assert row["ac2"] == pytest.approx(0.728974, abs=5e-7)


@pytest.mark.parametrize("docs", [7, 10, 49, 93])
def test_coefficients__all_docs_relevant_in_both_sets_have_no_binary_kappa(docs: int):
    tables = np.array([[[docs - 3.0, 1.0], [2.0, 0.0]], [[docs - 1.0, 0.0], [0.0, 1.0]]])
    found = coefficients(tables, np.array([1.0, 2.0]), 1.0, 1.0)
    assert np.isnan(found["kappa_binary"]).all()
    assert found["precision"].tolist() == found["recall"].tolist() == [1.0, 1.0]
