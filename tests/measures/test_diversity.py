"""Measures by subtopic: identities, edge cases, and the values of ndeval."""

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
from hypothesis import given, settings

import irmeta
from irmeta.errors import MeasureError, UsageError
from irmeta.measures.aliases import BY_SUBTOPIC, ndeval
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import canonical, parse_measure, parse_measures
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Subtopics
from irmeta.stats import risk
from support.examples import scaled
from support.making import Track, described_tracks, down, tracks
from support.viewing import view_of
from twins import diversity as naive

AD_HOC = ("AP", "P@2", "nDCG@3", "RR", "Bpref", "IPrec@0.3", "ASL", "AP(norm=pool)@2", "AvgSL")
NEEDS = ("subtopics", "pool", "retrieved")


def values_of(view: JudgedRanks, *names: str) -> np.ndarray:
    """Return the values of measures: [measure, query, system]."""
    return evaluate_block(view, parse_measures(names), EvalPolicy()).values


def derived(name: str) -> str:
    """Return the name of the intent-aware form of a measure."""
    measure, at, cut = name.partition("@")
    return f"{measure.replace('(', '_IA(') if '(' in measure else measure + '_IA'}{at}{cut}"


@pytest.mark.exhaustive
@settings(max_examples=scaled(20))
@given(tracks())
def test_intent_aware__one_subtopic_equals_measure(track: Track):
    diversity = {query: {"s": docs} for query, docs in track.qrels.items()}
    view = view_of(Track(track.runs, track.qrels, diversity=diversity).read(), *NEEDS)
    has_relevant = view.by_subtopic().counts(1) > 0
    plain, aware = values_of(view, *AD_HOC), values_of(view, *map(derived, AD_HOC))
    np.testing.assert_allclose(aware[:, has_relevant], plain[:, has_relevant], rtol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(20))
@given(described_tracks())
def test_intent_aware__equals_mean_over_views_of_single_subtopics(track: Track):
    view = view_of(track.read(), *NEEDS).by_subtopic()
    aware = values_of(view, *map(derived, AD_HOC))
    expected = np.full(aware.shape, np.nan)
    expected[[not name.startswith(("ASL", "AvgSL")) for name in AD_HOC]] = 0.0
    counts = np.zeros(len(view.queries))
    sums = np.zeros(aware.shape)
    for name in {name for subtopics in track.diversity.values() for name in subtopics}:
        one = view.one_subtopic(name)
        queries = [q for q, n in zip(one.queries, one.counts(1), strict=True) if n]
        places = [view.queries.index(q) for q in queries]
        if queries:
            sums[:, places] += values_of(one.only_queries(queries), *AD_HOC)
            counts[places] += 1
    has_any = counts > 0
    expected[:, has_any] = sums[:, has_any] / counts[has_any, None]
    np.testing.assert_allclose(aware, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(described_tracks())
def test_alpha_ndcg__without_novelty_equals_dndcg_of_binary_gains(track: Track):
    view = view_of(track.read(), "subtopics")
    for cut in ("", "@1", "@3"):
        found, expected = values_of(view, f"alpha_nDCG(alpha=0){cut}", f"DnDCG(gain=binary){cut}")
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(described_tracks())
def test_err_ia__of_one_grade_is_proportional_to_ndevals(track: Track):
    diversity = {
        query: {name: {d: min(g, 1) for d, g in docs.items()} for name, docs in subtopics.items()}
        for query, subtopics in track.diversity.items()
    }
    view = view_of(Track(track.runs, track.qrels, diversity=diversity).read(), "subtopics")
    for k in (1, 2, 5):
        graded, of_ndeval = values_of(view, f"ERR_IA(norm=none,gain=exp,gmax=1)@{k}", f"ERR_IA@{k}")
        perfect = sum(0.5**i / i for i in range(1, k + 1))
        np.testing.assert_allclose(graded, of_ndeval * perfect, rtol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(15))
@given(described_tracks())
def test_measures_by_subtopic__do_not_depend_on_other_systems(track: Track):
    view = view_of(track.read(), "subtopics")
    names = ("ndeval@3", "DnDCG@3", "DQ", "DSharpnDCG(weights=given)@2", "nDCG_IA")
    together = values_of(view, *names)
    alone = values_of(view.only_systems(view.systems[-1]), *names)
    np.testing.assert_array_equal(alone[..., 0], together[..., -1])


@pytest.mark.exhaustive
def test_measures_by_subtopic__equal_for_wide_ranks(made_store: irmeta.Store):
    """Lists of more than 65,534 docs have ranks of 32 bits."""
    (view,) = made_store.views("web", needs=["subtopics"])
    view = view.by_subtopic()
    missing = np.uint32(np.iinfo(np.uint32).max)
    ranks = np.where(view.ranks == view.missing, missing, view.ranks.astype(np.uint32))
    wide = replace(view, ranks=ranks, _cache={})
    names = ("ndeval", "DnDCG@5", "DQ", "ERR_IA(norm=none,gain=exp)@10")
    np.testing.assert_array_equal(values_of(wide, *names), values_of(view, *names))


def test_alpha_ndcg__equal_gains_are_ranked_by_name_descending():
    subtopics = {"1": {"a": 1}, "2": {"a": 1, "c": 1}, "3": {"b": 1, "c": 1}, "4": {"b": 1}}
    track = Track({"s": {"q": down("a", "b", "c")}}, {}, diversity={"q": subtopics})
    store = track.read()
    second = 1 / math.log2(3)
    means = store.means(["alpha_nDCG@1", "alpha_nDCG@2"])["value"].to_list()
    # The greedy list is c, b, a with gains 2, 1.5, 1.5; better is a, b, c with 2, 2, 1.
    assert means == pytest.approx([1.0, (2 + 2 * second) / (2 + 1.5 * second)])
    assert means[1] > 1


def test_ndeval__divisor_counts_rank_1():
    """ndeval leaves rank 1 out of its divisor, and gives 1 where half the subtopics are found."""
    track = Track({"s": {"q": down("a")}}, {}, diversity={"q": {"1": {"a": 1}, "2": {"b": 1}}})
    means = track.read().means(["ERR_IA@1", "alpha_DCG@1", "StRecall@1"])
    assert means["value"].to_list() == [0.5, 0.5, 0.5]


def test_measures_by_subtopic__hundreds_of_subtopics():
    docs = [f"d{i:02}" for i in range(40)]
    nuggets = {f"n{i:03}": {docs[i % 40]: 1, docs[i * 7 % 40]: 2} for i in range(300)}
    track = Track({"s": {"q": down(*docs[::-1])}}, {}, diversity={"q": nuggets})
    names = ("alpha_nDCG@10", "StRecall@10", "NRBP", "P_IA@5")
    found = track.read().evaluate(names, per_query=True)
    ranking = docs[::-1]
    expected = {
        "alpha_nDCG@10": naive.over_greedy(ranking, nuggets, 10, naive.log_discount),
        "StRecall@10": naive.subtopic_recall(ranking, nuggets, 10, {}),
        "NRBP": naive.nrbp(ranking, nuggets, {}),
        "P_IA@5": sum(d in ranking[:5] for docs in nuggets.values() for d in docs) / 5 / 300,
    }
    for measure, value in found.select("measure", "value").rows():
        assert value == pytest.approx(expected[measure], rel=1e-12)


DIVERSITY = {"q": {"1": {"a": 1}, "2": {"b": 1}, "never": {"a": 0}}}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("described", "found", "every"),
    [
        ({}, 1 / 2, 1 / 3),
        ({"1": (1, None), "2": (1, None), "unjudged": (2, None), "x": (0, None)}, 1 / 2, 1 / 4),
        ({"2": (1, "nav")}, 1 / 2, 0.0),
        ({"2": (None, None)}, 1 / 2, 1 / 3),
    ],
)
def test_subtopics_all__are_those_of_the_file_else_of_the_qrels(described, found, every):
    runs, described = {"s": {"q": down("a")}}, {"q": described} if described else {}
    store = Track(runs, {}, diversity=DIVERSITY, described=described).read()
    means = store.means(["StRecall@5", "StRecall(subtopics=all)@5"])
    assert means["value"].to_list() == pytest.approx([found, every])


@pytest.mark.exhaustive
def test_weights_given__are_normalised_over_the_subtopics_that_count():
    described = {"q": {"1": (3, None), "2": (1, None), "never": (4, None)}}
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY, described=described)
    names = ["P_IA(weights=given)@1", "P_IA(subtopics=all,weights=given)@1"]
    assert track.read().means(names)["value"].to_list() == [0.75, 0.375]
    none = {"q": dict.fromkeys(DIVERSITY["q"], (0, None))}
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY, described=none)
    names = ["P_IA(weights=given)@1", "ERR_IA(weights=given)@1", "DQ(weights=given)"]
    assert track.read().means(names)["value"].to_list() == [0.0, 0.0, 0.0]


@pytest.mark.exhaustive
def test_weights_given__subtopic_without_weight_is_refused():
    described = {"q": {"1": (3, "inf"), "2": (None, "inf")}}
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY, described=described)
    problem = r"track 't' has no weight for subtopic '2' of query 'q': add it to the subtopics_file"
    for name in ("AP_IA(weights=given)", "DnDCG(weights=given)@5", "ERR_IA(weights=given)@5"):
        with pytest.raises(UsageError, match=problem):
            track.read().means(name)


def test_dinndcg__subtopic_without_type_is_refused():
    described = {"q": {"1": (1, "inf"), "2": (1, "vital")}}
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY, described=described)
    with pytest.raises(UsageError, match=r"subtopic '2' the type 'vital', neither 'inf' nor 'nav'"):
        track.read().means("DINnDCG@5")


def test_dinndcg__subtopics_without_types_are_refused():
    track = Track({"s": {"q": down("a")}}, {}, diversity=DIVERSITY)
    with pytest.raises(UsageError, match=r"no type for subtopic '1' of query 'q': add .*or use D"):
        track.read().means("DINnDCG@5")


def test_intent_aware__track_without_subtopics_is_refused():
    store = Track({"s": {"q": down("a")}}, {"q": {"a": 1}}).read()
    with pytest.raises(UsageError, match=r"no qrels by subtopic.*subtopics = true"):
        store.means("AP_IA")


def test_intent_aware__reads_the_set_with_subtopics_beside_an_ad_hoc_set():
    track = Track({"s": {"q": down("a")}}, {"q": {"a": 1, "b": 1}}, diversity=DIVERSITY)
    means = track.read().means(["AP", "AP_IA", "AP_IA(subtopics=all)"])
    assert means["value"].to_list() == pytest.approx([0.5, 0.5, 1 / 3])
    store: irmeta.Store = track.read()
    assert store.means("AP_IA", qrels="diversity")["value"].to_list() == [0.5]


def test_d_measures__docs_below_rel_have_no_gain():
    """With one subtopic, DnDCG(rel=2) and DQ(rel=2) are nDCG(rel=2) and Q(rel=2)."""
    runs = {"s": {"1": down("c", "a", "b", "d")}, "t": {"1": down("a", "c", "x")}}
    qrels = {"1": {"a": 3, "b": 2, "c": 1, "d": 0}}
    view = view_of(Track(runs, qrels, diversity={"1": {"s": qrels["1"]}}).read(), *NEEDS)
    found = values_of(view, "DnDCG(rel=2)", "DQ(rel=2)", "nDCG(rel=2)", "Q(rel=2)")
    np.testing.assert_allclose(found[:2], found[2:], rtol=1e-12)


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


def test_nnrbp__undefined_without_relevant_docs_is_left_out_of_means(case2: Path):
    means = irmeta.read(case2).means(["nNRBP", "NRBP"])
    counted = {(row["system"], row["measure"]): row["queries"] for row in means.rows(named=True)}
    assert counted["B", "nNRBP"] == 3
    assert counted["B", "NRBP"] == 4
    assert not any(math.isnan(value) for value in means["value"])
