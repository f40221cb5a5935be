"""Runs and qrels of a store, written as a collection of files in TREC form."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from irmeta.errors import DataError, UsageError
from irmeta.files import file_names, folder_name, is_free, write_text
from irmeta.store.scan import StoreReader, lazy, read_table
from irmeta.trec.collection import CONFIG, toml_text
from irmeta.trec.qrels import FIELDS, SAMPLED

_BREAKS = r"[ \t\n\x0b\x0c\r\x00]"  # what would end a field or a line, or is not read
_POLICY = ("tie_order", "depth", "comments")


def write_collection(store: StoreReader, tracks: list[str], folder: Path) -> None:
    """Write tracks as files, with a collection.toml that names them: see `Store.to_trec`."""
    if not is_free(folder):
        raise UsageError(f"{folder} is not an empty folder: name a new one.")
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for track in tracks:
        lines += _write_track(store, track, folder)
    write_text(folder / CONFIG, "\n".join([*lines, ""]))


def _write_track(store: StoreReader, track: str, folder: Path) -> list[str]:
    """Write the files of one track; return its lines of collection.toml."""
    name, stored = folder_name(track), store.track(track)
    record = stored.record
    _write_runs(store, track, folder / name / "runs")
    policy = {**record["config"]["policy"], "comments": _comments(store, track)}
    lines = [f"[tracks.{toml_text(track)}]", f'runs = ["{name}/runs/*"]', 'names = "tag"']
    settings = {key: policy[key] for key in _POLICY if policy[key] is not None}
    lines += [
        f"{key} = {toml_text(value) if isinstance(value, str) else value}"
        for key, value in settings.items()
    ]
    facts = read_table(stored, "systems").filter(pl.col("skip_reason").is_null())
    facts = facts.select("system", "group", "type", pl.col("pooled").cast(pl.String))
    known = [c for c in ("group", "type", "pooled") if facts[c].null_count() < facts.height]
    columns = read_table(stored, "factors").with_columns(pl.col("kind", "name").cast(pl.String))
    tables = {"queries": read_table(stored, "queries")}
    for kind in ("system", "judge"):
        tables[f"{kind}s"] = columns.filter(kind=kind).rename({"name": kind})
    for table, rows in tables.items():
        wide = rows.drop("track", "kind", strict=False)
        wide = wide.pivot("column", index=wide.columns[0], values="value")
        if table == "systems" and known:
            wide = facts.select("system", *known).join(wide, on="system", how="left")
        if wide.height:
            wide.write_csv(folder / name / f"{table}.csv")
            lines.append(f'{table} = "{name}/{table}.csv"')
    if (depth := record["config"].get("pool_depth")) is not None:
        lines.append(f"pool_depth = {depth}")
    if depths := record.get("pool_depths"):
        text = "".join(f"{query} {depth}\n" for query, depth in depths.items())
        write_text(folder / name / "depths.txt", text)
        lines.append(f'pool_depth_by_query = "{name}/depths.txt"')
    formats = {qrels_set["name"]: qrels_set["format"] for qrels_set in record["config"]["qrels"]}
    for qrels_set in record["qrels"]:
        if (form := formats[qrels_set["name"]]) in SAMPLED:
            lines += _write_sample(store, track, qrels_set["name"], form, folder, name)
        else:
            lines += _write_set(
                store, track, qrels_set["name"], bool(qrels_set["subtopics"]), folder, name
            )
    return [*lines, ""]


def _comments(store: StoreReader, track: str) -> str | None:
    """Return the policy for lines that begin with #, if a query does."""
    tables = (lazy(store, name, track).select("query") for name in ("runs", "qrels"))
    is_hashed = pl.col("query").cast(pl.String).str.starts_with("#").any()
    return "rows" if any(table.select(is_hashed).collect().item() for table in tables) else None


def _write_runs(store: StoreReader, track: str, folder: Path) -> None:
    columns = ("system", "query", "doc", "rank", "rank_given", "score", "position")
    rows = lazy(store, "runs", track).select(columns).sort("system", "position").collect()
    _check(rows, track, "query", "doc")
    folder.mkdir(parents=True)
    files = file_names(rows["system"].unique())
    for run in rows.partition_by("system", maintain_order=True):
        system = run["system"][0]
        if system.strip() != system or "\n" in system or "\r" in system:
            raise _unwritable(track, "system", system)
        run.select(
            "query",
            pl.lit("Q0").alias("q0"),
            "doc",
            pl.coalesce("rank_given", "rank").alias("rank"),
            "score",
            pl.lit(system).alias("tag"),
        ).write_csv(
            folder / files[system], include_header=False, separator=" ", quote_style="never"
        )


def _write_set(
    store: StoreReader, track: str, kind: str, by_subtopic: bool, folder: Path, name: str
) -> list[str]:
    """Write one qrels set, and its weights and types of subtopics, if there are any."""
    is_in_set = pl.col("set") == kind
    judged = lazy(store, "qrels", track).filter(is_in_set)
    second = pl.col("subtopic") if by_subtopic else pl.lit("0").alias("subtopic")
    rows = judged.select("query", second, "doc", "grade").collect()
    _check(rows, track, "query", "subtopic", "doc")
    file = f"{name}/qrels.{folder_name(kind)}.txt"
    rows.write_csv(folder / file, include_header=False, separator=" ", quote_style="never")
    lines = [
        "",
        f"[[tracks.{toml_text(track)}.qrels]]",
        f"name = {toml_text(kind)}",
        f'file = "{file}"',
    ]
    if by_subtopic:
        lines.append("subtopics = true")
    described = lazy(store, "subtopics", track).filter(is_in_set).collect()
    if described.height:
        file = f"{name}/subtopics.{folder_name(kind)}.csv"
        described.select("query", "subtopic", "weight", "type").write_csv(folder / file)
        lines.append(f'subtopics_file = "{file}"')
    return lines


def _write_sample(
    store: StoreReader, track: str, kind: str, form: str, folder: Path, name: str
) -> list[str]:
    """Write one qrels set of a sampled pool in its format."""
    judged, samples = (
        lazy(store, table, track).filter(pl.col("set") == kind) for table in ("qrels", "samples")
    )
    rows = judged.join(samples, on=["query", "doc"], maintain_order="left").with_columns(
        second=pl.lit("0"), probability=pl.col("probability").cast(pl.String).fill_null("NA")
    )
    written = rows.select(FIELDS[form]).collect()
    columns = [c for c in ("query", "doc", "stratum") if c in written.columns]
    _check(written, track, *columns)
    file = f"{name}/qrels.{folder_name(kind)}.txt"
    written.write_csv(folder / file, include_header=False, separator=" ", quote_style="never")
    lines = [
        "",
        f"[[tracks.{toml_text(track)}.qrels]]",
        f"name = {toml_text(kind)}",
        f'file = "{file}"',
    ]
    return [*lines, f'format = "{form}"']


def _check(rows: pl.DataFrame, track: str, *columns: str) -> None:
    """Refuse names that cannot be fields of a line: with white space, or a query called #."""
    for column in columns:
        texts = rows[column].unique(maintain_order=True)
        bad = texts.str.contains(_BREAKS)
        if column == "query":
            bad |= texts == "#"
        if bad.any():
            raise _unwritable(track, column, texts.filter(bad)[0])


def _unwritable(track: str, what: str, name: str) -> DataError:
    fix = "Rename it: white space separates the fields of a line, and # alone starts a comment."
    return DataError(f"the name of a {what} cannot be written", track=track, value=name, fix=fix)
