"""The algorithms by their names: three independent choices each.

``edf-opr-mn`` serves tasks in the *order* of their deadlines (EDF), divides them by the *optimal
partitioning rule* (OPR), and *assigns* each the *minimum number* of nodes (MN); ``an`` assigns *all
nodes*, and ``epr`` is the *equal partitioning rule*. The framework is that of
Mamat 2011, figure 4.1; ``mcdf`` is that of Lin et al. 2005, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError, known_names
from dlopt.heuristics.iit.partitioning_rules import EqualPartition, OptimalPartition, PartitionRule

Order: TypeAlias = Literal["fifo", "edf", "mwf", "mcdf"]
Partition: TypeAlias = Literal["opr", "epr", "iit", "iit-1"]
Assignment: TypeAlias = Literal["mn", "an"]

_CHOICES = {
    "order": get_args(Order),
    "partition": get_args(Partition),
    "assignment": get_args(Assignment),
}
_ALIASES = {
    "edf-iit-2": ("edf", "iit", "mn"),
    "edf-iit-1": ("edf", "iit-1", "mn"),
    "mcdf": ("mcdf", "opr", "mn"),
}


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How tasks are ordered, partitioned and assigned to nodes.

    Parameters
    ----------
    order : {"fifo", "edf", "mwf", "mcdf"}
        First come first served; earliest absolute deadline first; maximum workload derivative
        first; or that of MCDF, which sorts again at each instant and lets small tasks overtake.
    partition : {"opr", "epr", "iit", "iit-1"}
        Optimal or equal shares on nodes that wait for the last of them; or, with inserted idle
        times, optimal shares (EDF-IIT-2's) or the heterogeneous view (EDF-IIT-1's).
    assignment : {"mn", "an"}
        The minimum number of nodes that meets the deadline, or all that help, min(N, n*).
    control : bool, default True
        Whether a task is rejected if some deadline would be missed; without, all are accepted
        and nothing is promised.
    channel : bool, default True
        Whether a task waits until those before it have been sent (one-port model). As printed,
        the algorithms do not, and their schedules send two tasks at once.

    Examples
    --------
    >>> Algorithm.parse("edf-opr-mn").name, Algorithm.parse("edf-iit-2:literal").channel
    ('edf-opr-mn', False)
    """

    order: Order
    partition: Partition = "opr"
    assignment: Assignment = "mn"
    control: bool = True
    channel: bool = True

    def __post_init__(self) -> None:
        for choice, words in _CHOICES.items():
            word = getattr(self, choice)
            if word not in words:
                known = known_names(word, words)
                raise NotApplicableError(f"unknown {choice} {word!r} ({known})")
        if self.order == "mcdf" and (self.partition, self.assignment) != ("opr", "mn"):
            raise NotApplicableError("mcdf is defined for opr and the minimum number of nodes")
        all_ready = self.partition in ("opr", "epr")
        if self.order == "mwf" and not (all_ready and self.assignment == "mn"):
            raise NotApplicableError("mwf is defined for opr or epr and the minimum of nodes")
        if self.partition == "iit-1" and (self.order, self.assignment) != ("edf", "mn"):
            raise NotApplicableError("iit-1 is defined for edf and the minimum number of nodes")
        all_nodes = (self.partition, self.assignment) == ("opr", "an")
        if not self.control and not (self.order in ("fifo", "edf") and all_nodes):
            raise NotApplicableError("without admission control: fifo or edf, opr, on all nodes")

    @classmethod
    def parse(cls, name: str) -> Algorithm:
        """Return the algorithm of a name.

        Parameters
        ----------
        name : str
            ``{fifo,edf,mwf}-{opr,epr,iit}-{mn,an}``, ``edf-iit-1``, ``edf-iit-2``, ``mcdf``,
            ``fifo-anna`` or ``edf-anna``; followed by ``:literal`` for the printed test, which
            ignores the channel between tasks.

        Raises
        ------
        NotApplicableError
            If it is no such name.
        """
        if not isinstance(name, str):
            raise NotApplicableError(f"an algorithm's name is needed, not a {type(name).__name__}")
        stem, colon, slip = name.partition(":")
        if colon and slip != "literal":
            raise NotApplicableError(f"unknown algorithm {name!r}")
        channel = not colon
        order: str
        if stem in _ALIASES:
            order, partition, assignment = _ALIASES[stem]
            return cls(order, partition, assignment, channel=channel)  # type: ignore[arg-type]
        order, _, rest = stem.partition("-")
        if rest == "anna" and order in ("fifo", "edf"):
            return cls(order, "opr", "an", control=False, channel=channel)  # type: ignore[arg-type]
        partition, _, assignment = rest.partition("-")
        known = (("fifo", "edf", "mwf"), ("opr", "epr", "iit"), ("mn", "an"))
        if not all(
            word in words for word, words in zip((order, partition, assignment), known, strict=True)
        ):
            raise NotApplicableError(
                f"unknown algorithm {name!r}; names are "
                "{fifo,edf,mwf}-{opr,epr,iit}-{mn,an}, edf-iit-1, edf-iit-2, mcdf, fifo-anna "
                "and edf-anna, with :literal or without"
            )
        return cls(order, partition, assignment, channel=channel)  # type: ignore[arg-type]

    @property
    def literal(self) -> bool:
        """Whether it is the as-published variant."""
        return not self.channel

    @property
    def name(self) -> str:
        """The name that `parse` reads."""
        choices = (self.order, self.partition, self.assignment)
        stem = next((name for name, alias in _ALIASES.items() if alias == choices), None)
        if stem is None:
            stem = "-".join(choices) if self.control else f"{self.order}-anna"
        return stem if self.channel else f"{stem}:literal"

    def rule(self, costs: tuple[Number, ...]) -> PartitionRule:
        """Return the partitioning rule for nodes that wait for the last, for ``opr`` or ``epr``.

        Parameters
        ----------
        costs : tuple of Number
            ``(tau, chi, theta_cm, theta_cp)``.
        """
        return (OptimalPartition if self.partition == "opr" else EqualPartition)(*costs)
