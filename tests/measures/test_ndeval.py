"""Measures by subtopic against ndeval's outputs and independent values."""

from __future__ import annotations

import csv
import gzip
import math
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import irmeta
from irmeta.errors import MeasureError
from irmeta.measures.aliases import BY_SUBTOPIC, ndeval
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import canonical, parse_measure, parse_measures
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Subtopics
from irmeta.stats import risk

CONFIG = """[tracks.case2]
runs = ["run_*.txt"]
[[tracks.case2.qrels]]
name = "diversity"
file = "qrels.txt"
subtopics = true
"""
PRINTED = 5.1e-7  # half of ndeval's last digit

CUBE_TESTS = {"CT": "CT(per=all)@10", "ACT": "ACT(per=all)@10"}
CUBE_TESTS["nCT"] = "nCT(iterations=10,per=all)@10"
"""Our names of columns of the cube test, for one iteration of 10."""

Cells = dict[tuple[str, str, str], float]
"""Values by system, query and column."""


def ours(column: str, alpha: float = 0.5, beta: float = 0.5) -> str:
    """Return our name of a column of ndeval, under its options -alpha and -beta."""
    word, at, k = column.partition("@")
    measure = BY_SUBTOPIC[word]
    known = {p.name for p in parse_measure(f"{measure}{at}{k}").measure.parameters}
    changed = {"alpha": alpha, "beta": beta}
    inside = [f"{name}={value}" for name, value in changed.items() if name in known]
    return parse_measure(f"{measure}({','.join(inside)}){at}{k}").name


def printed(path: Path) -> Cells:
    """Read a file of ndeval."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="") as file:
        return {
            (row["runid"], row["topic"], column): float(value)
            for row in csv.DictReader(file)
            for column, value in row.items()
            if column not in ("runid", "topic")
        }


def computed(store: irmeta.Store, names: Iterable[str], **choices: object) -> Cells:
    """Return values, and means as query ``amean``."""
    names = list(names)
    values = store.evaluate(names, **choices, per_query=True).select(
        "system", "query", "measure", "value"
    )
    means = store.means(names, **choices)
    cells = {(s, q, m): v for s, q, m, v in values.rows()}
    return cells | {
        (row["system"], "amean", row["measure"]): row["value"] for row in means.rows(named=True)
    }


@pytest.fixture(scope="module")
def case2(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection of case 2."""
    folder = tmp_path_factory.mktemp("case2")
    for file in ("qrels.txt", "run_a.txt", "run_b.txt"):
        shutil.copy(shared / "oracles" / "case2_subtopics" / file, folder / file)
    (folder / "collection.toml").write_text(CONFIG)
    return folder


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("file", "order", "choices"),
    [
        ("run", "rank", {}),
        ("alpha03.beta08.run", "trec_eval10", {"alpha": 0.3, "beta": 0.8}),
        ("traditional.run", "trec_eval10", {}),
        ("c.traditional.run", "trec_eval10", {"queries": "judged"}),
        ("c.traditional.M2.run", "trec_eval10", {"queries": "judged", "depth": 2}),
    ],
)
def test_evaluate__case2_equals_ndeval(case2: Path, shared: Path, file, order, choices):
    choices = dict(choices)
    how = {name: choices.pop(name) for name in ("alpha", "beta") if name in choices}
    store = irmeta.read(case2, tie_order=order, depth=choices.pop("depth", None))
    folder = shared / "oracles" / "case2_subtopics"
    expected = printed(folder / f"out.ndeval.{file}_a.csv")
    expected |= printed(folder / f"out.ndeval.{file}_b.csv")
    names = {column: ours(column, **how) for _, _, column in expected}
    found = computed(store, set(names.values()), **({"queries": "retrieved"} | choices))
    compared = 0
    for (system, query, column), value in expected.items():
        if query != "9" and not (query == "amean" and column == "nNRBP"):  # 9 is not judged
            cell = found[system, query, names[column]]
            assert cell == pytest.approx(value, abs=PRINTED, nan_ok=True), (system, query, column)
            compared += 1
    assert compared >= 7 * 21


def test_risk__case2_equals_ndeval(case2: Path, shared: Path):
    path = shared / "oracles" / "case2_subtopics" / "out.ndeval.risk1.a_vs_b.csv"
    scores = irmeta.read(case2, tie_order="trec_eval10").scores(list(ndeval()), track="case2")
    compared = 0
    for (_, query, column), value in printed(path).items():
        if query in scores.queries:
            gains = risk(scores.matrix(ours(column)), "B", alpha=1)
            found = gains.values[scores.queries.index(query), gains.systems.index("A")]
            assert found == pytest.approx(value, abs=PRINTED, nan_ok=True), (query, column)
            compared += 1
    assert compared == 3 * 21


@pytest.mark.parametrize("system", ["a", "b"])
def test_evaluate__case2_equals_ir_measures(case2: Path, shared: Path, system: str, tmp_path: Path):
    """ir_measures ranks tied docs by name, ascending."""
    folder = shutil.copytree(case2, tmp_path / "case2")
    run = folder / f"run_{system}.txt"
    lines = [line.split() for line in run.read_text().splitlines()]
    lines.sort(key=lambda line: (line[0], -float(line[4]), line[2]))
    scored = (f"{q} Q0 {doc} 1 {-i} {tag}" for i, (q, _, doc, _, _, tag) in enumerate(lines))
    run.write_text("\n".join(scored))
    path = shared / "oracles" / "case2_subtopics" / f"out.ir_measures.run_{system}.tsv"
    expected = [line.split("\t") for line in path.read_text().splitlines()]
    found = computed(irmeta.read(folder), {name for name, _, _ in expected})
    for name, query, value in expected:
        cell = found[system.upper(), query, parse_measure(name).name]
        assert cell == pytest.approx(float(value), abs=1e-9, nan_ok=True), (name, query)
    assert len(expected) >= 40


@pytest.mark.real
def test_evaluate__legaldiv_equals_independent_values(real_store: irmeta.Store, shared: Path):
    choices = {"track": "legaldiv", "tie_order": "rank", "queries": "retrieved"}
    found = computed(real_store, ["ndeval@5,10,20,30"], **choices)
    with (shared / "oracles" / "diversity" / "ndeval_legaldiv.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        cell = found[row["system"], row["query"], ours(row["column"])]
        assert cell == pytest.approx(float(row["value"]), rel=1e-12, abs=1e-12), row
    assert len(rows) == 27 * 138


@pytest.fixture(scope="module")
def beyond(shared: Path) -> list[dict[str, str]]:
    """Independent values of variants that ndeval does not have."""
    with (shared / "oracles" / "diversity" / "beyond_ndeval.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def assert_beyond(found: Cells, rows: list[dict[str, str]]) -> None:
    for row in rows:
        measure = renamed(row["measure"])
        value = found[row["system"], row["query"], measure]
        expected = float(row["value"])
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True), row


def renamed(measure: str) -> str:
    """Return our name of a measure of the file."""
    return parse_measure(measure.replace("aspects=", "subtopics=").replace("Dsharp", "DSharp")).name


@pytest.mark.exhaustive
def test_evaluate__case2_equals_independent_values(case2: Path, beyond):
    store = irmeta.read(case2, tie_order="rank", names="file")
    rows = [row for row in beyond if row["collection"] == "case2"]
    assert len(rows) == 800
    assert_beyond(computed(store, {renamed(row["measure"]) for row in rows}), rows)


@pytest.mark.real
def test_evaluate__web_2012_equals_independent_values(real_store: irmeta.Store, beyond):
    rows = [row for row in beyond if row["collection"] == "web-2012"]
    assert len(rows) == 540
    names = {renamed(row["measure"]) for row in rows}
    assert_beyond(computed(real_store, names, track="web-2012", tie_order="score-file"), rows)


def enumerated(rankings: list[str], relevant: int) -> JudgedRanks:
    """Return the view of rankings such as ``abx``, with some relevant docs per subtopic."""
    letters = np.array([list(ranking.ljust(10)) for ranking in rankings])
    rows = [(letter, nth) for letter in "ab" for nth in range(1, relevant + 1)]
    ranks = np.zeros((len(rows), len(rankings)), np.uint16)
    for row, (letter, nth) in enumerate(rows):
        is_letter = letters == letter
        is_doc = is_letter & (is_letter.cumsum(axis=1) == nth)
        ranks[row] = np.where(is_doc.any(axis=1), is_doc.argmax(axis=1) + 1, 0)
    lengths = np.array([[len(ranking) for ranking in rankings]])
    view = JudgedRanks.from_arrays(ranks, np.ones(len(rows), np.int8), lengths=lengths)
    subtopics = Subtopics(
        names=("a", "b"),
        offsets=np.array([0, 2]),
        starts=np.arange(len(rows) + 1),
        subtopic=np.repeat(np.arange(2, dtype=np.int32), relevant),
        grade=np.ones(len(rows), np.int8),
        weights=np.full(2, np.nan),
        types=(None, None),
    )
    return replace(view, subtopics=subtopics)


@pytest.mark.exhaustive
def test_evaluate__all_rankings_of_two_subtopics_equal_ndeval_and_cubetest(shared: Path):
    path = shared / "oracles" / "case4_axioms" / "out.scores_all_len_le_10.csv.gz"
    with gzip.open(path, "rt", newline="") as file:
        header, *rows = csv.reader(file)
    assert len(rows) == 88_572
    rankings = [row[0] for row in rows]
    for relevant in (5, 10):
        columns = {i: name[: name.index("|")] for i, name in enumerate(header[1:], 1)}
        names = {
            i: CUBE_TESTS.get(column) or ours(column)
            for i, column in columns.items()
            if header[i].endswith(f"|R{relevant}") and column != "gain"
        }
        assert len(names) == 24
        view, expected = enumerated(rankings, relevant), np.array([r[1:] for r in rows], float)
        for i, spec in zip(names, parse_measures(list(names.values())), strict=True):
            values = evaluate_block(view, [spec], EvalPolicy()).values[0, 0]
            within = 1e-12 if columns[i] in CUBE_TESTS else PRINTED
            np.testing.assert_allclose(values, expected[:, i - 1], rtol=0, atol=within)


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("alpha-nDCG@20", ["alpha_nDCG@20"]),
        ("alpha-DCG(alpha=0.3)@5", ["alpha_DCG(alpha=0.3)@5"]),
        ("strec@5,MAP-IA", ["StRecall@5", "AP_IA"]),
        ("D#-nDCG@10", ["DSharpnDCG@10"]),
        ("α_nDCG@10", ["alpha_nDCG@10"]),
        ("MAP_IA", ["AP_IA"]),
        ("ndeval@5", list(ndeval((5,)))),
        ("AP,ndeval@5,10,P@5", ["AP", *ndeval((5, 10)), "P@5"]),
    ],
)
def test_parse_measures__names_of_ndeval_and_papers(asked: str, names: list[str]):
    assert canonical(asked) == names


def test_parse_measures__ndeval_preset_has_its_21_columns():
    assert canonical("ndeval") == list(ndeval()) == canonical("ndeval@5,10,20")
    assert len(ndeval()) == 21
    with pytest.raises(MeasureError, match="write cutoffs as in ndeval@5,10,20"):
        canonical("ndeval@five")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("alpha_DCG", "needs a cutoff"),
        ("alpha_DCG(norm=none,subtopics=all)@5", "the same for any subtopics"),
        ("ERR_IA(gain=exp,alpha=0.3)@5", "omit alpha"),
        ("ERR_IA(gmax=4)@5", "gmax needs gain=exp"),
        ("DQ(gmax=4)@5", "needs gain=linear or gain=exp"),
        ("ASL_IA(subtopics=all)", "has no parameter 'subtopics'"),
        ("alpha_nDCG(unjudged=upper)@5", "is not a choice"),
        ("NumRel_IA", "unknown measure"),
    ],
)
def test_parse_measure__refuses_parameters_that_do_nothing(name: str, problem: str):
    with pytest.raises(MeasureError, match=problem):
        parse_measure(name)


def test_nnrbp__undefined_without_relevant_docs_is_left_out_of_means(case2: Path):
    means = irmeta.read(case2).means(["nNRBP", "NRBP"])
    counted = {(row["system"], row["measure"]): row["queries"] for row in means.rows(named=True)}
    assert counted["B", "nNRBP"] == 3
    assert counted["B", "NRBP"] == 4
    assert not any(math.isnan(value) for value in means["value"])
