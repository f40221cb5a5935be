"""`explain` and `events`: their steps give the value of `evaluate`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.measures.curve import add_curve
from irmeta.measures.diversity.subtopics import NOT_DERIVED
from irmeta.measures.evaluate import seen_by
from irmeta.measures.names import Spec, parse_measure, registry
from irmeta.policies import EvalPolicy
from irmeta.rankings import one_list
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from support.examples import EVERY_EXAMPLE, scaled
from support.making import Track, down, tracks
from twins.registry import FAMILIES

MEASURES = (
    *("P@1", "P(rel=2)@20", "R@10", "AP", "AP(rel=2)@30", "RR", "RR@3", "nDCG", "nDCG@10"),
    *(
        "nDCG(gain=exp,rel=2)@20",
        "Bpref",
        "Bpref(rel=2)",
        "Bpref(form=original)",
        "Bpref(form=bpref-10)",
        "Bpref(form=trec_eval7)",
        "RBP(p=0.8,rel=1)",
        "RBP(p=0.5,gain=linear)@9",
    ),
    *("RBP(p=0.5,gain=exp,gmax=5)", "ASL", "ASL@g1", "ASL@g10", "ASL(unretrieved=floor)"),
    *(
        "ASL(unretrieved=irrel+1)@g40",
        "ASL(rel=2,unretrieved=depth)",
        "Success@5",
        "AllRel@10",
        "RelP@10",
    ),
    *("P(ties=share)@5", "P(unjudged=upper)@5", "AP(norm=min)@5", "AP(norm=pool)@5"),
    *("AP(unjudged=condensed)", "IPrec@0.3", "IPrecAvg", "Rprec", "Rprec(mult=0.4)", "SetP"),
    *(
        "Compat(depth=50)",
        "Compat(p=0.5,depth=lists,normalize=False)",
        "SetR",
        "SetF(beta=2)",
        "SetAP",
        "SetRelP",
        "NumQ",
        "NumRet",
        "NumRel",
        "NumRelRet",
    ),
    *("Accuracy", "Accuracy(rel=2)@7", "YAAP", "YAAP(rel=2)"),
    *("NumNonrelJudgedRet", "Utility(a=2)", "DCG(discount=zipf)", "nDCG(ties=share)@5"),
    *("nDCG(ideal=pool)@5", "nDCGRel", "RnDCG", "G(gain=1:3;2:9)", "BinG", "Q", "Q(norm=min)@10"),
    *("Q(norm=pool,ideal=pool)@5", "ERR", "ERR(stop=ntcir)@5", "ERR(unjudged=upper-gmax)@5"),
    *("nERR(stop=linear)@10", "ERRResidual@5", "ERRResidual(form=bound)", "RBPResidual(p=0.8)"),
    *("ERRResidual(form=unjudged)@5", "ERRResidual(form=unjudged,stop=linear)"),
    *("RBPResidual(p=0.9,ties=share)@7", "RBP(p=0.8,rel=1,ties=share)@5", "infAP", "Judged@10"),
    *("Unjudged@10", "FirstUnjudged", "ISL", "TSL(count=nonrelevant)", "AvgSL"),
    *("RareP(alpha=1)@10", "RareP(alpha=1/R,counted=others,depth=3)@10", "RareAP(alpha=0.5)"),
    *("RareAP(alpha=1,mix=convex,counted=groups,unjudged=condensed)@100",),
    *("RareDCG(alpha=2,rarity=idf,counted=pooled)@5", "RarenDCG(alpha=1,gain=exp)"),
    *("RareRBP(alpha=1,p=0.5,gain=linear)@20", "F(beta=0.5)@10"),
    *("statAP", "statP@5", "statRprec", "statNumRel", "xinfAP", "infNDCG@10", "infP@5"),
    *("infNumRelRet", "infNumRel", "BestF", "ScaledUtility", "EffortR@0.3", "WSS@0.95"),
    *("LastRel", "NormArea", "LossR", "LossE", "LossER(b=10)", "ReviewCost(penalty=weighted)"),
    *("INST", "INSQ(T=2,bound=upper)@20", "SDCG@10", "BPM(T=2,limits=moving)@5", "NERR8@7"),
    *("NERR9(quantity=ETU)@4", "NERR10(quantity=EC)", "NERR11(bound=residual)"),
    *("CWL(model=AP,quantity=ETC)", "ScaledUtility(least=-9,bound=utility)"),
)
FIRST = {name.split("@")[0].split("(")[0]: name for name in reversed(MEASURES)}
BY_SUBTOPIC = (
    *(
        name.replace(m, f"{m}_IA", 1)
        for m, name in FIRST.items()
        if f"{m}_IA" in registry() and m not in NOT_DERIVED
    ),
    *("alpha_DCG(alpha=0.3)@10", "alpha_nDCG@5", "NRBP(beta=0.8)", "nNRBP", "ERR_IA@20"),
    *("ERR_IA(norm=none,gain=exp)@10", "nERR_IA@10", "StRecall(subtopics=all)@5"),
    *("DnDCG@10", "DQ", "DSharpnDCG(gamma=0.3)@5", "DSharpQ(gain=exp)@10"),
    *("CT@10", "ACT(form=paper)", "nCT(bound=time)@20"),
)
CELLS = (
    ("news", "aldBM25", "901"),
    ("news", "birchDep", "918"),  # no list
    ("news", "doumMan1", "907"),  # relevant docs only, some not retrieved
    ("news", "cedarBool", "909"),  # four docs, tied
    ("web", "finchDiv", "301"),  # negative grades
    ("web", "ibisBase", "301"),  # no list
    ("web", "heronCat", "317"),
    ("passage", "merlDense", "1063750"),  # no list
    ("passage", "larkSplade", "264014"),  # no relevant doc
    ("passage", "larkDoc2q", "130510"),
)


# Measures take turns in the cells, in fewer of them by default.
TURNS = 2 if EVERY_EXAMPLE else 5
NAMED = [
    (*cell, m)
    for c, cell in enumerate(CELLS)
    for i, m in enumerate(MEASURES)
    if (c // 2 + i) % TURNS == 1
]
WEB = [cell for cell in CELLS if cell[0] == "web"]
NAMED += [
    (*cell, m)
    for c, cell in enumerate(WEB)
    for i, m in enumerate(BY_SUBTOPIC)
    if EVERY_EXAMPLE or (c + i) % len(WEB) == 1
]


def same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))


@pytest.fixture(scope="module")
def evaluated(made_store):
    ad_hoc = made_store.evaluate(MEASURES, per_query=True)
    by_subtopic = made_store.evaluate(BY_SUBTOPIC, track="web", per_query=True)
    return {row[:4]: row[4] for frame in (ad_hoc, by_subtopic) for row in frame.iter_rows()}


def test_explain__every_measure_is_tested():
    names = (*MEASURES, *BY_SUBTOPIC, "DINnDCG")  # the tracks lack its types: see test_twins
    assert {name.split("@")[0].split("(")[0] for name in names} == registry().keys()


@pytest.mark.one_in(8)
@pytest.mark.parametrize("measure", [*MEASURES, *BY_SUBTOPIC])
def test_explain__trace_value_equals_evaluate(made_store, evaluated, measure):
    for cell in (cell for *cell, named in NAMED if named == measure):
        track, system, query = cell
        found = made_store.explain(measure, system=system, query=query, track=track)
        assert same(found.value, evaluated[track, system, query, measure]), cell
        assert same(found.trace.value, found.value), cell
        assert [found.track, found.system, found.query] == cell
        assert found.measure == measure == parse_measure(measure).name


@pytest.mark.exhaustive
@pytest.mark.parametrize("negative", ["unjudged", "nonrelevant"])
@pytest.mark.parametrize("order", ["trec_eval", "trec_eval10", "score-file", "file", "rank"])
def test_explain__value_follows_policies(made_store, negative, order):
    choices = {"negative": negative, "tie_order": order, "track": "web"}
    scores = made_store.scores("Bpref,AP,ASL", **choices)
    for query in ("301", "305", "317"):
        for place, measure in enumerate(scores.measures):
            found = made_store.explain(measure, system="heronCat", query=query, **choices)
            q, s = scores.queries.index(query), scores.systems.index("heronCat")
            assert same(found.value, float(scores.values[place, q, s]))
            assert found.policies["negative grades"] == negative
            assert found.policies["tie order"] == order


@pytest.fixture
def store(tmp_path):
    lists = {"q": [("b", 2), ("a", 2), ("x", 3), ("c", 1)]}
    track = Track(
        {"s": lists, "deep": {"q": down(*"vwxyz")}, "r": {"r": down("a")}},
        {"q": {"a": 1, "b": 0, "c": 2, "d": 1, "e": 0, "n": -1}, "r": {"a": 0}},
    )
    return track.ingest(tmp_path)


def test_explain__docs_show_ranks_ties_and_unretrieved_docs(store):
    docs = store.explain("AP", system="s", query="q").docs
    assert docs.columns == ["rank", "doc", "grade", "score", "rank_given", "tied"]
    assert docs.rows() == [
        (2, "b", 0, 2.0, 0, 2),
        (3, "a", 1, 2.0, 1, 2),
        (4, "c", 2, 1.0, 3, 1),
        (None, "d", 1, None, None, None),
    ]


def test_explain__facts_describe_list_and_track(store):
    found = store.explain("AP(rel=2)", system="s", query="q")
    assert found.facts == {
        "list length": 4,
        "judged docs": 6,
        "relevant docs (grade >= 2)": 1,
        "relevant docs retrieved": 1,
        "deepest rank of the track": 5,
        "highest grade of the track": 2,
    }
    assert [(t.rank, t.doc, t.grade) for t in found.trace.terms] == [(4, "c", 2)]
    assert found.policies["qrels set"] == "qrels"


def test_explain__system_without_a_list_has_only_unretrieved_docs(store):
    found = store.explain("ASL", system="r", query="q")
    assert found.value == 6
    assert found.docs["rank"].to_list() == [None, None, None]
    assert found.docs["doc"].to_list() == ["c", "a", "d"]


def test_explain__uses_chosen_qrels_set(made_store):
    choices = {"track": "web", "qrels": "diversity"}
    found = made_store.explain("AP", system="finchDiv", query="301", **choices)
    value = made_store.evaluate("AP", system="finchDiv", **choices, per_query=True).filter(
        query="301"
    )["value"][0]
    assert same(found.value, value)
    assert found.policies["qrels set"] == "diversity"


@pytest.mark.parametrize(
    ("system", "query", "track", "said"),
    [
        ("aldBM52", "901", "news", "track 'news' has no system 'aldBM52'. Did you mean 'aldBM25'?"),
        ("aldBM25", "9011", "news", "track 'news' has no judged query '9011'. Did you mean"),
        ("grebeQL", "399", "web", "track 'web' has no judged query '399'. Did you mean"),
        ("aldBM25", "901", "newz", "no track 'newz'. Did you mean 'news'?"),
        ("aldBM25", "901", None, "specify a track: news, passage, web"),
    ],
)
def test_explain__unknown_system_query_or_track_is_refused(made_store, system, query, track, said):
    with pytest.raises(UsageError) as error:
        made_store.explain("AP", system=system, query=query, track=track)
    assert said in str(error.value)


def test_explain__disagreement_is_reported_as_a_bug(store, monkeypatch):
    monkeypatch.setattr(one_list.np, "isclose", lambda *_, **__: False)
    with pytest.raises(IrmetaError, match=r"this is a bug in irmeta"):
        store.explain("AP", system="s", query="q")


def test_explain__search_length_of_docs_without_a_list(made_store):
    found = made_store.explain("ASL", system="birchDep", query="918", track="news")
    assert {term.arithmetic.partition(":")[0] for term in found.trace.terms} == {"no list"}
    found = made_store.explain("ASL", system="doumMan1", query="907", track="news")
    assert found.trace.terms[-1].arithmetic.startswith("not retrieved:")


KS = np.array([1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 40, 1000])
STEPS = {
    "DCG": [name for name in FAMILIES["DCG"].twins if "@" not in name and "ties" not in name],
    "ERR": [
        *("ERR", "ERR(stop=linear,gmax=6)", "ERR(stop=ntcir,unjudged=condensed)", "nERR"),
        *("ERR(unjudged=upper)", "ERR(unjudged=upper-gmax)", "nERR(stop=linear)"),
    ],
    "Q": ["Q", "Q(norm=min)@1", "Q(beta=3,gain=exp,rel=2)", "Q(norm=min,unjudged=condensed)@1"],
    "RBP": [n for n in FAMILIES["RBP"].twins if n.startswith("RBP(") and "ties" not in n],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("names", STEPS.values(), ids=STEPS)
@settings(max_examples=scaled(20))
@given(track=tracks())
def test_events__sum_to_value_on_random_tracks(names: list[str], track: Track):
    assert_steps_add_up(track.read(), "t", names)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("family", ["ERR", "Q"])
def test_events__sum_to_value_on_synthetic_tracks(family: str, made_store: irmeta.Store):
    for track in made_store.tracks:
        assert_steps_add_up(made_store, track, STEPS[family])


@pytest.mark.parametrize(
    "name",
    [
        *("DCG(ties=share)", "nDCG(ties=share)", "RBP(ties=share)"),
        *("nDCG(ideal=pool)@5", "Q(norm=pool)@5", "Q(ideal=pool)@5"),
    ],
)
def test_events__none_with_shared_ties_or_pool(name: str, made_store: irmeta.Store):
    (view,) = judged_ranks(made_store.track("web"), needs={"pool"})
    spec = parse_measure(name)
    assert spec.measure.events(view, spec.settings) is None


def assert_steps_add_up(store: irmeta.Store, track: str, names: Iterable[str]) -> None:
    """What each doc adds up to k, over the divisor there, is each measure's value at k.

    And a curve sums these values.
    """
    specs = [parse_measure(name) for name in names]
    assert specs
    for view in judged_ranks(store.track(track)):
        for spec in specs:
            _assert_adds_up(view, spec)
            _assert_curve(view, spec)


def _assert_adds_up(view: JudgedRanks, spec: Spec) -> None:
    seen = seen_by(view, spec)
    values = spec.measure.compute(seen, spec.settings, KS.tolist())
    assert spec.measure.events is not None
    events = spec.measure.events(seen, spec.settings)
    assert events is not None
    assert events.amounts.dtype == np.float64
    assert len(events.offsets) == len(view.queries) + 1
    divisors = np.broadcast_to(events.divisors(KS), values.shape[:2])
    expected = np.empty_like(values)
    for q, (start, stop) in enumerate(pairwise(events.offsets)):
        for c, k in enumerate(KS):
            within = events.ranks[start:stop] <= k
            total = np.where(within, events.amounts[start:stop], 0.0).sum(axis=0)
            over = divisors[c, q]
            expected[c, q] = total * events.scale / over if over > 0 else events.undefined
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12, err_msg=spec.name)


def _assert_curve(view: JudgedRanks, spec: Spec) -> None:
    whole = replace(spec, cutoff=int(KS[-1]))
    values = spec.measure.compute(seen_by(view, whole), spec.settings, KS.tolist())
    sums, counts = np.zeros((2, len(KS), len(view.systems)))
    add_curve(view, spec, KS, EvalPolicy(), sums, counts)
    expected = values.sum(axis=1)
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12, err_msg=spec.name)
