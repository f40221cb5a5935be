"""Judges beside people: the ceiling, people as rankers, the alternative annotator test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.stats.label_agreement import alternative_annotator_test, expected_ndcg
from irmeta.studies.framework.study_results import StudyResults
from support.judged import judged_store
from twins import judges as twin
from twins.orders import kendall_tau_b

pytestmark = pytest.mark.usefixtures("undrawn_module")

FEW: dict[str, Any] = {"resamples": 100, "splits": 20, "draws": 19, "tests": "t", "adoption": 0}


def made(seed: int) -> tuple[dict[str, Any], dict[str, twin.Labels]]:
    """Return 5 systems with scores of 14 docs, NIST's labels, four sets of people, and a judge."""
    rng = np.random.default_rng(seed)
    queries, docs = [f"q{q}" for q in range(8)], [f"d{d:02}" for d in range(14)]
    nist = {q: {d: int(rng.integers(0, 4)) for d in docs} for q in queries}

    def noisy(chosen: list[str], first: int) -> twin.Labels:
        return {
            q: {d: int(np.clip(nist[q][d] + rng.integers(-1, 2), 0, 3)) for d in docs[first:]}
            for q in chosen
        }

    sets = {
        "nist": nist,
        "1": noisy(queries[:4], 2),
        "2": noisy(queries[:4], 2),
        "3": noisy(queries[3:], 2),
        "4": noisy(queries[4:], 2),
        "judge": noisy(queries[:7], 0),
    }
    runs = {
        f"s{s}": {q: {d: float(g * s / 3 + rng.normal()) for d, g in nist[q].items()} for q in nist}
        for s in range(5)
    }
    return runs, sets


RUNS, SETS = made(0)
HUMAN = ("A=1,3", "B=2,4")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    store = irmeta.from_data(SETS, RUNS)
    out = tmp_path_factory.mktemp("ceiling")
    return irmeta.studies.judges(
        store, out, measures="nDCG@10", human=HUMAN, rel=2, epsilon=0.2, **FEW
    )


def test_human__sets_are_joined_in_order_and_replace_their_parts(results: StudyResults):
    assert results.tables["judges"]["judge"].to_list() == ["nist", "A", "B", "judge"]
    parts = [SETS[name] for name in ("1", "3")]
    labels = sum(len(docs) for docs in twin.joined(parts).values())
    assert results.tables["judges"].filter(judge="A")["labels"].item() == labels
    assert labels < sum(len(docs) for part in parts for docs in part.values())


def test_ceiling__of_people_alone_has_no_pairs_of_judges(tmp_path: Path):
    sets = {name: labels for name, labels in SETS.items() if name != "judge"}
    results = irmeta.studies.judges(
        irmeta.from_data(sets, RUNS), tmp_path, measures="nDCG@10", human=HUMAN, rel=2,
        epsilon=0.2, **FEW,
    )  # fmt: skip
    assert "no judge is tested to replace one" in results.tables["studied_tracks"]["notes"][0]
    assert "annotators" not in results.tables
    assert results.tables["ceiling"]["is_person"].all()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "of the leaderboards of two people is from" in page
    assert "of a judge and a person, " not in page


def test_ceiling__equals_the_twin(results: StudyResults):
    sets = {
        "nist": SETS["nist"],
        "A": twin.joined([SETS["1"], SETS["3"]]),
        "B": twin.joined([SETS["2"], SETS["4"]]),
        "judge": SETS["judge"],
    }
    lists = {
        s: {q: sorted(docs, key=lambda d: -docs[d]) for q, docs in queries.items()}
        for s, queries in RUNS.items()
    }

    def compared(a: str, b: str, every: set[str]) -> tuple[float, float]:
        queries = set.intersection(*({*sets[name]} for name in every))
        cut = {name: {q: sets[name][q] for q in sorted(queries)} for name in every}
        means = [twin.means(twin.adopted_values(lists, None, cut[name], 0)) for name in (a, b)]
        docs = {q: set.intersection(*({*cut[name][q]} for name in every)) for q in queries}
        common = [{q: {d: cut[n][q][d] for d in docs[q]} for q in docs} for n in (a, b)]
        return kendall_tau_b(*means), twin.kappa_of_relevance(*common, (2, 2))

    rows = results.tables["ceiling"]
    pairs = [(a, b) for a in sets for b in ("nist", "A", "B") if a != b]
    assert set(rows.select("judge", "person").rows()) == set(pairs)
    for a, b in pairs:
        (row,) = rows.filter(judge=a, person=b).to_dicts()
        others = [name for name in ("nist", "A", "B") if name not in (a, b)]
        every = {a, b, *others}
        tau, kappa = compared(a, b, every)
        beside = [compared(name, b, every) for name in others]
        assert (row["tau"], row["kappa"]) == (pytest.approx(tau), pytest.approx(kappa))
        assert row["tau_people"] == pytest.approx(twin.mean([one[0] for one in beside]))
        assert row["kappa_people"] == pytest.approx(twin.mean([one[1] for one in beside]))
        assert row["tau_difference"] == pytest.approx(row["tau"] - row["tau_people"])
        assert row["kappa_difference_low"] < row["kappa"] - row["kappa_people"]
        assert row["is_person"] == (a != "judge")


def test_rankers__equal_the_mean_over_all_orders(results: StudyResults):
    labels = {"a": 2.0, "b": 2.0, "c": 0.0, "x": 0.0, "z": 1.0}
    reference = {"a": 0.0, "b": 3.0, "c": 1.0, "d": 2.0, "e": 0.0, "z": 1.0, "y": 1.0}
    docs = sorted({*labels, *reference})
    value = expected_ndcg(
        np.array([labels.get(d, np.nan) for d in docs]),
        np.array([reference.get(d, 0.0) for d in docs]),
        10,
    )
    assert value == pytest.approx(twin.ndcg_of_ranking(labels, reference))
    rows = results.tables["rankers"]
    assert rows["judge"].to_list() == ["A", "B", "judge"]
    assert rows["queries"].to_list() == [8, 8, 7]
    assert ((rows["ndcg"] - rows["best"] - rows["difference"]).abs() < 1e-12).all()


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.2])
def test_alternative_annotator__equals_the_twin(epsilon: float):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 80)
    people = [
        {str(d): float(truth[d] if rng.random() < share else rng.integers(0, 3)) for d in range(80)}
        for share in (0.9, 0.7, 0.5)
    ]
    for person in people[1:]:
        for doc in rng.permutation(80)[:20].tolist():
            del person[str(doc)]
    judge = {str(d): float(truth[d] if rng.random() < 0.7 else 0) for d in range(80)}
    labels = [np.array([one.get(str(d), np.nan) for d in range(80)]) for one in (judge, *people)]
    test = alternative_annotator_test(labels[0], np.stack(labels[1:]), np.arange(80), epsilon)
    expected = twin.alternative_annotator(judge, people, epsilon, 0.05)
    assert (test.advantage, test.winning_rate) == pytest.approx(expected)
    assert test.winning_rate_queries == test.winning_rate  # each doc is a query


def test_alternative_annotator__of_repeated_docs_counts_queries():
    """Each query's docs are copies, so that 40 docs are 4 observations."""
    judge = np.repeat([0.0, 0.0, 1.0, 1.0], 10)
    people = np.stack([np.repeat(labels, 10) for labels in ([0, 1, 1, 1.0], [0, 1, 1, 1], [0] * 4)])
    test = alternative_annotator_test(judge, people, np.repeat(np.arange(4), 10), 0.3)
    assert test.winning_rate > test.winning_rate_queries
    few = alternative_annotator_test(judge[:20], people[:, :20], np.arange(20))
    assert np.isnan(few.winning_rate)
    with pytest.raises(UsageError, match="needs 3 people, not 2"):
        alternative_annotator_test(judge, people[:2], np.arange(40))


def test_annotators__has_a_row_for_each_judge_that_is_no_person(results: StudyResults):
    (row,) = results.tables["annotators"].to_dicts()
    assert (row["judge"], row["labels"], row["people"]) == ("judge", "grades", 3)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"human": ["A=1,2", "B=2"]}, "'2' is named twice as a set of a group of people"),
        ({"human": ["1,2", "A="]}, "'A=' names no set of labels"),
        ({"human": ["A=1,2", "A=3"]}, "'A' is named twice as a group of people"),
        ({"human": ["A=1"], "epsilon": 0.1}, "needs three people"),
    ],
)
def test_human__of_wrong_groups_is_an_error(tmp_path: Path, choices: Any, message: str):
    store = irmeta.from_data({"a": {"q": {"d": 1}}, "1": {"q": {"d": 1}}}, {"s": {"q": {"d": 1}}})
    with pytest.raises(UsageError, match=message):
        irmeta.studies.judges(store, tmp_path, **choices)


def test_human__of_an_unknown_set_is_an_error(tmp_path: Path):
    with pytest.raises(IrmetaError, match="no set of labels '5'"):
        irmeta.studies.judges(irmeta.from_data(SETS, RUNS), tmp_path, human="A=1,5", **FEW)
    with pytest.raises(IrmetaError, match="'nist' is the reference"):
        irmeta.studies.judges(irmeta.from_data(SETS, RUNS), tmp_path, human="A=nist,1", **FEW)


def test_human__sets_need_not_be_named_as_judges(tmp_path: Path):
    results = irmeta.studies.judges(
        irmeta.from_data(SETS, RUNS), tmp_path, measures="nDCG@10", judges="judge", human=HUMAN,
        **FEW,
    )  # fmt: skip
    assert results.tables["verdicts"]["judge"].to_list() == ["A", "B", "judge"]


@pytest.mark.real
def test_ceiling__of_deep_learning_2019(shared: Path, tmp_path: Path):
    source = shared / "judges" / "trec-dl-2019-passage"
    if not source.exists():
        pytest.skip(f"needs {source}")
    files = sorted((source / "annotators").iterdir())
    tables = irmeta.studies.judges(
        judged_store(source, tmp_path),
        tmp_path / "out",
        judges=[f"{number}={file}" for number, file in enumerate(files, 1)],
        human=["A=1,3,5,7", "B=2,4,6,8"],
        measures="nDCG@10",
        **FEW,
    ).tables
    taus = {(a, b): tau for a, b, tau in tables["ceiling"].select("judge", "person", "tau").rows()}
    assert taus["A", "B"] == pytest.approx(0.9009, abs=5e-5)
    assert taus["qrels", "A"] == pytest.approx(0.9099, abs=5e-5)
    assert taus["qrels", "B"] == pytest.approx(0.9249, abs=5e-5)
    assert (tables["ceiling"]["tau_beside"] == "not distinguishable").all()
    assert tables["verdicts"]["limits"].str.starts_with("an upper bound").all()
