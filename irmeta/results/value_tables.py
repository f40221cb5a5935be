"""Tables of values per query that other tools write, as columns system, query, measure, value.

Known are trec_eval -q, ir_measures (TSV, JSONL), JSON as of ranx and pytrec_eval, and CSV with a
row for each value, or with a column for each measure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast

import polars as pl

from irmeta.errors import DataError, short
from irmeta.policies import Columns
from irmeta.trec.readers.file_tables import as_text, parse_json
from irmeta.trec.readers.forms import refuse_trec_eval
from irmeta.trec.readers.frames import column_of, renamed_columns, rows_of_columns
from irmeta.trec.text import NUMBER, first_fields

KEYS = ("track", "qrels", "system", "query", "measure")
COLUMN_KEYS = ("track", "system", "query", "measure", "value")
"""What columns hold that the user names."""
SUMMARIES = ("all", "amean", "average", "avg", "mean")
"""Names, in any case, of the row of means, which is no query."""
IsMeasure = Callable[[str], bool]
_ALIASES = {
    "system": (
        *("system", "run", "run_id", "runid", "model", "system_id", "runname", "run_name"),
        "name",  # of PyTerrier
    ),
    "query": ("query", "query_id", "qid", "q_id", "topic", "topic_id"),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
    "track": ("track", "dataset"),
}
MEANS = (
    "holds means: a test needs values per query, as "
    "`irmeta evaluate STORE --per-query --out scores.parquet` writes them"
)
NO_QUERIES = (
    "names measures and no column of queries, so that it holds means: a test needs values per "
    "query, with a column query"
)
NO_SYSTEM = "no column names the system"
_FIX = "Write CSV with the columns system,query,measure,value."


def no_measure(name: str) -> bool:
    """Return False; used where names of measures are not known."""
    return False


def tidy_values(
    frame: pl.DataFrame, name: str, is_measure: IsMeasure = no_measure
) -> pl.DataFrame | None:
    """Return the values of a frame as rows; None for a frame with one column per system.

    The columns are those of systems, queries, measures and values, or one per measure beside
    systems and queries. Without a column of systems, all values are of the system `name`.
    `is_measure` knows names of measures. DataError: means instead of values per query.
    """
    renamed = _renamed(frame)
    columns = set(renamed.columns)
    if {"measure", "value"} <= columns:
        tidy = renamed
    elif {"track", "system"} <= columns or {"system", "query"} <= columns:
        if column_of(renamed.columns, "doc") is not None:
            raise DataError("holds docs, as a run or qrels, where values per query are expected")
        keys = [key for key in KEYS[:-1] if key in columns]
        tidy = renamed.unpivot(index=keys, variable_name="measure", value_name="value")
    elif "query" in columns and len(columns) > 1 and _are(is_measure, columns - {"query"}):
        tidy = renamed.unpivot(index="query", variable_name="measure", value_name="value")
    elif _holds_means(renamed, is_measure):
        raise DataError(NO_QUERIES)
    else:
        return None
    if "query" not in tidy.columns:
        raise DataError(MEANS)
    tidy = without_summaries(tidy)
    if "system" not in tidy.columns:
        _refuse_several(tidy)
        tidy = tidy.with_columns(system=pl.lit(name))
    return tidy


def _refuse_several(tidy: pl.DataFrame) -> None:
    """Refuse values of several systems without a column that names them."""
    keys = [key for key in KEYS if key in tidy.columns]
    others = [
        column for column in tidy.columns if column.strip() and column not in (*keys, "value")
    ]
    if others and tidy.select(keys).is_duplicated().any():
        listed = ", ".join(map(short, others))
        raise DataError(NO_SYSTEM, fix=f"Rename one of {listed} to system.")


def _holds_means(renamed: pl.DataFrame, is_measure: IsMeasure) -> bool:
    """Check whether columns, or the first cells of rows, are measures, and none has queries."""
    if "query" in renamed.columns or not renamed.width:
        return False
    others = {name for name in renamed.columns if name.strip() and name not in KEYS}
    if _are(is_measure, others):
        return True
    rows = renamed["measure"] if "measure" in renamed.columns else renamed.to_series(0)
    cells = set(rows.cast(pl.String).drop_nulls()) if rows.dtype == pl.String else set[str]()
    return "measure" in renamed.columns or _are(is_measure, cells)


def without_summaries(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop rows of means, see `SUMMARIES`.

    Raises DataError if there is no other row.
    """
    is_summary = frame["query"].cast(pl.String).str.to_lowercase().is_in(SUMMARIES)
    if frame.height and is_summary.all():
        raise DataError(MEANS)
    return frame.filter(~is_summary.fill_null(value=False))


def _renamed(frame: pl.DataFrame) -> pl.DataFrame:
    """Rename columns to `KEYS` and value; the first name that a frame has counts."""
    known = {name.strip().lower().replace("-", "_"): name for name in reversed(frame.columns)}
    keys: dict[str, str] = {}
    for key, aliases in _ALIASES.items():
        if key in frame.columns:
            continue
        column = next((known[alias] for alias in aliases if alias in known), None)
        if key == "system" and column is not None and _is_numeric(frame[column]):
            column = None  # values of a system called run or model
        if column is not None and column not in keys:
            keys[column] = key
    if "measure" not in {*frame.columns, *keys.values()}:
        keys = {
            column_name: key for column_name, key in keys.items() if key != "value"
        }  # a name of a system
    return frame.rename(keys)


def _is_numeric(column: pl.Series) -> bool:
    numbers = column.cast(pl.String).cast(pl.Float64, strict=False)
    return numbers.null_count() == column.null_count() < len(column)


def _are(is_measure: IsMeasure, names: set[str]) -> bool:
    return bool(names) and all(map(is_measure, names))


def values_of_text(
    content: bytes, name: str, file: str, is_measure: IsMeasure, columns: Columns
) -> pl.DataFrame | None:
    """Return the values in text that is no CSV: lines of three fields, or JSON; None for others.

    `name` is the system of values that do not say theirs, `columns` are those that the user names.

    Raises DataError if a line is malformed, measures cannot be told from queries, or the user names
    columns of text without such names.
    """
    start = content.lstrip()[:1]
    if start in (b"{", b"["):
        rename = partial(renamed_columns, chosen=columns, keys=COLUMN_KEYS, place=file)
        text = as_text(content, file)
        values = _json_values(text, name, file, is_measure, rename if columns else None)
        return values.with_columns(pl.col("value").cast(pl.String))  # which shows its decimals
    refuse_trec_eval(content, file, values=True)
    fields = first_fields(content)
    if len(fields) == 4 and (NUMBER.match(fields[3]) or fields[1] == b"runid"):
        values = _values_of_four(content, file, is_measure)
    elif not _is_line(fields):
        return None
    else:
        values = _line_values(as_text(content, file), name, file, is_measure)
    if columns and values is not None:
        raise DataError(_NO_COLUMNS, file=file, fix=_OMIT_COLUMNS)
    return values


def _values_of_four(content: bytes, file: str, is_measure: IsMeasure) -> pl.DataFrame | None:
    """Return the values of lines ``run measure query value`` or ``run query measure value``.

    None if neither column has only names of measures, as in qrels.
    """
    rows = [line.split() for line in as_text(content, file).splitlines() if line.strip()]
    if any(len(row) != 4 for row in rows):
        return None
    measures = [{row[place] for row in rows} - {"runid"} for place in (1, 2)]
    of_tot, of_ir_measures = (_are(is_measure, column) for column in measures)
    if of_tot == of_ir_measures:
        return None
    columns = ["system", "measure", "query", "value"]
    if of_ir_measures:
        columns = ["system", "query", "measure", "value"]
    printed = [row for row in rows if row[1] != "runid"]
    return without_summaries(pl.DataFrame(printed, dict.fromkeys(columns, pl.String), orient="row"))


def _is_line(fields: list[bytes]) -> bool:
    is_value = len(fields) == 3 and (NUMBER.match(fields[2]) or fields[2].lower() == b"nan")
    return bool(is_value) or (len(fields) > 2 and fields[0] == b"runid")


def _line_values(text: str, name: str, file: str, is_measure: IsMeasure) -> pl.DataFrame:
    """Return the values of lines ``measure query value`` or ``query measure value``.

    The values of a system end with its summary, in which a line ``runid all NAME`` may name it.
    """
    rows = list(_fields(text, file))
    order = _order(rows, is_measure)
    if order is None:
        problem = "neither of two columns has only names of measures"
        raise DataError(problem, file=file, line=1, value=text.split("\n", 1)[0], fix=_FIX)
    measure, query = order
    values: list[tuple[str, str, str, str]] = []
    block: list[tuple[str, str, str]] = []
    system, in_summary = name, False
    for _, fields in rows:
        is_all = fields[query] == "all"
        if in_summary and not is_all:
            values += [(system, *row) for row in block]
            block, system, in_summary = [], name, False
        in_summary = is_all
        if fields[measure] == "runid":
            system = fields[2]
        else:
            block.append((fields[query], fields[measure], fields[2]))
    values += [(system, *row) for row in block]
    schema = dict.fromkeys([*KEYS[2:], "value"], pl.String)
    return without_summaries(pl.DataFrame(values, schema=schema, orient="row"))


def _fields(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        fields = [field.strip() for field in line.split(None, 2)]
        if fields and not _is_line([field.encode() for field in fields]):
            problem, fix = "not a measure, a query and a number", "Mend the line."
            raise DataError(problem, file=file, line=number, value=line, fix=fix)
        if fields:
            yield number, fields


def _order(rows: list[tuple[int, list[str]]], is_measure: IsMeasure) -> tuple[int, int] | None:
    """Return the places of the measure and of the query."""
    columns = [{fields[place] for _, fields in rows} for place in (0, 1)]
    has_all = ["all" in column for column in columns]
    if has_all[0] != has_all[1]:
        return (1, 0) if has_all[0] else (0, 1)
    are = [_are(is_measure, column - {"runid", "all"}) for column in columns]
    if are[0] == are[1]:
        return None
    return (0, 1) if are[0] else (1, 0)


_NO_COLUMNS = "values without names of columns"
_OMIT_COLUMNS = "Omit `columns`, which names those of a table."


def _json_values(
    text: str,
    name: str,
    file: str,
    is_measure: IsMeasure,
    rename: Callable[[pl.DataFrame], pl.DataFrame] | None,
) -> pl.DataFrame:
    first = text.lstrip().split("\n", 1)[0]
    if re.match(r"\{.*\}\s*\Z", first) and text.count("\n") > 1:
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        content: Any = [parse_json(line, file, n) for n, line in lines]
    else:
        content = parse_json(text, file, 1)
    if isinstance(content, dict):
        by_name = cast(dict[str, Any], content)
        if by_name and all(isinstance(docs, list) for docs in by_name.values()):
            content = rows_of_columns(by_name, file)
    if isinstance(content, dict):
        by_name = cast(dict[str, Any], content)
        if "model_names" in by_name and "metrics" in by_name:
            raise DataError("a report of ranx, which holds means", file=file, fix=_FIX)
        if rename is not None:
            raise DataError(_NO_COLUMNS, file=file, fix=_OMIT_COLUMNS)
        if found := list(_nested(by_name, name, file, is_measure)):
            return without_summaries(pl.concat(found))
    elif isinstance(content, list):
        records = cast(list[Any], content)
        if all(isinstance(record, dict) for record in records):
            frame = pl.DataFrame(records, infer_schema_length=None)
            tidy = tidy_values(frame if rename is None else rename(frame), name, is_measure)
            if tidy is not None:
                return tidy
    problem = "neither records of values nor dicts by measure and query"
    raise DataError(problem, file=file, line=1, value=first, fix=_FIX)


def _nested(
    content: Mapping[str, Any], name: str, file: str, is_measure: IsMeasure
) -> Iterator[pl.DataFrame]:
    """Yield the values of each system in nested dicts.

    Forms are {system: {query: value}}, {measure: {query: value}}, {query: {measure: value}}, and
    {system: ...} of the latter two.
    """
    inner = [
        cast(Mapping[str, Any], value) for value in content.values() if isinstance(value, dict)
    ]
    if not inner or len(inner) < len(content):
        return
    if any(isinstance(value, dict) for inner_values in inner for value in inner_values.values()):
        for system, values in content.items():
            of_system = list(_nested(values, system, file, is_measure))
            if not of_system:
                raise DataError("not values of queries", file=file, value=system, fix=_FIX)
            yield from of_system
        return
    outer_are = _are(is_measure, set(content))
    inner_are = _are(is_measure, {key for inner_values in inner for key in inner_values})
    if outer_are == inner_are:
        return
    rows = [
        (name, *((b, a) if outer_are else (a, b)), value)
        for a, inner_values in content.items()
        for b, value in inner_values.items()
    ]
    schema = {"system": pl.String, "query": pl.String, "measure": pl.String, "value": pl.Float64}
    try:
        yield pl.DataFrame(rows, schema=schema, orient="row")
    except (TypeError, pl.exceptions.PolarsError):
        wrong = next(row for row in rows if not isinstance(row[3], int | float | None))
        place = {"query": wrong[1], "measure": wrong[2]}
        problem = "query {query}, measure {measure}: the value is not a number"
        raise DataError(problem, file=file, ids=place, value=wrong[3], fix=_FIX) from None
