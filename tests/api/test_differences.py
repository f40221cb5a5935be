"""Tables of systems with marks of significance, and differences of systems by query."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.api.differences import differences_chart
from irmeta.api.significance import write_comparisons
from irmeta.errors import UsageError
from irmeta.report.theme import to_spec, to_svg
from irmeta.results.matrix import query_differences
from irmeta.results.tidy_files import provenance

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}, "q3": {"a": 2, "b": 0}}
RUNS = {
    "new": {"q1": {"a": 2.0, "x": 1.0}, "q2": {"a": 2.0}, "q3": {"x": 2.0, "a": 1.0}},
    "old": {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 2.0}, "q3": {"a": 2.0}},
}
COLUMNS = ("query", "value", "baseline_value", "difference", "better", "relevant")


@pytest.fixture(scope="module")
def store() -> irmeta.Store:
    return irmeta.from_data(QRELS, RUNS)


@pytest.mark.parametrize(
    ("measure", "rows"),
    [
        (
            "RR",
            [
                ("q1", 1.0, 0.5, 0.5, "new", 2),
                ("q2", 1.0, 1.0, 0.0, None, 1),
                ("q3", 0.5, 1.0, -0.5, "old", 1),
            ],
        ),
        (
            "RR(rel=2)",
            [
                ("q1", 0.0, 0.0, 0.0, None, 0),
                ("q2", 0.0, 0.0, 0.0, None, 0),
                ("q3", 0.5, 1.0, -0.5, "old", 1),
            ],
        ),
    ],
)
def test_differences__queries_are_in_order_with_their_relevant_docs(
    store: irmeta.Store, measure: str, rows: list[tuple]
):
    found = store.pairs.differences("new", "old", measure)
    assert found.select(COLUMNS).rows() == rows
    labels = found.select("measure", "system", "baseline").unique().rows()
    assert labels == [(measure, "new", "old")]


def test_differences__shorter_search_lengths_are_better(store: irmeta.Store):
    found = store.pairs.differences("new", "old", "ASL")
    assert found["better"].to_list() == ["new", None, "old"]
    assert found["difference"].to_list() == sorted(found["difference"].to_list())


def test_differences__unknown_system_is_named(store: irmeta.Store):
    with pytest.raises(irmeta.UsageError, match=r"no system 'nw'\. Did you mean 'new'"):
        store.pairs.differences("nw", "old", "RR")


@pytest.mark.exhaustive
def test_plot_differences__has_a_bar_per_query_and_counts_of_both_sides(store: irmeta.Store):
    svg = to_svg(store.plot.differences("new", "old", "RR"))
    texts = ("q1 (2)", "q3 (1)", "new better: 1", "old better: 1", "1 with equal values")
    assert all(text in svg for text in texts)
    assert "q1 (2): +0.5000" in svg


@pytest.mark.exhaustive
def test_differences_chart__many_queries_have_some_labels():
    queries = 60
    names = [f"q{i:03d}" for i in range(queries)]
    frame = pl.DataFrame(
        {
            "track": "",
            "measure": "RR",
            "query": names,
            "system": "a",
            "baseline": "b",
            "difference": [1 - 2 * i / queries for i in range(queries)],
            "better": ["a" if 2 * i < queries else "b" for i in range(queries)],
            "relevant": pl.Series([None] * queries, dtype=pl.Int64),
        }
    )
    svg = to_svg(differences_chart(frame))
    labelled = sum(f">{name}<" in svg for name in names)
    assert 20 < labelled < 60
    assert "a better: " in svg


@pytest.mark.parametrize("direction", [1, -1])
def test_differences_chart__thousands_of_queries_are_a_density_with_its_tails_named(direction: int):
    names = tuple(f"q{i}" for i in range(2000))
    gains = [(i - 1200) / 2000 if i % 2 else 0.0 for i in range(2000)]  # half are ties
    matrix = irmeta.Matrix(
        [[0.5, 0.5 + gain] for gain in gains], names, ("old", "new"), "X", "t", direction
    )
    frame = query_differences(matrix, "new", "old").with_columns(relevant=pl.lit(None, pl.Int64))
    chart = differences_chart(frame)
    spec = to_spec(chart)
    (bins,) = (rows for rows in spec["datasets"].values() if "queries" in rows[0])
    better = ("new", "old")[::-direction]
    counts = {
        side: sum(b["queries"] for b in bins if b["side"].startswith(side)) for side in better
    }
    assert counts == {better[0]: 600, better[1]: 400}  # below and above 0
    assert all((b["high"] <= 0) == b["side"].startswith(better[0]) for b in bins)
    texts = to_svg(chart)
    said = (f"{better[0]} better: 600", f"{better[1]} better: 400", "q1: \u22120.6", "q1999: +0.39")
    for text in ("2,000 queries; 1,000 with equal values, not drawn", "q9: \u22120.59", *said):
        assert text in texts, text
    assert "q11: " not in texts


@pytest.mark.parametrize("queries", [[], [math.nan]])
def test_differences_chart__says_where_there_is_nothing_to_draw(queries: list[float]):
    names = [f"q{i}" for i in range(len(queries) or 1)]
    value = queries or [math.nan]
    matrix = irmeta.Matrix([[v, 1.0] for v in value], tuple(names), ("a", "b"), "RR")
    frame = query_differences(matrix, "a", "b").with_columns(relevant=pl.lit(None, pl.Int64))
    assert "No query has a value of both systems." in to_svg(differences_chart(frame))


def files(folder: Path) -> list[Path]:
    irmeta.from_data(QRELS, RUNS, track="t").to_trec(folder)
    return [next(folder.rglob("*qrels*")), *sorted((folder / "t" / "runs").iterdir(), reverse=True)]


@pytest.mark.exhaustive
def test_differences_option__writes_a_table_with_provenance_or_a_figure(run, tmp_path: Path):
    named = files(tmp_path / "in")
    table, figure = tmp_path / "q.parquet", tmp_path / "q.svg"
    assert run("compare", *named, "-m", "RR", "--differences", table).status == 0
    frame = pl.read_parquet(table)
    assert frame.select("system", "baseline").unique().height == 1
    assert frame["relevant"].to_list() == [2, 1, 1][:: 1 if frame["query"][0] == "q1" else -1]
    assert (provenance(table) or {})["differences"]["source"]["measures"].keys() == {"RR"}
    assert run("compare", *named, "-m", "RR", "--differences", figure).status == 0
    assert "better: 1" in figure.read_text()


@pytest.mark.exhaustive
def test_per_query_option__of_many_systems_needs_a_baseline(run, made_store, tmp_path: Path):
    line = ("compare", made_store.path, "-m", "AP", "--track", "passage")
    done = run(*line, "--differences", tmp_path / "q.csv")
    assert "differences by query of 9 systems: name one as the baseline" in done.err
    best = made_store.means("AP", track="passage")["system"][0]
    done = run(*line, "--differences", tmp_path / "q.csv", "--baseline", best)
    assert pl.read_csv(tmp_path / "q.csv")["system"].n_unique() == 8


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
