"""Values of other programs: ir_measures, pytrec_eval and cwl_eval."""

from __future__ import annotations

import csv
import ctypes
import math
import shutil
from pathlib import Path

import ir_measures
import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.measures.names import parse_measure, registry
from irmeta.naming import joined, split_form
from support.making import Track, down, read_qrels, read_run

ALIKE = (
    *("P@5", "P(rel=2)@10", "R@20", "AP", "AP(rel=2)", "AP@10", "RR", "RR(rel=2)", "RR@3", "Rprec"),
    *("Rprec(rel=2)", "nDCG", "nDCG@10", "Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)"),
    *("SetP", "SetP(rel=2)", "SetR", "SetF", "SetAP", "SetAP(rel=2)", "SetRelP", "Success@3"),
    *("Success(rel=2)@3", "IPrec@0.0", "IPrec@0.3", "IPrec(rel=2)@1.0", "NumQ", "NumRet"),
    *("Accuracy", "Accuracy@100", "Accuracy(rel=2)@50"),
    *("NumRel", "Judged@10"),  # ir_measures counts a doc with a negative grade as judged
)
OTHERWISE = {
    "SetF(beta=2.0)": f"SetF(beta={math.sqrt(2)!r})",  # passed to trec_eval as beta squared
    "NumRet(rel=1)": "NumRelRet",
    "NumRet(rel=2)": "NumRelRet(rel=2)",
    "AP(judged_only=True)": "AP(unjudged=condensed)",
    "P(judged_only=True)@5": "P(unjudged=condensed)@5",
    "nDCG(judged_only=True)@10": "nDCG(unjudged=condensed)@10",
    "nDCG(gains={1:3,2:9})": "nDCG(gain=1:3;2:9)",
    "nDCG(dcg='exp-log2')@10": "nDCG(gain=exp)@10",
    "ERR@10": "ERR(gmax=4)@10",  # gdeval's highest grade is always 4
    # Without positive scores, the ideal list of ir_measures starts with docs not retrieved.
    "Compat": "Compat(depth=lists)",
    "Compat(p=0.5,normalize=False)": "Compat(p=0.5,depth=lists,normalize=False)",
}
PERL = ("ERR@10", "nDCG(dcg='exp-log2')@10")
RECORDED = Path(__file__).parents[2] / "data_fixtures" / "oracles" / "ir_measures.csv.gz"
"""Values of measures for which ir_measures needs cwl_eval or pyndeval, which are not installed."""


@pytest.fixture(scope="module", params=["web", "passage"])
def track(request: pytest.FixtureRequest, made_store: irmeta.Store):
    """Return a synthetic track for ir_measures, without ties, which its tools break differently."""
    name = request.param
    systems = made_store.runs(name).select(pl.col("system").unique().sort()).collect()
    some = systems["system"].to_list()[::5]
    runs = made_store.runs(name).filter(pl.col("system").is_in(some)).collect()
    runs = runs.select(
        "system", query_id="query", doc_id="doc", score=1e4 - pl.col("rank")
    )  # see Compat
    primary = made_store.info().filter(track=name)["qrels"].item().split(",")[0]
    qrels = made_store.qrels(name).filter(set=primary).collect()
    qrels = qrels.select(query_id="query", doc_id="doc", relevance="grade").to_pandas()
    return name, {s: own.to_pandas() for (s,), own in runs.group_by("system")}, qrels


def theirs(measure: str, runs: dict, qrels) -> dict[tuple[str, str], float]:
    asked = [ir_measures.parse_measure(measure)]
    return {
        (system, found.query_id): found.value
        for system, run in runs.items()
        for found in ir_measures.iter_calc(asked, qrels, run)
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("measure", [*ALIKE, *OTHERWISE])
def test_evaluate__equals_ir_measures(measure: str, track, made_store: irmeta.Store):
    if measure in PERL and shutil.which("perl") is None:
        pytest.skip("gdeval is a Perl program")
    name, runs, qrels = track
    expected = theirs(measure, runs, qrels)
    ours = OTHERWISE.get(measure, measure)
    negative = "nonrelevant" if ours.startswith("Judged") else "unjudged"
    chosen = {"queries": "retrieved", "negative": negative}
    values = made_store.evaluate(ours, track=name, system=list(runs), **chosen, per_query=True)
    found = {(s, q): v for s, q, v in values.select("system", "query", "value").iter_rows()}
    digits = 5.1e-6 if measure in PERL else 1e-9  # gdeval prints five digits
    assert len(found) > 20
    for cell, value in found.items():
        if measure.startswith("Accuracy") and cell not in expected:
            assert math.isnan(value) or value == 0  # without relevant docs; without one retrieved
        elif math.isnan(value):
            assert (measure[:6], expected[cell]) == ("Compat", 0)  # no relevant doc
        else:
            assert value == pytest.approx(expected[cell], abs=digits)


@pytest.fixture(scope="module")
def recorded() -> pl.DataFrame:
    """The values of data_fixtures/make_oracles.py."""
    return pl.read_csv(RECORDED, schema_overrides={"query": pl.String})


@pytest.mark.parametrize("name", ["web", "passage"])
def test_evaluate__equals_recorded_ndeval_and_cwl_eval(name: str, recorded, made_store):
    expected = recorded.filter(track=name)
    asked = {parse_measure(m).name: m for m in expected["measure"].unique()}
    chosen = {"track": name, "system": expected["system"].unique().to_list(), "queries": "judged"}
    values = made_store.evaluate(list(asked), per_query=True, **chosen)
    values = values.with_columns(pl.col("measure").replace_strict(asked))
    both = expected.join(values, ["track", "system", "query", "measure"], suffix="_ours")
    assert both.height == expected.height > 200
    np.testing.assert_allclose(both["value_ours"], both["value"], rtol=0, atol=1e-9)


def test_registry__every_measure_of_ir_measures_is_compared(recorded: pl.DataFrame):
    shared = set(ir_measures.measures.registry) & registry().keys()
    names = [*recorded["measure"].unique(), *(OTHERWISE.get(m, m) for m in (*ALIKE, *OTHERWISE))]
    assert shared == {parse_measure(name).measure.name for name in names} & shared


@pytest.mark.exhaustive
def test_reciprocal_rank__ir_measures_breaks_ties_differently_at_cutoff():
    """With a cutoff, ir_measures ranks the smaller doc ID first, unlike trec_eval and irmeta."""
    docs = [ir_measures.ScoredDoc("q", doc, 1.0) for doc in ("a", "b")]
    for relevant, expected in (("a", 1.0), ("b", 0.5)):
        grades = {doc: 2 * (doc == relevant) for doc in ("a", "b")}
        qrels = [ir_measures.Qrel("q", doc, grade) for doc, grade in grades.items()]
        store = Track({"s": {"q": [("a", 1, 1), ("b", 1, 2)]}}, {"q": grades}).read()
        for name, theirs in (("RR(rel=2)@10", expected), ("RR(rel=2)", 1.5 - expected)):
            (found,) = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, docs)
            assert found.value == theirs
            assert store.means(name)["value"].to_list() == [1.5 - expected]


def test_atof__decimal_comma_reads_as_zero():
    atof = ctypes.CDLL(None).atof
    atof.restype = ctypes.c_double
    assert atof(b"0,9") == 0.0


HALF_A_DIGIT = 0.5e-4 + 1e-9
RECORDED_CWL = Path(__file__).parents[2] / "data_fixtures" / "oracles" / "cwl_eval.csv.gz"
"""Values that data_fixtures/make_cwl_oracle.py records."""
QUANTITIES = ("EU", "ETU", "EC", "ETC", "ED")
OURS = {
    "P": "CWL(model=P,K={})",
    "RBP": "CWL(p={})",
    "NDCG-k": "SDCG@{}",
    "RR": "CWL(model=RR)",
    "AP": "CWL(model=AP)",
    "INST-T": "INST(T={})",
}
"""Names of cwl_eval's output."""


def ours(metric: str) -> str:
    """Return irmeta's name of a line of cwl_eval's output."""
    word, _, number = metric.replace("T=", "T@").partition("@")
    return OURS[word].format(number)


def quantity_of(name: str, quantity: str, bound: str = "lower") -> str:
    """Return the canonical name of a quantity of a measure."""
    word, inside, cut = split_form(name) or ("", "", "")
    parameters = ",".join(filter(None, [inside, f"quantity={quantity},bound={bound}"]))
    return parse_measure(joined(word, parameters, cut)).name


@pytest.mark.exhaustive
@pytest.mark.parametrize("run", ["run_plain", "run_ties"])
def test_evaluate__equals_cwl_eval_output(shared: Path, tmp_path: Path, run: str):
    folder = shared / "oracles" / "case1_adhoc"
    with (folder / f"out.cwl_eval.bin.nr.{run}.tsv").open() as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    names = {
        (line["Metric"], column): quantity_of(ours(line["Metric"]), quantity, bound)
        for line in lines
        for quantity in QUANTITIES
        for column, bound in ((quantity, "lower"), (f"Res{quantity}", "residual"))
    }
    qrels = read_qrels(folder / "qrels_bin.txt")
    track = Track({"run": read_run(folder / f"{run}.txt")}, qrels)
    store = track.ingest(tmp_path, tie_order="file")
    frame = store.evaluate(list(dict.fromkeys(names.values())), per_query=True)
    found = {(q, m): v for q, m, v in frame.select("query", "measure", "value").iter_rows()}
    compared = 0
    for line in lines:
        if line["Topic"] not in qrels:
            continue
        for (metric, column), name in names.items():
            if metric == line["Metric"]:
                value = found[line["Topic"], name]
                assert value == pytest.approx(float(line[column]), abs=HALF_A_DIGIT), (line, column)
                compared += 1
    assert compared > 400


@pytest.fixture(scope="module")
def recorded_cwl() -> pl.DataFrame:
    return pl.read_csv(RECORDED_CWL, schema_overrides={"list": pl.String, "costs": pl.String})


def drawn_track(lists: list[str]) -> Track:
    """Return a track with a query for each list; a letter is a doc, and u an unjudged doc."""
    runs = {docs: down(*(f"d{i:03}" for i in range(len(docs)))) for docs in lists}
    qrels = {
        docs: {f"d{i:03}": int(doc) for i, doc in enumerate(docs) if doc != "u"} | {"other": 4}
        for docs in lists
    }
    return Track({"s": runs}, qrels)


COSTS = (1.0, 0.5, 2.0, 4.0, 0.25)


def write_costs(folder: Path, lists: list[str]) -> str:
    """Write the costs of all docs of the lists, by rank in turn, and return the file."""
    lines = (f"{docs} d{i:03} {COSTS[i % 5]}" for docs in lists for i in range(len(docs)))
    (folder / "costs.txt").write_text("\n".join(lines))
    return str(folder / "costs.txt")


@pytest.mark.exhaustive
@pytest.mark.parametrize("costs", ["1", "given"])
def test_evaluate__equals_recorded_cwl_eval(recorded_cwl: pl.DataFrame, tmp_path: Path, costs: str):
    expected = recorded_cwl.filter(costs=costs)
    lists = expected["list"].unique(maintain_order=True).to_list()
    store = drawn_track(lists).read()
    choices = {"costs": write_costs(tmp_path, lists)} if costs == "given" else {}
    for bound in ("lower", "residual"):
        named = expected.with_columns(
            name=pl.struct("measure", "quantity").map_elements(
                lambda row, bound=bound: quantity_of(row["measure"], row["quantity"], bound),
                return_dtype=pl.String,
            )
        )
        names = named["name"].unique(maintain_order=True).to_list()
        found = store.evaluate(names, per_query=True, **choices)
        both = named.join(found, left_on=["list", "name"], right_on=["query", "measure"])
        assert both.height == expected.height > 1000
        np.testing.assert_allclose(both["value"], both[bound], rtol=1e-9, atol=1e-9)


def test_cwl__equals_measures_it_models():
    alike = {
        "CWL(model=P,K=3,max_rel=1)": "P@3",
        "CWL(p=0.5,max_rel=1)": "RBP(p=0.5)",
        "CWL(model=P,K=3,max_rel=1,quantity=ED)": "NumRet",
    }
    names = [*alike, *alike.values(), "RR", "CWL(model=RR,quantity=ED)", "DCG(gain=linear)@4"]
    names += ["SDCG@4", "SDCG(quantity=ED)@4"]
    frame = drawn_track(["0u4", "1u2"]).read().evaluate(names, per_query=True)
    for (_,), of_query in frame.group_by("query"):
        value = dict(of_query.select("measure", "value").iter_rows())
        for name, other in alike.items():
            assert value[parse_measure(name).name] == pytest.approx(
                value[parse_measure(other).name]
            )
        assert value["CWL(model=RR,quantity=ED)"] == pytest.approx(1 / value["RR"])
        scaled = value["SDCG@4"] * value["SDCG(quantity=ED)@4"]
        assert scaled == pytest.approx(value["DCG(gain=linear)@4"])


def test_inst__worked_example():
    """T = 1 and the list: relevant, not relevant; two ranks may be read.

    After rank 1, T(1) = 0: C(1) = ((1 + 1 + 0 - 1) / (1 + 1 + 0))^2 = 1/4, so the ranks are read
    with probabilities 1 and 1/4: EU = 1 / (1 + 1/4) = 0.8, ED = 1.25. After rank 2, C(2) = ((2 + 1
    - 1) / (2 + 1))^2 = 4/9: ETU = (3/4 + 1/4 x 5/9) x 1 = 8/9.
    """
    view = irmeta.JudgedRanks.from_arrays(np.array([[1], [2]]), np.array([1, 0]))
    names = "INST(depth=2),INST(depth=2,quantity=ED),INST(depth=2,quantity=ETU)"
    values = irmeta.scores_of(view, names).values.ravel()
    np.testing.assert_allclose(values, [0.8, 1.25, 8 / 9], rtol=1e-15)


LISTS = ["0u41", "20u34"]
COST = "INST(quantity=EC)"


def test_costs__of_a_doc_for_all_queries(tmp_path: Path):
    """A cost without a query is that of the doc in all lists; other docs cost 1."""
    (tmp_path / "costs.txt").write_text("d000 3\n\nd001\t0.5\n")
    store = drawn_track(LISTS).read()
    found = store.evaluate("CWL(model=P,K=3,quantity=ETC)", costs=str(tmp_path / "costs.txt"))
    assert found["value"].to_list() == pytest.approx([4.5])


def test_costs__in_the_command_line(tmp_path: Path, run):
    file, out = write_costs(tmp_path, LISTS), tmp_path / "values.csv"
    store = drawn_track(LISTS).ingest(tmp_path)
    assert run("evaluate", store.path, "-m", COST, "--costs", file, "-q", "--out", out).status == 0
    found = store.evaluate(COST, costs=file, per_query=True)
    assert pl.read_csv(out)["value"].to_list() == pytest.approx(found["value"].to_list(), abs=1e-6)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no costs"),
        ("q d x\n", "not a cost above 0: 'x'"),
        ("q d 0\n", "not a cost above 0: '0'"),
        ("q d 1\nd 2\n", "line 2: 2 fields"),
        ("d 1\nd 2\n", "'d' has two costs"),
        ("x 1\ny 1\n", "no doc of track"),
    ],
)
def test_costs__unreadable_files_are_refused(tmp_path: Path, text: str, problem: str):
    (tmp_path / "costs.txt").write_text(text)
    with pytest.raises(irmeta.errors.IrmetaError, match=problem):
        drawn_track(LISTS).read().evaluate(COST, costs=str(tmp_path / "costs.txt"))


def test_costs__without_effect_are_refused(tmp_path: Path):
    file = write_costs(tmp_path, LISTS)
    with pytest.raises(irmeta.errors.UsageError, match="none of these measures reads costs"):
        drawn_track(LISTS).read().evaluate("AP", costs=file)
    with pytest.raises(irmeta.errors.UsageError, match="condensed lists have lost"):
        drawn_track(LISTS).read().evaluate("INST(quantity=EC,unjudged=condensed)", costs=file)
