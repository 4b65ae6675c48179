"""Small instances with certificates that prove the optimum, or nearly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from dlopt import DloptError, Status, solve
from dlopt.arithmetic import exact
from dlopt.formats import vipr
from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.admission.proof_sequences import certify_sequences
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.multistage.chunk_span_relaxation import ReservationSpanRelaxation
from dlopt.models.multistage.scaled_instance import ScaledInstance as ScaledReservationInstance
from dlopt.problems import bag, coreservation, dag, iit, multistage
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.registry import problem_of
from dlopt.result import Limits, Objective, levels_of


@dataclass(frozen=True)
class CertifiedInstance:
    """An instance, the installments of its schedules, and its optimum.

    Of a single load, installments that are not stated stand for the fluid relaxation and its bound.
    Of a stream, the certificate may be one by the order of chunks, or by their spans.
    """

    instance: Any
    installments: int | None = 1
    objective: str = "accepted"
    by_order: bool = False
    by_spans: bool = False

    @property
    def stem(self) -> str:
        """The problem."""
        return str(self.instance.problem)

    @property
    def is_fluid(self) -> bool:
        """Whether the certificate is of the fluid relaxation of a single load."""
        return self.installments is None

    @cached_property
    def result(self) -> Any:
        """The bound that is proven, with its certificate."""
        method = {"admission": "bound-window-cuts", "multistage": "bound-fluid"}
        chunks = self.installments
        is_stated = self.stem == "admission" or (self.stem == "iit" and chunks not in (None, 1))
        options = {"installments": chunks} if is_stated else {}
        name = "bound-fluid" if self.is_fluid else method.get(self.stem, "exact")
        if not self.by_order and not self.by_spans:
            return solve(self.instance, name, objective=self.objective, **options)
        found, chunks = (
            solve(self.instance, "exact", objective=self.objective),
            self.installments or 1,
        )
        if self.by_spans:
            proof = self.span_relaxation(chunks).upper_bound(Limits(), None, seed=0).certificate
        else:
            value = exact(found.value)
            if self.objective == "reject-ratio":
                value = (1 - value) * len(self.instance.tasks)
            scaled = ScaledInstance.from_instance(self.instance, self.objective)
            proof = certify_sequences(scaled, chunks, value)
        return replace(found, certificate=proof, plan_class="k", installments=self.installments)

    def span_relaxation(self, chunks: int) -> ChunkSpanRelaxation:
        """Return the relaxation over spans of so many chunks a node, and stage."""
        if self.stem == "admission":
            scaled = ScaledInstance.from_instance(self.instance, self.objective)
            return ChunkSpanRelaxation(scaled, chunks)
        around = ScaledReservationInstance.from_instance(self.instance, self.objective)
        return ReservationSpanRelaxation(around, chunks)

    @cached_property
    def text(self) -> str:
        """The certificate."""
        return vipr.to_text(self.result.certificate)

    @cached_property
    def optimum(self) -> tuple[Fraction, ...]:
        """The optimum, level by level, by the exact method."""
        if self.is_fluid:
            return (exact(self.result.bound),)
        is_stated = self.stem not in TASKS or (self.stem == "iit" and self.installments != 1)
        options = {"installments": self.installments} if is_stated else {}
        found = solve(self.instance, "exact", objective=self.objective, **options)
        assert found.status is Status.OPTIMAL
        return tuple(map(exact, levels_of(found.value)))

    def outcome(self, text: str) -> str:
        """Return what becomes of a certificate: see the module."""
        try:
            certificate = vipr.parse(text)
        except DloptError:
            return "unreadable"
        if certificate.flaw() is not None:
            return "proof"
        problem = problem_of(self.instance)
        judge = problem.load_certified()
        value, flaw = judge(self.instance, self.result, certificate)
        if flaw is not None:
            return "program"
        proven = () if value is None else tuple(map(exact, levels_of(value)))
        return "true" if is_true(proven, self.optimum, self.goal) else "false"

    @property
    def goal(self) -> Objective:
        """The objective, with the sense of each level."""
        goal: Objective = problem_of(self.instance).module.OBJECTIVES[self.objective]
        return goal


def is_true(bound: tuple[Fraction, ...], optimum: tuple[Fraction, ...], goal: Objective) -> bool:
    """Tell whether no schedule is better than a bound; both are empty if there is none.

    Examples
    --------
    >>> goal = coreservation.OBJECTIVES["rejections-then-benefit"]  # the fewest, then the most
    >>> one, two = Fraction(1), Fraction(2)
    >>> is_true((one, two), (one, one), goal), is_true((one, one), (one, two), goal)
    (True, False)
    """
    if not bound or not optimum:
        return not optimum
    return not goal.better(optimum, bound)


def _stream(nodes: int, tau: Any, chi: Any, *tasks: Any, **state: Any) -> Instance:
    named = tuple(Task(name, *task) for name, task in zip("abcdefgh", tasks, strict=False))
    return Instance(Cluster(nodes, tau, chi), named, **state)


def _around(nodes: int, tau: Any, chi: Any, tasks: Any, held: Any, **state: Any) -> Any:
    named = tuple(Task(name, *task) for name, task in zip("abcdefgh", tasks, strict=False))
    wanted = tuple(
        multistage.Reservation(name, arrival, start, end, io_end=sent, nodes=which)
        for name, (arrival, start, sent, end, which) in zip("rstuv", held, strict=False)
    )
    return multistage.Instance(Cluster(nodes, tau, chi), named, wanted, **state)


_THIRD = Fraction(1, 3)
_BY_SPANS = (
    (_stream(2, 1, 1, (0, 1, 2), (0, 1, 2)),),
    (_stream(2, (1, 2), (1, 1), (0, 1, 3), (1, 1, 3), ready_times=(0, 1)), 2, "accepted-load"),
    (
        Instance(
            Cluster(3, 2, 1, theta_cp=2),
            tuple(Task(name, 0, 1, due) for name, due in zip("abcd", (5, 5, 5, 7), strict=True)),
        ),
    ),
    (_stream(1, 1, 1, (0, 1, 4), (1, 1, 2), (1, 1, 4), now=1), 1, "reject-ratio"),
)
_AROUND_BY_SPANS = (
    (_around(2, 1, 2, [(0, 2, 4)], [(0, 2, 4, 9, (1,))]),),
    (_around(2, 1, 1, [(0, 2, 6)], [(0, 1, 1, 5, 2)]),),
    (_around(3, 1, 1, [(0, 1, 3), (0, 1, 3)], [(0, 1, 2, 5, 1)]),),
    (
        _around(1, 1, 1, [(0, 2, 8)], [(0, 3, 4, 5, (0,)), (1, 4, 5, 6, (0,))]),
        2,
        "reject-ratio",
    ),
)
_BY_ORDER = (
    (_stream(2, 1, 1, (0, 2, 4), (1, 1, 2)),),
    (_stream(1, 1, 1, (0, 1, 4), (1, 1, 2)), 1, "reject-ratio"),
    (_stream(2, 1, 3, (0, 2, 7), (1, 1, 3)), 1, "accepted-load"),
    (_stream(2, 1, 2, (0, 2, 4), (0, 3, 8), (0, 1, 4)), 1, "accepted-load"),
    (_stream(2, (1, 1), (1, 2), (0, 1, 3), (0, 1, 3), (1, 1, 3), ready_times=(0, 1)),),
    (
        Instance(
            Cluster(2, 1, 1, _THIRD, _THIRD),
            (Task("a", 0, 1, 4), Task("b", 1, 1, 3), Task("c", 1, 1, 3)),
        ),
    ),
    (_stream(1, 1, 1, (0, 1, 4), (1, 1, 2), (1, 1, 4), now=1), 1),
    (_stream(1, 1, 2, (0, 2, 8), (1, 1, 3), (3, 1, 3)), 2),
)
STREAMS = (
    CertifiedInstance(_stream(2, 1, 1, (0, 1, 2), (0, 1, 2))),
    CertifiedInstance(_stream(2, 1, 1, (0, 6, 30), (1, 1, 2), (3, 1, 2), (5, 1, 2))),
    CertifiedInstance(_stream(2, 1, 2, (0, 2, 4), (0, 3, 8), (0, 1, 4))),
    CertifiedInstance(_stream(3, 1, 4, (0, 5, 14), (5, 6, 30), (5, 3, 16), (10, 6, 16))),
    CertifiedInstance(_stream(2, 1, 1, (0, 2, Fraction(16, 7)), (0, 2, Fraction(16, 7))), 2),
    CertifiedInstance(
        _stream(2, (1, 2), (3, 1), (0, 1, 3), (0, 2, 5), (1, 1, 3)), objective="accepted-load"
    ),
    CertifiedInstance(_stream(2, 1, 1, (0, 1, 2), (1, 1, 2), (1, 1, 6), ready_times=(0, 1))),
    CertifiedInstance(_stream(2, 1, 1, (0, 1, 4), (1, 2, 5), (1, 1, 2), now=1)),
    CertifiedInstance(
        Instance(Cluster(2, 1, 1, _THIRD, _THIRD), (Task("a", 0, 1, 3), Task("b", 0, 1, 3))),
        objective="reject-ratio",
    ),
    *(CertifiedInstance(one, *more, by_order=True) for one, *more in _BY_ORDER),
    *(CertifiedInstance(one, *more, by_spans=True) for one, *more in _BY_SPANS),
)
"""Tight ones: what is proven is the optimum, or next to it."""

AROUND = (
    CertifiedInstance(_around(1, 1, 1, [(0, 2, 4)], [(0, 1, 2, 3, 1)])),
    CertifiedInstance(
        _around(2, 1, 1, [(0, 3, 4), (1, 1, 2)], [(0, 1, 2, 2, 1), (0, 3, 4, 4, (0,))])
    ),
    CertifiedInstance(
        _around(2, 1, 2, [(0, 2, 4), (0, 1, 4)], [(0, 2, 3, 5, (1,)), (1, 2, 2, 6, 1)])
    ),
    CertifiedInstance(
        _around(2, (1, 2), (3, 1), [(0, 1, 3), (0, 2, 5)], [(0, 1, 1, 4, (0,))]),
        objective="accepted-load",
    ),
    CertifiedInstance(_around(2, 1, 1, [(0, 1, 2), (1, 2, 3)], [(0, 1, 2, 4, 2), (0, 2, 3, 3, 1)])),
    CertifiedInstance(
        _around(3, 1, 1, [(0, 2, 3), (0, 2, 4)], [(0, 1, 2, 3, 2), (0, 2, 2, 5, (0, 1))]),
        objective="reject-ratio",
    ),
    *(CertifiedInstance(one, *more, by_spans=True) for one, *more in _AROUND_BY_SPANS),
)
"""The same around reservations."""

_COSTS = ((2, 5), (5, 2), (3, 5), (4, 6), (5, 1), (5, 1))
_EDGES = ((0, 4, 3), (1, 5, 1), (3, 5, 4), (4, 5, 0))


def _graph(machines: Any, tasks: Any, edges: Any, **of_graph: Any) -> Any:
    made = tuple(dag.Task(f"t{k}", **task) for k, task in enumerate(tasks))
    graph = dag.Graph("g", made, tuple(dag.Edge(*edge) for edge in edges), **of_graph)
    return dag.Instance(
        tuple(dag.Machine(f"m{k}", power) for k, power in enumerate(machines)), (graph,)
    )


_GRAPHS = (
    (_graph((1, 1), [{"costs": row} for row in _COSTS], _EDGES), "makespan"),
    (_graph((1, 1), [{"work": w} for w in (3, 3, 3, 3, 3)], ()), "makespan"),
    (
        _graph((1, 2), [{"work": w} for w in (1, 4, 4, 4, 1)], [(0, k, 2) for k in (1, 2, 3)]),
        "makespan",
    ),
    (
        _graph((1,) * 4, [{"work": w} for w in (2, 3, 3, 3)], [(0, k, 4) for k in (1, 2, 3)]),
        "makespan",
    ),
    (
        _graph((1, 1), [{"work": w} for w in (2, 3, 3)], [(0, 1, 1), (0, 2, 1)], arrival=_THIRD),
        "total-response-time",
    ),
)


def _graphs(machines: int, *graphs: Any) -> Any:
    """Return an instance of graphs: works, edges, arrival and due date of each."""
    made = []
    for k, (works, edges, arrival, due) in enumerate(graphs):
        tasks = tuple(dag.Task(f"t{j}", work=work) for j, work in enumerate(works))
        arcs = tuple(dag.Edge(*edge) for edge in edges)
        made.append(dag.Graph(f"g{k}", tasks, arcs, arrival, due))
    return dag.Instance(tuple(dag.Machine(f"m{k}") for k in range(machines)), tuple(made))


_LATE = _graphs(1, ((2,), (), 0, 3), ((2,), (), 0, 3), ((1, 1), ((0, 1, 1),), 1, 4))
_SLACK = _graphs(2, ((3, 2), ((0, 1, 2),), 0, 6), ((2, 2), (), 1, None), ((2,), (), 0, 3))
_GRAPHS_WITH_DUE_DATES = tuple(
    (one, goal)
    for one in (_LATE, _SLACK)
    for goal in ("tardy-graphs", "total-response-time", "tardy-then-response-time")
)


def _dated(machines: int, *tasks: Any) -> Any:
    made = (
        bag.Task(f"t{k}", work, release=release, absolute_deadline=due, priority=priority)
        for k, (work, release, due, priority) in enumerate(tasks)
    )
    return bag.Instance(tuple(made), tuple(bag.Machine(f"m{k}") for k in range(machines)))


_DATED = _dated(
    2, (2, 0, 3, "firm"), (2, 0, 3, "critical"), (2, 1, 4, "soft"), (3, 0, 5, "critical")
)
_BAGS = (
    (bag.Instance(etc=((9, 9), (5, 6), (7, 8), (6, 8), (9, 6))), "makespan"),
    (bag.Instance(etc=((2, 3), (2, 3), (2, None))), "makespan"),
    (bag.Instance(etc=((4, 9), (1, 9), (2, 3))), "flowtime"),
    (_dated(1, (4, 0, None, "firm"), (1, 1, None, "firm"), (2, 2, None, "firm")), "flowtime"),
    (_dated(1, *[(2, 0, 5, "firm")] * 3), "accepted"),
    (_DATED, "critical-then-all"),
    (_DATED, "by-priority"),
)


GRAPHS = tuple(CertifiedInstance(one, 1, goal) for one, goal in (*_GRAPHS, *_GRAPHS_WITH_DUE_DATES))
"""Task graphs: by critical paths, by total work, by cases; several by each level."""

BAGS = tuple(CertifiedInstance(one, 1, goal) for one, goal in _BAGS)
"""Independent tasks: one for each kind of program."""


def _shared(capacities: Any, *requests: Any) -> Any:
    made = []
    for k, (window, priority, *wanted) in enumerate(requests):
        parts = tuple(coreservation.Part(*part) for part in wanted)
        made.append(coreservation.Request(f"r{k}", 0, *window, priority, parts))
    machines = tuple(coreservation.Machine(f"m{j}", cpu) for j, cpu in enumerate(capacities))
    return coreservation.Instance(machines, tuple(made))


_SOFT = coreservation.linear()
_STAIRS = coreservation.staircase(2)
_CROWDED = _shared(
    (8, ((0, 8), (3, 5))),
    ((0, 4), 2, (8, 2, _SOFT), (3,)),
    ((1, 5), _THIRD, (5, 1, _STAIRS), (2,)),
    ((2, 6), 1, (4, 4, _SOFT, 0)),
    ((3, 7), 1, (4, 3), (5,)),
)
_PACKED = _shared((10, 10), *[((0, 1), 1, (4,))] * 5)
_SHARES = (
    *((_CROWDED, goal) for goal in coreservation.OBJECTIVES),
    (_PACKED, "rejections"),
    (_shared((10,) * 4, *[((0, 1), 1, (4,))] * 5), "rejections-then-machines"),
    (
        _shared((8,), *[((0, 1), 1, wanted) for wanted in ((8,), (2,), (8, 2, _SOFT))]),
        "rejections-then-machines",
    ),
    (_shared((6,), *[((k, k + 2), k + 1, (4, 2, _SOFT)) for k in range(4)]), "benefit"),
)
SHARES = tuple(CertifiedInstance(one, 1, goal) for one, goal in _SHARES)
"""CPU shares: every objective where machines differ, and others."""


def _load(nodes: int, tau: Any, chi: Any, ready: Any, load: Any, **more: Any) -> Any:
    setups = {name: more.pop(name) for name in ("theta_cm", "theta_cp") if name in more}
    return iit.Instance(Cluster(nodes, tau, chi, **setups), ready, load, **more)


_STAGGERED = _load(3, 1, 2, (1, 2, 5), 3)
_LOADS = (
    (_STAGGERED, 1, "completion"),
    (_STAGGERED, None, "completion"),
    (_load(2, 1, 1, (0, 1), 3, theta_cm=_THIRD), 2, "completion"),
    (_load(2, (1, 2), (3, 1), (1, 0), 3, absolute_deadline=8), 2, "nodes"),
    (_load(4, 1, 2, (0, 0, 1, 9), 4, theta_cm=_THIRD, theta_cp=1), 1, "completion"),
    (_load(4, 1, 2, (0, 0, 1, 1), 4, theta_cm=_THIRD, absolute_deadline=8), 1, "nodes"),
    (_load(3, (1, 2, 1), (2, 1, 4), (0, 0, 1), 4, theta_cm=_THIRD), 1, "completion"),
    (_load(3, (1, 2, 1), (2, 1, 4), (0, 0, 1), 4, absolute_deadline=8), 1, "nodes"),
    (_load(3, (1, 2, 1), (2, 1, 4), (0, 3, 1), 6), None, "completion"),
)
LOADS = tuple(CertifiedInstance(*one) for one in _LOADS)
"""Single loads: by cases of the number of chunks, by all orders of different nodes, by flows."""

TASKS = {"dag": GRAPHS, "bag": BAGS, "coreservation": SHARES, "iit": LOADS}
SUBJECTS = {"admission": STREAMS, "multistage": AROUND, **TASKS}
