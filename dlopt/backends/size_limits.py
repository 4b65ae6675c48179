"""Size limits of models: larger ones are refused before they are built."""

from __future__ import annotations

from dlopt.errors import NotApplicableError

MOST_TERMS = 5_000_000
"""Coefficients of the largest model that is built: they need some gigabytes of memory and minutes
to build, and no solver makes progress with more. Chosen by hand."""


def too_large(
    program: str, size: float, most: float | None = None, unit: str = "coefficients"
) -> str | None:
    """Return the reason why a model is too large to be built, or None if it is not.

    Parameters
    ----------
    program : str
        Kind of model, such as ``integer program``.
    size : float
        Its estimated size.
    most : float, optional
        The largest size that is built; by default `MOST_TERMS`.
    unit : str
        What the size counts.

    Examples
    --------
    >>> too_large("program for CP-SAT", 500_000, 400_000, "constraints")
    'the program for CP-SAT would have about 500,000 constraints, more than 400,000'
    """
    most = MOST_TERMS if most is None else most
    if size <= most:
        return None
    return f"the {program} would have about {round(size):,} {unit}, more than {most:,}"


def check_size(program: str, terms: float) -> None:
    """Refuse a model that would be too large to build.

    Parameters
    ----------
    program : str
        Kind of model, such as ``integer program``.
    terms : float
        Estimated number of coefficients.

    Raises
    ------
    NotApplicableError
        If it would have more than `MOST_TERMS`.

    Examples
    --------
    >>> check_size("integer program", 1_000)
    >>> check_size("integer program", 2.5e9)
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: the integer program would have about 2,500,000,000 \
coefficients, more than 5,000,000
    """
    reason = too_large(program, terms)
    if reason is not None:
        raise NotApplicableError(reason)
