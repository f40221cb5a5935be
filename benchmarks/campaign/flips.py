"""Flipped bits in every file of stores, results and studies, and in compiled kernels."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import irmeta
from campaign.kinds import Group
from campaign.making import (
    HARMLESS,
    Argv,
    contents,
    make,
    make_inputs,
    run_here,
    start,
    store_values,
    unclear,
)
from irmeta.errors import IrmetaError
from irmeta.results.tidy_files import read_parquet

Read = Callable[[], Any]


class Flips:
    """Single bits of all files; readers give the same values or name the file, check names it."""

    group: Group = "flips"

    def __init__(self, work: Path) -> None:
        self.work = work
        make_inputs(work)
        for name in ("reanalyze", "study", "parquet"):
            make(name, work, work / name)
        tops = ("store", "reanalyze", "study", "parquet")
        files = [file for top in tops for file in sorted((work / top).rglob("*"))]
        self.files = [f for f in files if f.is_file() and f.stat().st_size]
        self.clean = {name: self.value(read) for name, read in self.all_readers().items()}

    def draw(self, rng: Random) -> tuple[str, int, int]:
        file = rng.choice(self.files)
        at = rng.randrange(file.stat().st_size)
        return file.relative_to(self.work).as_posix(), at, rng.randrange(8)

    def all_readers(self) -> dict[str, Read]:
        names = [file.relative_to(self.work).as_posix() for file in self.files]
        return {key: read for name in names for key, read in self.readers(name).items()}

    def readers(self, name: str) -> dict[str, Read]:
        """Return what reads a file, by a name for each reader."""
        file, top = self.work / name, name.split("/")[0]
        found: dict[str, Read] = {}
        folder = self.work / top / "store" if "/store/" in name else self.work / top
        if top == "store" or "/store/" in name:
            found[f"{folder}: values"] = lambda: store_values(folder)
        elif name.endswith(".parquet") and ".parts" not in name:
            found[f"{name}: table"] = lambda: read_parquet(file).rows()
            if "/scores/" in name:
                found["scores"] = lambda: [
                    (str(one), one.values.tolist()) for one in irmeta.matrices(folder)
                ]
        if top == "study":
            found["study"] = lambda: study_values(folder)
        return found

    def value(self, read: Read) -> str:
        return repr(read())

    def check(self, drawn: tuple[str, int, int]) -> str | None:
        name, at, bit = drawn
        file = self.work / name
        before = file.read_bytes()
        raw = bytearray(before)
        raw[at] ^= 1 << bit
        file.write_bytes(raw)
        try:
            return self.problem(name, file)
        finally:
            file.write_bytes(before)

    def problem(self, name: str, file: Path) -> str | None:
        for reader, read in self.readers(name).items():
            try:
                found = self.value(read)
            except IrmetaError as error:
                if file.name not in str(error):
                    return f"{reader}: the error names another file: {error}"
                continue
            if found != self.clean[reader]:
                return f"{reader}: silent change"
        if file.name in HARMLESS:
            return None
        top = name.split("/")[0]
        checked = file if top == "parquet" else self.work / top
        try:
            problems = irmeta.check(checked)["file"].to_list()
        except IrmetaError as error:  # the file is no longer recognised as one of irmeta
            return None if file.name in str(error) or top in str(error) else f"check: {error}"
        return None if str(file) in problems else f"check names {problems}"


def study_values(folder: Path) -> list[Any]:
    study = irmeta.studies.open(folder)
    return [study.provenance, {name: study.tables[name].rows() for name in sorted(study.tables)}]


class Repairs:
    """Single bits of results: the same command makes the same bytes again.

    Tables of the store inside results are left to `Flips`: they are read again only by readers.
    """

    group: Group = "flips"

    def __init__(self, work: Path) -> None:
        self.work = work
        make_inputs(work)
        self.clean = {name: make(name, work, work / name) for name in ("reanalyze", "study")}

    def draw(self, rng: Random) -> tuple[str, str, int, int]:
        name = rng.choice(sorted(self.clean))
        filled = (n for n, content in self.clean[name].items() if content)
        file = rng.choice(sorted(n for n in filled if not n.startswith("store/")))
        return name, file, rng.randrange(len(self.clean[name][file])), rng.randrange(8)

    def check(self, drawn: tuple[str, str, int, int]) -> str | None:
        name, file, at, bit = drawn
        out = self.work / name
        raw = bytearray(self.clean[name][file])
        raw[at] ^= 1 << bit
        (out / file).write_bytes(raw)
        try:
            return None if make(name, self.work, out) == self.clean[name] else "not repaired"
        except RuntimeError as error:  # one clear error that names the file
            return None if Path(file).name in str(error) else str(error)
        finally:
            for one, content in self.clean[name].items():
                if not (out / one).is_file() or (out / one).read_bytes() != content:
                    (out / one).write_bytes(content)


class Kernels:
    """Single bits of cached kernels, which another process loads."""

    group: Group = "flips"

    def __init__(self, work: Path) -> None:
        self.work = work
        make_inputs(work)
        self.argv: Argv = ("evaluate", str(work / "store"), "-m", "AP", "-q", "--format", "csv")
        self.expected = run_here(self.argv)[1]
        self.run()  # compiles
        self.clean = contents(work / "cache")

    def run(self) -> tuple[int, str, str]:
        running = start(self.argv, IRMETA_CACHE_DIR=str(self.work / "cache"))
        said, failed = running.communicate()
        return running.returncode, said.decode(), failed.decode()

    def draw(self, rng: Random) -> tuple[str, int, int]:
        file = rng.choice(sorted(self.clean))
        return file, rng.randrange(len(self.clean[file])), rng.randrange(8)

    def check(self, drawn: tuple[str, int, int]) -> str | None:
        name, at, bit = drawn
        raw = bytearray(self.clean[name])
        raw[at] ^= 1 << bit
        (self.work / "cache" / name).write_bytes(raw)
        status, said, failed = self.run()
        shutil.rmtree(self.work / "cache")
        for one, content in self.clean.items():
            file = self.work / "cache" / one
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.write_bytes(content)
        if said.replace("\r", "") != self.expected.replace("\r", ""):
            return f"other values: {said[:200]} {failed[-300:]}"
        return unclear(status, failed, (0,))
