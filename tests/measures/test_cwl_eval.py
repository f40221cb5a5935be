"""Expected quantities and residuals of cwl_eval 1.0.12, of lists in file order."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.measures.names import parse_measure
from irmeta.naming import joined, split_form
from support.making import Track, down, read_qrels, read_run

HALF_A_DIGIT = 0.5e-4 + 1e-9
RECORDED = Path(__file__).parents[2] / "data_fixtures" / "oracles" / "cwl_eval.csv.gz"
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
def recorded() -> pl.DataFrame:
    return pl.read_csv(RECORDED, schema_overrides={"list": pl.String, "costs": pl.String})


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
def test_evaluate__equals_recorded_cwl_eval(recorded: pl.DataFrame, tmp_path: Path, costs: str):
    expected = recorded.filter(costs=costs)
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
