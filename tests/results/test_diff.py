"""`irmeta diff`: differences in rows, values and provenance of two files."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta import diff
from irmeta.api import EvalChoices
from irmeta.errors import DataError, UsageError
from irmeta.results.scores import wide
from irmeta.results.tidy_files import write_out

MEANS = ("track", "system", "measure", "value")
PER_QUERY = ("track", "system", "query", "measure", "value")


def saved(folder: Path, name: str, rows: list[tuple], record: dict | None = None) -> Path:
    """Write means or per-query values, by the length of the rows."""
    columns = PER_QUERY if len(rows[0]) == 5 else MEANS
    frame = pl.DataFrame(rows, schema=list(columns), orient="row", infer_schema_length=None)
    write_out(frame, folder / name, record or {}, force=True)
    return folder / name


@pytest.fixture(params=[".parquet", ".csv"])
def save(request: pytest.FixtureRequest, tmp_path: Path):
    """Return a function that writes rows as Parquet or CSV."""
    return lambda name, rows: saved(tmp_path, name + request.param, rows)


ONE = [
    ("t", "007", "q1", "AP", 0.5),
    ("t", "007", "q2", "AP", 0.25),
    ("t", "8", "q1", "AP", 0.125),
    ("t", "007", "q1", "ASL", math.nan),
    ("t", "8", "q1", "ASL", 3.0),
]


def test_diff__no_difference_between_equal_files(save):
    found = diff(save("a", ONE), save("b", ONE[::-1]))
    assert found.same
    counted = found.measures.select("measure", "both", "equal", "different", "greatest")
    assert counted.rows() == [("AP", 3, 3, 0, 0.0), ("ASL", 2, 2, 0, 0.0)]
    assert found.measures.select("track", "system", "query", "a", "b").null_count().row(0) == (
        (2,) * 5
    )


def test_diff__counts_differences_and_locates_the_greatest(save):
    changed = [(*ONE[0][:4], 0.5 + 1e-6), (*ONE[1][:4], 0.2), *ONE[2:]]
    found = diff(save("a", ONE), save("b", changed))
    assert not found.same
    ap = found.measures.row(0, named=True)
    assert (ap["both"], ap["equal"], ap["different"]) == (3, 1, 2)
    assert ap["greatest"] == pytest.approx(0.05)
    assert [ap[c] for c in ("track", "system", "query", "a", "b")] == ["t", "007", "q2", 0.25, 0.2]
    assert found.measures.row(1, named=True)["different"] == 0


def test_diff__locates_the_first_of_equal_differences(save):
    changed = [(*row[:4], row[4] + 0.5) for row in ONE]
    found = diff(save("a", ONE[::-1]), save("b", changed))
    assert found.measures.filter(measure="AP").select("system", "query").row(0) == ("007", "q1")


@pytest.mark.parametrize(("tolerance", "different"), [(0, 2), (1e-9, 1), (1e-5, 0)])
def test_diff__values_within_the_tolerance_are_equal(save, tolerance: float, different: int):
    changed = [(*ONE[0][:4], 0.5 + 1e-12), (*ONE[1][:4], 0.25 - 1e-6), *ONE[2:]]
    found = diff(save("a", ONE), save("b", changed), tolerance)
    assert found.measures["different"].to_list() == [different, 0]
    assert found.same == (different == 0)


def test_diff__value_undefined_in_a_single_file_differs_infinitely(save):
    changed = [*ONE[:3], (*ONE[3][:4], 7.0), (*ONE[4][:4], math.nan)]
    asl = diff(save("a", ONE), save("b", changed), 1e6).measures.row(1, named=True)
    assert (asl["different"], asl["greatest"]) == (2, math.inf)
    assert math.isnan(asl["a"])
    assert asl["b"] == 7.0


def test_diff__infinities_of_equal_sign_are_equal(save):
    a = [("t", "s", "m", math.inf), ("t", "r", "m", math.inf)]
    b = [("t", "s", "m", math.inf), ("t", "r", "m", -math.inf)]
    (row,) = diff(save("a", a), save("b", b)).measures.iter_rows(named=True)
    assert (row["equal"], row["different"], row["system"]) == (1, 1, "r")


def test_diff__counts_rows_missing_in_either_file(save):
    more = [*ONE[1:], ("t", "9", "q1", "RR", 1.0), ("u", "007", "q1", "AP", 0.5)]
    found = diff(save("a", ONE), save("b", more))
    counted = found.measures.select("measure", "both", "only_a", "only_b").rows()
    assert counted == [("AP", 2, 1, 1), ("ASL", 2, 0, 0), ("RR", 0, 0, 1)]
    assert not found.same
    assert found.measures["greatest"].to_list() == [0.0, 0.0, None]


def test_diff__pairs_compare_systems_of_other_names(save):
    a = [("t", "old", "AP", 0.5), ("t", "gone", "AP", 0.5)]
    b = [("t", "new", "AP", 0.25), ("t", "more", "AP", 0.5)]
    (row,) = diff(save("a", a), save("b", b), pairs={"old": "new"}).measures.iter_rows(named=True)
    counted = [row[c] for c in ("both", "only_a", "only_b", "different", "system", "a", "b")]
    assert counted == [1, 0, 0, 1, "old=new", 0.5, 0.25]
    with pytest.raises(UsageError, match=r"b\.\w+ has no system 'nw'\. Did you mean 'new'"):
        diff(save("a", a), save("b", b), pairs={"old": "nw"})


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("measure", "a", "b", "different"),
    [
        ("AP", 0.5, 0.4, 1),
        ("AP", 0.5, 0.6, 0),
        ("AP", 0.5, 0.495, 0),
        ("ASL", 5, 6, 1),
        ("ASL", 5, 4, 0),
        ("AP", 0.5, math.nan, 1),
        ("AP", math.nan, 0.5, 0),
    ],
)
def test_diff__worse_only_counts_values_that_are_worse_in_the_second_file(
    save, measure: str, a: float, b: float, different: int
):
    files = [save(name, [("t", "s", measure, value)]) for name, value in (("a", a), ("b", b))]
    found = diff(*files, 0.01, worse_only=True)
    assert found.measures["different"].to_list() == [different]
    assert found.same == (different == 0)


def test_diff__worse_only_needs_measures_of_a_known_direction(save):
    file = save("a", [("t", "s", "clicks", 0.5)])
    with pytest.raises(UsageError, match="which values of 'clicks' are worse is unknown"):
        diff(file, file, worse_only=True)


def test_diff__compares_means_by_track_system_and_measure(save):
    a = [("t", "s", "AP", 0.5), ("t", "r", "AP", 0.5), ("u", "s", "AP", 0.5)]
    b = [("t", "s", "AP", 0.5), ("t", "r", "AP", 0.75), ("u", "s", "AP", 0.5)]
    (row,) = diff(save("a", a), save("b", b)).measures.iter_rows(named=True)
    assert [row[c] for c in ("both", "different", "greatest")] == [3, 1, 0.25]
    assert [row[c] for c in ("track", "system", "query")] == ["t", "r", None]


@pytest.mark.exhaustive
def test_diff__csv_and_parquet_of_the_same_results_are_equal(
    made_store: irmeta.Store, tmp_path: Path
):
    record = made_store.provenance("default")
    for kind, frame in (
        ("means", made_store.means()),
        ("values", made_store.evaluate(per_query=True)),
    ):
        files = [tmp_path / f"{kind}.csv", tmp_path / f"{kind}.parquet"]
        for file in files:
            write_out(frame, file, record, force=False)
        found = irmeta.diff(*files, tolerance=0.0)
        assert found.same
        assert found.measures["both"].sum() == frame.height
        assert found.made.rows() == [("how it was made", "", "not recorded", "recorded")]


@pytest.mark.exhaustive
def test_diff__compares_provenance_field_by_field(made_store: irmeta.Store, tmp_path: Path):
    plain, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    choices: EvalChoices = {"queries": "relevant", "tie_order": "file", "qrels": "diversity"}
    measures = "AP,RBP,P@5"
    record = made_store.provenance("AP,RBP,RR", track="web")
    write_out(made_store.means("AP,RBP,RR", track="web"), plain, record, force=False)
    record = made_store.provenance(measures, track="web", **choices)
    record["measures"]["AP"]["revision"], record["irmeta"] = 3, "9.9"
    del record["measures"]["RBP(p=0.8,rel=1)"]["gmax"]
    write_out(made_store.means(measures, track="web", **choices), other, record, force=False)
    made = irmeta.diff(plain, other).made
    assert set(made.rows()) == {
        ("irmeta", "version", irmeta.__version__, "9.9"),
        ("eval policy", "queries", "judged", "relevant"),
        ("eval policy", "qrels", "none", "diversity"),
        ("eval policy", "tie_order", "none", "file"),
        ("measure AP", "revision", "2", "3"),
        ("measure RBP(p=0.8,rel=1)", "gmax", "none", "not recorded"),
        ("measure RR", "", "there", "not there"),
        ("measure P@5", "", "not there", "there"),
        ("track web", "qrels", "adhoc", "diversity"),
        ("track web", "tie_order", "trec_eval", "file"),
        ("track web", "highest_grade", "4", "3"),
    }


@pytest.mark.exhaustive
def test_diff__reports_changed_fingerprint_and_read_policy(worked_examples: Path, tmp_path: Path):
    files = []
    for order in ("trec_eval", "file"):
        store = irmeta.ingest(worked_examples, tmp_path / order, tie_order=order)
        files.append(tmp_path / f"{order}.parquet")
        record = store.provenance("AP", track="ties")
        write_out(store.means("AP", track="ties"), files[-1], record, force=False)
    made = irmeta.diff(*files).made
    assert made["about"].unique().to_list() == ["track ties"]
    fields = ["fingerprint", "read_policy.tie_order", "tie_order"]
    assert sorted(made["field"]) == fields


WRONG = {
    "no results": (
        pl.DataFrame({"track": ["t"], "system": ["s"], "doc": ["d"], "rank": [1]}),
        r"wrong\.\w+ is no table of means or of values per query: it lacks the columns measure, "
        r"value; it has track, system, doc, rank\.",
    ),
    "no system": (
        pl.DataFrame({"track": ["t"], "measure": ["m"], "value": [0.5]}),
        "it lacks the columns system; it has track, measure, value",
    ),
    "wide": (
        wide(pl.DataFrame([("t", "s", "AP", 0.5)], schema=list(MEANS), orient="row")),
        "has a column for each measure, as `irmeta evaluate --wide` writes it",
    ),
    "repeated": (
        pl.DataFrame([("t", "s", "AP", 0.5)] * 2, schema=list(MEANS), orient="row"),
        "has more than one row for track t, system s, measure AP",
    ),
    "of the other kind": (
        pl.DataFrame([ONE[0]], schema=list(PER_QUERY), orient="row"),
        r"good\.csv holds means, .*wrong\.\w+ values per query: compare two of a kind",
    ),
}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("which", WRONG)
def test_diff__error_names_the_incomparable_file(which: str, ending: str, tmp_path: Path):
    frame, said = WRONG[which]
    good = saved(tmp_path, "good.csv", [("t", "s", "AP", 0.5)])
    wrong = tmp_path / f"wrong.{ending}"
    write_out(frame, wrong, {}, force=False)
    for pair in ((good, wrong), (wrong, good)):
        with pytest.raises(UsageError, match=said):
            diff(*pair)


def test_diff__rejects_unreadable_files_and_invalid_tolerance(tmp_path: Path):
    good = saved(tmp_path, "good.csv", [("t", "s", "AP", 0.5)])
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "text.csv").write_text("track,system,measure,value\nt,s,AP,high\n")
    (tmp_path / "empty.csv").write_text("")
    for name, said in {
        "gone.csv": "does not exist",
        "text.csv": "cannot be compared",
        "empty.csv": "cannot be read",
        "notes.txt": r"end in \.parquet or \.csv",
    }.items():
        with pytest.raises(UsageError, match=said):
            diff(good, tmp_path / name)
    with pytest.raises(DataError, match=r"damaged\.parquet: cannot be read as Parquet"):
        diff(good, tmp_path / "damaged.parquet")
    for tolerance in (-1.0, math.nan, math.inf):
        with pytest.raises(UsageError, match="is not a number of at least 0"):
            diff(good, good, tolerance)
