"""How every derived view is made: arrays replaced, those that it cannot have named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import numpy as np

from irmeta.errors import UsageError

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks

P = ParamSpec("P")
Derive = Callable[Concatenate["JudgedRanks", P], "JudgedRanks"]


def also_diversity(derive: Derive[P]) -> Derive[P]:
    """Let a function derive the view of the diversity qrels of a view as well."""

    @wraps(derive)
    def both(view: JudgedRanks, *args: P.args, **kwargs: P.kwargs) -> JudgedRanks:
        made = derive(view, *args, **kwargs)
        if view.diversity is None:
            return made
        return replace(made, diversity=derive(view.diversity, *args, **kwargs))

    return both


def changed(
    view: JudgedRanks, lacks: dict[str, str] | None = None, /, **arrays: Any
) -> JudgedRanks:
    """Return the view with other arrays; those in `lacks` are gone, for the reason given."""
    gone = {name: why for name, why in (lacks or {}).items() if getattr(view, name) is not None}
    arrays |= dict.fromkeys(gone)
    return replace(view, **arrays, lacks={**view.lacks, **gone}, _sorted={})


def check_depth(depth: Any) -> None:
    """Raise `UsageError` for a depth that is not a whole number from 1."""
    is_whole = isinstance(depth, int | np.integer) and not isinstance(depth, bool)
    if not is_whole or depth < 1:
        raise UsageError(f"depth = {depth!r} is not a whole number from 1.")


def seed_of(rng: int | np.random.Generator) -> int:
    """Return a random seed, or the one that a Generator draws."""
    return int(rng.integers(2**63)) if isinstance(rng, np.random.Generator) else rng


def draws(seed: int, query: str, count: int) -> np.ndarray:
    """Return random numbers from 0 to 1 that depend on the seed and the query alone."""
    return np.random.default_rng([seed, *query.encode()]).random(count)
