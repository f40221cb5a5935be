"""Sections of pages, from small tables made by hand; `tests/manifest` has what they say."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from irmeta.studies.framework.recorded_files import ALL, RecordedFiles
from irmeta.studies.framework.registry import find
from irmeta.studies.framework.study import Figure, Section, Show, Tables
from irmeta.studies.framework.study_page import write_page
from irmeta.studies.papers.depth.page import guidance, reusability
from irmeta.studies.papers.depth.study import STUDY as DEPTH
from irmeta.studies.papers.depth.study import DepthOptions
from irmeta.studies.papers.innovation.study import STUDY as INNOVATION
from support.study_tables import filled_tables

AP = "AP(norm=min)"
READING = ("depth", "innovation", "preference", "search-length", "trust")
of_papers = pytest.mark.parametrize("study", [DEPTH, INNOVATION], ids=lambda study: study.name)


def pool(track: str = "news", **facts: Any) -> dict[str, Any]:
    """Return a row of the table `collections` of the study of depth."""
    known = {"depth": "20", "depth_source": "comprehensive", "depth_bound": "exact", "groups": 3}
    return {"track": track, **known, "judged": 9, "relevant": 4, **facts}


def empty(study: Any) -> Tables:
    return filled_tables(study, **({"collections": [pool()]} if study is DEPTH else {}))


def by_heading(study: Any, tables: Tables, options: Any = None) -> dict[str, Section]:
    made = study.call("sections", tables, options or study.options())
    return {section.heading: section for section in made}


def notes(study: Any, tables: Tables) -> list[str]:
    return [note for section in by_heading(study, tables).values() for note in section.notes]


def shows(sections: dict[str, Section]) -> list[Show]:
    return [one for section in sections.values() for one in section.show if isinstance(one, Show)]


@pytest.mark.parametrize(("study", "number"), [(DEPTH, 11), (INNOVATION, 12)])
def test_sections__every_table_empty(study: Any, number: int):
    absent = [note for note in notes(study, empty(study)) if "absent on" in note]
    assert len(absent) == number
    assert all("news" in note for note in absent)


@pytest.mark.parametrize("name", READING)
def test_sections__no_used_track(name: str):
    study = find(name)
    assert "news is left out: 1 system." in notes(study, filled_tables(study, used=False))


@of_papers
def test_sections__contradictions_and_printed_numbers_of_the_paper_once_each(study: Any):
    page = import_module(f"irmeta.studies.papers.{study.name}.page")
    said = notes(study, empty(study))
    for slip in (slip for slips in page.SLIPS.values() for slip in slips):
        assert said.count(slip) == 1, slip
    printed = [show for show in shows(by_heading(study, empty(study)))
               if show.table == "paper_numbers"]  # fmt: skip
    items = [show.rows["item"][0] for show in printed]
    assert set(items) == {row["item"] for row in study.printed}
    assert len(items) == len(set(items)) == len({show.name for show in printed})


@of_papers
@pytest.mark.parametrize("used", [True, False])
def test_track_section__track_without_tables(study: Any, used: bool):
    section = study.call("track_section", filled_tables(study, used), study.options(), "news")
    assert not section.text
    assert section.show == ["*"]  # all figures of the track


def test_sections__figures_over_tracks_of_innovation():
    shown = [one for section in by_heading(INNOVATION, empty(INNOVATION)).values()
             for one in section.show]  # fmt: skip
    named = [one for one in shown if isinstance(one, str) and one not in INNOVATION.by_table]
    assert named == ["figure_2_tracks", "fewer_systems", "greedy*", "swaps*"]
    over_tracks = {figure.name for figure in INNOVATION.drawn if figure.by == "all"}
    assert over_tracks == {name.removesuffix("*") for name in named}


def test_sections__unknown_groups_and_types_in_innovation():
    known = [{"level": level, "track": "web"} for level in ("system", "group", "type")]
    rows = [{"level": "system"}, *known]
    tables = filled_tables(INNOVATION, tracks=("news", "web"), contributions=rows)
    said = notes(INNOVATION, tables)
    for kind in ("the groups of the systems", "the types of the runs"):
        (note,) = (note for note in said if f"On news, the store does not state {kind}" in note)
        assert note.endswith("is empty.")
    assert said.count("On news, each system is a group of its own.") == 2
    assert not any("web" in note and "absent" not in note for note in said)


def test_track_section__added_runs_of_the_group_whose_system_moves_most():
    moved = [
        {"track": track, "target": target, "rank_before": 1.0, "rank_after": 1.0 + fall}
        for track, target, fall in (("news", "a", 1), ("news", "b", -2), ("web", "a", 3))
    ]
    tables = {
        name: frame.filter(track="news") if "track" in frame.columns else frame
        for name, frame in filled_tables(INNOVATION, gaming_effects=moved).items()
    }
    section = INNOVATION.call("track_section", tables, INNOVATION.options(), "news")
    (shown,) = (one for one in section.show if isinstance(one, Show))
    assert shown.rows["target"] == ["b"]
    assert shown.caption == "Ranks after b adds runs: no system of another group moves more."


def test_sections__papers_numbers_beside_ours_on_its_collections_alone(tmp_path: Path):
    def row(track: str, k: int) -> dict[str, Any]:
        return {"track": track, "measure": AP, "lists": "condensed", "k": k, "depth": 20}

    paper_pool = pool("cw", contributors=21, comprehensive_depth=20)
    tables = filled_tables(DEPTH, tracks=("cw", "news"), collections=[paper_pool, pool()],
                           table_7=[row("cw", 1), row("cw", 20), row("news", 1)])  # fmt: skip
    figures = [Figure(f.name, "table_7", lambda *_: None, "") for f in DEPTH.drawn]
    files = RecordedFiles(tmp_path, ALL)
    files.start(formats=["svg"])
    study, record = replace(DEPTH, figures=figures), {"irmeta": "0", "tracks": {}}
    write_page(study, files, tables, DepthOptions(), ("cw", "news"), record)
    cw, news = ((tmp_path / f"latex/table_8_{t}.tex").read_text() for t in ("cw", "news"))
    assert "Disc. & paper & Covr. & paper & Invr. & paper" in cw
    assert "& 30.0 & 50.0 & 47.4 & 50.0 & 14.9" in cw
    assert "paper &" not in news


def test_sections__estimated_depth_is_never_called_comprehensive():
    tables = filled_tables(
        DEPTH,
        collections=[pool(depth="7", depth_source="estimated", comprehensive_depth=0)],
        reusability=[{"level": "run", "judgments": "pool", "measure": AP, "verdict": "reusable"}],
        guidance=[{"depth": 7, "lists": "full", "measure": AP, "k_low": 5, "k_high": 20}],
        table_7=[{"measure": AP, "lists": "full", "k": 20, "reference_k": 7}],
    )
    said = " ".join(notes(DEPTH, tables))
    assert "so d is estimated: the greatest rank with at least 0.95 of the docs" in said
    for sentences in (reusability(tables, "news"), guidance(tables, "news")):
        (sentence,) = sentences
        assert "on news (estimated depth of the pool: 7)" in sentence.lower()
    about = [dict(show.about) for show in shows(by_heading(DEPTH, tables)) if show.about]
    assert about
    stated = {"": "news: d = 7 (estimated).", "news": "d = 7 (estimated)"}
    assert all(one == stated for one in about)


def test_sections__requested_cutoffs_replace_those_of_the_paper():
    tables = filled_tables(DEPTH, collections=[pool()], table_7=[{"reference_k": 12}])
    of_paper, requested = ([1, 4, 10, 12, 40, 100, 400, 1000], [5, 7, 12])
    for options, cutoffs in ((DepthOptions(), of_paper), (DepthOptions(ks=(7, 5)), requested)):
        shown = by_heading(DEPTH, tables, options)["Residuals (Section 4, Table 9)"].show
        assert isinstance(shown[0], Show)
        assert shown[0].rows["k"] == cutoffs


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
    of_condition, none = (
        notes(DEPTH, filled_tables(DEPTH, tracks=("news", "web"), collections=[news, pool("web")]))
        for news in (pool(**facts), pool())
    )
    assert any(expected in note for note in of_condition)
    assert not any(expected in note for note in none)
    assert not any(expected in note and "web" in note for note in of_condition)
