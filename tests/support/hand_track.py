"""A track worked by hand, for the study of paper 1."""

from __future__ import annotations

from twins import track_means

# Queries q1 and q2 have relevant docs; q3 has none, but the deepest list, 4. Search lengths:
#   good    q1 a 1, b 2          q2 c 1, d 1
#   middle  q1 a 3, b -> 2       q2 d 2, c -> 1      (-> is not retrieved: Eq. 3)
#   late    q1 b 1, a -> 0       q2 no list: c, d -> 4 + 1
HAND = {
    "name": "hand",
    "qrels": {
        "q1": {"a": 1, "b": 1, "x": 0},
        "q2": {"c": 2, "d": 1, "y": 0},
        "q3": {"z": 0},
    },
    "runs": {
        "good": {"q1": ["a", "x", "b"], "q2": ["c", "d"]},
        "middle": {"q1": ["x", "y", "a"], "q2": ["y", "d"]},
        "late": {"q1": ["b"], "q3": ["z", "y", "x", "w"]},
    },
}


def placed(name: str, size: int, *ranks: int, relevant: int | None = None) -> track_means.Track:
    """Return a track of one system and query, with relevant docs at given ranks."""
    docs = [f"r{rank}" if rank in ranks else f"n{rank}" for rank in range(1, size + 1)]
    wanted = [f"r{rank}" for rank in ranks]
    wanted += [f"m{i}" for i in range((relevant or len(ranks)) - len(ranks))]
    qrels = {"q": dict.fromkeys(wanted, 1)}
    return {"name": name, "qrels": qrels, "runs": {"s": {"q": docs}}}
