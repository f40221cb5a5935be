"""Write the reference pages of the site from irmeta's own declarations.

    python notebooks/site/reference_pages.py OUT

OUT gets one Markdown page each for measures, preferences, tables, studies, commands, Python and
TREC's tracks.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import typer

import irmeta
from irmeta.archive.catalog import STATES, TaskChoice, TrackChoices, choices
from irmeta.cli.display import Display
from irmeta.cli.entry import load_commands
from irmeta.cli.explanations import print_explanation
from irmeta.cli.registered import EXAMPLES as COMMAND_EXAMPLES
from irmeta.errors import IrmetaError
from irmeta.measures.catalog import describe
from irmeta.preferences.registry import describe_preference
from irmeta.schema import pool_tables, result_tables, store_tables
from irmeta.schema.columns import Table
from irmeta.studies.framework.registry import find, study_modules

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "data_fixtures" / "collections"
TYPED = """
[tracks.web]
runs = ["web/runs/*"]

[[tracks.web.qrels]]
name = "diversity"
file = "web/diversity.qrels.txt"
subtopics = true
subtopics_file = "types.csv"
"""


def main(out: Path) -> None:
    """Write all pages."""
    out.mkdir(parents=True, exist_ok=True)
    pages = {
        "measures": measures(),
        "preferences": preferences(),
        "tables": tables(),
        "studies": studies(),
        "commands": commands(),
        "python": python(),
        "tracks": tracks(),
    }
    for name, lines in pages.items():
        (out / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def grid(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    names = list(head)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        cells = (str(cell if cell is not None else "") for cell in row)
        yield f"| {' | '.join(' '.join(c.split()).replace('|', chr(92) + '|') for c in cells)} |"
    yield ""


def frame_grid(frame: pl.DataFrame) -> Iterator[str]:
    """Yield a frame as a Markdown table."""
    yield from grid(frame.columns, frame.iter_rows())


def literal(text: str) -> Iterator[str]:
    """Yield text as a block without markup."""
    yield from ("```text", text.rstrip(), "```", "")


def measures() -> Iterator[str]:
    """Yield the page of all measures, with a worked number each."""
    listed = irmeta.list_measures()
    yield "# All measures\n"
    yield "Made from the registry; `irmeta measures NAME` prints the same in a terminal.\n"
    yield from frame_grid(listed.select("measure", "better", "summary"))
    stores = worked_stores()
    for written in listed["measure"]:
        if (
            "_IA" in written
            and listed["measure"].str.contains(rf"^{written.split('_IA')[0]}\b").any()
        ):
            continue  # the intent-aware form of a measure above
        yield from measure(written.split("[")[0].split("@")[0], stores)


def worked_stores() -> list[irmeta.Store]:
    """Return a store with graded docs and subtopics, and one with types of subtopics."""
    graded = irmeta.read(EXAMPLES, track="web")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLES / "web", Path(folder, "web"))
        Path(folder, "collection.toml").write_text(TYPED, encoding="utf-8")
        qrels = (EXAMPLES / "web" / "diversity.qrels.txt").read_text(encoding="utf-8")
        names = sorted({tuple(line.split()[:2]) for line in qrels.splitlines()})
        rows = (f"{query},{name},{'nav' if name == '1' else 'inf'}\n" for query, name in names)
        types = "query,subtopic,type\n" + "".join(rows)
        Path(folder, "types.csv").write_text(types, encoding="utf-8")
        return [graded, irmeta.read(folder)]


def measure(name: str, stores: list[irmeta.Store]) -> Iterator[str]:
    """Yield the section of one measure."""
    one = describe(name)
    yield f"## {one.name}\n"
    yield f"{one.summary[0].upper()}{one.summary[1:]}.\n"
    yield from literal(one.definition)
    yield f"Write `{one.written}`, such as `{one.example}`.\n"
    yield from frame_grid(one.parameters)
    yield from grid(("property", "value"), one.facts.items())
    yield from worked(one.example, stores)


def worked(name: str, stores: Iterable[irmeta.Store]) -> Iterator[str]:
    """Yield the arithmetic behind one value, from the first store that has one above 0."""
    for store in stores:
        for track in store.tracks:
            try:
                values = store.evaluate(name, track=track, per_query=True).filter(
                    pl.col("value") > 0
                )
            except IrmetaError:
                continue  # measures by subtopic need a track with subtopics
            if values.is_empty():
                continue
            row = values.sort("query", "system").row(0, named=True)
            explained = store.explain(name, system=row["system"], query=row["query"], track=track)
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                print_explanation(explained, False, {}, Display(format="table"))
            yield "A worked number:\n"
            yield from literal(text.getvalue())
            return
    raise RuntimeError(f"{name} is above 0 on no track, so the page has no worked number for it")


def preferences() -> Iterator[str]:
    """Yield the page of all preferences."""
    listed = irmeta.list_preferences()
    yield "# All preferences\n"
    yield from frame_grid(listed.select("preference", "summary"))
    for written in listed["preference"]:
        rule, definition, parameters = describe_preference(written.split("[")[0].split("@")[0])
        yield f"## {rule.name}\n"
        yield f"{rule.summary[0].upper()}{rule.summary[1:]}.\n"
        yield from literal(definition)
        yield from frame_grid(parameters)
        yield f"Source: {rule.source}; revision {rule.revision}.\n"


def tables() -> Iterator[str]:
    """Yield the page of all Parquet tables."""
    yield "# Tables and their columns\n"
    yield "## Stores\n"
    for one in store_tables.TABLES:
        yield from table(one)
    yield "## Results\n"
    values = [*vars(result_tables).values(), *vars(pool_tables).values()]
    declared = {value.name: value for value in values if isinstance(value, Table)}
    for one in declared.values():
        yield from table(one)
    for name in study_modules():
        yield f"## Study {name}\n"
        for one in find(name).by_table.values():
            yield from table(one)


def table(one: Table) -> Iterator[str]:
    """Yield the section of one table."""
    yield f"### `{one.name}`\n"
    yield f"{one.caption}\n" if one.caption else ""
    yield f"One row per {', '.join(one.key)}.\n" if one.key else ""
    kinds = {"name": "text", "grade": "int8", "count": "int32", "big": "int64", "real": "float64",
             "yes": "bool"}  # fmt: skip
    rows = (
        (f"`{name}`", kinds.get(c.kind, c.kind), c.unit, c.meaning, "yes" if c.null else "")
        for name, c in one.columns.items()
    )
    yield from grid(("column", "type", "unit", "meaning", "may be null"), rows)


def studies() -> Iterator[str]:
    """Yield the page of all studies and their options."""
    yield "# Studies and their options\n"
    for name in study_modules():
        one = find(name)
        yield f"## {name}\n"
        yield f"{one.gives} {one.paper}\n"
        yield f"`irmeta study {name}`, `irmeta.studies.{name.replace('-', '_')}`\n"
        rows = (
            (f"`{f.name}`", _default(f.default), f.metadata["help"]) for f in fields(one.options)
        )
        yield from grid(("option", "default", "meaning"), rows)


def _default(value: Any) -> str:
    return "" if value is None or value == () else f"`{value}`"


def commands() -> Iterator[str]:
    """Yield the page of all commands and their options."""
    yield "# Command line\n"
    top = typer.main.get_command(load_commands())
    yield from command("irmeta", top)


def command(name: str, one: Any) -> Iterator[str]:
    """Yield the section of a command, then those of its commands."""
    level = min(name.count(" ") + 2, 4)
    yield f"{'#' * level} {name}\n"
    yield f"{one.help or ''}\n"
    head = ("argument or option", "meaning", "values", "default")
    context = typer.Context(one)
    yield from grid(head, (parameter(given, context) for given in one.params))
    if name in COMMAND_EXAMPLES:
        yield from ("```shell", *COMMAND_EXAMPLES[name], "```", "")
    if hasattr(one, "list_commands"):
        for sub in one.list_commands(context):
            yield from command(f"{name} {sub}", one.get_command(context, sub))


def parameter(given: Any, context: typer.Context) -> tuple[str, str, str, str]:
    """Return an argument or option of a command, its help, its values and its default."""
    if given.param_type_name == "argument":
        return f"`{given.metavar or given.name.upper()}`", given.help or "", "", ""
    names = ", ".join(f"`{one}`" for one in (*given.opts, *given.secondary_opts))
    kind = given.display_type(context).strip("<>").removesuffix(" range")  # of typer
    values = given.metavar or kind.removeprefix("list[")
    default = given.show_default if isinstance(given.show_default, str) else given.default
    has_default = default is not None and not isinstance(default, bool)
    shown = "" if given.is_flag else values.strip("[]").replace("|", " | ")  # breaks lines
    return names, given.help or "", shown, f"`{default}`" if has_default else ""


def python() -> Iterator[str]:
    """Yield the page of the Python interface, for autodoc."""
    yield "# Python\n"
    yield "## irmeta\n"
    for name in sorted(irmeta.__all__, key=_place):
        value = getattr(irmeta, name)
        if name.startswith("__") or name in ("stats", "studies"):
            continue
        kind = "autoclass" if isinstance(value, type) else "autofunction"
        yield f"```{{eval-rst}}\n.. {kind}:: irmeta.{name}"
        if isinstance(value, type) and not issubclass(value, BaseException):
            yield "   :members:\n   :inherited-members:"
        yield "```\n"
    yield "## Namespaces of `irmeta.Store`\n"
    for name, cls in namespaces().items():
        yield f"### `store.{name}`\n"
        place = f"{cls.__module__}.{cls.__name__}"
        yield f"```{{eval-rst}}\n.. autoclass:: {place}\n   :members:\n```\n"
    yield "### Results of `compare`\n"
    yield "```{eval-rst}\n.. autoclass:: irmeta.api.comparisons.Comparison\n   :members:\n```\n"
    yield "## irmeta.stats\n"
    for name in sorted(irmeta.stats.__all__):
        value = getattr(irmeta.stats, name)
        kind = "autoclass" if isinstance(value, type) else "autofunction"
        yield f"```{{eval-rst}}\n.. {kind}:: irmeta.stats.{name}"
        if isinstance(value, type):
            yield "   :members:"
        yield "```\n"


def namespaces() -> dict[str, type]:
    """Return the classes of the namespaces of `Store`, by the annotations of its properties."""
    annotated = {
        name: member.func.__annotations__["return"]
        for name, member in vars(irmeta.Store).items()
        if isinstance(member, cached_property)
    }
    return {
        name: getattr(import_module(f"irmeta.api.{name}"), cls) for name, cls in annotated.items()
    }


def _place(name: str) -> tuple[bool, bool, str]:
    """Return the sort key of a public name: functions, then classes, then errors and warnings."""
    value = getattr(irmeta, name)
    is_class = isinstance(value, type)
    return is_class and issubclass(value, BaseException), is_class, name


def tracks() -> Iterator[str]:
    """Yield the page of all tracks of the catalogue, with their states."""
    found = irmeta.catalog()
    yield "# Tracks of TREC\n"
    yield "[The TREC archive](../archive.md) explains the states; `runs` counts all.\n"
    states = found.tracks["state"].to_list()
    yield from grid(("state", "tracks"), ((f"`{one}`", states.count(one)) for one in STATES))
    rows = (
        (
            f"`{one['id']}`",
            f"{one['track']} {one['year']}",
            f"{one['runs']:,}",
            one["qrels"],
            f"{one['published']:,}",
            one["state"],
            _chosen(choices(one["id"])),
        )
        for one in found.tracks.iter_rows(named=True)
    )
    yield from grid(
        ("id", "track", "runs", "qrels", "scores", "state", "qrels sets, or reason"), rows
    )


def _chosen(choice: TrackChoices) -> str:
    """Return the qrels sets of a track and its tasks left out, or the reason for its state."""
    left_out = (f"left out: {task or 'other runs'} ({why})" for task, why in choice.left_out)
    return choice.reason or ". ".join([*map(_sets, choice.tasks), *left_out])


def _sets(task: TaskChoice) -> str:
    """Return the name of a task's track and links to its qrels sets."""
    links = (f"[{one.name}]({address})" for one in task.sets for address in one.addresses)
    return f"`{task.folder}`: {', '.join(links)}" + (f"; {task.note}" if task.note else "")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
