"""Twin of the C/W/L framework: a user reads down a list, and reads on after rank i with C(i)."""

import math
from collections.abc import Callable, Sequence

from twins.incomplete import judged_docs
from twins.measures import Qrels, Ranking

C = Callable[[int, Sequence[float], Sequence[float]], float]
"""C(i), from the rank, and the gains and costs of all ranks."""


def inst(target: float) -> C:
    """Moffat et al. (2017): what is still wanted is the target less the gain so far."""

    def reads_on(i: int, gains: Sequence[float], costs: Sequence[float]) -> float:
        lacking = target - sum(gains[:i])
        return ((i + target + lacking - 1) / (i + target + lacking)) ** 2

    return reads_on


def insq(target: float) -> C:
    """Moffat et al. (2012)."""
    return lambda i, gains, costs: ((i + 2 * target - 1) / (i + 2 * target)) ** 2


def sdcg(k: int) -> C:
    """The ratio of two discounts of DCG."""
    return lambda i, gains, costs: math.log(i + 1) / math.log(i + 2) if i < k else 0


def bpm(target: float, k: float, hb: float = 0, hc: float = 0, middle: float = 0) -> C:
    """Zhang et al. (2017): both limits move by what each doc above has gained."""

    def reads_on(i: int, gains: Sequence[float], costs: Sequence[float]) -> float:
        wanted, patience = target, k
        for gain in gains[: i - 1]:
            wanted += hb * (gain - middle)
            patience += hc * (gain - middle)
        return 1 if sum(gains[:i]) < wanted and sum(costs[:i]) < patience else 0

    return reads_on


def nerr8(k: int) -> C:
    """Azzopardi et al. (2021), Eq. 8."""
    return lambda i, gains, costs: 1 - gains[i - 1] if i < k else 0


def nerr9(k: int) -> C:
    """Eq. 9."""
    return lambda i, gains, costs: i / (i + 1) * (1 - gains[i - 1]) if i < k else 0


def nerr10(p: float) -> C:
    """Eq. 10."""
    return lambda i, gains, costs: p * (1 - gains[i - 1])


def nerr11(target: float) -> C:
    """Eq. 11."""
    return lambda i, gains, costs: insq(target)(i, gains, costs) * (1 - gains[i - 1])


def precision(k: int) -> C:
    """P at k."""
    return lambda i, gains, costs: 1 if i < k else 0


def rbp(p: float) -> C:
    """RBP."""
    return lambda i, gains, costs: p


def rr(i: int, gains: Sequence[float], costs: Sequence[float]) -> float:
    """RR."""
    return 0 if any(gains[:i]) else 1


def ap(i: int, gains: Sequence[float], costs: Sequence[float]) -> float:
    """AP: Moffat et al. (2013), Eq. 6 as corrected."""
    shares = [gain / rank for rank, gain in enumerate(gains, 1)]
    return sum(shares[i:]) / sum(shares[i - 1 :]) if any(shares[i:]) else 0


def quantities(gains: Sequence[float], costs: Sequence[float], c: C) -> dict[str, float]:
    """The five quantities of cwl_eval; nobody reads beyond the last rank."""
    continuing, read = [], []
    for i in range(1, len(gains) + 1):
        read.append(math.prod(continuing))
        continuing.append(c(i, gains, costs))
        if continuing[-1] == 0:
            break
    total = sum(read)
    weights = [v / total for v in read]
    last = [v * (1 - on) for v, on in zip(read, continuing, strict=True)]
    return {
        "EU": sum(w * g for w, g in zip(weights, gains, strict=False)),
        "ETU": sum(p * sum(gains[: i + 1]) for i, p in enumerate(last)),
        "EC": sum(w * cost for w, cost in zip(weights, costs, strict=False)),
        "ETC": sum(p * sum(costs[: i + 1]) for i, p in enumerate(last)),
        "ED": 1 / weights[0],
    }


def expected(
    ranking: Ranking,
    qrels: Qrels,
    c: C,
    quantity: str = "EU",
    bound: str = "lower",
    scale: tuple[float, float] = (0, 1),
    depth: int = 1000,
    negative: str = "unjudged",
    costs: dict[str, float] | None = None,
) -> float:
    """One quantity of a list that goes on with unjudged docs, with gains from 0 to 1."""
    if bound == "residual":
        both = (
            expected(ranking, qrels, c, quantity, one, scale, depth, negative, costs)
            for one in ("upper", "lower")
        )
        upper, lower = both
        return upper - lower
    docs = [*(ranking or []), *[""] * depth][:depth]
    judged, (least, most) = judged_docs(qrels, negative), scale
    gains = [
        (min(max(qrels[doc], least), most) - least) / (most - least)
        if doc in judged
        else float(bound == "upper")
        for doc in docs
    ]
    return quantities(gains, [(costs or {}).get(doc, 1.0) for doc in docs], c)[quantity]
