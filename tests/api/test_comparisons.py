"""Tables of systems by measures with marks of significance, and comparisons with a baseline."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.api.significance import write_comparisons
from irmeta.errors import UsageError
from irmeta.results.tidy_files import provenance

QUERIES = tuple("12345678")


def matrix(measure: str, offsets: dict[str, float], track: str = "") -> irmeta.Matrix:
    """Return values whose differences between systems are the same on every query, nearly."""
    base = np.linspace(0.1, 0.3, len(QUERIES))[:, None]
    noise = np.random.default_rng(0).normal(0, 1e-3, (len(QUERIES), len(offsets)))
    values = base + np.array(list(offsets.values())) + noise
    return irmeta.Matrix(values, QUERIES, tuple(offsets), measure, track)


@pytest.mark.exhaustive
def test_compare__holm_by_default_and_no_correction_for_tests_of_all_systems():
    one = matrix("AP", {"x": 0.0, "y": 0.1, "z": 0.2})
    assert irmeta.compare(one)[0].pairs.correction == "holm"
    assert irmeta.compare(one, test="hsd")[0].pairs.correction == "none"
    assert irmeta.compare(one, test="max-t", baseline="x")[0].pairs.correction == "none"
    assert irmeta.compare(one, correction="none")[0].pairs.correction == "none"
    p = [irmeta.compare(one, correction=c)[0].pairs.p_adjusted[0, 2] for c in ("none", "holm")]
    assert p[0] < p[1]


def test_comparisons_to_text__letters_of_worse_systems_and_no_mark_at_the_best():
    ap = matrix("AP", {"low": 0.0, "mid": 0.2, "high": 0.4, "twin": 0.4})
    rr = matrix("RR", {"low": 0.3, "mid": 0.0, "high": 0.0, "twin": 0.0})
    lines = irmeta.compare([ap, rr]).to_text(digits=1).splitlines()
    assert [line.split() for line in lines[:5]] == [
        ["system", "AP", "RR"],
        ["a", "twin", "0.6", "cd", "0.2"],
        ["b", "high", "0.6", "cd", "0.2"],
        ["c", "mid", "0.4", "d", "0.2"],
        ["d", "low", "0.2", "0.5", "a-c"],
    ]
    starts = [
        line.index(number) for line, number in zip(lines[1:4], ("0.6", "0.6", "0.4"), strict=True)
    ]
    assert len(set(starts)) == 1, "values are aligned"
    test = "paired t-test, Holm-corrected over 6 pairs of each measure, p \u2264 .05, 8 queries"
    assert lines[-1].endswith(f"better than ({test}).")


def test_comparisons_to_latex__daggers_against_a_baseline():
    ap = matrix("AP", {"base_1": 0.2, "low": 0.0, "high": 0.4, "same": 0.2})
    made = irmeta.compare(ap, baseline="base_1")
    rows = [line for line in made.to_latex(digits=1).splitlines() if line.endswith(r"\\")]
    assert r"high & \textbf{0.6}\makebox[4pt][l]{\textsuperscript{\dag{}}} \\" in rows
    assert r"low & 0.2\makebox[4pt][l]{\textsuperscript{\ddag{}}} \\" in rows
    assert r"base\_1 & 0.4\makebox[4pt][l]{} \\" in rows
    test = r"(paired t-test, Holm-corrected over 3 pairs, p $\leq$ .05, 8 queries)"
    assert rf"worse than base\_1 {test}" in made.to_latex()
    assert "| high | **0.6**<sup>†</sup> |" in made.to_markdown(digits=1)


def test_comparisons_to_latex__names_caption_label_and_track_of_the_user():
    first = matrix("AP", {"base": 0.2, "low": 0.0}, "news")
    compared = irmeta.compare(
        [first, matrix("AP", {"base": 0.2, "low": 0.4}, "web")], baseline="base"
    )
    texts = {"caption": "My systems.", "label": "mine", "track": "web"}
    latex = compared.to_latex(system_names={"base": "BM25 & co"}, **texts)
    assert r"\caption{My systems. \textsuperscript{\dag} significantly better" in latex
    assert (
        r"worse than BM25 \& co (paired t-test, Holm-corrected over 1 pair, p $\leq$ .05, " in latex
    )
    assert r"8 queries of web). Best values in bold.}\label{tab:mine}" in latex
    assert compared.to_latex(**texts | {"caption": "My systems", "label": "tab:mine"}) == (
        compared.to_latex(**texts)
    )
    assert "news" not in latex
    assert "8 queries of news and 8 queries of web)" in compared.to_text()
    for wrong, message in (
        ({"system_names": {"bas": "x"}}, "no system 'bas'. Did you mean 'base'"),
        ({"system_names": {"base": "low"}}, "two systems of the table would be called 'low'"),
        ({"track": "wed"}, "no track 'wed' is compared. Did you mean 'web'"),
    ):
        with pytest.raises(UsageError, match=re.escape(message)):
            compared.to_latex(**wrong)


def test_compare_command__system_names_of_a_file(run, tmp_path: Path):
    table, names = tmp_path / "table.csv", tmp_path / "names.csv"
    table.write_text("query,a,b\n1,.1,.2\n2,.3,.7\n3,.2,.2\n")
    names.write_text("system,name\na,BM25\n")
    words = ("compare", table, "--format", "latex", "--system-names", names, "--caption", "My own.")
    pairs = run(*words, "--table", "pairs").out
    test = r"Test: paired t-test, Holm-corrected over 1 pair, p $\leq$ .05, 3 queries."
    effect = "Effect: Cohen's d of the paired differences (mean / standard deviation)."
    assert rf"\caption{{My own. {test} {effect}}}" in pairs
    assert "& BM25 & b &" in pairs
    assert "BM25 &" in run(*words).out
    for text, message in (
        ("system,name\na,BM25\na,x\n", "names.csv, line 2: a system with two rows: 'a,BM25'"),
        ("system,nam\na,x\n", "not a known column: 'nam'. Did you mean 'name'"),
        ("system\na\n", "names.csv: no column name"),
        ("system,name\na,\n", "names.csv, line 2: a row without a name"),
    ):
        names.write_text(text)
        assert message in run(*words).err


def test_comparisons_table__numbers_for_more_than_26_systems_and_letters_per_track():
    many = matrix("AP", {f"s{i:02}": i / 10 for i in range(30)}, "many")
    few = matrix("AP", {"x": 0.0, "y": 0.2}, "few")
    rows = irmeta.compare([many, few]).table(digits=1).rows
    assert [cell.text for cell in rows[0][:3]] == ["1", "many", "s29"]
    assert rows[0][3].marks == "2-30"
    assert [cell.text for cell in rows[-1][:3]] == ["b", "few", "x"]
    assert (rows[-2][3].marks, rows[-2][3].is_best, rows[0][3].is_best) == ("b", True, True)


def test_compare__baseline_has_differences_and_verdicts():
    ap = matrix("AP", {"base": 0.2, "low": 0.0, "high": 0.4})
    (found,) = irmeta.compare(ap, baseline="base", test="max-t")
    systems = found.systems
    assert systems["system"].to_list() == ["high", "base", "low"]
    assert systems["verdict"].to_list() == ["better", "baseline", "worse"]
    assert systems["difference"].round(1).fill_nan(None).to_list() == [0.2, None, -0.2]
    assert systems["p_adjusted"].fill_nan(None).to_list() == [2 / 2**8, None, 2 / 2**8]
    assert found.pairs.separated_text(0.05).startswith("2 of 2 pairs")
    with pytest.raises(UsageError, match=r"no system 'bas' as a baseline\. Did you mean 'base'"):
        irmeta.compare(ap, baseline="bas")


@pytest.mark.exhaustive
def test_write_comparisons__baseline_and_several_measures(tmp_path: Path):
    found = irmeta.compare(
        [matrix(m, {"base": 0.2, "low": 0.0}, "t") for m in ("AP", "RR")], baseline="base"
    )
    written = write_comparisons(found, tmp_path, {}, force=False)
    assert [f.name for f in written] == [
        *("pairs.parquet", "systems.parquet", "queries.parquet", "measures.parquet"),
        *("t.AP.svg", "t.RR.svg"),
    ]
    assert (
        pl.read_parquet(tmp_path / "pairs.parquet").select("system_a", "system_b").rows()
        == [("low", "base")] * 2
    )
    made = provenance(tmp_path / "systems.parquet")
    assert made is not None
    assert made["compare"]["baseline"] == "base"
    assert "mean difference from base" in (tmp_path / "t.AP.svg").read_text()


@pytest.mark.exhaustive
def test_compare_and_power_commands__read_a_collection_or_files(run, made_store, collections):
    news = collections / "news"
    files = [news / "qrels.txt", *sorted((news / "runs").iterdir())]
    for command in ("compare", "power"):
        more = ("-m", "AP", "--track")
        expected = run(command, made_store.path, *more, "news", "--queries", "retrieved")
        found = run(command, collections, *more, "news", "--queries", "retrieved")
        assert (found.status, found.out) == (0, expected.out)
        named = run(command, *files, "-m", "AP", "--queries", "retrieved")
        assert named.out.replace("qrels,AP", "news,AP") == expected.out


def test_compare_command__options_for_runs_are_refused_for_values(run, tmp_path: Path):
    (tmp_path / "x.csv").write_text("query,a,b\n1,.1,.2\n2,.2,.4\n")
    for more in (("--depth", 5), ("--strict",), ("--queries", "retrieved")):
        done = run("compare", tmp_path / "x.csv", *more)
        assert (done.status, done.out) == (2, "")
        assert "holds values" in done.err


def test_compare__rank_sets_beside_the_test():
    values = np.random.default_rng(0).normal([0.5, 0.45, 0.2, np.nan], 0.05, (30, 4))
    matrix = irmeta.Matrix(values, tuple(f"q{i}" for i in range(30)), ("b", "a", "c", "d"), "AP")
    (found,) = irmeta.compare([matrix], rng=3, alpha=0.1)
    sets = irmeta.stats.rank_sets(matrix, confidence=0.9, rng=3)
    columns = ["system", "rank_low", "rank_high", "tier"]
    assert found.systems.select(columns).equals(sets.systems.select(columns))
    assert found.rank_sets is not None
    assert (found.rank_sets.text, found.rank_sets.could_be_first) == (sets.text, 1)
    chart = found.show_ranks()
    assert chart is not None
    assert "1 system could be first" in str(chart.to_dict())
    (against,) = irmeta.compare([matrix], baseline="a")
    assert against.rank_sets is None
    assert against.show_ranks() is None
    assert "tier" not in against.systems.columns
