"""Judges without sight of systems, and planted ones, on a real track: how often bias is found."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.measures.drawn_labels import DocSum, PermutedLabels
from irmeta.measures.names import parse_measures
from irmeta.rankings.derive.relabel import relabelled
from irmeta.results.averages import PermutedMeans
from irmeta.stats.bias import Contrasts, Hypotheses

pytestmark = pytest.mark.real
NAME = "trec-covid-r1"
SIDE_BY_SIDE = 20
MEASURES = "P@10,nDCG@10,AP"
Judge = Callable[["Track", np.random.Generator], np.ndarray]


class Track(NamedTuple):
    """A track in one block, and the team and type of each run."""

    view: irmeta.JudgedRanks
    groups: dict[str, dict[str, str]]
    query: np.ndarray

    @property
    def grades(self) -> np.ndarray:
        return self.view.grades.astype(float)


@pytest.fixture(scope="session")
def track(shared: Path, real_store: irmeta.Store) -> Track:
    with (shared / "tracks" / NAME / "leaderboard.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    groups = {
        kind: {row["run"]: row[column] for row in rows}
        for kind, column in (("group", "team"), ("type", "runtype"))
    }
    blocks = list(real_store.views(NAME))
    ranks = np.concatenate([block.ranks for block in blocks])
    sizes = np.concatenate([np.diff(block.offsets) for block in blocks])
    view = irmeta.JudgedRanks.from_arrays(
        np.where(ranks == blocks[0].missing, 0, ranks),
        np.maximum(np.concatenate([block.grades for block in blocks]), 0),
        offsets=np.cumsum([0, *sizes]),
        lengths=np.concatenate([block.lengths for block in blocks]).astype(np.int64),
        queries=[query for block in blocks for query in block.queries],
        systems=blocks[0].systems,
        docs=[f"{block.queries[q]} {doc}" for block in blocks
              for q, doc in zip(block.query_of(np.arange(len(block.grades))), block.docs,
                                strict=True)],
    )  # fmt: skip
    return Track(view, groups, view.query_of(np.arange(len(view.grades))))


def flips(track: Track, rng: np.random.Generator) -> np.ndarray:
    """Return labels of which one in ten is wrong."""
    grades = track.grades
    return np.where(rng.random(len(grades)) < 0.1, grades == 0, grades)


def leniency(track: Track, rng: np.random.Generator) -> np.ndarray:
    """Return labels that call 30 % of nonrelevant docs relevant."""
    return lenient(track, np.full(len(track.view.queries), 0.3), rng)


def leniency_by_query(track: Track, rng: np.random.Generator) -> np.ndarray:
    return lenient(track, rng.beta(1, 2, len(track.view.queries)), rng)


def lenient(track: Track, share: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    raised = (rng.random(len(track.query)) < share[track.query]) & (track.grades == 0)
    return np.where(raised, 1.0, track.grades)


def flagged_judges(track: Track, judges: Sequence[np.ndarray], draws: int) -> np.ndarray:
    """Test judges of the same docs side by side, each alone by few draws: bool [judges].

    The labels of a judge that cannot see systems and their permutations are exchangeable, so that
    the rank of its greatest z among 1 + draws is uniform, whatever the number of draws. The test
    has the level 5 % with 39 draws as with 2,000; only its power is less. (With 19, several sets of
    labels reach the greatest z that 20 values can have, and such ties make the test conservative.)
    """
    view, specs = track.view, parse_measures(MEASURES)
    own, tested = PermutedLabels.of([view], [view]), Hypotheses.of(view.systems, track.groups)
    sides = [replace(own, labels=one.astype(np.uint8)) for one in judges]
    rng, most = np.random.default_rng(1), int(np.diff(view.offsets).max())
    forms = [DocSum.of(spec, view, own.levels, most) for spec in specs]
    sums = np.zeros((len(specs), len(judges), 1 + draws, len(view.systems)))
    for start, stop in pairwise(view.offsets.tolist()):
        rows = slice(start, stop)
        labels = np.concatenate([one.permuted(rows, draws, rng) for one in sides], axis=1)
        ranks = np.where(view.ranks[rows] == view.missing, 0, view.ranks[rows])
        for out, form in zip(sums, forms, strict=True):
            assert form is not None
            out += form.values(ranks, labels, same_counts=False).T.reshape(out.shape)

    def greatest_of(values: np.ndarray) -> np.ndarray:
        none = np.zeros(len(view.systems))
        means = PermutedMeans("", "", "", view.systems, 1, len(view.queries), values, none)
        return Contrasts.of(means, tested).greatest

    means = sums / len(view.queries)
    greatest = np.max([[greatest_of(one) for one in of_judges] for of_judges in means], axis=0)
    above = (greatest >= greatest[:, :1] - 1e-9).sum(axis=1)
    return above / (1 + draws) <= 0.05


@pytest.mark.exhaustive
def test_judge_bias__of_blind_judges_is_found_in_no_more_than_the_level(track: Track):
    """A third of the judges of each kind: what is tested does not know how a judge errs."""
    rng, number, found = np.random.default_rng(5), 340, dict[str, int]()
    for judge in (flips, leniency, leniency_by_query):
        flagged = [
            flagged_judges(track, [judge(track, rng) for _ in range(SIDE_BY_SIDE)], draws=39)
            for _ in range(number // SIDE_BY_SIDE)
        ]
        found[judge.__name__] = int(np.sum(flagged))
    print(f"of {number} blind judges each, flagged: {found}")  # noqa: T201
    assert sum(found.values()) / (3 * number) <= 0.07
    assert max(found.values()) / number <= 0.085  # of 5 %, three standard deviations more


@pytest.mark.exhaustive
def test_judge_bias__of_blind_judges_by_all_draws(track: Track):
    """The literal version of the test above, of fewer judges by one measure."""
    rng, found = np.random.default_rng(6), 0
    for i in range(20):
        judge = (flips, leniency, leniency_by_query)[i % 3](track, rng)
        views = {"judge": relabelled(track.view, judge)}
        permuted = irmeta.permuted_means(track.view, views, "P@10", rng=i)
        bias = irmeta.stats.judge_bias(permuted, groups=track.groups)
        found += int(bias.rows["flagged"].any())
    assert found <= 3  # more have a probability of 1.6 %


def planted(
    track: Track, labels: np.ndarray, members: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Raise the mean P@10 of some systems by .05, by labels of docs in their top 10.

    Labels of nonrelevant docs are raised in random order.
    """
    hits = ((track.view.ranks[:, members] <= 10) / 10 / len(track.view.queries)).mean(axis=1)
    wrong = np.flatnonzero((hits > 0) & (track.grades == 0) & (labels == 0))
    order = rng.permutation(wrong)
    found = labels.copy()
    found[order[: np.searchsorted(np.cumsum(hits[order]), 0.05) + 1]] = 1
    return found


def found_share(track: Track, groups: list[np.ndarray], judge: Judge | None) -> float:
    """Return the share of planted judges of which one of the systems, or their team, is flagged.

    A planted judge errs as `judge` does elsewhere; None: nowhere.
    """
    rng, found = np.random.default_rng(8), 0
    teams, systems = track.groups["group"], track.view.systems
    for i, members in enumerate(groups):
        labels = track.grades if judge is None else judge(track, rng)
        views = {"judge": relabelled(track.view, planted(track, labels, members, rng))}
        permuted = irmeta.permuted_means(track.view, views, MEASURES, draws=199, rng=i)
        bias = irmeta.stats.judge_bias(permuted, groups=track.groups).rows
        names = {systems[int(s)] for s in members}
        names |= {teams[name] for name in names}
        flagged = bias.filter(pl.col("flagged"), pl.col("contrast") > 0, pl.col("by") != "type")
        found += bool(names & {*flagged["name"]})
    return found / len(groups)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("judge", "least"), [(None, 0.95), (flips, 0.7)])
def test_judge_bias__planted_for_five_runs_of_different_teams_is_found(
    track: Track, judge: Judge | None, least: float
):
    rng, teams = np.random.default_rng(9), track.groups["group"]
    groups = list[np.ndarray]()
    while len(groups) < 100:
        members = rng.choice(len(track.view.systems), 5, replace=False)
        if len({teams[track.view.systems[int(s)]] for s in members}) == 5:
            groups.append(members)
    share = found_share(track, groups, judge)
    print(f"five runs of different teams: found in {share:.0%} of 100")  # noqa: T201
    assert share >= least


@pytest.mark.exhaustive
@pytest.mark.parametrize(("judge", "least"), [(None, 0.9), (flips, 0.6)])
def test_judge_bias__planted_for_a_team_of_three_has_a_stated_power(
    track: Track, judge: Judge | None, least: float
):
    teams = [track.groups["group"][name] for name in track.view.systems]
    of_three = [one for one in sorted({*teams}) if teams.count(one) == 3]
    groups = [np.flatnonzero(np.array(teams) == one) for one in of_three]
    share = found_share(track, groups, judge)
    print(f"a team of three: found in {share:.0%} of {len(groups)} teams")  # noqa: T201
    assert share >= least
