"""Upper bounds on what can be accepted: the fluid relaxation, with window cuts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction

from dlopt.models.admission.fluid_relaxation import FluidRelaxation
from dlopt.models.admission.proof_remarks import grid_remarks
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.window_cuts import WindowCuts
from dlopt.models.common.stream_bounds import AcceptanceProgram, UpperBound, relaxation_bound
from dlopt.result import Limits

MAX_EXACT_NODES = 400
"""Branch-and-bound nodes that are certified in exact arithmetic, before the solver's own branch and
bound in floating point is asked. Chosen by hand: more nodes give certified bounds more often, and
leave less time to the search for schedules."""


def upper_bound(
    scaled: ScaledInstance,
    limits: Limits,
    *,
    installments: int | None = None,
    known_value: Fraction | None = None,
    relaxation_only: bool = False,
    accept_all: bool = False,
    seed: int = 0,
    conflicts: Collection[Collection[int]] = (),
) -> UpperBound:
    """Bound the objective value of schedules.

    Parameters
    ----------
    scaled : ScaledInstance
    limits : Limits
        `work` counts branch-and-bound nodes.
    installments : int, optional
        Chunks that a task may have on a node; by default any number.
    known_value : Fraction, optional
        Objective value of a schedule: a bound that is as good ends the search.
    relaxation_only : bool
        Do not branch.
    accept_all : bool
        Accept all tasks: the question is whether there is a schedule at all.
    seed : int
    conflicts : collection of collection of int
        Requests that are not accepted together, by their positions among the binaries.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 2), Task("b", 0, 1, 2)))
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> upper_bound(scaled, Limits()).value, upper_bound(scaled, Limits(), installments=1).value
    (Fraction(2, 1), Fraction(1, 1))
    """
    if not scaled.tasks:
        derivation = "trivial bound (no task remains to be planned)"
        return UpperBound(scaled.value_of_finished, derivation, ())

    def state_program() -> AcceptanceProgram:
        model = FluidRelaxation(scaled, accept_all)
        program = model.maximise_weight()
        cuts = None if installments is None else WindowCuts(model, installments)
        chunks = "any" if installments is None else str(installments)
        return AcceptanceProgram(
            program,
            model.accepted,
            model.column_names(),
            certificate_remarks(scaled.instance.name, model, chunks, "z_i accepts task i"),
            MAX_EXACT_NODES,
            None if cuts is None else cuts.separate,
            "" if cuts is None else " with window cuts",
        ).excluding(conflicts)

    return relaxation_bound(
        scaled,
        state_program,
        limits,
        known_value=known_value,
        relaxation_only=relaxation_only,
        seed=seed,
    )


def certificate_remarks(
    name: str | None, model: FluidRelaxation, chunks: str, acceptances: str
) -> list[str]:
    """Describe a fluid relaxation to a reader of its certificate."""
    scaled = model.scaled
    stated = grid_remarks(scaled, model.instants, [group.nodes for group in model.groups])
    return [
        f"instance: {(name or 'unnamed')!r}",
        f"chunks: {chunks}",
        *(f"{key}: {value}" for key, value in stated.items()),
        f"columns: {acceptances}, c_i_g_k and w_i_g_k are what node group g receives and computes "
        "in interval k",
        "columns: s_i_g_k is what it has received and not computed at the end of the interval",
        *_remarks_on_setups(scaled),
        "objective value: at most the value of finished tasks less the minimum",
    ]


def _remarks_on_setups(scaled: ScaledInstance) -> Iterator[str]:
    for letter, cost, what in (
        ("u", scaled.theta_cm, "transmissions"),
        ("v", scaled.theta_cp, "computations"),
    ):
        if cost:
            yield f"columns: {letter}_i_g_k is the share of the set-up times of {what} in it"
