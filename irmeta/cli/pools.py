"""`irmeta pool`: docs to judge, and simulated orders of judging."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irmeta._version import __version__
from irmeta.api.arguments import BudgetOptions
from irmeta.cli.app import ONE_TRACK, TrackOpening, one_measure
from irmeta.cli.display import PoolDisplay
from irmeta.cli.notes import note
from irmeta.cli.registered import Given, command, with_options
from irmeta.cli.sources import RUN_CHOICES, WHOLE_LISTS, SourceArgument, open_source
from irmeta.errors import UsageError
from irmeta.escapes import escape_text
from irmeta.options import Options, option
from irmeta.policies import EvalPolicy, ReadPolicy, rel_by_set

if TYPE_CHECKING:
    import polars as pl

    from irmeta.api import Store


@dataclass(frozen=True)
class PoolRequest(Options):
    """Docs that `pool` lists, or what it simulates."""

    system: tuple[str, ...] = option(
        (),
        "Only docs of these systems (repeatable).",
        metavar="SYSTEM|group=NAME|type=NAME",
        shown="all; with --pool-depth, those that contributed to the pool",
    )
    pool_depth: int | None = option(
        None,
        "Depth of the pool: all docs down to this rank, instead of unjudged docs; tie order "
        "score-file.",
        least=1,
    )
    budget: tuple[int, ...] = option(
        (),
        "Number of docs, for all queries together; with --simulate, numbers of judgments to try "
        "(repeatable).",
        least=1,
    )
    next: int | None = option(
        None,
        "Number of docs to judge next, in an order of judging by the labels so far: SOURCE is "
        "runs, or a qrels file and then runs. Lists end at rank --pool-depth, default 100.",
        least=1,
        shown=False,
    )
    simulate: bool = option(
        False,
        "Simulate orders of judging from the judgments of SOURCE: report the conclusions from "
        "fewer judgments, and the smallest number for a goal.",
    )
    measures: tuple[str, ...] = option(
        (), "With --simulate, name of one measure.", flag="-m --measures", shown="AP"
    )
    figure: str | None = option(
        None,
        "With --simulate, draw the orders in this file, .svg, .pdf or .png.",
        metavar="FILE",
    )


@command(
    "irmeta pool store/ --track news --pool-depth 10",
    "irmeta pool store/ --track news --budget 100 --out docs.txt",
    "irmeta pool runs/ --pool-depth 10 --system group=alder",
    "irmeta pool qrels.txt runs/ --next 100 --order bandit",
    "irmeta pool store/ --track news --simulate --order bandit --figure budgets.svg",
)
@with_options(
    choices=(EvalPolicy, ("qrels", "negative", "tie_order", "rel")),
    options=BudgetOptions,
    request=PoolRequest,
    reading=WHOLE_LISTS,
    display=PoolDisplay,
    opening=ONE_TRACK,
)
def pool(
    source: SourceArgument,
    choices: Given,
    options: Given,
    request: PoolRequest,
    reading: ReadPolicy,
    display: PoolDisplay,
    opening: TrackOpening,
) -> None:
    """List unjudged docs by weight in RBP, or a pool of some depth, as lines `query 0 doc`.

    With --pool-depth, SOURCE may also be runs without qrels, or a folder of runs; teams are those
    of a file systems.csv beside or above them. --next lists docs in the order of judging, and
    --simulate prints tables.
    """
    from irmeta.api.run_pool import holds_runs_alone, pool_of_runs
    from irmeta.delimited import is_pool
    from irmeta.files import check_ours, check_target
    from irmeta.locations import local
    from irmeta.measures.evaluate import how_made
    from irmeta.store.scan import undisturbed

    track = opening.track
    if request.simulate:
        with open_source(source, reading, opening, choices=choices) as store:
            _print_budgets(store, request, {"track": track, **options, **choices}, display)
        return
    if request.next is not None:
        _print_next(source, request, {"--track": track, **options, **choices}, reading, display)
        return
    only_simulated = {"measures": request.measures, "figure": request.figure, **options}
    if named := [name for name, value in only_simulated.items() if value]:
        flag = {"rng": "seed"}.get(named[0], named[0]).replace("_", "-")
        either = " or --next" if flag in ("order", "seed") else ""
        raise UsageError(f"--{flag} is for --simulate{either}.")
    if "rel" in choices:
        raise UsageError("--rel is for --simulate: no list of docs depends on it.")
    if len(request.budget) > 1:
        raise UsageError("several budgets are for --simulate: name one.")
    pool_depth, system = request.pool_depth, list(request.system) or None
    budget = request.budget[0] if request.budget else None
    if display.file is not None and display.form == "lines":
        file = local(display.file)
        check_target(file)
        check_ours(file, is_pool, force=display.force, problem=" and is not a pool file")
    if holds_runs_alone(source):
        needing: dict[str, Any] = {"--track": track, "--budget": budget} | choices
        tie_order = needing.pop("tie_order", "score-file")
        _check_without_qrels(needing, reading, pool_depth)
        read: Any = {name: getattr(reading, name) for name in RUN_CHOICES}
        docs = pool_of_runs(source, pool_depth or 0, system=system, tie_order=tie_order, **read)
        provenance = {"irmeta": __version__, "pool": {"system": system, "pool_depth": pool_depth}}
        _print_pool(docs, provenance, display)
        return
    with open_source(source, reading, opening, choices=choices) as store:
        opened = store.track(track, store.policy_with(choices))
        name = opened.name
        with undisturbed(opened.stored):
            docs = store.pools.to_judge(
                name,
                system=system,
                pool_depth=pool_depth,
                budget=budget,
                **choices,
            )
            made_by = opened.pool if pool_depth and not system else None
        if made_by is not None and not made_by.known:
            note(f"irmeta: {name}: the pool is taken from {made_by.note}")
        unsure = docs.filter(~docs["judged"] & docs["grade"].is_not_null()).height
        if unsure:
            note(
                f"irmeta: {name}: {unsure:,} of {docs.height:,} docs have a grade below 0 and "
                "count as unjudged (--negative)"
            )
        provenance = how_made([opened], [], opened.policy)
        provenance["pool"] = {"system": system, "pool_depth": pool_depth, "budget": budget}
        _print_pool(docs, provenance, display)


def _print_budgets(
    store: Store, request: PoolRequest, choices: dict[str, Any], display: PoolDisplay
) -> None:
    """Simulate orders of judging, and print or write the tables and a figure."""
    from irmeta.cli.tables import Result, print_parts
    from irmeta.report.figure_file import check_figure_file, write_figure

    if request.system:
        raise UsageError("--system lists docs of some systems: --simulate needs all of them.")
    figure = None if request.figure is None else Path(request.figure)
    if figure is not None:
        check_figure_file(figure, force=display.force)
    if request.pool_depth is not None:
        choices["pool_depth"] = request.pool_depth
    measure = one_measure(request.measures or ["AP"])
    budgets = store.pools.budget(measure, budget=request.budget, **choices)
    caption = "Orders of judging by the number of judgments."
    display.as_report().write(
        Result(
            "pool",
            budgets.tables(),
            caption,
            budgets.provenance(),
            show=lambda digits: print_parts(budgets.parts(digits), digits),
        )
    )
    if figure is not None:
        write_figure(budgets.show(), figure, force=display.force)
        note(f"figure in {figure}")


def _print_next(
    source: list[Path],
    request: PoolRequest,
    given: dict[str, Any],
    reading: ReadPolicy,
    display: PoolDisplay,
) -> None:
    """Print the docs to judge next."""
    from irmeta.api.run_pool import holds_runs_alone, next_docs

    orders = given.pop("order", None) or ("bandit",)
    chosen = {"rng": given.pop("rng", 0), "tie_order": given.pop("tie_order", "score-file")}
    if (rel := given.pop("rel", None)) is not None:
        by_set = rel_by_set(EvalPolicy.of({"rel": rel}).rel)
        if [*by_set] != [None]:
            raise UsageError("--rel names a qrels set: with --next, give a grade alone.")
        chosen["rel"] = by_set[None]
    needless = given | {"--system": request.system, "--budget": request.budget}
    needless |= {"--measures": request.measures, "--figure": request.figure}
    if wrong := [name for name, value in needless.items() if value]:
        raise UsageError(f"--{wrong[0].lstrip('-').replace('_', '-')} is not for --next.")
    if len(orders) > 1:
        raise UsageError("--next lists docs in one order: name one.")
    is_first = holds_runs_alone(source)
    qrels, runs = (None, source) if is_first else (source[0], source[1:])
    read: Any = {name: getattr(reading, name) for name in RUN_CHOICES}
    depth = {} if request.pool_depth is None else {"pool_depth": request.pool_depth}
    docs = next_docs(runs, request.next or 1, qrels=qrels, order=orders[0], **chosen, **depth,
                     **read)  # fmt: skip
    if docs.height < (request.next or 1):
        note(f"irmeta: the pool has only {docs.height:,} more docs to judge")
    made = {"next": request.next, "order": orders[0], **chosen, **depth}
    _print_pool(docs, {"irmeta": __version__, "pool": made}, display)


def _check_without_qrels(
    needing: Mapping[str, object], reading: ReadPolicy, pool_depth: int | None
) -> None:
    """Reject options that need judgments or a collection, and a pool without a depth."""
    plain = ReadPolicy()
    of_track = {"--names": reading.names != plain.names}
    of_track["--grade-digits"] = reading.grade_digits != plain.grade_digits
    for name, value in {**needing, **of_track}.items():
        if value not in (None, False):
            flag = name if name.startswith("--") else f"--{name}"
            raise UsageError(f"{flag} needs qrels: name them before the runs.")
    if pool_depth is None:
        raise UsageError("without qrels, name the depth of the pool: --pool-depth 10.")


def _print_pool(docs: pl.DataFrame, made: dict[str, Any], display: PoolDisplay) -> None:
    """Print docs as lines or a table, or write them to a file."""
    from irmeta.cli.tables import Result, write_to_pipe
    from irmeta.delimited import pool_lines
    from irmeta.files import remove_temporaries, write_text

    if display.form != "lines":
        display.write(Result("pool", {"docs": docs}, "Docs for assessors.", made))
    elif display.file is not None:
        remove_temporaries(display.file.parent)
        write_text(display.file, pool_lines(docs))
        note(f"{docs.height:,} docs in {display.file}")
    else:
        lines = pool_lines(docs)
        write_to_pipe(escape_text(lines, keep="\n") if sys.stdout.isatty() else lines)
