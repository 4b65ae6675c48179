"""Which constraint programs of the whole instance are solved, in which order, and for how long.

On identical machines without communication the cumulative program is the smaller one: it decides
starts. With many jobs and durations of few units of time it solves more instances; with durations
of many units its bound does not rise, and the program that also decides machines is solved. With
few jobs that program solves more instances, whatever the unit, but not all that the cumulative
program solves: so a short search of the latter comes first (benchmarks/results/dag.md).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from dlopt.models.dag.cpsat_alternatives import AlternativesModel
from dlopt.models.dag.cpsat_combined import CombinedModel
from dlopt.models.dag.cpsat_cumulative import CumulativeModel
from dlopt.models.dag.scaled_instance import ScaledInstance

ProgramClass: TypeAlias = type[AlternativesModel] | type[CombinedModel] | type[CumulativeModel]

MAX_JOBS_WITHOUT_DECOMPOSITION = 35
"""Jobs up to which CP-SAT solves the whole model without list schedules, neighbourhoods and linear
programs before it. In benchmarks/results/dag.md, graphs of 30 tasks with communication take 0.4 s,
of 50 tasks 52 s; the limit between them was chosen by hand.
"""
LONG_MAKESPAN = 10_000
"""Units of time in a makespan from which on durations have many units. Chosen by hand: those of STG
have some hundred, milliseconds and floats millions."""
MAX_SYMMETRY_LITERALS = 2_000_000
"""Jobs times jobs times machines up to which `CombinedModel` is built: its symmetry breaking has
about half as many literals. Chosen by hand, for memory and time."""
CUMULATIVE_EFFORT = 1.0
"""Deterministic seconds of CP-SAT for the cumulative program where another one follows. Chosen by
hand: on small instances it mostly takes a tenth of that, or does not end."""
CUMULATIVE_SHARE = 0.4
"""Share of the remaining time for the cumulative program where another one follows. Chosen by hand.
"""


class ProgramStep(NamedTuple):
    """A constraint program, and the limits of its search.

    Parameters
    ----------
    program : type
    share : float
        Of the remaining time.
    effort : float or None
        Limit on the deterministic time of CP-SAT; None for no limit.
    searches : tuple of str
        Names of CP-SAT subsolvers; by default CP-SAT chooses.
    """

    program: ProgramClass
    share: float = 1.0
    effort: float | None = None
    searches: tuple[str, ...] = ()


BOUNDING_STEPS = (
    ProgramStep(AlternativesModel, 0.4, None, ("objective_lb_search_no_lp", "default_lp")),
    ProgramStep(AlternativesModel, 1.0, None, ("objective_lb_search", "default_lp")),
)
"""Steps for two threads on larger instances with communication. They raise the bound, as schedules
mostly come from elsewhere. Without linear programs the bound rises several times faster on some
graphs, and stalls on others; so both are used (benchmarks/results/dag.md)."""


def has_many_jobs(scaled: ScaledInstance) -> bool:
    """Tell whether CP-SAT alone is not expected to solve an instance."""
    return len(scaled.jobs) > MAX_JOBS_WITHOUT_DECOMPOSITION


def is_cumulative(scaled: ScaledInstance) -> bool:
    """Tell whether `CumulativeModel` applies: nothing is sent, and no graph stays in one LAN."""
    return scaled.communication_free and scaled.lans is None


def needs_neighbourhoods(scaled: ScaledInstance, makespan: int) -> bool:
    """Tell whether schedules are improved in neighbourhoods before the whole program."""
    return has_many_jobs(scaled) and (not is_cumulative(scaled) or makespan > LONG_MAKESPAN)


def program_steps(scaled: ScaledInstance, makespan: int, threads: int) -> tuple[ProgramStep, ...]:
    """Return the programs of an instance in the order in which they are solved.

    Parameters
    ----------
    scaled : ScaledInstance
    makespan : int
        Of a schedule that is known, in scaled units.
    threads : int

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> def steps(work):
    ...     graph = Graph("g", tuple(Task(f"t{k}", work=work + k) for k in range(4)))
    ...     scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    ...     return [step.program.__name__ for step in program_steps(scaled, 3 * work, threads=1)]
    >>> steps(work=7), steps(work=7_000_000)
    (['CumulativeModel', 'CombinedModel'], ['CombinedModel'])
    """
    many = has_many_jobs(scaled)
    if not is_cumulative(scaled):
        return BOUNDING_STEPS if many and threads > 1 else (ProgramStep(AlternativesModel),)
    literals = len(scaled.jobs) ** 2 * scaled.machine_count
    long = makespan > LONG_MAKESPAN
    if literals > MAX_SYMMETRY_LITERALS or (many and not long):
        return (ProgramStep(CumulativeModel),)
    if long:
        return (ProgramStep(CombinedModel),)
    first = ProgramStep(CumulativeModel, CUMULATIVE_SHARE, CUMULATIVE_EFFORT)
    return first, ProgramStep(CombinedModel)


def constraint_count(scaled: ScaledInstance, program: ProgramClass) -> int:
    """Return about how many constraints a program has."""
    if program is CumulativeModel:
        return len(scaled.jobs) * len(scaled.identical_machines) + len(scaled.arcs)
    uniform = len({*sum(scaled.link_class, ())}) <= 2
    rows_of_arc = 1 if uniform else scaled.machine_count
    return scaled.machine_count * (len(scaled.jobs) + len(scaled.arcs) * rows_of_arc)
