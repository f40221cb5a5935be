"""`irmeta evaluate`, `explain`, `measures` and `truncation`: values of systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from irmeta.cli.app import (
    DaskOption,
    JudgedAtLeastOption,
    MeasuresOption,
    QueryWeightsOption,
    SegmentOption,
    StrictOption,
    TitlesOption,
    TrackOption,
    TracksOption,
    UnjudgedOption,
    WorkersOption,
    app,
    cluster,
    judged_share,
    one_measure,
)
from irmeta.cli.display import Display, ReportDisplay, ScoreDisplay
from irmeta.cli.notes import note
from irmeta.cli.registered import EXAMPLES, Given, command, epilog_of, with_options
from irmeta.cli.sources import (
    READING,
    SourceArgument,
    open_source,
    run_notes,
)
from irmeta.errors import UsageError
from irmeta.policies import EvalPolicy, MeanInterval, ReadPolicy

EXPLAINED = (
    EvalPolicy,
    (
        *("qrels", "overlay", "negative", "tie_order", "pool_order", "pool_depth"),
        *("pool_without", "rel"),
    ),
)

OVERLAP = (
    "low and high are the 95% interval of each mean alone; whether two overlap says nothing about "
    "their difference: see irmeta compare."
)
OF_CLUSTERS = (
    "intervals draw whole clusters; of fewer than 20, and by Student's t, they are of the means of "
    "clusters, weighted by their queries"
)


@command(
    "irmeta evaluate collection/ -m AP,nDCG@10",
    "irmeta evaluate qrels.txt run1.gz run2.gz -m AP --per-query",
    "irmeta evaluate qrels.txt run1.gz -m map,P_10 -q --format trec_eval",
    "irmeta evaluate store/ -m AP,P@10 --track news --wide --out means.csv",
    "irmeta evaluate store/ -m nDCG@10 --unjudged --draw run",
    "irmeta evaluate store/ -m AP --track news -q --summary best,median,worst",
)
@with_options(reading=READING, choices=EvalPolicy, display=ScoreDisplay)
def evaluate(
    source: SourceArgument,
    display: ScoreDisplay,
    choices: Given,
    reading: ReadPolicy,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measures",
            help="Names or presets of measures (repeatable).",
            show_default="basic: AP, nDCG, nDCG@10, RR, P@10",
        ),
    ] = None,
    per_query: Annotated[
        bool,
        typer.Option("-q", "--per-query", help="Report one value per query instead of means."),
    ] = False,
    statistics: Annotated[
        str | None,
        typer.Option(
            "--summary",
            metavar="best,median,worst",
            help="With --per-query, these values of all systems on each query.",
            show_default=False,
        ),
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="One column per measure.")] = False,
    interval: Annotated[
        MeanInterval | None,
        typer.Option(
            help="Add the 95% confidence interval of each mean: Student's t, or percentiles of "
            "resampled queries.",
            show_default=False,
        ),
    ] = None,
    measure_names: Annotated[
        Literal["asked", "canonical"],
        typer.Option(
            help="Names in the printed table: as written and canonical, or canonical only."
        ),
    ] = "asked",
    resample_by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|FILE",
            help="With --interval, column of the tracks' queries.csv, or CSV or TSV of queries and "
            "their clusters (columns query, cluster), which are resampled whole.",
            show_default=False,
        ),
    ] = None,
    segment: SegmentOption = None,
    query_weights: QueryWeightsOption = None,
    track: TracksOption = None,
    unjudged: UnjudgedOption = False,
    judged_at_least: JudgedAtLeastOption = None,
    draw: Annotated[
        Literal["query", "run"] | None,
        typer.Option(
            help="With --unjudged, means if unjudged docs are as relevant as the judged docs of "
            "the query or of the list, by drawn grades, beside condensed lists and bounds.",
            show_default=False,
        ),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="With --draw, number of draws.", show_default="200")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="With --draw or --interval bootstrap, random seed.", show_default="0"
        ),
    ] = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    strict: StrictOption = None,
) -> None:
    """Evaluate all systems: a table on a terminal, CSV in a pipe, or a file."""
    import polars as pl

    from irmeta.api.matrices import consistent_read
    from irmeta.api.results_or_data import variants_in
    from irmeta.cli.score_tables import (
        print_scores,
        print_trec_eval,
        print_unjudged,
        sort_key,
        sort_scores,
        wide_with_counts,
    )
    from irmeta.cli.tables import Result
    from irmeta.measures.evaluate import measures_of_call
    from irmeta.measures.names import parse_call, parse_measures
    from irmeta.measures.pools import unjudged_measures
    from irmeta.rankings.load import evaluation_of
    from irmeta.rankings.view import needs_of
    from irmeta.results.factors import Factor, QueryWeights, Segments
    from irmeta.results.scores import checked_summaries, show_asked
    from irmeta.results.scores import wide as spread

    if statistics is not None:
        if not per_query or wide or draw or display.format == "trec_eval":
            raise UsageError(
                "--summary is of all systems on each query: give --per-query, and omit --wide, "
                "--draw and --format trec_eval."
            )
        columns = ("track", "query", "measure", "systems", *checked_summaries(statistics))
        if display.sort is not None and display.sort not in columns:
            raise UsageError(f"--summary has no column {display.sort!r} to sort by.")
    asked, at_least = measures or "basic", judged_share(judged_at_least, unjudged)
    drawing: dict[str, Any] = {} if draws is None else {"draws": draws}
    drawing |= {} if seed is None else {"rng": seed}
    if interval is not None and (per_query or wide or draw or display.format == "trec_eval"):
        raise UsageError(
            "--interval prints a row for each mean: omit --per-query, --wide, --draw and --format "
            "trec_eval."
        )
    for flag, file in {"--segment": segment, "--query-weights": query_weights}.items():
        if file is not None and (per_query or draw or display.format == "trec_eval"):
            raise UsageError(
                f"{flag} prints means: omit --per-query, --draw and --format trec_eval."
            )
    weights = None if query_weights is None else QueryWeights.of(query_weights)
    asked_interval: dict[str, Any] = {} if interval is None else {"interval": interval}
    if resample_by is not None and interval is None:
        raise UsageError("--resample-by is of intervals: give --interval.")
    if interval == "bootstrap":
        asked_interval["rng"] = drawing.pop("rng", 0)
    others = per_query or wide or display.format == "trec_eval" or dask is not None
    _check_drawing(draw, drawing, unjudged, others)
    sort = None if display.sort is None else sort_key(display.sort)
    specs, policy = parse_call(asked, choices)  # rejects unknown names before anything is read
    specs += parse_measures(unjudged_measures()) if unjudged else []
    with (
        open_source(
            source,
            reading,
            track or None,
            workers,
            choices=choices,
            strict=strict,
            dask=dask,
            evaluation=evaluation_of(policy, needs_of(specs)),
        ) as store,
        cluster(dask, workers) as executor,
    ):
        with consistent_read(store, track or None) as tracks:
            provenance = store.provenance(asked, track=tracks, **choices)
            named = measures_of_call(store.reader, tracks, asked, store.merged(choices))
            sort = next((spec.name for spec in named if display.sort in spec.names), sort)
            written = {spec.name: spec.names for spec in named if spec.names != (spec.name,)}
            directions = {spec.name: spec.measure.direction for spec in named}
            reading_choices: Any = {
                "track": tracks,
                "workers": workers,
                **choices,
            }
            sent: Any = {**reading_choices, "executor": executor}
            if statistics is not None:
                frame = store.evaluate(asked, per_query=True, summary=statistics, **sent)
            elif draw is None:
                by_segment = None
                if segment is not None:
                    by_segment = Segments.within(segment, store.reader, tracks)
                sent["query_weights"] = weights
                clusters = None if interval is None else variants_in(store, tracks)
                of_variants = "where queries are variants of others (column variant_of), "
                if resample_by is not None:
                    clusters, of_variants = Factor.within(resample_by, store.reader, tracks), ""
                    sent["resample_by"] = clusters
                if clusters is not None:
                    note(f"irmeta: {of_variants}{OF_CLUSTERS}")
                    provenance |= clusters.record
                frame = store.evaluate(
                    asked, segments=by_segment, per_query=per_query, **asked_interval, **sent
                )
                if by_segment is not None:
                    provenance |= by_segment.record
                if weights is not None:
                    provenance |= {"query_weights_sha256": weights.sha256}
            else:
                frame = store.pools.drawn(asked, source=draw, **drawing, **reading_choices)
                provenance |= {"drawn": {"source": draw, "draws": 200, "rng": 0, **drawing}}
            notes = run_notes(store, tracks, choices)
            is_trec_eval = display.format == "trec_eval"
            summary = store.evaluate(asked, **sent) if per_query and is_trec_eval else frame
            unjudged_docs = store.pools.unjudged(**reading_choices) if unjudged else []
            if sort is not None:
                by = display.sort if display.sort is not None and sort in directions else None
                means = None if by is None else store.evaluate(by, **sent | asked_interval)
                if means is not None:  # the measure may have another name by another qrels set
                    means = means.with_columns(measure=pl.lit(sort))
                frame = sort_scores(frame, sort, directions, means)
        if interval is not None:
            provenance |= {"interval": {"confidence": 0.95, **asked_interval}}
            note(f"irmeta: {OVERLAP}")
        for name, facts in provenance["tracks"].items():
            if facts.get("pool", "").startswith("all systems"):
                note(f"irmeta: {name}: the pool is taken from {facts['pool']}")
        if is_trec_eval:
            print_trec_eval(frame if per_query else None, summary, display.digits)
            print_unjudged(unjudged_docs, at_least)
            return
        if statistics is not None:
            provenance |= {"summary": checked_summaries(statistics)}
            caption = "Values of all systems on each query."
            display.write(
                Result("evaluate", {"scores": frame}, caption, provenance, {"notes": notes})
            )
            print_unjudged(unjudged_docs, at_least)
            return
        if draw is None and (wide or display.is_paper):
            counted = wide and not (per_query or display.is_paper)
            frame = wide_with_counts(frame) if counted else spread(frame)
        is_printed = display.file is None
        if is_printed and measure_names == "asked":
            frame = show_asked(frame, written)
            directions |= {
                name: directions[spec] for spec, spellings in written.items() for name in spellings
            }
        # Of one track without a name of its own, and in a paper, where the caption names it.
        one_track = frame["track"].n_unique() == 1
        if (is_printed and len(source) > 1) or (display.is_paper and one_track):
            frame = frame.drop("track")
        if draw is None:
            print_scores(frame, display, directions, provenance, notes)
        else:
            alike = "query" if draw == "query" else "list"
            caption = (
                "Means over queries if unjudged docs are as relevant as the judged docs of the "
                f"{alike}, with percentiles 2.5 and 97.5 of the draws."
            )
            facts = {"notes": notes}
            display.write(Result("evaluate", {"scores": frame}, caption, provenance, facts))
        print_unjudged(unjudged_docs, at_least)


def _check_drawing(draw: str | None, drawing: dict[str, Any], unjudged: bool, others: bool) -> None:
    """Reject options of drawn grades that have no effect, or exclude each other."""
    if draw is None and drawing:
        raise UsageError("--draws and --seed are for --draw, and --seed for --interval bootstrap.")
    if draw is not None and not unjudged:
        raise UsageError("--draw is for --unjudged: give both.")
    if draw is not None and others:
        raise UsageError(
            "--draw prints means in a table of its own: omit --per-query, --wide, --dask and "
            "--format trec_eval."
        )


@command(
    "irmeta explain store/ -m AP --system aldDFR --query 901 --track news",
    "irmeta explain store/ -m RPP --system aldDFR --baseline aldBM25 --query 901 --track news",
    "irmeta explain store/ -m nDCG@10 --system aldDFR --baseline aldBM25 --query 901 --track news",
)
@with_options(choices=EXPLAINED, reading=READING, display=ReportDisplay)
def explain(
    source: SourceArgument,
    choices: Given,
    reading: ReadPolicy,
    display: ReportDisplay,
    system: Annotated[str, typer.Option(help="System to explain.", show_default=False)],
    query: Annotated[str, typer.Option(help="Query to explain.", show_default=False)],
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measures",
            help="Measure or preference, e.g. AP or RPP.",
            show_default="AP, with --baseline",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            help="Other system, for a preference, or for both lists side by side.",
            show_default=False,
        ),
    ] = None,
    track: TrackOption = None,
    every: Annotated[bool, typer.Option("--all", help="Print all terms.")] = False,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="For a preference, draw the pairs of docs in this file, .svg, .pdf or .png.",
            show_default=False,
        ),
    ] = None,
    titles: TitlesOption = True,
    strict: StrictOption = None,
) -> None:
    """Show the arithmetic behind one value, behind a preference, or two lists side by side."""
    from irmeta.cli.comparison_tables import print_lists, print_pair_explanation
    from irmeta.cli.explanations import print_explanation
    from irmeta.measures.names import parse_measure
    from irmeta.preferences.registry import is_preference, parse_preference
    from irmeta.report.figure_file import check_figure_file, write_figure

    if not measures and baseline is None:
        raise UsageError("name a measure by -m, or another system by --baseline.")
    name, force = one_measure(measures or ["AP"]), display.force
    systems = [system] if baseline is None else [system, baseline]
    noted = Given({**choices, "system": systems}, choices.accepted)  # notes are on these alone
    if is_preference(name):
        parse_preference(name)
        if baseline is None:
            raise UsageError(f"{name} compares two systems: name the other by --baseline.")
        if figure is not None:
            check_figure_file(figure, force=force)
        with open_source(source, reading, track, choices=noted, strict=strict) as store:
            explained = store.pairs.explain(
                name, system=system, baseline=baseline, query=query, track=track, **choices
            )
            provenance = store.pairs.provenance(name, track=track, **choices)
            print_pair_explanation(explained, every, provenance, display)
            if figure is not None:
                write_figure(explained.show(), figure, force=force, titles=titles)
                note(f"figure in {figure}")
        return
    parse_measure(name)
    if figure is not None:
        raise UsageError(f"{name} is a measure: --figure draws a preference, such as RPP.")
    with open_source(source, reading, track, choices=noted, strict=strict) as store:
        if baseline is not None:
            pair: dict[str, Any] = {"system": system, "baseline": baseline, "query": query}
            lists = store.pairs.lists(**pair, measure=name, track=track, **choices)
            print_lists(lists, name, pair, every, store.provenance(name, track=track, **choices),
                        display)  # fmt: skip
            return
        explanation = store.explain(name, system=system, query=query, track=track, **choices)
        provenance = store.provenance(name, track=track, **choices)
        print_explanation(explanation, every, provenance, display)


TREC_EVAL = (
    "irmeta trec_eval qrels.txt run.txt",
    "irmeta trec_eval -q -c -m map -m P.5,10 qrels.txt run.gz",
    "irmeta trec_eval -m all_trec qrels.txt - < run.txt",
)
EXAMPLES["irmeta trec_eval"] = TREC_EVAL


@app.command(
    "trec_eval",
    epilog=epilog_of(TREC_EVAL),
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def trec_eval(context: typer.Context) -> None:
    """Print what trec_eval prints, from its arguments: [-q] [-c] [-m MEASURE]... QRELS RUN..."""
    from irmeta.cli.trec_eval_command import run

    raise typer.Exit(run(context.args))


@command(
    "irmeta measures",
    "irmeta measures ndcg_cut_10",
    "irmeta measures --for diverse,ordered --length 4",
    "irmeta measures trec_eval10 --format latex",
)
@with_options(display=Display)
def measures(
    display: Display,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A measure or a preset.")
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="truncated|diverse|ordered,...",
            help="List the properties for this kind of rankings, and the measures that have them.",
            show_default=False,
        ),
    ] = None,
    subtopic_count: Annotated[
        int | None, typer.Option(help="With --for: number of subtopics.", show_default="2")
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(help="With --for: length of the longest rankings.", show_default="6"),
    ] = None,
) -> None:
    """List the measures; with NAME, describe one measure or list a preset.

    With --for, check the measures, or NAME, on all short rankings.
    """
    from irmeta.cli.explanations import (
        description_result,
        measures_result,
        preset_result,
        properties_result,
    )
    from irmeta.measures.catalog import describe, list_measures, list_preset
    from irmeta.measures.names import PRESETS

    sizes = {"subtopic_count": subtopic_count, "length": length}
    chosen_sizes: Any = {option: size for option, size in sizes.items() if size is not None}
    if kinds is not None:
        from irmeta.studies.papers.properties.compute import measure_properties

        result = properties_result(
            measure_properties(name, kinds, **chosen_sizes), name, kinds, chosen_sizes
        )
    elif chosen_sizes:
        size = next(iter(chosen_sizes)).replace("_", "-")
        raise UsageError(f"--{size} needs --for: it is the size of rankings to check.")
    elif name is None:
        result = measures_result(list_measures())
    elif name in PRESETS:
        result = preset_result(name, list_preset(name))
    else:
        result = description_result(name, describe(name))
        display = display.as_report()
    display.write(result)


@command(
    "irmeta truncation store/ -m AP,RBP --docs 10",
)
@with_options(choices=EvalPolicy, reading=READING, display=Display)
def truncation(
    source: SourceArgument,
    choices: Given,
    reading: ReadPolicy,
    display: Display,
    measures: MeasuresOption = None,
    track: TracksOption = None,
    docs: Annotated[int, typer.Option(min=1, help="Docs to add to the end of each list.")] = 1,
    workers: WorkersOption = None,
    strict: StrictOption = None,
) -> None:
    """Report how often scores change as non-relevant docs at the end of lists are cut or added."""
    from irmeta.cli.tables import Result
    from irmeta.measures.names import parse_measures

    asked: Any = measures or "default"
    parse_measures(asked)  # reject unknown names before reading anything
    with open_source(
        source, reading, track or None, workers, choices=choices, strict=strict
    ) as store:
        frame = store.stability.truncation(
            asked, track=track or None, docs=docs, workers=workers, **choices
        )
        provenance = store.provenance(asked, track=track or None, **choices)
        provenance["truncation"] = {"docs": docs}
        caption = "Lists whose score changes as docs at their end are cut or added."
        display.write(Result("truncation", {"truncation": frame}, caption, provenance))
