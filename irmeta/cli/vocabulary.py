"""Names of options that commands and functions share: one name for one idea."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Term(NamedTuple):
    """Name of an option on the command line and in Python.

    Attributes
    ----------
    option
        Name on the command line.
    keyword
        Name in Python; empty where functions have no such argument.
    meaning
        The idea, and where commands differ, the reason.
    avoid
        Other names of the idea, which no option or keyword has.
    before
        Names that the idea had in some commands, and that are options of another meaning.
    """

    option: str
    keyword: str
    meaning: str
    avoid: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


TERMS = (
    Term(
        "--measures",
        "measures",
        "Names or presets of measures; in `prefer` and `explain` also of preferences, whose Python "
        "argument is `preferences`. Default: `basic` in `evaluate`, `default` in `reanalyze`, "
        "`truncation` and Python.",
        ("--measure", "--metric", "--metrics", "--preferences"),
    ),
    Term(
        "--track", "track", "Tracks of the source; in `catalog` and `fetch` TREC's name of a track."
    ),
    Term(
        "--system",
        "system",
        "Systems, by name, group or type; in `explain` the one that is explained, in `pool` those "
        "whose docs are listed.",
    ),
    Term("--per-query", "per_query", "One value per query instead of means."),
    Term("--query", "query", "Queries, by name; in `explain` the one that is explained."),
    Term(
        "--segment",
        "segments",
        "Column of the tracks' queries.csv, or file of queries and their segments, for results of "
        "each segment beside those of all queries.",
    ),
    Term(
        "--resample-by",
        "resample_by",
        "Column of the tracks' queries.csv, or file of queries and their clusters, which tests and "
        "intervals resample whole.",
    ),
    Term(
        "--query-weights",
        "query_weights",
        "File of queries and their weights, for weighted means and their tests.",
    ),
    Term("--query-file", "query_file", "File of queries, a line for each."),
    Term("--baseline", "baseline", "System that other systems are compared with.", ("--against",)),
    Term(
        "--alternative",
        "alternative",
        "What a test against a baseline looks for: any difference, or only greater or smaller "
        "values of a system.",
    ),
    Term(
        "--out",
        "out",
        "Where results are written: a file where the result is one table (its ending is its "
        "format), a folder where there are several files or a store. What was written is printed.",
        ("--store", "--to"),
    ),
    Term(
        "--format",
        "",
        "Format of what is printed; a file has the format of its ending. The formats are the same "
        "in all commands that print a table: see below.",
        ("--json",),
    ),
    Term(
        "--digits",
        "",
        "Decimal places of printed values: 6 in tables and CSV, 4 in LaTeX and Markdown, all in "
        "JSON; files of CSV and Parquet have all digits.",
    ),
    Term(
        "--caption",
        "caption",
        "Text in place of the first sentence of a caption in LaTeX and Markdown; the test and what "
        "marks mean still follow.",
    ),
    Term(
        "--label",
        "label",
        "Label in LaTeX, with or without `tab:`. Default: the table's name and six digits of a "
        "checksum of its content, so that no two tables of a paper share it.",
    ),
    Term(
        "--system-names",
        "system_names",
        "Names that LaTeX and Markdown print for systems: a CSV or TSV with columns `system` and "
        "`name`; in Python also a dict.",
    ),
    Term(
        "--csv-safe",
        "",
        "Put an apostrophe before texts in CSV that a spreadsheet would run as a formula.",
    ),
    Term("--force", "force", "Overwrite files that irmeta did not write."),
    Term("--figure", "", "File for a figure of the result."),
    Term("--titles", "titles", "Titles of figures."),
    Term("--style", "style", "Names of measures as papers print them, or canonical."),
    Term("--formats", "formats", "Formats of files of figures: svg, pdf, png."),
    Term("--figures", "figures", "Whether figures are drawn."),
    Term(
        "--missing",
        "missing",
        "Values or rows that one side lacks: an error, compared where both have them, or 0.",
    ),
    Term("--test", "test", "Test of a difference; `tests` where a function takes several."),
    Term(
        "--correction",
        "correction",
        "Correction for the number of pairs. Default: `holm` in `compare`, whose pairs are read "
        "one by one; none in `power`, because discriminative power counts pairs with p below the "
        "level, as in the literature; none in `prefer`, whose default test compares all pairs at "
        "once.",
    ),
    Term(
        "--alpha",
        "alpha",
        "Significance level; in `power` one or several.",
        ("--level", "--levels"),
    ),
    Term("--resamples", "resamples", "Number of resamples of a test.", ("--permutations",)),
    Term(
        "--rank-resamples",
        "rank_resamples",
        "Number of resamples of the queries for rank sets.",
        ("--bootstraps",),
    ),
    Term(
        "--seed",
        "rng",
        "Random seed; Python also takes a generator in `irmeta.stats`. Studies, which record it, "
        "call it `seed`.",
    ),
    Term(
        "--unjudged",
        "",
        "Report systems that lack judgments, and pairs that unjudged docs leave undecided.",
    ),
    Term(
        "--judged-at-least",
        "",
        "Mean Judged@10 below which a system is reported as hardly judged.",
    ),
    Term("--queries", "queries", "Queries that are averaged."),
    Term("--draws", "draws", "Draws, of grades in `evaluate` and of orders of judging in `pool`."),
    Term("--negative", "negative", "Meaning of grades below 0."),
    Term(
        "--qrels",
        "qrels",
        "Name of a qrels set; in functions for data in memory, the qrels themselves.",
    ),
    Term("--tie-order", "tie_order", "Order of docs with equal scores.", ("--ties",)),
    Term("--overlay", "overlay", "Qrels sets that are laid over one another."),
    Term("--pool-order", "pool_order", "Tie order of the lists that made the pool."),
    Term(
        "--pool-depth",
        "pool_depth",
        "Depth of the pool to which judgments are cut; in `pool`, of the pool that is listed.",
        before=("--depth",),
    ),
    Term("--pool-without", "pool_without", "Systems that are removed from the pool."),
    Term("--costs", "costs", "File of the costs of reading docs."),
    Term("--depth", "depth", "Rank at which lists are cut when they are read.", ("--cutoff",)),
    Term(
        "--cut-depth",
        "cut_depth",
        "Rank at which `study search-length` cuts lists, to compare them with the whole lists.",
        before=("--depth",),
    ),
    Term(
        "--rarity-depth",
        "rarity_depth",
        "Deepest rank at which a system retrieves a doc, for rarity.",
        before=("--depth",),
    ),
    Term(
        "--rarity-weight",
        "rarity_weights",
        "Weights of rarity in `study innovation`; `--draw-rarity-weight` those of Table 3.",
        before=("--alpha",),
    ),
    Term("--duplicates", "duplicates", "Treatment of a doc that occurs twice in a list."),
    Term("--malformed", "malformed", "Treatment of malformed lines."),
    Term("--names", "names", "Rule for the names of systems."),
    Term("--run-format", "run_format", "Format of run files that cannot be recognised."),
    Term("--drop-self", "drop_self", "Remove docs with the id of their query."),
    Term(
        "--drop-docs",
        "drop_docs",
        "File of docs to take out of lists and judgments: lines `query doc`.",
    ),
    Term("--chunks", "chunks", "Separator before which an id of a chunk has the id of its doc."),
    Term("--grade-digits", "grade_digits", "Decimal places to which grades are rounded."),
    Term("--comments", "comments", "Meaning of lines of text that begin with #."),
    Term("--columns", "columns", "Columns of tables by what they hold: doc=sku,grade=ctr."),
    Term("--subtopics", "subtopics", "Take the second column of qrels for a subtopic."),
    Term(
        "--subtopic-count",
        "subtopic_count",
        "Number of subtopics of enumerated rankings.",
        before=("--subtopics",),
    ),
    Term("--strict", "", "Exit with status 3 if something could not be read."),
    Term("--rehash", "rehash", "Compare files by content, not by size and modification time."),
    Term("--memory", "memory", "Limit of the memory for reading; in Python in bytes."),
    Term("--workers", "workers", "Threads.", ("--threads", "--jobs")),
    Term("--dask", "executor", "Dask cluster; in Python any executor."),
    Term("--only", "only", "Remove results of tracks that are not named."),
    Term("--quiet", "", "No notes, warnings or progress."),
    Term("--verbose", "", "Steps with their times, and tracebacks."),
    Term("--year", "year", "Years of TREC."),
    Term("--task", "task", "Kind of task, such as adhoc."),
    Term(
        "--rel",
        "rel",
        "Least relevant grade, of all qrels sets or of one (`SET=GRADE`); in studies of papers, "
        "their own.",
    ),
    Term("--has", "has", "What tracks must have: qrels, runs or published scores."),
)


def renamed(option: str, known: Collection[str]) -> str | None:
    """Return the option name that a command uses for a concept, given another name of it."""
    names = (term.option for term in TERMS if option in (*term.avoid, *term.before))
    return next((name for name in names if name in known), None)


def table() -> str:
    """Return the terms as a Markdown table."""
    lines = ["| option | in Python | meaning |", "|---|---|---|"]
    for one in TERMS:
        keyword = f"`{one.keyword}=`" if one.keyword else ""
        lines.append(f"| `{one.option}` | {keyword} | {one.meaning} |")
    return "\n".join(lines) + "\n"
