"""`irmeta study`: studies of papers over all tracks of a store."""

from __future__ import annotations

import inspect
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from irmeta.cli.app import FAILED, Group, Opening, TracksOpening, app, cluster, progress_line
from irmeta.cli.display import ClaimDisplay, Display
from irmeta.cli.notes import error_line, note
from irmeta.cli.registered import (
    CONTEXT,
    KEYWORD,
    Given,
    command,
    detailed,
    epilog_of,
    parameters,
    pop_options,
    with_options,
)
from irmeta.cli.sources import READING, SOURCE, SourceArgument, open_source
from irmeta.errors import NoTableError, UsageError, did_you_mean
from irmeta.locations import location, named_file
from irmeta.options import Options, option, set_signature
from irmeta.policies import ReadPolicy
from irmeta.studies.framework.registry import find, find_all, study_modules
from irmeta.studies.framework.study import ClaimRunOptions, MatrixOptions, Study, TrackGroups

OutOption = Annotated[Path, typer.Option(help="Folder for the results.", show_default=False)]
OptionalSource = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[SOURCE [RUN]]", show_default=False, help=SOURCE),
]


class Studies(Group):
    """Command group of all studies; commands are built on request."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the subcommands and the names of all studies that can be loaded."""
        return [*super().list_commands(ctx), *(known_study.name for known_study in find_all()[0])]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text, and the problems of studies that are not in it."""
        super().format_help(ctx, formatter)
        for problem in find_all()[1]:
            error_line(f"irmeta: {problem}")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the subcommand, or the command of the study, of a name."""
        if cmd_name in study_modules():
            return typer.main.get_command(_command(find(cmd_name)))
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, or fail with the nearest known name."""
        known = [*super().list_commands(ctx), *study_modules()]
        if args and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"no study {args[0]!r}. {did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)


study: typer.Typer = typer.Typer(
    cls=Studies,
    invoke_without_command=True,
    help="Run a study over all tracks.",
    epilog=epilog_of(("irmeta study", "irmeta study innovation store/ --out innovation/")),
)
app.add_typer(study, name="study")


@study.callback()
@detailed
@with_options(display=Display)
def list_all(context: typer.Context, display: Display) -> None:
    """Run a study over all tracks; without a name, list the studies."""
    if name := context.invoked_subcommand:
        _refuse_options(context, name)
        return
    from irmeta.cli.batches import print_study_list

    studies, problems = find_all()
    print_study_list(studies, display)
    for problem in problems:
        error_line(f"irmeta: {problem}")


def _refuse_options(context: typer.Context, name: str) -> None:
    """Reject options of the list of studies before the name of a study."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name != "DEFAULT":
            raise UsageError(
                f"{parameter.opts[0]} before {name} is for the list of studies: "
                f"write options of study {name} after its name."
            )


@command("irmeta study all store/ --out studies/", name="all", group=study, parent="irmeta study")
@with_options(
    run_options=ClaimRunOptions,
    matrix=MatrixOptions,
    grouping=TrackGroups,
    reading=READING,
    opening=(Opening, ("dask", "strict")),
)
def run_every(
    source: SourceArgument,
    out: OutOption,
    run_options: ClaimRunOptions,
    matrix: MatrixOptions,
    grouping: TrackGroups,
    reading: ReadPolicy,
    opening: Opening,
) -> None:
    """Run all studies with their default options, and write an index page with all claims."""
    from irmeta.cli.batches import print_studies
    from irmeta.studies.framework.run_all import run_all

    running = {
        asked.name: getattr(group, asked.name)
        for group in (run_options, matrix, grouping)
        for asked in fields(group)
    }
    workers = run_options.workers
    reads = TracksOpening(track=run_options.track, workers=workers, strict=opening.strict)
    with open_source(source, reading, reads) as store:
        with cluster(opening.dask, workers) as executor, progress_line("Studying"):
            done = run_all(store, out, **running | {"executor": executor})
        for outcome in done:
            if outcome.problem:
                error_line(f"irmeta: {outcome.study.name}: {outcome.problem}")
        print_studies(out, done)
    if any(outcome.problem for outcome in done):
        raise typer.Exit(FAILED)


@dataclass(frozen=True)
class ClaimsOptions(Options):
    """What `study claims` shows of claims."""

    per_track: bool = option(
        False,
        "Report each track too, after all tracks together; in LaTeX and Markdown, the matrix of "
        "claims and tracks.",
    )
    mixed: bool = option(False, "Join studies that differ in their tracks or options.")
    table: Literal["claims", "facts", "bounds"] = option(
        "claims",
        "Table: claims; verdicts beside facts of the tracks; or shares of tracks by bound.",
    )
    claim: str | None = option(
        None, "Only this claim, by its id, such as search-length/near-solved."
    )
    fact: str | None = option(
        None, "For the figure of --table facts, the fact of tracks on its x axis, such as year."
    )

    def check(self, figure: Path | None, matrix: MatrixOptions) -> None:
        """Raise `UsageError` for an option that is missing, or has no effect."""
        if self.fact is not None and (figure is None or self.table != "facts"):
            raise UsageError("--fact is of the figure of --table facts: --out FILE.svg.")
        if self.per_track and (figure is not None or self.table != "claims"):
            raise UsageError("--per-track is of the table of claims; a figure has every track.")
        by_track = self.per_track or self.table == "facts" or figure is not None
        if not by_track and matrix.changed():
            raise UsageError("--order and --track-facts are of tracks: use --per-track too.")
        if figure is None:
            return
        if self.table == "claims" and self.claim is not None:
            raise UsageError("the figure of --table claims has all claims: omit --claim.")
        if self.table != "claims" and self.claim is None:
            raise UsageError(
                f"the figure of --table {self.table} is of one claim: name it by --claim."
            )
        if self.table == "facts" and self.fact is None:
            raise UsageError("name a fact of the tracks by --fact, such as year or systems.")


@command(
    "irmeta study claims studies/",
    "irmeta study claims depth/ properties/ --per-track --format markdown",
    "irmeta study claims studies/ --order year --out claims.pdf",
    "irmeta study claims studies/ --table facts --claim depth/ties --fact year --out ties.svg",
    name="claims",
    group=study,
    parent="irmeta study",
)
@with_options(display=ClaimDisplay, matrix=MatrixOptions, asked=ClaimsOptions)
def claims(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            show_default=False,
            help="Folders of studies, or the folder of `irmeta study all`, or its claims.parquet.",
        ),
    ],
    display: ClaimDisplay,
    matrix: MatrixOptions,
    asked: ClaimsOptions,
) -> None:
    """Report which claims of the papers hold on the tracks of studies that ran."""
    asked.check(display.figure, matrix)
    from irmeta.cli.batches import claims_chart, claims_result
    from irmeta.studies.framework.claim_matrix import open_matrix

    joined = open_matrix([str(folder) for folder in folders], matrix, mixed=asked.mixed)
    if display.figure is None:
        display.write(claims_result(joined, asked))
        return
    from irmeta.report.figure_file import write_figure

    write_figure(claims_chart(joined, asked), display.figure, force=display.force)
    note(f"a figure in {display.figure}")


@dataclass(frozen=True)
class Bundling(Options):
    """What `study bundle` packs."""

    figures: bool = option(
        False,
        "Whether SVG and PNG files of figures are in it; PDFs never are.",
        flag="--figures/--no-figures",
    )
    force: bool = option(False, "Replace a file that irmeta did not write.")


@command("irmeta study bundle studies/ studies.zip", group=study, parent="irmeta study")
@with_options(options=Bundling)
def bundle(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            show_default=False,
            help="Folder of a finished study, or of `irmeta study all`.",
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT.zip", show_default=False, help="The file.")],
    options: Bundling,
) -> None:
    """Pack tables, options and pages of finished studies in one file with checksums."""
    from irmeta.studies.framework.study_results import bundle as pack

    packed = pack(str(folder), str(out), figures=options.figures, force=options.force)
    note(f"{packed.height:,} files, {packed['bytes'].sum():,} bytes in {out}")


def _reading_of(
    options: Options, source: list[Path], reading: ReadPolicy, line: Given
) -> ReadPolicy:
    """Return the policy of reading files: with options of judges' files, of runs and qrels too.

    Columns that no judge's file has are removed from the options on the command line.
    """
    from irmeta.store.layout import is_store, store_folder

    shared = {n: v for n, v in options.changed().items() if n in ("columns", "comments")}
    first = location(named_file(str(source[0]))[1])
    if not shared or (len(source) == 1 and is_store(store_folder(first))):
        return reading
    if "columns" in shared and not getattr(options, "judge_tables", ()):
        line.pop("columns")
    return replace(reading, **shared)


def _command(one: Study) -> typer.Typer:
    """Build the command of a study."""

    def call(context: typer.Context, **given: Any) -> None:
        from irmeta.cli.batches import print_study
        from irmeta.studies.framework.registry import options_on
        from irmeta.studies.framework.runner import run
        from irmeta.studies.framework.study_results import StudyResults

        line = Given(pop_options(one.options, context, given), one.options.__dataclass_fields__)
        options = one.options.of(line)
        asked = pop_options(one.run_options, context, given)
        source = given.pop("source", None)
        opening = pop_options(Opening, context, given, ("dask", "strict"))
        reading = ReadPolicy.of(pop_options(ReadPolicy, context, given))
        if not source and (reading.changed() or "strict" in opening):
            raise UsageError("options of reading runs need a source: name a store or a collection.")
        with ExitStack() as stack:
            store = None
            if source:
                reading = _reading_of(options, source, reading, line)
                both = {name: asked[name] for name in ("track", "workers") if name in asked}
                reads = TracksOpening(**both, strict=opening.get("strict"))
                try:
                    opened = open_source(source, reading, reads, choices=line)
                    read = stack.enter_context(opened)
                except NoTableError:
                    if "columns" not in line:
                        raise
                    reading = replace(reading, columns=())  # only a judge's file is a table
                    opened = open_source(source, reading, reads, choices=line)
                    read = stack.enter_context(opened)
                store, options = read.reader, options_on(one, read.eval_policy, line)
            executor = stack.enter_context(cluster(opening.get("dask"), asked.get("workers")))
            with progress_line("Studying"):
                run_options = one.run_options.of(asked | {"executor": executor})
                batch = run(one, store, given["out"], options, run_options)
            for _, error in batch.failed:
                error_line(f"irmeta: failed: {error}")
            if batch.analysed or batch.unchanged or one.inputs != "tracks":
                print_study(StudyResults(given["out"], batch))
        if batch.failed:
            raise typer.Exit(FAILED)

    leading = [
        inspect.Parameter("out", KEYWORD, annotation=OutOption),
        *parameters(Opening, without=("workers", "strict")),
    ]
    taken = [*parameters(one.options), *parameters(one.run_options, ("track", "only"))]
    if one.inputs != "none":
        kind, default = (
            (SourceArgument, inspect.Parameter.empty) if one.needs_store else (OptionalSource, None)
        )
        leading.insert(0, inspect.Parameter("source", KEYWORD, annotation=kind, default=default))
        leading += parameters(Opening, without=("workers", "dask"))
        taken = [*parameters(one.options), *parameters(one.run_options)]
        reading = [p for p in parameters(ReadPolicy) if p.name in READING[1]]
        taken += [p for p in reading if p.name not in one.options.__dataclass_fields__]
    set_signature(call, inspect.Signature([CONTEXT, *leading, *taken]))
    title = one.title if one.title.endswith("?") else f"{one.title}."
    call.__doc__ = " ".join(filter(None, (title, one.gives, one.paper)))
    group = typer.Typer(add_completion=False)
    name = f"irmeta study {one.name}{'' if one.inputs == 'none' else ' store/'}"
    command(f"{name} --out {one.name}/", name=one.name, group=group, parent="irmeta study")(call)
    return group
