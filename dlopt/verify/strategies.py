"""Hypothesis strategies for small instances of every problem, in exact numbers.

The simplest choice comes first, so that Hypothesis shrinks to small instances: few tasks, few
nodes, small integers. Critical cases are likely: several events at one instant, deadlines that are
barely met or missed, windows that touch.

>>> from hypothesis import given, settings
>>> from dlopt import solve
>>> from dlopt.verify import strategies
>>> @settings(max_examples=20, derandomize=True, database=None)
... @given(strategies.admission(jobs=2))
... def no_heuristic_beats_the_optimum(instance):
...     assert solve(instance, "edf-epr-an").value <= solve(instance).value
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import hypothesis
from hypothesis import configuration
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

from dlopt.temporary_files import temporary_folder
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders import Builder, Size, builder

__all__ = [
    "admission",
    "bag",
    "coreservation",
    "dag",
    "find_by_hypothesis",
    "iit",
    "instances",
    "multistage",
]

Strategy: TypeAlias = st.SearchStrategy[Any]
"""A strategy for instances."""

_HOME_LOCK = threading.RLock()
"""For the storage folder of Hypothesis: a process has one, which a search replaces for its time."""


class _HypothesisSource:
    """Choices that Hypothesis draws."""

    __slots__ = ("_draw",)

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def index(self, weights: Sequence[int]) -> int:
        """Return an index; Hypothesis shrinks towards 0."""
        return self._draw(st.integers(0, len(weights) - 1))


def instances(
    stem: str, *, jobs: int = 4, machines: int = 3, busy: bool = False, plain: bool = False
) -> Strategy:
    """Return a strategy for the instances of a problem.

    Parameters
    ----------
    stem : str
        The problem, as ``dlopt methods`` names it.
    jobs, machines : int
        Largest number of tasks (requests, loads) and nodes (machines).
    busy : bool, default False
        For streams: whether every second one begins with tasks that were promised, and parts of
        them sent, before; by default one of twelve does. Such a stream may have no feasible
        solution at all.
    plain : bool, default False
        Whether to leave out the rarer features that the instance format allows, such as tasks that
        cannot run on every machine, links that differ, and streams that begin with promises.

    Raises
    ------
    NotApplicableError
        If there is no such problem.
    """
    return _strategy_of(builder(stem, Size(jobs, machines, busy, plain)))


def _strategy_of(build: Builder) -> Strategy:
    @st.composite
    def made(draw: st.DrawFn) -> Any:
        return build(Choices(_HypothesisSource(draw)))

    return made()


def iit(*, machines: int = 4, plain: bool = False) -> Strategy:
    """Return a strategy for `dlopt.problems.iit.Instance`."""
    return instances("iit", machines=machines, plain=plain)


def admission(
    *, jobs: int = 4, machines: int = 3, busy: bool = False, plain: bool = False
) -> Strategy:
    """Return a strategy for `dlopt.problems.admission.Instance`."""
    return instances("admission", jobs=jobs, machines=machines, busy=busy, plain=plain)


def multistage(
    *, jobs: int = 4, machines: int = 3, busy: bool = False, plain: bool = False
) -> Strategy:
    """Return a strategy for `dlopt.problems.multistage.Instance`."""
    return instances("multistage", jobs=jobs, machines=machines, busy=busy, plain=plain)


def coreservation(*, jobs: int = 4, machines: int = 3, plain: bool = False) -> Strategy:
    """Return a strategy for `dlopt.problems.coreservation.Instance`."""
    return instances("coreservation", jobs=jobs, machines=machines, plain=plain)


def dag(*, jobs: int = 4, machines: int = 3, plain: bool = False) -> Strategy:
    """Return a strategy for `dlopt.problems.dag.Instance`."""
    return instances("dag", jobs=jobs, machines=machines, plain=plain)


def bag(*, jobs: int = 4, machines: int = 3, plain: bool = False) -> Strategy:
    """Return a strategy for `dlopt.problems.bag.Instance`."""
    return instances("bag", jobs=jobs, machines=machines, plain=plain)


def find_by_hypothesis(
    build: Builder, violates: Callable[[Any], bool], *, examples: int, seed: int
) -> None:
    """Let Hypothesis search for an instance that violates a property, and shrink it.

    Parameters
    ----------
    build : callable
        A builder of `dlopt.verify.instance_builders`.
    violates : callable
        The negated property; it is called with all instances that are tried, and keeps what it
        finds.
    examples, seed : int
    """
    settings = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    )
    with _without_files(), contextlib.suppress(HypothesisException):
        # There is none, or the time was up while it was shrunk.
        hypothesis.find(
            _strategy_of(build), violates, settings=settings, random=random.Random(seed)
        )


@contextlib.contextmanager
def _without_files() -> Iterator[None]:
    """Let Hypothesis keep its caches in a temporary folder, and none in the working folder.

    It writes some even where it has no database of examples. Other threads wait meanwhile: they
    would restore a folder that is gone by then.
    """
    with _HOME_LOCK, temporary_folder() as folder:
        before = configuration.storage_directory(intent_to_write=False).path
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)
