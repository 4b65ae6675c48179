"""Whether the program of a certificate is one that every plan of an instance satisfies.

The relaxation is stated anew from the instance and must be the certificate's, constraint by
constraint. A cut is held against the formula of `dlopt.models.admission.window_capacity`, which is
written out here a second time: of a set of tasks due by `e` at most ``g(m)`` can be received in
``[t, e]`` if `m` of them are accepted, for every `m`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

from dlopt.formats.vipr import Certificate, Constraint
from dlopt.models.admission.fluid_relaxation import Flow, FluidModel
from dlopt.models.admission.scaled_instance import Case
from dlopt.problems.admission.data import Instance, Solution
from dlopt.result import Result, Status

_WORTHS = ("accepted", "accepted-load", "reject-ratio")
"""The objectives whose worth is what the acceptances weigh."""


def proven_worth(
    instance: Instance, result: Result[Solution], certificate: Certificate
) -> tuple[Fraction | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        What is to be proven: its objective, and whether all tasks must be accepted.
    certificate : Certificate
        Its steps are not looked at here.

    Returns
    -------
    tuple of (Fraction or None, str or None)
        What no plan is better than, as the objective states it; None if there is no plan. And a
        flaw, or None.
    """
    return _Held(instance, result, certificate).result()


class _Held:
    """One certificate against one instance."""

    def __init__(
        self, instance: Instance, result: Result[Solution], certificate: Certificate
    ) -> None:
        self.instance, self.objective, self.certificate = instance, result.objective, certificate
        self.plan_class, self.installments = result.plan_class, result.installments
        whole = Case.of(instance, self.objective)
        forced = {
            name.removesuffix("_G")
            for name, one in certificate.constraints
            if name.startswith("z_") and one.sign == 1 == one.side
        }
        jobs = (job for job in whole.jobs if f"z_{job.index}" in certificate.names)
        self.case = replace(
            whole,
            jobs=tuple(replace(job, must=f"z_{job.index}" in forced) for job in jobs),
        )
        self.missing = len(whole.jobs) - len(self.case.jobs)
        # Whether all tasks fit is another question than whether there is a plan.
        question = result.method == "feasibility" and result.status is Status.INFEASIBLE
        allowed = {job.index for job in whole.jobs if job.must or question}
        self.added = {job.index for job in self.case.jobs if job.must} - allowed
        self.model = FluidModel(self.case)

    def result(self) -> tuple[Fraction | None, str | None]:
        """Return worth and flaw."""
        claim = self.certificate.claim
        worth = None if claim is None else self.case.granted - claim
        if worth is not None and self.objective == "reject-ratio":
            worth = 1 - worth / len(self.instance.tasks)
        return worth, self._flaw()

    def _flaw(self) -> str | None:
        one, model = self.certificate, self.model
        if self.objective not in _WORTHS:
            return f"it is no proof for the objective {self.objective}"
        if self.added:
            return "it accepts by force what is not promised"
        if one.claim is not None and self.missing:
            return "it leaves tasks out"
        program = model.maximise_weight()
        if list(one.names) != model.names():
            return "its columns are not those of the instance"
        if one.integers != frozenset(model.accepted):
            return "other columns are integral than the acceptances"
        if one.costs != {j: cost for j, cost in enumerate(program.costs) if cost}:
            return "its costs are not those of the objective"
        expected = dict(_named("row", program.rows, program.row_bounds))
        for j, sides in enumerate(program.column_bounds):
            terms = (((j, Fraction(1)),),)
            expected |= {
                f"{one.names[j]}_{name[-1]}": bound for name, bound in _named("", terms, (sides,))
            }
        for name, constraint in one.constraints:
            if name.startswith("cut"):
                flaw = self._cut(constraint)
                if flaw is not None:
                    return f"{name}: {flaw}"
            elif expected.get(name) != constraint:
                return f"{name} is no constraint of the instance"
        return None

    def _cut(self, cut: Constraint) -> str | None:
        """Return why a cut may cut off a plan, or None if it cannot."""
        chunks = self._chunks()
        if chunks is None:
            return "there are cuts only for plans with a number of chunks"
        most = 1 if self.plan_class == "single" else self.installments
        if self.plan_class not in ("single", "k") or most is None or chunks < most:
            return f"it does not hold for all plans of the class {self.plan_class}"
        model, jobs, case = self.model, set[int](), self.case
        places = {column: (flow, True) for flow, column in model.received.items()}
        places |= {column: (flow, False) for flow, column in model.computed.items()}
        accepted = {column: i for i, column in enumerate(model.accepted)}
        flows: dict[bool, list[tuple[Flow, Fraction]]] = defaultdict(list)
        slopes = set()
        for column, a in cut.terms.items():
            if column in accepted:
                jobs.add(accepted[column])
                slopes.add(-a)
            elif column in places:
                flow, received = places[column]
                flows[received].append((flow, a))
            else:
                return "it names what is neither received, computed nor accepted"
        if cut.sign != -1 or len(flows) != 1 or len(slopes) > 1:
            return "it is no bound of what tasks receive, or of what they compute"
        (received, parts), *_ = flows.items()
        if any(a > case.jobs[flow.job].load for flow, a in parts):
            return "it counts more than the load of a task"
        named = {flow.job for flow, _ in parts}
        slope = slopes.pop() if slopes else Fraction(0)
        if named - jobs and slope:
            return "it counts a task whose acceptance it does not name"
        if received:
            start = model.instants[min(flow.interval for flow, _ in parts)]
            end = max(case.jobs[i].due for i in named)
        else:
            start = min(case.jobs[i].release for i in named)
            end = model.instants[max(flow.interval for flow, _ in parts) + 1]
        for tasks in range(len(named | jobs) + 1):
            if cut.side + slope * tasks < self._most(start, end, tasks * chunks):
                return f"{tasks} tasks can do more in its window"
        return None

    def _chunks(self) -> int | None:
        """Return how many chunks of a task a node has at the most, if that is said."""
        text = self.certificate.remarks.get("chunks", "any")
        plain = text.isascii() and text.isdecimal() and len(text) < 10
        return int(text) or None if plain else None

    def _most(self, start: Fraction, end: Fraction, chunks: int) -> Fraction:
        """Return what nodes receive and compute in a window with so many chunks each."""
        case, rate = self.case, Fraction(0)
        tau, chi, nodes = min(case.tau), min(case.chi), 0
        for node, free in enumerate(case.free):
            if free < end:
                nodes += 1
                rate += (end - max(start, free)) / (case.tau[node] + case.chi[node])
        if tau == 0:
            return rate
        return min(rate, (end - start) / tau * (1 - (chi / (tau + chi)) ** (nodes * chunks)))


def _named(
    prefix: str,
    rows: tuple[tuple[tuple[int, Fraction], ...], ...],
    sides: tuple[tuple[Fraction | None, Fraction | None], ...],
) -> list[tuple[str, Constraint]]:
    """Return the constraints of rows by their names in a certificate."""
    found = []
    for number, (terms, bounds) in enumerate(zip(rows, sides, strict=True)):
        for letter, sign, side in zip("GL", (1, -1), bounds, strict=True):
            if side is not None:
                one = Constraint({j: a for j, a in terms if a}, sign, side)
                found.append((f"{prefix}{number}_{letter}", one))
    return found
