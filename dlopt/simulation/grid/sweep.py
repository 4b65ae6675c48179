"""Parameter sweeps over grid simulations, run in parallel and stored in a file as they complete.

A file has one JSON row per line; simulations that it contains already are not repeated. A line
begins with ``{"sweep": 1, "case": {``: the kind of the row, and the version of its format. Lines of
older releases begin with ``{"case": {``, and are read as version 1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Literal

from annotated_types import Ge, Le

from dlopt import aliases, journal
from dlopt.errors import MISSING, DloptError, Fault, InvalidInstanceError, NotApplicableError
from dlopt.problems.dag import Graph, Outage
from dlopt.problems.validated_record import NonNegative, Positive, Record
from dlopt.simulation.grid.grid_files import read_grid
from dlopt.simulation.grid.policy import Count, FailureModel, Policy, Share, variant
from dlopt.simulation.grid.random_topologies import TOPOLOGIES
from dlopt.simulation.grid.run import PERIOD, GridRun, simulate_grid
from dlopt.simulation.grid.topology import BuiltGrid
from dlopt.simulation.grid.workload import Workload
from dlopt.simulation.process_pool import imap_unordered

VERSION = 1
"""Version of the format of a line."""

EventCount = Annotated[int, Ge(0), Le(10**15)]
"""A number of events; the bound of 10^15 is beyond the length of any simulation."""


@dataclass(frozen=True, slots=True)
class GridExperiment(Record):
    """Parameters of one simulation: those of section 4.2 that the thesis varies, and ours.

    Parameters
    ----------
    variant : str, default "corrected"
        See `dlopt.simulation.grid.variant`.
    topology : str, default "mesh"
        A name in `TOPOLOGIES`, or a file of a grid (ends in .json).
    lans, nodes : int
        For a random topology: number of LANs, and of nodes in each.
    tasks : int, default 2000
    interval : Number, default 4000
        Mean seconds between two arrivals at each LAN of `gateways`.
    kappa : Number, default 3
        Deadline factor; see `Workload`.
    failure_rate : Number, default .002
        The thesis has .2 % where it does not vary it.
    queue_size : int, default 3
    bidders : int, default 10
        0 for all.
    gateways : int, default 0
        If positive, tasks arrive as often as at so many LANs, whatever the number of LANs.
    slowdown : (Number, Number), default (1, 1)
        Actual by estimated execution time, uniform in this interval: the other load of a machine.
    data_per : {"task", "edge"}
        See `Workload`.
    subtask_data : int, default 200
        Largest data that a subtask sends to another, in KB.
    memory : Number, default .99
        Weight of the past in the credibility of a LAN; see `Policy`.
    seed : int, default 0
        Of workload and failures; also of the topology.
    """

    variant: str = "corrected"
    topology: str = "mesh"
    lans: Count = 100
    nodes: Count = 10
    tasks: Count = 2000
    interval: Positive = 4000
    kappa: Positive = 3
    failure_rate: Share = 0.002
    queue_size: Count = 3
    bidders: Annotated[int, Ge(0)] = 10
    gateways: Annotated[int, Ge(0)] = 0
    slowdown: tuple[Positive, ...] = (1, 1)
    data_per: Literal["task", "edge"] = "task"
    subtask_data: Annotated[int, Ge(0)] = 200
    memory: Share = 0.99
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.variant, str):
            object.__setattr__(self, "variant", aliases.current_grid_variant(self.variant))
        Record.__post_init__(self)

    @property
    def workload(self) -> Workload:
        """The tasks that arrive."""
        interval = float(self.interval)
        if self.gateways:
            interval *= len(self.built.network.lans) / self.gateways
        return Workload(
            tasks=self.tasks,
            interval=interval,
            kappa=self.kappa,
            subtask_data=(0, self.subtask_data),
            data_per=self.data_per,
        )

    @property
    def policy(self) -> Policy:
        """How schedulers decide."""
        policy = Policy(queue_size=self.queue_size, bidders=self.bidders, memory=self.memory)
        return variant(self.variant, policy)

    def run(
        self,
        *,
        keep_trace: bool = False,
        period: float = PERIOD,
        failures: tuple[Outage, ...] = (),
        workload: Workload | None = None,
    ) -> GridRun:
        """Simulate it, by default with its own workload; see `simulate_grid`."""
        return simulate_grid(
            (self.built, workload or self.workload),
            policy=self.policy,
            failure_model=FailureModel(
                self.failure_rate, slowdown=self.slowdown, failures=failures
            ),
            seed=self.seed,
            period=period,
            keep_trace=keep_trace,
        )

    @property
    def built(self) -> BuiltGrid:
        """The grid that they arrive at."""
        return _built(self.topology, self.lans, self.nodes, self.seed)


@dataclass(frozen=True, slots=True)
class SweepRow(Record):
    """An experiment and its results; see `dlopt.simulation.grid.GridOutcome`."""

    case: GridExperiment
    returned: EventCount
    met_ratio: Share
    response: NonNegative | None
    external: NonNegative
    internal: NonNegative
    utilization: NonNegative | None
    remote: EventCount
    resent: EventCount
    failures: EventCount
    traps: EventCount
    events: EventCount
    seconds: NonNegative

    @classmethod
    def of(cls, case: GridExperiment) -> SweepRow:
        """Run an experiment."""
        outcome = case.run(workload=_CachedWorkload.of(case.workload)).outcome
        names = [item.name for item in fields(cls) if item.name != "case"]
        return cls(case, **{name: getattr(outcome, name) for name in names})


def sweep(
    experiments: Iterable[GridExperiment] = (),
    *,
    processes: int = 1,
    path: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    cases: Iterable[GridExperiment] | None = None,
) -> tuple[SweepRow, ...]:
    """Run many experiments.

    Parameters
    ----------
    experiments : iterable of GridExperiment
    processes : int, default 1
        With several, scripts must be guarded by ``if __name__ == "__main__"``.
    path : path-like, optional
        Rows are appended to this file as they complete; experiments in it are not repeated, so that
        an interrupted sweep resumes. One run at a time may write to a file.
    progress : callable, optional
        Called with the numbers of completed and of all experiments.
    cases : iterable of GridExperiment, optional
        Former name of `experiments`.

    Returns
    -------
    tuple of SweepRow
        In the order of the experiments.

    Raises
    ------
    NotApplicableError
        If an experiment is invalid, or the file cannot be written, or another run is writing to it.
    InvalidInstanceError
        If the file contains anything else.
    SolverError
        If a worker process ended unexpectedly.

    Examples
    --------
    >>> cases = [
    ...     GridExperiment(lans=2, nodes=3, tasks=5, queue_size=size, kappa=20) for size in (1, 2)
    ... ]
    >>> [row.met_ratio for row in sweep(cases)]
    [1.0, 1.0]
    """
    if cases is not None:
        aliases.warn("cases is called experiments now")
        experiments = cases
    wanted = list(dict.fromkeys(experiments))
    tell = progress or (lambda done, total: None)
    with nullcontext() if path is None else journal.Journal(path, SWEEP) as kept:
        found = {} if kept is None else kept.rows
        todo = [case for case in wanted if case not in found]
        done = len(wanted) - len(todo)
        tell(done, len(wanted))
        # The longest first, so that none is left alone at the end; in one process as they come.
        order = todo if processes == 1 else sorted(todo, key=lambda case: -case.tasks * case.nodes)
        for row in imap_unordered(_work, order, processes):
            if kept is None:
                found[row.case] = row
            else:
                kept.append(row)
            done += 1
            tell(done, len(wanted))
    return tuple(found[case] for case in wanted)


def read_rows(path: str | os.PathLike[str]) -> tuple[SweepRow, ...]:
    """Return the rows of a file, none if it does not exist. An incomplete last line is discarded.

    Raises
    ------
    InvalidInstanceError
        If a line is no row, with its number and its faults.
    """
    return tuple(journal.read_rows(path, SWEEP)) if os.path.lexists(path) else ()


def _row_from_line(line: bytes) -> SweepRow:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise InvalidInstanceError([Fault("", MISSING, "is not valid JSON")]) from error
    if isinstance(data, dict):
        version = data.pop(_KIND, VERSION)  # rows of older releases do not say it
        if type(version) is not int or version != VERSION:
            raise InvalidInstanceError([Fault(_KIND, version, f"must be {VERSION}")])
    return SweepRow.from_data(data)


def _line_of(row: SweepRow) -> bytes:
    return json.dumps({_KIND: VERSION, **row.to_data()}).encode() + b"\n"


_KIND = "sweep"
"""First field of a line: the kind of the row; its value is the version."""

SWEEP = journal.RowFormat(
    f'{{"{_KIND}": {VERSION}, "case": {{'.encode(),
    _row_from_line,
    _line_of,
    attrgetter("case"),
    older=(b'{"case": {',),
)
"""Format of the rows of a sweep: of two rows of the same experiment, the later counts."""


@lru_cache(maxsize=4)
def _built(topology: str, lans: int, nodes: int, seed: int) -> BuiltGrid:
    if topology in TOPOLOGIES:
        return TOPOLOGIES[topology](lans=lans, nodes=nodes, seed=seed).built()
    if topology.endswith(".json"):
        return read_grid(topology).built()
    known = ", ".join(TOPOLOGIES)
    raise NotApplicableError(f"no topology {topology!r} (known: {known}, or a .json file)")


@dataclass(frozen=True, slots=True)
class _CachedWorkload(Workload):
    """A workload whose tasks are drawn once: many experiments of a sweep have the same."""

    @classmethod
    def of(cls, workload: Workload) -> _CachedWorkload:
        return cls(**{item.name: getattr(workload, item.name) for item in fields(workload)})

    def graphs(self, lans: int, seed: int = 0) -> Iterator[Graph]:
        return iter(_graphs(self, lans, seed))


@lru_cache(maxsize=1)
def _graphs(workload: Workload, lans: int, seed: int) -> tuple[Graph, ...]:
    return tuple(Workload.graphs(workload, lans, seed))


def _work(case: GridExperiment) -> SweepRow:
    try:
        return SweepRow.of(case)
    except DloptError as error:  # others carry more than their text, and would not come through
        raise NotApplicableError(str(error)) from None
