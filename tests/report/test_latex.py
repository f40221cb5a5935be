"""Tables as LaTeX: escapes, width, wrapped text, panels, siunitx, notation."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.measures.names import registry
from irmeta.report.latex import (
    LONGEST_FLOAT,
    SIZES,
    TEXT,
    escape_latex,
    split_tracks,
    text_width,
    to_latex,
)
from irmeta.report.notation import (
    Notations,
    is_marked,
    marked,
    notation_of,
    to_html,
    to_math,
    to_text,
)
from irmeta.report.table_grid import ABSENT, DAGGER, Cell, Grid, Head
from support.typesetting import faults
from support.written import WRITTEN


def table(heads: dict[str, bool], *rows: tuple[object, ...], **given) -> Grid:
    """Return a table; for each heading, whether its column is text."""
    head = tuple(Head(label, label, is_text) for label, is_text in heads.items())
    cells = (
        tuple(cell if isinstance(cell, Cell) else Cell(str(cell)) for cell in row) for row in rows
    )
    return Grid("my_table", "Caption.", head, tuple(cells), **given)


def rows_of(latex: str) -> list[list[str]]:
    lines = [line.removesuffix(r" \\") for line in latex.splitlines() if line.endswith(r"\\")]
    return [line.split(" & ") for line in lines]


def numbers(columns: int, rows: int = 2) -> Grid:
    """Return a table of systems with columns of numbers in one row of headings."""
    heads = {"system": True, **{f"measure{i:03}": False for i in range(columns)}}
    return table(heads, *(("s", *(f"0.{i:04}" for i in range(columns))) for _ in range(rows)))


def test_to_latex__escapes_text_and_names_the_table():
    made = table({"a%": True, "n": False}, ("s&t", "\u22121"), ("x" + DAGGER, ABSENT),
                 notes=("50% of $x",))  # fmt: skip
    latex = to_latex(made)
    assert rows_of(latex) == [
        [r"a\%", "n"], [r"s\&t", "$-$1"], [r"x\textsuperscript{\dag}", "---"],
    ]  # fmt: skip
    assert r"\caption{Caption. 50\% of \$x}\label{tab:my-table-" in latex
    assert latex.index(r"\toprule") < latex.index(r"\midrule") < latex.index(r"\bottomrule")
    other = to_latex(replace(made, rows=made.rows[:1]))
    labels = {re.search(r"label\{tab:my-table-([0-9a-f]{6})\}", text)[1] for text in (latex, other)}
    assert len(labels) == 2, "no two tables share a default label"
    assert r"\label{tab:study-t-1}" in to_latex(made, label="study-t_1")


def test_to_latex__comments_are_one_line_each():
    latex = to_latex(numbers(1), made=["irmeta 1", "names: a\n\\input{b}\u2028c"])
    comments = latex[: latex.index(r"\begin")].splitlines()
    assert comments == [
        "% Packages: booktabs.", "% irmeta 1", r"% names: a \input{b} c",
    ]  # fmt: skip


def test_to_latex__leaves_out_columns_of_the_page():
    head = (Head("a", "a", True), Head("b", "b", False, on_page_only=True))
    assert rows_of(to_latex(Grid("t", "c", head, ((Cell("x"), Cell("1")),)))) == [["a"], ["x"]]


@pytest.mark.parametrize(
    ("columns", "environment", "panels"),
    [(3, "table", 1), (9, "table*", 1), (18, "table*", 2), (27, "table*", 3)],
)
def test_to_latex__width_and_panels_by_number_of_columns(
    columns: int, environment: str, panels: int
):
    latex = to_latex(numbers(columns))
    assert rf"\begin{{{environment}}}[tb]" in latex
    assert latex.count(r"\begin{tabular}") == panels
    heads = [row for row in rows_of(latex) if row[0] == "system"]
    assert len(heads) == panels
    assert [head for row in heads for head in row[1:]] == [f"measure{i:03}" for i in range(columns)]
    assert max(map(len, heads)) - min(map(len, heads)) < panels


def test_to_latex__panels_keep_groups_of_columns_together():
    head = [Head("system", "s", True)]
    head += [Head("value", "v", False, group=f"group{i:02}") for i in range(8) for _ in range(3)]
    made = Grid("t", "c", tuple(head), (tuple(Cell("0.12345") for _ in head),))
    latex = to_latex(made)
    names = re.findall(r"\\multicolumn\{(\d)\}\{c\}\{(group\d+)\}", latex)
    assert names == [("3", f"group{i:02}") for i in range(8)]
    assert latex.count(r"\begin{tabular}") == 2
    assert latex.count(r"\cmidrule(lr){2-4}") == 2


def test_to_latex__panels_repeat_the_columns_that_identify_rows():
    head = [Head(key, key, is_text=True, is_key=True) for key in ("", "system")]
    head += [Head(f"measure{i:03}", "", is_text=False) for i in range(18)]
    latex = to_latex(Grid("t", "c", tuple(head), (tuple(Cell("0.12345") for _ in head),)))
    repeated = [row[:2] for row in rows_of(latex) if "system" in row]
    assert repeated == [["", "system"]] * latex.count(r"\begin{tabular}") != [["", "system"]]


def test_to_latex__wraps_long_text_and_breaks_long_words():
    made = table({"name": True, "text": True}, ("w" * 90, "some words " * 9), ("b", "short"))
    latex = to_latex(made)
    (row, _) = rows_of(latex)[1:]
    assert len(re.findall(r"\\arraybackslash\}X", latex)) == 2
    assert row[0].replace(r"\allowbreak{}", "") == "w" * 90
    assert max(map(len, row[0].split(r"\allowbreak{}"))) <= 20
    assert "tabularx" in latex.splitlines()[0]


def wrapped_parts(latex: str) -> list[float]:
    """Return the widths of columns of wrapped text, 1 for that of equal columns."""
    return [float(part) for part in re.findall(r">\{\\hsize=([\d.]+)\\hsize", latex)]


@pytest.mark.parametrize(
    ("lengths", "ratio"),
    [
        ([(90, 30)] * 6, (2.6, 3.4)),  # both texts on the same number of lines
        ([(30, 90)] * 6, (0.3, 0.4)),
        ([(60, 60)] * 6, (0.9, 1.1)),
        ([(90, 30)] * 4 + [(30, 90)], (1.5, 3.4)),  # one long text does not decide
    ],
)
def test_to_latex__wrapped_columns_are_as_wide_as_their_text_needs(lengths, ratio):
    made = table({"a": True, "b": True}, *(("some " * a, "word " * b) for a, b in lengths))
    first, second = wrapped_parts(to_latex(made))
    assert first + second == pytest.approx(2, abs=0.002)  # of tabularx, for its own share
    assert ratio[0] <= first / second <= ratio[1]


def test_to_latex__a_wrapped_column_holds_its_longest_word_and_heading():
    rows = [("word " * 200, "w" * 18), ("word " * 200, "two lines " * 9)]
    for heads in ({"a": True, "b": True}, {"a": True, "b" * 20: True}):
        latex = to_latex(table(heads, *rows))
        points = wrapped_parts(latex)[1] / 2 * (TEXT - SIZES[0].gap)
        assert points >= 0.999 * text_width(max("w" * 18, [*heads][1], key=len), SIZES[0].font)


def test_to_latex__stacks_a_heading_wider_than_its_column():
    heads = {"system": True, "weight of the first doc": False, "score": False}
    (head, _) = rows_of(to_latex(table(heads, ("s", "1", "1,234.5"))))
    stacked = r"\begin{tabular}[b]{@{}r@{}}weight \\ of the \\ first doc\end{tabular}"
    assert head == ["system", stacked, "score"]


def of_tracks(tracks: int, rows: int, **given) -> Grid:
    """Return a table of measures by track, with some rows for each track."""
    head = (Head("track", "track", True, is_key=True), Head("m", "m", True, is_key=True),
            Head("v", "v", False))  # fmt: skip
    cells = [(Cell(f"t{t}"), Cell(f"m{m}"), Cell("1")) for t in range(tracks) for m in range(rows)]
    return Grid("t", "Caption.", head, tuple(cells), **given)


def test_to_latex__names_each_track_once_and_sets_tracks_apart():
    latex = to_latex(of_tracks(2, 2))
    assert rows_of(latex)[1:] == [
        ["t0", "m0", "1"], ["", "m1", "1"], ["t1", "m0", "1"], ["", "m1", "1"],
    ]  # fmt: skip
    assert latex.count(r"\addlinespace") == 1


def test_to_latex__leaves_out_rows_without_a_value():
    made = table({"a": True, "n": False}, ("x", "1"), ("y", ABSENT))
    key = Head("a", "a", True, is_key=True)
    latex = to_latex(Grid("t", "c", (key, made.head[1]), made.rows))
    assert rows_of(latex) == [["a", "n"], ["x", "1"]]


@pytest.mark.parametrize(
    ("made", "parts"),
    [
        (of_tracks(2, 3), [""]),
        (of_tracks(2, 3, by_track=True), ["t0", "t1"]),
        (of_tracks(3, 20), ["t0", "t1", "t2"]),
        (of_tracks(50, 1), [""]),
        (numbers(3), [""]),
    ],
)
def test_split_tracks__a_long_table_has_a_float_for_each_track(made: Grid, parts: list[str]):
    found = dict(split_tracks(made))
    assert list(found) == parts
    for track, part in found.items():
        assert track == "" or part.caption == f"Caption. Track: {track}."
    assert sum(len(part.rows) for part in found.values()) == len(made.rows)


def test_split_tracks__captions_are_about_their_track():
    notes = (f"{DAGGER} Short lists.", "Values in %.")
    rows = (("t0", "s" + DAGGER), ("t0", "x"), ("t1", "y"))
    about = {"": "t0: d = 1; t1: d = 2.", "t0": "d = 1"}
    made = table({"track": True, "s": True}, *rows, notes=notes, by_track=True, about=about)
    parts = dict(split_tracks(replace(made, caption=f"Caption. {about['']}")))
    assert {track: part.caption for track, part in parts.items()} == {
        "t0": "Caption. Track: t0, d = 1.", "t1": "Caption. Track: t1.",
    }  # fmt: skip
    assert [part.notes for part in parts.values()] == [notes, notes[1:]]


def test_to_latex__panels_longer_than_a_page_are_a_longtable():
    assert r"\begin{longtable}" in to_latex(numbers(27, rows=20))
    assert r"\begin{longtable}" not in to_latex(numbers(27, rows=12))


def test_to_latex__long_table_repeats_its_head_on_each_page():
    rows = ((f"[{i}", "w" * 300) for i in range(LONGEST_FLOAT + 1))
    latex = to_latex(table({"system": True, "text": True}, *rows))
    assert latex.index(r"\caption") < latex.index(r"\endfirsthead") < latex.index(r"\endhead")
    assert latex.count(r"system & text \\") == 2
    assert "\n{}[0 & " in latex, "LaTeX would take [0 for an argument of the row before"
    assert re.search(r"p\{0\.9\d\d\\linewidth\}", latex)


@pytest.mark.parametrize("name", ["[a]", "*a"])
def test_to_latex__a_row_does_not_begin_as_an_argument_of_the_row_before(name: str):
    """LaTeX reads a bracket or a star after a line break as its argument."""
    latex = to_latex(table({"system": True, "n": False}, (name, "1")))
    assert "\n{}" + name + " & 1" in latex


def test_to_latex__siunitx_aligns_numbers_and_only_these():
    made = table(
        {"system": True, "n": False, "share": False},
        ("1", Cell("1,234.5", is_best=True, marks="ab"), "50%"),
        ("2", "\u221212.25", "2%"),
        ("3", ABSENT, "3%"),
    )
    latex = to_latex(made, siunitx=True)
    form = (
        r"S[table-format=-4.2,detect-weight,mode=text,table-space-text-post={\textsuperscript{ab}}]"
    )
    assert rf"{{@{{}}l{form}r@{{}}}}" in latex
    assert rows_of(latex) == [
        ["system", "{n}", "share"],
        ["1", r"\bfseries 1234.5\textsuperscript{\mdseries ab}", r"50\%"],
        ["2", "-12.25", r"2\%"],
        ["3", "{---}", r"3\%"],
    ]
    assert "Best values in bold." in latex
    assert "S[" not in to_latex(made)


def test_to_latex__superscripts_take_equal_space_in_a_column():
    rows = (("a", Cell("1", marks="bc")), ("b", Cell("2", is_best=True)))
    latex = to_latex(table({"system": True, "n": False}, *rows))
    spaces = re.findall(r"\\makebox\[(\d+)pt\]\[l\]\{(.*?)\}(?: |$)", latex, re.M)
    assert spaces == [(spaces[0][0], r"\textsuperscript{bc}"), (spaces[0][0], "")]
    assert r"\textbf{2}" in latex
    (head, *_) = rows_of(latex)
    assert head == ["system", rf"n\hspace{{{int(spaces[0][0]) - 1}pt}}"]  # above the numbers


def test_to_latex__numbers_of_a_paper_have_minus_signs():
    latex = to_latex(table({"printed": True}, ("-1.5",), ("26-60%",), ("-a",)))
    assert rows_of(latex)[1:] == [["$-$1.5"], [r"26-60\%"], ["-a"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a_b%{}", r"a\_b\%\{\}"), ("x\ny", "x y"), ("−1 ± 2", r"$-$1 $\pm$ 2"),
     ("~^\\", r"\textasciitilde{}\textasciicircum{}\textbackslash{}")],
)  # fmt: skip
def test_escape_latex__escapes_special_characters(text: str, expected: str):
    assert escape_latex(text) == expected


@pytest.mark.exhaustive
def test_to_latex__all_tables_fit_one_document(written: Path, tmp_path: Path):
    files = [file for name in WRITTEN for file in sorted((written / name / "latex").iterdir())]
    assert len(files) > 80
    wide = [numbers(n) for n in (3, 9, 20, 28)]
    wide.append(table({"name": True, "n": False}, ("w" * 150, Cell("1", marks="abc"))))
    for number, made in enumerate(wide):
        files.append(tmp_path / "latex" / f"{number}.tex")
        files[-1].parent.mkdir(exist_ok=True)
        files[-1].write_text(to_latex(made, label=f"wide-{number}"), encoding="utf-8")
    assert faults(files, tmp_path) == []


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
