"""Construction of derived views: replaced arrays, and reasons for missing arrays."""

from __future__ import annotations

import hashlib
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
    """Make a function also derive the view of the diversity qrels."""

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
    """Return the view with other arrays, without those in `lacks`, for the given reasons."""
    gone = {name: why for name, why in (lacks or {}).items() if getattr(view, name) is not None}
    arrays |= dict.fromkeys(gone)
    return replace(view, **arrays, lacks={**view.lacks, **gone}, _cache={})


NOT_SAMPLED = {"sample": "a view with fewer judgments does not know how they were sampled"}


def seed_of(rng: object) -> int:
    """Return a random seed, or draw one from a Generator.

    Raises
    ------
    UsageError
        If `rng` is neither a whole number from 0 nor a Generator.
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if not isinstance(rng, int | np.integer) or isinstance(rng, bool) or rng < 0:
        raise UsageError(f"rng = {rng!r} is neither a whole number from 0 nor a numpy Generator.")
    return int(rng)


def random_number(seed: int, *names: str) -> int:
    """Return a number from 0 to 2^64 - 1 that depends only on the seed and the names."""
    text = "\0".join((str(seed), *names))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
