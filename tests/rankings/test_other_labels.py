"""Views with altered labels, or with lists of other systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.errors import UsageError
from irmeta.rankings.derive.lists import cut_ends, pad_ends
from irmeta.rankings.judged import JudgedRanks
from support.examples import scaled
from support.judged import JUDGE
from support.making import Line, Track, diverse_tracks, down, tracks
from support.viewing import NEEDS, assert_equal_values, specs_without, view_of

QUERIES, DOCS = 40, 60


def view_of_grades(highest: int = 3, negative: bool = False) -> JudgedRanks:
    rng = np.random.default_rng(3)
    grades = -np.sort(-rng.integers(-1 if negative else 0, highest + 1, (QUERIES, DOCS)), axis=1)
    ranks = np.stack([rng.permuted(np.arange(1, DOCS + 1)) for _ in range(QUERIES)])
    offsets = np.arange(QUERIES + 1) * DOCS
    return JudgedRanks.from_arrays(ranks.reshape(-1, 1), grades.ravel(), offsets=offsets)


def grades_of(view: JudgedRanks) -> dict[tuple[str, str], float]:
    query = view.query_of(np.arange(len(view.grades))).tolist()
    names = zip((view.queries[q] for q in query), view.docs, strict=True)
    return dict(zip(names, view.grades.tolist(), strict=True))


def moves(view: JudgedRanks, altered: JudgedRanks) -> pl.DataFrame:
    before, after = grades_of(view), grades_of(altered)
    assert before.keys() == after.keys()
    rows = [(query, old, after[query, doc]) for (query, doc), old in before.items()]
    return pl.DataFrame(rows, ["query", "old", "new"], orient="row")


@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_alter_labels__share_moves_by_one_grade(share: float):
    view = view_of_grades()
    found = moves(view, view.alter_labels(share, rng=1))
    old, new = found["old"].to_numpy(), found["new"].to_numpy()
    step = new - old
    assert set(step.tolist()) <= {-1, 0, 1}
    assert np.mean(step != 0) == pytest.approx(
        share, abs=4 * (share * (1 - share) / len(step)) ** 0.5
    )
    inner = step[(old == 1) | (old == 2)]
    assert abs(inner.sum()) < 4 * np.abs(inner).sum() ** 0.5
    assert (step[old == 0] >= 0).all()
    assert (step[old == 3] <= 0).all()


def test_alter_labels__rows_descend_and_ranks_stay_with_their_docs():
    view = view_of_grades()
    altered = view.alter_labels(0.5, rng=2)
    for first, last in zip(altered.offsets[:-1], altered.offsets[1:], strict=True):
        assert (np.diff(altered.grades[first:last]) <= 0).all()
    ranks = dict(zip(grades_of(view), view.ranks[:, 0].tolist(), strict=True))
    assert dict(zip(grades_of(altered), altered.ranks[:, 0].tolist(), strict=True)) == ranks
    assert view.alter_labels(0.0).grades.tolist() == view.grades.tolist()


def test_alter_labels__confusion_matrix_is_drawn():
    view = view_of_grades()
    confusion = {0: {0: 3, 1: 1}, 1: {2.5: 1}, 2: {0: 1, 2.5: 1}, 3: {3: 1, 1: 3}}
    for by_query in (False, True):
        found = moves(view, view.alter_labels(confusion, by_query, rng=4))
        shares = (
            found.group_by("old", "new")
            .len()
            .with_columns(pl.col("len") / pl.sum("len").over("old"))
        )
        drawn = {(old, new): share for old, new, share in shares.iter_rows()}
        expected = {(0, 0): 0.75, (0, 1): 0.25, (1, 2.5): 1, (2, 0): 0.5, (2, 2.5): 0.5}
        assert drawn == pytest.approx(expected | {(3, 3): 0.25, (3, 1): 0.75}, abs=0.16)


def test_alter_labels__by_query_all_labels_err_in_one_direction():
    view = view_of_grades()
    found = moves(view, view.alter_labels(0.4, by_query=True, rng=5))
    inner = found.filter(pl.col("old").is_in([1, 2])).with_columns(
        step=pl.col("new") - pl.col("old")
    )
    sides = inner.group_by("query").agg(
        pl.col("step").min().alias("low"), pl.col("step").max().alias("high")
    )
    assert set(sides.select("low", "high").rows()) == {(-1, 0), (0, 1)}
    assert 0.3 < (inner["step"] != 0).to_numpy().mean() < 0.5


def test_alter_labels__depends_on_names_alone_and_not_on_other_queries():
    view = view_of_grades()
    some = view.only_queries(view.queries[3:7]).alter_labels(0.5, True, rng=6)
    whole = view.alter_labels(0.5, True, rng=6).only_queries(view.queries[3:7])
    assert grades_of(some) == grades_of(whole)
    assert grades_of(some) != grades_of(
        view.only_queries(view.queries[3:7]).alter_labels(0.5, True)
    )


def test_alter_labels__unjudged_grades_stay():
    view = view_of_grades(negative=True)
    found = moves(view, view.alter_labels(1.0)).filter(pl.col("old") < 0)
    assert found.height
    assert found["old"].equals(found["new"])


def test_alter_labels__binary_and_only_relevant_labels():
    view = view_of_grades(1)
    assert (
        (moves(view, view.alter_labels(1.0)).select(pl.col("old") + pl.col("new")) == 1)
        .to_series()
        .all()
    )
    ones = JudgedRanks.from_arrays(np.array([[1], [2]]), np.array([1, 1]))
    assert ones.alter_labels(1.0).grades.tolist() == [0, 0]
    wide = ones.alter_labels({1: {7: 1}})
    assert (wide.grades.tolist(), wide.facts.highest_grade) == ([7, 7], 7)


@pytest.mark.real
def test_alter_labels__real_judge_changes_the_order_of_systems_less_than_its_own_labels(
    shared: Path,
):
    """Independent errors average out, and so does a confusion matrix drawn at random."""
    folder = shared / "judges" / "trec-dl-2021-passage"
    sets = {"people": folder / "qrels.txt", JUDGE: folder / "judges" / f"{JUDGE}.txt"}
    store = irmeta.from_data(sets, sorted((folder / "runs").iterdir()))
    confusion = irmeta.agree(store, JUDGE, resamples=1).confusion
    (view,) = store.views("data")
    people = irmeta.scores_of(view, "nDCG@10").mean_values()[0]
    judge = store.scores("nDCG@10", track="data", qrels=JUDGE).mean_values()[0]

    def tau(means: np.ndarray) -> float:
        return irmeta.stats.correlate(np.array([people, means])).values[0, 1]

    drawn = tau(irmeta.scores_of(view.alter_labels(confusion), "nDCG@10").mean_values()[0])
    flips = tau(irmeta.scores_of(view.alter_labels(0.2), "nDCG@10").mean_values()[0])
    assert tau(judge) == pytest.approx(0.939487, abs=1e-6)
    assert 0.8 < drawn < 0.97
    assert 0.9 < flips < 0.98


Lines = list[Line]
Edit = Callable[[Lines, dict[str, int]], Lines]
UNREAD = ("pool", "retrieved")


def cut(best: Lines, docs: dict[str, int]) -> Lines:
    relevant = [i for i, line in enumerate(best) if docs.get(line[0], 0) >= 1]
    return best[: relevant[-1] + 1] if relevant else best[:1]


def edited(track: Track, edit: Edit) -> Track:
    """Change each list, in the order of its ranks."""
    runs = {
        system: {
            q: edit(
                [
                    next(line for line in lines if line[0] == doc)
                    for doc in track.ranking(system, q)
                ],
                track.qrels.get(q, {}),
            )
            for q, lines in lists.items()
            if lines
        }
        for system, lists in track.runs.items()
    }
    return replace(track, runs=runs)


def same_values(view: JudgedRanks, track: Track, deepest_rank: int) -> None:
    expected = view_of(track.read(), *NEEDS)
    assert_equal_values(view, expected, specs_without(*UNREAD), deepest_rank=deepest_rank)
    assert (view.lengths == expected.lengths).all()


@pytest.mark.exhaustive
@settings(max_examples=scaled(12))
@given(track=tracks())
def test_cut_ends__same_values_as_lists_to_the_last_relevant_doc(track: Track):
    view = view_of(track.read(), *NEEDS)
    same_values(cut_ends(view), edited(track, cut), view.facts.deepest_rank)


@pytest.mark.exhaustive
def test_pad_ends__same_values_as_lists_with_unjudged_docs():
    runs = {
        "s1": {"q1": down("r", "x"), "q2": down("x", "r", "y", "u", "z")},
        "s2": {"q1": down("y", "u", "r", "x"), "q3": down("u")},
    }
    track = Track(runs, {q: {"r": 2, "u": 1, "y": 0} for q in ("q1", "q2", "q3")})
    view = view_of(track.read(), *NEEDS)

    def pad(best: Lines, docs: dict[str, int]) -> Lines:
        return [*best, *((f"end{i}", -100.0 - i) for i in range(min(2, 5 - len(best))))]

    same_values(pad_ends(view, 2), edited(track, pad), 5)


@pytest.mark.exhaustive
@settings(max_examples=scaled(8))
@given(track=diverse_tracks())
def test_cut_ends__diversity_view_has_its_own_relevant_docs(track: Track):
    view = view_of(track.read(), *NEEDS, "subtopics")
    found = cut_ends(view).by_subtopic()
    assert (found.lengths == cut_ends(view.by_subtopic()).lengths).all()
    assert found.subtopics is view.by_subtopic().subtopics


def test_truncation__shares_of_lists():
    """s1 has a non-relevant doc at the end of one list of two, and no list for the third query."""
    qrels = {q: {"r": 1, "u": 1} for q in ("q1", "q2", "q3")}
    runs = {
        "s1": {"q1": down("r", "x"), "q2": down("x", "r")},
        "s2": {"q1": down("r", "u", "x"), "q2": down("r"), "q3": down("x", "y")},
    }
    store = Track(runs, qrels).read()
    frame = store.stability.truncation("SetP,AP,ASL(unretrieved=depth)")
    rows = {row[1:3]: row[3:] for row in frame.rows()}
    assert frame.columns[3:] == [
        "lists", "better_cut", "worse_cut", "better_padded", "worse_padded",
    ]  # fmt: skip
    third = pytest.approx(1 / 3)
    assert rows["s1", "SetP"] == (2, 0.5, 0.0, 0.0, 1.0)
    assert rows["s2", "SetP"] == (3, third, 0.0, 0.0, third)
    assert rows["s1", "AP"] == (2, 0.0, 0.0, 0.0, 0.0)
    assert rows["s2", "ASL(unretrieved=depth)"][:1] == (3,)


def test_truncation__invalid_argument(made_store: irmeta.Store):
    with pytest.raises(UsageError, match="docs = 0"):
        made_store.stability.truncation("AP", track="news", docs=0)
    with pytest.raises(UsageError, match="no `retrieved`: a view of lists with other ends"):
        made_store.stability.truncation("AvgSL", track="news")


def test_truncation_command__csv_of_the_frame(made_store: irmeta.Store, run):
    done = run("truncation", made_store.path, "-m", "SetP,ACT@10", "--track", "web", "--docs", 2)
    lines = done.out.splitlines()
    assert lines[0].startswith("track,system,measure,lists,better_cut,worse_cut")
    assert (
        len(lines) == 1 + made_store.stability.truncation("SetP,ACT@10", track="web", docs=2).height
    )
