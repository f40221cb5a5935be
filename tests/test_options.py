"""Options: checks, records, keywords, documentation and command-line options."""

from __future__ import annotations

import json
import math
import pickle
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import irmeta
from irmeta.cli.entry import load_commands
from irmeta.cli.registered import with_options
from irmeta.errors import UsageError
from irmeta.options import (
    Options,
    choices_of,
    numpydoc,
    option,
    signature,
    typed_fields,
    value_type,
)
from irmeta.studies.framework.registry import OWN, find

ROOT = Path(__file__).parents[1]


def upper(text: str) -> str:
    """Check and change a value, as `parse` does."""
    if not text.isalpha():
        raise UsageError(f"{text!r} has other characters than letters.")
    return text.upper()


@dataclass(frozen=True)
class Made(Options):
    """One option of each kind."""

    count: int = option(3, "Number of docs.", least=1, most=9)
    share: float = option(0.5, "Share of docs.", least=0, most=1, exclusive=True)
    order: Literal["up", "down"] = option("up", "Order of docs.")
    names: tuple[str, ...] = option(("a", "b"), "Names of docs.", flag="-n --name")
    limit: int | None = option(None, "Greatest rank.", least=0)
    word: str = option("X", "A word.", parse="test_options:upper")
    source: str | None = option(None, "A file.", file=True)
    quiet: bool = option(False, "Say nothing.")
    hidden: str = option("h", "For Python alone.", flag="")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"count": 0}, "count = 0 is not a whole number between 1 and 9."),
        ({"count": 10**20}, "count = 100000000000000000000 does not fit in 64 bits."),
        ({"count": 2.0}, "count = 2.0 is not a whole number"),
        ({"count": float("nan")}, "count = nan is not a whole number"),
        ({"count": None}, "count = None is not a whole number"),
        ({"share": 1}, "share = 1 is not a number between 0 and 1, both excluded."),
        ({"share": "0.5"}, "share = '0.5' is not a number"),
        ({"order": "dwon"}, "order = 'dwon' is not a choice. Did you mean 'down'?"),
        ({"order": None}, "order = None is not a choice. Known: down, up."),
        ({"names": 3}, "names = 3 is not text."),
        ({"names": ["a", 3]}, "names = 3 is not text."),
        ({"limit": -1}, "limit = -1 is not a whole number of at least 0."),
        ({"word": "a1"}, "'a1' has other characters than letters."),
        ({"quiet": 1}, "quiet = 1 is not true or false."),
        ({"cuont": 1}, "no option 'cuont'. Did you mean 'count'?"),
    ],
)
def test_options_of__invalid_value_is_refused(given: dict[str, Any], error: str):
    with pytest.raises(UsageError, match=re.escape(error)):
        Made.of(given)


def declared(base: type[Options] = Options) -> Iterator[type[Options]]:
    """Yield the classes of options of the package."""
    for cls in base.__subclasses__():
        if cls.__module__.startswith("irmeta."):
            yield cls
        yield from declared(cls)


def excluded(one: Field[Any], kind: Any) -> Iterator[Any]:
    """Yield values that the declaration of an option excludes."""
    rule, plain = one.metadata, value_type(kind)
    item = get_args(plain)[0] if get_origin(plain) is tuple else plain
    if choices_of(one, kind):
        yield from ("no such choice", "", 3)
    elif item in (int, float):
        yield from ("2", True, *((0, 1, 95, -1, math.nan) if rule["share"] else ()))
        step = 0 if rule["exclusive"] else 1
        yield from (rule[end] + sign * step for end, sign in (("least", -1), ("most", 1))
                    if rule[end] is not None)  # fmt: skip
        if item is int:
            yield from (1.5, 2**63)
    elif item is bool:
        yield from (1, "yes")
    elif item is str and not rule["parse"]:
        yield 3.5


def test_declared_options__refuse_what_their_declaration_excludes():
    load_commands()
    for name in OWN:
        find(name)
    classes, tried = {*declared()}, 0
    assert {"CompareOptions", "EvalPolicy", "TrustOptions"} <= {cls.__name__ for cls in classes}
    for cls in classes:
        for one, kind in typed_fields(cls):
            for value in excluded(one, kind):
                tried += 1
                with pytest.raises(UsageError) as error:
                    cls.of({one.name: value})
                assert str(error.value).startswith(f"{one.name} = "), cls
    assert tried > 300


def test_options_of__accepts_numpy_numbers_lists_and_single_strings():
    made = Made.of(
        {"count": np.int32(4), "share": np.float32(0.25), "names": "c", "limit": 7, "word": "abc"}
    )
    assert (made.count, made.share, made.names, made.limit, made.word) == (
        4,
        0.25,
        ("c",),
        7,
        "ABC",
    )
    assert (type(made.count), type(made.share)) == (int, float)
    assert Made.of({"names": ["c", "d"]}).names == ("c", "d")


def test_options_record__round_trips_through_json():
    made = Made.of({"names": ["c"], "source": "f.txt"})
    record = json.loads(json.dumps(made.record()))
    assert record["names"] == ["c"]
    assert Made.from_record(record) == made
    assert Made.from_record(record | {"of_a_later_version": 1}) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert made.files == {"source": "f.txt"}
    assert Made().files == {}


def test_signature_and_numpydoc__name_every_option():
    shown = signature((), Made)
    assert [one.name for one in fields(Made)] == list(shown.parameters)
    assert shown.parameters["names"].default == ("a", "b")
    text = numpydoc(Made)
    assert "order : {'up', 'down'}, default 'up'\n    Order of docs." in text
    assert "names : str or sequence of str, default ('a', 'b')" in text


@pytest.fixture
def command() -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @with_options(made=Made)
    def show(path: Path, made: Made) -> None:
        typer.echo(json.dumps({"path": str(path)} | made.record()))

    return app


def test_takes__adds_options_to_a_command(command: typer.Typer):
    arguments = ["p", "--count", "4", "-n", "x", "--name", "y", "--order", "down", "--quiet"]
    done = CliRunner().invoke(command, arguments)
    expected = Made.of({"count": 4, "names": ["x", "y"], "order": "down", "quiet": True})
    assert json.loads(done.output) == {"path": "p"} | expected.record()
    done = CliRunner().invoke(command, ["p"])
    assert json.loads(done.output) == {"path": "p"} | Made().record()


def test_takes__help_names_defaults_and_choices(command: typer.Typer):
    shown = CliRunner().invoke(command, ["--help"], env={"COLUMNS": "200"}).output
    text = " ".join(shown.replace("│", " ").split())
    for part in ("[up|down]", "Order of docs.", "[default: up]", "[default: (a, b)]", "--name"):
        assert part in text
    assert "--hidden" not in text


def test_stubs__keywords_of_studies_and_policies_are_up_to_date():
    """Run .ci/stubs.py where this fails."""
    for name, text_of in runpy.run_path(str(ROOT / ".ci" / "stubs.py"))["FILES"].items():
        assert (ROOT / "irmeta" / name).read_text(encoding="utf-8") == text_of(), name


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["", *OWN])
def test_study_command__help_loads_no_heavy_packages(name: str):
    code = (
        "import sys, irmeta.cli\n"
        f"sys.argv = ['irmeta', 'study', {name!r}, '--help']\n"
        "sys.argv = [a for a in sys.argv if a]\n"
        "try:\n    irmeta.cli.main()\nexcept SystemExit:\n    pass\n"
        "heavy = ('polars', 'numba', 'pyarrow', 'altair', 'scipy', 'pandas', 'numpy')\n"
        "print([m for m in heavy if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip().splitlines()[-1] == "[]"
    assert "--help" in done.stdout


@pytest.mark.parametrize("name", OWN)
def test_study_function__docstring_has_options_and_tables(name: str):
    import irmeta

    function = getattr(irmeta.studies, name.replace("-", "_"))
    text = function.__doc__
    study = find(name)
    for one in fields(study.options):
        assert f"\n{one.name} : " in text
    for table in study.by_table.values():
        assert f"{table.name}: {table.caption}" in text
        for column, declared in table.columns.items():
            assert declared.meaning, (table.name, column)
    assert function.tables == study.by_table


@pytest.mark.parametrize(
    "call",
    [
        lambda store, folder: irmeta.read(folder, tracks="news"),
        lambda store, folder: irmeta.ingest(folder, folder / "store", tracks="news"),
        lambda store, folder: irmeta.reanalyze(store.path, folder / "out", tracks="news"),
        lambda store, folder: irmeta.studies.depth(store, folder / "out", tracks="news"),
        lambda store, folder: irmeta.studies.run_all(store, folder / "out", tracks="news"),
        lambda store, folder: irmeta.compare(store, "AP", tracks="news"),
        lambda store, folder: store.means("AP", tracks="news"),
    ],
)
def test_keywords__tracks_is_called_track(call, made_store: irmeta.Store, tmp_path: Path):
    with pytest.raises(UsageError, match="it is called track, for one track or several"):
        call(made_store, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_keywords__unknown_policy_names_the_nearest(made_store: irmeta.Store):
    with pytest.raises(UsageError, match=r"no option 'querie'\. Did you mean 'queries'\?"):
        made_store.means("AP", querie="judged")
    with pytest.raises(UsageError, match=r"^Store\.evaluate has no option 'trak'.*'track'\?"):
        made_store.evaluate("AP", trak="news")
    for function in (irmeta.evaluate, irmeta.prefer):  # keywords that no class of options has
        with pytest.raises(UsageError, match=r"has no option 'segment'. Did you mean 'segments'\?"):
            function(made_store, segment="x")
    with pytest.raises(UsageError, match=r"^compare has no option 'xyz'\. Known: .*correct"):
        irmeta.compare(made_store, "AP", xyz=1)


def test_takes__option_with_one_value_given_twice_is_refused(command: typer.Typer):
    done = CliRunner().invoke(command, ["p", "--count", "4", "--count", "4"])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == "--count is given 2 times (4, 4): give one value."
