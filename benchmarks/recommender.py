"""Made recommender data of the shape of MovieLens 1M: users as queries, items as docs.

    python benchmarks/recommender.py OUT [--users 6000] [--systems 21] [--depth 100] [--gzip]

Writes OUT/movies/qrels.txt and OUT/movies/runs/. A user has rated about 30 test items from 1 to 5,
popular items more often; about 19 ratings are 4 or 5, which is relevant in Diaz and Ferraro (2022):
`rel=4, grades=binary`. Every system sees tastes of users and items, and their popularity, with its
own noise. The data of a user depend on the seed and the user alone, so that fewer users are the
first ones of more. The seed is fixed.

`--users 200 --systems 12 --depth 50 --gzip` makes data_fixtures/recommender.
"""

from __future__ import annotations

import argparse
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

SEED = 20_220_411
ITEMS, TASTES = 3700, 8
RATED = 30
"""Mean number of test items of a user."""
FAMILIES = ("pop", "knn", "slim", "mf", "bpr", "ease", "mult")


@dataclass(frozen=True)
class Items:
    """The catalogue.

    Attributes
    ----------
    popularity
        Logarithm of the share of users who rate an item.
    taste
        What each item offers: float64 [items, tastes].
    quality
        Mean rating of each item, from 3.6.
    """

    popularity: np.ndarray
    taste: np.ndarray
    quality: np.ndarray

    @classmethod
    def draw(cls) -> Items:
        """Draw the catalogue: few items are popular, and better than others."""
        rng = np.random.default_rng([SEED, 0])
        popularity = -0.9 * np.log(rng.permutation(ITEMS) + 30.0)
        standard = (popularity - popularity.mean()) / popularity.std()
        taste = rng.normal(0, 1 / np.sqrt(TASTES), (ITEMS, TASTES))
        return cls(popularity, taste, 0.25 * standard + rng.normal(0, 0.4, ITEMS))


def draw_ratings(items: Items, user: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a user's taste, the indices of the test items, and their ratings."""
    rng = np.random.default_rng([SEED, 1, user])
    taste = rng.normal(0, 1, TASTES)
    liking = items.taste @ taste
    number = int(np.clip(rng.lognormal(np.log(RATED) - 0.32, 0.8), 5, 400))
    # Gumbel's noise draws without replacement: users rate popular items, and those that they like.
    wish = items.popularity + 0.5 * liking + rng.gumbel(0, 1, ITEMS)
    rated = np.sort(np.argsort(-wish, kind="stable")[:number])
    ratings = 3.4 + items.quality[rated] + 0.6 * liking[rated] + rng.normal(0, 0.7, number)
    return taste, rated, np.clip(np.rint(ratings), 1, 5).astype(np.int64)


def rank_items(items: Items, tastes: np.ndarray, system: int, depth: int) -> np.ndarray:
    """Return the items that a system recommends to each user, best first: int64 [users, depth]."""
    family = system % len(FAMILIES)
    shared = np.random.default_rng([SEED, 2, family])
    own = np.random.default_rng([SEED, 3, system])
    skill = 0.0 if family == 0 else shared.uniform(0.3, 1.2)
    popular = 1.0 if family == 0 else shared.uniform(0.4, 1.0)
    seen = items.taste + shared.normal(0, 0.25, items.taste.shape)
    seen += own.normal(0, 0.1, items.taste.shape)
    general = popular * items.popularity + own.normal(0, 0.25, ITEMS)
    best = np.empty((len(tastes), depth), np.int64)
    for user, taste in enumerate(tastes):
        score = general + skill * (seen @ taste)
        top = np.argpartition(-score, depth)[:depth]
        best[user] = top[np.argsort(-score[top], kind="stable")]
    return best


def make(out: Path, users: int, systems: int, depth: int, packed: bool = False) -> None:
    """Write the qrels and the runs of a track."""
    items = Items.draw()
    drawn = [draw_ratings(items, user) for user in range(users)]
    tastes = np.array([taste for taste, _, _ in drawn])
    names = pl.select(pl.format("u{}", pl.int_range(1, users + 1))).to_series()
    docs = pl.select(pl.format("m{}", pl.int_range(1, ITEMS + 1))).to_series()
    sizes = [len(rated) for _, rated, _ in drawn]
    qrels = pl.DataFrame(
        {
            "query": names.gather(np.repeat(np.arange(users), sizes)),
            "zero": pl.repeat(0, sum(sizes), eager=True),
            "doc": docs.gather(np.concatenate([rated for _, rated, _ in drawn])),
            "grade": np.concatenate([ratings for _, _, ratings in drawn]),
        }
    )
    track = out / "movies"
    (track / "runs").mkdir(parents=True)
    write(qrels, track / "qrels.txt", packed)
    for system in range(systems):
        family, number = FAMILIES[system % len(FAMILIES)], system // len(FAMILIES) + 1
        run = pl.DataFrame(
            {
                "query": names.gather(np.repeat(np.arange(users), depth)),
                "Q0": pl.repeat("Q0", users * depth, eager=True),
                "doc": docs.gather(rank_items(items, tastes, system, depth).ravel()),
                "rank": np.tile(np.arange(1, depth + 1), users),
                "score": np.tile(np.arange(depth, 0, -1), users),
                "tag": pl.repeat(f"{family}{number}", users * depth, eager=True),
            }
        )
        write(run, track / "runs" / f"{family}{number}.txt", packed)


def write(frame: pl.DataFrame, path: Path, packed: bool) -> None:
    """Write rows as TREC text, gzipped without a name and time."""
    text = frame.write_csv(separator=" ", include_header=False, quote_style="never").encode()
    if packed:
        path, text = path.with_suffix(".gz"), gzip.compress(text, 9, mtime=0)
    path.write_bytes(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="a folder without movies/")
    parser.add_argument("--users", type=int, default=6000)
    parser.add_argument("--systems", type=int, default=21)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--gzip", action="store_true")
    chosen = parser.parse_args()
    make(chosen.out, chosen.users, chosen.systems, chosen.depth, chosen.gzip)


if __name__ == "__main__":
    main()
