"""For authors of measures: `check_measure`, and strategies that draw tracks.

It needs hypothesis, which ``pip install 'irmeta[test]'`` brings.
"""

from importlib import import_module

try:
    import_module("hypothesis")
except ModuleNotFoundError:
    message = "irmeta.testing needs hypothesis: pip install 'irmeta[test]'"
    raise ModuleNotFoundError(message, name="hypothesis") from None

from collections.abc import Iterable, Mapping

from irmeta.measures.spec import Measure
from irmeta.testing.checks import CHECKS
from irmeta.testing.samples import Subject, registered
from irmeta.testing.tracks import DOCS, SCORES, Track, down, lists, tracks
from irmeta.testing.twin import Twin, check_twin

__all__ = [
    "CHECKS",
    "DOCS",
    "SCORES",
    "Subject",
    "Track",
    "check_measure",
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
    """Check what irmeta's own measures are checked for; no registration is needed.

    Parameters
    ----------
    measures
        One measure, or several.
    twin
        The same measure written slowly and plainly, under its default parameters:
        ``twin(ranking, qrels, k)``. A ranking is a list of docs, best first, and empty where the
        system has no list; qrels are grades by doc, those below 0 unjudged. Values must agree to
        1e-9 on tracks that hypothesis draws.
    skip
        By name of a check (see `CHECKS`), a regular expression: canonical names that it matches
        are left out of that check, since it does not suit them. ``".*"``: all of them.

    Raises
    ------
    AssertionError
        At the first thing that does not hold: which check, for which name, and what was found.
    """
    given = [measures] if isinstance(measures, Measure) else list(measures)
    skip = skip or {}
    if unknown := sorted(skip.keys() - CHECKS.keys()):
        raise ValueError(f"no check is named {unknown[0]!r}; there are: {', '.join(CHECKS)}")
    if twin is not None and len(given) != 1:
        raise ValueError("a twin goes with one measure")
    for measure in given:
        with registered(measure):
            subject = Subject(measure)
            for name, check in CHECKS.items():
                check(subject.without(skip[name]) if name in skip else subject)
            if twin is not None:
                check_twin(measure, twin)
