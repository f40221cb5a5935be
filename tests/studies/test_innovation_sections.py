"""Sections of the study of innovation, from small tables made by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from irmeta.studies.framework.recorded_files import ALL, RecordedFiles
from irmeta.studies.framework.study import Figure, Section, Show, Tables
from irmeta.studies.framework.study_page import write_page
from irmeta.studies.papers.innovation import page, study
from irmeta.studies.papers.innovation.page import sections, track_section
from irmeta.studies.papers.innovation.study import STUDY, InnovationOptions
from support.study_tables import Rows, filled_tables

OPTIONS = InnovationOptions()
HEADINGS = (
    "Data (Section 4.1)",
    "Measures (Section 2)",
    "Hypothetical systems (Section 3, Figure 1)",
    "Orders of systems (Section 4.2, Figure 2)",
    "Significantly different pairs (Section 4.3, Table 1)",
    "Stability (Section 4.4, Table 2)",
    "The number of systems (Section 4.5, Table 3)",
    "Rare and common docs (Section 4.6, Table 4)",
    "Beyond the paper: who retrieves what no other does",
    "Beyond the paper: pairs that change places",
    "Beyond the paper: runs that change the ranks of others",
    "Beyond the paper: grades of rare docs",
    "Beyond the paper: systems that the pool did not know (Section 5.4)",
    "Beyond the paper: other judgments",
)
OVER_TRACKS = ("figure_2_tracks", "fewer_systems", "greedy", "swaps")


def made(**rows: Any) -> Tables:
    """Return all tables of the study with the given rows."""
    return filled_tables(STUDY, study.NUMBERS, **rows)


def by_heading(tables: Tables, options: InnovationOptions = OPTIONS) -> dict[str, Section]:
    return {section.heading: section for section in sections(tables, options)}


def texts(found: dict[str, Section]) -> str:
    """Return the paragraphs of all sections."""
    parts = ([s.text] if isinstance(s.text, str) else s.text for s in found.values())
    return "\n".join(text for part in parts for text in part)


def notes(tables: Tables) -> list[str]:
    return [note for section in sections(tables, OPTIONS) for note in section.notes]


def written_page(tables: Tables, out: Path) -> str:
    """Write the page, without figures, and return its HTML."""
    figures = [Figure(f.name, "table_1", lambda *_: None, "") for f in STUDY.drawn]
    files = RecordedFiles(out, ALL)
    files.start(formats=["svg"])
    record = {"irmeta": "0", "tracks": {}}
    write_page(replace(STUDY, figures=figures), files, tables, OPTIONS, ["news"], record)
    return (out / "report.html").read_text(encoding="utf-8")


def system(name: str, found: int, unique: int, **more: Any) -> dict[str, Any]:
    """Return a row of `contributions`."""
    return {"level": "system", "name": name, "found": found, "unique": unique, **more}


def test_sections__every_table_empty(tmp_path: Path):
    found = by_heading(made())
    assert tuple(found) == HEADINGS
    absent = [note for section in found.values() for note in section.notes if "absent on" in note]
    assert len(absent) == 12
    assert all("news" in note for note in absent)
    assert "absent on news" in written_page(made(), tmp_path)


def test_sections__no_used_track():
    (only,) = sections(made(used=False), OPTIONS)
    assert only.heading == "Data (Section 4.1)"
    assert "news is left out: 1 system." in only.notes


def test_sections__each_contradiction_of_the_paper_once():
    found = notes(made())
    for slip in (slip for slips in page.SLIPS.values() for slip in slips):
        assert found.count(slip) == 1, slip


def test_paper_numbers__shown_once_each():
    shown = [s for f in by_heading(made()).values() for s in f.show if isinstance(s, Show)]
    printed = [s for s in shown if s.table == "paper_numbers"]
    items = [s.rows["item"][0] for s in printed]
    assert set(items) == {row["item"] for row in study.NUMBERS}
    assert len(items) == len(set(items)) == len({s.name for s in printed})


def test_sections__figures_over_tracks():
    shown = [one for section in by_heading(made()).values() for one in section.show]
    named = [one for one in shown if isinstance(one, str) and one not in STUDY.by_table]
    assert named == ["figure_2_tracks", "fewer_systems", "greedy*", "swaps*"]
    assert {figure.name for figure in STUDY.drawn if figure.by == "all"} == {*OVER_TRACKS}


def test_sections__page_and_latex_of_one_track(tmp_path: Path):
    power = [
        {"measure": "RareP@100", "alpha": 1.0, "test": test, "level": 0.05, "separated": separated,
         "printed": "3825" if test == "t-unpaired" else None}
        for test, separated in (("t-unpaired", 4111), ("hsd", 2222))
    ]  # fmt: skip
    ties = [
        {"measure": "RareP@100", "alpha": 1.0, "ties": ties, "stability": value,
         "printed": "0.684" if ties == "absolute" else None}
        for ties, value in (("absolute", 0.6543), ("none", 0.9876))
    ]  # fmt: skip
    text = written_page(made(table_1=power, table_2=ties), tmp_path)
    every, of_paper = ((tmp_path / f"latex/table_1{end}.tex").read_text() for end in ("_tests", ""))
    assert "4,111" in every
    assert "2,222" in every
    assert "4,111" in of_paper
    assert "2,222" not in of_paper
    assert "3825" in of_paper
    of_paper = (tmp_path / "latex/table_2.tex").read_text()
    assert "0.654" in of_paper
    assert "0.684" in of_paper
    assert "0.988" not in of_paper
    assert len(re.findall("The paper&#39;s [^,]*, as printed", text)) >= 6


def test_sections__state_the_options():
    options = InnovationOptions(
        k=20, rarity_depth=50, counted="groups", resamples=77, trials=88, draws=99, texts="docs.tsv"
    )
    text = texts(by_heading(made(), options))
    for expected in ("P@20", "AP@20", "S groups retrieve", "within rank 50", "77 permutations",
                     "88 trials", "99 draws", "up to 0.05"):  # fmt: skip
        assert expected in text, expected
    assert "--texts" not in text
    others = texts(by_heading(made(), InnovationOptions(counted="others")))
    assert "S systems of other groups retrieve" in others
    assert "Tables of docs count all systems." in others
    assert "--texts" in texts(by_heading(made()))


def test_sections__unknown_groups_and_types():
    known = [{"level": level, "track": "web"} for level in ("system", "group", "type")]
    rows = [{"level": "system"}, *known]
    found = notes(made(tracks=("news", "web"), contributions=rows))
    for kind in ("the groups of the systems", "the types of the runs"):
        (note,) = (note for note in found if f"On news, the store does not state {kind}" in note)
        assert note.endswith("is empty.")
    assert found.count("On news, each system is a group of its own.") == 2
    assert not any("web" in note and "absent" not in note for note in found)


def test_sections__conclusions_of_many_tracks_are_in_their_sections():
    tracks = tuple(f"t{i:02}" for i in range(11))
    rows = [system("s", 5, 1, track=track) for track in tracks]
    text = texts(by_heading(made(tracks=tracks, contributions=rows)))
    assert "On t03, s retrieves" not in text
    assert "The section of each track below states the conclusions." in text


def test_contributions__the_system_with_most_docs_and_with_most_unique_docs():
    rows = [system("a", 30, 0, share=0.5), system("b", 1200, 2, share=0.625), system("c", 7, 9)]
    greedy = [{"order": i, "share": share} for i, share in ((1, 0.6), (2, 0.95), (3, 1.0))]
    assert list(page.contributions(made(contributions=rows, greedy=greedy), "news")) == [
        "On news, b retrieves the most relevant docs (1,200, 62% of those that any system "
        "retrieves), c the most that no other system does (9); 2 of 3 systems cover 95%."
    ]
    alike = [system("b", 4, 0, share=1.0), system("a", 4, 0, share=1.0)]
    assert list(page.contributions(made(contributions=alike), "news")) == [
        "On news, a retrieves the most relevant docs (4, 100% of those that any system retrieves)."
    ]
    (one,) = page.contributions(made(contributions=[system("a", 4, 2, share=1.0)]), "news")
    assert "retrieves) and the most that no other system does (2)." in one
    assert not list(page.contributions(made(contributions=[system("a", 0, 0)]), "news"))


def test_rarity__docs_of_no_system_and_of_one():
    rows = [{"retrieved_by": n, "docs": docs} for n, docs in ((0, 2751), (1, 691), (2, 2632))]
    assert list(page.rarity(made(docs_by_holders=rows), "news")) == [
        "On news, 2,751 (45%) of 6,074 relevant docs are found by no system, and 691 (11%) by "
        "one system alone."
    ]
    assert not list(page.rarity(made(), "news"))


def test_labels__confirmed_docs_of_few_and_of_many_systems():
    def confirmed(of: str, by: str, **shares: float) -> Rows:
        return [{"relevant_in": of, "judged_in": by, "retrieved_by": held, "share": share}
                for held, share in shares.items()]  # fmt: skip

    rows = [*confirmed("a", "b", none=0.1, few=0.62, many=0.71),
            *confirmed("b", "a", few=1.0, many=math.nan)]  # fmt: skip
    assert list(page.labels(made(label_confirmations=rows), "news")) == [
        "On news, b confirms 62% of the docs relevant in a that few systems retrieve, and 71% of "
        "those that many do."
    ]


def test_power__separated_pairs_at_the_least_and_the_greatest_alpha():
    rows = [
        {"measure": m, "alpha": alpha, "test": test, "level": level, "pairs": 136}
        | {"separated": base + round(20 * alpha) + (level > 0.01)}
        for m in ("RareAP@100", "RareP@100")
        for test, base in (("hsd", 1000), ("t", 60))
        for alpha in (0.5, 0.0, 1.0) for level in (0.01, 0.05)
    ]  # fmt: skip
    text = "is 1,001 at alpha = 0 and 1,021 at alpha = 1 by hsd and 61 and 81 by t"
    of = "the number of significantly different pairs (of 136, level 0.05)"
    assert list(page.power(made(table_1=rows), "news")) == [
        f"On news, {of} by {m} {text}." for m in ("RareAP@100", "RareP@100")
    ]
    undefined = [row | {"percent": math.nan} for row in rows]
    assert not list(page.power(made(table_1=undefined), "news"))


def test_stability__by_the_rule_for_ties():
    rows = [
        {"measure": m, "alpha": alpha, "ties": ties, "stability": base + alpha / 100}
        for m in ("RareP(mix=convex)@100", "RareP@100")
        for ties, base in (("absolute", 0.5), ("none", 0.9)) for alpha in (0.0, 1.0)
    ]  # fmt: skip
    assert list(page.stability(made(table_2=rows), "news")) == [
        "On news, the stability of RareP@100 is 0.500 at alpha = 0 and 0.510 at alpha = 1 by "
        "absolute ties and 0.900 and 0.910 by no ties."
    ]


def test_swaps__when_the_best_is_dethroned():
    row = {"measure": "RareP@100", "pairs": 136, "swapped": 4, "best": "a"}
    rows = [row | {"alpha": 0.256, "next": "b"},
            row | {"measure": "RareAP@100", "alpha": None, "next": None}]  # fmt: skip
    assert list(page.swaps(made(dethroned=rows), "news")) == [
        "On news, 4 of 136 pairs change places by RareP@100 for an alpha up to 1; b is better than "
        "a above alpha = 0.256.",
        "On news, 4 of 136 pairs change places by RareAP@100 for an alpha up to 1; a stays the "
        "best.",
    ]
    (one,) = page.swaps(made(dethroned=[row | {"swapped": 1, "alpha": None}]), "news")
    assert "1 of 136 pairs changes places by RareP@100" in one
    (one,) = page.swaps(made(dethroned=[row | {"pairs": 1, "swapped": 0}]), "news")
    assert "0 of 1 pair changes places by RareP@100" in one
    assert not list(page.swaps(made(dethroned=[row | {"pairs": 0}]), "news"))


def test_gaming__furthest_fall_by_what_is_counted():
    def effects(attack: str, counted: str, target: str, before: float, after: float):
        return {"attack": attack, "counted": counted, "target": target, "system": f"{target}1",
                "measure": "RareP", "rank_before": before, "rank_after": after}  # fmt: skip

    rows = [
        effects("1 clone", "systems", "g", 3, 4), effects("20 clones", "systems", "g", 3, 7),
        effects("20 clones", "systems", "h", 1, 1), effects("20 clones", "groups", "g", 3, 3),
        effects("100 empty runs", "systems", "h", 1, 17),
    ]  # fmt: skip
    assert list(page.gaming(made(gaming_effects=rows), "news")) == [
        "On news, where groups add clones of their best system, g1 falls from rank 3 to 7 by RareP "
        "(20 clones) under counted=systems; no system falls under counted=groups."
    ]
    assert not list(page.gaming(made(), "news"))


def test_grades__rarest_and_most_common_docs():
    def shares(low: int, high: int, grade: int, share: float):
        return {"low": low, "high": high, "grade": grade, "share_at_least": share}

    rows = [shares(0, 0, 2, 0.9), shares(1, 1, 1, 1.0), shares(1, 1, 2, 0.05),
            shares(2, 4, 2, 0.1), shares(13, 17, 1, 1.0), shares(13, 17, 2, 0.23)]  # fmt: skip
    assert list(page.grades(made(rare_grades=rows), "news")) == [
        "On news, 5% of the relevant docs with S_d = 1 have grade 2 or above, and 23% of those "
        "with S_d = 13 to 17."
    ]
    binary = [row for row in rows if row["grade"] == 1]
    assert not list(page.grades(made(rare_grades=binary), "news"))


def test_pool__mean_fall_by_measure():
    rows = [
        {"system": s, "measure": m, "rank_before": 1.0, "rank_after": after}
        for m, falls in (
            ("P@100", (0.0, 1.5)),
            ("RareP@100", (5.0, math.nan)),
            ("AP@100", (0.95, 1)),
        )
        for s, after in zip("ab", falls, strict=True)
    ]
    assert list(page.pool(made(pool_bias=rows), "news")) == [
        "On news, a system that is left out of the pool and of S_d on average rises 0.2 places by "
        "P@100, falls 4.0 places by RareP@100 and keeps its place by AP@100."
    ]


def _of_news(tables: Tables) -> Iterator[tuple[str, pl.DataFrame]]:
    for name, frame in tables.items():
        yield name, frame.filter(track="news") if "track" in frame.columns else frame


def test_track_section__conclusions_figures_and_most_unique_systems(tmp_path: Path):
    rows = [system(f"s{i:02}", 5, i, share=0.5) for i in range(15)]
    tables = made(contributions=[*rows, system("other", 9, 99, track="web")])
    section = track_section(dict(_of_news(tables)), OPTIONS, "news")
    assert section.text[0].startswith("On news, s00 retrieves the most relevant docs (5, ")
    figures, most = section.show
    assert figures == "*"  # all of the track
    assert isinstance(most, Show)
    assert most.rows["name"] == [f"s{i:02}" for i in range(14, 4, -1)]
    assert "s14" in written_page(tables, tmp_path)


@pytest.mark.parametrize("used", [True, False])
def test_track_section__track_without_tables(used: bool):
    section = track_section(made(used=used), OPTIONS, "news")
    assert section.show == ["*"]
    assert not section.text


def test_track_section__added_runs_of_the_group_whose_system_moves_most():
    moved = [
        {"track": track, "target": target, "rank_before": 1.0, "rank_after": 1.0 + fall}
        for track, target, fall in (("news", "a", 1), ("news", "b", -2), ("web", "a", 3))
    ]
    tables = made(tracks=("news", "web"), gaming_effects=moved)
    (shown,) = track_section(dict(_of_news(tables)), OPTIONS, "news").show[1:]
    assert isinstance(shown, Show)
    assert shown.rows["target"] == ["b"]
    assert shown.caption == "Ranks after b adds runs: no system of another group moves more."
