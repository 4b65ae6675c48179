"""The algorithms of chapter 6 by their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.fast.literal import Reset

Test: TypeAlias = Literal["waiting", "edf", "dispatched", "chunk", "r0", "r1", "r2", "replay"]
FastOrder: TypeAlias = Literal["edf", "mwf"]
Events: TypeAlias = Literal["arrivals-first", "one-by-one", "dispatch-first"]

_STEM, _MWF = "fast-edf-iit", "fast-mwf-iit"
_ANY_ORDER = ("r2", "r1", "replay")
NAMES: dict[str, Test] = {
    _STEM: "r2",
    f"{_STEM}-minimal": "r0",
    f"{_STEM}-linear": "r1",
    f"{_STEM}-simulated": "replay",
    _MWF: "r2",
    f"{_MWF}-linear": "r1",
    f"{_MWF}-simulated": "replay",
    f"{_STEM}:literal-waiting": "waiting",
    f"{_STEM}:literal-edf": "edf",
    f"{_STEM}:literal-dispatched": "dispatched",
    f"{_STEM}:literal-chunk": "chunk",
}

HYBRIDS = {False: "hybrid", True: "hybrid:literal"}
LITERAL_THRESHOLD = 1
"""Tasks; the paper leaves the threshold open, and at this one switches are seen in few tasks."""


@dataclass(frozen=True, slots=True)
class Fast:
    """FAST-EDF-IIT, or FAST-MWF-IIT, with one of its admission tests.

    Parameters
    ----------
    test : {"r2", "r1", "r0", "replay", "waiting", "edf", "dispatched", "chunk"}
        See `dlopt.heuristics.admission.fast.schedulability_tests` and `literal`.
    reset : {"idle", "running", "never"}
        Of the readings: when the task that was sent last is forgotten.
    events : {"arrivals-first", "one-by-one", "dispatch-first"}
        What comes first at one instant: all arrivals, and then what can be sent; what can be sent
        before and after each arrival; or what can be sent, and then all arrivals.
    order : {"edf", "mwf"}
        By deadlines, or by the largest derivative of the cost at the fewest nodes that would do
        when the task arrives, for the tests "r2", "r1" and "replay".

    Examples
    --------
    >>> Fast.parse("fast-edf-iit").test, Fast("chunk").name
    ('r2', 'fast-edf-iit:literal-chunk')
    """

    test: Test = "r2"
    reset: Reset = "idle"
    events: Events = "arrivals-first"
    order: FastOrder = "edf"

    control: ClassVar[bool] = True

    def __post_init__(self) -> None:
        choices = (("test", Test), ("reset", Reset), ("events", Events), ("order", FastOrder))
        for choice, known in choices:
            word = getattr(self, choice)
            if word not in get_args(known):
                words = ", ".join(get_args(known))
                raise NotApplicableError(f"unknown {choice} {word!r} (known: {words})")
        if self.order == "mwf" and self.test not in _ANY_ORDER:
            raise NotApplicableError(f"mwf is defined for the tests {', '.join(_ANY_ORDER)}")

    @classmethod
    def parse(cls, name: str) -> Fast | None:
        """Return the algorithm of a name, or None if it is none of these."""
        test = NAMES.get(name)
        order: FastOrder = "mwf" if name.startswith(_MWF) else "edf"
        return None if test is None else cls(test, order=order)

    @property
    def name(self) -> str:
        """The name that `parse` reads."""
        stem = _MWF if self.order == "mwf" else _STEM
        names = (name for name, test in NAMES.items() if test == self.test)
        return next(name for name in names if name.startswith(stem))

    @property
    def literal(self) -> bool:
        """Whether it is a reading of what is printed."""
        return ":literal" in self.name

    @property
    def from_idle(self) -> bool:
        """Whether its test believes that the cluster was idle before the first task."""
        return self.literal or self.test == "r0"


@dataclass(frozen=True, slots=True)
class Hybrid:
    """EDF-IIT-2 while few tasks wait, FAST-EDF-IIT while many do.

    Parameters
    ----------
    threshold : int
        FAST-EDF-IIT decides where at least so many tasks wait.
    literal : bool, default False
        Switch as printed: as if each side could keep what the other promised.
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
    def parse(cls, name: object) -> Hybrid | None:
        """Return the algorithm of a name, or None if it is none of these."""
        if name == HYBRIDS[True]:
            return cls(LITERAL_THRESHOLD, literal=True)
        return cls() if name == HYBRIDS[False] else None

    @property
    def name(self) -> str:
        """The name that `parse` reads."""
        return HYBRIDS[self.literal]
