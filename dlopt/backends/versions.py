"""Versions of the installed solvers."""

from __future__ import annotations

from functools import cache

_PACKAGES = {"CP-SAT": "ortools", "HiGHS": "highspy"}


def version_of(solvers: str) -> str | None:
    """Return the version of a solver, or of several, without loading it.

    Parameters
    ----------
    solvers : str
        As `Result.solver` has them: names joined by ``+``.

    Returns
    -------
    str or None
        Versions joined by ``+``; None if a solver comes with no package that dlopt depends on.

    Examples
    --------
    >>> version_of("HiGHS+CP-SAT").split("+") == [version_of("HiGHS"), version_of("CP-SAT")]
    True
    >>> version_of("GLPK_CMD")
    """
    packages = [_PACKAGES.get(name) for name in solvers.split("+")]
    known = [_installed(package) for package in packages if package is not None]
    return "+".join(known) if len(known) == len(packages) else None


@cache
def _installed(package: str) -> str:
    from importlib.metadata import version  # loads more than a start needs

    return version(package)
