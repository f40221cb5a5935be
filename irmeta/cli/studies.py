"""`irmeta study`: studies of papers over all tracks of a store."""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from irmeta.cli.app import FAILED, StoreArgument, app, progress_bar
from irmeta.cli.declared import KEYWORD, parameters, pop_options, with_options
from irmeta.errors import did_you_mean
from irmeta.escapes import print_line
from irmeta.studies.framework.control import Run
from irmeta.studies.framework.registry import find, find_all, study_modules
from irmeta.studies.framework.study import Study

OutOption = Annotated[Path, typer.Option(help="Folder for the results.", show_default=False)]
OptionalStore = Annotated[Path | None, typer.Argument(metavar="[STORE]", show_default=False)]


class Studies(TyperGroup):
    """Command group of all studies; commands are built on request."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the subcommands and the names of all studies."""
        return [*super().list_commands(ctx), *study_modules()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the subcommand, or the command of the study, of a name."""
        if cmd_name in study_modules():
            return typer.main.get_command(_command(find(cmd_name)))
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, or fail with the nearest known name."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"no study {args[0]!r}. {did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)


study = typer.Typer(
    cls=Studies,
    invoke_without_command=True,
    help="Run the study of a paper over all tracks of a store.",
)
app.add_typer(study, name="study")


@study.callback()
def list_all(context: typer.Context) -> None:
    """Run the study of a paper over all tracks of a store; without a name, list the studies."""
    if context.invoked_subcommand is None:
        studies, problems = find_all()
        for one in studies:
            print_line(f"{one.name:<16} {one.gives}")
            if one.paper:
                print_line(f"{'':<16} {one.paper}")
        print_line(f"{'all':<16} Every study that reads a store, in one folder each.")
        for problem in problems:
            print_line(f"irmeta: {problem}", sys.stderr)
        print_line("")
        print_line("irmeta study NAME --help shows the options of a study.")


@study.command(name="all", help="Every study that reads a store, in one folder each.")
@with_options(control=Run)
def run_every(store: StoreArgument, out: OutOption, control: Run) -> None:
    """Run all studies with their default options, and write an index page."""
    from irmeta.show.batches import print_studies
    from irmeta.studies.framework.every import run_all

    with progress_bar("Studying") as progress:
        given = {one.name: getattr(control, one.name) for one in fields(control)}
        done = run_all(store, out, **given | {"progress": progress})
    for one in done:
        if one.problem:
            print_line(f"irmeta: {one.study.name}: {one.problem}", sys.stderr)
    print_studies(out, done)
    if any(one.problem for one in done):
        raise typer.Exit(FAILED)


def _command(one: Study) -> typer.Typer:
    """Build the command of a study."""

    def call(**given: Any) -> None:
        from irmeta.show.batches import print_study
        from irmeta.studies.framework.function import reader_of
        from irmeta.studies.framework.runner import run
        from irmeta.studies.framework.study_results import StudyResults

        options = one.options.of(pop_options(one.options.__dataclass_fields__, given))
        with progress_bar("Studying") as progress:
            control = Run.of(pop_options(Run.__dataclass_fields__, given) | {"progress": progress})
            batch = run(one, reader_of(given.get("store")), given["out"], options, control)
        for _, error in batch.failed:
            print_line(f"irmeta: failed: {error}", sys.stderr)
        if batch.analysed or batch.unchanged or one.inputs != "tracks":
            print_study(StudyResults(given["out"], batch))
        if batch.failed:
            raise typer.Exit(FAILED)

    arguments = {"tracks": [StoreArgument], "optional": [OptionalStore], "none": []}[one.inputs]
    leading = [inspect.Parameter("store", KEYWORD, annotation=kind) for kind in arguments]
    if one.inputs == "optional":
        leading = [leading[0].replace(default=None)]
    leading.append(inspect.Parameter("out", KEYWORD, annotation=OutOption))
    without = ("tracks", "only") if one.inputs == "none" else ()
    made = [*parameters(one.options), *parameters(Run, without)]
    # typer reads the signature; type checkers know no such attribute of functions.
    call.__signature__ = inspect.Signature([*leading, *made])  # type: ignore[attr-defined]
    call.__doc__ = " ".join(filter(None, (f"{one.title}: {one.gives}", one.paper)))
    command = typer.Typer(add_completion=False)
    command.command(one.name)(call)
    return command
