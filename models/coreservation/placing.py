"""Plans made in one pass: machines for parts of which the relaxation says how much they get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlopt.models.coreservation.case import Case
from dlopt.models.coreservation.worth import Held


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

    def place(self, k: int, shares: Sequence[int]) -> None:
        """Place all parts of a request, or none."""
        jobs = self.case.wishes[k].jobs
        done: list[tuple[int, int]] = []
        for i in sorted(jobs, key=lambda i: -shares[i]):
            machine = self._where(i, shares[i])
            if machine is None:
                break
            self._add(i, machine, self.case.jobs[i].least, shares[i])
            done.append((i, machine))
        if len(done) == len(jobs):
            self.held |= {i: (machine, self.case.jobs[i].least) for i, machine in done}
        else:
            for i, machine in done:
                self._add(i, machine, -self.case.jobs[i].least, -shares[i])

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
