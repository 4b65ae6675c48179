"""A search by list passes: its memory, and its functions, compiled where that pays off."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from dlopt.heuristics.dag import list_moves
from dlopt.heuristics.dag.flat_arrays import LISTS, FlatInstance, Floats, Integers, Sequences
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.list_moves import Search
from dlopt.heuristics.dag.list_passes import PassMemory, Plan

STEPS_PER_CALL = 3_000
"""Steps of a call, some milliseconds in the interpreter; see `steps_per_move`."""
COMPILED_STEPS_PER_CALL = 300_000
"""The same in compiled code, where a step takes some nanoseconds."""


def steps_per_move(arrays: InstanceArrays) -> int:
    """Return the steps of a move: a step is a task on a machine, or an edge."""
    return arrays.task_count * arrays.machine_count + sum(map(len, arrays.predecessors))


class ListSearch:
    """A search among priority lists and fixed machines, from a list on.

    Parameters
    ----------
    arrays : InstanceArrays
    criterion : int
        See `dlopt.heuristics.dag.list_moves`.
    order : sequence of int
        The first list; every task after its predecessors.
    fixed : sequence of int
        The machine of each task, -1 if the list pass chooses it.
    seed : int
    compiled : bool
        Whether to use numba, if it is installed. The schedules are the same.

    Attributes
    ----------
    possible : bool
        Whether the times of the instance are small enough for floats.
    best : tuple of (tuple of int, tuple of float)
        The machines and starts of the best schedule.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=work) for k, work in enumerate((2, 2, 3))))
    >>> arrays = InstanceArrays.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> search = ListSearch(arrays, list_moves.MAKESPAN, (0, 1, 2), (-1, -1, -1), 0, False)
    >>> search.value
    (0.0, 5.0)
    >>> search.run(20)
    >>> search.value
    (0.0, 4.0)
    """

    def __init__(
        self,
        arrays: InstanceArrays,
        criterion: int,
        order: Sequence[int],
        fixed: Sequence[int],
        seed: int,
        compiled: bool,
    ) -> None:
        functions: Mapping[str, Callable[..., None]]
        functions, sequences = compiled_functions() if compiled else (vars(list_moves), LISTS)
        self._functions = functions
        steps = STEPS_PER_CALL if sequences is LISTS else COMPILED_STEPS_PER_CALL
        self.moves_per_call = max(1, steps // steps_per_move(arrays))
        self._criterion = criterion
        self.best: tuple[tuple[int, ...], tuple[float, ...]] = ((), ())
        self._best_value: tuple[float, float] | None = None
        flat = FlatInstance.from_arrays(arrays, sequences)
        self.possible = flat is not None
        if flat is not None:
            self._flat = flat
            self._search = initial_state(flat, order, fixed, seed, sequences)
            self._functions["start"](flat, criterion, self._search)
            self._note_best()

    @property
    def value(self) -> tuple[float, float]:
        """Late graphs, and what is minimised among schedules with as many, of the best schedule."""
        values = self._search.values
        return float(values[list_moves.BEST_RANK]), float(values[list_moves.BEST_LENGTH])

    def run(self, moves: int) -> None:
        """Make so many moves. Complexity: O(edges + tasks x machines) for each on one network."""
        self._functions["improve"](self._flat, self._criterion, self._search, moves)
        self._note_best()

    def _note_best(self) -> None:
        """Copy the best schedule, which another thread may want while the search goes on."""
        if self._best_value != self.value:
            plan = self._search.best_plan
            self.best = tuple(map(int, plan.machine)), tuple(map(float, plan.start))
            self._best_value = self.value


def compiled_functions() -> tuple[Mapping[str, Callable[..., None]], Sequences]:
    """Return the compiled functions and their arrays, or else the plain ones and lists."""
    try:
        from dlopt.heuristics.dag import list_passes_numba
    except ImportError:
        return vars(list_moves), LISTS
    return list_passes_numba.FUNCTIONS, list_passes_numba.ARRAYS


def initial_state(
    flat: FlatInstance,
    order: Sequence[int],
    fixed: Sequence[int],
    seed: int,
    sequences: Sequences,
) -> Search:
    """Return the state of a search that begins with a list; `start` makes its schedule."""
    floats, integers = sequences
    tasks, classes = len(order), flat.forward.class_count

    def indices(count: int = tasks) -> Integers:
        return integers([-1] * count)

    def numbers(count: int = tasks) -> Floats:
        return floats([0.0] * count)

    def plan() -> Plan:
        return Plan(indices(), numbers(), numbers(), indices())

    counts = [0] * list_moves.COUNTS
    counts[list_moves.RANDOM] = random.Random(seed).randrange(1, list_moves.MODULUS)
    counts[list_moves.CYCLE_LENGTH] = list_moves.FIRST_CYCLE
    return Search(
        order=integers(list(order)),
        fixed=integers(list(fixed)),
        plan=plan(),
        best_order=indices(),
        best_fixed=indices(),
        best_plan=plan(),
        new_order=indices(),
        new_fixed=indices(),
        new_plan=plan(),
        position=indices(),
        critical=indices(),
        keys=numbers(),
        spare=indices(),
        marked=indices(),
        memory=PassMemory(
            indices(flat.forward.machine_count),
            numbers(flat.forward.machine_count),
            indices(),
            numbers(classes),
            numbers(classes),
            indices(classes),
        ),
        completion=numbers(len(flat.arrival)),
        counts=integers(counts),
        values=numbers(list_moves.VALUES),
        trials=numbers(list_moves.KINDS),
        successes=numbers(list_moves.KINDS),
    )
