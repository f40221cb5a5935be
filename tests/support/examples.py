"""How many examples hypothesis draws: a few by default, more in CI, all before a release."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable

import pytest
from hypothesis import HealthCheck

EXAMPLES = os.environ.get("IRMETA_EXAMPLES", "")
EVERY_EXAMPLE = EXAMPLES != ""  # of parameters
PART = 6  # of all examples; mutations of ten lines across the package decided it

UNCLOCKED = [HealthCheck.too_slow]
"""Health checks of the clock, which fail on a busy machine: to suppress."""
SHARED_FIXTURE = [*UNCLOCKED, HealthCheck.function_scoped_fixture]
"""The same for a test whose examples share a fixture."""


def scaled(examples: int, part: int = PART) -> int:
    """Return `examples`; a sixth, but at least three, unless ``IRMETA_EXAMPLES=all``.

    `part` is larger for examples that take long. ``IRMETA_EXAMPLES=2`` draws half of all.
    """
    if EXAMPLES:
        part = 1 if EXAMPLES == "all" else int(EXAMPLES)
    return min(examples, max(3, examples // part))


def rest_in_ci(values: Iterable[object], quick: Container[object]) -> list[object]:
    """Return the values of a parameter, with those not in `quick` marked exhaustive."""
    mark = pytest.mark.exhaustive
    return [value if value in quick else pytest.param(value, marks=mark) for value in values]
