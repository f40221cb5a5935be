"""Several threads read one store at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import irmeta


def test_evaluate__threads_on_one_store_get_the_values_of_one(made_store: irmeta.Store):
    measures = ("AP", "nDCG@10", "RareP@10")
    tracks = [(name, track) for name in measures for track in ("news", "passage")]

    def values(asked: tuple[str, str]) -> list[tuple]:
        name, track = asked
        return made_store.evaluate(name, track=track, per_query=True, workers=1).rows()

    alone = [values(asked) for asked in tracks]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(values, tracks * 2)) == alone * 2
