"""The methods for CPU shares that are reserved on several machines at once."""

from __future__ import annotations

from dlopt.registry.entries import Method, Problem

PROBLEM = Problem(
    "coreservation",
    "CPU shares on several machines at once, with priorities and benefit functions",
)

_OBJECTIVES = (
    "benefit",
    "rejections",
    "rejected-priority",
    "benefit-then-rejections",
    "rejections-then-benefit",
    "rejected-priority-then-benefit",
    "rejections-then-machines",
)
_HEURISTICS = "dlopt.heuristics.coreservation.methods"
_MODELS = "dlopt.models.coreservation.methods"

_BATCHED: tuple[Method, ...] = ()

_PROOFS: tuple[Method, ...] = ()

METHODS = (*_BATCHED, *_PROOFS)
