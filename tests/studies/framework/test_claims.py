"""Claims of a paper: conditions, verdicts on tracks and over them, table, page and command."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.cli.display import ENDINGS
from irmeta.errors import IrmetaError, UsageError
from irmeta.studies.framework import registry
from irmeta.studies.framework.claim_print import MOST_TRACKS, claim_table
from irmeta.studies.framework.claims import (
    SHARES,
    CannotBeSaid,
    Claim,
    Condition,
    Found,
    cell,
    claim_rows,
    minus,
    over_rows,
    value,
)
from irmeta.studies.framework.study import CLAIMS, STUDIED_TRACKS, Tables
from irmeta.studies.framework.study_results import StudyResults, differences
from support import tiny
from support.tiny import TinyOptions
from twins import claims as naive

CONDITIONS = ("> 0.5", ">= 0.5", "< 0.5", "<= 0.5", "0.25 to 0.75")
NUMBERS = st.sampled_from([0.0, 0.25, 0.5 - 1e-13, 0.5, 0.5 + 1e-13, 0.6, 0.75, 1.0, math.nan])


def best(tables: Tables) -> Found:
    top = value(tables, "values", "value", system="s0", measure="AP")
    return Found(top, "by s0", "0.9")


def claims_of(options: TinyOptions) -> Iterator[Claim]:
    """Yield claims that hold, do not hold and cannot be said, over tracks in each way."""
    yield Claim("good", "s0 is good.", "Section 1", "AP of s0", best, "> 0.1", "all", "all 0.9",
                about="queries")  # fmt: skip
    yield Claim("perfect", "s0 is perfect.", "Section 1", "AP of s0", best, ">= 1", "mean", "1",
                about="queries")  # fmt: skip
    yield Claim("unknown", "s9 is there.", "Table 2", "AP of s9",
                cell("values", "value", system="s9", measure="AP"), "> 0",
                about="queries")  # fmt: skip
    yield Claim("large", "Tracks are large.", "Section 2", "systems",
                cell("studied_tracks", "systems"), "> 2")  # fmt: skip
    yield Claim("total", "Some system is best.", "Table 9", "best AP",
                cell("total", "best", measure="AP"), "> 0", "once", "0.9", check=True)  # fmt: skip


CLAIMED = replace(tiny.STUDY, name="claimed", claims=claims_of)


def studied(*left_out: str, **systems: int) -> pl.DataFrame:
    """Return the table `studied_tracks` of tracks with some numbers of systems."""
    return pl.DataFrame([
        {"track": track, "systems": count, "used": track not in left_out,
         "left_out": "saturated" if track in left_out else None,
         "not_compared": f"{count} systems, fewer than 5" if count < 5 else None}
        for track, count in systems.items()
    ])  # fmt: skip


def verdicts(tables: Tables, *claims: Claim) -> pl.DataFrame:
    """Return the table `claims`, checked against its schema."""
    study = replace(tiny.STUDY, claims=lambda options: iter(claims))
    return CLAIMS.frame(claim_rows(study, tables, TinyOptions()))


@given(NUMBERS, st.sampled_from(CONDITIONS))
def test_condition__equals_twin(number: float, condition: str):
    assert Condition.of(condition)(number) == naive.meets(number, condition)


@pytest.mark.parametrize("text", ["", "0.5", "> a", "=> 1", "1 to", "1 - 2", "> 1 to 2"])
def test_condition__another_text_is_an_error(text: str):
    with pytest.raises(IrmetaError, match="not a condition of a claim"):
        Condition.of(text)


def test_condition__in_words():
    texts = [Condition.of(text).text(lambda bound: f"{bound:.0%}") for text in CONDITIONS]
    assert texts == ["above 50%", "at least 50%", "below 50%", "at most 50%", "25% to 75%"]


@given(
    st.lists(NUMBERS | st.none(), min_size=1, max_size=12),
    st.sampled_from(CONDITIONS),
    st.sampled_from([*SHARES, "mean"]),
)
def test_verdicts__equal_twin(numbers: list[float | None], condition: str, over: str):
    tracks = {f"t{i:02}": number for i, number in enumerate(numbers)}
    known = {track: number for track, number in tracks.items() if number is not None}
    tables = {
        STUDIED_TRACKS.name: studied(**dict.fromkeys(tracks, 5)),
        "numbers": pl.DataFrame({"track": [*known], "number": [*known.values()]},
                                schema={"track": pl.String, "number": pl.Float64}),
    }  # fmt: skip
    claim = Claim("c", "C.", "1", "n", cell("numbers", "number"), condition, over)  # type: ignore[arg-type]
    found = verdicts(tables, claim)
    assert found["track"].to_list() == [None, *tracks]
    expected = [naive.on_track(number, condition) for number in numbers]
    assert found["verdict"].to_list() == [naive.over_tracks(numbers, condition, over), *expected]
    row = found.row(0, named=True)
    decided = [one for one in expected if one != naive.OPEN]
    assert (row["tracks"], row["holding"]) == (len(decided), decided.count(naive.HOLDS))
    is_open = row["verdict"] == naive.OPEN
    assert [math.isnan(row["number"]), row["shown"] is None] == [is_open, is_open]


def test_verdicts__left_out_and_small_tracks_cannot_be_said():
    def crash(tables: Tables) -> float:
        raise AssertionError("not asked")

    tables = {STUDIED_TRACKS.name: studied("a", a=9, b=4)}
    found = verdicts(tables, Claim("c", "C.", "1", "n", crash, "> 0"))
    assert found["verdict"].unique().to_list() == ["cannot be said"]
    assert found["why"].to_list() == [
        "it cannot be said on any track",
        "the track is left out: saturated",
        "4 systems, fewer than 5",
    ]


def test_verdicts__statistic_over_tracks_and_once():
    tables = {
        STUDIED_TRACKS.name: studied(a=5, b=5),
        "n": pl.DataFrame({"track": ["a", "b"], "v": [1.0, 3.0]}),
        "all": pl.DataFrame({"v": [7.0]}),
    }
    pooled = Claim("p", "P.", "1", "v", cell("n", "v"), "> 2", cell("all", "v"), "5")
    once = Claim("o", "O.", "1", "v", cell("all", "v"), "> 9", "once", "8", ".1f")
    rows = verdicts(tables, pooled, once).select(
        "claim", "track", "number", "shown", "condition", "verdict", "printed", "tracks", "holding"
    )
    assert rows.rows() == [
        ("p", None, 7.0, "7.000", "above 2.000", "holds", "5", 2, 1),
        ("o", None, 7.0, "7.0", "above 9.0", "does not hold", "8", None, None),
        ("p", "a", 1.0, "1.000", "above 2.000", "does not hold", None, None, None),
        ("p", "b", 3.0, "3.000", "above 2.000", "holds", None, None, None),
    ]


def test_statistics__numbers_of_rows_and_why_there_is_none():
    tables = {
        "t": pl.DataFrame({"m": ["a", "b", "c"], "v": [1.0, 3.0, math.nan], "n": [2, None, 4]})
    }
    assert value(tables, "t", "v", m="a") == 1.0
    assert minus(cell("t", "v", m="b"), cell("t", "v", m="a"))(tables) == (
        2.0,
        "3.000 against 1.000",
        "",
    )
    below = minus(cell("t", "v", m="b"), lambda _: -1.0, ".1f")(tables)
    assert below.why == "3.0 against \u22121.0"
    assert over_rows("t", "v", "mean", "none")(tables) == 2.0
    assert over_rows("t", "n", "max", "none", pl.col("v") < 2)(tables) == 2.0
    for column, row, why in (
        ("v", "c", "no v of c"),
        ("n", "b", "no n of b"),
        ("v", "x", "no v of x"),
    ):
        with pytest.raises(CannotBeSaid, match=why):
            value(tables, "t", column, m=row)
    with pytest.raises(CannotBeSaid, match="nothing here"):
        over_rows("t", "v", "mean", "nothing here", m="c")(tables)


@pytest.mark.exhaustive
def test_study__claims_are_a_table_a_latex_table_and_the_first_part_of_the_page(results):
    frame = results.tables["claims"]
    over = frame.filter(pl.col("track").is_null())
    assert dict(over.select("claim", "verdict").iter_rows()) == {
        "good": "holds", "perfect": "does not hold", "unknown": "cannot be said",
        "large": "cannot be said", "total": "holds",
    }  # fmt: skip
    assert frame.filter(claim="good")["printed"].to_list() == ["all 0.9", "0.9", "0.9"]
    assert frame.filter(claim="total").height == 1
    page = results.report.read_text(encoding="utf-8")
    assert page.index("Claims of the paper") < page.index('class="contents"')
    assert "Of 4 claims of the paper, 1 holds, 1 does not hold and 2 cannot be said" in page
    assert "It cannot be said: no value of s9, AP." in page
    assert "It cannot be said: 3 systems, fewer than 10." in page
    assert "(1 checks)" not in page
    assert re.search(r"<summary>The same by other tests.*\(1 check\)</summary>", page)
    tex = (results.folder / "latex" / "claims.tex").read_text(encoding="utf-8")
    assert "s0 is good (" in tex
    assert r"AP of s0 \textgreater{} 0.100; 2 of 2 of the tracks" in " ".join(tex.split())


@pytest.mark.exhaustive
def test_study__without_claims_has_neither_table_nor_section(store, tmp_path: Path, undrawn):
    made = irmeta.studies.tiny(store, tmp_path / "tiny", track="a")
    assert "claims" not in made.tables
    assert "Claims of the paper" not in made.report.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="holds results of study tiny, without claims"):
        irmeta.studies.claims(tmp_path / "tiny")


@pytest.mark.exhaustive
def test_study__claims_are_made_anew_from_kept_tables(
    store, results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tiny.FAILING |= dict.fromkeys("ab", IrmetaError("computed again"))
    fewer = replace(CLAIMED, claims=lambda options: list(claims_of(options))[:1])
    monkeypatch.setattr(f"{__name__}.CLAIMED", fewer)
    monkeypatch.delitem(vars(irmeta.studies), "claimed")  # made of the other
    again = irmeta.studies.claimed(store, results.folder, track=["a", "b"])
    assert again.batch.unchanged == ("a", "b")
    assert again.tables["claims"]["claim"].unique().to_list() == ["good"]


def test_page__of_many_tracks_shows_signs_alone():
    tracks = [f"t{i}" for i in range(MOST_TRACKS + 1)]
    tables = {STUDIED_TRACKS.name: studied(**dict.fromkeys(tracks, 4))}
    claim = Claim("c", "C.", "1", "n", cell("studied_tracks", "systems"), "> 2")
    table = claim_table(verdicts(tables, claim), tracks)
    assert (table.is_compact, table.tracks) == (True, tracks)
    (line,) = table.claims
    assert {mark.sign for mark in (line.over, *line.tracks)} == {"open"}
    assert line.notes == ["It cannot be said: 4 systems, fewer than 5."]
    table = claim_table(verdicts(tables, replace(claim, about="queries")), tracks[:2])
    assert not table.is_compact
    assert [mark.sign for mark in table.claims[0].tracks] == ["yes", "yes"]
    assert "n: 4.000; holds for above 2.000" in table.claims[0].tracks[0].title


@pytest.mark.exhaustive
def test_claims__of_several_studies_and_of_an_index(
    store, results, tmp_path: Path, monkeypatch, undrawn
):
    one = irmeta.studies.claims(results.folder)
    assert one.columns == ["id", "study", *CLAIMS.columns]
    assert one["track"].null_count() == one.height == 5
    every = irmeta.studies.claims([str(results.folder)], per_track=True)
    assert every.filter(pl.col("track").is_not_null()).height == 8
    for name in [n for n, v in registry.OWN.items() if v.startswith("irmeta.")]:
        monkeypatch.delitem(registry.OWN, name)
    registry.study_modules.cache_clear()
    irmeta.studies.run_all(store, tmp_path / "all", track=["a", "b"])
    assert irmeta.studies.claims(tmp_path / "all").equals(one)
    with pytest.raises(UsageError, match="several folders hold results of study claimed"):
        irmeta.studies.claims([tmp_path / "all", results.folder])


def test_claims__of_studies_of_other_tracks_or_policies_are_refused(
    store, results, run, tmp_path: Path, undrawn
):
    other = irmeta.studies.tiny(store, tmp_path / "tiny", track="a", negative="nonrelevant")
    pair = [StudyResults(results.folder), other]
    others = [track for track in store.tracks if track != "a"]
    said = f"Studies claimed and tiny differ: track {others[0]} is in one alone"
    assert differences(pair)[0].startswith(said)
    assert "negative is unjudged and nonrelevant" in differences(pair)[0]
    assert differences([pair[0], pair[0]]) == []
    changed = StudyResults(results.folder)
    facts = changed.provenance["tracks"]["a"] | {"fingerprint": "0"}
    tracks = {**changed.provenance["tracks"], "a": facts}
    changed.__dict__["provenance"] = changed.provenance | {"tracks": tracks}
    (said,) = differences([pair[0], changed])
    assert said.endswith("differ: fingerprint of track a.")


def test_claims__differences_are_refused_unless_mixed(results, monkeypatch):
    said = "Studies a and b differ: track t is in one alone."
    monkeypatch.setattr("irmeta.studies.framework.study_results.differences", lambda _: [said])
    with pytest.raises(UsageError, match=r"alone[.] `mixed=True` joins them"):
        irmeta.studies.claims(results.folder)
    assert irmeta.studies.claims(results.folder, mixed=True).height == 5


def test_command__claims_record_the_tracks_and_options_of_studies(results, run, tmp_path: Path):
    made = json.loads(run("study", "claims", results.folder, "--format", "json").out)
    study = made["provenance"]["studies"]["claimed"]
    assert study["options"] == results.options.record()
    fingerprint = study["tracks"]["a"]["fingerprint"]
    out = tmp_path / "claims.tex"
    run("study", "claims", results.folder, "--out", out)
    comment = out.read_text(encoding="utf-8").splitlines()[1]
    assert "studies: claimed (revision 1); tracks: " in comment
    assert f"a ({fingerprint})" in comment


@pytest.mark.exhaustive
def test_claims__folder_without_results_is_refused(results, tmp_path: Path):
    with pytest.raises(UsageError, match="name a folder of a study"):
        irmeta.studies.claims([])
    with pytest.raises(UsageError, match="holds no study's results"):
        irmeta.studies.claims(tmp_path)
    record = results.folder / ".parts" / ".all" / "files.json"
    text = record.read_text()
    assert "claims.parquet" in text
    record.unlink()
    with pytest.raises(UsageError, match="holds no study's results"):
        irmeta.studies.claims(results.folder)


def test_command__all_formats(results, run, tmp_path: Path):
    words = ("study", "claims", results.folder)
    printed = run(*words, "--format", "table")
    assert printed.status == 0
    assert "A tiny study: Nobody 2026" in printed.out
    assert "does not hold" in printed.out
    assert (
        "4 claims of papers: holds: 1, does not hold: 1, undecided: 0, cannot be said: 2"
        in printed.err
    )
    made = json.loads(run(*words, "--format", "json").out)
    assert (made["command"], len(made["tables"]["claims"])) == ("study claims", 5)
    rows = pl.read_csv(run(*words, "--per-track", "--format", "csv").out.encode())
    assert rows.height == 13
    for ending in ENDINGS:
        done = run(*words, "--out", tmp_path / f"x{ending}")
        assert f"5 rows in {tmp_path / f'x{ending}'}" in done.err
    markdown = run(*words, "--per-track", "--format", "markdown").out
    assert markdown.startswith("| claim | a | b | holds |")
    assert run("study", "claims", tmp_path / "none").status == 2
    assert "claims" in run("study", "--help").out
