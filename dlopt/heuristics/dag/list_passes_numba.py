"""The functions of `dlopt.heuristics.dag.list_passes`, compiled (extra ``fast``).

They are compiled from the same source, and take the same steps: results are equal bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from dlopt.heuristics.dag import list_passes
from dlopt.heuristics.dag.flat_arrays import Sequences

_CALLED_FIRST = (
    list_passes.find_slot,
    list_passes.ready_time,
    list_passes.note_arrivals,
    list_passes.find_machine,
    list_passes.list_pass,
    list_passes.completion_of,
    list_passes.evaluate,
    list_passes.draw,
    list_passes.draw_share,
    list_passes.find_critical_path,
    list_passes.shift,
    list_passes.sort_by_end,
    list_passes.copy_plan,
    list_passes.copy_list,
    list_passes.weight,
    list_passes.draw_kind,
    list_passes.draw_task,
    list_passes.fix_machine,
    list_passes.propose,
    list_passes.begin_cycle,
    list_passes.allowance,
    list_passes.accept,
    list_passes.start,
    list_passes.improve,
)
"""Every function after those that it calls."""
_INLINED = frozenset(
    {"find_slot", "ready_time", "note_arrivals", "find_machine", "draw", "draw_share"}
)
"""Functions that are called for every task or machine. A call that passes many arrays takes longer
than they do: inlined, a pass takes a fifth of the time."""


def _compiled() -> dict[str, Callable[..., Any]]:
    """Return the functions by name, each compiled with the compiled ones that it calls."""
    names = dict(vars(list_passes))
    found: dict[str, Callable[..., Any]] = {}
    for function in _CALLED_FIRST:
        copied = FunctionType(function.__code__, names, function.__name__)
        copied.__module__ = function.__module__
        inlined = function.__name__ in _INLINED
        compiled = njit(cache=True, forceinline=inlined)(copied)
        found[function.__name__] = names[function.__name__] = compiled
    return found


FUNCTIONS = _compiled()

ARRAYS = Sequences(
    lambda values: np.array(values, np.float64), lambda values: np.array(values, np.int64)
)
"""Numpy arrays, as the compiled functions take them."""
