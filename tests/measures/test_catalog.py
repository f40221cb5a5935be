"""The list of measures and the page about a measure."""

from __future__ import annotations

import math
import re

import polars as pl
import pytest

import irmeta
from irmeta.errors import MeasureError
from irmeta.measures import aliases
from irmeta.measures.catalog import describe, example, list_preset
from irmeta.measures.names import PRESETS, canonical, parse_measure, registry
from irmeta.measures.spec import Measure

every_measure = pytest.mark.parametrize("measure", registry().values(), ids=lambda m: m.name)


def test_list_measures__every_measure_has_a_complete_row():
    frame = irmeta.list_measures()
    assert frame.columns == ["measure", "parameters", "better", "family", "source", "summary"]
    assert frame["measure"].to_list() == [m.written for m in registry().values()]
    assert frame.null_count().sum_horizontal().item() == 0
    assert set(frame["better"]) == {"greater", "less"}


@pytest.mark.parametrize(
    ("name", "listed", "parameters", "better"),
    [
        ("AP", "AP[@k]", "rel=1, norm=all", "greater"),
        ("P", "P@k", "rel=1, ties=order", "greater"),
        ("ASL", "ASL[@gN]", "rel=1, unretrieved=irrel", "less"),
        ("IPrec", "IPrec@r", "rel=1, trec_eval=9", "greater"),
        ("Bpref", "Bpref", "rel=1, form=trec_eval", "greater"),
        ("NumRet", "NumRet", "", "greater"),
        ("RBP", "RBP[@k]", "p=0.8, rel=1, gain=binary, gmax, ties=order", "greater"),
    ],
)
def test_list_measures__row_shows_syntax_parameters_and_direction(name, listed, parameters, better):
    row = irmeta.list_measures().row(list(registry()).index(name), named=True)
    assert (row["measure"], row["parameters"], row["better"]) == (listed, parameters, better)


@pytest.mark.one_in(4)
@every_measure
def test_describe__page_matches_registered_measure(measure: Measure):
    page = describe(measure.name)
    assert (page.name, page.asked, page.summary) == (measure.name, (), measure.summary)
    assert page.definition
    assert "`" not in page.definition
    parameters = page.parameters.rows_by_key("parameter", named=True, unique=True)
    assert list(parameters) == [p.name for p in measure.all_parameters]
    for p in measure.all_parameters:
        assert parameters[p.name]["meaning"] == p.meaning
        assert parameters[p.name]["range"] == p.range
    facts = page.facts
    assert facts["better"] == ("greater" if measure.direction == 1 else "less")
    assert facts["values"] == f"from {measure.bounds[0]:g} to {measure.bounds[1]:g}"
    assert facts["without a list"] == measure.empty_list
    assert facts["over queries"] == measure.average
    assert facts["revision"] == str(measure.revision)
    assert facts["source"] == measure.source
    grows = [said for what, said in facts.items() if what.endswith("grows")]
    said = "never gets worse" if measure.monotone else "may get worse"
    own = [text.partition(" (")[0] for text in grows]
    assert own == ([] if measure.cutoff == "none" else [said])
    assert ("other norms" in "".join(grows)) == (measure.name in ("AP", "Q", "AP_IA", "Q_IA"))


def test_describe__value_without_relevant_docs_is_in_words():
    said = {m.no_relevant: describe(m.name).facts["without relevant docs"]
            for m in registry().values() if m.no_relevant == m.no_relevant}  # fmt: skip
    assert said[0.0] == "0"
    assert said[None] == "as ever: relevant docs do not matter"
    assert math.isnan(registry()["ASL"].no_relevant or 0)
    assert describe("ASL").facts["without relevant docs"].startswith("undefined (NaN)")


@every_measure
def test_example__parses_to_its_measure(measure: Measure):
    spec = parse_measure(example(measure))
    assert spec.measure is measure
    assert spec.name == example(measure)
    assert (spec.cutoff is None) == (measure.cutoff == "none")


@pytest.mark.parametrize(
    ("asked", "name", "stands_for"),
    [
        ("nDCG", "nDCG", ()),
        (" P ", "P", ()),
        ("MAP", "AP", ()),
        ("map", "AP", ("AP",)),
        ("ndcg_cut_10", "nDCG", ("nDCG@10",)),
        ("AP(norm=min)@10", "AP", ("AP(norm=min)@10",)),
        ("RBP(rel=1,p=.5)", "RBP", ("RBP(p=0.5,rel=1)",)),
        ("success", "Success", ("Success@1", "Success@5", "Success@10")),
        ("alpha-nDCG", "alpha_nDCG", ()),
        ("D#-nDCG@10", "DSharpnDCG", ("DSharpnDCG@10",)),
        ("MAP-IA", "AP_IA", ()),
        ("precision", "P", ()),
        ("hit-rate", "Success", ()),
        ("ndcg_burges", "nDCG", ("nDCG(gain=exp)",)),
    ],
)
def test_describe__accepts_any_spelling(asked, name, stands_for):
    page = describe(asked)
    assert (page.name, page.asked) == (name, stands_for)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nDGC", r"unknown measure 'nDGC'\. Did you mean 'nDCG'"),
        ("AP(rell=2)", r"Did you mean 'rel'"),
        ("AP,RR", r"'AP,RR' stands for 2 measures: name one"),
        ("", r"no measure was given"),
    ],
)
def test_describe__invalid_name_is_refused(name, said):
    with pytest.raises(MeasureError, match=said):
        describe(name)


@pytest.mark.parametrize("theirs", [*aliases.PLAIN, *aliases.CUT])
def test_describe__page_lists_every_trec_eval_name(theirs: str):
    asked = "P_10" if theirs == "P" else theirs
    said = describe(asked).facts["in trec_eval"]
    entries = [entry.partition(" = ") for entry in re.split(r", (?=\w+(?: =|,|$))", said)]
    names = {name: ours for name, _, ours in entries}
    if theirs in aliases.PLAIN:
        assert parse_measure(names[theirs] or describe(asked).name) == parse_measure(theirs)
    else:
        (letter,) = {name[-1] for name in names if name[:-2] == theirs}
        assert names[f"{theirs}_{letter}"] == aliases.CUT[theirs][0].replace("{}", letter)


def test_describe__page_lists_aliases_and_presets():
    facts = describe("AP").facts
    assert facts["in trec_eval"] == "map, gm_map = AP(average=geometric), map_cut_k = AP@k"
    assert facts["ir_measures also writes"] == "MAP"
    assert facts["presets with it"].startswith("default (AP); basic (AP); trec_eval (AP, ")
    assert describe("Rprec").facts["in trec_eval"] == "Rprec, Rprec_mult_m = Rprec(mult=m)"
    presets = describe("ASL").facts["presets with it"]
    assert presets.startswith("default (ASL(unretrieved=depth), ASL, ")
    assert not {"in trec_eval", "ir_measures also writes"} & describe("ASL").facts.keys()


@pytest.mark.parametrize("preset", PRESETS)
def test_list_preset__rows_are_its_measures(preset: str):
    frame = list_preset(preset)
    assert frame["measure"].to_list() == canonical(preset)
    assert frame.schema == dict.fromkeys(("measure", "better", "summary"), pl.String())


def test_list_preset__unknown_preset_is_refused():
    with pytest.raises(
        MeasureError, match=r"'all' is not a preset\. Known: default, basic, trec_eval"
    ):
        list_preset("all")
