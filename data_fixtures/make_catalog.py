"""Make the catalogue of TREC's runs, qrels and published scores that irmeta/archive/ holds.

Run as ``python data_fixtures/make_catalog.py SOURCE [--out DIR]``, where SOURCE has
trec_runs.csv.gz, trec_qrels.csv.gz and trec_published_scores.csv.gz. The facts are kept as they
are: repeated runs, missing checksums and values as printed. The same files give the same bytes.
"""

import argparse
from pathlib import Path

import polars as pl

OUT = Path(__file__).parent.parent / "irmeta" / "archive"
ID = pl.format("{}/{}", "edition", "track_dir").alias("id")


def table(source: Path, name: str) -> pl.DataFrame:
    """Read a CSV file as text; an empty field is null."""
    return pl.read_csv(source / f"trec_{name}.csv.gz", infer_schema=False)


def runs(source: Path) -> pl.DataFrame:
    renamed = {"participant": "group", "input_url": "address"}
    columns = "id", "edition", "year", "track", "task", "run", "group", "type", "address", "md5"
    frame = table(source, "runs").rename(renamed)
    frame = frame.with_columns(ID, pl.col("year").cast(pl.Int32), pl.col("task").fill_null(""))
    return frame.select(columns).sort("id", "run", "task", maintain_order=True)


def qrels(source: Path) -> pl.DataFrame:
    frame = table(source, "qrels").select(ID, "name", pl.col("url").alias("address"))
    return frame.sort("id", maintain_order=True)


def published(source: Path) -> pl.DataFrame:
    frame = table(source, "published_scores")
    if set(frame["query"]) != {"all"}:
        raise ValueError("published scores of single queries have no column")
    key = ["id", "evaluator", "measure", "run"]
    occurrence = pl.int_range(pl.len(), dtype=pl.Int32).over(key)
    frame = frame.with_columns(ID).with_columns(occurrence=occurrence)
    columns = "id", "run", "evaluator", "measure", "occurrence", "value"
    return frame.select(columns).sort(*key, "occurrence")


TABLES = {"runs": runs, "qrels": qrels, "published": published}


def make(source: Path, out: Path) -> None:
    """Write one Parquet file for each table."""
    out.mkdir(parents=True, exist_ok=True)
    for name, build in TABLES.items():
        frame = build(source)
        written = {"polars": pl.__version__}  # another version may encode the same rows otherwise
        frame.write_parquet(
            out / f"{name}.parquet",
            compression="zstd",
            compression_level=19,
            metadata=written,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="folder with the CSV files")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    make(given.source, given.out)


if __name__ == "__main__":
    main()
