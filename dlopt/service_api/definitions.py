"""What a book is made of: the content of the request that creates it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar, Literal, TypeAlias

from annotated_types import MinLen

from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.coreservation.engine import CoReservation
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation.data import Holding, Machine
from dlopt.problems.validated_record import NonNegative, Record

Engine: TypeAlias = Admission | MultiStage | CoReservation
Clock: TypeAlias = Literal["caller", "wall"]
"""What determines the time: arrivals and `advance` of callers, or the clock of the server."""


class _Definition(Record):
    """What all definitions have in common."""

    __slots__ = ()

    engine: ClassVar[type[Engine]]

    def new_engine(self) -> Engine:
        """Return the empty book: its engine is made of all fields but the clock."""
        names = (one.name for one in fields(self) if one.name != "clock")  # type: ignore[arg-type]
        return self.engine(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True)
class AdmissionDefinition(_Definition):
    """A book of divisible tasks, see `dlopt.Admission`.

    Parameters
    ----------
    cluster : Cluster
        Its nodes, and how long they take for a unit of load.
    algorithm : str, default "edf-iit-2"
        Which one decides; see `dlopt methods`.
    now : Number, default 0
        What the clock shows at the beginning.
    ready_times : tuple of Number
        When each node becomes free; by default at once.
    channel_ready : Number, default 0
        When the first load can be sent.
    exact_numbers : bool, optional
        Compute in fractions, and read decimals as such; or in floats. By default in fractions if
        no number above is a float.
    clock : {"caller", "wall"}, default "caller"
        What determines the time: calls (`caller`), or the clock of the server (`wall`).
    """

    problem: ClassVar[str] = "admission"
    engine: ClassVar[type[Engine]] = Admission

    cluster: Cluster
    algorithm: str = "edf-iit-2"
    now: NonNegative = 0
    ready_times: tuple[NonNegative, ...] = ()
    channel_ready: NonNegative = 0
    exact_numbers: bool | None = None
    clock: Clock = "caller"


@dataclass(frozen=True, slots=True)
class MultiStageDefinition(AdmissionDefinition):
    """A book of divisible tasks and reservations, see `dlopt.MultiStage`.

    Parameters
    ----------
    cluster, now, ready_times, channel_ready, exact_numbers, clock
        As of a book of divisible tasks.
    algorithm : str, default "multi-stage"
        Which one decides; see `dlopt methods`.
    """

    problem: ClassVar[str] = "multistage"
    engine: ClassVar[type[Engine]] = MultiStage

    algorithm: str = "multi-stage"


@dataclass(frozen=True, slots=True)
class CoReservationDefinition(_Definition):
    """A book of CPU shares on several machines, see `dlopt.CoReservation`.

    Parameters
    ----------
    machines : tuple of Machine
        With their capacities.
    algorithm : str, default "co-rspb"
        Which one decides; see `dlopt methods`.
    now : Number, default 0
        What the clock shows at the beginning.
    holdings : tuple of Holding
        Reservations of others, that exist already.
    order, allocation : str, optional
        By default the algorithm's own.
    trim : bool, default False
        Reserve the least CPU of the same benefit.
    exact_numbers : bool, optional
        Compute in fractions, and read decimals as such; or in floats. By default in fractions if
        no number above is a float.
    clock : {"caller", "wall"}, default "caller"
        What determines the time: calls (`caller`), or the clock of the server (`wall`).
    """

    problem: ClassVar[str] = "coreservation"
    engine: ClassVar[type[Engine]] = CoReservation

    machines: Annotated[tuple[Machine, ...], MinLen(1)]
    algorithm: str = "co-rspb"
    now: NonNegative = 0
    holdings: tuple[Holding, ...] = ()
    order: str | None = None
    allocation: str | None = None
    trim: bool = False
    exact_numbers: bool | None = None
    clock: Clock = "caller"


Definition: TypeAlias = AdmissionDefinition | MultiStageDefinition | CoReservationDefinition
DEFINITIONS: dict[str, type[Definition]] = {
    record.problem: record
    for record in (AdmissionDefinition, MultiStageDefinition, CoReservationDefinition)
}
"""What a book is made of, by problem."""


def read_definition(data: Mapping[str, object]) -> Definition:
    """Return what a book is made of.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> read_definition({"problem": "admission", "cluster": {"nodes": 2, "tau": 1, "chi": 3}}).clock
    'caller'
    """
    fields = dict(data)
    problem = fields.pop("problem", MISSING)
    record = DEFINITIONS.get(problem) if isinstance(problem, str) else None
    if record is None:
        rule = f"must be one of {', '.join(DEFINITIONS)}"
        raise InvalidInstanceError([Fault("problem", problem, rule)])
    return record.from_data(fields)
