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

def depth(
    store: Store | StoreReader | str | Path,
    out: str | Path,
    *,
    tie_order: Literal["trec_eval", "trec_eval10", "score-file", "file", "rank"] | None = "score-file",
    measures: str | Iterable[str] = (),
    gain: Literal["grade", "exp"] = "grade",
    depths: int | Iterable[int] = (),
    ks: int | Iterable[int] = (),
    reference_k: int | None = None,
    leave_out_ks: int | Iterable[int] = (),
    others: Literal["rescored", "original"] = "rescored",
    systems: Literal["contributors", "all"] = "contributors",
    figure_measure: str | None = None,
    method: Literal["tau-b", "tau-ap", "rbo"] = "tau-b",
    scores_compared: Literal["float64", "float32"] = "float64",
    alpha: float = 0.05,
    least_tau: float = 0.9,
    least_coverage: float = 0.9,
    places: int = 3,
    reusable_drop: float = 5.0,
    reusable_tau: float = 0.9,
    unusable_drop: float = 20.0,
    unusable_tau: float = 0.8,
    judged_at_least: float = 0.9,
    queries: Literal["judged", "relevant", "retrieved"] = "judged",
    negative: Literal["unjudged", "nonrelevant"] = "unjudged",
    qrels: str | None = None,
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
    """Pooling and evaluation depth: Lu, Moffat and Culpepper 2016, The Effect of Pooling and Evaluation Depth on IR Metrics, doi:10.1007/s10791-016-9282-6"""

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
    """Overview of retrieval tracks: All systems of all tracks by all measures, and the agreement of the measures."""

def preference(
    store: Store | StoreReader | str | Path,
    out: str | Path,
    *,
    rel: int = 1,
    grades: Literal["graded", "binary"] = "graded",
    on: Literal["preference", "win-rate"] = "preference",
    alpha: float = 0.05,
    resamples: int = 2000,
    sizes: int | Iterable[int] = (),
    shares: float | Iterable[float] = (),
    replicates: int = 100,
    label_replicates: int = 20,
    points: int = 5000,
    system_a: str | None = None,
    system_b: str | None = None,
    query: str | None = None,
    seed: int = 0,
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
    """Recall-paired preference: Diaz and Ferraro 2022, Offline Retrieval Evaluation Without Evaluation Metrics, doi:10.1145/3477495.3532033"""

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
