"""Fields of policies as keywords: written by .ci/stubs.py from irmeta/policies.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from irmeta.policies import (
    Averaged,
    Comments,
    Duplicates,
    Malformed,
    Negative,
    RunFormat,
    TieOrder,
)


class EvalChoices(TypedDict, total=False):
    """The fields of `EvalPolicy`, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    rel: float | Mapping[str, float] | Sequence[str] | None


class GradedChoices(TypedDict, total=False):
    """The fields of `EvalPolicy` of functions with a `rel` of their own, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None


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


class PoolChoices(TypedDict, total=False):
    """The fields of `EvalPolicy` for pools, as keywords."""

    qrels: str | None
    negative: Negative
    tie_order: TieOrder | None


class DataPolicies(TypedDict, total=False):
    """The fields of `EvalPolicy` and, for qrels and runs in memory, of reading, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
    rel: float | Mapping[str, float] | Sequence[str] | None
    depth: int | None
    duplicates: Duplicates
    malformed: Malformed
    run_format: RunFormat
    drop_self: bool
    grade_digits: int | None
    comments: Comments
    subtopics: bool


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
    queries: Averaged
    negative: Negative
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: tuple[str, ...]
    costs: str | None
