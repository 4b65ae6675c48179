"""Cuts for windows in which the port would have to send without a pause.

Let ``[t, e]`` be a window, `S` tasks that are released from `t` on and due by `e`, and `R`
reservations, of which none occupies the channel at `e`. If

    sum of (theta_cm + tau load_i) over S + sum of the I/O of R within [t, e] >= e - t

then not all of them are accepted:

    sum of z_i over S + sum of q_r over R <= |S| + |R| - 1.

*Proof.* Without a pause, the port would send a chunk of a task of `S` up to `e`, and its node would
have no time left to compute it by `e`. This needs ``chi > 0`` or ``theta_cp > 0`` on all nodes.

Relaxations in floats do not see how little is missing where many chunks follow each other.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from dlopt.backends.linear_program import Row
from dlopt.models.common.named_rows import ONE
from dlopt.models.multistage.scaled_instance import ScaledInstance

ACCEPTED = 1 - 1e-6
"""From which value on a column accepts a request."""


class FullWindows:
    """The cuts above.

    Parameters
    ----------
    scaled : ScaledInstance
    binaries : sequence of int
        The columns of the tasks, and then those of the reservations.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> wanted = (Reservation("r", 0, 1, 5, io_end=2),)
    >>> tasks = Task("a", 0, 1, 3), Task("b", 0, 1, 3)
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(9, tau=1, chi=1), tasks, wanted))
    >>> cuts = FullWindows(scaled, binaries=range(3)).separate([1, 1, 1])
    >>> [[column for column, _ in row] for row, _, _ in cuts]
    [[0, 1, 2]]
    """

    def __init__(self, scaled: ScaledInstance, binaries: Sequence[int]) -> None:
        self.scaled, self.binaries = scaled, binaries
        tasks_only = scaled.tasks_only
        self.is_valid = tasks_only.theta_cp > 0 or min(tasks_only.chi) > 0
        self.time = [tasks_only.theta_cm + min(tasks_only.tau) * one.load for one in scaled.tasks]

    def separate(self, point: Sequence[float]) -> list[Row]:
        """Return the cuts that a point violates, if it accepts each request or does not."""
        values = [point[column] for column in self.binaries]
        accepted = [k for k, value in enumerate(values) if value > ACCEPTED]
        if not self.is_valid or any(1 - ACCEPTED < value < ACCEPTED for value in values):
            return []
        first = len(self.scaled.tasks)
        tasks = [k for k in accepted if k < first]
        reservations = [k - first for k in accepted if k >= first]
        return [self._row(*full) for full in self._full_windows(tasks, reservations)]

    def _full_windows(
        self, tasks: list[int], reservations: list[int]
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Yield tasks and reservations that need all the time of the port in a window."""
        known, wanted = self.scaled.tasks, self.scaled.reservations
        for end in sorted({known[i].due for i in tasks}):
            if any(wanted[r].start < end <= wanted[r].io_end for r in reservations):
                continue
            inside: list[int] = []
            in_time = (i for i in tasks if known[i].due <= end)
            for i in sorted(in_time, key=lambda i: known[i].release, reverse=True):
                inside.append(i)
                start = known[i].release
                io = {
                    r: min(wanted[r].io_end, end) - max(wanted[r].start, start)
                    for r in reservations
                }
                occupied = {r: time for r, time in io.items() if time > 0}
                needed = sum(self.time[k] for k in inside) + sum(occupied.values(), Fraction(0))
                if needed >= end - start:
                    yield list(inside), list(occupied)
                    break

    def _row(self, tasks: list[int], reservations: list[int]) -> Row:
        """Return the row that rejects one of some tasks and reservations."""
        requests = [*tasks, *(len(self.scaled.tasks) + r for r in reservations)]
        terms = tuple((self.binaries[k], ONE) for k in requests)
        return terms, None, Fraction(len(requests) - 1)
