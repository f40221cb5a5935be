"""`irmeta.verify` and the command: verdicts, reasons, names, tables and files."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.archive import verification
from irmeta.archive.verification import equal_as_printed, other_means
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import Spec
from irmeta.policies import EvalPolicy
from irmeta.rankings.track import Track as StoreTrack
from irmeta.results.scores import wide
from irmeta.results.tidy_files import provenance
from support.evidence import NTCIR_CONFIG, PUBLISHED
from support.making import Track, down


def table(measure: str, values: dict[str, float | str], digits: int = 4) -> pl.DataFrame:
    """Make a table of published means."""
    texts = [v if isinstance(v, str) else f"{v:.{digits}f}" for v in values.values()]
    return pl.DataFrame({"system": [*values], "measure": measure, "value": texts})


def means(store: irmeta.Store, measure: str, track: str, **choices: object) -> dict[str, float]:
    frame = store.means(measure, track=track, **choices)
    return dict(frame.select("system", "value").iter_rows())


def reasons(found: irmeta.Verification) -> set[str | None]:
    """Return the reasons of values that differ."""
    return set(found.values.filter(verdict="differ")["reason"])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("track", "published", "computed", "choices", "reason"),
    [
        ("news", "map", "map", {"tie_order": "file"}, "tie order file"),
        ("news", "map", "map", {"queries": "retrieved"}, "mean over retrieved queries"),
        ("passage", "ndcg", "ndcg", {"queries": "relevant"}, "mean over relevant queries"),
        ("web", "ndcg", "ndcg", {"qrels": "diversity"}, "qrels set diversity"),
        ("passage", "map", "AP(rel=2)", {}, "relevant from grade 2"),
        ("passage", "AP(rel=3)", "map", {}, "relevant from grade 1"),
        ("news", "map", "map_cut_100", {}, "lists cut at 100 docs"),
        ("web", "bpref", "bpref", {"negative": "nonrelevant"}, "negative grades as nonrelevant"),
        ("web", "bpref", "Bpref(form=original)", {}, "bpref by the definition original"),
        ("news", "bpref", "Bpref(form=trec_eval7)", {}, "bpref by the definition trec_eval7"),
        ("news", "bpref", "Bpref(form=bpref-10)", {}, "bpref by the definition bpref-10"),
        ("news", "P_10", "P_15", {}, "measured at cutoff 15"),
        ("passage", "RBP(p=0.5)", "RBP(p=0.5,gain=linear)", {}, "gain=linear"),
        ("passage", "ndcg", "nDCG(gain=exp)", {}, "gain=exp"),
        ("passage", "ERR@20", "ERR(stop=linear)@20", {}, "stop=linear"),
        ("news", "ASL", "ASL(unretrieved=depth)", {}, "unretrieved=depth"),
    ],
)  # fmt: skip
def test_verify__names_the_reason_of_a_column(
    made_store: irmeta.Store, track, published, computed, choices, reason
):
    values = means(made_store, computed, track, **choices)
    found = irmeta.verify(made_store, table(published, values), track=track)
    assert reason in reasons(found) - {None}
    assert reasons(found) <= {reason, "mean over retrieved queries"}
    (row,) = found.tracks.rows(named=True)
    assert row["differ"] == row["explained"] > 0
    assert row["reproduced"] + row["differ"] == row["published"] == len(values)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([("n", 1 + 2e-9), ("r", 1 + 1e-9)], "tie order trec_eval10"),  # equal as float32
        ([("r", 1.0), ("s", 1.0)], "tie order file"),
        ([("s", 0.5), ("n", 2.0), ("r", 2.0)], "tie order score-file"),
        ([("s", 3.0, 2), ("r", 2.0, 1), ("n", 1.0, 3)], "tie order rank"),
    ],
)  # fmt: skip
def test_verify__names_the_tie_order(lines, reason):
    store = Track({"a": {"q": lines}}, {"q": {"r": 1}}).read()
    order = reason.removeprefix("tie order ")
    published = table("RR", means(store, "RR", store.tracks[0], tie_order=order))
    assert reasons(irmeta.verify(store, published)) == {reason}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("second", "reason"), [(1.0, "tie order file"), (0.7, None)])
def test_verify__tie_order_explains_a_value_if_another_agrees(second: float, reason: str | None):
    lists = {"a": {"q": [("r", 1.0), ("s", 1.0)]}, "b": {"q": [("r", 2.0), ("s", 1.0)]}}
    store = Track(lists, {"q": {"r": 1}}).read()  # only the list of a has a tie
    found = irmeta.verify(store, table("RR", {"a": 1.0, "b": second}))
    assert dict(found.values.select("system", "reason").iter_rows())["a"] == reason


@pytest.mark.exhaustive
def test_verify__computes_each_measure_once_under_a_policy(
    made_store: irmeta.Store, monkeypatch: pytest.MonkeyPatch
):
    computed = Counter[tuple[EvalPolicy, str]]()

    def counted(track: StoreTrack, specs: list[Spec], *given: Any):
        computed.update((track.policy, spec.name) for spec in specs)
        return evaluate(track, specs, *given)

    monkeypatch.setattr(verification, "evaluate", counted)
    first, second = ("aldBM25", "doumMan1")
    parts = [table(name, {first: 0.1234, second: 0.4321}) for name in ("map", "P_5", "P_10")]
    found = irmeta.verify(made_store, pl.concat(parts), track="news")
    assert found.tracks["differ"].item() == 6  # so all readings are tried
    assert max(computed.values()) == 1
    assert len(computed) > 20


@pytest.mark.exhaustive
def test_verify__value_without_known_reason_has_none(made_store: irmeta.Store):
    values = {name: value + 0.0007 for name, value in means(made_store, "ndcg", "news").items()}
    found = irmeta.verify(made_store, table("ndcg", values), track="news")
    assert not found.agrees
    assert None in reasons(found)
    without = found.reasons.filter(pl.col("reason").is_null(), verdict="differ")
    assert without["values"].sum() > 10


@pytest.mark.exhaustive
def test_verify__cutoff_that_explains_few_values_is_no_reason(made_store: irmeta.Store):
    wrong = {name: value + 0.0123 for name, value in means(made_store, "P_10", "news").items()}
    first = next(iter(wrong))
    wrong[first] = means(made_store, "P_15", "news")[first]
    found = irmeta.verify(made_store, table("P_10", wrong), track="news")
    assert reasons(found) == {None}


@pytest.mark.exhaustive
def test_verify__value_alone_with_few_digits_tells_no_reading(made_store: irmeta.Store):
    ((name, value), *_) = means(made_store, "P_15", "news").items()
    alone = table("P_10", {name: value})
    assert reasons(irmeta.verify(made_store, alone, track="news")) == {"measured at cutoff 15"}
    short = alone.with_columns(value=pl.lit(f"{value:.2f}"))
    assert reasons(irmeta.verify(made_store, short, track="news")) == {None}


@pytest.mark.exhaustive
def test_verify__value_with_more_digits_than_a_float(made_store: irmeta.Store):
    ((name, value), *_) = means(made_store, "ndcg", "news").items()
    found = irmeta.verify(made_store, table("ndcg", {name: f"{value:.300f}"}), track="news")
    assert found.agrees


@pytest.mark.exhaustive
def test_verify__equality_is_to_the_digits_of_the_column(made_store: irmeta.Store):
    one, two, *_ = values = means(made_store, "AP", "news")
    exact = {one: values[one], two: values[two]}
    short = {one: f"{values[one]:.4f}", two: f"{values[two]:.2f}"}
    found = irmeta.verify(made_store, table("AP", exact, digits=9), track="news")
    assert found.agrees
    assert found.values["digits"].to_list() == [9, 9]
    found = irmeta.verify(made_store, table("AP", short), track="news")
    assert found.values["verdict"].to_list() == ["reproduced", "differ"]
    assert reasons(found) == {"equal to its 2 digits, of 4 in the column"}
    off = {one: values[one] + 0.6e-4}
    assert not irmeta.verify(made_store, table("AP", off), track="news").agrees
    tiny = irmeta.verify(made_store, table("AP", {one: "1.25e-3"}), track="news")
    assert tiny.values.select("digits", "published").row(0) == (5, 0.00125)


@pytest.mark.exhaustive
def test_verify__missing_query_of_a_mean_is_found():
    queries = [f"q{i}" for i in range(7)]
    lists = {
        name: {q: down(*"nnnnn"[: (i * step) % 5], f"r{q}") for i, q in enumerate(queries)}
        for name, step in (("a", 2), ("b", 3), ("c", 4))
    }
    lists = {
        name: {q: [(f"{doc}{i}" if doc == "n" else doc, -i) for i, (doc, *_) in enumerate(rows)]
               for q, rows in of.items()}
        for name, of in lists.items()
    }  # fmt: skip
    store = Track(lists, {q: {f"r{q}": 1} for q in queries}).read()
    scores = store.evaluate("RR", per_query=True).filter(pl.col("query") != "q4")
    values = dict(scores.group_by("system", maintain_order=True).agg(pl.col("value").mean()).rows())
    found = irmeta.verify(store, table("RR", values))
    assert reasons(found) == {"mean without query q4"}
    single = irmeta.verify(store, table("RR", {"a": values["a"]}))
    assert "mean without query q4" not in reasons(single)  # any query may fit one value


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mean", ["average", "Avg", "mean", "all"])
def test_verify__a_column_per_measure_and_a_row_of_means(
    made_store: irmeta.Store, tmp_path: Path, mean: str
):
    one: Any = {"track": "news", "system": "aldBM25"}
    values = made_store.evaluate("AP,P@5", per_query=True, **one)
    spread = wide(values).with_columns(pl.col("AP", "P@5").round(4)).drop("track")
    means = wide(made_store.means("AP,P@5", **one)).drop("track").with_columns(query=pl.lit(mean))
    rounded = means.with_columns(pl.col("AP", "P@5").round(4)).select(spread.columns)
    pl.concat([spread, rounded]).write_csv(tmp_path / "wide.csv")
    found = irmeta.verify(made_store, tmp_path / "wide.csv", track="news")
    counted = found.tracks.select("reproduced", "differ", "not_ours").row(0)
    assert counted == (2 * (spread.height + 1), 0, 0)


def test_equal_as_printed__half_a_unit_of_the_last_digit():
    values = np.array([0.12345, 0.12355, 0.1234499, 0.1235501, np.nan, np.nan, 0.1])
    printed = np.array([0.1235, 0.1235, 0.1235, 0.1235, np.nan, 0.1, np.nan])
    equal = equal_as_printed(values, printed, np.full(7, 4))
    assert equal.tolist() == [True, True, False, False, True, False, False]


def test_other_means__mean_of_rounded_values():
    values = np.array([[0.12344, 0.5], [0.12344, 0.5], [0.12344, 0.5]])
    printed, digits = np.array([0.1, 0.5]), np.array([1, 1])
    found = dict(other_means(values, ["1", "2", "3"], printed, digits))
    assert found["mean of values per query with 1 digits"].tolist() == [True, True]
    assert not dict(other_means(values, ["1", "2", "3"], printed + 0.2, digits))[
        "mean of values per query with 1 digits"
    ].any()


def test_verify__values_per_query_and_means(made_store: irmeta.Store):
    frame = made_store.evaluate(
        "map,P_5", track="news", system=["aldBM25", "doumMan1"], per_query=True
    )
    rows = frame.select(
        "system", "query", "measure", value=pl.col("value").map_elements("{:.4f}".format, pl.String)
    )
    mean = pl.DataFrame(
        [("aldBM25", query, "map", "0.2844") for query in ("all", "amean", "", None)],
        rows.schema,
        orient="row",
    )
    alien = pl.DataFrame([("aldBM25", "0815", "map", "0.1")], rows.schema, orient="row")
    found = irmeta.verify(made_store, pl.concat([rows, mean, alien]), track="news")
    assert found.tracks.select("reproduced", "differ", "not_ours").row(0) == (rows.height + 4, 0, 1)
    assert found.values.filter(verdict="not ours")["reason"].item() == "no value for query 0815"
    assert found.values["query"].null_count() == 4


@pytest.mark.exhaustive
def test_verify__what_has_no_measure_is_not_ours(made_store: irmeta.Store):
    asked = ["old_bpref", "P5", "R-prec", "ircl_prn.0.10", "gloss", "alpha-nDCG@10"]
    rows = pl.DataFrame({"system": "aldBM25", "measure": asked, "value": "0.5"})
    found = irmeta.verify(made_store, rows, track="news").values
    names = ["Bpref(form=trec_eval7)", "P@5", "Rprec", "IPrec@0.1"]
    assert found["canonical"].to_list() == [*names, None, "alpha_nDCG@10"]
    others = found.filter(verdict="not ours")
    assert others["measure"].to_list() == ["gloss", "alpha-nDCG@10"]
    assert "unknown measure 'gloss'" in others["reason"][0]
    assert "no qrels by subtopic" in others["reason"][1]


@pytest.mark.exhaustive
def test_verify__names_of_systems(made_store: irmeta.Store):
    first, second = "aldBM25", "doumMan1"
    twice = ["ALDBM25FB", "aldbm25fb"]
    names = [f"input.{first}", second.upper(), first, "stranger", *twice]
    value = f"{means(made_store, 'map', 'news')[second]:.4f}"
    found = irmeta.verify(made_store, table("map", dict.fromkeys(names, value)), track="news")
    assert found.values["system"].to_list() == [second, first]
    absent = found.unmatched.filter(absent_from="store")["system"].to_list()
    assert sorted(absent) == sorted([f"input.{first}", "stranger", *twice])  # equal names are first
    assert found.tracks["unmatched"].item() == 4
    assert found.unmatched.filter(absent_from="published").height == 18


@pytest.mark.exhaustive
def test_verify__tables_of_several_tracks(made_store: irmeta.Store):
    parts = [
        table("ndcg", means(made_store, "ndcg", track)).with_columns(track=pl.lit(track))
        for track in ("web", "news")
    ]
    found = irmeta.verify(made_store, pl.concat(parts), workers=2)
    assert found.agrees
    assert found.tracks["track"].to_list() == ["news", "passage", "web"]
    assert found.tracks["reproduced"].to_list() == [20, 0, 12]
    assert repr(found).startswith(
        "Verification(32 published values of 3 tracks, 32 reproduced, 0 differ (0 explained), "
        "0 not ours)\ntrack"
    )
    assert "passage" in found._repr_html_()
    alone = irmeta.verify(made_store, pl.concat(parts), track="web")
    assert alone.values.equals(found.values.filter(track="web"))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("system,measure\na,AP\n", irmeta.UsageError, "lacks the columns value; it has system"),
        ("system,measure,value\na,AP,0.1\n\nb,AP,x\n", irmeta.DataError, "line 4.*number: 'x'"),
        ("system,measure,value\na,AP,0.1\n,AP,0.2\n", irmeta.DataError, "line 3: the system is"),
        ("system,measure,value\na,AP,1\na,AP,1,2\n", irmeta.DataError, "line 3: more fields"),
        ("system,measure,value\na,AP\n", irmeta.DataError, "line 2: the value is not a number"),
        ("", irmeta.DataError, "cannot be read as CSV"),
        ('system,measure,value\na,"AP,1\n', irmeta.DataError, r"cannot be read as CSV \([^.]*\)$"),
        ("system,measure,value\n", irmeta.UsageError, "has no values"),
        ("track,system,measure,value\nnewz,a,AP,1\n", irmeta.UsageError, "Did you mean 'news'"),
        ("system,measure,value\na,AP,1\n", irmeta.UsageError, "'a' of news, whose systems are"),
    ],
)
def test_verify__malformed_file_is_refused(
    made_store: irmeta.Store, tmp_path: Path, text: str, error: type[Exception], message: str
):
    file = tmp_path / "published.csv"
    file.write_text(text)
    with pytest.raises(error, match=message):
        irmeta.verify(made_store, file, track="news")


@pytest.mark.exhaustive
def test_verify__wrong_calls_are_refused(made_store: irmeta.Store, tmp_path: Path):
    rows = table("map", {"aldBM25": "0.2844"})
    with pytest.raises(irmeta.UsageError, match="no column track, and there are 3 tracks"):
        irmeta.verify(made_store, rows)
    with pytest.raises(irmeta.UsageError, match="is not there"):
        irmeta.verify(made_store, tmp_path / "absent.csv", track="news")
    with pytest.raises(irmeta.UsageError, match="without `published=`"):
        irmeta.verify(made_store, rows, track="news", catalog={"news": "trec8/adhoc"})
    with pytest.raises(irmeta.DataError, match="row 1: the value is not a number: 'x'"):
        irmeta.verify(made_store, pl.concat([rows, table("map", {"b": "x"})]), track="news")
    with pytest.raises(irmeta.UsageError, match="`catalog=`"):
        irmeta.verify(made_store)
    with pytest.raises(irmeta.UsageError, match="Did you mean 'trec8/adhoc'"):
        irmeta.verify(made_store, catalog={"news": "trec8/adhok"})
    with pytest.raises(irmeta.UsageError, match="no track 'newz' here"):
        irmeta.verify(made_store, catalog={"newz": "trec8/adhoc"})
    with pytest.raises(irmeta.UsageError, match="qrels set 'none'"):
        irmeta.verify(made_store, rows, track="news", qrels="none")


def test_verify_command__prints_and_writes(run, collections: Path, tmp_path: Path):
    file, out = tmp_path / "board.csv", tmp_path / "values.parquet"
    file.write_text(
        "system,measure,value,note\naldBM25,map,0.2844,\naldBM25,P_5,0.5280,\n"
        "aldBM25,gloss,1,\nstranger,map,0.3,\naldBM25,ndcg,0.9999,\n"
    )
    done = run("verify", collections, "--track", "news", "--published", file, "--out", out)
    assert done.status == 1
    assert done.out.splitlines()[1].split() == ["news", "-", *"41211", "1"][:8]
    for part in ("without a known reason", "0.9999", "measured at cutoff 10", "unknown measure",
                 "1 system not in the store: stranger"):  # fmt: skip
        assert part in done.out
    assert "2 of 4 published values differ (1 explained)" in done.err
    assert pl.read_parquet(out).height == 4
    record = provenance(out)
    assert record is not None
    assert record["published"]["name"] == "board.csv"
    file.write_text("system,measure,value\naldBM25,map,0.2844\n")
    done = run("verify", collections, "--track", "news", "--published", file)
    assert done.status == 0
    assert next(csv.DictReader(done.out.splitlines()))["reproduced"] == "1"
    assert run("verify", collections, "--catalog", "news").status == 2


@pytest.mark.real
def test_verify__values_published_by_others_are_reproduced(
    real_store: irmeta.Store, shared: Path, tmp_path: Path
):
    (tmp_path / "data").symlink_to(shared / "oracles" / "ntcir13_www")
    (tmp_path / "collection.toml").write_text(NTCIR_CONFIG.format(folder="data"))
    ntcir = irmeta.read(tmp_path)
    values = explained = 0
    for one in PUBLISHED:
        store = ntcir if one.track in ntcir.tracks else real_store
        found = irmeta.verify(store, one.table(shared), track=one.track, **one.choices)
        (row,) = found.tracks.rows(named=True)
        assert row["published"] == one.values, one.by
        assert row["reproduced"] == one.values - one.explained, one.by
        assert row["differ"] == row["explained"] == one.explained, one.by
        values, explained = values + row["published"], explained + row["explained"]
    assert (values, explained) == (183_407, 2)


@pytest.mark.real
def test_verify__ndcg_of_deep_learning_has_gains_from_grade_2(shared: Path, tmp_path: Path):
    """All columns of all 63 runs of 2021, among them four of nDCG: 252 values."""
    source = shared / "judges" / "trec-dl-2021-passage"
    track = tmp_path / "trec-dl-2021-passage"
    track.mkdir()
    for name in ("runs", "qrels.txt"):
        (track / name).symlink_to(source / name)
    irmeta.ingest(tmp_path, tmp_path / "store")
    found = irmeta.verify(tmp_path / "store")
    counts = found.tracks.select("catalog", "published", "reproduced", "not_ours").row(0)
    assert counts == ("trec30/deep", 1008, 1008, 0)
    gains = found.values.filter(pl.col("measure").str.starts_with("ndcg"), evaluator="trec_eval")
    assert gains.height == 252
    assert gains["canonical"].str.contains(r"nDCG\(rel=2\)").all()
