# Written by .ci/stubs.py: change the studies and run it again.
from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import Literal

from irmeta.api import Store
from irmeta.store.scan import StoreReader
from irmeta.studies.framework.control import Progress
from irmeta.studies.framework.every import run_all as run_all
from irmeta.studies.framework.study_results import StudyResults

def open(folder: str | Path) -> StudyResults:
    """Open the results that a study left in a folder."""

def overview(
    store: Store | StoreReader | str | Path,
    out: str | Path,
    *,
    measures: str | Iterable[str] = ("default",),
    rarity_depth: int = 100,
    unretrieved: Literal["irrel", "floor", "irrel+1", "depth"] = "irrel",
    queries: Literal["judged", "relevant", "retrieved"] = "judged",
    negative: Literal["unjudged", "nonrelevant"] = "unjudged",
    qrels: str | None = None,
    tie_order: Literal["trec_eval", "trec_eval10", "score-file", "file", "rank"] | None = None,
    pool_order: Literal["trec_eval", "trec_eval10", "score-file", "file", "rank"] = "score-file",
    pool_depth: int | None = None,
    pool_without: str | Iterable[str] = (),
    min_systems: int = 1,
    tracks: str | Iterable[str] | None = None,
    only: bool = False,
    force: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> StudyResults:
    """Overview of retrieval tracks: Every system of every track by every measure, and how far the measures agree."""

def search_length(
    store: Store | StoreReader | str | Path,
    out: str | Path,
    *,
    min_systems: int = 5,
    rel: int = 1,
    unretrieved: Literal["irrel", "floor", "irrel+1", "depth"] = "irrel",
    best_by: str | None = None,
    baseline: str = "median",
    contender: str = "best",
    firsts: int | Iterable[int] = (),
    depth: int = 100,
    ratio: float = 1.1,
    alpha: float = 0.05,
    test: Literal["t", "t-unpaired", "wilcoxon", "sign", "permutation", "bootstrap", "hsd", "hsd-blocked", "hsd-randomised"] = "t",
    resamples: int = 10000,
    confidence: float = 0.95,
    seed: int = 0,
    queries: Literal["judged", "relevant", "retrieved"] = "judged",
    negative: Literal["unjudged", "nonrelevant"] = "unjudged",
    qrels: str | None = None,
    tie_order: Literal["trec_eval", "trec_eval10", "score-file", "file", "rank"] | None = None,
    pool_order: Literal["trec_eval", "trec_eval10", "score-file", "file", "rank"] = "score-file",
    pool_depth: int | None = None,
    pool_without: str | Iterable[str] = (),
    tracks: str | Iterable[str] | None = None,
    only: bool = False,
    force: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> StudyResults:
    """Atomized search length: Alex, Hall and Metzler 2022, Atomized Search Length: Beyond User Models"""
