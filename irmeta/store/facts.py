"""Files of facts about systems, queries, subtopics and pool depths."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, cast

import polars as pl

from irmeta.delimited import read_cells
from irmeta.errors import DataError, did_you_mean
from irmeta.phrases import listed
from irmeta.policies import Comments
from irmeta.store.read_run import RunFacts
from irmeta.trec.collection import METADATA_FILE
from irmeta.trec.qrels import QrelsText
from irmeta.trec.source import FactsSource, QrelsSource, TrackSource
from irmeta.trec.system_names import stem
from irmeta.trec.text import HashLines, lines, read_csv_rows, read_text, refuse_rows

_YES = {"yes": True, "true": True, "1": True, "y": True, "t": True}
_NO = {"no": False, "false": False, "0": False, "n": False, "f": False}


@dataclass(frozen=True)
class Facts:
    """Facts of one system from the track's CSV or its ir_metadata, or None; notes on these."""

    group: str | None = None
    type: str | None = None
    pooled: bool | None = None
    notes: tuple[str, ...] = ()


FACTORS = pl.Schema(dict.fromkeys(("kind", "name", "column", "value"), pl.String))
COLUMNS: dict[str, tuple[str, ...]] = {
    "name": ("system", "run", "name", "tag"),
    "group": ("group", "team", "participant"),
    "type": ("type",),
    "pooled": ("pooled",),
}
"""Names of the columns of a `systems.csv`, of which the first that it has counts."""


def read_facts(source: TrackSource) -> tuple[dict[str, Facts], pl.DataFrame]:
    """Read the facts of each system in the CSV, and its other columns: see `FACTORS`.

    Both are empty if the track has no CSV. For a `systems.csv` beside runs, see `COLUMNS`.
    """
    table = source.facts
    if table is None and source.systems is not None:
        table = FactsSource(file=source.systems)
    if table is None:
        return {}, FACTORS.to_frame()
    try:
        data, _ = read_text(source.input_file(table.file))
        frame = read_cells(data, table.file, trim=True)
        if source.facts is None:
            columns = {
                fact: next((name for name in known if name in frame.columns), None)
                for fact, known in COLUMNS.items()
            }
            if columns["name"] is None:
                fix = "It needs a column system or run; a file of another kind needs another name."
                raise DataError("is no table of systems", file=table.file, fix=fix)
            table = replace(table, **columns)
        facts = _parse_facts(table, frame)
        read = [getattr(table, fact) for fact in COLUMNS]
        others = [column for column in frame.columns if column and column not in read]
        values = frame.unpivot(others, index=table.name, variable_name="column")
        values = values.rename({table.name: "name"}).with_columns(kind=pl.lit("system"))
        values = values.filter(pl.col("value") != "").select(FACTORS.names())
        return facts, values.sort("name", "column")
    except DataError as error:
        if not source.may_quote(table.file):
            error.conceal()
            error.fix = None  # the fix may list the columns
        raise


def _parse_facts(given: FactsSource, frame: pl.DataFrame) -> dict[str, Facts]:
    for column in (given.name, given.group, given.type, given.pooled):
        if column is not None and column not in frame.columns:
            hint = did_you_mean(column, frame.columns)
            raise DataError("no such column", file=given.file, value=column, fix=hint)
    facts: dict[str, Facts] = {}
    for line, row in enumerate(frame.iter_rows(named=True), 2):
        name = row[given.name]
        if name in facts:
            raise DataError("system named twice", file=given.file, line=line, value=name)
        facts[name] = _facts(given, row, line)
    return facts


def _facts(given: FactsSource, row: dict[str, str | None], line: int) -> Facts:
    text = row[given.pooled] if given.pooled else None
    pooled = None
    if text:
        pooled = (_YES | _NO).get(text.strip().lower())
        if pooled is None:
            raise DataError(
                f"column {given.pooled!r} is neither yes nor no",
                file=given.file,
                line=line,
                value=text,
            )
    return Facts(
        group=row[given.group] or None if given.group else None,
        type=row[given.type] or None if given.type else None,
        pooled=pooled,
    )


_BLOCK = re.compile(r"""["']?(tag|actor|method)["']?\s*:""")
_NO_TEXT = ("", "~", "null", "ENTER_VALUE_HERE")


def parse_metadata(text: str, file: str) -> dict[str, str]:
    """Parse ir_metadata: tag, group, type, method, seed, fold and model, as far as stated.

    Of its YAML, the top-level keys tag, actor and method are read. Raises `DataError` for text that
    is no YAML, and for values of other kinds.
    """
    import yaml  # of the extra metadata

    rows = text.replace("\r", "").split("\n")
    marks = [row.strip() for row in rows]
    first = marks.index("ir_metadata.start") + 1 if "ir_metadata.start" in marks else 0
    rows = rows[: marks.index("ir_metadata.end")] if "ir_metadata.end" in marks else rows
    keys = [row for row in rows[first:] if row.strip(" \t-") and row.lstrip()[:1] != "#"]
    root = min((len(row) - len(row.lstrip()) for row in keys), default=0)
    is_read, blocks = True, [""] * first
    for row in rows[first:]:  # lines of other keys become empty, which keeps the numbers of lines
        if row[root : root + 1].strip(" \t-#{}"):
            is_read = _BLOCK.match(row[root:]) is not None
        blocks.append(row if is_read else "")
    try:
        content = yaml.load("\n".join(blocks), yaml.BaseLoader)  # of which all scalars are text
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line, problem = None if mark is None else mark.line + 1, "ir_metadata that is no YAML"
        raise DataError(problem, file=file, line=line, fix="See ir-metadata.org.") from None

    def checked(value: object, kind: type, key: str) -> Any:
        if value is None or (isinstance(value, str) and value.strip() in _NO_TEXT):
            return kind()
        if not isinstance(value, kind):
            problem = f"ir_metadata whose {key} is no {'text' if kind is str else 'mapping'}"
            raise DataError(problem, file=file, value=value)
        return " ".join(value.split()) if isinstance(value, str) else value

    content = checked(content, dict, "content")
    actor, method = (checked(content.get(key), dict, key) for key in ("actor", "method"))
    stages = method.get("retrieval") or []
    stages = cast(list[object], stages if isinstance(stages, list) else [stages])
    stages = [{"name": stage} if isinstance(stage, str) else stage for stage in stages]
    stages = [checked(stage, dict, "method.retrieval") for stage in stages]
    values = {"tag": checked(content.get("tag"), str, "tag")}
    values["group"] = checked(actor.get("team"), str, "actor.team")
    if automatic := checked(method.get("automatic"), str, "method.automatic").lower():
        if automatic not in _YES | _NO:
            problem = "ir_metadata whose method.automatic is neither true nor false"
            raise DataError(problem, file=file, value=automatic)
        values["type"] = "automatic" if automatic in _YES else "manual"
    for column in ("method", "seed", "fold", "model"):
        key = "name" if column == "method" else column
        parts = [checked(s.get(key) or s.get(column), str, key) for s in (*stages, method)]
        values[column] = " + ".join(dict.fromkeys(filter(None, parts[:-1]))) or parts[-1]
    return {column: value for column, value in values.items() if value}


def with_metadata(
    source: TrackSource, runs: Sequence[RunFacts], facts: dict[str, Facts], factors: pl.DataFrame
) -> tuple[dict[str, Facts], pl.DataFrame, dict[str, str]]:
    """Fill the facts of systems, and their other columns, from the ir_metadata of their runs.

    The CSV goes first, then the head of a run, the file of the run, and that of its folder, which
    describes the run that it tags if there are several. Returns both, and warnings of the track.
    """
    if not find_spec("yaml"):
        text = "ir_metadata of runs is not read: install the extra 'metadata' (PyYAML)"
        return facts, factors, {"yaml": text}

    def parsed(file: str, head: bytes = b"") -> dict[str, str]:
        try:
            text = (head or read_text(source.input_file(file))[0]).decode("utf-8", "replace")
            return parse_metadata(re.sub("(?m)^#", "", text) if head else text, file)
        except DataError as error:
            if not source.may_quote(file):
                error.conceal()
            return {"error": str(error)}

    beside = defaultdict[tuple[str, str | None], list[RunFacts]](list)
    contents = defaultdict[str, list[tuple[str, dict[str, str]]]](list)
    for run in runs:
        folder, _, name = run.file.rpartition("/")
        for key in {None, name, stem(name)}:
            beside[folder, key].append(run)
        if run.metadata:
            contents[run.file].append((run.file, parsed(run.file, run.metadata)))
    of_runs = {file: match[1] for file in source.metadata if (match := METADATA_FILE.match(file))}
    unused = list[str]()
    for file, name in sorted(of_runs.items(), key=lambda each: each[1] is None):
        content, described = parsed(file), beside[file.rpartition("/")[0], name]
        if name is None and len(described) > 1 and (tag := content.get("tag")):
            described = [r for r in described if tag in (r.tag, r.system, stem(r.file))]
        for run in described:
            contents[run.file].append((file, content))
        unused += [] if described else [file]
    csv = source.facts.file if source.facts else source.systems
    of_csv = defaultdict[str, dict[str, str | None]](dict)
    for name, column, value in factors.filter(kind="system").drop("kind").iter_rows():
        of_csv[name][column] = value
    filled, rows = dict(facts), list[tuple[str, ...]]()
    for run in runs:
        known = facts.get(run.system, Facts())
        notes = ["not among the track's system facts"] if facts and run.system not in facts else []
        of_system = of_csv[run.system] | {"group": known.group, "type": known.type}
        values = {column: (value, csv) for column, value in of_system.items() if value}
        values |= {} if run.tag is None else {"tag": (run.tag, "the rows")}
        for file, content in contents[run.file]:
            for column, value in content.items():
                before, where = values.setdefault(column, (value, file))
                if column == "error":
                    notes.append(value)
                elif before.casefold() != value.casefold():
                    notes.append(f"{column}: {before!r} in {where}, {value!r} in {file}")
        texts = {column: value for column, (value, _) in values.items()}
        group, kind = texts.pop("group", None), texts.pop("type", None)
        filled[run.system] = replace(known, group=group, type=kind, notes=tuple(notes))
        new = texts.keys() - {"tag", "error", *of_csv[run.system]}
        rows += [("system", run.system, column, texts[column]) for column in new]
    added = pl.DataFrame(rows, schema=FACTORS, orient="row")
    text = f"ir_metadata that describes no run: {listed(unused, 3)}" if unused else ""
    warned = {"metadata": text} if unused else {}
    return filled, pl.concat([factors.cast(FACTORS), added]).sort("kind", "name", "column"), warned


_PLURALS = {"query": "queries", "judge": "judges"}
QUERY_FACTS = pl.Schema(dict.fromkeys(("query", "column", "value"), pl.String))


def read_columns(
    source: TrackSource, file: str, judged: pl.Series, key: str = "query"
) -> pl.DataFrame:
    """Read a CSV of facts about queries or judges: `key`, column, value; sorted by the first two.

    Empty cells are left out, and so are queries or judges that are not `judged`, but one must be.
    """
    kind = _PLURALS[key]
    try:
        frame = read_csv_rows(source.input_file(file), None)
        columns = [column for column in frame.columns if column not in ("line", key)]
        if key not in frame.columns or not columns or "" in columns:
            fix = f"It needs a column {key}, and others with names; a file of another kind needs "
            raise DataError(
                f"is no table of {kind}", file=file, fix=f"{fix}another name, or none in a track."
            )
        refuse_rows(
            frame,
            {
                f"the {key} is missing": pl.col(key).is_null(),
                f"the {key} has a row already": ~pl.col(key).is_first_distinct(),
            },
            file,
        )
        rows = frame.filter(pl.col(key).is_in(judged.cast(pl.String).implode()))
        if rows.is_empty():
            fix = f"Are these the {kind} of another track?"
            is_none = "is judged" if key == "query" else "has a qrels set"
            raise DataError(f"none of its {kind} {is_none}", file=file, fix=fix)
    except DataError as error:
        if not source.may_quote(file):
            error.conceal()
            error.fix = None
        raise
    facts = rows.unpivot(columns, index=key, variable_name="column").drop_nulls("value")
    return facts.sort(key, "column")


_KEY = ("query", "subtopic")
_COLUMNS = (*_KEY, "weight", "type")
_SCHEMA = pl.Schema(dict.fromkeys(("set", *_COLUMNS), pl.String) | {"weight": pl.Float64})


def read_subtopics(
    source: TrackSource, sets: Sequence[tuple[QrelsSource, QrelsText]]
) -> pl.DataFrame:
    """Read the subtopics files: set, query, subtopic, weight, type; sorted by the first three.

    Weight and type are null where a file has none. A file must describe a query that its set
    judges.
    """
    frames = [_SCHEMA.to_frame()]
    for given, parsed in sets:
        if given.subtopics_file is None:
            continue
        try:
            frame = _parse_subtopic(given.subtopics_file, source)
            if frame.join(parsed.frame, on="query", how="semi").is_empty():
                fix = "Are these the subtopics of another track?"
                problem = f"none of its queries is judged in {given.file}"
                raise DataError(problem, file=given.subtopics_file, fix=fix)
        except DataError as error:
            if not source.may_quote(given.subtopics_file):
                error.conceal()
                error.fix = None  # the fix may list the columns
            raise
        frames.append(frame.select(pl.lit(given.name).alias("set"), *_COLUMNS))
    return pl.concat(frames).sort("set", *_KEY)


def undescribed(given: QrelsSource, parsed: QrelsText, described: pl.DataFrame) -> str | None:
    """Return a note on judged subtopics that the file of a qrels set does not describe."""
    if given.subtopics_file is None:
        return None
    judged = parsed.frame.select(_KEY).unique()
    names = described.filter(pl.col("set") == given.name)
    missing = judged.join(names, on=_KEY, how="anti").sort(_KEY)
    if missing.is_empty():
        return None
    query, subtopic = missing.row(0)
    first = f"the first is {subtopic!r} of query {query!r}"
    return f"{given.subtopics_file} lacks {missing.height} of {judged.height} subtopics; {first}"


def _parse_subtopic(file: str, source: TrackSource) -> pl.DataFrame:
    frame = read_csv_rows(source.input_file(file), _COLUMNS)
    missing = [column for column in _COLUMNS if column not in frame.columns]
    keys = [column for column in missing if column in _KEY]
    if keys or len(missing) == 2:
        fix = "It needs the columns query, subtopic, and weight or type or both."
        problem = f"has no column {keys[0]!r}" if keys else "has neither weights nor types"
        raise DataError(problem, file=file, fix=fix)
    empty = (pl.lit(None, pl.String).alias(column) for column in missing)
    frame = frame.with_columns(*empty).select("line", *_COLUMNS)
    weight = pl.col("weight").cast(pl.Float64, strict=False)
    is_weight = weight.is_finite() & (weight >= 0)
    wrong = {
        "a query or subtopic is missing": pl.any_horizontal(pl.col(_KEY).is_null()),
        "the subtopic is described twice": ~pl.struct(_KEY).is_first_distinct(),
        "the weight is not a number from 0": ~is_weight.fill_null(pl.col("weight").is_null()),
    }
    refuse_rows(frame, wrong, file)
    return frame.with_columns(weight)


_DEPTH = re.compile(rb"0*[1-9]\d{0,8}")


def read_pool_depths(source: TrackSource, judged: Collection[str]) -> dict[str, int]:
    """Read the depth of each query's pool, sorted by query; empty if the track has no such file.

    Depths of queries that are not `judged` are kept, but one must be judged.
    """
    file = source.pool_depth_by_query
    if file is None:
        return {}
    try:
        text = read_text(source.input_file(file))[0]
        depths = _parse_depth(file, text, source.policy.comments)
        if depths.keys().isdisjoint(judged):
            fix = "Are these the pools of another track?"
            raise DataError("none of its queries is judged", file=file, fix=fix)
    except DataError as error:
        if not source.may_quote(file):
            error.conceal()
        raise
    return dict(sorted(depths.items()))


def without_depth(
    source: TrackSource, depths: Collection[str], judged: Collection[str]
) -> str | None:
    """Return a note on judged queries that the file of a track has no line for."""
    missing = sorted(set(judged) - set(depths))
    if source.pool_depth_by_query is None or not missing:
        return None
    depth = source.pool_depth
    taken = "as far as their pools are complete" if depth is None else f"pool_depth = {depth}"
    return (
        f"{source.pool_depth_by_query} has no depth for {len(missing):,} of {len(judged):,} judged "
        f"queries (the first is {missing[0]!r}): their depth is {taken}"
    )


def _parse_depth(file: str, data: bytes, comments: Comments) -> dict[str, int]:
    depths = dict[str, int]()
    hashes = HashLines(comments, lambda found: len(found) == 2 and bool(_DEPTH.fullmatch(found[1])))
    for number, fields in lines(data, file, hashes=hashes):
        value = b" ".join(fields)
        if len(fields) != 2:
            problem = f"{len(fields)} fields where a line is: query depth"
            raise DataError(problem, file=file, line=number, value=value)
        query = fields[0].decode()
        if not _DEPTH.fullmatch(fields[1]):
            problem = "the depth is not a whole number of at least 1"
            raise DataError(problem, file=file, line=number, value=value)
        if query in depths:
            raise DataError("the query has a depth already", file=file, line=number, value=value)
        depths[query] = int(fields[1])
    hashes.notes(depths, file)
    return depths
