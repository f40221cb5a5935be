"""Escaping of control characters in names of tracks, systems, docs and files."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.delimited import to_csv
from irmeta.errors import DataError, IrmetaError, SkippedRunWarning, warn
from irmeta.escapes import drop_unsafe, escape_json, escape_name, escape_text
from irmeta.report.latex import escape_latex
from support.undrawn import draw_nothing

TITLE, COLOUR, BIDI, C1 = "\x1b]0;owned\x07", "\x1b[31m", "\u202e", "\x9b2J"
HOSTILE = f"{TITLE}{COLOUR}{BIDI}{C1}"
FORMULA = "=cmd|'/c'!A1"
KINDS = ("Cc", "Cs", "Zl", "Zp")
BIDI_CONTROLS = {"\u061c", "\u200e", "\u200f", *map(chr, range(0x202A, 0x202F))} | {
    *map(chr, range(0x2066, 0x206A))
}


def is_unsafe(character: str) -> bool:
    return unicodedata.category(character) in KINDS or character in BIDI_CONTROLS


def unsafe_in(text: str) -> set[str]:
    return {c for c in text if is_unsafe(c) and c != "\n"}


# Functions


def test_escape_text__escapes_exactly_the_unsafe_characters():
    for character in map(chr, range(0x11000)):
        assert (escape_text(character) != character) == is_unsafe(character), ascii(character)


@given(st.text(st.characters() | st.sampled_from("\\xun\x1b\u202e\n\t'\x85")))
def test_escape_name__is_reversible(text: str):
    shown = escape_name(text)
    assert not any(map(is_unsafe, shown))
    assert escape_text(escape_text(text)) == escape_text(text)
    assert json.loads(escape_json(json.dumps(text, ensure_ascii=False))) == text
    assert drop_unsafe(text) == "".join(c for c in text if not is_unsafe(c))
    # a backslash is doubled only where it would read as an escape
    back = re.sub(
        r"\\(\\|x[0-9a-f]{2}|u[0-9a-f]{4}|[tnr])",
        lambda found: ast.literal_eval(f"'{found[0]}'"),
        shown,
    )
    assert back == text


@pytest.mark.parametrize("error", [IrmetaError(HOSTILE), DataError(HOSTILE, file=f"{HOSTILE}\n")])
def test_errors__messages_have_no_control_characters(error: IrmetaError):
    assert unsafe_in(str(error)) == set()
    assert r"\x1b[31m\u202e\x9b2J" in str(error)


def test_warn__message_has_no_control_characters():
    with pytest.warns(SkippedRunWarning) as found:
        warn(HOSTILE, SkippedRunWarning)
    assert unsafe_in(str(found[0].message)) == set()


def test_escape_latex__drops_unsafe_characters():
    assert escape_latex(f"a{HOSTILE}\u2028b") == "a]0;owned[31m2J b"


# CSV for spreadsheets

TEXTS = {
    "name": ["=1", *"abcdefghi"],
    "system": ["=1", "+1", "-1", "@a", "\t=1", "\r=1", "a=1", "", None, "'=1"],
    "value": [-1.5, 2.0, 1e-20, -0.0, 1.0, 2.0, 3.0, 4.0, 5.0, None],
    "rank": [-1, *range(9)],
}


def test_to_csv__safe_puts_apostrophe_before_formulas_in_text():
    frame = pl.DataFrame(TEXTS)
    marked = [f"'{t}" if t and t[0] in "=+-@\t\r" else t for t in TEXTS["system"]]
    names = ["'=1", *TEXTS["name"][1:]]
    expected = frame.with_columns(name=pl.Series(names), system=pl.Series(marked, dtype=pl.String))
    assert to_csv(frame, safe=True) == expected.write_csv()
    assert to_csv(frame) == frame.write_csv()
    plain = frame.select("value", "rank")
    assert to_csv(plain, safe=True) == plain.write_csv()


# Commands


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a collection with control characters in all names."""
    root = tmp_path_factory.mktemp("hostile")
    track = root / "in" / f"t{COLOUR}{BIDI}"
    (track / "runs").mkdir(parents=True)
    docs = [f"d{n}{HOSTILE}" for n in range(3)]
    query = f"q{HOSTILE}"
    (track / "qrels.txt").write_text("".join(f"{query} 0 {doc} 1\n" for doc in docs[:2]))
    for number, tag in enumerate((f"s{HOSTILE}", FORMULA, f"[red]{BIDI}")):
        rows = (f"{query} Q0 {d} {r} {9 - r} {tag}\n" for r, d in enumerate(docs[number:]))
        (track / "runs" / f"run{COLOUR}{number}.txt").write_text("".join(rows))
    (track / "runs" / f"bad{HOSTILE.replace('/', '')}.txt").write_text(f"{HOSTILE} too few\n")
    return root / "in"


@pytest.mark.exhaustive
def test_commands__output_has_no_control_characters(
    collection: Path, tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch
):
    """Every command is tested, with success and failure; CSV keeps names verbatim."""
    draw_nothing(monkeypatch)
    store, out, evil = tmp_path / "store", tmp_path / "out", tmp_path / f"no{HOSTILE}"
    query, system = f"q{HOSTILE}", f"s{HOSTILE}"
    where = ("-m", "AP", "--query", query, "--system")
    commands: list[tuple[int, tuple[object, ...]]] = [
        (0, ("ingest", collection, "--out", store)),
        (0, ("reanalyze", store, "--out", out, "-m", "AP")),
        (0, ("study", "search-length", store, "--out", tmp_path / f"study{BIDI}")),
        (0, ("info", store)),
        (0, ("info", store, "--format", "json")),
        (0, ("explain", store, *where, system)),
        (0, ("check", out)),
        (0, ("evaluate", store, "-m", "AP", "--out", tmp_path / f"{COLOUR}.csv")),
        (0, ("evaluate", store, "-m", "AP", "--out", tmp_path / f"{COLOUR}.parquet")),
        (0, ("diff", *[tmp_path / f"{COLOUR}.parquet"] * 2)),
        (2, ("evaluate", store, "-m", HOSTILE)),
        (2, ("evaluate", store, "-m", "AP", "--track", HOSTILE)),
        (2, ("evaluate", store, "-m", "AP", "--system", HOSTILE)),
        (2, ("evaluate", store, "-m", "AP", "--queries", HOSTILE)),
        (2, ("explain", store, *where, HOSTILE)),
        (2, ("check", evil)),
        (2, ("info", evil)),
        (2, ("diff", evil, evil)),
        (2, ("compare", evil)),
        (2, ("power", evil)),
        (2, ("measures", HOSTILE)),
        (2, ("study", HOSTILE)),
        (2, (HOSTILE,)),
        (2, ("evaluate", store, f"--{HOSTILE}")),
        (2, ("ingest", evil, "--out", tmp_path / "none")),
    ]
    for status, arguments in commands:
        done = run(*arguments)
        assert done.status == status, (arguments, done.err)
        assert unsafe_in(done.out + done.err) == set(), arguments
        assert done.out + done.err
    found = json.loads(run("info", store, "--format", "json").out)
    assert {s["system"] for s in found["tables"]["systems"]} >= {system, FORMULA}
    csv = run("evaluate", store, "-m", "AP").out
    assert set(pl.read_csv(csv.encode())["system"]) >= {system, FORMULA}
    page = (out / "report.html").read_text()
    assert unsafe_in(page) == set()
    for file in (out / "latex").glob("*.tex"):
        assert unsafe_in(file.read_text()) == set()


@pytest.mark.exhaustive
def test_csv_safe_option__escapes_formulas(collection: Path, tmp_path: Path, run):
    store, file = tmp_path / "store", tmp_path / "means.csv"
    assert run("ingest", collection, "--out", store).status == 0
    done = run("evaluate", store, "-m", "AP", "--csv-safe")
    assert done.status == 0
    safe = done.out
    assert f"'{FORMULA}" in safe
    assert f"'{FORMULA}" not in run("evaluate", store, "-m", "AP").out
    assert run("evaluate", store, "-m", "AP", "--csv-safe", "--out", file).status == 0
    assert file.read_text() == safe
    refused = run("evaluate", store, "-m", "AP", "--csv-safe", "--out", tmp_path / "a.parquet")
    assert refused.status == 2


@pytest.mark.parametrize(
    "text",
    ["x" * 300, f"no track {'ab ' * 300!r} here", f'no track "{"it" * 300}"', f"/{'d/' * 300}run"],
)
def test_messages__quote_at_most_200_characters(text: str):
    for message in (str(IrmetaError(text)), str(DataError(text))):
        assert len(message) < 230
        assert message[:20] == text[:20]
        assert message[-5:] == text[-5:]


def test_messages__long_sentences_are_not_cut():
    text = f"the track's 'a' {'words ' * 100}the user's 'b'"
    assert str(IrmetaError(text)) == text
