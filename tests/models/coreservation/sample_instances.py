"""Instances that several tests of the models use."""

from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request
from dlopt.result import Limits

NOW = Limits(time_s=1e-9)


def packed(sizes: list[int], capacity: int, count: int) -> Instance:
    """Return items as requests of one part and window, bins as machines."""
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(size),)) for k, size in enumerate(sizes))
    return Instance(tuple(Machine(f"m{j}", capacity) for j in range(count)), requests, Batch(1))


def is_proven_without_a_solver(result) -> bool:
    """Tell whether a bound of our own closed the gap, whether or not a certificate was found."""
    proven_again = "proven again by a certificate" in (result.reason or "")
    return result.proof in ("exact", "certificate") and not proven_again
