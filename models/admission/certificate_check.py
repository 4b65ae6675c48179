"""Whether every schedule of an instance satisfies the program of a certificate.

The fluid relaxation is built again from the instance and must be the certificate's, constraint by
constraint. A cut is compared with the formula of `dlopt.models.admission.window_capacity`, which is
written a second time here: of a set of tasks due by `e` at most ``g(m)`` can be received in
``[t, e]`` if `m` of them are accepted, for every `m`. Programs over chunks are for
`dlopt.problems.admission.certified_program`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

from dlopt.formats.vipr import Certificate, Constraint
from dlopt.models.admission.fluid_relaxation import FlowIndex, FluidRelaxation
from dlopt.models.admission.proof_remarks import grid_remarks, misses_remark
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.problems.admission import certified_program
from dlopt.problems.admission.data import Instance, Solution
from dlopt.result import Result, Status

WEIGHTED_OBJECTIVES = ("accepted", "accepted-load", "accepted-weight", "reject-ratio")
"""The objectives whose value is a weighted sum of acceptances."""

MOST_ROUNDS = 10**5
"""With more chunks a window cut may as well have all of the window; their power has too many
digits."""


def proven_value(
    instance: Instance, result: Result[Solution], certificate: Certificate
) -> tuple[Fraction | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        What is to be proven: its objective, and whether all tasks must be accepted.
    certificate : Certificate
        Its steps are not checked here.

    Returns
    -------
    tuple of (Fraction or None, str or None)
        A bound on the objective value of every schedule; None if there is no schedule. And a
        flaw, or None.

    Examples
    --------
    >>> from dlopt.formats import vipr
    >>> from dlopt.models.admission.methods import bound_fluid
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 3), Task("b", 0, 1, 3)))
    >>> result = bound_fluid(instance)
    >>> certificate = vipr.parse(vipr.to_text(result.certificate))
    >>> proven_value(instance, result, certificate)
    (Fraction(1, 1), None)
    """
    if certified_program.is_over_chunks(certificate):
        return certified_program.proven_value(instance, result, certificate)
    return _CertificateChecker(instance, result, certificate).check()


class _CertificateChecker:
    """Compares one certificate with one instance."""

    def __init__(
        self, instance: Instance, result: Result[Solution], certificate: Certificate
    ) -> None:
        self.instance, self.objective, self.certificate = instance, result.objective, certificate
        self.plan_class, self.installments = result.plan_class, result.installments
        all_tasks = ScaledInstance.from_instance(instance, self.objective)
        forced = {
            name.removesuffix("_G")
            for name, constraint in certificate.constraints
            if name.startswith("z_") and constraint.sign == 1 == constraint.side
        }
        tasks = (task for task in all_tasks.tasks if f"z_{task.index}" in certificate.names)
        self.scaled = replace(
            all_tasks,
            tasks=tuple(replace(task, mandatory=f"z_{task.index}" in forced) for task in tasks),
        )
        self.missing = len(all_tasks.tasks) - len(self.scaled.tasks)
        # Whether all tasks fit is another question than whether there is a schedule.
        asks_for_all = result.method == "feasibility" and result.status is Status.INFEASIBLE
        allowed = {task.index for task in all_tasks.tasks if task.mandatory or asks_for_all}
        mandatory = {task.index for task in self.scaled.tasks if task.mandatory}
        self.wrongly_forced = mandatory - allowed
        self.model = FluidRelaxation(self.scaled)

    def check(self) -> tuple[Fraction | None, str | None]:
        """Return the proven value and the flaw."""
        claim = self.certificate.claim
        value = None if claim is None else self.scaled.value_of_finished - claim
        if value is not None and self.objective == "reject-ratio":
            value = 1 - value / len(self.instance.tasks)
        return value, self._find_flaw()

    def _find_flaw(self) -> str | None:
        certificate, model = self.certificate, self.model
        if self.objective not in WEIGHTED_OBJECTIVES:
            return f"certificates do not support the objective {self.objective}"
        if self.wrongly_forced:
            return "a task must be accepted that is not promised"
        if certificate.claim is not None and self.missing:
            return "tasks of the instance are missing"
        nodes = [group.nodes for group in model.groups]
        expected_remarks = grid_remarks(self.scaled, model.instants, nodes)
        unstated = misses_remark(certificate.remarks, expected_remarks)
        if unstated is not None:
            return f"its remark {unstated!r} is not that of the instance"
        program = model.maximise_weight()
        if list(certificate.names) != model.column_names():
            return "its columns are not those of the instance"
        if certificate.integers != frozenset(model.accepted):
            return "its integer columns are not the acceptances"
        if certificate.costs != {j: cost for j, cost in enumerate(program.costs) if cost}:
            return "its costs are not those of the objective"
        expected = dict(_named_constraints("row", program.rows, program.row_bounds))
        for j, bounds in enumerate(program.column_bounds):
            terms = (((j, Fraction(1)),),)
            expected |= {
                f"{certificate.names[j]}_{name[-1]}": constraint
                for name, constraint in _named_constraints("", terms, (bounds,))
            }
        for name, constraint in certificate.constraints:
            if name.startswith("cut"):
                flaw = self._cut_flaw(constraint)
                if flaw is not None:
                    return f"{name}: {flaw}"
            elif expected.get(name) != constraint:
                return f"{name} is not a constraint of the instance"
        return None

    def _cut_flaw(self, cut: Constraint) -> str | None:
        """Return why a cut may cut off a schedule, or None if it cannot."""
        chunks = self._stated_chunks()
        if chunks is None:
            return "cuts hold only for schedules with a limited number of chunks"
        needed = 1 if self.plan_class == "single" else self.installments
        if self.plan_class not in ("single", "k") or needed is None or chunks < needed:
            return f"it does not hold for all schedules of the class {self.plan_class}"
        model, accepted_tasks, scaled = self.model, set[int](), self.scaled
        flow_of = {column: (flow, True) for flow, column in model.received.items()}
        flow_of |= {column: (flow, False) for flow, column in model.computed.items()}
        task_of = {column: i for i, column in enumerate(model.accepted)}
        flows: dict[bool, list[tuple[FlowIndex, Fraction]]] = defaultdict(list)
        slopes = set()
        for column, a in cut.terms.items():
            if column in task_of:
                accepted_tasks.add(task_of[column])
                slopes.add(-a)
            elif column in flow_of:
                flow, received = flow_of[column]
                flows[received].append((flow, a))
            else:
                return "it has a column that is neither received, computed nor an acceptance"
        if cut.sign != -1 or len(flows) != 1 or len(slopes) > 1:
            return "it is not an upper bound on received or on computed loads"
        (received, terms), *_ = flows.items()
        if any(a > scaled.tasks[flow.task].load for flow, a in terms):
            return "a coefficient is larger than the load of its task"
        flow_tasks = {flow.task for flow, _ in terms}
        slope = slopes.pop() if slopes else Fraction(0)
        if flow_tasks - accepted_tasks and slope:
            return "a task has flows in it, but its acceptance is missing"
        if received:
            start = model.instants[min(flow.interval for flow, _ in terms)]
            end = max(scaled.tasks[i].due for i in flow_tasks)
        else:
            start = min(scaled.tasks[i].release for i in flow_tasks)
            end = model.instants[max(flow.interval for flow, _ in terms) + 1]
        for tasks in range(len(flow_tasks | accepted_tasks) + 1):
            if cut.side + slope * tasks < self._max_load(start, end, tasks * chunks):
                return f"{tasks} tasks can do more in its window"
        return None

    def _stated_chunks(self) -> int | None:
        """Return the stated limit on the chunks of a task on a node, None if there is none."""
        text = self.certificate.remarks.get("chunks", "any")
        is_number = text.isascii() and text.isdecimal() and len(text) < 10
        return int(text) or None if is_number else None

    def _max_load(self, start: Fraction, end: Fraction, chunks: int) -> Fraction:
        """Return what nodes receive and compute in a window with so many chunks each."""
        scaled, node_capacity = self.scaled, Fraction(0)
        tau, chi, nodes = min(scaled.tau), min(scaled.chi), 0
        for node, free in enumerate(scaled.free):
            if free < end:
                nodes += 1
                node_capacity += (end - max(start, free)) / (scaled.tau[node] + scaled.chi[node])
        if tau == 0:
            return node_capacity
        rounds = nodes * chunks
        port_share = 1 - (chi / (tau + chi)) ** rounds if rounds <= MOST_ROUNDS else Fraction(1)
        return min(node_capacity, (end - start) / tau * port_share)


def _named_constraints(
    prefix: str,
    rows: tuple[tuple[tuple[int, Fraction], ...], ...],
    row_bounds: tuple[tuple[Fraction | None, Fraction | None], ...],
) -> list[tuple[str, Constraint]]:
    """Return the constraints of rows with their names in a certificate."""
    constraints = []
    for number, (terms, bounds) in enumerate(zip(rows, row_bounds, strict=True)):
        for letter, sign, side in zip("GL", (1, -1), bounds, strict=True):
            if side is not None:
                constraint = Constraint({j: a for j, a in terms if a}, sign, side)
                constraints.append((f"{prefix}{number}_{letter}", constraint))
    return constraints
