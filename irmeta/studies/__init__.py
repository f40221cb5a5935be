"""Studies: computations of papers over many tracks, as named tables and figures.

Each study is a function: ``irmeta.studies.search_length(store, out)`` runs one of them.
``irmeta.studies.open(out)`` opens the results of a study or of `reanalyze`, and
``irmeta.studies.run_all(store, out)`` runs all studies of a store, and
``irmeta.studies.claims(out)`` says which claims of their papers hold,
``irmeta.studies.claim_matrix(out)`` on which tracks, with figures and facts of the tracks, and
``irmeta.studies.bundle(out, "out.zip")`` packs results to deposit them.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "open":
        from irmeta.studies.framework.study_results import StudyResults

        return StudyResults
    if name == "claim_matrix":
        from irmeta.studies.framework.claim_matrix import claim_matrix

        return claim_matrix
    if name == "claims":
        from irmeta.studies.framework.study_results import claims

        return claims
    if name == "bundle":
        from irmeta.studies.framework.study_results import bundle

        return bundle
    if name == "run_all":
        from irmeta.studies.framework.run_all import run_all

        return run_all
    if name.startswith("_"):
        raise AttributeError(f"module 'irmeta.studies' has no attribute {name!r}")
    from irmeta.studies.framework.registry import find, function_of, study_modules

    if (study := name.replace("_", "-")) not in study_modules():
        raise AttributeError(f"module 'irmeta.studies' has no attribute {name!r}")
    return globals().setdefault(name, function_of(find(study)))


def __dir__() -> list[str]:
    from irmeta.studies.framework.registry import study_modules

    return sorted(
        {
            *globals(),
            "bundle",
            "claim_matrix",
            "claims",
            "open",
            "run_all",
            *(name.replace("-", "_") for name in study_modules()),
        }
    )
