"""The functions of `list_passes` and `list_moves`, compiled (extra ``fast``).

They are compiled from the same source, and take the same steps: results are equal bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeAlias, cast

import numpy as np
from numba import njit

from dlopt.heuristics.dag import list_moves, list_passes
from dlopt.heuristics.dag.flat_arrays import Floats, Integers, Sequences

CompiledFunction: TypeAlias = Callable[..., None]

_CALLED_FIRST = (
    list_passes.copy_plan,
    list_passes.find_slot,
    list_passes.ready_time,
    list_passes.note_arrivals,
    list_passes.find_machine,
    list_passes.list_pass,
    list_passes.completion_of,
    list_passes.least_makespan,
    list_moves.evaluate,
    list_moves.draw,
    list_moves.draw_share,
    list_moves.find_critical_path,
    list_moves.shift,
    list_moves.pull,
    list_moves.sort_by_end,
    list_moves.copy_list,
    list_moves.weight,
    list_moves.draw_kind,
    list_moves.draw_task,
    list_moves.fix_machine,
    list_moves.propose,
    list_moves.begin_cycle,
    list_moves.allowance,
    list_moves.accept,
    list_moves.start,
    list_moves.improve,
)
"""Every function after those that it calls."""
_INLINED = frozenset(
    {"find_slot", "ready_time", "note_arrivals", "find_machine", "draw", "draw_share"}
)
"""Functions that are called for every task or machine. A call that passes many arrays takes longer
than they do: inlined, a pass takes a fifth of the time."""


def _compiled() -> dict[str, CompiledFunction]:
    """Return the functions by name, each compiled with the compiled ones that it calls."""
    names = vars(list_passes) | vars(list_moves)
    found: dict[str, CompiledFunction] = {}
    for function in _CALLED_FIRST:
        copied = FunctionType(function.__code__, names, function.__name__)
        copied.__module__ = function.__module__
        inlined = function.__name__ in _INLINED
        compiled = njit(cache=True, forceinline=inlined)(copied)
        found[function.__name__] = names[function.__name__] = compiled
    return found


FUNCTIONS = _compiled()

ARRAYS = Sequences(
    lambda values: cast(Floats, np.array(values, np.float64)),
    lambda values: cast(Integers, np.array(values, np.int64)),
)
"""Numpy arrays, as the compiled functions take them."""
