"""The matrix of claims and tracks: orders, facts, shades, swept bounds, figures, LaTeX, files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.archive import catalog
from irmeta.errors import DataError, UsageError
from irmeta.report.html_page import Page, render
from irmeta.report.notation import to_text
from irmeta.report.theme import to_spec
from irmeta.results.tidy_files import provenance, read_parquet
from irmeta.studies.framework import registry
from irmeta.studies.framework.claim_matrix import ClaimMatrix, claim_folds, matrix_table
from irmeta.studies.framework.claim_print import (
    condition_in_words,
    in_notation,
    with_levels,
)
from irmeta.studies.framework.claims import Claim, cell, claim_rows
from irmeta.studies.framework.study import CLAIMS, FAILS, HOLDS, OPEN, STUDIED_TRACKS, UNDECIDED
from irmeta.studies.framework.study_results import JOINED_CLAIMS
from irmeta.studies.framework.track_groups import (
    CLAIM_TRACKS,
    SOURCES,
    facts_of_tracks,
    group_of,
    in_order,
    year_of,
)
from support import tiny
from support.tiny import TinyOptions
from support.typesetting import structure
from twins import claims as naive

ABOVE = Claim("above", "It is above.", "Table 1", "n", cell("numbers", "n"), "> 5", about="queries")
INSIDE = Claim("inside", "It is inside.", "Table 2", "n", cell("numbers", "n"), "4 to 6", "mean",
               about="queries", bound="irmeta")  # fmt: skip
CHECK = Claim("check", "It is small.", "-", "n", cell("numbers", "n"), "<= 5", about="queries",
              check=True)  # fmt: skip
ONCE = Claim("once", "It is one.", "Section 9", "one", lambda _: 1.0, ">= 1", "once")


def claimed(options: TinyOptions) -> list[Claim]:
    """Return claims on numbers that the tiny study has: mean, systems."""
    n = cell("studied_tracks", "systems")
    return [
        replace(ABOVE, statistic=n, holds="> 2"),
        replace(INSIDE, statistic=n),
        replace(CHECK, statistic=n),
        ONCE,
    ]


CLAIMED = replace(tiny.STUDY, name="claimed", claims=claimed)


def tracks_of(numbers: Sequence[float | None]) -> list[str]:
    return [f"trec{2 + i % 30}-web{i:02}" for i in range(len(numbers))]


def matrix_from(numbers: Sequence[float | None], *claims: Claim) -> ClaimMatrix:
    """Return the matrix of claims on tracks with some numbers."""
    names = tracks_of(numbers)
    known = [(track, n) for track, n in zip(names, numbers, strict=True) if n is not None]
    tables = {
        STUDIED_TRACKS.name: pl.DataFrame(
            [{"track": t, "systems": 20, "used": True, "left_out": None} for t in names]
        ),
        "numbers": pl.DataFrame(known, {"track": pl.String, "n": pl.Float64}, orient="row"),
    }
    study = replace(CLAIMED, claims=lambda options: iter(claims))
    rows = CLAIMS.frame(claim_rows(study, tables, TinyOptions()))
    rows = JOINED_CLAIMS.frame(
        rows.with_columns(id=pl.format("claimed/{}", "claim"), study=pl.lit("claimed"))
    )
    facts = CLAIM_TRACKS.frame(
        [
            {"track": t, "year": year_of(t), "group": "web", "systems": 10 + i, "queries": 50,
             "relevant_per_query": 9.5, "deepest_rank": 1000, "pool_depth": None,
             "list_length": 900.0, "saturated": 0.0, "missed": 0.25}
            for i, t in enumerate(names)
        ]
    )  # fmt: skip
    record = {"irmeta": "0", "studies": {"claimed": {"revision": 1}}, "bibtex": "@misc{irmeta,\n}"}
    return ClaimMatrix(rows, facts, "name", record)


@pytest.mark.parametrize(("track", "year", "group"), [
    ("robust-2003", 2003, "robust"), ("trec8-adhoc", 1999, "adhoc"), ("TREC-8", 1999, "TREC-8"),
    ("trec-dl-2019-passage", 2019, "trec-dl-passage"), ("trec-covid-r1", 2020, "trec-covid"),
    ("trec-covid-round5", 2020, "trec-covid"), ("web-2012", 2012, "web"),
    ("cord19", None, "cord19"),
    ("run1999x", 1999, "runx"), ("id-20031", None, "id-20031"), ("2012", 2012, "2012"),
])  # fmt: skip
def test_facts__year_and_group_of_a_name(track: str, year: int | None, group: str):
    assert (year_of(track), group_of(track)) == (year, group)


def test_facts__years_of_names_are_those_of_the_catalogue():
    years = dict(catalog.runs().select("id", "year").unique().iter_rows())
    folders = {t.folder: years[c.id] for c in catalog.all_choices().values() for t in c.tasks}
    assert len(folders) > 60
    assert {folder: year_of(folder) for folder in folders} == folders


def test_facts__are_in_tables_that_studies_declare():
    for source in SOURCES:
        columns = registry.find(source.study).table(source.table).columns
        assert {*source.value.meta.root_names()} <= {*columns}, source.fact


def test_facts__of_lists_and_pools():
    of_lists = pl.DataFrame({
        "track": ["a", "a", "a", "b"], "queries": [10, 10, 10, 4], "no_list": [2, 0, 0, 0],
        "lists_without_nonrelevant": [2, 7, None, None],
    })  # fmt: skip
    pools = pl.DataFrame({"track": ["a", "b", "c"], "depth": ["7", "10", "mixed"],
                          "depth_source": ["given", "default", "given"]})  # fmt: skip
    values = {source.fact: source.value for source in SOURCES}
    found = of_lists.group_by("track", maintain_order=True).agg(values["saturated"].alias("x"))
    assert found["x"].to_list() == [0.5, None]
    found = pools.group_by("track", maintain_order=True).agg(values["pool_depth"].alias("x"))
    assert found["x"].to_list() == [7, None, None]


def test_order__of_tracks():
    columns = ("track", "year", "group", "systems", "queries")
    rows = [("b2", 2001, "y", 9, 9), ("b10", 2001, "x", 5, 50), ("c", None, "x", None, None),
            ("a", 1999, "y", 40, 5)]  # fmt: skip
    facts = pl.DataFrame(rows, columns, orient="row")
    orders = {order: in_order(facts, order)["track"].to_list()
              for order in ("year", "size", "group", "name")}  # fmt: skip
    assert orders == {
        "year": ["a", "b2", "b10", "c"], "size": ["b10", "a", "b2", "c"],
        "group": ["b10", "c", "a", "b2"], "name": ["a", "b2", "b10", "c"],
    }  # fmt: skip


def test_facts__of_a_file(results, tmp_path: Path):
    file = tmp_path / "facts.csv"
    file.write_text("track,year\na,1998\n")
    facts = facts_of_tracks([results], ["a", "b"], file)
    assert facts["year"].to_list() == [1998, None]
    assert facts["systems"].to_list() == [3, 3]
    assert facts["missed"].to_list() == [None, None]
    for text, error in (
        ("track,year\na,x\n", "not a year"),
        ("track,year\na,1999\na,2000\n", "twice"),
        ("track,yaer\na,1\n", "yaer"),
        ("year,group\n1,2\n", "lacks"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=error):
            facts_of_tracks([results], ["a"], file)
    with pytest.raises(UsageError, match="does not exist"):
        facts_of_tracks([results], ["a"], tmp_path / "none.csv")


NUMBERS = st.lists(
    st.sampled_from([None, 1.0, 3.0, 4.0, 5.0, 5.5, 6.0, 9.0]), min_size=1, max_size=9
)


@given(NUMBERS, st.sampled_from(["> 5", ">= 5", "< 4", "<= 4", "4 to 6"]))
def test_bounds__equal_twin(numbers: list[float | None], condition: str):
    swept = matrix_from(numbers, replace(ABOVE, holds=condition)).bounds()
    known = [n for n in numbers if n is not None]
    if not known:
        assert swept.is_empty()
        return
    for row in swept.iter_rows(named=True):
        bound = row["bound"]
        is_range = " to " in condition
        asked = f"{5 - bound} to {5 + bound}" if is_range else f"{condition.split()[0]} {bound}"
        assert row["holding"] == sum(naive.meets(n, asked) for n in known)
        assert (row["tracks"], row["share"]) == (len(known), row["holding"] / len(known))
    stated = 1.0 if " to " in condition else float(condition.split()[1])
    assert swept.filter("is_stated")["bound"].to_list() == [stated]
    ends = {abs(n - 5) for n in known} if " to " in condition else {*known}
    assert {*swept["bound"]} == ends | {stated}


def test_levels__are_distances_in_standard_errors_or_parts_of_the_largest():
    rows = pl.DataFrame({
        "id": ["a"] * 5 + ["b"] * 4,
        "track": ["t"] * 9,
        "verdict": [HOLDS, HOLDS, FAILS, UNDECIDED, OPEN, HOLDS, FAILS, FAILS, HOLDS],
        "se": [1.0] * 5 + [None, None, 0.0, None],
        "distance": [1.9, 2.0, -4.0, 0.5, None, 30.0, -9.9, -10.0, 20.0],
    })  # fmt: skip
    assert with_levels(rows)["level"].to_list() == [
        "holds, near the bound", "holds", "does not hold, far from the bound", UNDECIDED, OPEN,
        "holds, far from the bound", "does not hold, near the bound", "does not hold",
        "holds, far from the bound",
    ]  # fmt: skip


def test_print__claims_have_their_statistic_and_bound():
    matrix = matrix_from([7.0, 8.0, 4.0], ABOVE, INSIDE, CHECK, ONCE)
    words = []
    for of_claim in matrix.rows.partition_by("id", maintain_order=True):
        over, *tracks = of_claim.iter_rows(named=True)
        words.append(condition_in_words(over, tracks[0] if tracks else over))
    assert words == [
        "n > 5.000; above 50% of the tracks",
        "mean over the tracks of n in 4.000 to 6.000 \u2020",
        "n \u2264 5.000; above 50% of the tracks",
        "one \u2265 1.000",
    ]
    tex = matrix.latex()
    assert r"\begin{table" in tex
    assert "longtable" not in tex
    assert "n $\\leq$ 5.000" in tex
    assert "& check &" in tex
    assert "3 tracks: trec2-web00" in tex
    assert "It is above (Table 1)" in tex
    assert "% irmeta" in tex
    assert "% References: irmeta" in tex


@pytest.mark.parametrize(("number", "over", "words"), [
    (2, "most", "2 of 2 of the tracks"), (1, "all", "1 of 1 of the tracks"),
    (3, "all", "100% of the tracks"),
])  # fmt: skip
def test_print__few_tracks_must_agree(number: int, over: Literal["most", "all"], words: str):
    (row, on_track, *_) = matrix_from([7.0] * number, replace(ABOVE, over=over)).rows.to_dicts()
    assert condition_in_words(row, on_track) == f"n > 5.000; {words}"


def test_print__undecided_claims_are_explained():
    assert "Undecided:" in matrix_from([7.0, 2.0], ABOVE).latex()
    assert "Undecided:" not in matrix_from([7.0, 8.0], ABOVE).latex()


def test_print__latex_of_any_name_is_well_formed():
    matrix = matrix_from([7.0, 2.0, None], ABOVE, INSIDE, CHECK, ONCE)
    named = {"above": "a_b%&#", "track": "x^{y}$~", "text": "It is <_>."}
    rows = matrix.rows.with_columns(
        claim=pl.col("claim").replace({"above": named["above"]}),
        track=pl.col("track").replace({"trec2-web00": named["track"]}),
        text=pl.lit(named["text"]),
    )
    facts = matrix.tracks.with_columns(
        track=pl.col("track").replace({"trec2-web00": named["track"]})
    )
    hostile = replace(matrix, rows=rows, tracks=facts)
    for by_track in (False, True):
        assert [*structure(hostile.latex(by_track=by_track))] == []
    tex = hostile.latex()
    for broken in (tex.replace(" & paper &", " & ", 1), tex.replace(r"\_", "_", 1),
                   tex.replace("}", "", 1), tex.replace(r"\end{table*}", "", 1)):  # fmt: skip
        assert [*structure(broken)]


def test_print__measures_are_in_the_notation_of_the_paper():
    claim = replace(ABOVE, text="AP(norm=min) is above AP.", number="best AP(norm=min) by RareP")
    rows, names = in_notation(
        matrix_from([7.0], claim).rows, {"RareP": "P{@}_{Rareness}", "AP": "AP_{a}"}
    )
    texts = [to_text(rows[name][1]) for name in ("text", "statistic")]
    assert texts == ["AP_b is above AP.", "best AP_b by P_Rareness"]
    assert to_text(names) == "P_Rareness: RareP; AP_b: AP(norm=min)"


def test_print__claims_about_no_track_name_none():
    matrix = matrix_from([7.0], ONCE)
    assert "track:" not in matrix.latex()
    assert matrix.latex(by_track=True) == ""


def test_print__matrix_of_sixty_tracks_is_several_floats_of_at_most_forty():
    tex = matrix_from([float(i % 9) for i in range(60)], ABOVE, INSIDE, CHECK, ONCE).latex(
        by_track=True
    )
    floats = re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", tex, re.DOTALL)
    turned = [part.count(r"\rotatebox{90}") for part in floats]
    assert turned == [30, 30]
    assert "longtable" not in tex
    labels = re.findall(r"\\label\{(.*?)\}", tex)
    assert len({*labels}) == 2
    assert all(part.count("20 of 60") == 1 for part in floats), "columns beside tracks are repeated"
    assert r"\cellcolor[HTML]" in tex
    assert "\ncheck &" not in tex


def test_page__a_frequent_reason_is_given_once():
    claims = [replace(ABOVE, name=f"c{i}") for i in range(9)]
    table = matrix_table(matrix_from([7.0, None, 3.0], *claims))
    reason = "On trec3-web01, 9 claims cannot be said: no n."
    assert reason in table.text
    assert not any(line.notes for line in table.claims)
    (line, *_) = matrix_table(matrix_from([7.0, None, 3.0], *claims[:2])).claims
    assert line.notes == ["It cannot be said on trec3-web01: no n."]


def test_figure__of_more_cells_than_a_frame_may_have():
    claims = [replace(ABOVE, name=f"c{i}") for i in range(90)]
    spec = to_spec(matrix_from([float(i % 9) for i in range(60)], *claims).figure())
    assert len(spec["datasets"]["cells"]) == 5400


def test_figure__of_three_and_of_sixty_tracks():
    for numbers in ([7.0, 8.0, None], [float(i % 9) for i in range(60)]):
        matrix = matrix_from(numbers, ABOVE, INSIDE, CHECK, ONCE)
        spec = to_spec(matrix.figure())
        svg = json.dumps(spec)
        assert "above on trec2-web00" in svg
        assert '"claimed/check"' not in svg
        assert '"claimed/once"' not in svg, "a claim about no track has no row"
        assert "Nobody 2026" in svg
        assert '"claimed/check"' in json.dumps(to_spec(matrix.figure(checks=True)))
        assert "Claims of Nobody 2026 on" in json.dumps(to_spec(matrix.figure(study="claimed")))
        with pytest.raises(UsageError, match="Did you mean 'claimed'"):
            matrix.figure(study="claimd")
    assert matrix.margins()["trec2-web00"] == "0/1", "claims with the bound of irmeta do not count"


def test_figures__of_a_fact_and_of_a_bound():
    matrix = matrix_from([7.0, 8.0, None, 3.0], ABOVE, ONCE)
    scatter = json.dumps(to_spec(matrix.scatter("claimed/above", "systems")))
    assert "1 without a number" not in scatter, "tracks that cannot be said have no point"
    assert '"y": 5.0' in scatter
    assert scatter.count("datum.verdict == 'does not hold' && datum.y <= 5.5") == 1
    assert scatter.count('"angle": 270') == 2
    sweep = json.dumps(to_spec(matrix.sweep("claimed/above")))
    assert "bound 7.0: 1 of 3" in sweep
    with pytest.raises(UsageError, match="Did you mean 'claimed/above'"):
        matrix.sweep("claimed/abov")
    with pytest.raises(UsageError, match="about no single track"):
        matrix.sweep("claimed/once")
    with pytest.raises(UsageError, match="fact"):
        matrix.scatter("claimed/above", "group")


def test_margin__of_no_decided_track_is_absent():
    matrix = matrix_from([None, None], ABOVE)
    assert '"aside": "\\u2014"' in json.dumps(to_spec(matrix.figure()))


def test_page__has_shades_folds_and_margins():
    matrix = matrix_from([7.0, 9.0, None, *[float(i % 9) for i in range(57)]], ABOVE, INSIDE, ONCE)
    table = matrix_table(matrix)
    (above, inside, once) = table.claims
    assert table.is_compact
    assert [mark.sign for mark in above.tracks[:4]] == ["yes", "yes", "open", "no"]
    assert above.tracks[1].shade == "s2"
    assert (once.fold, inside.text) == (None, "It is inside. \u2020")
    assert {mark.words for mark in once.tracks} == {"about no track"}
    assert "or about no track (1)" in table.text[0]
    folds = dict(claim_folds(matrix))
    fold = folds["claimed/above"]
    rows = matrix.rows.drop_nulls("track").filter(id="claimed/above")
    holding, failing = (rows.filter(verdict=verdict).height for verdict in (HOLDS, FAILS))
    assert fold.text.endswith(f" and {failing - 20} more.")
    assert fold.heading == f"does not hold on {failing} of {holding + failing} tracks"
    assert ("missed", "25%", "25%") in fold.facts
    assert fold.sweep is not None
    assert fold.sweep.path.startswith("M0.0 4.7H22.2V9.5H44.4"), "above 0: 52 of 59; above 1: 45"
    page = render(Page("Studies", "All.", {}, [], claims=table))
    assert '<td class="yes s2">' in page
    assert page.count("<summary>where it cannot be said</summary>") == 2
    assert page.count('class="sweep"') == 2
    assert "Numbers and conditions of all verdicts" not in page


def test_command__writes_figures_and_tables(results, run, tmp_path: Path):
    words = ("study", "claims", results.folder)
    for figure, more in (
        ("matrix.svg", ()),
        ("bound.svg", ("--table", "bounds", "--claim", "claimed/above")),
        ("fact.svg", ("--table", "facts", "--claim", "claimed/above", "--fact", "systems")),
    ):
        done = run(*words, *more, "--out", tmp_path / figure)
        assert done.status == 0, done.err
        assert (tmp_path / figure).read_text(encoding="utf-8").startswith("<svg")
    matrix = irmeta.studies.claim_matrix(results.folder, order="size")
    run(*words, "--per-track", "--order", "size", "--out", tmp_path / "x.parquet")
    assert read_parquet(tmp_path / "x.parquet").equals(matrix.rows)
    made = provenance(tmp_path / "x.parquet")
    assert made is not None
    assert made["study claims"]["order"] == "size"
    assert made["studies"]["claimed"]["options"] == results.options.record()
    assert {*made["studies"]["claimed"]["tracks"]} == {"a", "b"}
    assert "@misc{irmeta," in made["bibtex"]
    made = json.loads(run(*words, "--table", "facts", "--format", "json").out)["tables"]["facts"]
    assert [row["id"] for row in made[:2]] == ["claimed/above"] * 2
    assert run(*words, "--per-track", "--format", "latex").out.count(r"\begin{table") == 1


@pytest.mark.parametrize(("options", "error"), [
    (("--order", "size"), "use --per-track too"), (("--fact", "year"), "of the figure of"),
    (("--table", "facts", "--per-track"), "is of the table of claims"),
    (("--out", "x.svg", "--claim", "claimed/above"), "omit --claim"),
    (("--out", "x.svg", "--table", "bounds"), "name it by --claim"),
    (("--out", "x.svg", "--table", "facts", "--claim", "claimed/above"), "name a fact"),
    (("--out", "x.svg", "--digits", "2"), "--digits is for tables"),
    (("--claim", "claimed/abvoe"), "Did you mean"), (("--order", "yeer"), "year"),
])  # fmt: skip
def test_command__refuses_options_without_effect(results, run, options, error: str):
    done = run("study", "claims", results.folder, *options)
    assert done.status == 2
    assert error in done.err


def test_run_all__with_intervals_runs_studies_without_claims_too(
    store, tmp_path: Path, undrawn, monkeypatch
):
    for name in registry.OWN.keys() - {"claimed", "tiny"}:
        monkeypatch.delitem(registry.OWN, name)
    registry.study_modules.cache_clear()
    done = irmeta.studies.run_all(
        store, tmp_path / "all", track="a", figures=False, interval="half", interval_draws=10
    )
    problems = {outcome.study.name: outcome.problem for outcome in done}
    assert problems == {"claimed": "", "tiny": ""}


def test_run_all__writes_the_claims_of_all_studies(store, tmp_path: Path, undrawn, monkeypatch):
    for name in registry.OWN.keys() - {"claimed"}:
        monkeypatch.delitem(registry.OWN, name)
    registry.study_modules.cache_clear()
    out = tmp_path / "all"
    irmeta.studies.run_all(store, out, track=["a", "b"], order="name", figures=False)
    matrix = irmeta.studies.claim_matrix(out, order="name")
    assert read_parquet(out / "claims.parquet").equals(matrix.rows)
    assert read_parquet(out / "claim_facts.parquet").equals(matrix.facts())
    assert read_parquet(out / "claim_bounds.parquet").equals(matrix.bounds())
    record = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    assert record["provenance"] == json.loads(json.dumps(matrix.provenance))
    assert (out / "claims.bib").read_text(encoding="utf-8") == matrix.provenance["bibtex"]
    assert (out / "latex" / "claims.tex").read_text(encoding="utf-8") == matrix.latex()
    assert "claim_matrix.tex" in {p.name for p in (out / "latex").iterdir()}
    assert irmeta.check(out).is_empty()
    again = irmeta.studies.claim_matrix(out / "claims.parquet", order="size")
    assert again.rows.sort("id", "track").equals(matrix.rows.sort("id", "track"))
    assert again.latex() == matrix.latex()
    for places, error in (([out / "claims.parquet", out], "alone"), (out / "none", "no study")):
        with pytest.raises(UsageError, match=error):
            irmeta.studies.claim_matrix(places)
    with pytest.raises(UsageError, match="no file of claims"):
        irmeta.studies.claim_matrix(out / "claimed" / "values.parquet")
    assert "does not hold on 2 of 2 tracks" in (out / "index.html").read_text(encoding="utf-8")
