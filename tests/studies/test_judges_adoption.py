"""Systems that adopt the labels of a judge, against a twin and with made judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irmeta
from irmeta.errors import UsageError
from irmeta.rankings.derive.lists import rank_by_grades
from irmeta.stats.judged_orders import Adoption, circular_effect
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.original.judges.labelled_lists import circularity
from support.judged import judged_store
from twins import judges as twin

pytestmark = pytest.mark.usefixtures("undrawn_module")

FEW: dict[str, Any] = {"resamples": 100, "splits": 20, "draws": 19, "tests": "t"}
FIRST = 7


def made(seed: int) -> tuple[twin.Lists, dict[str, twin.Labels]]:
    """Return 5 systems with lists of 12 of 20 docs, and four sets of labels, some partial."""
    rng = np.random.default_rng(seed)
    queries, docs = [f"q{q}" for q in range(6)], [f"d{d:02}" for d in range(20)]
    human = {q: {d: float(rng.integers(0, 4)) for d in docs[:16]} for q in queries}
    noisy = {q: {d: float(rng.integers(0, 4)) for d in docs[2:]} for q in queries}
    binary = {q: {d: float(g > 1) for d, g in of.items()} for q, of in human.items()}
    tenths = {q: {d: g / 10 + 0.05 for d, g in human[q].items()} for q in queries[:5]}
    runs = {
        f"s{s}": {q: [docs[i] for i in rng.permutation(20)[:12].tolist()] for q in queries}
        for s in range(5)
    }
    return runs, {"human": human, "noisy": noisy, "binary": binary, "tenths": tenths}


RUNS, SETS = made(0)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    scores = {
        s: {q: {d: -float(i) for i, d in enumerate(docs)} for q, docs in lists.items()}
        for s, lists in RUNS.items()
    }
    store = irmeta.from_data(SETS, scores)
    out = tmp_path_factory.mktemp("adoption")
    return irmeta.studies.judges(
        store, out, measures="nDCG@10", adoption=FIRST, shares=(0.4,), **FEW
    )


@pytest.mark.parametrize("judge", ["noisy", "binary", "tenths"])
def test_adoption__equals_the_twin(results: StudyResults, judge: str):
    queries = set(SETS[judge])
    human = {q: docs for q, docs in SETS["human"].items() if q in queries}
    rows = results.tables["adoption"].filter(judge=judge)
    taus = {}
    for adopted, labels in SETS.items():
        expected = twin.adoption(RUNS, human, SETS[judge], labels, FIRST)
        (row,) = rows.filter(adopted=adopted, adopters=5).to_dicts()
        taus[adopted] = expected["tau"]
        assert row["tau"] == pytest.approx(expected["tau"], nan_ok=True)
        for name in ("gain_reference", "gain_judge"):
            assert row[name] == pytest.approx(expected[name])
        assert [row["sd_reference"], row["sd_judge"]] == pytest.approx(expected["deviations"])
        if adopted not in (judge, "human"):
            assert rows.filter(adopted=adopted).height == 1
    own = twin.adoption(RUNS, human, SETS[judge], SETS[judge], FIRST)
    (alone,) = rows.filter(adopted=judge, adopters=1).to_dicts()
    assert alone["tau"] == pytest.approx(own["tau_alone"])
    assert (alone["places"], alone["most_places"]) == (
        pytest.approx(twin.mean(own["won"])),
        max(own["won"]),
    )
    assert results.tables["adopters"].filter(judge=judge)["won"].to_list() == own["won"]
    (people,) = rows.filter(adopted="human", adopters=5).to_dicts()
    assert people["effect"] == pytest.approx(taus["human"] - taus[judge])
    (verdict,) = results.tables["verdicts"].filter(judge=judge).to_dicts()
    assert people["tau_before"] == pytest.approx(verdict["tau_b"])
    assert verdict["circular_effect"] == pytest.approx(people["effect"])


def test_adoption__has_one_some_and_all_adopters(results: StudyResults):
    rows = results.tables["adoption"].filter(judge="noisy")
    by_labels = {
        name: rows.filter(labels=name)["adopters"].to_list()
        for name in ("judge", "reference", "other judge")
    }
    assert by_labels == {"judge": [1, 2, 5], "reference": [1, 2, 5], "other judge": [5, 5]}


def test_adoption__without_re_ranked_docs_is_not_computed(tmp_path: Path):
    store = irmeta.from_data({"a": {"q": {"d": 1}}, "b": {"q": {"d": 1}}}, {"s": {"q": {"d": 1}}})
    with pytest.raises(UsageError, match="shares has no effect with adoption = 0"):
        irmeta.studies.judges(store, tmp_path, adoption=0, shares=(0.4,))


@pytest.mark.parametrize(("measures", "adoption"), [("RPP", 5), ("P@10", 0)])
def test_adoption__has_no_rows_where_lists_are_not_scored(
    tmp_path: Path, measures: str, adoption: int
):
    scores = {
        s: {q: {d: -float(i) for i, d in enumerate(docs)} for q, docs in lists.items()}
        for s, lists in RUNS.items()
    }
    store = irmeta.from_data({name: SETS[name] for name in ("human", "binary")}, scores)
    tables = irmeta.studies.judges(
        store, tmp_path, measures=measures, adoption=adoption, **FEW
    ).tables
    assert "adoption" not in tables
    note = tables["studied_tracks"]["notes"][0] or ""
    assert ("RPP, is no sum over docs" in note) == (measures == "RPP")
    assert tables["verdicts"]["circular"].to_list() == [None]


def test_rank_by_grades__equals_sorted_lists():
    rng = np.random.default_rng(1)
    docs = [f"d{d}" for d in range(30)]
    for depth in (1, 4, 9, 40):
        labels = {d: float(rng.integers(-1, 3)) for d in docs[:14]}
        lists = [[docs[i] for i in rng.permutation(30)[: rng.integers(0, 25)]] for _ in range(6)]
        known = docs[:20]
        ranks = np.array([[one.index(d) + 1 if d in one else 0 for one in lists] for d in known])
        grades = np.array([labels.get(d, np.nan) for d in known])
        changed = [twin.adopted_list(one, labels, depth) for one in lists]
        expected = [[one.index(d) + 1 if d in one else 0 for one in changed] for d in known]
        assert rank_by_grades(ranks, grades, depth).tolist() == expected


def test_circular_effect__of_two_sets_with_roles_swapped_is_the_opposite():
    rng = np.random.default_rng(2)
    before, by_a, by_b = (tuple(rng.random((2, 9, 8))) for _ in range(3))
    weights = np.full((1, 9), 1 / 9)
    found = circular_effect(Adoption(before, by_b), Adoption(before, by_a), weights)
    swapped = [Adoption(before[::-1], values[::-1]) for values in (by_a, by_b)]
    assert circular_effect(*swapped, weights).value == pytest.approx(-found.value)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 0.3, "circular"), (-0.1, 0.3, "not shown"), (-0.3, -0.1, "less than people")],
)
def test_circularity__is_decided_by_the_interval(low: float, high: float, verdict: str):
    row = {"judge": "j", "adopted": "r", "share": 1.0, "effect": 0.0}
    rows = [row | {"effect_low": low, "effect_high": high}]
    assert circularity(rows, "j", "r")["circular"] == verdict
    assert circularity(rows, "other", "r")["circular"] is None


@pytest.mark.real
def test_adoption__of_deep_learning_2021(shared: Path, tmp_path: Path):
    """Values of a short script; the shares are drawn."""
    source = shared / "judges" / "trec-dl-2021-passage"
    if not source.exists():
        pytest.skip(f"needs {source}")
    names = {"gpt4o-umbrela": 2, "gpt4-umbrela": 2, "gpt4o-binary": 1, "gpt4o-nuggets-all": 0.5}
    rows = irmeta.studies.judges(
        judged_store(source, tmp_path),
        tmp_path / "out",
        judges=[f"{name}={source / 'judges' / name}.txt" for name in names],
        rels=["2", *(f"{name}={rel}" for name, rel in names.items())],
        measures="nDCG@10",
        **FEW | {"resamples": 1000},
    ).tables["adoption"]
    every = rows.filter(adopters=63)
    taus = {(row["judge"], row["labels"]): row for row in every.to_dicts()}
    for judge, own, people, confirmed in (
        ("gpt4o-umbrela", 0.825, 0.828, 0.619),
        ("gpt4-umbrela", 0.799, 0.777, 0.617),
        ("gpt4o-binary", 0.645, 0.837, 0.394),
        ("gpt4o-nuggets-all", 0.793, 0.748, 0.210),
    ):
        assert taus[judge, "judge"]["tau"] == pytest.approx(own, abs=5e-4)
        assert taus[judge, "reference"]["tau"] == pytest.approx(people, abs=5e-4)
        assert taus[judge, "judge"]["confirmed"] == pytest.approx(confirmed, abs=5e-4)
        assert (taus[judge, "reference"]["effect_low"] > 0) == (judge == "gpt4o-binary")
    umbrela = rows.filter(judge="gpt4o-umbrela", labels="judge").to_dicts()
    assert [row["adopters"] for row in umbrela] == [1, 6, 16, 32, 63]
    for row, tau in zip(umbrela[1:4], (0.922, 0.899, 0.866), strict=True):
        assert row["tau"] == pytest.approx(tau, abs=0.004)
    assert umbrela[0]["places"] == pytest.approx(4.65, abs=0.01)
    assert umbrela[0]["most_places"] == 27
    assert umbrela[4]["gain_judge"] == pytest.approx(0.240, abs=5e-4)
    assert umbrela[4]["gain_reference"] == pytest.approx(0.148, abs=5e-4)
    assert umbrela[4]["sd_reference"] == pytest.approx(0.058, abs=5e-4)
    (binary,) = rows.filter(judge="gpt4o-binary", labels="judge", adopters=1).to_dicts()
    assert binary["places"] == pytest.approx(16.63, abs=0.01)
