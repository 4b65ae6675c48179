"""Whether a certificate proves a bound of an instance: the second checker.

It is written from `docs/proofs.md`, and imports nothing of dlopt. Where it refuses, the reason is
in the exception.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.reference import (
    bag_program,
    coreservation_program,
    dag_program,
    fluid_program,
    load_program,
    reservation_span_program,
    sequence_program,
    span_program,
)
from tests.reference.vipr import File, RefusedError, follow, read

PROGRAMS = {"dag": dag_program, "bag": bag_program, "coreservation": coreservation_program}


def proven_bound(
    instance: dict[str, Any],
    objective: str,
    text: str,
    installments: int | None = None,
    accept_all: bool = False,
) -> tuple[Fraction, ...]:
    """Return the bound that a certificate proves, a number for each level of the objective.

    Parameters
    ----------
    instance : dict
        As `json` reads it from an instance file.
    objective : str
    text : str
        Of the certificate.
    installments : int, optional
        Chunks for each node and task of the schedules that the bound is about, of `multistage` in
        each stage; by default any number.
    accept_all : bool
        Of `admission` and `multistage`: whether it is about schedules that accept everything.

    Returns
    -------
    tuple of Fraction
        Empty if there is no schedule.

    Raises
    ------
    RefusedError
        If a step does not follow, or the program might cut off a schedule.
    """
    file = read(text)
    follow(file)
    stem = instance["problem"]
    if stem in PROGRAMS:
        return PROGRAMS[stem].check(instance, objective, file)
    if stem == "iit":
        return load_program.check(instance, objective, file, installments)
    return check_stream(instance, objective, file, installments, accept_all)


def check_stream(
    instance: dict[str, Any],
    objective: str,
    file: File,
    installments: int | None,
    accept_all: bool = False,
) -> tuple[Fraction, ...]:
    """Return the bound that the program of a file states of `admission` or `multistage`."""
    stem, letters = instance["problem"], {name[:2] for name in file.variables}
    if stem not in ("admission", "multistage"):
        raise RefusedError(f"there are no certificates of {stem}")
    about = instance, objective, file, installments, accept_all
    if "n_" in letters:
        program = span_program if stem == "admission" else reservation_span_program
        return program.check(*about)
    if "p_" in letters:
        return sequence_program.check(*about)
    return fluid_program.check(*about)
