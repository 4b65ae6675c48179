"""Certificates of bounds for independent tasks, as programs over binaries with their proofs.

The programs are those of `dlopt.problems.bag.certified_program`, which a checker states a second
time. With ``z_jk`` whether job `j` runs on machine `k`, by its latest start there::

    makespan    no point of   sum_k z_jk = 1,   sum_{j: a_jk >= a} p_jk z_jk <= T - a
                with T one unit less than the bound
    count       minimise      - sum_j w_j sum_k z_jk
                subject to    sum_k z_jk <= 1,  sum_{j: a_jk >= a, d_j <= d} p_jk z_jk <= d - a
    flowtime    the assignment of `dlopt.models.bag.flowtime_assignment`; where it does not
                suffice, the program of `dlopt.models.bag.proof_flowtime`

The dual solution that proved a bound proves it here. Where there is none, because CP-SAT closed the
gap, branch and bound with safe dual bounds is tried on small programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf

from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.certificates import BoundCertificate, Leaf, Terms
from dlopt.models.bag.flowtime_assignment import FlowtimeAssignment
from dlopt.models.bag.makespan_bound import MakespanDualBound
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.common.named_rows import (
    ONE,
    ZERO,
    NamedRow,
    multipliers_of,
    scaled_relaxation,
)

MAX_PAIRS = 20_000
"""Pairs of a job and a machine up to which programs are written. Chosen by hand, for the size of
the file: a pair takes some 50 bytes."""
MAX_PAIRS_FOR_SEARCH = 400
"""Pairs up to which branch and bound is tried. Chosen by hand, for its time."""
MAX_SUBPROBLEMS = 1_500
"""Subproblems of branch and bound at most. Chosen by hand, for its time and the size of files."""


def makespan_certificate(
    scaled: ScaledInstance,
    bound: Fraction,
    dual_bound: MakespanDualBound | None,
    seed: int = 0,
    stop: float = inf,
) -> BoundCertificate | None:
    """Return the certificate of a bound of the makespan; None if none is found.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the objective ``makespan``.
    bound : Fraction
        In scaled units.
    dual_bound : MakespanDualBound or None
        Weights that may prove the bound.
    seed : int
    stop : float
        Instant of the monotonic clock at which the search ends.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> scaled = ScaledInstance.from_instance(Instance(etc=((2, 3), (2, 3), (2, 3))), "makespan")
    >>> certificate = makespan_certificate(scaled, Fraction(4), None)
    >>> certificate.names[:3], certificate.row_names[-2:], len(certificate.leaves)
    (('z_0_0_1', 'z_0_1_0', 'z_1_0_1'), ('capacity_0_0_3', 'capacity_1_0_3'), 1)
    >>> makespan_certificate(scaled, Fraction(5), None)
    """
    return _MakespanProgram(scaled, ceil(bound) - 1).certificate(dual_bound, seed, stop)


class _MakespanProgram:
    """The program of schedules that end by an instant."""

    def __init__(self, scaled: ScaledInstance, last: int) -> None:
        self.scaled, self.last = scaled, last
        self.pairs = [
            (job, k)
            for job, machines in enumerate(scaled.eligible_machines)
            for k in machines
            if scaled.arrivals[job][k] + scaled.processing_time(job, k) <= last
        ]
        self.columns = {pair: column for column, pair in enumerate(self.pairs)}
        self.names = tuple(
            f"z_{scaled.jobs[job]}_{k}_{last - scaled.processing_time(job, k)}"
            for job, k in self.pairs
        )
        claim = f"claim: no schedule is complete by {last}, the makespan, in units since the origin"
        self.remarks = (*grid_remarks(scaled), f"makespan: {last}", *STEP_REMARKS, claim)

    def certificate(
        self, dual_bound: MakespanDualBound | None, seed: int, stop: float
    ) -> BoundCertificate | None:
        if len(self.pairs) > MAX_PAIRS:
            return None
        by_weights = None if dual_bound is None else self._by_weights(dual_bound)
        if by_weights is not None or len(self.pairs) > MAX_PAIRS_FOR_SEARCH:
            return by_weights
        instants = [
            (k, start)
            for k in self.scaled.machines
            for start in sorted({self.scaled.arrivals[job][k] for job, m in self.pairs if m == k})
        ]
        rows = [*self._assignment_rows(), *(self._capacity_row(*pair) for pair in instants)]
        costs = (ZERO,) * len(self.pairs)
        return search_for_proof(rows, self.names, costs, None, self.remarks, seed, stop)

    def _by_weights(self, dual_bound: MakespanDualBound) -> BoundCertificate | None:
        """Return the proof by the weights of a dual solution, if it has no smaller bound."""
        by_job: dict[int, list[int]] = {job: [] for job in range(len(self.scaled.jobs))}
        for job, k in self.pairs:
            time = dual_bound.weighted_times[job][k]
            assert time is not None  # it can run there
            by_job[job].append(time)
        if not all(by_job.values()):  # one row says that a job has no machine
            job = next(job for job, times in by_job.items() if not times)
            row = NamedRow(f"assigned_{self.scaled.jobs[job]}", (), ONE, ONE)
            return refuted_by_rows([row], ((0, ONE),), self.names, self.remarks)
        rows = list(self._assignment_rows())
        multipliers = [(job, Fraction(min(times))) for job, times in by_job.items()]
        gained = sum((multiplier for _, multiplier in multipliers), ZERO)
        pairs = zip(dual_bound.weighted_machines, dual_bound.weighted_instants, strict=True)
        for k, (start, weight) in pairs:
            if start <= self.last:
                multipliers.append((len(rows), Fraction(-weight)))
                rows.append(self._capacity_row(k, start))
                gained -= weight * (self.last - start)
        if gained <= 0:
            return None
        return refuted_by_rows(rows, tuple(multipliers), self.names, self.remarks)

    def _assignment_rows(self) -> Iterable[NamedRow]:
        of_job: list[list[int]] = [[] for _ in self.scaled.jobs]
        for (job, _), column in self.columns.items():
            of_job[job].append(column)
        for job, columns in enumerate(of_job):
            terms = tuple((column, ONE) for column in columns)
            yield NamedRow(f"assigned_{self.scaled.jobs[job]}", terms, ONE, ONE)

    def _capacity_row(self, machine: int, start: int) -> NamedRow:
        """The jobs that arrive at an instant or later are done between it and the end."""
        scaled, last = self.scaled, self.last
        terms = tuple(
            (self.columns[job, machine], Fraction(scaled.processing_time(job, machine)))
            for job in scaled.eligible_jobs[machine]
            if (job, machine) in self.columns and scaled.arrivals[job][machine] >= start
        )
        length = Fraction(last - start)
        name = f"capacity_{machine}_{start}_{last}"
        return NamedRow(name, terms, None, length, length or ONE)


def refuted_by_rows(
    rows: Sequence[NamedRow], multipliers: Terms, names: Sequence[str], remarks: Sequence[str]
) -> BoundCertificate:
    """Return the certificate that there is no point, as a combination of rows shows."""
    return BoundCertificate(
        names=tuple(names),
        costs=(ZERO,) * len(names),
        rows=tuple(row.terms for row in rows),
        row_bounds=tuple((row.lower, row.upper) for row in rows),
        column_bounds=((ZERO, None),) * len(names),
        binaries=tuple(range(len(names))),
        cuts=0,
        step=ONE,
        bound=None,
        leaves=(Leaf((), multipliers, refuted=True),),
        remarks=tuple(remarks),
        row_names=tuple(row.name for row in rows),
    )


def count_certificate(
    scaled: ScaledInstance, bounds: Sequence[Fraction], seed: int = 0, stop: float = inf
) -> BoundCertificate | None:
    """Return the certificate of bounds of numbers of tasks on time; None if none is found.

    Parameters
    ----------
    scaled : ScaledInstance
        Of an objective that counts tasks.
    bounds : sequence of Fraction
        Of its levels, which are added up with weights: the first one weighs most.
    seed, stop
        As in `makespan_certificate`.

    Notes
    -----
    Where tasks arrive at a machine one after another, the windows of machines allow more tasks than
    schedules do, and there may be no proof.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = tuple(Task(name, 2, absolute_deadline=5) for name in "abc")
    >>> scaled = ScaledInstance.from_instance(Instance(tasks, (Machine("m"),)), "accepted")
    >>> count_certificate(scaled, [Fraction(2)]).bound
    Fraction(-2, 1)
    """
    pairs = [(job, k) for job, machines in enumerate(scaled.eligible_machines) for k in machines]
    if len(pairs) > MAX_PAIRS_FOR_SEARCH:
        return None
    base = len(scaled.instance.all_tasks) + 1
    weights, known = [0] * len(scaled.jobs), Fraction(0)
    for level, bound in zip(scaled.levels, bounds, strict=True):
        counted = scaled.weights(level)
        weights = [w * base + c for w, c in zip(weights, counted, strict=True)]
        known = known * base + bound - scaled.undated_count(level)
    columns = {pair: column for column, pair in enumerate(pairs)}
    rows = [
        NamedRow(
            f"assigned_{scaled.jobs[job]}", tuple((columns[job, k], ONE) for k in on), None, ONE
        )
        for job, on in enumerate(scaled.eligible_machines)
    ]
    for k in scaled.machines:
        for start, end, jobs in scaled.overloadable_windows(k):
            terms = ((columns[job, k], Fraction(scaled.processing_time(job, k))) for job in jobs)
            length = Fraction(end - start)
            rows.append(NamedRow(f"capacity_{k}_{start}_{end}", tuple(terms), None, length, length))
    costs = tuple(Fraction(-weights[job]) for job, _ in pairs)
    names = [f"z_{scaled.jobs[job]}_{k}_{_latest(scaled, job, k)}" for job, k in pairs]
    remarks = (*grid_remarks(scaled), *STEP_REMARKS)
    return search_for_proof(rows, names, costs, -known, remarks, seed, stop)


def flowtime_certificate(
    scaled: ScaledInstance, assignment: FlowtimeAssignment
) -> BoundCertificate | None:
    """Return the certificate of the bound of an assignment; None if it would be too large.

    It is about all machines of all tasks, also those without which the assignment was solved.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the objective ``flowtime``.
    assignment : FlowtimeAssignment
        With the dual solution.

    Examples
    --------
    >>> from dlopt.models.bag.flowtime_assignment import solve_assignment
    >>> from dlopt.problems.bag import Instance
    >>> instance = Instance(etc=((4, 9), (1, 9), (2, 3)))
    >>> scaled = ScaledInstance.from_instance(instance, "flowtime")
    >>> flowtime_certificate(scaled, solve_assignment(scaled)).bound
    Fraction(9, 1)
    """
    scaled = scaled.with_all_machines()
    jobs, depth = range(len(scaled.jobs)), assignment.depth
    last = min(depth, len(scaled.jobs) - 1)  # it stands for all later ones, if there are any
    places = [(k, q) for k in scaled.machines if scaled.eligible_jobs[k] for q in range(last + 1)]
    keys = [(job, k, q) for k, q in places for job in scaled.eligible_jobs[k]]
    if len(keys) > MAX_PAIRS:
        return None
    costs, rows, duals = [], [], [Fraction(u) for u in assignment.job_duals]
    of_job: list[list[tuple[int, Fraction]]] = [[] for _ in jobs]
    at_place: dict[tuple[int, int], list[tuple[int, Fraction]]] = {place: [] for place in places}
    for column, (job, k, q) in enumerate(keys):
        first = min(scaled.arrivals[other][k] for other in scaled.eligible_jobs[k])
        costs.append(Fraction(first + (q + 1) * scaled.processing_time(job, k)))
        of_job[job].append((column, ONE))
        at_place[k, q].append((column, ONE))
    rows = [NamedRow(f"task_{scaled.jobs[job]}", tuple(of_job[job]), ONE, None) for job in jobs]
    for (k, q), terms in at_place.items():
        dual = min(costs[column] - duals[keys[column][0]] for column, _ in terms)
        if dual < 0 and (q < last or q == len(scaled.jobs) - 1):
            duals.append(dual)
            rows.append(NamedRow(f"place_{k}_{q}", tuple(terms), None, ONE))
    if sum(duals) < assignment.bound:  # a task that is not in time there is the first to arrive
        return None  # pragma: no cover  # where it also lowers a dual, which was not seen
    return BoundCertificate(
        names=tuple(f"y_{scaled.jobs[job]}_{k}_{q}" for job, k, q in keys),
        costs=tuple(costs),
        rows=tuple(row.terms for row in rows),
        row_bounds=tuple((row.lower, row.upper) for row in rows),
        column_bounds=((ZERO, None),) * len(keys),
        binaries=tuple(range(len(keys))),
        cuts=0,
        step=ONE,
        bound=assignment.bound,
        leaves=(Leaf((), tuple(enumerate(duals)), refuted=False),),
        remarks=(
            *grid_remarks(scaled),
            "columns: y_j_k_q says that task j runs on machine k and q others run there after it",
            "the last position of a machine stands for all later ones",
        ),
        row_names=tuple(row.name for row in rows),
    )


STEP_REMARKS = ("columns: z_j_k_t says that task j has started by instant t on machine k",)
"""What the columns of step formulations mean."""


def grid_remarks(scaled: ScaledInstance) -> tuple[str, str]:
    """Return the unit of time and the origin of a program."""
    return f"unit: {1 / scaled.scale}", f"origin: {scaled.times.origin}"


def _latest(scaled: ScaledInstance, job: int, machine: int) -> int:
    due = scaled.due_dates[job]
    assert due is not None  # jobs without one do not count
    return due - scaled.processing_time(job, machine)


def search_for_proof(
    rows: Sequence[NamedRow],
    names: Sequence[str],
    costs: tuple[Fraction, ...],
    known: Fraction | None,
    remarks: Sequence[str],
    seed: int,
    stop: float,
    subproblems: int | None = None,
) -> BoundCertificate | None:
    """Return the proof that no point costs less than is known, or that there is none, if any.

    Parameters
    ----------
    rows : sequence of NamedRow
    names : sequence of str
        Of the columns, which are binary.
    costs : tuple of Fraction
        Integers.
    known : Fraction or None
        None if there is to be no point.
    remarks : sequence of str
    seed : int
    stop : float
        Instant of the monotonic clock at which the search ends.
    subproblems : int, optional
        At the most; by default `MAX_SUBPROBLEMS`.
    """
    program = scaled_relaxation(rows, costs, (ONE,) * len(names))
    search = BranchAndBound(program, range(len(names)), ONE, None, seed, stop)
    found = search.minimise(known, MAX_SUBPROBLEMS if subproblems is None else subproblems)
    if found.bound is None or known is None:
        proven = found.bound is known is None and found.complete
    else:
        proven = found.bound >= known
    if not proven:
        return None
    search.shorten_multipliers(known)
    certificate = search.certificate(known, names, remarks)
    return replace(
        certificate,
        rows=tuple(row.terms for row in rows),
        row_bounds=tuple((row.lower, row.upper) for row in rows),
        leaves=tuple(
            replace(leaf, multipliers=multipliers_of(rows, leaf.multipliers))
            for leaf in certificate.leaves
        ),
        row_names=tuple(row.name for row in rows),
    )
