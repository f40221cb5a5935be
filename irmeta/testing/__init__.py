"""For authors of measures and preferences: `check_measure`, `check_preference`, drawn tracks.

The module needs hypothesis: ``pip install 'irmeta[test]'``.
"""

from importlib import import_module

try:
    import_module("hypothesis")
except ModuleNotFoundError:
    message = "irmeta.testing needs hypothesis: pip install 'irmeta[test]'"
    raise ModuleNotFoundError(message, name="hypothesis") from None

from collections.abc import Iterable, Mapping

from irmeta.measures.spec import Measure
from irmeta.testing.checks import CHECKS, Twin, check_twin
from irmeta.testing.preference_checks import PREFERENCE_CHECKS, check_preference
from irmeta.testing.samples import DOCS, SCORES, Subject, Track, down, lists, registered, tracks

__all__ = [
    "CHECKS",
    "DOCS",
    "PREFERENCE_CHECKS",
    "SCORES",
    "Subject",
    "Track",
    "check_measure",
    "check_preference",
    "down",
    "lists",
    "tracks",
]


def check_measure(
    measures: Measure | Iterable[Measure],
    *,
    twin: Twin | None = None,
    skip: Mapping[str, str] | None = None,
) -> None:
    """Check measures by the checks of built-in measures; registration is not required.

    Parameters
    ----------
    measures
        One or several measures.
    twin
        Slow and simple reference implementation with default parameters:
        ``twin(ranking, qrels, k)``. A ranking is a list of docs, best first, and empty if the
        system has no list; qrels are grades by doc, below 0 unjudged. Values must agree to 1e-9 on
        tracks drawn by hypothesis.
    skip
        Map from a check (see `CHECKS`) to a regular expression of canonical names to exclude from
        that check; ``".*"`` excludes all.

    Raises
    ------
    AssertionError
        At the first failed check, with the canonical name and the values.
    """
    checked = [measures] if isinstance(measures, Measure) else list(measures)
    skip = skip or {}
    if unknown := sorted(skip.keys() - CHECKS.keys()):
        raise ValueError(f"no check is named {unknown[0]!r}; there are: {', '.join(CHECKS)}")
    if twin is not None and len(checked) != 1:
        raise ValueError("a twin goes with one measure")
    for measure in checked:
        with registered(measure):
            subject = Subject(measure)
            for name, check in CHECKS.items():
                check(subject.without(skip[name]) if name in skip else subject)
            if twin is not None:
                check_twin(measure, twin)
