"""The algorithms of chapter 6 by their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.fast.literal import Reset

AdmissionTestName: TypeAlias = Literal[
    "waiting", "edf", "dispatched", "chunk", "r0", "r1", "r2", "replay"
]
FastOrder: TypeAlias = Literal["edf", "mwf"]
Events: TypeAlias = Literal["arrivals-first", "one-by-one", "dispatch-first"]

_EDF_NAME, _MWF_NAME = "fast-edf-iit", "fast-mwf-iit"
_ANY_ORDER = ("r2", "r1", "replay")
NAMES: dict[str, AdmissionTestName] = {
    _EDF_NAME: "r2",
    f"{_EDF_NAME}-minimal": "r0",
    f"{_EDF_NAME}-linear": "r1",
    f"{_EDF_NAME}-simulated": "replay",
    _MWF_NAME: "r2",
    f"{_MWF_NAME}-linear": "r1",
    f"{_MWF_NAME}-simulated": "replay",
    f"{_EDF_NAME}:literal-waiting": "waiting",
    f"{_EDF_NAME}:literal-edf": "edf",
    f"{_EDF_NAME}:literal-dispatched": "dispatched",
    f"{_EDF_NAME}:literal-chunk": "chunk",
}

HYBRIDS = {False: "hybrid", True: "hybrid:literal"}
LITERAL_THRESHOLD = 1
"""Waiting tasks at which HYBRID as printed switches. The paper leaves the number open; with this
one, switches occur in streams of few tasks."""


@dataclass(frozen=True, slots=True)
class FastAlgorithm:
    """FAST-EDF-IIT, or FAST-MWF-IIT, with one of its admission tests.

    Parameters
    ----------
    test : {"r2", "r1", "r0", "replay", "waiting", "edf", "dispatched", "chunk"}
        See `dlopt.heuristics.admission.fast.schedulability_tests` and `literal`.
    reset : {"idle", "running", "never"}
        Of the readings: when the task that was sent last is discarded.
    events : {"arrivals-first", "one-by-one", "dispatch-first"}
        What comes first at one instant: all arrivals, and then what can be sent; what can be sent
        before and after each arrival; or what can be sent, and then all arrivals.
    order : {"edf", "mwf"}
        By deadlines, or by the largest derivative of the cost at the fewest nodes that would
        suffice when the task arrives, for the tests "r2", "r1" and "replay".

    Examples
    --------
    >>> FastAlgorithm.parse("fast-edf-iit").test, FastAlgorithm("chunk").name
    ('r2', 'fast-edf-iit:literal-chunk')
    """

    test: AdmissionTestName = "r2"
    reset: Reset = "idle"
    events: Events = "arrivals-first"
    order: FastOrder = "edf"

    control: ClassVar[bool] = True

    def __post_init__(self) -> None:
        choices = (
            ("test", AdmissionTestName),
            ("reset", Reset),
            ("events", Events),
            ("order", FastOrder),
        )
        for choice, known in choices:
            word = getattr(self, choice)
            if word not in get_args(known):
                words = ", ".join(get_args(known))
                raise NotApplicableError(f"unknown {choice} {word!r} (known: {words})")
        if self.order == "mwf" and self.test not in _ANY_ORDER:
            raise NotApplicableError(f"mwf is defined for the tests {', '.join(_ANY_ORDER)}")

    @classmethod
    def parse(cls, name: str) -> FastAlgorithm | None:
        """Return the algorithm of a name, or None if it is none of these."""
        test = NAMES.get(name)
        order: FastOrder = "mwf" if name.startswith(_MWF_NAME) else "edf"
        return None if test is None else cls(test, order=order)

    @property
    def name(self) -> str:
        """The name that `parse` reads."""
        stem = _MWF_NAME if self.order == "mwf" else _EDF_NAME
        names = (name for name, test in NAMES.items() if test == self.test)
        return next(name for name in names if name.startswith(stem))

    @property
    def literal(self) -> bool:
        """Whether it is an as-published variant."""
        return ":literal" in self.name

    @property
    def from_idle(self) -> bool:
        """Whether its test assumes that the cluster was idle before the first task."""
        return self.literal or self.test == "r0"


@dataclass(frozen=True, slots=True)
class HybridAlgorithm:
    """EDF-IIT-2 while few tasks wait, FAST-EDF-IIT while many do.

    Parameters
    ----------
    threshold : int
        FAST-EDF-IIT decides where at least so many tasks wait.
    literal : bool, default False
        Switch as printed: as if each side could keep the promises of the other.
    """

    threshold: int = 50
    literal: bool = False

    control: ClassVar[bool] = True
    order: ClassVar[str] = "edf"

    def __post_init__(self) -> None:
        if type(self.threshold) is not int or self.threshold < 0:
            raise NotApplicableError(
                f"the threshold must be an integer, not negative, got {self.threshold!r}"
            )

    @classmethod
    def parse(cls, name: object) -> HybridAlgorithm | None:
        """Return the algorithm of a name, or None if it is none of these."""
        if name == HYBRIDS[True]:
            return cls(LITERAL_THRESHOLD, literal=True)
        return cls() if name == HYBRIDS[False] else None

    @property
    def name(self) -> str:
        """The name that `parse` reads."""
        return HYBRIDS[self.literal]
