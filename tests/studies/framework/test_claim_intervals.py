"""Intervals of the numbers of claims, undecided verdicts, votes, and means over tracks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

import irmeta
from irmeta.errors import DataError, UsageError
from irmeta.stats.random_effects import random_effects, share_interval
from irmeta.studies.framework.claims import Claim, Condition, Interval, cell, claim_rows
from irmeta.studies.framework.intervals import Drawing, interval_of, intervals, query_sets
from irmeta.studies.framework.study import CLAIMS, ClaimRunOptions
from irmeta.studies.framework.track_groups import named_groups
from support import tiny
from support.tiny import TinyOptions

QUERIES = [f"q{i:02}" for i in range(11)]


def drawn(numbers: list[float], method: str, part: int, queries: int) -> pl.DataFrame:
    return pl.DataFrame({"claim": "c", "track": "a", "number": numbers, "method": method,
                         "drawn": part, "queries": queries})  # fmt: skip


def test_halves__standard_error_of_a_mean_is_exact_over_all_halves():
    """Without rescaling: Var(mean of half, without replacement) = S^2 / n."""
    values = np.random.default_rng(3).random(10)
    means = [float(values[list(half)].mean()) for half in combinations(range(10), 5)]
    interval = interval_of(float(values.mean()), drawn(means, "half", 5, 10))
    assert interval is not None
    exact = values.std(ddof=1) / math.sqrt(10)
    assert interval.se == pytest.approx(exact * math.sqrt(252 / 251), rel=1e-12)
    freedom = 1 / (1 / 9 + 1 / 251)
    half_width = t.ppf(0.975, freedom) * interval.se
    assert (interval.low, interval.high) == pytest.approx(
        (values.mean() - half_width, values.mean() + half_width)
    )
    assert interval.method == "252 halves of 10 queries"


def test_halves__of_an_odd_number_are_rescaled():
    values = np.random.default_rng(4).random(9)
    means = [float(values[list(half)].mean()) for half in combinations(range(9), 4)]
    interval = interval_of(0.5, drawn(means, "half", 4, 9))
    assert interval is not None
    exact = values.std(ddof=1) / math.sqrt(9)
    assert interval.se == pytest.approx(exact * math.sqrt(126 / 125), rel=1e-12)


def test_jackknife__of_single_queries_is_the_standard_error():
    values = np.random.default_rng(5).random(12)
    means = [float(np.delete(values, i).mean()) for i in range(12)]
    interval = interval_of(float(values.mean()), drawn(means, "jackknife", 11, 12))
    assert interval is not None
    assert interval.se == pytest.approx(values.std(ddof=1) / math.sqrt(12), rel=1e-12)
    assert interval.method == "jackknife by 12 groups of queries"


def test_intervals__undefined_and_constant_draws():
    assert interval_of(1.0, drawn([math.nan] * 2 + [1.0, 2.0] * 9, "half", 5, 10)) is not None
    assert interval_of(1.0, drawn([math.nan] * 3 + [1.0, 2.0] * 9, "half", 5, 10)) is None
    assert interval_of(1.0, drawn([2.0] * 10, "half", 5, 10)) is None
    assert interval_of(2.0, drawn([2.0] * 10, "half", 5, 10)) == (
        2.0, 2.0, 0.0, "10 halves of 10 queries"
    )  # fmt: skip
    assert intervals({})("c", "a", 1.0) is None
    of = intervals({"claim_draws": drawn([1.0, 2.0] * 5, "half", 5, 10)})
    assert of("c", "b", 1.0) is None
    assert of("c", "a", 1.0) is not None


def test_query_sets__halves_and_groups():
    halves = list(query_sets(QUERIES, Drawing("half", 30), np.random.default_rng(1)))
    assert {len(half) for half in halves} == {5}
    assert all(len(set(half)) == 5 and list(half) == sorted(half) for half in halves)
    assert set().union(*halves) == set(QUERIES)
    assert halves == list(query_sets(QUERIES, Drawing("half", 30), np.random.default_rng(1)))
    parts = list(query_sets(QUERIES, Drawing("jackknife", 4), np.random.default_rng(1)))
    left_out = [query for part in parts for query in QUERIES if query not in part]
    assert sorted(left_out) == QUERIES
    assert [len(part) for part in parts] == [8, 8, 8, 9]
    single = list(query_sets(QUERIES, Drawing("jackknife", 20), np.random.default_rng(1)))
    assert len(single) == len(QUERIES)


@given(
    st.sampled_from(["> 1", ">= 1", "< 1", "<= 1", "1 to 2"]),
    st.floats(0, 3).map(lambda x: round(x, 1)), st.floats(0.1, 2).map(lambda x: round(x, 1)),
)  # fmt: skip
def test_condition__decides_where_all_numbers_agree(text: str, low: float, width: float):
    condition = Condition.of(text)
    points = [condition(point) for point in np.linspace(low, low + width, 401)]
    assert condition.decides(low, low + width) == (all(points) or not any(points))


def rows(interval_of, groups=None, over="most", tracks=6, **numbers: float) -> pl.DataFrame:
    named = numbers or {f"t{i}": float(i) for i in range(tracks)}
    tables = {
        "studied_tracks": pl.DataFrame(
            [{"track": track, "used": True, "left_out": None, "not_compared": None}
             for track in named],
            schema={"track": pl.String, "used": pl.Boolean, "left_out": pl.String,
                    "not_compared": pl.String},
        ),
        "n": pl.DataFrame({"track": [*named], "v": [*named.values()]}),
    }  # fmt: skip
    claim = Claim("c", "C.", "1", "v", cell("n", "v"), "> 2.5", over)
    study = replace(tiny.STUDY, claims=lambda options: [claim])
    return CLAIMS.frame(claim_rows(study, tables, TinyOptions(), interval_of, groups))


def wide(claim: str, track: str, number: float) -> Interval:
    return Interval(number - 1, number + 1, 0.5, "halves")


def test_verdicts__interval_that_crosses_the_bound_is_undecided():
    frame = rows(wide)
    over, *by_track = frame.iter_rows(named=True)
    assert [row["verdict"] for row in by_track] == [
        "does not hold", "does not hold", "undecided", "undecided", "holds", "holds",
    ]  # fmt: skip
    assert [(row["low"], row["high"], row["se"], row["interval"]) for row in by_track[:1]] == [
        (-1.0, 1.0, 0.5, "halves")
    ]
    assert [row["distance"] for row in by_track] == [-5.0, -3.0, -1.0, 1.0, 3.0, 5.0]
    assert (over["tracks"], over["holding"], over["undecided"], over["open"]) == (4, 2, 2, 0)
    assert over["shown"] == "2 of 4 tracks"
    assert over["why"].startswith("holds on 2 of 4 tracks; undecided on 2; random-effects mean 2.5")
    assert by_track[0]["why"] == "95% interval \u22121.000 to 1.000"
    pooled = random_effects(np.arange(6.0), np.full(6, 0.5))
    names = ("mean", "mean_low", "mean_high", "next_low", "next_high")
    assert [over[name] for name in names] == pytest.approx(pooled[:5])


def test_verdicts__without_intervals_say_so():
    frame = rows(lambda *_: None)
    assert frame["interval"].unique().to_list() == ["no interval"]
    assert frame["se"].null_count() == frame["mean"].null_count() == frame.height
    assert frame["share_low"].null_count() == frame.height


def test_verdicts__mean_over_tracks_is_undecided_where_its_interval_crosses():
    over = rows(wide, over="mean").row(0, named=True)
    assert (over["verdict"], over["number"]) == ("undecided", 2.5)
    over = rows(wide, over="mean", **{f"t{i}": 9.0 + i / 9 for i in range(5)}).row(0, named=True)
    assert over["verdict"] == "holds"


def test_verdicts__mean_is_undecided_where_an_uncertain_track_moves_it_past_the_bound():
    def interval(claim: str, track: str, number: float) -> Interval:
        se = 0.01 if number > 0 else 100.0
        return Interval(number - 2 * se, number + 2 * se, se, "halves")

    near = {f"t{i}": 3.0 + i / 1000 for i in range(8)}
    over = rows(interval, over="mean", **near, odd=-100.0).row(0, named=True)
    assert over["mean_low"] > 2.5 > over["number"]
    assert over["verdict"] == "undecided"
    assert rows(interval, over="mean", **near)["verdict"][0] == "holds"


def test_verdicts__of_fewer_than_three_tracks_must_agree():
    none = lambda *_: None  # noqa: E731
    over = rows(none, a=5.0, b=6.0).row(0, named=True)
    assert (over["verdict"], over["condition"], over["shown"]) == (
        "holds", "2 of 2 tracks", "2 of 2 tracks"
    )  # fmt: skip
    assert rows(none, a=5.0, b=0.0)["verdict"][0] == "undecided"
    assert rows(none, a=0.0)["verdict"][0] == "does not hold"
    for tracks in ({"a": 5.0, "b": 0.0}, {"a": 5.0, "b": 0.0, "c": 0.0}):
        over = rows(none, over="about half", **tracks).row(0, named=True)
        assert (over["verdict"], over["condition"]) == ("cannot be said", "40% to 60%")
        assert over["why"].startswith("about half takes at least 4 tracks; holds on ")
    four = {"a": 5.0, "b": 0.0, "c": 0.0, "d": 5.0}
    assert rows(none, over="about half", **four)["verdict"][0] == "holds"
    assert rows(wide, a=2.5)["verdict"][0] == "undecided"


def test_options__draws_without_intervals_have_no_effect():
    assert ClaimRunOptions(interval="half", interval_draws=30).interval_draws == 30
    with pytest.raises(UsageError, match="interval_draws = 30 has no effect without intervals"):
        ClaimRunOptions(interval_draws=30)


def test_votes__one_per_group_of_tracks():
    groups = {"t0": "x", "t1": "x", "t2": "x", "t3": "y", "t4": "y", "t5": "z"}
    over = rows(lambda *_: None, groups).row(0, named=True)
    assert (over["votes"], over["votes_holding"]) == (3, 2)
    assert (over["share_low"], over["share_high"]) == share_interval(2, 3)
    assert over["why"] == "holds on 3 of 6 tracks; 2 of 3 groups (9% to 99%)"
    tied = rows(lambda *_: None, {f"t{i}": str(i % 3) for i in range(6)}).row(0, named=True)
    assert (tied["votes"], tied["share_low"]) == (None, None)


def claims_of(options: TinyOptions) -> Iterator[Claim]:
    yield Claim("good", "S.", "1", "AP of s0", cell("values", "value", system="s0", measure="AP"),
                "> 0.1", about="queries")  # fmt: skip
    yield Claim("total", "T.", "1", "AP", cell("total", "best", measure="AP"), "> 0",
                about="queries")  # fmt: skip


CLAIMED = replace(tiny.STUDY, name="claimed", claims=claims_of)


@pytest.fixture(scope="module")
def twelve() -> irmeta.Store:
    """A store of one track of 12 queries."""
    generator = np.random.default_rng(2)
    qrels = {f"q{i}": {f"d{j}": int(generator.random() < 0.4) for j in range(8)} for i in range(12)}
    runs = {
        system: {query: {doc: float(generator.random()) for doc in docs}
                 for query, docs in qrels.items()}
        for system in ("s0", "s1")
    }  # fmt: skip
    return irmeta.from_data(qrels, runs)


def test_study__intervals_are_those_of_the_selection_of_queries(twelve, tmp_path: Path):
    shown = []
    done = irmeta.studies.claimed(
        twelve, tmp_path / "x", figures=False, interval="half", interval_draws=10,
        progress=lambda *step: shown.append(step),
    )  # fmt: skip
    draws = done.tables["claim_draws"].filter(claim="good").sort("draw")
    assert draws["drawn"].unique().to_list() == [6]
    (name,) = twelve.tracks
    queries = sorted(twelve.evaluate("AP", per_query=True)["query"].unique())
    seed = [0, *name.encode()]
    sets = query_sets(queries, Drawing("half", 10), np.random.default_rng(seed))
    expected = [
        twelve.evaluate("AP", query=list(part)).filter(system="s0")["value"][0] for part in sets
    ]
    assert draws["number"].to_list() == pytest.approx(expected)
    row = done.tables["claims"].filter(track=name, claim="good").row(0, named=True)
    assert row["se"] == pytest.approx(np.std(expected, ddof=1))
    total = done.tables["claims"].filter(track=name, claim="total")
    assert total["interval"].to_list() == ["no interval"], "a table over tracks is made of all"
    assert (f"{name}: half", 10, 10) in shown
    again = irmeta.studies.claimed(twelve, tmp_path / "x", figures=False)
    assert "claim_draws" not in again.tables
    assert again.tables["claims"]["se"].null_count() == again.tables["claims"].height


def test_groups__that_names_of_tracks_state():
    tracks = ["trec-covid-r1", "trec-covid-r2", "trec8-adhoc"]
    assert [*named_groups(tracks, ["group"]).values()] == ["trec-covid", "trec-covid", "adhoc"]
    assert named_groups(tracks, ["year", "group"])["trec8-adhoc"] == "1999 adhoc"


def test_study__votes_by_a_column_of_a_file(twelve, tmp_path: Path):
    (name,) = twelve.tracks
    file = tmp_path / "tracks.csv"
    file.write_text(f"track,corpus,year\n{name},disks,1999\n")
    done = irmeta.studies.claimed(
        twelve, tmp_path / "x", figures=False, independent_by=f"{file}:corpus,year"
    )
    over = done.tables["claims"].filter(claim="good").row(0, named=True)
    assert (over["votes"], over["share_high"]) == (1, 1.0)
    for asked, error in (
        (f"{file}:corpora", "has no column 'corpora'"),
        ("corpus", "no 'corpus'"),
        ("gruop", "Did you mean 'group'"),
        ("year", "states no year"),
    ):
        with pytest.raises((DataError, UsageError), match=error):
            irmeta.studies.claimed(twelve, tmp_path / "x", figures=False, independent_by=asked)
    done = irmeta.studies.claimed(twelve, tmp_path / "x", figures=False, independent_by="group")
    assert done.tables["claims"].filter(claim="good")["votes"][0] == 1
    file.write_text("track,corpus\nother,disks\n")
    with pytest.raises(DataError, match="no row of track"):
        irmeta.studies.claimed(
            twelve, tmp_path / "x", figures=False, independent_by=f"{file}:corpus"
        )
