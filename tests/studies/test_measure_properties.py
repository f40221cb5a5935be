"""Properties that measures keep: the frame of `measure_properties` and `irmeta measures --for`."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import UsageError


@pytest.mark.exhaustive
def test_measure_properties__default_is_every_measure_of_one_list():
    frame = irmeta.measure_properties(length=2)
    measures = frame["measure"].unique().to_list()
    assert {"AP", "P@5", "IPrec@0.5", "StRecall", "AP_IA", "SetP"} <= set(measures)
    assert not {"NumRet", "RareP(alpha=1)@5"} & set(measures)
    assert frame.height == 4 * len(measures)
    failed = frame.filter(~pl.col("holds"))
    values = failed.select(pl.all_horizontal(pl.col("lower", "upper").is_not_null()))
    assert values.to_series().all()
    assert frame.filter(pl.col("holds"))["lower"].null_count() == frame.height - failed.height


def test_measure_properties__less_is_better():
    """Search lengths of a short list are short: a relevant doc more is worse."""
    frame = irmeta.measure_properties("ASL", "truncated", length=3)
    assert frame["property"].to_list() == ["relevance", "irrelevance"]
    row = frame.row(0, named=True)
    assert (row["holds"], row["lower"], row["upper"]) == (False, "a", "aa")
    assert row["lower_value"] < row["upper_value"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"kinds": "truncated,divers"}, "kind of rankings = 'divers'"),
        ({"measures": "RareP@5"}, "no value for a ranking alone"),
        ({"length": 30}, "choose a smaller length"),
        ({"length": 2.5}, "length = 2.5 is not a whole number"),
        ({"subtopic_count": 1.5}, "subtopic_count = 1.5 is not a whole number"),
        ({"relevant": 0}, "relevant = 0 is not a whole number of at least 1"),
    ],
)
def test_measure_properties__invalid_argument(arguments: dict[str, object], problem: str):
    with pytest.raises(UsageError, match=problem):
        irmeta.measure_properties(**arguments)


def test_measures_command__for_kinds_of_rankings(run):
    done = run("measures", "AP_IA,P@2", "--for", "truncated, diverse", "--length", 3)
    assert done.status == 0
    rows = pl.read_csv(done.out.encode())
    expected = irmeta.measure_properties(["AP_IA", "P@2"], length=3)
    expected = expected.with_columns(pl.col("holds").cast(pl.Boolean))
    assert_frame_equal(rows, expected, abs_tol=1e-6)  # six digits are printed
    assert run("measures", "--for", "truncat").status == 2


@pytest.mark.parametrize("option", ["--subtopic-count", "--length"])
def test_measures_command__rankings_without_properties_are_refused(run, option: str):
    done = run("measures", "AP", option, 3)
    assert done.status == 2
    assert f"{option} needs --for" in done.err


def test_measures_command__one_row_per_measure_on_a_terminal(run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setenv("TERM", "dumb")
    out = run("measures", "AP_IA,AP", "--for", "diverse", "--length", 3).out
    head, first, second = (" ".join(line.split()) for line in out.splitlines()[:3])
    assert head == "measure redundancy first violations"
    assert (first, second) == ("AP_IA no redundancy aa > ab", "AP yes")
    assert "no pair of rankings up to this length violates the property" in out
