"""The search for the best plan: plans from below, bounds from above, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Literal, NamedTuple

from dlopt.arithmetic import exact
from dlopt.backends import cpsat
from dlopt.backends.sizes import check_size, too_large
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.coreservation import aggregated_relaxation, machine_minimisation, milp
from dlopt.models.coreservation.branch_and_price.columns import FINEST
from dlopt.models.coreservation.branch_and_price.search import PatternSearch
from dlopt.models.coreservation.construction import placed, raised
from dlopt.models.coreservation.cpsat import PackingModel
from dlopt.models.coreservation.cpsat import terms_of as cpsat_size
from dlopt.models.coreservation.objective import Held, Scale, key_of, most_of, offset, trivial
from dlopt.models.coreservation.primal_heuristics import Improver
from dlopt.models.coreservation.program_size import CP_SAT, MILP
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.result import Limits, Proof, Status

Formulation = Literal["cp-sat", "milp"]

_TINY, _SMALL = 12, 30
"""Requests up to which the whole program needs no neighbourhoods before it, or but a few."""
_NODES = 20
"""Of the relaxation as an integer program: most of what it gains it gains before it branches."""
_FRACTIONS, _WORD = (1 / 8, 1 / 20), 1 / 4
"""Of the time, for the relaxation in fractions, less where the word of HiGHS follows; for that."""
_EARLY, _MODEST = 1 / 5, 4000
"""Of the time, for the program before neighbourhoods; places for all parts in it at the most."""
_PACKING = 1 / 4
"""Of the time, for packing everything."""
_BRIEF, _EFFORT = 0.05, 1.0
"""Of the program before patterns: a share of the time, or deterministic time without a limit."""
_CARE = Fraction(1, 10**7)
"""By how much the bound of a solver in floats may be off, relative to all there is."""
_MET = Fraction(1, 10**9)
"""Bounds whose coefficients were rounded up meet a value that is less by so much, relatively."""


@dataclass
class Found:
    """A plan, and what is proven of its levels.

    Attributes
    ----------
    held : dict
    bounds : list of Fraction
        Of the levels that are proven, and of the first that is not; such that more is better.
    proven : int
        So many levels are proven.
    proofs : list of str
        Where the bounds come from.
    claimed : bool
        Whether one of them is a claim of a solver.
    left_out : str or None
        Why a program was not stated.
    """

    held: dict[int, tuple[int, int]]
    bounds: list[Fraction] = field(default_factory=list)
    proven: int = 0
    proofs: list[str] = field(default_factory=list)
    claimed: bool = False
    left_out: str | None = None

    @property
    def proof(self) -> Proof:
        """On whose word the bounds stand."""
        return "solver" if self.claimed else "exact"


class Bound(NamedTuple):
    """No plan has more of a level; where that comes from; whether it is a solver's word in floats.

    A plan may refute a word, which is none then. What is not `claimed` is proven in whole numbers
    or fractions, without trust in a solver.
    """

    most: Fraction
    proof: str
    said: bool = False
    claimed: bool = False


class Search:
    """One search over requests whose windows interact.

    Parameters
    ----------
    case : Case
    budget : Budget
    seed : int
    formulation : {"cp-sat", "milp"}
        The program over all requests.
    solver : str
        Of the linear formulation: any that PuLP knows by name.
    relaxed, neighbours : bool
        Whether to bound by the relaxation, and to improve plans in neighbourhoods.
    symmetric : bool
        Leave machines that are alike interchangeable.
    """

    def __init__(
        self,
        case: Case,
        budget: Budget,
        seed: int = 0,
        formulation: Formulation = "cp-sat",
        solver: str = "HiGHS",
        *,
        relaxed: bool = True,
        neighbours: bool = True,
        whole: bool = True,
        symmetric: bool = False,
    ) -> None:
        self.case, self.budget, self.seed = case, budget, seed
        self.formulation, self.solver = formulation, solver
        self.relaxed, self.neighbours, self.whole = relaxed, neighbours, whole
        self.symmetric = symmetric
        self.found = Found({})
        self.improver = Improver(case, budget, seed, self._take)
        self._scales: dict[str, bool] = {"machines": True}

    @cached_property
    def least(self) -> machine_minimisation.Fewest:
        """The fewest machines that hold everything."""
        return machine_minimisation.fewest(self.case, self.budget.left(1 / 2), self.seed)

    def run(self, hint: Held) -> Found:
        """Search until all levels are proven, or time is up."""
        self.found.held = raised(self.case, hint)
        try:
            if "machines" in self.case.levels and self.least.held is not None:
                self._take(self.least.held)
            for level in self.case.levels:
                self._prove(level)
                if self.found.proven < len(self.found.bounds):
                    break
        except TimeoutError:
            pass
        if len(self.found.bounds) == self.found.proven < len(self.case.levels):
            level = self.case.levels[self.found.proven]
            self.found.bounds.append(trivial(self.case, level))
            self.found.proofs.append("all that could be accepted")
        return self.found

    @property
    def value(self) -> Fraction:
        """The level that is searched for, of the best plan."""
        return key_of(self.case, self.found.held)[self.found.proven]

    @property
    def _share(self) -> float:
        """How much of the time is for better plans where the whole program may prove them."""
        return 0.15 if len(self.case.wishes) <= _SMALL and self.whole else 1.0

    def _prove(self, level: str) -> None:
        """Prove a level, or bound it: by the relaxation, neighbourhoods, the whole program."""
        bounds = [Bound(trivial(self.case, level), "all that could be accepted")]
        try:
            tiny = self.whole and len(self.case.wishes) <= _TINY
            improving = self.neighbours and not tiny
            beside = self.improver.beside(self.found.held, self._share)
            with beside if improving else nullcontext():
                if level == "machines":
                    bounds.append(self._by_bins())
                elif self.relaxed and not self._meets(bounds):
                    bounds.append(self._by_relaxation(level))
                    if self._packable and not self._meets(bounds):
                        bounds.append(self._by_packing(level))
                    if len(self.case.wishes) > _SMALL and not self._meets(bounds):
                        bounds.append(self._by_word(level))
                if self._early and not self._meets(bounds):
                    with suppress(TimeoutError):
                        bounds.append(self._by_program(level, _EARLY))
                if improving and not self._meets(bounds):
                    self._by_neighbourhoods(bounds)
            if self._apart(level) and not self._meets(bounds):
                bounds.append(self._by_patterns(level))
            if self.whole and not self._meets(bounds):
                bounds.append(self._by_program(level))
        except TimeoutError:
            pass
        value, (bound, proof, _, claimed) = self.value, self._least(bounds)
        if value > bound:
            raise SolverError(f"a plan is worth {value}, but its bound is {bound}: {proof}")
        self.found.bounds.append(bound)
        self.found.proofs.append(proof)
        self.found.claimed |= claimed
        if self._met(level, value, bound):
            self.found.proven += 1

    def _least(self, bounds: Sequence[Bound]) -> Bound:
        """Return the least bound but for words that the best plan refutes."""
        value = self.value
        standing = (one for one in bounds if not one.said or one.most >= value)
        return min(standing, key=lambda one: (one.most, one.claimed))

    def _meets(self, bounds: Sequence[Bound]) -> bool:
        """Tell whether a level is proven as well as was asked for."""
        gap, bound = exact(self.budget.limits.gap), self._least(bounds).most
        level = self.case.levels[self.found.proven]
        return self._met(level, self.value, bound) or bound - self.value <= gap * abs(self.value)

    def _met(self, level: str, value: Fraction, bound: Fraction) -> bool:
        """Tell whether a bound is met, but for the rounding of its coefficients or of a solver."""
        if level == "benefit" and self.formulation == "milp" and not self.case.instance.exact:
            return bound - value <= 2 * _CARE
        return value == bound or (not self._exact(level) and bound - value <= _MET * abs(value))

    def _exact(self, level: str) -> bool:
        if level not in self._scales:
            self._scales[level] = Scale.of(self.case, level).exact
        return self._scales[level]

    def _pinned(self) -> list[tuple[str, Fraction]]:
        levels = self.case.levels[: self.found.proven]
        return list(zip(levels, key_of(self.case, self.found.held), strict=False))

    def _by_word(self, level: str) -> Bound:
        """Bound a level by the same relaxation, on the word of HiGHS."""
        limits = self.budget.left(_WORD)
        limits = replace(limits, work=min(limits.work or _NODES, _NODES))
        said = aggregated_relaxation.said_bound(
            self.case, level, limits, pinned=self._pinned(), seed=self.seed
        )
        everything = trivial(self.case, level)
        if said is None:
            return Bound(everything, "all that could be accepted")
        said += _CARE * (everything - offset(self.case, level))
        bound = milp.tidy(self.case, level, said, _CARE)
        return Bound(
            bound, "machines as one, the word of HiGHS, in floats", said=True, claimed=True
        )

    def _by_relaxation(self, level: str) -> Bound:
        limits = self.budget.left(_FRACTIONS[len(self.case.wishes) > _SMALL])
        case, pinned = self.case, self._pinned()
        found = aggregated_relaxation.upper_bound(
            case, level, limits, known=self.value, pinned=pinned, seed=self.seed
        )
        plural = "s" * (found.subproblems != 1)
        proof = f"machines as one, in fractions over {found.subproblems} subproblem{plural}"
        if found.worth is None:
            raise SolverError("the relaxation refutes a plan that was found")
        if found.shares:
            self._take(raised(case, placed(case, found.accepted, found.shares)))
        return Bound(found.worth, proof)

    def _by_bins(self) -> Bound:
        """Bound the machines of a plan that accepts all that could be; others may have fewer."""
        if len(self.found.held) < len(self.case.jobs):
            return Bound(trivial(self.case, "machines"), "nothing")
        return Bound(-Fraction(self.least.bound), self.least.proof)

    @property
    def _early(self) -> bool:
        """Whether the whole program has some time before neighbourhoods have all that is left."""
        size = len(self.case.jobs) * len(self.case.free)
        timed = self.budget.limits.time_s is not None
        return self.whole and timed and self._share == 1 and self.neighbours and size <= _MODEST

    @cached_property
    def _packable(self) -> bool:
        """Whether accepting everything is bin packing: machines alike, all parts at one instant."""
        case = self.case
        alike = len({*case.free}) == 1 and {job.machines for job in case.jobs} == {
            tuple(range(len(case.free)))
        }
        together = any(len(row.jobs) == len(case.jobs) for row in case.crowds())
        return self.whole and alike and together and len(case.wishes) > _TINY

    def _by_packing(self, level: str) -> Bound:
        """Accept everything, or prove that some request is rejected."""
        case = self.case
        least = machine_minimisation.fewest(case, self.budget.left(_PACKING), self.seed)
        everything = trivial(case, level)
        if least.held is not None:
            self._take(raised(case, least.held))
        if least.bound <= len(case.free):
            return Bound(everything, "all that could be accepted")
        lost = min(most_of(case, level, k) for k in range(len(case.wishes)))
        return Bound(everything - lost, f"not everything fits: {least.proof}")

    def _by_neighbourhoods(self, bounds: Sequence[Bound]) -> None:
        """Look for better plans until a bound is met."""
        gap, bound = exact(self.budget.limits.gap), self._least(bounds).most
        enough = [value for _, value in self._pinned()]
        enough.append(bound / (1 + gap) if bound > 0 else bound)
        self.improver.run(self.found.held, self._share, enough, lambda: self._meets(bounds))

    def _apart(self, level: str) -> bool:
        """Tell whether there are so few requests that patterns of machines may prove a level."""
        few = self.relaxed and self.whole and len(self.case.wishes) <= _TINY
        if not few or self.found.proven or self.formulation != "cp-sat" or level == "machines":
            return False
        return Scale.of(self.case, level, FINEST >> 10).exact

    def _by_patterns(self, level: str) -> Bound:
        """Prove a level with machines apart, unless the program does it in a short time."""
        self._take(self.improver.recreated(self.found.held, self.budget, _BRIEF))
        try:
            brief = self._by_program(level, _BRIEF)
            if self._meets([brief]):
                return brief
        except TimeoutError:
            pass
        budget = Budget(self.budget.left(9 / 10))
        found = PatternSearch(self.case, level, self.found.held, budget, self.seed).run()
        self._take(raised(self.case, found.held))
        plural = "s" * (found.subproblems != 1)
        proof = f"machines apart, in whole numbers over {found.subproblems} subproblem{plural}"
        return Bound(found.worth + offset(self.case, level), proof, claimed=found.claimed)

    def _leaves_out(self, size: float, program: str) -> bool:
        """Tell whether a program is too large to be stated; there is the relaxation beside it.

        Raises
        ------
        NotApplicableError
            If there is not: the program is all that was asked for.
        """
        if not self.relaxed:
            check_size(program, size)
        self.found.left_out = too_large(program, size) or self.found.left_out
        return self.found.left_out is not None

    def _by_program(self, level: str, share: float = 1) -> Bound:
        if self.formulation == "milp":
            if self._leaves_out(milp.terms_of(self.case), MILP):
                raise TimeoutError
            return self._by_linear(level)
        if self._leaves_out(cpsat_size(self.case), CP_SAT):
            raise TimeoutError
        scale = Scale.of(self.case, level)
        model = PackingModel(self.case, symmetric=self.symmetric)
        model.add_pooled()
        for one, value in self._pinned():
            self._pin(model, one, value)
        worth = model.worth(scale)
        model.model.maximize(worth)
        model.hint(self.found.held)
        limits, effort = self.budget.left(share), None
        if limits.time_s is None and share < 1:
            effort = _EFFORT
        outcome = model.solve(limits, self.seed, effort)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError("CP-SAT refutes a plan that was found")
        if outcome.bound is None:
            raise TimeoutError
        self._take(model.held(outcome))
        rounded = "" if scale.exact else ", coefficients rounded up"
        bound = Fraction(outcome.bound, scale.factor) + offset(self.case, level)
        return Bound(bound, f"{cpsat.NAME}, in whole numbers{rounded}", claimed=True)

    def _pin(self, model: PackingModel, level: str, value: Fraction) -> None:
        """Ask for plans that are as good on a level."""
        scale = Scale.of(self.case, level)
        least = value - offset(self.case, level)
        model.model.add(model.worth(scale) >= int(least * scale.factor))

    def _by_linear(self, level: str) -> Bound:
        model = milp.LinearModel(self.case, symmetric=self.symmetric)
        for one, value in self._pinned():
            model.require(one, value - offset(self.case, one))
        outcome = model.maximise(level, self.budget.left(), self.solver, self.seed)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError(f"{outcome.solver} refutes a plan that was found")
        if outcome.assignment:
            held = model.held(outcome)
            if held is not None:
                self._take(held)
        if outcome.bound is None:
            raise TimeoutError
        start = offset(self.case, level)
        bound = milp.tidy(self.case, level, exact(outcome.bound) + start, _CARE)
        if level in ("benefit", "rejected-priority"):
            most = bound - start + _CARE * (trivial(self.case, level) - start)
            scale = Scale.of(self.case, level)
            if scale.exact:  # whatever a plan attains is a multiple of its step
                most = Fraction(floor(most * scale.factor), scale.factor)
            bound = start + most
        return Bound(bound, f"the word of {outcome.solver}, in floats", said=True, claimed=True)

    def _take(self, held: Held) -> None:
        """Take a plan if it is better, first levels first."""
        if key_of(self.case, held) > key_of(self.case, self.found.held):
            self.found.held = dict(held)


def by_spans(case: Case, hint: Held, limits: Limits, seed: int, **options: object) -> Found:
    """Search where windows interact, span by span; what is proven is put together."""
    if "machines" in case.levels or not case.wishes:
        return Search(case, Budget(limits), seed, **options).run(hint)  # type: ignore[arg-type]
    total = Found({}, proven=len(case.levels))
    budget = Budget(limits)
    spans = case.spans()
    parts: list[tuple[Case, Found]] = []
    for n, span in enumerate(spans):
        part = case.within(span, case.free, {})
        origin = [i for k in span for i in case.wishes[k].jobs]
        place = {i: q for q, i in enumerate(origin)}
        own = {place[i]: at for i, at in hint.items() if i in place}
        jobs = sum(len(case.wishes[k].jobs) for later in spans[n:] for k in later)
        try:
            left = budget.left(len(origin) / jobs)
        except TimeoutError:
            left = replace(limits, time_s=1e-6)
        found = Search(part, Budget(left), seed, **options).run(own)  # type: ignore[arg-type]
        total.held |= {origin[q]: at for q, at in found.held.items()}
        total.proven = min(total.proven, found.proven)
        total.claimed |= found.claimed
        total.left_out = total.left_out or found.left_out
        parts.append((part, found))
    for n, level in enumerate(case.levels[: total.proven + 1]):
        shift = offset(case, level) * (len(parts) - 1)
        total.bounds.append(sum((found.bounds[n] for _, found in parts), Fraction(0)) - shift)
    total.proofs = list(dict.fromkeys(proof for _, found in parts for proof in found.proofs))
    return total
