"""Search for counterexamples to a method's claim, or for its largest gap to the optimum.

>>> from dlopt.verify import falsify
>>> search = falsify("admission", "mcdf", claim="accepts-what-edf-accepts", examples=3000)
>>> search.finding.kind, search.finding.size
('worse-than-claimed', (2, 1))

`strategies` has the Hypothesis strategies for the instances of every problem, to test your own
methods with. Everything is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlopt.verify import strategies
    from dlopt.verify.claim import Claim, ClaimViolation, Trial
    from dlopt.verify.claim_table import claims
    from dlopt.verify.falsification import falsify
    from dlopt.verify.found_counterexamples import Finding, SearchResult, save
    from dlopt.verify.instance_builders import Size
    from dlopt.verify.shrinking import shrink

_HOMES = {
    "instance_builders": ("Size",),
    "claim": ("ClaimViolation", "Trial", "Claim"),
    "claim_table": ("claims",),
    "found_counterexamples": ("Finding", "SearchResult", "save"),
    "falsification": ("falsify",),
    "shrinking": ("shrink",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Claim",
    "ClaimViolation",
    "Finding",
    "SearchResult",
    "Size",
    "Trial",
    "claims",
    "falsify",
    "save",
    "shrink",
    "strategies",
]


if not TYPE_CHECKING:  # for type checkers, every name that is not imported above is an error

    def __getattr__(name: str) -> Any:
        if name == "strategies":
            return importlib.import_module("dlopt.verify.strategies")
        if name not in _HOME:
            raise AttributeError(f"module 'dlopt.verify' has no attribute {name!r}")
        value = getattr(importlib.import_module(f"dlopt.verify.{_HOME[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
