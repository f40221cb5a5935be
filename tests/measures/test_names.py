"""Names of measures: parsing, printing, presets and spellings."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import MeasureError, UsageError
from irmeta.measures.aliases import BARE, CUBETEST, CUT, ELSEWHERE, FIELD, PLAIN, fold
from irmeta.measures.names import PRESETS, canonical, parse_measure, parse_measures, registry
from irmeta.results.tidy_files import provenance
from irmeta.studies.reanalysis.study import OverviewOptions
from support.making import Track


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("AP", "AP"),
        (" AP ", "AP"),
        ("AP()", "AP"),
        ("AP @ 10", "AP@10"),
        ("AP (rel=2) @10", "AP(rel=2)@10"),
        ("IPrec@-0", "IPrec@0"),
        ("nDCG(gain=1:-0;2:3)", "nDCG(gain=1:0;2:3)"),
        ("AP(rel=1)", "AP"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("P@5", "P@5"),
        ("P@005", "P@5"),
        ("RBP", "RBP(p=0.8,rel=1)"),
        ("RBP(p=0.80)", "RBP(p=0.8,rel=1)"),
        ("RBP(rel=2,p=.5)@10", "RBP(p=0.5,rel=2)@10"),
        ("RBP( p = 0.5 , gain = linear )", "RBP(p=0.5,gain=linear)"),
        ("RBP(gain=exp,gmax=4)", "RBP(p=0.8,gain=exp,gmax=4)"),
        ("RBP(p=0.123456789)", "RBP(p=0.123456789,rel=1)"),
        ("nDCG(gain=grade)", "nDCG"),
        ("ASL", "ASL"),
        ("ASL@g10", "ASL@g10"),
        ("ASL(unretrieved=irrel)", "ASL"),
        ("ASL(unretrieved=irrel+1)@g2", "ASL(unretrieved=irrel+1)@g2"),
    ],
)
def test_parse_measure__name_is_canonical(written, printed):
    assert parse_measure(written).name == printed


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("P_5", "P@5"),
        ("recall_1000", "R@1000"),
        ("recip_rank", "RR"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_20", "nDCG@20"),
        ("bpref", "Bpref"),
        ("gm_map", "AP(average=geometric)"),
        ("set_F_0.25", "SetF(beta=0.5)"),
        ("set_F.0.25", "SetF(beta=0.5)"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("Rprec_mult_0.20", "Rprec(mult=0.2)"),
        ("Rprec_mult_1.00", "Rprec"),
        ("utility_2,-1,0,0", "Utility(a=2)"),
        ("11pt_avg_.25,.5,.75", "IPrecAvg(levels=0.25;0.5;0.75)"),
        ("ndcg.1=3,4=4.5,2=9", "nDCG(gain=1:3;2:9;4:4.5)"),
        ("unj_20", "Unjudged@20"),
        ("P_1000000", "P@1000000"),
        ("iprec_at_recall.0.1234567", "IPrec@0.1234567"),
        ("ndcg.1=3.1234567", "nDCG(gain=1:3.1234567)"),
        ("rbp_resid", "RBPResidual(p=0.9,tail=trec_eval10)"),
    ],
)
def test_parse_measure__accepts_trec_eval_names(theirs, ours):
    assert parse_measure(theirs) == parse_measure(ours)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("P.5,10", ["P@5", "P@10"]),
        ("AP,P.5,10 ,recip_rank", ["AP", "P@5", "P@10", "RR"]),
        ("success", ["Success@1", "Success@5", "Success@10"]),
        ("unj,map", ["Unjudged@5", "Unjudged@10", "Unjudged@20", "AP"]),
        ("utility.2,-1,0,0,map", ["Utility(a=2)", "AP"]),
        ("ndcg.1=3,2=9,AP", ["nDCG(gain=1:3;2:9)", "AP"]),
        ("recall_5,10", ["R@5", "R@10"]),
    ],
)
def test_canonical__trec_eval_name_expands_to_several_measures(theirs, ours):
    assert canonical(theirs) == canonical(ours)


@pytest.mark.parametrize("name", ["success", "P", "P.5,10", "trec_eval"])
def test_parse_measure__several_measures_are_refused(name):
    with pytest.raises(MeasureError, match="name one"):
        parse_measure(name)


@pytest.mark.parametrize("name", ["utility.1,2", "set_F.-1", "ndcg.3", "map_5x", "P.x"])
def test_parse_measures__invalid_trec_eval_parameters_are_refused(name):
    with pytest.raises(
        MeasureError, match=r"does not take these parameters|unknown measure|cannot be read"
    ):
        parse_measures(name)


@pytest.mark.parametrize(
    ("theirs", "ours"), [("MAP@5", "AP@5"), ("NDCG(gain=exp)", "nDCG(gain=exp)"), ("MRR", "RR")]
)
def test_parse_measure__accepts_aliases_of_ir_measures(theirs, ours):
    assert parse_measure(theirs).name == ours


@pytest.mark.filterwarnings("ignore:.*removed in Python 3.14:DeprecationWarning")  # ir_measures
@pytest.mark.parametrize(
    "name", ["AP", "AP(rel=2)", "AP@100", "P@5", "R@1000", "RR", "RR@10", "nDCG@10", "Bpref"]
)
def test_parse_measure__canonical_name_equals_ir_measures(name):
    assert str(ir_measures.parse_measure(name)) == name
    assert parse_measure(name).name == name


@pytest.mark.parametrize("measure", registry())
def test_parse_measure__unknown_name_is_quoted_in_error(measure):
    refused = r"Did you mean|Known: |cannot be read|is not a measure here"
    for name in (f"{measure}x", f"xx{measure}", f"{measure}-{measure}"):
        with pytest.raises(MeasureError, match=refused) as error:
            parse_measure(name)
        assert repr(name) in str(error.value)


def test_parse_measure__unknown_name_refers_to_measures_command():
    with pytest.raises(MeasureError, match=r"Known: .* in all\)\. `irmeta measures` lists them"):
        parse_measure("zzz")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("AP(rell=2)", r"AP has no parameter 'rell'\. Did you mean 'rel'\?"),
        ("Bpref(p=1)", r"Bpref has no parameter 'p'\. Known: average, form, rel"),
        ("nERR(rel=2)", r"nERR has no parameter 'rel'"),
        ("AP(2)", r"write parameters as name=value, not '2'"),
        ("AP(rel=two)", r"rel=two is not a number"),
        ("AP(rel=0)", r"rel=0 is not above 0"),
        ("AP(rel=-0.5)", r"rel=-0\.5 is not above 0"),
        ("AP(rel=inf)", r"rel=inf is not finite"),
        ("AP(rel=1,rel=2)", r"rel.* twice|twice.* rel"),
        ("RBP(p=high)", r"p=high is not a number"),
        ("RBP(p=0)", r"p=0 is not between 0 and 1"),
        ("RBP(p=1)", r"p=1 is not between 0 and 1"),
        ("RBP(p=nan)", r"p=nan is not between 0 and 1"),
        ("RBP(gmax=0,gain=linear)", r"gmax=0 is not above 0"),
        ("RBP(gain=lineer)", r"gain=lineer is not a choice\. Did you mean 'linear'\?"),
        ("RBP(gmax=2)", r"gmax needs a graded gain"),
        ("RBP(gain=linear,rel=2)", r"rel needs gain=binary"),
        ("ASL(unretrieved=irel)", r"Did you mean 'irrel'\?"),
        ("R(rel=2)", r"R needs a cutoff, such as R@10"),
        ("Bpref@10", r"Bpref takes no cutoff"),
        ("AP@0", r"a cutoff is at least 1"),
        ("AP@2147483648", r"at most 2147483647"),
        ("AP@10²", r"cannot be read"),
        ("AP(rel=1_0)", r"rel=1_0 is not a number"),
        ("AP(,)", r"write parameters as name=value, not ''"),
        ("P@00", r"a cutoff is at least 1"),
        ("ASL@10", r"write the cutoff as ASL@g10"),
        ("AP@g10", r"write the cutoff as AP@10"),
        ("AP@", r"'AP@' cannot be read: write AP\(parameter=value,...\)@cutoff"),
        ("AP(rel=2", r"cannot be read"),
        ("AP@-1", r"a cutoff is at least 1"),
        ("AP@1.5", r"write the cutoff as AP@10"),
        ("IPrec@1.5", r"a recall level is between 0 and 1"),
        ("IPrec@x", r"cannot be read: write IPrec"),
        ("AP(norm=min)", r"needs a cutoff, such as AP\(norm=min\)@10"),
        ("P_x", r"unknown measure 'P_x'"),
        ("", r"unknown measure ''"),
        ("CT(gmax=4)@10", "gmax needs form=paper"),
        ("nCT(bound=time,iterations=3)@10", "iterations needs bound=code"),
        ("nCT", "needs a cutoff"),
        ("act@0", "differs in case from ACT and act"),
        ("ACT(per=every)", "per=every is not a whole number"),
        ("CT(height=0)", "height=0 is not above 0"),
        ("alpha_DCG", "needs a cutoff"),
        ("alpha_DCG(norm=none,subtopics=all)@5", "the same for any subtopics"),
        ("ERR_IA(gain=exp,alpha=0.3)@5", "omit alpha"),
        ("ERR_IA(gmax=4)@5", "gmax needs gain=exp"),
        ("DQ(gmax=4)@5", "needs gain=linear or gain=exp"),
        ("ASL_IA(subtopics=all)", "has no parameter 'subtopics'"),
        ("alpha_nDCG(unjudged=upper)@5", "is not a choice"),
        ("NumRel_IA", "unknown measure"),
        ("Q(norm=min)", r"Q\(norm=min\) needs a cutoff"),
        ("Q(norm=pool)", r"Q\(norm=pool\) needs a cutoff"),
        ("Q(ideal=pool)", r"Q\(ideal=pool\) needs a cutoff"),
        ("Q(gmax=4)@10", "gmax needs gain=linear or gain=exp"),
        ("Q(gain=binary,gmax=4)", "gmax needs gain=linear or gain=exp"),
        ("Q(beta=-1)", "beta=-1 is not between"),
        ("Q(beta=inf)", "beta=inf is not finite"),
        ("SetF(beta=-1)", "beta=-1"),
        ("Rprec(mult=0)", "mult=0"),
        ("Rprec(mult=inf)", "mult=inf"),
        ("IPrec", "IPrec"),
        ("IPrec@1.1", "a recall level is between 0 and 1"),
        ("SetP@10", "SetP takes no cutoff"),
        ("nDCG(ideal=pool)", "needs a cutoff"),
        ("nDCG(b=3)@10", "base of discount=jk"),
        ("DCG(discount=zipf,b=3)", "base of discount=jk"),
        ("nDCG(discount=jk,b=1)", "not above 1"),
        ("DCG(gmax=4)", "gain=linear or gain=exp"),
        ("DCG(gain=1:3,gmax=4)", "gain=linear or gain=exp"),
        ("DCG(ties=share,unjudged=upper)", "cannot be combined with unjudged=upper"),
        ("nDCG(gain=exq)", "exp"),
        ("RareP(alpha=1.5,mix=convex)@10", "alpha=1.5 is above 1, the most under mix=convex"),
        ("RareP(alpha=-1)@10", "alpha=-1 is not at least 0"),
        ("RareP(alpha=1/S)@10", "alpha=1/S is not a number"),
        ("RareP(alpha=inf)@10", "alpha=inf is not finite"),
        ("RareAP(rarity=linaer)", "rarity=linaer is not a choice. Did you mean 'linear'"),
        ("RareDCG(gmax=4)", "RareDCG: gmax needs gain=linear or gain=exp"),
        ("RareDCG(b=3)", "RareDCG: b is the base of discount=jk"),
        ("RareRBP(gain=linear,rel=2)", "RareRBP: rel needs gain=binary"),
        ("RareP", "RareP needs a cutoff, such as RareP@10"),
        ("P(ties=share,unjudged=upper)@5", "ties=share cannot be combined with unjudged=upper"),
        ("RBP(ties=share,unjudged=upper)", "ties=share cannot be combined with unjudged=upper"),
        ("RBP(ties=share,unjudged=upper-gmax)", "cannot be combined with unjudged=upper-gmax"),
        ("ERRResidual(form=bound,stop=linear)", "form=bound is the "),
        ("ERRResidual(form=bound,gmax=4)", "form=bound is the "),
        ("NCDG@10", "Did you mean 'NDCG@10'"),
        ("ncdg@10", "Did you mean 'ndcg@10'"),
        ("nDCGG(gain=exp)@5", r"Did you mean 'nDCG\(gain=exp\)@5'"),
        ("Bprf", "Did you mean 'Bpref'"),
        ("Bprf@10", "Did you mean 'Bpref'"),
        ("recip_rnk", "Did you mean 'recip_rank'"),
        ("defalt", "Did you mean 'default'"),
        ("ASLL@g10", "Did you mean 'ASL@g10'"),
    ],
)
def test_parse_measure__unknown_or_unsuited_name_is_refused(written, said):
    with pytest.raises(MeasureError, match=said):
        parse_measure(written)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["AP@{}", "P@{}", "nDCG@{}", "RBP@{}", "ASL@g{}"])
def test_scores__cutoff_may_exceed_list_length(name, made_store):
    deep, deepest = (
        made_store.scores(name.format(k), track="passage").values * (k if name == "P@{}" else 1)
        for k in (10**6, 2**31 - 1)
    )
    np.testing.assert_allclose(deep, deepest, rtol=1e-12)


def test_canonical__commas_inside_parentheses_do_not_split():
    text = "AP, RBP(p=0.5,gain=linear),,ASL(unretrieved=floor)@g3 ,map_cut_5"
    assert canonical(text) == ["AP", "RBP(p=0.5,gain=linear)", "ASL(unretrieved=floor)@g3", "AP@5"]


def test_canonical__list_items_may_contain_commas():
    assert canonical(["AP,RR", "P@5"]) == ["AP", "RR", "P@5"]


def test_canonical__duplicates_keep_first_position():
    assert canonical("RR,AP,map,AP(rel=1),RBP,RBP(p=0.8)") == ["RR", "AP", "RBP(p=0.8,rel=1)"]


def test_canonical__preset_expands_to_its_measures():
    found = canonical("P@20,default,nDCG@5")
    assert found == ["P@20", *(n for n in PRESETS["default"] if n != "P@20"), "nDCG@5"]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets__measures_are_distinct(preset):
    assert len(canonical(preset)) == len(set(canonical(list(PRESETS[preset])))) >= 5


def test_default_preset__names_are_canonical():
    assert canonical("default") == list(PRESETS["default"])


def test_default_preset__search_lengths_have_both_unretrieved_choices():
    expected = ["AP", "P@20", "RR", "nDCG@10", "nDCG", "R@1000", "Bpref", "RBP(p=0.8)"]
    for cut in ("", "@g10", "@g1"):
        expected += [f"ASL(unretrieved=depth){cut}", f"ASL{cut}"]
    assert canonical("default") == canonical(",".join(expected))


@pytest.mark.parametrize("nothing", ["", " , ", []])
def test_parse_measures__no_measure_is_refused(nothing):
    with pytest.raises(MeasureError, match="no measure was given"):
        parse_measures(nothing)


# These scores are equal in float32, where trec_eval 9 ranks the larger doc ID first.
TRACK = Track({"s": {"q": [("a", 0.100000001, 1), ("b", 0.1, 2)]}}, {"q": {"a": 1, "b": 0}})


def reciprocal_rank(store: irmeta.Store, measures: object, **choices: str) -> float:
    return store.means(measures, **choices).filter(measure="RR")["value"].item()


@pytest.mark.exhaustive
def test_trec_eval10_preset__breaks_ties_as_trec_eval_10(tmp_path: Path):
    store = TRACK.ingest(tmp_path)
    assert reciprocal_rank(store, "trec_eval") == 0.5
    for preset in ("trec_eval10", ["trec_eval10"], iter(["trec_eval10"])):
        assert reciprocal_rank(store, preset) == 1.0
    assert store.evaluate("trec_eval10", per_query=True).filter(measure="RR")[
        "value"
    ].to_list() == [1.0]
    scores = store.scores("trec_eval10", track="t")
    assert scores.values[scores.measures.index("RR")].tolist() == [[1.0]]
    record = store.provenance("trec_eval10")
    assert record["eval_policy"]["tie_order"] == "trec_eval10"
    assert record["tracks"]["t"]["tie_order"] == "trec_eval10"


@pytest.mark.exhaustive
def test_trec_eval10_preset__explicit_tie_order_takes_precedence(tmp_path: Path):
    store = TRACK.ingest(tmp_path)
    assert reciprocal_rank(store, "trec_eval10", tie_order="trec_eval") == 0.5
    for names in ("trec_eval10,RR", ["RR", "trec_eval10"], "trec_eval,trec_eval10"):
        with pytest.raises(UsageError, match="choose one tie order for all"):
            store.means(names)
        assert reciprocal_rank(store, names, tie_order="trec_eval") == 0.5


def test_trec_eval10_preset__refused_for_lists_cut_in_another_tie_order(tmp_path: Path):
    cut = TRACK.ingest(tmp_path / "nine", depth=1)
    with pytest.raises(UsageError, match="was cut at depth 1 under tie order 'trec_eval'"):
        cut.means("trec_eval10")
    ten = TRACK.ingest(tmp_path / "ten", depth=1, tie_order="trec_eval10")
    assert reciprocal_rank(ten, "trec_eval10") == 1.0


def test_evaluate_command__trec_eval10_preset_sets_tie_order(tmp_path: Path, run):
    TRACK.ingest(tmp_path)
    out = tmp_path / "values.parquet"
    assert run("evaluate", tmp_path / "store0", "-m", "trec_eval10", "--out", out).status == 0
    assert provenance(out)["eval_policy"]["tie_order"] == "trec_eval10"
    mixed = run("evaluate", tmp_path / "store0", "-m", "trec_eval10,AP")
    assert mixed.status == 2
    assert "--tie-order" in mixed.err


@pytest.mark.exhaustive
def test_reanalyze__trec_eval10_preset_sets_tie_order(tmp_path: Path, undrawn: None, run):
    source = TRACK.write(tmp_path / "collection")
    done = irmeta.reanalyze(source, tmp_path / "api", measures="trec_eval10")
    assert run("reanalyze", source, "--out", tmp_path / "cli", "-m", "trec_eval10").status == 0
    for folder in (done.folder, tmp_path / "cli"):
        means = pl.read_parquet(folder / "means.parquet")
        assert means.filter(measure="RR")["value"].to_list() == [1.0]
        assert provenance(folder / "means.parquet")["eval_policy"]["tie_order"] == "trec_eval10"


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
