"""Tables over tracks: groups of tracks in a file, and means with one vote for each track."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, UsageError
from irmeta.report.table_grid import grid
from irmeta.studies.framework.study import Show
from irmeta.studies.framework.track_groups import groups_of, over_tracks, show_over_tracks
from irmeta.studies.papers.depth.compute import table_5_tracks, table_7_tracks
from irmeta.studies.papers.depth.study import OVER_TRACKS as DEPTH
from irmeta.studies.papers.depth.study import DepthOptions
from irmeta.studies.papers.innovation.study import OVER_TRACKS as INNOVATION
from irmeta.studies.papers.innovation.study import InnovationOptions
from support.undrawn import draw_nothing

TABLE_2 = INNOVATION["table_2"]
NAN = float("nan")


def written(folder: Path, *lines: str) -> str:
    file = folder / "groups.csv"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def stability(**by_track: float) -> pl.DataFrame:
    """Rows of one measure, alpha and rule for ties."""
    row = {"measure": "RareP@100", "alpha": 1.0, "ties": "absolute"}
    return pl.DataFrame([{"track": t, **row, "stability": v} for t, v in by_track.items()])


def test_over_tracks__means_and_deviations_of_all_and_of_each_group(tmp_path: Path):
    lines = ("track,group", "a,web", "b,web", "c,newswire", "d,newswire", "e,web")
    options = InnovationOptions(track_groups=written(tmp_path, *lines))
    tables = {"table_2": stability(a=0.1, b=0.4, c=0.7, d=NAN)}
    rows = over_tracks(TABLE_2, tables, options) or []
    columns = ("group", "stability", "stability_sd", "stability_tracks", "tracks")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("all tracks", pytest.approx(0.4), pytest.approx(0.3), 3, 4),
        ("newswire", pytest.approx(0.7), pytest.approx(NAN, nan_ok=True), 1, 2),
        ("web", pytest.approx(0.25), pytest.approx(0.045**0.5), 2, 2),
    ]
    made = TABLE_2.frame(rows)
    show = Show("table_2_tracks", ("measure", "alpha", "group", "stability"), pivot="group")
    (shown,) = show_over_tracks({"table_2_tracks": made}, show)
    sizes = "all tracks (4), newswire (2) and web (2)"
    assert shown.about[""] == f"Mean \u00b1 standard deviation over tracks: {sizes}."
    cells = grid(TABLE_2, made, columns=shown.columns, pivot="group")
    texts = [cell.text for cell in cells.rows[0]]
    assert texts == ["RareP@100", "1", "0.400 \u00b1 0.300", "0.700", "0.250 \u00b1 0.212"]


def test_over_tracks__one_group_without_a_file_and_no_table_of_one_track():
    tables, options = {"table_2": stability(a=0.1, b=0.4)}, InnovationOptions()
    assert [row["group"] for row in over_tracks(TABLE_2, tables, options) or []] == ["all tracks"]
    assert over_tracks(TABLE_2, tables, options, frame=stability(a=0.1)) is None
    assert show_over_tracks({"table_2_tracks": TABLE_2.empty()}, Show("table_2_tracks")) == []


def test_depth__tracks_of_unknown_depth_or_contributors_are_in_no_mean():
    facts = {"a": ("given", "exact"), "b": ("estimated", "at most"), "c": ("default", "exact"),
             "d": ("given", "at least")}  # fmt: skip
    collections = [{"track": t, "depth_source": s, "depth_bound": b} for t, (s, b) in facts.items()]
    lost = {"level": "run", "judgments": "pool", "delta_rank": 1.0}
    ratios = {"measure": "ERR", "lists": "full", "k": 1, "coverage": 0.5, "inversion": 0.0}
    tables = {
        "collections": pl.DataFrame(collections),
        "table_5": pl.DataFrame(
            [{"track": t, "measure": f"ERR@{n}", "depth": n, "delta_percent": -n, **lost}
             for n, t in enumerate(facts, 1)]
        ),
        "table_7": pl.DataFrame(
            [{"track": t, "depth": n, "discrimination": n / 10, **ratios}
             for n, t in enumerate(facts, 1)]
        ),
    }  # fmt: skip
    (row,) = table_5_tracks(tables, DepthOptions()) or []
    assert (row["measure"], row["tracks"], row["delta_percent"]) == ("ERR", 2, -1.5)
    (row,) = table_7_tracks(tables, DepthOptions()) or []
    assert (row["tracks"], row["discrimination"]) == (3, pytest.approx((0.1 + 0.2 + 0.4) / 3))


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        (["track,kind", "a,web"], DataError, "groups.csv.*kind"),
        (["track,year", "a,2012"], DataError, "has no column 'group'.*track and group"),
        (["track,group", "a,web", "b,"], UsageError, "no group of track 'b'.*Add a line b,GROUP"),
        (["track,group", "a,web", "a,news"], DataError, "line 2: a track twice"),
        (["track,group", "a,all tracks"], DataError, "is the name of all tracks together"),
        (["track,group", "aa,web"], UsageError, "no group of track 'a'. Did you mean 'aa'"),
    ],
)
def test_groups__file_line_and_what_to_do(tmp_path: Path, lines, error, message):
    with pytest.raises(error, match=message):
        groups_of(written(tmp_path, *lines), ["a", *(["b"] if "b," in lines else [])])


def test_groups__no_such_file(tmp_path: Path):
    with pytest.raises(UsageError, match=r"absent\.csv"):
        groups_of(str(tmp_path / "absent.csv"), ["a"])


def test_groups__results_of_tracks_do_not_depend_on_them(tmp_path: Path):
    file = written(tmp_path, "track,group", "a,web")
    for options in (InnovationOptions, DepthOptions):
        grouped = options(track_groups=file)
        assert grouped.of_tracks() == options()
        assert grouped.of_tracks().files == {} != grouped.files
        assert replace(grouped, rel=2).of_tracks() == options(rel=2)


@pytest.mark.study
def test_study__tables_and_figures_over_groups_without_computing_tracks_again(
    made_store: irmeta.Store, tmp_path: Path
):
    lines = [
        "track,group",
        *(f"{t},{'news' if t == 'news' else 'rest'}" for t in made_store.tracks),
    ]
    choices = {"pool_depths": [3], "ks": [1, 3, 5], "compared_systems": 2}
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched)
        made = irmeta.studies.depth(made_store, tmp_path / "d", **choices)
        assert made.tables["table_7_tracks"]["group"].unique().to_list() == ["all tracks"]
        parts = {f: f.stat().st_mtime_ns for f in (tmp_path / "d").rglob("table_9.parquet")}
        assert parts.pop(tmp_path / "d" / "table_9.parquet")
        assert len(parts) == 3
        with pytest.raises(UsageError, match="no group of track"):
            irmeta.studies.depth(
                made_store, tmp_path / "e", track_groups=written(tmp_path, *lines[:2]), **choices
            )
        file = written(tmp_path, *lines)
        made = irmeta.studies.depth(made_store, tmp_path / "d", track_groups=file, **choices)
    assert {f: f.stat().st_mtime_ns for f in parts} == parts, "no track is computed again"
    groups = made.tables["table_7_tracks"]["group"].unique().sort().to_list()
    assert groups == ["all tracks", "news", "rest"]
    key = {"measure": "nDCG", "lists": "full", "k": 5}
    tracks = made.tables["table_7"].filter(**key)
    mean, sd, number = tracks.select(
        pl.col("discrimination").mean().alias("mean"),
        pl.col("discrimination").std().alias("sd"),
        pl.len().alias("number"),
    ).row(0)
    row = made.tables["table_7_tracks"].filter(group="all tracks", **key).row(0, named=True)
    shown = row["discrimination"], row["discrimination_sd"], row["tracks"]
    assert shown == (pytest.approx(mean), pytest.approx(sd), number)
    cells = made.scan("volatility").filter(measure_a="nDCG", measure_b="nDCG", k_a=1, k_b=2)
    over = made.tables["volatility_tracks"].filter(
        group="all tracks", measure_a="nDCG", k_a=1, k_b=2
    )
    values = cells.collect()["value"].drop_nans()
    assert over["value"].to_list() == pytest.approx([values.mean()])
    assert {"figure_5_tracks", "figure_6_tracks"} <= {*made.figures}
    assert (tmp_path / "d" / "latex" / "table_7_tracks.tex").exists()
    assert {*DEPTH} == {"table_5", "table_7", "table_9"}
