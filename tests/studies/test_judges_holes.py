"""Labels of a judge where people have none: against a twin, with made judges, and a real track."""

from __future__ import annotations

import gzip
import math
from itertools import product
from pathlib import Path
from struct import pack, unpack
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import UsageError
from irmeta.stats.filling import Effect, Orders, mapped_grades, mean_grades
from irmeta.stats.judged_orders import Estimate
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.original.judges.judged_track import JudgedTrack
from irmeta.studies.original.judges.labelled_lists import (
    LabelledLists,
    PartialPools,
    hole_tables,
    ranked_docs,
)
from irmeta.studies.original.judges.study import JudgesOptions
from support.making import Track, down
from twins import judges as twin

pytestmark = pytest.mark.usefixtures("undrawn_module")

FEW: dict[str, Any] = {"resamples": 100, "splits": 20, "draws": 19, "tests": "t"}
DEPTH, TEAMS = 4, 6
TURNED = "1:3;2:3;3:0"


def made(seed: int) -> tuple[twin.Lists, dict[str, str], dict[str, twin.Labels]]:
    """Return 12 systems of 6 teams with lists of 12 of 30 docs, and sets of labels.

    The team decides which docs are found. People labelled docs up to d24; `person` is another
    person, `high` has one grade more, `binary` two grades, `tenths` decimal ones.
    """
    rng = np.random.default_rng(seed)
    queries, docs = [f"q{q}" for q in range(8)], [f"d{d:02}" for d in range(30)]
    worth = {q: rng.normal(0, 1.2, 30) for q in queries}
    team = {f"s{s:02}": f"t{s % TEAMS}" for s in range(12)}
    taste = {(t, q): rng.normal(0, 1.5, 30) for t in sorted({*team.values()}) for q in queries}
    runs = {
        s: {
            q: [
                docs[i]
                for i in (worth[q] * (1 + 0.1 * n) + taste[t, q] + rng.normal(0, 0.5, 30))
                .argsort()[::-1][:12]
                .tolist()
            ]
            for q in queries
        }
        for n, (s, t) in enumerate(team.items())
    }
    human, person = (
        {
            q: {
                d: float(np.clip(round(1.2 + w + rng.normal(0, 0.3)), 0, 3))
                for d, w in zip(docs, worth[q], strict=True)
            }
            for q in queries
        }
        for _ in range(2)
    )
    human = {q: {d: of_query[d] for d in docs[:25]} for q, of_query in human.items()}
    return runs, team, {
        "human": human,
        "person": person,
        "high": {q: {d: min(g + 1, 3) for d, g in of.items()} for q, of in person.items()},
        "binary": {q: {d: float(g > 1) for d, g in of.items()} for q, of in person.items()},
        "tenths": {
            q: {d: g / 10 + 0.05 for d, g in person[q].items() if d > "d01"} for q in queries[:7]
        },
    }  # fmt: skip


RUNS, TEAM, SETS = made(0)
NEW = np.random.default_rng(0).random((5, TEAMS)).argsort(axis=1).argsort(axis=1) < TEAMS // 2


def written(folder: Path, teams: bool = True) -> Path:
    """Write the made track as a collection, and return its store."""
    runs = {s: {q: down(*docs) for q, docs in of.items()} for s, of in RUNS.items()}
    facts = "run,group\n" + "".join(f"{s},{t}\n" for s, t in TEAM.items())
    Track(runs, {}).write_with(folder / "c", facts * teams, **SETS)
    irmeta.ingest(folder / "c", folder / "store")
    return folder / "store"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("holes"))


def tables(store: Path, **options: Any) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Return the tables of holes, without the study's others, and the notes of the track."""
    few: dict[str, Any] = {"measures": ("nDCG@10",), "hole_draws": 5, "resamples": 100}
    few |= {"holes": DEPTH, **options}
    chosen = JudgesOptions(**few)
    view = TrackView(irmeta.Store(store).track("t"), chosen)
    judged = JudgedTrack.of(view, chosen)
    assert judged is not None
    rows: dict[str, list[Any]] = {}
    for name, some in hole_tables(judged, ranked_docs(judged)):
        rows.setdefault(name, []).extend(some)
    frames = {n: pl.DataFrame(of, infer_schema_length=None) for n, of in rows.items()}
    notes: str = view.studied()["notes"] or ""
    return frames, notes.split("; ")


def expected_ways(judge: str, how: Any) -> dict[str, tuple[float, float]]:
    """Return tau-b and places of each way by the twin, as means over the draws of teams."""
    queries = sorted({*SETS["human"]} & {*SETS[judge]})
    human, labels = ({q: SETS[name][q] for q in queries} for name in ("human", judge))
    pooled = {q: {d: g for d, g in of.items() if d in human[q]} for q, of in labels.items()}
    alike = {q: dict.fromkeys(of, 0.0) for q, of in pooled.items()}
    reference = twin.adopted_values(RUNS, None, human, 0)
    names, by_way = sorted({*TEAM.values()}), {}
    for of_draw in NEW:
        new = {name for name, is_new in zip(names, of_draw, strict=True) if is_new}
        part = twin.smaller_pool(RUNS, TEAM, new, human, DEPTH)
        ways = {
            "nonrelevant": (RUNS, part),
            "condensed": (twin.condensed(RUNS, part), part),
            "judge alone": (RUNS, labels),
            "filled": (RUNS, twin.filled(part, pooled, how)),
            "filled: mean grade": (RUNS, twin.filled(part, alike, "expected")),
        }
        for way, (lists, used) in ways.items():
            order = twin.order_beside(
                twin.adopted_values(lists, None, used, 0),
                reference,
                [TEAM[s] in new for s in sorted(RUNS)],
            )
            by_way.setdefault(way, []).append(order)
    return {
        way: (twin.mean([tau for tau, _ in both]), twin.mean([places for _, places in both]))
        for way, both in by_way.items()
    }


@pytest.mark.parametrize(
    ("judge", "text", "how"),
    [
        ("person", "same", "same"),
        ("binary", "0:0;1:3", {0.0: 0.0, 1.0: 3.0}),
        ("binary", "expected", "expected"),
        ("tenths", "expected", "expected"),
    ],
)
def test_filling__equals_the_twin(store: Path, judge: str, text: str, how: Any):
    frames, _ = tables(store, judges=(judge,), maps=(f"{judge}={text}",))
    rows = {row["way"]: row for row in frames["filling"].to_dicts()}
    for way, (tau, places) in expected_ways(judge, how).items():
        row = rows[f"filled: {text}" if way == "filled" else way]
        assert (row["tau"], row["places"]) == (pytest.approx(tau), pytest.approx(places))
        if way != "nonrelevant":
            assert row["difference"] == pytest.approx(tau - rows["nonrelevant"]["tau"])
        if way == "filled":
            assert row["beyond_mean"] == pytest.approx(tau - rows["filled: mean grade"]["tau"])
    assert set(rows) == {"nonrelevant", "condensed", "judge alone", f"filled: {text}",
                         "filled: expected", "filled: drawn", "filled: mean grade"}  # fmt: skip


def test_filling__has_the_mean_error_of_filled_grades(store: Path):
    frames, _ = tables(store, judges=("high",), maps=("same",))
    gaps, left = [], []
    for of_draw in NEW:
        new = {f"t{t}" for t in np.flatnonzero(of_draw)}
        part = twin.smaller_pool(RUNS, TEAM, new, SETS["human"], DEPTH)
        left.append(sum(map(len, part.values())) / sum(map(len, SETS["human"].values())))
        for q, docs in SETS["human"].items():
            gaps += [SETS["high"][q][d] - g for d, g in docs.items() if d not in part[q]]
    (row,) = frames["filling"].filter(way="filled: same").to_dicts()
    assert row["excess"] == pytest.approx(twin.mean(gaps))
    assert row["labelled"] == pytest.approx(twin.mean(left))


@pytest.mark.parametrize(("judge", "how"), [("person", "same"), ("tenths", "expected")])
def test_holes__equal_the_twin(store: Path, judge: str, how: str):
    frames, _ = tables(store, judges=(judge,), maps=(how,))
    queries = sorted({*SETS["human"]} & {*SETS[judge]})
    human, labels = ({q: SETS[name][q] for q in queries} for name in ("human", judge))
    both = twin.filled(human, labels, how)
    expected = {
        "people": twin.adopted_values(RUNS, None, human, 0),
        "condensed": twin.adopted_values(twin.condensed(RUNS, human), None, human, 0),
        "filled": twin.adopted_values(RUNS, None, both, 0),
        "judge_alone": twin.adopted_values(RUNS, None, labels, 0),
    }
    for name, rows in expected.items():
        assert frames["holes"][name].to_list() == pytest.approx(twin.means(rows))
    for name, known in (("holes", human), ("holes_filled", both)):
        for s, share in zip(sorted(RUNS), frames["holes"][name], strict=True):
            missed = [sum(d not in known[q] for d in RUNS[s][q][:DEPTH]) for q in queries]
            assert share == pytest.approx(sum(missed) / DEPTH / len(queries))


@pytest.mark.parametrize("measure", ["nDCG@5", "P@5", "RBP", "R@5"])
def test_bounds__hold_for_all_grades_of_the_holes_of_a_list(store: Path, measure: str):
    options = JudgesOptions(judges=("person",), measures=(measure,), rels=("2",))
    judged = JudgedTrack.of(TrackView(irmeta.Store(store).track("t"), options), options)
    assert judged is not None
    docs = ranked_docs(judged)
    assert docs is not None
    lists, people = LabelledLists.of(judged, docs), docs.grades["human"]
    low, high = lists.bounds(people)
    reached = 0
    for q, s in product(range(8), range(12)):
        rows = np.arange(*docs.offsets[q : q + 2])
        ranks, labels = docs.ranks[rows, s], people[rows]
        own = rows[np.isnan(labels) & (ranks > 0) & (ranks <= (12 if measure == "RBP" else 5))]
        if len(own) > 3:
            continue
        ways = np.array([*product([0.0, 2.0, 3.0], repeat=len(own))]).T
        drawn = np.repeat(people[:, None], max(ways.shape[-1], 1), axis=1)
        if len(own):
            drawn[own] = ways
        values = lists.values(drawn)[:, q, s]
        assert low[q, s] - 1e-12 <= values.min() <= values.max() <= high[q, s] + 1e-12
        if measure in ("P@5", "RBP"):
            assert (values.min(), values.max()) == pytest.approx((low[q, s], high[q, s]))
        reached += len(own) > 0
    assert reached > 3


def test_bounds__of_precisions_are_not_defined(store: Path):
    frames, _ = tables(store, judges=("person",), measures=("AP",))
    assert frames["holes"].select(pl.col("lower", "upper").is_nan().all()).row(0) == (True, True)


def test_mapped_grades__have_the_mean_of_the_grade_or_of_the_nearest_one():
    judge = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0, np.nan, 0.5])
    people = np.array([0.0, 1.0, 3.0, np.nan, 2.0, np.nan, 3.0, np.nan])
    levels, counts, means = mean_grades(judge, people)
    assert (levels.tolist(), counts.tolist()) == ([0.0, 0.5, 1.0, 2.0], [2, 0, 2, 0])
    assert means.tolist() == [0.5, 0.5, 2.5, 2.5]
    rng = np.random.default_rng(0)
    expected = mapped_grades("expected", judge, people, rng)
    np.testing.assert_array_equal(expected, [0.5, 0.5, 2.5, 2.5, 2.5, 2.5, np.nan, 0.5])
    drawn = np.array([mapped_grades("drawn", judge, people, rng) for _ in range(400)])
    assert np.isnan(drawn[:, 6]).all()
    for doc, grades in ((0, {0, 1}), (3, {2, 3}), (5, {2, 3}), (7, {0, 1})):
        assert set(drawn[:, doc].tolist()) == grades
        assert drawn[:, doc].mean() == pytest.approx(sum(grades) / 2, abs=0.1)
    no_labels = mapped_grades("drawn", judge, np.full(8, np.nan), rng)
    assert np.isnan(no_labels).all()
    with pytest.raises(UsageError, match="lacks the judge's grade 2"):
        mapped_grades({0.0: 0.0, 0.5: 0.0, 1.0: 1.0}, judge, people, rng)


def test_maps__are_fitted_on_docs_of_the_pooled_teams_only(store: Path):
    """Labels of docs that only new teams found decide nothing: without them all is the same."""
    options = JudgesOptions(judges=("binary",), holes=DEPTH, hole_draws=5, measures=("nDCG@10",))
    judged = JudgedTrack.of(TrackView(irmeta.Store(store).track("t"), options), options)
    assert judged is not None
    docs = ranked_docs(judged)
    assert docs is not None
    pools = PartialPools.of(judged, docs)
    assert pools is not None
    names = [f"t{t}" for t in range(TEAMS)]
    assert pools.is_new.tolist() == [
        [bool(of_draw[names.index(TEAM[s])]) for s in sorted(RUNS)] for of_draw in NEW
    ]
    for d, of_draw in enumerate(NEW):
        new = {name for name, is_new in zip(names, of_draw, strict=True) if is_new}
        part = twin.smaller_pool(RUNS, TEAM, new, SETS["human"], DEPTH)
        labels = [part[q][d] for q in sorted(part) for d in sorted(part[q])]
        assert pools.labels[:, d][~np.isnan(pools.labels[:, d])].tolist() == labels


@pytest.mark.parametrize(
    ("maps", "problem"),
    [
        (("bynary=0:0;1:2",), "Did you mean 'binary'"),
        (("binary=0:0",), "binary has the grade 1, which its map lacks"),
        (("binary=0:0;1:4",), "4 is not between 0 and 3"),
        (("binary=0:0;1",), "write pairs of grades"),
        (("binary=0:0;0:1",), "two grades for one grade"),
        (("binary=modal",), "Known: drawn, expected, same"),
        (("binary=same", "binary=drawn"), "named twice"),
    ],
)
def test_maps__that_cannot_be_are_errors(store: Path, maps: tuple[str, ...], problem: str):
    with pytest.raises(UsageError, match=problem):
        tables(store, maps=maps)


def test_maps__are_by_default_those_of_the_scales(store: Path):
    frames, _ = tables(store, maps=("tenths=drawn",))
    by_judge = dict(frames["maps"].select("judge", "map").unique().iter_rows())
    assert by_judge == {
        "person": "same", "high": "expected", "binary": "expected", "tenths": "drawn"
    }  # fmt: skip
    rows = frames["maps"].filter(judge="binary").to_dicts()
    grades = twin.human_grades(SETS["binary"], SETS["human"])
    for row in rows:
        of_grade = grades[row["judge_grade"]]
        assert (row["docs"], row["filled"]) == (len(of_grade), pytest.approx(twin.mean(of_grade)))


@pytest.mark.parametrize("option", [{"maps": ("same",)}, {"hole_draws": 3}])
def test_holes__of_no_rank_have_no_tables(store: Path, option: dict[str, Any]):
    assert tables(store, holes=0, hole_draws=50) == ({}, tables(store)[1])
    with pytest.raises(UsageError, match="no effect with holes = 0"):
        JudgesOptions(holes=0, **option)


def test_filling__needs_teams(tmp_path: Path):
    frames, notes = tables(written(tmp_path, teams=False))
    assert set(frames) == {"maps", "holes"}
    assert "filling is not tested: the collection names 0 groups of systems, of at least 4" in notes


def test_filling__helps_by_another_person_and_does_harm_by_a_wrong_scale(
    store: Path, tmp_path: Path
):
    results = irmeta.studies.judges(
        store, tmp_path, measures="nDCG@10", judges=("person", "high"),
        maps=("person=same", f"high={TURNED}"), holes=DEPTH, hole_draws=10, adoption=0, **FEW,
    )  # fmt: skip
    rows = results.tables["filling"].filter(
        pl.col("way").is_in(["filled: same", f"filled: {TURNED}"])
    )
    assert dict(rows.select("judge", "verdict").iter_rows()) == {
        "person": "helps", "high": "does harm"
    }  # fmt: skip
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "helps with 1 of 2 judges, and does harm with 1, beside nonrelevant holes" in page
    assert "Below these: high (" in page
    assert "More than the mean grade in these docs, which takes no judge, is shown of 1." in page
    beyond = {(judge, way): low for judge, way, low in results.tables["filling"].select(
        "judge", "way", "beyond_mean_low"
    ).iter_rows()}  # fmt: skip
    assert beyond["person", "filled: same"] > 0 > beyond["high", f"filled: {TURNED}"]
    assert math.isnan(beyond["person", "nonrelevant"])
    assert math.isnan(beyond["person", "filled: mean grade"])


def test_mapped_grades__of_one_grade_for_all_docs_are_the_mean_of_people():
    people, rng = np.array([3.0, 0.0, np.nan, 1.0, np.nan]), np.random.default_rng(0)
    assert mapped_grades("expected", np.ones(5), people, rng) == pytest.approx(np.full(5, 4 / 3))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 0.3, "helps"),
        (-0.3, -0.1, "does harm"),
        (-0.1, 0.1, "not shown"),
        (np.nan, np.nan, None),
    ],
)
def test_verdict__is_by_the_interval(low: float, high: float, verdict: str | None):
    some = Estimate(0.0, low, high)
    assert Effect(some, some, some, 0.5).verdict == verdict


def test_orders__of_the_reference_itself_have_tau_1_and_no_places():
    rng = np.random.default_rng(3)
    values, weights = rng.random((6, 5)), np.full((3, 6), 1 / 6)
    same = Orders.of(values, np.stack([values] * 4), rng.random((4, 5)) < 0.9, weights)
    assert (same.taus == 1).all()
    assert (same.places == 0).all()
    assert same.effect(same, 0).verdict == "not shown"


# The real track, by a script that imports nothing of irmeta: files, dicts and loops.

PREFIXES = ("Fast_Forward", "NLE", "TUW", "WLU", "bl_bcai", "bcai", "ielab", "ihsm", "mono",
            "pash", "pass", "paug", "p_", "top1000", "uogTr", "watp", "yorku")  # fmt: skip


def _team(system: str) -> str:
    """Return the team, which the beginning of the name tells."""
    return next(p for p in PREFIXES if system.startswith(p)).replace("bl_bcai", "bcai")


def _labels(path: Path) -> twin.Labels:
    labels: twin.Labels = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, doc, grade = line.split()
        labels.setdefault(query, {})[doc] = float(grade)
    return labels


def _lists(path: Path) -> dict[str, list[str]]:
    rows: dict[str, list[tuple[float, str]]] = {}
    with gzip.open(path, "rt") as file:
        for line in file:
            query, _, doc, _, text, _ = line.split()
            (score,) = unpack("f", pack("f", float(text)))  # trec_eval's single precision
            rows.setdefault(query, []).append((score, doc))
    return {q: [doc for _, doc in sorted(of, reverse=True)[:100]] for q, of in rows.items()}


@pytest.mark.real
def test_filling__of_deep_learning_2021(shared: Path, tmp_path: Path):
    """Values of the twin on some draws; those of the audit, of other draws, within their spread."""
    source = shared / "judges" / "trec-dl-2021-passage"
    if not source.exists():
        pytest.skip(f"needs {source}")
    track = tmp_path / "collection" / "t"
    (track / "runs").mkdir(parents=True)
    files = sorted((source / "runs").iterdir())
    names = [file.name.removeprefix("input.").removesuffix(".gz") for file in files]
    for file in files:
        (track / "runs" / file.name).symlink_to(file)
    (track / "human.txt").symlink_to(source / "qrels.txt")
    facts = "".join(f"{name},{_team(name)}\n" for name in names)
    (track / "facts.csv").write_text("run,team\n" + facts)
    (tmp_path / "collection" / "collection.toml").write_text(
        '[tracks.t]\nruns = ["t/runs/*"]\nqrels = {human = "t/human.txt"}\n'
        'systems = { file = "t/facts.csv", name = "run", group = "team" }\n'
    )
    irmeta.ingest(tmp_path / "collection", tmp_path / "store")
    rels = {"gpt4o-umbrela": 2, "gpt4o-binary": 1}
    common: dict[str, Any] = {
        "judges": tuple(f"{name}={source / 'judges' / name}.txt" for name in rels),
        "rels": ("2", *(f"{name}={rel}" for name, rel in rels.items())),
        "maps": ("gpt4o-umbrela=same", "gpt4o-binary=0:0;1:3"),
        "holes": 10,
    }
    frames, _ = tables(tmp_path / "store", hole_draws=50, **common)
    rows = {(row["judge"], row["way"]): row for row in frames["filling"].to_dicts()}
    for judge, way, tau, places in (
        ("gpt4o-umbrela", "nonrelevant", 0.822, -3.7),
        ("gpt4o-umbrela", "filled: same", 0.914, 1.6),
        ("gpt4o-umbrela", "condensed", 0.869, 2.3),
        ("gpt4o-umbrela", "judge alone", 0.939, 0.0),
        ("gpt4o-binary", "nonrelevant", 0.843, -3.5),
        ("gpt4o-binary", "filled: 0:0;1:3", 0.829, 3.7),
        ("gpt4o-binary", "condensed", 0.891, 2.1),
    ):
        row = rows[judge, way]
        assert row["tau"] == pytest.approx(tau, abs=0.03)
        assert row["places"] == pytest.approx(places, abs=0.5)
    assert rows["gpt4o-umbrela", "filled: same"]["verdict"] == "helps"
    assert rows["gpt4o-binary", "filled: 0:0;1:3"]["verdict"] == "not shown"
    assert rows["gpt4o-binary", "filled: expected"]["tau"] == pytest.approx(0.956, abs=0.01)
    assert rows["gpt4o-umbrela", "filled: mean grade"]["tau"] == pytest.approx(0.908, abs=0.01)
    assert rows["gpt4o-umbrela", "filled: expected"]["beyond_mean_low"] > 0
    assert rows["gpt4o-umbrela", "filled: same"]["beyond_mean_low"] < 0

    frames, _ = tables(tmp_path / "store", hole_draws=2, **common)
    runs = dict(zip(names, map(_lists, files), strict=True))
    runs = {
        s: {q: lists.get(q, []) for q in sorted(rows)}
        for s, lists in runs.items()
        for rows in [_labels(source / "qrels.txt")]
    }
    human, teams = _labels(source / "qrels.txt"), {s: _team(s) for s in names}
    of_teams = sorted({*teams.values()})
    order = np.random.default_rng(0).random((2, len(of_teams))).argsort(axis=1).argsort(axis=1)
    reference = twin.adopted_values(runs, None, human, 0)
    for judge, text, how in (
        ("gpt4o-umbrela", "same", "same"),
        ("gpt4o-binary", "0:0;1:3", {0.0: 0.0, 1.0: 3.0}),
        ("gpt4o-binary", "expected", "expected"),
    ):
        labels = _labels(source / "judges" / f"{judge}.txt")
        both = []
        for of_draw in order < len(of_teams) // 2:
            new = {name for name, is_new in zip(of_teams, of_draw, strict=True) if is_new}
            part = twin.smaller_pool(runs, teams, new, human, 10)
            values = twin.adopted_values(runs, None, twin.filled(part, labels, how), 0)
            is_new = [teams[s] in new for s in sorted(runs)]
            both.append(twin.order_beside(values, reference, is_new))
        (row,) = frames["filling"].filter(judge=judge, way=f"filled: {text}").to_dicts()
        assert row["tau"] == pytest.approx(twin.mean([tau for tau, _ in both]))
        assert row["places"] == pytest.approx(twin.mean([places for _, places in both]))
