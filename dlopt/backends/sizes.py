"""How large a program may be that is stated: larger ones are refused before they are built."""

from __future__ import annotations

from dlopt.errors import NotApplicableError

MOST_TERMS = 5_000_000
"""Some gigabytes of memory, and minutes to state; no solver gets anywhere with more."""


def check_size(program: str, terms: float) -> None:
    """Refuse a program that would be too large to state.

    Parameters
    ----------
    program : str
        What it is, such as ``integer program``.
    terms : float
        About how many coefficients it would have.

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
    if terms > MOST_TERMS:
        told = f"about {round(terms):,} coefficients, more than {MOST_TERMS:,}"
        raise NotApplicableError(f"the {program} would have {told}")
