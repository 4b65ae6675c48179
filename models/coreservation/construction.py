"""Plans made in one pass: machines for parts of which the relaxation says how much they get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlopt.models.coreservation.objective import Held, key_of
from dlopt.models.coreservation.scaled_instance import Case


def placed(
    case: Case, accepted: Iterable[int], shares: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """Return a plan of some wishes with least shares, on machines where more could be given.

    Each part goes where what is wanted there overflows least. A request of which a part fits
    nowhere is left out.

    Parameters
    ----------
    case : Case
    accepted : iterable of int
    shares : sequence of int
        Of every job, what it should get if there is room.
    """
    table = _Table(case)
    for k in sorted(accepted, key=lambda k: case.wishes[k].start):
        table.place(k, shares)
    return table.held


def greedy(case: Case) -> dict[int, tuple[int, int]]:
    """Return a plan made request by request: the best one of some orders and shares."""
    worths = [case.weight(case.levels[0], k) for k in range(len(case.wishes))]
    sizes = [sum(case.jobs[i].least for i in wish.jobs) for wish in case.wishes]
    by_worth = sorted(range(len(worths)), key=lambda k: -worths[k])
    by_density = sorted(by_worth, key=lambda k: (sizes[k] > 0, -worths[k] / (sizes[k] or 1)))
    by_size = sorted(by_worth, key=lambda k: sizes[k])
    least = [job.least for job in case.jobs]
    most = [job.pieces[-1].high for job in case.jobs]
    plans = []
    for order in (by_worth, by_density, by_size):
        for shares, full in ((least, False), (most, False), (most, True)):
            table = _Table(case)
            for k in order:
                table.place(k, shares, full=full)
            plans.append(raised(case, table.held))
    return max(plans, key=lambda held: key_of(case, held))


def raised(case: Case, held: Held) -> dict[int, tuple[int, int]]:
    """Return a plan with larger shares, part by part, each as large as is useful and fits."""
    table = _Table(case)
    for i, (machine, units) in held.items():
        table.take(i, machine, units)
    for i in sorted(held, key=lambda i: -case.weight("benefit", case.jobs[i].wish)):
        job, (machine, units) = case.jobs[i], held[i]
        room = units + min(table.free[machine][job.start : job.end])
        best = max(
            (min(room, piece.high) for piece in job.pieces if piece.low <= room), default=units
        )
        if best > units:
            table.take(i, machine, best - units)
            table.held[i] = machine, best
    return table.held


class _Table:
    """What is free, and what would be if every part had what it should get."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.free = [list(free) for free in case.free]
        self.spare = [list(free) for free in case.free]
        self.held: dict[int, tuple[int, int]] = {}

    def place(self, k: int, shares: Sequence[int], *, full: bool = False) -> None:
        """Place all parts of a request, or none; `full` gives them what they should get, or less.

        Else they get their least, and what they should get is kept in mind.
        """
        jobs = self.case.wishes[k].jobs
        done: list[tuple[int, int, int]] = []
        for i in sorted(jobs, key=lambda i: -shares[i]):
            machine = self._where(i, shares[i])
            if machine is None:
                break
            job = self.case.jobs[i]
            units = job.least
            if full:
                units = max(units, min(shares[i], *self.free[machine][job.start : job.end]))
            self._add(i, machine, units, shares[i])
            done.append((i, machine, units))
        if len(done) == len(jobs):
            self.held |= {i: (machine, units) for i, machine, units in done}
        else:
            for i, machine, units in done:
                self._add(i, machine, -units, -shares[i])

    def take(self, i: int, machine: int, units: int) -> None:
        """Give a job units of a machine."""
        self._add(i, machine, units, units)
        self.held[i] = machine, units

    def _where(self, i: int, share: int) -> int | None:
        """Return the machine on which a share overflows least, and of those the fullest."""
        job = self.case.jobs[i]
        window = slice(job.start, job.end)

        def key(j: int) -> tuple[int, int]:
            spare = self.spare[j][window]
            return -sum(min(s - share, 0) for s in spare), min(spare)

        fitting = [j for j in job.machines if min(self.free[j][window]) >= job.least]
        return min(fitting, key=key, default=None)

    def _add(self, i: int, machine: int, units: int, share: int) -> None:
        job = self.case.jobs[i]
        for t in range(job.start, job.end):
            self.free[machine][t] -= units
            self.spare[machine][t] -= share
