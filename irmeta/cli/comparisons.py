"""`irmeta over-tracks`, `prefer`, `preferences`, `agree` and `reproduce`: comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from irmeta._version import __version__
from irmeta.api.arguments import AgreeOptions, OverTracksOptions, PreferOptions, ReproduceOptions
from irmeta.cli.app import (
    TRACKS,
    Drawn,
    MeasuresOfValues,
    QueryFiles,
    TrackOpening,
    TracksOpening,
    progress_line,
)
from irmeta.cli.display import Display
from irmeta.cli.notes import note, note_duration
from irmeta.cli.registered import Given, command, with_options
from irmeta.cli.sources import READING, ResultsArgument, SourceArgument, open_results, open_source
from irmeta.errors import UsageError
from irmeta.locations import Location, is_stream, location, named_file, not_a
from irmeta.options import Options, option
from irmeta.policies import SELECTING, EvalPolicy, ReadPolicy

TESTED, COMPARED_ONCE = 1e-9, 1e-5
"""Measured seconds per ordered pair of systems: HSD test by query and resample, and all else."""
COMPARED = (
    EvalPolicy,
    (
        *("qrels", "overlay", "negative", "tie_order", "pool_order", "pool_depth"),
        *("pool_without", "rel", *SELECTING),
    ),
)


@dataclass(frozen=True)
class Preferences(Options):
    """Preferences by which `prefer` orders systems."""

    measures: tuple[str, ...] = option(
        (),
        "Preferences, e.g. RPP(p=dcg)@100 (repeatable); `irmeta preferences` lists them.",
        flag="-m --measures",
        shown="RPP",
    )


@command(
    "irmeta prefer store/ --track news",
    "irmeta prefer collection/ -m RPP@100 --baseline aldBM25 --track news",
)
@with_options(
    reading=READING,
    choices=COMPARED,
    options=PreferOptions,
    display=Display,
    opening=TRACKS,
    query_files=(QueryFiles, ("segment",)),
    preferences=Preferences,
)
def prefer(
    source: SourceArgument,
    options: PreferOptions,
    choices: Given,
    reading: ReadPolicy,
    display: Display,
    opening: TracksOpening,
    query_files: QueryFiles,
    preferences: Preferences,
) -> None:
    """Order systems by preferences between all pairs, with rank sets and tests."""
    from irmeta.api.matrices import consistent_read
    from irmeta.api.pairs import prefer as compute
    from irmeta.cli.comparison_tables import print_boards
    from irmeta.preferences.registry import parse_preferences
    from irmeta.results.factors import Segments, Variants

    asked, segment = list(preferences.measures) or "RPP", query_files.segment
    parse_preferences(asked)  # reject unknown names before reading anything
    with open_source(source, reading, opening, choices=choices) as store:
        with consistent_read(store, opening.track) as tracks:
            provenance = store.pairs.provenance(asked, track=tracks, **choices)
            segments = None if segment is None else Segments.within(segment, store.reader, tracks)
            for of_track in store.each(tracks, store.policy_with(choices)):
                if (text := Variants.note(of_track)) is not None:
                    provenance["tracks"][of_track.name]["variants"] = text
            for name in tracks or ():
                record = store.reader.track(name).record
                systems, queries = len(record["systems"]), record["queries_in_runs"]
                is_hsd = "hsd" in options.test
                rate = TESTED * queries * options.resamples if is_hsd else COMPARED_ONCE
                note_duration(name, systems, rate * systems**2, "--test t takes a fraction.")
            with progress_line("Testing all pairs"):
                boards = compute(
                    store,
                    asked,
                    segments=segments,
                    track=tracks,
                    workers=opening.workers,
                    **{**vars(options), **choices},
                )
        for name, facts in provenance["tracks"].items():
            if "qrels_by_subtopic" in facts:
                set_name = facts["qrels_by_subtopic"]
                note(f"irmeta: {name}: subtopics of the qrels set {set_name!r}")
        of_segments = {} if segments is None else segments.record
        print_boards(boards, provenance | {"prefer": options.record() | of_segments}, display)


@command(
    "irmeta preferences",
    "irmeta preferences RPP",
)
@with_options(display=Display)
def preferences(
    display: Display,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A preference.")] = None,
) -> None:
    """List the preferences; with NAME, describe one preference."""
    from irmeta.cli.comparison_tables import rule_result
    from irmeta.cli.explanations import MADE
    from irmeta.cli.tables import Result
    from irmeta.preferences.registry import describe_preference, list_preferences

    if name is None:
        listed = {"preferences": list_preferences()}
        display.write(Result("preferences", listed, "Preferences.", MADE))
    else:
        display.as_report().write(rule_result(*describe_preference(name)))


@dataclass(frozen=True)
class AgreementTables(Options):
    """Relevant grades, and the table that `agree` prints."""

    rel: tuple[str, ...] = option(
        (),
        "Least grade of a relevant doc, for all sets or for one (repeatable).",
        metavar="GRADE|NAME=GRADE",
        shown="that of the store's set, else 1",
    )
    per_query: bool = option(False, "Report one row per query.", flag="-q --per-query")
    confusion: bool = option(
        False, "Report the confusion matrix: docs by grade of the reference and of the judge."
    )


@command(
    "irmeta agree human.txt gpt4.txt llama.txt --rel 2",
    "irmeta agree qrels.txt binary.txt --rel 2 --rel binary=1 --format markdown",
    "irmeta agree store/ --reference human --confusion",
)
@with_options(
    options=AgreeOptions,
    display=Display,
    opening=(TracksOpening, ("track",)),
    asked=AgreementTables,
)
def agree(
    reference_source: Annotated[
        Path,
        typer.Argument(
            metavar="REFERENCE",
            show_default=False,
            help="Qrels of the reference, FILE or NAME=FILE (- is standard input); or a store.",
        ),
    ],
    options: AgreeOptions,
    display: Display,
    opening: TracksOpening,
    asked: AgreementTables,
    judges: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JUDGE]...",
            show_default="of a store, all other qrels sets",
            help="Qrels files of judges, FILE or NAME=FILE; for a store, names of its qrels sets.",
        ),
    ] = None,
) -> None:
    """Compare labels of judges with a reference: kappa, alpha, AC2 and more, with intervals."""
    from irmeta.api.agree import agree as compute
    from irmeta.cli.comparison_tables import ask_about_scales, print_agreement
    from irmeta.cli.tables import Result
    from irmeta.trec.streams import file_sha256
    from irmeta.trec.system_names import file_names

    if asked.per_query and asked.confusion:
        raise UsageError("--per-query and --confusion exclude each other.")
    is_store = location(reference_source).is_dir()
    named_files = (
        []
        if is_store
        else [named_file(named) for named in (str(reference_source), *(judges or []))]
    )
    files = [file for _, file in named_files]
    for file in files:
        place = location(file)
        if not (place.is_file() or is_stream(place)):
            raise UsageError(f"{not_a('file', place)}.")
    read: object = judges or None
    if any(name is not None for name, _ in named_files[1:]):
        others = file_names(Path(file).as_posix() for file in files[1:])
        read = {name or others[Path(file).as_posix()]: file for name, file in named_files[1:]}
    elif named_files:
        read = files[1:] or None
    keywords: dict[str, Any] = {**vars(options)}
    keywords["reference"] = options.reference or (named_files[0][0] if named_files else None)
    agreement = compute(
        files[0] if files else reference_source,
        read,
        rel=grades_by_name(asked.rel) or None,
        track=opening.track,
        **keywords,
    )
    provenance = {
        "irmeta": __version__,
        "agree": dict(agreement.settings),
        "files": {file: file_sha256(Path(file)) for file in files},
    }
    if is_store:
        from irmeta.api import open_store

        provenance["store"] = open_store(reference_source).fingerprint
    tables = {
        "judges": agreement.judges,
        "by_query": agreement.by_query,
        "confusion": agreement.confusion,
        "common": agreement.common,
    }
    first = "by_query" if asked.per_query else "confusion" if asked.confusion else "judges"
    ordered = {first: tables.pop(first), **tables}
    if not is_store:
        ordered = {name: frame.drop("track") for name, frame in ordered.items()}
    caption = "Agreement of judges with the reference, with 95 % intervals over queries."
    ask_about_scales(agreement.judges)

    def show(digits: int) -> None:
        print_agreement(agreement, display.digits)

    display.write(
        Result("agree", ordered, caption, provenance, show=show if first == "judges" else None)
    )


def grades_by_name(texts: Sequence[str]) -> dict[str | None, float]:
    """Parse --rel: one grade for all sets, and ``NAME=GRADE`` for single ones."""
    named = dict[str | None, float]()
    for grade_text in texts:
        name, equals, grade = grade_text.rpartition("=")
        try:
            number = float(grade)
        except ValueError:
            raise UsageError(f"--rel {grade_text}: {grade!r} is not a grade.") from None
        key = name if equals else None
        if key in named:
            raise UsageError(
                f"--rel {grade_text}: another grade is given for {name or 'all sets'}."
            )
        named[key] = number
    return named


@command(
    "irmeta over-tracks store/ -m nDCG@10",
    "irmeta over-tracks results/ -m AP,nDCG@10 --missing common --out over-tracks.parquet",
    "irmeta over-tracks leaderboard.csv --nemenyi",
    name="over-tracks",
)
@with_options(
    reading=READING,
    choices=EvalPolicy,
    options=OverTracksOptions,
    display=Display,
    opening=TRACKS,
    values=MeasuresOfValues,
)
def over_tracks(
    results: ResultsArgument,
    options: Given,
    display: Display,
    choices: Given,
    reading: ReadPolicy,
    opening: TracksOpening,
    values: MeasuresOfValues,
) -> None:
    """Compare systems over several tracks: macro means, orders, tests over tracks."""
    from irmeta.api.matrices import consistent_read, made_from
    from irmeta.api.over_tracks import over_tracks as compute
    from irmeta.cli.tables import Result, print_parts

    asked = list(values.measures) or None
    opened = open_results(results, reading, opening, choices=choices, measures=asked)
    with opened as source:
        with consistent_read(source, opening.track) as tracks:
            compared = compute(
                source,
                asked,
                track=tracks,
                workers=None if isinstance(source, Location | list) else opening.workers,
                **options,
                **choices,
            )
            on_tracks = compared.tracks["track"].unique()
            of_source = made_from(source, asked or [*compared.facts], on_tracks, **choices)
        caption, record = "Systems over tracks.", compared.provenance()
        record["over_tracks"]["source"] = of_source
        display.write(
            Result(
                "over-tracks",
                compared.tables(),
                caption,
                record,
                show=lambda digits: print_parts(compared.parts(digits), digits),
            )
        )


@dataclass(frozen=True)
class Reproduced(Drawn):
    """What `reproduce` compares and draws."""

    measures: tuple[str, ...] = option(
        (),
        "Names of measures (repeatable).",
        flag="-m --measures",
        shown="basic: AP, nDCG, nDCG@10, RR, P@10",
    )
    figure: str | None = option(
        None,
        "Draw the effect ratios, or the RMSE of single runs: .svg, .pdf or .png.",
        metavar="<path>",
    )


@command(
    "irmeta reproduce store/ -m AP --original bm25,rm3 --rerun mine-bm25,mine-rm3",
    "irmeta reproduce qrels.txt old.gz new.gz -m nDCG@10 --original old --rerun new",
)
@with_options(
    reading=READING,
    choices=EvalPolicy,
    options=ReproduceOptions,
    display=Display,
    opening=(TrackOpening, ("track", "workers", "strict")),
    asked=(Reproduced, ("measures", "figure", "titles")),
)
def reproduce(
    source: SourceArgument,
    options: ReproduceOptions,
    display: Display,
    choices: Given,
    reading: ReadPolicy,
    opening: TrackOpening,
    asked: Reproduced,
    original: Annotated[
        str,
        typer.Option(
            metavar="RUN|BASELINE,ADVANCED",
            show_default=False,
            help="The original run, or the baseline and the advanced run.",
        ),
    ],
    rerun: Annotated[
        list[str],
        typer.Option(
            metavar="RUN|BASELINE,ADVANCED",
            show_default=False,
            help="The rerun, in the form of --original (repeatable).",
        ),
    ],
) -> None:
    """Compare reruns with an original experiment: lists, values and effects, with intervals."""
    from irmeta.api.reproduce import reproduce as compute
    from irmeta.cli.notes import note
    from irmeta.cli.tables import Result
    from irmeta.report.figure_file import check_figure_file, write_figure

    figure = None if asked.figure is None else Path(asked.figure)
    if figure is not None:
        check_figure_file(figure, force=display.force)
    measures, track = list(asked.measures) or "basic", opening.track
    both = None if track is None else (track, options.rerun_track or track)
    reads = TracksOpening(track=both, workers=opening.workers, strict=opening.strict)
    with open_source(source, reading, reads, choices=choices) as store:
        reproduction = compute(
            store,
            measures,
            original=original,
            rerun=rerun,
            track=track,
            workers=opening.workers,
            **{**vars(options), **choices},
        )
        tracks = list(
            dict.fromkeys(
                [reproduction.runs["track"][0], str(reproduction.settings["rerun_track"])]
            )
        )
        source_made = store.provenance(measures, track=tracks, **choices)
        provenance = {
            "irmeta": __version__,
            "reproduce": {"source": source_made, **reproduction.settings},
        }
        tables = {"effects": reproduction.effects} if reproduction.effects.height else {}
        caption = "Reruns beside the original experiment, with 95 % intervals over queries."
        display.write(
            Result("reproduce", {**tables, "runs": reproduction.runs}, caption, provenance)
        )
        if figure is not None:
            write_figure(reproduction.show(), figure, force=display.force, titles=asked.titles)
            note(f"figure in {figure}")
