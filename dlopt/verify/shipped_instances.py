"""The shipped instances that a search tries before it draws any, stored counterexamples too."""

from __future__ import annotations

from functools import lru_cache

from dlopt import io
from dlopt.instance_library import list_instances
from dlopt.problems.validated_record import Header
from dlopt.verify.shrinking import instance_size

MAX_PROOF_SIZE = 12
"""Largest product of jobs and machines of a shipped instance on which an exact method or a bound is
tried: together such instances take seconds. Chosen by hand."""


@lru_cache(maxsize=16)
def shipped_instances(stem: str, floats: bool = False, small: bool = False) -> tuple[Header, ...]:
    """Return the shipped instances of a problem, the smallest first, those with a state last.

    A flaw that has nothing to do with the initial state of a cluster is found without one.

    Parameters
    ----------
    stem : str
    floats : bool, default False
        Whether every number is a float; by default all are exact.
    small : bool, default False
        Whether to leave out those larger than `MAX_PROOF_SIZE`.

    Examples
    --------
    >>> [instance.name for instance in shipped_instances("dag")][:2]
    ['chain', 'not-everywhere']
    """
    read = (
        io.read(one.path, exact_numbers=not floats, float_numbers=floats)
        for one in list_instances(stem)
    )
    ordered = sorted(read, key=lambda one: (_has_state(one), instance_size(one)))
    sizes = map(instance_size, ordered)
    return tuple(
        one
        for one, (jobs, machines, _) in zip(ordered, sizes, strict=True)
        if not small or jobs * machines <= MAX_PROOF_SIZE
    )


def _has_state(instance: Header) -> bool:
    """Return whether a stream begins on a cluster that is in use."""
    return getattr(instance, "now", 0) > 0 or getattr(instance, "channel_ready", 0) > 0
