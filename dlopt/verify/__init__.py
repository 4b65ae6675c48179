"""Break a method's claim, or find where it is farthest from the optimum.

>>> from dlopt.verify import falsify
>>> search = falsify("admission", "mcdf", claim="accepts-what-edf-accepts", examples=3000)
>>> search.finding.kind, search.finding.size
('worse', (2, 1))

`strategies` holds the hypothesis strategies for the instances of every problem, to test methods
of your own with. All is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlopt.verify import strategies
    from dlopt.verify.builders import Size
    from dlopt.verify.claim import Broken, Case, Claim
    from dlopt.verify.claim_table import claims
    from dlopt.verify.counterexamples import Finding, Search, save
    from dlopt.verify.falsification import falsify
    from dlopt.verify.shrinking import shrink

_HOMES = {
    "builders": ("Size",),
    "claim": ("Broken", "Case", "Claim"),
    "claim_table": ("claims",),
    "counterexamples": ("Finding", "Search", "save"),
    "falsification": ("falsify",),
    "shrinking": ("shrink",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Broken",
    "Case",
    "Claim",
    "Finding",
    "Search",
    "Size",
    "claims",
    "falsify",
    "save",
    "shrink",
    "strategies",
]


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
