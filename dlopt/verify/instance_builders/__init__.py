"""Builders of small instances, one for each problem: functions of a choice sequence.

Numbers are exact and small, the simplest choice first. Critical cases are likely: several events
at one instant, deadlines that are barely met or missed, windows that touch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from dlopt.errors import NotApplicableError
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import SMALL, Size

__all__ = ["SMALL", "Builder", "Size", "builder", "stems"]

Builder = Callable[[Choices], Any]
"""Builds an instance from choices."""

_STEMS = ("iit", "admission", "multistage", "coreservation", "dag", "bag")


def stems() -> tuple[str, ...]:
    """Return the problems that have a builder.

    Examples
    --------
    >>> stems()[0]
    'iit'
    """
    return _STEMS


def builder(stem: str, size: Size = SMALL) -> Builder:
    """Return the builder of a problem.

    Parameters
    ----------
    stem : str
    size : Size, optional
        Largest size of an instance.

    Raises
    ------
    NotApplicableError
        If there is none.

    Examples
    --------
    >>> from dlopt.verify.choice_sequence import RecordedSource
    >>> builder("iit")(Choices(RecordedSource([]))).load  # the simplest instance
    1
    """
    if stem not in _STEMS:
        raise NotApplicableError(f"no builder of {stem!r} (known: {', '.join(_STEMS)})")
    build: Callable[[Choices, Size], Any]
    build = importlib.import_module(f"dlopt.verify.instance_builders.{stem}").build
    return lambda choices: build(choices, size)
