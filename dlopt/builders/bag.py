"""Independent tasks, sites and machines, added by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dlopt.arithmetic import Number
from dlopt.builders.names import Described, Names, naming
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.problems.bag import Instance, Link, Machine, Site, Task
from dlopt.problems.bag.data import Priority


@dataclass(kw_only=True)
class BagBuilder(Described):
    """Builds an instance of `bag`: sites, links between them, machines, and tasks.

    Without a site there is one, and everything is there.

    Parameters
    ----------
    name, origin : str
        Of the instance.
    units : Units or str
        Of its numbers; a text is the unit of time.

    Examples
    --------
    >>> builder = BagBuilder().add_machine("old").add_machine("new")
    >>> builder = builder.add_task("a", costs={"old": 4, "new": 2}).add_task("b", costs={"new": 3})
    >>> builder.build().etc
    ((4, 2), (None, 3))
    """

    _site_names: Names = field(default_factory=lambda: Names("site"), init=False, repr=False)
    _sites: list[Site] = field(default_factory=list, init=False, repr=False)
    _links: list[Link] = field(default_factory=list, init=False, repr=False)
    _machine_names: Names = field(default_factory=lambda: Names("machine"), init=False, repr=False)
    _machines: list[Machine] = field(default_factory=list, init=False, repr=False)
    _task_names: Names = field(default_factory=lambda: Names("task"), init=False, repr=False)
    _tasks: list[Task] = field(default_factory=list, init=False, repr=False)
    _costs: dict[str, Mapping[str, Number]] = field(default_factory=dict, init=False, repr=False)

    def add_site(self, name: str) -> BagBuilder:
        """Add a place with machines."""
        with naming(f"site {name}"):
            self._site_names.add(name)
        self._sites.append(Site(name))
        return self

    def add_link(
        self, first: str, second: str, *, bandwidth: Number, latency: Number = 0
    ) -> BagBuilder:
        """Add a connection of two sites, in both directions."""
        with naming(f"link {first} - {second}"):
            between = (self._site_names.index(first), self._site_names.index(second))
            link = Link(between, bandwidth, latency)
            if any({*known.between} == {*between} for known in self._links):
                rule = "must be added once: it is a connection in both directions"
                raise InvalidInstanceError([Fault("", MISSING, rule)])
            self._links.append(link)
        return self

    def add_machine(
        self, name: str, *, site: str | None = None, power: Number = 1, ready: Number = 0
    ) -> BagBuilder:
        """Add a machine; by default at the first site."""
        with naming(f"machine {name}"):
            index = self._site_names.optional_index(site) or 0
            machine = Machine(name, index, power, ready)
            self._machine_names.add(name)
        self._machines.append(machine)
        return self

    def add_task(
        self,
        name: str,
        *,
        work: Number | None = None,
        costs: Mapping[str, Number] | None = None,
        site: str | None = None,
        release: Number = 0,
        input_data: Number = 0,
        output_data: Number = 0,
        priority: Priority = "firm",
        absolute_deadline: Number | None = None,
    ) -> BagBuilder:
        """Add a task: by its work, or by how long it takes on machines by name.

        It cannot run on machines without a cost. Either all tasks have costs, or none has.
        """
        with naming(f"task {name}"):
            if (work is None) == (costs is None):
                raise InvalidInstanceError([Fault("work", work, "must be given, or else costs")])
            if costs is not None and not costs:
                raise InvalidInstanceError([Fault("costs", costs, "must name a machine at least")])
            task = Task(
                name,
                work,
                self._site_names.optional_index(site) or 0,
                release,
                input_data,
                output_data,
                priority,
                absolute_deadline,
            )
            self._task_names.add(name)
        self._tasks.append(task)
        if costs is not None:
            self._costs[name] = costs
        return self

    def build(self) -> Instance:
        """Return the instance.

        Raises
        ------
        InvalidInstanceError
            If the elements do not fit together: sites that no link connects, tasks of both kinds.
        """
        return Instance(
            tuple(self._tasks),
            tuple(self._machines),
            tuple(self._sites) or (Site("home"),),
            links=tuple(self._links),
            etc=self._matrix(),
            name=self.name,
            origin=self.origin,
            units=self.unit_record,
        )

    def _matrix(self) -> tuple[tuple[Number | None, ...], ...] | None:
        if not self._costs:
            return None
        rows = []
        for task in self._tasks:
            with naming(f"task {task.id}"):
                if task.id not in self._costs:
                    rule = "must be given, as for other tasks"
                    raise InvalidInstanceError([Fault("costs", None, rule)])
                rows.append(self._machine_names.row(self._costs[task.id]))
        return tuple(rows)
