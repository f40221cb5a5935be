"""Fields of policies and options as keywords: written by .ci/stubs.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from irmeta.policies import (
    Alternative,
    Averaged,
    By,
    Comments,
    Correction,
    Duplicates,
    Majority,
    Malformed,
    Missing,
    Negative,
    On,
    Opponents,
    PreferenceTest,
    RunFormat,
    TieOrder,
    VarianceEstimator,
)

if TYPE_CHECKING:
    import numpy as np
    import polars as pl


class EvalChoices(TypedDict, total=False):
    """The fields of `EvalPolicy`, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | Mapping[str, str] | Sequence[str] | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    system: str | Iterable[str] | None
    query: str | int | Iterable[str | int] | None
    query_file: str | None
    rel: float | Mapping[str, float] | Sequence[str] | None
    overlay: tuple[str, ...]


class GradedChoices(TypedDict, total=False):
    """The fields of `EvalPolicy` of functions with a `rel` of their own, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | Mapping[str, str] | Sequence[str] | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    system: str | Iterable[str] | None
    query: str | int | Iterable[str | int] | None
    query_file: str | None
    overlay: tuple[str, ...]


class PairChoices(TypedDict, total=False):
    """The fields of `EvalPolicy` of functions that name systems, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | Mapping[str, str] | Sequence[str] | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    query: str | int | Iterable[str | int] | None
    query_file: str | None
    rel: float | Mapping[str, float] | Sequence[str] | None
    overlay: tuple[str, ...]


class GradedPairChoices(TypedDict, total=False):
    """The fields of `EvalPolicy` of functions that name systems, without `rel`, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | Mapping[str, str] | Sequence[str] | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    query: str | int | Iterable[str | int] | None
    query_file: str | None
    overlay: tuple[str, ...]


class ExplainChoices(TypedDict, total=False):
    """The fields of `EvalPolicy` of functions that name a system and a query, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | Mapping[str, str] | Sequence[str] | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    rel: float | Mapping[str, float] | Sequence[str] | None
    overlay: tuple[str, ...]


class ReadChoices(TypedDict, total=False):
    """The fields of `ReadPolicy`, as keywords."""

    tie_order: TieOrder
    depth: int | None
    duplicates: Duplicates
    malformed: Malformed
    names: str
    run_format: RunFormat
    drop_self: bool
    grade_digits: int | None
    comments: Comments
    subtopics: bool
    drop_docs: str | None
    chunks: str | None
    columns: Mapping[str, str] | Sequence[str]


class DataChoices(TypedDict, total=False):
    """The fields of `ReadPolicy` without the names of systems, as keywords."""

    tie_order: TieOrder
    depth: int | None
    duplicates: Duplicates
    malformed: Malformed
    run_format: RunFormat
    drop_self: bool
    grade_digits: int | None
    comments: Comments
    subtopics: bool
    drop_docs: str | None
    chunks: str | None
    columns: Mapping[str, str] | Sequence[str]


class PoolChoices(TypedDict, total=False):
    """The fields of `EvalPolicy` for pools, as keywords."""

    qrels: str | Mapping[str, str] | Sequence[str] | None
    negative: Negative
    tie_order: TieOrder | None


class RunChoices(TypedDict, total=False):
    """The fields of `ReadPolicy` that matter without judgments, as keywords."""

    duplicates: Duplicates
    malformed: Malformed
    run_format: RunFormat
    drop_self: bool
    comments: Comments
    drop_docs: str | None
    chunks: str | None
    columns: Mapping[str, str] | Sequence[str]


class DataPolicies(TypedDict, total=False):
    """The fields of `EvalPolicy` and, for qrels and runs in memory, of reading, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | Mapping[str, str] | Sequence[str] | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    system: str | Iterable[str] | None
    query: str | int | Iterable[str | int] | None
    query_file: str | None
    rel: float | Mapping[str, float] | Sequence[str] | None
    overlay: tuple[str, ...]
    depth: int | None
    duplicates: Duplicates
    malformed: Malformed
    run_format: RunFormat
    drop_self: bool
    grade_digits: int | None
    comments: Comments
    subtopics: bool
    drop_docs: str | None
    chunks: str | None
    columns: Mapping[str, str] | Sequence[str]


class Policies(TypedDict, total=False):
    """The fields of `ReadPolicy` and `EvalPolicy` for one track of data, as keywords."""

    tie_order: TieOrder | None
    depth: int | None
    duplicates: Duplicates
    malformed: Malformed
    run_format: RunFormat
    drop_self: bool
    grade_digits: int | None
    comments: Comments
    subtopics: bool
    drop_docs: str | None
    chunks: str | None
    columns: Mapping[str, str] | Sequence[str]
    queries: Averaged
    negative: Negative
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    system: str | Iterable[str] | None
    query: str | int | Iterable[str | int] | None
    query_file: str | None
    rel: float | Mapping[str, float] | Sequence[str] | None
    overlay: tuple[str, ...]


class CompareKeywords(TypedDict, total=False):
    """The fields of `CompareOptions`, as keywords."""

    less_is_better: bool
    robust: bool
    relative: bool
    test: str
    correction: Correction | None
    alpha: float
    missing: Missing
    baseline: str | Iterable[str] | None
    replicates: str | pl.DataFrame | None
    components: VarianceEstimator
    resample_by: str | pl.DataFrame | None
    alternative: Alternative
    resamples: int
    rng: int | np.random.Generator


class CompareChoices(CompareKeywords, EvalChoices, total=False):
    """The fields of `CompareOptions` and `EvalPolicy`, as keywords."""


class CompareDataChoices(CompareKeywords, DataPolicies, total=False):
    """The fields of `CompareOptions` and `DataPolicies`, as keywords."""


class PowerKeywords(TypedDict, total=False):
    """The fields of `PowerOptions`, as keywords."""

    tests: str | Iterable[str]
    correction: Correction
    alpha: float | Iterable[float]
    missing: Missing
    resamples: int
    rng: int | np.random.Generator


class PowerChoices(PowerKeywords, EvalChoices, total=False):
    """The fields of `PowerOptions` and `EvalPolicy`, as keywords."""


class PowerDataChoices(PowerKeywords, DataPolicies, total=False):
    """The fields of `PowerOptions` and `DataPolicies`, as keywords."""


class PreferKeywords(TypedDict, total=False):
    """The fields of `PreferOptions`, as keywords."""

    by: By
    majority: Majority
    opponents: Opponents
    on: On
    baseline: str | None
    rank_resamples: int
    test: PreferenceTest
    correction: Correction
    alpha: float
    resamples: int
    rng: int


class PreferChoices(PreferKeywords, EvalChoices, total=False):
    """The fields of `PreferOptions` and `EvalPolicy`, as keywords."""


class PreferDataChoices(PreferKeywords, DataPolicies, total=False):
    """The fields of `PreferOptions` and `DataPolicies`, as keywords."""


class AgreeKeywords(TypedDict, total=False):
    """The fields of `AgreeOptions`, as keywords."""

    reference: str | None
    same_scale: bool
    raw: bool
    grade_digits: int | None
    comments: Comments
    columns: str | Iterable[str]
    resamples: int
    rng: int | np.random.Generator


class ReproduceKeywords(TypedDict, total=False):
    """The fields of `ReproduceOptions`, as keywords."""

    rerun_track: str | None
    list_depth: int
    persistence: float
    resamples: int
    rng: int


class ReproduceChoices(ReproduceKeywords, EvalChoices, total=False):
    """The fields of `ReproduceOptions` and `EvalPolicy`, as keywords."""


class ReproduceDataChoices(ReproduceKeywords, DataPolicies, total=False):
    """The fields of `ReproduceOptions` and `DataPolicies`, as keywords."""


class OverTracksKeywords(TypedDict, total=False):
    """The fields of `OverTracksOptions`, as keywords."""

    missing: Missing
    system_names: str | None
    nemenyi: bool
    snapshots: bool
    pivot: str | None
    alpha: float
    resamples: int
    rng: int | np.random.Generator


class OverTracksChoices(OverTracksKeywords, EvalChoices, total=False):
    """The fields of `OverTracksOptions` and `EvalPolicy`, as keywords."""


class OverTracksDataChoices(OverTracksKeywords, DataPolicies, total=False):
    """The fields of `OverTracksOptions` and `DataPolicies`, as keywords."""


class BudgetKeywords(TypedDict, total=False):
    """The fields of `BudgetOptions`, as keywords."""

    order: str | Iterable[str]
    draws: int
    rng: int
    goal: str
    goal_share: float
    judge: str | None
    teams: bool
    stops: float | None
    alpha: float


class BudgetChoices(BudgetKeywords, EvalChoices, total=False):
    """The fields of `BudgetOptions` and `EvalPolicy`, as keywords."""


class BudgetDataChoices(BudgetKeywords, DataPolicies, total=False):
    """The fields of `BudgetOptions` and `DataPolicies`, as keywords."""
