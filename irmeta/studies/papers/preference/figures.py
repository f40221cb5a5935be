"""The figures of the study of recall-paired preference."""

from __future__ import annotations

from irmeta.studies.framework.study import Figure

FIGURES: tuple[Figure, ...] = ()
