"""Twins of measures by canonical name: families that see grades, and weights shared by ties."""

from __future__ import annotations

from irmeta.measures.names import parse_measure
from irmeta.naming import joined, split_form
from support.cells import Cell, Twins, every_cut, named, of_condensed, of_list
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete
from twins import measures as naive
from twins import user_models as users

CUTS = (None, 1, 2, 4, 7, 1000)


def discounted_gain() -> Twins:
    """Twins of DCG and nDCG."""
    own_gains = {"0:0.5;1:3;3:1": {0: 0.5, 1: 3.0, 3: 1.0}, "2:0": {2: 0.0}}
    discounts = {
        "log2": ("log2", 2),
        "zipf": ("zipf", 2),
        "jk": ("jk", 2),
        "jk,b=3.5": ("jk", 3.5),
    }
    twins: Twins = {}
    for gain in ("grade", "binary", "linear", "exp", *own_gains):
        for said, how in discounts.items():
            as_named, own = f"gain={gain},discount={said}", own_gains.get(gain, gain)

            def dcg(x, k, g=own, how=how):
                return naive_gain.dcg(x.ranking, x.qrels, k, g, x.highest, *how)

            def ndcg(x, k, g=own, how=how):
                return naive_gain.ndcg(x.ranking, x.qrels, k, g, x.highest, *how)

            def dcg_tied(x, k, g=own, how=how):
                return naive_gain.dcg_tied(x.blocks, x.qrels, k, g, x.highest, *how)

            def ndcg_tied(x, k, g=own, how=how):
                return naive_gain.ndcg_tied(x.blocks, x.qrels, k, g, x.highest, *how)

            twins |= every_cut(f"DCG({as_named})", dcg)
            twins |= every_cut(f"nDCG({as_named})", ndcg)
            twins |= every_cut(f"DCG({as_named},ties=share)", dcg_tied)
            twins |= every_cut(f"nDCG({as_named},ties=share)", ndcg_tied)
            for k in (1, 3, 5, 50):
                twins[named(f"nDCG({as_named},ideal=pool)", k)] = lambda x, g=own, how=how, k=k: (
                    naive_incomplete.ndcg_pool(x.ranking, x.qrels, x.depths, k, g, x.highest, *how)
                )
    twins |= every_cut(
        "DCG(gain=exp,gmax=6)", lambda x, k: naive_gain.dcg(x.ranking, x.qrels, k, "exp", 6)
    )
    for gain in ("grade", "binary", "exp", "0:0.5;1:3;3:1"):
        own = own_gains.get(gain, gain)
        twins |= every_cut(
            f"DCG(gain={gain},rel=2)",
            lambda x, k, g=own: naive_gain.dcg(x.ranking, x.qrels, k, g, x.highest, rel=2),
        )
        twins |= every_cut(
            f"nDCG(gain={gain},rel=2)",
            lambda x, k, g=own: naive_gain.ndcg(x.ranking, x.qrels, k, g, x.highest, rel=2),
        )
    for unjudged in ("upper", "upper-gmax"):
        twins |= every_cut(
            f"DCG(gain=exp,gmax=6,unjudged={unjudged})",
            lambda x, k, u=unjudged: naive_gain.dcg_of(x.upper(u, gain="exp", gmax=6)[:k]),
        )
    return twins | every_cut(
        "nDCG(ties=share,unjudged=condensed)",
        lambda x, k: naive_gain.ndcg_tied(x.condensed_blocks, x.qrels, k),
    )


def trec_gain() -> Twins:
    """Twins of nDCGRel, RnDCG, G and BinG."""
    gains = {
        "grade": "grade",
        "1:3;2:9;4:4.5": {1: 3.0, 2: 9.0, 4: 4.5},
        "0:0.25;1:0.5;2:0.5": {0: 0.25, 1: 0.5, 2: 0.5},
        "1:0;3:0;4:0": {1: 0.0, 3: 0.0, 4: 0.0},
        "2:0.001;3:1000;4:0": {2: 0.001, 3: 1000.0, 4: 0.0},
    }
    graded = {
        "nDCGRel": naive_gain.ndcg_rel,
        "RnDCG": naive_gain.rndcg,
        "G": naive_gain.g_measure,
    }
    twins: Twins = {}
    for written, gain in gains.items():
        for name, twin in graded.items():
            twins[named(name, gain=written)] = of_list(twin, gain)
            twins[named(name, gain=written, unjudged="condensed")] = of_condensed(twin, gain)
        twins[named("RnDCG", gain=written, rel=2)] = of_list(naive_gain.rndcg, gain, 2)
    for rel in (1, 2, 4):
        twins[named("BinG", rel=rel)] = of_list(naive_gain.bin_g, rel)
        twins[named("BinG", rel=rel, unjudged="condensed")] = of_condensed(naive_gain.bin_g, rel)
    return twins


def cascade() -> Twins:
    """Twins of ERR, nERR and ERRResidual with every parameter, at several cutoffs."""

    def err(x: Cell, ranking: naive.Ranking, k: int | None, stop: str, gmax: int | None) -> float:
        return naive_gain.err(ranking, x.qrels, k, stop, gmax or x.highest)

    def nerr(x: Cell, ranking: naive.Ranking, k: int | None, stop: str, gmax: int | None) -> float:
        return naive_gain.nerr(ranking, x.qrels, k, stop, gmax or x.highest)

    def err_upper(x: Cell, unjudged: str, k: int | None, stop: str, gmax: int | None) -> float:
        return naive_gain.err_of(x.upper(unjudged, gain=stop, gmax=gmax)[:k])

    def residual(x: Cell, k: int | None, stop: str, gmax: int | None) -> float:
        highest = gmax or x.highest
        return naive_incomplete.err_residual(x.ranking, x.qrels, k, stop=stop, gmax=highest)

    def with_unjudged(x: Cell, k: int | None, stop: str, gmax: int | None) -> float:
        known = naive_gain.gains_of(x.ranking, x.qrels, stop, gmax or x.highest)
        upper = x.upper("upper-gmax", gain=stop, gmax=gmax)
        return naive_incomplete.err_residual_with_unjudged(upper, known, k)

    twins: Twins = {}
    for stop in ("exp", "linear", "ntcir"):
        for gmax in (None, 6):
            own = {"stop": stop} | ({} if gmax is None else {"gmax": gmax})
            for k in CUTS:
                how = (k, stop, gmax)
                twins |= {
                    named("ERR", k, **own): lambda x, h=how: err(x, x.ranking, *h),
                    named("nERR", k, **own): lambda x, h=how: nerr(x, x.ranking, *h),
                    named("ERRResidual", k, **own): lambda x, h=how: residual(x, *h),
                    named("ERRResidual", k, form="unjudged", **own): lambda x, h=how: with_unjudged(
                        x, *h
                    ),
                }
            for k in (None, 3):
                how = (k, stop, gmax)
                left_out = own | {"unjudged": "condensed"}
                twins |= {
                    named("ERR", k, **left_out): lambda x, h=how: err(x, x.condensed, *h),
                    named("nERR", k, **left_out): lambda x, h=how: nerr(x, x.condensed, *h),
                }
                for best in ("upper", "upper-gmax"):
                    twins[named("ERR", k, **own, unjudged=best)] = lambda x, h=(best, *how): (
                        err_upper(x, *h)
                    )
    for k in CUTS:
        twins[named("ERRResidual", k, form="bound")] = of_list(
            naive_incomplete.err_residual, k, "bound"
        )
    return twins


Q_GAINS = (
    *({}, {"rel": 2}, {"beta": 0}, {"beta": 0.3, "rel": 3}, {"gain": "linear"}),
    *({"gain": "exp", "rel": 2}, {"gain": "binary"}, {"gain": "binary", "rel": 2, "beta": 10}),
    {"gain": "exp", "gmax": 7},
)


def q_measure() -> Twins:
    """Twins of Q where all judged docs count: norm=all and norm=min."""

    def q(x: Cell, ranking: naive.Ranking, k: int | None, own: dict, norm: str = "all") -> float:
        return naive_gain.q_measure(ranking, x.qrels, k, norm=norm, **{"gmax": x.highest} | own)

    twins: Twins = {}
    for own in Q_GAINS:
        for k in CUTS:
            twins[named("Q", k, **own)] = lambda x, h=(k, own): q(x, x.ranking, *h)
        for k in (1, 3, 7):
            how = (k, own, "min")
            twins[named("Q", k, **own, norm="min")] = lambda x, h=how: q(x, x.ranking, *h)
        for k in (None, 3):
            how = (k, own)
            twins[named("Q", k, **own, unjudged="condensed")] = lambda x, h=how: q(
                x, x.condensed, *h
            )
    return twins


def pooled_q_measure() -> Twins:
    """Twins of Q where the divisor, the ideal list or both are of the depth-k pool."""

    def q_pool(x: Cell, k: int, norm: str, ideal: str, own: dict) -> float:
        how = {"norm": norm, "ideal": ideal, "gmax": x.highest} | own
        return naive_incomplete.q_pool(x.ranking, x.qrels, x.depths, k, **how)

    twins: Twins = {}
    for own in Q_GAINS:
        for norm, ideal in (("pool", "all"), ("pool", "pool"), ("all", "pool"), ("min", "pool")):
            for k in (1, 2, 5, 1000):
                how = (k, norm, ideal, own)
                twins[named("Q", k, **own, norm=norm, ideal=ideal)] = lambda x, h=how: q_pool(x, *h)
    return twins


def rank_biased() -> Twins:
    """Twins of RBP and its residual."""
    twins: Twins = every_cut("RBP", lambda x, k: naive.rbp(x.ranking, x.qrels, 0.8, 1, k))
    twins |= every_cut("RBP(p=0.95,rel=2)", lambda x, k: naive.rbp(x.ranking, x.qrels, 0.95, 2, k))
    for ties in ("order", "share"):

        def blocks(x, t=ties):
            return [[doc] for doc in x.ranking or []] if t == "order" else x.blocks

        def tied(x, k, gain, gmax, rel, own=blocks):
            return naive_gain.rbp_tied(own(x), x.qrels, 0.7, k, gain, gmax, rel)

        for rel in (1, 2):
            twins |= every_cut(
                f"RBP(p=0.7,rel={rel},ties={ties})",
                lambda x, k, f=tied, rel=rel: f(x, k, "binary", 1, rel),
            )
        for gain in ("linear", "exp"):
            twins |= every_cut(
                f"RBP(p=0.7,gain={gain},ties={ties})",
                lambda x, k, f=tied, g=gain: f(x, k, g, x.highest, 1),
            )
            twins |= every_cut(
                f"RBP(p=0.7,gain={gain},gmax=7,ties={ties})",
                lambda x, k, f=tied, g=gain: f(x, k, g, 7, 1),
            )
        twins |= every_cut(
            f"RBP(p=0.7,gain=trec_eval10,ties={ties})",
            lambda x, k, f=tied: f(x, k, "linear", max([1, *x.qrels.values()]), 1),
        )
        for tail in ("always", "trec_eval10"):
            twins |= every_cut(
                f"RBPResidual(p=0.9,tail={tail},ties={ties})",
                lambda x, k, tail=tail, own=blocks: naive_incomplete.rbp_residual_tied(
                    own(x), x.qrels, 0.9, k, tail, x.negative
                ),
            )
    for unjudged in ("upper", "upper-gmax"):
        twins |= every_cut(
            f"RBP(gain=exp,unjudged={unjudged})",
            lambda x, k, u=unjudged: naive_incomplete.rbp_of(x.upper(u, gain="exp"), 0.8, k),
        )
    return twins | every_cut(
        "RBP(ties=share,unjudged=condensed)",
        lambda x, k: naive_gain.rbp_tied(x.condensed_blocks, x.qrels, 0.8, k),
    )


def compatibility() -> Twins:
    """Twins of Compat."""
    twin = naive_gain.compatibility
    return {
        "Compat(p=0.5,depth=3)": lambda x: twin(x.ranking, x.qrels, 0.5, 3),
        "Compat(depth=20)": lambda x: twin(x.ranking, x.qrels, 0.95, 20),
        "Compat(p=0.7,depth=lists)": lambda x: twin(x.ranking, x.qrels, 0.7, "lists"),
        "Compat(depth=lists,normalize=False)": lambda x: twin(
            x.ranking, x.qrels, 0.95, "lists", normalize=False
        ),
        "Compat(depth=20,unjudged=condensed)": lambda x: twin(x.condensed, x.qrels, 0.95, 20),
    }


def user_models() -> Twins:
    """Twins of the measures of the C/W/L framework."""
    models = {
        "INST(depth=9)": lambda k: users.inst(1),
        "INST(T=2.5,depth=12)": lambda k: users.inst(2.5),
        "INSQ(T=3,depth=11)": lambda k: users.insq(3),
        "SDCG@5": users.sdcg,
        "BPM@4": lambda k: users.bpm(1, k),
        "BPM(T=0.5)@7": lambda k: users.bpm(0.5, k),
        "BPM(T=2,limits=moving)@3": lambda k: users.bpm(2, k, 1, 1, 0.5),
        "BPM(limits=moving,hb=0.5,hc=2,gain_med=0.25)@5": lambda k: users.bpm(1, k, 0.5, 2, 0.25),
        "NERR8@4": users.nerr8,
        "NERR9@4": users.nerr9,
        "NERR10(p=0.7,depth=13)": lambda k: users.nerr10(0.7),
        "NERR11(T=2,depth=8)": lambda k: users.nerr11(2),
        "CWL(depth=14)": lambda k: users.rbp(0.8),
        "CWL(model=P,K=6)": lambda k: users.precision(6),
        "CWL(model=RR,depth=10)": lambda k: users.rr,
        "CWL(model=AP,depth=9)": lambda k: users.ap,
    }
    twins: Twins = {}
    for name, model in models.items():
        word, inside, cut = split_form(name) or ("", "", "")
        c = model(int(cut[1:] or 0))
        depth = int(dict(p.split("=") for p in inside.split(",") if p).get("depth", 1000))
        variants = [
            (quantity, bound, {})
            for quantity in ("EU", "ETU", "EC", "ETC", "ED")
            for bound in ("lower", "upper", "residual")
        ]
        variants.append(("EU", "lower", {"min_rel": 1, "max_rel": 2}))
        variants.append(("ETU", "upper", {"max_rel": 6}))
        if name not in ("INST(depth=9)", "CWL(model=RR,depth=10)"):  # which vary all
            variants = variants[len(twins) % 3 :: 4]
        for quantity, bound, scale in variants:
            chosen = {"quantity": quantity, "bound": bound} | scale
            written = ",".join([inside, *(f"{p}={v}" for p, v in chosen.items())]).strip(",")
            canonical = parse_measure(joined(word, written, cut)).name

            def twin(x: Cell, part: str = "ranking", c=c, q=quantity, b=bound, s=scale, d=depth):
                ends = s.get("min_rel", 0), s.get("max_rel", x.highest)
                return users.expected(getattr(x, part), x.qrels, c, q, b, ends, d, x.negative)

            twins[canonical] = twin
            if quantity == "ETU":
                condensed = parse_measure(joined(word, f"{written},unjudged=condensed", cut)).name
                twins[condensed] = lambda x, twin=twin: twin(x, "condensed")
    return twins
