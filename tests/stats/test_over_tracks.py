"""Conclusions over datasets: scipy, twins, coverage, and tables of means alone."""

from __future__ import annotations

import gzip
import hashlib
import math
from pathlib import Path
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from scipy import stats

import irmeta
from irmeta.errors import DataError, UsageError
from irmeta.stats.datasets import (
    Datasets,
    dataset_rows,
    effective_number,
    friedman,
    nemenyi,
    win_rates,
)

AUC = """
0.763 0.768 0.771 0.798
0.599 0.591 0.590 0.569
0.954 0.971 0.968 0.967
0.628 0.661 0.654 0.657
0.882 0.888 0.886 0.898
0.936 0.931 0.916 0.931
0.661 0.668 0.609 0.685
0.583 0.583 0.563 0.625
0.775 0.838 0.866 0.875
1.000 1.000 1.000 1.000
0.940 0.962 0.965 0.962
0.619 0.666 0.614 0.669
0.972 0.981 0.975 0.975
0.957 0.978 0.946 0.970
"""
"""Areas under curves of C4.5 and three variants on 14 data sets, in the manner of Demsar (2006)."""
VARIANTS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


@pytest.fixture
def leaderboard() -> pl.DataFrame:
    """Return means by dataset and system, without queries."""
    rows = [line.split() for line in AUC.strip().splitlines()]
    return pl.DataFrame(
        [
            (f"d{i:02}", system, "AUC", float(value))
            for i, row in enumerate(rows)
            for system, value in zip(VARIANTS, row, strict=True)
        ],
        schema=["dataset", "model", "metric", "score"],
        orient="row",
    )


def made(datasets: int, queries: int, systems: int, seed: int) -> list[irmeta.Matrix]:
    rng = np.random.default_rng(seed)
    return [
        irmeta.Matrix(
            rng.random((queries, systems)) + np.linspace(0, 0.3, systems),
            tuple(map(str, range(queries))),
            tuple("abcdefgh"[:systems]),
            "AP",
            f"t{i}",
        )
        for i in range(datasets)
    ]


def test_dataset_rows__the_first_of_equally_good_systems_is_the_best():
    """Without dataset x all systems but the second have the mean 0.5, and 0.5 is the greatest."""
    values = np.array([[0.1, 0.2, 0.9]]), np.array([[0.5, 0.1, 0.5]])
    data = Datasets("AP", 1, ("x", "y"), ("a", "b", "c"), values, {})
    assert [row[4] for row in dataset_rows(data)] == ["a", "c"]


def test_over_tracks__equals_scipy(leaderboard):
    compared = irmeta.over_tracks(leaderboard, nemenyi=True)
    ranks = dict(compared.systems.select("system", "mean_rank").rows())
    by_hand = leaderboard["score"].to_numpy().reshape(14, 4).T
    expected_ranks = stats.rankdata(-by_hand, axis=0).mean(axis=1)
    assert [ranks[system] for system in VARIANTS] == pytest.approx(expected_ranks.tolist())
    expected = stats.friedmanchisquare(*by_hand)
    assert compared.facts["AUC"]["friedman"] == pytest.approx(expected.statistic)
    assert compared.facts["AUC"]["friedman_p"] == pytest.approx(expected.pvalue)
    pair = compared.pairs.filter(system_a="C4.5", system_b="C4.5+m").row(0, named=True)
    assert pair["p_uncorrected"] == pytest.approx(
        stats.wilcoxon(by_hand[0], by_hand[1], method="exact", zero_method="wilcox").pvalue,
        abs=0.02,
    )


def test_nemenyi__has_the_published_critical_difference():
    # Demsar: of 4 systems on 14 data sets, the critical difference at .05 is 1.25, at .10 1.12.
    means = np.zeros((14, 4))
    data = Datasets("AP", 1, tuple(map(str, range(14))), VARIANTS, tuple(means[:, None]), {})
    for difference, p in ((1.25, 0.05), (1.12, 0.10)):
        error = math.sqrt(4 * 5 / (12 * 14))
        assert stats.studentized_range.sf(difference / error, 4, np.inf) == pytest.approx(
            p, abs=2e-3
        )
    assert nemenyi(data) == pytest.approx(np.ones((4, 4)))
    ranked = Datasets(
        "AP", 1, data.tracks, VARIANTS, tuple(np.tile([[3.0, 2, 1, 0]], (14, 1, 1))), {}
    )
    expected = stats.studentized_range.sf(1 / error, 4, np.inf)
    assert nemenyi(ranked)[0, 1] == pytest.approx(expected, abs=1e-6)


def test_over_tracks__equals_the_report(shared: Path):
    with pytest.warns(irmeta.QrelsWarning, match="none of 2 judged docs is retrieved"):
        compared = irmeta.over_tracks(
            irmeta.read(shared / "cases/reports/macro_mean/coll"), "nDCG@10"
        )
    assert compared.systems["macro_mean"].item() == pytest.approx(0.543643, abs=5e-7)


def test_system_rows__equal_naive_values():
    matrices = made(3, 5, 4, 1)
    compared = irmeta.over_tracks(matrices)
    rows = {row["system"]: row for row in compared.systems.iter_rows(named=True)}
    for place, system in enumerate("abcd"):
        means = [fmean(m.values[:, place].tolist()) for m in matrices]
        assert rows[system]["macro_mean"] == pytest.approx(fmean(means))
        ranks = [1 + sum(v > m.means[place] for v in m.means) for m in matrices]
        assert rows[system]["mean_rank"] == pytest.approx(fmean(ranks))
        assert rows[system]["borda"] == pytest.approx(sum(4 - rank for rank in ranks))
        won = [fmean((m.values[:, [place]] > m.values).sum(axis=1) / 3) for m in matrices]
        assert rows[system]["win_rate"] == pytest.approx(fmean(won))
    assert compared.systems["low_like_these"].is_nan().all()  # three tracks


def test_win_rates__count_a_tie_half_and_less_as_better():
    values = np.array([[0.1, 0.1, 0.3]])
    data = Datasets("ASL", -1, ("a", "b"), ("x", "y", "z"), (values, values), {})
    assert win_rates(data).tolist() == [0.75, 0.75, 0.0]


def test_low_high__cover_the_macro_mean_of_these_tracks():
    rng, covered = np.random.default_rng(7), 0
    truth = np.array([0.2, 0.5, 0.35])
    for seed in range(200):
        values = tuple(rng.normal(mean, 0.2, (40, 1)) for mean in truth)
        data = Datasets("AP", 1, ("a", "b", "c"), ("x",), values, {})
        low, high = np.quantile(data.drawn(400, seed), [0.025, 0.975], axis=0)[:, 0]
        covered += bool(low <= truth.mean() <= high)
    assert 0.9 <= covered / 200 <= 0.98


def test_like_these__is_students_t_over_means_of_tracks():
    compared = irmeta.over_tracks(made(6, 5, 2, 3))
    row = compared.systems.filter(system="a").row(0, named=True)
    means = [m.means[0] for m in made(6, 5, 2, 3)]
    low, high = stats.t.interval(0.95, 5, loc=fmean(means), scale=stats.sem(means))
    assert (row["low_like_these"], row["high_like_these"]) == pytest.approx((low, high))


def test_effective_number__is_1_of_equal_orders_and_all_of_uncorrelated_ones():
    same = np.array([[0.1, 0.2, 0.4]])
    data = Datasets("AP", 1, ("a", "b"), ("x", "y", "z"), (same, same), {})
    assert effective_number(data) == pytest.approx(1)
    other = np.array([[0.1, -0.2, 0.1]])
    orthogonal = same - same.mean() - ((same - same.mean()) @ other.T) / (other @ other.T) * other
    assert effective_number(
        Datasets("AP", 1, ("a", "b"), ("x", "y", "z"), (orthogonal, other), {})
    ) == pytest.approx(2)


def test_friedman__is_undefined_where_all_tie_or_two_systems_are_compared():
    flat = np.full((1, 3), 0.5)
    assert all(
        map(math.isnan, friedman(Datasets("AP", 1, ("a", "b"), tuple("xyz"), (flat, flat), {})))
    )
    two = flat[:, :2]
    assert all(
        map(math.isnan, friedman(Datasets("AP", 1, ("a", "b"), tuple("xy"), (two, two), {})))
    )


def test_verdict__is_of_what_holm_can_show_of_so_many_pairs():
    # The least p over six tracks is 1 / 32: of one pair it is below .05, of fifteen never.
    several = irmeta.over_tracks(made(6, 5, 6, 1))
    assert set(several.pairs["verdict"]) == {"cannot be shown by 6 tracks"}
    single = irmeta.over_tracks([m.only_systems(["a", "b"]) for m in made(6, 5, 6, 1)])
    assert single.pairs["verdict"].item() != "cannot be shown by 6 tracks"
    assert "uncorrelated" in str(several)
    assert "uncorrelated" not in str(single)  # r of two systems is 1 or -1


def test_left_out__are_named_where_one_system_remains():
    first, second = made(2, 5, 2, 4)
    compared = irmeta.over_tracks([first.only_systems(["a"]), second], missing="common")
    assert "Systems that lack a track are left out: b (t0)." in str(compared)


def test_missing__is_an_error_left_out_or_0(leaderboard):
    fewer = leaderboard.filter(~((pl.col("dataset") == "d03") & (pl.col("model") == "C4.5")))
    with pytest.raises(UsageError, match=r"1 system lack.*C4.5 \(1 of 14\).*missing='common'"):
        irmeta.over_tracks(fewer)
    common = irmeta.over_tracks(fewer, missing="common")
    assert common.systems.height == 3
    assert common.left_out["AUC"] == {"C4.5": ["d03"]}
    assert "C4.5 (d03)" in str(common)
    zero = irmeta.over_tracks(fewer, missing="zero").systems.filter(system="C4.5")
    complete = irmeta.over_tracks(leaderboard).systems.filter(system="C4.5")
    assert zero["macro_mean"].item() == pytest.approx(complete["macro_mean"].item() - 0.628 / 14)


def test_only_means__give_no_interval_on_these_tracks(leaderboard):
    compared = irmeta.over_tracks(leaderboard)
    assert compared.systems["low"].is_nan().all()
    assert compared.systems["low_like_these"].is_not_nan().all()
    assert "no interval on these tracks" in str(compared)


def test_names__join_systems_of_several_tracks(tmp_path: Path):
    first, second = made(2, 5, 2, 4)
    other = irmeta.Matrix(second.values, second.queries, ("a2", "b"), "AP", "t1")
    (tmp_path / "names.csv").write_text("system,name\na2,a\n")
    compared = irmeta.over_tracks([first, other], system_names=str(tmp_path / "names.csv"))
    assert sorted(compared.systems["system"]) == ["a", "b"]
    digest = hashlib.sha256(b"system,name\na2,a\n").hexdigest()
    assert compared.settings["system_names_sha256"] == digest


def test_table_of_means__is_read_as_other_values_are(tmp_path: Path):
    rows = ["task,run,measure,value", "1,01,AP,.1", "1,1,AP,.2", "2,01,AP,.3", "2,1,AP,.4"]
    file = tmp_path / "means.csv.gz"
    file.write_bytes(gzip.compress("\n".join(rows).encode()))
    compared = irmeta.over_tracks(file, columns={"track": "task", "system": "run"})
    assert dict(compared.systems.select("system", "macro_mean").rows()) == pytest.approx(
        {"01": 0.2, "1": 0.3}  # names are text
    )
    (tmp_path / "wrong.csv").write_text("track,system,measure,value\n1,a,AP,.1\n1,b,AP,much\n")
    with pytest.raises(DataError, match=r"wrong.csv: not a number in the column 'value': 'much'"):
        irmeta.over_tracks(tmp_path / "wrong.csv")


def test_one_track__is_an_error():
    with pytest.raises(UsageError, match="need two tracks or more: AP has values on t0 alone"):
        irmeta.over_tracks(made(1, 5, 2, 1))


def test_command__prints_and_writes_the_tables(leaderboard, run, tmp_path: Path):
    leaderboard.write_csv(tmp_path / "board.csv")
    ran = run("over-tracks", tmp_path / "board.csv", "--format", "table")
    assert ran.status == 0
    assert "C4.5+m+cf" in ran.out
    assert "tracks like these" in ran.out
    ran = run("over-tracks", tmp_path / "board.csv", "--format", "json")
    assert '"effective_tracks"' in ran.out
    assert '"track_overlap"' in ran.out
    assert '"source": {"file": "board.csv"}' in ran.out
