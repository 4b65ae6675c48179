"""The fluid relaxation: an upper bound for every schedule, with any number of chunks.

Instants divide time into intervals; in interval `k` of length ``L_k`` the nodes of group `g`
(equal tau and chi) are free for ``C_gk`` in total. Of task `i` they receive the fraction ``c_igk``
and compute ``w_igk``; ``S_igk`` is what they have received and not yet computed at its end.

maximise    sum_i weight_i z_i
subject to  sum_gk c_igk = z_i                                         all or nothing
            S_igk = S_ig,k-1 + c_igk - w_igk,  S = 0 in the end        compute what was received
            sum_ig load_i tau_g c_igk <= L_k                           one port
            sum_i load_i (tau_g c_igk + chi_g w_igk) <= C_gk           receive or compute
            0 <= c, w, S <= 1,   z_i in {0, 1}

A task needs at least as many chunks as the nodes, the best of them filled until its deadline. Each
of these chunks pays set-up times, which are relaxed to flows like loads: they take time of the port
and of nodes.

Source: ours.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from dlopt.backends.linear_program import LinearProgram, ProgramBuilder
from dlopt.models.admission.scaled_instance import ScaledInstance, ScaledTask

MAX_CELLS = 20_000
"""Triples of a task, an interval and a group. Beyond, intervals are merged, and windows widened to
them. Chosen by hand: more of them tighten the bound and make the linear program slower."""

MAX_GROUPS = 6
"""Groups of nodes. Beyond, neighbours are merged, and get the smallest tau and the smallest chi.
Chosen by hand: the columns grow with this number."""

MAX_FREE_TIMES = 64
"""Up to this many nodes, the instants at which they become free divide time. Chosen by hand: more
intervals tighten the bound and cost columns."""

UNIT_RANGE = (Fraction(0), Fraction(1))

Terms = list[tuple[int, Fraction]]


class NodeGroup(NamedTuple):
    """Nodes of equal costs."""

    tau: Fraction
    chi: Fraction
    nodes: tuple[int, ...]


class FlowIndex(NamedTuple):
    """The indices of a flow variable: task, group of nodes and interval."""

    task: int
    group: int
    interval: int


class TimeGrid(NamedTuple):
    """Instants that divide time into intervals, and the groups of nodes."""

    instants: list[Fraction]
    groups: list[NodeGroup]

    @classmethod
    def from_tasks(cls, scaled: ScaledInstance) -> TimeGrid:
        """Return the grid of the tasks' windows and the nodes' free times."""
        return cls(_interval_boundaries(scaled), group_nodes(scaled))


class FluidRelaxation(ProgramBuilder):
    """The program above, in fractions.

    Parameters
    ----------
    scaled : ScaledInstance
    accept_all : bool
        Accept all tasks, instead of as many as possible.
    grid : TimeGrid, optional
        How time and nodes are divided. The bound is valid for every grid whose groups partition
        the nodes and whose intervals cover the windows of all tasks.

    Attributes
    ----------
    accepted : list of int
        The columns ``z``, one per task.
    received, computed : dict of FlowIndex to int
        The columns ``c`` and ``w``.
    stocks, transmission_setups, computation_setups : dict of FlowIndex to int
        The columns ``S``, and the shares of set-up times.
    port_use : dict of int to list
        By interval, the terms that take time of the port.
    node_use : dict of (int, int) to list
        By group and interval, the terms that take time of nodes.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 1, 2), Task("b", 0, 1, 2))
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(2, tau=1, chi=1), tasks))
    >>> program = FluidRelaxation(scaled).maximise_weight()
    >>> program.columns, len(program.rows)
    (6, 6)
    """

    def __init__(
        self, scaled: ScaledInstance, accept_all: bool = False, grid: TimeGrid | None = None
    ) -> None:
        super().__init__()
        self.scaled, self.accept_all = scaled, accept_all
        self.instants, self.groups = grid or TimeGrid.from_tasks(scaled)
        self.lengths = [b - a for a, b in zip(self.instants, self.instants[1:], strict=False)]
        intervals = range(len(self.lengths))
        self.free = [[self._free_time(group, k) for k in intervals] for group in self.groups]
        self.port_use: dict[int, Terms] = defaultdict(list)
        self.node_use: dict[tuple[int, int], Terms] = defaultdict(list)
        self.received: dict[FlowIndex, int] = {}
        self.computed: dict[FlowIndex, int] = {}
        self.stocks: dict[FlowIndex, int] = {}
        self.transmission_setups: dict[FlowIndex, int] = {}
        self.computation_setups: dict[FlowIndex, int] = {}
        self.min_chunks = [scaled.min_chunks(task) for task in scaled.tasks]
        self.accepted = [
            self.add_column(*self._acceptance_bounds(task, chunks), cost=-task.weight)
            for task, chunks in zip(scaled.tasks, self.min_chunks, strict=True)
        ]

    def maximise_weight(self) -> LinearProgram:
        """State the program above, as a minimisation."""
        self.add_tasks()
        self.add_one_port()
        self.add_node_times()
        return self.build(sense=-1)

    def column_names(self) -> list[str]:
        """Name the columns: ``z_i``, ``c_i_g_k`` and ``w_i_g_k`` as above, ``s_i_g_k`` for S.

        Here `i` counts the tasks of the original instance; ``u_i_g_k`` and ``v_i_g_k`` are the
        shares of set-up times of transmissions and computations. What others added is ``x_n``.
        """
        originals = [task.index for task in self.scaled.tasks]
        names = [f"x_{n}" for n in range(len(self.column_bounds))]
        for i, column in enumerate(self.accepted):
            names[column] = f"z_{originals[i]}"
        for letter, columns in (
            ("c", self.received),
            ("w", self.computed),
            ("s", self.stocks),
            ("u", self.transmission_setups),
            ("v", self.computation_setups),
        ):
            for (i, g, k), column in columns.items():
                names[column] = f"{letter}_{originals[i]}_{g}_{k}"
        return names

    def add_tasks(self) -> None:
        """Add flows and set-up times of all tasks; reject those that all nodes cannot do."""
        for i, chunks in enumerate(self.min_chunks):
            if chunks is None:
                self._add_total(i, {})
            else:
                self.add_flow(i)
                self.add_setups(i, chunks)

    def add_flow(self, i: int) -> None:
        """Receive and compute the whole of an accepted task in its window, in this order."""
        task, scaled = self.scaled.tasks[i], self.scaled
        send = (task.release + scaled.theta_cm, task.due - scaled.theta_cp)
        compute = (task.release + scaled.overhead, task.due)
        received = self._add_flow_columns(i, *send)
        computed = self._add_flow_columns(i, *compute)
        self.received |= received
        self.computed |= computed
        for flow, column in received.items():
            self._add_use(flow, column, task.load * self.groups[flow.group].tau, port=True)
        for flow, column in computed.items():
            self._add_use(flow, column, task.load * self.groups[flow.group].chi, port=False)
        for g in range(len(self.groups)):
            self._add_causality(
                [flow for flow in dict.fromkeys((*received, *computed)) if flow.group == g]
            )
        self._add_total(i, received)

    def _add_causality(self, flows: list[FlowIndex]) -> None:
        """Add the rows of the stock S of one task in one group."""
        stock: int | None = None
        flows.sort()
        for flow in flows:
            terms = [] if stock is None else [(stock, Fraction(1))]
            if flow in self.received:
                terms.append((self.received[flow], Fraction(1)))
            if flow in self.computed:
                terms.append((self.computed[flow], Fraction(-1)))
            if flow is not flows[-1]:
                stock = self.stocks[flow] = self.add_column(*UNIT_RANGE)
                terms.append((stock, Fraction(-1)))
            self.add_row(terms, Fraction(0), Fraction(0))

    def add_setups(self, i: int, chunks: int) -> None:
        """Take the set-up times of the fewest chunks that an accepted task needs."""
        task, scaled = self.scaled.tasks[i], self.scaled
        for cost, start, end, port in (
            (scaled.theta_cm, task.release, task.due - scaled.theta_cp, True),
            (scaled.theta_cp, task.release + scaled.theta_cm, task.due, False),
        ):
            if cost:
                columns = self._add_flow_columns(i, start, end)
                shares = self.transmission_setups if port else self.computation_setups
                shares.update(columns)
                for flow, column in columns.items():
                    self._add_use(flow, column, chunks * cost, port=port)
                self._add_total(i, columns)

    def add_one_port(self) -> None:
        """Limit the transmissions in an interval to its length."""
        for k, terms in self.port_use.items():
            self.add_row(terms, None, self.lengths[k])

    def add_node_times(self) -> None:
        """Limit receiving and computing of a group to the time that its nodes are free."""
        for (g, k), terms in self.node_use.items():
            self.add_row(terms, None, self.free[g][k])

    def intervals_between(self, start: Fraction, end: Fraction) -> range:
        """Return the intervals that a window overlaps."""
        first = max(bisect_right(self.instants, start) - 1, 0)
        return range(first, min(bisect_left(self.instants, end), len(self.lengths)))

    def _add_total(self, i: int, columns: dict[FlowIndex, int]) -> None:
        """Let columns add up to the acceptance of a task."""
        terms = [(column, Fraction(1)) for column in columns.values()]
        self.add_row([*terms, (self.accepted[i], Fraction(-1))], Fraction(0), Fraction(0))

    def _acceptance_bounds(self, task: ScaledTask, chunks: int | None) -> tuple[Fraction, Fraction]:
        lower = Fraction(task.mandatory or self.accept_all)
        return lower, max(lower, Fraction(chunks is not None))

    def _add_flow_columns(self, i: int, start: Fraction, end: Fraction) -> dict[FlowIndex, int]:
        """Add a column for each group and each interval of a window in which some node is free."""
        return {
            FlowIndex(i, g, k): self.add_column(*UNIT_RANGE)
            for g in range(len(self.groups))
            for k in self.intervals_between(start, end)
            if self.free[g][k] > 0
        }

    def _add_use(self, flow: FlowIndex, column: int, time: Fraction, *, port: bool) -> None:
        """Let a column take time of its group, and of the port."""
        if time:
            self.node_use[flow.group, flow.interval].append((column, time))
            if port:
                self.port_use[flow.interval].append((column, time))

    def _free_time(self, group: NodeGroup, k: int) -> Fraction:
        """Return for how long the nodes of a group are free in an interval, in total."""
        start, end = self.instants[k], self.instants[k + 1]
        free = (end - max(start, self.scaled.free[node]) for node in group.nodes)
        return sum((time for time in free if time > 0), Fraction(0))


def group_nodes(scaled: ScaledInstance) -> list[NodeGroup]:
    """Return groups of nodes of equal costs, at most `MAX_GROUPS`."""
    nodes = defaultdict(list)
    for node in scaled.nodes:
        nodes[scaled.tau[node], scaled.chi[node]].append(node)
    groups = [NodeGroup(*costs, tuple(nodes[costs])) for costs in sorted(nodes)]
    while len(groups) > MAX_GROUPS:
        groups = merge_neighbours(groups)
    return groups


def merge_neighbours(groups: list[NodeGroup]) -> list[NodeGroup]:
    """Merge each two neighbouring groups; the merged ones have the smallest tau and chi."""
    return [_merge(groups[p : p + 2]) for p in range(0, len(groups), 2)]


def _merge(groups: list[NodeGroup]) -> NodeGroup:
    nodes = tuple(node for group in groups for node in group.nodes)
    return NodeGroup(min(g.tau for g in groups), min(g.chi for g in groups), nodes)


def _interval_boundaries(scaled: ScaledInstance) -> list[Fraction]:
    """Return the instants that divide time, as many as `MAX_CELLS` allows."""
    free_times = scaled.free if len(scaled.nodes) <= MAX_FREE_TIMES else ()
    instants = sorted(set(event_times(scaled, free_times)))
    cells = sum(
        bisect_left(instants, task.due) - bisect_left(instants, task.release)
        for task in scaled.tasks
    )
    step = -(-cells * min(len(group_nodes(scaled)), MAX_GROUPS) // MAX_CELLS)
    return instants if step <= 1 else [*instants[:-1:step], instants[-1]]


def event_times(scaled: ScaledInstance, free_times: Iterable[Fraction]) -> Iterator[Fraction]:
    """Yield the bounds of the tasks' windows, and free times of nodes moved into them."""
    first = min((task.release for task in scaled.tasks), default=Fraction(0))
    last = max((task.due for task in scaled.tasks), default=first)
    for task in scaled.tasks:
        for shift in {Fraction(0), scaled.theta_cm, scaled.overhead}:
            yield min(task.release + shift, last)
        for shift in {Fraction(0), scaled.theta_cp}:
            yield max(task.due - shift, first)
    yield from (max(first, min(free, last)) for free in free_times)
