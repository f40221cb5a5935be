"""Grades of a qrels set: whole numbers of -128 to 127 as int8, all others as float64."""

from __future__ import annotations

import polars as pl

from irmeta.errors import DataError

MOST_LISTED = 255
"""Most distinct grades, other than those of `WHOLE`, that the record of a set lists."""
WHOLE = (-128, 127)
"""Range of whole grades that are kept as int8, however many a set has."""
GREATEST_GRADE = 2**31 - 1
"""Greatest size of a grade: tables hold the highest grade of a track as a 32-bit number."""
EMPTY = "queries without a judgment, which are not averaged: "
"""Beginning of the note on queries without docs."""
UNRATED = "rows without a grade, taken as unjudged: "
"""Prefix of the note on rows without a grade."""
GRADES_FIX = "Grades are numbers, 1 and above relevant by default: translate the file's own labels."


def grade_column(grades: pl.Series, place: str, digits: int | None) -> pl.Series:
    """Return the finite grades of a set as Int8, or as Float64 if not all of them fit.

    Parameters
    ----------
    grades
        Int8, which is returned unchanged, or Float64.
    place
        The file or object that holds them, for messages.
    digits
        Decimals to round to; None: grades are not rounded.

    Raises
    ------
    DataError
        If a grade is beyond `GREATEST_GRADE`.
    """
    if grades.dtype == pl.Int8:
        return grades
    if (largest := grades.abs().arg_max()) is not None and abs(grades[largest]) > GREATEST_GRADE:
        problem = f"grade {grades[largest]:g} is beyond {GREATEST_GRADE:,}"
        raise DataError(problem, file=place, fix="Map the grades to smaller numbers.")
    return narrowed(_rounded(grades, digits))


def narrowed(grades: pl.Series) -> pl.Series:
    """Return finite grades as Int8 if all are whole numbers of -128 to 127, else unchanged."""
    fits = ((grades == grades.floor()) & grades.is_between(*WHOLE)).all()
    return grades.cast(pl.Int8) if fits else grades


def _rounded(grades: pl.Series, digits: int | None) -> pl.Series:
    rounded = grades if digits is None else grades.round(digits)
    return rounded + 0.0  # -0.0 is 0.0


def plain(grade: float) -> int | float:
    """Return a grade or a threshold of grades as int if it is a whole number, for printing."""
    return int(grade) if grade == int(grade) else float(grade)
