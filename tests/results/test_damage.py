"""Results with a flipped bit give the same content or an error that names the file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.api.matrices import made_from
from irmeta.errors import DataError, IrmetaError
from irmeta.results.tidy_files import provenance, read_parquet, write_out
from support.undrawn import draw_nothing

pytestmark = pytest.mark.exhaustive

SAMPLES = 12  # places in each file, and three near its end


@pytest.fixture(scope="module")
def whole(worked_examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a small store, its results, a study and a file of means."""
    root = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        draw_nothing(patch)
        shutil.copytree(worked_examples / "ties", root / "in" / "ties")
        store = irmeta.ingest(root / "in", root / "store")
        irmeta.reanalyze(store.path, root / "results", measures="AP,ASL")
        irmeta.studies.search_length(store, root / "study", min_systems=1, resamples=20)
    write_out(store.means("AP"), root / "means.parquet", store.provenance("AP"), force=False)
    shutil.copy(root / "means.parquet", root / "copy.parquet")
    return root


def flipped(file: Path) -> Iterator[int]:
    """Flip single bits of a file at several positions; yield each position."""
    content = file.read_bytes()
    ends = range(len(content) - 12, len(content), 4)
    for place in sorted({*range(0, len(content), max(1, len(content) // SAMPLES)), *ends}):
        raw = bytearray(content)
        raw[place] ^= 1 << place % 8
        file.write_bytes(raw)
        yield place
    file.write_bytes(content)


def readers(root: Path, file: Path) -> dict[str, Callable[[], Any]]:
    """Return all functions that read a file of results, with comparable return values."""
    results, tracks = root / "results", irmeta.open_store(root / "store").tracks

    def differences() -> list[tuple[Any, ...]]:
        found = irmeta.diff(file, root / "copy.parquet")
        return [*found.made.rows(), *found.measures.rows()]

    found: dict[str, Callable[[], Any]] = {"read": lambda: read_parquet(file).rows()}
    if file.parent.name == "scores":
        found["matrices"] = lambda: [(m, m.values.tolist()) for m in irmeta.matrices(results)]
        found["compare"] = lambda: irmeta.compare(results, "AP")[0].systems.rows()
        found["power"] = lambda: irmeta.power(results, "AP")[0].rows()
        found["made_from"] = lambda: made_from(results, ["AP"], tracks)
    if file.parent == root:
        found["diff"] = differences
        found["provenance"] = lambda: provenance(file)
    if file.parent == root / "study":
        name = file.stem
        found["scan"] = lambda: irmeta.studies.open(root / "study").scan(name).collect().rows()
        found["study"] = lambda: irmeta.studies.open(root / "study").provenance
        found["table"] = lambda: irmeta.studies.open(root / "study").tables[file.stem].rows()
    return found


def outcome(read: Callable[[], Any], file: Path) -> str | None:
    """Return the repr of the result; None after an error that names the file."""
    try:
        return repr(read())
    except IrmetaError as error:
        return None if file.name in str(error) else f"another error: {error}"


@pytest.mark.parametrize(
    "files",
    ["means.parquet", "results/scores/*.parquet", "results/*.parquet", "study/*.parquet"],
)
def test_result_readers__flipped_bit_gives_same_content_or_an_error(whole: Path, files: str):
    found = []
    for file in sorted(whole.glob(files)):
        expected = {name: repr(read()) for name, read in readers(whole, file).items()}
        for place in flipped(file):
            for name, read in readers(whole, file).items():
                said = outcome(read, file)
                assert said in (None, expected[name]), (file, name, place)
                found.append(said)
    assert found.count(None) > len(found) / 2


def test_write_out__damaged_file_of_irmeta_requires_force(whole: Path, tmp_path: Path, run):
    file = tmp_path / "means.parquet"
    shutil.copy(whole / "means.parquet", file)
    refused = []
    for _ in flipped(file):
        damaged = file.read_bytes()
        try:
            write_out(pl.DataFrame({"a": [1]}), file, {}, force=False)
        except IrmetaError as error:
            refused.append("`force=True`" in str(error) and file.read_bytes() == damaged)
    assert len(refused) > SAMPLES
    assert all(refused)
    raw = bytearray((whole / "means.parquet").read_bytes())
    raw[-200] ^= 1
    file.write_bytes(raw)
    asked = ("evaluate", whole / "store", "-m", "AP", "--out", file)
    done = run(*asked)
    assert done.status == 1
    assert done.err.startswith(f"irmeta: {file}: cannot be read as Parquet (checksum mismatch")
    assert run(*asked, "--force").status == 0
    assert read_parquet(file).height > 0


@pytest.mark.parametrize(
    "file",
    [
        "means.parquet",
        "report.html",
        "latex/best.tex",
        "scores/ties.parquet",
        "figures/tracks/ties/rarity_of_docs.svg",
        ".parts/.all/files.json",
        ".parts/ties/files.json",
        ".parts/ties/means.parquet",
    ],
)
@pytest.mark.usefixtures("undrawn")
def test_reanalyze__repairs_flipped_bits(whole: Path, file: str):
    out = whole / "results"
    files = [f for f in sorted(out.rglob("*")) if f.is_file()]
    before = {f: f.read_bytes() for f in files}
    for _ in zip(range(3), flipped(out / file), strict=False):
        irmeta.reanalyze(whole / "store", out, measures="AP,ASL")
        assert {f: f.read_bytes() for f in files} == before


def test_open_study__error_names_the_damaged_record(whole: Path):
    record = whole / "study" / ".parts" / ".all" / "files.json"
    for _ in flipped(record):
        with pytest.raises(DataError, match=r"files\.json: is damaged"):
            irmeta.studies.open(whole / "study")


@pytest.mark.parametrize("command", ["diff", "compare", "power"])
def test_commands__damaged_file_gives_a_single_line_error(
    whole: Path, tmp_path: Path, command: str, run
):
    file = whole / ("means.parquet" if command == "diff" else "results/scores/ties.parquet")
    raw = bytearray(before := file.read_bytes())
    raw[raw.index(b'"irmeta"')] ^= 2  # the provenance
    file.write_bytes(raw)
    options = {"diff": [file, whole / "copy.parquet"]}.get(command, [whole / "results", "-m", "AP"])
    done = run(command, *options)
    file.write_bytes(before)
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert f"{file.name}: cannot be read as Parquet (checksum mismatch" in done.err
