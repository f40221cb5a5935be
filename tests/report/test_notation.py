"""Notation of print: text, HTML and LaTeX of names and terms, and names in texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.measures.names import registry
from irmeta.report.notation import (
    Notations,
    is_marked,
    marked,
    notation_of,
    to_html,
    to_math,
    to_text,
)

DEPTH = {"AP": "AP_{a}", "nDCG": "nDCG_{a}", "Q(gain=linear)": "QM_{a,i}"}


@pytest.mark.parametrize(
    ("name", "declared", "text", "html", "math"),
    [
        ("AP(norm=min)@10", {}, "AP_b@10", "AP<sub>b</sub>@10", r"AP$_{\mathrm{b}}$@10"),
        ("nDCG@20", DEPTH, "nDCG_a@20", "nDCG<sub>a</sub>@20", r"nDCG$_{\mathrm{a}}$@20"),
        ("nDCG@20", {}, "nDCG@20", "nDCG@20", "nDCG@20"),
        ("Q(gain=linear)", DEPTH, "QM_a,i", "QM<sub>a,i</sub>", r"QM$_{\mathrm{a,i}}$"),
        ("RBP(p=0.95,rel=1)", {}, "RBP(0.95)", "RBP(0.95)", "RBP(0.95)"),
        ("RBP(p=0.95,rel=2)@5", {}, "RBP(0.95,rel=2)@5", *["RBP(0.95,rel=2)@5"] * 2),
        ("ASL@g10", {}, *["ASL@g1-10"] * 3),
        ("ASL@g1", {}, *["ASL@g1"] * 3),
        ("ASL(unretrieved=depth)", {}, "ASL_depth", "ASL<sub>depth</sub>",
         r"ASL$_{\mathrm{depth}}$"),
        ("RPP(p=dcg)", {}, *["dcgRPP"] * 3),
        ("alpha_nDCG@10", {}, *["\u03b1-nDCG@10"] * 3),
        ("AP_IA", {}, *["AP-IA"] * 3),
        ("RareP@100", {"RareP": "P{@}_{Rareness}"}, "P@100_Rareness",
         "P@100<sub>Rareness</sub>", r"P@100$_{\mathrm{Rareness}}$"),
        ("a measure of mine!", {}, *["a measure of mine!"] * 3),
    ],
)  # fmt: skip
def test_notation_of__as_papers_print(name: str, declared, text: str, html: str, math: str):
    form = notation_of(name, declared)
    assert (to_text(form), to_html(form), to_math(form)) == (text, html, math)


def test_notation_of__no_registered_measure_fails_or_loses_its_parameters():
    for word in registry():
        assert to_text(notation_of(word))
        assert "rel=3" in to_text(notation_of(f"{word}(rel=3)@7"))


@given(st.text(st.characters(exclude_categories=("Co", "Cs"))))
def test_marks__other_texts_do_not_change(text: str):
    assert not is_marked(text)
    assert to_text(text) == to_html(text) == text


def test_to_html__marks_without_a_partner_are_dropped():
    subscript = marked("_{b}")
    assert to_html(subscript[0] + "a" + subscript[-1] * 2) == "<sub>a</sub>"
    assert to_html("a" + subscript[0]) == "a"


def test_notations__replaces_whole_names_and_terms():
    notations = Notations.of(["AP@20", "AP(norm=min)@10", None, "RBP(p=0.8,rel=1)"], DEPTH)
    text = "MAP, AP@20, AP@200, AP(norm=min)@10; RBP(p=0.8,rel=1): tau-b at alpha = 0, S_d"
    assert to_text(notations(text)) == (
        "MAP, AP_a@20, AP@200, AP_b@10; RBP(0.8): \u03c4_b at \u03b1 = 0, S_d"
    )
    assert to_text(notations.legend()) == (
        "AP_a: AP; AP_b: AP(norm=min); RBP(0.8): RBP(p=0.8,rel=1)"
    )
    assert to_text(notations.legend(notations("AP@20"))) == "AP_a: AP"


def test_notations__legend_names_a_word_once_whose_cutoff_is_inside():
    names = ["RareP(alpha=1)@100", "RareP(mix=convex)@100", "RareP@50"]
    notations = Notations.of(names, {"RareP": "P{@}_{Rareness}"})
    assert to_text(notations("RareP(mix=convex)@100")) == "P@100_Rareness(mix=convex)"
    assert to_text(notations("RareP@100, RareP@5")) == "P@100_Rareness, RareP@5"
    assert to_text(notations.legend()) == "P_Rareness: RareP"


def test_notations__names_that_would_look_alike_stay_canonical():
    alike = Notations.of(["RBP(p=0.8)", "RBP(p=0.8,rel=1)", "AP(norm=min)"], {})
    assert to_text(alike("RBP(p=0.8), RBP(p=0.8,rel=1), AP(norm=min)")) == (
        "RBP(p=0.8), RBP(p=0.8,rel=1), AP_b"
    )


def test_in_spec__fields_and_keys_of_rows_keep_their_names():
    spec = {"encoding": {"x": {"field": "AP", "title": "AP"}}, "data": [{"AP": "AP"}]}
    assert Notations.of(["AP"], DEPTH).in_spec(spec) == {
        "encoding": {"x": {"field": "AP", "title": "AP_a"}}, "data": [{"AP": "AP_a"}],
        "usermeta": {"scripts": {"AP_a": "AP_{a}"}},
    }  # fmt: skip
