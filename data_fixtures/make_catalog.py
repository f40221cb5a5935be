"""Make the catalogue of TREC's runs, qrels, topics and published scores that irmeta/archive/ holds.

Run as ``python data_fixtures/make_catalog.py SOURCE... [--out DIR]``, where each SOURCE has
trec_runs.csv.gz and some of trec_qrels.csv.gz, trec_data.csv.gz (addresses of qrels and topics)
and trec_published_scores.csv.gz. The facts are kept as they are: repeated runs, missing checksums
and values as printed. The same files give the same bytes.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

OUT = Path(__file__).parent.parent / "irmeta" / "archive"
ID = pl.format("{}/{}", "edition", "track_dir").alias("id")


QRELS = "(?i)qrel|judgement"
"""What an address of qrels has, and that of topics has not."""


def table(sources: Sequence[Path], name: str) -> pl.DataFrame:
    """Read the CSV files of a name as text; an empty field is null."""
    files = [source / f"trec_{name}.csv.gz" for source in sources]
    return pl.concat(pl.read_csv(file, infer_schema=False) for file in files if file.exists())


def runs(sources: Sequence[Path]) -> pl.DataFrame:
    renamed = {"participant": "group", "input_url": "address"}
    columns = "id", "edition", "year", "track", "task", "run", "group", "type", "address", "md5"
    frame = table(sources, "runs").rename(renamed)
    frame = frame.with_columns(ID, pl.col("year").cast(pl.Int32), pl.col("task").fill_null(""))
    return frame.select(columns).sort("id", "run", "task", maintain_order=True)


def addresses(sources: Sequence[Path], name: str) -> pl.DataFrame:
    return table(sources, name).select(ID, "name", pl.col("url").alias("address"))


def qrels(sources: Sequence[Path]) -> pl.DataFrame:
    data = addresses(sources, "data").filter(pl.col("address").str.contains(QRELS))
    return pl.concat([addresses(sources, "qrels"), data]).sort("id", maintain_order=True)


def topics(sources: Sequence[Path]) -> pl.DataFrame:
    data = addresses(sources, "data").filter(~pl.col("address").str.contains(QRELS))
    return data.sort("id", maintain_order=True)


def published(sources: Sequence[Path]) -> pl.DataFrame:
    frame = table(sources, "published_scores")
    if set(frame["query"]) != {"all"}:
        raise ValueError("published scores of single queries have no column")
    key = ["id", "evaluator", "measure", "run"]
    occurrence = pl.int_range(pl.len(), dtype=pl.Int32).over(key)
    frame = frame.with_columns(ID).with_columns(occurrence=occurrence)
    columns = "id", "run", "evaluator", "measure", "occurrence", "value"
    return frame.select(columns).sort(*key, "occurrence")


TABLES = {"runs": runs, "qrels": qrels, "topics": topics, "published": published}


def make(sources: Sequence[Path], out: Path) -> None:
    """Write one Parquet file for each table."""
    out.mkdir(parents=True, exist_ok=True)
    for name, build in TABLES.items():
        frame = build(sources)
        written = {"polars": pl.__version__}  # another version may encode the same rows otherwise
        frame.write_parquet(
            out / f"{name}.parquet",
            compression="zstd",
            compression_level=19,
            metadata=written,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, nargs="+", help="folders with the CSV files")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    make(given.sources, given.out)


if __name__ == "__main__":
    main()
