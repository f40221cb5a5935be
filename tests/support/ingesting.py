"""Helpers for tests of ingest: small collections, and the content of a store."""

from pathlib import Path

from irmeta.policies import ReadPolicy
from irmeta.store.ingest import Outcome, ingest_collection
from irmeta.store.layout import FOLDERS, Layout

RUN = "1 Q0 a 1 2.0 s\n1 Q0 b 2 1.0 s\n2 Q0 a 1 3.0 s\n"
QRELS = "1 0 a 1\n1 0 c 0\n2 0 z 2\n"
TWO = {"a/runs/s": RUN, "a/qrels": QRELS, "b/runs/s": RUN, "b/qrels": QRELS}
CONFIG = '[tracks.t]\nruns = ["runs/*"]\nqrels = "qrels"\n'
FACTS = 'systems = { file = "f.csv", name = "run", group = "team", type = "kind", pooled = "p" }\n'


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(raw)
    return folder


def outcomes(collection: Path, store: Path, *, rehash: bool = False, **policy) -> list[Outcome]:
    return ingest_collection(collection, Layout(store), ReadPolicy(**policy), rehash=rehash)


def states(collection: Path, store: Path, *, rehash: bool = False) -> dict[str, str]:
    return {o.track: o.state for o in outcomes(collection, store, rehash=rehash)}


def touched(store: Path, *, but: str = "-") -> dict[str, tuple[int, int]]:
    """Map each file of the store to its inode and modification time."""
    files = [path for path in store.rglob("*") if path.is_file()]
    facts = {str(p.relative_to(store)): (p.stat().st_ino, p.stat().st_mtime_ns) for p in files}
    return {name: fact for name, fact in facts.items() if name not in (".lock", but)}


def content(store: Path) -> dict[str, bytes]:
    """Return the bytes of every file of the store that readers use."""
    kept = [store / "manifest.json"]
    kept += [p for kind in (*FOLDERS, "tracks") for p in (store / kind).rglob("*") if p.is_file()]
    return {str(path.relative_to(store)): path.read_bytes() for path in kept}
