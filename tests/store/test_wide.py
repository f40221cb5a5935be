"""Memory use of ingest for a track of many queries and 28 million rows."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.store.layout import Layout

pytestmark = pytest.mark.slow
SYSTEMS, QUERIES, DEPTH = 54, 5_193, 100
# On Linux ru_maxrss survives exec, so it would include the peak of the test process; VmHWM is
# reset by exec.
INGEST = """
import atexit, pathlib, re, resource, sys
from irmeta.cli import main

def peak() -> int:
    if sys.platform != "linux":
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) * 1024

atexit.register(lambda file: pathlib.Path(file).write_text(str(peak())), sys.argv.pop(1))
main()
"""


def write_run(path: Path, system: int) -> None:
    """Write a run; each system retrieves other docs of a query's 401, in another order."""
    rank = pl.col("rank")
    place = (rank * (2 * system + 1) + 7 * system + pl.col("query")) % 401
    frame = pl.select(query=pl.int_range(1, QUERIES + 1, dtype=pl.Int64)).join(
        pl.select(rank=pl.int_range(1, DEPTH + 1, dtype=pl.Int64)), how="cross"
    )
    frame.select(
        "query",
        q0=pl.lit("Q0"),
        doc=pl.format("msmarco_doc_{}_{}", "query", place),
        rank=rank,
        score=100.5 - rank,
        tag=pl.lit(f"s{system:02}"),
    ).write_csv(path, separator=" ", include_header=False)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of one track, 1.3 GB of text."""
    folder = tmp_path_factory.mktemp("wide")
    runs = folder / "wide" / "runs"
    runs.mkdir(parents=True)
    for system in range(SYSTEMS):
        write_run(runs / f"s{system:02}", system)
    judged = "".join(f"{q} 0 msmarco_doc_{q}_{q % 401} 1\n" for q in range(1, QUERIES + 1))
    (runs.parent / "qrels.txt").write_text(judged)
    return folder


@pytest.mark.real
@pytest.mark.parametrize(
    ("means", "most"),
    [((), 2 << 30), (("--memory", "600M"), 720 << 20)],  # at least 564 MiB
    ids=["held", "spilled"],
)
def test_ingest__wide_track_stays_within_its_memory(
    wide: Path, tmp_path: Path, means: tuple[str, ...], most: int
):
    command = ["ingest", wide, "--out", tmp_path / "store", *means]
    peak = tmp_path / "peak"
    subprocess.run([sys.executable, "-c", INGEST, str(peak), *map(str, command)], check=True)
    assert int(peak.read_text()) < most
    store = irmeta.open_store(tmp_path / "store")
    assert store.info()["rows"].item() == SYSTEMS * QUERIES * DEPTH
    found = store.runs().filter(pl.col("query") == "77", pl.col("system") == "s03").collect()
    place = [(rank * 7 + 21 + 77) % 401 for rank in range(1, DEPTH + 1)]
    assert found["doc"].to_list() == [f"msmarco_doc_77_{p}" for p in place]
    assert found.filter(pl.col("doc") == "msmarco_doc_77_77")["grade"].to_list() == [1] * (
        77 in place
    )
    assert not Layout(store.path).staging.exists()
