"""Window cuts: valid inequalities for schedules whose tasks have few chunks, and their separation.

`g` of `dlopt.models.admission.window_capacity` is concave, so that between integers it may be
interpolated: at integral `z`, what a set of tasks receives in ``[t, e]`` is at most

    g(m) + (g(m+1) - g(m)) (sum z - m)      for every m.

The cut holds for every set of tasks that are due by `e`; those with the largest received load per
acceptance violate it most. Likewise for what is computed in ``[s, t]`` of tasks released from `s`
on.

Source: ours.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

from dlopt.backends.linear_program import Row
from dlopt.models.admission.fluid_relaxation import FlowIndex, FluidRelaxation
from dlopt.models.admission.window_capacity import WindowCapacity

MIN_VIOLATION = 1e-5
"""Relative violation from which on a cut is added. Chosen by hand: above the solver's feasibility
tolerance of 1e-7, at which a cut that is already in the program may still be violated."""

MAX_CUTS_PER_ROUND = 40
"""Chosen by hand: more cuts save rounds and make each linear program larger."""

MAX_WINDOWS = 20_000
"""Windows that are tried for violated cuts, the shortest ones. Chosen by hand, for time and
memory."""

MAX_TASKS_PER_WINDOW = 64
"""Windows with more tasks are skipped: beta^(K N m) is so small for them that their cuts do not cut
off anything. Chosen by hand."""

MAX_WINDOW_FACTOR = 3
"""Windows longer than this many times the longest window of a task are skipped: the latency of
single chunks does not count in them. Chosen by hand."""

ZERO_TOLERANCE = 1e-9
"""Floating-point values up to this count as 0 in the search for violated cuts, which needs no
accuracy: the cuts that it finds are stated in fractions."""


class CutWindow(NamedTuple):
    """A window and the tasks that count in it.

    With `received`, `interval` is the first interval of the window, and what the tasks receive from
    it on counts; else it is the last one, and what they compute up to it counts.
    """

    start: Fraction
    end: Fraction
    received: bool
    interval: int
    tasks: tuple[int, ...]


class WindowCuts:
    """The window cuts that points of a fluid relaxation violate.

    Parameters
    ----------
    model : FluidRelaxation
        After its program was stated.
    installments : int
        Chunks that a task may have on a node.

    Examples
    --------
    >>> from dlopt.models.admission.scaled_instance import ScaledInstance
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 1, 2), Task("b", 0, 1, 2))  # both fit as fluids, not as chunks
    >>> instance = Instance(Cluster(2, tau=1, chi=1), tasks)
    >>> model = FluidRelaxation(ScaledInstance.from_instance(instance))
    >>> program = model.maximise_weight()
    >>> both_accepted_at_once = [1.0] * program.columns
    >>> len(WindowCuts(model).separate(both_accepted_at_once))  # of received, of computed loads
    2
    """

    def __init__(self, model: FluidRelaxation, installments: int = 1) -> None:
        self.model, self.scaled = model, model.scaled
        self.capacity = WindowCapacity(model.scaled, installments)
        self.columns = {
            True: _columns_by_task(model.received),
            False: _columns_by_task(model.computed),
        }
        self.batches = [
            _WindowBatch(model, self.capacity, list(windows), columns)
            for windows, columns in (
                (self._receive_windows(), model.received),
                (self._compute_windows(), model.computed),
            )
        ]

    def separate(self, point: Sequence[float]) -> Iterable[Row]:
        """Return the cuts that a point violates most, at most one per window."""
        cuts = [cut for batch in self.batches for cut in batch.most_violated(point)]
        cuts.sort(key=itemgetter(0), reverse=True)
        return [self._row(window, tasks, m) for _, window, tasks, m in cuts[:MAX_CUTS_PER_ROUND]]

    def _row(self, window: CutWindow, tasks: Iterable[int], m: int) -> Row:
        """Return the cut of some tasks in a window, interpolated between `m` and ``m + 1``."""
        constant, slope = self.capacity.chord(window.start, window.end, m)
        terms = []
        for i in tasks:
            for flow, column in self.columns[window.received][i]:
                if (
                    flow.interval >= window.interval
                    if window.received
                    else flow.interval <= window.interval
                ):
                    terms.append((column, self.scaled.tasks[i].load))
            terms.append((self.model.accepted[i], -slope))
        return tuple(terms), None, constant

    def _receive_windows(self) -> Iterator[CutWindow]:
        """Yield the windows ``[t, e]`` with the tasks due by `e` that receive after `t`."""
        instants, tasks = self.model.instants, self._tasks_by("due")
        for end in sorted({due for due, _ in tasks}):
            first = bisect_left(instants, end - self._max_window_length)
            for k in range(first, bisect_left(instants, end)):
                inside = tasks[_position_after(tasks, instants[k]) : _position_after(tasks, end)]
                if len(inside) <= MAX_TASKS_PER_WINDOW:
                    yield CutWindow(instants[k], end, True, k, tuple(i for _, i in inside))

    def _compute_windows(self) -> Iterator[CutWindow]:
        """Yield the windows ``[s, t]`` with the tasks released from `s` on, computed before `t`."""
        instants, tasks = self.model.instants, self._tasks_by("release")
        for start in sorted({release for release, _ in tasks}):
            last = bisect_right(instants, start + self._max_window_length)
            for k in range(bisect_right(instants, start), last):
                inside = tasks[_position_from(tasks, start) : _position_from(tasks, instants[k])]
                if len(inside) <= MAX_TASKS_PER_WINDOW:
                    inside_tasks = tuple(i for _, i in inside)
                    yield CutWindow(start, instants[k], False, k - 1, inside_tasks)

    @property
    def _max_window_length(self) -> Fraction:
        return MAX_WINDOW_FACTOR * max(task.due - task.release for task in self.scaled.tasks)

    def _tasks_by(self, attribute: str) -> list[tuple[Fraction, int]]:
        """Return the tasks that can be done, sorted by an attribute."""
        tasks = enumerate(self.scaled.tasks)
        return sorted((getattr(task, attribute), i) for i, task in tasks if i in self.columns[True])


class _WindowBatch:
    """All windows of received, or of computed loads, evaluated at a point at once."""

    def __init__(
        self,
        model: FluidRelaxation,
        capacity: WindowCapacity,
        windows: list[CutWindow],
        columns: dict[FlowIndex, int],
    ) -> None:
        import numpy as np

        self.np = np
        windows.sort(key=lambda window: window.end - window.start)
        self.windows = windows[:MAX_WINDOWS]
        self.loads = np.array([float(task.load) for task in model.scaled.tasks])
        self.accepted = np.array(model.accepted)
        self.shape = len(self.loads), len(model.lengths)
        self.cells = np.array([(flow.task, flow.interval) for flow in columns]).reshape(-1, 2)
        self.columns = np.array([*columns.values()], dtype=int)
        width = max((len(window.tasks) for window in self.windows), default=0)
        self.tasks = np.full((len(self.windows), width), -1)
        for row, window in enumerate(self.windows):
            self.tasks[row, : len(window.tasks)] = window.tasks
        self.interval = np.array([window.interval for window in self.windows], dtype=int)
        self.limits = self._float_capacities(capacity, width + 2)

    def most_violated(
        self, point: Sequence[float]
    ) -> Iterator[tuple[float, CutWindow, list[int], int]]:
        """Yield violation, window, tasks and `m` of the cut that each window violates most."""
        np = self.np
        if not self.windows:
            return
        values = np.asarray(point)
        flows = np.zeros(self.shape)
        np.add.at(flows, tuple(self.cells.T), values[self.columns])
        flows *= self.loads[:, None]
        if self.windows[0].received:
            flows = flows[:, ::-1].cumsum(axis=1)[:, ::-1]
        else:
            flows = flows.cumsum(axis=1)
        acceptance = np.where(self.tasks >= 0, values[self.accepted][self.tasks], 0.0)
        has_acceptance = acceptance > ZERO_TOLERANCE
        amount = np.where(has_acceptance, flows[self.tasks, self.interval[:, None]], 0.0)
        acceptance = np.where(amount > ZERO_TOLERANCE, acceptance, 0.0)
        density = amount / np.maximum(acceptance, ZERO_TOLERANCE)
        order = np.argsort(-density, axis=1, kind="stable")
        amounts, counts = (
            np.take_along_axis(array, order, axis=1).cumsum(axis=1)
            for array in (amount, acceptance)
        )
        m = np.floor(counts + 1e-6).astype(int)
        low, high = (np.take_along_axis(self.limits, m + more, axis=1) for more in (0, 1))
        limit = low + np.maximum(counts - m, 0.0) * (high - low)
        violation = (amounts - ZERO_TOLERANCE) / np.maximum(limit, ZERO_TOLERANCE) - 1
        worst = violation.argmax(axis=1)
        for row in np.flatnonzero(violation[np.arange(len(worst)), worst] > MIN_VIOLATION):
            size = worst[row]
            tasks = [int(i) for i in self.tasks[row, order[row, : size + 1]]]
            yield float(violation[row, size]), self.windows[row], tasks, int(m[row, size])

    def _float_capacities(self, capacity: WindowCapacity, width: int) -> Any:
        """Return `g` of each window at 0, 1, ... tasks, in floats: they only choose cuts."""
        np, scaled = self.np, capacity.scaled
        bounds = [(float(window.start), float(window.end)) for window in self.windows]
        windows = np.array(bounds).reshape(-1, 2)
        start, end = windows[:, :1], windows[:, 1:]
        free = np.array([float(instant) for instant in scaled.free])
        unit_time = np.array([float(scaled.unit_time(node)) for node in scaled.nodes])
        free_time = np.maximum(end - np.maximum(start, free), 0.0)
        node_capacity = (free_time / unit_time).sum(axis=1, keepdims=True)
        if not capacity.tau:
            return np.repeat(node_capacity, width, axis=1)
        chunks = (free_time > 0).sum(axis=1, keepdims=True) * capacity.installments
        share = 1 - float(capacity.beta) ** (chunks * np.arange(width))
        return np.minimum(node_capacity, (end - start) / float(capacity.tau) * share)


def _position_after(tasks: list[tuple[Fraction, int]], instant: Fraction) -> int:
    """Return the position after the tasks up to an instant."""
    return bisect_right(tasks, instant, key=itemgetter(0))


def _position_from(tasks: list[tuple[Fraction, int]], instant: Fraction) -> int:
    """Return the position of the first task at an instant or later."""
    return bisect_left(tasks, instant, key=itemgetter(0))


def _columns_by_task(flows: dict[FlowIndex, int]) -> dict[int, list[tuple[FlowIndex, int]]]:
    columns = defaultdict(list)
    for flow, column in flows.items():
        columns[flow.task].append((flow, column))
    return columns
