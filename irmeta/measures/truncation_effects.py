"""Effects of trailing non-relevant docs on the scores of lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from irmeta.measures.evaluate import evaluate_block, warn_above_highest_grade
from irmeta.measures.names import Spec
from irmeta.policies import EvalPolicy
from irmeta.rankings.derive.other_lists import cut_ends, pad_ends
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.needs import needs_of
from irmeta.results.verdicts import TIE
from irmeta.store.scan import StoreReader

EFFECTS = ("better_cut", "worse_cut", "better_padded", "worse_padded")


def truncation_effects(
    store: StoreReader,
    track: str,
    specs: Sequence[Spec],
    policy: EvalPolicy,
    docs: int = 1,
    workers: int | None = 1,
) -> pl.DataFrame:
    """Compute shares of lists whose score changes with their end: `Store.stability.truncation`."""

    def counts(view: JudgedRanks) -> tuple[Sequence[str], np.ndarray]:
        return view.systems, count_effects(view, specs, policy, docs)

    blocks = list(over_blocks(counts, store, track, policy, needs_of(specs), workers=workers))
    warn_above_highest_grade(store, track, specs, policy)
    lists, *effects = np.sum([block for _, block in blocks], axis=0)
    with np.errstate(invalid="ignore"):  # no list has a value
        shares = [(effect / lists).ravel() for effect in effects]
    systems = list(blocks[0][0])
    frame = pl.DataFrame({
        "measure": np.repeat([spec.name for spec in specs], len(systems)),
        "system": systems * len(specs),
        "lists": lists.ravel(),
        **dict(zip(EFFECTS, shares, strict=True)),
    })  # fmt: skip
    return frame.select(pl.lit(track).alias("track"), "system", pl.exclude("system")).sort(
        "system", maintain_order=True
    )


def count_effects(
    view: JudgedRanks, specs: Sequence[Spec], policy: EvalPolicy, docs: int
) -> np.ndarray:
    """Count the lists, and those whose score changes.

    Returns
    -------
    int64 [1 + effects, measure, system]: lists, then the order of `EFFECTS`.
    """
    out = np.zeros((1 + len(EFFECTS), len(specs), len(view.systems)), np.int64)
    before, padded = (evaluate_block(one, specs, policy) for one in (view, pad_ends(view, docs)))
    signs = np.array([spec.measure.direction for spec in specs])[:, None, None]
    is_list = before.included & ~before.no_list & ~np.isnan(before.values)
    out[0] = is_list.sum(axis=1)
    cut = np.empty_like(before.values)
    for rel in {spec.rel for spec in specs}:
        chosen = [i for i, spec in enumerate(specs) if spec.rel == rel]
        shorter = cut_ends(view, rel)
        cut[chosen] = evaluate_block(shorter, [specs[i] for i in chosen], policy).values
    for first, values in ((1, cut), (3, padded.values)):
        with np.errstate(invalid="ignore"):  # of two infinities
            rise = np.where(is_list, (values - before.values) * signs, 0.0)
        out[first] = (rise > TIE).sum(axis=1)
        out[first + 1] = (rise < -TIE).sum(axis=1)
    return out
