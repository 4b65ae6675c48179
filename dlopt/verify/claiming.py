"""What can be claimed of a method, and what on an instance would break it.

Every method claims to be sound; some claim their optimum or bound; and of some the papers say
more, most of which is false. `claims` lists what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dlopt import registry
from dlopt.arithmetic import exact, shown
from dlopt.errors import NotApplicableError
from dlopt.problems.records import Header
from dlopt.registry import Method
from dlopt.result import PLAN_CLASSES, Objective, Result, Status, Value
from dlopt.verify.relaxing import relaxations
from dlopt.verify.subjects import Answer, ask, ask_named


@dataclass(frozen=True, slots=True)
class Case:
    """A method, an instance, and its answer to it."""

    entry: Method
    instance: Header
    answer: Answer
    seed: int = 0

    def other(self, name: str) -> Result[Any] | None:
        """Return the valid answer of another method, if it has one."""
        found = ask_named(name, self.instance, self.answer.objective.name, self.seed)
        return None if found is None else found.valid


@dataclass(frozen=True, slots=True)
class Broken:
    """A claim that does not hold on some instance.

    Parameters
    ----------
    kind : str
        Of the violation, or ``refuted``, ``failed``, ``beaten``, ``worse``.
    text : str
        What is wrong.
    """

    kind: str
    text: str


Breaks = Callable[[Case], tuple[Broken, ...]]


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that is claimed of methods.

    Parameters
    ----------
    name : str
        Kebab-case.
    text : str
        What is claimed.
    breaks : callable
        Of a `Case`: all that breaks the claim.
    stem : str, optional
        The problem it is about; None: any.
    methods : tuple of str
        Of which methods it is claimed; none: of any.
    objective : str, optional
        By which the method is asked.
    """

    name: str
    text: str
    breaks: Breaks
    stem: str | None = None
    methods: tuple[str, ...] = ()
    objective: str | None = None

    def about(self, entry: Method) -> bool:
        """Tell whether the claim is made of a method.

        A function of a caller's own may be held against any claim about its problem.
        """
        if self.stem not in (None, entry.stem):
            return False
        return not self.methods or entry.name in self.methods or callable(entry.target)


def claim(entry: Method, name: str | None = None) -> Claim:
    """Return a claim by its name; by default what the registry says that the method claims.

    Raises
    ------
    NotApplicableError
        If nothing of that name is claimed of the method.

    Examples
    --------
    >>> claim(registry.method("iit", "edf-iit-2")).name
    'optimal'
    """
    if name is None:
        if entry.kind == "bound":
            name = "bound"
        else:
            name = "optimal" if entry.claim == "optimal" else "sound"
    known = {one.name: one for one in claims(entry)}
    if name not in known:
        text = f"nothing called {name!r} is claimed of {entry.name} (known: {', '.join(known)})"
        raise NotApplicableError(text)
    return known[name]


def claims(entry: Method | None = None) -> tuple[Claim, ...]:
    """Return all claims, or those about a method.

    Examples
    --------
    >>> [one.name for one in claims(registry.method("bag", "gds"))][-2:]
    ['meets-what-edf-meets', 'shuffle-helps']
    """
    return tuple(one for one in _CLAIMS if entry is None or one.about(entry))


def unsound(case: Case) -> tuple[Broken, ...]:
    """Return what refutes an answer: a broken rule, a wrong value, a failure."""
    found, failure = case.answer.result, case.answer.failure
    if found is None:
        return (Broken("failed", failure or "no answer"),)
    broken = tuple(Broken(one.kind, str(one)) for one in found.violations)
    if broken:
        return broken
    if failure is not None:
        return (Broken("refuted", failure),)
    if found.status is Status.UNSOUND:
        return (Broken("value", f"the value is not {_told(found.value)}"),)
    return ()


def _beaten(case: Case) -> tuple[Broken, ...]:
    """Return what refutes a proof: a valid plan that is better than a bound or optimum."""
    broken = unsound(case)
    found, goal = case.answer.result, case.answer.objective
    if broken or found is None:
        return broken
    proven = found.bound is not None or found.status is Status.INFEASIBLE
    for rival in _rivals(case) if proven else ():
        answer = ask(rival, case.instance, goal.name, case.seed)
        other = None if answer is None else answer.valid
        if other is None or other.value is None or not _within(other, found, case.entry):
            continue
        if case.entry.name == _ALL_OR_NOTHING and not _accepts_all(other.solution):
            continue
        what = f"{rival.name} has a plan of value {_told(other.value)}"
        if found.status is Status.INFEASIBLE:
            return (Broken("beaten", f"{what}, {case.entry.name} says that there is none"),)
        if found.bound is not None and goal.better(other.value, _eased(found.bound, goal)):
            return (Broken("beaten", f"{what}, beyond the bound {_told(found.bound)}"),)
    return ()


_ALL_OR_NOTHING = "all-or-nothing"
"""The exact method whose plans accept everything: what rejects something is no rival to it."""


def _accepts_all(plan: Any) -> bool:
    decided = (*getattr(plan, "decisions", ()), *getattr(plan, "grants", ()))
    return all(decision.accepted for decision in decided)


def _rivals(case: Case) -> Iterator[Method]:
    """Yield the methods whose plans could be better than what is proven, the exact ones last."""
    stem, mine = case.entry.stem, case.entry.name
    for name in registry.problem(stem).hints:
        if name != mine:
            yield registry.method(stem, name)
    yield from (one for one in registry.methods(stem) if one.kind == "exact" and one.name != mine)


def _within(other: Result[Any], found: Result[Any], entry: Method) -> bool:
    """Tell whether a plan is of the class that something was proven of."""
    plan, proven = other.plan_class or "any", found.plan_class or entry.plan_class
    return PLAN_CLASSES.index(plan) <= PLAN_CLASSES.index(proven)


def _eased(bound: Value, goal: Objective) -> Value:
    """Return a bound that is weaker by a millionth, for solvers compute in floats."""
    levels = bound if isinstance(bound, tuple) else (bound,)
    senses = goal.senses or (goal.sense,) * len(levels)
    eased = tuple(
        exact(level) + abs(exact(level)) / 10**6 * (1 if sense == "max" else -1)
        for level, sense in zip(levels, senses, strict=True)
    )
    return eased if isinstance(bound, tuple) else eased[0]


def as_good_as(other: str) -> Breaks:
    """Return the test that a method is never worse than another one."""

    def breaks(case: Case) -> tuple[Broken, ...]:
        mine, theirs = case.answer.valid, case.other(other)
        if theirs is None or theirs.value is None:
            return ()
        better = f"{other} has a plan of value {_told(theirs.value)}"
        if mine is None or mine.value is None:
            refuted = case.answer.failure is not None or case.answer.result is None
            answered = refuted or (case.answer.result is not None and case.answer.result.violations)
            return () if answered else (Broken("worse", f"no plan, and {better}"),)
        if case.answer.objective.better(theirs.value, mine.value):
            return (Broken("worse", f"its value is {_told(mine.value)}, and {better}"),)
        return ()

    return breaks


def _cheaper(other: str) -> Breaks:
    """Return the test that a method accepts what another one does at no higher cost."""

    def breaks(case: Case) -> tuple[Broken, ...]:
        answer = ask_named(other, case.instance, case.answer.objective.name, case.seed)
        plans = [
            one.result.solution if one and one.result else None for one in (answer, case.answer)
        ]
        if None in plans or not all(map(_accepts_all, plans)):
            return ()
        theirs, mine = (_node_time(plan) for plan in plans)
        if mine <= theirs:
            return ()
        return (Broken("worse", f"it costs {shown(mine)}, the plan of {other} {shown(theirs)}"),)

    return breaks


def _node_time(plan: Any) -> Any:
    """Return how long the tasks hold their nodes, in the model where a task begins on all."""
    held: Any = 0
    for task in {chunk.task for chunk in plan.chunks}:
        mine = [chunk for chunk in plan.chunks if chunk.task == task]
        start = min(chunk.transmission_start for chunk in mine)
        held += len(mine) * (max(chunk.computation_end for chunk in mine) - start)
    return held


def _near_bound(case: Case) -> tuple[Broken, ...]:
    """Return what breaks: over twice the rejections of the optimum, and two more."""
    mine = case.answer.valid
    if mine is None or isinstance(mine.value, tuple) or mine.value is None or mine.value < 3:
        return ()
    best = case.other("exact")
    if best is None or best.status is not Status.OPTIMAL or isinstance(best.value, tuple):
        return ()
    if best.value is None or mine.value <= 2 * max(best.value, 1):
        return ()
    text = f"it rejects {_told(mine.value)} requests, the optimum {_told(best.value)}"
    return (Broken("worse", text),)


def _monotone(case: Case) -> tuple[Broken, ...]:
    """Return where an easier instance gets a worse answer."""
    mine, goal = case.answer.valid, case.answer.objective
    if mine is None or mine.value is None:
        return ()
    for words, easier in relaxations(case.instance):
        answer = ask(case.entry, easier, goal.name, case.seed)
        if answer is None or answer.failure is not None or answer.result is None:
            continue
        value = answer.result.value
        if answer.result.violations or (value is None and answer.result.status is Status.LIMIT):
            continue
        if value is None or goal.better(mine.value, value):
            worse = "no plan" if value is None else _told(value)
            return (Broken("worse", f"{_told(mine.value)}, but {worse} {words}"),)
    return ()


def _told(value: Value | None) -> str:
    if value is None:
        return "none"
    levels = value if isinstance(value, tuple) else (value,)
    return ", ".join(shown(level) for level in levels)


def _no_worse(
    stem: str, name: str, text: str, objective: str, pairs: dict[str, str]
) -> Iterator[Claim]:
    """Yield a claim of each method: it is never worse than another by an objective."""
    for method, other in pairs.items():
        yield Claim(name, text, as_good_as(other), stem, (method,), objective)


def _all() -> Iterator[Claim]:
    yield Claim("sound", "its plans break no rule, and are worth what it says", unsound)
    yield Claim("optimal", "no plan of its class is better, and its plans break no rule", _beaten)
    yield Claim("bound", "no plan of its class is better", _beaten)
    yield Claim("monotone", "an easier instance never gets a worse answer", _monotone)
    yield from _no_worse(
        "iit",
        "fewest-nodes",
        "it finds the fewest nodes that meet the deadline by its partition",
        "nodes",
        {
            "opr:literal-logarithm": "opr",
            "opr:literal-binary-search": "opr",
        },
    )
    yield from _no_worse(
        "admission",
        "accepts-what-edf-accepts",
        "it accepts as many tasks as earliest deadline first",
        "accepted",
        {"mcdf": "edf-opr-mn", "mwf-opr-mn": "edf-opr-mn"},
    )
    for slip in ("", ":literal"):
        yield Claim(
            "minimises-cost",
            "where all is accepted, its tasks hold the nodes no longer than those of EDF",
            _cheaper(f"edf-opr-mn{slip}"),
            "admission",
            (f"mcdf{slip}",),
            "accepted",
        )
    yield from _no_worse(
        "admission",
        "rejects-less",
        "it rejects no more than the algorithm that it is said to beat",
        "accepted",
        {
            "edf-opr-mn": "edf-epr-mn",
            "edf-opr-an": "edf-opr-mn",
            "edf-iit-2": "fast-edf-iit",
            "fast-edf-iit": "edf-iit-1",
            "hybrid": "edf-iit-2",
        },
    )
    yield Claim(
        "near-bound",
        "it rejects at most twice what must be rejected",
        _near_bound,
        "coreservation",
        ("co-rsbf", "best-fit", "co-rsbfr"),
        "rejections",
    )
    yield from _no_worse(
        "coreservation",
        "stopping-costs-nothing",
        "the first machine with room does as well as the right one",
        "benefit",
        {"rspb:literal-stop": "rspb", "co-rspb:literal-stop": "co-rspb"},
    )
    yield from _no_worse(
        "coreservation",
        "slots-cost-nothing",
        "whole slots reject no more than half-open windows",
        "rejections",
        {
            f"{name}:literal-slots": name
            for name in ("rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr")
        },
    )
    yield from _no_worse(
        "coreservation",
        "refining-helps",
        "with refinement the benefit is never less",
        "benefit",
        {"co-rsbfr": "co-rsbf"},
    )
    slips = ("gds:literal-evict-all", "gds:literal-endless-loop", "gds-without-shuffle")
    yield from _no_worse(
        "bag",
        "meets-what-edf-meets",
        "it meets as many deadlines as earliest deadline first",
        "accepted",
        {"gds": "edf"},
    )
    yield from _no_worse(
        "bag",
        "shuffle-helps",
        "with Shuffle no fewer deadlines are met",
        "accepted",
        {"gds": "gds-without-shuffle"},
    )
    yield from _no_worse(
        "bag",
        "as-good-as-repaired",
        "it meets as many deadlines as GDS repaired",
        "accepted",
        dict.fromkeys(slips, "gds"),
    )


_CLAIMS = tuple(_all())
