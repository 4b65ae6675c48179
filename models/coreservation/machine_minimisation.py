"""How few machines hold everything, where all requests can be accepted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.bin_packing import Pattern, pack, simple_bound
from dlopt.models.coreservation.objective import level_of
from dlopt.models.coreservation.requests import Row
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.solutions import fits
from dlopt.result import Limits


@dataclass(frozen=True, slots=True)
class Fewest:
    """A plan that accepts everything, if one was found, and the fewest machines of any.

    Parameters
    ----------
    held : dict or None
    bound : int
    proof : str
    """

    held: dict[int, tuple[int, int]] | None
    bound: int
    proof: str


def fewest(case: Case, limits: Limits, seed: int = 0) -> Fewest:
    """Bound the machines that hold all least shares; pack them as first fit does.

    A least share of 0 needs no machine, and is beside another job or anywhere. Where all machines
    are alike and all parts that need some are there at one instant it is bin packing.

    Parameters
    ----------
    case : Case
    limits : Limits
    seed : int
    """
    if not case.jobs:
        return Fewest({}, 0, "nothing can be accepted")
    needy = [i for i, job in enumerate(case.jobs) if job.least]
    if not needy:
        held = {i: (job.machines[0], 0) for i, job in enumerate(case.jobs)}
        return Fewest(held, 0, "nothing is needed")
    budget = Budget(limits)
    largest = max(map(max, case.free))
    everywhere = range(len(case.free))
    rows = case.crowds()
    first = max(rows, key=lambda row: sum(case.jobs[i].least for i in row.jobs))
    bound, proof = 1, "some machine is needed"
    named = {case.jobs[i].machines for i in needy if len(case.jobs[i].machines) == 1}
    if len(named) > bound:
        bound, proof = len(named), "as many machines are named"
    for row in rows:
        simple = simple_bound(sorted(_sizes(case, row), reverse=True), largest)
        if simple > bound:
            bound, proof = simple, "sizes and dual feasible functions at an instant"
            first = row
    packing = pack(_sizes(case, first), largest, budget.left(), seed)
    if packing.bound > bound:
        bound, proof = packing.bound, f"{packing.proof}, at an instant"
    plans = list(_first_fits(case))
    if set(needy) <= set(first.jobs) and len(packing.bins) <= len(everywhere):
        plans.append(_held(case, packing.bins))
    plans = [held for held in plans if fits(case, held)]
    best = min(plans, key=lambda held: level_of(case, "machines", held), default=None)
    return Fewest(best, bound, proof)


def _sizes(case: Case, row: Row) -> list[int]:
    """Return the least shares of jobs that are there together, of those that need any."""
    return [case.jobs[i].least for i in row.jobs if case.jobs[i].least]


def _first_fits(case: Case) -> Iterator[dict[int, tuple[int, int]]]:
    """Yield plans in which each part is on the first machine with room, in some orders of parts."""
    jobs = case.jobs
    orders = (
        lambda i: (jobs[i].start, -jobs[i].least),
        lambda i: (-jobs[i].least, jobs[i].start),
        lambda i: (-jobs[i].least * (jobs[i].end - jobs[i].start), jobs[i].start),
        lambda i: (jobs[i].start, jobs[i].start - jobs[i].end),
    )
    for order in orders:
        free = [list(one) for one in case.free]
        held: dict[int, tuple[int, int]] = {}
        for i in sorted(range(len(jobs)), key=order):
            job, window = jobs[i], slice(jobs[i].start, jobs[i].end)
            able = (j for j in job.machines if min(free[j][window]) >= job.least)
            machine = next(able, None)
            if machine is None:
                break
            free[machine][window] = [left - job.least for left in free[machine][window]]
            held[i] = machine, job.least
        else:
            yield held


def _held(case: Case, bins: Sequence[Pattern]) -> dict[int, tuple[int, int]]:
    """Return bins as machines, the first ones; what needs nothing is on the first it may be on."""
    left = defaultdict(list)
    for i, job in enumerate(case.jobs):
        left[job.least].append(i)
    held = {i: (case.jobs[i].machines[0], 0) for i in left[0]}
    return held | {left[size].pop(): (j, size) for j, one in enumerate(bins) for size in one}
