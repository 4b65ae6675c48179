"""Records with a field of every kind, to hold against the checks."""

import dataclasses
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Optional

import pytest
from annotated_types import Ge, Gt, Le, MinLen

from dlopt.arithmetic import Number
from dlopt.errors import Fault, InvalidInstanceError
from dlopt.problems.validated_record import (
    Header,
    NonNegative,
    Positive,
    Record,
    examine,
)

F = Fraction
FINITE = 'must be a finite number or a text "p/q"'
LARGE = "must lie between -1e+100 and 1e+100"


@dataclasses.dataclass(frozen=True, slots=True)
class Part(Record):
    size: Positive
    share: Annotated[Number, Ge(F(1, 2)), Le(1)] = 1
    mandatory: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Whole(Record):
    count: Annotated[int, Ge(1), Le(9)]
    above: Annotated[int, Gt(-3)] = 0
    number: Number = 0
    costs: NonNegative | tuple[NonNegative, ...] = 0
    points: tuple[tuple[Number, ...], ...] = ()
    parts: tuple[Part, ...] = ()
    few: Annotated[tuple[int, ...], MinLen(2)] = (0, 0)
    main: Part | None = None
    maybe: NonNegative | None = None
    maybe_list: tuple[Number, ...] | None = None
    maybe_costs: Number | tuple[Number, ...] | None = None
    old_style: Optional[int] = None  # noqa: UP045
    noted: Annotated[int, "what it is"] = 0
    text: str = ""
    choice: Literal["left", "right"] = "left"
    anything: object = None
    fresh: tuple[int, ...] = dataclasses.field(default_factory=tuple)

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        if len(known.get("parts", ())) > known.get("count", 9):
            yield Fault("parts", len(known["parts"]), "must be no more than count")


@dataclasses.dataclass(frozen=True, slots=True)
class Told(Header):
    problem: ClassVar[str] = "told"

    load: Positive
    whole: Whole | None = None


def faults_of(**fields: object) -> list[tuple[str, object, str]]:
    """Return the faults of a whole, found alike by constructor and reader."""
    fields = {"count": 1, **fields}
    with pytest.raises(InvalidInstanceError) as built:
        Whole(**fields)
    with pytest.raises(InvalidInstanceError) as read:
        Whole.from_data(fields)
    assert built.value.faults == read.value.faults == examine(Whole, fields)[1]
    assert built.value.source is None
    return [(fault.path, fault.value, fault.rule) for fault in built.value.faults]
