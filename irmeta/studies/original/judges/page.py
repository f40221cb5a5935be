"""The sections of the study's page; their paragraphs are in page.toml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from irmeta.phrases import agreeing, count, listed
from irmeta.studies.framework.sections import POINTER, data_section
from irmeta.studies.framework.study import Section, Show, Tables, filled, read_notes
from irmeta.studies.original.judges.replicates import ALIKE
from irmeta.studies.original.judges.study import HOME, INTERVAL_TEST, REPEATS
from irmeta.studies.original.judges.study import JudgesOptions as Options
from irmeta.studies.original.judges.verdicts import (
    LEAST_DOCS,
    LEAST_QUERIES,
    MOST_APART,
    MOST_NAMED,
    MOST_UNJUDGED,
    OTHER_QUERIES,
    UNKNOWN,
    first_measure,
)

TEXTS = read_notes(HOME, "page.toml")
(COARSE,) = TEXTS["coarse"]
Texts = Mapping[str, list[str]]
FIGURES = (
    "tau", "replicates", "ceiling", "conclusions", "slopes", "contrasts", "adoption", "mixtures",
    "widths", "agreement",
)  # fmt: skip
"""The figures of a track."""


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    has_labels, is_used = "score_tables" not in tables, tables["studied_tracks"]["used"].any()
    texts = _filled_texts(tables, options)
    if is_used and has_labels:
        text = [*summary(tables, options)]
        yield Section("Which conclusions survive", text, ["verdicts"], below=texts["verdicts"])
    elif is_used:
        yield _verdicts_of_values(tables, texts)
    yield data_section(tables, options) if has_labels else _score_tables(tables, texts)
    if not is_used:
        return
    if has_labels:
        yield Section("Labels", texts["labels"])
    elif tables["leaderboards"].is_empty():
        yield Section("Sources", texts["sources"])
        return
    yield _leaderboards(options, texts)
    if "ceiling" in tables:
        test = texts["annotators"] if options.epsilon is not None else []
        yield Section("Judges beside people", [*texts["people"], *test])
    yield Section("Decisiveness", texts["decisiveness"])
    if "categories" in tables:
        yield Section("Categories", texts["categories"], ["categories"])
    if "replicates" in tables:
        yield Section("Prompts and repeats", texts["replicates"])
    yield Section("Noise of queries", texts["query_noise"], ["query_noise"])
    yield Section("Conclusions", texts["conclusions"], ["conclusions"])
    yield Section("The best systems", texts["best_systems"])
    if has_labels:
        yield from _sections_of_labels(tables, texts)
    yield _label_saving(tables, options, texts)
    yield Section("Single queries", texts["single_queries"])
    yield Section("Sources", texts["sources"])


def _sections_of_labels(tables: Tables, texts: Texts) -> Iterator[Section]:
    """Yield the sections that tables of values have not: on the labels of single docs."""
    yield Section("Bias", texts["bias"])
    if "families" in tables:
        yield Section("Families", texts["families"])
    if "adoption" in tables:
        adoption_by_all = Show(
            "adoption", ("track", "judge", "adopted", "tau_before", "tau", "gain_judge",
            "gain_reference", "confirmed", "sd_reference", "sd_judge", "effect"),
            {"labels": ("judge", "reference"), "share": (1.0,)}, name="adoption_by_all",
            caption="Orders of systems that all re-rank their lists by the labels of the judge, "
            "or of the reference.",
        )  # fmt: skip
        yield Section("Adoption", texts["adoption"], [adoption_by_all])
    if "holes" in tables:
        test = texts["filling" if "filling" in tables else "holes_without_teams"]
        yield Section("Holes", [*texts["holes"], *test])


def _filled_texts(tables: Tables, options: Options) -> Texts:
    """Return the paragraphs of page.toml with the numbers of these options."""
    is_within_query = options.within == "query"
    return filled(
        TEXTS,
        measure=first_measure(tables, options),
        test=options.tests[0],
        alpha=options.alpha,
        survival=_survival_text(options),
        least_queries=LEAST_QUERIES,
        most_unjudged=MOST_UNJUDGED * 100,
        most_apart=MOST_APART * 100,
        least_docs=LEAST_DOCS,
        resamples=count(options.resamples, "resample"),
        splits=count(options.splits, "split"),
        margin=-options.margin,
        among="of the same query and" if is_within_query else "of all queries with",
        within="in each query" if is_within_query else "in all queries together",
        draws=count(options.draws, "draw"),
        adoption=options.adoption,
        adoption_draws=count(options.adoption_draws, "draw"),
        coarse=COARSE,
        holes=options.holes,
        hole_draws=count(options.hole_draws, "draw"),
        repeats=count(REPEATS, "random order"),
    )


def _verdicts_of_values(tables: Tables, texts: Texts) -> Section:
    """Return the section of verdicts on tables of values: of judges that share queries."""
    keys = ["track"] if tables["verdicts"]["track"].n_unique() > 1 else []
    if tables["verdicts"]["category"].is_not_null().any():
        keys.append("category")
    columns = ["judge", *keys, "queries", "tau_b", "survived", "survived_holm", "survived_halves",
               "conclusions", "reversed", "orders_as", "limits"]  # fmt: skip
    text, show = [*texts["verdicts_of_values"]], [Show("verdicts", columns)]
    apart = tables["other_queries"].unique("judge", maintain_order=True)
    notes = [
        f"{row['judge']}: {OTHER_QUERIES}. The reference has "
        f"{count(row['queries_reference'], 'query')}, {row['judge']} "
        f"{count(row['queries_judge'], 'query')}: tau-b mixes the judge with the queries, and "
        "there is no verdict."
        for row in apart.iter_rows(named=True)
    ]
    if notes:
        first = ("queries_reference", "queries_judge", "shared", "tau_b", "tau_halves", "tau_ap",
                 "tau_ap_judge", "tau_gap", "spearman", "pearson", "rmse", "systems")  # fmt: skip
        show.append(Show("other_queries", ("track", "judge", "measure", *first)))
        text += texts["other_queries"]
    return Section("Which conclusions survive", text, show, notes=notes)


def _score_tables(tables: Tables, texts: Texts) -> Section:
    """Return the section on the tables of values that were read."""
    notes = tables["studied_tracks"]["notes"].drop_nulls().str.split("; ").explode()
    return Section(
        "Score tables",
        texts["score_tables"],
        ["score_tables"],
        notes=[f"{note}." for note in notes],
    )


def summary(tables: Tables, options: Options) -> Iterator[str]:
    """Yield one sentence each on conclusions, people, adoption, holes, and prompts."""
    several = bool(tables["studied_tracks"]["used"].sum() > 1)
    what, name = ("judge", "judges"), pl.col("judge")
    if several:
        what = ("pair of a judge and a track", "pairs of a judge and a track")
        name = pl.format("{} on {}", "judge", "track")
    yield from _conclusions_text(tables["verdicts"].with_columns(name=name), options, what)
    if "ceiling" in tables:
        yield from _people_text(tables["ceiling"], options)
    yield from _adoption_text(tables["verdicts"].with_columns(name=name), what)
    yield from _filling_text(tables, what, name)
    if "replicates" in tables:
        yield from _replicates_text(tables, several)


def _conclusions_text(
    verdicts: pl.DataFrame, options: Options, what: tuple[str, str]
) -> Iterator[str]:
    """Yield how many conclusions of the reference `what`, judges, keep and reverse."""
    known = verdicts.filter(pl.col("survived").is_not_nan()).sort(
        "survived", "judge", nulls_last=True
    )
    test, _, correction = options.tests[0].partition("+")
    how = f"corrected by {correction}" if correction else "without correction"
    if known.height:
        reversing = int((known["reversed"] > 0).sum())
        shares = [
            f"{100 * share:.0f} % ({name})"
            for share, name in known.select("survived", "name").rows()
        ]
        span = shares[0] if len(shares) == 1 else f"{shares[0]} to {shares[-1]}"
        yield (
            f"Conclusions: of the reference's by {options.measures[0]} ({test}, {how}), on the "
            f"queries that both labelled, a judge keeps {span}; {reversing} of "
            f"{count(known.height, *what)} {agreeing(reversing, 'reverses', 'reverse')} one or "
            "more."
        )
    if unsaid := verdicts.height - known.height:
        yield (
            f"No share of conclusions: {count(unsaid, *what)}, of which nothing can be said "
            "(see limits), or where the reference has no conclusion."
        )


def _people_text(ceiling: pl.DataFrame, options: Options) -> Iterator[str]:
    """Yield how people agree with one another, and how judges do beside them."""
    people = ceiling.filter("is_person")["tau"].drop_nans()
    if not len(people):
        return
    span = f"from {people.min():.3f} to {people.max():.3f}" if len(people) > 2 else (
        f"{people[0]:.3f}"
    )  # fmt: skip
    words = ceiling.filter(~pl.col("is_person"))["tau_beside"].drop_nulls()
    counts = [
        f"{(words == word).sum()} {word}"
        for word in ("higher", "not distinguishable", "lower")
        if (words == word).any()
    ]
    beside = ""
    if counts:
        beside = (
            f"; of {count(len(words), 'pair')} of a judge and a person, {listed(counts)} (by 95 % "
            "intervals, not corrected for their number)"
        )
    yield (
        f"People: tau-b by {options.measures[0]} of the leaderboards of two people is "
        f"{span}{beside}."
    )


def _adoption_text(verdicts: pl.DataFrame, what: tuple[str, str]) -> Iterator[str]:
    """Yield how many of `what`, judges, are called circular."""
    effects = verdicts.filter(pl.col("circular").is_not_null())
    if effects.is_empty():
        return
    circular = effects.filter(circular="circular").sort("circular_effect", descending=True)
    texts = [
        f"{row['name']} ({row['circular_effect']:.2f}, {row['circular_effect_low']:.2f} to "
        f"{row['circular_effect_high']:.2f})"
        for row in circular.to_dicts()
    ]
    named = f": {listed(texts, MOST_NAMED)}" if texts else ""
    yield (
        f"Adoption: {len(texts)} of {count(effects.height, *what)} "
        f"{agreeing(len(texts), 'is', 'are')} called circular{named} (tau-b lost because all "
        "systems adopt the judge's labels, not the reference's; 95 % interval over queries, "
        "not corrected for the number of judges); of the others that is not shown."
        + (f" {COARSE}" if texts else "")
    )


def _replicates_text(tables: Tables, several: bool) -> Iterator[str]:
    """Yield a sentence on the spread over the prompts and repeats of models."""
    spread = tables["replicates"].filter(pl.col("replicates") > 1, pl.col("tau_mean").is_not_nan())
    for pairs in spread.partition_by("pairs", maintain_order=True):
        widest = pairs.sort(pl.col("tau_least") - pl.col("tau_greatest")).row(0, named=True)
        where = {"all": "each with all its labels", "shared": "on the pairs that all labelled"}
        on = f" on {widest['track']}" if several else ""
        is_unsaid = pl.col("limits").str.starts_with(UNKNOWN)
        unsaid = pairs.filter(is_unsaid)["model"].unique().sort().to_list()
        told = f"; of replicates of {listed(unsaid)} nothing can be said" if unsaid else ""
        if (pairs["limits"] == ALIKE).any():
            told += (
                f"; {widest['unjudged']:.0%} of the first ten docs have no label there on either "
                "side, which makes orders alike, so that the spread is too small"
            )
        yield (
            f"Prompts and repeats, {where[pairs['pairs'][0]]}: tau-b by {widest['measure']} spans "
            f"{widest['tau_least']:.3f} to {widest['tau_greatest']:.3f} over the "
            f"{widest['replicates']} replicates of {widest['model']}{on}, the widest of "
            f"{count(pairs.height, 'model')}{told}."
        )


def _survival_text(options: Options) -> str:
    """Return the end of a sentence: the correction of the shares, and their interval."""
    test, _, correction = options.tests[0].partition("+")
    parts = list[str]()
    if not correction and f"{test}+holm" in options.tests:
        parts.append("without a correction for the number of pairs, and with Holm's")
    if options.tests[0] == INTERVAL_TEST:
        parts.append(
            "in brackets the 95 % interval of the uncorrected share over queries: Student's t "
            "times its deviation between halves of the queries"
        )
    return "".join(f"; {part}" for part in parts) + "."


def _leaderboards(options: Options, texts: Texts) -> Section:
    columns = ("track", "judge", "measure", "docs", "queries", "tau_b", "sd", "drawn", "tau_many",
               "tau_by_query", "tau_ap", "tau_ap_judge", "tau_gap", "spearman", "pearson", "rmse",
               "same_best", "common_5", "common_10", "common_20",
               "drop", "dropped", "rise", "risen")  # fmt: skip
    common = texts["common_docs"] if options.common else []
    shown = [column for column in columns if options.common or column != "docs"]
    text = [*texts["leaderboards"], *common, POINTER]
    return Section("Leaderboards", text, [Show("leaderboards", shown)])


def _filling_text(tables: Tables, what: tuple[str, str], name: pl.Expr) -> Iterator[str]:
    """Yield one sentence on whether `what`, judges, help to fill holes, by the map of each."""
    rows = tables.get("filling")
    if rows is None or rows.is_empty():
        return
    maps = tables["maps"].select("track", "judge", "map").unique()
    rows = rows.join(maps, on=["track", "judge"]).filter(
        pl.col("way") == pl.format("filled: {}", "map"), pl.col("verdict").is_not_null()
    )
    if rows.is_empty():
        return
    helped, harmed = (rows.filter(verdict=word).height for word in ("helps", "does harm"))
    difference = pl.col("difference")
    base = tables["filling"].filter(way="nonrelevant")["tau"].mean()
    beyond = rows.filter(pl.col("beyond_mean_low") > 0).height
    named = [
        f"{row['name']} ({row['tau']:.3f}; mean error of filled grades {row['excess']:+.2f})"
        for row in rows.with_columns(name=name).filter(difference < 0).sort(difference).to_dicts()
    ]
    yield (
        "Holes: to fill docs of teams left out of the pool with the judge's labels helps with "
        f"{helped} of {count(rows.height, *what)}, and does harm with {harmed}, beside nonrelevant "
        f"holes (mean tau-b {base:.3f}); with {rows.height - helped - harmed} neither is shown. "
        f"More than the mean grade in these docs, which takes no judge, is shown of {beyond}."
        + (f" Below these: {listed(named, MOST_NAMED)}." if named else "")
    )


def _label_saving(tables: Tables, options: Options, texts: Texts) -> Section:
    corrected = Show(
        "corrected", ("track", "judge", "measure", "labelled", "width_reference", "width",
        "width_all", "equivalent", "coverage", "least_coverage"),
        {"target": ("systems",), "method": ("ppi++",),
         "measure": (first_measure(tables, options),)},
        name="corrected_systems",
        caption="Means of systems, corrected by PPI++: widths and coverage of 95 % intervals.",
    )  # fmt: skip
    means = ["corrected_means"] if "corrected_means" in tables else []
    text = texts["label_saving"]
    return Section("Queries that people must still label", text, [corrected, *means])


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: its figures."""
    studied, judges = tables["studied_tracks"].row(0, named=True), tables.get("judges")
    queries = "queries" if judges is None else "queries with a relevant doc"
    facts = {"systems": studied["systems"], queries: studied["queries"]}
    if judges is None:
        facts["judges"] = tables["verdicts"].height
    elif judges.height:
        facts["judges"] = judges.height - 1
        facts["reference"] = judges.filter("is_reference")["judge"][0]
    return Section(track, show=[f"{name}*" for name in FIGURES], facts=facts)
