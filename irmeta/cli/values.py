"""`irmeta evaluate`, `explain`, `measures` and `truncation`: values of systems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from irmeta.cli.app import (
    ONE_TRACK,
    TRACKS,
    Drawn,
    QueryFiles,
    TrackOpening,
    TracksOpening,
    UnjudgedDocs,
    app,
    cluster,
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
from irmeta.options import Options, option
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


@dataclass(frozen=True)
class EvaluatedScores(QueryFiles, UnjudgedDocs):
    """Which values `evaluate` prints."""

    measures: tuple[str, ...] = option(
        (),
        "Names or presets of measures (repeatable).",
        flag="-m --measures",
        shown="basic: AP, nDCG, nDCG@10, RR, P@10",
    )
    per_query: bool = option(
        False, "Report one value per query instead of means.", flag="-q --per-query"
    )
    statistics: str | None = option(
        None,
        "With --per-query, these values of all systems on each query.",
        flag="--summary",
        metavar="best,median,worst",
    )
    wide: bool = option(False, "One column per measure.")
    interval: MeanInterval | None = option(
        None,
        "Add the 95% confidence interval of each mean: Student's t, or percentiles of resampled "
        "queries.",
        metavar="<t|bootstrap>",
    )
    measure_names: Literal["asked", "canonical"] = option(
        "asked",
        "Names in the printed table: as written and canonical, or canonical only.",
        metavar="<asked|canonical>",
    )
    resample_by: str | None = option(
        None,
        "With --interval, column of the tracks' queries.csv, or CSV or TSV of queries and their "
        "clusters (columns query, cluster), which are resampled whole.",
        metavar="COLUMN|FILE",
    )

    def check(self, display: ScoreDisplay, *, is_drawn: bool) -> None:
        """Raise `UsageError` for options that contradict each other."""
        is_trec_eval = display.format == "trec_eval"
        if self.statistics is not None:
            if not self.per_query or self.wide or is_drawn or is_trec_eval:
                raise UsageError(
                    "--summary is of all systems on each query: give --per-query, and omit --wide, "
                    "--draw and --format trec_eval."
                )
            columns = ("track", "query", "measure", "systems", *self.summaries())
            if display.sort is not None and display.sort not in columns:
                raise UsageError(f"--summary has no column {display.sort!r} to sort by.")
        if self.interval is not None and (self.per_query or self.wide or is_drawn or is_trec_eval):
            raise UsageError(
                "--interval prints a row for each mean: omit --per-query, --wide, --draw and "
                "--format trec_eval."
            )
        files = {"--segment": self.segment, "--query-weights": self.query_weights}
        for flag, file in files.items():
            if file is not None and (self.per_query or is_drawn or is_trec_eval):
                raise UsageError(
                    f"{flag} prints means: omit --per-query, --draw and --format trec_eval."
                )
        if self.resample_by is not None and self.interval is None:
            raise UsageError("--resample-by is of intervals: give --interval.")

    def summaries(self) -> list[str]:
        """Return the values of --summary."""
        from irmeta.results.scores import checked_summaries

        return checked_summaries(self.statistics or ())


@dataclass(frozen=True)
class DrawnGrades(Options):
    """How `evaluate` draws grades of unjudged docs, and resamples queries."""

    draw: Literal["query", "run"] | None = option(
        None,
        "With --unjudged, also means with grades of unjudged docs drawn from the judged docs of "
        "the query or of the list, beside condensed lists and bounds.",
        metavar="<query|run>",
    )
    draws: int | None = option(
        None, "With --draw, number of draws.", least=1, metavar="<int range> [x>=1]", shown="200"
    )
    seed: int | None = option(
        None,
        "With --draw or --interval bootstrap, random seed.",
        least=0,
        metavar="<int range> [x>=0]",
        shown="0",
    )

    @property
    def keywords(self) -> dict[str, int]:
        """Keywords of `Store.pools.drawn`."""
        return {"draws": self.draws or 200, "rng": self.seed or 0}

    def check(self, asked: EvaluatedScores, *, is_table: bool) -> None:
        """Raise `UsageError` for options that have no effect, or exclude each other."""
        is_seeded = self.seed is not None and asked.interval != "bootstrap"
        if self.draw is None and (self.draws is not None or is_seeded):
            raise UsageError(
                "--draws and --seed are for --draw, and --seed for --interval bootstrap."
            )
        if self.draw is not None and not asked.unjudged:
            raise UsageError("--draw is for --unjudged: give both.")
        if self.draw is not None and not is_table:
            raise UsageError(
                "--draw prints means in a table of its own: omit --per-query, --wide, --dask and "
                "--format trec_eval."
            )


@command(
    "irmeta evaluate collection/ -m AP,nDCG@10",
    "irmeta evaluate qrels.txt run1.gz run2.gz -m AP --per-query",
    "irmeta evaluate qrels.txt run1.gz -m map,P_10 -q --format trec_eval",
    "irmeta evaluate store/ -m AP,P@10 --track news --wide --out means.csv",
    "irmeta evaluate store/ -m nDCG@10 --unjudged --draw run",
    "irmeta evaluate store/ -m AP --track news -q --summary best,median,worst",
)
@with_options(
    reading=READING,
    choices=EvalPolicy,
    display=ScoreDisplay,
    opening=TracksOpening,
    drawing=DrawnGrades,
    asked=EvaluatedScores,
)
def evaluate(
    source: SourceArgument,
    display: ScoreDisplay,
    choices: Given,
    reading: ReadPolicy,
    opening: TracksOpening,
    drawing: DrawnGrades,
    asked: EvaluatedScores,
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
    from irmeta.results.scores import show_asked
    from irmeta.results.scores import wide as spread

    per_query, wide, interval = asked.per_query, asked.wide, asked.interval
    is_trec_eval = display.format == "trec_eval"
    is_table = not (per_query or wide or is_trec_eval or opening.dask is not None)
    asked.check(display, is_drawn=drawing.draw is not None)
    at_least, measures = asked.least_judged(), list(asked.measures) or "basic"
    weights = None if asked.query_weights is None else QueryWeights.of(Path(asked.query_weights))
    drawing.check(asked, is_table=is_table)
    asked_interval: dict[str, Any] = {} if interval is None else {"interval": interval}
    if interval == "bootstrap":
        asked_interval["rng"] = drawing.seed or 0
    sort = None if display.sort is None else sort_key(display.sort)
    specs, policy = parse_call(measures, choices)  # rejects unknown names before anything is read
    specs += parse_measures(unjudged_measures()) if asked.unjudged else []
    evaluation = evaluation_of(policy, needs_of(specs))
    with (
        open_source(source, reading, opening, choices=choices, evaluation=evaluation) as store,
        cluster(opening.dask, opening.workers) as executor,
    ):
        with consistent_read(store, opening.track) as tracks:
            provenance = store.provenance(measures, track=tracks, **choices)
            named = measures_of_call(store.reader, tracks, measures, store.merged(choices))
            sort = next((spec.name for spec in named if display.sort in spec.names), sort)
            written = {spec.name: spec.names for spec in named if spec.names != (spec.name,)}
            directions = {spec.name: spec.measure.direction for spec in named}
            reading_choices: Any = {"track": tracks, "workers": opening.workers, **choices}
            sent: Any = {**reading_choices, "executor": executor}
            if asked.statistics is not None:
                frame = store.evaluate(measures, per_query=True, summary=asked.statistics, **sent)
            elif drawing.draw is None:
                by_segment = None
                if asked.segment is not None:
                    by_segment = Segments.within(asked.segment, store.reader, tracks)
                sent["query_weights"] = weights
                clusters = None if interval is None else variants_in(store, tracks)
                of_variants = "where queries are variants of others (column variant_of), "
                if asked.resample_by is not None:
                    clusters = Factor.within(asked.resample_by, store.reader, tracks)
                    sent["resample_by"], of_variants = clusters, ""
                if clusters is not None:
                    note(f"irmeta: {of_variants}{OF_CLUSTERS}")
                    provenance |= clusters.record
                frame = store.evaluate(
                    measures, segments=by_segment, per_query=per_query, **asked_interval, **sent
                )
                if by_segment is not None:
                    provenance |= by_segment.record
                if weights is not None:
                    provenance |= {"query_weights_sha256": weights.sha256}
            else:
                how_drawn: Any = {"source": drawing.draw, **drawing.keywords}
                frame = store.pools.drawn(measures, **how_drawn, **reading_choices)
                provenance |= {"drawn": how_drawn}
            notes = run_notes(store, tracks, choices)
            summary = store.evaluate(measures, **sent) if per_query and is_trec_eval else frame
            unjudged_docs = store.pools.unjudged(**reading_choices) if asked.unjudged else []
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
        if asked.statistics is not None:
            provenance |= {"summary": asked.summaries()}
            caption = "Values of all systems on each query."
            display.write(
                Result("evaluate", {"scores": frame}, caption, provenance, {"notes": notes})
            )
            print_unjudged(unjudged_docs, at_least)
            return
        if drawing.draw is None and (wide or display.is_paper):
            counted = wide and not (per_query or display.is_paper)
            frame = wide_with_counts(frame) if counted else spread(frame)
        is_printed = display.file is None
        if is_printed and asked.measure_names == "asked":
            frame = show_asked(frame, written)
            directions |= {
                name: directions[spec] for spec, spellings in written.items() for name in spellings
            }
        # Of one track without a name of its own, and in a paper, where the caption names it.
        one_track = frame["track"].n_unique() == 1
        if (is_printed and len(source) > 1) or (display.is_paper and one_track):
            frame = frame.drop("track")
        if drawing.draw is None:
            print_scores(frame, display, directions, provenance, notes)
        else:
            alike = "query" if drawing.draw == "query" else "list"
            caption = (
                "Means over queries if unjudged docs are as relevant as the judged docs of the "
                f"{alike}, with percentiles 2.5 and 97.5 of the draws."
            )
            facts = {"notes": notes}
            display.write(Result("evaluate", {"scores": frame}, caption, provenance, facts))
        print_unjudged(unjudged_docs, at_least)


@dataclass(frozen=True)
class Explained(Options):
    """Measure or preference that is explained, and the other system of a preference."""

    measures: tuple[str, ...] = option(
        (),
        "Measure or preference, e.g. AP or RPP.",
        flag="-m --measures",
        shown="AP, with --baseline",
    )
    baseline: str | None = option(
        None, "Other system, for a preference, or for both lists side by side."
    )


@dataclass(frozen=True)
class Terms(Drawn):
    """Which terms are printed, and the figure of a preference."""

    every: bool = option(False, "Print all terms.", flag="--all")
    figure: str | None = option(
        None,
        "For a preference, draw the pairs of docs in this file, .svg, .pdf or .png.",
        metavar="<path>",
    )


@command(
    "irmeta explain store/ -m AP --system aldDFR --query 901 --track news",
    "irmeta explain store/ -m RPP --system aldDFR --baseline aldBM25 --query 901 --track news",
    "irmeta explain store/ -m nDCG@10 --system aldDFR --baseline aldBM25 --query 901 --track news",
)
@with_options(
    choices=EXPLAINED,
    reading=READING,
    display=ReportDisplay,
    terms=(Terms, ("every", "figure", "titles")),
    opening=ONE_TRACK,
    asked=Explained,
)
def explain(
    source: SourceArgument,
    choices: Given,
    reading: ReadPolicy,
    display: ReportDisplay,
    terms: Terms,
    opening: TrackOpening,
    asked: Explained,
    system: Annotated[str, typer.Option(help="System to explain.", show_default=False)],
    query: Annotated[str, typer.Option(help="Query to explain.", show_default=False)],
) -> None:
    """Show the arithmetic behind one value, behind a preference, or two lists side by side."""
    from irmeta.cli.comparison_tables import print_lists, print_pair_explanation
    from irmeta.cli.explanations import print_explanation
    from irmeta.measures.names import parse_measure
    from irmeta.preferences.registry import is_preference, parse_preference
    from irmeta.report.figure_file import check_figure_file, write_figure

    baseline, track = asked.baseline, opening.track
    if not asked.measures and baseline is None:
        raise UsageError("name a measure by -m, or another system by --baseline.")
    name, force = one_measure(asked.measures or ["AP"]), display.force
    figure = None if terms.figure is None else Path(terms.figure)
    systems = [system] if baseline is None else [system, baseline]
    noted = Given({**choices, "system": systems}, choices.accepted)  # notes are on these alone
    if is_preference(name):
        parse_preference(name)
        if baseline is None:
            raise UsageError(f"{name} compares two systems: name the other by --baseline.")
        if figure is not None:
            check_figure_file(figure, force=force)
        with open_source(source, reading, opening, choices=noted) as store:
            explained = store.pairs.explain(
                name, system=system, baseline=baseline, query=query, track=track, **choices
            )
            provenance = store.pairs.provenance(name, track=track, **choices)
            print_pair_explanation(explained, terms.every, provenance, display)
            if figure is not None:
                write_figure(explained.show(), figure, force=force, titles=terms.titles)
                note(f"figure in {figure}")
        return
    parse_measure(name)
    if figure is not None:
        raise UsageError(f"{name} is a measure: --figure draws a preference, such as RPP.")
    with open_source(source, reading, opening, choices=noted) as store:
        if baseline is not None:
            pair: dict[str, Any] = {"system": system, "baseline": baseline, "query": query}
            lists = store.pairs.lists(**pair, measure=name, track=track, **choices)
            provenance = store.provenance(name, track=track, **choices)
            print_lists(lists, name, pair, terms.every, provenance, display)
            return
        explanation = store.explain(name, system=system, query=query, track=track, **choices)
        provenance = store.provenance(name, track=track, **choices)
        print_explanation(explanation, terms.every, provenance, display)


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
    """Print trec_eval's output; its arguments: [-q] [-c] [-m MEASURE]... QRELS RUN..."""
    from irmeta.cli.trec_eval_command import run

    raise typer.Exit(run(context.args))


@dataclass(frozen=True)
class PropertyCheck(Options):
    """Kind and size of the rankings on which properties are checked."""

    kinds: str | None = option(
        None,
        "List the properties for these kinds of rankings, and the measures that have them.",
        flag="--for",
        metavar="truncated|diverse|ordered,...",
    )
    subtopic_count: int | None = option(None, "With --for: number of subtopics.", shown="2")
    length: int | None = option(None, "With --for: length of the longest rankings.", shown="6")


@command(
    "irmeta measures",
    "irmeta measures ndcg_cut_10",
    "irmeta measures --for diverse,ordered --length 4",
    "irmeta measures trec_eval10 --format latex",
)
@with_options(display=Display, checked=PropertyCheck)
def measures(
    display: Display,
    checked: PropertyCheck,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A measure or a preset.")
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

    kinds, chosen_sizes = checked.kinds, checked.changed()
    chosen_sizes.pop("kinds", None)
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


@dataclass(frozen=True)
class PresetMeasures(Options):
    """Measures, by default those of the preset default."""

    measures: tuple[str, ...] = option(
        (),
        "Names or presets of measures (repeatable).",
        flag="-m --measures",
        shown="preset default",
    )


@dataclass(frozen=True)
class Truncation(Options):
    """How far lists are lengthened."""

    docs: int = option(
        1, "Docs to add to the end of each list.", least=1, metavar="<int range> [x>=1]"
    )


@command(
    "irmeta truncation store/ -m AP,RBP --docs 10",
)
@with_options(
    choices=EvalPolicy,
    reading=READING,
    display=Display,
    options=Truncation,
    opening=TRACKS,
    asked=PresetMeasures,
)
def truncation(
    source: SourceArgument,
    choices: Given,
    reading: ReadPolicy,
    display: Display,
    options: Truncation,
    opening: TracksOpening,
    asked: PresetMeasures,
) -> None:
    """Report how often scores change as non-relevant docs at the end of lists are cut or added."""
    from irmeta.cli.tables import Result
    from irmeta.measures.names import parse_measures

    measures, tracks = list(asked.measures) or "default", opening.track
    parse_measures(measures)  # reject unknown names before reading anything
    with open_source(source, reading, opening, choices=choices) as store:
        frame = store.stability.truncation(
            measures, track=tracks, docs=options.docs, workers=opening.workers, **choices
        )
        provenance = store.provenance(measures, track=tracks, **choices)
        provenance["truncation"] = {"docs": options.docs}
        caption = "Lists whose score changes as docs at their end are cut or added."
        display.write(Result("truncation", {"truncation": frame}, caption, provenance))
