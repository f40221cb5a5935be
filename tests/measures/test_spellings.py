"""Names of measures as other programs and papers write them."""

from __future__ import annotations

import ir_measures
import pytest

import irmeta
from irmeta.errors import MeasureError
from irmeta.measures.aliases import BARE, CUBETEST, CUT, ELSEWHERE, FIELD, PLAIN, fold
from irmeta.measures.names import canonical, parse_measure, parse_measures, registry
from irmeta.studies.reanalysis.study import OverviewOptions
from support.making import Track

MEANT = {
    "map": "AP",
    "map@100": "AP@100",
    "Map": "AP",
    "mrr": "RR",
    "MRR@10": "RR@10",
    "ndcg@10": "nDCG@10",
    "NDCG@10": "nDCG@10",
    "ndcg (gain=exp) @ 5": "nDCG(gain=exp)@5",
    "ndcg_at_10": "nDCG@10",
    "map_at_1000": "AP@1000",
    "ndcg_burges@10": "nDCG(gain=exp)@10",
    "dcg@5": "DCG@5",
    "recall@100": "R@100",
    "Recall@100": "R@100",
    "precision@5": "P@5",
    "p@5": "P@5",
    "hit_rate@10": "Success@10",
    "recall_all@10": "AllRel@10",
    "recall_any@10": "Success@10",
    "hit-rate@10": "Success@10",
    "success@3": "Success@3",
    "r-precision": "Rprec",
    "RPREC": "Rprec",
    "BPREF": "Bpref",
    "f1@10": "F@10",
    "f1": "SetF",
    "hits": "NumRelRet",
    "r_cap@10": "RelP@10",
    "rbp.95": "RBP(p=0.95,rel=1)",
    "rbp(p=0.5)": "RBP(p=0.5,rel=1)",
    "rbp": "RBP(p=0.9,gain=trec_eval10)",
    "RBP": "RBP(p=0.8,rel=1)",
    "map@100-l2": "AP(rel=2)@100",
    "recall@5-l3": "R(rel=3)@5",
    "ndcg@10-l2": "nDCG(rel=2)@10",
    "ndcg_CUT_10": "nDCG@10",
    "p_10": "P@10",
    "alpha-ndcg@20": "alpha_nDCG@20",
    "err-ia@10": "ERR_IA@10",
    "STREC@5": "StRecall@5",
    "asl@g10": "ASL@g10",
    "iprec@0.1": "IPrec@0.1",
    "P(judged_only=True)@5": "P(unjudged=condensed)@5",
    "nDCG(dcg='exp-log2')@10": "nDCG(gain=exp)@10",
    "nDCG(dcg='log2',judged_only=False)@10": "nDCG@10",
    "nDCG(gains={1:3, 2:9})": "nDCG(gain=1:3;2:9)",
}


@pytest.mark.parametrize(("written", "ours"), MEANT.items())
def test_parse_measure__accepts_spellings_of_other_programs(written: str, ours: str):
    spec = parse_measure(written)
    assert (spec.name, spec.asked) == (ours, written)


def test_parse_measures__case_is_ignored():
    for name in registry():
        cut = {"required": "@10", "optional": "", "none": ""}[registry()[name].cutoff]
        cut = "@0.1" if registry()[name].cutoff_is == "level" else cut
        for other in (name.lower(), name.upper()):
            if fold(other) not in ("rbp", *CUBETEST):
                assert canonical(other + cut) == canonical(name + cut)
    for theirs in PLAIN:
        assert canonical(theirs.upper()) == canonical(theirs) or theirs == "rbp"


@pytest.mark.parametrize(
    ("name", "both"), [("Rbp", "RBP and rbp"), ("rBP@10", "RBP and rbp"), ("Act@10", "ACT and act")]
)
def test_parse_measure__case_that_makes_a_difference_is_refused(name: str, both: str):
    with pytest.raises(MeasureError, match=f"'{name}' differs in case from {both}"):
        parse_measure(name)


@pytest.mark.parametrize("name", ["P", "p", "recall", "Recall", "success", "UNJ"])
def test_parse_measures__bare_name_means_the_cutoffs_of_trec_eval(name: str):
    ours, cutoffs = CUT[{"p": "P"}.get(name, name if name == "P" else name.lower())]
    assert canonical(name) == [ours.format(cut) for cut in cutoffs]


def test_parse_measures__asked_names_are_those_of_trec_eval():
    specs = parse_measures("P.5,10,recall,map,AP,set_F.0.25")
    assert [spec.asked for spec in specs][:4] == ["P_5", "P_10", "recall_5", "recall_10"]
    assert [spec.asked for spec in specs][-2:] == ["map", "set_F.0.25"]


@pytest.mark.parametrize("word", ELSEWHERE)
def test_parse_measure__word_known_elsewhere_says_why_not(word: str):
    name = word if word == "precision" else f"{word}@10"
    with pytest.raises(MeasureError, match=f"'{name}' is not a measure here: "):
        parse_measure(name)


def test_parse_measure__precision_without_cutoff_names_both_meanings():
    with pytest.raises(MeasureError, match=r"P means P@5 to P@1000.*SetP.*ranx"):
        parse_measure("Precision")


def test_parse_measure__level_of_ranx_needs_a_least_grade():
    with pytest.raises(MeasureError, match="Judged has no parameter 'rel'"):
        parse_measure("judged@10-l2")


def test_spellings__are_folded_and_mean_known_words():
    assert all(fold(word) == word for word in (*FIELD, *BARE, *ELSEWHERE))
    assert {ours.partition("(")[0] for ours in (*FIELD.values(), *BARE.values())} <= {*registry()}


@pytest.mark.parametrize(
    ("measure", "ours"),
    [
        (ir_measures.nDCG @ 10, "nDCG@10"),
        (ir_measures.AP(rel=2) @ 100, "AP(rel=2)@100"),
        (ir_measures.P(judged_only=True) @ 5, "P(unjudged=condensed)@5"),
        (ir_measures.nDCG(dcg="exp-log2") @ 10, "nDCG(gain=exp)@10"),
        (ir_measures.nDCG(gains={1: 3, 2: 9}), "nDCG(gain=1:3;2:9)"),
        (ir_measures.NumRet(rel=2), "NumRelRet(rel=2)"),
        (ir_measures.SetF(beta=4.0, rel=2), "SetF(beta=2,rel=2)"),
        (ir_measures.ERR @ 10, "ERR(gmax=4)@10"),
        (ir_measures.RBP(p=0.5, rel=1), "RBP(p=0.5,rel=1)"),
        (ir_measures.IPrec @ 0.1, "IPrec@0.1"),
        (ir_measures.INST(T=2.0, max_rel=2), "INST(T=2,max_rel=2)"),
        (ir_measures.SDCG(dcg="log2", max_rel=3) @ 10, "SDCG(max_rel=3)@10"),
        (ir_measures.BPM(T=0.5, min_rel=1, max_rel=3) @ 5, "BPM(T=0.5,min_rel=1,max_rel=3)@5"),
        (ir_measures.alpha_nDCG(alpha=0.3) @ 10, "alpha_nDCG(alpha=0.3)@10"),
    ],
)
def test_parse_measure__accepts_objects_of_ir_measures(measure: object, ours: str):
    assert parse_measure(measure).name == ours
    assert parse_measures([measure, "AP"])[0].name == ours


def test_parse_measure__object_of_another_number_is_refused():
    with pytest.raises(MeasureError, match="graded without rel, and binary in irmeta"):
        parse_measure(ir_measures.RBP(p=0.8))
    with pytest.raises(MeasureError, match=r"name a measure as a text such as 'nDCG@10', not 3"):
        parse_measures([3])


def test_measure_objects__are_names():
    assert irmeta.nDCG @ 10 == "nDCG@10"
    assert irmeta.AP(rel=2) @ 100 == "AP(rel=2)@100"
    assert (irmeta.RBP(p=0.5) @ 10)(rel=2) == "RBP(p=0.5,rel=2)@10"
    assert irmeta.ASL @ 10 == "ASL@g10"
    assert irmeta.IPrec @ 0.1 == "IPrec@0.1"
    assert irmeta.nDCG(gain={1: 3, 2: 9}) == "nDCG(gain=1:3;2:9)"
    assert repr(irmeta.AP @ 5) == "AP@5"
    with pytest.raises(MeasureError, match="AP@5 has a cutoff"):
        _ = irmeta.AP @ 5 @ 10
    with pytest.raises(MeasureError, match=r"AP has no parameter 'rell'. Did you mean 'rel'"):
        irmeta.AP(rell=2)
    with pytest.raises(AttributeError, match="no attribute 'nDCGG'"):
        _ = irmeta.nDCGG


@pytest.mark.exhaustive
def test_measure_objects__are_accepted_wherever_a_name_is():
    store = Track({"s": {"q": [("a", 2), ("b", 1)]}}, {"q": {"b": 2}}).read()
    for measure in (irmeta.nDCG @ 10, ir_measures.nDCG @ 10, "ndcg@10"):
        for asked in (measure, [measure, "AP"]):
            assert store.means(asked)["measure"][0] == "nDCG@10"
            assert store.scores(asked, track="t").measures[0] == "nDCG@10"
            assert store.provenance(asked)["measures"].keys() >= {"nDCG@10"}
            assert irmeta.matrices(store, asked)[0].measure == "nDCG@10"
        assert store.explain(measure, system="s", query="q").value == pytest.approx(0.63, abs=0.01)
    for measure in (irmeta.nDCG, ir_measures.nDCG, "ndcg"):
        assert store.curve(measure, [5])["measure"][0] == "nDCG"
        assert store.pairs.ties(measure).height == 1
        options = OverviewOptions.of({"measures": measure})
        assert options == OverviewOptions.of({"measures": [measure]})
        assert options.measures == ("nDCG",)
    (view,) = store.views("t")
    assert irmeta.scores_of(view, irmeta.AP).measures == ("AP",)
