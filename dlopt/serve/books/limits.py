"""How many books there may be, how large they may become, and how long questions may take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from dlopt.arithmetic import Number, exact, is_exact
from dlopt.errors import Fault, InvalidInstanceError
from dlopt.heuristics.coreservation.engine import CoReservation
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import Record
from dlopt.serve.errors import LimitReachedError
from dlopt.service_api.definitions import CoReservationDefinition, Definition, Engine

_DIGITS_PER_BIT = 0.30103
"""The decimal logarithm of 2."""


@dataclass(frozen=True, slots=True)
class BookLimits:
    """Limits of the books of a service. Chosen by hand: far above what clusters of today need.

    Rational numbers are limited where a book computes in them: their digits grow from task to task
    as long as a cluster is never idle, and so does the time of a decision.

    Parameters
    ----------
    max_books : int
    max_nodes : int
        Nodes or machines of a book.
    max_decisions : int
        Decisions that a book keeps: promises and rejections that are not archived.
    max_snapshot_bytes : int
        Size of the latest snapshot of a book, over which it decides on nothing new.
    max_request_digits : int
        Digits of numerator and denominator of a rational number in a request.
    max_digits : int
        Digits of numerator and denominator of a rational number that a book computes, over which it
        decides on nothing new.
    max_questions : int
        Questions that are answered at the same time on copies of books.
    max_waiting_questions : int
        Questions that may wait for this.
    question_time_s : float
        Time limit of a question, in seconds, with the time that it waits.
    """

    max_books: int = 1_000
    max_nodes: int = 10_000
    max_decisions: int = 100_000
    max_snapshot_bytes: int = 64_000_000
    max_request_digits: int = 100
    max_digits: int = 10_000
    max_questions: int = 2
    max_waiting_questions: int = 100
    question_time_s: float = 30.0

    def check_definition(self, definition: Definition) -> None:
        """Refuse a book that has too many nodes or machines, or numbers of too many digits.

        Raises
        ------
        InvalidInstanceError
            With every fault.

        Examples
        --------
        >>> from dlopt.service_api.definitions import read_definition
        >>> cluster = {"nodes": 9, "tau": 1, "chi": 3}
        >>> definition = read_definition({"problem": "admission", "cluster": cluster})
        >>> BookLimits(max_nodes=8).check_definition(definition)
        Traceback (most recent call last):
        ...
        dlopt.errors.InvalidInstanceError: cluster.nodes: must be at most 8 in this service, got 9
        """
        faults = list(self._digit_faults(definition))
        if isinstance(definition, CoReservationDefinition):
            if len(definition.machines) > self.max_nodes:
                faults.append(self._size_fault("machines", len(definition.machines)))
        elif definition.cluster.nodes > self.max_nodes:
            faults.append(self._size_fault("cluster.nodes", definition.cluster.nodes))
        elif definition.exact_numbers is not False and not faults:
            faults += self._power_faults(definition.cluster)
        if faults:
            raise InvalidInstanceError(faults)

    def check_arguments(self, arguments: Record) -> None:
        """Refuse what has numbers of too many digits, in a book that computes in rational numbers.

        Raises
        ------
        InvalidInstanceError
            With every fault.
        """
        faults = list(self._digit_faults(arguments))
        if faults:
            raise InvalidInstanceError(faults)

    def check_decisions(self, name: str, engine: Engine, new: int) -> None:
        """Refuse further decisions if a book keeps too many.

        Raises
        ------
        LimitReachedError
        """
        if engine.decision_count + new > self.max_decisions:
            raise LimitReachedError(
                f"book {name} keeps {engine.decision_count} decisions, and may keep "
                f"{self.max_decisions}: archive what is over"
            )

    def check_size(self, name: str, digits: int, snapshot_bytes: int) -> None:
        """Refuse further decisions if a book has become too large by what it computes.

        Raises
        ------
        LimitReachedError
        """
        if digits > self.max_digits:
            raise LimitReachedError(
                f"book {name} computes with fractions of {digits} digits, and may have "
                f"{self.max_digits}: archive what is over, let nodes become idle, or make a book "
                'with "exact_numbers": false'
            )
        if snapshot_bytes > self.max_snapshot_bytes:
            raise LimitReachedError(
                f"the snapshot of book {name} has {snapshot_bytes} bytes, and may have "
                f"{self.max_snapshot_bytes}: archive what is over"
            )

    def check_added(self, engine: Engine, added: int) -> None:
        """Refuse further nodes or machines if a book has too many.

        Raises
        ------
        InvalidInstanceError
        """
        present = engine.machine_count if isinstance(engine, CoReservation) else engine.node_count
        if present + added > self.max_nodes:
            rule = f"must be at most {max(0, self.max_nodes - present)} in this service"
            raise InvalidInstanceError([Fault("add", added, rule)])

    def _size_fault(self, path: str, size: int) -> Fault:
        return Fault(path, size, f"must be at most {self.max_nodes} in this service")

    def _power_faults(self, cluster: Cluster) -> Iterator[Fault]:
        """Yield a fault if chi / (tau + chi) to the power of the nodes has too many digits."""
        costs = (cluster.tau_of(0), cluster.chi_of(0))
        if is_exact(costs):
            tau, chi = map(exact, costs)
            share = digits_of(chi / (tau + chi))
            if share * cluster.nodes > self.max_digits:
                rule = (
                    f"must be at most {self.max_digits // share} with such rational tau and "
                    'chi in this service; "exact_numbers": false has no such limit'
                )
                yield Fault("cluster.nodes", cluster.nodes, rule)

    def _digit_faults(self, data: object, path: str = "") -> Iterator[Fault]:
        """Yield a fault for each rational number in plain data or records with too many digits."""
        if isinstance(data, int | Fraction):
            if digits_of(data) > self.max_request_digits:
                rule = f"must not have more than {self.max_request_digits} digits in a fraction"
                yield Fault(path, data, rule)
        elif isinstance(data, Record):
            for name in data.__dataclass_fields__:  # type: ignore[attr-defined]
                yield from self._digit_faults(
                    getattr(data, name), f"{path}.{name}" if path else name
                )
        elif isinstance(data, tuple):
            for index, entry in enumerate(data):
                yield from self._digit_faults(entry, f"{path}[{index}]")


DEFAULT_LIMITS = BookLimits()


def digits_of(number: Number) -> int:
    """Return about how many digits numerator and denominator of a rational number have at most.

    Examples
    --------
    >>> digits_of(Fraction(1, 1000)), digits_of(0), digits_of(1.5)
    (4, 1, 0)
    """
    if isinstance(number, float):
        return 0
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    return int(bits * _DIGITS_PER_BIT) + 1


def planned_digits(engine: Engine) -> int:
    """Return the most digits of a rational number in the plan of a book; see `digits_of`."""
    numbers: Iterable[Number]
    if isinstance(engine, CoReservation):
        numbers = (share.cpu for share in engine.plan().shares)
    else:
        ends = ((chunk.load, chunk.computation_end) for chunk in engine.plan().chunks)
        numbers = chain.from_iterable(ends)
    return max(map(digits_of, numbers), default=0)
