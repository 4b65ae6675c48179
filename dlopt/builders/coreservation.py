"""Machines, holdings and requests for CPU shares, added by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dlopt.arithmetic import Number
from dlopt.builders.names import Described, Names, naming
from dlopt.errors import Fault, InvalidInstanceError
from dlopt.problems.coreservation import Batch, Holding, Instance, Machine, Part, Request

PLACEHOLDER = Part(1)
"""The part of a request to which no part was added yet."""


@dataclass(kw_only=True)
class CoReservationBuilder(Described):
    """Builds an instance of `coreservation`: machines, what is reserved already, and requests.

    Parameters
    ----------
    name, origin : str
        Of the instance.
    units : Units or str
        Of its numbers; a text is the unit of time.
    batch_interval : Number, optional
        Requests are decided together so often; by default each at its arrival.

    Examples
    --------
    >>> builder = CoReservationBuilder().add_machine("lab", 100).add_holding("lab", 0, 5, cpu=40)
    >>> builder = builder.add_request("render", arrival=0, start=2, end=9).add_part(60, on="lab")
    >>> builder.build().requests[0].parts[0].machine
    0
    """

    batch_interval: Number | None = None
    _machine_names: Names = field(default_factory=lambda: Names("machine"), init=False, repr=False)
    _machines: list[Machine] = field(default_factory=list, init=False, repr=False)
    _holdings: list[Holding] = field(default_factory=list, init=False, repr=False)
    _request_names: Names = field(default_factory=lambda: Names("request"), init=False, repr=False)
    _requests: list[Request] = field(default_factory=list, init=False, repr=False)
    _parts: list[list[Part]] = field(default_factory=list, init=False, repr=False)

    def add_machine(
        self, name: str, capacity: Number | Sequence[tuple[Number, Number]]
    ) -> CoReservationBuilder:
        """Add a machine with its capacity: a number, or pairs of an instant and a value."""
        with naming(f"machine {name}"):
            machine = Machine(name, capacity)
            self._machine_names.add(name)
        self._machines.append(machine)
        return self

    def add_holding(
        self, machine: str, start: Number, end: Number, *, cpu: Number
    ) -> CoReservationBuilder:
        """Add CPU that is reserved already, at most what the machine has at some time meanwhile."""
        with naming(f"holding on {machine}"):
            index = self._machine_names.index(machine)
            holding = Holding(index, start, end, cpu)
            most = _most_capacity(self._machines[index], start, end)
            if cpu > most:
                rule = f"must not be more than the capacity of the machine then, {most}"
                raise InvalidInstanceError([Fault("cpu", cpu, rule)])
            self._holdings.append(holding)
        return self

    def add_request(
        self, name: str, *, arrival: Number, start: Number, end: Number, priority: Number = 1
    ) -> CoReservationBuilder:
        """Add a request, to which the parts belong that are added next."""
        with naming(f"request {name}"):
            request = Request(name, arrival, start, end, priority, (PLACEHOLDER,))
            self._request_names.add(name)
        self._requests.append(request)
        self._parts.append([])
        return self

    def add_part(
        self,
        cpu: Number,
        *,
        least: Number | None = None,
        benefit: Sequence[tuple[Number, Number]] | None = None,
        on: str | None = None,
    ) -> CoReservationBuilder:
        """Add CPU that the last request needs on one machine.

        Parameters
        ----------
        cpu : Number
        least : Number, optional
            The least amount that it accepts; by default all.
        benefit : sequence of (share, benefit), optional
            By default only the whole share has a benefit.
        on : str, optional
            The machine; by default any.
        """
        if not self._requests:
            raise InvalidInstanceError([Fault("part", cpu, "must follow a request")])
        request = self._requests[-1].id
        with naming(f"part {len(self._parts[-1])} of request {request}"):
            shape = {} if benefit is None else {"benefit": tuple(benefit)}
            part = Part(cpu, least, machine=self._machine_names.optional_index(on), **shape)
        self._parts[-1].append(part)
        return self

    def build(self) -> Instance:
        """Return the instance, its requests in the order of their arrivals.

        Raises
        ------
        InvalidInstanceError
            If a request has no part, or there is no machine or no request.
        """
        requests = []
        for request, parts in zip(self._requests, self._parts, strict=True):
            with naming(f"request {request.id}"):
                requests.append(replace(request, parts=tuple(parts)))
        return Instance(
            tuple(self._machines),
            tuple(sorted(requests, key=lambda request: request.arrival)),
            None if self.batch_interval is None else Batch(self.batch_interval),
            tuple(self._holdings),
            name=self.name,
            origin=self.origin,
            units=self.unit_record,
        )


def _most_capacity(machine: Machine, start: Number, end: Number) -> Number:
    """Return the most CPU that a machine has at an instant of a window."""
    at_start = [capacity for instant, capacity in machine.steps if instant <= start]
    later = [capacity for instant, capacity in machine.steps if start < instant < end]
    most: Number = max([at_start[-1], *later])
    return most
