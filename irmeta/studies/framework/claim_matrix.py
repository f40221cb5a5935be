"""`ClaimMatrix`: claims of studies against tracks, facts of the tracks, and swept bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from irmeta._version import __version__
from irmeta.equality import TIE
from irmeta.errors import UsageError, check_choice
from irmeta.locations import AnyLocation, local
from irmeta.phrases import count, listed
from irmeta.report.charts.verdicts import bound_sweep, fact_scatter, verdict_matrix
from irmeta.report.figure_file import offline
from irmeta.report.html_page import ClaimFold, ClaimLine, ClaimTable, Sweep
from irmeta.report.latex import to_latex
from irmeta.report.table_grid import ABSENT
from irmeta.results.references import bibtex_of
from irmeta.results.tidy_files import provenance, read_parquet
from irmeta.schema.columns import TRACK, Column, Table
from irmeta.studies.framework.claim_print import (
    IRMETA_BOUND,
    LEVELS,
    MOST_TRACKS,
    READING,
    SHADES,
    SIGNS,
    cited,
    claim_lines,
    claims_for_print,
    claims_sentence,
    in_notations,
    is_ours,
    matrix_for_print,
    often_unsaid,
    papers_of,
    with_levels,
)
from irmeta.studies.framework.claims import margin, steps_after
from irmeta.studies.framework.registry import find
from irmeta.studies.framework.study import (
    CLAIMS,
    FAILS,
    HOLDS,
    OPEN,
    MatrixOptions,
)
from irmeta.studies.framework.study_results import (
    JOINED_CLAIMS,
    StudyResults,
    differences,
    joined_claims,
    results_in,
    sources_in_words,
    sources_of,
    with_claims,
)
from irmeta.studies.framework.track_groups import (
    CLAIM_TRACKS,
    FACTS,
    Order,
    facts_of_tracks,
    in_order,
    with_stated,
)
from irmeta.summaries import Part, Result, Rows, Summary

if TYPE_CHECKING:
    import altair as alt

MOST_FAILING = 20  # tracks by name below a claim of a page; claim_facts.parquet has all
KEY = re.compile(r"^@\w+\{([^,]+),", re.MULTILINE)
ID = JOINED_CLAIMS.columns["id"]
CLAIM_FACTS = Table(
    "claim_facts",
    ("id", "track"),
    {
        "id": ID,
        "track": TRACK,
        **{name: CLAIMS.columns[name] for name in ("verdict", "number", "low", "high", "distance")},
        **FACTS,
    },
    caption="The verdict on each claim and track, beside facts of the track.",
    by="all",
)
CLAIM_BOUNDS = Table(
    "claim_bounds",
    ("id", "bound"),
    {
        "id": ID,
        "bound": Column(
            "real",
            "bound of the condition; of a condition with two, its distance to their middle",
        ),
        "is_stated": Column("yes", "whether the bound is that of the claim"),
        "tracks": Column("count", "tracks with a number"),
        "holding": Column("count", "of these, tracks whose number meets the condition"),
        "share": Column("real", "their share", format="percent"),
    },
    caption="Share of the tracks on which a claim would hold, by its bound.",
    by="all",
)


@dataclass(frozen=True, repr=False)
class ClaimMatrix(Result):
    """Claims of papers against tracks, from results of studies.

    Attributes
    ----------
    rows : DataFrame
        The table `claims` of all studies, with the columns id and study: each claim over tracks
        (track null), then on each track, in their order.
    tracks : DataFrame
        One row per track, in order: track, year, group, systems, queries, relevant_per_query,
        deepest_rank, pool_depth, list_length (docs), saturated (share of lists), missed (share of
        relevant docs). Null: unknown.
    order : str
        Order of the tracks.
    provenance : dict
        irmeta (version), study claims (order), studies (revision, options, policies, and tracks
        with fingerprints), bibtex (of the papers and irmeta), differences (only if they are mixed):
        JSON values.
    """

    rows: pl.DataFrame
    tracks: pl.DataFrame
    order: Order
    provenance: Mapping[str, Any]

    def _summary(self) -> Summary:
        claims, studies = (self.rows[name].n_unique() for name in ("id", "study"))
        facts = [count(claims, "claim"), count(studies, "study", "studies")]
        return Summary("", [*facts, count(self.tracks.height, "track")])

    def frame(self) -> pl.DataFrame:
        """Return `rows`."""
        return self.rows

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the claims over tracks: see `Summarized.parts`."""
        yield Rows(self.over().select("id", "shown", "condition", "verdict", "printed"))

    def over(self, kind: str | None = None) -> pl.DataFrame:
        """Return the row of each claim over tracks, of one kind if it is named."""
        over = self.rows.filter(pl.col("track").is_null())
        return over if kind is None else over.filter(kind=kind)

    def facts(self) -> pl.DataFrame:
        """Return the verdict and number of each claim on each track, beside facts of the track.

        Returns
        -------
        DataFrame
            id, track, verdict, number (NaN: none), low, high (of its interval; null: none),
            distance (to the bound), and the columns of `tracks`.
        """
        by_track = self.rows.drop_nulls("track")
        joined = by_track.join(self.tracks, on="track", how="left", maintain_order="left")
        return CLAIM_FACTS.frame(joined.select(*CLAIM_FACTS.columns))

    def bounds(self) -> pl.DataFrame:
        """Return the share of tracks on which each claim would hold, by its bound.

        Returns
        -------
        DataFrame
            id, bound, is_stated, tracks, holding, share. The bounds are the stated one and the
            numbers of the tracks; tracks without a number are left out. Of a condition with two
            bounds, the bound is half the width of the interval around the same middle.
        """
        rows = list[dict[str, Any]]()
        for of_claim in self.rows.drop_nulls("track").partition_by("id", maintain_order=True):
            rows += _swept(of_claim.filter(pl.col("verdict") != OPEN))
        return CLAIM_BOUNDS.frame(rows)

    def figure(self, *, checks: bool = False, study: str | None = None) -> alt.LayerChart:
        """Draw the matrix: a row per claim, a column per track, shaded by distance to the bound.

        Parameters
        ----------
        checks : bool, default False
            Whether claims computed otherwise than in the paper have rows too.
        study : str, optional
            Only the claims of this study's paper, which fit on a page; default all.

        Returns
        -------
        Chart
            With k of n at the right: the tracks on which a claim holds, of those where it holds or
            does not; and below each track, the claims with the paper's bound that hold on it.
            Claims about no track have no row. Up to 16 tracks, the figure is as wide as a column
            of a paper, else as its text.

        Raises
        ------
        UsageError
            If there is no such study among the claims.
        """
        rows = self.rows if checks else self.rows.filter(kind="paper")
        of = "papers"
        if study is not None:
            check_choice("study", study, rows["study"].unique(maintain_order=True).to_list())
            rows, of = rows.filter(study=study), cited(study)
        shaded = with_levels(rows.drop_nulls("track"))
        cells = shaded.select(
            row="id",
            column="track",
            level="level",
            sign=pl.col("verdict").replace_strict(SIGNS | {HOLDS: ""}, return_dtype=pl.String),
            name=pl.format("{} on {}: {} ({}; holds for {})", "claim", "track", "verdict",
                           pl.col("shown").fill_null("no number"), "condition"),
        )  # fmt: skip
        lines = list[dict[str, Any]]()
        over = rows.filter(pl.col("track").is_null(), pl.col("id").is_in(cells["row"].implode()))
        for of_study in over.partition_by("study", maintain_order=True):
            name = of_study["study"][0]
            heading = {"row": f"{name}/", "label": cited(name), "aside": "", "is_heading": True}
            lines.append(heading)
            lines += [
                {"row": row["id"], "label": row["claim"] + IRMETA_BOUND * is_ours(row),
                 "aside": margin(row), "is_heading": False}
                for row in of_study.iter_rows(named=True)
            ]  # fmt: skip
        columns = self.tracks.select(
            column="track",
            below=pl.col("track").replace_strict(
                replace(self, rows=rows).margins(), default="", return_dtype=pl.String
            ),
        )
        chart = verdict_matrix(
            cells,
            pl.DataFrame(lines),
            columns,
            LEVELS,
            title=f"Claims of {of} on {count(columns.height, 'track')}",
            subtitle=f"{SHADES}. Tracks {self.in_order_of}. {IRMETA_BOUND} irmeta's bound. At the "
            "right: tracks on which it holds, of those where it holds or does not; below: claims.",
        )
        return offline(chart)

    def scatter(self, claim: str, fact: str) -> alt.LayerChart:
        """Draw the number of a claim on each track against a fact of the tracks.

        Parameters
        ----------
        claim : str
            An id, such as ``search-length/near-solved``.
        fact : {'year', 'systems', 'queries', 'relevant_per_query', ...}
            A number of the tracks: a column of `tracks`.

        Returns
        -------
        Chart
            With the bound of the claim, intervals where there are any, and the names of the tracks
            on which it does not hold. It is no test: facts go together.

        Raises
        ------
        UsageError
            If the claim or the fact is unknown, the fact is text, or the claim is about no track.
        """
        of_claim = self._on_tracks(claim)
        check_choice("fact", fact, [name for name in FACTS if not FACTS[name].is_text])
        points = of_claim.filter(pl.col("verdict") != OPEN).join(
            self.tracks, on="track", how="left", maintain_order="left"
        )
        first = of_claim.row(0, named=True)
        chart = fact_scatter(
            points.select("track", "verdict", "low", "high", x=fact, y="number",
                          name=pl.format("{}: {}", "track", "shown")),
            [bound for bound in (first["bound_low"], first["bound_high"]) if bound is not None],
            title=f"{first['claim']}: {first['text']}",
            subtitle=f"holds for {first['condition']}; each dot is a track",
            x_title=fact.replace("_", " "),
            y_title=first["statistic"],
        )  # fmt: skip
        return offline(chart)

    def sweep(self, claim: str) -> alt.LayerChart:
        """Draw the share of tracks on which a claim would hold by its bound.

        Parameters
        ----------
        claim : str
            An id, such as ``search-length/near-solved``.

        Raises
        ------
        UsageError
            If the claim is unknown or about no track.
        """
        first = self._on_tracks(claim).row(0, named=True)
        steps = self.bounds().filter(id=claim)
        stated = steps.filter("is_stated")["bound"].to_list() or [0.0]
        tracks: Any = steps["tracks"].max() or 0  # polars types a maximum as any literal
        chart = bound_sweep(
            steps.with_columns(
                name=pl.format("bound {}: {} of {}", pl.col("bound").round_sig_figs(4), "holding",
                               "tracks")),
            stated[0],
            title=f"{first['claim']}: {first['text']}",
            subtitle=f"of {count(tracks, 'track')} with a number; dashed: the bound "
            f"({first['condition']})",
            x_title=f"bound of: {first['statistic']}",
            is_after=steps_after(first["condition"]),
        )  # fmt: skip
        return offline(chart)

    def latex(self, *, by_track: bool = False) -> str:
        r"""Return the claims as LaTeX, in floats that fit a paper with two columns.

        Parameters
        ----------
        by_track : bool, default False
            Whether it is the matrix, a float for each paper and 40 tracks; otherwise the claims
            over tracks with their statistics and bounds in words.
        """
        studies = self.rows["study"].unique(maintain_order=True).to_list()
        comments = [
            f"irmeta {__version__}; {sources_in_words(self.provenance['studies'])}",
            "References: " + ", ".join(KEY.findall(self.provenance["bibtex"])),
        ]
        if not by_track:
            rows, legend = in_notations(self.rows)
            return to_latex(claims_for_print(rows, papers_of(studies), legend), made=comments)
        grids = matrix_for_print(self.rows, self.tracks["track"].to_list(), self.in_order_of)
        return "\n".join(to_latex(grid, label=grid.name, made=comments) for grid in grids)

    @property
    def in_order_of(self) -> str:
        """The order of the tracks in words."""
        unknown = self.tracks.filter(pl.col("year").is_null())["track"].to_list()
        words = {
            "year": "in order of year" + (f" (unknown: {listed(unknown, 3)})" if unknown else ""),
            "size": "in order of systems x queries, the largest first",
            "group": "in order of group and year",
            "name": "in order of name",
        }
        return words[self.order]

    def margins(self) -> dict[str, str]:
        """Return k/n of each track: claims that hold, of those that hold or do not.

        They are those of the papers, with bounds of the papers.
        """
        counted = self.rows.filter(pl.col("bound_by") == "paper", kind="paper").drop_nulls("track")
        decided = pl.col("verdict").is_in([HOLDS, FAILS]).sum()
        counts = counted.group_by("track").agg((pl.col("verdict") == HOLDS).sum(), decided=decided)
        return {t: f"{holding}/{of}" if of else ABSENT for t, holding, of in counts.iter_rows()}

    def _on_tracks(self, claim: str) -> pl.DataFrame:
        check_choice("claim", claim, self.rows["id"].unique(maintain_order=True).to_list())
        rows = self.rows.filter(id=claim).drop_nulls("track")
        if rows.is_empty():
            raise UsageError(f"claim {claim} is about no single track.")
        return rows


def claim_matrix(
    folders: AnyLocation | Sequence[AnyLocation],
    *,
    order: Order = "year",
    track_facts: str | Path | None = None,
    mixed: bool = False,
) -> ClaimMatrix:
    """Return the claims of papers against tracks, from results of studies.

    Parameters
    ----------
    folders : str, Path or sequence of them
        Folders of studies, or of `run_all`: all its studies that have claims. Or the file
        claims.parquet of `run_all`, with claim_tracks.parquet beside it.
    order : {'year', 'size', 'group', 'name'}, default 'year'
        Order of the tracks: by year, by systems x queries, by group and year, or by name.
    track_facts : str or Path, optional
        CSV or TSV file with the columns track and year, group, or both. Other tracks have the year
        that their names state, directly or as an edition of TREC (trec8: 1999), and as group the
        name without it.
    mixed : bool, default False
        Whether the studies may differ in their tracks, or in the options of tracks that they share.

    Returns
    -------
    ClaimMatrix
        Frames `rows`, `tracks`, `facts()` and `bounds()`, and figures.

    Raises
    ------
    UsageError
        As `claims`, and for a file that is none.
    DataError
        If the file of facts has an unknown column, a year that is none, or a track twice.

    Examples
    --------
    >>> _ = irmeta.studies.search_length("store/", "asl/", figures=False)
    >>> matrix = irmeta.studies.claim_matrix("asl/", order="size")
    >>> matrix.tracks["track"].to_list()
    ['news', 'web', 'passage']
    >>> matrix.scatter("search-length/near-solved", "systems").save("systems.svg")
    """
    file = None if track_facts is None else str(track_facts)
    options = MatrixOptions.of({"order": order, "track_facts": file})
    return open_matrix(folders, options, mixed=mixed)


def open_matrix(
    folders: AnyLocation | Sequence[AnyLocation], options: MatrixOptions, *, mixed: bool
) -> ClaimMatrix:
    """Return the matrix of folders, or of the file of one: see `claim_matrix`."""
    places = [folders] if isinstance(folders, AnyLocation) else [*folders]
    if not any(str(place).endswith(".parquet") for place in places):
        return matrix_of(results_in(places), options, mixed=mixed)
    if len(places) > 1:
        raise UsageError("a file of claims is opened alone: name one file, or folders.")
    path = local(places[0], "a file on object storage is not read: name a local copy.")
    record = provenance(path)
    if record is None or not {"study claims", "bibtex"} <= record.keys():
        raise UsageError(f"{path} is no file of claims: name claims.parquet of `irmeta study all`.")
    tracks = read_parquet(path.parent / f"{CLAIM_TRACKS.name}.parquet")
    if options.track_facts is not None:
        tracks = with_stated(tracks, Path(options.track_facts))
    record["study claims"] = options.record()
    return _arranged(JOINED_CLAIMS.frame(read_parquet(path)), tracks, options, record)


def matrix_of(
    results: Sequence[StudyResults], options: MatrixOptions, *, mixed: bool
) -> ClaimMatrix:
    """Return the matrix of results: see `claim_matrix`."""
    claimed = with_claims(results)
    rows, differing = joined_claims(claimed, mixed=mixed), differences(claimed)
    present = rows["track"].drop_nulls().unique(maintain_order=True)
    tracks = facts_of_tracks(results, present, options.track_facts)
    papers = {result.study.name: result.study.paper for result in claimed}
    record: dict[str, Any] = {
        "irmeta": __version__,
        "study claims": options.record(),
        "studies": sources_of(claimed),
        "bibtex": bibtex_of(papers, __version__),
    }
    record |= {"differences": differing} if differing else {}
    return _arranged(rows, tracks, options, record)


def _arranged(
    rows: pl.DataFrame, tracks: pl.DataFrame, options: MatrixOptions, record: Mapping[str, Any]
) -> ClaimMatrix:
    """Return a matrix with its tracks in order."""
    tracks = in_order(tracks, options.order)
    places = {track: i for i, track in enumerate(tracks["track"])}
    claims = {name: i for i, name in enumerate(rows["id"].unique(maintain_order=True))}
    rows = rows.sort(
        pl.col("id").replace_strict(claims, return_dtype=pl.Int64),
        pl.col("track").replace_strict(places, default=-1, return_dtype=pl.Int64),
    )
    return ClaimMatrix(rows, tracks, options.order, record)


def _swept(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of `CLAIM_BOUNDS` of one claim, given its rows of tracks with a number."""
    if rows.is_empty():
        return
    first, numbers = rows.row(0, named=True), rows["number"].to_numpy()
    low: float | None = first["bound_low"]
    high: float | None = first["bound_high"]
    slack = -TIE if first["condition"].startswith(("above", "below")) else TIE
    stated, sign = (low, 1) if low is not None else (high or 0.0, -1)
    if low is not None and high is not None:  # within a distance to the middle
        numbers, stated, sign = np.abs(numbers - (low + high) / 2), (high - low) / 2, -1
    for bound in np.unique(np.append(numbers, stated)).tolist():
        holding = int(np.count_nonzero(sign * (numbers - bound) >= -slack))
        yield {
            "id": first["id"],
            "bound": bound,
            "is_stated": bound == stated,
            "tracks": len(numbers),
            "holding": holding,
            "share": holding / len(numbers),
        }


def matrix_table(matrix: ClaimMatrix, in_print: bool = True) -> ClaimTable:
    """Return the claims of several studies on all their tracks, in the order of the tracks.

    `in_print`: measures have the notation of each paper.
    """
    tracks = matrix.tracks["track"].to_list()
    rows, legend = in_notations(matrix.rows) if in_print else (matrix.rows, "")
    folds, often = dict(claim_folds(matrix)), often_unsaid(rows)
    by_kind: dict[str, list[ClaimLine]] = {"paper": [], "check": []}
    for of_study in rows.partition_by("study", maintain_order=True):
        study = find(of_study["study"][0])
        for kind, lines in claim_lines(of_study, tracks, tracks, folds, often).items():
            headings = [f"{study.title}. {study.paper}", *[""] * len(lines)]
            by_kind[kind] += [
                line._replace(group=group) for line, group in zip(lines, headings, strict=False)
            ]
    margins = matrix.margins()
    has_ours = bool((matrix.rows["bound_by"] == "irmeta").any())
    return ClaimTable(
        text=[
            claims_sentence(matrix.rows, len(tracks)).replace("of the paper", "of the papers"),
            READING.format("of each study"),
            *([f"{legend}."] if legend else []),
            *often.values(),
            f"{SHADES}. Tracks {matrix.in_order_of}."
            + f" {IRMETA_BOUND} The bound is irmeta's: the paper states none." * has_ours,
        ],
        over="over tracks",
        tracks=tracks,
        claims=by_kind["paper"],
        checks=by_kind["check"],
        heading="Claims of the papers",
        totals=[margins.get(track, "") for track in tracks],
        about={
            row["track"]: f"{row['track']}: {row['year'] or 'year unknown'}, "
            f"{count(row['systems'], 'system')}, {count(row['queries'], 'query')}"
            for row in matrix.tracks.iter_rows(named=True)
        },
        is_compact=len(tracks) > MOST_TRACKS,
    )


def claim_folds(matrix: ClaimMatrix) -> Iterator[tuple[str, ClaimFold]]:
    """Yield what may explain the verdicts on each claim that does not hold on some track."""
    facts, bounds = (
        {frame["id"][0]: frame for frame in table.partition_by("id", maintain_order=True)}
        for table in (matrix.facts(), matrix.bounds())
    )
    shown = {(row["id"], row["track"]): row["shown"] for row in matrix.rows.iter_rows(named=True)}
    by_track = matrix.rows.drop_nulls("track")
    conditions = dict(by_track.select("id", "condition").iter_rows())
    for claim, rows in facts.items():
        holding, failing = (rows.filter(verdict=verdict) for verdict in (HOLDS, FAILS))
        if not failing.height:
            continue
        tracks = [f"{track} ({shown[claim, track]})" for track in failing["track"]]
        decided = count(holding.height + failing.height, "track")
        heading = f"does not hold on {failing.height} of {decided}"
        medians = [
            (name.replace("_", " "), _median(holding[name], name), _median(failing[name], name))
            for name, column in FACTS.items()
            if not column.is_text and rows[name].count() and holding.height
        ]
        sweep = _sweep(bounds.get(claim), conditions[claim])
        yield claim, ClaimFold(heading, f"{listed(tracks, MOST_FAILING)}.", medians, sweep)


def _median(values: pl.Series, fact: str) -> str:
    median = values.drop_nulls().median()
    if not isinstance(median, int | float):
        return ABSENT
    if FACTS[fact].is_percentage:
        return f"{median:.0%}"
    return f"{median:.0f}" if fact == "year" else f"{median:,.4g}"


def _sweep(steps: pl.DataFrame | None, condition: str) -> Sweep | None:
    """Return the line of a claim's swept bound; None for fewer than two bounds."""
    if steps is None or steps.height < 2:
        return None
    low, high = steps["bound"][0], steps["bound"][-1]
    places = [round(200 * (bound - low) / (high - low), 1) for bound in steps["bound"]]
    heights = [round(40 * (1 - share), 1) for share in steps["share"]]
    path = f"M{places[0]} {heights[0]}"
    form = "H{x}V{y}" if steps_after(condition) else "V{y}H{x}"
    path += "".join(form.format(x=x, y=y) for x, y in zip(places[1:], heights[1:], strict=True))
    stated = places[steps["is_stated"].to_list().index(True)]
    return Sweep(path, stated, *(f"{bound:.4g}".replace("-", "\u2212") for bound in (low, high)))
