"""`irmeta agree`: agreement of labels of judges with a reference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irmeta._version import __version__
from irmeta.cli.app import TracksOption
from irmeta.cli.declared import with_options
from irmeta.cli.registered import command
from irmeta.errors import UsageError
from irmeta.locations import is_stream, location, named_file, not_a
from irmeta.policies import Comments
from irmeta.show.display import Display


@command(
    "irmeta agree human.txt gpt4.txt llama.txt --rel 2",
    "irmeta agree qrels.txt binary.txt --rel 2 --rel binary=1 --format markdown",
    "irmeta agree store/ --reference human --confusion",
)
@with_options(display=Display)
def agree(
    reference_source: Annotated[
        Path,
        typer.Argument(
            metavar="REFERENCE",
            show_default=False,
            help="Qrels of the reference, FILE or NAME=FILE (- is standard input); or a store.",
        ),
    ],
    display: Display,
    judges: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JUDGE]...",
            show_default="of a store, all other qrels sets",
            help="Qrels files of judges, FILE or NAME=FILE; for a store, names of its qrels sets.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="Name of the reference; for a store, its qrels set.",
            show_default="the file's name, or the primary set",
        ),
    ] = None,
    rel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GRADE|NAME=GRADE",
            help="Least grade of a relevant doc, for all sets or for one (repeatable).",
            show_default="that of the store's set, else 1",
        ),
    ] = None,
    same_scale: Annotated[
        bool,
        typer.Option(
            "--same-scale",
            help="Treat all sets as on one scale, even if some never use one of its grades.",
        ),
    ] = False,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Compare grades even where the scales differ."),
    ] = False,
    per_query: Annotated[
        bool, typer.Option("-q", "--per-query", help="Report one row per query.")
    ] = False,
    confusion: Annotated[
        bool,
        typer.Option(
            "--confusion",
            help="Report the confusion matrix: docs by grade of the reference and of the judge.",
        ),
    ] = False,
    track: TracksOption = None,
    grade_digits: Annotated[
        int | None, typer.Option(min=0, help="Decimal places to which grades in files are rounded.")
    ] = None,
    comments: Annotated[
        Comments, typer.Option(help="Meaning of lines of text that begin with #.")
    ] = "auto",
    resamples: Annotated[
        int, typer.Option(min=1, help="Resamples of the queries, for intervals.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
) -> None:
    """Compare labels of judges with a reference: kappa, alpha, AC2 and more, with intervals."""
    from irmeta.api.agree import agree as compute
    from irmeta.show.agreement_output import ask_about_scales, print_agreement
    from irmeta.show.frame_output import Result
    from irmeta.trec.streams import file_sha256
    from irmeta.trec.system_names import file_names

    if per_query and confusion:
        raise UsageError("--per-query and --confusion exclude each other.")
    is_store = location(reference_source).is_dir()
    given = (
        [] if is_store else [named_file(one) for one in (str(reference_source), *(judges or []))]
    )
    files = [file for _, file in given]
    for file in files:
        place = location(file)
        if not (place.is_file() or is_stream(place)):
            raise UsageError(f"{not_a('file', place)}.")
    read: object = judges or None
    if any(name is not None for name, _ in given[1:]):
        others = file_names(Path(file).as_posix() for file in files[1:])
        read = {name or others[Path(file).as_posix()]: file for name, file in given[1:]}
    elif given:
        read = files[1:] or None
    found = compute(
        files[0] if files else reference_source,
        read,
        reference=reference or (given[0][0] if given else None),
        rel=grades_by_name(rel or []) or None,
        same_scale=same_scale,
        raw=raw,
        track=track or None,
        grade_digits=grade_digits,
        comments=comments,
        resamples=resamples,
        rng=seed,
    )
    made = {
        "irmeta": __version__,
        "agree": dict(found.settings),
        "files": {file: file_sha256(Path(file)) for file in files},
    }
    if is_store:
        from irmeta.api import open_store

        made["store"] = open_store(reference_source).fingerprint
    tables = {
        "judges": found.judges,
        "by_query": found.by_query,
        "confusion": found.confusion,
        "common": found.common,
    }
    first = "by_query" if per_query else "confusion" if confusion else "judges"
    ordered = {first: tables.pop(first), **tables}
    if not is_store:
        ordered = {name: frame.drop("track") for name, frame in ordered.items()}
    caption = "Agreement of judges with the reference, with 95 % intervals over queries."
    # Six digits of a value and its interval would be too wide for a terminal.
    places = 3 if display.digits is None else display.digits

    ask_about_scales(found.judges)

    def show(digits: int) -> None:
        print_agreement(found, min(digits, places))

    display.write(Result("agree", ordered, caption, made, show=show if first == "judges" else None))


def grades_by_name(given: list[str]) -> dict[str | None, float]:
    """Parse --rel: one grade for all sets, and ``NAME=GRADE`` for single ones.

    Raises
    ------
    UsageError
        If a grade is not a number, or is given twice.
    """
    named = dict[str | None, float]()
    for one in given:
        name, equals, grade = one.rpartition("=")
        try:
            number = float(grade)
        except ValueError:
            raise UsageError(f"--rel {one}: {grade!r} is not a grade.") from None
        key = name if equals else None
        if key in named:
            raise UsageError(f"--rel {one}: another grade is given for {name or 'all sets'}.")
        named[key] = number
    return named
