"""Cuts for plans whose tasks have few chunks: `window_capacity` in every window.

`g` of `dlopt.models.admission.window_capacity` is concave, so between integers it may be
interpolated: at integral `z`, what a set of tasks receives in ``[t, e]`` is at most
``g(m) + (g(m+1) - g(m)) (sum z - m)`` for every `m`. Any set will do, of tasks that are due by `e`;
those with the most received of what is accepted violate the cut most. Likewise for what is computed
in ``[s, t]``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

from dlopt.backends.linear_program import Row
from dlopt.models.admission.fluid_relaxation import Flow, FluidModel
from dlopt.models.admission.window_capacity import Latency

_VIOLATED = 1e-5
"""By how much of what is allowed a cut must be violated to be stated."""
_MOST = 40
"""Cuts a round."""
_MOST_WINDOWS = 20_000
"""Beyond, only the shortest windows count."""
_MOST_JOBS = 64
"""Windows with more tasks cut nothing off: so many chunks do not wait."""
_LONG = 3
"""Windows longer than this many times the longest window of a task cut nothing off."""
_NOTHING = 1e-9


class Window(NamedTuple):
    """A window and the jobs that count in it.

    With `received`, `k` is the first interval of the window and what they receive from it on
    counts; else it is the last one, and what they compute up to it.
    """

    start: Fraction
    end: Fraction
    received: bool
    k: int
    jobs: tuple[int, ...]


class WindowCuts:
    """The cuts above that points of a fluid model violate.

    Parameters
    ----------
    model : FluidModel
        After its program was stated.
    installments : int
        Chunks that a task may have on a node.
    """

    def __init__(self, model: FluidModel, installments: int = 1) -> None:
        self.model, self.case = model, model.case
        self.latency = Latency(model.case, installments)
        self.columns = {True: _by_job(model.received), False: _by_job(model.computed)}
        self.batches = [
            _Batch(model, self.latency, list(windows), columns)
            for windows, columns in (
                (self._receiving(), model.received),
                (self._computing(), model.computed),
            )
        ]

    def __call__(self, point: Sequence[float]) -> Iterable[Row]:
        """Return the cuts that a point violates most, at most one a window."""
        found = [cut for batch in self.batches for cut in batch.violated(point)]
        found.sort(key=itemgetter(0), reverse=True)
        return [self._row(window, jobs, tasks) for _, window, jobs, tasks in found[:_MOST]]

    def _row(self, window: Window, jobs: Iterable[int], tasks: int) -> Row:
        constant, slope = self.latency.line(window.start, window.end, tasks)
        terms = []
        for i in jobs:
            for flow, column in self.columns[window.received][i]:
                if flow.interval >= window.k if window.received else flow.interval <= window.k:
                    terms.append((column, self.case.jobs[i].load))
            terms.append((self.model.accepted[i], -slope))
        return tuple(terms), None, constant

    def _receiving(self) -> Iterator[Window]:
        """Yield the windows ``[t, e]`` with the tasks due by `e` that receive after `t`."""
        instants, jobs = self.model.instants, self._sorted("due")
        for end in sorted({due for due, _ in jobs}):
            for k in range(bisect_left(instants, end - self._long), bisect_left(instants, end)):
                inside = jobs[_behind(jobs, instants[k]) : _behind(jobs, end)]
                if len(inside) <= _MOST_JOBS:
                    yield Window(instants[k], end, True, k, tuple(i for _, i in inside))

    def _computing(self) -> Iterator[Window]:
        """Yield the windows ``[s, t]`` with the tasks released from `s` on, computed before `t`."""
        instants, jobs = self.model.instants, self._sorted("release")
        for start in sorted({release for release, _ in jobs}):
            last = bisect_right(instants, start + self._long)
            for k in range(bisect_right(instants, start), last):
                inside = jobs[_before(jobs, start) : _before(jobs, instants[k])]
                if len(inside) <= _MOST_JOBS:
                    yield Window(start, instants[k], False, k - 1, tuple(i for _, i in inside))

    @property
    def _long(self) -> Fraction:
        return _LONG * max(job.due - job.release for job in self.case.jobs)

    def _sorted(self, name: str) -> list[tuple[Fraction, int]]:
        """Return the jobs that can be done, by an instant of theirs."""
        jobs = enumerate(self.case.jobs)
        return sorted((getattr(job, name), i) for i, job in jobs if i in self.columns[True])


class _Batch:
    """Windows of one sort, and what a point does in all of them at once."""

    def __init__(
        self,
        model: FluidModel,
        latency: Latency,
        windows: list[Window],
        columns: dict[Flow, int],
    ) -> None:
        import numpy as np

        self.np = np
        windows.sort(key=lambda window: window.end - window.start)
        self.windows = windows[:_MOST_WINDOWS]
        self.loads = np.array([float(job.load) for job in model.case.jobs])
        self.accepted = np.array(model.accepted)
        self.shape = len(self.loads), len(model.lengths)
        self.cells = np.array([(flow.job, flow.interval) for flow in columns]).reshape(-1, 2)
        self.columns = np.array([*columns.values()], dtype=int)
        width = max((len(window.jobs) for window in self.windows), default=0)
        self.jobs = np.full((len(self.windows), width), -1)
        for row, window in enumerate(self.windows):
            self.jobs[row, : len(window.jobs)] = window.jobs
        self.k = np.array([window.k for window in self.windows], dtype=int)
        self.limits = self._limits(latency, width + 2)

    def violated(self, point: Sequence[float]) -> Iterator[tuple[float, Window, list[int], int]]:
        """Yield violation, window, jobs and segment of the cut that each window violates most."""
        np = self.np
        if not self.windows:
            return
        values = np.asarray(point)
        flown = np.zeros(self.shape)
        np.add.at(flown, tuple(self.cells.T), values[self.columns])
        flown *= self.loads[:, None]
        if self.windows[0].received:
            flown = flown[:, ::-1].cumsum(axis=1)[:, ::-1]
        else:
            flown = flown.cumsum(axis=1)
        chosen = np.where(self.jobs >= 0, values[self.accepted][self.jobs], 0.0)
        amount = np.where(chosen > _NOTHING, flown[self.jobs, self.k[:, None]], 0.0)
        chosen = np.where(amount > _NOTHING, chosen, 0.0)
        order = np.argsort(-amount / np.maximum(chosen, _NOTHING), axis=1, kind="stable")
        amounts, counts = (
            np.take_along_axis(of, order, axis=1).cumsum(axis=1) for of in (amount, chosen)
        )
        tasks = np.floor(counts + 1e-6).astype(int)
        low, high = (np.take_along_axis(self.limits, tasks + more, axis=1) for more in (0, 1))
        allowed = low + np.maximum(counts - tasks, 0.0) * (high - low)
        excess = (amounts - _NOTHING) / np.maximum(allowed, _NOTHING) - 1
        worst = excess.argmax(axis=1)
        for row in np.flatnonzero(excess[np.arange(len(worst)), worst] > _VIOLATED):
            size = worst[row]
            jobs = [int(i) for i in self.jobs[row, order[row, : size + 1]]]
            yield float(excess[row, size]), self.windows[row], jobs, int(tasks[row, size])

    def _limits(self, latency: Latency, width: int) -> Any:
        """Return `g` of each window at 0, 1, ... tasks, in floats: they only choose cuts."""
        np, case = self.np, latency.case
        spans = np.array([(float(w.start), float(w.end)) for w in self.windows]).reshape(-1, 2)
        start, end = spans[:, :1], spans[:, 1:]
        free = np.array([float(instant) for instant in case.free])
        unit = np.array([float(case.unit(node)) for node in case.nodes])
        length = np.maximum(end - np.maximum(start, free), 0.0)
        held = (length / unit).sum(axis=1, keepdims=True)
        if not latency.tau:
            return np.repeat(held, width, axis=1)
        chunks = (length > 0).sum(axis=1, keepdims=True) * latency.installments
        share = 1 - float(latency.beta) ** (chunks * np.arange(width))
        return np.minimum(held, (end - start) / float(latency.tau) * share)


def _behind(jobs: list[tuple[Fraction, int]], instant: Fraction) -> int:
    """Return the position behind the jobs up to an instant."""
    return bisect_right(jobs, instant, key=itemgetter(0))


def _before(jobs: list[tuple[Fraction, int]], instant: Fraction) -> int:
    """Return the position of the first job at an instant or later."""
    return bisect_left(jobs, instant, key=itemgetter(0))


def _by_job(flows: dict[Flow, int]) -> dict[int, list[tuple[Flow, int]]]:
    columns = defaultdict(list)
    for flow, column in flows.items():
        columns[flow.job].append((flow, column))
    return columns
