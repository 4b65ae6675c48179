"""GDS as registered methods, repaired and as printed.

A task that fits nowhere is dropped; one without a deadline always fits.

Examples
--------
>>> from dlopt.problems.bag import Machine, Task
>>> tasks = (Task("a", 2, absolute_deadline=3), Task("b", 2, absolute_deadline=4))
>>> instance = Instance(tasks, (Machine("m"),))
>>> gds(instance, objective="accepted").value
2
>>> result = gds_without_shuffle(instance, objective="accepted")
>>> result.value, result.reason
(1, 'dropped: 1 task (b)')
"""

from __future__ import annotations

from dataclasses import dataclass

from dlopt.heuristics.bag.gds import (
    PRINTED_VARIANTS,
    EndlessLoopError,
    GdsScheduler,
    LiteralVariant,
)
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.heuristics.bag.mapping_method import PLAN_CLASS, to_result
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import default_objective
from dlopt.result import Result, Status


@dataclass(frozen=True, slots=True)
class GdsMethod:
    """GDS, or a variant of it, as a registered method.

    Parameters
    ----------
    shuffles : bool
    variants : tuple of LiteralVariant
        What is done as printed.
    """

    shuffles: bool = True
    variants: tuple[LiteralVariant, ...] = ()

    def __call__(
        self, instance: Instance, *, objective: str | None = None, seed: int = 0
    ) -> Result[Solution]:
        """Rank tasks, schedule them in slacks, shuffle, and dispatch the rest to other sites.

        Returns
        -------
        Result
            ``FEASIBLE``; tasks that fit nowhere are dropped. ``UNKNOWN`` if a printed variant would
            never end.
        """
        scheduler = GdsScheduler(
            InstanceArrays(instance), seed=seed, shuffles=self.shuffles, variants=self.variants
        )
        try:
            solution = scheduler.run()
        except EndlessLoopError as error:
            goal = objective or default_objective(instance)
            return Result(Status.UNKNOWN, objective=goal, plan_class=PLAN_CLASS, reason=str(error))
        return to_result(instance, solution, objective)


gds = GdsMethod()
"""Rank tasks, schedule them in slacks, shuffle, and dispatch the rest to other sites.

Every task is placed as late as its deadline and the slack allow, on the first machine that has
room; Shuffle, when a task does not fit, moves tasks to the front one by one, and loses none; a task
that still does not fit goes to the site nearest by links that accepts it. The schedule may be worse
than that of ``edf``, and of ``gds-without-shuffle``.

Complexity: O(n m log n) expected for each pass of n tasks over the m machines of a site, and
O(n log n) for a Shuffle of a machine with n tasks. (Printed: O(n^2 m), and O(n) for Shuffle, which
a search for the earliest slack cannot be.) Source: Liu, Baskiyar and Li 2007, with Figs. 3, 4 and 6
repaired.
"""

gds_without_shuffle = GdsMethod(shuffles=False)
"""Rank tasks, schedule them in slacks, and dispatch the rest: what the paper calls GDS_1.

What is placed at home is placed there by `gds` of the same seed, too.
"""


def __getattr__(name: str) -> GdsMethod:
    """Return GDS to the letter: ``gds_literal`` as printed, ``gds_literal_X`` with variant X."""
    single = {f"gds_literal_{variant.replace('-', '_')}": (variant,) for variant in LiteralVariant}
    variants = {"gds_literal": PRINTED_VARIANTS, **single}
    if name not in variants:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return GdsMethod(variants=variants[name])
