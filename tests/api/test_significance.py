"""`compare` and `power` on results, a store, a file of values, or a table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.api import significance
from irmeta.api.matrices import made_from
from irmeta.errors import DataError, UsageError
from irmeta.results.matrix import Matrix
from irmeta.results.tidy_files import provenance
from irmeta.stats.new_measure import coverage
from support.undrawn import draw_nothing


@pytest.fixture(scope="module")
def results(made_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results from reanalyze."""
    folder = tmp_path_factory.mktemp("results") / "out"
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched)
        irmeta.reanalyze(made_store.path, folder, measures="AP,ASL,P@10")
    return folder


def table(folder: Path, text: str) -> Path:
    file = folder / "mine.csv"
    file.write_text(text)
    return file


@pytest.mark.exhaustive
def test_matrices__every_source_gives_equal_values(
    results: Path, made_store: irmeta.Store, tmp_path: Path
):
    of_folder = irmeta.matrices(results, "AP", track="news")
    of_store = irmeta.matrices(made_store.path, "AP", track="news")
    file = tmp_path / "scores.csv"
    made_store.evaluate("AP", track="news", per_query=True).write_csv(file)
    for (found,) in (of_folder, of_store, irmeta.matrices(file, "map")):
        assert (found.measure, found.track, found.direction) == ("AP", "news", 1)
        np.testing.assert_allclose(found.values, of_store[0].values)
        assert found.systems == of_store[0].systems
    assert {m.measure for m in irmeta.matrices(results)} == {
        *("AP", "ASL(unretrieved=depth)", "ASL", "P@10")
    }
    assert [m.direction for m in irmeta.matrices(results, "ASL")] == [-1, -1, -1]


def test_compare__systems_sorted_best_first_with_top_group(results: Path):
    for measure, direction in (("AP", 1), ("ASL", -1)):
        (found,) = significance.compare(results, measure, track="news")
        systems = found.systems
        means = systems["mean"].to_numpy() * direction
        assert (np.diff(means) <= 0).all()
        assert systems["rank"].to_list() == list(range(1, systems.height + 1))
        apart, names = found.pairs.separated(0.05), list(found.pairs.systems)
        assert systems["top"][0]
        for system, better, worse, top in systems.select(
            "system", "better_than", "worse_than", "top"
        ).iter_rows():
            place = names.index(system)
            assert top == (worse == 0)
            assert better + worse == apart[place].sum()
        assert systems["better_than"].sum() == systems["worse_than"].sum()


def test_compare_and_power__accept_a_csv_table(tmp_path: Path):
    file = table(tmp_path, "topic,good,bad,same\n1,.9,.1,.9\n2,.8,.2,.8\n3,.7,.2,.7\n4,.9,.3,.9\n")
    (found,) = significance.compare(file, test="t")
    assert found.systems["system"].to_list() == ["good", "same", "bad"]
    assert found.systems["top"].to_list() == [True, True, False]
    frame, curves = significance.power(file, tests=["t", "sign"])
    assert frame.select("test", "level", "pairs", "separated").rows() == [
        ("t", 0.05, 3, 2),
        ("t", 0.01, 3, 2),
        ("sign", 0.05, 3, 0),
        ("sign", 0.01, 3, 0),
    ]
    assert curves.height == 6


def test_write_comparisons__tables_figures_and_provenance(results: Path, tmp_path: Path):
    out = tmp_path / "compared"
    found = significance.compare(results, "AP", test="permutation", resamples=99, rng=3)
    source = made_from(results, ["AP"], ["news", "passage", "web"])
    written = significance.write_comparisons(found, out, source, force=False)
    assert [p.name for p in written] == [
        *("pairs.parquet", "systems.parquet", "queries.parquet", "measures.parquet"),
        *("news.svg", "news.ranks.svg", "passage.svg", "passage.ranks.svg"),
        *("web.svg", "web.ranks.svg"),
    ]
    first = {p.name: p.read_bytes() for p in written}
    made = provenance(out / "pairs.parquet")
    assert made is not None
    assert {n: made["compare"][n] for n in ("test", "seed", "resamples", "less_is_better")} == {
        "test": "permutation",
        "seed": 3,
        "resamples": 99,
        "less_is_better": False,
    }
    assert made["compare"]["source"]["news"] == provenance(results / "scores" / "news.parquet")
    again = significance.compare(results, "AP", test="permutation", resamples=99, rng=3)
    significance.write_comparisons(again, out, source, force=False)
    assert {p.name: p.read_bytes() for p in written} == first
    pairs = pl.read_parquet(out / "pairs.parquet")
    assert pairs["track"].unique().sort().to_list() == ["news", "passage", "web"]
    (out / "pairs.parquet").write_text("mine")
    with pytest.raises(UsageError, match="irmeta did not write it"):
        significance.write_comparisons(found, out, source, force=False)


def test_written_folders__describe_queries_and_measures(
    results: Path, made_store: irmeta.Store, tmp_path: Path
):
    compared = irmeta.compare(made_store, "AP,RR", track="web", queries="judged")
    significance.write_comparisons(compared, tmp_path / "pairs", {}, force=False)
    counted = irmeta.power(made_store, "AP,RR", track="web", queries="judged")
    significance.write_power(counted, tmp_path / "power", {}, {}, force=False)
    queries = pl.read_parquet(tmp_path / "pairs" / "queries.parquet")
    assert queries.equals(pl.read_parquet(tmp_path / "power" / "queries.parquet"))
    qrels = made_store.qrels("web").collect()
    numbers = qrels.group_by("query").agg(judged=pl.len(), relevant=(pl.col("grade") > 0).sum())
    expected = numbers.cast({"judged": pl.Int32, "relevant": pl.Int32}).sort("query")
    found = queries.filter(measure="AP").select("query", "judged", "relevant")
    assert found.equals(expected.with_columns(pl.col("query").cast(pl.String)))
    values = (
        made_store.evaluate("AP", track="web", per_query=True)
        .group_by("query")
        .agg(pl.col("value").mean())
    )
    means = dict(values.iter_rows())
    for query, value in queries.filter(measure="AP").select("query", "value").iter_rows():
        assert value == pytest.approx(means[query], abs=1e-12)
    measures = pl.read_parquet(tmp_path / "power" / "measures.parquet")
    assert measures.select("measure", "low", "high").rows() == [("AP", 0, 1), ("RR", 0, 1)]
    with pytest.raises(UsageError, match="is a table of the study overview: name another folder"):
        significance.write_comparisons(compared, results, {}, force=False)


def test_written_folders__of_a_users_table_without_judgments(tmp_path: Path):
    matrix = Matrix([[0.5, 0.25], [1.0, np.nan]], ("1", "2"), ("a", "b"), "mine", direction=-1)
    compared = irmeta.compare(matrix, missing="common")
    significance.write_comparisons(compared, tmp_path, {}, force=False)
    queries = pl.read_parquet(tmp_path / "queries.parquet").drop("track", "measure")
    assert queries.rows() == [(None, "1", None, None, None, 0.375), (None, "2", *[None] * 3, 1.0)]
    measures = pl.read_parquet(tmp_path / "measures.parquet")
    assert measures.rows() == [("mine", -1, None, None, None, None)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"measures": None}, "specify measures: AP, ASL, ASL.unretrieved=depth., P@10"),
        ({"measures": "RR"}, "has no measure 'RR'"),
        ({"measures": "AP", "track": "newz"}, "has no track 'newz'"),
        ({"measures": "AP", "test": "tt"}, "tt"),
    ],
)
def test_compare__invalid_argument_is_refused(results: Path, arguments: dict, said: str):
    with pytest.raises(UsageError, match=said):
        significance.compare(results, **arguments)


def test_compare__file_without_values_is_refused(results: Path, tmp_path: Path):
    with pytest.raises(UsageError, match="holds means"):
        significance.compare(results / "means.parquet", "AP")
    with pytest.raises(UsageError, match="does not exist"):
        significance.compare(tmp_path / "nothing.csv")
    with pytest.raises(UsageError, match="holds no scores"):
        significance.compare(tmp_path)
    with pytest.raises(DataError, match="holds no numbers"):
        significance.compare(table(tmp_path, "topic,a,b\n1,x,2\n"))


def test_write_comparisons__single_system_has_no_comparison(tmp_path: Path):
    matrix = Matrix(np.array([[0.5], [0.25]]), ("1", "2"), ("only",), "AP", "t")
    compared = significance.compare(matrix)
    (found,) = compared
    assert found.systems["top"].to_list() == [True]
    assert found.pairs.separated_text(0.05) == "no pair of systems to test"
    written = significance.write_comparisons(compared, tmp_path / "o", {}, force=False)
    assert "none to compare it with" in written[-1].read_text()


def test_compare__top_group_has_no_significantly_better_system(tmp_path: Path):
    """System c has only the ten easy queries and is worse than a and b on each."""
    rng = np.random.default_rng(0)
    easy, hard = 0.8 + rng.random(10) / 50, 0.2 + rng.random(10) / 50
    a = np.concatenate([easy, hard])
    c = np.concatenate([easy - 0.1 - rng.random(10) / 100, np.full(10, np.nan)])
    empty = np.full(20, np.nan)
    values = np.column_stack([a, a + rng.random(20) / 100, c, empty])
    matrix = Matrix(values, tuple(map(str, range(20))), ("a", "b", "c", "none"), "AP", "t")
    (found,) = significance.compare(matrix)
    top = dict(found.systems.select("system", "top").iter_rows())
    assert top == {"a": False, "b": True, "c": False, "none": False}
    gapped = Matrix(values[:, :3], matrix.queries, ("a", "b", "c"), "AP", "t")
    (found,) = significance.compare(gapped, test="hsd-blocked")
    assert found.systems["system"].to_list()[-1] == "c"
    assert found.systems["queries"].to_list() == [10, 10, 10]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_compare__sign_based_tests_decide_the_better_system(test: str):
    """System x is slightly worse on 19 queries and much better on one, so its mean is larger."""
    x = np.array([0.30] * 19 + [0.90])
    matrix = Matrix(np.column_stack([x, np.full(20, 0.31)]), tuple(map(str, range(20))), ("x", "y"))
    (found,) = significance.compare(matrix, test=test)
    assert found.systems.select("system", "better_than").rows() == [("x", 0), ("y", 1)]
    assert coverage(matrix, matrix, test=test)["coverage"].to_list() == [1.0]


def test_matrices__measure_is_found_by_name_or_alias(tmp_path: Path):
    rows = [("s", "1", m, 0.5) for m in ("foo", "map")] + [("t", "1", "foo", 0.25)]
    file = tmp_path / "tidy.csv"
    pl.DataFrame(rows, schema=["system", "query", "measure", "value"], orient="row").write_csv(file)
    for name, measure in (("foo", "foo"), ("map", "map"), ("AP", "map")):
        assert [m.measure for m in irmeta.matrices(file, name)] == [measure]
    with pytest.raises(UsageError, match="has no measure 'bar'"):
        irmeta.matrices(file, "bar")


@pytest.mark.parametrize(
    "header",
    ["topic_id,a,b", "Query Number,a,b", "#query,a,b", "a,b,query", "a,b,__index_level_0__"],
)
def test_matrices__query_column_is_not_a_system(header: str, tmp_path: Path):
    last = header.startswith("a")
    rows = ["0.5,0.25,401", "0.5,0.5,402"] if last else ["401,0.5,0.25", "402,0.5,0.5"]
    (found,) = irmeta.matrices(table(tmp_path, "\n".join(["# made by hand", header, *rows, ""])))
    assert (found.systems, found.queries) == (("a", "b"), ("401", "402"))


def test_compare__transposed_table_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match="systems in rows"):
        significance.compare(table(tmp_path, "system,q1,q2\na,1,2\nb,2,3\n"))


@pytest.mark.exhaustive
def test_write_comparisons__foreign_figure_is_kept_without_force(results: Path, tmp_path: Path):
    found = significance.compare(results, "AP", track="news")
    (tmp_path / "news.svg").write_text("mine")
    with pytest.raises(UsageError, match="irmeta did not write it"):
        significance.write_comparisons(found, tmp_path, {}, force=False)
    assert [p.name for p in tmp_path.iterdir()] == ["news.svg"]
    significance.write_comparisons(found, tmp_path, {}, force=True)
    significance.write_comparisons(found, tmp_path, {}, force=False)


def test_compare__less_is_better_option(tmp_path: Path):
    file = table(tmp_path, "topic,a,b\n1,.9,.1\n2,.8,.2\n3,.7,.2\n")
    orders = [
        significance.compare(file, less_is_better=less)[0].systems["system"].to_list()
        for less in (False, True)
    ]
    assert orders == [["a", "b"], ["b", "a"]]


def test_compare__row_of_means_is_no_query(tmp_path: Path):
    rows = "topic,a,b\n1,.9,.1\n2,.8,.2\n"
    (expected,) = significance.compare(table(tmp_path, rows))
    for name in ("all", "Average", "mean"):
        (found,) = significance.compare(table(tmp_path, f"{rows}{name},.7,.2\n"))
        assert found.systems.equals(expected.systems)


@pytest.mark.exhaustive
def test_compare__store_in_memory_equals_store_on_disk(made_store: irmeta.Store, collections: Path):
    with pytest.warns(irmeta.SkippedRunWarning):
        held = irmeta.read(collections)
    tracks = ["web", "news"]
    (news, web) = irmeta.compare(held, "AP", track=tracks, workers=1, queries="retrieved")
    assert (news.pairs.track, web.pairs.track) == ("news", "web")
    (again,) = irmeta.compare(made_store, "AP", track="news", queries="retrieved")
    np.testing.assert_array_equal(again.pairs.p_adjusted, news.pairs.p_adjusted)
    (whole,) = irmeta.compare(made_store.path, "AP", track="news")
    assert (whole.pairs.p_adjusted != news.pairs.p_adjusted).any()
    assert made_from(held, ["AP"], tracks) == held.provenance("AP", track=tracks)


@pytest.mark.exhaustive
def test_compare__measure_with_other_average_is_refused(made_store: irmeta.Store, tmp_path: Path):
    with pytest.raises(UsageError, match="name the measure without average="):
        irmeta.compare(made_store, "gm_map", track="news")
    (counts,) = irmeta.compare(made_store, "NumRelRet", track="news")
    assert counts.pairs.measure == "NumRelRet"
    file = tmp_path / "scores.parquet"
    made_store.evaluate("AP,gm_map", track="news", per_query=True).write_parquet(file)
    assert [m.measure for m in irmeta.matrices(file)] == ["AP"]
    made_store.evaluate("gm_map", track="news", per_query=True).write_parquet(file)
    with pytest.raises(UsageError, match="without average="):
        irmeta.matrices(file)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: irmeta.compare(m, "AP"), "a matrix has its measure"),
        (lambda m: irmeta.compare(m, track="t"), "a matrix has its measure"),
        (lambda m: irmeta.power([m], queries="retrieved"), "a matrix has its measure"),
        (lambda m: irmeta.power([]), "no matrix was given"),
        (lambda m: irmeta.power(m, tests=()), "no test was given"),
        (lambda m: irmeta.power(m, alpha=()), "no alpha was given"),
        (lambda m: irmeta.power(m, alpha=95), "alpha = 95 is not between 0 and 1"),
        (lambda m: irmeta.compare(m, less_is_better=True), "the direction of AP is known"),
    ],
)
def test_compare_and_power__invalid_matrix_arguments_are_refused(call, said: str):
    with pytest.raises(UsageError, match=said):
        call(Matrix(np.eye(3), ("1", "2", "3"), ("a", "b", "c"), "AP", "t"))


def test_matrices__empty_measure_is_refused(results: Path, made_store: irmeta.Store):
    for source in (results, made_store):
        for nothing in ("", []):
            with pytest.raises(irmeta.IrmetaError, match=r"no measure was (named|given)"):
                irmeta.matrices(source, nothing)
    with pytest.raises(UsageError, match="without a store: queries apply only to stores"):
        irmeta.matrices(results, "AP", queries="retrieved")


def test_power__accepts_single_values(results: Path):
    matrix, *others = irmeta.matrices(results, "AP")
    found, _ = irmeta.power(matrix, tests="sign", alpha=0.05)
    several, _ = irmeta.power((matrix, *others), tests=["sign"], alpha=[0.05])
    assert found.rows() == several.rows()[:1]


@pytest.mark.exhaustive
def test_write_comparisons__removes_figures_of_the_previous_comparison(
    results: Path, tmp_path: Path
):
    first = irmeta.compare(results, "AP")
    significance.write_comparisons(first, tmp_path, {}, force=False)
    (tmp_path / "mine.svg").write_text("<svg/>")
    counted = irmeta.power(results, "AP", track="web")
    significance.write_power(counted, tmp_path, {}, {}, force=False)
    second = irmeta.compare(results, "AP", track="news", correction="holm")
    significance.write_comparisons(second, tmp_path, {}, force=False)
    left = {file.name for file in tmp_path.glob("*.svg")}
    # web.svg is now a figure of power
    assert left == {"mine.svg", "news.svg", "news.ranks.svg", "web.svg"}
    significance.write_comparisons(second, tmp_path, {}, force=False, formats=("pdf", "png"))
    left = {file.name for file in tmp_path.iterdir() if file.suffix != ".parquet"}
    figures = {f"news{ranks}.{form}" for ranks in ("", ".ranks") for form in ("pdf", "png")}
    assert left == {"mine.svg", "web.svg", *figures}
    significance.write_comparisons(second, tmp_path, {}, force=False)  # the PDF is irmeta's
    (tmp_path / "news.pdf").write_bytes(b"mine")
    with pytest.raises(UsageError, match="irmeta did not write it"):
        significance.write_comparisons(second, tmp_path, {}, force=False, formats=("pdf",))


@pytest.mark.exhaustive
def test_write_power__one_figure_per_test(results: Path, tmp_path: Path):
    counted = irmeta.power(results, "AP,P@10", tests=["t", "sign"], track=["news", "web"])
    written = significance.write_power(counted, tmp_path, {}, {}, force=False)
    names = [file.name for file in written if file.suffix == ".svg"]
    assert names == ["news.t.svg", "news.sign.svg", "web.t.svg", "web.sign.svg"]
    assert "Achieved significance levels on news: sign" in (tmp_path / "news.sign.svg").read_text()


@pytest.mark.exhaustive
def test_write_power__figure_with_many_curves(tmp_path: Path):
    """30 curves of 190 pairs exceed the row limit of Altair."""
    values = np.random.default_rng(0).random((9, 20))
    systems, queries = tuple(f"s{i}" for i in range(20)), tuple(map(str, range(9)))
    several = [Matrix(values, queries, systems, f"m{i}", "t") for i in range(30)]
    counted = irmeta.power(several)
    written = significance.write_power(counted, tmp_path, {}, {}, force=False)
    assert written[-1].name == "t.svg"
    assert pl.read_parquet(tmp_path / "curves.parquet").height == 30 * 190


def test_compare__equal_means_share_a_rank():
    matrix = Matrix(np.array([[0.1, 0.3, 0.1], [0.3, 0.1, 0.1]]), ("1", "2"), ("b", "a", "c"))
    (found,) = irmeta.compare(matrix, rng=np.int64(3))
    assert found.systems.select("rank", "system").rows() == [(1, "a"), (1, "b"), (3, "c")]
    assert found.settings["seed"] == 3
    irmeta.power(matrix, alpha=np.float32(0.05))


@pytest.mark.exhaustive
def test_compare_command__track_replaced_while_read_writes_nothing(
    collections: Path, tmp_path: Path, run, monkeypatch
):
    store = tmp_path / "store"
    with pytest.warns(irmeta.SkippedRunWarning):
        irmeta.ingest(collections, store)
    compare = significance.compare

    def changed(*arguments, **choices):
        found = compare(*arguments, **choices)
        (store / "tracks" / "news.json").unlink()
        return found

    monkeypatch.setattr(significance, "compare", changed)
    done = run("compare", store, "-m", "AP", "--track", "news", "--out", tmp_path / "out")
    assert "was replaced while it was read" in done.err
    assert not (tmp_path / "out").exists()


def of_rows(*rows: list[float]) -> Matrix:
    names = tuple("abcd"[: len(rows[0])])
    return Matrix(rows, tuple(map(str, range(len(rows)))), names, "P", "t")


UNTESTED = [
    (of_rows([0.1, 0.2]), "one query"),
    (of_rows([0.1, 0.2], [0.3, 0.4], [0.2, 0.3]), "no spread"),
    (of_rows([0.1, np.nan], [np.nan, 0.4]), "no shared query"),
]


@pytest.mark.parametrize(("matrix", "reason"), UNTESTED)
def test_compare__an_undefined_p_is_no_verdict(matrix: Matrix, reason: str):
    said = f"1 pair cannot be tested: {reason}"
    against = irmeta.compare(matrix, baseline="a")
    verdicts = dict(against[0].systems.select("system", "verdict").iter_rows())
    assert verdicts == {"a": "baseline", "b": f"cannot be tested: {reason}"}
    for found in (against, irmeta.compare(matrix)):
        assert said in repr(found[0])
        for text in (found.to_latex(), found.to_markdown()):
            assert f"P: {said}." in text
        assert "1 cannot be tested" in str(found[0].show().to_dict()) or reason == "no shared query"
    assert irmeta.compare(matrix)[0].systems["top"].to_list() == [None, None]
    checked = against.gate(1.0, significant=True).rows["reason"].item()
    assert (f"significance cannot be tested: {reason}" in checked) == (reason != "no shared query")
    counts = irmeta.power(matrix).counts
    assert counts["untested"].unique().to_list() == [said]
    assert counts["share"].is_nan().all()


@pytest.mark.parametrize("form", ["table", "csv", "json", "latex", "markdown"])
def test_compare_command__prints_no_minus_zero(run, tmp_path: Path, form: str):
    file = table(tmp_path, "query,a,b,c\n1,0.5,0.5,0.1\n2,0.25,0.25,0.4\n3,0.75,0.75,0.2\n")
    for baseline in ("a", "b"):
        done = run("compare", file, "--baseline", baseline, "--format", form)
        assert done.status == 0
        assert not re.search(r"[-\u2212]0(\.0+)?(?![.\d])", done.out)


def test_compare_command__names_the_tolerance(run, tmp_path: Path):
    file = table(tmp_path, "query,a,b\n1,0.5000,0.4333\n2,0.2500,0.1667\n3,0.7500,0.8000\n")
    assert "values within 0.0001 are equal" in run("compare", file, "--test", "wilcoxon").err
    made = json.loads(run("compare", file, "--format", "json").out)["provenance"]["compare"]
    assert made["tolerance"] == 1e-4
    assert "0.0001" in run("power", file, "--test", "sign").out


@pytest.mark.parametrize("form", ["csv", "json", "latex", "siunitx", "markdown", "table"])
def test_compare_command__table_of_pairs_in_every_format(run, tmp_path: Path, form: str):
    table = tmp_path / "table.csv"
    table.write_text("query,a,b,c\n1,.1,.2,.5\n2,.3,.5,.9\n3,.2,.2,.8\n4,.4,.7,.6\n")
    done = run("compare", table, "--table", "pairs", "--format", form)
    assert done.status == 0
    (found,) = irmeta.compare(table)
    for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
        assert any(a in line.split("\\")[0] and b in line for line in done.out.splitlines())
    p = found.pairs.p_adjusted[0, 2]
    assert f"{p:.3f}" in done.out or repr(float(p)) in done.out
    if form == "json":
        tables = json.loads(done.out)["tables"]
        assert list(tables) == ["pairs", "systems"]
        assert [row["p_adjusted"] for row in tables["pairs"]] == found.pairs.frame()[
            "p_adjusted"
        ].to_list()


def test_compare_command__table_of_pairs_in_a_file_and_named_beside_the_default(
    run, tmp_path: Path
):
    table, out = tmp_path / "table.csv", tmp_path / "pairs.csv"
    table.write_text("query,a,b,c\n1,.1,.2,.5\n2,.3,.5,.9\n3,.2,.2,.8\n4,.4,.7,.6\n")
    assert "p-values of each pair: --table pairs" in run("compare", table, "--format", "table").out
    assert run("compare", table, "--table", "pairs", "--out", out).status == 0
    assert (
        pl.read_csv(out)["p_adjusted"].to_list()
        == irmeta.compare(table).pair_frame()["p_adjusted"].to_list()
    )
    done = run("compare", table, "--test", "hsd", "--baseline", "a", "--format", "table")
    assert "max-t (Dunnett's family) is more powerful" in done.out
