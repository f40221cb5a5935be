"""Sections of the study of pooling and evaluation depth, from small tables made by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from irmeta.studies.framework.recorded_files import ALL, RecordedFiles
from irmeta.studies.framework.study import Figure, Section, Show, Tables
from irmeta.studies.framework.study_page import write_page
from irmeta.studies.papers.depth import study
from irmeta.studies.papers.depth.page import (
    guidance,
    reusability,
    sections,
    track_section,
    undecided,
)
from irmeta.studies.papers.depth.study import STUDY, DepthOptions
from support.study_tables import filled_tables

OPTIONS = DepthOptions()
AP, ERR, RR = "AP(norm=min)", "ERR", "RR"
HEADINGS = (
    *("Data (Section 4)", "Relevant docs and the depth of the pool (Section 4, RQ1)"),
    *("Systems that did not contribute (Section 4, Table 5)", "Tied scores (Section 4, RQ2)"),
    "Scores by the depth of evaluation (Section 4, RQ3)",
    *("Residuals (Section 4, Table 9)", "Orders of systems (Section 4, RQ4)"),
    *("Beyond the paper: safe cutoffs and pools", "Beyond the paper: unjudged docs"),
    "Beyond the paper: judged docs and the order of systems",
)


def made(**rows: Any) -> Tables:
    """Return all tables of the study with the given rows."""
    return filled_tables(STUDY, study.NUMBERS, **rows)


def pool(track: str = "news", **facts: Any) -> dict[str, Any]:
    """Return a row of `collections`."""
    known = {"depth": "20", "depth_source": "comprehensive", "depth_bound": "exact", "groups": 3}
    return {"track": track, **known, "judged": 9, "relevant": 4, **facts}


def safe(measure: str, low: int | None, high: int | None, least: int | None, **more: Any):
    """Return a row of `guidance`."""
    known = {"measure": measure, "k_low": low, "k_high": high, "least_depth": least}
    return {"depth": 20, "lists": "full", **known, **more}


def by_heading(tables: Tables, options: DepthOptions = OPTIONS) -> dict[str, Section]:
    return {section.heading: section for section in sections(tables, options)}


def notes(tables: Tables) -> str:
    return "\n".join(note for s in sections(tables, OPTIONS) for note in s.notes)


def page(tables: Tables, out: Path, tracks: tuple[str, ...] = ("news",)) -> str:
    """Write the page, without figures, and return its HTML."""
    figures = [Figure(f.name, "table_7", lambda *_: None, "") for f in STUDY.drawn]
    study = replace(STUDY, figures=figures)
    files = RecordedFiles(out, ALL)
    files.start(formats=["svg"])
    record = {"irmeta": "0", "tracks": {}}
    write_page(study, files, tables, OPTIONS, tracks, record)
    return (out / "report.html").read_text(encoding="utf-8")


def test_sections__every_table_empty():
    found = by_heading(made(collections=[pool()]))
    assert tuple(found) == HEADINGS
    absent = [note for section in found.values() for note in section.notes if "absent on" in note]
    assert len(absent) == 11
    assert all("news" in note for note in absent)


def test_sections__no_used_track():
    (only,) = sections(made(used=False), OPTIONS)
    assert only.heading == "Data (Section 4)"
    assert "news is left out: 1 system." in only.notes


def test_sections__page_and_latex_of_one_track(tmp_path: Path):
    ratios = [
        {"measure": m, "lists": lists, "k": k, "reference_k": 20, "discrimination": d}
        for m, lists, k, d in (
            *((AP, "full", 10, 0.25), (AP, "condensed", 10, 0.125), (AP, "full", 7, 0.75)),
            (RR, "full", None, 0.375),
        )
    ]
    text = page(made(collections=[pool()], table_7=ratios), tmp_path)
    assert "news: d = 20 (comprehensive)." in text
    full, condensed = (
        (tmp_path / f"latex/{name}_news.tex").read_text() for name in ("table_7", "table_8")
    )
    assert r"Values in \%." in full
    assert r"AP$_{\mathrm{b}}$: AP(norm=min)." in full
    assert "25.0" in full
    assert "full & " in full
    assert "37.5" in full
    assert "12.5" not in full
    assert "75.0" not in full  # k = 7 is not a cutoff of the paper
    assert "12.5" in condensed
    assert "25.0" not in condensed
    assert 'class="paper num">0.815<' in text
    assert len(re.findall("The paper&#39;s Table ., as printed", text)) >= 8
    assert "`" not in text  # Markdown is not rendered


def test_sections__papers_numbers_beside_ours_on_its_collections_alone(tmp_path: Path):
    def row(track: str, k: int) -> dict[str, Any]:
        return {"track": track, "measure": AP, "lists": "condensed", "k": k, "depth": 20}

    paper_pool = pool("cw", contributors=21, comprehensive_depth=20)
    tables = made(tracks=("cw", "news"), collections=[paper_pool, pool()],
                  table_7=[row("cw", 1), row("cw", 20), row("news", 1)])  # fmt: skip
    page(tables, tmp_path, ("cw", "news"))
    cw, news = ((tmp_path / f"latex/table_8_{t}.tex").read_text() for t in ("cw", "news"))
    assert "Disc. & paper & Covr. & paper & Invr. & paper" in cw
    assert "& 30.0 & 50.0 & 47.4 & 50.0 & 14.9" in cw
    assert "paper &" not in news


def test_sections__estimated_depth_is_never_called_comprehensive():
    tables = made(
        collections=[pool(depth="7", depth_source="estimated", comprehensive_depth=0)],
        reusability=[{"level": "run", "judgments": "pool", "measure": AP, "verdict": "reusable"}],
        guidance=[safe(AP, 5, 20, 7, depth=7)],
        table_7=[{"measure": AP, "lists": "full", "k": 20, "reference_k": 7}],
    )
    assert "so d is estimated: the greatest rank with at least 0.95 of the docs" in notes(tables)
    for sentences in (reusability(tables, "news"), guidance(tables, "news")):
        (sentence,) = sentences
        assert "on news (estimated depth of the pool: 7)" in sentence.lower()
    shown = [one for s in sections(tables, OPTIONS) for one in s.show if isinstance(one, Show)]
    about = [dict(one.about) for one in shown if one.about]
    assert about
    stated = {"": "news: d = 7 (estimated).", "news": "d = 7 (estimated)"}
    assert all(one == stated for one in about)


def test_sections__requested_cutoffs_replace_those_of_the_paper():
    tables = made(collections=[pool()], table_7=[{"reference_k": 12}])
    of_paper, requested = ([1, 4, 10, 12, 40, 100, 400, 1000], [5, 7, 12])
    for options, cutoffs in ((OPTIONS, of_paper), (DepthOptions(ks=(7, 5)), requested)):
        shown = by_heading(tables, options)["Residuals (Section 4, Table 9)"].show
        assert isinstance(shown[0], Show)
        assert shown[0].rows["k"] == cutoffs


def test_sections__thresholds_are_those_of_the_options():
    options = replace(OPTIONS, alpha=0.01, reference_k=12, method="rbo", systems="all")
    text = " ".join(
        part
        for section in sections(made(collections=[pool()]), options)
        for part in ([section.text] if isinstance(section.text, str) else section.text)
    )
    for expected in ("5%", "20%", "up to 0.01", "at k = 12",
                     "(rbo)", "All systems"):  # fmt: skip
        assert expected in text, expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"depth_source": "default"}, "comprehensive depth cannot be used"),
        ({"depth_source": "given"}, "On news, d is given. Nothing computed with it is called"),
        ({"depth_bound": "at least"}, "as if they had contributed"),
        ({"depth_bound": "at most"}, "The comprehensive depth is at most"),
        ({"groups": None}, "the store does not state the groups"),
        ({"judged": 4}, "only relevant docs are judged. Residuals mean nothing."),
    ],
)
def test_sections__note_on_the_tracks_of_a_condition(facts: dict[str, Any], expected: str):
    tables = made(tracks=("news", "web"), collections=[pool(**facts), pool("web")])
    assert expected in notes(tables)
    assert expected not in notes(made(tracks=("news", "web"), collections=[pool(), pool("web")]))
    assert not [n for n in notes(tables).splitlines() if expected in n and "web" in n]


def test_sections__state_the_depths_of_many_tracks_once():
    tracks = tuple(f"t{i:02}" for i in range(76))
    rows = [pool(t, depth="5, 100" if i else "20", depth_source="given" if i < 6 else "default")
            for i, t in enumerate(tracks)]  # fmt: skip
    verdicts = [
        {"track": t, "level": "run", "judgments": "pool", "measure": AP, "verdict": "reusable"}
        for t in tracks
    ]
    found = by_heading(made(tracks=tracks, collections=rows, reusability=verdicts))
    about = [s.about for f in found.values() for s in f.show if isinstance(s, Show) and s.about]
    text = "d from 5 to 100: given on 6 tracks and default on 70 tracks."
    assert [one[""] for one in about] == [text] * 12
    assert {one["t00"] for one in about} == {"d = 20 (given)"}
    section = found["Systems that did not contribute (Section 4, Table 5)"]
    assert section.text[-1] == "The section of each track below states the conclusions."
    assert any(
        "t00, t01, t02, t03, t04 and 1 more, d is given" in n for n in found[HEADINGS[1]].notes
    )


def test_guidance__one_sentence_per_depth_of_the_pool():
    of_k = [{"k": k, "measure": AP, "lists": "full", "depth": 20} for k in (1, 50)]
    rows = [
        safe(AP, 4, 15, 2),
        safe(ERR, 4, 50, 2),
        safe(RR, 4, 50, 2),
        safe(AP, 1, 1, 9, lists="condensed"),
    ]
    assert list(guidance(made(table_7=of_k, guidance=rows), "news")) == [
        "On news, AP(norm=min) holds for k = 4 to 15; ERR and RR hold from k = 4 on; a pool of "
        "depth 2 orders its contributors nearly as all judgments do."
    ]
    rows = [
        safe(AP, 7, 7, 5),
        safe(ERR, None, None, None),
        safe(RR, 2, 50, 3),
        safe(AP, 4, 9, None, depth=10),
    ]
    assert list(guidance(made(table_7=of_k, guidance=rows), "news")) == [
        "On news and a pool of depth 20, AP(norm=min) holds for k = 7; ERR holds at no cutoff; RR "
        "holds from k = 2 on; a pool of depth 3 (RR) and a pool of depth 5 (AP(norm=min)) order "
        "its contributors nearly as all judgments do, and no pool by ERR.",
        "On news and a pool of depth 10, AP(norm=min) holds for k = 4 to 9; no pool orders its "
        "contributors nearly as all judgments do.",
    ]
    assert list(guidance(made(), "news")) == []


def test_reusability__one_sentence_per_kind_of_judgments():
    rows = [
        {"level": level, "judgments": judgments, "measure": measure, "verdict": verdict}
        for level, judgments, measure, verdict in (
            ("run", "pool", AP, "with care"), ("run", "pool", ERR, "reusable"),
            ("run", "pool", RR, "reusable"), ("group", "pool", AP, "not for new systems"),
            ("run", "all", AP, "reusable"),
        )
    ]  # fmt: skip
    tables = made(reusability=[*rows, rows[0] | {"track": "web", "verdict": "reusable"}])
    assert list(reusability(tables, "news")) == [
        "Judgments of the pool on news: with each run left out, reusable by ERR and RR, to be used "
        "with care by AP(norm=min); with each group left out, not for new systems by AP(norm=min).",
        "Judgments of every depth on news: with each run left out, reusable by AP(norm=min).",
    ]


def test_reusability__equal_verdicts_and_the_most_frequent_one():
    names = [f"M{i}@5" for i in range(6)]
    verdicts = ["reusable", *["with care"] * 4, "not for new systems"]
    rows = [
        {"level": level, "judgments": judgments, "measure": measure, "verdict": verdict}
        for judgments in ("pool", "all")
        for level, of_level in (("run", verdicts), ("group", ["reusable"] * 6))
        for measure, verdict in zip(names, of_level, strict=True)
    ]
    text = (
        "with each run left out, reusable by M0@5, not for new systems by M5@5, to be used with "
        "care by the other measures; with each group left out, reusable by every measure."
    )
    assert list(reusability(made(reusability=rows), "news")) == [
        f"Judgments of the pool and of every depth on news: {text}"
    ]
    lost = [{"level": "run", "judgments": "all", "judged_lost": 0.0}]
    assert list(reusability(made(reusability=rows, table_5=lost), "news")) == [
        f"Judgments of the pool on news: {text}",
        "Judgments of every depth on news: with each run left out, no judgment is lost, which "
        "proves nothing; with each group left out, reusable by every measure.",
    ]


def test_undecided__number_of_pairs():
    systems = [{"system": name} for name in "abc"]
    pair = {"system_a": "a", "system_b": "b"}
    (text,) = undecided(made(unjudged=systems, undecided=[pair]), "news")
    assert text.startswith("1 of 3 pairs of systems on news is undecided: ")
    assert list(undecided(made(unjudged=systems[:1]), "news")) == []


def test_track_section__conclusions_and_the_systems_with_the_fewest_judged_docs():
    systems = [{"system": f"s{i}", "judged_at_10": i / 10} for i in range(9, 0, -1)]
    tables = made(
        collections=[pool(contributors=56)], unjudged=systems, guidance=[safe(AP, 1, 1, 1)]
    )
    section = track_section(tables, OPTIONS, "news")
    assert section.text[0].startswith("On news, AP(norm=min) holds for k = 1; ")
    assert section.facts["contributors"] == 56
    assert section.facts["depth of the pool"] == "20"
    figures, worst = section.show
    assert figures == "*"  # all of the track
    assert isinstance(worst, Show)
    assert list(worst.rows["system"]) == ["s1", "s2", "s3", "s4", "s5"]
    assert worst.caption == "The 5 systems with the fewest judged docs in the top 10."


def test_track_section__track_without_tables(tmp_path: Path):
    section = track_section(made(used=False), OPTIONS, "news")
    assert not section.text
    assert section.show == ["*"]
    assert "news" in page(made(used=False), tmp_path)


def test_paper_numbers__shown_once_each():
    found = by_heading(made(collections=[pool()]))
    shown = [s for f in found.values() for s in f.show if isinstance(s, Show)]
    items = [s.rows["item"][0] for s in shown if s.table == "paper_numbers"]
    names = [s.name for s in shown if s.table == "paper_numbers"]
    everything = pl.DataFrame(study.NUMBERS)["item"].unique(maintain_order=True)
    assert set(items) == set(everything)
    assert len(items) == len(set(items)) == len(set(names))
