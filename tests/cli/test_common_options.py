"""Options, help texts and warnings that all commands share."""

from __future__ import annotations

import inspect
import re
import shlex
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from irmeta.cli import registered, results
from irmeta.cli.app import _process_value
from irmeta.cli.entry import load_commands
from irmeta.cli.notes import OPTIONS, PRINTED, WarningLines, in_options
from irmeta.cli.registered import EXAMPLES, PANELS, POLICIES, READING, RUNNING, TESTS
from irmeta.studies.framework.registry import study_modules
from support.commands import all_commands


def test_help__every_command_has_examples() -> None:
    top: Any = typer.main.get_command(load_commands())
    group = top.commands["study"]
    named = {f"irmeta {name}": one for name, one in top.commands.items() if one is not group}
    named |= {f"irmeta study {name}": group.get_command(None, name) for name in study_modules()}
    for name, one in named.items():
        assert EXAMPLES[name], name
        assert one.epilog.startswith(f"Examples:\n$ {name}"), name


def test_examples__options_and_arguments_exist() -> None:
    top: Any = typer.main.get_command(load_commands())
    for name in study_modules():
        top.commands["study"].get_command(None, name)
    studies = {f"irmeta study {name}" for name in ("all", *study_modules())}
    named = {name: lines for name, lines in EXAMPLES.items() if " study " not in name}
    named |= {name: EXAMPLES[name] for name in studies}
    for line in (line for lines in named.values() for line in lines):
        word, *arguments = shlex.split(line)[1:]
        command, context = top.commands[word], None
        if word == "study":
            context = command.make_context("study", list(arguments))
            word, *arguments = arguments
            command = command.get_command(context, word)
        command.make_context(word, arguments, parent=context)  # fails for an unknown option


@pytest.mark.parametrize("arguments", [("-h",), ("evaluate", "-h"), ("study", "depth", "-h")])
def test_help_option__has_a_short_form(run, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.status, done.err) == (0, "")
    assert "Usage: irmeta" in done.out
    assert "bool>" not in done.out  # flags take no value


@pytest.mark.parametrize("name", ["evaluate", "compare", "ingest", "study depth"])
def test_process_value__equals_that_of_typer(name: str, tmp_path: Path) -> None:
    """Values that irmeta converts itself, without loading pydantic."""
    top: Any = typer.main.get_command(load_commands())
    command = top
    for word in name.split():
        command = command.get_command(None, word)
    texts = ("a", "1", "-", "", "asked", str(tmp_path))
    converted = 0
    for parameter in command.params:
        if parameter.callback is None:
            is_several = parameter.multiple or parameter.nargs == -1
            values = [(), *((text,) for text in texts), texts] if is_several else [*texts]
            context = typer.Context(command)
            for value in [None, parameter.default, *values]:
                ours = _outcome(_process_value, parameter, context, value)
                assert ours == _outcome(type(parameter).process_value, parameter, context, value)
                converted += ours[0] != "error"
    assert converted > 100


def _outcome(process: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """Return a value with its types, or an error."""
    try:
        value = process(*arguments)
    except Exception as error:
        return "error", type(error), str(error)
    return value, type(value), [*map(type, value)] if isinstance(value, list) else []


@pytest.mark.exhaustive
def test_quiet_option__suppresses_notes_but_not_errors(run, two_tracks: Path) -> None:
    (two_tracks / "ties" / "runs" / "torn").write_text("1 Q0 a 1\n")
    command = ("evaluate", two_tracks, "-m", "AP")
    loud, quiet = run(*command), run(*command, "--quiet")
    assert "1 run skipped" in loud.err
    assert (quiet.status, quiet.out, quiet.err) == (0, loud.out, "")
    (two_tracks / "ties" / "qrels.txt").write_text("no judgment\n")
    assert run(*command, "--quiet").err.startswith("irmeta: failed: track ties: ")
    assert run(*command, "--quiet", "--verbose").status == 2


def test_verbose_option__prints_steps_and_traceback(run, two_tracks: Path) -> None:
    done = run("evaluate", two_tracks, "-m", "AP", "--verbose")
    assert done.err.startswith("irmeta: Reading: ")
    steps = [line for line in done.err.splitlines() if line.endswith(" s")]
    assert steps
    failed = run("info", two_tracks / "gone", "--verbose")
    assert failed.err.startswith("Traceback")
    assert "Traceback" not in run("info", two_tracks / "gone").err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("evaluate", "x", "--draws", 0), "draws = 0 is not a whole number of at least 1."),
        (("evaluate", "x", "--draw", "querry"), "Did you mean 'query'?"),
        (("catalog", "--list", "run"), "Did you mean 'runs'?"),
        (("ingest", "x", "--out", "y", "--memory", "5X"), "--memory '5X' is no size"),
        (
            ("evaluate", "x", "--segment", "a", "--segment", "b"),
            "--segment is given 2 times (a, b): give one value.",
        ),
    ],
)
def test_option__wrong_value_is_refused_in_one_line(run, words, message: str) -> None:
    done = run(*words)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


def test_completion__choices_of_an_option(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_IRMETA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "irmeta evaluate --tie-order sc")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert run().out.split() == ["score-file"]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_study_command__collection_gives_the_results_of_its_store(
    run, two_tracks: Path, tmp_path: Path
) -> None:
    run("ingest", two_tracks, "--out", tmp_path / "store")
    made = []
    for source in (tmp_path / "store", two_tracks):
        out = tmp_path / f"{source.name}.out"
        done = run("study", "search-length", source, "--out", out, "--min-systems", 1)
        assert done.status == 0, done.err
        made.append((out / "table_1.parquet").read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("advice", "printed"),
    [
        ("out exists: use `force=True`.", "out exists: use `--force`."),
        ("Use `tie_order=`, or two.", "Use `--tie-order`, or two."),
        ('Bad line. `malformed="skip"` drops it.', "Bad line. `--malformed skip` drops it."),
        ("Draw `titles=False`.", "Draw `--no-titles`."),
        ("Bad line. Use `absent=1`. Read it again.", "Bad line. Read it again."),
        ("use `absent=1`", "use `absent=1`"),
        ('Use `placement="no-titles"`.', "Use `--no-titles`."),  # a choice that is a flag
    ],
)
def test_in_options__prints_keywords_as_options_and_drops_others(
    advice: str, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = inspect.signature(results.compare).parameters.values()
    for keyword, options in registered.named_options([*command]):
        monkeypatch.setitem(OPTIONS, keyword, options)
    monkeypatch.setitem(OPTIONS, "malformed", ("--malformed", "--no-malformed"))
    assert in_options(advice) == printed


@pytest.mark.parametrize("name", [name for name in all_commands() if name != "trec_eval"])
def test_help__options_come_in_panels_and_the_same_option_in_the_same_panel(name: str) -> None:
    options = [p for p in all_commands()[name].params if p.param_type_name == "option"]
    panels = {p.name: p.rich_help_panel for p in options}
    assert [*panels.values()] == sorted(panels.values(), key=PANELS.index)
    assert panels["quiet"] == RUNNING
    read = {"duplicates", "malformed", "names", "strict"} & panels.keys()
    assert {panels[one] for one in read} <= {READING}
    decided = {"queries", "negative", "qrels", "pool_order"} & panels.keys()
    assert {panels[one] for one in decided} <= {POLICIES}
    assert not {"measures", "out", "track", "system", "query"} & {*filter(panels.get, panels)}


def test_help__policies_and_reading_have_their_own_panels(run) -> None:
    text = run("evaluate", "-h").out
    places = [
        text.index(f" {title} ") for title in ("Options", *filter(None, PANELS)) if title != TESTS
    ]
    assert places == sorted(places)
    assert text.index("--measures") < places[1]
    assert text.index(POLICIES) < text.index("--tie-order") < text.index(READING)


def test_warnings_about_many_tracks__first_in_full_then_every_other_track_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = WarningLines()
    for number in range(PRINTED + 3):
        lines.show(UserWarning(f"track t{number}: its pool is shallow ({number})"), UserWarning)
    lines.show(DeprecationWarning("track t0: of another kind"), DeprecationWarning)
    lines.show(UserWarning("about no track"), UserWarning)
    lines.finish()
    lines.finish()
    printed = capsys.readouterr().err.splitlines()
    in_full = [line for line in printed if "shallow" in line]
    assert [re.findall(r"t\d", line)[0] for line in in_full] == [f"t{n}" for n in range(PRINTED)]
    assert printed[PRINTED:] == [
        "irmeta: track t0: of another kind",
        "irmeta: about no track",
        "irmeta: 3 more tracks with a warning like this (UserWarning): t5, t6, t7",
    ]


def test_warnings_from_threads__every_track_appears_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = WarningLines()
    threads = [
        threading.Thread(target=lines.show, args=(UserWarning(f"track t{n:02}: same"), UserWarning))
        for n in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines.finish()
    printed = capsys.readouterr().err
    assert sorted(re.findall(r"t\d\d", printed)) == [f"t{n:02}" for n in range(40)]
