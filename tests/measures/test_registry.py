"""Checks of every registered measure: one test per measure and check."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import irmeta
from irmeta import testing
from irmeta.errors import MeasureError
from irmeta.measures.diversity.subtopics import intent_aware
from irmeta.measures.names import parse_measure, parse_measures, registry
from irmeta.naming import Parameter
from irmeta.testing.samples import QUERIES, Case, crowd, samples, view_for, written
from support.examples import scaled
from support.making import Track, down, tracks

PER_RETRIEVED = (
    "it is a share of the docs retrieved: fewer docs can score more than all judged ones"
)
PER_TIME = "docs beyond the first five take another iteration, which lowers the value"
UNBOUNDED = "docs of the list count against it, so an empty list can score more"
EFFORT = "reading docs is a cost, whether they are relevant or not"
AT_LEAST_HALF = "the least value is that of a level of recall, or of utility, that is not reached"
UNREACHED = "reaching a level of recall late can save less than not reaching it"
ESTIMATED = "the docs seen of a stratum say how many of its unjudged docs are relevant"
SMOOTHED = "a stratum has a share of relevant docs even if no doc is relevant"
NOTHING_READ = "no doc is read at level 0"
IGNORED = "docs that are not retrieved do not count"
RARE = ("RareP", "RareAP", "RareDCG", "RarenDCG", "RareRBP")
RARER = "a relevant doc may displace another that fewer systems retrieve"
FEWER = "with fewer non-relevant docs retrieved, each of them costs more"
TAIL = "without unjudged docs, as in an empty list, trec_eval 10 leaves the tail out"
USERS = ("INST", "INSQ", "SDCG", "BPM", "NERR8", "NERR9", "NERR10", "NERR11", "CWL")
NO_QUALITY = (".*(quantity|bound).*", "costs and residuals are no quality of a list")
STOPPED = (".*", "what is found early stops the user, and what is below no longer counts")
NOT_SUITED = {
    # Check -> measure -> (pattern of exempt canonical names, reason).
    "ideal is best": {
        "SetP": (".*", PER_RETRIEVED),
        "SetF": (".*", PER_RETRIEVED),
        "SetAP": (".*", PER_RETRIEVED),
        **dict.fromkeys(("Utility", "ScaledUtility"), (".*", UNBOUNDED)),
        "LossER": (".*", EFFORT),
        "LastRel": (".*ignored.*", IGNORED),
        "Compat": (".*lists,normalize=False.*", "a shorter list ends the overlap earlier"),
        "WSS": (".*unreached=zero.*", UNREACHED),
        **dict.fromkeys(("infNDCG", "infP"), (".*", ESTIMATED)),
        "ERRResidual": (".*", "a longer list may leave less to docs that are not judged"),
        "ASL": (r"ASL(?!.*unretrieved).*", "Eq. 3 prefers lists of relevant docs alone"),
        "ASL_IA": (r"ASL_IA(?!.*unretrieved).*", "Eq. 3 prefers lists of relevant docs alone"),
        **dict.fromkeys(("CT", "ACT", "nCT"), (".*", PER_TIME)),
        **dict.fromkeys(RARE, (".*", RARER)),
        **dict.fromkeys(USERS, STOPPED),
        **dict.fromkeys(("INSQ", "SDCG"), NO_QUALITY),
    },
    "no list is worst": {
        **dict.fromkeys(USERS, NO_QUALITY),
        **dict.fromkeys(("Utility", "ScaledUtility"), (".*", UNBOUNDED)),
        "LossER": (".*", EFFORT),
        "LastRel": (".*ignored.*", IGNORED),
        "WSS": (".*unreached=zero.*", UNREACHED),
    },
    "nothing found": {
        "WSS": (".*", AT_LEAST_HALF),
        "ScaledUtility": (".*", AT_LEAST_HALF),
    },
    "no list": {"RBPResidual": (".*tail=trec_eval10.*", TAIL)},
    "monotone": {
        **dict.fromkeys(("INST", "INSQ", "NERR10", "NERR11"), NO_QUALITY),
        "CWL": (".*(quantity|bound|AP).*", NO_QUALITY[1]),
        "RBPResidual": (".*tail=trec_eval10.*", TAIL),
        "nCT": (".*", "it falls with a sixth doc if more than six are relevant to a subtopic"),
    },
    "no relevant docs": {
        **dict.fromkeys(("infP", "infNumRelRet"), (r"(?!.*smoothing=none).*", SMOOTHED)),
        **dict.fromkeys(USERS, NO_QUALITY),
    },
    "direction": {
        **dict.fromkeys(USERS, STOPPED),
        **dict.fromkeys(("INSQ", "SDCG"), NO_QUALITY),
        **dict.fromkeys(("xinfAP", "infNDCG", "infP"), (".*", ESTIMATED)),
        "EffortR": (".*@0", NOTHING_READ),
        "WSS": (".*(unreached=zero.*|@0)", f"{NOTHING_READ}; {UNREACHED}"),
        "LastRel": (".*ignored.*", IGNORED),
        "AllRel": (".*@[123]", "few queries have so few relevant docs"),
        "Accuracy": (".*", "a relevant doc low in the list has few non-relevant docs below it"),
        "G": (".*", "a doc of less gain above a doc makes up for part of its lag"),
        **dict.fromkeys(("Bpref", "Bpref_IA"), (".*trec_eval7.*", FEWER)),
        "infAP": (".*", "a doc of negative grade above a doc says that more of the pool is above"),
        **dict.fromkeys(RARE, (".*", RARER)),
    },
}
DERIVED = {measure.name for measure in intent_aware(registry().values())}
STANDING_FOR_ALL = {"AP_IA", "P_IA", "RR_IA", "IPrec_IA", "Bpref_IA", "ASL_IA"}
CHECKED = [name for name in registry() if name not in DERIVED or name in STANDING_FOR_ALL]
"""Measures to check: the intent-aware ones differ only in the measure, which is checked itself."""


def is_number(words: str) -> bool:
    """Check whether `float` parses a text."""
    try:
        float(words)
    except ValueError:
        return False
    return True


@cache
def subject(name: str) -> testing.Subject:
    """Return a measure with its values on the synthetic track."""
    return testing.Subject(registry()[name])


def test_exemptions__name_checks_and_measures():
    assert set(NOT_SUITED) <= testing.CHECKS.keys()
    assert {name for names in NOT_SUITED.values() for name in names} <= set(CHECKED)


FIRST_OF_FILES = {registry()[name].compute.__module__: name for name in reversed(CHECKED)}.values()
COSTLY = {"INST", "RareDCG", "DnDCG", "AP_IA", "Q", "ERR_IA", "CT"}
"""Measures with hundreds of samples; alpha_DCG and RareP stand for them in a plain pytest."""
QUICK = [name for name in FIRST_OF_FILES if name not in COSTLY]
OTHERS = [name for name in CHECKED if name not in QUICK]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in OTHERS)]
)
def test_checks__every_measure_passes_but_for_its_exemptions(name: str):
    for check, passes in testing.CHECKS.items():
        suited = subject(name)
        if name in NOT_SUITED.get(check, {}):
            pattern, _ = NOT_SUITED[check][name]
            with pytest.raises(AssertionError):
                passes(suited)
            suited = suited.without(pattern)
            assert len(suited.cases) < len(subject(name).cases)
        passes(suited)


@pytest.mark.exhaustive
def test_subject__measure_has_several_distinct_cases():
    known = {"P", "R", "AP", "RR", "nDCG", "Bpref", "RBP", "ASL"}
    assert known <= registry().keys()
    assert all(len(subject(name).cases) >= 2 for name in known)
    names = [spec.name for name in CHECKED for spec in samples(registry()[name])]
    assert len(set(names)) == len(names)


def scaled_zero(relevant: int, a: float, least: float, bound: str, **_: object) -> float:
    """Return the utility 0 between a lower bound and the greatest utility."""
    least = least * a * relevant if bound == "share" else least
    return -least / (a * relevant - least) if relevant else 0.0


EMPTY: dict[str, Callable[[Case, int], float]] = {
    "deepest rank of the track + 1": lambda case, relevant: crowd().deepest + 1.0,
    "relevant docs of the query": lambda case, relevant: relevant,
    "c * relevant docs + d * (N - relevant docs), at least low": lambda case, relevant: max(
        case.spec.settings["c"] * relevant
        + case.spec.settings["d"] * (case.spec.settings["N"] - relevant),
        -np.inf if case.spec.settings["low"] is None else case.spec.settings["low"],
    ),
    "-log(1 + R)": lambda case, relevant: -np.log1p(relevant),
    "the scaled utility 0": lambda case, relevant: scaled_zero(
        relevant=relevant, **case.spec.settings
    ),
    "1 / (k + 1); 1 without a cutoff or with form=unjudged": lambda case, relevant: (
        1 if case.spec.settings["form"] == "unjudged" else 1 / ((case.spec.cutoff or 0) + 1)
    ),
}
"""Score of an absent list for each description in `empty_list`, given the case and R."""
SAID_ELSEWHERE = {
    "the quantity of a list without docs: 0 of EU and ETU": "tests/measures/test_twins",
    "the relevant docs at the last ranks of the corpus": "tests/measures/test_cooper",
    "r - 1, or 0 with unreached=zero; r if no relevant doc is needed": "tests/measures/test_twins",
    "N; 0 with unretrieved=ignored": "tests/measures/test_twins",
    "estimated relevant docs of the query": "tests/measures/test_twins",
    "the penalty for N unread docs": "tests/measures/test_twins",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", [n for n in CHECKED if not is_number(registry()[n].empty_list)])
def test_empty_list__description_gives_score_of_absent_list(name: str):
    words = registry()[name].empty_list
    if words in SAID_ELSEWHERE:
        return
    for case in subject(name).cases:
        view = view_for(case.spec, "unjudged")
        relevant = dict(zip(view.queries, view.counts(case.spec.rel), strict=True))
        expected = [EMPTY[words](case, relevant[query]) for query in QUERIES]
        found = case.of("absent")
        defined = ~np.isnan(found)
        np.testing.assert_allclose(found[defined], np.array(expected)[defined], rtol=1e-12)


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """Draw a measure with any of its parameters, in any order, and perhaps a cutoff."""
    measure = registry()[draw(st.sampled_from(list(registry())))]
    chosen = draw(st.lists(st.sampled_from(measure.all_parameters), unique=True))
    values = {p.name: str(draw(any_value(p))) for p in chosen}
    ranks = st.integers(1, 10**6) if measure.cutoff_is == "rank" else st.floats(0, 1)
    return written(measure, values, draw(st.none() | ranks))


GAINS = st.dictionaries(st.integers(0, 127), st.floats(0, 1e6), min_size=1)


def any_value(parameter: Parameter) -> st.SearchStrategy[object]:
    """Return a strategy for the valid values of a parameter."""
    least, most, ends = parameter.low, parameter.high, parameter.open
    numbers = st.floats(least, most, exclude_min=ends, exclude_max=ends)
    if parameter.kind == "whole":
        return st.integers(int(least), int(min(most, 10**9)))
    if parameter.kind == "gain":
        maps = GAINS.map(lambda gains: ";".join(f"{g}:{gain}" for g, gain in gains.items()))
        return st.sampled_from(parameter.choices) | maps
    if parameter.kind == "levels":
        return st.lists(numbers, min_size=1).map(lambda levels: ";".join(map(str, levels)))
    choices = st.sampled_from(parameter.choices)
    if parameter.kind == "choice":
        return choices
    return numbers | choices if parameter.choices else numbers


@pytest.mark.exhaustive
@settings(max_examples=scaled(400))
@given(spellings())
def test_parse_measure__canonical_name_round_trips(text: str):
    try:
        spec = parse_measure(text)
    except MeasureError:
        assume(False)
    again = parse_measure(spec.name)
    assert again == spec
    assert again.name == spec.name


@pytest.mark.exhaustive
def test_scores__value_does_not_depend_on_other_measures(made_store):
    typed = {"DINnDCG"}  # needs types of subtopics, which the track lacks
    measures = [m for n, m in registry().items() if m.cutoff_is == "rank" and n not in typed]
    names = [written(m, {}, 10 if m.cutoff == "required" else None) for m in measures]
    together = made_store.scores(names, track="web")
    for name in names:
        alone = made_store.scores(name, track="web")
        place = together.measures.index(alone.measures[0])
        np.testing.assert_array_equal(alone.values[0], together.values[place])


ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("peer_names", ROOT / ".ci" / "peer_names.py")
assert spec is not None
assert spec.loader is not None
peers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peers)
REGISTRIES, CHOICES = peers.read()
NAMES = [(program.split()[0], name) for program, of in REGISTRIES.items() for name in of]


def params_of(program: str, name: str) -> dict[str, str]:
    return next(of[name] for one, of in REGISTRIES.items() if one.startswith(program))


@pytest.mark.parametrize(("program", "name"), NAMES)
def test_peers__every_name_is_read_or_left_out_with_a_reason(program: str, name: str):
    found = peers.meant(program, name, params_of(program, name), CHOICES)
    why = peers.reason(program, name, CHOICES)
    assert (found is None) != (why is None), f"{name}: {found} and {why}: see peers.toml"


def test_peers__choices_name_measures_of_the_registries():
    named = {(p, n) for part in ("ours", "left_out") for p, of in CHOICES[part].items() for n in of}
    assert named <= set(NAMES)


def test_peers__recorded_registries_are_those_of_installed_programs():
    """data_fixtures/make_peer_registries.py records another version."""
    installed = REGISTRIES.get(f"ir_measures {version('ir-measures')}")
    if installed is not None:
        assert set(installed) == set(ir_measures.measures.registry)
    installed = REGISTRIES.get(f"pytrec_eval {version('pytrec-eval-terrier')}")
    if installed is not None:
        nicknamed = set().union(*pytrec_eval.supported_nicknames.values())
        assert set(installed) == pytrec_eval.supported_measures | nicknamed


@pytest.mark.parametrize("name", CHOICES["left_out"]["pytrec_eval"])
def test_parse_measures__names_left_out_of_trec_eval_say_what_prints_them(name: str):
    with pytest.raises(
        MeasureError, match=r"trec_eval (prints a text|computes it .* trec_eval -R)"
    ):
        parse_measures(name)


def test_page__is_written_by_its_script():
    """Run .ci/peer_names.py where this fails."""
    assert peers.PAGE.read_text(encoding="utf-8") == peers.page()


KS = (1, 2, 3, 4, 5, 6, 8, 10, 20, 50)
MONOTONE = (
    *(
        "R@{}",
        "AllRel@{}",
        "Success@{}",
        "RR@{}",
        "AP@{}",
        "RBP@{}",
        "RBP(gain=linear)@{}",
        "ERR@{}",
    ),
    *("DCG@{}", "DCG(gain=exp)@{}", "Q@{}", "Q(beta=10,gain=linear)@{}"),
)
# One list [a, x], another [x, b]; a has grade 1, b 3, x 0. From k = 1 to k = 2 the pool grows by b.
FALLING = {
    "P@{}": (1, 1 / 2),
    "AP(norm=min)@{}": (1, 1 / 2),
    "AP(norm=pool)@{}": (1, 1 / 2),
    "nDCG@{}": (1 / 3, 1 / (3 + 1 / math.log2(3))),
    "nDCG(ideal=pool)@{}": (1, 1 / (3 + 1 / math.log2(3))),
    "Q(norm=min)@{}": ((1 + 1) / (1 + 3), (1 + 1) / (1 + 3) / 2),
    "Q(norm=min,ideal=pool)@{}": (1, (1 + 1) / (1 + 3) / 2),
    "Q(norm=pool)@{}": ((1 + 1) / (1 + 3), (1 + 1) / (1 + 3) / 2),
    "Q(norm=pool,ideal=pool)@{}": (1, (1 + 1) / (1 + 3) / 2),
    "Q(ideal=pool)@{}": (1 / 2, (1 + 1) / (1 + 3) / 2),
}


def at_cutoffs(store: irmeta.Store, measure: str, track: str) -> np.ndarray:
    """Return values [cutoff, query, system]."""
    return store.scores([measure.format(k) for k in KS], track=track).values


@pytest.mark.one_in(3)
@pytest.mark.parametrize("measure", MONOTONE)
def test_monotone_measures__never_decrease_on_synthetic_tracks(
    measure: str, made_store: irmeta.Store
):
    for track in made_store.tracks:
        assert (np.diff(at_cutoffs(made_store, measure, track), axis=0) >= -1e-12).all()


@pytest.mark.exhaustive
@settings(max_examples=scaled(30))
@given(tracks())
def test_monotone_measures__never_decrease_on_random_tracks(track: Track):
    store = track.read()
    names = [m.format(k) for m in MONOTONE for k in KS]
    values = store.scores(names, track="t").values.reshape(len(MONOTONE), len(KS), -1)
    assert (np.diff(values, axis=1) >= -1e-12).all()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("measure", FALLING)
def test_other_measures__decrease_on_a_counterexample(measure: str, tmp_path: Path):
    track = Track(
        {"own": {"q": down("a", "x")}, "other": {"q": down("x", "b")}},
        {"q": {"a": 1, "b": 3, "x": 0}},
    )
    store = track.ingest(tmp_path)
    frame = store.evaluate([measure.format(k) for k in (1, 2)], system="own", per_query=True)
    assert frame["value"].to_list() == pytest.approx(FALLING[measure], rel=1e-12)
    assert frame["value"][1] < frame["value"][0]
