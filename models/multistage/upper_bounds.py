"""Upper bounds on what can be accepted: the fluid relaxation with branch and bound in fractions."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from dlopt.models.admission.upper_bounds import MAX_EXACT_NODES, certificate_remarks
from dlopt.models.common.stream_bounds import AcceptanceProgram, UpperBound, relaxation_bound
from dlopt.models.multistage.fluid_relaxation import ReservationFluidRelaxation
from dlopt.models.multistage.full_window_cuts import FullWindows
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.result import Limits

LARGE_PROGRAM_TERMS = 100_000
"""Nonzero coefficients of a program from which on fewer nodes are certified, in proportion. Chosen
by hand, so that certification takes about as long for larger programs."""


def upper_bound(
    scaled: ScaledInstance,
    limits: Limits,
    *,
    known_value: Fraction | None = None,
    relaxation_only: bool = False,
    seed: int = 0,
    conflicts: Collection[Collection[int]] = (),
) -> UpperBound:
    """Bound the objective value of schedules.

    Parameters
    ----------
    scaled : ScaledInstance
    limits : Limits
        `work` counts branch-and-bound nodes.
    known_value : Fraction, optional
        Objective value of a schedule: a bound that is as good ends the search.
    relaxation_only : bool
        Do not branch.
    seed : int
    conflicts : collection of collection of int
        Requests that are not accepted together, by their positions among the binaries.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(1, 1, 1), tasks, wanted))
    >>> upper_bound(scaled, Limits()).value
    Fraction(1, 1)
    """

    def state_program() -> AcceptanceProgram:
        model = ReservationFluidRelaxation(scaled)
        program = model.maximise_weight()
        terms = max(sum(map(len, program.rows)), LARGE_PROGRAM_TERMS)
        acceptances = "z_i accepts task i, q_r reservation r, h_r_g are its nodes in group g"
        return AcceptanceProgram(
            program,
            model.binaries,
            model.column_names(),
            certificate_remarks(scaled.instance.name, model.tasks, "any", acceptances),
            max(MAX_EXACT_NODES * LARGE_PROGRAM_TERMS // terms, 1),
            FullWindows(scaled, model.binaries).separate if conflicts else None,
        ).excluding(conflicts)

    return relaxation_bound(
        scaled,
        state_program,
        limits,
        known_value=known_value,
        relaxation_only=relaxation_only,
        seed=seed,
    )
