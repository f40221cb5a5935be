"""The study of desirable properties: its tables, options, and a run without a store."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta import parallel
from irmeta.measures.evaluate import score_rankings
from irmeta.rankings.enumeration import RankingSpace
from irmeta.results.tidy_files import provenance
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.papers.properties import compute
from irmeta.studies.papers.properties.compute import padded_rankings, truncation
from irmeta.studies.papers.properties.study import MEASURES, TABLES, PropertiesOptions

pytestmark = pytest.mark.usefixtures("undrawn_module")
ACT = "ACT(per=all)@10"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    return irmeta.studies.properties(tmp_path_factory.mktemp("properties"), length=4)


def test_tables__one_row_per_measure_and_property(results: StudyResults):
    measures = len(PropertiesOptions().specs)
    assert measures == len(MEASURES) == 19
    assert results.tables["table_1"].height == 4 * measures
    assert results.tables["single_subtopic"].height == 4 * measures
    named = results.tables["properties"]["property"].to_list()
    assert results.tables["further"].height == (len(named) - 4) * measures
    assert named[:4] == ["relevance", "irrelevance", "redundancy", "induction"]


def test_table_1__only_ap_ia_and_act_violate_a_property(results: StudyResults):
    failed = results.tables["table_1"].filter(~pl.col("holds"))
    assert failed.select("measure", "property").rows() == [
        ("AP_IA", "redundancy"), ("AP_IA", "induction"),
        (ACT, "irrelevance"), (ACT, "induction"),
    ]  # fmt: skip
    empty = results.tables["single_subtopic"].filter(property="redundancy")
    assert empty["applicable"].unique().to_list() == [0]
    assert empty["share"].is_nan().all()
    assert empty["holds"].null_count() == empty.height


def test_violations__first_pairs_of_the_paper_with_their_arithmetic(results: StudyResults):
    rows = results.tables["violations"].rows_by_key(
        ["measure", "property", "case"], named=True, unique=True
    )
    of_act = rows[ACT, "irrelevance", "first"]
    assert (of_act["lower"], of_act["upper"]) == ("aax", "aa")
    assert of_act["lower_value"] == pytest.approx(1 / 15, abs=1e-12)
    assert of_act["upper_value"] == pytest.approx(1 / 16, abs=1e-12)
    of_ap_ia = rows["AP_IA", "redundancy", "first"]
    assert (of_ap_ia["lower"], of_ap_ia["upper"]) == ("aa", "ab")
    assert of_ap_ia["lower_arithmetic"] == (
        "subtopic a: 0.5 x (1/1) / 4 + subtopic a: 0.5 x (2/2) / 4"
    )


@pytest.mark.parametrize(
    ("measure", "rankings", "values"),
    [
        ("ACT(per=all)@10", ("ab", "abx"), (0.0750, 0.0833)),
        ("AP_IA", ("axxa", "axxb"), (0.15, 0.125)),
    ],
)
def test_worked_examples__section_4_3(
    measure: str, rankings: tuple[str, str], values: tuple[float, float]
):
    """The paper's two examples; its query has five relevant docs per subtopic."""
    space = RankingSpace(2, 4, relevant=5)
    view = space.view([space.number(name) for name in rankings])
    found = irmeta.scores_of(view, measure).values[0, 0]
    assert found.round(4).tolist() == [pytest.approx(value) for value in values]


def test_by_length__equals_the_study_of_shorter_rankings(results: StudyResults, tmp_path: Path):
    by_length = results.tables["by_length"].filter(length=3).drop("length", "share")
    short = irmeta.studies.properties(tmp_path, length=3, relevant=4).tables["table_1"]
    columns = ("measure", "property", "applicable", "violated")
    joined = by_length.join(short.select(columns), on=columns[:2], how="left")
    assert joined.height == 4
    assert joined["applicable"].to_list() == joined["applicable_right"].to_list()
    assert joined["violated"].to_list() == joined["violated_right"].to_list()


def test_truncation__padding_and_division_are_told_apart(results: StudyResults):
    table = results.tables["truncation"]
    treatments = dict(table.select("measure", "treatment").iter_rows())
    assert treatments.pop("SetP") == "divides by length"
    assert treatments.pop(ACT) == "other"
    assert set(treatments.values()) == {"pads"}
    counts = table.select(pl.sum_horizontal("equal", "better", "worse") == pl.col("rankings"))
    assert counts.to_series().all()
    assert table.filter(measure=ACT).select("depth", "rankings", "worse").row(0) == (4, 39, 0)


def test_truncation__null_where_no_ranking_is_shorter_than_the_cutoff():
    options = PropertiesOptions(measures=("P@1", "P@2"), length=2)
    space, specs = options.space, options.specs
    rows = [*truncation(space, specs, score_rankings(space, specs))]
    found = {row["measure"]: (row["rankings"], row["treatment"]) for row in rows}
    assert found == {"P@1": (0, None), "P@2": (3, "pads"), "SetP": (3, "divides by length")}


def test_padded_rankings__docs_are_not_relevant():
    space = RankingSpace(2, 3)
    short, padded = padded_rankings(space, 3)
    assert space.names(padded) == [name.ljust(3, "x") for name in space.names(short)]
    assert [len(one) for one in padded_rankings(space, 1)] == [0, 0]


def test_edges__figures_2_to_5(results: StudyResults):
    """Figures 2, 3 and 4 have 8, 4 and 2 edges, of which 2, 1 and 0 touch the empty ranking."""
    assert results.tables["nodes"].height == 13
    edges = results.tables["edges"]
    counts = edges.group_by("property").agg(pl.len(), pl.col("with_empty").sum()).rows()
    assert set(counts) >= {("relevance", 8, 2), ("irrelevance", 4, 1), ("redundancy", 2, 0)}
    assert ("induction", "bx", "bb", False) in edges.rows()
    assert not edges.select("lower", "upper").is_duplicated().any()


def test_weights__measures_of_the_paper_read_them(tmp_path: Path):
    done = irmeta.studies.properties(tmp_path, length=3, weights=[0.75, 0.25])
    table = done.tables["table_1"]
    assert "AP_IA(weights=given)" in table["measure"].to_list()
    assert "AP" in table["measure"].to_list()
    counts = dict(table.select("property", "applicable").unique().iter_rows())
    assert counts["redundancy"] == 4  # half of those of equal weights
    heavier = done.tables["further"].filter(property="weight", measure="P_IA(weights=given)@5")
    assert heavier.select("applicable", "violated").row(0) == (3, 0)  # after no doc, x and xx


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"length": 16}, "there are 64,570,081 rankings of up to 16 docs.* limit of 16,777,216"),
        ({"weights": (0.5,)}, "are not 2 numbers above 0"),
        ({"measures": ("RareP@5",)}, "counts the systems that retrieve a doc"),
        ({"drawn_length": 5}, "would have 364 rankings, more than 121"),
        ({"measures": ("XYZ",)}, "unknown measure 'XYZ'"),
    ],
)
def test_options__invalid_value(options: dict[str, object], problem: str):
    with pytest.raises(irmeta.IrmetaError, match=problem):
        PropertiesOptions.of(options)


@pytest.mark.parametrize(
    ("memory", "options", "limits"),
    [
        (1 << 40, {"subtopic_count": 1, "length": 23}, "60 seconds and"),
        (1 << 30, {"length": 13}, "60 seconds and 0.5 GB"),
    ],
)
def test_study__refuses_more_than_a_minute_or_half_of_the_memory(
    tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch, memory: int, options, limits: str
):
    """Before anything is written, with the number of rankings."""
    monkeypatch.setattr(parallel, "usable_memory", lambda: memory)
    flags = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
    asked = [word for flag in flags.items() for word in flag]
    done = run("study", "properties", "--out", tmp_path / "out", *asked)
    number = f"{PropertiesOptions(**options).space.count:,} rankings"
    assert (done.status, number in done.err, limits in done.err) == (2, True, True)
    assert not (tmp_path / "out").exists()
    with pytest.raises(irmeta.UsageError, match=number):
        irmeta.measure_properties(list(MEASURES), **options)


def test_study__length_14_is_allowed_and_reports_each_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(parallel, "usable_memory", lambda: 24 << 30)
    PropertiesOptions(length=14).check_run()
    seen = []
    irmeta.studies.properties(
        tmp_path, length=2, measures="AP", progress=lambda *report: seen.append(report)
    )
    tables = len(TABLES)
    assert seen[0] == ("properties", 1, tables)
    assert [done for _, done, of in seen if of == tables] == sorted(range(1, tables + 1))


def test_study__runs_without_a_store(tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch):
    """The second run computes nothing, and another option computes again."""
    command = ("study", "properties", "--out", tmp_path / "out", "--length", 2, "-m", "AP,SetP")
    done = run(*command)
    assert (done.status, "the page" in done.out) == (0, True)
    table = tmp_path / "out" / "table_1.parquet"
    before = table.read_bytes()
    made = provenance(table)
    assert set(made["measures"]) == {"AP", "SetP"}
    assert made["options"]["length"] == 2

    def fail(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(compute, "score_rankings", fail)
    assert run(*command).status == 0
    assert table.read_bytes() == before
    with pytest.raises(AssertionError, match="computed again"):
        irmeta.studies.properties(tmp_path / "out", length=3, measures="AP,SetP")
    monkeypatch.undo()
    opened = irmeta.studies.open(tmp_path / "out")
    assert opened.study.name == "properties"
