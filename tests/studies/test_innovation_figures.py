"""The figures of the study of innovation, from small made tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from irmeta.report.theme import LINES, print_of, svg_of, to_spec, to_svg
from irmeta.schema.columns import by_name
from irmeta.studies.framework.study import Study, Tables
from irmeta.studies.framework.study_figures import Drawn
from irmeta.studies.papers.innovation.figures import FIGURES
from irmeta.studies.papers.innovation.study import GRID, TABLES, InnovationOptions
from support.charting import drawn_rows, texts
from support.study_tables import drawn_figures, headings, rows_as, shown

DECLARED = by_name(TABLES)
STUDY = Study("innovation", "", "", "", 1, InnovationOptions, TABLES, None, None, figures=FIGURES)
FAMILIES = ("RareP@100", "RareAP@100")
RARE = ("RareP(alpha=1)@100", "RareAP(alpha=1)@100")
T = {"track": "t"}
MINUS = "\u2212"
Rows = list[dict[str, Any]]


made = partial(rows_as, DECLARED)


def contributed(level: str, **unique: int) -> Rows:
    """Return rows of `contributions`, with twice as many docs of no other group."""
    of_group = 2 if level == "system" else None
    return [
        T | {"level": level, "name": name, "found": 40 + n, "share": 0.5, "unique": n}
        | {"unique_to_group": of_group and of_group * n}
        for name, n in unique.items()
    ]  # fmt: skip


def overlapping(systems: int) -> pl.DataFrame:
    return made("overlap", [
        T | {"place_a": a, "place_b": b, "system_a": f"s{a}", "system_b": f"s{b}",
             "jaccard": 1 / (b - a)}
        for a, b in combinations(range(1, systems + 1), 2)
    ])  # fmt: skip


def made_tables(**more: pl.DataFrame) -> Tables:
    tables = {
        "docs_by_holders": made("docs_by_holders", [
            T | {"retrieved_by": n, "counted": 3, "docs": 10 * n + 5} for n in range(4)
        ]),
        "figure_1": made("figure_1", [
            T | {"query": "q", "made": made, "alpha": alpha, "docs": d, "systems": 5,
                 "rank": max(1.0, 5 - d * (1 + alpha)) if made == "rare" else 4.0}
            for made in ("common", "rare") for alpha in (0.0, 0.5, 1.0)
            for d in range(1, 4 if made == "common" else 6)
        ]),
        "first_places": made("first_places", [
            T | {"query": "q", "relevant": 3, "median_relevant": 4, "alpha": alpha, "first": first,
                 "most": 5}
            for alpha, first in ((0.0, 4), (0.5, 3), (1.0, 2))
        ]),
        "figure_2": made("figure_2", [
            T | {"measure": m, "alpha": alpha, "method": method, "value": 1 - alpha * (n + 1) / 10}
            for n, m in enumerate(sorted(FAMILIES)) for alpha in GRID
            for method in ("tau-ap-b", "tau-b")
        ]),
        "table_3": made("table_3", [
            T | {"measure": m, "alpha": 1.0, "systems": n, "tau_b": tau}
            for m in FAMILIES for n, tau in ((2, 0.5), (4, 0.75))
        ]),
        "contributions": made("contributions", [
            *contributed("group", g=3, h=0), *contributed("system", a=0, b=2, c=7),
            *contributed("type", automatic=9),
        ]),
        "greedy": made("greedy", [T | {"order": i, "share": i / 3} for i in (1, 2, 3)]),
        "overlap": overlapping(3),
        "swaps": made("swaps", [
            T | {"measure": "RareP@100", "system_a": "a", "system_b": b, "alpha": alpha}
            for b, alpha in (("b", 0.25), ("c", 0.755))
        ]),
        "dethroned": made("dethroned", [
            T | {"measure": m, "pairs": 10} for m in FAMILIES
        ]),
        "gaming_effects": made("gaming_effects", [
            T | {"target": g, "attack": "5 clones", "counted": counted, "measure": m, "system": g,
                 "rank_before": 2.0, "rank_after": 2.0 + fall}
            for m in RARE for counted, falls in (("systems", (3, -1)), ("groups", (0, 0)))
            for g, fall in zip("gh", falls, strict=True)
        ]),
        "rare_grades": made("rare_grades", [
            T | {"low": low, "high": low + low // 2, "grade": grade, "docs": 100 * (low + 1),
                 "share_at_least": 1.0 if grade == 1 else 0.05 * low}
            for low in (0, 1, 2) for grade in (1, 2)
        ]),
        "pool_bias": made("pool_bias", [
            T | {"left_out": s, "system": s, "measure": m, "rank_before": 1.0, "rank_after": 4.3}
            for m in ("P@100", "RareP(alpha=1)@100") for s in "ab"
        ]),
    }  # fmt: skip
    studied = {"studied_tracks": pl.DataFrame({"track": ["t"], "used": True})}
    return tables | studied | more


drawn = partial(drawn_figures, STUDY)


def curves(one: Drawn) -> dict[tuple[str, str], dict[float, float]]:
    """Return the points of the curves of a figure by pane and name."""
    found: dict[tuple[str, str], dict[float, float]] = {}
    for row in drawn_rows(one.draw()):
        if "style" in row:
            found.setdefault((row["pane"], row["name"]), {})[row["x"]] = row["y"]
    return found


@pytest.fixture(scope="module")
def figures() -> Mapping[str, Drawn]:
    return drawn(made_tables(), None) | drawn(made_tables())


def test_figures__all_are_drawn_with_caption_and_reading(figures: Mapping[str, Drawn]):
    gaming = [f"gaming_{m}_alpha_1_100" for m in ("rarep", "rareap")]
    assert list(figures) == [
        "figure_2_tracks", "fewer_systems", "greedy", "swaps", "docs_by_holders", "figure_1",
        "figure_2", "contributions_group", "contributions_system", "overlap", *gaming,
        "rare_grades", "pool_bias",
    ]  # fmt: skip
    cut, widths = [], set()

    def draw(spec: dict[str, Any], formats: Any, ppi: int) -> dict[str, bytes]:
        svg = svg_of(spec)
        widths.add(ElementTree.fromstring(svg).get("width"))
        cut.extend(line for line in texts(svg).split("\n") if line.endswith("\u2026"))
        return {}

    for name, one in figures.items():
        chart = one.draw()
        assert ElementTree.fromstring(to_svg(chart)).get("width") == "520", name
        print_of(to_spec(chart), ["png"], draw=draw)
        assert one.caption.endswith("."), name
        assert one.reading.endswith("."), name
    assert widths == {"420"}
    assert not cut, "these texts do not fit a column of print"


def test_figures__names_of_measures_with_many_parameters():
    choices = {"rel": 2, "rarity_depth": 50, "rarity": "idf", "counted": "groups", "k": 20}
    options = InnovationOptions(**choices)
    names = dict(zip(FAMILIES, options.families(), strict=True))
    names |= {m: options.name(m.split("(")[0], 1.0) for m in RARE}
    assert names["RareP@100"] == "RareP(rarity=idf,counted=groups,depth=50,rel=2)@20"
    tables = {
        name: frame.with_columns(pl.col("measure").replace(names)) if "measure" in frame else frame
        for name, frame in made_tables().items()
    }
    found = drawn(tables, None, **choices) | drawn(tables, **choices)
    drawing = found["figure_2"], found["figure_2_tracks"], found["swaps"], found["fewer_systems"]
    assert [len(curves(one)) for one in drawing] == [4, 2, 2, 2], "the paper has no such measure"
    assert headings(found["swaps"])[0] == "(a) RareP@20: pairs that changed"
    assert {"P@100", "RareP@20"} <= {*shown(found["pool_bias"])}
    for name in ("figure_1", "figure_2", "figure_2_tracks", "swaps", "pool_bias"):
        assert "rarity=idf" in found[name].caption, name
        assert not any("rarity=idf" in line for line in shown(found[name])), name


def test_docs_by_holders__names_what_is_counted():
    found = drawn(made_tables(), counted="groups", rarity_depth=20)["docs_by_holders"]
    assert found.caption.startswith("Relevant docs by the number of groups that retrieve them")
    assert "within rank 20" in found.caption
    assert "t: how many groups retrieve a relevant doc" in shown(found)
    others = drawn(made_tables(), counted="others")["docs_by_holders"]
    assert "t: how many systems retrieve a relevant doc" in shown(others)


def test_figure_1__a_line_per_alpha_and_the_first_rank(figures: Mapping[str, Drawn]):
    one = figures["figure_1"]
    found = curves(one)
    assert {pane: [n for p, n in found if p == pane] for pane, _ in found} == {
        made: ["alpha = 0", "alpha = 0.5", "alpha = 1"] for made in ("common", "rare")
    }
    assert found["rare", "alpha = 1"] == {1: 3, 2: 1, 3: 1, 4: 1, 5: 1}
    assert [*found["common", "alpha = 1"]] == [1, 2, 3]
    assert "on query q, which has 3 relevant docs (median of the track: 4)" in one.caption
    assert "D = 2 (alpha = 1), D = 3 (alpha = 0.5) and D = 4 (alpha = 0)" in one.caption
    assert "by RareP@100, among 4 systems and itself; 1 is best" in shown(one)


def test_figure_1__never_first():
    places = made_tables()["first_places"]
    some = places.with_columns(first=pl.when(alpha=1).then("first"))
    caption = drawn(made_tables(first_places=some))["figure_1"].caption
    assert (
        "alone on rank 1 from D = 2 (alpha = 1) on and not alone on rank 1 up to D = 5" in caption
    )
    assert "(alpha = 0 and alpha = 0.5)" in caption


def test_figure_2__both_correlations_marked_at_the_alphas_of_the_paper(
    figures: Mapping[str, Drawn],
):
    one = figures["figure_2"]
    assert headings(one) == ["(a) tau-b", "(b) tau_AP,b"]
    assert [*curves(one)] == [(p, m) for p in ("tau-b", "tau-ap-b") for m in FAMILIES]
    assert curves(one)["tau-b", "RareP@100"][0.5] == pytest.approx(0.9)
    spec = to_spec(one.draw())
    marks = {
        tuple(row["x"] for row in spec["datasets"][layer["data"]["name"]][:5])
        for pane in spec["concat"] for layer in pane["layer"] if layer["mark"]["type"] == "point"
    }  # fmt: skip
    assert marks == {(0, 0.25, 0.5, 0.75, 1)}


def test_figure_2_tracks__tau_b_only(figures: Mapping[str, Drawn]):
    assert headings(figures["figure_2_tracks"]) == [
        f"({letter}) {name}: tau-b" for letter, name in zip("ab", FAMILIES, strict=True)
    ]
    assert [*curves(figures["figure_2_tracks"])] == [(name, "t") for name in FAMILIES]


def test_figures_over_tracks__a_track_has_the_colour_of_its_place_among_all():
    studied = pl.DataFrame({"track": ["a", "gone", "t"], "used": [True, False, True]})
    found = drawn(made_tables(studied_tracks=studied), None)
    for name in ("figure_2_tracks", "fewer_systems", "greedy", "swaps"):
        colours = [
            layer["encoding"]["color"]["scale"]
            for layer in to_spec(found[name].draw())["concat"][0]["layer"]
            if layer["encoding"].get("color", {}).get("field") == "name"
        ]
        places = [scale["domain"].index("t") for scale in colours]
        assert places, name
        assert {scale["range"][n] for scale, n in zip(colours, places, strict=True)} == {LINES[2]}


def test_fewer_systems__the_paper_is_dashed_beside(figures: Mapping[str, Drawn]):
    rows = [row for row in drawn_rows(figures["fewer_systems"].draw()) if "style" in row]
    paper = {(r["pane"], r["x"]): r["y"] for r in rows if "name" not in r}
    assert paper["RareP@100, alpha = 1", 2] == 0.97
    assert paper["RareAP@100, alpha = 1", 64] == 0.996
    assert {(r["x"], r["y"]) for r in rows if "name" in r} == {(2, 0.5), (4, 0.75)}
    legend = shown(figures["fewer_systems"])
    assert "TREC-8, printed in Table 3 of the paper" in legend
    assert "TREC-8" not in legend, "no track"


def test_fewer_systems__several_alphas():
    rows = made_tables()["table_3"]
    both = pl.concat([rows, rows.with_columns(alpha=pl.lit(0.5))])
    one = drawn(made_tables(table_3=both), None)["fewer_systems"]
    assert [text for text in headings(one) if "RareP" in text] == [
        "(a) RareP@100, alpha = 1: tau-b",
        "(c) RareP@100, alpha = 0.5: tau-b",
    ]
    rows = [row for row in drawn_rows(one.draw()) if "style" in row]
    assert {row["pane"][-9:] for row in rows if "name" not in row} == {"alpha = 1"}


def test_contributions__systems_that_alone_retrieve_docs(figures: Mapping[str, Drawn]):
    one = figures["contributions_system"]
    lines = shown(one)
    assert [line for line in lines if line in ("a", "b", "c")] == ["c", "b"], "best first"
    assert "2 of 3 systems; filled: no other system; ring: no other group" in lines
    assert "47 (50%)" in lines
    assert "1 of 2 groups; docs of no other group" in shown(figures["contributions_group"])


def test_contributions__at_most_40_of_many_systems():
    rows = contributed("system", **{f"s{i}": i for i in range(143)})
    one = drawn(made_tables(contributions=made("contributions", rows)))["contributions_system"]
    lines = shown(one)
    names = [line for line in lines if re.fullmatch(r"s\d+", line)]
    assert names == [f"s{i}" for i in range(142, 102, -1)]
    assert any(line.startswith("40 of 143 systems") for line in lines)


def test_overlap__numbers_of_few_systems_and_bands_of_many(figures: Mapping[str, Drawn]):
    few = [line for line in shown(figures["overlap"]) if re.fullmatch(r"s\d|\d\.\d\d", line)]
    assert sorted(few) == ["0.50", "1.00", "1.00", "s1", "s2", "s2", "s3"]
    many = drawn(made_tables(overlap=overlapping(30)))["overlap"]
    strips = [row for row in drawn_rows(many.draw()) if row["y"] == 1]
    assert sum(row["stop"] - row["start"] for row in strips) == 30
    assert strips[0]["band"] == "0.8 or more"
    assert (strips[-1]["band"], strips[-1]["stop"]) == ("below 0.1", 30.5)


def test_swaps__share_of_pairs_up_to_each_alpha(figures: Mapping[str, Drawn]):
    found = curves(figures["swaps"])
    rare = found["RareP@100", "t"]
    assert [rare[x] for x in (0, 0.24, 0.25, 0.75, 0.76, 1)] == [0, 0, 0.1, 0.1, 0.2, 0.2]
    assert set(found["RareAP@100", "t"].values()) == {0}


def test_gaming__places_by_attack_and_what_is_counted(figures: Mapping[str, Drawn]):
    one = figures["gaming_rarep_alpha_1_100"]
    lines = shown(one)
    assert [line for line in lines if "clones" in line] == [
        "5 clones, systems", "5 clones, groups"
    ]  # fmt: skip
    assert "RareP@100; one dot per group, 2 groups: its best system; tick: mean" in lines
    dots = re.findall(r"<title>([gh]: [^<]*)</title>", to_svg(one.draw()))
    assert sorted(dots) == ["g: 0.0", "g: 3.0", "h: 0.0", f"h: {MINUS}1.0"]


def test_rare_grades__share_of_higher_grades_from_one_system_on(figures: Mapping[str, Drawn]):
    one = figures["rare_grades"]
    assert headings(one) == ["share of the relevant docs with grade 2 or above"]
    assert curves(one)["", "grade 2 or above"] == {1: 0.05, 2: 0.1, 3: 0.1}
    assert {"200", "300"} <= {*shown(one)}
    assert "rare_grades" not in drawn(made_tables(), rel=2)


def test_pool_bias__places_by_measure(figures: Mapping[str, Drawn]):
    lines = shown(figures["pool_bias"])
    assert lines.count("3.3") == 2
    assert "one dot per system, 2 systems; tick: mean" in lines
